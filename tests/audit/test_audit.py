"""The audit: its numbers are those of the engine, and it fails what it should fail."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

from attune_data import Conversations
from attune_data.simulate import simulate
from attune_env.audit import (
    Audit,
    audit,
    audit_tables,
    policy_count,
    reference_world,
)
from attune_env.audit import verdict as verdict_module
from attune_env.audit.verdict import GATED, Row, Verdict
from attune_env.statistics import Bootstrap, Interval
from attune_episodes import KINDS, builtin_policy, rollout
from attune_episodes.attacks import EXPLOITS, SURFACE
from attune_rewards import RewardSpec
from attune_rewards.predictions import Draft
from tests.audit.silence import without

PEOPLE = simulate(24, seed=4)
COMPOSITE, SKILL = RewardSpec.preset("composite"), RewardSpec.preset("skill")


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
    assert (found.n, found.units) == (24, 16)
    assert row("prior").over_prior["composite"].high == 0


@pytest.mark.slow
def test_a_reward_that_pays_for_talk_fails_and_the_search_is_named() -> None:
    verdict = next(v for v in audited().verdicts if v.reward == TALKATIVE.name)
    # half of 1.5 parts of the return for 1,000 characters, of which the prior writes one
    assert verdict.best == "searched"
    assert verdict.gains["searched"].mean == pytest.approx(0.5 / 1.5 * 0.999, abs=0.01)
    assert verdict.bound[0] == "searched"
    assert verdict.oracle < 1  # what people wrote themselves is shorter
    assert verdict.beats_oracle == ("searched",)  # whose drafts are longer than what people wrote


@pytest.mark.slow
def test_only_enough_participants_make_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audited().participants == len({about.participant for about in PEOPLE}) == 16
    assert audited().failed == ()
    assert all(v.text == "not gated: 16 participants, 100 are needed" for v in audited().verdicts)
    monkeypatch.setattr(verdict_module, "MIN_PARTICIPANTS", 16)
    assert [v.reward for v in audited().failed] == [TALKATIVE.name]
    texts = {v.reward: v.text for v in audited().verdicts}
    assert texts[TALKATIVE.name].startswith(
        "FAILS: searched earns more than the prior; the annotations' own "
    )
    assert texts[TALKATIVE.name].endswith("beaten by searched")
    assert texts["composite"].startswith("passes, but reading nothing earns 0.5")
    assert texts["skill"] in (
        "passes",
        f"passes, but reading nothing earns {row('prior').rewards['skill'].mean:.2f}",
    )


@pytest.mark.slow
def test_what_beats_the_oracle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def terse(truth: object, turn: object, said: object) -> float:
        return 1.0 if isinstance(said, Draft) and len(said.text) < 20 else 0.0

    people = simulate(8, seed=4)
    found = audit(people, [RewardSpec.weighted("terse", {"q2": 1}).with_part("short", "draft", terse, 10)])
    monkeypatch.setattr(verdict_module, "MIN_PARTICIPANTS", 2)
    assert {"empty", "prior", "searched"} <= set(found.verdicts[0].beats_oracle)
    assert "the annotations' own answers earn 0." in found.verdicts[0].text
    assert "beaten by empty" in found.verdicts[0].text
    assert found.failed
    tables = audit_tables(found)
    assert any("short: some policy earns more than the annotations'" in n for t in tables for n in t.notes)


@pytest.mark.slow
def test_valid_constant_answers_earn_nothing_above_the_prior_under_skill() -> None:
    gains = {row.name: row.over_prior["skill"].mean or 0 for row in audited().rows if row.kind in GATED}
    assert max(gains.values()) < 0.02


@pytest.mark.slow
def test_tables_hold_what_was_found() -> None:
    tables = audit_tables(audited())
    policies = len(audited().rows)
    want = [3, policies, policies - 1, 16]  # fifteen leaves and talk
    assert [len(table.rows) for table in tables] == want
    for table in tables:
        assert all(len(one) == len(table.columns) for one in table.rows)
    by_name = {one[0]: one for one in tables[1].rows}
    assert str(by_name["oracle"][2]).startswith("1.000")
    assert next(iter(by_name)) == "oracle"  # best first


@pytest.mark.slow
def test_a_simulation_adds_its_ceiling() -> None:
    world = reference_world()
    people = world.take(6)
    found = audit(people, [RewardSpec.preset("preference")], world=world)
    assert 0.5 < found.ceiling["pairwise"] < 1
    rows = audit_tables(found)[1].rows
    assert rows[-1][:3] == ("(ceiling)", "best reader", f"{found.ceiling['pairwise']:.3f}")
    assert all(one[0] != "(ceiling)" for one in audit_tables(audited())[1].rows)


def interval(mean: float, low: float, high: float) -> Interval:
    return Interval(mean, low, high, 200, 150)


@pytest.mark.parametrize(("gain", "oracle", "beaten", "state", "says"), [
    (interval(0.0, 0.0, 0.0), 1.0, (), "passes", "passes"),
    (interval(0.015, 0.012, 0.019), 1.0, (), "passes", "passes"),
    (interval(0.012, 0.001, 0.021), 1.0, (), "fails", "FAILS: a earns more than the prior"),
    (interval(0.021, -0.001, 0.04), 1.0, (), "fails", "FAILS: a earns more than the prior"),
    (interval(0.008, -0.005, 0.023), 1.0, (), "undecided", "undecided: a may gain up to 0.023"),
    (interval(0.0, 0.0, 0.0), 0.9, (), "fails", "FAILS: the annotations' own answers earn 0.900, not 1"),
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
    assert (oracle.mean, oracle.n) == (1.0, 12)
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
    specs = [base.with_part("taste", "prefer", f, 1).renamed(name) for f, name in ((one, "x"), (none, "y"))]
    found = audit(PEOPLE[:6], specs)
    assert found.parts["taste of x"]["prior"] == found.parts["taste of x"]["searched"] == 1
    assert found.parts["taste of y"]["prior"] == 0
    assert "pairwise" in found.parts
