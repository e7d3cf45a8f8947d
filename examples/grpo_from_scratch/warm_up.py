"""The warm-up: supervised steps on a careless rater's answers, which teach the format but little else."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from attune_env import Conversation, Settings, builtin_policy, parse, plan, render
from attune_rewards import Assess, Prefer
from attune_rewards.predictions import YesNo

USUAL_YES: Final = 0.9
"""Probability of a yes given from habit."""
USUAL_A: Final = 0.6
"""Probability of picking the first response from habit."""
BATCH: Final = 32
T = TypeVar("T")
Pair = tuple[list[int], list[int]]
"""The tokens of a prompt and of an answer."""


def careless_answers(
    conversations: Sequence[Conversation], settings: Settings, habit: float, generator: random.Random
) -> dict[str, str]:
    """Request id -> an answer whose fields are given from habit with probability `habit`, otherwise truly.

    The habit is no feeling, nearly always yes, and usually the first response.
    """
    oracle = builtin_policy("oracle", conversations, settings)
    said = {}
    for conversation in conversations:
        knows = oracle.for_conversation(conversation)
        for request in plan(conversation, settings):
            told = parse(request, str(knows.reply(request)))
            said[request.id] = render(request, careless(told, habit, generator))
    return said


def careless(told: Any, habit: float, generator: random.Random) -> Any:
    """The answer with some of its fields given from habit."""

    def or_usual(true: T, often: float, usual: T, other: T) -> T:
        if generator.random() >= habit:
            return true
        return usual if generator.random() < often else other

    if isinstance(told, Prefer):
        return replace(told, picks={i: or_usual(side, USUAL_A, "A", "B") for i, side in told.picks.items()})
    assert isinstance(told, Assess)
    tags = () if generator.random() < habit else told.tags
    sides: list[dict[str, YesNo]] = [
        {question: or_usual(answer, USUAL_YES, "yes", "no") for question, answer in answers.items()}
        for answers in (told.observed, told.preferred)
    ]
    return replace(told, tags=tags, observed=sides[0], preferred=sides[1])


def encode(tokenizer: Any, prompts: Sequence[Any], answers: Sequence[str]) -> list[Pair]:
    """The tokens of each prompt and its answer."""
    asked = tokenizer.apply_chat_template(list(prompts), tokenize=False, add_generation_prompt=True)
    ends = [answer + tokenizer.eos_token for answer in answers]
    both = tokenizer(asked, add_special_tokens=False), tokenizer(ends, add_special_tokens=False)
    return list(zip(both[0].input_ids, both[1].input_ids, strict=True))


def supervised(
    model: Any,
    pairs: Sequence[Pair],
    steps: int,
    rate: float,
    seed: int,
    *,
    after: Callable[[int], object] = lambda step: None,
) -> float:
    """Train on batches of 32 answers under one cycle of the learning rate; returns the seconds it took.

    `after(step)` is called after each step; its time does not count.
    """
    import torch

    generator = random.Random(f"supervised {seed}")
    batches = alike([len(prompt) + len(answer) for prompt, answer in pairs], BATCH, generator)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    model.train()
    seconds = 0.0
    for step in range(1, steps + 1):
        started = time.perf_counter()
        batch = [pairs[i] for i in next(batches)]
        tokens, seen, targets = (one.to(model.device) for one in _padded(batch, model.config.pad_token_id))
        longest = max(len(answer) for _, answer in batch)
        logits = model(input_ids=tokens, attention_mask=seen, logits_to_keep=longest + 1).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), targets[:, -longest:].reshape(-1)
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        loss.item()  # waits for a GPU, whose work the clock would miss otherwise
        seconds += time.perf_counter() - started
        after(step)
    return seconds


def alike(lengths: Sequence[int], size: int, generator: random.Random) -> Iterator[list[int]]:
    """Endless batches of indices with similar lengths, since padding costs; each pass has a new order."""
    if len(lengths) < size:
        raise ValueError(f"{len(lengths)} rows are less than one batch of {size}: train on more people")
    while True:
        order = list(range(len(lengths)))
        generator.shuffle(order)
        pools = [order[start : start + 16 * size] for start in range(0, len(order), 16 * size)]
        ranked = [sorted(pool, key=lengths.__getitem__) for pool in pools]
        batches = [pool[start : start + size] for pool in ranked for start in range(0, len(pool), size)]
        generator.shuffle(batches)
        yield from (batch for batch in batches if len(batch) == size)


def _padded(batch: Sequence[Pair], pad: int) -> tuple[Any, Any, Any]:
    """Tokens, mask and targets, padded on the left so that all answers end at the right."""
    import torch

    width = max(len(prompt) + len(answer) for prompt, answer in batch)
    tokens = torch.full((len(batch), width), pad)
    seen, targets = torch.zeros_like(tokens), torch.full_like(tokens, -100)
    for row, (prompt, answer) in enumerate(batch):
        whole = torch.tensor(prompt + answer)
        tokens[row, -len(whole) :], seen[row, -len(whole) :] = whole, 1
        targets[row, -len(answer) :] = torch.tensor(answer)
    return tokens, seen, targets
