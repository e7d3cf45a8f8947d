"""Built-in policies: the baselines reported with every model, a small reader, and the oracle.

Content-free policies do not read the request: `empty`, `always-yes`, `always-no`, `random`, `mode`, `prior`.
Shallow ones read only its surface: `longest`, `shortest`, `copy`, `asked`, which sees only what is asked, and
`surface`, which combines such cues.
`lexicon` reads with a small word list, and `oracle` knows the annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from attune_data.errors import UnknownNameError
from attune_data.format.schema import Conversation
from attune_episodes.policies.base import (
    BuiltinPolicy,
    ChatFunction,
    FunctionPolicy,
    Policy,
    Reply,
    as_policy,
)
from attune_episodes.protocol.settings import Settings

Kind = Literal["content-free", "shallow", "reader", "oracle"]

DESCRIPTIONS: Final[dict[str, tuple[Kind, str]]] = {
    "empty": ("content-free", "nothing; its answers are empty"),
    "always-yes": ("content-free", "nothing"),
    "always-no": ("content-free", "nothing"),
    "random": ("content-free", "nothing"),
    "mode": ("content-free", "the most frequent answers of other participants"),
    "prior": ("content-free", "the constant answers that score best on other participants"),
    "longest": ("shallow", "the lengths of the replies"),
    "shortest": ("shallow", "the lengths of the replies"),
    "copy": ("shallow", "words shared by the message and the reply"),
    "asked": ("shallow", "which questions are asked, but no text; fitted like `prior`"),
    "surface": ("shallow", "surface cues of the text, and which questions are asked; fitted like `prior`"),
    "lexicon": ("reader", "the text, with a small word list"),
    "oracle": ("oracle", "the annotations themselves"),
}
"""Policy name -> its kind, and the information it uses."""
KINDS: Final[dict[str, Kind]] = {name: kind for name, (kind, _) in DESCRIPTIONS.items()}
"""Policy name -> what it reads."""
BUILTIN: Final[tuple[str, ...]] = tuple(KINDS)
FITTED: Final = ("mode", "prior", "asked", "surface")
"""Policies that are fitted on participants other than those they play."""

__all__ = [
    "BUILTIN",
    "FITTED",
    "KINDS",
    "BuiltinPolicy",
    "ChatFunction",
    "FunctionPolicy",
    "Policy",
    "Reply",
    "as_policy",
    "builtin_policy",
]


def builtin_policy(
    name: str,
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    *,
    seed: int = 0,
    fit_on: Sequence[Conversation] | None = None,
) -> BuiltinPolicy:
    """Make the built-in policy with that name for these conversations.

    Args:
        name: one of `BUILTIN`.
        conversations: the conversations it will play; policies in `FITTED` are fitted on them out of fold.
        settings: how it will be asked.
        seed: the seed of `random`.
        fit_on: fit the policies in `FITTED` on these conversations instead.
    """
    settings = settings or Settings()
    given: object = name
    if not isinstance(given, str) or given not in KINDS:
        raise UnknownNameError("built-in policy", name, BUILTIN)
    from attune_episodes.policies import constant, shallow
    from attune_episodes.policies.asked import AskedPolicy
    from attune_episodes.policies.fitted import FittedPolicy, fit_mode, fit_prior
    from attune_episodes.policies.lexicon import LexiconPolicy
    from attune_episodes.policies.oracle import OraclePolicy
    from attune_episodes.policies.surface import SurfacePolicy

    fitting = conversations if fit_on is None else fit_on

    def prior() -> FittedPolicy:
        return FittedPolicy("prior", fit_prior, conversations, settings, fit_on)

    def asked() -> AskedPolicy:
        return AskedPolicy(prior(), fitting)

    made: dict[str, Callable[[], BuiltinPolicy]] = {
        "empty": lambda: constant.EMPTY,
        "always-yes": lambda: constant.always("yes"),
        "always-no": lambda: constant.always("no"),
        "random": lambda: constant.RandomPolicy(seed),
        "mode": lambda: FittedPolicy("mode", fit_mode, conversations, settings, fit_on),
        "prior": prior,
        "longest": lambda: shallow.LONGEST,
        "shortest": lambda: shallow.SHORTEST,
        "copy": shallow.CopyPolicy,
        "asked": asked,
        "surface": lambda: SurfacePolicy(asked(), fitting),
        "lexicon": LexiconPolicy,
        "oracle": OraclePolicy,
    }
    return made[name]()
