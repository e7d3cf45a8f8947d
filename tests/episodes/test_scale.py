"""What RL at scale leans on: flat memory, pickling, plans that cannot be changed, threads of errors."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from attune_data import Conversation, load
from attune_data.memo import KEPT
from attune_episodes import Episode, Rollout, Settings, builtin_policy, plan, rollout, rollout_batch, score
from attune_episodes.parsing import parse
from attune_episodes.prompts import FOLDER
from attune_rewards import RewardSpec, Score

SAMPLE = load("sample")


def fresh() -> Conversation:
    return load("sample")[0]


def test_new_specs_and_seeds_do_not_grow_what_is_kept() -> None:
    about = fresh()
    for seed in range(3 * KEPT):
        episode = Episode(about, Settings(seed=seed), RewardSpec.weighted("own", {"q2": 1.0 + seed}))
        episode.submit("draft")
    assert {kind: len(kept) for kind, kept in about.memo.items() if isinstance(kept, dict)} == {
        "plans": KEPT,
        "rewards": KEPT,
    }


def test_a_preset_by_name_is_one_object() -> None:
    assert RewardSpec.preset("emotion") is RewardSpec.preset("emotion")
    assert hash(RewardSpec.preset("skill")) == hash(pickle.loads(pickle.dumps(RewardSpec.preset("skill"))))


def test_what_was_used_still_pickles_and_compares() -> None:
    about, asked = fresh(), Settings(seed=2)
    played = rollout(about, builtin_policy("longest", SAMPLE), asked)
    for thing in (about, asked, plan(about, asked), played.steps, RewardSpec.preset("composite")):
        assert pickle.loads(pickle.dumps(thing)) == thing
    assert copy.deepcopy(asked) == asked
    assert hash(pickle.loads(pickle.dumps(asked))) == hash(asked)


def test_a_deep_copy_shares_nothing_that_can_change() -> None:
    about = fresh()
    other = copy.deepcopy(about)
    assert other == about
    assert about.pre_panas is not None
    assert other.pre_panas is not None
    assert other.pre_panas.responses is not about.pre_panas.responses


def test_a_kept_plan_cannot_be_changed_from_outside() -> None:
    about = fresh()
    request = plan(about)[1]
    request.schema["required"].clear()
    request.chat()[0]["content"] = "changed"
    with pytest.raises(TypeError):
        request.messages[0]["content"] = "changed"  # type: ignore[index]  # the slip under test
    again = plan(about)[1]
    assert again.schema["required"]
    assert again.messages == plan(fresh())[1].messages


def test_a_request_of_another_conversation_is_refused() -> None:
    request = plan(SAMPLE[0])[1]
    with pytest.raises(ValueError, match="is no request of 'sample-02'"):
        score(SAMPLE[1], request, parse(request, "{}"))


@pytest.mark.parametrize(("stage", "turn"), [("asess", 1), ("assess", 99), ("assess", None), ("reflect", 1)])
def test_a_stage_or_turn_that_is_not_there_is_a_bug_and_raises(stage: str, turn: int | None) -> None:
    from attune_rewards import score_request

    with pytest.raises(LookupError):
        score_request(SAMPLE[0], stage, turn, None, RewardSpec.preset("composite"))  # type: ignore[arg-type]


def test_a_misspelt_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="rewards"):
        rollout(SAMPLE[0], lambda _: "{}", rewards="emotion")  # type: ignore[call-arg]  # the slip


def test_an_error_of_a_policy_names_the_request() -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise RuntimeError("rate limit")

    with pytest.raises(RuntimeError, match="rate limit") as caught:
        rollout_batch(SAMPLE[:2], broken)
    assert caught.value.__notes__ == ["while 'broken' answered sample-01/1/draft"]


def test_a_sync_policy_may_run_a_loop_of_its_own() -> None:
    import asyncio

    async def client() -> str:
        await asyncio.sleep(0)
        return "{}"

    assert rollout(SAMPLE[0], lambda _: asyncio.run(client())).total == 0.0


def test_no_content_counts_as_an_empty_reply() -> None:
    step = Episode(SAMPLE[0], Settings(stages=("assess",))).submit(None)
    assert (step.status, step.score.value) == ("unparsed:empty", 0.0)


def test_a_total_of_nothing_is_named_so() -> None:
    episode = Episode(SAMPLE[0], Settings(stages=("draft",)))
    assert (episode.total, episode.total_name) == (0.0, "not_scored")


def test_templates_of_others_cannot_reach_the_machine(tmp_path: Path) -> None:
    for file in (FOLDER / "compact").iterdir():
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    (tmp_path / "draft.md").write_text("{{ cycler.__init__.__globals__.os.popen('id').read() }}", "utf-8")
    with pytest.raises(ValueError, match=r"draft\.md"):
        plan(fresh(), Settings(prompts=str(tmp_path)))


@pytest.mark.parametrize(("arguments", "message"), [
    ({"mode": None}, "no mode named"), ({"stages": "reflect"}, "list of names"),
    ({"seed": "x"}, "whole number"), ({"prompts": "ful"}, "did you mean 'full'"),
])  # fmt: skip
def test_wrong_settings_are_told_at_once(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, LookupError), match=message):
        Settings(**arguments)  # type: ignore[arg-type]  # the slips under test


@pytest.mark.parametrize("wrong", [SAMPLE, "sample", None])
def test_an_episode_is_of_one_conversation(wrong: object) -> None:
    with pytest.raises(TypeError, match="one Conversation"):
        Episode(wrong)  # type: ignore[arg-type]  # the slip under test


def test_long_things_have_short_names() -> None:
    played = rollout(fresh(), builtin_policy("oracle", SAMPLE))
    things = [played, played.conversation, played.steps[1], played.steps[1].request]
    assert all(len(repr(thing)) < 120 for thing in things)
    assert isinstance(played, Rollout)
    assert Score(None).reward == 0.0
