"""One table of every reward: the 15 leaves, `format`, the presets, and what is built on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attune_data import Conversation
from attune_data.constants import BRANCHES
from attune_rewards import (
    PRESETS,
    STAGES,
    ConversationPrediction,
    Draft,
    Prediction,
    RewardSpec,
    Tag,
    score_conversation,
)
from attune_rewards.parts import Format
from attune_rewards.spec import is_asked
from attune_rewards.tree import Node
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of
from tests.rewards.builders import (
    Json,
    answer,
    comparison,
    conversation,
    judgement,
    panas,
    summing,
    turn,
    wide,
)


@dataclass(frozen=True)
class Reward:
    """What is claimed of one reward; of all: gold 1, order does not matter, silence and errors never pay."""

    name: str
    spec: RewardSpec
    canonical: Callable[[Json], float] | None = None
    """The same from canonical scores, for complete answers about a fully annotated conversation."""

    @property
    def low(self) -> float:
        """The lowest value of a request: 0 on the part with the highest null, -n/(1 - n)."""
        nulls = [self.spec.nulls.get(part, 0.0) for part in self.spec.parts]
        return min(-null / (1 - null) for null in nulls)


def says_the_human_reply(truth: ConversationTruth, here: TurnTruth | None, said: Prediction) -> float:
    """A part of one's own: 1 for the human response, 1/4 for another; 1 for anything where there is none."""
    human = (here.responses["human"] or "").strip() if here else ""
    return 1.0 if not human or (isinstance(said, Draft) and said.text.strip() == human) else 0.25


def post(name: str) -> Callable[[Json], float]:
    return lambda scores: float(scores["post_score"][name])


def score(name: str) -> Callable[[Json], float]:
    return lambda scores: float(scores[name])


def moved(side: str) -> Callable[[Json], float]:
    return lambda scores: (post(f"panas_{side}_baseline_adjusted")(scores) + 1) / 2


def near(branch: str) -> Callable[[Json], float]:
    return lambda scores: 1 - float(scores["post_score"]["four_branch_per_branch"][branch]) / 6


def behaviour(scores: Json) -> float:
    return (score("avg_binary_om_accuracy")(scores) + score("avg_binary_human_accuracy")(scores)) / 2


LEAVES_AS_CANONICAL: Mapping[str, Callable[[Json], float]] = {
    "emotion_f1": score("avg_emotion_f1"),
    "emotion_va": score("avg_emotion_va_score"),
    "binary_om": score("avg_binary_om_accuracy"),
    "binary_hp": score("avg_binary_human_accuracy"),
    "pairwise": score("avg_pairwise_accuracy"),
    "panas_pa": moved("pa"),
    "panas_na": moved("na"),
    "q1": post("q1_looking_for_jaccard"),
    "q2": post("q2_emotion_clarity_match"),
    "q3": post("q3_model_fit_match"),
    "q3_follow_up": post("q3_follow_up_score"),
    **{f"branch_{name}": near(name) for name in BRANCHES},
}
COMPOSITE = RewardSpec.preset("composite")
TWO = RewardSpec.weighted("two", {"emotion_va": 2, "pairwise": 1})
FORMAT = RewardSpec("format", Node("format"), (Format(),))
WITH_PART = COMPOSITE.with_part("human", "draft", says_the_human_reply, 0.25)

REWARDS = [
    *(
        Reward(leaf, RewardSpec.weighted(leaf, {leaf: 1}), value)
        for leaf, value in LEAVES_AS_CANONICAL.items()
    ),
    Reward("format", FORMAT),
    Reward("composite", COMPOSITE, lambda scores: score("composite_exact")(scores) / 100),
    Reward("emotion", RewardSpec.preset("emotion"), score("pillar_emotion")),
    Reward("behaviour", RewardSpec.preset("behaviour"), behaviour),
    Reward("preference", RewardSpec.preset("preference"), score("avg_pairwise_accuracy")),
    Reward("holistic", RewardSpec.preset("holistic"), score("pillar_holistic")),
    Reward("skill", RewardSpec.preset("skill")),
    Reward("weighted", TWO),
    Reward("composite+part", WITH_PART),
    Reward("composite+format", COMPOSITE.with_format(0.1)),
    Reward("holistic+format", RewardSpec.preset("holistic").with_format(0.5)),
    Reward("skill+part+format", RewardSpec.preset("skill").with_part(
        "human", "draft", says_the_human_reply, 0.25).with_format(0.1)),
    Reward("measured", TWO.measured_from({"emotion_va": 0.4}, "made up")),
    Reward("left out", COMPOSITE.measured_from({"q1": 0.3}, left_out=("q2", "pairwise"))),
    *(Reward(f"{name}, terminal", RewardSpec.preset(name).terminal()) for name in PRESETS),
    Reward("composite+part, terminal", WITH_PART.terminal()),
]  # fmt: skip
BY_NAME = {row.name: row for row in REWARDS}


