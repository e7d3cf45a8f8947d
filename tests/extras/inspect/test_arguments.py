"""Arguments, errors at set-up, versions, what is imported; nothing here asks a model."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_data.errors import AttuneError
from attune_data.extras import UntestedVersionWarning
from attune_env import inspect_task
from attune_env.inspect_task.tasks import attune
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.frameworks import inspect
from attune_episodes.frameworks.inspect.scores import metric_names
from attune_episodes.frameworks.inspect.tasks import task_of
from attune_rewards.metrics.aggregate import flatten
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.predictions import STAGES
from attune_rewards.record.read import read_record
from tests import PATIENCE

ROOT = Path(__file__).resolve().parents[3]


def settings_in(task: Any) -> Settings:
    return task_of(task.dataset[0].metadata).settings


def test_arguments_mean_what_they_mean_everywhere() -> None:
    """Lists are what `-T` makes of texts with commas in them."""
    task = attune(data="sample", mode="verbose", stages=["assess", "prefer"], panas_strategy="blind_delta",
                  where="diagnosis=ADHD", labels="official",
                  seed=3, prompts="compact")  # fmt: skip
    assert settings_in(task) == Settings(
        mode="verbose", stages=("assess", "prefer"), panas_strategy="blind_delta", labels="official", seed=3,
        prompts="compact",
    )  # fmt: skip
    assert 0 < len(task.dataset) < 20
    assert settings_in(attune(stages="reflect, assess")).stages == ("assess", "reflect")
    assert settings_in(attune()) == Settings()
    assert len(attune(number=4).dataset) == 4
    assert attune(data="written:test", number=1).dataset[0].id == load("written:test")[0].conversation_id


@pytest.mark.parametrize(("arguments", "told"), [
    ({"data": "/no/such/folder"}, r"/no/such/folder: found no such file or folder, expected a folder"),
    ({"data": "2*written+sample"}, r"limit the number of conversations: -T number=20"),
    ({"data": 2024}, r"data is 2024, which is not a text; .*quote it"),
    ({"mode": "loud"}, r'no mode named "loud"; known: default, verbose'),
    ({"stages": ["assess", "perfer"]}, r'no stage named "perfer"; did you mean \'prefer\''),
    ({"where": "diagnosis=Nope"}, r'no diagnosis is "Nope"; there is'),
    ({"stages": "draft"}, r"no annotation that reward"),
    ({"number": 0}, r"number is 0; it must be a whole number, at least 1"),
    ({"codebook": "/no/such.json"}, r"/no/such\.json"),
    ({"prompts": "none"}, r"none"),
    ({"seed": "x"}, r'seed is "?\'?x'),
    ({"reasks": -1}, r"reasks is -1; it must be a whole number from 0 to 100"),
    ({"parallel": 0}, r"parallel is 0; it must be a whole number, at least 1"),
    ({"structured": "on"}, r'structured is "on"; it must be True or False'),
])  # fmt: skip
def test_what_is_wrong_is_told_at_set_up_in_words(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(AttuneError, match=told):
        attune(**arguments)


@pytest.mark.parametrize("number", range(1, len(STAGES) + 1))
def test_a_metric_is_reported_where_its_stages_are_asked(number: int) -> None:
    """Of a fully annotated conversation: each is defined, and what is not reported has no value."""
    about = load("sample")[0]
    everything = set(metric_names(Settings())) - {"parse_rate", "complete"}
    for stages in combinations(STAGES, number):
        settings = Settings(stages=stages)
        played = rollout(about, builtin_policy("oracle", [about], settings), settings)
        prediction, _ = read_record(played.result, about)
        values = flatten(score_conversation(about, prediction))
        reported = set(metric_names(settings)) - {"parse_rate", "complete"}
        scored = {"assess", "prefer", "reflect"} & set(stages)
        assert {name for name in reported if values.get(name) is None} == (
            set() if scored else {"composite_partial", "answered_share"}
        ), stages
        left = everything - reported
        assert {name for name in left if values.get(name) is not None} == set(), stages


def test_the_command_line_shows_a_mistake_without_a_stack() -> None:
    command = [
        Path(sys.executable).with_name("inspect"),
        "eval",
        "attune_env/attune",
        "--model",
        "mockllm/model",
    ]
    done = subprocess.run(
        [*map(str, command), "-T", "data=/no/such/[bold]"],
        capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 1
    told = done.stderr.strip().splitlines()
    assert len(told) == 1
    assert told[0].startswith("Error: /no/such/[bold]: found no such file or folder")


# --- versions and imports ------------------------------------------------------------------------


def test_a_version_outside_the_tested_range_is_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(attune(number=1).dataset) == 1  # the installed version is one that was tested
    installed = re.escape(f"inspect-ai {version('inspect-ai')} is installed")
    for oldest, below in (("99.0", "99.1"), ("0.1", "0.2")):
        monkeypatch.setattr(inspect, "TESTED", (oldest, below))
        with pytest.warns(UntestedVersionWarning, match=f"{installed}.*{re.escape(below)}"):
            assert len(attune(number=1).dataset) == 1


def test_the_tested_range_and_the_entry_point_are_those_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["inspect"] == [f"inspect-ai>={inspect.TESTED[0]}"]
    assert project["entry-points"]["inspect_ai"] == {"attune_env": "attune_env.inspect_task.tasks"}


def test_nothing_private_of_inspect_is_imported() -> None:
    private = re.compile(
        r"^\s*(?:from|import) inspect_ai(?:\.\w+)*\.?_|^\s*from inspect_ai[\w.]* import .*\b_", re.M
    )
    rooms = [Path(folder) for room in (inspect_task, inspect) for folder in room.__path__]
    files = [file for room in rooms for file in room.glob("*.py")]
    assert len(files) > 4
    assert [file.name for file in files if private.search(file.read_text(encoding="utf-8"))] == []


def test_the_linter_of_the_evals_register_finds_nothing() -> None:
    """As the register runs it: on the files alone, with the register's configuration."""
    linter = pytest.importorskip("inspect_evals_lint")
    found = linter.lint_task_files(ROOT, ["attune_env/inspect_task/tasks.py"]).to_dict()
    (package,) = found["packages"]
    assert [one["message"] for one in package["diagnostics"] if one["status"] == "fail"] == []
    assert found["score"]["passing"] > 10


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("code", [
    "import attune_env.inspect_task.tasks",
    "from attune_episodes.frameworks.inspect import rollouts_from; rollouts_from('x.eval')",
])  # fmt: skip
def test_without_the_extra_the_install_line_is_told(code: str) -> None:
    told = python(
        "import sys; sys.modules['inspect_ai'] = None\n"
        "from attune_data.errors import AttuneError\n"
        f"try:\n    {code}\nexcept AttuneError as error:\n    print(error)"
    )
    assert "the extra 'inspect' is not installed" in told
    assert 'in the clone, pip install ".[inspect]"' in told
