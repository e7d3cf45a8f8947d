"""The presentation of the prefer stage: labels, sides and order, seeded so that none reveals the source.

Each order derives from a hash of (seed, conversation, turn, thing), so it is the same on every machine and
says nothing about which response won.
"""

from __future__ import annotations

from collections.abc import Mapping

from attune_data.format.constants import RESPONSES, ResponseName
from attune_data.format.schema import Turn
from attune_data.seeding import digest
from attune_episodes.protocol.request import ShownComparison

MASKED = ("X", "Y", "Z")
OFFICIAL: Mapping[ResponseName, str] = {
    "original": "original",
    "alternate": "alternate1",
    "human": "alternate2",
}


Place = tuple[int, str]
"""(seed, conversation id)"""


def label_responses(turn: Turn, place: Place, *, masked: bool) -> dict[str, ResponseName]:
    """Label -> response, for the responses in the turn's comparisons, in the order of labels."""
    used = {name for c in turn.comparisons for name in (c.response_a, c.response_b)}
    names = [name for name in RESPONSES if name in used]
    if not masked:
        return {OFFICIAL[name]: name for name in names}
    names.sort(key=lambda name: digest(*place, turn.turn_number, "label", name))
    return dict(zip(MASKED, names, strict=False))


def show_comparisons(
    turn: Turn, labels: Mapping[str, ResponseName], place: Place, *, masked: bool
) -> tuple[ShownComparison, ...]:
    """The comparisons as presented: numbered from 1, with order and sides shuffled unless official."""
    comparisons, number_of_turn = turn.comparisons, turn.turn_number
    label_of = {name: label for label, name in labels.items()}
    order = list(range(len(comparisons)))
    if masked:
        order.sort(key=lambda index: digest(*place, number_of_turn, "order", index))
    shown = []
    for number, index in enumerate(order, 1):
        comparison = comparisons[index]
        swapped = masked and bool(digest(*place, number_of_turn, "side", index)[0] & 1)
        sides = (label_of[comparison.response_a], label_of[comparison.response_b])
        a, b = sides[::-1] if swapped else sides
        shown.append(ShownComparison(number, index, comparison.question_id, a, b, swapped))
    return tuple(shown)
