"""`attune rewards list | explain | audit` as a person runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from attune_env import builtin_policy, load, plan, score_row, training_dataset
from attune_rewards import LEAVES, PRESETS, RewardSpec
from attune_rewards.metrics.tree import LEAF
from attune_rewards.reward.spec_files import describe_reward
from tests.command import attune_here, data_folder

ROOT = Path(__file__).parents[2]
MINE = '''
from attune_env import RewardSpec

def talk(truth, turn, said):
    """Pays for | long drafts."""
    return min(1.0, len(said.text) / 1000)

reward = RewardSpec.preset("skill").with_part("talk", "draft", talk, 0.5)
other = RewardSpec.preset("emotion")
'''


def told(cwd: Path, *words: str) -> list[list[str]]:
    """The rows of the tables that a command of `attune rewards` prints."""
    out, _ = attune_here(["rewards", *words], cwd)
    return [line.split("\t") for line in out.splitlines() if line and not line.startswith("#")]


def test_every_preset_and_part_is_listed_and_described(tmp_path: Path) -> None:
    listed = {row[0]: row for row in told(tmp_path, "list")}
    assert {*PRESETS, *LEAVES, "format"} <= set(listed)
    assert listed["emotion_f1"][1] == "assess"
    # skill is measured from what the prior earns, so the prior earns nothing
    assert listed["skill"][2] == "0.000"
    assert 0.5 < float(listed["composite"][2]) < 0.7


def test_every_part_is_explained(tmp_path: Path) -> None:
    for leaf in LEAVES:
        about = dict(told(tmp_path, "explain", leaf)[1:])
        assert about["stage"] == LEAF[leaf].stage
        assert about["range"].startswith("0 to 1")
        assert about["prior earns"].startswith(f"{RewardSpec.preset('skill').baselines[leaf]:.3f}")


@pytest.mark.parametrize("preset", PRESETS)
def test_shares_of_a_reward_sum_to_its_whole(preset: str, tmp_path: Path) -> None:
    spec = RewardSpec.preset(preset)
    shares = {row[0].strip(): float(row[2].rstrip("%")) for row in told(tmp_path, "explain", preset)[1:]}
    assert sum(shares[leaf] for leaf in spec.parts) == pytest.approx(100, abs=0.5)
    assert shares[spec.root.name] == 100
    weights = spec.root.weights(spec.parts)
    assert all(shares[leaf] == pytest.approx(100 * weights[leaf], abs=0.06) for leaf in spec.parts)


def test_what_more_score_pays_is_what_a_row_pays(tmp_path: Path) -> None:
    """Two replies that differ in one list of answers: their rewards differ by what is shown."""
    row = training_dataset("sample")[0]
    conversation = load("sample")[0]
    request = next(one for one in plan(conversation) if one.stage == "assess")
    assert (row["turn"], row["stage"]) == (request.turn, "assess")
    gold = json.loads(builtin_policy("oracle", [conversation]).for_conversation(conversation).reply(request))
    shown = {line[0].strip(): line[4] for line in told(tmp_path, "explain", "skill")}
    best = score_row(row, json.dumps(gold))
    for part, key in (("binary_om", "observed"), ("binary_hp", "preferred")):
        worse = score_row(row, json.dumps({**gold, key: {}}))
        assert best.value is not None
        assert worse.value is not None
        lost = best.parts[part] - worse.parts[part]
        assert {name for name in best.parts if best.parts[name] != worse.parts[name]} == {part}
        assert float(shown[part]) == pytest.approx(0.1 * (best.value - worse.value) / lost, abs=6e-4)
    # one part alone in its stage, so 0.1 / (1 - n)
    assert float(shown["pairwise"]) == pytest.approx(
        0.1 / (1 - RewardSpec.preset("skill").baselines["pairwise"]), abs=6e-4
    )


def test_a_part_of_several_stages_shows_no_pay(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"weights": {"emotion_va": 2, "q1": 1}, "format": 0.5}))
    shown = {line[0].strip(): line[4] for line in told(tmp_path, "explain", "mine.json")}
    assert (shown["emotion_va"], shown["q1"], shown["format"]) == ("0.100", "0.100", "–")


def test_the_floor_is_explained_by_the_scores_that_reach_it(tmp_path: Path) -> None:
    out, _ = attune_here("rewards explain skill_bounded", tmp_path)
    (line,) = [line for line in out.splitlines() if line.startswith("# floor")]
    ends = dict(re.findall(r"(\w+) (\d\.\d\d)", line))
    spec = RewardSpec.preset("skill_bounded")
    for part in spec.parts:
        n = spec.baselines[part]
        if n > 0.5:  # (s - n)/(1 - n) = -1 where s = 2n - 1, a score only from n = 1/2 on
            assert float(ends[part]) == pytest.approx(2 * n - 1, abs=0.006)
        else:
            assert part not in ends
    assert "# floor" not in attune_here("rewards explain skill", tmp_path)[0]


def test_a_reward_from_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"weights": {"emotion_va": 2, "q1": 1}, "format": 0.5}))
    (tmp_path / "mine.py").write_text(MINE)
    assert "# Reward mine+format" in attune_here("rewards explain mine.json", tmp_path)[0]
    # 2 of 3 of 1 of 1.5 parts
    shares = {row[0].strip(): row[2] for row in told(tmp_path, "explain", "mine.json")}
    assert shares["emotion_va"] == "44.4%"
    assert "Pays for | long drafts." in attune_here("rewards explain mine.py", tmp_path)[0]
    assert "# Reward emotion" in attune_here("rewards explain mine.py:other", tmp_path)[0]


def test_a_reward_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "beside_it.py").write_text("WEIGHT = 2")
    text = "from beside_it import WEIGHT\nfrom attune_env import RewardSpec\n"
    (tmp_path / "sub" / "MINE.PY").write_text(text + "reward = RewardSpec.weighted('two', {'q1': WEIGHT})")
    assert "# Reward two" in attune_here("rewards explain sub/MINE.PY", tmp_path)[0]


@pytest.mark.parametrize(("name", "text", "says", "code"), [
    ("x.json", '{"weights": {"emotion": 1}}', 'no reward part named "emotion"', 1),
    ("x.json", '{"weights": {}}', "a reward needs at least one part", 1),
    ("x.json", "{", "line 1", 1),
    ("x.json", '{"preset": "skill", "wieghts": {}}', "wieghts: found an empty object, expected no key", 1),
    ("x.json", '{"weights": {"q1": 1}, "baselines": {"q3": "x"}}', "baseline of part 'q3' is", 1),
    ("x.json", '{"tree": {"name": "a", "children": 3}}', "tree.children: found 3, expected a list", 1),
    ("x.py", "y = 1", "found no RewardSpec, expected a RewardSpec named reward", 1),
    ("x.py", MINE.replace("reward =", "mine ="), "found mine, other, expected a RewardSpec named reward", 1),
    ("x.py", "x = 0\n1 / x", "x.py: line 2: found ZeroDivisionError: division by zero", 1),
    ("x.py", "def f(:", "x.py: line 1: found SyntaxError", 1),
    ("x.py", "import sys\nsys.exit(0)", "x.py: line 2: found SystemExit: 0", 1),
    ("none.py", None, "no such file", 1),
    ("composit", None, "did you mean 'composite'?", 2),
    ("x.json", f'{{"weights": {{"q1": 1{"0" * 400}}}}}', "weight of part 'q1' is 1000", 1),
])  # fmt: skip
def test_a_reward_that_cannot_be_read_is_told_where_and_why(
    name: str, text: str | None, says: str, code: int, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    for words in ("explain", "audit --spec"):
        assert says in attune_here(f"rewards {words} {name}", tmp_path, code)[1]


@pytest.mark.slow
def test_the_audit_passes_skill_and_fails_a_reward_that_pays_for_talk(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    command = "rewards audit --data written --reward skill --reward mine.py --output audit.md"
    out, _ = attune_here(command, tmp_path, 1)
    lines = [line.split("\t") for line in out.splitlines() if line and not line.startswith("#")]
    verdicts = {row[0]: row for row in lines[1:3]}
    assert verdicts["skill"][1].startswith("passes")
    assert float(verdicts["skill"][5].split()[0]) < 0.02
    failed = verdicts["skill+talk"][1]
    assert failed.startswith("FAILS: ")
    assert failed.endswith("sycophancy, searched earns more than the prior")  # and what else is long
    page = (tmp_path / "audit.md").read_text("utf-8")
    assert f"`attune {command}`" in page
    assert page.count("\n## ") == 4
    assert all(line.endswith("|") for line in page.splitlines() if line.startswith("|"))


def test_a_page_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Mine\n")
    data_folder(tmp_path / "data")
    ask = "rewards audit --data data --spec preference -o notes.md"
    assert "notes.md: line 1: found another kind of file" in attune_here(ask, tmp_path, 1)[1]
    assert (tmp_path / "notes.md").read_text() == "# Mine\n"
    attune_here(f"{ask} --overwrite", tmp_path)
    assert (tmp_path / "notes.md").read_text("utf-8").startswith("<!-- made by attune rewards audit")
    attune_here(ask, tmp_path)  # an earlier page may be


def test_the_audit_is_json_on_request(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text("{}")
    data_folder(tmp_path / "data")
    ask = "rewards audit --data data --reward preference --json -o"
    assert (
        "expected a new name or an earlier report of an audit"
        in attune_here(f"{ask} scores.json", tmp_path, 1)[1]
    )
    out, err = attune_here(f"{ask} audit.json", tmp_path)
    assert json.loads(out) == json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert json.loads(out)["rewards"][0]["results"][0]["check_id"] == "semantic.oracle_max"
    assert "wrote audit.json" in err


def test_the_page_in_the_docs_is_of_this_data_and_these_parts() -> None:
    """Made by hand with `attune rewards audit -o docs/audit.md`: it must follow what it was made from."""
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    written = load("written")
    assert f"data: written ({len(written)} conversations, {written.fingerprint})" in page
    nulls = describe_reward(RewardSpec.preset("skill"))["baselines"]
    shown = {row.split(" | ")[0].strip("| "): row for row in page.splitlines() if row.startswith("| ")}
    assert set(nulls) <= set(shown)
    failed = {row.split(" | ")[0].strip("| ") for row in page.splitlines() if "| FAILS" in row}
    assert failed == {"emotion"}  # docs/rewards.md says why
