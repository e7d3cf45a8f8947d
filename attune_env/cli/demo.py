"""`attune demo`: every built-in policy over the bundled sample, and a report of it."""

from __future__ import annotations

from pathlib import Path

from attune_env.cli.common import command_line, left_out, output_folder, progress_bar, stoppable
from attune_env.cli.options import option


def demo(output: Path = option("Folder to write to.", Path("results/demo"), "-o")) -> None:
    """Run every built-in policy over the sample, show the leaderboard and write a report.

    Needs no key and no network. Writes result files, scores.json and a `report` folder.

    Example: attune demo -o results/demo
    """
    from attune_data import load
    from attune_env.cli.report import command_of
    from attune_env.report.analyses.leaderboard import leaderboard_table
    from attune_env.report.analyses.sources import Sources, read_parts
    from attune_env.report.pages.folder import check_destination
    from attune_env.report.pages.report import Wanted, write_report
    from attune_env.results import check_replaceable, read_results, score_results, write_json
    from attune_env.running import run_builtin
    from attune_episodes.policies import BUILTIN

    conversations = load("sample")
    page, scores = output / "report", output_folder(output) / "scores.json"
    check_replaceable(scores)
    check_destination(page)
    with stoppable(), progress_bar("playing", len(BUILTIN) * len(conversations)) as step:
        for name in BUILTIN:
            # always run again: it takes seconds, and results of an older version would get in the way
            run_builtin(name, conversations, output, overwrite=True, on_done=step)
    results, problems, _ = read_results(output, conversations)
    left_out(problems, skip=False)
    write_json(scores, score_results(results, conversations, ground_truth="sample"))
    asked = Sources([scores])
    parts, _ = read_parts(asked, command_of(asked))
    # figures only as SVG: the page needs no others, and they take longer than everything else
    made = write_report(page, parts, Wanted(("svg",)), progress=progress_bar)
    for part in parts:
        leaderboard_table(part.study).print()
    print(f"wrote {len(results)} result files, scores.json and a report to {output}: {made.summary}")
    print(f"open {page / 'report.html'}")
    command = command_line("run", "custom", "MODEL", "sample", base_url="URL", output=output)
    print(f"next, run your own model: {command}")
