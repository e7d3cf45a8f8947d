"""The ids by which `gymnasium.make` finds the environments.

Entry points are strings: nothing is loaded before an environment is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CONVERSATION_ID: Final = "Attune/Conversation-v0"
FEATURES_ID: Final = "Attune/Features-v0"

_HOME: Final = "attune_episodes.gymnasium_envs"
ENVIRONMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    CONVERSATION_ID: {"entry_point": f"{_HOME}.conversation_env:ConversationEnv"},
    FEATURES_ID: {
        "entry_point": f"{_HOME}.features_env:FeaturesEnv",
        "vector_entry_point": f"{_HOME}.vector_env:FeaturesVectorEnv",
    },
}
"""Id -> what `gymnasium.register` is told of it."""


def register_environments() -> None:
    """Registers both ids with Gymnasium; ids that are there already stay as they are.

    Raises ImportError where Gymnasium is not installed.
    """
    from gymnasium.envs.registration import register, registry

    for name, told in ENVIRONMENTS.items():
        if name not in registry:
            register(name, **told)
