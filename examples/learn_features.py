"""Something learns: a small policy on Attune/Features-v0, from rewards alone, tested on other people.

    python examples/learn_features.py [--people 300] [--steps 1000] [--seed 0] [--plot FILE] [--shuffled]

The policy is linear in the observation: a softmax for the feeling of a turn (one of 20, or none), one for
each question at the end, a coin for each yes/no question, and for each comparison a coin weighted by the
difference of the two responses. It sees no annotation, only what its own answers earned: eight environments
play one episode, and an answer becomes likelier by how much more the parts that it answers earned than in
the mean of the eight (REINFORCE with a group mean as the baseline, credit part by part, Adam). In tests it
takes the likeliest answers.

The people tested on belong to another simulated world. Beside the policy stand `prior`, the best answers that
read nothing, fitted on the people that it was trained on; and the latent-state ceiling, which no reader can
pass. With `--shuffled` each answer is credited with what another one earned: then nothing may be learnt.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small: threads only cost

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, POSITIVE
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS, Q1_OPTIONS
from attune_env import RewardSpec, Settings, Simulation, builtin_policy, rollout
from attune_env.statistics.bootstrap import Bootstrap
from attune_episodes.ceiling import latent_ceiling
from attune_episodes.gymnasium_envs.features import MESSAGE_CUES, NUMERIC_STAGES, TEXT_CUES, layout
from attune_episodes.gymnasium_envs.features_pool import numeric_reward
from attune_rewards.batched import COLUMNS
from attune_rewards.coded import LAYOUT, PICKS, WIDTH

Array = npt.NDArray[Any]
Draw = Callable[[Array], Array]
"""Probabilities, shape (…, values) -> choices, shape (…)."""

ID, REWARD = "attune_env:Attune/Features-v0", "skill"
ENVS, GROUP = 1024, 8
RATE, DECAY = 0.02, 0.05
CURIOUS = 0.2
"""Weight of the entropy where one answer of several pays at once, and the others are to be tried on."""
SEEN = layout()
CUES, TEXT = len(MESSAGE_CUES), (SEEN["texts"].stop - SEEN["texts"].start) // 3
"""Cues of a message; features of a reply."""
CHANGES = np.array([-8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8])
"""Changes of a PANAS total between which the policy chooses."""
SIDES = np.array([name in POSITIVE for name in EMOTIONS])
ROWS: dict[str, tuple[str, ...]] = {
    "emotion": ("emotion_f1", "emotion_va"),
    "observed": ("binary_om",),
    "preferred": ("binary_hp",),
    "pairwise": ("pairwise",),
    "panas": ("panas_pa", "panas_na"),
    "q1": ("q1",),
    "q2, q3": ("q2", "q3"),
    "branches": tuple(name for name in COLUMNS if name.startswith("branch_")),
}
"""Row of the table -> the parts that it is the mean of."""


def greedy(chances: Array) -> Array:
    """The likeliest choice."""
    likeliest: Array = chances.argmax(axis=-1)
    return likeliest


def columns(earned: Array, *names: str) -> Array:
    """Those parts of an array of all parts."""
    return earned[:, [COLUMNS.index(name) for name in names]]


class Weights:
    """A matrix that Adam moves uphill, and that decays."""

    def __init__(self, generator: np.random.Generator, rows: int, columns: int) -> None:
        self.values = generator.normal(0.0, 0.01, (rows, columns)).astype(np.float32)
        self.mean, self.square, self.steps = np.zeros_like(self.values), np.zeros_like(self.values), 0

    def climb(self, gradient: Array, rate: float) -> None:
        """One step along the gradient."""
        self.steps += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.01 * (gradient**2 - self.square)
        mean, square = self.mean / (1 - 0.9**self.steps), self.square / (1 - 0.99**self.steps)
        self.values += (rate * (mean / (np.sqrt(square) + 1e-8) - DECAY * self.values)).astype(np.float32)


class Choice:
    """Softmaxes over `values` each at `places`, linear in the inputs."""

    def __init__(
        self, generator: np.random.Generator, inputs: int, places: int, values: int, curious: float = 0.02
    ) -> None:
        self.weights, self.shape = Weights(generator, inputs, places * values), (-1, places, values)
        self.curious = curious

    def act(self, inputs: Array, draw: Draw) -> Array:
        """Choices, shape (n, places), for inputs of shape (n, inputs)."""
        logits = (inputs @ self.weights.values).reshape(self.shape)
        power = np.exp(logits - logits.max(axis=-1, keepdims=True))
        self.inputs, self.chances = inputs, power / power.sum(axis=-1, keepdims=True)
        self.chosen = draw(self.chances)
        return self.chosen

    def learn(self, credit: Array, rate: float) -> None:
        """Makes choices likelier by their credit, shape (n, 1) or (n, places)."""
        push = (np.arange(self.shape[2]) == self.chosen[..., None]) - self.chances
        push *= (credit / (credit.std() + 1e-6))[..., None]
        doubt = -np.log(self.chances + 1e-9)
        push += self.curious * self.chances * (doubt - (self.chances * doubt).sum(axis=-1, keepdims=True))
        self.weights.climb(self.inputs.T @ push.reshape(len(push), -1).astype(np.float32) / len(push), rate)


class Comparison:
    """Whether side A of each comparison is chosen, by the difference of the two responses' features.

    A feature weighs the same in all comparisons, more or less by the question asked, and its cues more or
    less by the cues of the message.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self.by_question = Weights(generator, TEXT, len(PAIRWISE_IDS) + 1)
        self.by_message = Weights(generator, CUES, len(TEXT_CUES))

    def act(self, seen: Array, draw: Draw) -> Array:
        """Codes of picks, shape (n, PICKS): 1 A, 2 B, 0 where nothing is compared."""
        sides = seen[:, SEEN["sides"]].reshape(-1, PICKS, 3)
        self.apart = sides @ seen[:, SEEN["texts"]].reshape(-1, 3, TEXT)
        self.cues = seen[:, SEEN["message"]][:, :CUES]
        question = np.rint(seen[:, SEEN["about"]] * len(PAIRWISE_IDS)).astype(int)
        # the question's own column, and the first one, which all questions share
        self.about = (np.arange(len(PAIRWISE_IDS) + 1) == question[..., None]).astype(np.float32)
        self.about[..., 0] = self.shown = (np.abs(sides).sum(axis=2) > 0).astype(np.float32)
        logits = (self.apart @ self.by_question.values * self.about).sum(axis=2)
        wanted = self.cues @ self.by_message.values
        logits += (self.apart[..., : len(TEXT_CUES)] @ wanted[..., None])[..., 0]
        self.chance = 1 / (1 + np.exp(-logits))
        self.chosen = draw(np.stack([self.chance, 1 - self.chance], axis=-1))
        picks: Array = (self.chosen + 1) * self.shown
        return picks

    def learn(self, credit: Array, rate: float) -> None:
        """Makes picks likelier by their credit, shape (n, 1)."""
        push = ((self.chosen == 0) - self.chance) * self.shown * credit / (credit.std() + 1e-6)
        push = push.astype(np.float32)
        flat = (self.about * push[..., None]).reshape(-1, self.about.shape[2])
        self.by_question.climb(self.apart.reshape(-1, TEXT).T @ flat / len(push), rate)
        pulled = (push[:, None] @ self.apart[..., : len(TEXT_CUES)])[:, 0]
        self.by_message.climb(self.cues.T @ pulled / len(push), rate)


