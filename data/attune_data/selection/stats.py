"""Describe a data set: counts, base rates and missing parts, as plain values for tables and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attune_data.format import constants
from attune_data.format.affect import Polarity
from attune_data.format.schema import Conversation, ConversationWide, Turn
from attune_data.format.validate import oddities
from attune_data.selection.means import mean


def describe(conversations: Sequence[Conversation]) -> dict[str, Any]:
    """Counts and base rates of a data set.

    Rates are shares in [0, 1], or None if nothing was annotated. `questions` gives, for each binary id, how
    often it was asked and the share of yes among its yes/no answers, observed and preferred.
    `missing` counts absent and empty parts; `contradictions` lists the warnings of validation.
    """
    turns = [turn for conversation in conversations for turn in conversation.turns]
    tagged = [turn.mood_shift_tags for turn in turns if turn.mood_shift_tags is not None]
    owners = Counter(conversation.participant for conversation in conversations)
    per_conversation = [len(conversation.turns) for conversation in conversations]
    comparisons = [c for turn in turns for c in turn.comparisons]
    wide = [c.conversation_wide for c in conversations if c.conversation_wide]
    return {
        "conversations": len(conversations),
        "provenance": dict(Counter(c.origin for c in conversations)),
        "participants": len(owners),
        "participants_with_several": {who: n for who, n in sorted(owners.items()) if n > 1},
        "turns": len(turns),
        "turns_per_conversation": {
            "min": min(per_conversation, default=0),
            "mean": mean(per_conversation),
            "max": max(per_conversation, default=0),
        },
        "tags_per_turn": mean([len(tags) for tags in tagged]),
        "neutral_turns": mean([not tags for tags in tagged]),
        "tags": _ranked(tag.emotion for tags in tagged for tag in tags),
        "intensity": mean([tag.intensity for tags in tagged for tag in tags if tag.intensity is not None]),
        "questions": _questions(turns),
        "comparisons_per_turn": mean([len(turn.comparisons) for turn in turns]),
        "comparison_questions": _ranked(c.question_id for c in comparisons),
        "wins": _wins(turns),
        "winner_a": mean([c.winner == "A" for c in comparisons if c.winner]),
        "goals": _ranked(goal for w in wide for goal in w.q1_looking_for or ()),
        "clarity": _ranked(w.q2_emotion_clarity for w in wide if w.q2_emotion_clarity),
        "fit": _ranked(w.q3_model_fit for w in wide if w.q3_model_fit),
        "felt_off": _ranked(text for w in wide for text in w.q3_follow_up or ()),
        "branches": {
            branch: mean([s for w in wide if (s := (w.four_branch_scores or {}).get(branch)) is not None])
            for branch in constants.BRANCHES
        },
        "panas_change": {
            "positive": mean(_changes(conversations, "positive")),
            "negative": mean(_changes(conversations, "negative")),
        },
        "categories": _ranked(
            c.metadata.category for c in conversations if c.metadata and c.metadata.category
        ),
        "licences": _ranked(filter(None, map(_licence, conversations))),
        "diagnoses": _ranked(d for c in conversations for d in c.diagnoses or ()),
        "missing": _missing(conversations, turns),
        "contradictions": [str(p) for c in conversations for p in oddities(c, c.conversation_id)],
    }


def _licence(conversation: Conversation) -> str | None:
    """The data set and the licence that a conversation states, marked if it forbids commercial use."""
    told = conversation.further_metadata
    if not isinstance(licence := told.get("licence"), str):
        return None
    stated = f"{told['dataset']}: {licence}" if isinstance(told.get("dataset"), str) else licence
    return f"{stated} (non-commercial)" if told.get("non_commercial") is True else stated


def _ranked(values: Iterable[str]) -> dict[str, int]:
    """Sort counts with the most frequent first and ties by name, regardless of the input's order."""
    return dict(sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0])))


def _questions(turns: Sequence[Turn]) -> dict[str, dict[str, Any]]:
    judgements = [judgement for turn in turns for judgement in turn.judgements]
    found = {judgement.question_id for judgement in judgements}
    table = {}
    for question in [*constants.BINARY_IDS, *sorted(found - set(constants.BINARY_IDS))]:
        these = [j for j in judgements if j.question_id == question]
        observed = [j.observed_truth == "yes" for j in these if j.observed_truth in ("yes", "no")]
        preferred = [j.preferred_truth == "yes" for j in these if j.preferred_truth in ("yes", "no")]
        table[question] = {
            "annotated": len(these),
            "applicable": sum(j.applicable for j in these),
            "observed_yes": mean(observed),
            "preferred_yes": mean(preferred),
        }
    return table


def _wins(turns: Sequence[Turn]) -> dict[str, float | None]:
    """Response -> the share of its comparisons that it won."""
    won: Counter[str] = Counter()
    entered: Counter[str] = Counter()
    for turn in turns:
        for comparison in turn.comparisons:
            if comparison.winner:
                entered.update((comparison.response_a, comparison.response_b))
                won[comparison.response_a if comparison.winner == "A" else comparison.response_b] += 1
    return {name: won[name] / entered[name] if entered[name] else None for name in constants.RESPONSES}


def _changes(conversations: Sequence[Conversation], polarity: Polarity) -> list[float]:
    both = [(c.pre_panas, c.post_panas) for c in conversations if c.pre_panas and c.post_panas]
    totals = [(pre.total(polarity), post.total(polarity)) for pre, post in both]
    return [post - pre for pre, post in totals if pre is not None and post is not None]


def _missing(conversations: Sequence[Conversation], turns: Sequence[Turn]) -> dict[str, int]:
    wide = [c.conversation_wide or ConversationWide() for c in conversations]
    return {
        "turns without tags": sum(turn.mood_shift_tags is None for turn in turns),
        "turns without binary judgements": sum(not turn.judgements for turn in turns),
        "turns without comparisons": sum(not turn.comparisons for turn in turns),
        "comparisons without a winner": sum(c.winner is None for turn in turns for c in turn.comparisons),
        "conversations without pre PANAS": sum(c.pre_panas is None for c in conversations),
        "conversations without post PANAS": sum(c.post_panas is None for c in conversations),
        "conversations without Q1": sum(w.q1_looking_for is None for w in wide),
        "conversations without Q2": sum(w.q2_emotion_clarity is None for w in wide),
        "conversations without Q3": sum(w.q3_model_fit is None for w in wide),
        "conversations without branch scores": sum(not w.four_branch_scores for w in wide),
    }
