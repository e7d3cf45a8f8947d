"""The audit: its numbers are those of the engine, and it fails what it should fail."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

from attune_data import Conversations, load
from attune_env.audit import Audit, audit, audit_tables, policy_count
from attune_env.audit import verdict as verdict_module
from attune_env.audit.attacks import EXPLOITS, SURFACE
from attune_env.audit.constants import Rewards
from attune_env.audit.verdict import GATED, Row, Verdict
from attune_env.statistics import Bootstrap, Interval
from attune_episodes import KINDS, Settings, builtin_policy, rollout
from attune_episodes.policies.fitted import FittedPolicy
from attune_episodes.policies.skill import prior_scores
from attune_rewards import RewardSpec
from attune_rewards.predictions import Draft
from attune_rewards.reward.presets.skill import MAX_BASELINE
from tests.audit.silence import without

PEOPLE = load("written:test")[:24]
COMPOSITE, SKILL, BOUNDED = map(RewardSpec.preset, ("composite", "skill", "skill_bounded"))


def talkative(truth: object, turn: object, said: object) -> float:
    """Pays for length, which anybody can have."""
    return min(1.0, len(said.text) / 1000) if isinstance(said, Draft) else 0.0


TALKATIVE = COMPOSITE.with_part("talk", "draft", talkative, 0.5)


@cache
def audited() -> Audit:
    return audit(PEOPLE, [COMPOSITE, TALKATIVE, SKILL])


def row(name: str) -> Row:
    return next(row for row in audited().rows if row.name == name)


@pytest.mark.slow
def test_every_kind_of_attack_is_played_once() -> None:
    names = [row.name for row in audited().rows]
    assert names == [*KINDS, *SURFACE, *EXPLOITS, "searched"]
    assert policy_count(3) == len(names) + 2  # the search is played against each reward
    gated = {row.name for row in audited().rows if row.kind in GATED}
    assert gated == {n for n, kind in KINDS.items() if kind == "content-free"} | {*EXPLOITS, "searched"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prior", "empty", "lexicon", "oracle"])
@pytest.mark.parametrize("spec", [COMPOSITE, TALKATIVE, SKILL], ids=lambda spec: spec.name)
def test_what_it_says_a_policy_earns_is_what_rollouts_earn(name: str, spec: RewardSpec) -> None:
    policy = builtin_policy(name, PEOPLE)
    totals = [rollout(about, policy, reward=spec).total for about in PEOPLE]
    assert row(name).rewards[spec.name].mean == pytest.approx(math.fsum(totals) / len(totals), abs=1e-12)


@pytest.mark.slow
def test_intervals_are_paired_by_conversation_and_draw_participants() -> None:
    prior, empty = (
        [rollout(about, builtin_policy(name, PEOPLE)).total for about in PEOPLE]
        for name in ("prior", "empty")
    )
    kernel = Bootstrap(len(PEOPLE), [about.participant for about in PEOPLE])
    want = kernel.intervals([[e - p] for e, p in zip(empty, prior, strict=True)])[0]
    found = row("empty").over_prior["composite"]
    assert (found.low, found.high) == pytest.approx((want.low, want.high), abs=1e-12)
    assert (found.n, found.units) == (len(PEOPLE), len({about.participant for about in PEOPLE}))
    assert row("prior").over_prior["composite"].high == 0


@pytest.mark.slow
def test_a_reward_that_pays_for_talk_fails_and_the_search_is_named() -> None:
    verdict = next(v for v in audited().verdicts if v.reward == TALKATIVE.name)
    # half of 1.5 parts of the return for 1,000 characters, of which the prior writes one
    assert verdict.best == "searched"
    assert verdict.gains["searched"].mean == pytest.approx(0.5 / 1.5 * 0.999, abs=0.01)
    assert verdict.bound[0] == "searched"
    assert verdict.oracle < 1  # what people wrote themselves is shorter


@pytest.mark.slow
def test_only_enough_participants_make_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    people = len({about.participant for about in PEOPLE})
    assert audited().participants == people
    assert audited().failed == ()
    assert all(v.text == f"not gated: {people} participants, 100 are needed" for v in audited().verdicts)
    monkeypatch.setattr(verdict_module, "MIN_PARTICIPANTS", people)
    talkative = next(v for v in audited().verdicts if v.reward == TALKATIVE.name)
    assert talkative in audited().failed
    assert talkative.text.startswith("FAILS: ")
    assert "searched earns more than the prior" in talkative.text


@pytest.mark.slow
def test_what_beats_the_oracle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def terse(truth: object, turn: object, said: object) -> float:
        return 1.0 if isinstance(said, Draft) and len(said.text) < 20 else 0.0

    people = PEOPLE[:8]
    found = audit(people, [RewardSpec.weighted("terse", {"q2": 1}).with_part("short", "draft", terse, 10)])
    monkeypatch.setattr(verdict_module, "MIN_PARTICIPANTS", 2)
    assert {"empty", "prior", "searched"} <= set(found.verdicts[0].beats_oracle)
    assert "beaten by empty" in found.verdicts[0].text
    # no draft is right, so whoever reads may earn more than the recorded reply
    assert not {"lexicon", "surface"} & set(found.verdicts[0].beats_oracle)
    assert found.failed
    tables = audit_tables(found)
    assert any("short: some policy earns more than the annotations'" in n for t in tables for n in t.notes)


@pytest.mark.slow
def test_tables_hold_what_was_found() -> None:
    tables = audit_tables(audited())
    policies = len(audited().rows)
    want = [3, 3, policies, 16]  # fifteen leaves and talk
    assert [len(table.rows) for table in tables] == want
    for table in tables:
        assert all(len(one) == len(table.columns) for one in table.rows)
    by_name = {one[0]: one for one in tables[2].rows}
    assert str(by_name["oracle"][2]).startswith(f"{row('oracle').over_prior['composite'].mean:.3f}")
    assert by_name["prior"][2] == "–"
    assert next(iter(by_name)) == "oracle"  # best first


def of_fold(people: Conversations, *specs: RewardSpec) -> tuple[Rewards, FittedPolicy]:
    prior = builtin_policy("prior", people)
    assert isinstance(prior, FittedPolicy)
    return Rewards({spec.name: spec for spec in specs}, prior, people, Settings()), prior


def test_constants_are_measured_on_other_people() -> None:
    people = load("written:train")[:8]
    rewards, prior = of_fold(people, SKILL, BOUNDED, COMPOSITE)
    assert rewards.again == ("skill", "skill_bounded")
    for about in people:
        others = [other for other in people if prior.fold_of(other) != prior.fold_of(about)]
        assert about.participant not in {other.participant for other in others}
        specs, scores = rewards.of(about), prior_scores(others)
        assert specs["composite"] is COMPOSITE
        for name in rewards.again:
            assert specs[name].baselines == {p: n for p, n in scores.items() if n <= MAX_BASELINE}
            assert specs[name].floor == RewardSpec.preset(name).floor


def test_constants_from_elsewhere_stay() -> None:
    people = load("written:train")[:4]
    mine = COMPOSITE.measured_from({"q1": 0.3}, "my data").renamed("mine")
    rewards, _ = of_fold(people, mine)
    assert rewards.again == ()
    assert rewards.of(people[0])["mine"] is mine
    strangers, _ = of_fold(load("sample")[:4], SKILL)
    assert strangers.again == ()


def test_a_small_audit_measures_constants_again_and_says_so() -> None:
    spec = RewardSpec.preset("preference").measured_from({"pairwise": 0.5}, SKILL.reference)
    found = audit(load("written:train")[:4], [spec])
    assert found.measured_again == ("preference",)
    (prior,) = (row for row in found.rows if row.name == "prior")
    (oracle,) = (row for row in found.rows if row.name == "oracle")
    assert oracle.rewards["preference"].mean == 1
    assert prior.over_prior["preference"].mean == 0
    (note,) = (n for table in audit_tables(found) for n in table.notes if n.startswith("preference:"))
    assert "measured again" in note


def interval(mean: float, low: float, high: float) -> Interval:
    return Interval(mean, low, high, 200, 150)


@pytest.mark.parametrize(("gain", "oracle", "beaten", "state", "says"), [
    (interval(0.0, 0.0, 0.0), 1.0, (), "passes", "passes"),
    (interval(0.015, 0.012, 0.019), 1.0, (), "passes", "passes"),
    (interval(0.012, 0.001, 0.021), 1.0, (), "fails", "FAILS: a earns more than the prior"),
    (interval(0.021, -0.001, 0.04), 1.0, (), "fails", "FAILS: a earns more than the prior"),
    (interval(0.008, -0.005, 0.023), 1.0, (), "undecided", "undecided: a may gain up to 0.023"),
    (interval(0.0, 0.0, 0.0), 0.9, (), "passes", "passes"),  # a draft: no draft is right
    (interval(0.0, 0.0, 0.0), 1.0, ("b",), "fails", "FAILS: beaten by b"),
])  # fmt: skip
def test_the_verdict_by_its_bounds(
    gain: Interval, oracle: float, beaten: tuple[str, ...], state: str, says: str
) -> None:
    here = interval(0.0, -0.01, 0.01)
    verdict = Verdict("r", here, {"a": gain, "c": interval(-1, -1, -1)}, {"s": here}, beaten, oracle, 150)
    assert (verdict.state, verdict.text[: len(says)]) == (state, says)
    assert (verdict.best, verdict.bound) == ("a", ("a", gain.high))
    few = replace(verdict, participants=99)
    assert (few.state, few.text) == ("not gated", "not gated: 99 participants, 100 are needed")


@pytest.mark.slow
def test_conversations_that_a_reward_does_not_score_are_left_out() -> None:
    half = [without(about, "comparisons") if i % 2 else about for i, about in enumerate(PEOPLE)]
    kept = Conversations([about for i, about in enumerate(PEOPLE) if i % 2 == 0])
    spec = RewardSpec.preset("preference")
    found = audit(Conversations(half), [spec])
    oracle = next(one for one in found.rows if one.name == "oracle").rewards["preference"]
    assert (oracle.mean, oracle.n) == (1.0, len(kept))
    assert found.verdicts[0].participants == len({about.participant for about in kept})
    nothing = audit(Conversations([without(about, "comparisons") for about in PEOPLE[:6]]), [spec])
    assert nothing.verdicts[0].text == "not scored"
    assert nothing.failed == ()
    assert audit_tables(nothing)[0].rows[0][1] == "not scored"


@pytest.mark.slow
def test_what_only_shows_on_the_surface_is_reported_and_not_gated() -> None:
    verdict = next(v for v in audited().verdicts if v.reward == "skill")
    shallow = {name for name, kind in KINDS.items() if kind == "shallow"}
    assert set(verdict.shallow) == {*SURFACE, *shallow}
    assert not set(verdict.shallow) & set(verdict.gains)


@pytest.mark.slow
def test_parts_of_one_name_in_two_rewards_are_kept_apart() -> None:
    def one(truth: object, turn: object, said: object) -> float:
        return 1.0

    def none(truth: object, turn: object, said: object) -> float:
        return 0.0

    base = RewardSpec.preset("preference")
    specs = [base.with_part("taste", "draft", f, 1).renamed(name) for f, name in ((one, "x"), (none, "y"))]
    found = audit(PEOPLE[:6], specs)
    assert found.parts["taste of x"]["prior"] == found.parts["taste of x"]["searched"] == 1
    assert found.parts["taste of y"]["prior"] == 0
    assert "pairwise" in found.parts
