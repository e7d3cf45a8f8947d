"""The dataset card: front matter that the Hub and `datasets` read, and a description for people.

Everything in it is counted or stated in the data; what the data does not state, the card says is not stated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attune_data.errors import SettingsError, one_line
from attune_data.files.conversations import common_mark
from attune_data.files.destination import CARD_MARK
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation
from attune_data.publishing.splits import Splits, in_several
from attune_data.source.corpora import Corpus
from attune_data.source.guard import BenchmarkTrainingError, for_training
from attune_data.version import __version__

NOT_STATED: Final = "not stated"
_CREATIVE: Final = re.compile(r"cc[ -](by(?:-nc)?(?:-sa|-nd)?)[ -](\d\.\d)", re.IGNORECASE)
_PLAIN: Final = ("mit", "apache-2.0", "cc0-1.0")
_NON_COMMERCIAL: Final = re.compile(r"\bnc\b|non-?commercial", re.IGNORECASE)
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
MARKS: Final[Mapping[Provenance, str]] = {
    "played": "of people played by language models",
    "study": "from participants of a study",
    "own": "collected or written by those who publish it",
    "imported": "converted from another data set",
    "filler": "drawn at random for tests; training refuses it",
}
"""Mark -> what a card says of records that have it; benchmark records are not published."""
COLUMNS: Final = {
    "conversation_id": "unique in the data set",
    "participant": "the person; the conversation's id where the data names nobody",
    "provenance": "where the record comes from",
    "licence": "as the record, or whoever published it, states it",
    "trainable": "whether the guard of attune-env lets it be trained on",
    "category": "topic",
    "turns": "number of turns",
    "messages": "the conversation alone, as `{role, content}` of user and assistant",
    "record": "the whole record with its annotations, as JSON text; everything above is taken from it",
}
"""Column of the Parquet files -> its content."""


def _stated(conversation: Conversation, *names: str) -> str | None:
    """The first of these names of which its metadata, or the study that it is from, states a text."""
    study = (conversation.model_extra or {}).get("study")
    told = {**conversation.further_metadata, **(study if isinstance(study, dict) else {})}
    found = (told.get(name) for name in names)
    return next((text for text in found if isinstance(text, str) and text.strip()), None)


def licence_of(conversation: Conversation, default: str | None) -> str | None:
    """The licence of a conversation: the one that it states, otherwise the default."""
    return _stated(conversation, "licence", "license") or default


def is_trainable(conversation: Conversation) -> bool:
    """Whether the guard lets a conversation be trained on."""
    try:
        for_training(conversation)
    except (BenchmarkTrainingError, SettingsError):
        return False
    return True


def is_non_commercial(licence: str) -> bool:
    """Whether a licence forbids commercial use, by its name."""
    return bool(_NON_COMMERCIAL.search(licence))


def licence_id(licences: set[str]) -> str:
    """The Hub's identifier of the licences of a data set: `other` if there are several or it has none.

    >>> licence_id({"CC BY-NC 4.0"}), licence_id({"CC BY 4.0 (texts)"}), licence_id(set())
    ('cc-by-nc-4.0', 'other', 'unknown')
    """
    if licences <= {NOT_STATED}:
        return "unknown"
    (licence,) = licences if len(licences) == 1 else ("",)
    if match := _CREATIVE.fullmatch(licence.strip()):
        return f"cc-{match[1]}-{match[2]}".lower()
    return licence.lower() if licence.lower() in _PLAIN else "other"


def card(
    title: str, splits: Splits, files: Mapping[str, str], licence: str | None, corpus: Corpus | None
) -> str:
    """The text of the card (README.md) of splits that lie in `files`, split -> path."""
    from huggingface_hub import DatasetCardData

    marks: Counter[Provenance] = Counter()
    sources: Counter[tuple[str, str]] = Counter()
    rows = []
    closed: set[str] = set()
    for name, conversations in splits.items():
        people, turns, trainable = set(), 0, 0
        for one in conversations:
            trainable += is_trainable(one)
            people.add(one.participant)
            turns += len(one.turns)
            marks[one.origin] += 1
            said = licence_of(one, licence) or NOT_STATED
            if is_non_commercial(said) or one.further_metadata.get("non_commercial"):
                closed.add(said)
            sources[_stated(one, "dataset", "name") or (corpus.name if corpus else NOT_STATED), said] += 1
        rows.append((f"`{name}`", str(len(conversations)), str(len(people)), str(turns), str(trainable)))
    total, licences = sum(marks.values()), {said for _, said in sources}
    front: dict[str, Any] = {
        "pretty_name": one_line(title),
        "license": (identifier := licence_id(licences)),
        "size_categories": [next((name for below, name in _SIZES if total < below), "n>1M")],
        "tags": ["emotional-intelligence", "attune-env", *(["non-commercial"] if closed else [])],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": path} for split, path in files.items()],
            }
        ],
    }
    if identifier == "other":
        front["license_name"] = "see-card"
    shared = in_several(splits)
    picked = f', split="{next(iter(splits))}"' if len(splits) > 1 else ""
    told = [
        f"# {one_line(title)}",
        f"{total} annotated conversations in the format of AttuneBench, written by attune-env {__version__}.",
        *([corpus.notice] if corpus else []),
        "## Splits",
        _table(("split", "conversations", "participants", "turns", "may be trained on"), rows),
        f"{shared} participants are in more than one split." if shared else
        "No participant is in more than one split." if len(splits) > 1 else "",
        "## Where it comes from",
        _table(
            ("data set", "licence", "conversations"),
            [(one_line(name), one_line(said), str(number)) for (name, said), number in sources.items()],
        ),
        *[f"**Non-commercial:** `{one_line(said)}` forbids commercial use." for said in sorted(closed)],
        f"Provenance: {'; '.join(f'{n} `{mark}` ({MARKS[mark]})' for mark, n in marks.items())}. "
        f"The whole set counts as `{common_mark(marks)}`.",
        "## Columns",
        _table(("column", "content"), [(f"`{name}`", text) for name, text in COLUMNS.items()]),
        "## Loading",
        "As records, for all that attune-env does with them; a folder has its path in place of the name:",
        "```python\nfrom attune_env import load\n\n"
        f'conversations = load("OWNER/NAME"{picked})\n```',
        "As rows, with `datasets` alone:",
        '```python\nfrom datasets import load_dataset\n\nrows = load_dataset("OWNER/NAME")\n```',
        CARD_MARK,
    ]  # fmt: skip
    return f"---\n{DatasetCardData(**front).to_yaml()}\n---\n\n" + "\n\n".join(filter(None, told)) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [head, ("---",) * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
