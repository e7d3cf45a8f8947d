"""`Attune/Conversation-v0`: an annotated conversation as a Gymnasium episode.

`gymnasium.make("attune_env:Attune/Conversation-v0")` is the usual way to make one; importing `attune_env`
registers the id.
"""

from attune_episodes.frameworks.gymnasium.actions import no_answer, to_action
from attune_episodes.frameworks.gymnasium.conversation_env import ConversationEnv
from attune_episodes.frameworks.gymnasium.spaces import TextSpace
from attune_episodes.frameworks.gymnasium.wrappers import JSONAction, TypedAction

__all__ = ["ConversationEnv", "JSONAction", "TextSpace", "TypedAction", "no_answer", "to_action"]
