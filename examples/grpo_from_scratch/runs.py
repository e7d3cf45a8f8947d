"""A warm-up and the three runs that start from it, all tested on the same people in the same way."""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from attune_env import Conversation, Conversations, RewardSpec, Settings, builtin_policy, plan
from attune_episodes.trainers import reward_functions, training_dataset
from grpo_from_scratch import measure, people
from grpo_from_scratch.model import make_model, make_tokenizer
from grpo_from_scratch.reinforce import Trained, in_batches, reinforce
from grpo_from_scratch.warm_up import careless_answers, encode, supervised

REWARD: Final = RewardSpec.weighted(
    "reading", {"emotion_va": 2, "binary_om": 1, "binary_hp": 1, "pairwise": 1}
)
"""The parts that are trained on. `emotion_f1` is measured only, to show what changes without a reward."""
SETTINGS: Final = Settings(stages=("assess", "prefer"), prompts="compact")
GRPO: Final = "GRPO"
CONTROL: Final = "GRPO, shuffled truths (control)"
SUPERVISED: Final = "supervised, equal compute"
NULLS: Final = ("prior", "asked")
Say = Callable[[str], object]


@dataclass(frozen=True)
class Recipe:
    """The numbers of a run."""

    width: int = 128
    """Of the model made here."""
    layers: int = 2
    people: int = 8000
    """Conversations to train on."""
    tested: int = 600
    """Conversations to test on."""
    compare_every: int = 8
    """Comparisons are asked only in every n-th conversation, since their prompts are long."""
    habit: float = 0.5
    """How often a demonstration gives a field from habit."""
    warm_steps: int = 700
    warm_rate: float = 2e-3
    steps: int = 60
    """Of GRPO."""
    rate: float = 2.5e-4
    prompts: int = 8
    """In a step."""
    group: int = 8
    """Answers to a prompt."""
    more_per_step: float = 9.0
    """Number of supervised steps that take about as long as one GRPO step."""
    more_rate: float = 5e-4
    tests: int = 3
    """On the way, evenly."""
    reward: RewardSpec = REWARD
    """Of GRPO and the control."""
    longest: int = 512
    """Maximum length of an answer in tokens, for a pretrained model."""

    def marks(self, steps: int) -> dict[int, int]:
        """Step of a run of so many, after which is tested -> the step of GRPO that took as long."""
        shares = [k / self.tests for k in range(1, self.tests + 1)]
        return {round(steps * share): round(self.steps * share) for share in shares}


MIXED: Final = Recipe(warm_steps=400, steps=30, compare_every=16, tests=1)
"""The recipe for a mixture with the written corpus, whose texts are longer."""

LARGE: Final = Recipe(
    width=512,
    layers=6,
    people=12000,
    warm_steps=1200,
    warm_rate=1e-3,
    steps=100,
    rate=1e-4,
    prompts=16,
    more_rate=2.5e-4,
)
"""The recipe for a model of 17 million parameters, for a GPU."""

SIZES: Final = {"small": Recipe(), "large": LARGE}

QUICK: Final = Recipe(
    people=300,
    tested=6,
    compare_every=12,
    warm_steps=80,
    warm_rate=4e-3,
    steps=2,
    prompts=4,
    group=4,
    more_per_step=1.0,
    tests=2,
)
"""A trial run: after its warm-up some answers can be read, and its two steps teach next to nothing."""


@dataclass
class Run:
    """A model during training, and its results at each test."""

    model: Any
    curve: list[tuple[int, dict[str, Any], float]] = field(default_factory=list)
    """(step, part -> interval, share of answers that could be read)"""
    said: list[str] = field(default_factory=list)
    """Its greedy answers in the last test."""
    seconds: float = 0.0
    """Of its training steps."""

    def branch(self) -> Run:
        """Copy the run, to continue from its current state."""
        return Run(copy.deepcopy(self.model), list(self.curve), list(self.said))


