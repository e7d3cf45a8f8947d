"""The named corpora: conversations in this package that are loaded by name.

A corpus is a folder of `attune_data` with a `corpus.py` that declares it as `CORPUS`. Its name is that of the
folder, and nothing else lists it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show

if TYPE_CHECKING:
    from attune_data.files.rows import Row
    from attune_data.format.schema import Conversation

TO_PLAY: Final = "sample"
"""The corpus that is played where no data is named."""
TO_TRAIN: Final = "written"
"""The corpus that training uses where no data is named."""
TO_EVALUATE: Final = "to evaluate in an environment, set training=False"
"""The way on for those who do not train, in refusals."""
BY_MODELS: Final = (
    "Language models wrote these conversations and their annotations for attune-env: no real person took "
    "part, and nothing here says what people feel or want. Credit attune-env when you redistribute them."
)
"""The notice of a corpus that people had no part in."""
_PACKAGE: Final = Path(__file__).parents[1]


@dataclass(frozen=True)
class Corpus:
    """A named corpus, as its `corpus.py` declares it."""

    home: Path
    """Its folder; the folder's name is the corpus's."""
    about: str
    """A description of a few words."""
    noun: str
    """The noun for it in a sentence, such as "sample"."""
    files: str = "."
    """The path of its files inside `home`: `conversation_N.json`, or, if it has splits, a folder for each
    split with a file `<id>.json` for each conversation."""
    splits: tuple[str, ...] = ()
    licence: str | None = None
    notice: str = ""
    """What a dataset card says of it when it is published."""
    training: str | None = None
    """The only split that may be trained on; None if all of the corpus may. The records of a corpus with such
    a split give its name as `metadata.model`."""

    @property
    def name(self) -> str:
        """The name under which it is loaded."""
        return self.home.name

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.home / self.files

    def rows(self, split: str | None) -> list[Row]:
        """The records of a split, or of all, each with its file; ordered by id, or by number without splits.

        Raises UnknownNameError for an unknown split, DataError if there is no conversation.
        """
        from attune_data.files.rows import folder
        from attune_data.jsonio import read_json

        if split is not None and split not in self.splits:
            if not self.splits:
                raise SettingsError(f"split {show(split)}: {self.name} has no splits")
            raise UnknownNameError(f"split of the {self.name} corpus", split, self.splits)
        if not self.splits:
            return folder(self.folder)
        files = sorted(self._of(split or "*"), key=lambda file: file.name)
        if not files:
            named = f"{self.name}:{split}" if split else self.name
            advice = f'for a folder of that name, give "./{named}"'
            raise DataError(Problem(named, "", "no conversation", f"the {self.name} corpus", advice))
        return [(str(file), partial(read_json, file)) for file in files]

    def to_train(self, split: str | None) -> str | None:
        """The split to train on; raises SettingsError for one that is kept for evaluation."""
        if self.training is None or split in (None, self.training):
            return self.training or split
        raise SettingsError(
            f'"{self.name}:{split}" is kept for evaluation; train on "{self.name}:{self.training}" '
            f"({TO_EVALUATE})"
        )

    def keeps(self, conversation: Conversation) -> bool:
        """Whether a conversation, however it was loaded, is of a split that is kept for evaluation."""
        if conversation.conversation_id not in self._kept:
            return False
        return conversation.metadata is not None and conversation.metadata.model == self.name

    @cached_property
    def _kept(self) -> frozenset[str]:
        kept = [split for split in self.splits if self.training not in (None, split)]
        return frozenset(file.stem for split in kept for file in self._of(split))

    def _of(self, split: str) -> list[Path]:
        return list(self.folder.glob(f"{split}/*.json"))


@cache
def corpora() -> tuple[str, ...]:
    """The names of all corpora in alphabetical order; imports none of them."""
    return tuple(sorted(file.parent.name for file in _PACKAGE.glob("*/corpus.py")))


def corpus(name: str) -> Corpus:
    """The corpus of a name from `corpora`."""
    declared: Corpus = import_module(f"attune_data.{name}.corpus").CORPUS
    return declared
