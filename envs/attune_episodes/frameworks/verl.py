"""verl: `reward.custom_reward_function.path=pkg://attune_episodes.frameworks.verl`; extra `verl`.

A request becomes a row (`training.to_verl`), and the reply to it a score (`compute_score`). Prompts, parsing
and scoring stay ours.
"""

from __future__ import annotations

from typing import Final

from attune_data.extras import warn_if_untested
from attune_episodes.training.scoring import own_parts_of, score_truth
from attune_episodes.training.truth import PARTS
from attune_rewards.reward.score import OK

TESTED: Final = ("0.9", "0.10")
"""The range of tested versions of verl; the upper end is excluded."""
# checked here, since verl loads this file and calls nothing else in it before the first reply
warn_if_untested("verl", *TESTED)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: object = None,
    spec: str | None = None,
    **others: object,
) -> dict[str, float | None]:
    """Score a response by the row's `truth`; the signature is that of verl's custom reward functions.

    `spec` is needed for a reward with parts of your own: `FILE.py:NAME` or `module:NAME`, which verl gets as
    `reward.custom_reward_function.reward_kwargs.spec`. Each worker reads it once.

    Returns:
        `score`, the row's reward; `parsed`, 1.0 or 0.0; and every part's score in [0, 1], None if the row
        does not ask for it. The keys are always the same, as verl requires.

    Raises DataError for a ground truth that this package did not write. No text of a model raises an error.
    """
    own = own_parts_of(spec)
    scored = score_truth(ground_truth, solution_str, own)
    parsed = 1.0 if scored.reason == OK else 0.0
    names = (*PARTS, *(part.name for part in own))
    return {"score": scored.value, "parsed": parsed, **{name: scored.parts.get(name) for name in names}}
