"""Packets of simulated conversations, and texts that say them rightly, say too little, or say too much.

`python -m tests.episodes.voices.wordings` prints how many of them the re-reading catches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from attune_data.simulate import Simulation
from attune_data.simulate.story import Part
from attune_data.simulate.voice import Packet, Transcript
from attune_episodes.voices import misfits

ADDED = {
    "claim": "You sound furious, and humiliated too.",
    "advise": "You should call them tomorrow and ask for a meeting.",
    "ask_fact": "What did they say when you told them?",
    "validate": "Anybody would feel that way, and it makes complete sense.",
    "clinical": "This pattern suggests rumination and maladaptive coping mechanisms.",
    "moral": "Frankly, they were wrong and owe you an apology.",
}
"""Act -> a sentence that does it, in words that are not the grammar's."""
FELT = {"anger": "I'm so furious about it.", "shame": "I feel ashamed.", "joy": "I'm so happy about it!"}
"""Family of feelings -> a sentence that shows it."""


class Case(NamedTuple):
    packet: Packet
    transcript: Transcript
    text: str
    kind: str
    """`plain`, `drops ACT`, `adds ACT` or `shows FAMILY`."""


def joined(parts: tuple[Part, ...]) -> str:
    """The parts as sentences."""
    return " ".join(said[:1].upper() + said[1:] + ("" if said[-1] in ".!?" else ".") for _, said, _ in parts)


def cases(indices: range, seed: int = 77) -> Iterator[Case]:
    """Of every packet of some conversations: the plain text, each part left out, each sentence added."""
    packets: list[tuple[Packet, Transcript]] = []

    def noting(packet: Packet, transcript: Transcript) -> str:
        packets.append((packet, transcript))
        return packet.text

    world = Simulation(seed, voice=noting)
    for index in indices:
        packets.clear()
        world.record(index)
        for packet, transcript in packets:
            parts, is_message = packet.parts, packet.kind == "message"
            plain = joined(parts) if is_message else f" {packet.text}"
            yield Case(packet._replace(beside=()), transcript, plain, "plain")
            for place, part in enumerate(parts):
                if len(parts) > 1:
                    less = joined(parts[:place] + parts[place + 1 :])
                    yield Case(packet._replace(beside=()), transcript, less, f"drops {part.role}")
            for name, sentence in (FELT if is_message else ADDED).items():
                held = {part.role for part in parts} | {part.family for part in parts}
                act = {
                    "B1": "claim",
                    "B11": "advise",
                    "B13": "ask_fact",
                    "B19": "validate",
                    "B206": "clinical",
                }
                done = {act.get(question, "") for question, does in packet.does.items() if does}
                if name not in held | done | set(packet.shows):
                    kind = f"{'shows' if is_message else 'adds'} {name}"
                    yield Case(packet, transcript, f"{plain} {sentence}", kind)


def caught(indices: range) -> tuple[Counter[str], Counter[str]]:
    """Kind of text -> how many there are, and how many are not taken."""
    number, refused = Counter[str](), Counter[str]()
    for case in cases(indices):
        number[case.kind] += 1
        refused[case.kind] += bool(next(misfits(case.packet, case.transcript, case.text.strip()), None))
    return number, refused


if __name__ == "__main__":
    number, refused = caught(range(40))
    for kind in sorted(number):
        print(f"{kind}: {refused[kind]} of {number[kind]} refused")
    for start in ("drops", "adds", "shows"):
        kinds = [kind for kind in number if kind.startswith(start)]
        whole = sum(number[kind] for kind in kinds)
        print(f"{start}: {sum(refused[kind] for kind in kinds)} of {whole}")
