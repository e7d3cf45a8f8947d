"""Prints most figures of docs/performance.md, mainly as ratios measured back to back in one run."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from attune_data import Conversation, load
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import Request, Settings, builtin_policy, parse, plan, score
from attune_episodes.play.policy import prepared
from attune_rewards.truth import truth_of
from tests.bench.endpoint_bench import endpoint_speed
from tests.bench.gymnasium_bench import gymnasium_speed
from tests.bench.measuring import ratio, seconds, told
from tests.bench.memory_bench import memory
from tests.bench.report_bench import report_speed, statistics_speed
from tests.bench.study_bench import study_speed
from tests.bench.trainers_bench import trainers_speed
from tests.bench.verifiers_bench import verifiers_speed

ROUNDS = 15


def _yardstick(**fields: Any) -> type[BaseModel]:
    given: Any = {name: (kind, ...) for name, kind in fields.items()}
    model: type[BaseModel] = create_model("Answer", **given)
    return model


# Literals of tables: right at run time, which is all that a yardstick needs
Rating = Annotated[int, Field(ge=1, le=7)]
Emotion: Any = Literal[EMOTIONS]
Answers: Any = dict[Literal[BINARY_IDS], Literal["yes", "no"]]  # type: ignore[valid-type]
MODELS: dict[str, type[BaseModel]] = {
    "assess": _yardstick(
        emotions=list[_yardstick(emotion=Emotion, intensity=Rating)],  # type: ignore[misc]
        observed=Answers,
        preferred=Answers,
    ),
    "prefer": _yardstick(picks=dict[Literal[tuple(map(str, range(1, 13)))], Literal["A", "B"]]),  # type: ignore[misc]
    "reflect": _yardstick(
        post_panas=dict[Emotion, Rating],
        q1_lookingFor=list[Literal[Q1_OPTIONS]],  # type: ignore[valid-type]
        q2_emotionClarity=Literal[Q2_OPTIONS],
        q3_modelFit=Literal[Q3_OPTIONS],
        q3_followUp_whatFeltOff=list[str],
        fourBranchScores=dict[Literal[BRANCHES], Rating],  # type: ignore[valid-type]
    ),
}
"""What pydantic validates of a reply's JSON: the constraints that the answer's JSON schema states."""


def _replies(conversation: Conversation, policy: str) -> list[tuple[Request, str]]:
    player = prepared(builtin_policy(policy, load("sample")), conversation)
    return [(request, str(player.reply(request))) for request in plan(conversation)]


def scoring_against_validation() -> None:
    """Scoring parsed replies against pydantic validating the same replies' JSON."""
    cases = [
        (conversation, request, parse(request, text), text)
        for conversation in load("sample")
        for request, text in _replies(conversation, "lexicon")
    ]

    def compared(stages: Sequence[str], aim: str = "-") -> None:
        these = [case for case in cases if case[1].stage in stages]
        ratio(
            f"score / pydantic validation, {', '.join(stages)} x{len(these)}",
            lambda: [score(conversation, request, said) for conversation, request, said, _ in these],
            lambda: [MODELS[request.stage].model_validate_json(text) for _, request, _, text in these],
            aim,
            repeat=5,
        )

    compared(list(MODELS), "at most 1")
    for stage in MODELS:
        compared([stage])


def scoring_against_prompts() -> None:
    """An episode's scoring against building its prompts."""
    conversation = load("sample")[0]
    parsed = [(request, parse(request, text)) for request, text in _replies(conversation, "prior")]

    def prompts() -> None:
        conversation.memo.pop("plans", None)
        plan(conversation, Settings())

    def scores() -> None:
        truth_of(conversation)
        for request, said in parsed:
            score(conversation, request, said)

    ratio("episode: building prompts / scoring", prompts, scores, "above 1", repeat=3)


def import_against_base() -> None:
    """`import attune_env` against the three libraries it stands on; the interpreter's start is in both."""

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    ours, base = "import attune_env", "import gymnasium, pydantic, numpy"
    ratio(f"{ours} / {base}", lambda: start(ours), lambda: start(base), "at most 1.2")


def loading() -> None:
    """200 conversations from a folder."""
    records = [conversation.to_record() for conversation in load("sample")]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(200):
            record = records[number % len(records)] | {"conversationId": f"copy-{number}"}
            text = json.dumps(record, ensure_ascii=False, indent=1)
            (Path(folder) / f"conversation_{number}.json").write_text(text, encoding="utf-8")
        times = [seconds(lambda: load(folder)) for _ in range(ROUNDS)]
    print(f"load 200 conversations: {told(times, '.3f')} s; aim: under 0.3 s")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {platform.machine()}, medians of {ROUNDS} rounds")
    for measure in (
        scoring_against_validation, scoring_against_prompts, import_against_base, loading, memory,
        gymnasium_speed, trainers_speed, verifiers_speed, endpoint_speed, statistics_speed, report_speed,
        study_speed,
    ):  # fmt: skip
        measure()
