"""Writes the tables of docs/metrics.md from what metrics and leaves say of themselves.

    python -m tests.metric_reference

The page marks where each table stands: `<!-- table: NAME -->` … `<!-- end -->`, where NAME is a module of
metrics, `leaves` or `tree`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from attune_env.report.analyses.profile import part_name
from attune_rewards.metrics.metric import BENCHMARK, OWN, Metric
from attune_rewards.metrics.registry import TOPICS
from attune_rewards.metrics.tree import COMPOSITE, LEAF, LEAVES
from attune_rewards.reward.parts import text_of

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def rewritten(page: str) -> str:
    """The page with every table made again; raises KeyError for a name that no table has."""
    made = {topic.__name__.rpartition(".")[2]: metric_table(topic.METRICS) for topic in TOPICS}
    made |= {"leaves": leaf_table(), "tree": tree_table()}
    return BLOCK.sub(lambda found: found[1] + made[found[2]], page)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def metric_table(metrics: Iterable[Metric]) -> str:
    rows = ((f"`{m.name}`", ranged(m), valued(m), edges(m), m.role or "file") for m in metrics)
    return table(("name", "range", "value", "edge cases", "role"), rows)


def ranged(metric: Metric) -> str:
    numbers = [f"{end:g}".replace("-", "−").replace("inf", "∞") for end in (metric.low, metric.high)]
    text = (" to " if metric.low < 0 or math.isinf(metric.high) else "–").join(numbers)
    return f"{text}, lower is better" if metric.better == "lower" else text


def valued(metric: Metric) -> str:
    own = metric.source in (BENCHMARK, OWN)
    return metric.formula if own else f"{metric.formula} (source: {metric.source})"


def edges(metric: Metric) -> str:
    undefined = f"None: {metric.undefined}" if metric.undefined else ""
    return "; ".join(filter(None, (metric.edges, undefined)))


def leaf_table() -> str:
    texts = [(leaf, text_of(leaf)) for leaf in LEAF.values()]
    rows = (
        (f"`{leaf.name}`", part_name(leaf.name), leaf.stage, t.what, t.where, t.formula, t.zero)
        for leaf, t in texts
    )
    return table(("leaf", "in reports", "stage", "asks", "defined where", "score", "0 for"), rows)


def tree_table() -> str:
    shares, rows = COMPOSITE.weights(LEAVES), []
    for node in COMPOSITE.nodes():
        equal = len({child.weight for child in node.children}) == 1
        names = [child.name if child.children else f"`{child.name}`" for child in node.children]
        below = zip(names, node.children, strict=True)
        children = ", ".join(name if equal else f"{name} {child.weight:g}" for name, child in below)
        each = dict.fromkeys(f"{shares[child.name]:.4g}" for child in node.children if not child.children)
        if children:
            rows.append((node.name, children, ", ".join(each)))
    return table(("node", "children", "share of each leaf"), rows)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
