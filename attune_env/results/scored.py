"""`ScoredResults`: the result files behind the entries of a scores file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attune_data.errors import DataError
from attune_data.format.schema import Conversation
from attune_env.results.files import Names, read_result, result_name
from attune_env.results.recorded import named_file
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.record.read import read_record


class ScoredResults:
    """The result files of a folder.

    A file is read each time and not kept, since raw replies are large; what its record says is read once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._predictions: dict[Names, ConversationPrediction] = {}

    def record(self, entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The result record behind an entry of a scores file; None if it is no longer in the folder."""
        names = entry["conversationId"], entry["em_model"], entry["mode"]
        try:
            record = read_result(self.folder / (named_file(entry) or result_name(*names)))
        except (DataError, OSError, ValueError):  # not there, no JSON, or a name that no file can have
            return None
        return record if isinstance(record, dict) and _names(record) == names else None

    def prediction(self, record: Mapping[str, Any], conversation: Conversation) -> ConversationPrediction:
        """The prediction in a record of this folder; each record is parsed once."""
        names = _names(record)
        if names not in self._predictions:
            self._predictions[names] = read_record(record, conversation)[0]
        return self._predictions[names]


def _names(record: Mapping[str, Any]) -> Any:
    """(conversationId, em_model, mode), as far as a record says them."""
    return record.get("conversationId"), record.get("em_model"), record.get("mode") or "default"
