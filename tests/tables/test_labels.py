"""Kinds of rows and short names."""

from __future__ import annotations

import pytest

from attune_env.tables.labels import counted, listed, mode_text, quoted, references, role_of, short_names
from attune_episodes import KINDS


def test_the_baselines_are_the_policies_that_read_nothing_or_the_surface() -> None:
    baselines = {name for name in KINDS if role_of(f"builtin/{name}") == "baseline"}
    assert baselines == {name for name, kind in KINDS.items() if kind in ("content-free", "shallow")}


@pytest.mark.parametrize(("model", "role"), [
    ("builtin/prior", "baseline"), ("builtin/copy", "baseline"), ("builtin/oracle", "oracle"),
    ("builtin/lexicon", "reader"), ("openai/oracle", "model"), ("empty", "model"),
])  # fmt: skip
def test_policies_are_no_models(model: str, role: str) -> None:
    assert role_of(model) == role


def test_built_in_policies_of_every_kind_are_reference_rows() -> None:
    policies = ["builtin/prior", "builtin/lexicon", "builtin/oracle"]
    assert references(["lab/a", *policies]) == {1, 2, 3}
    assert references(policies) == {0, 2}  # without a model, the reader is what is compared


def test_a_name_in_a_sentence_cannot_end_its_quotes() -> None:
    assert quoted("a`b\n") == "`a'b\\n`"


def test_only_the_default_mode_is_primary() -> None:
    assert [mode_text(mode) for mode in ("default", "verbose")] == ["default", "verbose (not primary)"]


def test_names_are_short_and_differ() -> None:
    names = short_names(["a/m", "b/m", "lab/x", f"l/{'q' * 40}1", f"l/{'q' * 40}2", "/"])
    assert names[:3] == ["a/m", "b/m", "x"]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 26


def test_long_names_keep_what_distinguishes_them() -> None:
    models = [f"lab/instruct-with-a-very-long-name-step{step}" for step in (100, 200)]
    assert short_names(models) == ["instruct-with…name-step100", "instruct-with…name-step200"]


@pytest.mark.parametrize(("said", "want"), [
    (counted(1, "model"), "1 model"), (counted(1200, "model"), "1,200 models"),
    (counted(2, "policy", "policies"), "2 policies"), (listed(["a"]), "a"), (listed(["a", "b"]), "a and b"),
    (listed(["a", "b", "c", "d"]), "a, b and 2 more"),
])  # fmt: skip
def test_words(said: str, want: str) -> None:
    assert said == want
