"""Train a language model with GRPO (TRL) on rows of the written corpus.

    pip install torch, then in a clone pip install ".[trl]" (the extra attune-env[trl])
    python examples/train_trl_grpo.py --quick    # a tiny model made here: shows that training runs
    python examples/train_trl_grpo.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200 --output trained

`--quick` downloads nothing. Its model is a Qwen2 with random weights that first learns to write answers whose
content is drawn at random, so that replies can be read and earn different rewards.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any, Final

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from attune_data.format.affect import EMOTIONS
from attune_env import reward_functions, training_dataset
from attune_rewards import PRESETS

GPU: Final = torch.cuda.is_available()
HERE: Final[dict[str, Any]] = {"use_cpu": not GPU, "bf16": GPU, "report_to": "none", "logging_steps": 1}
SPECIAL: Final = ["<pad>", "<end>", "<system>", "<user>", "<assistant>"]
TEMPLATE: Final = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def drawn(draw: random.Random) -> str:
    """An answer to a request to assess or prefer, without regard to what was asked."""
    felt = {"emotion": draw.choice(EMOTIONS), "intensity": draw.randint(3, 6)}
    return json.dumps({"emotions": [felt], "picks": draw.choices("AB", k=2)})


def tiny(rows: Any, folder: str) -> tuple[Any, Any]:
    """A model and its tokenizer, made of the rows' own text."""
    draw = random.Random(0)
    warm_up = [
        {"prompt": [{"role": "user", "content": row["prompt"][-1]["content"][-200:]}],
         "completion": [{"role": "assistant", "content": drawn(draw)}]}
        for row in rows
    ]  # fmt: skip
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    learner = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    bpe.train_from_iterator((m["content"] for row in warm_up for chat in row.values() for m in chat), learner)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, pad_token="<pad>", eos_token="<end>", chat_template=TEMPLATE
    )
    config = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=True,
        use_sliding_window=True, sliding_window=32, max_window_layers=0,  # warmed up on ends of prompts
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
    )  # fmt: skip
    torch.set_num_threads(1)  # its matrices are small
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config)
    args = SFTConfig(folder, max_steps=100, learning_rate=1e-2, max_length=None, **HERE)
    SFTTrainer(model, args, train_dataset=Dataset.from_list(warm_up), processing_class=tokenizer).train()
    return model, tokenizer


def main() -> None:
    """Make the rows, train, and save the model."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = flags.add_mutually_exclusive_group(required=True)
    which.add_argument("--quick", action="store_true", help="a tiny model made here, and 10 steps")
    which.add_argument("--model", help="a model's name or folder")
    flags.add_argument("--reward", choices=PRESETS, default="skill", help="skill, or another preset")
    flags.add_argument("--steps", type=int, help="of GRPO")
    flags.add_argument("--output", default="outputs/grpo", help="the folder for the model")
    given = flags.parse_args()
    quick: bool = given.quick
    some: dict[str, Any] = {"number": 100, "stages": ["assess", "prefer"]} if quick else {}
    rows = training_dataset("written", prompts="compact", reward=given.reward, shuffle=0, **some)
    if quick:
        rows = rows.filter(lambda row: len(row["prompt"][-1]["content"]) < 2500)
    functions = reward_functions(given.reward, rows)
    model, tokenizer = tiny(rows, given.output) if quick else (given.model, None)
    args = GRPOConfig(
        given.output,
        reward_weights=[function.weight for function in functions],
        max_completion_length=64 if quick else 1024,
        max_steps=given.steps or (10 if quick else 200),
        learning_rate=1e-3 if quick else 1e-6,
        **HERE,
    )
    trainer = GRPOTrainer(model, functions, args, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    trainer.save_model(given.output)
    print(f"{trainer.state.global_step} steps; {given.output} holds the model")


if __name__ == "__main__":
    main()
