"""What a rollout function needs of TRL's trainer: tokens and generation. The one place with a private call.

TRL hands a rollout function its trainer and leaves open how to generate with it. The method called here is
what the trainer itself generates with, by any of its backends, and it changes without notice: its
arguments are looked at before it is called, and another version than those tried is named once.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from attune_data.errors import SettingsError
from attune_data.extras import warn_if_untested

TESTED: Final = ("1.16", "1.17")
"""The tests train whole conversations with TRL from the first version up to, without, the second."""
Chat = list[dict[str, str]]
_METHOD: Final = "_generate_single_turn"
_TAKES: Final = ("prompt_ids", "images", "multimodal_fields", "num_generations")
_ROWS: Final = "reward functions over rows (training_dataset, reward_functions) do not depend on it"


def generate(trainer: Any, prompts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
    """One completion to each prompt, with the trainer's own sampling settings.

    Args:
        trainer: a GRPOTrainer.
        prompts: token ids of each prompt, generation prompt included.

    Returns:
        Token ids of each completion, up to its end-of-turn token or the limit `max_completion_length`; and
        the log-probability of each of these tokens where the backend gives them (vLLM), else None.

    Raises SettingsError where this TRL has no such method, or one with other arguments.
    """
    method = getattr(trainer, _METHOD, None)
    if method is None or tuple(inspect.signature(method).parameters)[: len(_TAKES)] != _TAKES:
        raise SettingsError(
            f"GRPOTrainer.{_METHOD} is missing or takes other arguments than in TRL {TESTED[0]}, which was "
            f"tested. Whole conversations need such a version; {_ROWS}"
        )
    completions, logprobs = method(prompts, None, {}, 1)
    return completions, logprobs


def check_version() -> None:
    """Warns (UntestedVersionWarning) where TRL's version is none with which the tests train."""
    why = f"Whole conversations use a private method of GRPOTrainer, which may have changed; {_ROWS}"
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
