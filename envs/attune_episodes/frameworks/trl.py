"""TRL: `conversation_environment(…)` as the `environment_factory` of GRPOTrainer; extra `trl`.

A conversation becomes a rollout, a request the result of a tool call, and a reply the next call. Prompts,
parsing and scoring stay ours. Training rows, one for each request, need nothing of this module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import AttuneError, SettingsError, show
from attune_data.extras import needs_extra, warn_if_untested
from attune_data.format.schema import Conversation
from attune_data.source.corpora import TO_TRAIN
from attune_data.source.guard import for_training
from attune_data.source.order import Order
from attune_data.source.source import Data, Mixed, Source
from attune_episodes.play.episode import Episode, EpisodeOverError, parse_rate
from attune_episodes.play.score import reward_spec
from attune_episodes.protocol.settings import Settings
from attune_episodes.training.rows import check_stages, described, table, unscored
from attune_rewards.reward.score import part_means, scored_requests
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset

TESTED: Final = ("1.16", "1.17")
"""The range of tested versions of TRL; the upper end is excluded."""
ASKED: Final = Settings(prompts="compact", stages=("assess", "prefer", "reflect"))
"""The default settings: questions that stand on their own, in the stages that the presets score."""
COLUMNS: Final = ("prompt", "conversation_id", "participant_id", "provenance")
HOW: Final = "Answer each question with the tool `answer`, which returns the next question."
OVER: Final = "The conversation is over."


class NotResetError(AttuneError):
    """An answer was given, or the reward read, before the first reset."""


class ConversationEnvironment:
    """One conversation at a time, as TRL plays it: `reset`, then calls of `answer`, then `get_reward`.

    TRL offers every public method to the model as a tool, except `reset` and `get_reward`.
    """

    def __init__(
        self, choose: Callable[[str | None], Conversation], settings: Settings, spec: RewardSpec
    ) -> None:
        """Make the environment of one rollout at a time; `choose` returns the conversation of an id."""
        self._choose, self._settings, self._spec = choose, settings, spec
        self._episode: Episode | None = None

    @property
    def episode(self) -> Episode:
        """The episode that is played, with the score of each reply; raises NotResetError before `reset`."""
        if self._episode is None:
            raise NotResetError("no conversation has begun: call reset() first")
        return self._episode

    def reset(self, conversation_id: str | None = None, **row: object) -> str:
        """Begin a conversation and return its first question, which TRL adds to the prompt.

        Args:
            conversation_id: the conversation's id; if None, the next one in the order of all environments.
            row: the other columns of the training row, which are not used.

        Raises UnknownNameError for an unknown id, SettingsError without an id where one is needed.
        """
        self._episode = Episode(self._choose(conversation_id), self._settings, self._spec)
        *before, question = (message.content for message in self._episode.request.messages)
        return "\n\n".join([*before, HOW, question])

    def answer(self, reply: dict[str, Any]) -> str:
        """Answer the question that was asked last, and get the next question.

        Args:
            reply: The JSON object that the question asks for.

        Returns:
            The next question, or that the conversation is over.
        """
        # the model is shown this docstring
        if self.episode.done:
            raise EpisodeOverError(f"{OVER} Do not answer any more.")
        self.episode.submit(_text(reply))
        return self._next()

    def _next(self) -> str:
        return OVER if self.episode.done else self.episode.request.messages[-1].content

    def get_reward(self) -> float:
        """End the conversation and return its reward, as `rollout` gives it.

        Questions that are left count as unreadable replies: otherwise a model that expects to lose by
        answering would learn to stop.
        """
        while not self.episode.done:
            self.episode.submit(None)
        return self.episode.total


def _text(reply: object) -> str:
    """A reply as text to parse; a model may send anything in place of an object."""
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


@dataclass(eq=False)
class EnvironmentFactory:
    """Makes the environments of a trainer, and the data set that names their conversations; picklable."""

    order: Order
    settings: Settings
    spec: RewardSpec
    generations: int | None = None
    _shared: Conversation | None = field(default=None, init=False, repr=False)
    _left: int = field(default=0, init=False, repr=False)

    def __call__(self) -> ConversationEnvironment:
        """Make an environment."""
        return ConversationEnvironment(self._conversation, self.settings, self.spec)

    @property
    def train_dataset(self) -> Dataset:
        """One row per conversation in which something is scored, for the trainer's argument of that name.

        Raises SettingsError for an endless mixture, DataError if nothing is scored.
        """
        with needs_extra("trl", "datasets"):
            import datasets  # noqa: F401
        source = self.order.source
        conversations = source.finite()
        mark = for_training(conversations, allow_benchmark_training=source.allow_benchmark_training)
        rows = (
            {
                "prompt": [{"role": "user", "content": ""}],
                "conversation_id": one.conversation_id,
                "participant_id": one.participant,
                "provenance": one.origin,
            }
            for one in conversations
            if self._scores(one)
        )
        told = described(f"Conversations of attune-env to play with reward {self.spec.name}", mark)
        return table(rows, COLUMNS, told, unscored(self.spec.name))

    def _scores(self, conversation: Conversation) -> bool:
        return bool(scored_requests(conversation, self.spec, self.settings.stages))

    def _conversation(self, conversation_id: str | None) -> Conversation:
        """The conversation of an id, or else that of the group: TRL resets its rollouts one after another."""
        if conversation_id is not None:
            return self.order.source.by_id(conversation_id)
        if self.generations is None or int(os.environ.get("WORLD_SIZE", 1)) > 1:
            raise SettingsError(
                "a reset names no conversation_id: give the trainer train_dataset=environment.train_dataset, "
                "or, in a single process, say how many rollouts share a conversation: "
                "conversation_environment(…, generations=args.num_generations)"
            )
        if self._shared is None or not self._left:
            self._shared = self.order.choose(None, self._scores)
            self._left = self.generations
        self._left -= 1
        return self._shared


def conversation_environment(
    data: Data | Mixed = TO_TRAIN,
    *,
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    generations: int | None = None,
    seed: int = 0,
    **selection: Any,
) -> EnvironmentFactory:
    """Make the `environment_factory` with which TRL plays whole conversations; always for training.

    Args:
        data: as for `Source`; "written" is its train split.
        settings: how the requests are asked; the stages that the presets score, with compact prompts, if
            None. Earlier questions stay in the model's context, so prompts that are a thread are refused.
        reward: a preset, a .json or .py file with a reward (Python is executed), or a RewardSpec.
        generations: the trainer's `num_generations`, if it has no `train_dataset` and the environments choose
            the conversations themselves: that many rollouts in a row then play the same one.
        seed: shuffles the conversations that the environments choose.
        selection: the other fields of `Source`: `number`, `split`, `where`, `provenance`,
            `allow_benchmark_training`.

    Raises:
        BenchmarkTrainingError: benchmark or unmarked records.
        SettingsError, UnknownNameError, DataError: invalid or conflicting arguments, or data that cannot be
            read. All errors are raised at the call.

    Warns (UntestedVersionWarning) if TRL's version has not been tested.
    """
    warn_if_untested("trl", *TESTED, why="There, environment_factory is experimental")
    asked, spec = settings or ASKED, reward_spec(reward)
    if asked.prompt_set.threaded:
        raise SettingsError(
            f"prompts {asked.prompt_set.name!r} are one growing thread, which the rollout itself is: use "
            'Settings(prompts="compact"), or a folder whose set.json says "threaded": false'
        )
    check_stages(spec, asked.stages)
    if generations is not None and (type(generations) is not int or generations < 1):
        raise SettingsError(f"generations is {show(generations)}; it must be a whole number, at least 1")
    order = Order(Source(data, training=True, **selection))
    order.restart(seed)
    return EnvironmentFactory(order, asked, spec, generations)


def log_scores(
    environments: Sequence[object], log_metric: Callable[[str, float], None], **given: object
) -> list[float | None]:
    """Log what the rollouts of a step earned by part, as a reward function of TRL that adds 0 to each reward.

    `attune/parse_rate` is the share of readable replies, `attune/<part>` the mean score of a part in [0, 1].
    """
    ours = [one for one in environments if isinstance(one, ConversationEnvironment)]
    for one in ours:
        one.get_reward()  # TRL calls it after this function
    steps = [step for one in ours for step in one.episode.steps]
    if steps:
        log_metric("attune/parse_rate", parse_rate(steps))
    for part, mean in part_means(step.score for step in steps).items():
        log_metric(f"attune/{part}", mean)
    return [0.0 if isinstance(one, ConversationEnvironment) else None for one in environments]
