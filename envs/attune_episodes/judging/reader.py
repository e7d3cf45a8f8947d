"""`EndpointReader`: use any model behind an endpoint as a reader, prompted like the draft judge.

This layer opens no connections: the caller passes the function that asks the model. Every reply is cached
under the hash of its request, so no reading is paid for twice, and all can be replayed offline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.files.destination import temporary
from attune_data.format.constants import BINARY_IDS
from attune_episodes.judging.request import Judgement, parse_judgement, question_about
from attune_episodes.parsing import sound
from attune_episodes.protocol.schemas import Schema
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import YesNo
from attune_rewards.reading.cues import LIMIT
from attune_rewards.reading.exchange import Exchange

Ask = Callable[[list[dict[str, str]], Schema], str]
"""Sends chat messages with the JSON schema of the answer; returns the model's text, at temperature 0."""
TEMPERATURE: Final = 0.0


@dataclass(frozen=True)
class EndpointReader:
    """A model as a reader.

    Args:
        model: the model's name, for the cache and for tables.
        ask: the function that asks the model; None only replays the cache.
        cache: a folder of replies, one file each; None keeps no replies.
        questions: the questions it is asked.
        settings: only the codebook and the prompt set are used.
        more: further questions, id -> wording, such as `MORE` of `attune_episodes.people.hands`.

    A question without a valid answer counts as not read. Texts are cut to the first `LIMIT` characters.
    """

    model: str
    ask: Ask | None = None
    cache: Path | None = None
    questions: frozenset[str] = frozenset(BINARY_IDS)
    settings: Settings = field(default_factory=Settings)
    more: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The word "endpoint", a colon and the model's name."""
        return f"endpoint:{self.model}"

    def read(self, exchange: Exchange) -> dict[str, YesNo]:
        """The answers about the reply of an exchange; an empty one does nothing, and no model is asked.

        Raises DataError if `ask` is None and the answer is not in the cache.
        """
        asked = (*(q for q in BINARY_IDS if q in self.questions), *self.more)
        draft = sound(exchange.reply[:LIMIT]).strip()
        if not draft:
            return dict.fromkeys(asked, "no")
        texts = [(sound(m[:LIMIT]), sound(r[:LIMIT])) for m, r in exchange.history]
        message = sound(exchange.message[:LIMIT])
        key = sha256(json.dumps([texts, message, draft]).encode()).hexdigest()[:16]
        request = question_about(
            draft, message, texts, asked, conversation_id=key, turn=len(texts) + 1, settings=self.settings,
            more=self.more,
        )  # fmt: skip
        said = parse_judgement(request, self._reply(request.chat(), request.schema))
        return dict(said.answers) if isinstance(said, Judgement) else {}

    def _reply(self, chat: list[dict[str, str]], schema: Schema) -> str:
        """The model's reply, from the cache if it is there."""
        asked = {"model": self.model, "temperature": TEMPERATURE, "messages": chat, "schema": schema}
        key = sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        file = None if self.cache is None else self.cache / f"{key}.json"
        if file is not None and file.exists():
            return _kept(file)
        if self.ask is None:
            raise DataError(
                Problem(str(file or "no cache"), "", f"no reading by {self.model!r} of this exchange",
                        "a cached one, since no model may be asked", "pass the function that asks the model")
            )  # fmt: skip
        reply = self.ask(chat, schema)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            document: Mapping[str, Any] = {"asked": asked, "reply": reply}
            fresh = temporary(file.parent, file.name)
            fresh.write_text(json.dumps(document, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
            fresh.replace(file)
        return reply


def _kept(file: Path) -> str:
    try:
        reply = json.loads(file.read_text("utf-8"))["reply"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        raise DataError(
            Problem(str(file), "", found, "an unchanged cached reply", "remove the file to ask again")
        ) from error
    return str(reply)
