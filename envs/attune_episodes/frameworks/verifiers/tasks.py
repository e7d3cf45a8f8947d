"""`AttuneTaskset` and its tasks, which score traces."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.runtimes import Runtime

from attune_data.errors import AttuneError, show
from attune_data.format.schema import Conversation
from attune_data.source.source import Source
from attune_episodes.frameworks.verifiers.arguments import (
    AttuneTaskConfig,
    AttuneTasksetConfig,
    read_arguments,
)
from attune_episodes.frameworks.verifiers.judge import rate_drafts
from attune_episodes.frameworks.verifiers.logs import entries_in
from attune_episodes.frameworks.verifiers.traces import (
    AnyTrace,
    AttuneData,
    note_rewards,
    outcomes_of,
    replies_of,
)
from attune_episodes.frameworks.verifiers.validity import problem_of
from attune_episodes.play.episode import Episode, parse_rate
from attune_episodes.play.score import score
from attune_episodes.play.task import Task
from attune_episodes.protocol.settings import Settings
from attune_episodes.training.rows import RowMaker, unscored
from attune_rewards.metrics.strict import unscored_share
from attune_rewards.reward.score import Score, part_means, scored_requests
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.truth import truth_of

logger = logging.getLogger(__name__)


class NotPlayableError(AttuneError, SystemExit):
    """Data or settings with which nothing can be played; the cause is the original error.

    If uncaught, it ends a command with only its message, like verifiers' own errors. `except Exception`
    catches it as usual.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = message  # Python prints this instead of a traceback


class AttuneTask(vf.Task[AttuneData, vf.State, AttuneTaskConfig]):
    """One conversation, or one request of it.

    Scoring reads only the raw replies in the trace, so that `vf-replay` can score old traces again without a
    model. A request without a reply earns as much as an empty reply; the environment decides whether a trace
    is complete (`AttuneEnv.finalize`).
    """

    @property
    def key(self) -> str:
        """The id of the conversation, or of the request."""
        return self.data.id or self.hash

    @vf.reward(weight=1.0)
    async def total(self, trace: AnyTrace) -> dict[str, float]:
        """Score the replies: name of the total -> value.

        For a conversation, this is the return of the episode, such as `composite_strict` (the strict
        Composite / 100, in [0, 1]) or `composite_partial`; for a request, the value of its score,
        `<reward>_request`. Empty if the reward scores nothing. What each request earns of it is noted beside
        its reply (`node_rewards`).
        """
        task = self.data.task
        if task.only is not None:
            value = _request_score(task, trace).value
            note_rewards(trace, {task.only: value or 0.0})
            return {} if value is None else {f"{task.spec.name}_request": value}
        episode = _played(task, trace)
        note_rewards(trace, {step.request.id: step.reward for step in episode.steps})
        return {} if episode.total_name == "not_scored" else {episode.total_name: episode.total}

    @vf.metric
    async def parts(self, trace: AnyTrace) -> dict[str, float]:
        """The mean score of each part over the requests that score it, and counts of replies and retries."""
        task = self.data.task
        entries = entries_in(trace.info).values()
        counted = {
            "requests": float(len(task.requests)),
            "answered": float(len(replies_of(trace, task))),
            "reasks": float(sum(entry.get("asks", 1) - 1 for entry in entries)),
            "retries": float(sum(entry.get("calls", 1) - entry.get("asks", 1) for entry in entries)),
        }
        if task.only is not None:
            earned = _request_score(task, trace)
            parsed = float(not earned.reason.startswith("unparsed"))
            return {**earned.parts, "weight": earned.weight, "parse_rate": parsed, **counted}
        steps = _played(task, trace).steps
        return {
            **part_means(step.score for step in steps),
            "parse_rate": parse_rate(steps),
            "unscored_share": unscored_share(truth_of(task.conversation)),
            **counted,
        }

    async def score(self, trace: AnyTrace, runtime: Runtime | None = None, *args: Any, **kwargs: Any) -> None:
        """Compute rewards and metrics, then run the draft judge if enabled; its failure affects neither."""
        # releases of verifiers after 0.4.0 pass more arguments (a deployment): passed on, not used here
        await super().score(trace, runtime, *args, **kwargs)
        judge = self.config.draft_judge
        if judge.enabled and self.data.request is None and not self.scoring_deferred:
            await rate_drafts(judge, self.data.task, trace)

    async def validate(self, runtime: Runtime) -> bool:
        """Whether the annotations' own answers earn 1 and no annotated answer is in any prompt."""
        self.data.check_prompts()
        problem = problem_of(self.data)
        if problem is not None:
            logger.warning("%s is not valid: %s", self.data.id, problem)
        return problem is None


def _played(task: Task, trace: AnyTrace) -> Episode:
    outcomes = outcomes_of(trace, task)
    episode = Episode(task.conversation, task.settings, task.spec)
    while not episode.done:
        text, outcome = outcomes[episode.request.id]
        episode.take(outcome, text)
    return episode


def _request_score(task: Task, trace: AnyTrace) -> Score:
    (request,) = task.requests
    _, outcome = outcomes_of(trace, task)[request.id]
    return score(task.conversation, request, outcome, task.spec, stages=task.settings.stages)


class AttuneTaskset(vf.Taskset[AttuneTask, AttuneTasksetConfig]):
    """A taskset of annotated conversations or their scored requests.

    The configuration has been checked when it was read; the data is read by `load`, and so not at all by an
    environment server's workers, which get their tasks as data.
    """

    @property
    def INFINITE(self) -> bool:  # type: ignore[override]  # of this taskset, not of the class
        """Whether it has no end: a mixture with weights, without a `number`; `vf-eval` then requires `-n`."""
        return self._asked[0].endless

    @property
    def settings(self) -> Settings:
        """How the requests are asked."""
        return self._asked[1]

    @cached_property
    def _asked(self) -> tuple[Source, Settings, RewardSpec]:
        source, settings, spec = read_arguments(self.config)
        training = self.config.training
        if training is None:
            training = self.config.granularity == "request"
        return replace(source, training=training), settings, spec

    def load(self) -> Iterator[AttuneTask]:
        """The tasks in the order of the data; conversations in which nothing is scored are left out."""
        config = self.config
        try:
            source, settings, spec = self._asked
            if not any(self._scores(one) for part in source.parts for one in part):
                raise unscored(spec.name, config.data)
        except AttuneError as error:
            raise NotPlayableError(str(error)) from error
        if settings.codebook.path != config.codebook:
            logger.info("questions in the wording of %s", settings.codebook.path)
        maker = RowMaker(settings, spec)
        left_out: list[str] = []
        for conversation in source:
            if not self._scores(conversation):
                if not source.endless:
                    left_out.append(conversation.conversation_id)
                continue
            whole = config.granularity == "conversation"
            for request in [None] if whole else [row["id"] for row in maker.rows(conversation)]:
                task = Task(conversation, settings, spec, request)
                yield AttuneTask(AttuneData.of(task), config.task)
        if left_out:
            logger.warning(
                "%d conversations left out, in which reward %r scores nothing: %s",
                len(left_out), spec.name, ", ".join(map(show, left_out[:5])),
            )  # fmt: skip

    def _scores(self, conversation: Conversation) -> bool:
        _, settings, spec = self._asked
        drafts = self.config.task.draft_judge.enabled and "draft" in settings.stages
        return drafts or bool(scored_requests(conversation, spec, settings.stages))
