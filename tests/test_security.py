"""Results, scores and prompts that others made: what they may not read, replace, fetch or show."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, SettingsError, load
from attune_env.report.analyses import Study
from attune_env.report.analyses.leaderboard import printed_tables
from attune_env.report.analyses.sources import Sources, read_parts
from attune_env.results import (
    read_results,
    read_scores,
    recorded_source,
    result_name,
    save_results,
    score_results,
    write_json,
)  # fmt: skip
from attune_env.running import run_builtin
from attune_env.tables.cells import Cell, field_text
from attune_env.tables.table import Table
from attune_episodes import Settings, builtin_policy, plan, rollout
from attune_episodes.protocol.prompts import FOLDER
from tests.command import OWN_WORDING, attune, change, data_folder, names, read, snapshot
from tests.data.builders import Json, replaced, write
from tests.data.test_security import HOSTILE
from tests.running.playing import small

EVIL = "".join(HOSTILE)


def met(identity: str) -> str:
    """A harmless id whose file has the name of the one of `identity`."""
    return f"{identity.replace('/', '_')}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


@pytest.mark.parametrize("identity", [
    "../../x", "/abs", "..", ".", "\0", "x" * 300, "CON", "con.x", "NUL .txt", "a:b", "x. ", "-rf", "--help",
    ".x", "_skipped_x", "\u202egnp.exe", "a\nb", "~", "$(x)", "%00", "a\\b", "é",
])  # fmt: skip
@pytest.mark.parametrize("model", ["lab/x", "../..//etc/../x", "/abs", "-rf/x", "con.x/y"])
def test_a_result_file_is_a_plain_name_whatever_id_and_model_say(identity: str, model: str) -> None:
    name = result_name(identity, model, "default")
    assert re.fullmatch(r"[A-Za-z0-9@+][\w.@+ -]{0,250}\.json", name, re.ASCII)
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d) *\.", name, re.IGNORECASE)


def test_a_conversation_does_not_take_the_place_of_anothers_result(tmp_path: Path) -> None:
    data = small("a/b", met("a/b"))
    assert len({result_name(c.conversation_id, "builtin/empty", "default") for c in data}) == 1
    for overwrite in (False, True):
        with pytest.raises(DataError, match='found the result of conversation "a/b" by "builtin/empty"'):
            run_builtin("empty", data, tmp_path / "run", overwrite=overwrite)
        (file,) = names(tmp_path / "run")
        assert read(tmp_path / "run" / file)["conversationId"] == "a/b"
    played = [rollout(c, builtin_policy("empty", data)) for c in data]
    with pytest.raises(DataError, match="whose file has the same name"):
        save_results(played, tmp_path / "saved")
    (file,) = names(tmp_path / "saved")
    assert read(tmp_path / "saved" / file)["conversationId"] == "a/b"


@pytest.mark.parametrize(("one", "other"), [
    (("c", "lab/m"), ("c_lab", "m")), (("c", "a/b"), ("c", "a_b")),
])  # fmt: skip
def test_a_model_does_not_take_the_place_of_anothers_result(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str]
) -> None:
    data = small(one[0], other[0])
    first, second = (
        rollout(data.by_id[identity], builtin_policy("empty", data), em_model=model)
        for identity, model in (one, other)
    )
    (path,) = save_results([first], tmp_path)
    with pytest.raises(DataError, match=f'expected a result of conversation "{other[0]}"'):
        save_results([second], tmp_path)
    assert read(path)["em_model"] == one[1]
    assert save_results([first], tmp_path) == [path]  # its own is replaced as ever


def test_a_result_counts_for_the_conversation_that_it_names(tmp_path: Path) -> None:
    data = small("é", "e\u0301")
    for name, identity in (("1", "e\u0301"), ("2", "é")):
        write_json(tmp_path / f"{name}.json", {"conversationId": identity, "em_model": "lab/x"})
    found, problems, _ = read_results(tmp_path, data)
    named = {r.path.name: r.prediction.conversation_id for r in found}
    assert (named, problems) == ({"1.json": "e\u0301", "2.json": "é"}, [])


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_link_in_place_of_a_result_is_replaced_and_what_it_leads_to_stays(
    tmp_path: Path, overwrite: bool
) -> None:
    mine = write(tmp_path / "mine.txt", "mine")
    (tmp_path / "out").mkdir()
    link = tmp_path / "out" / "c_builtin_empty_default.json"
    link.symlink_to(mine)
    run_builtin("empty", small("c"), tmp_path / "out", overwrite=overwrite)
    assert mine.read_text() == "mine"
    assert not link.is_symlink()
    assert read(link)["conversationId"] == "c"


def test_what_a_result_file_says_cannot_start_a_line_of_an_error(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ["c-1"])
    attune("run", "builtin", "empty", "data", "-o", "out", cwd=tmp_path)
    forged = f"x\nerror: all is lost\n{EVIL}"
    change(tmp_path / "out" / "c-1_builtin_empty_default.json", lambda r: (
        r["attune"]["settings"].update(labels=forged, panas_strategy=[forged])
    ))  # fmt: skip
    err = attune("run", "builtin", "empty", "data", "-o", "out", cwd=tmp_path, code=2).stderr
    first, said = err.splitlines()
    assert first == OWN_WORDING
    assert said.startswith("error: out/c-1_builtin_empty_default.json contains a result of another run")
    assert said.isprintable()
    assert "labels x\\nerror: all is lost" in err


def test_a_result_file_names_no_templates_to_read(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ["c-1"])
    attune("run", "builtin", "oracle", "data", "-o", "out", cwd=tmp_path)
    shutil.copytree(FOLDER / "full", tmp_path / "theirs")
    write(tmp_path / "theirs" / "assess.md", "{{ broken")
    change(tmp_path / "out" / "c-1_builtin_oracle_default.json", lambda r: (
        r["attune"]["settings"].update(prompts=str(tmp_path / "theirs")), r.update(source_file="/etc/passwd"),
    ))  # fmt: skip
    done = attune("score", "--results", "out", "--data", "data", "--reparse", "-o", "s.json", cwd=tmp_path)
    assert "passwd" not in done.stdout + done.stderr + (tmp_path / "s.json").read_text()
    assert read(tmp_path / "s.json")["aggregates"][0]["composite_strict"] == 100.0


def test_result_and_score_files_name_no_folder_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apart from `metadata.ground_truth`, which is as it was given."""
    home = tmp_path / "home-of-someone"
    data_folder(home / "data")
    shutil.copytree(FOLDER / "compact", home / "prompts")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-to-be-written")
    options = ("--fit", home / "data", "--prompts", home / "prompts", "-o", "out")
    attune("run", "builtin", "prior", home / "data", *options, cwd=tmp_path)
    attune("score", "--results", "out", "--data", home / "data", "-o", "s.json", cwd=tmp_path)
    scores = read(tmp_path / "s.json")
    assert scores["metadata"].pop("ground_truth") == str(home / "data")
    written = [(tmp_path / "out" / name).read_text() for name in names(tmp_path / "out")]
    assert len(written) == 3
    for text in (*written, json.dumps(scores)):
        assert "home-of-someone" not in text
        assert str(Path.home()) not in text
        assert "sk-never" not in text
    marks = read(tmp_path / "out" / "c-1_builtin_prior_default.json")["attune"]
    assert marks["policy"]["fitted_on"] == f"data {load(home / 'data').fingerprint}"
    assert marks["settings"]["prompts"]["name"] == "custom (prompts)"


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Json:
    place, data = tmp_path_factory.mktemp("scores"), small("c-1", "c-2")
    for policy in ("oracle", "empty"):
        run_builtin(policy, data, place)
    found, _, _ = read_results(place, data)
    made: Json = json.loads(json.dumps(score_results(found, data, ground_truth="sample")))
    return made


