"""A small policy learns to answer simulated people who answer back; a control should learn nothing.

Each turn the policy sees the words of the person's message, the pairs of adjacent words, and the feelings
that `read_message` finds in it, and chooses what to do: which feeling it names (one of the families, or none)
and which other acts it says. The grammar of the simulated world words them with details of what the person
has told. It never sees the state.

It starts from scratch and learns from groups of eight replies to the same message with the same random draws:
the policy is a softmax over the replies of a group, and gradient ascent raises its expected reward. No two
replies of a group name the same feeling, so most groups have one that is right. The *control* gets the
rewards of replies to other people; the *deaf* policy does not see the message. All are tested on people of
another world, with the reader used in training and with one that was fitted on other people, and with phrases
that the training world does not have. Needs only NumPy.

Run: python examples/live_policy.py (about four and a half CPU minutes; --people 100 is a quick look)
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from attune_data.simulate.texts import texts
from attune_env import LiveEpisode, Simulation
from attune_env.statistics import Bootstrap
from attune_episodes.live.attacks import best_constant
from attune_episodes.live.oracle import worded
from attune_episodes.reading import read_message

ACTS: Final = ("echo", "validate", "reason", "reflect", "advise", "ask_fact", "ask_reflect", "cheer")
"""The acts among which the policy chooses, besides naming a feeling."""
FEELINGS: Final = ("", *texts().families)
"""The feelings it may name: none, or one of the families."""
GROUP: Final = 8
"""Number of replies to the same message."""
TRIED: Final = 0.3
"""Probability of each act in a reply that is tried."""
RARE: Final = 2
"""Fewest messages in which a feature must occur to have a weight."""
FLOOR: Final = 1e-4
"""The initial sum of squares of Adagrad."""
Array = Any
Played = list[LiveEpisode]


class Group(NamedTuple):
    """Replies to one message, and their rewards."""

    seen: list[str]
    """The features of the moment."""
    choices: Array
    """(replies, feelings + acts): 1 for what the reply does."""
    rewards: Array


def features(live: LiveEpisode) -> list[str]:
    """The features of the moment: the turn, the feelings shown, and the message's words and word pairs."""
    words = re.findall(r"[a-z']+|\?", live.message.lower())
    pairs = [" ".join(pair) for pair in pairwise(words)]
    shown = {f"shows {claim.family}" for claim in read_message(live.message).shown}
    return ["always", f"turn {min(len(live.turns), 3)}", *sorted(shown), *sorted({*words, *pairs})]


def said(live: LiveEpisode, choice: Array) -> str:
    """Word the chosen acts with the grammar."""
    feeling = FEELINGS[int(choice[: len(FEELINGS)].argmax())]
    acts = {act for act, on in zip(ACTS, choice[len(FEELINGS) :], strict=True) if on}
    return worded(live, acts | ({"claim"} if feeling else set()), feeling)


def tried(rng: Any) -> Array:
    """A group of choices, each naming a different feeling, with random acts."""
    feelings = np.eye(len(FEELINGS))[rng.permutation(len(FEELINGS))[:GROUP]]
    return np.concatenate([feelings, rng.random((GROUP, len(ACTS))) < TRIED], axis=1)


def collect(world: Simulation, people: int, seed: int = 0) -> list[Group]:
    """Make a group for each turn of conversations with these people, which continue from one of the replies.

    Half of the time, this is the best one, so that people stay; otherwise it is a random one.
    """
    rng = np.random.default_rng(seed)
    found = []
    for index in range(people):
        live = LiveEpisode(world, index)
        while not live.done:
            choices = tried(rng)
            branches = [live.copy() for _ in choices]
            rewards = np.array([
                branch.say(said(live, choice)).reward
                for branch, choice in zip(branches, choices, strict=True)
            ])  # fmt: skip
            found.append(Group(features(live), choices, rewards))
            live = branches[int(rewards.argmax() if rng.random() < 0.5 else rng.integers(GROUP))]
    return found


def paid_for_others(groups: Sequence[Group], seed: int = 0) -> list[Group]:
    """The same groups, with each reply given the reward of a reply to another message."""
    rng = np.random.default_rng(seed)
    half = len(groups) // 2  # another person's, not the same one's next turn
    return [
        group._replace(rewards=rng.permutation(groups[(i + half) % len(groups)].rewards))
        for i, group in enumerate(groups)
    ]


