"""Write the tables of the data card, docs/written.md, from the corpus, its gates and its blind readers.

python -m tools.written.card
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from attune_data import Conversation, load
from attune_data.selection.stats import describe
from attune_data.source.corpora import corpus
from tools.pages import DOCS, filled, table
from tools.written.blind import Row, agreement, pairs
from tools.written.gates import corpus_in_parts, gates

PAGE: Final = DOCS / "written.md"


def rewritten(page: str) -> str:
    """The page with every table made again."""
    parts = corpus_in_parts()
    everything = [conversation for part in parts.values() for conversation in part]
    own, sample = describe(everything), describe(load("sample"))
    made = {
        "size": size(parts),
        "beside": beside(own, sample),
        "rates": rates(own, sample),
        "gates": table(("figure", "value", "bounds"), [_gate(str(one)) for one in gates(parts)]),
        "agreement": agreed(),
    }
    return filled(page, made)


def size(parts: Mapping[str, Sequence[Conversation]]) -> str:
    """Conversations, turns and participants of each part."""
    rows = [
        (f"`written:{part}`", str(len(those)), str(sum(len(c.turns) for c in those)),
         str(len({c.participant for c in those})))
        for part, those in parts.items()
    ]  # fmt: skip
    return table(("split", "conversations", "turns", "participants"), rows)


def beside(own: Mapping[str, Any], sample: Mapping[str, Any]) -> str:
    """The figures of the corpus beside those of the sample."""
    tags = [dict(one["tags"].items()) for one in (own, sample)]
    rows = [
        ("turns without a feeling", *(f"{one['neutral_turns']:.0%}" for one in (own, sample))),
        ("tags per turn", *(f"{one['tags_per_turn']:.2f}" for one in (own, sample))),
        ("mean intensity of a tag", *(f"{one['intensity']:.1f}" for one in (own, sample))),
        ("commonest tags", *(", ".join(list(one)[:5]) for one in tags)),
        ("change of positive PANAS", *(f"{one['panas_change']['positive']:+.1f}" for one in (own, sample))),
        ("change of negative PANAS", *(f"{one['panas_change']['negative']:+.1f}" for one in (own, sample))),
        *((f"comparisons that {name} wins", *(f"{one['wins'][key]:.0%}" for one in (own, sample)))
          for name, key in (("the received reply", "original"), ("the improved reply", "alternate"),
                            ("the edit", "human"))),
    ]  # fmt: skip
    return table(("figure", "written", "sample"), rows)


def rates(own: Mapping[str, Any], sample: Mapping[str, Any]) -> str:
    """How often each yes/no question is answered with yes: what the reply did, what was wanted."""
    rows = [
        (question, *(
            "–" if value is None else f"{value:.0%}"
            for one in (own, sample)
            for value in (one["questions"][question][side] for side in ("observed_yes", "preferred_yes"))
        ))
        for question in own["questions"]
    ]  # fmt: skip
    heads = ("question", "did, written", "wanted, written", "did, sample", "wanted, sample")
    return table(heads, rows)


def agreed() -> str:
    """Agreement of blind readers with the writers, over all and by part."""
    found = pairs()
    if not found:
        return "Nothing has been read again yet.\n"
    by_part = {part: [pair for pair in found if pair.part == part] for part in corpus("written").splits}
    columns = [agreement(found), *(agreement(those) if those else [] for those in by_part.values())]
    rows = [
        (
            whole.field,
            whole.measure,
            _value(whole),
            f"{whole.chance:.2f}",
            str(whole.items),
            *map(_value, some),
        )
        for whole, *some in zip_longest(*columns)
    ]
    return table(("field", "measure", "all", "chance", "items", *corpus("written").splits), rows)


def _value(row: Row | None) -> str:
    return "–" if row is None else f"{row.value:.2f}"


def _gate(line: str) -> tuple[str, str, str]:
    missed = line.startswith("✗")
    name, _, rest = line[2:].partition(": ")
    value, _, bounds = rest.partition(" (")
    return name, value + (" **missed**" if missed else ""), bounds.replace(")", "", 1)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
