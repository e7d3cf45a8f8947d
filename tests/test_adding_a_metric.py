"""The steps of CONTRIBUTING, tried: a metric and a leaf are defined in one module, and stand everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
DEFINITION = """

def _as_many(turn: TurnTruth, said: Assess) -> float:
    return float(len(turn.tags or ()) == len(said.tags or ()))


METRICS = (
    *METRICS,
    TurnMetric(
        "emotion_count", "1 for as many tags as the HP named, else 0",
        lambda turn, said: _as_many(turn, said.assess or Assess()),
        needs=("assess",), label="Emotion Count", role="diagnostic",
    ),
)
LEAVES = (
    *LEAVES,
    Leaf(
        name="emotion_count", stage="assess", node="emotion", value=_as_many,
        annotated=lambda turn: turn.tags is not None,
        answered=lambda turn, said: float(said.tags is not None),
        reads=("tags",),
        text=PartText("how many feelings the person had", "1 for as many", "tags are annotated", "no list"),
    ),
)
"""
COMMANDS = """
import json, sys
from attune_env.cli import main

for words in json.loads(sys.argv.pop()):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
"""
LOOK = """
import json
from attune_env import RewardSpec, builtin_policy, load, rollout
from attune_env.audit import audit
from attune_episodes.frameworks.lm_eval.tasks import OF_STAGE
from attune_episodes import Settings
from attune_episodes.frameworks.inspect.tasks import metrics_of
from attune_episodes.training import score_row
from attune_episodes.training.rows import RowMaker
from attune_rewards import COMPOSITE, LEAVES
from tests.metric_reference import PAGE, rewritten

sample = load("sample")
spec = RewardSpec.weighted("mine", {"emotion_count": 1})
(row, *_) = RowMaker(Settings(), spec).rows(sample[0])
played = rollout(sample[0], builtin_policy("oracle", sample))
(reply,) = [step.reply for step in played.steps if step.request.id == row["id"]]
found = audit(sample, [spec])
print(json.dumps({
    "lm_eval": OF_STAGE["assess"], "inspect": metrics_of(Settings()),
    "page": [line for line in rewritten(PAGE.read_text("utf-8")).splitlines() if "emotion_count" in line],
    "leaves": LEAVES, "weight": COMPOSITE.weights(LEAVES)["emotion_count"],
    "rows": [score_row(row, reply).parts, score_row(row, "").parts, json.loads(row["truth"])["annotated"]],
    "steps": [step.score.parts for step in played.steps if step.request.id == row["id"]],
    "audit": sorted(found.parts["emotion_count"]),
}))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages in which a module of metrics holds one definition of each kind more."""
    copy = tmp_path_factory.mktemp("tree")
    for package in ("attune_env", "envs", "rewards", "data"):
        shutil.copytree(ROOT / package, copy / package)
    for file in ("docs/metrics.md", "tests/__init__.py", "tests/metric_reference.py"):
        (copy / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    with (copy / "rewards" / "attune_rewards" / "metrics" / "emotion.py").open(
        "a", encoding="utf-8"
    ) as module:
        module.write(DEFINITION)
    return copy


def python(tree: Path, *arguments: str) -> str:
    """What Python prints with the copy in place of the packages here."""
    paths = os.pathsep.join(map(str, (tree, tree / "envs", tree / "rewards", tree / "data")))
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.check_output([sys.executable, *arguments], cwd=tree, env=environment, encoding="utf-8")


def test_a_metric_stands_in_score_files_and_reports(tree: Path) -> None:
    results, data = str(GOLDEN / "results"), str(GOLDEN / "conversations")
    shown = python(tree, "-c", COMMANDS, json.dumps([
        ["score", "--results", results, "--data", data, "--output", "scores.json"],
        ["report", "-s", "scores.json"],
    ]))  # fmt: skip
    assert "\nEmotion Count, diagnostic\t" in shown
    scores: dict[str, Any] = json.loads((tree / "scores.json").read_text("utf-8"))
    assert all(0 <= entry["avg_emotion_count"] <= 1 for entry in scores["conversations"])
    assert all("emotion_count" in turn for entry in scores["conversations"] for turn in entry["turn_scores"])
    assert all(0 < group["avg_emotion_count"] < 1 for group in scores["aggregates"])
    assert all("emotion_count" in entry["strict_parts"] for entry in scores["conversations"]
               if "emotion_f1" in entry["strict_parts"])  # fmt: skip
    expected = json.loads((GOLDEN / "expected.json").read_text("utf-8"))["conversations"]
    canonical = {(e["conversationId"], e["em_model"]): e["composite_exact"] for e in expected}
    for entry in scores["conversations"]:  # the benchmark's own Composite knows no leaf of ours
        wanted = canonical[entry["conversationId"], entry["em_model"]]
        assert entry["composite_exact"] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_both_stand_in_harnesses_pages_rewards_rows_and_the_audit(tree: Path) -> None:
    found = json.loads(python(tree, "-c", LOOK))
    assert "avg_emotion_count" in found["lm_eval"]
    assert {"avg_emotion_count", "strict_emotion_count"} <= set(found["inspect"])
    assert len(found["page"]) == 3  # the metric, the leaf, the tree
    assert found["leaves"][:3] == ["emotion_f1", "emotion_va", "emotion_count"]
    assert found["weight"] == pytest.approx(0.08)  # .24/3
    told, silent, annotated = found["rows"]
    assert (told, silent, list(annotated)) == ({"emotion_count": 1.0}, {"emotion_count": 0.0}, ["tags"])
    assert [step["emotion_count"] for step in found["steps"]] == [1.0]
    assert {"prior", "oracle", "searched"} <= set(found["audit"])
    explained = [["rewards", "explain", name] for name in ("emotion_count", "emotion")]
    shown = python(tree, "-c", COMMANDS, json.dumps(explained))
    assert "how many feelings the person had" in shown
    assert "  emotion_count" in shown
