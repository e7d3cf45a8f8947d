"""Whole conversations for TRL's `environment_factory`: the rows, and the environment that holds an episode.

TRL calls `environment_factory` and `rollout_func` experimental; so is this. By itself TRL drives an
environment by tool calls. This one has no tools: the rollout function of `trl_rollout` drives it, in text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, show
from attune_data.guard import for_training
from attune_data.jsonio import parse_json
from attune_data.schema import Conversation
from attune_data.validate import conversation_from
from attune_data.version import __version__
from attune_episodes.episode import Episode, parse_rate
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.training.arguments import described, sequence_of, settings_of, unscored
from attune_rewards.reward import part_means, scored_requests
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset

KEPT: Final = 256
"""Conversations of rows kept read: the rollouts of a group, and of a batch, read each only once."""


class NoEpisodeError(AttuneError, AttributeError):
    """An environment was asked for its episode before `reset`.

    An AttributeError, so that code which goes through all members of an object, as TRL did up to 1.14, passes
    over what is not there yet.
    """


class ConversationEnvironment:
    """One annotated conversation as an episode, in the form that TRL's GRPOTrainer takes.

    The trainer makes instances and uses them again and again: `reset` begins the episode of a row, a rollout
    function submits replies to `episode`, `get_reward` is what they earned. It has no other public method,
    since TRL would offer it to the model as a tool.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        reward: RewardSpec | str = "skill",
        *,
        allow_benchmark_training: bool = False,
    ) -> None:
        """Makes an environment without an episode.

        Args:
            settings: how the requests are asked; the default protocol if None.
            reward: a spec or the name of a preset; parts of one's own and terminal rewards work here.
            allow_benchmark_training: let benchmark records pass, against their authors' rule.
        """
        self.settings = settings_of(settings)
        self.spec = reward_spec(reward)
        self.asked: tuple[Request, ...] = ()
        """The requests that the reward scores, in the protocol's order. The others need no reply."""
        self.trained: str | None = None
        """Id of the one request that the trainer learns from; None where it learns from all."""
        self._allowed = allow_benchmark_training
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> None:
        """Begins the episode of a row of `conversation_rows`; adds nothing to the row's prompt.

        Raises DataError for a row without its conversation, or with one of which nothing is scored;
        BenchmarkTrainingError for one of the benchmark.
        """
        record = row.get("conversation")
        if not isinstance(record, str):
            advice = "take train_dataset from conversation_rollouts(…)"
            raise DataError(
                Problem("row", "conversation", show(record), "the JSON text of a conversation", advice)
            )
        conversation = _read(record)
        for_training(conversation, allow_benchmark_training=self._allowed)
        asked = scored_of(conversation, self.settings, self.spec)
        if not asked:
            raise unscored(self.spec)
        self._episode, self.asked = Episode(conversation, self.settings, self.spec), asked
        self.trained = None

    @property
    def episode(self) -> Episode:
        """The episode; NoEpisodeError before the first `reset`."""
        if self._episode is None:
            raise NoEpisodeError("this environment has no episode yet: reset(**row) begins one")
        return self._episode

    def get_reward(self) -> float:
        """The return of the episode, as `Episode.total` has it.

        Raises SettingsError where the episode is not over: TRL was given no rollout function to play it.
        """
        episode = self.episode
        if not episode.done:
            raise SettingsError(
                f"the episode of {show(episode.conversation.conversation_id)} has {len(episode.steps)} of "
                f"{len(episode.requests)} replies; give GRPOTrainer the rollout_func of "
                "conversation_rollouts(…) too, which plays it"
            )
        return episode.total


def scored_of(conversation: Conversation, settings: Settings, spec: RewardSpec) -> tuple[Request, ...]:
    """The requests of a conversation that a reward scores, in the protocol's order."""
    places = scored_requests(conversation, spec, settings.stages)
    return tuple(r for r in plan(conversation, settings) if (r.stage, r.turn) in places)


def conversation_rows(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    *,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """One row for each conversation of which the reward scores anything.

    Args:
        conversations: the annotated conversations, in a sequence.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset.
        allow_benchmark_training: make rows of benchmark records too; they are marked `benchmark`, and the
            description of the dataset says so.

    Returns:
        Rows with `prompt` (chat messages of the first request that is scored: TRL wants the column),
        `conversation` (JSON: the whole record with its annotations, for scoring only, never shown to the
        model), `conversation_id`, `participant_id` and `provenance`.

    Raises (all at the call):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        DataError: there are no conversations, or the reward scores nothing in them.
        TypeError: something else than conversations in a sequence was given.
    """
    items, asked, spec = sequence_of(conversations), settings_of(settings), reward_spec(reward)
    mark = for_training(items, allow_benchmark_training=allow_benchmark_training)
    rows = list(_rows(items, asked, spec))
    if not rows:
        raise unscored(spec)

    from datasets import Dataset, Features, List, Value

    text = Value("string")
    names = ("conversation", "conversation_id", "participant_id", "provenance")
    types = Features({"prompt": List({"role": text, "content": text}), **dict.fromkeys(names, text)})
    dataset = Dataset.from_list(rows, features=types)
    dataset.info.description = described(
        f"Conversations of attune-env {__version__}, reward {spec.name}", mark
    )
    return dataset


def _rows(
    conversations: Sequence[Conversation], settings: Settings, spec: RewardSpec
) -> Iterator[dict[str, Any]]:
    for about in conversations:
        asked = scored_of(about, settings, spec)
        if asked:
            yield {
                "prompt": asked[0].chat(),
                "conversation": json.dumps(about.to_record(), ensure_ascii=False),
                "conversation_id": about.conversation_id,
                "participant_id": about.participant,
                "provenance": about.origin,
            }


@lru_cache(maxsize=KEPT)
def _read(record: str) -> Conversation:
    return conversation_from(parse_json(record, "row"), "row")


def episode_parts(
    *,
    environments: Sequence[ConversationEnvironment],
    log_metric: Any = None,
    log_extra: Any = None,
    **columns: Any,
) -> list[float]:
    """A reward function that pays nothing and logs: what the parts earned, how many replies were read.

    `attune/<part>` is the mean score of a part over the requests that it scores, in [0, 1];
    `attune/parse_rate` the share of the replies asked for that could be read. The completions table gets
    `attune_request`, the request that the trainer learns from.

    Returns 0.0 for each environment.
    """
    steps = [step for one in environments for step in one.episode.steps if step.score.value is not None]
    if log_metric is not None and steps:
        log_metric("attune/parse_rate", parse_rate(steps))
        for name, mean in part_means(step.score for step in steps).items():
            log_metric(f"attune/{name}", mean)
    if log_extra is not None:
        log_extra("attune_request", [one.trained or "all" for one in environments])
    return [0.0] * len(environments)
