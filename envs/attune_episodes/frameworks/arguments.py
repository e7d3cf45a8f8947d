"""The arguments that all adapters share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_data.source.source import SELECTION, Source, codebook_for
from attune_episodes.protocol.settings import Settings


def asked_by(given: Mapping[str, Any]) -> tuple[Source, Settings]:
    """Split one mapping of JSON values into a source of conversations and settings for the questions.

    Names that belong to neither are ignored. `codebook` is the one given, otherwise the one next to the data.
    """
    source = Source(**{name: given[name] for name in SELECTION if name in given})
    return source, Settings.from_json({**given, "codebook": codebook_for(source.data, given.get("codebook"))})
