"""What the tests of leaks share: conversations, twins with other answers, what may be seen, odds."""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from itertools import product
from statistics import fmean, stdev

from attune_data import Conversation, load
from attune_data.format.affect import EMOTIONS
from attune_data.format.codebook import Codebook
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import MODES, Settings, plan
from attune_episodes.protocol.prompts import NAMES
from attune_episodes.protocol.settings import LABELS, PANAS_STRATEGIES
from attune_episodes.protocol.unanswered import unanswered as unanswered
from tests.play.builders import EVERY_SETTING, Json

BOOK = Codebook.own()
WRITTEN = 210
ALL = {(s.mode, s.prompts, s.panas_strategy, s.labels): s for s in EVERY_SETTING}


@cache
def corpus() -> tuple[Conversation, ...]:
    """The sample and two thirds of the written corpus."""
    return (*load("sample"), *load("written")[:WRITTEN])


def walk() -> Iterator[tuple[Conversation, Settings]]:
    """Every conversation in every mode under both prompt sets.

    Strategies and label styles change reflect and prefer alone: the sample takes every strategy each time,
    with the label styles in turn; the others take both in turn, so that all 48 settings occur.
    """
    sample = len(load("sample"))
    for number, about in enumerate(corpus()):
        for place, one in enumerate(product(MODES, NAMES), number):
            for strategy in range(3) if number < sample else (place % 3,):
                yield about, ALL[*one, PANAS_STRATEGIES[strategy], LABELS[place // 3 % 2]]


# --- twins: the same conversation, other answers --------------------------------------------------

FLIPPED = {"yes": "no", "no": "yes", "na": "yes", None: "no"}
OTHER_SIDE = {"A": "B", "B": "A", None: "A"}
FELT_OFF = BOOK.options["q3_followUp_whatFeltOff"]


def answered_otherwise(about: Conversation) -> Conversation:
    """A twin in which every annotated answer is another one, and the same questions apply."""
    raw = copy.deepcopy(about.to_record())
    for turn in raw["turns"]:
        turn["moodShiftTags"] = _other_tags(turn["moodShiftTags"], turn["turnNumber"])
        said = turn["annotations"]
        said["selectedPairwiseQuestions"] = ["PW16"]
        for entry in said["binaryJudgements"]:
            _set_judgement(entry, lambda value: FLIPPED[value])
        for entry in said["pairwiseComparisons"]:
            entry["winner"] = OTHER_SIDE[entry["winner"]]
    post = raw["postPanas"]["responses"]
    raw["postPanas"] = {"responses": {name: rating % 7 + 1 for name, rating in post.items()}}
    wide = raw["conversationWideQuestions"]
    raw["conversationWideQuestions"] = {
        "q1_lookingFor": [option for option in Q1_OPTIONS if option not in wide["q1_lookingFor"]],
        "q2_emotionClarity": _next(Q2_OPTIONS, wide["q2_emotionClarity"]),
        "q3_modelFit": _next(Q3_OPTIONS, wide["q3_modelFit"]),
        "q3_followUp_whatFeltOff": [] if wide["q3_followUp_whatFeltOff"] else [*FELT_OFF[:2], "The tone"],
        "fourBranchScores": {name: wide["fourBranchScores"][name] % 7 + 1 for name in BRANCHES},
    }
    return Conversation.model_validate(raw)


def _set_judgement(entry: Json, other: Callable[[str | None], str | None]) -> None:
    """Other values where the question applies; elsewhere another way to say that it does not."""
    observed, preferred = entry.get("observedBehavior"), entry.get("preferredBehavior")
    if {observed, preferred} & {"yes", "no"}:
        values = (other(observed), other(preferred), other(entry.get("llmValue")))
    else:
        values = ("na", None if observed == preferred else "na", "na")
    entry |= dict(zip(("observedBehavior", "preferredBehavior", "llmValue"), values, strict=True))


def _other_tags(tags: list[Json], turn: int) -> list[Json]:
    """Another set of tags: none, other feelings, or the same at other intensities, turn by turn."""
    felt = {tag["emotion"] for tag in tags}
    unfelt = [name for name in EMOTIONS if name not in felt]
    if not tags or turn % 3 == 1:
        return [{"emotion": unfelt[turn + k], "intensity": 7 - k} for k in range(1 + turn % 2)]
    return [] if turn % 3 == 2 else [tag | {"intensity": (tag["intensity"] or 1) % 7 + 1} for tag in tags]


def _next(options: tuple[str, ...], given: str) -> str:
    return options[(options.index(given) + 1) % len(options)]


# --- labels, sides, order ------------------------------------------------------------------------

Shown = tuple[tuple[int, str, int], dict[str, Hashable], bool]
"""One comparison as shown: its turn under a seed, the clues, whether the winner stands on side A."""


def shown(settings: Settings, of: tuple[Conversation, ...]) -> Iterator[Shown]:
    """Every comparison with a winner, as the prefer requests of these settings show it."""
    for about in of:
        for request in plan(about, settings):
            turn = about.turn(request.turn or 0)
            assert turn is not None
            for c in request.comparisons:
                asked = turn.comparisons[c.index]
                winner = asked.response_a if asked.winner == "A" else asked.response_b
                if asked.winner is not None:
                    clues: dict[str, Hashable] = {name: getattr(c, name) for name in CLUES}
                    place = (settings.seed, about.conversation_id, turn.turn_number)
                    yield place, clues, request.shown_labels[c.label_a] == winner


@cache
def rows() -> tuple[Shown, ...]:
    """About 120,000 shown comparisons: every one of the corpus under each of 16 seeds."""
    every = (Settings(stages=("prefer",), prompts="compact", seed=seed) for seed in range(16))
    return tuple(row for settings in every for row in shown(settings, corpus()))


CLUES = ("question", "number", "label_a", "label_b")


def attack(played: Iterable[Shown], clues: tuple[str, ...]) -> tuple[float, float]:
    """Accuracy, and its standard error, of the best constant per cell of the clues.

    Fitted on one half of the conversations, scored on the other. The comparisons of a turn share its labels,
    so the error is that of a mean over turns.
    """
    votes: Counter[tuple[Hashable, ...]] = Counter()
    test: dict[Hashable, list[tuple[tuple[Hashable, ...], bool]]] = defaultdict(list)
    half = {about.conversation_id for about in corpus()[::2]}
    for turn, seen, on_a in played:
        cell = tuple(seen[clue] for clue in clues)
        if turn[1] in half:
            votes[cell] += 1 if on_a else -1
        else:
            test[turn].append((cell, on_a))
    right = [fmean((votes[cell] > 0) == on_a for cell, on_a in turn) for turn in test.values()]
    return fmean(right), stdev(right) / math.sqrt(len(right))
