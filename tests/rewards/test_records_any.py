"""Reading records of arbitrary JSON: it never raises, and what is read can be scored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attune_rewards import STAGES, Tag, read_record, score_conversation
from tests.rewards.builders import Json, comparison, conversation, judgement, panas, summing, turn, wide

ABOUT = conversation(
    turn(1, tags=[Tag("Upset", 4)], judgements=[judgement("B1", "yes", "no")], comparisons=[comparison()]),
    pre=panas(summing(30, 20)),
    post=panas(summing(40, 24)),
    questions=wide([], "clear", "good", [], {"managing": 4}),
)
KEYS = st.sampled_from(
    [
        "turnNumber", "em_emotion_tags", "emotion", "intensity", "em_pairwise_selections",
        "pairwise_assignment", "0", "A", "B", "B1", "em_binary_om_assessment", "em_draft_judge_scores",
        "overall_score", "predicted_post_panas", "items", "totalPositiveAffect", "Proud",
        "predicted_conversation_wide", "q1_lookingFor", "q2_emotionClarity", "fourBranchScores",
        "managing", "attune", "outcomes", "not_asked", "assess",
    ]
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([1, 2, 4, "A", "yes", "original", "human", "Upset", 10**400, *STAGES])
)  # fmt: skip
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = st.dictionaries(KEYS, JSON, max_size=6)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "turns": JSON
        | st.lists(FIELDS | FIELDS.map(lambda fields: {"turnNumber": 1, **fields}) | JSON, max_size=3),
        "post_conversation": JSON | FIELDS,
        "attune": JSON | FIELDS,
    },
)


@given(RECORDS | st.dictionaries(st.text(max_size=4), JSON))
def test_reading_never_raises_and_what_is_read_can_be_scored(record: Json) -> None:
    said, warnings = read_record(record, ABOUT)
    assert all("\n" not in str(problem) for problem in warnings)
    scores = score_conversation(ABOUT, said)
    assert all(0 <= score <= 1 for score in scores["strict_parts"].values())