class Tester:
    """Tests models repeatedly on the same people."""

    def __init__(
        self, conversations: Conversations, tokenizer: Any, longest: int, compare_every: int, say: Say
    ) -> None:
        self.conversations, self.tokenizer, self.longest, self.say = conversations, tokenizer, longest, say
        asked = {request.id: request for one in conversations for request in plan(one, SETTINGS)}
        chosen = fewer_comparisons(rows_of(conversations, "composite"), compare_every)
        self.rows = [{**row, "request": asked[row["id"]]} for row in chosen]
        swapped = rows_of(people.strangers(conversations), "composite")
        self.swapped = list(fewer_comparisons(swapped, compare_every))
        self.people = measure.People(self.rows)

    def __call__(self, run: Run, step: int) -> None:
        """Test a run's model, and store its results and answers."""
        run.said = measure.answers(run.model, self.tokenizer, self.rows, self.longest)
        found = self.earned(run.said)
        run.curve.append((step, self.people.intervals(found.parts), found.parsed))
        means = [f"{part} {one.mean:.3f}" for part, one in run.curve[-1][1].items() if one.mean is not None]
        where = f"after step {step}, {len(self.people)} unseen people"
        self.say(f"  {where}: {', '.join(means)}, readable {found.parsed:.3f}")

    def earned(self, said: Sequence[str]) -> measure.Earned:
        """The rewards of answers to the rows."""
        return measure.earned(self.rows, said)

    def drawn(self, run: Run) -> measure.Earned:
        """The rewards of a model's answers, sampled at temperature 1."""
        return self.earned(
            measure.answers(run.model, self.tokenizer, self.rows, self.longest, temperature=1.0)
        )

    def on_others(self, run: Run) -> measure.Earned:
        """The rewards of a model that is given the texts of other people."""
        return measure.earned(
            self.swapped, measure.answers(run.model, self.tokenizer, self.swapped, self.longest)
        )

    def replies(self, name: str, fit_on: Sequence[Conversation] | None = None) -> list[str]:
        """The answers of a built-in policy to the rows."""
        policy = builtin_policy(name, self.conversations, SETTINGS, fit_on=fit_on)
        said = {
            request.id: str(policy.for_conversation(conversation).reply(request))
            for conversation in self.conversations
            for request in plan(conversation, SETTINGS)
        }
        return [said[row["id"]] for row in self.rows]


@dataclass
class Results:
    """All results of a run of this example."""

    tester: Tester
    before: Run
    runs: dict[str, Run]
    nulls: dict[str, measure.Earned]
    others: measure.Earned
    """GRPO's model on the texts of other people."""
    drawn: dict[str, measure.Earned]
    """Answers drawn at temperature 1, before and after."""
    ceiling: dict[str, float]
    """Part -> ceiling, where it is known."""
    reward_share: float
    """The share of GRPO's time that the reward functions took."""
    log: list[dict[str, Any]]
    """TRL's log of the GRPO stage."""


def rows_of(conversations: Conversations, reward: RewardSpec | str) -> Any:
    """The rows of conversations with a reward."""
    return training_dataset(conversations, settings=SETTINGS, reward=reward)


def fewer_comparisons(rows: Any, every: int) -> Any:
    """The rows, with comparisons only from every n-th conversation."""
    number = {name: i for i, name in enumerate(dict.fromkeys(rows["conversation_id"]))}
    owners = zip(rows["stage"], rows["conversation_id"], strict=True)
    kept = [i for i, (stage, name) in enumerate(owners) if stage != "prefer" or number[name] % every == 0]
    return rows.select(kept)


def from_scratch(
    recipe: Recipe, worlds: people.Worlds, *, control: bool, dev: bool, device: str, say: Say
) -> Results:
    """Make a model and warm it up; then run GRPO, the control, and further supervised steps."""
    seed, train = worlds.seed, worlds.train(recipe.people)
    rows = fewer_comparisons(rows_of(train, recipe.reward), recipe.compare_every)
    tokenizer = make_tokenizer(rows["prompt"])
    demos = careless_answers(train, SETTINGS, recipe.habit, random.Random(f"demonstrations {seed}"))
    pairs = encode(tokenizer, rows["prompt"], [demos[name] for name in rows["id"]])
    longest = max(len(answer) for _, answer in pairs) + 4
    tested = worlds.tested(recipe.tested, dev=dev)
    tester = Tester(tested, tokenizer, longest, recipe.compare_every, say)
    model = make_model(tokenizer, seed, width=recipe.width, layers=recipe.layers)
    before = Run(model.to(device))
    say(
        f"{len(rows)} rows of {len(train)} conversations to train on, {len(tester.people)} people "
        f"to test on; "
        f"{sum(p.numel() for p in before.model.parameters()):,} parameters, {len(tokenizer)} tokens; prompts "
        f"of up to {max(len(asked) for asked, _ in pairs)} tokens, answers of up to {longest - 4}"
    )
    say(f"warm-up: {recipe.warm_steps} supervised steps")
    supervised(before.model, pairs, recipe.warm_steps, recipe.warm_rate, seed)
    tester(before, 0)
    runs, trained = _grpo_runs(recipe, before, tester, rows, train if control else None, seed)
    more = round(recipe.steps * recipe.more_per_step)
    say(f"{SUPERVISED}: {more} steps")
    run, marks = before.branch(), recipe.marks(more)
    run.seconds = supervised(
        run.model, pairs, more, recipe.more_rate, seed + 1,
        after=lambda step: tester(run, marks[step]) if step in marks else None,
    )  # fmt: skip
    ceiling = worlds.ceiling(len(tested), dev=dev)
    return _results(tester, before, runs | {SUPERVISED: run}, trained, train, ceiling)


