"""The canonical scores of one conversation: the benchmark's own conventions, under its own names.

Means are over the turns that the result holds, then over conversations; undefined values are left out
of means. Turns absent from the result are skipped; without any turn the turn means are 0.
Source: AttuneBench v1.0, scoring (equations in `docs/metrics.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attune_data.means import mean
from attune_rewards import binary, branches, draft, emotion, pairwise, panas, questions
from attune_rewards.predictions import ConversationPrediction, Reflect, TurnPrediction
from attune_rewards.tree import COMPOSITE
from attune_rewards.truth import ConversationTruth, TurnTruth

Q1Overlap = Literal["jaccard", "f1"]

WEIGHTS = {pillar.name: pillar.weight for pillar in COMPOSITE.children}
"""Pillars of the Composite; the strict reading weighs the same, so the tree states them for both."""
HOLISTIC_WEIGHTS = {part.name: part.weight for part in COMPOSITE.part("holistic").children}

_AVERAGED = (
    "emotion_hit_rate", "emotion_intensity_mae", "emotion_f1", "emotion_f1_intensity", "emotion_va_score",
    "emotion_va_intensity_score", "binary_om_accuracy", "binary_human_accuracy", "binary_om_accuracy_hp",
    "binary_human_accuracy_hp", "pairwise_accuracy", "pairwise_kendall_tau", "response_similarity",
    "response_similarity_human_edited", "draft_judge_score", "draft_binary_alignment",
)  # fmt: skip


def score_turn(truth: TurnTruth, prediction: TurnPrediction) -> dict[str, float | int | None]:
    """Every turn metric under its official name; None = undefined."""
    tags, assess, hp = truth.tags or (), prediction.assess, prediction.assess_hp
    guess = (assess.tags if assess else None) or ()
    set_overlap = emotion.overlap(tags, guess)
    picks = prediction.prefer.picks if prediction.prefer else {}
    similar = draft.similarity(prediction.draft.text if prediction.draft else "", truth.responses)
    judged = prediction.judged
    without = 1.0  # a turn without any judgement scores 1.0 in the first reading, 0.0 in the re-asked one
    return {
        "turnNumber": truth.turn,
        "emotion_hit_rate": set_overlap.recall,
        "emotion_intensity_mae": emotion.intensity_mae(tags, guess),
        "emotion_precision": set_overlap.precision,
        "emotion_recall": set_overlap.recall,
        "emotion_f1": set_overlap.f1,
        "emotion_f1_intensity": emotion.f1_intensity(tags, guess),
        "emotion_va_score": emotion.va_score(tags, guess),
        "emotion_va_intensity_score": emotion.va_intensity_score(tags, guess),
        "binary_om_accuracy": _binary(truth, truth.observed, assess.observed if assess else {}, without),
        "binary_human_accuracy": _binary(truth, truth.preferred, assess.preferred if assess else {}, without),
        "binary_om_accuracy_hp": _binary(truth, truth.observed, hp.observed if hp else {}, 0.0),
        "binary_human_accuracy_hp": _binary(truth, truth.preferred, hp.preferred if hp else {}, 0.0),
        "pairwise_accuracy": pairwise.accuracy(truth.comparisons, picks),
        "pairwise_kendall_tau": pairwise.kendall_tau(truth.comparisons, picks),
        "response_similarity": similar.best,
        "response_similarity_original": similar.original,
        "response_similarity_llm_improved": similar.alternate,
        "response_similarity_human_edited": similar.human,
        "draft_judge_score": draft.judge_score(judged.scores) if judged else None,
        "draft_binary_alignment": draft.binary_alignment(truth.preferred, judged.binary) if judged else None,
    }


def _binary(truth: TurnTruth, pairs: binary.TruthPairs, answers: Mapping[str, str], without: float) -> float:
    return binary.accuracy(pairs, answers) if truth.has_judgements else without


def score_post(
    truth: ConversationTruth, prediction: Reflect | None, q1_overlap: Q1Overlap = "jaccard"
) -> dict[str, Any]:
    """Every conversation-wide metric under its official name; None = undefined."""
    guess = prediction or Reflect()
    totals = panas.totals(guess.panas, guess.panas_totals)
    mae = panas.total_mae(truth.post_totals, totals)
    item_mae = panas.item_mae(truth.post, guess.panas)
    adjusted = [
        panas.baseline_adjusted(pre, post, got)
        for pre, post, got in zip(truth.pre_totals, truth.post_totals, totals, strict=True)
    ]
    q1 = {
        "jaccard": questions.set_jaccard(truth.q1 or (), guess.q1 or ()),
        "f1": questions.set_f1(truth.q1 or (), guess.q1 or ()),
    }
    errors = branches.errors(truth.branches, guess.branches)
    return {
        "panas_mae": mae,
        "panas_normalized": panas.normalized(mae),
        "panas_pa_baseline_adjusted": adjusted[0],
        "panas_na_baseline_adjusted": adjusted[1],
        "panas_baseline_adjusted": mean(adjusted),
        "panas_item_mae": item_mae,
        "panas_item_normalized": None if item_mae is None else panas.normalized(item_mae, panas.ITEM_SPAN),
        "panas_item_baseline_adjusted": panas.items_baseline_adjusted(truth.pre, truth.post, guess.panas),
        "q1_looking_for_score": q1[q1_overlap],
        "q1_looking_for_jaccard": q1["jaccard"],
        "q1_looking_for_f1": q1["f1"],
        "q2_emotion_clarity_match": questions.exact_match(truth.q2, guess.q2),
        "q3_model_fit_match": questions.exact_match(truth.q3, guess.q3),
        "q3_model_fit_ordinal_distance": questions.fit_distance(truth.q3, guess.q3),
        "q3_follow_up_score": questions.fuzzy_f1(truth.q3_follow_up or (), guess.q3_follow_up or ()),
        "four_branch_mae": mean(list(errors.values())),
        "four_branch_normalized": branches.normalized(errors),
        "four_branch_per_branch": errors,
    }


def score_canonical(
    truth: ConversationTruth, prediction: ConversationPrediction, q1_overlap: Q1Overlap = "jaccard"
) -> dict[str, Any]:
    """All canonical scores of one conversation under their official names; None = undefined.

    Accuracies and shares are in [0, 1], the Composites 0–100. `composite_score` and
    `equal_weight_composite` are rounded to 2 places as in official files; `composite_exact` is not.
    """
    answered = [(turn, prediction.turns[turn.turn]) for turn in truth.turns if turn.turn in prediction.turns]
    turns = [score_turn(turn, guess) for turn, guess in answered]
    scores: dict[str, Any] = {"turn_scores": turns}
    for name in _AVERAGED:
        average = mean([turn[name] for turn in turns])
        always_defined = name in _ALWAYS_DEFINED
        scores[f"avg_{name}"] = 0.0 if average is None and always_defined else average
    scores["perspective_gap_om_hp"] = scores["avg_binary_om_accuracy"] - scores["avg_binary_human_accuracy"]
    scores["hp_perspective_gap"] = (
        scores["avg_binary_human_accuracy"] - scores["avg_binary_human_accuracy_hp"]
    )
    scores |= _pooled(answered)
    post = scores["post_score"] = score_post(truth, prediction.reflect, q1_overlap)
    return scores | _composites(scores, post)


_ALWAYS_DEFINED = frozenset(_AVERAGED) - {
    "emotion_intensity_mae", "pairwise_kendall_tau", "response_similarity",
    "response_similarity_human_edited", "draft_judge_score", "draft_binary_alignment",
}  # fmt: skip


def _pooled(answered: Sequence[tuple[TurnTruth, TurnPrediction]]) -> dict[str, dict[str, float]]:
    def counts(truth_side: str, stage: str) -> dict[str, float]:
        pairs = []
        for turn, guess in answered:
            said = getattr(guess, stage)
            pairs.append((getattr(turn, truth_side), getattr(said, truth_side) if said else {}))
        return binary.pooled(pairs).as_dict()

    return {
        "pooled_binary_om_metrics": counts("observed", "assess"),
        "pooled_binary_human_metrics": counts("preferred", "assess"),
        "pooled_binary_om_metrics_hp": counts("observed", "assess_hp"),
        "pooled_binary_human_metrics_hp": counts("preferred", "assess_hp"),
    }


def _composites(scores: Mapping[str, Any], post: Mapping[str, Any]) -> dict[str, float]:
    """The Composite and its equal-weight twin, from the means of one conversation."""
    emotion_pillar = 0.5 * scores["avg_emotion_f1"] + 0.5 * scores["avg_emotion_va_score"]
    binary_mean = (scores["avg_binary_om_accuracy"] + scores["avg_binary_human_accuracy"]) / 2
    pairwise_mean = scores["avg_pairwise_accuracy"]
    adjusted = post["panas_baseline_adjusted"]
    panas_mapped = 0.5 if adjusted is None else (adjusted + 1) / 2
    question_mean = (
        post["q1_looking_for_score"]
        + post["q2_emotion_clarity_match"]
        + post["q3_model_fit_match"]
        + post["q3_follow_up_score"]
    ) / 4
    branch_score = post["four_branch_normalized"]
    holistic = (
        HOLISTIC_WEIGHTS["panas"] * panas_mapped
        + HOLISTIC_WEIGHTS["questions"] * question_mean
        + HOLISTIC_WEIGHTS["branches"] * branch_score
    )
    evaluation = 0.5 * binary_mean + 0.5 * pairwise_mean
    exact = 100 * (
        WEIGHTS["emotion"] * emotion_pillar
        + WEIGHTS["evaluation"] * evaluation
        + WEIGHTS["holistic"] * holistic
    )
    turn_level = (emotion_pillar + binary_mean + pairwise_mean) / 3
    conversation_wide = (panas_mapped + question_mean + branch_score) / 3
    return {
        "pillar_emotion": emotion_pillar,
        "pillar_evaluation": evaluation,
        "pillar_holistic": holistic,
        "turn_level_average": turn_level,
        "conversation_wide_average": conversation_wide,
        "composite_exact": exact,
        "composite_score": round(exact, 2),
        "equal_weight_composite": round(50 * (turn_level + conversation_wide), 2),
    }