class Policy:
    """Scores the choices for a reply, each by the sum of the weights of the active features."""

    def __init__(self, groups: Sequence[Group], *, hears: bool = True) -> None:
        """Give weights to the features that occur in several groups; a deaf policy sees none of them."""
        counts = Counter(name for group in groups for name in group.seen)
        known = (name for name, count in counts.items() if count >= RARE)
        self.places = {name: i for i, name in enumerate(known if hears else ["always"])}
        self.weights = np.zeros((len(self.places), len(FEELINGS) + len(ACTS)))

    def rows(self, seen: Iterable[str]) -> Array:
        """The rows of the features with weights."""
        return np.array([self.places[name] for name in seen if name in self.places], dtype=int)

    def __call__(self, live: LiveEpisode) -> str:
        """The reply with the highest score: the best feeling, and every act with a positive score."""
        scores = self.weights[self.rows(features(live))].sum(0)
        choice = scores > 0
        choice[: len(FEELINGS)] = np.arange(len(FEELINGS)) == scores[: len(FEELINGS)].argmax()
        return said(live, choice)

    def learn(self, groups: Sequence[Group], *, epochs: int, rate: float, seed: int = 0) -> None:
        """Climb the expected reward of choosing among the replies of each group, by Adagrad.

        The gradient for a reply's score is p·(reward - Σ p·reward), where p is the softmax over the group.
        """
        rng = np.random.default_rng(seed)
        rows = [self.rows(group.seen) for group in groups]
        squares = np.full_like(self.weights, FLOOR)
        for _ in range(epochs):
            for i in rng.permutation(len(groups)):
                slope = gradient(self.weights[rows[i]].sum(0), groups[i])
                squares[rows[i]] += slope**2
                self.weights[rows[i]] += rate * slope / np.sqrt(squares[rows[i]])


def gradient(scores: Array, group: Group) -> Array:
    """The gradient of a group's expected reward with respect to the scores of choices."""
    values = group.choices @ scores
    chances = np.exp(values - values.max())
    chances /= chances.sum()
    return (chances * (group.rewards - chances @ group.rewards)) @ group.choices


def play(policy: Callable[[LiveEpisode], str], world: Simulation, count: int, reader: str) -> Played:
    """Play conversations with these people to their end."""
    found = [LiveEpisode(world, index, reader=reader) for index in range(count)]
    for live in found:
        while not live.done:
            live.say(policy(live))
    return found


def interval(totals: Array, world: Simulation) -> str:
    """Format the mean with its 95% interval over people."""
    owners = [world.person(index).participant_id for index in range(len(totals))]
    (found,) = Bootstrap(len(totals), owners).intervals(totals[:, None])
    return f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def habits(played: Played) -> str:
    """How often it names feelings, how often wrongly, and how often people leave."""
    turns = [(turn, felt) for live in played for turn, felt in zip(live.turns, live.felt, strict=True)]
    named = [(turn, felt) for turn, felt in turns if turn.heard.claims]
    calm = sum(not felt.tags for _, felt in named) / len(named)
    wrong = sum(turn.taken.claim < 0 for turn, _ in named) / len(named)
    left = sum(live.turns[-1].answer == "leaves" for live in played) / len(played)
    return (
        f"It names a feeling in {len(named) / len(turns):.0%} of its replies. In {calm:.0%} of these nothing "
        f"had shifted, and {wrong:.0%} name a feeling of the other sign. {left:.0%} of the people leave."
    )


def main() -> None:
    """Train three policies and print what each earns, and what the trained one does."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--people", type=int, default=1500, help="conversations to learn from")
    flags.add_argument("--epochs", type=int, default=6)
    flags.add_argument("--rate", type=float, default=0.03)
    flags.add_argument("--test", type=int, default=300, help="conversations to test on")
    flags.add_argument("--level", default="default")
    given = flags.parse_args()
    learned = Simulation(11, level=given.level, templates="seen")
    worlds = [Simulation(12, level=given.level, templates=part) for part in ("seen", "unseen")]
    settings = [(world, reader) for world in worlds for reader in ("fitted", "held_out")]
    groups = collect(learned, given.people)
    print(f"{len(groups)} groups of {GROUP} replies, {time.process_time() / 60:.1f} CPU minutes so far")
    policies: dict[str, Callable[[LiveEpisode], str] | None] = {
        "best constant": None,
        "silence": lambda _: "",
    }
    for name, these, hears in (
        ("trained", groups, True),
        ("control: paid for others", paid_for_others(groups), True),
        ("deaf: trained without words", groups, False),
    ):
        policy = policies[name] = Policy(groups, hears=hears)
        policy.learn(these, epochs=given.epochs, rate=given.rate)
    played = {
        name: [play(policy or best_constant(reader), world, given.test, reader) for world, reader in settings]
        for name, policy in policies.items()
    }
    totals = {
        name: [np.array([live.total for live in lives]) for lives in each] for name, each in played.items()
    }
    for title, base in (
        ("total", [np.zeros(given.test)] * len(settings)),
        ("over the best constant with the same people", totals["best constant"]),
    ):
        print(f"\n{title}\n\n| policy | its reader | held-out reader | held-out phrases | both |")
        print("|---|---|---|---|---|")
        for name, each in totals.items():
            cells = (
                interval(one - zero, world)
                for one, zero, (world, _) in zip(each, base, settings, strict=True)
            )
            print(f"| {name} | {' | '.join(cells)} |")
    lives = played["trained"][0]
    print(f"\n{habits(lives)}")
    for title, live in (("first", lives[0]), ("worst", min(lives, key=lambda live: live.total))):
        print(f"\n### The {title} conversation of the trained policy: {live.total:+.2f}")
        for turn in live.turns:
            print(f"Person: {turn.message}\nPolicy: {turn.reply}  [{turn.reward:+.2f}, {turn.answer}]")
    print(f"\n{time.process_time() / 60:.1f} CPU minutes")


if __name__ == "__main__":
    main()
