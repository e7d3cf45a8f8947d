"""`VoiceRequest`: what a language model is asked, so that it words one packet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from attune_data.simulate.voice import Packet, Transcript
from attune_episodes.parsing import Unparsed
from attune_episodes.voices.check import checked

TASK: Final = (
    "You write one text of a conversation between a person and an assistant. What it says is decided: you "
    "only find the words. Say every point of the list, in its order, with its facts and names, and nothing "
    "that is not in it: no further event, feeling, advice, question or comfort. Use your own words, as a "
    "real {writer} would; the points are notes, not sentences to copy. Write in English, plain text, at most "
    "{most} words. Answer with the text alone."
)
MESSAGE: Final = "The person writes in a {register} register. {feelings}"
NOTHING_SHOWS: Final = "No feeling is named or shown in this message, whatever it tells."
SHOWS: Final = (
    "The only feelings that may show are those of these points: {points}. Name one only if its point does."
)
REPLY: Final = "It is the assistant's reply to the person's last message. {naming}{manner}"
NAMES: Final = "It names these of the person's feelings and no other: {points}."
NAMES_NOTHING: Final = "It does not say what the person feels."
MANNERS: Final = {
    "original": "",
    "alternate": " Another reply exists already (below); do not repeat its words.",
    "human": " The person edits the reply that they received (below): keep its words where a point is in it, "
    "strike out what is in no point, add what is missing.",
}
LONGEST: Final = 2_000
"""Characters of each earlier text that are sent: in a live conversation the policy says what it likes."""
WHO: Final = {"person": "Person", "model": "Assistant"}


@dataclass(frozen=True, slots=True)
class VoiceRequest:
    """The question about one packet. Feelings that must stay hidden are not in it."""

    packet: Packet
    transcript: Transcript

    plain = True
    """The answer is a text."""

    @property
    def id(self) -> str:
        """That of the packet."""
        return self.packet.id

    @property
    def schema(self) -> dict[str, Any]:
        """None is held to."""
        return {}

    def chat(self) -> list[dict[str, str]]:
        """The instructions, then the transcript with the points."""
        packet = self.packet
        is_message = packet.kind == "message"
        task = TASK.format(
            writer="person" if is_message else "assistant", most=max(20, 2 * len(packet.text.split()))
        )
        told = "; ".join(part.text for part in packet.parts if part.family)
        if is_message:
            feelings = SHOWS.format(points=told) if told else NOTHING_SHOWS
            about = MESSAGE.format(register=packet.register, feelings=feelings)
        else:
            naming = NAMES.format(points=told) if told else NAMES_NOTHING
            about = REPLY.format(naming=naming, manner=MANNERS[packet.kind])
        lines = [f"Topic: {packet.topic}", "", "The conversation so far:"]
        lines += [f"{WHO[who]}: {_one_line(text)}" for who, text in self.transcript] or ["(it begins here)"]
        if packet.beside:
            lines += ["", f"The reply that exists: {_one_line(packet.beside[0])}"]
        lines += ["", f"The points of the {'message' if is_message else 'reply'}:"]
        lines += [f"{place}. ({part.role}) {part.text}" for place, part in enumerate(packet.parts, 1)]
        system = {"role": "system", "content": f"{task}\n{about}"}
        return [system, {"role": "user", "content": "\n".join(lines)}]


def _one_line(text: str) -> str:
    return " ".join(text[:LONGEST].split())


def read_wording(request: VoiceRequest, text: str) -> str | Unparsed:
    """A voice's text, read again."""
    return checked(request.packet, request.transcript, text)
