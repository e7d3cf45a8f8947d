"""A participation over HTTP, from the link to the score, and what may happen on the way."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest

from attune_data import DataError, SettingsError, load
from attune_data.files.write import write_folder
from attune_data.format.validate import oddities
from attune_data.selection import select
from attune_data.source.guard import for_training
from attune_env.study import app
from attune_env.study.checks import check, status
from attune_env.study.export import export
from attune_env.study.folder import read_study
from attune_env.study.pages import SUMMED
from attune_env.study.scripted import Page, Participant, play_all
from attune_env.study.steps import progress
from attune_env.study.view import View
from attune_episodes import builtin_policy, rollout
from attune_episodes.training import training_dataset
from tests.command import attune
from tests.endpoint.answers import Messages
from tests.endpoint.server import serve
from tests.study.places import browser, send, served, small, until

LATER = time.time() + 100_000


def answer(messages: Messages) -> str:
    return f"I read this: {messages[-1]['content']}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What six people gave who talked with a model behind an endpoint that fails now and then."""
    place = tmp_path_factory.mktemp("study")
    with serve(answer, ["503,every=7", "reset,every=5"]) as endpoint:
        study = small(place / "s", endpoint.url)
        with served(study) as site:
            links = [site.invite() for _ in range(6)]
            play_all(links, at_once=6)
            unwilling = site.invite()
            with browser() as client:
                page = Page(client.get(unwilling).text)
                send(client, unwilling, page, {name: "yes" for name in page.boxes if name != "train"})
                Participant(unwilling).play()
            assert [table.rows != [] for table in status(study, site.store)] == [True] * 3
            assert [len(table.rows) for table in check(study, site.store)] == [7, 2, 3]
            assert site.store.spent()[0] > 0
            conversations, beside = export(study, site.store)
    assert sorted(one["train"] for one in beside["participants"].values()) == [False, *[True] * 6]
    write_folder(conversations, place / "data")
    return place / "data"


def test_the_export_is_whole_plays_and_scores(data: Path) -> None:
    loaded = load(data)
    assert loaded.provenance == "study"
    assert [warning for one in loaded for warning in oddities(one, "")] == []
    for conversation in loaded:
        assert conversation.metadata is not None
        assert conversation.metadata.model == "m"
        for turn in conversation.turns:
            assert turn.llm_response == f"I read this: {turn.user_message}"
            assert len(turn.judgements) == 2
            assert len(turn.comparisons) == 6  # two questions, three pairs
            assert None not in turn.responses.values()
        assert rollout(conversation, builtin_policy("oracle", loaded)).total == pytest.approx(1)


def test_only_those_who_agreed_are_trained_on(data: Path) -> None:
    loaded = load(data)
    with pytest.raises(SettingsError, match="does not allow training"):
        for_training(loaded)
    willing = select(loaded, "train=true")
    assert len(willing) == 6
    assert {row["provenance"] for row in training_dataset(willing)} == {"study"}


