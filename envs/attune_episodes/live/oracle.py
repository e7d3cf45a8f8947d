"""Replies by somebody who knows the state: the oracle, and those of the simulated model and its editor.

The oracle says what the person feels and does what they want, in the grammar's words. It tries act by act
what they want, and keeps what is worth more through the episode's own reader: so it earns what this reader
can see of the best that the grammar can say.
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
"""Wordings that are tried of the first act, the claim; one of each further set."""
MOST: Final = 6
"""Acts that are tried beside the claim."""
BESIDE: Final = {
    "B108": "own_word",
    "B17": "risk",
    "B18": "safety",
    "B16": "adapt",
    "B5": "shift",
    "B3": "echo",
}
"""Construct -> act, of those that nobody edits in."""


def oracle(live: LiveEpisode) -> str:
    """The best reply found to the person's present message."""
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
    """Say these acts in the grammar's words, in reply to the person's present message; "" for none.

    What is felt is not looked at: an act that names a feeling names that of `family`, and facts are mentioned
    only once they were told.
    """
    with _unsaid(live) as story:
        story.draws.turn_to(story.number, "worded", *sorted(acts), family)
        return speak(story, set(acts), family or story.mood.family, plan_for(story)).text if acts else ""


@contextmanager
def _unsaid(live: LiveEpisode) -> Iterator[Story]:
    """The story, which afterwards does not know what was tried."""
    story, said = live.talk.story, set(live.talk.story.said)
    try:
        yield story
    finally:
        story.said = said
