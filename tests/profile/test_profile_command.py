"""`attune profile run` and `attune profile score`: the switch, a real server, what is kept and refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_env.profile import WARNING
from attune_env.profile.files import KIND
from attune_rewards.metrics.tree import LEAF
from attune_rewards.predictions import STAGES
from attune_rewards.reward.spec import PRESETS
from tests.command import attune_here, own, read, snapshot, table_rows
from tests.data.builders import Json, folder
from tests.endpoint import Server, serve
from tests.profile.people import FIELDS, knowing
from tests.running.playing import KEY

STATED = (
    {"country": "México", "gender": "Female", "age_range": "65+", "diagnoses": ["ADHD", "Anxiety"]},
    {"country": "UK", "gender": "Male", "age_range": "18-24", "diagnoses": ["None of the above"]},
    {"country": "مصر", "gender": "Male", "age_range": "25-34", "diagnoses": []},
    {"country": "日本", "gender": "Prefer not to say", "age_range": "ancient", "diagnoses": ["Anxiety"]},
)
IDS = ("c-1", "c-2", "ж 🤍", "c-4")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `data`: four conversations of four people."""
    made = {}
    for number, (identity, stated) in enumerate(zip(IDS, STATED, strict=True), 1):
        record = own(identity, f"P{number}")
        record["participant_profile"] |= {
            "demographics": stated, "computed_scores": {"who_5": 5 * number, "promis_sleep_t": 39.5 + number},
        }  # fmt: skip
        made[number] = record
    folder(tmp_path / "data", made)
    return tmp_path


def words(server: Server, *more: str | Path) -> list[str | Path]:
    return ["profile", "run", "custom", "lab/m", "data", "--base-url", server.url, "--experimental",
            "--api-key", KEY, *more]  # fmt: skip


def guesses(at: Path) -> dict[str, Json]:
    """conversation -> record."""
    records = [read(path) for path in sorted(at.glob("_profile_*.json"))]
    return {record["conversationId"]: record for record in records}


def test_nothing_happens_without_the_switch_and_the_warning_is_said(place: Path) -> None:
    before = snapshot(place)
    with serve(lambda messages: "{}") as server:
        line = [word for word in words(server) if word != "--experimental"]
        for asked in (line, [*line, "--dry-run"], "profile run builtin prior data"):
            out, err = attune_here(asked, place, code=2)
            assert not out
            assert all(f"warning: {sentence}\n" in err for sentence in WARNING)
            assert "nothing was done; if the warning allows your use, add --experimental" in err
        assert not server.calls
    assert snapshot(place) == before


def test_a_model_is_asked_once_a_conversation_and_scored_beside_constants(place: Path) -> None:
    data = load(place / "data")
    with serve(knowing(data), price=(1.0, 2.0)) as server:
        _, err = attune_here(words(server), place)
        assert len(server.calls) == 4
        bodies = [call.body for call in server.calls]
    assert all(sentence in err for sentence in WARNING)
    assert {body["response_format"]["json_schema"]["name"] for body in bodies} == {"profile"}
    sent = json.dumps(bodies, ensure_ascii=False)
    for value in ("México", "日本", "ancient", "P1", "c-1", KEY):
        assert value not in sent
    found = guesses(place / "profiles")
    assert set(found) == set(IDS)
    for record in found.values():
        assert (record["kind"], record["warning"]) == (KIND, " ".join(WARNING))
        assert record["attune"]["outcome"] == "ok"
        assert record["api_cost"] > 0
    assert found["ж 🤍"]["predicted"]["country"] == "مصر"
    assert found["c-1"]["predicted"]["diagnoses"] == ["ADHD", "Anxiety"]
    assert (found["c-4"]["predicted"]["who_5"], found["c-4"]["predicted"]["gender"]) == (20, None)
    out, _ = attune_here("profile score --results profiles --data data -o s.json", place)
    ((title, rows),) = table_rows(out).items()
    assert title == "experimental: what custom/lab/m guessed of 4 participants (4 conversations)"
    by_name = {(row[0], row[1]): row[2:] for row in rows[1:]}
    assert by_name["country", "accuracy"][0].startswith("1.000")
    assert by_name["gender", "accuracy"][-2:] == ["3", "3"]
    assert by_name["who_5", "mae (lower is better)"][0].startswith("0.000")
    assert "# age_range: 1 not scored, stated as ancient, which could not be guessed" in out
    assert all(f"# {sentence}\n" in out for sentence in WARNING)
    scores = read(place / "s.json")
    assert scores["warning"] == " ".join(WARNING)
    f1 = next(row for row in scores["models"][0]["measures"] if row["measure"] == "set F1")
    assert f1["value"]["mean"] == 1.0
    # {}: c-2 and c-3 of four, as {Anxiety} 2·1/(2+1) + 1 has less
    assert f1["constant"]["mean"] == 0.5


