"""The published JSON Schemas say what the validators say, and everything that is written fits them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from attune_data import DataError, load
from attune_data.files.write import record_text
from attune_data.format.validate import conversation_from
from attune_env.results.schema import check_scores
from attune_env.schemas import SCHEMAS, json_schema
from tests.command import attune_here
from tests.data.builders import Json, Place, replaced

CHECKS = {name: Draft202012Validator(json_schema(name)) for name in SCHEMAS}
VALUES: tuple[Any, ...] = (
    None, True, 0, 1, 7, 8, 5.0, 2.5, 71, -1, "", "yes", "Yes", "A", "human", "own", "Proud", "proud",
    [], [1], ["x"], [None], {}, {"x": 1}, {"x": "y"}, "x" * 201,
)  # fmt: skip


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place inside a record."""
    inside = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, child in inside:
        yield (*place, key)
        yield from places(child, (*place, key))


def without(whole: Json, place: Place) -> Json:
    copy = deepcopy(whole)
    inner: Any = copy
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return copy


def as_written(changed: Json) -> bool:
    """Whether the validator accepts a record that is written as it is."""
    try:
        written = conversation_from(changed, "x").to_record()
    except DataError:
        return False
    # True == 1 in Python, not in JSON
    given = json.dumps(changed | {"provenance": None}, sort_keys=True).replace(".0", "")
    return given == json.dumps(written | {"provenance": None}, sort_keys=True).replace(".0", "")


FULL = load("sample")[0].to_record()
FULL["turns"] = FULL["turns"][:1]  # turns are read in any order, so a changed number could move one
for side in ("prePanas", "postPanas"):
    FULL[side]["responses"] = {"proud": 2, "upset": 4}
for entry in FULL["turns"]:
    for many in ("binaryJudgements", "pairwiseComparisons"):
        entry["annotations"][many] = entry["annotations"][many][:2]


def test_a_conversation_fits_the_schema_exactly_if_it_is_valid_and_spelled_as_it_is_written() -> None:
    check = CHECKS["conversation"]
    wrong = 0
    for place in places(FULL):
        changes = [replaced(FULL, place, value) for value in VALUES] + [without(FULL, place)]
        for changed in changes:
            if place[-1] == "turnNumber" and isinstance(changed["turns"][0].get("turnNumber"), float):
                continue  # to a schema, 5.0 is a whole number
            fits = check.is_valid(changed)
            wrong += not fits
            assert fits == as_written(changed), (place, [e.message for e in check.iter_errors(changed)])
    assert wrong > 300


def test_everything_that_is_written_fits_its_schema(tmp_path: Path) -> None:
    for name in ("sample", "written:dev"):
        for one in load(name):
            CHECKS["conversation"].validate(json.loads(record_text(one, indent=None)))
    for policy in ("oracle", "random"):
        attune_here(f"run builtin {policy} sample --number 2 -o out", tmp_path)
    attune_here("score --results out --data sample -o scores.json", tmp_path)
    attune_here("profile run builtin prior sample --experimental --number 2 -o guesses", tmp_path)
    for name, files in (("result", "out/*.json"), ("scores", "scores.json"), ("profile", "guesses/_p*.json")):
        found = [json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.glob(files)]
        assert found
        for content in found:
            CHECKS[name].validate(content)
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    scores_agree(scores)


def scores_agree(scores: Json) -> None:
    """The schema of scores and the check before a report refuse the same values."""
    scores["conversations"], scores["aggregates"] = scores["conversations"][:1], scores["aggregates"][:1]
    for name in ("em_model", "mode"):
        scores["aggregates"][0][name] = scores["conversations"][0][name]
    entry = scores["conversations"][0]
    checked: list[Place] = [("metadata",), *(("metadata", name) for name in ("data", "settings", "where"))]
    checked += [
        ("conversations", 0, name) for name in entry if name not in ("conversationId", "em_model", "mode")
    ]
    for place in checked:
        for value in VALUES:
            changed = replaced(scores, place, value)
            try:
                check_scores(changed, "x")
                fine = True
            except DataError:
                fine = False
            assert CHECKS["scores"].is_valid(changed) == fine, (place, value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_itself_and_is_printed(name: str, tmp_path: Path) -> None:
    Draft202012Validator.check_schema(json_schema(name))
    assert json.loads(attune_here(f"data schema {name}", tmp_path)[0]) == json_schema(name)
    assert "did you mean" in attune_here(f"data schema {name}s", tmp_path, code=2)[1]
