"""`attune report -o`: a page, its Markdown twin, figures, tables and conversations."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from attune_data import load
from attune_data.version import SCORING_VERSION
from attune_env.results import read_results, score_results, write_json
from tests.command import attune, attune_here, data_folder, names, read, results, snapshot
from tests.data.builders import Json, replaced, write
from tests.report.pages.reading import Page

HOSTILE = '<script>alert("x")</script>$x^‮&"\'`|![a](http://b)'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores of three conversations by four models, one of a hostile name; and the report of them."""
    place = tmp_path_factory.mktemp("reported")
    held = data_folder(place / "data")
    for name, scores in (("1", {"who_5": 10**400, "asrs_6": 1.7e308}), ("2", {"asrs_6": 1.7e308})):
        path = held / f"conversation_{name}.json"
        write(path, replaced(read(path), ("participant_profile", "computed_scores"), scores))
    data = load(held)
    folder = results(place / "results", data, "oracle", "always-no", "empty", "lexicon")
    for path in folder.iterdir():
        record = read(path)
        renamed = {"builtin/lexicon": HOSTILE, "builtin/always-no": "m/a"}
        write(path, record | {"em_model": renamed.get(record["em_model"], record["em_model"])})
    found, problems, _ = read_results(folder, data)
    assert problems == []
    write_json(place / "scores.json", score_results(found, data, ground_truth="data", folder="results"))
    said, _ = attune_here("report --scores scores.json -o out --formats svg", place)
    (place / "said.txt").write_text(said, encoding="utf-8")
    return place


def page(place: Path, name: str = "report.html") -> tuple[str, Page]:
    text = (place / "out" / name).read_text(encoding="utf-8")
    return text, Page(text)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_it_says_what_was_written(place: Path) -> None:
    said = (place / "said.txt").read_text(encoding="utf-8").splitlines()
    assert "and has too little data for a test against `empty`" in said[0]
    assert not any("Leaderboard" in line for line in said)  # `attune score` prints it
    assert said[-1] == "open out/report.html"
    assert re.fullmatch(r"wrote out: \d+ analyses, \d+ figure files, \d+ tables, 3 conversations", said[-2])
    inside = [".attune-report", "conversations", "figures", "report.html", "report.md", "tables"]
    assert names(place / "out") == inside


