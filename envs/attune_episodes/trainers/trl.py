"""Whole conversations in TRL's GRPOTrainer, in plain text, without tools. Experimental.

GRPOTrainer learns from one sequence of tokens per rollout, under plain causal attention. The protocol's
requests are independent prompts, which do not fit into one sequence; here a rollout is one growing chat, in
which earlier answers and the questions asked outside the thread stay visible. Tokens that are not the model's
are masked. TRL's `rollout_func`, which this uses, is experimental too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from attune_data.errors import SettingsError
from attune_data.extras import warn_if_untested
from attune_data.schema import Conversation
from attune_data.simulate.stream import Simulation
from attune_episodes.episode import Episode, parse_rate
from attune_episodes.live.chat import LiveChat
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.conversations import Chat, GrowingChat, whole_rows
from attune_episodes.trainers.live import chat_of_row, live_rows
from attune_episodes.trainers.rows import RowMaker
from attune_rewards.reward import part_means
from attune_rewards.spec import RewardSpec

TESTED: Final = ("1.16", "1.17")
"""The range of TRL versions with which the tests train whole conversations; the upper end is excluded."""
COLUMNS: Final = ("prompt", "conversation_id", "participant_id", "provenance")
Ids = list[int]


def conversation_rollouts(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    *,
    allow_benchmark_training: bool = False,
) -> dict[str, Any]:
    """Whole conversations for TRL's GRPOTrainer: `GRPOTrainer(model, args=…, **conversation_rollouts(…))`.

    A rollout is one episode; its reward is the return, logged under `rewards/conversation_return`. Every
    request that the reward scores is asked. Only one process is supported. If the reward is a sum over
    requests, as in all presets, rows (`training_dataset`) teach the same with less noise and less generation.

    The arguments are those of `training_dataset`, but the conversations must be a sequence, and the reward
    may have custom parts and be terminal.

    Returns:
        `train_dataset` (a row's `prompt` is the id of its conversation, which the rollout function turns
        into requests), `rollout_func` and `reward_funcs`.

    Raises the errors of `conversation_rows` at the call. Warns if TRL's version has not been tested.
    """
    warn_if_untested("trl", *TESTED, "Whole conversations generate by attributes of GRPOTrainer")
    maker = RowMaker(settings or Settings(), reward_spec(reward))
    dataset = whole_rows(
        conversations,
        maker,
        lambda about, first: {"prompt": [{"role": "user", "content": about.conversation_id}]},
        COLUMNS,
        allowed=allow_benchmark_training,
    )
    known = {about.conversation_id: about for about in conversations}

    def begin(name: str) -> GrowingChat:
        return GrowingChat(Episode(known[name], maker.settings, maker.spec))

    return {"train_dataset": dataset, "rollout_func": Rollout(begin), "reward_funcs": [conversation_return]}


def conversation_return(*, episode: Sequence[Episode], log_metric: Any = None, **columns: Any) -> list[float]:
    """The return of each episode, as in `Episode.total`.

    Logs `attune/<part>`, the mean score of a part over the requests that it scores, in [0, 1], and
    `attune/parse_rate`, the share of the replies asked for that could be read.
    """
    steps = [step for one in episode for step in one.steps if step.score.value is not None]
    if log_metric is not None and steps:
        log_metric("attune/parse_rate", parse_rate(steps))
        for name, mean in part_means(step.score for step in steps).items():
            log_metric(f"attune/{name}", mean)
    return [one.total for one in episode]


def live_rollouts(world: Simulation, number: int, *, reader: str | None = None) -> dict[str, Any]:
    """Live conversations for TRL's GRPOTrainer: `GRPOTrainer(model, args=…, **live_rollouts(…))`.

    A rollout is one live episode, in which a simulated person answers the model's own replies; its reward is
    the total, logged under `rewards/live_return`. For one process. The arguments and errors are those of
    `live_rows`, the values those of `conversation_rollouts`.
    """
    warn_if_untested("trl", *TESTED, "Whole conversations generate by attributes of GRPOTrainer")
    rows = live_rows(world, number, reader=reader)
    tasks = dict(zip(rows["id"], rows["task"], strict=True))
    dataset = rows.select_columns(COLUMNS[1:]).add_column(
        "prompt", [[{"role": "user", "content": name}] for name in tasks]
    )
    rollout = Rollout(lambda name: chat_of_row(tasks[name]))
    return {"train_dataset": dataset, "rollout_func": rollout, "reward_funcs": [live_return]}


def live_return(*, episode: Sequence[LiveEpisode], log_metric: Any = None, **columns: Any) -> list[float]:
    """The total of each live episode. Logs the mean `attune/fit`, in [-1, 1], and the share `attune/lost`."""
    if log_metric is not None and episode:
        fits = [turn.fit for one in episode for turn in one.turns]
        log_metric("attune/fit", sum(fits) / len(fits))
        planned = sum(one.length for one in episode)
        log_metric("attune/lost", 1 - len(fits) / planned)
    return [one.total for one in episode]


@dataclass(frozen=True, slots=True)
class Rollout:
    """A rollout function that plays an episode for each prompt, in parallel."""

    begin: Callable[[str], GrowingChat | LiveChat]
    """Begins the conversation with the given id."""

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Play one episode for the prompt of each row with a GRPOTrainer.

        Returns:
            `prompt_ids`, `completion_ids`, `logprobs` (None if the backend has none), `env_mask` (1 for the
            model's own tokens), and `episode` for the reward function.

        Raises SettingsError before training starts if the trainer cannot be used.
        """
        if trainer.accelerator.num_processes != 1:
            raise SettingsError(
                f"the trainer runs in {trainer.accelerator.num_processes} processes; whole conversations "
                "need a single one, because several would generate different numbers of times and wait for "
                "each other. "
                "Reward functions over rows (training_dataset, reward_functions) run in any number"
            )
        tokens = ChatTokens(trainer)
        sequences = []
        for prompt in prompts:
            chat = self.begin(prompt[-1]["content"])
            sequences.append(_Sequence(chat, tokens, tokens.ids(chat.opening(), reply=True)))
        while waiting := [sequence for sequence in sequences if not sequence.chat.done]:
            contexts = [sequence.prompt_ids + sequence.completion_ids for sequence in waiting]
            replies, logprobs = generate(trainer, contexts)
            for index, sequence in enumerate(waiting):
                sequence.take(replies[index], None if logprobs is None else logprobs[index])
        sampled = [sequence.logprobs for sequence in sequences]
        return {
            "prompt_ids": [sequence.prompt_ids for sequence in sequences],
            "completion_ids": [sequence.completion_ids for sequence in sequences],
            "logprobs": None if None in sampled else sampled,
            "env_mask": [sequence.mask for sequence in sequences],
            "episode": [sequence.chat.episode for sequence in sequences],
        }