class Policy:
    """Answers any request from its observation, and learns from what the parts earned."""

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        texts, places = SEEN["texts"].start, np.arange(SEEN["earlier"].stop)
        self.in_turn = np.concatenate(
            [places[SEEN[name]] for name in ("turn", "message", "earlier")] + [places[texts : texts + TEXT]]
        )
        cues = [places[SEEN[name]][:CUES] for name in ("message", "earlier")]
        more = [places[texts : texts + len(TEXT_CUES)], places[SEEN["turn"]], places[SEEN["totals"]]]
        self.at_end = np.concatenate(cues + more)
        turn, end = len(self.in_turn) + 1, len(self.at_end) + 1
        self.feeling = Choice(generator, turn, 1, 1 + len(EMOTIONS), CURIOUS)
        self.yes_no = Choice(generator, turn, 2 * len(BINARY_IDS), 2)
        self.comparison = Comparison(generator)
        self.panas = Choice(generator, end, 2, len(CHANGES))
        self.goals = Choice(generator, end, len(Q1_OPTIONS), 2, CURIOUS)
        self.options = Choice(generator, end, 2, 4)
        self.branches = Choice(generator, end, 4, 7)

    def act(self, seen: Array, draw: Draw = greedy) -> Array:
        """Answers, shape (n, WIDTH), to observations."""
        answers = np.zeros((len(seen), WIDTH), np.int8)
        self.stages = [np.flatnonzero(seen[:, SEEN["stage"]][:, k]) for k in range(len(NUMERIC_STAGES))]
        for rows, answer in zip(self.stages, (self._assess, self._prefer, self._reflect), strict=True):
            if rows.size:
                answers[rows] = answer(seen[rows], draw)
        return answers

    def _assess(self, seen: Array, draw: Draw) -> Array:
        answers = np.zeros((len(seen), WIDTH), np.int8)
        inputs = _with_one(seen[:, self.in_turn])
        felt = np.eye(1 + len(EMOTIONS), dtype=np.int8)[self.feeling.act(inputs, draw)[:, 0]]
        answers[:, LAYOUT["emotions_none"].start] = felt[:, 0]
        answers[:, LAYOUT["emotions"]] = 4 * felt[:, 1:]  # the reward does not look at intensities
        asked = seen[:, SEEN["questions"]] > 0
        self.asked = np.concatenate([asked, asked], axis=1)
        said = (self.yes_no.act(inputs, draw) + 1) * self.asked
        answers[:, LAYOUT["observed"]], answers[:, LAYOUT["preferred"]] = np.split(said, 2, axis=1)
        return answers

    def _prefer(self, seen: Array, draw: Draw) -> Array:
        answers = np.zeros((len(seen), WIDTH), np.int8)
        answers[:, LAYOUT["picks"]] = self.comparison.act(seen, draw)
        return answers

    def _reflect(self, seen: Array, draw: Draw) -> Array:
        answers = np.zeros((len(seen), WIDTH), np.int8)
        inputs = _with_one(seen[:, self.at_end])
        totals = np.rint(seen[:, SEEN["totals"]] * 70) + CHANGES[self.panas.act(inputs, draw)]
        whole, rest = np.divmod(np.clip(totals, 10, 70).astype(int), 10)
        for side, items in enumerate((SIDES, ~SIDES)):  # a total as ten items that are as equal as can be
            places = LAYOUT["panas"].start + np.flatnonzero(items)
            answers[:, places] = whole[:, [side]] + (np.arange(10) < rest[:, [side]])
        answers[:, LAYOUT["q1"]] = goals = self.goals.act(inputs, draw)
        answers[:, LAYOUT["q1_none"].start] = goals.sum(axis=1) == 0
        answers[:, [LAYOUT["q2"].start, LAYOUT["q3"].start]] = self.options.act(inputs, draw) + 1
        answers[:, LAYOUT["branches"]] = self.branches.act(inputs, draw) + 1
        return answers

    def learn(self, credit: Array, rate: float) -> None:
        """Moves every head by the credit of the parts that it answers, shape (n, parts)."""
        assess, prefer, reflect = (credit[rows] for rows in self.stages)
        if len(assess):
            self.feeling.learn(columns(assess, *ROWS["emotion"]).sum(axis=1, keepdims=True), rate)
            sides = [columns(assess, name).repeat(len(BINARY_IDS), 1) for name in ("binary_om", "binary_hp")]
            self.yes_no.learn(np.concatenate(sides, axis=1) * self.asked, rate)
        if len(prefer):
            self.comparison.learn(columns(prefer, "pairwise"), rate)
        if len(reflect):
            self.panas.learn(columns(reflect, *ROWS["panas"]), rate)
            self.goals.learn(columns(reflect, "q1"), rate)
            self.options.learn(columns(reflect, "q2", "q3"), rate)
            self.branches.learn(columns(reflect, *ROWS["branches"]), rate)


