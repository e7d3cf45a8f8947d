"""A language model small enough to train in a test: Qwen2's shape, a tokenizer trained on the spot.

It sees the last 32 tokens only. Its warm-up teaches the form of an answer and nothing of what is right, so
that most replies can be read, some cannot, and they earn different rewards.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from attune_data import Conversation, load
from attune_episodes import Settings, plan

torch.set_num_threads(1)

ASKED: Final = Settings(prompts="compact", stages=("assess", "prefer"))
"""What the tests ask: two stages with parts of their own, in short prompts."""
_SPECIAL: Final = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_FEELINGS: Final = ("Upset", "Irritable", "Nervous", "Distressed")
_PIECES: Final = (
    '{"emotions": [{"emotion": "',
    '", "intensity": ',
    '}], "picks": {"1": "',
    '", "2": "',
    '"}}',
)
"""What every answer is made of, each one token as each feeling is, so that answers are short."""
_CALL: Final = ('<tool_call>\n{"name": "answer", "arguments": {"reply": ', "}}\n</tool_call>")
"""What makes an answer the call of a tool, in the words of the chat template."""


def short() -> list[Conversation]:
    """The bundled conversations of at most four turns."""
    return [about for about in load("sample") if len(about.turns) <= 4]


@cache
def tokenizer() -> Any:
    """Byte-level BPE over the prompts, with the chat template of Qwen2.5."""
    texts = [m["content"] for about in short() for request in plan(about, ASKED) for m in request.messages]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    made.add_tokens([*_PIECES, *_FEELINGS, *_CALL])
    template = Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja"
    made.chat_template = template.read_text(encoding="utf-8")
    return made


def prompt_ids(messages: list[dict[str, str]]) -> list[int]:
    """Token ids of a prompt, up to where the reply begins."""
    ids: list[int] = tokenizer().apply_chat_template(
        messages, tokenize=True, add_generation_prompt=True, return_dict=False
    )
    return ids


def _config() -> Qwen2Config:
    words = tokenizer()
    return Qwen2Config(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=8192, tie_word_embeddings=True,
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id, bos_token_id=None,
        use_sliding_window=True, sliding_window=32, max_window_layers=0,
    )  # fmt: skip


def model(*, calls: bool = False) -> Any:
    """A fresh copy of the warmed-up language model, which answers in text or by calls of a tool."""
    return copy.deepcopy(_warm(calls))


def answer(draw: random.Random) -> str:
    """An answer to either stage (fields that were not asked for are not read), its content drawn."""
    said = (draw.choice(_FEELINGS), str(draw.randint(1, 7)), draw.choice("AB"), draw.choice("AB"), "")
    return "".join(piece + word for piece, word in zip(_PIECES, said, strict=True))


@cache
def _warm(calls: bool, steps: int = 120, batch: int = 8, tail: int = 48) -> Any:
    """Trained on the ends of prompts only, so that it takes seconds: it sees no further back anyway."""
    torch.manual_seed(0)
    draw, words = random.Random(0), tokenizer()
    learner = Qwen2ForCausalLM(_config())
    learner.generation_config.eos_token_id = words.eos_token_id
    learner.generation_config.pad_token_id = words.pad_token_id
    optimizer = torch.optim.AdamW(learner.parameters(), lr=1e-2)
    asked = [request for about in short() for request in plan(about, ASKED)]
    prompts = [prompt_ids(request.chat())[-tail:] for request in asked]
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - step / steps)
        chosen = [draw.randrange(len(asked)) for _ in range(batch)]
        said = [answer(draw).join(_CALL) if calls else answer(draw) for _ in chosen]
        replies = [words(text + words.eos_token).input_ids for text in said]
        length = max(len(prompts[i]) + len(reply) for i, reply in zip(chosen, replies, strict=True))
        ids = torch.full((batch, length), words.pad_token_id)
        labels = torch.full((batch, length), -100)
        for row, (i, reply) in enumerate(zip(chosen, replies, strict=True)):
            start, end = len(prompts[i]), len(prompts[i]) + len(reply)
            ids[row, :end] = torch.tensor(prompts[i] + reply)
            labels[row, start:end] = torch.tensor(reply)
        loss = learner(input_ids=ids, attention_mask=(ids != words.pad_token_id).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    learner.zero_grad(set_to_none=True)
    return learner


def arguments(folder: Path, **given: Any) -> dict[str, Any]:
    """What every configuration of a trainer is given here: two steps on the CPU, nothing saved."""
    return {
        "output_dir": str(folder), "max_steps": 2, "per_device_train_batch_size": 8, "learning_rate": 1e-3,
        "logging_steps": 1, "report_to": "none", "save_strategy": "no", "use_cpu": True, "bf16": False,
        "disable_tqdm": True, "seed": 0,
    } | given  # fmt: skip


def sampling(folder: Path, **given: Any) -> dict[str, Any]:
    """The same for trainers that sample: groups of four, short replies."""
    return arguments(folder, **({"num_generations": 4, "max_completion_length": 24} | given))


def changed(before: Any, after: Any) -> bool:
    """Whether any weight differs."""
    return any(
        not torch.equal(one, two) for one, two in zip(before.parameters(), after.parameters(), strict=True)
    )
