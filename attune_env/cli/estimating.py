"""`attune run … --dry-run`: what a run would take, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.endpoint.asking import Price
    from attune_episodes.settings import Mode, Settings


def show_estimate(
    conversations: Conversations,
    modes: Sequence[Mode],
    settings: Settings,
    *,
    price: Price | None,
    samples: int,
    judges: int,
) -> None:
    """Prints what a run would take; `judges` is how many there are."""
    from attune_env.report.table import DASH, Table
    from attune_env.running.endpoint.estimate import estimate

    table = Table(
        "what this run would take (nothing was sent)",
        (
            "mode",
            "conversations",
            "calls",
            "judge calls",
            "tokens in",
            "tokens out",
            "judge tokens in",
            "cost",
        ),
    )
    for one in estimate(conversations, modes, settings, samples=samples, judges=judges):
        cost = DASH if price is None else f"${price.of(one.usage):.2f}"
        numbers = (one.calls, one.judge_calls, one.usage.tokens_in, one.usage.tokens_out)
        cells = [*map(str, numbers), str(one.judge_usage.tokens_in), cost]
        table.rows.append((one.mode, str(one.conversations), *cells))
    table.notes = [
        "calls are exact but for retries and re-asks; what is complete already is not taken off",
        "tokens are estimated at 4 bytes each; a model that reasons, or a verbose mode, writes more",
    ]
    if price is not None and judges:
        table.notes.append("the cost leaves judges out")
    if price is None:
        table.notes.append("for a cost give --price-in and --price-out, dollars per million tokens")
    table.print()
