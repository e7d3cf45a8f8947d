"""Find the sentences of a reply that support the answer to a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from attune_episodes.reading.cues import Sentence, details
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.reading import Span

Holds = Callable[[Exchange, Sentence], bool]
"""Whether a sentence of the reply bears on a question."""


def _cue(*names: str) -> Holds:
    return lambda x, sentence: x.with_cue(sentence, *names)


def _claims(x: Exchange, sentence: Sentence) -> bool:
    return x.with_cue(sentence, "acknowledges") or x.names(sentence)


def _echoes(x: Exchange, sentence: Sentence) -> bool:
    return not sentence.details.isdisjoint(details(x.message))


def _advises(x: Exchange, sentence: Sentence) -> bool:
    return sentence in x.advice


def _asks(x: Exchange, sentence: Sentence) -> bool:
    return sentence.asks


BEARS: Final[Mapping[str, Holds]] = {
    **dict.fromkeys(("B1", "B4", "B108", "B109", "B207"), _claims),
    **dict.fromkeys(("B3", "B15"), _echoes),
    **dict.fromkeys(("B11", "B310", "B313", "B316", "B408"), _advises),
    **dict.fromkeys(("B13", "B505"), _asks),
    "B5": _cue("changed"),
    "B6": _cue("infers"),
    "B7": _cue("hedges"),
    "B12": _cue("reasons"),
    "B14": _cue("moral"),
    "B17": _cue("risk", "emergency"),
    "B18": _cue("emergency"),
    "B19": _cue("validates"),
    "B20": _cue("heats"),
    "B206": _cue("clinical"),
    "B311": _cue("generic"),
    "B315": _cue("aside"),
    "B406": _cue("own_up"),
    "B501": _cue("think_about", "reflects"),
    "B502": _cue("other_side"),
    "B503": _cue("either"),
    "B504": _cue("complex"),
}
"""Question -> which sentences bear on it; questions not listed judge the whole reply."""


def evidence(exchange: Exchange, question: str) -> tuple[Span, ...]:
    """The sentences of the reply that bear on a question, in order; () if it judges the whole reply."""
    holds = BEARS.get(question)
    if holds is None:
        return ()
    return tuple(Span(s.start, s.end) for s in exchange.sentences if holds(exchange, s))