def test_a_run_goes_on_where_it_was_stopped_and_asks_nothing_twice(place: Path) -> None:
    data = load(place / "data")
    with serve(knowing(data)) as server:
        _, err = attune_here(words(server, "--max-calls", "3", "--concurrency", "1"), place, code=1)
        assert "stopped at --max-calls 3" in err
        assert "Continue with: attune profile run custom lab/m data" in err
        assert KEY not in err
        assert len(guesses(place / "profiles")) == 3
        attune_here(words(server), place)
        assert len(server.calls) == 4
        out, _ = attune_here(words(server), place)
        assert "wrote 0 guesses to profiles; 4 were already complete" in out
        (place / "profiles" / "_profile_c-1_custom_lab_m.json").unlink()  # the journal still holds its reply
        attune_here(words(server), place)
        assert len(server.calls) == 4
        attune_here(words(server, "--overwrite"), place)
        assert len(server.calls) == 8
    assert len(guesses(place / "profiles")) == 4
    assert not any(KEY.encode() in held for held in snapshot(place).values())


def test_what_cannot_be_read_is_asked_again_and_then_counts_as_silence(place: Path) -> None:
    def change(answer: Json) -> Mapping[str, Any]:
        return {"sorry": "no"} if answer["country"] == "united kingdom" else answer

    with serve(knowing(load(place / "data"), change)) as server:
        attune_here(words(server, "--reasks", "1"), place)
        assert len(server.calls) == 3 + 2
    record = guesses(place / "profiles")["c-2"]
    assert record["attune"]["outcome"] == "unparsed:no_fields"
    assert set(record["predicted"].values()) == {None}
    assert record["attune"]["reply"] == '{"sorry": "no"}'
    out, _ = attune_here("profile score --results profiles --data data", place)
    assert "# unanswered: country 1 of 4, gender 1 of 3, age_range 1 of 3, diagnoses 1 of 4" in out


def test_other_ways_of_asking_are_not_mixed_into_a_folder(place: Path) -> None:
    (place / "o.json").write_text(json.dumps({"gender": ["Male", "Female", "Agender"]}))
    attune_here("profile run builtin prior data --experimental", place)
    line = "profile run builtin prior data --experimental --options o.json"
    _, err = attune_here(line, place, code=2)
    assert "was asked differently (options); choose another -o, or pass --overwrite" in err
    attune_here(f"{line} --overwrite", place)
    record = guesses(place / "profiles")["c-1"]
    assert record["attune"]["asked"]["options"]["gender"] == ["Male", "Female", "Agender"]
    out, _ = attune_here("profile score --results profiles --data data", place)
    assert "gender\taccuracy\t" in out
    _, err = attune_here(line.replace("o.json", "data/conversation_1.json"), place, code=1)
    assert "conversationId: found no field with options, expected one of education" in err


def test_a_dry_run_sends_nothing(place: Path) -> None:
    with serve(lambda messages: "{}") as server:
        out, _ = attune_here(words(server, "--dry-run", "--price-in", "1", "--price-out", "2"), place)
        assert not server.calls
    ((_, rows),) = table_rows(out).items()
    assert rows[1][2] == "4"
    assert not (place / "profiles").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("change", "said"), [
    ({"kind": "scores"}, 'kind: found "scores", expected "profile prediction (experimental)"'),
    ({"conversationId": "c-9"}, 'conversationId: found "c-9", expected one of the 4 conversations'),
    ({"em_model": None}, "em_model: found null, expected text"),
    ({"predicted": ["Male"]}, "predicted: found ['Male'], expected an object with the guesses"),
    ({"attune": {"asked": {"options": 5}}}, "attune.asked.options: found 5, expected {"),
    ({"conversationId": "c-2"}, "found a second file about \"c-2\" by \"builtin/prior\", expected one"),
])  # fmt: skip
def test_a_file_that_holds_no_guesses_is_named_or_left_out(place: Path, change: Json, said: str) -> None:
    attune_here("profile run builtin prior data --experimental", place)
    path = place / "profiles" / "_profile_c-1_builtin_prior.json"
    path.write_text(json.dumps(read(path) | change), encoding="utf-8")
    line = "profile score --results profiles --data data"
    _, err = attune_here(line, place, code=1)
    assert said in err
    out, err = attune_here(f"{line} --skip-invalid", place)
    assert "left out: " in err
    assert "(3 conversations)" in out


def test_neither_the_protocol_nor_any_reward_knows_a_profile_field() -> None:
    assert not FIELDS.keys() & {*STAGES, *LEAF, "format"}
    assert not [name for name in (*STAGES, *LEAF, *PRESETS) if "profile" in name]
