"""Who is trained on and who is tested on, and two ways to cheat them.

`Worlds` are simulated people; `Mixed` adds the written corpus, and tests on it.

`strangers` and `misreported` take the link between a text and its annotations away, the first when a model is
tested, the second when it is trained. What a model earns or learns then, it did not get from reading.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from attune_data.mixture import Mixture
from attune_data.simulate import LEVELS
from attune_env import Conversation, Conversations, Level, Simulation, load
from attune_episodes.ceiling import latent_ceiling

LEVEL: Final = replace(LEVELS["plain"], name="short", turns=(1, 1))
"""The plainest people, one exchange each: what a model of a million parameters reads in minutes."""


@dataclass(frozen=True)
class Worlds:
    """The worlds of a seed. Nobody lives in two of them."""

    seed: int
    level: str | Level = LEVEL

    def train(self, number: int) -> Conversations:
        """The people to learn from."""
        return Simulation(3 * self.seed, level=self.level).take(number)

    def tested(self, number: int, *, dev: bool) -> Conversations:
        """The people who are reported on, and were not looked at before; for `dev`, to tune a recipe on."""
        return self._world(dev).take(number)

    def ceiling(self, number: int, *, dev: bool) -> dict[str, float]:
        """The scores that knowing the latent state of those people would earn."""
        return latent_ceiling(self._world(dev), range(number))

    def _world(self, dev: bool) -> Simulation:
        return Simulation(3 * self.seed + (1 if dev else 2), level=self.level)


@dataclass(frozen=True)
class Mixed(Worlds):
    """Simulated people and the train part of the written corpus; tested on its dev or test part.

    Its conversations are cut into single exchanges: what a model of a million parameters reads in minutes.
    """

    simulated: int = 7
    """Simulated exchanges to one of the written corpus, which is read once."""

    def train(self, number: int) -> Conversations:
        """The written train part, and simulated people; `number` is the most."""
        written = exchanges(load("written", split="train"))
        world = Simulation(3 * self.seed, level=self.level)
        count = min(number, len(written) * (1 + self.simulated))
        return Mixture([(written, 1), (world, self.simulated)]).take(count)

    def tested(self, number: int, *, dev: bool) -> Conversations:
        """Single exchanges of the written test or dev part, at most `number`."""
        return Conversations(exchanges(load("written", split="dev" if dev else "test"))[:number])

    def ceiling(self, number: int, *, dev: bool) -> dict[str, float]:
        """Nothing: what a writer noted has no known ceiling."""
        return {}


def exchanges(conversations: Sequence[Conversation]) -> Conversations:
    """Each turn as a conversation of its own, without what came before or after it."""
    made = []
    for conversation in conversations:
        record = conversation.to_record()
        for turn in record["turns"]:
            name = f"{record['conversationId']}-{turn['turnNumber']}"
            made.append(record | {"conversationId": name, "turns": [turn | {"turnNumber": 1}]})
    return Conversations([Conversation.model_validate(one) for one in made], source="single exchanges")


def strangers(conversations: Sequence[Conversation]) -> Conversations:
    """The same annotations under the texts of another person's conversation.

    What is asked stays with the annotations. The texts come from the conversation half the list away, which
    another person held (turn by turn; from its first turn on again where it is shorter).
    """
    apart = len(conversations) // 2
    made = []
    for i, conversation in enumerate(conversations):
        record = conversation.to_record()
        others = conversations[(i + apart) % len(conversations)].to_record()["turns"]
        for number, turn in enumerate(record["turns"]):
            other = others[number % len(others)]
            turn["userMessage"], turn["llmResponse"] = other["userMessage"], other["llmResponse"]
            turn["annotations"]["alternateResponses"] = other["annotations"]["alternateResponses"]
        made.append(Conversation.model_validate(record))
    return Conversations(made, source="texts of others")


def misreported(conversations: Sequence[Conversation], seed: int) -> Conversations:
    """The same texts and questions under the answers of random others.

    The tags of a turn go to another turn; the two answers to a yes/no question to another turn where it was
    answered too; the winner of a comparison to another one of the same question and the same two sources. So
    every answer stays as frequent as it was, and none has to do with the text.
    """
    generator = random.Random(f"misreported {seed}")
    records = [conversation.to_record() for conversation in conversations]
    tags: list[tuple[dict[str, Any], tuple[str, ...]]] = []
    pools: defaultdict[Any, list[tuple[dict[str, Any], tuple[str, ...]]]] = defaultdict(list)
    for turn in (turn for record in records for turn in record["turns"]):
        tags.append((turn, ("moodShiftTags",)))
        for judgement in turn["annotations"]["binaryJudgements"]:
            answers = judgement["observedBehavior"], judgement["preferredBehavior"]
            if not {"yes", "no"}.isdisjoint(answers):
                pools[judgement["questionId"]].append((judgement, ("observedBehavior", "preferredBehavior")))
        for comparison in turn["annotations"]["pairwiseComparisons"]:
            key = comparison["questionId"], comparison["responseA"], comparison["responseB"]
            pools[key].append((comparison, ("winner",)))
    for places in (tags, *pools.values()):
        answers_given = [{name: place[name] for name in names} for place, names in places]
        generator.shuffle(answers_given)
        for (place, _), answer in zip(places, answers_given, strict=True):
            place.update(answer)
    return Conversations([Conversation.model_validate(record) for record in records], source="misreported")