@dataclass(slots=True)
class _Sequence:
    """The tokens of a rollout, and its chat."""

    chat: GrowingChat | LiveChat
    tokens: ChatTokens
    prompt_ids: Ids
    completion_ids: Ids = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = field(default_factory=list)

    def take(self, reply: Ids, logprobs: list[float] | None) -> None:
        """Append a reply, and the messages that follow it."""
        self._add(reply, 1, logprobs)
        _, _, following = self.chat.submit(self.tokens.text(reply))
        if following:
            closing = [] if reply[-1:] == [self.tokens.end] else [self.tokens.end]  # truncated by the limit
            ids = closing + self.tokens.after_reply(following)
            self._add(ids, 0, [0.0] * len(ids))

    def _add(self, ids: Ids, own: int, logprobs: list[float] | None) -> None:
        self.completion_ids += ids
        self.mask += [own] * len(ids)
        self.logprobs = None if self.logprobs is None or logprobs is None else self.logprobs + logprobs


def generate(trainer: Any, prompts: list[Ids]) -> tuple[list[Ids], list[list[float]] | None]:
    """Sample one completion for each prompt (token ids), with the settings of a GRPOTrainer.

    TRL passes its trainer to a rollout function but does not specify how to generate with it; the attributes
    used here are public, but may change.

    Returns the token ids of each completion, up to its end-of-turn token or `max_completion_length`; and the
    log-probability of each of these tokens if the backend gives them (vLLM), otherwise None.
    """
    if trainer.use_vllm:
        _, completions, logprobs, _ = trainer.vllm_generation.generate(
            prompts=prompts, images=None, num_generations=1
        )
        return completions, [[top[0] for top in sequence] for sequence in logprobs]

    import torch
    from trl.models import unwrap_model_for_generation

    longest = max(map(len, prompts))
    pad, device = trainer.processing_class.pad_token_id, trainer.accelerator.device
    padded = [[pad] * (longest - len(prompt)) + prompt for prompt in prompts]
    mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    with (
        unwrap_model_for_generation(
            trainer.model_wrapped, trainer.accelerator, generation_kwargs=trainer.generation_kwargs
        ) as model,
        torch.no_grad(),
    ):
        made = model.generate(
            input_ids=torch.tensor(padded, device=device),
            attention_mask=torch.tensor(mask, device=device),
            generation_config=trainer.generation_config,
        )
    ends = set(trainer.eos_token_ids)
    return [_up_to(ends, ids) for ids in made[:, longest:].tolist()], None


def _up_to(ends: set[int], ids: Ids) -> Ids:
    return next((ids[: index + 1] for index, token in enumerate(ids) if token in ends), ids)


class ChatTokens:
    """A trainer's tokenizer and chat template, to convert messages to token ids and back."""

    def __init__(self, trainer: Any) -> None:
        self._tokenizer = trainer.processing_class
        self._template = {"chat_template": trainer.chat_template, **trainer.chat_template_kwargs}
        self.end: int = self._tokenizer.eos_token_id

    def ids(self, messages: Chat, *, reply: bool) -> Ids:
        """The token ids of messages; for a prompt (`reply`), up to where the reply begins."""
        ids: Ids = self._tokenizer.apply_chat_template(
            messages, tokenize=True, return_dict=False, add_generation_prompt=reply, **self._template
        )
        return ids

    def after_reply(self, messages: Chat) -> Ids:
        """The token ids after a reply: the end of its turn, the messages, the start of the next reply.

        Raises SettingsError if the chat template does not end a reply with the end-of-turn token, or renders
        earlier messages differently when others follow.
        """
        before: Chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        short, long = self.ids(before, reply=False), self.ids(before + messages, reply=True)
        cut = max((index + 1 for index, token in enumerate(short) if token == self.end), default=0)
        if not cut or long[:cut] != short[:cut]:
            raise SettingsError(
                "whole conversations need a chat template that ends a reply with the tokenizer's eos_token "
                "and renders a message the same way whatever follows it; this one does not"
            )
        return long[cut:]

    def text(self, ids: Ids) -> str:
        """The text of a reply, without special tokens."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text