def test_two_tabs_see_where_one_is(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        tab = until(client, link, "say")
        form = {"message": "first", "nothing": "yes", "do": "save"}
        assert "first" in send(client, link, tab, form).text
        second = send(client, link, tab, form | {"message": "second"})
        assert second.status_code == 200
        assert "the first answer was kept" in second.text
        assert site.state(link).answer("say.1")["message"] == "first"
        assert "say.2" not in site.state(link).answers
        send(client, link, Page(second.text.replace("say.2", "post")), {"do": "save"})  # far ahead
        assert "post" not in site.state(link).answers


def test_what_was_entered_stays_beside_the_errors(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        page = until(client, link, "say")
        answered = send(client, link, page, {"message": "<b>both</b>", "Upset": "6", "nothing": "yes"})
        assert answered.status_code == 422
        assert "&lt;b&gt;both" in answered.text
        again = Page(answered.text)
        assert again.texts["message"].strip() == "<b>both</b>"
        assert 'aria-invalid="true"' in answered.text
        assert '<option value="6" selected>' in answered.text


def test_every_error_is_told_at_once_and_few_are_listed_above(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        empty = send(client, link, until(client, link, "pre"), {}).text
        assert empty.count('class="error"') == 20
        assert empty.count('<a href="#f-') == SUMMED
        empty = send(client, link, until(client, link, "say"), {}).text
        assert 'id="e-message"' in empty
        assert 'id="e-nothing"' in empty


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'name = "age_range"',
            'name = "Age range"',
            'pages[0].questions[0].name: found "Age range", expected small',
        ),
        ('field = "demographics.age_range"', 'field = "age"', 'computed_scores.NAME, not "age"'),
        ('"B13"]', '"B21"]', '"B21" is none'),
        (
            "choices = [",
            "choices = []\nx = [",
            "topics.choices: found an empty list, expected at least one; add one",
        ),
    ],
)
def test_an_error_in_the_file_names_the_entry(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        small(tmp_path / "s", None, (old, new))
    assert said in str(caught.value)


def test_a_scale_of_ones_own_says_what_its_ends_mean(tmp_path: Path) -> None:
    changed = (
        ('kind = "text"', 'kind = "scale"\nends = ["never", "<always>"]'),
        ('\nfield = "demographics.gender"', ""),
    )
    with served(small(tmp_path / "s", None, *changed)) as site, browser() as client:
        link = site.invite()
        until(client, link, "own")
        assert '<span class="end">&lt;always&gt;</span>' in client.get(link).text


def test_a_model_that_gives_no_answer_does_not_hold_anybody_up(tmp_path: Path) -> None:
    with serve(answer, ["400,first=1"]) as endpoint, served(small(tmp_path / "s", endpoint.url)) as site:
        link = site.invite()
        with browser() as client:
            until(client, link, "reply")  # the page that offers to try again
            page = Page(client.get(link).text)
            assert page.buttons == ["again", "leave"]
            assert site.state(link).answer("say.1")["message"]
            Participant(link).play()
        assert "debrief" in site.state(link).answers
        (conversation,), _ = export(site.study, site.store)
        assert conversation.turns[0].llm_response.startswith("I read this: ")


def test_marked_words_leave_the_machine_nowhere(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        page = until(client, link, "say")
        send(client, link, page, {"message": "Ask Ada, ada in Riga.", "nothing": "yes"})
        page = until(client, link, "redact")
        tried = send(client, link, page, {"words": "ada\nRiga", "do": "try"}).text
        assert "Ask [removed], [removed] in [removed]." in tried
        assert "redact" not in site.state(link).answers
        send(client, link, page, {"words": "ada\nRiga", "do": "save"})
        Participant(link).play()
        conversations, beside = export(site.study, site.store)
    written = json.dumps([conversations[0].to_record(), beside])
    assert "Riga" not in written
    assert "Ada" not in written


def test_the_progress_never_recedes(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site:
        link = site.invite()
        Participant(link).play()
        whole = site.state(link)
    steps = list(whole.answers.items())
    states = [replace(whole, answers=dict(steps[:number])) for number in range(len(steps) + 1)]
    done, most = zip(*(progress(site.study, state) for state in states), strict=True)
    # consent, a page, topic, pre; 2 messages; 3 pages about each; closing, off, post, redact, debrief
    assert most[0] == 4 + 2 + 2 * 3 + 5
    assert list(most) == sorted(most, reverse=True)
    assert list(done) == sorted(done)
    assert done[-1] == most[-1]


def test_stopping_and_withdrawing(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        stopped, gone = site.invite(), site.invite()
        until(client, stopped, "judge")
        assert "You have stopped" in client.post(f"{stopped}/stop", data={"do": "keep"}).text
        assert "You have stopped" in client.get(stopped).text
        until(client, gone, "judge")
        assert client.post(f"{gone}/stop", data={"do": "withdraw"}).status_code == 422
        assert (
            "You have withdrawn" in client.post(f"{gone}/stop", data={"do": "withdraw", "sure": "yes"}).text
        )
        assert list(site.state(gone).answers) == ["withdrawn"]
        assert "You have withdrawn" in client.get(gone).text
        assert export(site.study, site.store)[0] == []
        (kept,), _ = export(site.study, site.store, unfinished=True)
        assert kept.participant == site.state(stopped).participant


def test_a_spent_study_lets_everybody_finish_and_nobody_new_begin(tmp_path: Path) -> None:
    with serve(answer) as endpoint:
        study = small(tmp_path / "s", endpoint.url, ("# dollars = 50", "dollars = 0.001"))
        with served(study) as site, browser() as client:
            begun, late, expired = site.invite(), site.invite(), site.invite(-1)
            until(client, begun, "judge")
            assert "nobody new can begin" in client.get(late).text
            Participant(begun).play()
            assert "debrief" in site.state(begun).answers
            assert client.get(expired).status_code == 410


def test_whose_link_has_expired_can_still_withdraw_and_no_more(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link, never = site.invite(), site.invite()
        until(client, link, "pre")
        with patch.object(app, "time", SimpleNamespace(time=lambda: LATER)):
            page = client.get(link)
            assert (page.status_code, f'href="{urlsplit(link).path}/stop"' in page.text) == (410, True)
            assert "/stop" not in client.get(never).text
            assert client.get(f"{never}/stop").status_code == 410
            assert client.post(f"{link}/stop", data={"do": "keep"}).status_code == 200
            assert "stopped" not in site.state(link).answers
            client.post(f"{link}/stop", data={"do": "withdraw", "sure": "yes"})
        assert list(site.state(link).answers) == ["withdrawn"]


def test_the_commands(tmp_path: Path) -> None:
    attune("study new s", cwd=tmp_path)
    lines = attune("study links s -n 2", cwd=tmp_path).stdout.splitlines()
    assert attune("study links s", cwd=tmp_path).stdout.splitlines() == lines
    assert "invited" in attune("study status s", cwd=tmp_path).stdout
    assert "nobody who has finished" in attune("study export s -o data", cwd=tmp_path, code=1).stderr
    first = lines[0].split("\t")[0]
    assert "not reached: backups" in attune(f"study withdraw s {first}", cwd=tmp_path).stdout
    assert "no participant named" in attune("study withdraw s p0", cwd=tmp_path, code=2).stderr
    text = (tmp_path / "s" / "study.toml").read_text(encoding="utf-8")
    wrong = text.replace("[budget]", "[[assistants]]\nmodel = 3\n[budget]")
    (tmp_path / "s" / "study.toml").write_text(wrong, encoding="utf-8")
    assert "assistants[0].model" in attune("study check s", cwd=tmp_path, code=1).stderr


def test_a_changed_design_loses_no_answer_and_reopens_no_conversation(tmp_path: Path) -> None:
    study = small(tmp_path / "s")
    with served(study) as site, browser() as client:
        link = site.invite().rpartition("/")[2]
        until(client, f"{site.url}/{link}", "edit")
        turns = len(View(study, site.state(link), "edit.1").turns)
    toml = tmp_path / "s" / "study.toml"
    text = toml.read_text(encoding="utf-8").replace("max_turns = 2", "max_turns = 9")
    page = '[[pages]]\ntitle = "New"\n[[pages.questions]]\nname = "new"\ntext = "New?"\nkind = "text"\n\n'
    toml.write_text(text.replace("\n[[pages]]\n", f"\n{page}[[pages]]\n", 1), encoding="utf-8")
    with served(read_study(tmp_path / "s")) as site:
        person = Participant(f"{site.url}/{link}")
        first, *_, last = person.walk()
        assert (first.step, last.title) == ("own.new", "Thank you")
        (conversation,), beside = export(site.study, site.store)
        (about,) = beside["participants"].values()
        assert len(conversation.turns) == turns
        assert about["answers"].keys() == {"new", "age_range", "gender"}
        assert len(beside["designs"]) == 2
