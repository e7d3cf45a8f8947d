"""Playing whole conversations in TRL's GRPOTrainer: the rollout function, in plain text, without tools.

GRPOTrainer learns from one sequence of tokens per rollout, under plain causal attention. The protocol's
requests are independent prompts over a thread in which the model's own answers are elided, so a whole
episode does not fit into such a sequence as it stands. There are two ways out, chosen by `thread`:

* "elided" (exact): every request is answered under exactly its own prompt; the sequence learnt from is one
  request of the episode, drawn, with the return of the whole.
* "shown" (not protocol-exact): one sequence holds all requests. What the protocol elides, earlier answers
  and the questions asked beside the thread, stays in sight; tokens that are not the model's are masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, get_args

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_episodes.trainers.growing_chat import fresh_messages
from attune_episodes.trainers.trl_environment import (
    ConversationEnvironment,
    conversation_rows,
    episode_parts,
)
from attune_episodes.trainers.trl_generation import ChatTokens, check_version, generate, sync_weights
from attune_episodes.training.arguments import settings_of
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset

Thread = Literal["elided", "shown"]
THREADS: Final[tuple[Thread, ...]] = get_args(Thread)


class TrainerArguments(TypedDict):
    """What `GRPOTrainer` is given beside a model, a configuration and a tokenizer."""

    train_dataset: Dataset
    environment_factory: Callable[[], ConversationEnvironment]
    rollout_func: ConversationRollout
    reward_funcs: list[Callable[..., list[float]]]


def conversation_rollouts(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    *,
    thread: Thread = "elided",
    seed: int = 0,
    allow_benchmark_training: bool = False,
) -> TrainerArguments:
    """Whole conversations for TRL's GRPOTrainer: `GRPOTrainer(model, args=…, **conversation_rollouts(…))`.

    A rollout is one episode; its reward is the return, logged under `rewards/ConversationEnvironment`. Every
    request that the reward scores is asked; the others are not, as no other depends on them. Experimental,
    as the two hooks of TRL are, and for one process. Where the reward is a sum over requests, rows
    (`training_dataset`) give the same direction with less noise and less to generate.

    Args:
        conversations: the annotated conversations, in a sequence.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset; parts of one's own and terminal rewards too.
        thread: "elided": each request under exactly its own prompt; the trainer learns from one of them,
            drawn, with the return of the whole. "shown": all in one sequence, earlier answers in sight,
            which is not the protocol; the trainer learns from all.
        seed: of the draw; with the trainer's step and the conversation.
        allow_benchmark_training: take benchmark records too, against their authors' rule.

    Returns:
        `train_dataset` (see `conversation_rows`), `environment_factory`, `rollout_func` and `reward_funcs`
        (one, which pays nothing and logs the parts).

    Raises (all at the call): as `conversation_rows`; UnknownNameError for an unknown thread. Warns where
    TRL's version is none that this was tested with.
    """
    rollout = ConversationRollout(thread, seed)
    check_version()
    asked, allowed = settings_of(settings), allow_benchmark_training
    return {
        "train_dataset": conversation_rows(conversations, asked, reward, allow_benchmark_training=allowed),
        "environment_factory": partial(
            ConversationEnvironment, asked, reward, allow_benchmark_training=allowed
        ),
        "rollout_func": rollout,
        "reward_funcs": [episode_parts],
    }


@dataclass(frozen=True, slots=True)
class ConversationRollout:
    """The rollout function: plays the episodes of the trainer's environments side by side."""

    thread: Thread = "elided"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.thread not in THREADS:
            raise UnknownNameError("thread", str(self.thread), THREADS)
        if type(self.seed) is not int:
            raise SettingsError(f"seed is {show(self.seed)}; it must be a whole number")

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Plays one episode for each prompt.

        Args:
            prompts: those of the rows, counted only: each environment has its own.
            trainer: a GRPOTrainer with the environments of `conversation_rollouts`.

        Returns:
            `prompt_ids`, `completion_ids` and `logprobs` (None where the backend gives none), one sequence
            for each prompt; with the thread shown also `env_mask`, 1 for the model's own tokens.

        Raises SettingsError, before anything is learnt, for a trainer that cannot be used.
        """
        environments, tokens = _environments(trainer, len(prompts)), ChatTokens(trainer)
        sequences: Sequence[_Sequence]
        if self.thread == "shown":
            sequences = [_Shown(environment, tokens) for environment in environments]
        else:
            places = drawn(environments, self.seed, trainer.state.global_step)
            sequences = [_Elided(one, tokens, place) for one, place in zip(environments, places, strict=True)]
        sync_weights(trainer)
        while waiting := [sequence for sequence in sequences if sequence.waits()]:
            replies, logprobs = generate(trainer, [sequence.context() for sequence in waiting])
            for index, sequence in enumerate(waiting):
                sequence.take(replies[index], None if logprobs is None else logprobs[index])
        sampled = [sequence.logprobs for sequence in sequences]
        made: dict[str, Any] = {
            "prompt_ids": [sequence.prompt_ids for sequence in sequences],
            "completion_ids": [sequence.completion_ids for sequence in sequences],
            "logprobs": None if any(one is None for one in sampled) else sampled,
        }
        if self.thread == "shown":
            made["env_mask"] = [sequence.mask for sequence in sequences]
        return made


def drawn(environments: Sequence[ConversationEnvironment], seed: int, step: int) -> list[str]:
    """Id of the request of each rollout that is learnt from.

    Each request of an episode is as likely as the others. Where a batch holds several rollouts of one
    conversation they take turns from a place drawn by (seed, step, conversation).
    """
    before: Counter[str] = Counter()
    ids = []
    for environment in environments:
        asked = environment.asked
        name = asked[0].conversation_id
        first = int.from_bytes(digest("trl", seed, step, name)[:8], "big")
        ids.append(asked[(first + before[name]) % len(asked)].id)
        before[name] += 1
    return ids


def _environments(trainer: Any, wanted: int) -> list[ConversationEnvironment]:
    given = getattr(trainer, "environments", None) or []
    ours = [one for one in given if isinstance(one, ConversationEnvironment)]
    if len(ours) != wanted or len(given) != wanted:
        raise SettingsError(
            f"{len(ours)} environments of ours for {wanted} prompts; give GRPOTrainer all that "
            "conversation_rollouts(…) returns: train_dataset, environment_factory, rollout_func, reward_funcs"
        )
    processes = trainer.accelerator.num_processes
    if processes != 1:
        raise SettingsError(
            f"the trainer runs in {processes} processes; whole conversations are for one, as processes would "
            "generate different numbers of times and wait for each other. Reward functions over rows "
            "(training_dataset, reward_functions) run in any number"
        )
    return ours


@dataclass(slots=True)
class _Sequence:
    """The tokens that a rollout is learnt from, and the episode behind them."""

    environment: ConversationEnvironment
    tokens: ChatTokens
    prompt_ids: list[int] = field(default_factory=list)
    completion_ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = None

    def waits(self) -> bool:
        """Whether a request waits for a reply; passes over those that are not scored."""
        episode = self.environment.episode
        asked = {request.id for request in self.environment.asked}
        while not episode.done and episode.request.id not in asked:
            episode.submit(None)
        return not episode.done

    def context(self) -> list[int]:
        """The tokens under which the next reply is generated."""
        raise NotImplementedError

    def take(self, reply: list[int], logprobs: list[float] | None) -> None:
        """Takes the reply."""
        raise NotImplementedError


class _Elided(_Sequence):
    """Keeps one request of the episode."""

    def __init__(self, environment: ConversationEnvironment, tokens: ChatTokens, place: str) -> None:
        super().__init__(environment, tokens)
        environment.trained = place
        self._context: list[int] = []

    def context(self) -> list[int]:
        self._context = self.tokens.prompt(self.environment.episode.request.chat())
        return self._context

    def take(self, reply: list[int], logprobs: list[float] | None) -> None:
        episode = self.environment.episode
        if episode.request.id == self.environment.trained:
            self.prompt_ids, self.completion_ids, self.logprobs = self._context, reply, logprobs
        episode.submit(self.tokens.text(reply))


class _Shown(_Sequence):
    """Grows by every request and its reply."""

    def __init__(self, environment: ConversationEnvironment, tokens: ChatTokens) -> None:
        super().__init__(environment, tokens)
        self._before: Request | None = None

    def context(self) -> list[int]:
        request = self.environment.episode.request
        if self._before is None:
            self.prompt_ids = self.tokens.prompt(request.chat())
        else:
            if self.completion_ids[-1:] != [self.tokens.end]:
                self._add([self.tokens.end])  # cut off by the limit: its turn is closed for it
            self._add(self.tokens.after_reply(fresh_messages(self._before, request)))
        self._before = request
        return self.prompt_ids + self.completion_ids

    def take(self, reply: list[int], logprobs: list[float] | None) -> None:
        if logprobs is not None:
            self.logprobs = [*(self.logprobs or []), *logprobs]
        self.completion_ids += reply
        self.mask += [1] * len(reply)
        self.environment.episode.submit(self.tokens.text(reply))

    def _add(self, ids: list[int]) -> None:
        """Tokens that are not the model's own."""
        self.completion_ids += ids
        self.mask += [0] * len(ids)
        if self.logprobs is not None:
            self.logprobs += [0.0] * len(ids)
