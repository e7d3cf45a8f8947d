"""Texts as numbers: bags of words, and sentence encoders."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np
from scipy import sparse

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_env.ladder.regression import Matrix
from attune_rewards.bootstrap import Array

RARE: Final = 3
"""A word is used if at least so many texts of the fitted source have it."""
MOST: Final = 8_000
"""How many words are used at most. BLAS adds up vectors of more than 10,000 in several threads: that costs
more than it saves, and their number affects the last digit."""
_WORD: Final = re.compile(r"[\w']+|[!?]|[^\w\s\x00-\u25ff]")
"""A word, a question or exclamation mark, or a symbol such as an emoji."""
INSTALL: Final = "pip install sentence-transformers (install PyTorch first; docs/ladder.md)"

Rows = Callable[[Sequence[str]], Matrix]
"""Texts -> a sparse matrix with one row for each, of length 1 or all zeros."""


class Encoder(Protocol):
    """Anything that turns texts into vectors, such as a `SentenceTransformer`."""

    def encode(self, sentences: list[str], /) -> Any:
        """(texts, features): one row of finite numbers per text."""


class Features(Protocol):
    """A way to turn texts into rows."""

    def fit(self, texts: Iterable[str]) -> Rows:
        """Prepare on the texts of the source that is fitted on."""


class Words:
    """Words and pairs of adjacent words: 1 if a text has one, divided by the length of its row."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def fit(self, texts: Iterable[str]) -> Rows:
        """The rows over the commonest words of these texts, without rare ones."""
        counts = Counter(word for text in dict.fromkeys(texts) for word in self.words(text))
        common = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST]
        column = {word: i for i, (word, count) in enumerate(common) if count >= RARE}

        def rows(texts: Sequence[str]) -> Matrix:
            held = [[column[word] for word in self.words(text) if word in column] for text in texts]
            ends = np.cumsum([0, *map(len, held)])
            values = np.array([len(one) ** -0.5 for one in held for _ in one])
            columns = np.array([i for one in held for i in one], dtype=np.intp)
            return sparse.csr_matrix((values, columns, ends), shape=(len(texts), len(column)))

        return rows

    def words(self, text: str) -> list[str]:
        """The distinct words of a text, ignoring case, and its pairs of adjacent words, in order."""
        if text not in self._known:
            plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
            said = _WORD.findall(plain)
            self._known[text] = list(dict.fromkeys((*said, *map(" ".join, pairwise(said)))))
        return self._known[text]


class Encoded:
    """The vectors of a sentence encoder, which sees each text once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Array] = {}

    def fit(self, texts: Iterable[str]) -> Rows:
        """The encoder's rows; nothing is fitted."""
        return self.rows

    def rows(self, texts: Sequence[str]) -> Matrix:
        """The vectors, each divided by its length; SettingsError if the encoder returns something else."""
        new = sorted(set(texts) - self._known.keys())
        if new:
            made = self._encoder.encode(new)
            vectors = np.asarray(made, dtype=np.float64) if made is not None else np.empty(0)
            if vectors.ndim != 2 or len(vectors) != len(new) or not np.isfinite(vectors).all():
                raise SettingsError(
                    f"the encoder returned an array of shape {vectors.shape} for {len(new)} texts; expected "
                    "one row of finite numbers per text"
                )
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self._known |= zip(new, vectors / np.where(lengths > 0, lengths, 1.0), strict=True)
        # sparse like the words, though full: SciPy adds sparse rows up in one thread
        return sparse.csr_matrix(np.array([self._known[text] for text in texts]).reshape(len(texts), -1))


def load_encoder(name: str) -> Encoder:
    """The encoder of a folder, or of a name on the Hugging Face Hub, that `sentence_transformers` loads.

    It runs on the CPU, so that the same command gives the same figures on other machines.

    Raises:
        SettingsError: `sentence_transformers` is not installed.
        DataError: it cannot load the encoder.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise SettingsError(f"an encoder needs sentence-transformers ({error}): {INSTALL}") from error
    try:
        encoder: Encoder = SentenceTransformer(name, device="cpu")
    except Exception as error:  # of its kinds, none is documented
        reason = show(str(error), 300)
        advice = "give the folder of a saved encoder, or a name that can be downloaded here"
        raise DataError(Problem(name, "", reason, "a sentence encoder", advice)) from error
    return encoder
