"""Write the tables of docs/data-cards.md from the bundled conversations.

python -m tools.written.card
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from attune_data import Conversation, load
from attune_data.selection.stats import describe
from attune_data.source.corpora import corpus
from attune_env.people.checks import check
from attune_env.people.texts import words
from attune_env.tables.cells import DASH, interval_text
from tools.pages import DOCS, filled, table

PAGE: Final = DOCS / "data-cards.md"


def rewritten(page: str) -> str:
    """The page with every table made again."""
    parts = {part: load(f"written:{part}") for part in corpus("written").splits}
    everything = [conversation for part in parts.values() for conversation in part]
    made = {
        "size": size(parts),
        "figures": figures(load("sample"), everything),
        "checks": checks(everything),
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


def figures(*sets: Sequence[Conversation]) -> str:
    """The figures of the sample beside those of the corpus."""
    columns = [figures_of(conversations) for conversations in sets]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return table(("figure", "`sample`", "`written`"), rows)


def figures_of(conversations: Sequence[Conversation]) -> dict[str, str]:
    """What `describe` and the gates say of a set."""
    said = describe(conversations)
    turns = said["turns_per_conversation"]
    names = {"the received reply": "original", "the improved reply": "alternate", "the edit": "human"}
    return {
        "conversations": f"{said['conversations']}",
        "participants": f"{said['participants']}",
        "turns": f"{said['turns']}",
        "turns per conversation": f"{turns['min']} to {turns['max']}, mean {turns['mean']:.2f}",
        "turns without a feeling": f"{said['neutral_turns']:.0%}",
        "feelings per turn": f"{said['tags_per_turn']:.2f}",
        "mean intensity of a feeling": f"{said['intensity']:.1f}",
        "commonest feelings": ", ".join(list(said["tags"])[:5]),
        "yes/no answers in which did and wanted differ": f"{differing(conversations):.1%}",
        **{f"comparisons that {name} wins": f"{said['wins'][key]:.0%}" for name, key in names.items()},
        "comparisons that side A wins": f"{said['winner_a']:.0%}",
        "comparisons that the longer reply wins": f"{longer_wins(conversations):.0%}",
        "change of positive feelings (PANAS, 10–70)": f"{said['panas_change']['positive']:+.1f}",
        "change of negative feelings (PANAS, 10–70)": f"{said['panas_change']['negative']:+.1f}",
        "categories of topics": f"{len(said['categories'])}",
        "conversations with a stated diagnosis": f"{sum(has_diagnosis(c) for c in conversations)}",
    }


def differing(conversations: Sequence[Conversation]) -> float:
    """Share of the judgements with two yes/no answers in which these differ."""
    judgements = [j for c in conversations for turn in c.turns for j in turn.judgements]
    both = [j for j in judgements if {j.observed, j.preferred} <= {"yes", "no"}]
    return sum(j.observed != j.preferred for j in both) / len(both)


def has_diagnosis(conversation: Conversation) -> bool:
    """Whether the participant states a diagnosis."""
    return bool(set(conversation.diagnoses or ()) - {"None of the above"})


def longer_wins(conversations: Sequence[Conversation]) -> float:
    """Share of the comparisons that the longer reply wins, of those of different lengths."""
    won = []
    for turn in (turn for c in conversations for turn in c.turns):
        for c in turn.comparisons:
            a, b = (len(words(turn.responses[name] or "")) for name in (c.response_a, c.response_b))
            if c.winner and a != b:
                won.append((a > b) == (c.winner == "A"))
    return fmean(won)


def checks(conversations: Sequence[Conversation]) -> str:
    """The figures of `attune people check` that have a bound, beside those of the sample."""
    rows = [
        (one.name, one.result, *(interval_text(each, places=2) for each in (one.own, one.usual)))
        for one in check(conversations, load("sample")).checks
        if one.result != DASH
    ]
    return table(("figure", "check", "`written`", "`sample`"), rows)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
