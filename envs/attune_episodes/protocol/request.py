"""`Request`: one request of the plan, with exactly the information that a policy may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attune_data.format.constants import ResponseName, Side
from attune_episodes.protocol.schemas import Schema, answer_schema
from attune_rewards.predictions import Stage


@dataclass(frozen=True, slots=True, eq=False)
class Message(Mapping[str, str]):
    """A chat message: an immutable mapping of `role` and `content`."""

    role: str
    """system, user or assistant"""
    content: str

    def __getitem__(self, key: str) -> str:
        if key not in ("role", "content"):
            raise KeyError(key)
        return self.role if key == "role" else self.content

    def __iter__(self) -> Iterator[str]:
        return iter(("role", "content"))

    def __len__(self) -> int:
        return 2


class ReadOnly(dict[str, Any]):
    """An immutable dict, since plans are shared and requests are passed to other code."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a request cannot be changed; copy what you want to change: dict(…)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[ReadOnly], tuple[dict[str, Any]]]:
        """Pickle and copy by contents."""
        return ReadOnly, (dict(self),)


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """One comparison as presented to the model, and its index in the conversation."""

    number: int
    """1-based number in the prompt."""
    index: int
    """Its index in the conversation, which is its key in result files."""
    question: str
    label_a: str
    label_b: str
    swapped: bool
    """Whether side A of the prompt is side B of the conversation."""

    def to_conversation(self, shown: Side) -> Side:
        """Translate a pick from the prompt's sides to the conversation's."""
        if not self.swapped:
            return shown
        return "B" if shown == "A" else "A"

    to_shown = to_conversation
    """Translate a pick from the conversation's sides to the prompt's; a swap is its own inverse."""


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """One request of an episode. It contains no annotated answers."""

    conversation_id: str
    turn: int | None
    """Turn number; None in the reflect stage."""
    stage: Stage
    messages: tuple[Message, ...]
    """The chat messages in order; the last one is from the user."""
    verbose: bool = False
    history: tuple[tuple[str, str], ...] = ()
    """(message, reply) of the turns before this one; of all turns in the reflect stage."""
    user_message: str = ""
    reply: str | None = None
    """The OM's reply; None in the draft stage, which must not see it."""
    questions: tuple[str, ...] = ()
    """Ids of the yes/no questions asked."""
    responses: Mapping[str, str] = field(default_factory=dict)
    """Label -> text of the responses to compare."""
    comparisons: tuple[ShownComparison, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Option lists of the q-questions (reflect); () = free text."""
    pre_totals: tuple[float, float] | None = None
    """PANAS totals before the conversation, if the strategy shows them."""
    wants_change: bool = False
    """Whether PANAS changes are asked for instead of items."""
    shown_labels: Mapping[str, ResponseName] = field(default_factory=dict)
    """Label -> response, for the record; never in the messages."""

    def __post_init__(self) -> None:
        for name in ("responses", "options", "shown_labels"):
            object.__setattr__(self, name, ReadOnly(getattr(self, name)))

    def __repr__(self) -> str:
        return f"Request({self.id}, {len(self.messages)} messages)"

    @property
    def id(self) -> str:
        """`conversation/turn/stage`, unique within a plan."""
        return f"{self.conversation_id}/{'end' if self.turn is None else self.turn}/{self.stage}"

    @property
    def plain(self) -> bool:
        """Whether the answer is plain text: a draft, unless reasoning is also asked for."""
        return self.stage == "draft" and not self.verbose

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer; each call returns a new object."""
        return answer_schema(
            self.stage,
            questions=self.questions,
            comparisons=[shown.number for shown in self.comparisons],
            options=self.options,
            changes=self.wants_change,
            verbose=self.verbose,
        )

    def chat(self) -> list[dict[str, str]]:
        """The messages as new plain dicts, as chat clients expect."""
        return [dict(message) for message in self.messages]
