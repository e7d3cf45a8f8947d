"""`--training-run` and `--training-step`: where in a training run a result belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_env.results import read_results, score_results
from tests.command import attune_here, data_folder, read
from tests.endpoint import answers_of, serve
from tests.running.playing import files, small

DATA = small(2)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "marks"), [
    ("--training-step 0", {"run": None, "step": 0}),
    ("--training-run 'grpo été 🌊' --training-step 250", {"run": "grpo été 🌊", "step": 250}),
    ("", None),
])  # fmt: skip
def test_the_marks_are_in_results_and_scores_of_policies_and_models(
    tmp_path: Path, options: str, marks: Any
) -> None:
    data_folder(tmp_path / "data", ("c-1", "c-2"))
    with serve(answers_of(DATA)) as server:
        attune_here(f"run custom m data -o served --base-url {server.url} {options}", tmp_path)
    attune_here(f"run builtin always-no data -o built {options}", tmp_path)
    out, _ = attune_here(f"run builtin always-no data -o built {options}", tmp_path)
    assert "2 were already complete" in out
    for folder in (tmp_path / "built", tmp_path / "served"):
        assert [record["attune"].get("training") for record in files(folder).values()] == [marks, marks]
        results, problems, _ = read_results(folder, DATA)
        assert not problems
        entries = score_results(results, DATA, ground_truth="here")["conversations"]
        assert [entry["attune"].get("training") for entry in entries] == [marks, marks]
    attune_here("score --results built --data data --output scores.json", tmp_path)
    assert read(tmp_path / "scores.json")["conversations"][0]["attune"].get("training") == marks
    attune_here("report --scores scores.json", tmp_path)
