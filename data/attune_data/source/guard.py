"""The guard before training: refuses filler, and data that is not for training.

Data that is not for training: benchmark records, by their authors' rule; conversations of a study, unless
its licence and the participant allow it; and the splits of named corpora that are kept for evaluation, such
as `written:test`.

All code that makes training rows or training episodes passes its conversations through here first. A sequence
is checked completely when it is passed; of a lazy source, the first item is checked then and every other item
when it is reached, so that endless streams can be guarded too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, show
from attune_data.files.conversations import Conversations
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation
from attune_data.source.corpora import TO_EVALUATE, TO_TRAIN, corpora, corpus

SHOWN: Final = 3
"""How many records a refusal names; the rest are only counted."""
_RULE: Final = "AttuneBench's authors forbid training on any benchmark conversation, annotation or metadata."
_OWN: Final = (
    'If unmarked records are your own, say so: "provenance": "own" in each record, or '
    'load(path, provenance="own") (a mark in the file takes precedence, and everything in a folder '
    '"Test Samples" stays benchmark). In mixed data, leave the benchmark out: '
    'select(conversations, "provenance!=benchmark").'
)
_WAYS_ON: Final = (
    f'{_RULE} Instead, train on the written corpus, load("{TO_TRAIN}:train"), on your own data, or on '
    f"imported data (attune data import). {_OWN} allow_benchmark_training=True overrides this rule, and "
    f"everything made with it says so; {TO_EVALUATE}"
)


class BenchmarkTrainingError(AttuneError, ValueError):
    """Benchmark conversations were to be used for training; the message names them and the alternatives."""


def for_training(
    conversations: Conversation | Sequence[Conversation], *, allow_benchmark_training: bool = False
) -> Provenance:
    """Check that data may be used for training; returns its provenance.

    Args:
        conversations: one conversation, or all of them.
        allow_benchmark_training: accept benchmark records too. The mark returned is then "benchmark" for the
            whole set, and everything made from it must carry that mark.

    Raises:
        BenchmarkTrainingError: a record is marked benchmark, or not marked at all.
        SettingsError: a record is filler, of a study whose terms do not allow training, or of a split of a
            corpus that is kept for evaluation.
        DataError: there is no record.
        TypeError: something in it is not a Conversation, or it is not a sequence.
    """
    given: object = conversations
    if not isinstance(given, (Conversation, Sequence)) or isinstance(given, str):
        raise TypeError(
            f"for_training expects a sequence of conversations, got {type(given).__name__}; "
            "for a lazy source, use training_stream"
        )
    items = [conversations] if isinstance(conversations, Conversation) else list(conversations)
    if not items:
        raise _nothing()
    for index, item in enumerate(items):
        _check_kind(item, f"conversations[{index}]")
    mark = Conversations(items).provenance
    if mark == "benchmark" and not allow_benchmark_training:
        files = conversations.files if isinstance(conversations, Conversations) else {}
        raise BenchmarkTrainingError(f"{_refused(items, files, 'trained on')}. {_WAYS_ON}")
    _check_use(items)
    return mark


def for_publishing(conversations: Conversations) -> None:
    """Raise BenchmarkTrainingError if a record is marked benchmark, or not marked at all.

    Whoever loads a published data set can train on it, and nothing there stops them.
    """
    if conversations.provenance == "benchmark":
        told = _refused(list(conversations), conversations.files, "published as a data set")
        raise BenchmarkTrainingError(f"{told}. {_RULE} {_OWN}")


def _refused(items: Sequence[Conversation], files: Mapping[str, str], use: str) -> str:
    """Which conversations may not be used in some way, as the beginning of a sentence."""
    bad = [item for item in items if item.origin == "benchmark"]
    named = ", ".join(_named(item, files.get(item.conversation_id)) for item in bad[:SHOWN])
    more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
    count = f"{len(bad)} of {len(items)} conversations" if len(items) > 1 else "this conversation"
    return f"{count} may not be {use}: {named}{more}"


def training_stream(
    conversations: Iterable[Conversation], *, allow_benchmark_training: bool = False
) -> Iterable[Conversation]:
    """Wrap a lazy source of conversations so that each is checked by `for_training` when it is reached.

    The first one is checked at once, so that a source of benchmark records is refused immediately. A source
    that can be iterated repeatedly (its `__iter__` starts again) stays so; an iterator or generator yields
    its items only once, and a second pass raises SettingsError instead of yielding nothing.
    """
    items = iter(conversations)
    first = next(items, None)
    if first is None:
        raise _nothing()
    # an iterator, or an object that returns the same one each time
    once = iter(conversations) is items
    stream = _Checked(chain([first], items) if once else conversations, allow_benchmark_training, once)
    stream.check(first, 0)
    return stream


class _Checked(Iterable[Conversation]):
    """A source whose items are all checked; reading an iterator a second time raises an error."""

    def __init__(self, source: Iterable[Conversation] | None, allowed: bool, once: bool) -> None:
        self.source = source
        self.allowed = allowed
        self.once = once

    def __iter__(self) -> Iterator[Conversation]:
        source = self.source
        if source is None:
            raise SettingsError(
                "this iterator of conversations has already been read, or came from another process; to read "
                "it again, give a list, or an object whose __iter__ starts again"
            )
        if self.once:
            self.source = None
        for index, item in enumerate(source):
            self.check(item, index)
            yield item

    def __reduce__(self) -> tuple[type[_Checked], tuple[Iterable[Conversation] | None, bool, bool]]:
        """Pickle an iterator as already read: its items stay here (`datasets` pickles for fingerprints)."""
        return _Checked, (None if self.once else self.source, self.allowed, self.once)

    def check(self, item: object, index: int) -> None:
        where = f"item {index} of the stream"
        conversation = _check_kind(item, where)
        if conversation.origin == "benchmark" and not self.allowed:
            named = _named(conversation, where)
            raise BenchmarkTrainingError(f"a conversation may not be trained on: {named}. {_WAYS_ON}")
        _check_use([conversation])


def _check_use(conversations: Sequence[Conversation]) -> None:
    for one in map(corpus, corpora()):
        if kept := [c for c in conversations if one.keeps(c)]:
            raise SettingsError(
                f"{len(kept)} of {len(conversations)} conversations belong to splits of the {one.name} "
                f"corpus that are kept for evaluation ({_some(kept)}); "
                f'train on load("{one.name}:{one.training}")'
            )
    closed = [c for c in conversations if c.origin == "study" and not (c.study and c.study.train)]
    if closed:
        raise SettingsError(
            f"{len(closed)} of {len(conversations)} conversations are from studies whose licence or whose "
            f"participant does not allow training ({_some(closed)}); keep the others: "
            'select(conversations, "train=true"), in mixed data "train=true|unknown"'
        )
    filler = [c for c in conversations if c.origin == "filler"]
    if filler:
        raise SettingsError(
            f"{len(filler)} of {len(conversations)} conversations are filler ({_some(filler)}): texts and "
            "annotations drawn at random, for tests and measurements only; train on "
            f'load("{TO_TRAIN}:train"), on your own data or on imported data'
        )


def _some(conversations: Sequence[Conversation]) -> str:
    names = ", ".join(show(c.conversation_id) for c in conversations[:SHOWN])
    return f"{names}, …" if len(conversations) > SHOWN else names


def _check_kind(item: object, where: str) -> Conversation:
    if not isinstance(item, Conversation):
        raise TypeError(f"{where} is {show(item)} ({type(item).__name__}), not a Conversation; see load(…)")
    return item


def _named(conversation: Conversation, where: str | None) -> str:
    mark = "marked benchmark" if conversation.provenance else "not marked, which counts as benchmark"
    return f"{show(conversation.conversation_id)} ({mark}{f'; {where}' if where else ''})"


def _nothing() -> DataError:
    return DataError(
        Problem("conversations", "", "none", "at least one conversation to train on", "see load(…)")
    )
