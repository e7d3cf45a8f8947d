"""`attune run builtin`: run a built-in policy, with one result file per conversation and mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_env.results.files import (
    Names,
    existing_record,
    result_name,
    source_file,
    with_scores,
    write_result,
)
from attune_env.running.existing import description, is_complete
from attune_env.running.settings import Training, training_marks
from attune_episodes.play.rollout import rollout
from attune_episodes.policies import POLICIES, builtin_policy
from attune_episodes.protocol.settings import Mode, Settings


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run."""

    written: int
    skipped: int
    """Number of results that were already complete."""


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
    on_done: Callable[[], None] = lambda: None,
) -> RunReport:
    """Play every conversation in every mode and write the result files.

    Each mode is a separate run with otherwise equal `settings`. `seed` is used by `random`; the
    fitted policies are fitted on `fit_on`, if given, instead of out of fold. With `overwrite`, existing
    results are replaced. `on_done` is called after each conversation.
    """
    written = skipped = 0
    facts: dict[str, Any] = {"name": name}
    if POLICIES[name].seeded:
        facts["seed"] = seed
    if POLICIES[name].fitted:
        # only the name, since results should not reveal paths on this machine
        facts["fitted_on"] = (
            f"{Path(fit_on.source).name or fit_on.source} {fit_on.fingerprint}"
            if fit_on
            else f"other participants of {conversations.fingerprint}"
        )
    for mode in modes:
        asked = replace(settings or Settings(), mode=mode)
        policy = builtin_policy(name, conversations, asked, seed=seed, fit_on=fit_on)
        for conversation in conversations:
            names: Names = conversation.conversation_id, f"builtin/{name}", mode
            path = output / result_name(*names)
            if overwrite:
                existing_record(path, names)  # a result of another run is not replaced
            describe = partial(description, conversations.by_id, names, asked, facts, training)
            if not overwrite and is_complete(path, names, describe):
                skipped += 1
            else:
                started = time.perf_counter()
                marks = {
                    "source_file": source_file(conversations, names[0]),
                    "api_cost": 0.0,
                    "attune": {"policy": facts, **training_marks(training)},
                }
                played = rollout(conversation, policy, asked, em_model=names[1], facts=marks)
                seconds = round(time.perf_counter() - started, 6)
                record = played.result | {"duration_seconds": seconds}
                write_result(path, with_scores(record, conversation, played.prediction))
                written += 1
            on_done()
    return RunReport(written, skipped)