@pytest.mark.parametrize("name", ["report.html", "conversations/index.html", "conversations/c-1.html"])
def test_a_page_holds_everything_itself(place: Path, name: str) -> None:
    text, found = page(place, name)
    assert text.startswith("<!doctype html>\n")
    (policy,) = [m["content"] for m in found.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not any(found.all("script"))  # scripts have no attributes: nothing is loaded
    assert found.all("link") == []
    keys = [key for _, attributes in found.tags for key in attributes]
    assert not [key for key in keys if key == "style" or key.startswith("on")]
    targets = [one.get(key) or "" for _, one in found.tags for key in ("href", "src")]
    for target in filter(None, targets):
        assert not re.match(r"(?i)[a-z]+:(?!image/svg\+xml;base64,)|//", target), target
        if not target.startswith(("#", "data:")):
            assert ((place / "out" / name).parent / target).is_file(), target


def test_ids_links_and_figures_of_the_page(place: Path) -> None:
    _, found = page(place)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    within = {a["href"] for a in found.all("a") if (a["href"] or "").startswith("#")}
    assert within
    assert {(target or "")[1:] for target in within} <= set(ids)
    for _, attributes in found.tags:
        assert {*(attributes.get("aria-labelledby") or "").split()} <= set(ids)
    pictures, files = found.all("img"), names(place / "out" / "figures")
    assert len(pictures) == len(files) > 0
    assert {file.rpartition(".")[2] for file in files} == {"svg"}
    assert all("?" in (one["alt"] or "") for one in pictures)  # the question, for those who cannot see them


def test_the_page_leads_with_the_answer_marks_its_numbers_and_says_what_is_missing(place: Path) -> None:
    text, _ = page(place)
    answer = "against `empty`, the only baseline scored (`surface`, `asked` and `prior` were not)"
    shown = re.sub("`(.+?)`", r"<code>\1</code>", answer)
    second = 'id="profile"' if 'id="profile"' in text else 'id="leaderboard"'
    assert text.index(shown) < text.index('id="verdict"') < text.index(second)
    assert "<h1>Report on own data</h1>" in text
    assert "3 conversations, 3 participants; data: own (not AttuneBench), fingerprint " in text
    assert answer in (place / "out" / "report.md").read_text(encoding="utf-8")
    for title in ("Turn-by-turn scores", "Conversation-wide scores", "Composite"):
        assert f"{title}; mode default</h4>" in text
    for role in ("input", "beside", "diagnostic"):
        assert re.search(rf'<th scope="col" class="number">[^<]*, {role}</th>', text)
    assert '<abbr class="few" title="too few units: the interval is not meaningful">†</abbr>' in text
    assert "† fewer than 5 conversations: the interval is not meaningful." in text
    absent = text.partition('id="absent"')[2]
    assert "<strong>Modes</strong>: no model was scored in default and another mode" in absent
    assert "<code>attune.training</code>" in absent  # no raw backticks
    assert "`" not in absent.partition("<footer")[0]
    foot = text.partition('<footer id="about">')[2]
    for words in ("Research evaluation", "They are not the benchmark", "fingerprint", "10,000 resamples by",
                  "seed 0", "attune report --scores scores.json -o report"):  # fmt: skip
        assert words in foot
    assert "AttuneBench v1.0" not in foot  # these conversations are not the benchmark's


def test_the_numbers_of_a_table_are_those_of_the_scores(place: Path) -> None:
    entries = read(place / "scores.json")["conversations"]
    board = {row["model"]: row for row in rows(place / "out" / "tables" / "leaderboard.csv")}
    for model in {entry["em_model"] for entry in entries} - {HOSTILE}:
        values = [entry["composite_score"] for entry in entries if entry["em_model"] == model]
        assert float(board[model]["composite_score"]) == pytest.approx(sum(values) / 3)
        assert board[model]["composite_score_n"] == "3"
    assert len(board) == 4


def test_a_hostile_name_is_text_everywhere_and_links_of_the_markdown_lead_to_files(place: Path) -> None:
    text, found = page(place)
    assert "<script>alert" not in text
    assert '<script>alert("x")</script>$x^\\u202e&"' in found.text
    markdown = (place / "out" / "report.md").read_text(encoding="utf-8")
    assert "<script" not in markdown.replace("\\<script", "")
    assert "![a]" not in markdown
    assert "http://" not in markdown
    assert "\u202e" not in text + markdown
    targets = re.findall(r"(?<!\\)\]\(([^)]+)\)", markdown)
    assert len(targets) > 10
    assert [target for target in targets if not (place / "out" / target).is_file()] == []


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes(place: Path) -> None:
    before = snapshot(place / "out")
    attune("report", "--scores", "scores.json", "-o", "out", "--formats", "svg", cwd=place,
           PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C")  # fmt: skip
    assert snapshot(place / "out") == before


@pytest.mark.slow
def test_one_analysis_alone_takes_the_place_of_an_earlier_report(place: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "scores.json", read(place / "scores.json"))
    for only, kind in (("perspective-gap", "svg"), ("leaderboard", "png"), ("leaderboard", "pdf")):
        attune_here(f"report --scores scores.json --only {only} -o out --formats {kind}", tmp_path)
        assert names(tmp_path / "out" / "figures") == [f"{only}.{kind}"]
    _, err = attune_here("report --scores scores.json --only leaderbord -o out", tmp_path, 2)
    assert "did you mean 'leaderboard'?" in err


def test_an_analysis_that_the_inputs_do_not_allow_is_an_error(place: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "scores.json", read(place / "scores.json"))
    out, err = attune_here("report --scores scores.json --only learning-curves -o out", tmp_path, 1)
    assert err.splitlines()[-1] == (
        "error: scores.json: found too little for the analysis 'Learning curves' (no result records its "
        "training run and step (`attune.training`)), expected what it needs; leave out --only to report what "
        "these inputs allow"
    )
    assert (out, (tmp_path / "out").exists()) == ("", False)


ALONE = "report --scores scores.json --only variance -o out"


@pytest.mark.slow
@pytest.mark.parametrize("inside", ["notes.txt", "figures/mine.svg", "report.html"])
def test_a_folder_with_files_of_others_is_left_alone(place: Path, tmp_path: Path, inside: str) -> None:
    write_json(tmp_path / "scores.json", read(place / "scores.json"))
    other = write(tmp_path / "out" / inside, "mine")
    _, err = attune_here(ALONE, tmp_path, 1)
    assert "expected a new or empty folder, or one with an earlier report" in err
    assert snapshot(tmp_path / "out") == {inside: b"mine"}
    attune_here(f"{ALONE} --overwrite --formats svg", tmp_path)
    assert (other.read_text(encoding="utf-8") == "mine") == (inside != "report.html")


def test_a_list_that_names_other_peoples_files_is_not_followed(place: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "scores.json", read(place / "scores.json"))
    mine = write(tmp_path / "mine.txt", "mine")
    listed = "files of an attune report\n../mine.txt\nfigures/../../mine.txt\n/etc/passwd\n"
    write(tmp_path / "out" / ".attune-report", listed)
    attune_here(f"{ALONE} --formats svg", tmp_path)
    assert mine.read_text(encoding="utf-8") == "mine"


def report(place: Path, *options: str, code: int = 0) -> tuple[str, str]:
    return attune_here(["report", "--scores", "scores.json", *options], place, code)


def changed(place: Path, name: str, model: str, **metadata: Json | str) -> Path:
    """The same scores under another model's name, with other metadata."""
    content = read(place / "scores.json")
    for part in ("conversations", "aggregates"):
        content[part] = [entry | {"em_model": model} for entry in content[part] if entry["em_model"] == "m/a"]
    content["metadata"] |= metadata
    return write(place / name, content)


@pytest.mark.slow
@pytest.mark.parametrize(("metadata", "said"), [
    ({"data": {"fingerprint": "f" * 16, "provenance": "own"}}, "data differs: scores.json: own "),
    ({"where": "turns>1"}, "selection differs: scores.json: none; other.json: turns>1"),
    ({"settings": {"scoring": "canonical", "q1_overlap": "f1"}}, "Q1 overlap differs: scores.json: jaccard;"),
    (
        {"versions": {"scoring": "v9"}},
        f"scoring version differs: scores.json: {SCORING_VERSION}; other.json: v9",
    ),
])  # fmt: skip
def test_scores_that_do_not_belong_in_one_table_are_refused(
    place: Path, metadata: dict[str, Json], said: str
) -> None:
    changed(place, "other.json", "m/b", **metadata)
    (line,) = report(place, "--compare", "other.json", code=2)[1].splitlines()
    assert line.startswith(f"error: {said}")
    assert line.endswith("--side-by-side shows them in separate tables")
    out, _ = report(place, "other.json", "--side-by-side")
    for label in ("scores.json", "other.json"):
        assert f"# {label}: Leaderboard, canonical scoring, points of 100" in out


def test_files_that_do_not_go_together_are_refused_by_name(place: Path) -> None:
    other = changed(place, "verbose.json", "m/b")
    content = read(other)
    for entry in (*content["conversations"], *content["aggregates"]):
        entry["mode"] = "verbose"
    write(other, content)
    changed(place, "twice.json", "m/a")
    for options, code, said in (
        ("--compare verbose.json", 2, "modes differ: scores.json: default; verbose.json: verbose"),
        ("--mode verbose", 2, 'mode "verbose" was not scored; scored modes: "default"'),
        ("--compare twice.json", 1, '"m/a" in mode "default" on "c-1", scored a second time'),
        ("--scores scores.json", 2, "scores.json is named twice"),
        ("--only leaderboard", 2, "error: --only needs -o FOLDER"),
        ("--formats svg", 2, "error: --formats needs -o FOLDER"),
    ):
        assert said in report(place, *options.split(), code=code)[1]


def test_files_that_go_together_make_one_table(place: Path) -> None:
    changed(place, "b.json", "m/b")
    out, _ = report(place, "--compare", "b.json")
    assert "\nm/b\tmodel\tdefault\t" in out
    assert out.count("# Leaderboard") == 1
