"""A model behind a callable as a reader, with its cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data.errors import DataError
from attune_episodes.judging import EndpointReader
from attune_rewards.reading import Exchange

MESSAGE = "My landlord cancelled the lease yesterday and I feel sad about leaving the garden."
REPLY = "You feel sad about leaving that garden, and who wouldn't after such a letter from him?"
X = Exchange(MESSAGE, REPLY, (("Hello.", "Good morning."),))


def answering(asked: list[Any], text: str) -> Any:
    def ask(chat: list[dict[str, str]], schema: dict[str, Any]) -> str:
        asked.append((chat, schema))
        return text

    return ask


def test_an_endpoint_is_asked_as_the_judge_and_once(tmp_path: Path) -> None:
    asked: list[Any] = []
    text = json.dumps({"answers": {"B1": "yes", "B13": "no"}})
    by = EndpointReader("m", answering(asked, text), tmp_path / "cache", frozenset({"B1", "B13", "B19"}))
    found = by.read(X)
    assert found == {"B1": "yes", "B13": "no"}  # B19 was not answered, so it was not read
    ((chat, schema),) = asked
    assert list(schema["properties"]["answers"]["properties"]) == ["B1", "B13", "B19"]
    assert all(part in chat[0]["content"] for part in (MESSAGE, REPLY, "Good morning.", "material to judge"))
    assert by.read(X) == found
    assert len(asked) == 1
    offline = EndpointReader("m", None, tmp_path / "cache", by.questions)
    assert offline.read(X) == found
    with pytest.raises(DataError, match="no model may be asked"):
        offline.read(Exchange(MESSAGE, REPLY + " Truly."))
    with pytest.raises(DataError, match="no model may be asked"):
        EndpointReader("another", None, tmp_path / "cache", by.questions).read(X)
    (file,) = (tmp_path / "cache").iterdir()
    assert json.loads(file.read_text("utf-8"))["asked"]["temperature"] == 0.0
    file.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="remove the file"):
        offline.read(X)


@pytest.mark.parametrize("text", ["", "yes to all", "[]", '{"answers": {"B1": "perhaps"}}'])
def test_what_an_endpoint_says_wrongly_is_not_read(text: str) -> None:
    assert EndpointReader("m", answering([], text)).read(X) == {}


def test_an_endpoint_is_not_asked_about_an_empty_reply() -> None:
    found = EndpointReader("m", None).read(Exchange(MESSAGE, " \n "))
    assert set(found.values()) == {"no"}


def test_it_is_asked_further_questions() -> None:
    asked: list[Any] = []
    text = json.dumps({"answers": {"B1": "yes", "answers": "no"}})
    by = EndpointReader(
        "m", answering(asked, text), None, frozenset({"B1"}), more={"answers": "Does it answer?"}
    )
    assert by.read(X) == {"B1": "yes", "answers": "no"}
    assert "answers: Does it answer?" in asked[0][0][0]["content"]
