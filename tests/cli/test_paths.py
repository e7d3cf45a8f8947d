"""`attune paths`: where the files lie that other programs read."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from attune_env.cli.paths import PLACES
from tests.command import attune_here, loaded_by, table_rows

INSTALL = 'lm_eval is not installed: in the clone, pip install ".[lm-eval]"'


def test_a_name_gives_its_folder_without_one_all_are_listed(tmp_path: Path) -> None:
    out, err = attune_here("paths lm-eval", tmp_path)
    assert Path(out.rstrip("\n")).is_absolute()
    assert (Path(out.rstrip("\n")) / "attunebench.yaml").is_file()
    assert err.splitlines() == ([] if find_spec("lm_eval") else [INSTALL])
    ((header, *rows),) = table_rows(attune_here("paths", tmp_path)[0]).values()
    assert header == ["name", "contents", "folder"]
    assert [row[0] for row in rows] == list(PLACES)
    assert all(Path(row[2]).is_dir() for row in rows)
    out, err = attune_here("paths lm_eval", tmp_path, 2)
    assert out == ""
    assert "did you mean 'lm-eval'" in err


def test_nothing_of_a_harness_is_loaded() -> None:
    statement = (
        "from attune_env.cli.paths import paths; paths(name='lm-eval')\n"
        "import attune_episodes.frameworks.lm_eval as tasks; dir(tasks); tasks.__all__"
    )
    assert not {"lm_eval", "torch", "transformers", "datasets", "verifiers"} & loaded_by(statement)
