"""The benchmark's own subsets, by file number."""

from __future__ import annotations

import pytest

from attune_data import Conversations, SettingsError, UnknownNameError
from attune_data.selection import SUBSETS, official_subset
from attune_data.selection.subsets import numbered
from tests.data.builders import conversation, only_problem

ONE = conversation()


def benchmark(*numbers: int, name: str = "conversation_{}.json") -> Conversations:
    """Benchmark records as if read from files of these numbers."""
    items = [ONE.model_copy(update={"conversation_id": f"c{n}"}) for n in numbers]
    return Conversations(items, source="here", files={f"c{n}": f"a/b/{name.format(n)}" for n in numbers})


def test_the_lists_are_those_of_the_benchmark() -> None:
    assert {name: len(numbers) for name, numbers in SUBSETS.items()} == {
        "Sample200": 200, "Subsample100": 100, "Subsample50": 50, "Subsample25": 25, "Subsample20": 20,
    }  # fmt: skip
    for numbers in SUBSETS.values():
        assert list(numbers) == sorted(set(numbers))
        assert 5 <= numbers[0] <= numbers[-1] <= 248
    sets = {name: set(numbers) for name, numbers in SUBSETS.items()}
    assert sets["Subsample25"] < sets["Subsample50"] < sets["Sample200"]
    assert sets["Subsample20"] < sets["Sample200"]
    assert sets["Subsample100"] - sets["Sample200"] == {106}


@pytest.mark.parametrize("name", [*SUBSETS, " subsample50 "])
def test_a_subset_is_picked_by_file_number(name: str) -> None:
    chosen = official_subset(benchmark(*range(250, 0, -1)), name)
    wanted = SUBSETS[name.strip().capitalize()]
    assert [c.conversation_id for c in chosen] == [f"c{n}" for n in wanted]
    assert (chosen.source, chosen.provenance) == ("here", "benchmark")


def test_missing_files_are_counted_and_named() -> None:
    problem = only_problem(lambda: official_subset(benchmark(*SUBSETS["Sample200"]), "Subsample100"))
    assert problem.file == "here"
    assert problem.found == "1 of the 100 missing: conversation_106.json"
    many = only_problem(lambda: official_subset(benchmark(*SUBSETS["Subsample25"]), "Subsample50"))
    assert many.found.startswith("25 of the 50 missing: conversation_")
    assert many.found.endswith(", …")
    assert many.found.count("conversation_") == 5


@pytest.mark.parametrize("name", ["x.jsonl:{}", "ds[{}]", "Conversation_{}.json", "conversation_{}.json.bak"])
def test_other_sources_have_no_numbers(name: str) -> None:
    data = benchmark(*range(1, 250), name=name)
    assert numbered(data) == {}
    with pytest.raises(SettingsError, match=r"a list of conversation_N\.json files, but here was not read"):
        official_subset(data, "Subsample20")


def test_numbers_that_stand_twice_are_none_and_an_unknown_subset_is_told() -> None:
    both = [conversation(conversationId=i) for i in "ab"]
    files = {"a": "conversation_7.json", "b": "conversation_007.json"}
    assert numbered(Conversations(both, files=files)) == {}
    with pytest.raises(UnknownNameError, match='no official subset named "Subsample5"; did you mean'):
        official_subset(benchmark(1), "Subsample5")
