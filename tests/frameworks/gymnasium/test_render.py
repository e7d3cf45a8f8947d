"""Transcripts for people."""

from __future__ import annotations

import pytest
from gymnasium.error import ResetNeeded

from attune_data import Conversations, load
from attune_episodes.frameworks.gymnasium import ConversationEnv, no_answer
from attune_rewards import STAGES
from tests.frameworks.gymnasium.play import make
from tests.play.builders import conversation, turn
from tests.play.players import example

SAMPLE = load("sample")


def lines_of(env: ConversationEnv) -> list[str]:
    text = env.render()
    assert text is not None
    return [" ".join(line.replace("│", "|").split()) for line in text.splitlines()]


def test_truth_prediction_and_reward_stand_side_by_side() -> None:
    data = Conversations([example()])
    env = ConversationEnv(data, stages=STAGES, step="request", labels="official", render_mode="ansi")
    env.reset()
    action = no_answer(hp=True)
    action["emotions"][13], action["emotions"][0] = 5, 1
    action["observed"][:2] = 2, 1
    action["picks"][:2] = 2, 2
    action["q2"] = 1
    action["branches"][0] = 4
    for _ in STAGES:
        env.step(action)
    found = lines_of(env)
    for wanted in (
        "emotions | Upset 5 | Proud 1, Upset 5",
        "observed | B1 yes, B2 no | B1 yes, B2 no",
        "preferred | B1 no, B2 yes | –",
        "1. general: original or alternate2 | B (alternate2) | B (alternate2)",
        "2. PW3: alternate1 or original | A (alternate1) | B (original)",
        "q2_emotionClarity | Clear and explicitly stated | Clear and explicitly stated",
        "fourBranchScores | perceiving 5 | perceiving 4",
    ):
        assert wanted in found, found
    rewards = [line for line in found if line.startswith("reward ")]
    assert len(rewards) == 5
    assert rewards[0] == "reward 0.0000 (not scored; unparsed:empty)"
    assert "binary_om 1.000, binary_hp 0.000" in " ".join(found)


def test_what_others_wrote_does_not_act_on_the_terminal() -> None:
    nasty = "\x1b[31mred\x07 [bold]no markup[/bold] \u202e\ud83d 😢 אני"
    about = conversation(turn(1, texts={"MSG": nasty, "OM": nasty, "ALT": nasty, "HUM": nasty}))
    env = make(data=Conversations([about]), stages=("draft", "assess"), step="request", render_mode="ansi")
    env.reset()
    env.step(f'{{"draft": "{"x" * 10}\\u001b[0m"}}')
    env.step("{}")
    text = env.render()
    assert isinstance(text, str)
    assert not {"\x1b", "\x07", "\u202e", "\ud83d"} & set(text)
    assert "[bold]no markup[/bold]" in text
    assert "אני" in text


def test_human_prints_each_step_and_render_gives_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(data=SAMPLE[:1], render_mode="human")
    env.reset()
    assert SAMPLE[0].conversation_id in capsys.readouterr().out
    for _ in range(2):
        env.step(no_answer())
        out = capsys.readouterr().out
        assert out.count("reward ") == 2
        assert "emotions" in out
    assert env.render() is None
    assert capsys.readouterr().out == ""


def test_there_is_no_transcript_before_the_reset_or_without_a_mode() -> None:
    with pytest.raises(ResetNeeded, match="before render"):
        make(render_mode="ansi").unwrapped.render()
    with pytest.warns(UserWarning, match=r"render\(\) does nothing"):
        assert make().unwrapped.render() is None
