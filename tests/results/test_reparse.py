"""`attune score --reparse`: the raw replies of result files read again, without a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from tests.command import FIRST, OWN_WORDING, attune, change, composites, data_folder, read, results, score
from tests.data.builders import write
from tests.rewards.builders import Json


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{}, {"panas_strategy": "delta", "mode": "verbose", "seed": 3}, {"labels": "official"}]
)
def test_reparsing_gives_the_same_scores(tmp_path: Path, asked: dict[str, Any]) -> None:
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "oracle", "random", **asked)
    score(tmp_path)
    before = read(tmp_path / "scores.json")
    _, err = score(tmp_path, "--reparse")
    assert err == [OWN_WORDING]
    assert read(tmp_path / "scores.json") == before


def test_reparsing_reads_the_raw_replies(place: Path) -> None:
    def garble(record: Json) -> None:
        record["turns"][0]["attune"]["replies"]["assess"] = "I cannot tell. 🤷"

    score(place)
    before = read(place / "scores.json")
    change(place / "results" / FIRST, garble)
    score(place)
    assert read(place / "scores.json") == before  # without --reparse the fields count
    score(place, "--reparse")
    after = read(place / "scores.json")
    key = ("c-1", "builtin/oracle")
    # one of two assess stages lost: every one of its leaves is halved, .24 and .49/2 of the whole
    assert composites(before)[key] == pytest.approx(100.0)
    assert composites(after)[key] == pytest.approx(100 - 100 * (0.24 + 0.245) / 2)
    assert {k: v for k, v in composites(after).items() if k != key} == {
        k: v for k, v in composites(before).items() if k != key
    }
    (entry,) = [e for e in after["conversations"] if (e["conversationId"], e["em_model"]) == key]
    assert entry["attune"]["outcomes"]["unparsed:no_json"] == 1
    assert after["aggregates"][1]["parse_rate"] == 26 / 27  # 3 conversations of 4 + 4 + 1 requests


@pytest.mark.slow
def test_reparsing_needs_kept_replies_and_the_same_wording(place: Path) -> None:
    change(place / "results" / FIRST, lambda record: record.pop("attune"))
    _, err = score(place, "--reparse", code=1)
    assert err[1:] == [
        f"error: results/{FIRST}: attune: found no raw replies, expected a result file written by attune; "
        "score it without --reparse"
    ]
    write(place / "book.json", {"B1": "Did it see you?"})
    _, err = score(place, "--reparse", "--codebook", "book.json", code=1)
    assert len([line for line in err if "give the codebook of the run with --codebook" in line]) == 5


@pytest.mark.slow
@pytest.mark.parametrize("edit", [
    lambda record: record["attune"].update(settings={}),
    lambda record: record["attune"]["settings"].update(mode="loud"),
    lambda record: record["attune"]["settings"].update(codebook="x"),
    lambda record: record.update(turns=[1]),
    lambda record: record.update(post_conversation=[1]),
    lambda record: record["turns"][0].update(attune={"replies": {"assess": 7}}),
    lambda record: record["turns"][0].update(attune=[]),
])  # fmt: skip
def test_reparsing_a_damaged_file_is_no_crash(place: Path, edit: Callable[[Json], object]) -> None:
    change(place / "results" / FIRST, edit)
    done = attune("score", "--results", "results", "--data", "data", "--reparse", "--skip-invalid", cwd=place)
    assert FIRST in done.stderr or read(place / "scores.json")["metadata"]["n_results"] == 6


DAMAGED: list[Callable[[Json], object]] = [
    lambda record: record["turns"].__setitem__(0, "the first turn, as text"),
    lambda record: record["turns"].__setitem__(1, None),
    lambda record: record["turns"].insert(1, record["turns"][0]),  # a turn given twice
    lambda record: record["turns"][0].update(turnNumber="1"),
    lambda record: record["turns"][0].update(turnNumber=77),
    lambda record: record.update(turns="all of them, as text"),
    lambda record: record.update(turns={"1": record["turns"][0]}),
    lambda record: record.update(post_conversation="the end, as text"),
    lambda record: record["turns"][0].update(attune="marks, as text"),
    lambda record: record["turns"][0].pop("attune"),
    lambda record: record["turns"][0]["attune"].update(replies="all, as text"),
    lambda record: record["turns"][0]["attune"]["replies"].update(assess=["a list"]),
    lambda record: record["turns"][0]["attune"]["replies"].pop("assess"),
    lambda record: record["post_conversation"].update(attune=[]),
]
MISSING: list[Callable[[Json], object]] = [
    lambda record: record["turns"].pop(),
    lambda record: record.pop("turns"),
    lambda record: record.pop("post_conversation"),
]


@pytest.mark.parametrize("edit", [*DAMAGED, *MISSING])
def test_what_cannot_be_read_again_counts_as_it_does_without_reparsing(
    place: Path, edit: Callable[[Json], object]
) -> None:
    change(place / "results" / FIRST, edit)
    _, plain = score(place)
    before = composites(read(place / "scores.json"))
    _, again = score(place, "--reparse")
    assert composites(read(place / "scores.json")) == before
    assert set(plain) <= set(again)
    if edit in DAMAGED:
        assert any(FIRST in line for line in again)
