"""`run_endpoint`: every conversation, mode and sample of a model behind a server, into result files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import SettingsError, show
from attune_env.results.files import result_name
from attune_env.running.endpoint.anew import identity_of
from attune_env.running.endpoint.job import Job
from attune_env.running.endpoint.loop import Watcher
from attune_env.running.endpoint.session import EndpointReport, Model, Options, Session, check_judges
from attune_env.running.existing import Wanted, is_complete, training_marks
from attune_env.running.samples import split_sample
from attune_episodes.settings import Mode, Settings

__all__ = ["EndpointReport", "Model", "Options", "em_model_of", "policy_facts", "run_endpoint"]


def run_endpoint(
    model: Model,
    conversations: Conversations,
    output: Path,
    *,
    modes: Sequence[Mode] = ("default",),
    settings: Settings | None = None,
    samples: int = 1,
    judges: Sequence[Model] = (),
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> EndpointReport:
    """Asks a model about every conversation and writes one result file each; goes on where a run ended.

    Args:
        model: the evaluated model.
        conversations: what is played.
        output: folder of the results, the journal and the lists, made if needed.
        modes: each is a result of its own.
        settings: everything else that decides what is asked.
        samples: how often each request is asked. Sample 1 is named as a run with one sample is; sample k
            is the model `provider/name@sample<k>`.
        judges: models that rate each draft.
        options: concurrency, patience, caps; with `overwrite` a result is replaced when the new one is
            complete, and nothing changes before the first answer.
        watcher: is told how it goes.

    A call that fails for good leaves its conversation out (`report.failed`); when nothing works at all, or
    a cap is reached, the run stops early (`report.stopped`). Either way what was answered is kept, and the
    same call of this function goes on with the first call that is missing.

    Raises:
        SettingsError: the folder holds results of another run, or another run is writing to it.
        DataError: a file in the way.
        OSError: the folder cannot be written to.
    """
    if samples < 1:
        raise SettingsError(f"samples is {samples}; it must be at least 1")
    if split_sample(model.full_name)[1] > 1:
        raise SettingsError(f"{show(model.name)} ends as the names of further samples do")
    check_judges(judges)
    base = settings or Settings()
    session = Session(model.full_name, model.name, output, options, watcher)
    jobs: list[tuple[Job, Callable[[], bool]]] = []
    for mode in modes:
        asked = replace(base, mode=mode)
        for sample in range(1, samples + 1):
            em_model, policy = em_model_of(model, sample), policy_facts(model, judges, sample)
            marks = {"policy": policy, **training_marks(model.training)}
            for identity in conversations.by_id:
                path = output / result_name(identity, em_model, mode)
                file = Path(conversations.files.get(identity, "")).name or None
                result = Wanted(identity, conversations.by_id, asked, em_model, policy, model.training)
                job = Job(
                    identity, conversations.by_id, asked, sample, em_model, path,
                    {"source_file": file, "attune": marks}, session.askers, partial(_identity, result),
                )  # fmt: skip
                jobs.append((job, partial(is_complete, path, result)))
    todo = session.choose(jobs)
    models = {"": model, **{judge.name: judge for judge in judges}}
    return session.play(models, todo, {"policy": policy_facts(model, judges, 1), "samples": samples})


def _identity(result: Wanted) -> str:
    return identity_of(result.describe())


def em_model_of(model: Model, sample: int) -> str:
    """`provider/model` as result files name it; with its number for a second and further sample."""
    return model.full_name + (f"@sample{sample}" if sample > 1 else "")


def policy_facts(model: Model, judges: Sequence[Model], sample: int) -> dict[str, Any]:
    """What, besides the settings, decides the answers: `attune.policy` of a result file."""
    facts = {"name": model.full_name, **model.sampling.describe(), "judges": [j.full_name for j in judges]}
    return facts | ({"sample": sample} if sample > 1 else {})
