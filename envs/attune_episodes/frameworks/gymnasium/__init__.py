"""Gymnasium: `gymnasium.make("attune_env:Attune/Conversation-v0", name=value)`.

A conversation becomes an episode, the requests of a turn an observation, all answers about it an action, and
their scores the step's reward; `info` has the result record at the end. Prompts, parsing and scoring stay
ours.

`env` is what the framework steps through, `presentation` its observations, `actions` and `spaces` the
actions; importing `attune_env` registers the id.
"""

from attune_episodes.frameworks.gymnasium.actions import no_answer, to_action
from attune_episodes.frameworks.gymnasium.env import ConversationEnv
from attune_episodes.frameworks.gymnasium.spaces import TextSpace
from attune_episodes.frameworks.gymnasium.wrappers import JSONAction, TypedAction

__all__ = ["ConversationEnv", "JSONAction", "TextSpace", "TypedAction", "no_answer", "to_action"]
