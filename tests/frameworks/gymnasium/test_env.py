"""`Attune/Conversation-v0`: what it shows, takes, pays and says."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from attune_data import Conversations, load
from attune_data.errors import DataError, SettingsError, UnknownNameError
from attune_env.testing import filler
from attune_episodes import Episode, Settings, builtin_policy, plan
from attune_episodes.frameworks.gymnasium import ConversationEnv, no_answer
from attune_episodes.play.policy import prepared
from attune_episodes.protocol.settings import PANAS_STRATEGIES
from attune_rewards import (
    STAGES,
    RewardSpec,
    read_record,
    score_conversation,
)
from tests.frameworks.gymnasium.play import WRAPPERS, episode, make, played, random_act
from tests.play.players import UNREADABLE, example, unannotated

SAMPLE = load("sample")
FIRST = SAMPLE[0].conversation_id
ASKED = ("assess", "prefer", "reflect")
STEPS = ("turn", "request")


def bits(observation: dict[str, Any], name: str) -> list[int]:
    return np.flatnonzero(observation[name]).tolist()


# --- what is shown ------------------------------------------------------------------------------------


def test_by_request_observations_show_what_the_requests_show() -> None:
    env = make(step="request", stages=STAGES)
    observation, info = env.reset(options={"conversation_id": FIRST})
    for request in plan(SAMPLE[0], Settings()):
        assert info["request"] == request
        assert info["stages"] == (request.stage,)
        assert bits(observation, "stages") == [STAGES.index(request.stage)]
        assert info["turn"] == observation["turn"] == (request.turn or 0)
        wanted = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
        assert observation["messages"] == wanted.rstrip("\n")
        assert len(bits(observation, "questions")) == len(request.questions)
        assert bits(observation, "comparisons") == sorted(c.number - 1 for c in request.comparisons)
        assert env.observation_space.contains(observation)
        observation, _, _, _, info = env.step(no_answer(hp=True))
        assert info["scored"] == request.id
    assert not {"request", "stages"} & set(info)
    assert (observation["messages"], observation["turn"], info["turn"]) == ("", 0, 0)
    assert not any(bits(observation, name) for name in ("stages", "fields", "questions", "comparisons"))
    assert env.observation_space.contains(observation)


def test_by_default_a_step_presents_a_turn_and_reflect_comes_last() -> None:
    env = make()
    _, infos = episode(env, lambda *_: no_answer(), options={"index": 0})
    assert [info["stages"] for info in infos[:-1]] == [("assess", "prefer")] * len(SAMPLE[0].turns) + [
        ("reflect",)
    ]
    assert [info["turn"] for info in infos] == [*range(1, len(SAMPLE[0].turns) + 1), 0, 0]
    assert infos[-1]["result"]["attune"]["protocol_exact"] is False


# --- what is paid ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WRAPPERS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
def test_the_oracle_earns_one_in_every_form(form: str, step: str, strategy: str) -> None:
    data = [*SAMPLE[:3], *filler(1, holes=0.3)]
    oracle = builtin_policy("oracle", data)
    for about in data:
        rewards, infos = played(oracle, about, form, step=step, panas_strategy=strategy)
        assert infos[-1]["total"] == pytest.approx(1, abs=1e-12), about
        assert math.fsum(rewards) == pytest.approx(1, abs=1e-12)
        assert infos[-1]["metrics"]["composite_strict"] == pytest.approx(100, abs=1e-9)
        assert all(part == pytest.approx(1) for info in infos[1:] for part in info["parts"].values())


@pytest.mark.parametrize("form", WRAPPERS)
@pytest.mark.parametrize("preset", ["composite", "skill+format"])
def test_it_pays_what_the_engine_pays_and_records_what_it_records(form: str, preset: str) -> None:
    composite = preset == "composite"
    spec = RewardSpec.preset("composite") if composite else RewardSpec.preset("skill").with_format(0.2)
    for name in ("lexicon", "random"):
        policy = builtin_policy(name, SAMPLE)
        for about in SAMPLE[:2]:
            engine, reader = Episode(about, Settings(), spec), prepared(policy, about)
            while not engine.done:
                engine.submit(str(reader.reply(engine.request)))
            rewards, infos = played(policy, about, form, reward=spec, step="request")
            assert rewards == [step.reward for step in engine.steps]
            assert (infos[-1]["total"], infos[-1]["total_name"]) == (engine.total, engine.total_name)
            for info, step in zip(infos[1:], engine.steps, strict=True):
                assert info["parts"] == dict(step.score.parts)
                assert (info["value"], info["scored"]) == (step.score.value, step.request.id)
                assert info["status"] == {step.request.stage: step.status}
            record = dict(infos[-1]["result"])
            assert json.loads(json.dumps(record)) == record
            said, _ = read_record(record, about)
            assert dict(infos[-1]["metrics"]) == score_conversation(about, said)
            wanted = engine.result(facts={"run_timestamp": record["run_timestamp"]})
            wanted["attune"]["protocol_exact"] = True
            if form == "structured":  # the order of the tags is not in a structured action
                for one in (record, wanted):
                    for turn in one["turns"]:
                        turn["em_emotion_tags"] = sorted(turn["em_emotion_tags"], key=str)
                        turn["attune"].pop("replies")
                    one["post_conversation"]["attune"].pop("replies")
            assert record == wanted


def test_a_worked_episode() -> None:
    # one turn: tags, two questions, two comparisons
    data = Conversations([example()])
    env = make(step="request", data=data, stages=("assess", "prefer"), labels="official")
    env.reset()
    action = no_answer()
    action["emotions"][13] = 5  # Upset, and nothing else: right
    action["observed"][:2] = 2, 2  # B1 yes is right, B2 is no
    action["preferred"][0] = 1  # B1 no is right, B2 is not answered
    action["picks"][:2] = 2, 2  # B and A are the winners
    _, first, _, _, info = env.step(action)
    assess = {"emotion_f1": 1.0, "emotion_va": 1.0, "binary_om": 0.5, "binary_hp": 0.5}
    assert info["parts"] == assess
    _, second, ended, _, info = env.step(action)
    assert ended
    assert info["parts"] == {"pairwise": 0.5}
    # emotion .24 and evaluation .49 share 1: .24/.73 * 1 + .49/.73 * (.5/2 + .5/2)
    assert first == pytest.approx(0.24 / 0.73 + 0.49 / 0.73 * 0.25)
    assert second == pytest.approx(0.49 / 0.73 * 0.25)
    assert info["total"] == float(first) + float(second)
    assert info["total_name"] == "composite_partial"
    turn = make(data=data, stages=("assess", "prefer"), labels="official")
    turn.reset()
    _, both, ended, _, info = turn.step(action)
    assert ended
    assert both == pytest.approx(info["total"])
    assert info["parts"] == assess | {"pairwise": 0.5}
    assert info["value"] == pytest.approx(info["total"])


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_text_that_cannot_be_read_is_a_scored_mistake(text: str) -> None:
    for step, stages in (("turn", ("assess", "prefer")), ("request", ("assess",))):
        env = make(step=step)
        env.reset(seed=0)
        _, reward, ended, _, info = env.step(text)
        assert (reward, ended, info["value"], set(info["parts"].values())) == (0, False, 0, {0.0})
        assert info["status"] == dict.fromkeys(stages, UNREADABLE[text])


def test_a_text_answers_each_stage_of_a_turn_under_its_name() -> None:
    env = make(data=SAMPLE[:1])
    env.reset()
    for text, assess, prefer in (
        ('Well: {"assess": {"emotions": []}, "prefer": "I cannot say"}', "ok", "unparsed:no_json"),
        ("nothing to say", "unparsed:no_json", "unparsed:no_json"),
        ('{"assess": {"emotions": []}}', "ok", "unparsed:no_fields"),
    ):
        assert env.step(text)[4]["status"] == {"assess": assess, "prefer": prefer}


# --- the end of an episode --------------------------------------------------------------------------------


def test_results_outlive_the_episode_and_travel() -> None:
    env = make(data=SAMPLE[:2], sampling="sequential", em_model="lab/one")
    _, infos = episode(env, random_act(masked=True), seed=0)
    env.reset()
    result = infos[-1]["result"]
    copies = [copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))]  # not read yet
    assert (result["conversationId"], result["em_model"]) == (FIRST, "lab/one")
    assert result["attune"]["complete"] is True
    assert all(dict(one) == dict(result) for one in copies)
    assert len(result) == len(list(result))
    assert repr(result).startswith("{'conversationId'")
    assert all("episode" not in info for info in infos)  # the key of the statistics wrapper


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
    with pytest.raises(ResetNeeded):
        ConversationEnv().action_mask()


def test_options_name_the_conversation_and_the_order_goes_on() -> None:
    env = make(sampling="sequential")
    names = [env.reset(seed=4)[1]["conversation_id"], env.reset()[1]["conversation_id"]]
    chosen = env.reset(options={"conversation_id": SAMPLE[9].conversation_id})[1]["conversation_id"]
    by_index = env.reset(options={"index": 11})[1]["conversation_id"]
    names.append(env.reset()[1]["conversation_id"])
    assert names == [one.conversation_id for one in SAMPLE[:3]]
    assert [chosen, by_index] == [SAMPLE[9].conversation_id, SAMPLE[11].conversation_id]


def test_conversations_that_the_stages_ask_nothing_of_are_passed_over() -> None:
    data = Conversations([unannotated(), example().model_copy(update={"conversation_id": "asked"})])
    env = make(data=data, stages=("prefer",), sampling="sequential")
    assert {env.reset()[1]["conversation_id"] for _ in range(3)} == {"asked"}
    with pytest.raises(SettingsError, match="ask nothing about"):
        env.reset(options={"index": 0})
    with pytest.raises(SettingsError, match="ask nothing about"):
        make(data=data[:1], stages=("prefer",)).reset()


# --- bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"stages": ("asess",)}, UnknownNameError, "did you mean 'assess'"),
        ({"stages": ()}, SettingsError, "no stage is asked"),
        ({"stages": "assess"}, SettingsError, "stages is a list of names"),
        ({"stages": 3}, SettingsError, "stages is 3; expected a list of names"),
        ({"prompts": "x" * 5_000}, UnknownNameError, "a folder of templates"),
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
        ({"dense": "False"}, SettingsError, 'dense is "False"; it must be True, False or None'),
        ({"dense": 1}, SettingsError, "dense is 1; it must be True, False or None"),
        ({"training": "no"}, SettingsError, 'training is "no"; it must be True or False'),
        ({"where": 3}, SettingsError, "where is 3; expected a text"),
        ({"render_mode": "rgb_array"}, TypeError, "ansi, human"),
    ],
)
def test_arguments_that_cannot_be_are_named_with_the_choices(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ConversationEnv(**arguments)


def test_a_reset_that_fails_names_the_choices_and_changes_nothing() -> None:
    one, other = (ConversationEnv() for _ in range(2))
    for env in (one, other):
        env.reset(seed=3)
    options: Any
    for options, error, message in (
        ({"conversation": FIRST}, UnknownNameError, "conversation_id, index"),
        ({"conversation_id": FIRST + "x"}, UnknownNameError, "did you mean"),
        ({"conversation_id": [FIRST]}, SettingsError, "must be a text"),
        ({"conversation_id": FIRST, "index": 0}, SettingsError, "not both"),
        ({"index": "0"}, SettingsError, "whole number"),
        ({"index": 999}, SettingsError, "has 20 conversations"),
        (5, SettingsError, "options is 5; expected a dict with conversation_id or index"),
    ):
        with pytest.raises(error, match=message):
            one.reset(seed=9, options=options)
    names = [[env.reset()[1]["conversation_id"] for _ in range(3)] for env in (one, other)]
    assert names[0] == names[1]
