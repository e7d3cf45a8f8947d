"""The reward functions' share of a GRPO step of a model as large as Qwen2.5-0.5B; it takes TRL and a GPU.

The model is untrained, so that nothing is downloaded. It writes noise, which is quick to score; so the reward
functions get well-formed answers instead. How long a step takes doesn't depend on what is written.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from itertools import pairwise
from typing import Any

from attune_env import Settings, load
from attune_episodes.training import reward_functions, training_dataset
from tests.bench.trainers_bench import replies_to

PROMPTS = 8
GROUP = 8
FULL: dict[str, Any] = {
    "vocab_size": 151_936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
    "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": True,
}  # fmt: skip
"""Qwen2.5-0.5B's shape."""
TINY: dict[str, Any] = FULL | {
    "vocab_size": 8000,
    "hidden_size": 56,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
}


def tokenizer_of(texts: list[str]) -> Any:
    """A byte-level BPE of 8,000 tokens of these texts, with a chat template."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(texts, vocab_size=8000, special_tokens=["<|end|>"], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer, eos_token="<|end|>", pad_token="<|end|>", padding_side="left"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] + '\n' + m['content'] + '<|end|>' }}{% endfor %}"
        "{% if add_generation_prompt %}assistant\n{% endif %}"
    )
    return tokenizer


def grpo_speed(steps: int, tokens: int, *, tiny: bool) -> None:
    """Print the seconds of a step of 64 answers, 8 to a prompt, and the share of the reward functions."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    people = load("written:train")[:30]
    rows = training_dataset(
        people, settings=Settings(stages=("assess", "prefer", "reflect"), prompts="compact")
    )
    tokenizer = tokenizer_of([message["content"] for chat in rows["prompt"] for message in chat])
    replies = replies_to(people, random.Random(0))
    said: dict[int, list[Any]] = {}
    spent: list[float] = []
    ended: list[float] = []

    def timed(function: Any) -> Any:
        def scored(*, completions: Any, id: Any, **columns: Any) -> Any:
            new = [[{"role": "assistant", "content": replies(name)}] for name in id]
            texts = said.setdefault(len(spent), new)  # every function of a step gets the same replies
            started = time.perf_counter()
            values = function(completions=texts, id=id, **columns)
            spent[-1] += time.perf_counter() - started
            return values

        scored.__name__ = function.__name__
        return scored

    class Clock(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_begin(self, *_: Any, **__: Any) -> None:
            spent.append(0.0)

        def on_step_end(self, *_: Any, **__: Any) -> None:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            ended.append(time.perf_counter())

    gpu = torch.cuda.is_available()
    model: Any = Qwen2ForCausalLM(
        Qwen2Config(**(TINY if tiny else FULL), eos_token_id=tokenizer.eos_token_id)
    )
    model = model.to(device="cuda" if gpu else "cpu", dtype=torch.bfloat16)
    functions = reward_functions("skill", rows)
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=2 * GROUP,
            gradient_accumulation_steps=PROMPTS // 2, num_generations=GROUP, max_completion_length=tokens,
            generation_kwargs={"min_new_tokens": tokens}, gradient_checkpointing=False, beta=0.0,
            reward_weights=[function.weight for function in functions], learning_rate=1e-6, bf16=True,
            use_cpu=not gpu,
            report_to="none", save_strategy="no", disable_tqdm=True, logging_steps=1, seed=0,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=model, reward_funcs=[timed(function) for function in functions], args=config,
            train_dataset=rows, processing_class=tokenizer, callbacks=[Clock()],
        )  # fmt: skip
        trainer.train()
    taken = [later - earlier for earlier, later in pairwise(ended[1:])]  # the first two warm up
    step, reward = statistics.median(taken), statistics.median(spent[2:])
    log = [entry for entry in trainer.state.log_history if "completions/mean_length" in entry]
    size = sum(weights.numel() for weights in model.parameters())
    print(f"{size:,} parameters; {len(rows)} rows; {log[-1]}")
    print("seconds of steps:", *(f"{value:.2f}" for value in taken))
    print("seconds of rewards:", *(f"{value:.4f}" for value in spent))
    print(
        f"{PROMPTS * GROUP} answers of {tokens} tokens: {step:.2f} s ({min(taken):.2f} to {max(taken):.2f})"
    )
    print(
        f"{len(functions)} reward functions: {1000 * reward:.1f} ms, {100 * reward / step:.3f}% of the step"
    )


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--steps", type=int, default=12)
    flags.add_argument("--tokens", type=int, default=256)
    flags.add_argument("--tiny", action="store_true", help="a tiny model, to see that it runs without a GPU")
    given = flags.parse_args()
    grpo_speed(given.steps, given.tokens, tiny=given.tiny)
