"""What a rollout function needs of TRL's trainer: tokens and generation.

TRL hands a rollout function its trainer and leaves open how to generate with it. This uses the trainer's
model, its generation settings, and vLLM where it runs: public names, which may still change.
"""

from __future__ import annotations

from typing import Any, Final

from attune_data.errors import SettingsError
from attune_data.extras import warn_if_untested

TESTED: Final = ("1.16", "1.17")
"""The tests train whole conversations with TRL from the first version up to, without, the second."""
Chat = list[dict[str, str]]


def sync_weights(trainer: Any) -> None:
    """Hand the trainer's current weights to vLLM, where that generates; once before a rollout."""
    if trainer.use_vllm:
        trainer.vllm_generation.sync_weights()


def generate(trainer: Any, prompts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
    """Sample one completion for each prompt, with the trainer's own settings.

    Args:
        trainer: a GRPOTrainer, in one process.
        prompts: token ids of each prompt, generation prompt included.

    Returns:
        Token ids of each completion, up to its end-of-turn token or the limit `max_completion_length`; and
        the log-probability of each of these tokens where the backend gives them (vLLM), else None.
    """
    if trainer.use_vllm:
        _, completions, logprobs, _ = trainer.vllm_generation.generate(
            prompts=prompts, images=None, num_generations=1
        )
        return completions, [[top[0] for top in sequence] for sequence in logprobs]

    import torch
    from trl.models import unwrap_model_for_generation

    tokenizer, device = trainer.processing_class, trainer.accelerator.device
    longest = max(map(len, prompts))
    gaps = [longest - len(prompt) for prompt in prompts]
    padded = [[tokenizer.pad_token_id] * gap + prompt for gap, prompt in zip(gaps, prompts, strict=True)]
    mask = [[0] * gap + [1] * (longest - gap) for gap in gaps]
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


def _up_to(ends: set[int], ids: list[int]) -> list[int]:
    """The ids up to the first one that ends a turn, which stays."""
    return next((ids[: index + 1] for index, token in enumerate(ids) if token in ends), ids)


def check_version() -> None:
    """Warns (UntestedVersionWarning) where TRL's version is none with which the tests train."""
    why = (
        "Whole conversations generate by attributes of GRPOTrainer that may have changed; reward functions "
        "over rows (training_dataset, reward_functions) do not depend on them"
    )
    warn_if_untested("trl", *TESTED, why)


class ChatTokens:
    """A trainer's tokenizer and chat template: from messages to token ids and back."""

    def __init__(self, trainer: Any) -> None:
        self._tokenizer = trainer.processing_class
        self._template: dict[str, Any] = {
            "chat_template": trainer.chat_template,
            **trainer.chat_template_kwargs,
        }
        self.end: int = self._tokenizer.eos_token_id

    def _ids(self, messages: Chat, *, reply: bool) -> list[int]:
        ids: list[int] = self._tokenizer.apply_chat_template(
            messages, tokenize=True, return_dict=False, add_generation_prompt=reply, **self._template
        )
        return ids

    def prompt(self, messages: Chat) -> list[int]:
        """The ids of a prompt, up to where the reply begins."""
        return self._ids(messages, reply=True)

    def after_reply(self, messages: Chat) -> list[int]:
        """The ids that follow the end of a reply: what closes its turn, messages, and the next reply's start.

        Raises SettingsError where the chat template does not end a reply with the end-of-turn token, or
        writes earlier messages in another way when others follow.
        """
        before: Chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        short, long = self._ids(before, reply=False), self._ids(before + messages, reply=True)
        ends = [index for index, token in enumerate(short) if token == self.end]
        cut = ends[-1] + 1 if ends else 0
        if not ends or long[:cut] != short[:cut]:
            raise SettingsError(
                'thread="shown" needs a chat template that ends a reply with the tokenizer\'s eos_token and '
                'writes a message the same whatever follows it; this one does not. thread="elided" works '
                "with any"
            )
        return long[cut:]

    def text(self, ids: list[int]) -> str:
        """The text of a reply, without special tokens: what TRL takes as a completion too."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text
