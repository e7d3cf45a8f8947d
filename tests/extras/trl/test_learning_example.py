"""The learning example: its parts by hand, and a run of two steps. docs/learning.md has what it learns."""

from __future__ import annotations

import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attune_env import Settings, builtin_policy, load, parse, plan
from attune_rewards import Assess, Prefer

EXAMPLES = str(Path(__file__).parents[3] / "examples")


@pytest.fixture(scope="module", autouse=True)
def examples() -> Iterator[None]:
    """The example's folder on the path, as `python examples/…` has it."""
    sys.path.insert(0, EXAMPLES)
    yield
    sys.path.remove(EXAMPLES)


@pytest.fixture(scope="module")
def results(examples: None) -> Any:
    """Two GRPO steps and what stands beside them."""
    import torch

    torch.set_num_threads(1)
    from grpo_from_scratch.people import Worlds
    from grpo_from_scratch.runs import QUICK, from_scratch

    return from_scratch(QUICK, Worlds(0), control=True, dev=True, device="cpu", say=lambda line: None)


@pytest.fixture(scope="module")
def some(examples: None) -> Any:
    from grpo_from_scratch.people import Worlds

    return Worlds(0).train(24)


def test_all_runs_start_from_the_warm_up_and_are_tested_at_the_same_steps(results: Any) -> None:
    from grpo_from_scratch.runs import CONTROL, GRPO, SUPERVISED

    assert list(results.runs) == [GRPO, CONTROL, SUPERVISED]
    for run in results.runs.values():
        assert [step for step, _, _ in run.curve] == [0, 1, 2]
        assert run.curve[0] == results.before.curve[0]
        assert len(run.said) == len(results.tester.rows)


