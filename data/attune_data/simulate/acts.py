"""Acts of replies, the styles of the models that answer, and the three variants of a reply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from attune_data.simulate.story import Story
from attune_data.simulate.texts import read_text

ORDER: Final = (
    "adapt", "correct", "claim", "own_word", "shift", "claim_second", "emote", "echo", "validate", "risk",
    "safety", "infer", "reason", "side", "readings", "complex", "moral", "heat", "cheer", "clinical",
    "reflect", "aside", "drift", "generic", "advise", "hard", "ask_fact", "ask_reflect",
)  # fmt: skip
"""Every act, in the order in which a reply says them."""

STYLES: Final[dict[str, Mapping[str, float]]] = read_text("styles.toml")
"""Model -> act -> probability in a turn."""
IMPROVEMENTS: Final[Mapping[str, float]] = STYLES.pop("improvements")
"""Acts that an assistant adds when asked to do better, regardless of what the person wants."""

ACT_OF: Final[Mapping[str, str]] = {
    "B1": "claim", "B4": "claim_second", "B6": "infer", "B11": "advise", "B12": "reason", "B13": "ask_fact",
    "B14": "moral", "B15": "echo", "B19": "validate", "B206": "clinical", "B207": "emote", "B310": "generic",
    "B311": "drift", "B315": "aside", "B316": "hard", "B501": "reflect", "B502": "side", "B503": "readings",
    "B504": "complex", "B505": "ask_reflect",
}  # fmt: skip
"""Construct -> the act that a person adds or strikes out when editing a reply."""

NAMING: Final = frozenset({"claim", "own_word"})
"""Acts that say what the person feels."""
ASKING: Final = frozenset({"ask_fact", "ask_reflect"})
NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "claim_second": NAMING, "emote": NAMING, "shift": NAMING,
    "hard": frozenset({"advise"}), "safety": frozenset({"risk"}),
}  # fmt: skip
"""Act -> acts of which at least one must also be in the reply."""
WEARING: Final = frozenset({"aside", "cheer", "clinical", "drift", "generic", "heat", "moral", "reflect"})
"""Acts that wear thin: less likely if they were in the last reply."""

BESIDE_ADVICE: Final = {"hard": 0.3, "reason": 0.85}
"""Act -> probability that it comes with advice."""


def original(story: Story) -> set[str]:
    """The acts of the model's own reply."""
    chances = dict(STYLES[story.style])
    message, goal = story.message, story.goals[0]
    chances["generic"] += 0.15 * (story.number / story.count)
    if message.asks:  # the model mostly notices what it is asked for
        if goal in ("decide", "info"):
            chances["advise"] += 0.25
        elif goal == "vent":
            chances["advise"] *= 0.6
        elif goal == "sort":
            chances["ask_reflect"] += 0.15
    if message.reaction < 0:
        chances |= {"adapt": 0.45, "correct": 0.25}
        chances["advise"] *= 0.7
    elif message.reaction > 0:
        chances |= {"adapt": 0.06}
    if message.risk:
        chances |= {"risk": 0.55, "safety": 0.6}
    for act in WEARING & story.acts:
        chances[act] *= 0.4
    acts = {act for act in ORDER if story.draws.yes(chances.get(act, 0.0))}
    if "advise" in acts:
        acts |= {act for act, chance in BESIDE_ADVICE.items() if story.draws.yes(chance)}
    if "claim" in acts and message.named and story.draws.yes(0.55):
        acts.add("own_word")
    return _settled(acts, story)


def improved(first: Collection[str], story: Story) -> set[str]:
    """The acts of the model's improved version."""
    acts = set(first) | {act for act, chance in IMPROVEMENTS.items() if story.draws.yes(chance)}
    acts -= {act for act in ("generic", "drift", "heat", "aside") if act in acts and story.draws.yes(0.5)}
    return _settled(acts, story)


def edited(first: Collection[str], wish: Mapping[str, float], story: Story) -> set[str]:
    """The acts after the person has edited the reply: unwanted ones may be removed, missing ones added."""
    draws, acts = story.draws, set(first)
    effort = 0.15 + 0.5 * draws.uniform()
    for construct, act in ACT_OF.items():
        if act == "claim_second" and len(story.message.shown) < 2:
            continue  # nobody adds a second feeling when there is only one
        wanted = wish[construct] > 0
        if wanted != (act in acts) and abs(wish[construct]) > 0.3 and draws.yes(effort):
            acts ^= {act}
    acts -= {act for act in ("heat", "cheer") if act in acts and draws.yes(effort)}
    return _settled(acts, story)


def _settled(acts: set[str], story: Story) -> set[str]:
    """The acts that can occur together here; at least one."""
    message = story.message
    if not message.named:
        acts.discard("own_word")
    if "own_word" in acts:  # naming the feeling once is enough
        acts.discard("claim")
    if story.number == 0:
        acts -= {"shift", "correct"}
    if story.number == 0 or message.reaction == 0:
        acts.discard("adapt")
    if not message.risk:
        acts -= {"risk", "safety"}
    if "safety" in acts:
        acts.add("risk")
    acts -= {act for act, needed in NEEDS.items() if not acts & needed}
    if not message.echoes:
        acts.discard("echo")
    return acts or {"echo" if message.echoes else "validate"}
