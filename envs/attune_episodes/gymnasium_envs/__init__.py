"""The Gymnasium environments `Attune/Conversation-v0` and `Attune/Features-v0`, and what belongs to them.

`gymnasium.make("attune_env:Attune/Conversation-v0")` is the usual way in. Nothing here loads before it is
used, so that registering the ids costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.gymnasium_envs.codec import FlatReader
    from attune_episodes.gymnasium_envs.conversation_env import ConversationEnv
    from attune_episodes.gymnasium_envs.features_env import FeaturesEnv
    from attune_episodes.gymnasium_envs.projection import no_answer, to_flat
    from attune_episodes.gymnasium_envs.registration import register_environments
    from attune_episodes.gymnasium_envs.spaces import TextSpace
    from attune_episodes.gymnasium_envs.vector_env import FeaturesVectorEnv
    from attune_episodes.gymnasium_envs.wrappers import JSONAction, TypedAction
    from attune_episodes.source import ConversationSource

_HOME = {
    "ConversationEnv": ".conversation_env",
    "ConversationSource": "..source",
    "FeaturesEnv": ".features_env",
    "FeaturesVectorEnv": ".vector_env",
    "FlatReader": ".codec",
    "JSONAction": ".wrappers",
    "TextSpace": ".spaces",
    "TypedAction": ".wrappers",
    "no_answer": ".projection",
    "register_environments": ".registration",
    "to_flat": ".projection",
}
"""Name -> the module that it comes from."""

__all__ = [
    "ConversationEnv",
    "ConversationSource",
    "FeaturesEnv",
    "FeaturesVectorEnv",
    "FlatReader",
    "JSONAction",
    "TextSpace",
    "TypedAction",
    "no_answer",
    "register_environments",
    "to_flat",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
