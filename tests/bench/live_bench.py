"""Speed of live conversations: turns per CPU second, and groups of replies to one row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Final

from attune_data.simulate import Simulation, live
from attune_episodes.live import LiveEpisode
from attune_episodes.live.attacks import best_constant
from attune_episodes.trainers import row_reward, training_dataset
from attune_episodes.trainers.rows import Row
from tests.bench.measuring import ratio, told

ROUNDS: Final = 15
PEOPLE: Final = 40
GROUP: Final = 8
REPLIES: Final = (
    "It sounds like that hurt, and it makes sense that you are upset. What happened then?",
    "You should simply move on.",
    "I can see how much this weighs on you, and no wonder.",
    "How long has this been on your mind? You could write to them before the weekend.",
    "You sound torn between the two, and that is hard to carry for one person.",
)
WORLD: Final = Simulation(8)


def _plain(episode: LiveEpisode) -> str:
    return REPLIES[(episode.index + len(episode.turns)) % len(REPLIES)]


def _turns(policy: Callable[[LiveEpisode], str], first: int) -> int:
    """Play conversations that nobody has begun yet; how many turns they had."""
    found = 0
    for index in range(first, first + PEOPLE):
        episode = LiveEpisode(WORLD, index)
        while not episode.done:
            episode.say(policy(episode))
        found += len(episode.turns)
    return found


def turns_per_second() -> None:
    """Live turns per CPU second with the embedded reader and the grammar."""
    policies: dict[str, Callable[[LiveEpisode], str]] = {
        "replies of one to three sentences": _plain,
        "the best constant": best_constant(),
    }
    for name, policy in policies.items():
        _turns(policy, 0)
        rates = []
        for number in range(1, ROUNDS + 1):
            began = process_time()
            rates.append(_turns(policy, number * PEOPLE) / (process_time() - began))
        print(f"live turns per CPU second, {name}: {told(rates, '.0f')}; aim: 500")


def groups_of_a_row() -> None:
    """GRPO groups on rows of the stage respond, with the recorded turns replayed once or for each reply."""
    rows = list(training_dataset("simulated", world_seed=8, number=10, stages=("respond",)))
    texts = [f"{REPLIES[i % len(REPLIES)]} That is number {i}." for i in range(GROUP)]

    def scored(those: list[Row], *, anew: bool) -> None:
        for row in those:
            for text in texts:
                if anew:
                    live._begun.cache_clear()
                row_reward(completions=[text], truth=[row["truth"]])

    for turn in (1, 2, 4):
        those = [row for row in rows if row["turn"] == turn]
        ratio(
            f"{len(those)} groups of {GROUP} at turn {turn}: recorded turns replayed for each reply / once",
            partial(scored, those, anew=True),
            partial(scored, those, anew=False),
            rounds=5,
            clock=process_time,
        )


def live_speed() -> None:
    """Both."""
    turns_per_second()
    groups_of_a_row()


if __name__ == "__main__":
    live_speed()
