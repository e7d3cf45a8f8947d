"""Replies written with knowledge of the state: the oracle's, the simulated model's and its editor's.

The oracle says what the person feels and does what they want, in the grammar's words. It adds wanted acts one
by one and keeps those that raise the worth as the episode's own reader sees it. So it earns as much of the
best reply in the grammar as this reader can see.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from attune_data.constants import ResponseName
from attune_data.simulate.acts import ACT_OF
from attune_data.simulate.constructs import wishes
from attune_data.simulate.replies import speak
from attune_data.simulate.story import Story
from attune_data.simulate.variants import plan_for, variants

if TYPE_CHECKING:
    from attune_episodes.live.episode import LiveEpisode

SURFACES: Final = 3
"""How many wordings of the first act, the claim, are tried; of each later act, one."""
MOST: Final = 6
"""The most acts that are tried besides the claim."""
BESIDE: Final = {
    "B108": "own_word",
    "B17": "risk",
    "B18": "safety",
    "B16": "adapt",
    "B5": "shift",
    "B3": "echo",
}
"""Construct -> act, for constructs that no edit adds."""


def oracle(live: LiveEpisode) -> str:
    """The best reply found to the person's current message."""
    with _unsaid(live) as story:
        wants = live.wants()
        acts = {**ACT_OF, **BESIDE}
        tried = [acts[q] for q in sorted(wants, key=lambda q: (-wants[q], q)) if wants[q] > 0 and q in acts]
        chosen, best, worth = set[str](), "", -99.0
        adding = [{"claim"}] * SURFACES + [{act} for act in dict.fromkeys(tried) if act != "claim"][:MOST]
        for place, more in enumerate(adding):
            story.draws.turn_to(story.number, "oracle", place)
            plan = plan_for(story)
            needed = {"advise"} if more == {"hard"} else set()
            made = speak(story, chosen | more | needed, story.mood.family, plan)
            found = live.worth(made.text).worth
            if found > worth:
                chosen, best, worth = made.acts, made.text, found
        return best


def recorded(live: LiveEpisode, which: ResponseName) -> str:
    """The reply of the simulated model, its improvement, or the person's edit of it."""
    with _unsaid(live) as story:
        story.draws.turn_to(story.number, "recorded")
        return variants(story, wishes(story))[which].text


def worded(live: LiveEpisode, acts: Set[str], family: str = "") -> str:
    """Put these acts in the grammar's words, as a reply to the person's current message; "" for no acts.

    With a `family`, an act that names a feeling names that one, whatever the person feels. Facts are
    mentioned only after they were told.
    """
    with _unsaid(live) as story:
        story.draws.turn_to(story.number, "worded", *sorted(acts), family)
        return speak(story, set(acts), family or story.mood.family, plan_for(story)).text if acts else ""


@contextmanager
def _unsaid(live: LiveEpisode) -> Iterator[Story]:
    """The story; what is tried on it is forgotten afterwards."""
    story, said = live.talk.story, set(live.talk.story.said)
    try:
        yield story
    finally:
        story.said = said
