"""The verdict, the profile and the summary on scores whose results are worked by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from attune_data.errors import UnknownNameError
from attune_env.report.analyses import Absent, Study
from attune_env.report.analyses.leaderboard import LEADERS
from attune_env.report.analyses.strengths import PROFILE
from attune_env.report.analyses.summary import summary
from attune_env.report.analyses.verdict import VERDICT
from attune_env.report.pages.notes import notes_of
from tests.report.analyses.made import columns, entry, first, means, scored, study

COMPOSITE = "composite_score"


def beside(**models: Sequence[float]) -> Study:
    """Models beside two baselines, 55 being the better, and the oracle."""
    named = {f"lab/{name}": values for name, values in models.items()}
    policies: dict[str, Sequence[float]] = {
        "builtin/prior": [55.0] * 10,
        "builtin/empty": [8.0] * 10,
        "builtin/oracle": [100.0] * 10,
    }
    return study(columns(COMPOSITE, {**named, **policies}))


@pytest.mark.parametrize(("values", "verdict", "difference"), [
    ([60.0, 61, 62, 60, 61, 62], "above", 6.0),
    ([50.0, 60, 50, 60, 55, 55], "indistinguishable", 0.0),
    ([40.0] * 6, "below", -15.0),
    ([90.0] * 5, "too little data", 35.0),  # all in one direction: p = 2 / 2⁵ = 0.0625
])  # fmt: skip
def test_a_model_is_held_against_the_best_baseline(
    values: list[float], verdict: str, difference: float
) -> None:
    table = first(VERDICT, beside(a=values))
    assert table.column("verdict") == [verdict]
    assert table.column("baseline") == ["prior"]
    assert means(table, "difference") == pytest.approx([difference])
    assert table.column("below_oracle") == pytest.approx([100 - sum(values) / len(values)])


def test_a_model_that_answers_little_is_judged_by_the_strict_composite() -> None:
    entries = [
        entry(f"c{i}", model, composite_score=canonical, composite_strict=strict)
        for i in range(6)
        for model, canonical, strict in (
            ("lab/silent", 80.0, 10.0),  # the canonical Composite passes over what it does not answer
            ("builtin/prior", 55.0, 50.0),
            ("builtin/mode", 60.0, 45.0),
        )
    ]
    table = first(VERDICT, study(entries))
    assert (table.column("verdict"), table.column("baseline")) == (["below"], ["prior"])
    assert means(table, "difference") == pytest.approx([-40.0])


def test_models_are_held_against_a_player_that_is_chosen() -> None:
    values: dict[str, Sequence[float]] = {
        "lab/a": [52.0] * 10, "lab/b": [50.0] * 10, "lab/c": [49.0, 51.0] * 5, "builtin/prior": [60.0] * 10
    }  # fmt: skip
    made = study(columns(COMPOSITE, values), baseline="lab/b")
    table = first(VERDICT, made)
    assert table.column("model") == ["lab/a", "lab/c"]
    assert table.column("verdict") == ["above", "indistinguishable"]
    assert means(table, "difference") == pytest.approx([2.0, 0.0])
    # all of 2^10 = 1,024 sign patterns: two of a reach its sum, every one of c; times 2, the models compared
    assert table.column("p_holm") == pytest.approx([4 / 1024, 1.0])
    assert summary(made)[:3] == [
        "`a` scores 52.0 of 100, significantly above `b`, the chosen baseline.",
        "Its score is 2.0 points above that baseline.",
        "`c` is indistinguishable from `b`, on these conversations.",
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'lab/b'"):
        study(columns(COMPOSITE, values), baseline="lab/bb")


def test_one_of_many_models_is_not_above_by_chance() -> None:
    values = {f"lab/{i}": [56.0] * 6 for i in range(2)} | {"builtin/prior": [55.0] * 6}
    table = first(VERDICT, study(columns(COMPOSITE, values)))
    assert table.intervals("difference")[0].leaves_out_zero
    assert table.column("p_holm") == pytest.approx([4 / 64, 4 / 64])  # 2/64 each, corrected for two
    assert set(table.column("verdict")) == {"indistinguishable"}


def test_with_too_little_data_the_summary_gives_the_difference_for_these_conversations_alone() -> None:
    made = study(columns(COMPOSITE, {"lab/a": [50.0, 48.0], "builtin/prior": [60.0, 60.0]}))
    assert summary(made)[:2] == [
        "`a` scores 49.0 of 100 and has too little data for a test against `prior`, the only baseline scored "
        "(`surface` and `asked` were not).",
        "On 2 conversations, its score is 11.0 points below that baseline.",
    ]


def test_where_only_policies_were_scored_those_that_read_are_judged() -> None:
    values = {"builtin/lexicon": [70.0] * 6, "builtin/asked": [60.0] * 6, "builtin/oracle": [100.0] * 6}
    table = first(VERDICT, study(columns(COMPOSITE, values)))
    assert table.column("model") == ["builtin/lexicon"]
    assert table.column("baseline") == ["asked"]


def test_without_a_baseline_there_is_no_verdict() -> None:
    made = study(columns(COMPOSITE, {"lab/a": [50.0] * 6}))
    with pytest.raises(Absent, match="attune run builtin all"):
        VERDICT.run(made)
    with pytest.raises(Absent, match="attune run builtin prior"):
        PROFILE.run(made)
    assert summary(made) == [
        "There is no verdict: no baseline was scored: run `attune run builtin all DATA` and score them too."
    ]


def parts(model: str, f1: float, pairwise: float) -> list[dict[str, object]]:
    return [
        entry(f"c{i}", model, composite_score=50.0, strict_parts={"emotion_f1": f1, "pairwise": pairwise})
        for i in range(8)
    ]


def test_the_profile_is_the_share_of_the_way_from_prior_to_the_annotations() -> None:
    made = study([*parts("lab/a", 0.7, 0.4), *parts("builtin/prior", 0.4, 0.5)])
    table = first(PROFILE, made)
    assert table.column("part") == ["Emotion match", "Preferred reply"]
    # (0.7 - 0.4)/(1 - 0.4) and (0.4 - 0.5)/(1 - 0.5)
    assert means(table, "gain") == pytest.approx([0.5, -0.2])
    assert table.column("p_holm") == pytest.approx([4 / 256, 4 / 256])  # 2 of 2^8 patterns, two parts
    caption = PROFILE.run(made).caption
    assert "over conversations" in caption
    assert "over participants" in PROFILE.run(replace(made, resample="participant")).caption
    assert summary(made)[-1:] == [
        "Against the best baseline on each part, it does significantly better on “emotion match”, and "
        "significantly worse on “preferred reply”.",
    ]


def test_a_part_counts_only_against_the_baseline_that_is_best_on_it() -> None:
    blind = [*parts("builtin/prior", 0.4, 0.5), *parts("builtin/asked", 0.7, 0.3)]
    few = [
        one | {"strict_parts": {"emotion_f1": 0.9, "pairwise": 0.9}} for one in parts("builtin/mode", 0, 0)
    ]
    made = study([*parts("lab/a", 0.7, 0.6), *blind, *few[:2]])  # mode has too few conversations to be best
    table = first(PROFILE, made)
    assert table.column("its_name") == ["asked", "prior"]
    # asked on the scale of the gain: (0.7 - 0.4)/(1 - 0.4), where the model gains the same
    assert table.column("best_baseline") == pytest.approx([0.5, 0.0])
    assert means(table, "gain") == pytest.approx([0.5, 0.2])
    # (0.7 - 0.7)/(1 - 0.4) and (0.6 - 0.5)/(1 - 0.5)
    assert means(table, "over_best") == pytest.approx([0.0, 0.2])
    assert table.column("p") == pytest.approx([1.0, 2 / 256])
    assert table.column("p_holm") == pytest.approx([1.0, 4 / 256])
    said = summary(made)
    assert (
        "Against the best baseline on each part, it does significantly better on “preferred reply”." in said
    )
    assert (
        "With 8 participants, it shows no significant difference on “emotion match” (see the profile)."
        in said
    )


def test_the_profile_follows_the_baseline_that_is_chosen() -> None:
    entries = [*parts("lab/a", 0.7, 0.6), *parts("lab/b", 0.6, 0.7), *parts("builtin/prior", 0.4, 0.5)]
    made = study(entries, baseline="lab/b")
    table = first(PROFILE, made)
    assert table.column("model") == ["lab/a"] * 2
    assert table.column("its_name") == ["b", "b"]
    assert means(table, "gain") == pytest.approx([0.5, 0.2])  # still over prior
    # b: (0.6 - 0.4)/(1 - 0.4) and (0.7 - 0.5)/(1 - 0.5); a from it: 0.1/0.6 and -0.1/0.5
    assert table.column("best_baseline") == pytest.approx([1 / 3, 0.4])
    assert means(table, "over_best") == pytest.approx([1 / 6, -0.2])
    assert "the mark is `b`." in PROFILE.run(made).caption
    assert (
        "Against `b` on each part, it does significantly better on “emotion match”, and significantly worse "
        "on “preferred reply”."
    ) in summary(made)


def test_the_difference_from_the_baseline_has_an_interval_of_its_own() -> None:
    def row(model: str, *values: float) -> list[dict[str, object]]:
        return [
            entry(f"c{i}", model, composite_score=50.0, strict_parts={"pairwise": value})
            for i, value in enumerate(values)
        ]

    rows = [*row("lab/a", *[0.6, 0.8] * 5), *row("builtin/asked", *[0.6] * 10)]
    table = first(PROFILE, study([*rows, *row("builtin/prior", *[0.5] * 10)]))
    (over,) = table.intervals("over_best")
    # 0 or 0.2 over asked, so 0 or 0.4 of the way; 95 % of resamples hold 2 to 8 of ten of the higher
    assert (over.mean, over.low, over.high) == pytest.approx((0.2, 0.08, 0.32))
    # five differ: 2 of their 2^5 patterns reach the sum, whatever the signs of the other five
    assert table.column("p") == pytest.approx([2 / 32])


@pytest.mark.parametrize(("values", "said"), [
    ([50.0] * 10, "scores the same as `lexicon`, a small word list, in every conversation: does the endpoint "
                  "serve your model?"),
    ([52.0] * 10, "scores significantly above `lexicon`, a small word list, by 2.0 points."),
    ([47.0] * 10, "scores significantly below `lexicon`, a small word list, by 3.0 points."),
    # 1 above or below: 0.2 * 1 - 0.8 * 1 to 0.8 * 1 - 0.2 * 1
    ([49.0, 51.0] * 5, "is indistinguishable from `lexicon`, a small word list: 0.0 points (-0.6 to 0.6)."),
    # 0.4 on average; 0.2 * 1.1 - 0.8 * 0.3 = -0.02 to 0.8 * 1.1 - 0.2 * 0.3: one decimal would say 0.0
    ([49.7, 51.1] * 5, "is indistinguishable from `lexicon`, a small word list: 0.40 points (-0.02 to 0.82) "
                       "above."),
])  # fmt: skip
def test_a_tie_with_the_word_list_is_told(values: list[float], said: str) -> None:
    made = study(
        columns(COMPOSITE, {"lab/a": values, "builtin/lexicon": [50.0] * 10, "builtin/prior": [40.0] * 10})
    )
    assert summary(made)[2] == f"It {said}"
    against = summary(replace(made, baseline="builtin/lexicon"))
    assert not any("word list" in line for line in against)


def test_on_the_sample_the_word_list_had_seen_it() -> None:
    values = {"lab/a": [50.0] * 10, "builtin/lexicon": [50.0] * 10, "builtin/prior": [40.0] * 10}

    def on_the_sample(**chosen: list[float]) -> list[str]:
        made = scored(columns(COMPOSITE, chosen))
        made["metadata"] |= {"ground_truth": "sample", "data": {"provenance": "own", "fingerprint": "0"}}
        return summary(Study(made))

    assert on_the_sample(**values)[2].startswith(
        "It scores the same as `lexicon`, a small word list written with the sample in view, in every "
    )
    del values["lab/a"]
    assert "`lexicon` is a small word list written with the sample in view." in on_the_sample(**values)


def test_an_equal_score_is_not_below() -> None:
    values = {"lab/a": [50.0] * 10, "builtin/lexicon": [50.0] * 10}
    said = summary(study(columns(COMPOSITE, values), baseline="builtin/lexicon"))
    assert said[1] == "Its score is equal to that baseline's: 0.0 points (0.0 to 0.0)."


def test_what_is_said_of_a_baseline_follows_the_one_that_is_chosen() -> None:
    made = study(columns(COMPOSITE, {"lab/a": [50.0] * 6, "lab/b": [50.0] * 6, "builtin/asked": [40.0] * 6}))
    assert VERDICT.run(made).question == VERDICT.question
    assert any("Beating `surface`" in note for note in first(VERDICT, made).notes)
    chosen = VERDICT.run(replace(made, baseline="lab/b"))
    assert chosen.question == "Does a model do better than `b`?"
    assert "that of `b`, paired" in chosen.caption
    assert not any("Beating" in note for note in chosen.tables["verdict"].notes)


def test_a_study_says_how_many_people_and_samples_it_rests_on() -> None:
    values = {"lab/a": [50.0] * 6, "builtin/prior": [40.0] * 6}
    two = columns(COMPOSITE, values, attune={"participant": "P1"})
    once = "Each reply was sampled once"
    table = first(VERDICT, study(two))
    assert table.notes[0] == "6 conversations (1 participant) in all; intervals and p are over participants."
    assert table.notes[1].startswith(once)
    several = {**values, "lab/a@sample2": [51.0] * 6}
    strict = [one | {"composite_strict": one[COMPOSITE]} for one in columns(COMPOSITE, several)]
    sampled = first(VERDICT, study(strict))
    assert not any(note.startswith(once) for note in sampled.notes)
    # two samples are one model: one row, one test
    assert [name for name in sampled.column("model") if str(name).startswith("lab/a")] == ["lab/a"]
    assert "was sampled 2 times: mean " in " ".join(sampled.notes)
    policies = columns(COMPOSITE, {"builtin/lexicon": [50.0] * 6, "builtin/prior": [40.0] * 6})
    assert not any(note.startswith(once) for note in first(VERDICT, study(policies)).notes)


def test_models_that_were_asked_differently_are_told_apart() -> None:
    full, compact = ({"prompts": name, "temperature": None} for name in ("full", "compact"))
    one = columns(COMPOSITE, {"lab/a": [60.0] * 6}, attune={"participant": "P1", "asked": full})
    other = columns(COMPOSITE, {"lab/b": [50.0] * 6}, attune={"participant": "P1", "asked": compact})
    baseline = columns(COMPOSITE, {"builtin/prior": [40.0] * 6})
    alone, both = study([*one, *baseline]), study([*one, *other, *baseline])
    assert alone.asked == {"prompts full, temperature not set": ["lab/a"]}
    assert dict(notes_of(alone))["Asked with"] == "prompts full, temperature not set"
    assert dict(notes_of(both))["Asked with"] == (
        "lab/a: prompts full, temperature not set; lab/b: prompts compact, temperature not set"
    )
    noted = [
        any("the same settings" in note for note in first(VERDICT, made).notes) for made in (alone, both)
    ]
    assert noted == [False, True]


def test_the_summary_is_short_and_plain() -> None:
    made = beside(
        **{name: [40.0 + i, 41, 42, 43, 44] * 2 for i, name in enumerate("abcdefgh")}, good=[89.0, 93.0] * 5
    )
    lines = summary(made)
    # good is 34 or 38 above; 95 % of resamples hold 2 to 8 of ten of the higher: 34 + 4 * 0.2, 34 + 4 * 0.8
    assert lines[:3] == [
        "`good` scores 91.0 of 100, significantly above `prior`, the best of the 2 baselines scored "
        "(`surface` and `asked` were not).",
        "Its score is 36.0 points (34.8 to 37.2) above that baseline.",
        "`h`, `g` and 6 more score significantly below `prior`, which understands no text.",
    ]
    assert len(lines) <= 6
    # an interval counts as one number
    assert all(len(re.findall(r"\(-?[\d.]+ to -?[\d.]+\)|\d+(?:\.\d+)?", line)) <= 3 for line in lines)


def test_a_model_scored_on_a_part_is_told_as_such_and_compared_on_that_part() -> None:
    baseline = [10.0] * 5 + [60.0] * 15
    made = study(columns(COMPOSITE, {
        "lab/whole": [50.0] * 20, "lab/part": [70.0] * 6 + [None] * 14, "builtin/prior": baseline,
    }))  # fmt: skip
    table = first(VERDICT, made)
    assert table.column("model") == ["lab/whole", "lab/part"]
    assert table.column("n") == [20, 6]
    # prior on the first six: (5 * 10 + 60)/6, on all: (5 * 10 + 15 * 60)/20
    assert means(table, "baseline_mean") == pytest.approx([47.5, 110 / 6])
    assert means(table, "difference") == pytest.approx([2.5, 70 - 110 / 6])
    assert "`part`: 6 of 20 conversations (6 participants)" in table.notes[1]
    leaders = first(LEADERS, made)
    assert leaders.column("model") == ["lab/whole", "lab/part", "builtin/prior"]
    assert "Not ranked, since scored on fewer of the 20 conversations: `lab/part`, 6." in leaders.notes
    alone = study(columns(COMPOSITE, {"lab/part": [70.0] * 6 + [None] * 14, "builtin/prior": baseline}))
    assert summary(alone)[0].startswith("`part` scores 70.0 of 100 on 6 of 20 conversations (6 participants)")


def test_a_failed_call_or_two_leave_a_model_ranked() -> None:
    made = study(columns(COMPOSITE, {"lab/a": [50.0] * 18 + [None] * 2, "builtin/prior": [40.0] * 20}))
    assert not made.partial


def test_replies_that_cannot_be_read_are_mentioned() -> None:
    entries = columns(COMPOSITE, {"lab/a": [50.0] * 6, "builtin/prior": [40.0] * 6})
    said = summary(study(entries))  # one reply of ten, as the entries say
    assert said[-1] == "10% of the replies from `a` were unreadable and count as unanswered."


def test_of_several_models_the_worst_share_is_named() -> None:
    entries = columns(COMPOSITE, {"lab/a": [50.0] * 6, "lab/b": [45.0] * 6, "builtin/prior": [40.0] * 6})
    told = "Up to 10% of the replies from 2 models were unreadable and count as unanswered."
    assert told in summary(study(entries))
