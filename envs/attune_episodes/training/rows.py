"""`RowMaker`: make training rows, one for each request that the reward scores, and datasets of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_episodes.training.truth import check_rows_carry, write_truth
from attune_rewards.predictions import Stage
from attune_rewards.reward.score import scored_requests
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, Features

Row = dict[str, Any]
CHUNK: Final = 512
"""How many rows are converted to a table at a time, so that they never all exist as Python objects."""


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes rows of conversations, deterministically. Picklable, since worker processes make rows too."""

    settings: Settings
    spec: RewardSpec

    def check(self) -> None:
        """Raise SettingsError if no conversation could give a row."""
        check_rows_carry(self.spec)
        check_stages(self.spec, self.settings.stages)

    def rows(self, conversation: Conversation) -> Iterator[Row]:
        """The rows of one conversation, in the protocol's order."""
        table = scored_requests(conversation, self.spec, self.settings.stages)
        for request in plan(conversation, self.settings):
            scored = table.get((request.stage, request.turn))
            if scored is None:
                continue
            yield {
                "prompt": request.chat(),
                "id": request.id,
                "conversation_id": conversation.conversation_id,
                "participant_id": conversation.participant,
                "stage": request.stage,
                "turn": request.turn,
                "weight": scored.weight,
                "reward": self.spec.name,
                "truth": write_truth(request, scored, conversation),
                "provenance": conversation.origin,
            }


def check_stages(spec: RewardSpec, stages: Sequence[Stage]) -> None:
    """Raise SettingsError if a reward scores none of the stages asked."""
    asked = set(stages)
    for part in spec.parts.values():
        if part.stage in asked or (part.stage is None and asked != {"draft"}):  # format scores no drafts
            return
    raise SettingsError(
        f"reward {spec.name!r} scores nothing in the stages {', '.join(stages)}; "
        "choose other stages or another reward"
    )


def sequence_of(conversations: object) -> Sequence[Conversation]:
    """Return the conversations unchanged; raises TypeError for anything but a sequence of conversations."""
    if isinstance(conversations, (str, Conversation)) or not isinstance(conversations, Sequence):
        advice = "from a lazy source, take some: list(islice(source, 1000))"
        raise TypeError(f"conversations must be a sequence, got {show(conversations)}; {advice}")
    return conversations


def unscored(reward: str, source: str = "conversations") -> DataError:
    """The error raised if nothing in the conversations of a source is scored."""
    return DataError(
        Problem(source, "", f"no annotation that reward {reward!r} scores",
                "an annotation in the stages asked", "attune data stats shows what is annotated")
    )  # fmt: skip


def described(what: str, mark: Provenance | None) -> str:
    """The description of a dataset: the kind of its rows, and the mark that `for_training` returned.

    The mark is None if each conversation is checked when it is reached.
    """
    text = f"{what}, provenance {mark}." if mark else f"{what}, no benchmark records."
    if mark == "benchmark":
        text += " Made with allow_benchmark_training=True: AttuneBench's authors forbid training on it."
    return text


def features(columns: Iterable[str]) -> Features:
    """The types of columns, declared explicitly because a batch of nulls could change inferred ones."""
    from datasets import Features, List, Value

    chat = List({"role": Value("string"), "content": Value("string")})
    types = dict.fromkeys(("prompt", "chosen", "rejected", "completion"), chat)
    types |= dict.fromkeys(("turn", "won", "lost"), Value("int32")) | {"weight": Value("float64")}
    return Features({name: types.get(name, Value("string")) for name in columns})


def table(rows: Iterable[Row], columns: Sequence[str], description: str, nothing: Exception) -> Dataset:
    """Make a `Dataset` of rows in chunks; raises `nothing` if there are none."""
    from datasets import Dataset, concatenate_datasets

    left, types, chunks = iter(rows), features(columns), []
    while some := [{name: row[name] for name in columns} for row in islice(left, CHUNK)]:
        chunks.append(Dataset.from_list(some, features=types))
    if not chunks:
        raise nothing
    dataset = concatenate_datasets(chunks)
    dataset.info.description = description
    return dataset
