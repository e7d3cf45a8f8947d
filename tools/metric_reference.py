"""Write the tables of docs/metrics.md from the definitions of metrics and leaves.

    python -m tools.metric_reference

The tables are called after the modules of metrics, `leaves` and `tree`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from attune_env.report.analyses.strengths import part_name
from attune_rewards.metrics.metric import BENCHMARK, OWN, Metric
from attune_rewards.metrics.registry import TOPICS
from attune_rewards.metrics.tree import COMPOSITE, LEAF, LEAVES
from attune_rewards.reward.parts import text_of
from tools.pages import DOCS, filled, table

PAGE = DOCS / "metrics.md"
NEXT = "## Composite, canonical\n"
"""The heading before which new topics stand."""


def rewritten(page: str) -> str:
    """The page with every table made again, and a section for each topic that has none yet."""
    made = {}
    for topic in TOPICS:
        name = topic.__name__.rpartition(".")[2]
        made[name] = metric_table(topic.METRICS)
        if f"<!-- table: {name} -->" not in page:
            title = (topic.__doc__ or name).partition("\n")[0]
            section = f"### {title} (`{name}`)\n\n<!-- table: {name} -->\n<!-- end -->\n\n"
            page = page.replace(NEXT, section + NEXT)
    made |= {"leaves": leaf_table(), "tree": tree_table()}
    return filled(page, made)


def metric_table(metrics: Iterable[Metric]) -> str:
    """The metrics of a topic."""
    rows = ((f"`{m.name}`", ranged(m), valued(m), edges(m), m.role or "file") for m in metrics)
    return table(("name", "range", "value", "edge cases", "role"), together(rows, 1))


def together(rows: Iterable[Sequence[str]], named: int) -> Iterator[Sequence[str]]:
    """Rows of the same cells after the first `named` ones as a single row, which has all of their names."""
    alike: dict[Sequence[str], list[Sequence[str]]] = {}
    for row in rows:
        alike.setdefault(row[named:], []).append(row[:named])
    for rest, names in alike.items():
        yield (*("; ".join(filter(None, cells)) for cells in zip(*names, strict=True)), *rest)


def ranged(metric: Metric) -> str:
    """The range of a metric."""
    numbers = [f"{end:g}".replace("-", "−").replace("inf", "∞") for end in (metric.low, metric.high)]
    text = (" to " if metric.low < 0 or math.isinf(metric.high) else "–").join(numbers)
    return f"{text}, lower is better" if metric.better == "lower" else text


def valued(metric: Metric) -> str:
    """The formula of a metric, with its source if that is another paper."""
    own = metric.source in (BENCHMARK, OWN)
    return metric.formula if own else f"{metric.formula} (source: {metric.source})"


def edges(metric: Metric) -> str:
    """The edge cases of a metric."""
    undefined = f"None: {metric.undefined}" if metric.undefined else ""
    return "; ".join(filter(None, (metric.edges, undefined)))


def leaf_table() -> str:
    """The leaves."""
    texts = [(leaf, text_of(leaf)) for leaf in LEAF.values()]
    rows = (
        (f"`{leaf.name}`", reported(leaf.name), leaf.stage, t.where, t.formula, t.zero) for leaf, t in texts
    )
    heads = ("leaf", "in reports", "stage", "defined where", "score", "0 for")
    return table(heads, together(rows, 2))


def reported(leaf: str) -> str:
    """What reports call a leaf; nothing if that only repeats its name."""
    name = part_name(leaf)
    return "" if name == leaf.replace("_", " ").capitalize() else name


def tree_table() -> str:
    """The nodes of the tree and the shares of their leaves."""
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
