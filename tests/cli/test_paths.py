"""`attune paths`: where the files lie that other programs are told of."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from attune_env.cli.paths import PLACES
from tests.command import loaded_by
from tests.front.command import attune, table_rows

INSTALL = 'lm_eval is not installed: pip install "attune-env[harness]"'


def test_a_name_gives_its_folder_and_nothing_else_on_standard_output(tmp_path: Path) -> None:
    done = attune("paths", "lm-eval", cwd=tmp_path)
    (line,) = done.stdout.splitlines()
    assert Path(line).is_absolute()
    assert (Path(line) / "attunebench.yaml").is_file()
    assert done.stderr.splitlines() == ([] if find_spec("lm_eval") else [INSTALL])


def test_without_a_name_every_place_is_listed(tmp_path: Path) -> None:
    ((header, *rows),) = table_rows(attune("paths", cwd=tmp_path).stdout).values()
    assert header == ["name", "holds", "folder"]
    assert [row[0] for row in rows] == list(PLACES)
    assert all(Path(row[2]).is_dir() for row in rows)


def test_a_wrong_name_gets_the_nearest(tmp_path: Path) -> None:
    done = attune("paths", "lm_eval", cwd=tmp_path, code=2)
    assert done.stdout == ""
    assert "did you mean 'lm-eval'" in done.stderr


@pytest.mark.parametrize("statement", [
    "from attune_env.cli.paths import paths; paths(name='lm-eval')",
    "import attune_env.lm_eval_tasks as tasks; dir(tasks); tasks.__all__",
])  # fmt: skip
def test_nothing_of_a_harness_is_loaded(statement: str) -> None:
    loaded = loaded_by(statement)
    assert not {"lm_eval", "torch", "transformers", "datasets", "verifiers"} & loaded
