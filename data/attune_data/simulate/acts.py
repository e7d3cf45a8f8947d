"""Acts of replies, the styles of the models that answer, and the three variants of a reply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from attune_data.simulate.draws import Draws
from attune_data.simulate.messages import Message
from attune_data.simulate.texts import read_text

ORDER: Final = (
    "adapt", "correct", "claim", "own_word", "shift", "claim_second", "emote", "echo", "validate", "risk",
    "safety", "infer", "reason", "side", "readings", "complex", "moral", "heat", "cheer", "clinical",
    "reflect", "aside", "drift", "generic", "advise", "hard", "ask_fact", "ask_reflect",
)  # fmt: skip
"""Every act, in the order in which a reply says them."""

_CHANCES: Final = read_text("styles.toml")
STYLES: Final[Mapping[str, Mapping[str, float]]] = {
    name: chances for name, chances in _CHANCES.items() if name != "improvements"
}
"""Model -> act -> probability in a turn."""
IMPROVEMENTS: Final[Mapping[str, float]] = _CHANCES["improvements"]
"""Acts that an assistant adds when it is to do better, whatever the person wants."""

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
"""Act -> acts of which one must stand in the reply too."""
WEARING: Final = frozenset({"aside", "cheer", "clinical", "drift", "generic", "heat", "moral", "reflect"})
"""Acts that wear thin: less likely where they stood in the last reply."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The circumstances that bear on the choice of acts beside the style."""

    message: Message
    turn: int
    """0-based."""
    progress: float
    """Turn / turns, in [0, 1)."""
    goal: str
    before: frozenset[str]
    """Acts of the last reply."""


def original(style: str, situation: Situation, draws: Draws) -> set[str]:
    """The acts of the model's own reply."""
    chances = dict(STYLES[style])
    message = situation.message
    chances["generic"] += 0.15 * situation.progress
    if message.asks:  # it reads what is asked of it, mostly
        if situation.goal in ("decide", "info"):
            chances["advise"] += 0.25
        elif situation.goal == "vent":
            chances["advise"] *= 0.6
        elif situation.goal == "sort":
            chances["ask_reflect"] += 0.15
    if message.reaction < 0:
        chances |= {"adapt": 0.45, "correct": 0.25}
        chances["advise"] *= 0.7
    elif message.reaction > 0:
        chances |= {"adapt": 0.06}
    if message.risk:
        chances |= {"risk": 0.55, "safety": 0.6}
    for act in WEARING & situation.before:
        chances[act] *= 0.4
    acts = {act for act in ORDER if draws.yes(chances.get(act, 0.0))}
    if "advise" in acts and draws.yes(0.3):
        acts.add("hard")
    if "claim" in acts and message.named and draws.yes(0.55):
        acts.add("own_word")
    return settled(acts, situation)


def improved(first: Collection[str], situation: Situation, draws: Draws) -> set[str]:
    """The acts of the model's improved version."""
    acts = set(first) | {act for act, chance in IMPROVEMENTS.items() if draws.yes(chance)}
    for act in ("generic", "drift", "heat", "aside"):
        if act in acts and draws.yes(0.5):
            acts.discard(act)
    return settled(acts, situation)


def edited(first: Collection[str], wish: Mapping[str, float], situation: Situation, draws: Draws) -> set[str]:
    """The acts after the person has edited the reply: each unwanted one may go, each missed one may come."""
    acts, effort = set(first), 0.15 + 0.5 * draws.uniform()
    for construct, act in ACT_OF.items():
        if act == "claim_second" and len(situation.message.shown) < 2:
            continue  # nobody adds a second feeling where there is none
        wanted = wish[construct] > 0
        if wanted != (act in acts) and abs(wish[construct]) > 0.3 and draws.yes(effort):
            acts ^= {act}
    for act in ("heat", "cheer"):
        if act in acts and draws.yes(effort):
            acts.discard(act)
    return settled(acts, situation)


def settled(acts: set[str], situation: Situation) -> set[str]:
    """The acts that can stand together here; at least one."""
    message = situation.message
    acts = set(acts)
    if not message.named:
        acts.discard("own_word")
    if "own_word" in acts:  # one naming of the feeling is enough
        acts.discard("claim")
    if situation.turn == 0:
        acts -= {"shift", "correct"}
    if situation.turn == 0 or message.reaction == 0:
        acts -= {"adapt"}
    if not message.risk:
        acts -= {"risk", "safety"}
    if "safety" in acts:
        acts.add("risk")
    acts -= {act for act, needed in NEEDS.items() if not acts & needed}
    if not message.echoes:
        acts.discard("echo")
    if not acts:
        acts.add("echo" if message.echoes else "validate")
    return acts
