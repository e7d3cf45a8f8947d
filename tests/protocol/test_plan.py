"""The fixed list of requests that a conversation comes to."""

from __future__ import annotations

import pytest

from attune_episodes import MODES, Settings, plan
from attune_episodes.protocol.prompts import PromptSet
from attune_episodes.protocol.settings import Mode
from tests.play.builders import ASKED, EVERY_SETTING, conversation, judgements, turn

TURN_STAGES = ["draft", "assess", "assess_hp", "prefer"]
NONE_APPLICABLE = [j for j in judgements() if j["questionId"] not in ASKED]


def test_each_turn_asks_its_stages_in_order_and_reflect_comes_last() -> None:
    want = [(n, stage) for n in (1, 2) for stage in TURN_STAGES]
    asked = [(request.turn, request.stage) for request in plan(conversation())]
    assert asked == [*want, (None, "reflect")]


@pytest.mark.parametrize(
    ("here", "want"),
    [
        (turn(1), TURN_STAGES),
        (turn(1, binary=[]), ["draft", "assess", "prefer"]),
        (turn(1, binary=NONE_APPLICABLE), ["draft", "assess", "prefer"]),
        (turn(1, pairs=[]), ["draft", "assess", "assess_hp"]),
        (turn(1, binary=[], pairs=[]), ["draft", "assess"]),
        ({"turnNumber": 1, "userMessage": "", "llmResponse": ""}, ["draft", "assess"]),
    ],
    ids=["all", "no judgement", "none applicable", "no comparison", "neither", "no annotation at all"],
)
def test_a_stage_with_nothing_to_ask_is_left_out(here: dict[str, object], want: list[str]) -> None:
    assert [r.stage for r in plan(conversation(here))] == [*want, "reflect"]


def test_every_difference_of_settings_has_a_plan_of_its_own() -> None:
    # all on one conversation object: one setting's kept plan must not answer for another's
    about = conversation()
    plans = [plan(about, settings) for settings in EVERY_SETTING]
    again = [plan(conversation(), settings) for settings in EVERY_SETTING]
    assert plans == again
    seeds = {str([r.messages for r in plan(about, Settings(seed=seed))]) for seed in range(5)}
    assert len(seeds) == 5


@pytest.mark.parametrize("mode", MODES)
def test_in_the_thread_each_earlier_answer_is_exactly_the_placeholder(mode: Mode) -> None:
    placeholder = PromptSet.named("full").placeholder
    for request in plan(conversation(turn(1), turn(2), turn(3)), Settings(mode=mode)):
        roles = [message["role"] for message in request.messages]
        assert roles == ["system", *["user", "assistant"] * ((len(roles) - 2) // 2), "user"]
        said = [m["content"] for m in request.messages if m["role"] == "assistant"]
        assert said == [placeholder] * len(said)
        # two kept messages (draft, assess) a finished turn; within a turn assess has one, the others two
        finished = 3 if request.turn is None else request.turn - 1
        here = {"draft": 0, "assess": 1, "reflect": 0}.get(request.stage, 2)
        assert len(said) == 2 * finished + here