# --- every leaf annotated, and each of them taken out -----------------------------------------------------

ANNOTATED = conversation(
    *(
        turn(
            number, tags=[Tag("Upset")], judgements=[judgement("B1", "yes", "no")], comparisons=[comparison()]
        )
        for number in (1, 2)
    ),
    pre=panas(summing(30, 20)),
    post=panas(summing(40, 24)),
    questions=wide(["a"], "clear", "good", ["cold"], dict.fromkeys(BRANCHES, 5)),
)


def in_turns(key: str, value: Any, *path: str) -> Callable[[Json], None]:
    def erase(record: Json) -> None:
        for here in record["turns"]:
            for step in path:
                here = here[step]
            for each in here if isinstance(here, list) else [here]:
                each[key] = value

    return erase


def at_the_end(key: str, *path: str) -> Callable[[Json], None]:
    def erase(record: Json) -> None:
        here = record["conversationWideQuestions"]
        for step in path:
            here = here[step]
        here[key] = None

    return erase


def unmoved(total: str, names: slice) -> Callable[[Json], None]:
    """One side of PANAS is the same before and after: nothing to explain."""

    def erase(record: Json) -> None:
        before, after = record["prePanas"]["responses"], record["postPanas"]["responses"]
        for name in list(after)[names]:
            after[name] = before[name]

    return erase


JUDGEMENTS = ("annotations", "binaryJudgements")
ERASED: Mapping[str, tuple[Callable[[Json], None], frozenset[str]]] = {
    "emotion_f1": (in_turns("moodShiftTags", None), frozenset({"emotion_f1", "emotion_va"})),
    "emotion_va": (in_turns("moodShiftTags", None), frozenset({"emotion_f1", "emotion_va"})),
    "binary_om": (in_turns("observedBehavior", "na", *JUDGEMENTS), frozenset({"binary_om"})),
    "binary_hp": (in_turns("preferredBehavior", "na", *JUDGEMENTS), frozenset({"binary_hp"})),
    "pairwise": (in_turns("winner", None, "annotations", "pairwiseComparisons"), frozenset({"pairwise"})),
    "panas_pa": (unmoved("positive", slice(0, 10)), frozenset({"panas_pa"})),
    "panas_na": (unmoved("negative", slice(10, 20)), frozenset({"panas_na"})),
    "q1": (at_the_end("q1_lookingFor"), frozenset({"q1"})),
    "q2": (at_the_end("q2_emotionClarity"), frozenset({"q2"})),
    "q3": (at_the_end("q3_modelFit"), frozenset({"q3"})),
    "q3_follow_up": (at_the_end("q3_followUp_whatFeltOff"), frozenset({"q3_follow_up"})),
    **{
        f"branch_{name}": (at_the_end(name, "fourBranchScores"), frozenset({f"branch_{name}"}))
        for name in BRANCHES
    },
}
"""Leaf -> what takes its annotation out of a record, and the leaves that go with it."""


def without_annotation(leaf: str) -> Conversation:
    record = ANNOTATED.to_record()
    ERASED[leaf][0](record)
    return Conversation.model_validate(record)


# --- the total, worked out apart from the requests ----------------------------------------------------------


def parts_of(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> dict[str, float]:
    """Part -> its score over the whole conversation: the strict leaves, and means over requests of others."""
    truth = truth_of(about)
    parts: dict[str, float] = dict(score_conversation(about, said)["strict_parts"])
    for part in spec.extra:
        places = [
            (stage, here)
            for stage in STAGES
            for here in (truth.turns if stage != "reflect" else (None,))
            if is_asked(stage, here) and part.defined(truth, stage, here)
        ]
        answers = [answer(said, stage, here.turn if here else None) for stage, here in places]
        scores = [
            0.0 if one is None else part.score(truth, stage, here, one)
            for (stage, here), one in zip(places, answers, strict=True)
        ]
        if scores:
            parts[part.name] = sum(scores) / len(scores)
    return parts


def total_of(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> float:
    """Sum of weight x score as paid, s or (s - n)/(1 - n), over the parts of the tree."""
    parts = {name: value for name, value in parts_of(about, said, spec).items() if name not in spec.left_out}
    nulls = {name: spec.nulls.get(name, 0.0) for name in parts}
    return sum(
        weight * (parts[name] - nulls[name]) / (1 - nulls[name])
        for name, weight in spec.root.weights(parts).items()
    )
