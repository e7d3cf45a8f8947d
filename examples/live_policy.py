"""A small policy learns to answer simulated people who answer back; a control should learn nothing.

Each turn the policy reads the person's message as a bag of words and chooses what to do: which feeling it
names (one of the families, or none) and which other acts it says. The grammar of the simulated world words
them from what the person has told. It starts from scratch and learns by REINFORCE: in a group of replies to
the same person, with the same luck, those that earn more than the group become likelier. The *control* learns
from the rewards of other people's replies; the *deaf* policy sees no words. All are tested on people of
another world, with the reader that they learned against and with one that was fitted on other people. Needs
NumPy alone.

Run: python examples/live_policy.py (half an hour; --rounds 20 is a quick look)
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from attune_data.simulate.texts import texts
from attune_env import LiveEpisode, Simulation
from attune_env.statistics import Bootstrap
from attune_episodes.live.oracle import worded
from attune_episodes.live.play import play_live

ACTS: Final = ("echo", "validate", "reason", "infer", "complex", "side", "reflect", "advise", "hard",
               "ask_fact", "ask_reflect", "cheer")  # fmt: skip
"""What the policy may do beside naming a feeling."""
FAMILIES: Final = ("", *texts().families)
"""Which feeling it may name: none, or one of a family."""
RARE: Final = 8
"""Messages that a word must occur in to be a feature."""
Array = Any


def words(message: str) -> set[str]:
    """The words of a message, and whether it asks."""
    return set(re.findall(r"[a-z']+|\?", message.lower()))


@dataclass
class Policy:
    """A softmax over families and a coin for each act, all linear in the words of the message."""

    vocabulary: dict[str, int]
    hears: bool = True
    """Whether it sees the words; a deaf policy sees only which turn it is."""
    weights: Array = field(init=False)
    """(features, families + acts)"""
    moments: list[Array] = field(init=False)

    def __post_init__(self) -> None:
        self.weights = np.zeros((len(self.vocabulary) + 3, len(FAMILIES) + len(ACTS)))
        self.weights[-3, len(FAMILIES) :] = -1.0  # at first it says little
        self.moments = [np.zeros_like(self.weights), np.zeros_like(self.weights)]

    def features(self, live: LiveEpisode) -> Array:
        """Indices of the features that are on: words, whether this is the first turn, and a constant."""
        found = [len(self.vocabulary)] + ([len(self.vocabulary) + 1] if not live.turns else [])
        if self.hears:
            found += [
                self.vocabulary[word] for word in sorted(words(live.message)) if word in self.vocabulary
            ]
        return np.array(found)

    def chances(self, features: Array) -> tuple[Array, Array]:
        """Probabilities of the families, and of each act."""
        scores = self.weights[features].sum(0)
        named = np.exp(scores[: len(FAMILIES)] - scores[: len(FAMILIES)].max())
        return named / named.sum(), 1 / (1 + np.exp(-scores[len(FAMILIES) :]))

    def __call__(self, live: LiveEpisode) -> str:
        """The likeliest reply."""
        named, acts = self.chances(self.features(live))
        return said(live, int(named.argmax()), acts > 0.5)

    def learn(self, features: Array, gradient: Array) -> None:
        """Adds one step's gradient to the rows of the features that were on."""
        self.gradient[features] += gradient

    def begin(self) -> None:
        """Begins a round: no gradient yet."""
        self.gradient = np.zeros_like(self.weights)

    def step(self, rate: float, number: int) -> None:
        """One step of Adam."""
        first, second = self.moments
        first += 0.1 * (self.gradient - first)
        second += 0.02 * (self.gradient**2 - second)
        mean, spread = first / (1 - 0.9**number), second / (1 - 0.98**number)
        self.weights += rate * mean / (np.sqrt(spread) + 1e-8)


def said(live: LiveEpisode, family: int, acts: Array) -> str:
    """The acts in the grammar's words."""
    chosen = {act for act, on in zip(ACTS, acts, strict=True) if on}
    return worded(live, chosen | ({"claim"} if family else set()), FAMILIES[family])


def group(policy: Policy, world: Simulation, index: int, size: int, rng: Any) -> list[list[tuple[Any, ...]]]:
    """Several conversations with one person: (features, families, acts, choice, reward) of each turn."""
    played = []
    for _ in range(size):
        live, turns = LiveEpisode(world, index), []
        while not live.done:
            features = policy.features(live)
            named, chances = policy.chances(features)
            family, acts = int(rng.choice(len(FAMILIES), p=named)), rng.random(len(ACTS)) < chances
            reward = live.say(said(live, family, acts)).reward
            turns.append((features, named, chances, family, acts, reward))
        played.append(turns)
    return played


