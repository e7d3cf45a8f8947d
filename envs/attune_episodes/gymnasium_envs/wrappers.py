"""`JSONAction` and `TypedAction`: a model's text, or typed predictions, as the action."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
from gymnasium.error import InvalidAction
from gymnasium.utils import RecordConstructorArgs

from attune_data.errors import SettingsError, show
from attune_episodes.gymnasium_envs.conversation_env import ConversationEnv
from attune_episodes.gymnasium_envs.spaces import TextSpace
from attune_rewards.predictions import PREDICTION_OF, TurnPrediction

MAX_REPLY: Final = 1_000_000
"""Length of a reply in the action space; `parse` reads shorter ones only."""
_PREDICTIONS: Final = (*PREDICTION_OF.values(), TurnPrediction)


class TypedSpace(TextSpace):
    """Predictions of `attune_rewards.predictions`, or texts. Samples are texts."""

    def contains(self, x: Any) -> bool:
        """Whether it is a prediction or a text that is short enough."""
        return isinstance(x, _PREDICTIONS) or super().contains(x)


class _Replies(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Replaces the action space by one of replies."""

    def __init__(self, env: gymnasium.Env[Any, Any], space: TextSpace) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        if not isinstance(env.unwrapped, ConversationEnv):
            found = type(env.unwrapped).__name__
            raise SettingsError(f"{type(self).__name__} wraps Attune/Conversation-v0, found {found}")
        self.action_space = space


class JSONAction(_Replies):
    """Takes a model's raw text as the action.

    The text is read as everywhere in attune-env: JSON alone, in a fence or amid prose. What cannot be read
    earns 0, and `info["status"]` says why. Where a turn asks several stages, one object holds an object per
    stage.

    >>> import gymnasium
    >>> env = JSONAction(gymnasium.make("attune_env:Attune/Conversation-v0", data="sample"))
    >>> _ = env.reset(seed=1)
    >>> _, reward, _, _, info = env.step("I would rather not say.")
    >>> reward, info["status"]
    (0.0, {'assess': 'unparsed:no_json', 'prefer': 'unparsed:no_json'})
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wraps Attune/Conversation-v0, other wrappers between them or not."""
        super().__init__(env, TextSpace(MAX_REPLY))

    def action(self, action: Any) -> str:
        """The text itself; InvalidAction for anything else."""
        if not isinstance(action, str):
            raise InvalidAction(f"the action is {show(action)} ({type(action).__name__}); expected a text")
        return action


class TypedAction(_Replies):
    """Takes typed predictions (`attune_rewards.predictions`) or texts as the action.

    The prediction of a turn is a `TurnPrediction`, in which None is no answer.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wraps Attune/Conversation-v0, other wrappers between them or not."""
        super().__init__(env, TypedSpace(MAX_REPLY))

    def action(self, action: Any) -> Any:
        """The prediction itself; InvalidAction for what is neither a prediction nor a text."""
        if not isinstance(action, (str, *_PREDICTIONS)):
            names = ", ".join(kind.__name__ for kind in _PREDICTIONS)
            raise InvalidAction(
                f"the action is {show(action)} ({type(action).__name__}); expected one of {names}, or a text"
            )
        return action
