"""The people for training and testing, and two controls without a link between text and annotations.

`Worlds` are simulated people; `Mixed` adds the written corpus and tests on it.

`strangers` and `misreported` break the link between a text and its annotations, the first for testing, the
second for training. Anything that a model then earns or learns does not come from reading.
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
"""The plainest people, with one exchange each, which a model of a million parameters can read in minutes."""


@dataclass(frozen=True)
class Worlds:
    """The worlds of a seed, which have no person in common."""

    seed: int
    level: str | Level = LEVEL

    def train(self, number: int) -> Conversations:
        """The people for training."""
        return Simulation(3 * self.seed, level=self.level).take(number)

    def tested(self, number: int, *, dev: bool) -> Conversations:
        """The people for the reported results, not used before; with `dev`, those for tuning a recipe."""
        return self._world(dev).take(number)

    def ceiling(self, number: int, *, dev: bool) -> dict[str, float]:
        """The scores of a reader who knows the latent state of these people."""
        return latent_ceiling(self._world(dev), range(number))

    def _world(self, dev: bool) -> Simulation:
        return Simulation(3 * self.seed + (1 if dev else 2), level=self.level)


@dataclass(frozen=True)
class Mixed(Worlds):
    """Simulated people and the train part of the written corpus; tested on its dev or test part.

    Its conversations are cut into single exchanges, which a model of a million parameters can read in
    minutes.
    """

    simulated: int = 7
    """Number of simulated exchanges per exchange of the written corpus, which is used once."""

    def train(self, number: int) -> Conversations:
        """The written train part and simulated people, at most `number`."""
        written = exchanges(load("written", split="train"))
        world = Simulation(3 * self.seed, level=self.level)
        count = min(number, len(written) * (1 + self.simulated))
        return Mixture([(written, 1), (world, self.simulated)]).take(count)

    def tested(self, number: int, *, dev: bool) -> Conversations:
        """Single exchanges of the written test or dev part, at most `number`."""
        return Conversations(exchanges(load("written", split="dev" if dev else "test"))[:number])

    def ceiling(self, number: int, *, dev: bool) -> dict[str, float]:
        """Empty, since the ceiling of written annotations is unknown."""
        return {}


def exchanges(conversations: Sequence[Conversation]) -> Conversations:
    """Each turn as a separate conversation, without the turns before and after it."""
    made = []
    for conversation in conversations:
        record = conversation.to_record()
        for turn in record["turns"]:
            name = f"{record['conversationId']}-{turn['turnNumber']}"
            made.append(record | {"conversationId": name, "turns": [turn | {"turnNumber": 1}]})
    return Conversations([Conversation.model_validate(one) for one in made], source="single exchanges")


def strangers(conversations: Sequence[Conversation]) -> Conversations:
    """The same annotations with the texts of another person's conversation.

    The questions stay with the annotations. The texts come, turn by turn, from the conversation half the list
    away, which is another person's; a shorter one starts again at its first turn.
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
    """The same texts and questions with the answers of random other people.

    The tags of a turn move to another turn; the two answers to a yes/no question to another turn in which it
    was also answered; the winner of a comparison to one with the same question and the same two sources. So
    every answer remains as frequent as it was, but none is related to the text.
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
