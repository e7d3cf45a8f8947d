"""`AttuneEnv`: one model plays one task; what it left incomplete is never taken for a result."""

from __future__ import annotations

import verifiers.v1 as vf
from verifiers.v1.agent import Agents

from attune_data.errors import AttuneError, show
from attune_data.guard import for_training
from attune_episodes.verifiers_env.config import AttuneEnvConfig, check_harness
from attune_episodes.verifiers_env.replies import missing_of
from attune_episodes.verifiers_env.wire import AnyEpisode, AnyTask, AnyTrace, AttuneData


class IncompleteEpisodeError(AttuneError):
    """A rollout ended before every request had its reply, or before its scoring was done."""


class NotPlayableError(AttuneError, SystemExit):
    """Data or settings with which nothing can be played; the cause says of which kind.

    Uncaught, it ends a command with the message alone, as verifiers' own refusals do. `except Exception`
    catches it like any other error.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = message  # what Python prints in the place of a traceback


class AttuneEnv(vf.SingleAgentEnv, vf.Env[AttuneEnvConfig]):
    """The environment `attune-env`: a conversation as an episode, or one request of it."""

    config: AttuneEnvConfig

    def __init__(self, config: AttuneEnvConfig) -> None:
        try:
            super().__init__(config)
        except AttuneError as error:
            raise NotPlayableError(str(error)) from error
        check_harness(config)

    async def run(self, task: AnyTask, agents: Agents) -> None:
        """Plays the task; BenchmarkTrainingError where a training client is handed a benchmark record."""
        data = task.data
        # A rollout for training is known by its client, which keeps the tokens; the taskset's own flag
        # (`training`) refuses earlier, where somebody sets it.
        if isinstance(data, AttuneData) and isinstance(agents.agent.ctx.client, vf.TrainClientConfig):
            for_training(data.task.conversation)
        await super().run(task, agents)

    async def finalize(self, task: AnyTask, episode: AnyEpisode) -> None:
        """Marks a trace as failed where replies or scores are missing, whatever stopped it.

        Turn and token limits and time-outs end a rollout without an error; the rewards of such a trace
        would be those of a model that fell silent. They become null, as after any error, so that `--resume`
        plays the task again.
        """
        data = task.data
        if not isinstance(data, AttuneData):
            return
        for trace in episode.traces:
            if not trace.ok:
                continue
            problem = _incomplete(trace, data)
            if problem is not None:
                trace.record_error(IncompleteEpisodeError(f"{problem} (stopped by: {trace.stop_condition})"))
                trace.rewards = dict.fromkeys(trace.rewards)


def _incomplete(trace: AnyTrace, data: AttuneData) -> str | None:
    missing = missing_of(trace, data.task)
    if missing:
        asked = len(data.task.requests)
        return f"{len(missing)} of {asked} requests have no reply, the first of them {show(missing[0])}"
    if any(reward is None for reward in trace.rewards.values()):
        return "the replies were not scored"
    return None
