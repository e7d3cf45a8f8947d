"""The checks of played people: what they count, what fails, and the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from attune_data import load
from attune_data.format.affect import EMOTIONS
from attune_env.cli import app
from attune_env.people.answering import play_plan
from attune_env.people.checks import FOUND, Check, check, result
from attune_env.people.figures import FIGURES, People
from attune_env.people.texts import give_away, named, openers
from attune_env.statistics import Interval
from attune_episodes.people.cards import plan
from tests.endpoint import serve
from tests.people.scripted import Script
from tests.people.test_playing import OPTIONS, hands


def candid(kind: str, prompt: str, text: str) -> str:
    """People who say what they feel and drop questions; a reader who guesses B5 and is sure of B7."""
    felt = re.search(rf"\b({'|'.join(EMOTIONS)}) [1-7]\b", prompt)
    if kind == "message" and felt:
        return f"{text} and I am {felt[1].lower()}"
    if kind == "feelings":
        said = re.findall(rf"I am ({'|'.join(EMOTIONS).lower()})", prompt)
        return json.dumps({"emotions": [{"emotion": said[-1].title(), "intensity": 4}] if said else []})
    if kind == "judgement":
        return json.dumps({**json.loads(text), "edit": "That is hard. They should ring you."})
    if kind == "reading":
        answers = json.loads(text)["answers"]
        guessed = "yes" if prompt.find("\nB5: ") < prompt.find("\nB7: ") else "no"
        return json.dumps(
            {"answers": {**answers, "B5": guessed, "B7": ("yes", "no")[prompt.count(" the ") % 2]}}
        )
    return text


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of eight people."""
    folder = tmp_path_factory.mktemp("people") / "mine"
    with serve(Script(candid)) as server:
        cast, models = hands(server)
        cast = replace(cast, checked=1.0, twice=1.0)
        assert play_plan(plan(8, 5), cast, folder, models=models, options=OPTIONS).run.written == 8
    return folder


def test_the_sample_passes_beside_itself() -> None:
    few = load("sample")[:7]
    found = check(few, few)
    assert {one.result for one in found.checks if one.name != FOUND} == {"passes", "–"}
    assert not found.failed


def test_what_is_counted_in_the_sample() -> None:
    people = People(load("sample"), 20)
    figures = {figure.name: figure.measure(people) for figure in FIGURES if "gain" not in figure.name}
    gone = figures["unwanted question gone from the edit"]
    assert (sum(map(float, gone.found)), sum(map(float, gone.of))) == (21, 22)  # type: ignore[arg-type]
    assert figures["answers to questions with over 90% yes"].note == "B2, B3, B9, B108"
    five = figures["5-grams of messages in another conversation"]
    assert five.interval(people.kernel).mean == pytest.approx(0.001, abs=0.0005)


def test_what_repeats_is_counted_in_groups_of_one_size() -> None:
    twice = [*(sample := load("sample")), *sample]
    assert [len(group) for group in People(sample, 7).groups] == [8, 6, 6]
    people = People(twice, 40)
    five = next(figure for figure in FIGURES if figure.name.startswith("5-grams of replies"))
    assert five.measure(people).interval(people.kernel).mean == 1.0


def test_a_folder_is_checked_and_a_failure_is_the_exit_code(played: Path, tmp_path: Path) -> None:
    page = tmp_path / "check.md"
    ended = CliRunner().invoke(app, ["people", "check", str(played), "-o", str(page)])
    assert ended.exit_code == 1, ended.output
    lines = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines()]
    row = {line[0]: line[1:] for line in lines if len(line) > 5}
    assert row["5-grams of replies in another conversation"][0] == "FAILS"  # all are of one template
    assert row["answers to questions with over 90% yes"][0] == "FAILS"
    assert row["unwanted question gone from the edit"][1].startswith("1.000 ")
    assert row[FOUND][:2] == ["passes", "1.000 [1.000, 1.000]"]  # from the answers
    assert row["B5"][0] == "not for training"
    assert row["B7"][0] == "holds"
    assert row["B3"][0] == "undecided"  # always yes
    assert "B8" not in row  # judged by the person
    assert "attune people check" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("low", "high", "units", "said"),
    [
        (0.5, 0.6, 9, "passes"),
        (0.4, 0.6, 9, "undecided"),
        (0.2, 0.4, 9, "FAILS"),
        (0.2, 0.4, 4, "undecided"),
    ],
)
def test_a_check_fails_only_outside_its_bound(low: float, high: float, units: int, said: str) -> None:
    own = Interval((low + high) / 2, low, high, 50, units)
    assert result(own, 0.5, 1.0) == said
    assert Check("x", own, own).result == "–"


def test_openers() -> None:
    assert openers("I am here. I am not! You are. No.", 2) == ["i am", "i am", "you are"]


def test_give_aways_need_precision_and_count() -> None:
    answers = [("well could you say", True)] * 3 + [("well no", True)] + [("well yes", False)] * 4
    assert give_away(answers, seen=3) == (0.75, "you say")  # 3 of 4 yes; "well" is right in 4 of 8
    assert give_away(answers, seen=4)[0] == 0


def test_names_amid_sentences() -> None:
    assert named("Anna said that Ben and I'm with I and Carla. Dora left") == ["Ben", "Carla"]