FIELDS: tuple[tuple[str | int, ...], ...] = (
    ("metadata", "data"), ("metadata", "data", "fingerprint"), ("metadata", "data", "provenance"),
    ("metadata", "where"), ("conversations", 0, "conversationId"), ("conversations", 0, "em_model"),
    ("conversations", 1, "mode"), ("conversations", 0, "post_score"), ("conversations", 0, "strict_parts"),
    ("conversations", 0, "attune"), ("conversations", 0, "attune", "outcomes"),
    ("conversations", 0, "attune", "outcomes", "ok"),
    ("conversations", 0, "post_score", "q1_looking_for_f1"), ("conversations", 0, "composite_score"),
    ("conversations", 0, "pooled_binary_om_metrics", "f1"), ("conversations", 0, "turn_scores", 0),
    ("conversations", 0, "turn_scores", 0, "emotion_f1"), ("aggregates", 0), ("aggregates", 0, "em_model"),
    ("aggregates", 0, "mode"), ("aggregates", 0, "composite_score"), ("aggregates", 0, "parse_rate"),
)  # fmt: skip


@pytest.mark.parametrize("wrong", [[], [[]], True, {"a": []}, 1e308], ids=repr)
@pytest.mark.parametrize("place", FIELDS, ids=lambda place: ".".join(map(str, place)))
def test_a_scores_file_of_another_shape_is_refused_by_its_place(
    tmp_path: Path, scores: Json, place: Any, wrong: Any
) -> None:
    path = write(tmp_path / "scores.json", replaced(scores, place, wrong))
    with pytest.raises(DataError) as caught:
        read_scores(path)
    for line in str(caught.value).splitlines():
        assert line.startswith(f"{path}: {place[0]}")
        assert line.isprintable()
        assert line.endswith("; make the file again with `attune score`")


