"""`Attune/Conversation-v0`: what it shows, takes, pays and tells."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded

from attune_data import Conversations, load
from attune_data.errors import DataError, SettingsError, UnknownNameError
from attune_data.simulate import simulate
from attune_episodes import Episode, Settings, builtin_policy, plan
from attune_episodes.gymnasium_envs import ConversationEnv, no_answer
from attune_episodes.gymnasium_envs.spaces import FIELDS
from attune_episodes.policies.base import prepared
from attune_episodes.settings import MODES, PANAS_STRATEGIES
from attune_rewards import (
    PRESETS,
    STAGES,
    Assess,
    Prefer,
    RewardSpec,
    Tag,
    TurnPrediction,
    read_record,
    score_conversation,
)
from tests.episodes.players import UNREADABLE, example, unannotated
from tests.gymnasium_envs.play import ID, episode, inner, make, played, random_act, same

SAMPLE = load("sample")
FIRST = SAMPLE[0].conversation_id
ASKED = ("assess", "prefer", "reflect")


def bits(observation: dict[str, Any], name: str) -> list[int]:
    return np.flatnonzero(observation[name]).tolist()


# --- what is shown ------------------------------------------------------------------------------------


def test_observations_show_what_the_requests_show() -> None:
    env = make(stages=STAGES)
    observation, info = env.reset(options={"conversation_id": FIRST})
    requests = plan(SAMPLE[0], Settings())
    for request in requests:
        assert info["request"] == request
        assert info["stage"] == request.stage == STAGES[observation["stage"]]
        assert info["turn"] == observation["turn"] == (request.turn or 0)
        wanted = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
        assert observation["messages"] == wanted.rstrip("\n")
        assert len(bits(observation, "questions")) == len(request.questions)
        assert bits(observation, "comparisons") == sorted(c.number - 1 for c in request.comparisons)
        assert env.observation_space.contains(observation)
        observation, _, _, _, info = env.step(no_answer(hp=True))
    assert "request" not in info
    assert observation["messages"] == ""
    assert observation["stage"] == observation["turn"] == 0
    assert not any(bits(observation, name) for name in ("fields", "questions", "comparisons"))
    assert env.observation_space.contains(observation)


def test_the_mask_of_fields_names_what_counts() -> None:
    env = make(stages=STAGES)
    observation, _ = env.reset(seed=0)
    named = []
    for _ in range(4):
        named.append([FIELDS[slot] for slot in bits(observation, "fields")])
        observation = env.step(no_answer(hp=True))[0]
    assert named == [
        ["draft"],
        ["emotions", "none", "observed", "preferred"],
        ["observed_hp", "preferred_hp"],
        ["picks"],
    ]


def test_a_longer_text_loses_its_beginning_and_info_has_it_whole() -> None:
    env = make(max_chars=200)
    observation, info = env.reset(seed=1)
    whole = info["request"].messages[-1].content
    assert len(observation["messages"]) == 200
    assert observation["messages"] == f"…{whole.rstrip()[-199:]}"


def test_nothing_is_shared_between_calls() -> None:
    env = make()
    first, _ = env.reset(options={"index": 0})
    kept = copy.deepcopy(first)
    for name in ("fields", "questions", "comparisons"):
        first[name][:] = 1 - first[name]
    again, _ = env.reset(options={"index": 0})
    assert same(again, kept)


def test_the_default_asks_the_stages_that_carry_weight() -> None:
    _, infos = episode(make(), lambda *_: no_answer(), options={"index": 0})
    assert [info["stage"] for info in infos[:-1]] == ["assess", "prefer"] * len(SAMPLE[0].turns) + ["reflect"]


# --- what is paid ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["flat", "json", "typed"])
@pytest.mark.parametrize("step", ["request", "turn"])
@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
def test_the_oracle_earns_one_in_every_form_on_every_conversation(
    form: str, step: str, strategy: str
) -> None:
    data = [*SAMPLE, *simulate(6, seed=2), *simulate(3, seed=3, level="tangled")]
    oracle = builtin_policy("oracle", data)
    for about in data:
        rewards, infos = played(oracle, about, form, step=step, panas_strategy=strategy)
        assert infos[-1]["total"] == pytest.approx(1, abs=1e-12), about
        assert math.fsum(rewards) == pytest.approx(1, abs=1e-12)
        assert infos[-1]["metrics"]["composite_strict"] == pytest.approx(100, abs=1e-9)
        assert all(part == pytest.approx(1) for info in infos[1:] for part in info["parts"].values())


@pytest.mark.parametrize("preset", [*PRESETS, "format"])
@pytest.mark.parametrize("form", ["flat", "json", "typed"])
def test_it_pays_what_the_engine_pays(form: str, preset: str) -> None:
    spec = RewardSpec.preset("skill").with_format(0.2) if preset == "format" else RewardSpec.preset(preset)
    for name in ("lexicon", "prior", "random"):
        policy = builtin_policy(name, SAMPLE)
        for about in SAMPLE[:4]:
            engine, player = Episode(about, Settings(), spec), prepared(policy, about)
            while not engine.done:
                engine.submit(str(player.reply(engine.request)))
            rewards, infos = played(policy, about, form, reward=spec)
            assert rewards == pytest.approx([s.reward for s in engine.steps], abs=1e-12)
            assert infos[-1]["total"] == pytest.approx(engine.total, abs=1e-12)
            assert infos[-1]["total_name"] == engine.total_name
            for info, step in zip(infos[1:], engine.steps, strict=True):
                assert info["parts"] == pytest.approx(dict(step.score.parts))
                assert info["reason"] == step.score.reason
                assert info["scored"] == step.request.id
                assert info["status"] == step.status


def test_a_worked_episode() -> None:
    # one turn: tags, two questions, two comparisons; q2 and one branch at the end
    env = make(data=Conversations([example()]), stages=("assess", "prefer"), labels="official")
    env.reset()
    action = no_answer()
    action["emotions"][13] = 5  # Upset, and nothing else: right
    action["observed"][:2] = 2, 2  # B1 yes is right, B2 is no
    action["preferred"][0] = 1  # B1 no is right, B2 is not answered
    _, first, _, _, info = env.step(action)
    assert info["parts"] == {"emotion_f1": 1.0, "emotion_va": 1.0, "binary_om": 0.5, "binary_hp": 0.5}
    action["picks"][:2] = 2, 2  # B and A are the winners
    _, second, ended, _, info = env.step(action)
    assert ended
    assert info["parts"] == {"pairwise": 0.5}
    # emotion .24 and evaluation .49 share 1: .24/.73 * 1 + .49/.73 * (.5/2 + .5/2)
    assert first == pytest.approx(0.24 / 0.73 + 0.49 / 0.73 * 0.25)
    assert second == pytest.approx(0.49 / 0.73 * 0.25)
    assert info["total"] == float(first) + float(second)
    assert info["total_name"] == "composite_partial"


def test_terminal_rewards_come_with_the_last_step() -> None:
    policy = builtin_policy("lexicon", SAMPLE)
    dense, infos = played(policy, SAMPLE[0], "flat")
    for arguments in ({"dense": False}, {"reward": RewardSpec.preset("composite").terminal()}):
        rewards, again = played(policy, SAMPLE[0], "flat", **arguments)
        assert rewards[:-1] == [0.0] * (len(dense) - 1)
        assert rewards[-1] == infos[-1]["total"] == again[-1]["total"]
    back, _ = played(policy, SAMPLE[0], "flat", reward=RewardSpec.preset("composite").terminal(), dense=True)
    assert back == dense


def test_rewards_by_path_and_by_description(tmp_path: Path) -> None:
    told = {"name": "reading", "weights": {"emotion_va": 2, "pairwise": 1}}
    (tmp_path / "r.json").write_text(json.dumps(told), encoding="utf-8")
    totals = set()
    for reward in (
        told,
        str(tmp_path / "r.json"),
        RewardSpec.weighted("reading", {"emotion_va": 2, "pairwise": 1}),
    ):
        _, infos = played(builtin_policy("lexicon", SAMPLE), SAMPLE[0], "flat", reward=reward)
        assert infos[-1]["total_name"] == "reading"
        totals.add(infos[-1]["total"])
    assert len(totals) == 1


def test_what_is_not_annotated_is_not_scored() -> None:
    rewards, infos = played(builtin_policy("lexicon", SAMPLE), unannotated(), "flat", stages=ASKED)
    assert set(rewards) == {0.0}
    assert {info["reason"] for info in infos[1:]} == {"not_scored"}
    assert {info["value"] for info in infos[1:]} == {None}
    assert (infos[-1]["total"], infos[-1]["total_name"]) == (0.0, "not_scored")


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_text_that_cannot_be_read_is_a_scored_mistake(text: str) -> None:
    env = make()
    env.reset(seed=0)
    _, reward, ended, _, info = env.step(text)
    assert reward == 0
    assert not ended
    assert info["reason"] == info["status"] == UNREADABLE[text]
    assert info["value"] == 0
    assert set(info["parts"].values()) == {0.0}


def test_a_mistake_costs_only_its_own_step() -> None:
    oracle = prepared(builtin_policy("oracle", SAMPLE), SAMPLE[0])
    env, number = make(data=SAMPLE[:1]), 0

    def act(_: Any, info: dict[str, Any]) -> str:
        nonlocal number
        number += 1
        return "no" if number == 3 else str(oracle.reply(info["request"]))

    rewards, infos = episode(env, act)
    perfect, _ = episode(env, lambda _, info: str(oracle.reply(info["request"])))
    assert rewards[2] == 0
    assert rewards[:2] + rewards[3:] == perfect[:2] + perfect[3:]
    statuses = [turn["attune"]["outcomes"]["assess"] for turn in infos[-1]["result"]["turns"]]
    assert statuses[:2] == ["ok", "unparsed:no_json"]


# --- what is told at the end ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["flat", "json", "typed"])
def test_the_record_and_the_metrics_are_the_engines(form: str) -> None:
    policy, about = builtin_policy("lexicon", SAMPLE), SAMPLE[2]
    _, infos = played(policy, about, form)
    engine, player = Episode(about), prepared(policy, about)
    while not engine.done:
        engine.submit(str(player.reply(engine.request)))
    record = dict(infos[-1]["result"])
    wanted = engine.result(facts={"run_timestamp": record["run_timestamp"]})
    wanted["attune"]["protocol_exact"] = True
    if form == "flat":  # the order of the tags is not in a flat action
        for one in (record, wanted):
            for turn in one["turns"]:
                turn["em_emotion_tags"] = sorted(turn["em_emotion_tags"], key=str)
                turn["attune"].pop("replies")
            one["post_conversation"]["attune"].pop("replies")
    assert json.loads(json.dumps(record)) == record
    assert record == wanted
    assert dict(infos[-1]["metrics"]) == score_conversation(about, read_record(record, about)[0])


def test_results_outlive_the_episode_and_travel() -> None:
    env = make(data=SAMPLE[:2], sampling="sequential")
    _, infos = episode(env, random_act(masked=True), seed=0)
    env.reset()
    result = infos[-1]["result"]
    assert result["conversationId"] == FIRST
    assert result["attune"]["complete"] is True
    assert dict(pickle.loads(pickle.dumps(result))) == dict(copy.deepcopy(result)) == dict(result)
    assert len(result) == len(list(result))
    assert repr(result).startswith("{'conversationId'")


def test_what_the_caller_does_to_an_action_later_changes_nothing() -> None:
    env = make(data=SAMPLE[:1], stages=("assess",))
    env.reset()
    action, ended = no_answer(), False
    info: dict[str, Any] = {}
    while not ended:
        action["emotions"][:] = 0
        action["emotions"][3] = 2
        _, _, ended, _, info = env.step(action)
        action["emotions"][:] = 7
    assert {str(turn["em_emotion_tags"]) for turn in info["result"]["turns"]} == {
        "[{'emotion': 'Ashamed', 'intensity': 2}]"
    }


def test_info_never_uses_the_key_of_the_statistics_wrapper() -> None:
    _, infos = episode(make(), random_act(masked=False), seed=0)
    assert all("episode" not in info for info in infos)


def test_the_model_is_named_in_the_record() -> None:
    _, infos = episode(make(em_model="lab/one"), random_act(masked=False), seed=0)
    assert infos[-1]["result"]["em_model"] == "lab/one"


# --- by turn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["flat", "json", "typed"])
@pytest.mark.parametrize("stages", [STAGES, ASKED, ("assess", "reflect")])
def test_by_turn_pays_the_same_as_by_request(form: str, stages: tuple[str, ...]) -> None:
    for name in ("lexicon", "random", "oracle"):
        policy = builtin_policy(name, SAMPLE)
        for about in SAMPLE[:3]:
            by_request, one = played(policy, about, form, stages=stages)
            by_turn, two = played(policy, about, form, stages=stages, step="turn")
            assert len(by_turn) == len(about.turns) + 1
            assert two[-1]["total"] == one[-1]["total"]
            assert by_turn[-1] == by_request[-1]
            each = (len(by_request) - 1) // len(about.turns)
            for turn in range(len(about.turns)):
                wanted = math.fsum(by_request[turn * each : (turn + 1) * each])
                assert by_turn[turn] == pytest.approx(wanted, abs=1e-12)
            records = [dict(infos[-1]["result"]) for infos in (one, two)]
            assert [r["attune"].pop("protocol_exact") for r in records] == [True, False]
            for record in records:
                record.pop("run_timestamp")
            assert records[0] == records[1]


def test_by_turn_shows_all_that_the_turn_asks() -> None:
    env = make(step="turn", stages=STAGES)
    observation, info = env.reset(options={"conversation_id": FIRST})
    requests = plan(SAMPLE[0])[:4]
    assert info["requests"] == requests
    assert info["stages"] == STAGES[:4]
    for request in requests:
        assert request.messages[-1].content.strip() in observation["messages"]
        assert f"# {request.stage}" in observation["messages"]
    assert "keys draft, assess, assess_hp, prefer" in observation["messages"]
    wanted = [*(n for n in FIELDS if n not in ("branches", "follow_up", "panas", "q1", "q2", "q3"))]
    assert [FIELDS[slot] for slot in bits(observation, "fields")] == wanted
    assert len(bits(observation, "comparisons")) == 12
    observation, _, _, _, info = env.step(no_answer(hp=True))
    assert info["status"] == {"draft": "unparsed:empty", "assess": "ok", "assess_hp": "ok", "prefer": "ok"}
    assert info["scored"] == f"{FIRST}/1"
    assert info["turn"] == 2


def test_by_turn_a_text_answers_each_stage_under_its_name() -> None:
    env = make(step="turn", data=SAMPLE[:1])
    env.reset()
    _, _, _, _, info = env.step('Well: {"assess": {"emotions": []}, "prefer": "I cannot say"}')
    assert info["status"] == {"assess": "ok", "prefer": "unparsed:no_json"}
    _, reward, _, _, info = env.step("nothing to say")
    assert reward == 0
    assert info["status"] == {"assess": "unparsed:no_json", "prefer": "unparsed:no_json"}
    _, _, _, _, info = env.step('{"assess": {"emotions": []}}')
    assert info["status"] == {"assess": "ok", "prefer": "unparsed:no_fields"}


def test_by_turn_a_typed_answer_may_leave_stages_out() -> None:
    env = make(step="turn", data=SAMPLE[:1])
    env.reset()
    _, _, _, _, info = env.step(TurnPrediction(turn=1, assess=Assess((Tag("Upset", 3),))))
    assert info["status"] == {"assess": "ok", "prefer": "unparsed:empty"}
    for wrong, told in (
        (Assess(()), "expected a flat action, text or TurnPrediction"),
        (TurnPrediction(turn=1), "answers turn 1, expected turn 2"),
        (TurnPrediction(turn=2, assess=Prefer()), "stage assess takes Assess or text"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidAction, match=told):
            env.step(wrong)


# --- resetting, ending, choosing ----------------------------------------------------------------------


def test_stepping_before_the_first_reset_and_after_the_end_needs_a_reset() -> None:
    for env in (ConversationEnv(stages=("reflect",)), make(stages=("reflect",))):
        with pytest.raises(ResetNeeded):
            env.step(no_answer())
        env.reset(seed=0)
        assert env.step(no_answer())[2] is True
        for _ in range(2):
            with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
                env.step(no_answer())
        env.reset()
        assert env.step(no_answer())[2] is True


def test_an_invalid_action_changes_nothing() -> None:
    env = make(step="turn", data=SAMPLE[:1])
    env.reset()
    bad = no_answer()
    bad["picks"][0] = 3  # assess is read before
    for action in (bad, {}, 3, None, [no_answer()], object()):
        with pytest.raises(InvalidAction):
            env.step(action)
    assert inner(env).done == []
    _, reward, _, _, info = env.step(no_answer())
    assert info["scored"].endswith("/1")
    assert float(reward) >= 0


def test_options_name_the_conversation_and_the_order_goes_on() -> None:
    env = make(sampling="sequential")
    names = [env.reset(seed=4)[1]["conversation_id"], env.reset()[1]["conversation_id"]]
    chosen = env.reset(options={"conversation_id": SAMPLE[9].conversation_id})[1]["conversation_id"]
    by_index = env.reset(options={"index": 11})[1]["conversation_id"]
    names.append(env.reset()[1]["conversation_id"])
    assert names == [one.conversation_id for one in SAMPLE[:3]]
    assert [chosen, by_index] == [SAMPLE[9].conversation_id, SAMPLE[11].conversation_id]


def test_passes_are_counted() -> None:
    env = make(number=2, sampling="sequential")
    assert [env.reset()[1]["pass"] for _ in range(5)] == [0, 0, 1, 1, 2]
    assert env.step(no_answer())[4]["pass"] == 2
    assert env.reset(seed=1)[1]["pass"] == 0


def test_the_same_seed_gives_the_same_episodes() -> None:
    for data in ({"data": "sample"}, {"data": "simulated", "world_seed": 3, "level": "plain"}):
        one, two = make(**data), make(**data)
        seen = []
        for env in (one, two, one):
            names = [env.reset(seed=5)[1]["conversation_id"]]
            names += [env.reset()[1]["conversation_id"] for _ in range(4)]
            seen.append(names)
        assert seen[0] == seen[1] == seen[2]
        assert one.reset(seed=6)[1]["conversation_id"] != seen[0][0]


def test_conversations_that_the_stages_ask_nothing_of_are_passed_over() -> None:
    data = Conversations([unannotated(), example().model_copy(update={"conversation_id": "asked"})])
    env = make(data=data, stages=("prefer",), sampling="sequential")
    assert {env.reset()[1]["conversation_id"] for _ in range(3)} == {"asked"}
    with pytest.raises(SettingsError, match="ask nothing of"):
        env.reset(options={"index": 0})
    with pytest.raises(SettingsError, match="ask nothing of"):
        make(data=data[:1], stages=("prefer",)).reset()


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_plays(mode: str) -> None:
    _, infos = episode(make(mode=mode, prompts="compact"), random_act(masked=True), seed=0)
    assert infos[-1]["result"]["mode"] == mode


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"stages": ("asess",)}, UnknownNameError, "did you mean 'assess'"),
        ({"stages": ()}, SettingsError, "no stage is asked"),
        ({"stages": "assess"}, SettingsError, "stages is a list of names"),
        ({"step": "turns"}, UnknownNameError, "did you mean 'turn'"),
        ({"mode": "loud"}, UnknownNameError, "verbose_omniscient"),
        ({"panas_strategy": "x"}, UnknownNameError, "blind_delta"),
        ({"labels": "x"}, UnknownNameError, "official"),
        ({"labels_seed": 0.5}, SettingsError, "whole number"),
        ({"reward": "composit"}, UnknownNameError, "did you mean 'composite'"),
        ({"reward": {"weights": {"pairwise": -1}}}, DataError, "above 0"),
        ({"max_chars": 0}, SettingsError, "at least 1"),
        ({"data": "nowhere"}, DataError, "no such file or folder"),
        ({"data": Conversations([])}, DataError, "at least one conversation"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_are_named_with_the_choices(
    arguments: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        ConversationEnv(**arguments)


def test_reset_options_that_cannot_be_are_named_with_the_choices() -> None:
    env = make()
    with pytest.raises(UnknownNameError, match="conversation_id, index"):
        env.reset(options={"conversation": FIRST})
    with pytest.raises(UnknownNameError, match="did you mean"):
        env.reset(options={"conversation_id": FIRST + "x"})
    with pytest.raises(SettingsError, match="must be a text"):
        env.reset(options={"conversation_id": [FIRST]})
    with pytest.raises(SettingsError, match="not both"):
        env.reset(options={"conversation_id": FIRST, "index": 0})
    with pytest.raises(SettingsError, match="whole number"):
        env.reset(options={"index": "0"})


def test_an_unknown_render_mode_is_named() -> None:
    with pytest.raises(TypeError, match="ansi, human"):
        ConversationEnv(render_mode="rgb_array")


def test_helpers_that_ask_for_pictures_first_get_the_environment_without() -> None:
    """As `make_vec_env` of stable-baselines3 does: "rgb_array", and without it after a TypeError."""
    with pytest.warns(UserWarning, match="not in the possible render_modes"), pytest.raises(TypeError):
        gymnasium.make(ID, render_mode="rgb_array")
    assert gymnasium.make(ID).render_mode is None


def test_the_id_is_registered_for_make() -> None:
    assert ID.endswith("Attune/Conversation-v0")
    assert inner(make()).spec is not None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("picks", np.array([1, 2, 1], np.int32)),
        ("picks", np.zeros((3, 4), np.int8)),
        ("picks", np.zeros(6, np.int16)),
        ("picks", np.int8(1)),
    ],
)
def test_an_array_of_another_kind_with_as_many_bytes_is_no_action(field: str, value: Any) -> None:
    env = ConversationEnv(sampling="sequential", stages=("prefer",))
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match="picks"):
        env.step({**no_answer(), field: value})


def test_what_a_user_does_to_info_changes_nothing() -> None:
    env = ConversationEnv(sampling="sequential", render_mode="ansi")
    _, info = env.reset(seed=0)
    for name in ("options", "responses", "shown_labels"):
        with pytest.raises(TypeError, match="a request cannot be changed"):
            getattr(info["request"], name)["q2_emotionClarity"] = ("a",)
    _, _, _, _, info = env.step(no_answer())
    before = env.render()
    info["parts"]["emotion_f1"] = 9.0
    assert env.render() == before


def test_a_reset_that_fails_changes_nothing() -> None:
    one, other = (ConversationEnv() for _ in range(2))
    for env in (one, other):
        env.reset(seed=3)
    with pytest.raises(SettingsError):
        one.reset(seed=9, options={"index": 999})
    with pytest.raises(SettingsError, match="options is 5; expected a dict with conversation_id or index"):
        one.reset(options=5)  # type: ignore[arg-type]
    assert [one.reset()[1]["conversation_id"] for _ in range(3)] == [
        other.reset()[1]["conversation_id"] for _ in range(3)
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"dense": "False"}, 'dense is "False"; it must be True, False or None'),
        ({"dense": 1}, "dense is 1; it must be True, False or None"),
        ({"training": "no"}, 'training is "no"; it must be True or False'),
        ({"where": 3}, "where is 3; expected a text"),
    ],
)
def test_flags_and_conditions_of_another_kind_are_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        ConversationEnv(**arguments)
