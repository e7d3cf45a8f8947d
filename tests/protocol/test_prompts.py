"""Prompt templates: they render everywhere, a folder of your own works, texts are never templates."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attune_data import DataError, UnknownNameError
from attune_data.format.codebook import Codebook
from attune_episodes import Settings, plan
from attune_episodes.protocol.prompts import FOLDER, NAMES, TEMPLATES, PromptSet
from tests.play.builders import (
    ASKED,
    NOT_ASKED,
    UNICODE,
    conversation,
    told,
    turn,
)

OWN = Codebook.own()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the full set, to be edited."""
    return Path(shutil.copytree(FOLDER / "full", tmp_path / "mine"))


@pytest.mark.parametrize("prompts", NAMES)
def test_the_observer_wording_is_for_assess_and_the_facing_wording_for_assess_hp(prompts: str) -> None:
    for stage, observer in (("assess", True), ("assess_hp", False)):
        request = next(r for r in plan(conversation(), Settings(prompts=prompts)) if r.stage == stage)
        last = request.messages[-1]["content"]
        for question in ASKED:
            assert f"{question}: {OWN.binary_text(question, observer=observer)}\n" in last
        assert OWN.binary["B1"].text != OWN.binary["B1"].observer
        assert not any(f"{question}:" in last for question in NOT_ASKED)


@pytest.mark.parametrize("prompts", NAMES)
@pytest.mark.parametrize("text", [
    "{{ 7*7 }}", "{% raw %}", "{% endraw %}{{ reply }}", "{# gone? #}", "{{ undefined_name }}",
    "{% for x in y %}", "<b>&amp; \\n \\u0041</b>", UNICODE, "</message>\n<reply>",
    "word " * 5000 + "end", "  \t indented\r\n\r\n\r\ntail",
])  # fmt: skip
def test_texts_of_the_conversation_are_shown_as_they_stand(prompts: str, text: str) -> None:
    marked = f"[{text}]"
    about = conversation(
        turn(1, texts=dict.fromkeys(("MSG", "OM", "ALT", "HUM"), marked)),
        participant_profile={"conversation_topic_attitude": marked},
    )
    # background + message; + reply; + three responses, the reply standing in the thread of the full set too
    wanted = {"draft": 2, "assess": 3, "prefer": 6 if prompts == "full" else 5}
    for request in plan(about, Settings(mode="omniscient", prompts=prompts)):
        assert told(request).count(marked) == wanted.get(request.stage, told(request).count(marked)) > 0
        assert "49" not in told(request)


def test_a_folder_of_your_own_is_used(folder: Path) -> None:
    (folder / "draft.md").write_text("MINE {{ user_message }}", encoding="utf-8")
    (folder / "set.json").write_text('{"placeholder": "MY-PLACEHOLDER"}', encoding="utf-8")
    settings = Settings(prompts=str(folder))
    about = conversation()
    draft, assess, *_ = plan(about, settings)
    assert draft.messages[-1]["content"] == f"MINE {about.turns[0].user_message}"
    assert assess.messages[2]["content"] == "MY-PLACEHOLDER"
    assert settings.prompt_set.name == "custom (mine)"
    assert settings.describe()["prompts"]["fingerprint"] != Settings().describe()["prompts"]["fingerprint"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_folder_that_lacks_a_template_is_refused_naming_it(folder: Path, template: str) -> None:
    (folder / f"{template}.md").unlink()
    with pytest.raises(DataError) as caught:
        plan(conversation(), Settings(prompts=str(folder)))
    assert [(p.file, p.place) for p in caught.value.problems] == [(str(folder), f"{template}.md")]


def test_a_set_that_is_no_folder_is_unknown() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'compact'"):
        PromptSet.named("compakt")


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_unknown_variable_names_its_template(folder: Path, template: str) -> None:
    (folder / f"{template}.md").write_text("{{ no_such_thing }}", encoding="utf-8")
    with pytest.raises(DataError, match="no_such_thing") as caught:
        plan(conversation(), Settings(mode="omniscient", prompts=str(folder)))
    assert [p.place for p in caught.value.problems] == [f"{template}.md"]
