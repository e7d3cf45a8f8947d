"""Who plays the hands of live episodes: `Endpoint`, a model behind a server, or pinned people."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from attune_data.errors import SettingsError, show
from attune_episodes.chat.client import ChatClient
from attune_episodes.chat.finish import verdict
from attune_episodes.people.asks import Ask, Hand
from attune_episodes.people.cards import Card, read_plan
from attune_episodes.people.live import Answerer
from attune_episodes.people.pinned import Pinned
from attune_episodes.play.asking import patient

_STARTING: Final = threading.Lock()


@dataclass(frozen=True)
class Endpoint:
    """Answers asks with a model; picklable, and usable from many threads."""

    base_url: str
    """The address, such as `http://localhost:8000/v1`."""
    model: str
    key_var: str = ""
    """The environment variable with the key; "" for a server without one."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of each request, such as `{"temperature": 0.7}`; they are part of what is asked."""
    call_timeout: float = 120.0
    """Seconds for one attempt."""
    attempts: int = 4
    """How often a request is sent until there is an answer, with growing pauses."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers; prefer `key_var` for keys, since these are pickled."""

    @property
    def hand(self) -> Hand:
        """The name under which it plays."""
        return Hand(self.model, self.sampling)

    def __call__(self, ask: Ask) -> str:
        """The model's answer, "" for one that was cut off or refused; raises Fault if there is none."""
        # in the thread of its own loop, since the caller may be in an event loop
        loop, clients = _connections(os.getpid())
        return asyncio.run_coroutine_threadsafe(self._answer(ask, clients), loop).result()

    async def _answer(self, ask: Ask, clients: dict[Any, ChatClient]) -> str:
        if self.attempts < 1:
            raise SettingsError(f"attempts is {self.attempts}; expected at least 1")
        body = {"model": self.model, "messages": ask.chat(), **self.sampling}
        url, headers = self.base_url.rstrip("/"), self._headers()
        place = (url, self.call_timeout, *sorted(headers.items()))
        if place not in clients:  # a client takes longer to make than to use
            clients[place] = ChatClient(url, headers, call_timeout=self.call_timeout)
        send = partial(clients[place].complete, body, plain=ask.plain, readable=lambda _: True)
        answer = await patient(send, self.attempts - 1)
        ended = verdict(answer.finish, plain=ask.plain, readable=True)
        return answer.text if ended == "answer" else ""

    def _headers(self) -> dict[str, str]:
        if not self.key_var:
            return dict(self.headers)
        key = os.environ.get(self.key_var, "").strip()
        if not key:
            raise SettingsError(f"{self.key_var} is not set: export {self.key_var}=…")
        return {**self.headers, "Authorization": f"Bearer {key}"}


@lru_cache(maxsize=1)
def _started(pid: int) -> tuple[asyncio.AbstractEventLoop, dict[Any, ChatClient]]:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="attune-endpoints", daemon=True).start()
    return loop, {}


def _connections(pid: int) -> tuple[asyncio.AbstractEventLoop, dict[Any, ChatClient]]:
    """The loop of a process in which all endpoints are asked, and its clients; a fork begins anew."""
    with _STARTING:
        return _started(pid)


def answerer(who: str | Answerer, key_var: str = "") -> Answerer:
    """Who plays a hand: the function itself, or the endpoint that `MODEL@http://…` names."""
    if not isinstance(who, str):
        return who
    model, at, url = who.partition("@http")
    if not (model and at):
        raise SettingsError(f"{show(who)} names no endpoint; expected MODEL@http://host:port/v1")
    return Endpoint(f"http{url}", model, key_var)


def people_of(
    people: str | Path | Sequence[Card], person: str | Answerer | None, key_var: str = ""
) -> tuple[Answerer, list[Card]]:
    """Who plays the persons, and their cards."""
    pinned = Pinned(people) if isinstance(people, str | Path) and Path(people).is_dir() else None
    if pinned is not None:
        return (pinned if person is None else answerer(person, key_var)), pinned.cards
    if person is None:
        whose = str(people) if isinstance(people, str | Path) else f"{len(people)} cards"
        raise SettingsError(
            f"nobody plays the persons of {whose}: name an endpoint with person (--person), or take the "
            "folder of pinned people"
        )
    cards = read_plan(Path(people)) if isinstance(people, str | Path) else list(people)
    return answerer(person, key_var), cards
