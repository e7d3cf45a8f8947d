"""Speed of the reward functions on GRPO batches: 512 completions, 8 to a prompt, of all stages."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from time import process_time
from typing import Any

from attune_data import Conversations, load
from attune_episodes import Settings, builtin_policy, plan
from attune_episodes.play.policy import prepared
from attune_episodes.training import reward_functions, rewards, row_reward, training_dataset
from tests.bench.measuring import ratio, seconds

PROMPTS = 64
GROUP = 8
Batch = dict[str, Any]


def batches(number: int, seed: int = 0) -> list[Batch]:
    """GRPO batches as a trainer hands them over; no two replies to a prompt are alike.

    Seven in ten replies are bare JSON, the others are fenced, amid prose or after reasoning, need a repair,
    are cut off, or hold no JSON; the answers are a word list's with a share of them changed.
    """
    draw = random.Random(seed)
    texts_of = replies_to(load("sample"), draw)
    rows = list(training_dataset("sample"))
    made = []
    for _ in range(number):
        chosen = [row for row in draw.sample(rows, PROMPTS) for _ in range(GROUP)]
        texts = [texts_of(row["id"]) for row in chosen]
        made.append({
            "prompts": [row["prompt"] for row in chosen],
            "completions": [[{"role": "assistant", "content": text}] for text in texts],
            # as columns that are read row by row: equal truths are not one object
            "truth": [bytes(row["truth"], "utf-8").decode() for row in chosen],
        })  # fmt: skip
    return made


def replies_to(conversations: Conversations, draw: random.Random) -> Callable[[str], str]:
    """A function from the id of a request to a reply to it, another one at each call, as in `batches`."""
    reader = builtin_policy("lexicon", conversations)
    answers = {
        request.id: json.loads(str(prepared(reader, conversation).reply(request)))
        for conversation in conversations
        for request in plan(conversation, Settings())
        if request.stage != "draft"
    }
    return lambda name: _written(answers[name], draw)


def _written(answer: dict[str, Any], draw: random.Random) -> str:
    text = json.dumps(_changed(answer, draw), indent=draw.choice([None, None, 1]))
    forms = {
        text: 70, f"```json\n{text}\n```": 10, f"Here is what I think:\n\n{text}\n\nI hope that helps!": 5,
        f"<think>They sound upset, and the reply did not help.</think>\n{text}": 5, f"{text[:-1]},}}": 3,
        text[: draw.randrange(1, len(text))]: 5, "They sound upset, and the reply did not help.": 2,
    }  # fmt: skip
    return draw.choices(list(forms), list(forms.values()))[0]


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
    """Completions a CPU second, and the ratio to `json.loads` of the same texts, measured in turn."""
    given = batches(4)

    def scored() -> None:
        for batch in given:
            rewards._score_batch.cache_clear()  # a trainer never sends the same batch twice
            work(batch)

    def decoded() -> None:
        for (message,) in (message for batch in given for message in batch["completions"]):
            with contextlib.suppress(ValueError):
                json.loads(message["content"])

    # one thread that never waits: the clock of the processor leaves out what others do on the machine
    ratio(f"{name} / json.loads, {len(given) * PROMPTS * GROUP} replies", scored, decoded, clock=process_time)
    rate = len(given) * PROMPTS * GROUP / seconds(scored, 5, process_time)
    print(f"{name}: {rate:,.0f} replies a CPU second; aim: {aim}")


def trainers_speed() -> None:
    """All figures of this file."""
    functions = reward_functions("skill")
    throughput("row_reward", lambda batch: row_reward(**batch), "at least 20,000")
    throughput(
        f"{len(functions)} part rewards",
        lambda batch: [function(**batch) for function in functions],
        "at least 20,000",
    )


if __name__ == "__main__":
    trainers_speed()
