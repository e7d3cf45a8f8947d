"""`AttuneTask`: what a trace earned, by the engine's own parsing and scoring of its raw replies."""

from __future__ import annotations

import logging
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.runtimes import Runtime

from attune_episodes.episode import Episode, parse_rate
from attune_episodes.parsing import parse
from attune_episodes.score import score
from attune_episodes.task import Task
from attune_episodes.verifiers_env.checks import problem_of
from attune_episodes.verifiers_env.config import AttuneTaskConfig
from attune_episodes.verifiers_env.replies import entries_in, replies_of
from attune_episodes.verifiers_env.wire import AnyTrace, AttuneData
from attune_rewards.reward import Score, part_means
from attune_rewards.strict import unscored_share
from attune_rewards.truth import truth_of

logger = logging.getLogger(__name__)


class AttuneTask(vf.Task[AttuneData, vf.State, AttuneTaskConfig]):
    """One conversation, or one request of it.

    Scoring reads the raw replies that the trace carries and nothing else, so that `vf-replay` scores old
    traces anew without a model. A request without a reply earns what an empty reply earns; whether a trace
    is complete is the environment's business (`AttuneEnv.finalize`).
    """

    _hashed: tuple[AttuneData, str] | None = None

    @property
    def hash(self) -> str:
        """The hash of the task's data, made once: a rollout asks for it again and again."""
        if self._hashed is None or self._hashed[0] is not self.data:
            self._hashed = self.data, super().hash
        return self._hashed[1]

    @property
    def key(self) -> str:
        """The id of the conversation, or of the request."""
        return self.data.id or self.hash

    @vf.reward(weight=1.0)
    async def total(self, trace: AnyTrace) -> dict[str, float]:
        """What the replies earned, under the name of the total.

        A conversation: the return of the episode, such as `composite_strict` (in [0, 1]: the strict
        Composite / 100) or `composite_partial`. A request: the value of its score, `<reward>_request`.
        Nothing where the reward scores nothing.
        """
        task = self.data.task
        if task.only is not None:
            value = _request_score(task, trace).value
            return {} if value is None else {f"{task.spec.name}_request": value}
        episode = _played(task, trace)
        return {} if episode.total_name == "not_scored" else {episode.total_name: episode.total}

    @vf.metric
    async def parts(self, trace: AnyTrace) -> dict[str, float]:
        """Each part's mean score over the requests where it is scored, and how the replies came."""
        task = self.data.task
        entries = entries_in(trace.info)
        counted = {
            "requests": float(len(task.requests)),
            "answered": float(len(replies_of(trace, task))),
            "reasks": float(sum(entry.get("asks", 1) - 1 for entry in entries.values())),
            "retries": float(sum(entry.get("calls", 1) - entry.get("asks", 1) for entry in entries.values())),
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
        """Rewards and metrics; then, if enabled, the judge of drafts, whose failure nulls none of them."""
        # later releases of verifiers hand over more than 0.4.0 (a deployment): passed on, not used here
        await super().score(trace, runtime, *args, **kwargs)
        judge = self.config.draft_judge
        if judge.enabled and not self.scoring_deferred and self.data.request is None:
            from attune_episodes.verifiers_env.judge import rate_drafts

            await rate_drafts(judge, self.data.task, trace)

    async def validate(self, runtime: Runtime) -> bool:
        """Whether the annotations' own answers earn 1 and no annotated answer is in any prompt."""
        problem = problem_of(self.data)
        if problem is not None:
            logger.warning("%s is not valid: %s", self.data.id, problem)
        return problem is None


def _played(task: Task, trace: AnyTrace) -> Episode:
    """The episode with the trace's replies; what has none counts as an empty reply."""
    replies = replies_of(trace, task)
    episode = Episode(task.conversation, task.settings, task.spec)
    while not episode.done:
        episode.submit(replies.get(episode.request.id))
    return episode


def _request_score(task: Task, trace: AnyTrace) -> Score:
    (request,) = task.requests
    said = parse(request, replies_of(trace, task).get(request.id, ""))
    return score(task.conversation, request, said, task.spec, stages=task.settings.stages)