def pretrained(
    name: str,
    recipe: Recipe,
    worlds: people.Worlds,
    *,
    control: bool,
    dev: bool,
    vllm: bool,
    device: str,
    say: Say,
) -> Results:
    """GRPO, and the control if asked, of a model by its Hugging Face id."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model: Any = AutoModelForCausalLM.from_pretrained(
        name, dtype=torch.float32 if device == "cpu" else torch.bfloat16
    )
    train, tested = worlds.train(recipe.people), worlds.tested(recipe.tested, dev=dev)
    tester = Tester(tested, tokenizer, recipe.longest, recipe.compare_every, say)
    before = Run(model.to(device))
    tester(before, 0)
    more: dict[str, Any] = {"use_vllm": True, "vllm_mode": "colocate"} if vllm else {}
    rows, others = rows_of(train, recipe.reward), train if control else None
    runs, trained = _grpo_runs(recipe, before, tester, rows, others, worlds.seed, **more)
    return _results(tester, before, runs, trained, train, worlds.ceiling(len(tested), dev=dev))


def _grpo_runs(
    recipe: Recipe, before: Run, tester: Tester, rows: Any, misreport: Conversations | None, seed: int,
    **config: Any,
) -> tuple[dict[str, Run], Trained]:  # fmt: skip
    """GRPO and, where people are given to misreport, the control: the same prompts in the same order."""
    tokenizer, marks = tester.tokenizer, recipe.marks(recipe.steps)

    def train(chosen: Any) -> tuple[Run, Trained]:
        run = before.branch()
        ordered = in_batches(chosen, tokenizer, recipe.prompts, recipe.steps, seed)
        with tempfile.TemporaryDirectory() as folder:
            trained = reinforce(
                run.model, tokenizer, ordered, reward_functions(recipe.reward, chosen), folder,
                steps=recipe.steps, seed=seed, longest=tester.longest, rate=recipe.rate,
                prompts=recipe.prompts, group=recipe.group,
                tests=lambda step: tester(run, marks[step]) if step in marks else None, **config,
            )  # fmt: skip
        run.seconds = trained.seconds
        return run, trained

    tester.say(f"{GRPO}: {recipe.steps} steps of {recipe.prompts} prompts, {recipe.group} answers to each")
    run, trained = train(rows)
    runs = {GRPO: run}
    if misreport is not None:
        tester.say(f"{CONTROL}: as many steps")
        asked, wrong = set(rows["id"]), rows_of(people.misreported(misreport, seed), recipe.reward)
        wrong = wrong.select([i for i, name in enumerate(wrong["id"]) if name in asked])
        runs[CONTROL], _ = train(wrong)
    return runs, trained


def _results(
    tester: Tester,
    before: Run,
    runs: dict[str, Run],
    trained: Trained,
    train: Conversations,
    ceiling: dict[str, float],
) -> Results:
    share = trained.reward_seconds / trained.seconds
    nulls = {name: tester.earned(tester.replies(name, train)) for name in NULLS}
    drawn = {"before": tester.drawn(before), "after": tester.drawn(runs[GRPO])}
    others = tester.on_others(runs[GRPO])
    return Results(tester, before, runs, nulls, others, drawn, ceiling, share, trained.log)
