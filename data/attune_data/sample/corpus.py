"""`sample`: the bundled conversations in the benchmark's layout."""

from pathlib import Path
from typing import Final

from attune_data.source.corpora import BY_MODELS, Corpus

CORPUS: Final = Corpus(
    Path(__file__).parent,
    about="20 bundled conversations",
    noun="sample",
    licence="CC BY 4.0",
    notice=BY_MODELS,
)
