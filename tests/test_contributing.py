"""The recipes of CONTRIBUTING, applied as they are written to a copy of the tree, and their commands run.

A recipe names each file in a line by itself and gives its content in a `py` block; its commands are in
`console` blocks.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.documents import ROOT

COPIED: Final = ("attune_env", "envs", "rewards", "data", "docs", "examples", "packaging", "tests", "tools")
FILES: Final = sorted(file.name for file in ROOT.glob("[!.]*") if file.is_file())
TEXT: Final = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES: Final = re.findall(r"^### (Add an? .*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE)
FILE: Final = re.compile(r"^`([\w/]+\.py)`:\n\n```py\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONSOLE: Final = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ADDED: Final = {path: text for recipe in RECIPES for path, text in FILE.findall(recipe)}
COMMANDS: Final = [
    line for recipe in RECIPES for block in CONSOLE.findall(recipe) for line in block.splitlines()
]
PYTEST: Final = "python -m pytest -q -p no:cacheprovider -m 'not slow'"
FREEZE: Final = "python -m tests.frozen.make"
"""Ends most recipes; run once, after all of them."""
ATTUNE: Final = """
import json, sys
from attune_env.cli import main

for words in json.loads(sys.argv.pop()):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, words
"""
LOOK: Final = """
import json, pickle
from attune_env import RewardSpec, builtin_policy, load, rollout
from attune_episodes import Settings
from attune_episodes.frameworks.inspect.scores import metric_names
from attune_episodes.frameworks.lm_eval.scores import OF_STAGE
from attune_episodes.training import score_row
from attune_episodes.training.rows import RowMaker

sample = load("sample")
spec = RewardSpec.weighted("mine", {"emotion_amount": 1})
(row, *_) = RowMaker(Settings(), spec).rows(sample[0])
played = rollout(sample[0], builtin_policy("oracle", sample), reward=spec)
(step,) = [step for step in played.steps if step.request.id == row["id"]]
part = spec.parts["emotion_amount"]
assert pickle.loads(pickle.dumps(part)) is part
print(json.dumps({
    "lm_eval": OF_STAGE["assess"], "inspect": metric_names(Settings()),
    "earned": [step.score.parts, score_row(row, step.reply).parts, score_row(row, "").parts],
    "annotated": list(json.loads(row["truth"])["annotated"]),
}))
"""


def applied(tree: Path) -> Path:
    """A copy of the tree with the files of all recipes."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree)
    for path, text in ADDED.items():
        assert not (tree / path).exists(), f"{path} is there already"
        (tree / path).write_text(text, encoding="utf-8")
    return tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return applied(tmp_path_factory.mktemp("tree"))


def run(tree: Path, command: str, *arguments: str) -> str:
    """What a command prints with the copy in place of the packages here."""
    name, *words = shlex.split(command)
    words = ["-m", "attune_env", *words] if name == "attune" else words
    paths = os.pathsep.join(str(tree / folder) for folder in (".", "envs", "rewards", "data", "examples"))
    environment = os.environ | {"PYTHONPATH": paths, "COLUMNS": "400"}
    done = subprocess.run(
        [sys.executable, *words, *arguments], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def attune(tree: Path, *commands: str) -> str:
    """What these commands of `attune` print, one after the other in one process."""
    return run(tree, "python -c", ATTUNE, json.dumps([command.split() for command in commands]))


def test_each_recipe_has_a_file_its_test_and_the_command_that_runs_it() -> None:
    assert len(RECIPES) == 5
    for recipe in RECIPES:
        _, (test, _) = FILE.findall(recipe)
        assert any(f"pytest {test}" in block for block in CONSOLE.findall(recipe)), recipe[:40]
    assert {command.split()[0] for command in COMMANDS} == {"python", "attune"}


def test_the_files_pass_the_style_and_their_tests(tree: Path) -> None:
    run(tree, "python -m ruff check", *ADDED)
    run(tree, "python -m ruff format --check", *ADDED)
    run(tree, PYTEST, *(path for path in ADDED if path.startswith("tests/")))


def test_what_is_added_stands_in_help_lists_scores_and_reports(tree: Path) -> None:
    shown = attune(
        tree,
        "run --help",
        "run builtin calm sample --limit 2 -o results",
        "score --results results --data sample --output scores.json",
        "report -s scores.json",
        "rewards list",
        "rewards explain emotion_amount",
    )
    assert re.search(r"calm, .*random, mode, prior", shown)  # among what is content-free and not fitted
    assert "\nNumber of feelings, diagnostic\t" in shown
    assert "\nbuiltin/calm\t" in shown
    assert "\twhich feelings there are, and how strong\n" in shown
    assert "how many feelings the person had" in shown
    scores = json.loads((tree / "scores.json").read_text("utf-8"))
    assert all(0 < entry["avg_emotion_amount"] < 1 for entry in scores["conversations"])
    assert all("emotion_amount" in turn for entry in scores["conversations"] for turn in entry["turn_scores"])


def test_the_tables_in_docs_follow(tree: Path) -> None:
    run(tree, "python -m tools.metric_reference")
    run(tree, "python -m tools.catalogue")
    pages = {page.stem: page.read_text("utf-8") for page in (tree / "docs").glob("*.md")}
    assert sum("`emotion_amount`" in line for line in pages["metrics"].splitlines()) == 2  # metric and leaf
    assert (
        "\n| `calm` | content-free | nothing | calm in every turn; otherwise as `always-no` |\n"
        in pages["policies"]
    )
    assert "\n| `feelings` | which feelings there are, and how strong |" in pages["rewards"]
    assert "\n| `lengths` | Do models do as well in long conversations as in short ones? |" in pages["report"]


def test_a_leaf_stands_in_harnesses_rewards_and_rows(tree: Path) -> None:
    listed = json.loads(run(tree, "python -c", LOOK))
    assert "avg_emotion_amount" in listed["lm_eval"]
    assert "avg_emotion_amount" in listed["inspect"]
    assert listed["earned"] == [{"emotion_amount": value} for value in (1.0, 1.0, 0.0)]
    assert listed["annotated"] == ["tags"]


@pytest.mark.slow
def test_the_commands_of_the_recipes_leave_nothing_to_do(tmp_path: Path) -> None:
    tree = applied(tmp_path)
    for command in (*(command for command in COMMANDS if command != FREEZE), FREEZE, f"{FREEZE} --check"):
        run(tree, command)
    run(tree, PYTEST, "tests/test_documents.py", "tests/rewards", "tests/policies")


@pytest.mark.slow
def test_a_leaf_under_a_node_takes_its_share_and_leaves_the_benchmarks_own_scores(tmp_path: Path) -> None:
    tree = applied(tmp_path)
    module = tree / "rewards" / "attune_rewards" / "metrics" / "amount.py"
    module.write_text(module.read_text("utf-8").replace("node=None", 'node="emotion"'), encoding="utf-8")
    ask = "from attune_rewards import COMPOSITE, LEAVES; print(COMPOSITE.weights(LEAVES)['emotion_amount'])"
    assert float(run(tree, "python -c", ask)) == pytest.approx(0.08)  # .24/3
    run(tree, PYTEST, "tests/rewards/test_composite.py")
