"""What the tests of leaks share: conversations, twins with other answers, what may be seen, frames, odds."""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from itertools import product
from statistics import fmean, stdev
from typing import Any, NamedTuple

from scipy.stats import chisquare

from attune_data import Conversation, Turn, load
from attune_data.affect import EMOTIONS
from attune_data.codebook import Codebook
from attune_data.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.simulate import Simulation, simulate
from attune_episodes import MODES, Request, Settings, plan
from attune_episodes.background import background_lines
from attune_episodes.prompts import NAMES
from attune_episodes.settings import LABELS, PANAS_STRATEGIES
from tests.episodes.builders import EVERY_SETTING, Json

BOOK = Codebook.own()
SIMULATED = 200
ALL = {(s.mode, s.prompts, s.panas_strategy, s.labels): s for s in EVERY_SETTING}


@cache
def corpus() -> tuple[Conversation, ...]:
    """The sample, 200 simulated conversations, and a few of the easiest and of the hardest level."""
    extremes = [c for level in ("plain", "tangled") for c in Simulation(seed=12, level=level).take(5)]
    return (*load("sample"), *simulate(SIMULATED, seed=11), *extremes)


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


def narrow_walk() -> Iterator[tuple[Conversation, Settings]]:
    """Every conversation in every mode, all else in turn."""
    for number, about in enumerate(corpus()):
        for place, mode in enumerate(MODES, number):
            yield about, ALL[mode, NAMES[place % 2], PANAS_STRATEGIES[place % 3], LABELS[place // 6 % 2]]


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


def unanswered(about: Conversation) -> Conversation:
    """A twin without a single annotated answer, and the same questions apply."""
    raw = copy.deepcopy(about.to_record())
    for turn in raw["turns"]:
        turn["moodShiftTags"] = None
        said = turn["annotations"]
        said["selectedPairwiseQuestions"] = None
        for entry in said["binaryJudgements"]:
            _set_judgement(entry, lambda _: None)
        for entry in said["pairwiseComparisons"]:
            entry["winner"] = None
    raw["postPanas"] = raw["conversationWideQuestions"] = None
    return Conversation.model_validate(raw)


def reworded(about: Conversation) -> Conversation:
    """A twin with other texts and other answers; only id, turn numbers and comparisons stay."""
    raw = answered_otherwise(about).to_record()
    for turn in raw["turns"]:
        alternates = turn["annotations"]["alternateResponses"]
        original, improved = turn["llmResponse"], alternates["llmImproved"]
        turn["userMessage"], turn["llmResponse"] = "Well. " + turn["userMessage"], improved
        alternates |= {"llmImproved": alternates["humanEdited"], "humanEdited": original + " So."}
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


def answers_of(about: Conversation) -> dict[tuple[Any, ...], Any]:
    """Place -> annotated answer, for every answer of the conversation to a question that applies."""
    found: dict[tuple[Any, ...], Any] = {}
    for turn in about.turns:
        found["tags", turn.turn_number] = turn.mood_shift_tags
        for judgement in turn.judgements:
            if judgement.applicable:
                place = (turn.turn_number, judgement.question_id)
                found["observed", *place] = judgement.observed
                found["preferred", *place] = judgement.preferred
        found |= {("winner", turn.turn_number, i): c.winner for i, c in enumerate(turn.comparisons)}
    for name in EMOTIONS:
        found["post", name] = about.post_panas and about.post_panas.item(name)
    for side in ("positive", "negative"):
        found["post total", side] = about.post_panas and about.post_panas.total(side)
    wide = about.conversation_wide
    for field in ("q1_looking_for", "q2_emotion_clarity", "q3_model_fit", "q3_follow_up"):
        found[field,] = getattr(wide, field) if wide else None
    for branch in BRANCHES:
        found["branch", branch] = (wide.four_branch_scores or {}).get(branch) if wide else None
    return found


# --- what may be seen ----------------------------------------------------------------------------


def visible_texts(about: Conversation, request: Request, settings: Settings) -> list[str]:
    """What of the conversation a request may hold, as often as it may: by the protocol, not the request."""
    seen: list[str] = []
    for turn in about.turns:
        seen.append(turn.user_message)
        if turn.turn_number != request.turn:
            seen.append(turn.llm_response)
            continue
        if request.stage == "prefer":
            seen += texts_of(turn)[1:]
        in_thread = request.stage != "prefer" or settings.prompts == "full"
        if request.stage != "draft" and in_thread:
            seen.append(turn.llm_response)
        break
    return seen


def texts_of(turn: Turn) -> list[str]:
    """Message, reply and both alternates of a turn."""
    return [turn.user_message, *(text or "" for text in turn.responses.values())]


def frame(about: Conversation, request: Request, settings: Settings) -> str:
    """The last message without what it may hold of this conversation: each such part is cut out exactly.

    Cut are background, texts, turn number, the questions that apply and those that do not, the comparisons
    and the totals before. Whatever else depends on the conversation is left standing.
    """
    text = request.messages[-1].content
    if settings.omniscient:
        background = settings.prompt_set.render("background", {"background": background_lines(about)})
        text = text.replace(f"{background}\n\n", "", 1)
    turn = about.turn(request.turn) if request.turn else None
    person = "You" if request.stage == "assess_hp" else "Person"
    for earlier in about.turns if turn is None else about.turns[: about.turns.index(turn)]:
        text = text.replace(f"{person}: {earlier.user_message}\nAssistant: {earlier.llm_response}\n", "", 1)
    if turn is None:
        pre = about.pre_panas
        assert pre is not None
        p, n = f"{pre.total('positive'):g}", f"{pre.total('negative'):g}"
        text = text.replace(f"summed to {p} and", "summed to # and").replace(f"ten) to {n},", "ten) to #,")
        return text.replace(f"positive feelings {p}, negative feelings {n} ", "# and # ")
    for said in sorted(set(visible_texts(about, request, settings)), key=len, reverse=True):
        text = text.replace(said, "<text>")
    text = text.replace(f"turn {turn.turn_number}", "turn #").replace(f"Turn {turn.turn_number}.", "Turn #.")
    if request.stage == "prefer":
        reply = "reply " if settings.prompts == "full" else ""
        asked = sorted({c.question_id for c in turn.comparisons}, key=lambda q: (q != "general", len(q), q))
        text = text.replace("\n".join(f"[{q}] {BOOK.pairwise_text(q)}" for q in asked), "<asked>")
        sides = [(c, f"A = {reply}{c.label_a}, B = {reply}{c.label_b}") for c in request.comparisons]
        return text.replace("\n".join(f"{c.number}. [{c.question}] {ab}" for c, ab in sides), "<comparisons>")
    asked = [j.question_id for j in turn.judgements if j.applicable]
    others = [j.question_id for j in turn.judgements if not j.applicable]
    observer = request.stage == "assess"
    lines = "\n".join(f"{id_}: {BOOK.binary_text(id_, observer=observer)}" for id_ in asked)
    text = text.replace(lines, "<questions>").replace(f'"{asked[0]}": ', '"<id>": ')
    return text.replace(f"\n\nNot applicable in this turn, leave them out: {', '.join(others)}.", "")


# --- labels, sides, order ------------------------------------------------------------------------


class Shown(NamedTuple):
    """One comparison as a prompt shows it, beside what the person chose."""

    turn: tuple[int, str, int]
    """(seed, conversation, turn)"""
    place: int
    """Its index in the file."""
    question: str
    number: int
    label_a: str
    label_b: str
    swapped: bool
    winner: str
    """original, alternate or human"""
    side: str
    """Where the winner is shown: A or B."""
    label: str
    """Of the winner."""
    order: tuple[str, ...]
    """The responses in the order of their labels, which is the order of the texts."""


def shown(settings: Settings, of: tuple[Conversation, ...]) -> Iterator[Shown]:
    """Every comparison with a winner, as the prefer requests of these settings show it."""
    for about in of:
        for request in plan(about, settings):
            if request.stage != "prefer" or request.turn is None:
                continue
            turn = about.turn(request.turn)
            assert turn is not None
            label_of = {name: label for label, name in request.shown_labels.items()}
            for c in request.comparisons:
                asked = turn.comparisons[c.index]
                if asked.winner is None:
                    continue
                winner = asked.response_a if asked.winner == "A" else asked.response_b
                yield Shown(
                    turn=(settings.seed, about.conversation_id, turn.turn_number),
                    place=c.index,
                    question=c.question,
                    number=c.number,
                    label_a=c.label_a,
                    label_b=c.label_b,
                    swapped=c.swapped,
                    winner=winner,
                    side="A" if c.label_a == label_of[winner] else "B",
                    label=label_of[winner],
                    order=tuple(request.shown_labels.values()),
                )


@cache
def rows() -> tuple[Shown, ...]:
    """About 120,000 shown comparisons: every one of the corpus under each of 8 seeds."""
    seeds = [Settings(stages=("prefer",), prompts="compact", seed=seed) for seed in range(8)]
    return tuple(row for settings in seeds for row in shown(settings, corpus()))


@cache
def one_a_turn() -> tuple[Shown, ...]:
    """One comparison a turn and seed (labels and order are drawn once a turn), another index each turn."""
    return tuple(row for row in rows() if row.place == (row.turn[0] + row.turn[2]) % 12)


LEAST_P = 1e-4
CLUES = ("question", "number", "label_a", "label_b")


def assert_uniform(drawn: Iterable[Hashable], kinds: int, *, least: int = 9_000) -> None:
    counts = Counter(drawn)
    assert counts.total() > least, counts
    assert len(counts) == kinds, counts
    assert chisquare(list(counts.values())).pvalue > LEAST_P, counts


def assert_fair(hits: int, n: int, p: float = 0.5) -> None:
    """Within 4.5 standard errors of p; with n = 120,000 and p = 1/2 that is 4.5·0.5/346 = ± 0.0065."""
    assert abs(hits / n - p) < 4.5 * math.sqrt(p * (1 - p) / n), (hits, n)


def attack(played: Iterable[Shown], clues: tuple[str, ...]) -> tuple[float, float]:
    """Accuracy, and its standard error, of the best constant per cell of the clues.

    Fitted on one half of the conversations, scored on the other. The comparisons of a turn share its labels,
    so the error is that of a mean over turns.
    """
    votes: Counter[tuple[Hashable, ...]] = Counter()
    test: dict[Hashable, list[tuple[tuple[Hashable, ...], bool]]] = defaultdict(list)
    half = {about.conversation_id for about in corpus()[::2]}
    for row in played:
        cell = tuple(getattr(row, clue) for clue in clues)
        if row.turn[1] in half:
            votes[cell] += 1 if row.side == "A" else -1
        else:
            test[row.turn].append((cell, row.side == "A"))
    right = [fmean((votes[cell] > 0) == side for cell, side in turn) for turn in test.values()]
    return fmean(right), stdev(right) / math.sqrt(len(right))
