"""The ladder: readers fitted on one source of conversations and tested on others."""

from attune_env.ladder.features import Encoder, load_encoder
from attune_env.ladder.rungs import Rung, ladder
from attune_env.ladder.tables import is_ladder, ladder_record, ladder_tables

__all__ = ["Encoder", "Rung", "is_ladder", "ladder", "ladder_record", "ladder_tables", "load_encoder"]
