"""Prints each figure that an issue names, as the median of ratios measured back to back in one run."""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from attune_data import Conversation, load
from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.simulate import Simulation
from attune_episodes import Request, Settings, builtin_policy, parse, plan, score
from attune_episodes.parsing import Unparsed
from attune_episodes.policies.base import prepared
from attune_rewards import Prediction
from attune_rewards.truth import truth_of
from tests.bench.endpoint_bench import endpoint_speed
from tests.bench.gymnasium_bench import gymnasium_speed
from tests.bench.report_bench import report_speed, statistics_speed
from tests.bench.trainers_bench import trainers_speed
from tests.bench.verifiers_bench import verifiers_speed

ROUNDS = 15


# Literals of tables: right at run time, which is all that a yardstick needs
EmotionName = Literal[EMOTIONS]  # type: ignore[valid-type]
Question = Literal[BINARY_IDS]  # type: ignore[valid-type]
Number = Literal["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]
Goal = Literal[Q1_OPTIONS]  # type: ignore[valid-type]
Clarity = Literal[Q2_OPTIONS]  # type: ignore[valid-type]
Fit = Literal[Q3_OPTIONS]  # type: ignore[valid-type]
Branch = Literal[BRANCHES]  # type: ignore[valid-type]
YesNo = Literal["yes", "no"]
Rating = Annotated[int, Field(ge=1, le=7)]


class TagModel(BaseModel):
    """A tag, with the constraints that the answer's JSON schema states."""

    emotion: EmotionName
    intensity: Rating


class AssessModel(BaseModel):
    """An assess answer: the yardstick of scoring is what pydantic needs to validate it."""

    emotions: list[TagModel]
    observed: dict[Question, YesNo]
    preferred: dict[Question, YesNo]


class PreferModel(BaseModel):
    """A prefer answer."""

    picks: dict[Number, Literal["A", "B"]]


class ReflectModel(BaseModel):
    """A reflect answer."""

    post_panas: dict[EmotionName, Rating]
    q1_lookingFor: list[Goal]
    q2_emotionClarity: Clarity
    q3_modelFit: Fit
    q3_followUp_whatFeltOff: list[str]
    fourBranchScores: dict[Branch, Rating]


class AnswersModel(BaseModel):
    """An assess_hp answer."""

    observed: dict[Question, YesNo]
    preferred: dict[Question, YesNo]


MODELS: dict[str, type[BaseModel]] = {
    "assess": AssessModel,
    "assess_hp": AnswersModel,
    "prefer": PreferModel,
    "reflect": ReflectModel,
}
Case = tuple[Conversation, Request, Prediction, str]
"""A request, its parsed reply, and the reply's JSON."""


def seconds(work: Callable[[], object], repeat: int) -> float:
    """Seconds for one call, over `repeat` calls."""
    started = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - started) / repeat


def ratio(
    name: str, top: Callable[[], object], bottom: Callable[[], object], repeat: int, limit: str
) -> None:
    """Prints top/bottom, measured in turn."""
    top(), bottom()  # warm
    pairs = [(seconds(top, repeat), seconds(bottom, repeat)) for _ in range(ROUNDS)]
    ratios = [a / b for a, b in pairs]
    a, b = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    print(
        f"{name}: {statistics.median(ratios):.2f} (min {min(ratios):.2f}, max {max(ratios):.2f}; "
        f"{a:.1f} µs / {b:.1f} µs) aim: {limit}"
    )


def scoring_against_validation() -> None:
    """Scoring parsed replies against pydantic validating the same replies' JSON."""
    sample = load("sample")
    reader = builtin_policy("lexicon", sample)
    cases: dict[str, list[Case]] = {}
    for conversation in sample:
        for request in plan(conversation):
            text = prepared(reader, conversation).reply(request)
            assert isinstance(text, str)
            said = parse(request, text)
            assert not isinstance(said, Unparsed)
            cases.setdefault(request.stage, []).append((conversation, request, said, text))

    def scores(cases: list[Case]) -> None:
        for conversation, request, said, _ in cases:
            score(conversation, request, said)

    def validates(cases: list[Case]) -> None:
        for _, request, _, text in cases:
            MODELS[request.stage].model_validate_json(text)

    scored = [case for stage in ("assess", "prefer", "reflect") for case in cases[stage]]
    ratio(
        f"score / pydantic validation, the {len(scored)} scored replies of the sample",
        partial(scores, scored),
        partial(validates, scored),
        5,
        "at most 1",
    )
    for stage in ("assess", "prefer", "reflect"):
        these = cases[stage]
        ratio(f"  {stage} x{len(these)}", partial(scores, these), partial(validates, these), 5, "-")


def scoring_against_prompts() -> None:
    """An episode's scoring against building its prompts."""
    sample = load("sample")
    conversation = sample[0]
    prior = prepared(builtin_policy("prior", sample), conversation)
    requests = plan(conversation)
    replies = [(request, prior.reply(request)) for request in requests]
    parsed = [(r, parse(r, text)) for r, text in replies if isinstance(text, str)]
    settings = Settings()

    def prompts() -> None:
        conversation.memo.pop("plans", None)
        plan(conversation, settings)

    def scores() -> None:
        truth_of(conversation)
        for request, said in parsed:
            score(conversation, request, said)

    ratio("episode: building prompts / scoring", prompts, scores, 3, "above 1")


def import_against_base() -> None:
    """`import attune_env` against the three libraries it stands on."""

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    empty = statistics.median(seconds(start("pass"), 1) for _ in range(ROUNDS))
    ours = statistics.median(seconds(start("import attune_env"), 1) for _ in range(ROUNDS))
    base = statistics.median(seconds(start("import gymnasium, pydantic, numpy"), 1) for _ in range(ROUNDS))
    print(
        f"import attune_env / import gymnasium, pydantic, numpy: {(ours - empty) / (base - empty):.3f} "
        f"({1e3 * (ours - empty):.0f} ms / {1e3 * (base - empty):.0f} ms) aim: at most 1.2"
    )


def loading() -> None:
    """200 conversations from a folder."""
    records = [conversation.to_record() for conversation in load("sample")]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(200):
            record = records[number % len(records)] | {"conversationId": f"copy-{number}"}
            text = json.dumps(record, ensure_ascii=False, indent=1)
            (Path(folder) / f"conversation_{number}.json").write_text(text, encoding="utf-8")
        size = sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6
        times = [seconds(lambda: load(folder), 1) for _ in range(ROUNDS)]
    print(
        f"load 200 conversations ({size:.1f} MB): {statistics.median(times):.3f} s "
        f"(min {min(times):.3f}) aim: under 0.3 s"
    )


def simulating() -> None:
    """Making a simulated conversation against reading it back from its JSON; and 1,000 in a row."""
    world = Simulation(1)
    texts = [world[i].model_dump_json(by_alias=True) for i in range(30)]
    ratio(
        "30 simulated conversations: making / reading their JSON",
        lambda: [world[i] for i in range(30)],
        lambda: [Conversation.model_validate_json(text) for text in texts],
        3,
        "-",
    )
    taken = seconds(lambda: [world[i] for i in range(1000)], 1)
    print(f"1,000 simulated conversations: {taken:.1f} s aim: under 10 s")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {platform.machine()}, medians of {ROUNDS} rounds")
    scoring_against_validation()
    scoring_against_prompts()
    import_against_base()
    loading()
    simulating()
    gymnasium_speed()
    trainers_speed()
    verifiers_speed()
    endpoint_speed()
    statistics_speed()
    report_speed()
