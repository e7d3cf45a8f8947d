"""What the server may do wrong, and when: scripted, and the same in every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, get_args

from attune_data.seeding import digest

Kind = Literal[
    "status", "drop", "reset", "hang", "html", "bad_utf8", "truncated",
    "no_choices", "length", "refusal", "content_filter", "empty", "garbage", "merged", "raw", "redirect",
    "long", "flood", "bomb", "drip",
]  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
GARBAGE: Final = "I would rather not say. {"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong, and which calls it hits.

    As a text: the kind or a status code, then `name=value` for any other field, with commas between:
    `503`, `429,retry_after=0,first=2`, `reset,every=10`, `garbage,of=*/assess`, `hang,seconds=5`.
    """

    kind: Kind
    """`status` (an error in OpenAI's form), `drop` (connection closed without a byte), `reset` (in the
    middle of the body), `hang`, `html` (a page in place of JSON), `bad_utf8`, `truncated` (half of the JSON),
    `no_choices`, `length` (half of the text, finish_reason length), `refusal`, `content_filter`, `empty` (no
    content), `garbage` (a text that does not parse), `merged` (the JSON of `text` merged into the body),
    `raw` (`text` for a body), `redirect` (to `text`), `long` (a reply of `megabytes`, one wide character in
    it), `flood` (`megabytes` of blanks), `bomb` (the same in gzip), `drip` (a blank every 50 ms, without an
    end)."""
    status: int = 0
    """The status code; 0: the usual one of the kind."""
    retry_after: str = ""
    """The value of that header; "" for none."""
    seconds: float = 30.0
    """How long `hang` hangs, at most."""
    text: str = GARBAGE
    """What `garbage` says, `merged` changes, and where `redirect` leads."""
    megabytes: float = 300
    """How much `long`, `flood` and `bomb` send."""
    of: str = "*"
    """Pattern of the ids of the requests that are hit (`fnmatch`); those without an id match `*` only."""
    first: int = 0
    """Only the first so many attempts at each request (after those of `after`); 0: all of them."""
    after: int = 0
    """Leaves so many attempts at each request alone before."""
    every: int = 0
    """Only every so-manieth of the calls that are left; 0: each."""
    share: float = 1.0
    """Only this share of (request, attempt) pairs, chosen by a hash of `seed`."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no fault named {self.kind!r}; known: a status code, {', '.join(KINDS)}")

    @property
    def code(self) -> int:
        """The HTTP status of the answer."""
        return self.status or {"status": 500, "html": 502, "redirect": 307}.get(self.kind, 200)

    @staticmethod
    def read(text: str) -> Fault:
        """The fault that a text describes."""
        kind, *rest = text.split(",")
        given: dict[str, Any] = (
            {"kind": "status", "status": int(kind)} if kind.isdecimal() else {"kind": kind}
        )
        types = {field.name: str(field.type) for field in fields(Fault)}
        for pair in rest:
            name, _, value = pair.partition("=")
            given[name] = {"int": int, "float": float}.get(types[name], str)(value)
        return Fault(**given)


class Faults:
    """The faults of a server, and what they have counted so far. The first that hits a call counts."""

    def __init__(self, faults: Iterable[Fault | str] = ()) -> None:
        self.faults = [Fault.read(fault) if isinstance(fault, str) else fault for fault in faults]
        self._matched: Counter[int] = Counter()

    def next(self, request: str | None, key: str, attempt: int) -> Fault | None:
        """The fault that hits this call: the attempt-th (from 1) with these messages."""
        for number, fault in enumerate(self.faults):
            if fault.of != "*" and not fnmatchcase(request or "", fault.of):
                continue
            if attempt <= fault.after or (fault.first and attempt > fault.after + fault.first):
                continue
            if fault.share < 1:
                drawn = int.from_bytes(digest(fault.seed, fault.kind, request or key, attempt)[:8], "big")
                if drawn >= fault.share * 2**64:
                    continue
            self._matched[number] += 1
            if not fault.every or self._matched[number] % fault.every == 0:
                return fault
        return None
