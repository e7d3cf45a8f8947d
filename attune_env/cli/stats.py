"""`attune stats`: each model's scores summarised."""

from __future__ import annotations

from pathlib import Path

from attune_data.errors import SettingsError
from attune_env.cli.options import OVERWRITE, argument, option

HEAD = "model,kind,mode,metric,n,"
"""How a file that this command wrote begins."""


def stats(
    *,
    path: Path | None = argument("A scores file made by `attune score`.", "SCORES", None),
    scores: Path | None = option("The same, as an option.", None, "-s"),
    output: Path | None = option("Write a CSV file, one row per model and metric.", None, "-o"),
    every: bool = option("Every metric of the file, not only those of a report.", False, "--all"),
    overwrite: bool = OVERWRITE,
) -> None:
    """Summarise each model's scores: n, mean (also with gaps as 0), deviation, quartiles, per metric.

    Example: attune stats scores.json

    Example: attune stats scores.json --all -o stats.csv
    """
    from attune_env.analyses.model_stats import model_stats, stats_csv
    from attune_env.report.files import check_replaceable
    from attune_env.results import read_scores
    from attune_env.results.files import write_text

    if (path is None) == (scores is None):
        raise SettingsError("name one scores file: attune stats scores.json, or --scores scores.json")
    if output is not None:
        if output.suffix.lower() != ".csv":
            raise SettingsError(f"{output}: a table goes into a file that ends in .csv")
        check_replaceable(output, HEAD, "-o", overwrite=overwrite)
    content = read_scores(path or scores or Path())
    tables = model_stats(content, every=every)
    for table in tables:
        table.print()
    if output is not None:
        write_text(output, stats_csv(content, tables))
        print(f"wrote {output}")