def returns(played: Sequence[Sequence[tuple[Any, ...]]]) -> Array:
    """(conversations, turns): what is still to be earned from each turn on; 0 after the end."""
    longest = max(map(len, played))
    earned = np.zeros((len(played), longest))
    for row, turns in enumerate(played):
        earned[row, : len(turns)] = [turn[-1] for turn in turns]
    return earned[:, ::-1].cumsum(1)[:, ::-1]


def train(
    policy: Policy, world: Simulation, *, rounds: int, people: int, size: int, rate: float, shuffled: bool
) -> None:
    """REINFORCE: each round some people whom it has not met, each in a group of conversations."""
    rng = np.random.default_rng(0)
    for number in range(1, rounds + 1):
        policy.begin()
        groups = [group(policy, world, (number - 1) * people + i, size, rng) for i in range(people)]
        ahead = [returns(played) for played in groups]
        ahead = [one - one.mean(0) for one in ahead]
        if shuffled:  # each reply is paid what a reply to somebody else earned
            for row in range(size):
                for one, other in zip(ahead, [*ahead[1:], ahead[0]], strict=True):
                    shared = min(one.shape[1], other.shape[1])
                    one[row, :shared] = other[(row + 1) % size, :shared].copy()
        for played, advantage in zip(groups, ahead, strict=True):
            for row, turns in enumerate(played):
                for turn, (features, named, chances, family, acts, _) in enumerate(turns):
                    chosen = np.zeros(len(FAMILIES))
                    chosen[family] = 1
                    slope = np.concatenate([chosen - named, acts - chances])
                    policy.learn(features, advantage[row, turn] * slope / (people * size))
        policy.step(rate, number)


def tested(policy: Policy, world: Simulation, count: int, reader: str) -> str:
    """The mean total with its 95 % interval over people."""
    totals = np.array([[one.total] for one in play_live(policy, world, range(count), reader=reader)])
    owners = [world.person(index).participant_id for index in range(count)]
    (found,) = Bootstrap(count, owners).intervals(totals)
    return f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def vocabulary(world: Simulation, count: int) -> dict[str, int]:
    """The words that occur in several recorded messages of a world."""
    seen = Counter(word for i in range(count) for turn in world[i].turns for word in words(turn.user_message))
    return {word: place for place, word in enumerate(sorted(w for w, n in seen.items() if n >= RARE))}


def main() -> None:
    """Trains three policies and prints what each earns."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--rounds", type=int, default=300)
    flags.add_argument("--people", type=int, default=8, help="in a round")
    flags.add_argument("--group", type=int, default=4, help="conversations with each")
    flags.add_argument("--rate", type=float, default=0.05)
    flags.add_argument("--test", type=int, default=300, help="conversations to test on")
    flags.add_argument("--level", default="clear")
    given = flags.parse_args()
    learned, others = Simulation(11, level=given.level), Simulation(12, level=given.level)
    known = vocabulary(learned, 300)
    print(f"{len(known)} words; 0 is the best constant, 1 the oracle\n")
    print("| policy | with its reader | with the held-out reader | minutes |\n|---|---|---|---|")
    how: dict[str, Any] = {
        "rounds": given.rounds,
        "people": given.people,
        "size": given.group,
        "rate": given.rate,
    }
    policies = {
        "untrained": (Policy(known), None),
        "trained": (Policy(known), False),
        "control: rewards of others": (Policy(known), True),
        "deaf: trained without words": (Policy(known, hears=False), False),
    }
    for name, (policy, shuffled) in policies.items():
        began = time.process_time()
        if shuffled is not None:
            train(policy, learned, shuffled=shuffled, **how)
        spent = (time.process_time() - began) / 60
        values = [tested(policy, others, given.test, reader) for reader in ("fitted", "held_out")]
        print(f"| {name} | {' | '.join(values)} | {spent:.1f} |", flush=True)
    best = policies["trained"][0]
    for index in range(2):
        live = LiveEpisode(others, index)
        print(f"\n### Conversation {index}, the trained policy")
        while not live.done:
            message, reply = live.message, best(live)
            print(f"Person: {message}\nPolicy: {reply}  [{live.say(reply).reward:+.2f}]")
        print(f"total {live.total:+.2f}")


if __name__ == "__main__":
    main()
