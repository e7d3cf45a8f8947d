"""`attune run builtin`: a built-in policy over data, one result file a conversation and mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_env.results.files import check_same_result, result_name, write_result
from attune_env.running.existing import Wanted, is_complete
from attune_env.running.settings import Training, training_marks
from attune_episodes.policies import FITTED, Policy, builtin_policy
from attune_episodes.rollout import rollout
from attune_episodes.settings import Mode, Settings


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run."""

    written: int
    skipped: int
    """Results that were complete already."""


def run_builtin(
    name: str,
    conversations: Conversations,
    output: Path,
    *,
    modes: Sequence[Mode] = ("default",),
    settings: Settings | None = None,
    seed: int = 0,
    fit_on: Conversations | None = None,
    overwrite: bool = False,
    training: Training | None = None,
    on_done: Callable[[], None] | None = None,
) -> RunReport:
    """Plays every conversation in every mode and writes the result files.

    Args:
        name: a built-in policy.
        conversations: what is played.
        output: folder of the result files, made if needed.
        modes: the modes; each is a run of its own.
        settings: everything else that decides what is asked.
        seed: of the `random` policy.
        fit_on: data that `mode` and `prior` are fitted on instead of out of fold.
        overwrite: make results again that are there already.
        training: where in a training run they belong, for the result files.
        on_done: called after each conversation.
    """
    base = settings or Settings()
    written = skipped = 0
    for mode in modes:
        asked = replace(base, mode=mode)
        policy = builtin_policy(name, conversations, asked, seed=seed, fit_on=fit_on)
        facts = _facts(policy, seed, conversations, fit_on)
        em_model = f"builtin/{policy.name}"
        for conversation in conversations:
            identity = (conversation.conversation_id, em_model, mode)
            path = output / result_name(*identity)
            if overwrite:
                check_same_result(path, *identity)  # a result is made again, another's is not replaced
            wanted = Wanted(identity[0], conversations.by_id, asked, em_model, facts, training)
            if not overwrite and is_complete(path, wanted):
                skipped += 1
            else:
                started = time.perf_counter()
                played = rollout(
                    conversation,
                    policy,
                    asked,
                    em_model=em_model,
                    facts={
                        "source_file": Path(conversations.files.get(conversation.conversation_id, "")).name
                        or None,
                        "api_cost": 0.0,
                        "attune": {"policy": facts, **training_marks(training)},
                    },
                )
                record = played.result | {"duration_seconds": round(time.perf_counter() - started, 6)}
                write_result(path, record)
                written += 1
            if on_done is not None:
                on_done()
    return RunReport(written, skipped)


def _facts(
    policy: Policy, seed: int, conversations: Conversations, fit_on: Conversations | None
) -> dict[str, Any]:
    """Everything besides the settings that decides this policy's answers."""
    facts: dict[str, Any] = {"name": policy.name}
    if policy.name == "random":
        facts["seed"] = seed
    if policy.name in FITTED:
        facts["fitted_on"] = (
            # the name only: where it lies on this machine is nobody's business who reads the result
            f"{Path(fit_on.source).name or fit_on.source} {fit_on.fingerprint}"
            if fit_on
            else f"other participants of {conversations.fingerprint}"
        )
    return facts
