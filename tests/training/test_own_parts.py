"""A part of your own, from its file to rows, reward functions and other processes."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attune_data import SettingsError
from attune_data.errors import DataError
from attune_episodes import Settings, plan
from attune_episodes.frameworks.verl import compute_score
from attune_episodes.parsing import parse
from attune_episodes.play.score import score
from attune_episodes.training import PartReward, RowReward, reward_functions, row_reward, score_row
from attune_episodes.training.rows import RowMaker
from attune_rewards import RewardSpec
from attune_rewards.reward.spec_files import read_reward
from attune_rewards.truth import truth_of
from tests import PATIENCE
from tests.play.players import example

MINE = """
from attune_env import RewardSpec

class Named:
    '''An object with state, which only its own file can make again.'''
    def __init__(self, words):
        self.words = words
    def __call__(self, truth, turn, said):
        return sum(word in said.text for word in self.words) / len(self.words)

reward = RewardSpec.weighted("mine", {"q2": 1}).with_part("named", "draft", Named(["up", "set"]), 1)
"""
REPLY = "You are up."
"""Earns a half: one of the two words."""


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file with a reward, as its name."""
    (tmp_path / "my_reward.py").write_text(MINE, "utf-8")
    return str(tmp_path / "my_reward.py")


def rows(spec: RewardSpec) -> list[dict[str, Any]]:
    return list(RowMaker(Settings(), spec).rows(example().marked("own")))


def test_a_row_scores_like_the_episode_and_its_function_sees_the_same_truths() -> None:
    seen = []

    def look(truth: object, turn: object, said: object) -> float:
        seen.append((truth, turn))
        return 0.25

    about, spec = example(), RewardSpec.preset("skill").with_part("look", "draft", look, 0.5)
    made = {row["id"]: row for row in rows(spec)}
    request = next(one for one in plan(about) if one.stage == "draft")
    direct = score(about, request, parse(request, REPLY), spec)
    assert score_row(made[request.id], REPLY, spec=spec) == direct
    assert direct.parts == {"look": 0.25}
    assert seen[0] == seen[1] == (truth_of(about), truth_of(about).turn(1))
    # the other rows carry the annotations of their parts and nothing more
    carried = {row["stage"]: set(json.loads(row["truth"])) & {"record", "annotated"} for row in made.values()}
    plain = {stage: {"annotated"} for stage in ("assess", "prefer", "reflect")}
    assert carried == {"draft": {"record"}, **plain}


def test_only_annotated_requests_become_rows() -> None:
    none = RewardSpec.preset("emotion").with_part(
        "picks", "prefer", lambda *_: 1.0, 1, annotated=lambda truth, turn: not turn.winners
    )
    assert [row["stage"] for row in rows(none)] == ["assess"]


@pytest.mark.parametrize("form", ["{}", "{}:reward"])
def test_functions_of_a_file_work_in_another_process(source: str, form: str, tmp_path: Path) -> None:
    named = form.format(source)
    draft = next(row for row in rows(read_reward(named)) if row["stage"] == "draft")
    batch = {"completions": [REPLY, ""], "truth": [draft["truth"]] * 2}
    functions: list[PartReward | RowReward] = [*reward_functions(named, [draft])]
    functions.append(RowReward(read_reward(named)))
    values = [function(**batch) for function in functions]
    assert values == [[None, None], [0.5, 0.0], [0.5, 0.0]]
    (tmp_path / "batch").write_bytes(pickle.dumps((functions, batch)))
    code = (
        "import json, pickle; functions, batch = pickle.load(open('batch', 'rb'));"
        "print(json.dumps([function(**batch) for function in functions]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True, timeout=PATIENCE
    )
    assert json.loads(done.stdout) == values


def test_a_reward_of_a_module_is_named_by_import_path(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    spec = read_reward("my_reward:reward")
    assert pickle.loads(pickle.dumps(spec)).extra == spec.extra
    draft = next(row for row in rows(spec) if row["stage"] == "draft")
    assert score_row(draft, REPLY, spec="my_reward:reward").value == 0.5
    for name, says in (("my_reward:other", "found reward, expected a RewardSpec named other"),
                       ("no_such_module:reward", "ModuleNotFoundError.*PYTHONPATH")):  # fmt: skip
        with pytest.raises(DataError, match=says):
            read_reward(name)


def test_verl_gets_the_same_keys_for_every_row(source: str) -> None:
    made = {row["stage"]: row["truth"] for row in rows(read_reward(source))}
    draft = compute_score("attune/draft", REPLY, made["draft"], spec=source)
    reflect = compute_score("attune/reflect", "{}", made["reflect"], spec=source)
    assert (draft["score"], draft["named"], draft["q2"]) == (0.5, 0.5, None)
    assert (reflect["score"], reflect["named"], reflect["q2"]) == (0.0, None, 0.0)
    assert list(draft) == list(reflect)


def test_a_row_whose_part_is_not_given_is_refused(source: str) -> None:
    draft = next(row for row in rows(read_reward(source)) if row["stage"] == "draft")
    says = "conversation 'c1' rewards part 'named', a function of your own: give the reward that has it"
    with pytest.raises(SettingsError, match=says):
        score_row(draft, REPLY)
    with pytest.raises(SettingsError, match=says):
        row_reward(completions=[REPLY], truth=[draft["truth"]])
    with pytest.raises(SettingsError, match=r"the reward functions with .composite."):
        reward_functions("composite", [draft])


def test_a_part_with_the_name_of_another_is_refused() -> None:
    spec = RewardSpec.preset("emotion").with_part("format", "draft", lambda *_: 1.0, 0.1)
    with pytest.raises(SettingsError, match=r"part 'format' of .* has the name of another part"):
        RowMaker(Settings(), spec).check()
