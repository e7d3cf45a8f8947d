"""`written`: conversations in which language models played the persons, in three splits."""

from pathlib import Path
from typing import Final

from attune_data.source.corpora import BY_MODELS, Corpus

CORPUS: Final = Corpus(
    Path(__file__).parent,
    about="conversations with persons played by language models",
    noun="corpus",
    files="conversations",
    splits=("train", "dev", "test"),
    training="train",
    licence="CC BY 4.0",
    notice=BY_MODELS,
)