@pytest.mark.parametrize(
    "field", ["fingerprint", "provenance", "where", "conversationId", "em_model", "mode"]
)
def test_texts_of_a_scores_file_are_shown_harmlessly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scores: Json, field: str
) -> None:
    text = json.dumps(scores | {"metadata": scores["metadata"] | {"where": "turns>=1"}})
    forged = re.sub(rf'"{field}": "([^"]*)"', lambda m: f'"{field}": {json.dumps(EVIL + m[1])}', text)
    assert forged != text
    content = read_scores(write(tmp_path / "scores.json", forged))
    for table in printed_tables(Study(content), every=True):
        table.print()
    out = capsys.readouterr().out
    assert ("\\x1b[31m" in out) is (field != "conversationId")  # which no table shows
    assert all(part.isprintable() for part in re.split("[\t\n]", out))


@pytest.mark.parametrize("number", [1e308, -1e7])
@pytest.mark.parametrize("place", [("composite_strict",), ("post_score", "q1_looking_for_f1")])
def test_a_number_that_no_metric_has_is_refused(
    tmp_path: Path, scores: Json, place: Any, number: float
) -> None:
    path = write(tmp_path / "scores.json", replaced(scores, ("conversations", 0, *place), number))
    with pytest.raises(DataError, match=rf"conversations\[0\]\S*\.{place[-1]}: found"):
        read_scores(path)


def test_a_scores_file_says_where_profiles_are_only_on_this_machine(tmp_path: Path, scores: Json) -> None:
    place = data_folder(tmp_path / "data")
    for source in ("sample", str(place)):
        assert recorded_source(replaced(scores, ("metadata", "ground_truth"), source)) == source
    elsewhere = ("owner/name", "https://x.org/y", "//host/share", "\\\\host\\share")
    for nowhere in (*elsewhere, "\0", "", "  ", None, [1], EVIL):
        with pytest.raises(SettingsError, match="name the conversations with --data") as caught:
            recorded_source(replaced(scores, ("metadata", "ground_truth"), nowhere))
        assert str(caught.value).isprintable()


def prompts(tmp_path: Path, edit: Callable[[Path], object]) -> str:
    folder = Path(shutil.copytree(FOLDER / "compact", tmp_path / "theirs"))
    edit(folder)
    return str(folder)


@pytest.mark.parametrize("text", [
    "{% include '../secret.txt' %}", "{% include '/etc/passwd' %}", "{% extends 'x' %}",
    "{% import 'os' as os %}", "{% from 'secret.txt' import x %}", "{{ ''.__class__.__mro__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}", "{{ cycler.__init__.__globals__ }}",
    "{{ history.__class__ }}", "{{ '{0.__class__}'.format(turn) }}", "{{ turn|attr('__class__') }}",
    "{{ ('{0.__class__}'|attr('format'))(turn) }}", "{{ namespace.__init__ }}", "{{ history.append(1) }}",
])  # fmt: skip
def test_a_template_reaches_no_file_and_no_python(tmp_path: Path, text: str) -> None:
    write(tmp_path / "secret.txt", "SECRET")
    theirs = prompts(tmp_path, lambda folder: write(folder / "draft.md", text))
    with pytest.raises(DataError, match=r"draft\.md: found .*expected a template that renders") as caught:
        plan(load("sample")[0], Settings(prompts=theirs))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", ["draft.md", "set.json"])
