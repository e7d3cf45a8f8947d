"""Pages and terminal views of one conversation, with texts that would break out if they could."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from attune_data import Conversation, Conversations, load
from attune_data.format.validate import conversation_from
from attune_env.report.analyses import Study
from attune_env.report.pages.conversation import ConversationView, conversation_view
from attune_env.report.pages.conversation_html import conversation_page, page_names, pages
from attune_env.report.pages.grids import GridCell
from attune_env.report.pages.visible import visible
from tests.command import attune_here, results
from tests.data.builders import Json, conversation, record, replaced
from tests.report.analyses.made import answers, study_of
from tests.report.pages.reading import Page

SCRIPT = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>"
TURNED = "abc \u202edef\u2066 \x1b[31m\x00 שלום 👩\u200d👩 é"
LONG = "x" * 100_000


def hostile() -> Conversation:
    """Every text in it is an attack or very long."""
    made = record(conversationId="c-1", provenance="own")
    made = replaced(made, ("turns", 0, "userMessage"), f"{SCRIPT}\n{TURNED}")
    made = replaced(made, ("turns", 0, "llmResponse"), LONG)
    made = replaced(made, ("turns", 1, "annotations", "alternateResponses", "humanEdited"), SCRIPT)
    made = replaced(made, ("metadata", "category"), SCRIPT)
    made = replaced(made, ("participant_profile", "conversation_topic_attitude"), TURNED)
    return conversation_from(made, "memory")


def by(talk: Conversation, model: str) -> Json:
    """Right answers, with attacks where a model writes freely."""
    made = answers(talk, model)
    made["turns"][0]["em_emotion_tags"] = [{"emotion": SCRIPT, "intensity": 3}]
    made["turns"][0]["em_drafted_response"] = SCRIPT + TURNED
    made["turns"][0]["attune"]["replies"]["assess"] = SCRIPT * 500
    made["turns"][0]["attune"]["outcomes"]["prefer"] = "unparsed:no_json"
    return made


@pytest.fixture(scope="module")
def view() -> ConversationView:
    talk = hostile()
    return conversation_view(talk, [by(talk, "lab/one"), by(talk, SCRIPT)])


@pytest.fixture(scope="module")
def page(view: ConversationView) -> Page:
    return Page(conversation_page(view, home="../report.html"))


def test_texts_of_others_are_shown_as_text(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert SCRIPT in page.text
    assert LONG in page.text


def test_nothing_that_acts_is_on_a_page(page: Page) -> None:
    for character in "\u202e\u2066\x1b\x00":
        assert character not in page.text
    assert r"abc \u202edef\u2066 \x1b[31m\x00 שלום 👩" in page.text
    assert "👩\u200d👩" in page.text  # joiners turn nothing around


def test_a_page_asks_nobody_for_anything(view: ConversationView) -> None:
    text = conversation_page(view)
    page = Page(text)
    places = [v for _, attributes in page.tags for k, v in attributes.items() if k in ("href", "src")]
    assert all(place is not None and place.startswith("#") for place in places)
    (policy,) = (a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "url(" not in text
    assert "style=" not in re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL)


def test_replies_are_cut_and_those_that_went_wrong_have_more_room(view: ConversationView) -> None:
    page = Page(conversation_page(view))
    assert "more characters)" in page.text
    assert "unparsed:no_json" in page.text


def test_prompts_stand_once_however_many_models_there_are() -> None:
    talk = conversation()
    one = conversation_page(conversation_view(talk, [answers(talk, "lab/1")]))
    five = conversation_page(conversation_view(talk, [answers(talk, f"lab/{i}") for i in range(5)]))
    prompt = "Your earlier answers"
    assert one.count(prompt) == five.count(prompt) > 0


def test_rewards_add_up_to_the_strict_composite() -> None:
    talk = load("sample")[2]
    silent = answers(talk)
    for turn in silent["turns"]:
        turn["em_pairwise_selections"] = None
    view = conversation_view(talk, [silent])
    shares = {texts[0]: float(texts[1].rstrip("%")) for texts, _ in view.steps.rows}
    paid = {
        texts[0]: float(cells[0].text.split()[0])
        for texts, cells in view.steps.rows
        if "draft" not in texts[0]
    }
    scores = {texts[0]: cells[0].text for texts, cells in view.scores.rows}
    strict = float(scores["Strict (0–100)"])
    assert sum(shares[step] * paid[step] for step in paid) == pytest.approx(strict, abs=0.3)
    assert sum(shares.values()) == pytest.approx(100, abs=0.5)
    assert all(paid[f"turn {turn.turn_number}, prefer"] == 0 for turn in talk.turns)


def test_truth_and_prediction_stand_side_by_side(view: ConversationView) -> None:
    felt, judged, *_ = view.stretches[0].grids
    assert felt.rows == [(("feelings", "Upset 5, Guilty 2"), (GridCell(f"{SCRIPT} 3", "miss"),) * 2)]
    assert [(texts[0], *texts[2:]) for texts, _ in judged.rows] == [
        ("B1", "did", "yes"), ("B1", "wanted", "no"), ("B19", "did", "–"), ("B19", "wanted", "yes"),
    ]  # fmt: skip
    assert judged.rows[0][1][0] == GridCell("yes", "hit")


def test_a_near_miss_is_marked_as_one() -> None:
    talk = conversation()
    said = answers(talk)
    said["turns"][0]["em_emotion_tags"] = [{"emotion": "Irritable"}, {"emotion": "Ashamed"}]
    ratings = said["post_conversation"]["predicted_conversation_wide"]["fourBranchScores"]
    ratings |= {"perceiving": 6, "facilitating": 5, "understanding": 4}  # rated 7, 5, 2
    view = conversation_view(talk, [said])
    # felt were Upset and Guilty
    assert view.stretches[0].grids[0].rows[0][1][0].mark == "near"
    branches = {texts[0]: cells[0] for texts, cells in view.stretches[-1].grids[-1].rows}
    assert branches["perceiving"] == GridCell("6 (-1)", "near")
    assert [branches[name].mark for name in ("facilitating", "understanding")] == ["hit", "miss"]


def test_settings_that_differ_are_mentioned() -> None:
    talk = conversation()
    plain = answers(talk, "lab/official")
    for part in (plain, plain["post_conversation"], *plain["turns"]):
        del part["attune"]
    notes = conversation_view(talk, [answers(talk), answers(talk, "lab/seeded", seed=7), plain]).notes
    assert notes == [
        "lab/seeded used different settings from the prompts shown here.",
        "The result file of lab/official does not say how the model was asked, so prompts are shown as in "
        "this version.",
    ]
    broken = answers(talk) | {"attune": {"settings": {"labels": "x" * 9, "stages": 3, "prompts": 1}}}
    assert "cannot be read" in conversation_view(talk, [broken]).notes[0]


def test_a_study_becomes_one_page_per_conversation(tmp_path: Path) -> None:
    talks = Conversations([conversation(conversationId=name) for name in ("c-1", "../c 2")])
    study = study_of(tmp_path, talks, [answers(talk) for talk in talks])
    names = page_names(study)
    made = dict(pages(study, names))
    assert set(made) == set(names.values())
    assert all("/" not in name and ".." not in name for name in made)
    assert "100.0" in Page(made["c-1.html"]).text
    assert page_names(Study(study.scores)) == {}
    without = dict(pages(replace(study, results=None), names))
    assert "that sounds tiring" in without["c-1.html"]
    assert "Upset 5, Guilty 2" in without["c-1.html"]  # annotations stand without predictions too


def test_visible_keeps_what_is_written_and_escapes_what_acts() -> None:
    assert visible("a\r\nb\tc é ש\u00a0x") == "a\nb\tc é ש\u00a0x"
    assert visible("\ud800\u2029\x85") == r"\ud800\u2029\x85"
    assert visible("abcdef", 4) == "abcd\n… (2 more characters)"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one hostile conversation and results of two policies."""
    here = tmp_path_factory.mktemp("view")
    (here / "data").mkdir()
    text = json.dumps(hostile().to_record(), ensure_ascii=True)
    (here / "data" / "conversation_4.json").write_text(text, encoding="utf-8")
    results(here / "results", load(here / "data"), "oracle", "random")
    return here


