"""Whether a server holds answers to a JSON schema (`response_format`): found out once, then remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from attune_env.running.endpoint.faults import Fault

_REFUSALS: Final = (400, 404, 415, 422, 501)
"""Statuses by which servers turn down a field that they do not take."""
_STUMBLES: Final = 3
"""Attempts that end in another server error before the field is suspected of it."""


class Structured:
    """What is known of one server and model.

    As long as nothing is known, one call tries it and the others that need to know wait for it. A server
    that takes schemas may still refuse that of one stage (too large, say): that stage then goes without.
    """

    def __init__(
        self, known: bool | None = None, remember: Callable[[bool], Awaitable[None]] | None = None
    ) -> None:
        self.known = known
        self._remember = remember
        self._trying: str | None = None
        self._without: set[str] = set()
        """Calls that go without a schema, since with it they were refused."""
        self._stages_without: set[str] = set()
        self._doubtful: set[str] = set()
        """Of those, the ones whose refusal was a server error, which may have had another cause."""
        self._doubts: dict[str, set[str]] = {}
        """Stage ("" while nothing is known) -> calls that were then answered without."""
        self._news = asyncio.Event()

    async def wanted(self, call: str, stage: str) -> bool:
        """Whether this call sends its schema; waits while another finds out."""
        while self.known is None and self._trying not in (None, call):
            await self._news.wait()
        if self.known is None:
            self._trying = call
        if self.known is False:
            return False
        return call not in self._without and stage not in self._stages_without

    def refused(self, call: str, fault: Fault, attempt: int) -> bool:
        """Whether a fault may come from the schema, so that the call goes on without it at once."""
        if fault.status not in _REFUSALS and (fault.status < 500 or attempt < _STUMBLES):
            return False
        self._without.add(call)
        if fault.status >= 500 and fault.status != 501:
            self._doubtful.add(call)
        return True

    async def answered(self, call: str, stage: str, with_schema: bool) -> None:
        """Notes that a call was answered: now it is known whether schemas are taken."""
        if call in self._doubtful:
            agreeing = self._doubts.setdefault(stage if self.known else "", set())
            agreeing.add(call)
            if len(agreeing) < 2:
                return  # `let_go` lets the next call try: two that agree are needed
        if call in self._without:
            self._without.discard(call)
            if self.known:
                self._stages_without.add(stage)
        if self.known is None and self._trying == call:
            self.known = with_schema
            self._tell()
            if self._remember is not None:
                await self._remember(with_schema)

    def let_go(self, call: str) -> None:
        """Notes that a call ended: if it found nothing out, another one does."""
        self._without.discard(call)
        self._doubtful.discard(call)
        if self.known is None and self._trying == call:
            self._trying = None
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
