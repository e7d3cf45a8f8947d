"""GRPO with TRL and the reward functions of this package, one per part, weighted as in the reward."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grpo_from_scratch.warm_up import alike


@dataclass
class Timed:
    """A reward function that measures its own time."""

    function: Any
    seconds: float = field(default=0.0, init=False)

    @property
    def __name__(self) -> str:
        """The part's name, which TRL uses for logging."""
        return str(self.function.__name__)

    def __call__(self, *given: Any, **columns: Any) -> list[float | None]:
        """Call the function and add up its time."""
        started = time.perf_counter()
        values: list[float | None] = self.function(*given, **columns)
        self.seconds += time.perf_counter() - started
        return values


@dataclass(frozen=True)
class Trained:
    """The statistics of a run."""

    log: list[dict[str, Any]]
    """TRL's log, one entry every few steps."""
    seconds: float
    """Seconds for the steps, without the tests in between."""
    reward_seconds: float
    """The part of these seconds spent in reward functions."""


def in_batches(rows: Any, tokenizer: Any, prompts: int, steps: int, seed: int) -> Any:
    """The rows of `steps` batches in order; prompts in a batch have similar lengths, since padding costs."""
    chats = [tokenizer.apply_chat_template(chat, tokenize=False) for chat in rows["prompt"]]
    lengths = [len(tokens) for tokens in tokenizer(chats, add_special_tokens=False).input_ids]
    batches = alike(lengths, prompts, random.Random(f"batches {seed}"))
    return rows.select([i for _ in range(steps) for i in next(batches)])


def reinforce(
    model: Any,
    tokenizer: Any,
    rows: Any,
    functions: Sequence[Any],
    folder: str,
    *,
    steps: int,
    seed: int,
    longest: int,
    rate: float,
    prompts: int,
    group: int,
    tests: Callable[[int], object],
    **more: Any,
) -> Trained:
    """Run GRPO on the rows, in order; `tests(step)` is called after each step.

    Each step draws `group` answers of at most `longest` tokens to each of `prompts` prompts, at temperature
    1. `more` is passed to the GRPOConfig.
    """
    import torch
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    testing = 0.0

    class After(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            nonlocal testing
            started = time.perf_counter()
            tests(state.global_step)
            testing += time.perf_counter() - started

    on_gpu = model.device.type == "cuda"
    timed = [Timed(function) for function in functions]
    settings: dict[str, Any] = {
        "output_dir": folder,
        "max_steps": steps,
        "per_device_train_batch_size": prompts * group,
        "num_generations": group,
        "max_completion_length": longest,
        "reward_weights": [function.weight for function in functions],
        "learning_rate": rate,
        "lr_scheduler_type": "linear",
        "warmup_steps": min(10, steps // 10),
        "temperature": 1.0,
        "beta": 0.0,
        "shuffle_dataset": False,
        "logging_steps": max(1, steps // 10),
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "seed": seed,
        "use_cpu": not on_gpu,
        "bf16": on_gpu and model.dtype != torch.float32,
        **more,
    }
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=timed,
        args=GRPOConfig(**settings),
        train_dataset=rows,
        processing_class=tokenizer,
        callbacks=[After()],
    )
    trainer.remove_callback(PrinterCallback)
    started = time.perf_counter()
    trainer.train()
    taken = time.perf_counter() - started - testing
    return Trained(trainer.state.log_history, taken, sum(one.seconds for one in timed))