def test_the_report_shows_every_part_and_the_files_every_test(results: Any, tmp_path: Path) -> None:
    import train_trl_grpo as example
    from grpo_from_scratch.measure import PARTS
    from grpo_from_scratch.runs import REWARD

    lines: list[str] = []
    found = example.report(results, lines.append)
    assert tuple(found) == PARTS
    assert sum(line.startswith("| pairwise |") for line in lines) == 4
    example.write(results, tmp_path, "title", REWARD)
    assert (tmp_path / "curves.svg").read_text("utf-8").startswith("<?xml")
    with (tmp_path / "curves.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    assert len(told) == 3 * 3 * (len(PARTS) + 1)  # runs, tests, parts and parse rate
    answers = (tmp_path / "answers.md").read_text("utf-8")
    assert answers.count("\n## ") == 3 + 1  # of three conversations one is asked for comparisons
    for row in results.tester.rows[:4]:
        assert row["prompt"][-1]["content"].strip() in answers


def test_a_model_by_its_name_is_trained_beside_its_control(saved: Path) -> None:
    import train_trl_grpo as example
    from grpo_from_scratch.people import Worlds
    from grpo_from_scratch.runs import CONTROL, GRPO, Recipe, pretrained

    recipe = Recipe(people=4, tested=6, compare_every=1, steps=1, tests=1, prompts=1, group=2, longest=4)
    results = pretrained(
        str(saved), recipe, Worlds(0), control=True, dev=True, vllm=False, device="cpu", say=lambda line: None
    )
    assert list(results.runs) == [GRPO, CONTROL]
    assert [step for step, _, _ in results.runs[CONTROL].curve] == [0, 1]
    lines: list[str] = []
    verdicts = example.report(results, lines.append)
    assert set(verdicts.values()) == {"no answer could be read"}  # four tokens are no answer
    assert len(lines) == 1


def test_a_mixture_holds_single_exchanges_of_the_train_part_and_is_tested_on_others(examples: None) -> None:
    from grpo_from_scratch.people import Mixed

    train = Mixed(0).train(24)
    written = [one for one in train if one.provenance == "own"]
    assert len(written) == 3  # one in eight
    assert all(len(one.turns) == 1 for one in train)
    assert persons(written) <= persons(load("written", split="train"))
    assert persons(Mixed(0).tested(50, dev=False)) <= persons(load("written", split="test"))


def persons(conversations: Any) -> set[str]:
    return {one.participant_profile.participant_id for one in conversations}


def answered(conversations: Any) -> Counter[Any]:
    """How often each thing was said."""
    said: Counter[Any] = Counter()
    for turn in (turn for conversation in conversations for turn in conversation.turns):
        said[tuple((tag.emotion, tag.intensity) for tag in turn.mood_shift_tags)] += 1
        said.update((j.question_id, j.observed, j.preferred) for j in turn.judgements)
        said.update((c.question_id, c.response_a, c.response_b, c.winner) for c in turn.comparisons)
    return said


def test_misreports_keep_every_prompt_and_how_often_everything_is_said(some: Any) -> None:
    from grpo_from_scratch.people import misreported
    from grpo_from_scratch.runs import REWARD, rows_of

    wrong = misreported(some, 0)
    assert answered(wrong) == answered(some)
    own, other = rows_of(some, REWARD), rows_of(wrong, REWARD)
    assert own["prompt"] == other["prompt"]
    assert sum(a != b for a, b in zip(own["truth"], other["truth"], strict=True)) > len(own) / 2


def test_without_habit_a_rater_tells_the_truth_and_with_nothing_else_never_looks(some: Any) -> None:
    from grpo_from_scratch.warm_up import careless_answers

    settings = Settings(stages=("assess", "prefer"), prompts="compact")
    oracle = builtin_policy("oracle", some, settings)
    careful, blind = (careless_answers(some, settings, habit, random.Random(0)) for habit in (0.0, 1.0))
    yes: Counter[str] = Counter()
    for conversation in some:
        for request in plan(conversation, settings):
            assert careful[request.id] == oracle.for_conversation(conversation).reply(request)
            told = parse(request, blind[request.id])
            if isinstance(told, Assess):
                assert told.tags == ()
                yes.update(told.observed.values())
            else:
                assert isinstance(told, Prefer)
                assert len(told.picks) == len(request.comparisons)
    assert 0.8 < yes["yes"] / yes.total() < 1  # 0.9, of some 270 answers: a deviation of 0.02


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "learned"),
        ({"before": 0.8}, "did not move"),
        ({"before": 0.9}, "fell"),
        ({"control": 0.75}, "moved, and in the control too"),
        ({"control": 0.45}, "learned"),
        ({"others": 0.8}, "gamed: as much is earned on swapped texts"),
        ({"prior": 0.8, "control": 0.7}, "moved, not above prior (the control too)"),
        ({"prior": 0.8}, "moved, not above prior"),
        ({"asked": 0.85}, "above prior, not above asked: it may be read off the questions"),
        ({"control": None}, "rose (no control was run)"),
    ],
)
def test_verdicts_follow_their_rules(change: dict[str, float | None], verdict: str) -> None:
    """Twelve people with one row each and no noise, so that an interval is its mean."""
    from grpo_from_scratch.measure import PARTS, End, People, verdicts

    means = {
        "before": 0.4,
        "after": 0.8,
        "control": 0.4,
        "supervised": 0.4,
        "prior": 0.5,
        "asked": 0.5,
        "others": 0.5,
    }
    values: dict[str, Any] = {
        name: None if mean is None else np.full((12, 5), mean) for name, mean in (means | change).items()
    }
    people = People([{"participant_id": str(i)} for i in range(12)])
    assert verdicts(people, End(**values)) == dict.fromkeys(PARTS, verdict)


def test_a_part_that_rises_against_its_sibling_is_named_as_gamed(examples: None) -> None:
    from grpo_from_scratch.measure import PARTS, End, People, signs_of_gaming

    before, after = np.full((12, 5), 0.5), np.full((12, 5), 0.6)
    after[:, PARTS.index("emotion_f1")] = 0.4
    people = People([{"participant_id": str(i)} for i in range(12)])
    end = End(before, after, None, None, before, before, before)
    told = {"no feeling": 0.5, "most frequent feeling": 0.1, "side A": 0.5}
    assert len(signs_of_gaming(people, end, told, told)) == 1
    constant = {
        "no feeling": 0.5,
        "most frequent feeling": 0.31,
        "side A": 1.0,
    }  # 0.21 more than the people; one side only
    assert len(signs_of_gaming(people, end, constant, told)) == 3
    silent = {"no feeling": 1.0, "most frequent feeling": float("nan"), "side A": float("nan")}
    (sign,) = signs_of_gaming(people, End(before, before, None, None, before, before, before), silent, told)
    assert sign == "no feeling is ever named"