def test_a_template_is_no_link_to_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    secret = write(tmp_path / "secret", "{}")

    def link(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(secret)

    with pytest.raises(DataError, match=f"{re.escape(name)}: found a link that leads out of the folder"):
        Settings(prompts=prompts(tmp_path, link))


@pytest.mark.parametrize("text", [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "＝1", " =1", '"=1', '"', "# Leaderboard", "-", "--0.5",
    "-0.5 [x]", "=\n=2", "-1e5", "=-1",
])  # fmt: skip
def test_a_text_that_a_spreadsheet_would_run_is_marked_as_text(text: str) -> None:
    assert field_text(text).startswith("'")
    assert "\n" not in field_text(text)


def test_plain_tables_hold_no_formula_and_no_second_title(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[tuple[Cell, ...]] = [("=HYPERLINK(1)", "-0.5"), ("# Leaderboard", '"'), ("a\tb\nc", EVIL)]
    Table("T\n# U", ("@x", "y"), rows, ["n\n=1"]).print()
    lines = capsys.readouterr().out.split("\n")
    assert lines[:4] == ["# T\\n# U", "'@x\ty", "'=HYPERLINK(1)\t-0.5", "'# Leaderboard\t'\""]
    assert lines[4].startswith("a\\tb\\nc\t")
    assert lines[5:] == ["# n\\n=1", "", ""]
    assert lines[4].replace("\t", "").isprintable()


def test_a_drawn_table_shows_names_as_they_are_and_nothing_acts_on_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "600")
    name = "lab/:skull: [red]x[/red] [link=http://x]y[/link] \\"
    Table(
        f"T {EVIL}\nforged", (f"m{EVIL}", "mode"), [(name, f"{EVIL}\nforged"), ("a\nbuiltin/oracle", "x")],
        [f"n {EVIL}\nforged"],
    ).print()  # fmt: skip
    Table(f"U {EVIL}", ("m", "mode"), [("a", f"{EVIL}\nforged")], foldable=("mode",)).print()
    drawn = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out.replace("\x1b[31m", "COLOURED"))
    assert all(line.isprintable() for line in drawn.split("\n"))
    assert "COLOURED" not in drawn
    assert name in drawn
    assert "a\\nbuiltin/oracle" in drawn
    assert not any(line.strip().startswith("forged") for line in drawn.split("\n"))


def test_nothing_is_lost_where_a_run_meets_a_foreign_file(tmp_path: Path) -> None:
    write(tmp_path / "out" / "notes.txt", "mine")
    write(tmp_path / "out" / "_skipped_x.json", "mine")
    there = snapshot(tmp_path)
    run_builtin("empty", small("_skipped_x"), tmp_path / "out", overwrite=True)
    assert {name: content for name, content in snapshot(tmp_path).items() if name in there} == there
    assert len(names(tmp_path / "out")) == 3


def test_a_scores_file_makes_no_report_fetch_a_dataset(tmp_path: Path, scores: Json) -> None:
    write(tmp_path / "scores.json", replaced(scores, ("metadata", "ground_truth"), "owner/name"))
    told = attune("report", "--scores", "scores.json", "--where", "who_5<13", cwd=tmp_path, code=2)
    assert 'the scores file names "owner/name", which is not a file or folder here' in told.stderr


def test_names_of_files_cannot_forge_a_line_of_an_error(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "data", ["c-1"])
    (data / "a\x1b[31m\nerror: forged.json").write_text("{}")
    told = attune("data", "validate", "data", cwd=tmp_path)
    assert "a\\x1b[31m\\nerror: forged.json" in told.stderr
    assert not any(line.startswith("error") for line in told.stderr.splitlines())
    (tmp_path / "b\nerror: forged").mkdir()
    told = attune("score", "--results", "data", "--data", "data", "-o", "b\nerror: forged",
                  cwd=tmp_path, code=1)  # fmt: skip
    assert all(line.isprintable() for line in told.stderr.splitlines())
    assert "error: forged" not in told.stderr.splitlines()


@pytest.mark.parametrize("wrong", [None, {}, [], "many", 10**400, 7], ids=lambda value: str(value)[:9])
def test_what_a_scores_file_counts_is_counted_again(tmp_path: Path, scores: Json, wrong: Any) -> None:
    counts = ("models", "modes", "n_conversations", "n_results")
    forged = scores | {"metadata": scores["metadata"] | dict.fromkeys(counts, wrong)}
    path = write(tmp_path / "scores.json", forged)
    assert read_scores(path)["metadata"] == scores["metadata"]
    asked = Sources([path], scores_only=True)
    assert read_parts(asked, "attune report")[0][0].scored == 2