def test_view_shows_a_conversation_by_number_or_id(place: Path) -> None:
    by_number, _ = attune_here("view 4 --data data", place)
    assert by_number == attune_here("view c-1 -d data", place)[0]
    assert "## Turn 1" in by_number
    assert "  Reply 2: that sounds tiring." in by_number
    for character in "\u202e\x1b\x00":
        assert character not in by_number
    assert max(map(len, by_number.splitlines())) < 25_000
    assert "80,000 more characters" in by_number


def test_view_sets_predictions_beside_the_truth(place: Path) -> None:
    asked = "view 4 --data data --results results"
    both, _ = attune_here(asked, place)
    assert "\tquestion\tabout\tperson\trandom\toracle" in both
    assert re.search(r"^B1\tDid the reply .*\twanted\tno\t[✓✗] \w+\t✓ no$", both, re.MULTILINE)
    assert re.search(r"^Strict \(0–100\)\t\t[\d.]+\t100\.0$", both, re.MULTILINE)
    one, _ = attune_here(f"{asked} --model builtin/random --saw --replies", place)
    assert "oracle" not in one
    assert "turn 1, assess: what models saw" in one
    assert "turn 1, assess: random said (ok)" in one


@pytest.mark.parametrize(("words", "said"), [
    (("5", "--data", "data"), 'no conversation "5" in "data"'),
    (("c-2", "--data", "data"), 'did you mean "c-1"?'),
    (("4", "--data", "data", "--model", "x"), "name their folder with --results"),
    (("4", "-d", "data", "--results", "results", "--model", "builtin/r"), "did you mean 'builtin/random'?"),
    (("4", "-d", "data", "--results", "results", "--mode", "verbose"), "it has results in mode default"),
])  # fmt: skip
def test_view_says_what_there_is(words: tuple[str, ...], said: str, place: Path) -> None:
    assert said in attune_here(["view", *words], place, 2)[1]
