"""The texts keep their rules, what is held out is held out, and nothing half-made is ever written."""

from __future__ import annotations

from collections.abc import Iterator

from attune_data.affect import NEGATIVE, POLARITY, POSITIVE
from attune_data.constants import BINARY_IDS
from attune_data.simulate import Simulation
from attune_data.simulate.acts import ACT_OF, ORDER, STYLES
from attune_data.simulate.constructs import WISHES
from attune_data.simulate.grammar import Template
from attune_data.simulate.texts import PARTS, Said, Texts, texts


def lists(said: Texts) -> Iterator[tuple[str, list[str]]]:
    """(where, sources) of every list of templates that parts divide."""
    shared = [(name, getattr(said, name)) for name in ("replies", "asks", "reactions", "frames")]
    cues = [("cues", {name: family.cues for name, family in said.families.items()})]
    local = [
        (f"{sub.category}/{sub.name}.{name}", getattr(sub, name))
        for sub in said.subtopics
        for name in ("pairs", "phrases", "cues", "asks")
    ]
    for where, many in (*shared, *cues, *local):
        for key, entries in many.items():
            yield f"{where}.{key}", list(map(source, entries))


def source(entry: Template | Said) -> str:
    return entry.source if isinstance(entry, Template) else f"{entry.say.source} => {entry.other.source}"


def test_nine_families_share_the_twenty_feelings_out() -> None:
    families = texts().families
    assert len(families) == 9
    assert sorted(item for family in families.values() for item in family.named) == sorted(POLARITY)
    for family in families.values():
        assert set(family.named) <= set(POSITIVE if family.sign > 0 else NEGATIVE)
        assert len(family.claims) == len(set(family.claims)) >= 3  # a reply names up to three at once


def test_every_act_has_thirty_frames_and_every_construct_a_wish() -> None:
    replies = texts().replies
    several = {"infer": ["infer_hedged", "infer_bold"], "echo": ["echo", "echo_flat"]}
    for way in (way for act in ORDER for way in several.get(act, [act])):
        for one in [name for name in (f"{way}_good", f"{way}_bad") if name in replies] or [way]:
            assert len({t.source for name in {way, one} for t in replies.get(name, ())}) >= 30, one
    assert {act for style in STYLES.values() for act in style} <= set(ORDER)
    assert set(ACT_OF.values()) <= set(ORDER)
    assert set(WISHES) == set(BINARY_IDS) >= set(ACT_OF)


def test_seen_and_unseen_templates_are_disjoint_and_together_all() -> None:
    whole, seen, unseen = (list(lists(texts(part))) for part in PARTS)
    assert [where for where, _ in whole] == [where for where, _ in seen] == [where for where, _ in unseen]
    assert len(whole) > 500
    for (where, every), (_, ours), (_, theirs) in zip(whole, seen, unseen, strict=True):
        if len(every) < 3:  # too short to divide: both parts have it whole
            assert ours == theirs == every, where
        else:
            assert sorted(ours + theirs) == sorted(every), where
            assert not set(ours) & set(theirs), where
            assert len(theirs) == max(1, round(0.2 * len(every))), where  # a fifth
            assert ours == [entry for entry in every if entry in set(ours)], where  # in order


def test_seen_and_unseen_topics_are_disjoint_and_together_all() -> None:
    whole, seen, unseen = (
        {(sub.category, sub.name) for sub in texts("all", part).subtopics} for part in PARTS
    )
    assert seen | unseen == whole
    assert not {category for category, _ in seen} & {category for category, _ in unseen}
    apart = {category for category, _ in unseen}
    assert len(apart) == 3
    for world, wanted in ((Simulation(1, topics="unseen"), True), (Simulation(1, topics="seen"), False)):
        assert {world.record(i)["metadata"]["category"] in apart for i in range(10)} == {wanted}
