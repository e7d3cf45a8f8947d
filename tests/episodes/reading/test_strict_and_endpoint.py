"""The agreement of two readers; a model behind a callable as a reader, with its cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from attune_data.errors import DataError
from attune_episodes.reading import EndpointReader, Exchange, Reading, reader, strict

MESSAGE = "My landlord cancelled the lease yesterday and I feel sad about leaving the garden."
REPLY = "You feel sad about leaving that garden, and who wouldn't after such a letter from him?"
X = Exchange(MESSAGE, REPLY, (("Hello.", "Good morning."),))


@dataclass(frozen=True)
class Says:
    """Reads what it was made with."""

    reading: Reading
    name: str = "says"

    @property
    def questions(self) -> frozenset[str]:
        return frozenset(self.reading.probabilities)

    def read(self, exchange: Exchange) -> Reading:
        return self.reading


def test_strict_takes_what_both_say_and_half_where_they_differ() -> None:
    one = Says(Reading({"B1": 0.9, "B2": 0.8, "B3": 0.1, "B4": 0.6}))
    other = Says(Reading({"B1": 0.4, "B2": 0.3, "B3": 0.3, "B5": 1.0}, cuts={"B1": 0.2}))
    both = strict(one, other)
    found = both.read(X)
    # B1: .9, and from its cut .5 + .5·(.4 - .2)/.8 = .625; B2 differs; B3: .3 is less sure than .1
    assert found.probabilities == pytest.approx({"B1": 0.625, "B2": 0.5, "B3": 0.3})
    assert found.answers() == {"B1": "yes", "B3": "no"}
    assert both.questions == {"B1", "B2", "B3"}
    assert both.name == "strict(says, says)"


def test_strict_of_a_reader_with_itself_reads_as_it_does() -> None:
    by = reader("fitted")
    assert strict(by, by).read(X).answers(by.questions) == by.read(X).answers(by.questions)


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
    assert found.answers() == {"B1": "yes", "B13": "no"}  # B19 was not answered, so it was not read
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
    assert EndpointReader("m", answering([], text)).read(X).probabilities == {}


def test_an_endpoint_is_not_asked_about_an_empty_reply() -> None:
    found = EndpointReader("m", None).read(Exchange(MESSAGE, " \n "))
    assert set(found.answers().values()) == {"no"}
