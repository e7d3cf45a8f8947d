"""Our environment in the real SkyRL-gym: made by `skyrl_gym.make`, stepped as its generator steps them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import datasets
import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")


from attune_data import DataError, SettingsError, load  # noqa: E402
from attune_data.extras import UntestedVersionWarning  # noqa: E402
from attune_episodes import Settings, builtin_policy, rollout, score_row  # noqa: E402
from attune_episodes.frameworks import skyrl  # noqa: E402
from attune_episodes.frameworks.skyrl import register_environments  # noqa: E402
from attune_episodes.play.episode import EpisodeOverError  # noqa: E402
from attune_episodes.training import to_skyrl, training_dataset  # noqa: E402
from tests.extras.pages import run_page  # noqa: E402
from tests.training.batches import replies  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    register_environments()
    register_environments()  # twice is once


def made(row: dict[str, Any], most: int = 1) -> Any:
    """An environment as SkyRL's generator makes it: every column but the prompt and the class is an extra."""
    extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}
    return skyrl_gym.make(row["env_class"], env_config={}, extras={**extras, "max_turns": most})


def played(row: dict[str, Any], answers: list[str]) -> tuple[float, list[dict[str, str]], Any]:
    """The loop of SkyRL's generator: the summed reward, the chat, and the environment."""
    env = made(row)
    chat, _ = env.init([dict(message) for message in row["prompt"]])
    total, done, said = 0.0, False, iter(answers)
    while not done:
        answer = next(said)
        step = env.step(answer)
        chat = [*chat, {"role": "assistant", "content": answer}, *step["observations"]]
        total += step["reward"]
        done = step["done"]
    assert next(said, None) is None
    return total, chat, env


def test_one_request_pays_the_rows_own_reward() -> None:
    rows = training_dataset("sample").select(range(30))
    for row, given in zip(rows, to_skyrl(rows), strict=True):
        for text in (*replies()[row["id"]], "no JSON"):
            total, chat, env = played(given, [text])
            want = score_row(row, text)
            assert total == want.value
            assert chat[:-1] == row["prompt"]
            metrics = env.get_metrics()
            assert metrics == {"return": want.value, **want.parts, "parse_rate": float(want.reason == "ok")}


@pytest.mark.parametrize("reward", ["composite", "skill"])
def test_a_whole_conversation_pays_each_requests_share_at_its_step(reward: str) -> None:
    about, settings = load("sample")[0], Settings()
    rows = training_dataset([about], settings=settings, reward=reward)
    (given,) = to_skyrl(rows, whole=True)
    want = rollout(about, builtin_policy("lexicon", load("sample")), settings, reward)
    steps = {step.request.id: step for step in want.steps}
    env = made(given, 20)
    env.init(given["prompt"])
    earned = []
    for row in rows:
        step = env.step(steps[row["id"]].reply)
        earned.append(step["reward"])
        assert step["reward"] == steps[row["id"]].reward
        assert step["done"] == (len(earned) == len(rows))
        assert bool(step["observations"]) != step["done"]
    assert sum(earned) == pytest.approx(want.total, abs=1e-12)
    metrics = env.get_metrics()
    assert (metrics.pop("return"), metrics.pop("parse_rate")) == (sum(earned), 1.0)
    assert metrics == want.parts
    with pytest.raises(EpisodeOverError, match="init"):
        env.step("more")


def test_a_conversation_that_would_be_cut_short_or_was_not_made_by_us_is_refused() -> None:
    given = to_skyrl(training_dataset("sample", number=1), whole=True)[0]
    with pytest.raises(SettingsError, match=r"max_turns is 1, .* has 11 requests; set generator\.max_turns"):
        made(given)
    for truth in ("42", "[]]", '[["", 3]]'):
        with pytest.raises(DataError, match="found"):
            made({**given, "reward_spec": {"ground_truth": truth}})


@pytest.mark.parametrize("action", ["", "{", "<think>", '{"emotions": ' * 300, "\ud800", "x" * 1_000_001])
def test_whatever_a_model_writes_is_scored(action: str) -> None:
    row = to_skyrl(training_dataset("sample", number=1, reward="composite"))[0]
    env = made(row)
    env.init(row["prompt"])
    step = env.step(action)
    assert (step["reward"], step["done"]) == (0.0, True)
    assert step["metadata"]["reason"].startswith("unparsed:")


def test_after_the_end_a_step_is_refused_and_init_starts_anew() -> None:
    row = to_skyrl(training_dataset("sample").select([0]))[0]
    env = made(row)
    env.init(row["prompt"])
    first = env.step("no JSON")
    with pytest.raises(EpisodeOverError, match="init"):
        env.step("more")
    env.init(row["prompt"])
    assert env.get_metrics() == {}
    assert env.step("no JSON") == first


@pytest.mark.parametrize("extras", [
    {}, {"reward_spec": None}, {"reward_spec": {}}, {"reward_spec": {"ground_truth": "42"}},
])  # fmt: skip
def test_rows_without_a_truth_of_ours_are_refused_when_the_environment_is_made(extras: Any) -> None:
    with pytest.raises(DataError, match="found"):
        skyrl_gym.make("attune-request", env_config=None, extras=extras)


def test_another_version_of_skyrl_gym_is_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_environments()  # the installed one is one that was tested
    monkeypatch.setattr(skyrl, "TESTED", ("9.7", "9.8"))
    with pytest.warns(UntestedVersionWarning, match=r"skyrl-gym 0\.4.* is installed.*9\.7"):
        register_environments()


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names, _ = run_page("trainers.md", '"sample", number=2, ', section="SkyRL")
    assert len(datasets.Dataset.from_parquet("conversations.parquet", cache_dir=str(tmp_path / "cache"))) == 2
    rows = datasets.Dataset.from_parquet("train.parquet", cache_dir=str(tmp_path / "cache"))
    assert names["register_environments"] is register_environments
    total, _, _ = played(rows[0], ["no JSON"])
    assert total == score_row({"truth": rows[0]["reward_spec"]["ground_truth"]}, "no JSON").value


def test_a_part_of_your_own_reaches_the_environment(tmp_path: Path) -> None:
    mine = tmp_path / "my_reward.py"
    mine.write_text(
        "from attune_env import RewardSpec\n"
        'reward = RewardSpec.weighted("mine", {"q2": 1}).with_part("one", "draft", lambda *_: 0.5, 1)\n'
    )
    rows = training_dataset("sample", number=1, stages=["draft"], reward=str(mine))
    register_environments(str(mine))
    try:
        total, _, env = played(to_skyrl(rows, spec=str(mine))[0], ["I hear you."])
    finally:
        register_environments()
    assert total == 0.5
    assert env.get_metrics() == {"return": 0.5, "one": 0.5, "parse_rate": 1.0}
