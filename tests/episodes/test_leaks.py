"""No annotated answer can be read off any prompt: every mode and stage, the sample and simulated people.

What a prompt may hold of the annotations, and what these tests therefore keep fixed:
- which yes/no questions apply in a turn, and which are listed as not applicable (what that says by itself,
  such as a question that applies only where a feeling was tagged, is the data's and no test's here);
- which comparisons were made, on which questions, and in prefer the texts of their responses;
- under `absolute` and `delta` the PANAS totals before the conversation, in reflect;
- in the omniscient modes the background: topic, attitude, profile and PANAS before the conversation.
All else that the person said is an answer, and nothing may depend on it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from functools import cache
from itertools import combinations, pairwise

import pytest
from scipy.stats import chi2_contingency

from attune_data import Conversation
from attune_data.affect import EMOTIONS
from attune_episodes import MODES, Request, Settings, plan
from attune_episodes.plan import OPTION_FIELDS
from attune_episodes.prompts import NAMES
from attune_episodes.settings import LABELS, PANAS_STRATEGIES
from attune_episodes.shown import label_responses, show_comparisons
from tests.episodes.builders import told
from tests.episodes.leaks import (
    BOOK,
    CLUES,
    LEAST_P,
    Shown,
    answered_otherwise,
    answers_of,
    assert_fair,
    assert_uniform,
    attack,
    corpus,
    frame,
    narrow_walk,
    one_a_turn,
    reworded,
    rows,
    shown,
    texts_of,
    unanswered,
    visible_texts,
    walk,
)

Twin = Callable[[Conversation], Conversation]


@cache
def twins(twin: Twin) -> dict[str, Conversation]:
    return {about.conversation_id: twin(about) for about in corpus()}


def handed(request: Request) -> tuple[object, ...]:
    """All that a request hands over; mappings as lists, since their order could tell something too."""
    return (
        [(message.role, message.content) for message in request.messages],
        (request.history, request.user_message, request.reply, request.questions, request.comparisons),
        (list(request.responses.items()), list(request.options.items()), list(request.shown_labels.items())),
        (request.id, request.verbose, request.pre_totals, request.wants_change),
    )


# --- 1. other answers, the same prompts ----------------------------------------------------------


def test_the_walk_takes_every_conversation_through_every_mode_and_all_48_settings_occur() -> None:
    seen = [(about.conversation_id, s) for about, s in walk()]
    assert {(id_, s.mode, s.prompts) for id_, s in seen} == {
        (about.conversation_id, mode, prompts) for about in corpus() for mode in MODES for prompts in NAMES
    }
    simulated = {s for id_, s in seen if id_.startswith("sim")}
    assert len(simulated) == len(MODES) * len(NAMES) * len(PANAS_STRATEGIES) * len(LABELS) == 48


@pytest.mark.parametrize("twin", [answered_otherwise, unanswered])
def test_the_twins_differ_in_every_single_answer_and_ask_the_same(twin: Twin) -> None:
    answers = 0
    for about in corpus():
        other = twins(twin)[about.conversation_id]
        before, after = answers_of(about), answers_of(other)
        assert before.keys() == after.keys()
        assert [place for place in before if before[place] == after[place]] == []
        answers += len(before)
    assert answers > 50_000


def test_no_request_depends_on_any_answer() -> None:
    requests: Counter[str] = Counter()
    for number, (about, settings) in enumerate(walk()):
        want = [handed(request) for request in plan(about, settings)]
        requests.update(request.stage for request in plan(about, settings))
        for twin in (answered_otherwise, unanswered)[: 1 + (number % 5 < 2)]:  # 5: prime to the walk's steps
            other = plan(twins(twin)[about.conversation_id], settings)
            assert [handed(request) for request in other] == want, (about, settings.describe())
    assert min(requests.values()) > 2_000  # each stage was there


def test_the_answer_schema_does_not_depend_on_any_answer() -> None:
    for about in corpus()[::5]:
        for strategy in PANAS_STRATEGIES:
            settings = Settings("verbose", panas_strategy=strategy)
            want = [repr(request.schema) for request in plan(about, settings)]  # repr: key order too
            for twin in (answered_otherwise, unanswered):
                other = plan(twins(twin)[about.conversation_id], settings)
                assert [repr(request.schema) for request in other] == want


# --- 2. value by value ---------------------------------------------------------------------------


def test_a_thread_holds_only_the_messages_that_earlier_requests_ended_with() -> None:
    """So what is shown of every last message below holds of the whole prompt."""
    for about, settings in narrow_walk():
        threaded, placeholder = settings.prompt_set.threaded, settings.prompt_set.placeholder
        thread = [("system", settings.prompt_set.render("system", {}))]
        for request in plan(about, settings):
            *before, last = ((message.role, message.content) for message in request.messages)
            assert before == thread
            assert last[0] == "user"
            if threaded and request.stage in ("draft", "assess"):
                thread += [last, ("assistant", placeholder)]


def test_a_text_stands_in_a_prompt_exactly_as_often_as_its_stage_may_show_it() -> None:
    """Alternates in prefer of their turn only, the reply of a turn after its draft, nothing of later turns.

    A forbidden text can coincide with one that may be shown (one edit in five changes nothing) or stand
    within it. None is skipped: each must stand there as often as in the visible texts, and no more.
    """
    forbidden = coincide = 0
    for about, settings in narrow_walk():
        texts = Counter(text for turn in about.turns for text in texts_of(turn))
        assert min(map(len, texts)) >= 20  # long enough not to stand in a template by chance
        for request in plan(about, settings):
            prompt, visible = told(request), visible_texts(about, request, settings)
            hidden = texts - Counter(visible)
            for text in texts:
                within = sum(other.count(text) for other in visible)
                assert prompt.count(text) == within, (request.id, text)
                coincide += hidden[text] if within else 0
            forbidden += hidden.total()
    assert forbidden > 200_000
    assert coincide / forbidden < 0.06  # the rest stands nowhere in the prompt


@cache
def frames() -> dict[tuple[object, ...], set[str]]:
    """What is left of the prompts of each kind where all that may differ between conversations is cut."""
    found: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for about, settings in narrow_walk():
        for request in plan(about, settings):
            kind: tuple[object, ...] = (request.stage, settings.prompts, settings.verbose)
            kind += (settings.labels,) if request.stage == "prefer" else ()
            kind += (settings.panas_strategy,) if request.stage == "reflect" else ()
            found[kind].add(frame(about, request, settings))
    return found


def test_apart_from_what_may_be_seen_all_prompts_of_a_kind_are_one_and_the_same_text() -> None:
    """No room is left for an answer: no number, name or option that another conversation has not."""
    several = {kind: sorted(texts, key=len)[:2] for kind, texts in frames().items() if len(texts) > 1}
    assert several == {}
    assert len(frames()) == 2 * 2 * (3 + len(LABELS) + len(PANAS_STRATEGIES))


def test_a_prompt_names_all_twenty_feelings_or_none() -> None:
    for kind, texts in frames().items():
        for text in texts:
            named = [name for name in EMOTIONS if re.search(rf"\b{name}\b", text)]
            assert named == (list(EMOTIONS) if kind[0] in ("assess", "reflect") else []), kind


def test_options_are_always_the_whole_list_in_the_order_of_the_codebook() -> None:
    want = [(name, BOOK.options[name]) for name in OPTION_FIELDS]
    for about, settings in narrow_walk():
        for request in plan(about, settings):
            asked = list(request.options.items())
            assert asked == (want if request.stage == "reflect" else [])
    for kind, texts in frames().items():
        for text in texts:
            listed = [[text.find(option) for option in options] for _, options in want]
            if kind[0] == "reflect":
                assert all(sorted(places) == places and places[0] > -1 for places in listed)
            else:
                assert {place for places in listed for place in places} == {-1}


def test_no_prompt_names_the_conversation_the_person_or_the_model() -> None:
    for about, settings in narrow_walk():
        profile, source = about.participant_profile, about.metadata
        assert profile is not None
        assert source is not None
        names = [about.conversation_id, profile.participant_id, profile.profile_type, source.model]
        for request in plan(about, settings):
            prompt, texts = told(request), "\n".join(visible_texts(about, request, settings))
            for name in (*filter(None, names), ".json", "conversation_"):
                assert prompt.count(name) == texts.count(name), (request.id, name)


# --- 3. labels, sides and order ------------------------------------------------------------------
# All draws are hashes of fixed seeds, so that no figure below can flicker. A chi-square test must give
# p > 1e-4, a share lie within 4.5 standard errors: of about 20 tests and 600 shares an honest shuffle then
# fails one in 200 changes of the data.


def test_the_six_ways_to_label_are_equally_frequent() -> None:
    assert_uniform((row.order for row in one_a_turn()), 6)


@pytest.mark.parametrize("what", ["label", "side", "number"])
def test_where_the_winner_is_shown_is_uniform(what: str) -> None:
    """The label is also the place among the texts, which are printed in the order of the labels."""
    kinds = {"label": 3, "side": 2, "number": 12}[what]
    assert_uniform((getattr(row, what) for row in one_a_turn()), kinds)


@pytest.mark.parametrize("what", ["label", "side", "number", "label_a", "label_b", "swapped"])
@pytest.mark.parametrize("answer", ["winner", "question", "side in the file"])
def test_what_is_shown_is_independent_of_who_won_and_what_was_asked(what: str, answer: str) -> None:
    def known(row: Shown) -> str:
        in_file = "AB"[(row.side == "B") != row.swapped]
        return {"winner": row.winner, "question": row.question, "side in the file": in_file}[answer]

    counts = Counter((known(row), getattr(row, what)) for row in one_a_turn())
    table = [[counts[a, b] for b in {b for _, b in counts}] for a in {a for a, _ in counts}]
    assert chi2_contingency(table).pvalue > LEAST_P


def test_the_winner_stands_on_side_a_half_of_the_time_whatever_question_number_and_label() -> None:
    sides: dict[tuple[str, Hashable], list[bool]] = defaultdict(list)
    for row in rows():
        for what in ("question", "number", "label", "place", "winner"):
            sides[what, getattr(row, what)].append(row.side == "A")
    assert len(sides) == 17 + 12 + 3 + 12 + 3
    for drawn in sides.values():
        assert_fair(sum(drawn), len(drawn))  # each flip is a coin of its own
    assert_fair(sum(row.side == "A" for row in rows()), len(rows()))


def test_labels_of_one_turn_say_nothing_of_those_of_the_next() -> None:
    order = {row.turn: row.order for row in one_a_turn()}
    pairs = [
        (order[first], order[second])
        for first, second in pairwise(sorted(order))
        if first[:2] == second[:2] and first[2] % 2  # turns 1-2, 3-4, …: each turn once
    ]
    assert_uniform(pairs, 36, least=4_500)


def test_sides_within_a_turn_are_independent_of_each_other() -> None:
    flips: dict[tuple[int, str, int], dict[int, bool]] = defaultdict(dict)
    for row in rows():
        flips[row.turn][row.place] = row.swapped
    assert_uniform((tuple(turn[i] for i in range(4)) for turn in flips.values()), 16)
    for i, j in combinations(range(12), 2):
        equal = sum(turn[i] == turn[j] for turn in flips.values())
        assert_fair(equal, len(flips))


def test_labels_sides_and_order_depend_on_seed_id_and_turn_alone() -> None:
    for seed in (0, 1):
        settings = Settings(stages=("prefer",), seed=seed, prompts="compact")
        for about in corpus()[::2]:
            here = plan(about, settings)
            there = plan(twins(reworded)[about.conversation_id], settings)
            assert [r.messages for r in here] != [r.messages for r in there]
            assert [(list(r.shown_labels.items()), r.comparisons) for r in here] == [
                (list(r.shown_labels.items()), r.comparisons) for r in there
            ]


@pytest.mark.parametrize("number", [0, 7, 20, 120, 229])
def test_given_the_texts_the_winners_side_and_label_are_fair_coins_over_seeds(number: int) -> None:
    about = corpus()[number]
    n = 1_500
    for turn in about.turns[:2]:
        wins: Counter[tuple[int, str]] = Counter()
        for seed in range(1_000, 1_000 + n):
            place = (seed, about.conversation_id)
            labels = label_responses(turn, place, masked=True)
            for c in show_comparisons(turn, labels, place, masked=True):
                asked = turn.comparisons[c.index]
                winner = asked.response_a if asked.winner == "A" else asked.response_b
                won = labels[c.label_a] == winner
                wins.update([(c.index, "AB"[not won]), (c.index, c.label_a if won else c.label_b)])
        for index in range(12):
            assert_fair(wins[index, "A"], n)  # ± 4.5·0.5/38.7 = 0.058
            for label in "XYZ":
                assert_fair(wins[index, label], n, 1 / 3)  # ± 4.5·0.471/38.7 = 0.055


TABLES = [clues for size in range(1, 5) for clues in combinations(CLUES, size)]


@pytest.mark.parametrize("clues", TABLES, ids=" ".join)
def test_no_table_of_labels_sides_and_numbers_predicts_a_winner(clues: tuple[str, ...]) -> None:
    accuracy, error = attack(rows(), clues)
    assert error < 0.003  # half of the turns under 8 seeds: about 5,000 turns with a spread below 0.2
    assert abs(accuracy - 0.5) < 4.5 * error  # a fair coin, whichever question it is


def test_the_same_attack_succeeds_on_official_labels_which_do_tell_the_source() -> None:
    official = Settings(stages=("prefer",), prompts="compact", labels="official")
    accuracy, error = attack(shown(official, corpus()), ("label_a", "label_b"))
    assert accuracy > 0.5 + 4.5 * error
