"""Voices: the state determines what a simulated text says; a voice only puts it into words.

A voice is called with a packet, which holds the content of one text, and with the transcript so far. The
grammar is a voice too: every packet carries its wording. No state, label or random draw depends on a voice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from attune_data.constants import RESPONSES, ResponseName
from attune_data.errors import SettingsError, show
from attune_data.simulate.person import Person, TurnMood
from attune_data.simulate.replies import Reply
from attune_data.simulate.story import Message, Part
from attune_data.simulate.turn import LatentState

Speaker = Literal["person", "model"]
SPEAKERS: Final[tuple[Speaker, Speaker]] = ("person", "model")
Transcript: TypeAlias = tuple[tuple[Speaker, str], ...]
"""(who, text) of everything said before, in order."""


class Packet(NamedTuple):
    """The content of one text."""

    id: str
    """`conversation/turn/message`, or the name of a response in place of `message`."""
    kind: Literal["message", "original", "alternate", "human"]
    """A person's message, the recorded reply, the model's improved one, or the person's edit."""
    parts: tuple[Part, ...]
    """Its parts in order; the text says all of them and nothing else."""
    text: str
    """The same content as worded by the grammar."""
    topic: str
    register: str
    """How the person types: plain, casual, terse, chatty or formal."""
    shows: tuple[str, ...] = ()
    """Messages: the families of feelings that show."""
    hides: tuple[str, ...] = ()
    """Messages: the families that are felt but must not show."""
    does: Mapping[str, bool | None] = {}
    """Replies: textual question -> whether the reply does it; None where it does not apply."""
    beside: tuple[str, ...] = ()
    """Replies to the same message that are already worded; the first is the recorded one."""


class Wording(NamedTuple):
    """A text from a voice that may need several attempts."""

    text: str
    asks: int = 1
    """Number of attempts."""
    taken: bool = True
    """Whether the text comes from the voice; otherwise it is the grammar's."""


Voice: TypeAlias = Callable[[Packet, Transcript], str | Wording]
"""Puts a packet into words. Conversations are reproducible only if equal inputs give equal texts."""


def grammar(packet: Packet, transcript: Transcript) -> str:
    """The default voice: return the wording that the packet carries."""
    return packet.text


def name_of(voice: Voice) -> str:
    """The voice's `name`, if it has one, or that of the function or class."""
    return str(getattr(voice, "name", None) or getattr(voice, "__name__", type(voice).__name__))


def wording(voice: Voice, packet: Packet, transcript: Transcript) -> Wording:
    """Get the voice's wording of a packet; raises SettingsError if it returns no text."""
    found: object = voice(packet, transcript)
    said = found if isinstance(found, Wording) else Wording(found)  # type: ignore[arg-type]
    text: object = said.text
    if not isinstance(text, str) or not text.strip():
        raise SettingsError(
            f"voice {name_of(voice)} returned {show(text)} for {packet.id}; expected a text, or a Wording"
        )
    return said


def message_packet(id_: str, topic: str, person: Person, mood: TurnMood, message: Message) -> Packet:
    """The packet of a person's message."""
    felt = (mood.family, mood.second_family) if mood.tags else ()
    hidden = tuple(family for family in felt if family and family not in message.shown)
    return Packet(
        f"{id_}/message", "message", tuple(message.parts), message.text, topic, person.typing.register,
        shows=message.shown, hides=hidden,
    )  # fmt: skip


def reply_packet(
    id_: str,
    topic: str,
    person: Person,
    kind: ResponseName,
    reply: Reply,
    does: Mapping[str, bool | None],
    beside: Iterable[str] = (),
) -> Packet:
    """The packet of a reply."""
    parts = tuple(Part(act, one.text, one.claim) for act, one in reply.sentences.items())
    return Packet(
        f"{id_}/{kind}", kind, parts, reply.text, topic, person.typing.register,
        does=does, beside=tuple(beside),
    )  # fmt: skip


def put_into_words(record: dict[str, Any], state: LatentState, person: Person, voice: Voice) -> None:
    """Replace the texts of a record by the voice's and note how many were taken in `metadata.voice`.

    Each turn words the message, then the recorded reply, the improved one and the edit; the transcript holds
    everything said before, including the turn's message. The grammar leaves no note.
    """
    said: Transcript = ()
    counts = Counter[str]()
    topic = record["metadata"]["text"]
    for turn, behind in zip(record["turns"], state.turns, strict=True):
        id_ = f"{record['conversationId']}/{turn['turnNumber']}"
        packet = message_packet(id_, topic, person, behind.mood, behind.message)
        texts = [counted(wording(voice, packet, said), counts)]
        turn["userMessage"] = texts[0]
        said = (*said, ("person", texts[0]))
        for kind in RESPONSES:
            packet = reply_packet(
                id_, topic, person, kind, behind.replies[kind], behind.done[kind], texts[1:]
            )
            texts.append(counted(wording(voice, packet, said), counts))
        others = turn["annotations"]["alternateResponses"]
        turn["llmResponse"], others["llmImproved"], others["humanEdited"] = texts[1:]
        said = (*said, ("model", texts[1]))
    if voice is not grammar:
        told = {key: counts[key] for key in ("taken", "asked_again", "fallen_back")}
        record["metadata"]["voice"] = {"name": name_of(voice), **told}


def counted(found: Wording, counts: Counter[str]) -> str:
    """Count a wording as `taken` or `fallen_back`, with how often it was `asked_again`; returns its text."""
    counts["taken" if found.taken else "fallen_back"] += 1
    counts["asked_again"] += found.asks - 1
    return found.text
