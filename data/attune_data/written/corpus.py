"""`written`: conversations by language models in the compact form, in three splits."""

from pathlib import Path
from typing import Any, Final

from attune_data.jsonio import read_json
from attune_data.source.corpora import BY_MODELS, Corpus
from attune_data.written.compact import expand


def expanded(file: Path) -> dict[str, Any]:
    """Read a file in the compact form as a record."""
    return expand(read_json(file), str(file))


CORPUS: Final = Corpus(
    Path(__file__).parent,
    about="conversations written by language models",
    noun="corpus",
    files="conversations",
    read=expanded,
    splits=("train", "dev", "test"),
    training="train",
    licence="CC BY 4.0",
    notice=BY_MODELS,
)
