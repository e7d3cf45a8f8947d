"""Built-in policies: the baselines reported with every model, a small reader, and the oracle.

Content-free policies do not read the request, shallow ones read only its surface, and readers its text; the
oracle knows the annotations. Each module that assigns `POLICIES` says what it has, and its
`make(name, given)` makes it. Importing this package imports none of them, since `--help` lists their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from attune_data.lazy import lazy_names
from attune_data.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from attune_data.format.schema import Conversation
    from attune_episodes.play.policy import ChatFunction, FunctionPolicy, Policy, Reply, as_policy
    from attune_episodes.policies.base import BuiltinPolicy
    from attune_episodes.protocol.settings import Settings

__all__ = [
    "BUILTIN",
    "FITTED",
    "KINDS",
    "POLICIES",
    "BuiltinPolicy",
    "ChatFunction",
    "FunctionPolicy",
    "Policy",
    "Reply",
    "as_policy",
    "builtin_policy",
]

_ANSWERING = ("ChatFunction", "FunctionPolicy", "Policy", "Reply", "as_policy")
__getattr__, __dir__ = lazy_names(
    __name__, {**dict.fromkeys(_ANSWERING, "attune_episodes.play.policy"), "BuiltinPolicy": ".base"}
)

Kind = Literal["content-free", "shallow", "reader", "oracle"]


@dataclass(frozen=True, slots=True)
class Described:
    """The description of a policy, available before it is made."""

    kind: Kind
    uses: str
    """The information it uses."""
    answers: str
    """The answers it gives."""
    fitted: bool = False
    """Whether it is fitted on participants other than those it plays."""
    seeded: bool = False
    """Whether its answers depend on a seed."""


def _order(described: Described) -> tuple[int, bool]:
    return get_args(Kind).index(described.kind), described.fitted


POLICIES: Final = Registry(__name__, "POLICIES", "built-in policy", Described, _order)
"""Name -> what it is: by kind, the fitted ones of a kind last, then by module."""
KINDS: Final[Mapping[str, Kind]] = {name: described.kind for name, described in POLICIES.items()}
"""Policy name -> what it reads."""
BUILTIN: Final[tuple[str, ...]] = tuple(POLICIES)
FITTED: Final[tuple[str, ...]] = tuple(name for name, described in POLICIES.items() if described.fitted)
"""Policies that are fitted on participants other than those they play."""


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
    from attune_episodes.policies.base import Given
    from attune_episodes.protocol.settings import Settings

    policy: BuiltinPolicy = POLICIES.make(name, Given(conversations, settings or Settings(), seed, fit_on))
    return policy
