"""`JSONAction` and `TypedAction`: use a model's text, or typed predictions, as the action."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.error import InvalidAction
from gymnasium.utils import RecordConstructorArgs

from attune_data.errors import SettingsError, show
from attune_episodes.frameworks.gymnasium.env import ConversationEnv
from attune_episodes.frameworks.gymnasium.spaces import TextSpace
from attune_episodes.parsing.extract import MAX_CHARS
from attune_rewards.predictions import PREDICTION_OF, TurnPrediction


class JSONAction(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Accepts a model's raw text as the action.

    The text is read as everywhere in attune-env: JSON on its own, in a fence or within prose. An unreadable
    text earns 0, and `info["status"]` says why. If a turn asks several stages, the text must be an object
    that contains one object per stage.

    >>> import gymnasium
    >>> env = JSONAction(gymnasium.make("attune_env:Attune/Conversation-v0", data="sample"))
    >>> _ = env.reset(seed=1)
    >>> _, reward, _, _, info = env.step("I would rather not say.")
    >>> reward, info["status"]
    (0.0, {'assess': 'unparsed:no_json', 'prefer': 'unparsed:no_json'})
    """

    others: tuple[type, ...] = ()
    """The types of action that it accepts besides texts."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wrap Attune/Conversation-v0, directly or around other wrappers."""
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        if not isinstance(env.unwrapped, ConversationEnv):
            found = type(env.unwrapped).__name__
            raise SettingsError(f"{type(self).__name__} wraps Attune/Conversation-v0, found {found}")
        self.action_space = TextSpace(MAX_CHARS, self.others)

    def action(self, action: Any) -> Any:
        """The action unchanged; raises InvalidAction for another type."""
        if isinstance(action, (str, *self.others)):
            return action
        others = ", ".join(kind.__name__ for kind in self.others)
        wanted = f"one of {others}, or a text" if others else "a text"
        raise InvalidAction(f"the action is {show(action)} ({type(action).__name__}); expected {wanted}")


class TypedAction(JSONAction):
    """Accepts typed predictions (`attune_rewards.predictions`) or texts as the action.

    The prediction of a turn is a `TurnPrediction`, in which None means no answer.
    """

    others = (*PREDICTION_OF.values(), TurnPrediction)
