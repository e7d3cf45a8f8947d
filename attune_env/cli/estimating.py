"""`attune run … --dry-run` and `attune rejudge … --dry-run`: what it would take, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attune_env.running.costs import Estimate
    from attune_env.running.settings import Price


def show_estimate(
    estimates: Sequence[Estimate], *, price: Price | None, judge_price: Price | None = None, judges: int
) -> None:
    """Prints what a run would take.

    `price` is the evaluated model's, `judge_price` that of the judges, `judges` how many there are. What has
    no price is left out of the cost, which the notes then say.
    """
    from attune_env.report.table import DASH, Table

    headings = (
        "mode", "conversations", "calls", "judge calls", "tokens in", "tokens out", "judge tokens in", "cost",
    )  # fmt: skip
    table = Table("what this run would take (nothing was sent)", headings)
    for one in estimates:
        parts = [p.of(usage) for p, usage in ((price, one.usage), (judge_price, one.judge_usage)) if p]
        cost = f"${sum(parts):.2f}" if parts else DASH
        numbers = (one.calls, one.judge_calls, one.usage.tokens_in, one.usage.tokens_out)
        cells = [*map(str, numbers), str(one.judge_usage.tokens_in), cost]
        table.rows.append((one.mode, str(one.conversations), *cells))
    table.notes = [
        "calls are exact but for retries and re-asks; what is complete already is not taken off",
        "tokens are estimated at 4 bytes each; a model that reasons, or a verbose mode, writes more",
    ]
    if price is not None and judge_price is None and judges:
        table.notes.append("the cost leaves judges out")
    if price is None and judge_price is None:
        table.notes.append("for a cost give --price-in and --price-out, dollars per million tokens")
    table.print()
