"""`AttuneClient`: OpenEnv's client with this environment's types."""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from attune_data.errors import show
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.parsing import sound
from attune_episodes.parsing.extract import MAX_CHARS


class AttuneClient(EnvClient[AttuneAction, AttuneObservation, AttuneState]):
    """One session with a server, over a WebSocket. `AttuneClient(base_url=url).sync()` for plain code.

    `reset(…)` takes `seed`, `episode_id`, `conversation_id` or `index` (see `AttuneEnvironment.reset`);
    `step(…)` an AttuneAction or the text itself. Both give a `StepResult` with `observation`, `reward` and
    `done`. A reply of a model is never an error: halves of characters are replaced, and one that is too long
    to be read is cut, to a length at which it is still too long and earns 0.
    """

    def _step_payload(self, action: AttuneAction | str) -> dict[str, Any]:
        if isinstance(action, AttuneAction):
            text = action.message
        elif isinstance(action, str):
            text = action
        else:
            raise TypeError(f"a step is an AttuneAction or a text, got {show(action)}")
        return {"message": sound(text[: MAX_CHARS + 1])}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[AttuneObservation]:
        told = {"done": payload.get("done", False), "reward": payload.get("reward")}
        observation = AttuneObservation(**payload.get("observation", {}) | told)
        return StepResult(observation=observation, **told)

    def _parse_state(self, payload: dict[str, Any]) -> AttuneState:
        return AttuneState(**payload)
