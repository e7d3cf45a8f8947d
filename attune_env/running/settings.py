"""The settings of a run against a server: model, sampling, price, retries, caps and other options."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from attune_data.errors import SettingsError, show
from attune_env.running.providers import Endpoint
from attune_episodes.chat.completion import Usage
from attune_episodes.chat.faults import Fault
from attune_episodes.play.asking import FIRST_PAUSE, LONGEST_PAUSE, pause

_BEFORE_ANY_ANSWER: Final = {"connection": 2, "timeout": 1}
"""Retries after such faults as long as the server has never answered."""
_NEW: Final = ("extra_body", "system_as_user")
"""Settings that earlier results do not record."""


@dataclass(frozen=True)
class Sampling:
    """The settings that, with the messages, determine a model's answer. None: the server's default."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    """Seed for the server's sampling, hashed with the request."""
    structured: Literal["auto", "on", "off"] = "auto"
    """Whether answers are constrained to their JSON schema; with `auto`, if the server supports it."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of each request; they replace any of ours."""
    system_as_user: bool = False
    """Whether the system message is put before the text of the first user message."""

    def describe(self) -> dict[str, Any]:
        """The settings as recorded; the last two only if they are used."""
        return {name: value for name, value in asdict(self).items() if value or name not in _NEW}

    def chat(self, messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
        """The messages as sent."""
        first, *rest = messages
        if not (self.system_as_user and first["role"] == "system"):
            return list(messages)
        if rest and rest[0]["role"] == "user":
            both = f"{first['content']}\n\n{rest[0]['content']}"
            return [{"role": "user", "content": both}, *rest[1:]]
        return [{**first, "role": "user"}, *rest]


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """The cost of a usage."""
        return (usage.tokens_in * self.tokens_in + usage.tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class Patience:
    """How often and how long a call is retried; waits are in seconds."""

    asks: int = 3
    """Maximum number of attempts until an answer can be read."""
    retries: int = 6
    """Retries after a transient fault; half as many after a time-out, twice as many after "too many
    requests"."""
    first_wait: float = FIRST_PAUSE
    longest_wait: float = LONGEST_PAUSE
    longest_asked: float = 120.0
    """Longest wait that a server may ask for."""

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after the `attempt`-th attempt (from 1); `asked` is the server's Retry-After."""
        if asked is None:
            return pause(attempt, self.first_wait, self.longest_wait)
        # slightly longer, and spread out
        return asked + random.uniform(0, 0.1) * min(asked, self.longest_wait)

    def bounded(self, fault: Fault) -> Fault:
        """The fault, changed to a different kind if the server asks for too long a wait."""
        if fault.retry_after is None or fault.retry_after <= self.longest_asked:
            return fault
        return Fault("too_long_wait", f"{fault} and asks to wait {fault.retry_after:g} s")

    def over(self, fault: Fault, attempt: int, *, ever: bool) -> bool:
        """Whether a call is given up after this fault at its `attempt`-th attempt.

        `ever` says whether the server has ever answered; one that has not is probably unreachable.
        """
        often = {"timeout": self.retries // 2, "rate_limited": self.retries * 2}
        retries = often.get(fault.kind, self.retries)
        if not ever:
            retries = min(retries, _BEFORE_ANY_ANSWER.get(fault.kind, retries))
        return fault.action != "retry" or attempt > retries


@dataclass(frozen=True)
class Training:
    """The position of an evaluated model in a training run, for learning curves."""

    step: int
    """Step of the training run, counted from 0."""
    run: str | None = None
    """Its name."""

    def __post_init__(self) -> None:
        if self.step < 0:
            raise SettingsError(f"the training step is {self.step}; expected 0 or more")
        if self.run is not None and not (self.run.strip() and self.run.isprintable()):
            raise SettingsError(f"{show(self.run)} is not a valid name for a training run")


def training_marks(training: Training | None) -> dict[str, Any]:
    """The entry for `attune` of a result file; {} without a training run."""
    return {"training": {"run": training.run, "step": training.step}} if training else {}


@dataclass(frozen=True)
class Model:
    """A model behind an endpoint."""

    name: str
    endpoint: Endpoint
    sampling: Sampling = field(default_factory=Sampling)
    price: Price | None = None
    """The price, for endpoints that do not report the cost of a call."""
    training: Training | None = None

    @property
    def full_name(self) -> str:
        """`provider/model`."""
        return f"{self.endpoint.provider}/{self.name}"

    def policy(self, judges: list[str], sample: int = 1) -> dict[str, Any]:
        """The model's settings that determine its answers: `attune.policy` in a result file."""
        facts = {"name": self.full_name, **self.sampling.describe(), "judges": judges}
        return facts | ({"sample": sample} if sample > 1 else {})


@dataclass(frozen=True)
class Options:
    """The options of a run, none of which changes what a request contains."""

    concurrency: int = 16
    """Number of concurrent requests, over all conversations."""
    call_timeout: float = 300.0
    """Time-out of one request, in seconds."""
    patience: Patience = field(default_factory=Patience)
    max_calls: int | None = None
    """Number of HTTP requests, including retries, after which it stops."""
    max_cost: float | None = None
    """Dollars after which it stops."""
    used: tuple[int, int, float] = (0, 0, 0.0)
    """Requests, answers and dollars of an earlier stage, which count towards the caps."""
    finish_ok: tuple[str, ...] = ()
    """Finish reasons that count as the model's own end although nobody knows them."""
    redo: frozenset[str] = frozenset()
    """Kinds of stored answers that are asked for again: `fault`, `unreadable`, `cut`, `refused`."""
    overwrite: bool = False
    """Replace existing results and ask everything again; continues if this was interrupted."""
    command: str = ""
    """The command that continues the run; it appears in files and messages, so it must not contain a key."""