def _with_one(inputs: Array) -> Array:
    return np.concatenate([inputs, np.ones((len(inputs), 1), np.float32)], axis=1)


@dataclass
class Played:
    """What a policy earned on each of some conversations."""

    totals: Array
    parts: Array
    """Shape (conversations, rows of the table); NaN where a conversation does not define them."""


def played(totals: list[float], parts: list[Array]) -> Played:
    """From the parts of each conversation, NaN = not scored, as means over its requests."""
    rows = [[mean_of(columns(one[None], *names)) for names in ROWS.values()] for one in parts]
    return Played(np.array(totals), np.array(rows))


def mean_of(values: Array) -> float:
    """The mean of what is defined; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def test(env: gymnasium.Env[Array, Array], policy: Policy, conversations: int) -> Played:
    """The greedy policy on all conversations, one after the other."""
    totals, parts = [], []
    for number in range(conversations):
        seen, _ = env.reset(seed=0 if number == 0 else None)
        total, over, scores, scored = 0.0, False, [], []
        while not over:
            seen, reward, over, _, info = env.step(policy.act(seen[None])[0])
            total += float(reward)
            scores.append(info["scores"])
            scored.append(info["scored"])
        counts = np.sum(scored, axis=0)
        totals.append(total)
        parts.append(np.where(counts > 0, np.sum(scores, axis=0) / np.maximum(counts, 1), np.nan))
    return played(totals, parts)


@dataclass
class Result:
    """How a training run went."""

    curve: list[tuple[int, Played]]
    """(requests answered in training, test)"""
    null: Played
    ceiling: list[float]
    """Total, then the rows of the table."""
    people: list[str]
    """Whose each test conversation is."""


def learn(
    people: int = 300,
    steps: int = 1000,
    seed: int = 0,
    *,
    tested: int = 100,
    shuffled: bool = False,
    tests: int = 7,
    say: Callable[[str], object] = print,
) -> Result:
    """Trains on some people and tests on others."""
    # six conversations in a row belong to four people, who are nobody else's
    number, number_tested = (-(-count // 4) * 6 for count in (people, tested))
    world, other = 2 * seed, 2 * seed + 1
    common: dict[str, Any] = {"data": "simulated", "reward": REWARD}
    started = time.perf_counter()
    envs = gymnasium.make_vec(
        ID, num_envs=ENVS, number=number, world_seed=world, autoreset_mode="SameStep", **common
    )
    tester = gymnasium.make(ID, number=number_tested, world_seed=other, sampling="sequential", **common)
    null, ceiling, owners = both_ends(world, number, other, number_tested)
    taken = time.perf_counter() - started
    say(f"{number} conversations to train on and {number_tested} to test on, in {taken:.0f} s")

    policy, generator = Policy(seed), np.random.default_rng([seed, 1])

    def drawn(chances: Array) -> Array:
        marks = generator.random((*chances.shape[:-1], 1))
        passed: Array = (marks > chances.cumsum(axis=-1)).sum(axis=-1)
        return passed.clip(max=chances.shape[-1] - 1)

    curve = [(0, test(tester, policy, number_tested))]
    say(f"{0:>9,} requests: {curve[0][1].totals.mean():+.3f}")
    groups_of: Any = [seed * ENVS + i // GROUP for i in range(ENVS)]
    seen, _ = envs.reset(seed=groups_of)
    for step in range(1, steps + 1):
        stage = seen[:, SEEN["stage"]].argmax(axis=1)
        seen, _, _, _, info = envs.step(policy.act(seen, drawn))
        earned = info["scores"] + info.get("final_info", info)["scores"] * ("final_info" in info)
        if shuffled:
            for k in range(len(NUMERIC_STAGES)):
                rows = np.flatnonzero(stage == k)
                earned[rows] = earned[generator.permutation(rows)]
        groups = earned.reshape(-1, GROUP, len(COLUMNS))
        credit = (groups - groups.mean(axis=1, keepdims=True)).reshape(earned.shape)
        policy.learn(credit, RATE * (1 - step / (steps + 1)))
        if step in {-(-steps // 2**k) for k in range(tests)}:  # often at first, where most is learnt
            curve.append((step * ENVS, test(tester, policy, number_tested)))
            say(f"{step * ENVS:>9,} requests: {curve[-1][1].totals.mean():+.3f}")
    return Result(curve, null, ceiling, owners)


def both_ends(world: int, number: int, other: int, tested: int) -> tuple[Played, list[float], list[str]]:
    """What `prior` earns on the test conversations, the ceiling there, and whose they are."""
    settings, spec = Settings(stages=NUMERIC_STAGES), numeric_reward(REWARD)
    people, train = Simulation(other).take(tested), Simulation(world).take(number)
    prior = builtin_policy("prior", people, settings, fit_on=train)
    totals, parts = [], []
    for conversation in people:
        rolled = rollout(conversation, prior, settings, reward=spec)
        totals.append(rolled.total)
        parts.append(np.array([rolled.parts.get(name, np.nan) for name in COLUMNS]))
    best = latent_ceiling(Simulation(other), range(tested))
    rows = [float(np.mean([best[name] for name in names])) for names in ROWS.values()]
    return played(totals, parts), [total_of(spec, best), *rows], [c.participant for c in people]


def total_of(spec: RewardSpec, parts: dict[str, float]) -> float:
    """The return of an episode with these parts, all of them defined."""
    weights = spec.root.weights(list(spec.parts))
    return sum(weight * spec.transform(name, parts[name]) for name, weight in weights.items())


def report(result: Result, say: Callable[[str], object] = print) -> None:
    """Prints the table, part by part."""
    first, last = result.curve[0][1], result.curve[-1][1]
    null = np.column_stack([result.null.totals, result.null.parts])
    start, end = (np.column_stack([one.totals, one.parts]) for one in (first, last))
    gains = Bootstrap(len(end), result.people).intervals(end - null)
    say(f"\nnew people, {len(set(result.people))} of them; total: {numeric_reward(REWARD).name}\n")
    say("| part | untrained | prior | learned | over prior (95 %) | ceiling |")
    say("|---|---|---|---|---|---|")
    for i, (name, gain) in enumerate(zip(("total", *ROWS), gains, strict=True)):
        cells = [f"{np.nanmean(values[:, i]):.3f}" for values in (start, null, end)]
        over = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        say(f"| {name} | {' | '.join(cells)} | {over} | {result.ceiling[i]:.3f} |")


def plot(result: Result, path: Path, title: str) -> None:
    """Draws each row of the table over the requests answered, between null and ceiling."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "attune"  # the same run draws the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 3, figsize=(10, 7.5), sharex=True, layout="constrained")
    null = [result.null.totals.mean(), *np.nanmean(result.null.parts, axis=0)]
    answered = [count / 1e3 for count, _ in result.curve]
    for i, (axis, name) in enumerate(zip(axes.flat, ("total", *ROWS), strict=True)):
        values = [[one.totals.mean(), *np.nanmean(one.parts, axis=0)][i] for _, one in result.curve]
        axis.axhline(result.ceiling[i], color="tab:green", linestyle=":", label="ceiling")
        axis.axhline(null[i], color="tab:gray", linestyle="--", label="prior (reads nothing)")
        axis.plot(answered, values, color="tab:blue", marker="o", markersize=3, label="learned")
        axis.set_title(f"{name} ({numeric_reward(REWARD).name})" if i == 0 else name, fontsize=10)
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xscale("symlog", linthresh=max(1, answered[1]))
        axis.set_xlabel("thousand requests answered")
    axes[0, 0].legend(fontsize=8)
    figure.suptitle(title)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def main() -> None:
    """Trains, tests, prints and draws."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--people", type=int, default=300, help="people to train on")
    options.add_argument("--steps", type=int, default=1000, help=f"updates, of {ENVS:,} requests each")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--plot", type=Path, help="where to draw the curve (.svg, .png)")
    options.add_argument("--shuffled", action="store_true", help="credit answers with others' rewards")
    given = options.parse_args()
    if given.people < 1 or given.steps < 1 or given.seed < 0:
        options.error("people and steps are at least 1, and the seed is at least 0")
    result = learn(given.people, given.steps, given.seed, shuffled=given.shuffled)
    report(result)
    if given.plot is not None:
        control = ", shuffled rewards (control)" if given.shuffled else ""
        plot(result, given.plot, f"A linear policy learns on other people's rewards{control}")
        print(f"\ndrawn: {given.plot}")


if __name__ == "__main__":
    main()
