"""The notebook of `examples/`: its cells run one after the other, and it is kept without outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

NOTEBOOK: Final = Path(__file__).parents[1] / "examples" / "quickstart.ipynb"


def test_the_notebook_runs_from_a_conversation_to_a_training_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        exec(compile("".join(cell["source"]), f"quickstart.ipynb, cell {number}", "exec"), names)
        assert capsys.readouterr().out.strip()
    assert 0 < names["played"].total < 1
    mean = {name: sum(totals) / len(totals) for name, totals in names["scores"].items()}
    assert max(mean["empty"], mean["model"]) < mean["prior"] < mean["lexicon"]
    assert names["row"]["prompt"]
