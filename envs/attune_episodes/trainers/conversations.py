"""Whole conversations in one growing chat: their rows, and `GrowingChat`, which plays a row.

Such a chat is not the protocol: earlier replies, and questions asked outside the thread, stay visible.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attune_data.errors import DataError, Problem, show
from attune_data.guard import for_training
from attune_data.schema import Conversation
from attune_data.version import __version__
from attune_episodes.episode import Episode
from attune_episodes.request import Request
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.task import Task
from attune_episodes.trainers.rows import (
    Row,
    RowMaker,
    check_stages,
    described,
    sequence_of,
    table,
    unscored,
)
from attune_rewards.reward import Score
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset

Chat = list[dict[str, str]]


def conversation_rows(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    *,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """Make one row for each conversation in which the reward scores anything.

    The arguments are those of `training_dataset`; the conversations must be a sequence.

    Returns:
        Rows with `prompt` (chat messages of the first scored request), `task` (JSON: the whole record with
        its annotations, settings and reward; for scoring only, never for the model), `id`,
        `conversation_id`, `participant_id`, `reward` (the spec's name) and `provenance`.

    Raises (all at the call):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        SettingsError: a reward with custom parts, or one that scores none of the stages asked.
        DataError: there are no conversations, or the reward scores nothing in them.
        TypeError: something other than a sequence of conversations was given.
    """
    maker = RowMaker(settings or Settings(), reward_spec(reward))

    def row(about: Conversation, first: Request) -> Row:
        task = Task(about, maker.settings, maker.spec).to_json()
        return {
            "prompt": first.chat(),
            "task": json.dumps(task, ensure_ascii=False),
            "id": about.conversation_id,
            "reward": maker.spec.name,
        }

    columns = ("prompt", "task", "id", "conversation_id", "participant_id", "reward", "provenance")
    return whole_rows(conversations, maker, row, columns, allowed=allow_benchmark_training)


def whole_rows(
    conversations: Sequence[Conversation],
    maker: RowMaker,
    row: Callable[[Conversation, Request], Row],
    columns: Sequence[str],
    *,
    allowed: bool,
) -> Dataset:
    """Make a dataset with a `row` and the source of each conversation in which anything is scored.

    `row` is called with the conversation and its first scored request. Raises the errors of
    `conversation_rows`.
    """
    check_stages(maker.spec, maker.settings.stages)
    mark = for_training(sequence_of(conversations), allow_benchmark_training=allowed)
    firsts = ((about, next(maker.requests(about), None)) for about in conversations)
    rows = (
        {
            "conversation_id": about.conversation_id,
            "participant_id": about.participant,
            "provenance": about.origin,
            **row(about, first[0]),
        }
        for about, first in firsts
        if first is not None
    )
    told = described(f"Conversations of attune-env {__version__}, reward {maker.spec.name}", mark)
    return table(rows, columns, told, unscored(maker.spec.name))


class GrowingChat:
    """An episode whose scored requests are asked one after another in a single chat."""

    def __init__(self, episode: Episode) -> None:
        """Begin to play an episode; requests that the reward does not score get no reply."""
        self.episode = episode
        maker = RowMaker(episode.settings, episode.spec)
        self._asked = {request.id for request, _ in maker.requests(episode.conversation)}
        self.length = len(self._asked)
        """The number of requests."""
        self._skip()

    @staticmethod
    def of_row(task: object) -> GrowingChat:
        """Begin the episode of a row of `conversation_rows`, given its column `task`.

        Raises DataError for anything else.
        """
        try:
            told = Task.from_json(json.loads(task), asking=True)  # type: ignore[arg-type]  # caught below
        except (LookupError, TypeError, ValueError) as error:
            raise DataError(
                Problem("row", "task", show(task), "the JSON text that conversation_rows wrote")
            ) from error
        return GrowingChat(Episode(told.conversation, told.settings, told.spec))

    @property
    def done(self) -> bool:
        """Whether every request has been answered."""
        return self.episode.done

    def opening(self) -> Chat:
        """The messages of the first request."""
        return self.episode.request.chat()

    def submit(self, reply: str) -> tuple[float, Score, Chat]:
        """Score a reply; returns its reward, its score, and the messages to append to the chat."""
        before = self.episode.request
        score = self.episode.submit(reply).score
        self._skip()
        at_the_end = self.episode.total if self.done else 0.0
        reward = score.reward if self.episode.spec.dense else at_the_end
        return reward, score, ([] if self.done else fresh_messages(before, self.episode.request))

    def _skip(self) -> None:
        while not self.episode.done and self.episode.request.id not in self._asked:
            self.episode.submit(None)


def fresh_messages(before: Request, request: Request) -> Chat:
    """The messages of a request that are not yet in the chat after the reply to the previous request.

    The placeholder for that reply is left out. If a stage in between was not asked, its message and the
    placeholder for its answer are included.
    """
    old, new = before.chat(), request.chat()
    same = 0
    while same < min(len(old), len(new) - 1) and old[same] == new[same]:
        same += 1
    if same == len(old) and new[same]["role"] == "assistant":
        same += 1  # the thread continues: this placeholder stands for the reply, which the chat contains
    return new[same:]
