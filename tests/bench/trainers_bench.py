"""Speed of the reward functions on GRPO batches: 512 completions, 8 to a prompt, of all stages."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from attune_data import load
from attune_episodes import Settings, builtin_policy, plan
from attune_episodes.policies.base import prepared
from attune_episodes.trainers import reward_functions, rewards, row_reward, training_dataset

ROUNDS = 15
PROMPTS = 64
GROUP = 8
Batch = dict[str, Any]


def batches(number: int, seed: int = 0) -> list[Batch]:
    """GRPO batches as a trainer hands them over; no two replies to a prompt are alike.

    Seven in ten replies are bare JSON, the others are fenced, amid prose or after reasoning, need a repair,
    are cut off, or hold no JSON; the answers are a word list's with a share of them changed.
    """
    draw = random.Random(seed)
    conversations = load("sample")
    reader = builtin_policy("lexicon", conversations)
    answers = {
        request.id: json.loads(str(prepared(reader, conversation).reply(request)))
        for conversation in conversations
        for request in plan(conversation, Settings())
        if request.stage != "draft"
    }
    rows = list(training_dataset("sample"))
    made = []
    for _ in range(number):
        chosen = [row for row in draw.sample(rows, PROMPTS) for _ in range(GROUP)]
        texts = [_written(answers[row["id"]], draw) for row in chosen]
        made.append(
            {
                "prompts": [row["prompt"] for row in chosen],
                "completions": [[{"role": "assistant", "content": text}] for text in texts],
                # as columns that were read for each row anew: equal truths are not one object
                "truth": [bytes(row["truth"], "utf-8").decode() for row in chosen],
            }
        )
    return made


def _written(answer: dict[str, Any], draw: random.Random) -> str:
    text = json.dumps(_changed(answer, draw), indent=draw.choice([None, None, 1]))
    form = draw.random()
    if form < 0.7:
        return text
    if form < 0.8:
        return f"```json\n{text}\n```"
    if form < 0.85:
        return f"Here is what I think:\n\n{text}\n\nI hope that helps!"
    if form < 0.9:
        return f"<think>They sound upset, and the reply did not help.</think>\n{text}"
    if form < 0.93:
        return f"{text[:-1]},}}"
    if form < 0.98:
        return text[: draw.randrange(1, len(text))]
    return "They sound upset, and the reply did not help."


def _changed(value: Any, draw: random.Random) -> Any:
    """The answer with about a third of its leaves changed."""
    if isinstance(value, dict):
        return {key: _changed(child, draw) for key, child in value.items()}
    if isinstance(value, list):
        return [_changed(child, draw) for child in value]
    if draw.random() > 0.3:
        return value
    if type(value) is int:
        return draw.randint(1, 7)
    swaps = {"yes": "no", "no": "yes", "A": "B", "B": "A"}
    return swaps.get(value, draw.choice([value, value, "Happy", "Sad", "Other"]))


def throughput(name: str, work: Callable[[Batch], object], aim: str) -> None:
    """Completions a second, and the ratio to `json.loads` of the same texts, measured in turn."""
    given = batches(4)

    def decode(batch: Batch) -> None:
        for (message,) in batch["completions"]:
            try:
                json.loads(message["content"])
            except ValueError:
                continue

    for batch in given:
        work(batch)  # warm
        decode(batch)
    pairs = [(_seconds(work, given), _seconds(decode, given)) for _ in range(ROUNDS)]
    number = len(given) * PROMPTS * GROUP
    rates = [number / ours for ours, _ in pairs]
    ratios = [ours / theirs for ours, theirs in pairs]
    print(
        f"{name}, {PROMPTS * GROUP} replies of mixed stages: {statistics.median(rates):,.0f} a CPU second "
        f"(min {min(rates):,.0f}, max {max(rates):,.0f}) aim: {aim}; "
        f"{statistics.median(ratios):.1f} times json.loads of the same texts"
    )


def _seconds(work: Callable[[Batch], object], given: list[Batch]) -> float:
    started = time.process_time()  # one thread that never waits: what others do on the machine does not count
    for batch in given:
        rewards._score_batch.cache_clear()  # a trainer never sends the same batch twice
        work(batch)
    return time.process_time() - started


def trainers_speed() -> None:
    """All figures of this file."""
    functions = reward_functions("skill")

    def by_part(batch: Batch) -> None:
        for function in functions:
            function(**batch)

    throughput("row_reward", lambda batch: row_reward(**batch), "at least 20,000")
    throughput(f"{len(functions)} part rewards", by_part, "at least 20,000")


if __name__ == "__main__":
    trainers_speed()
