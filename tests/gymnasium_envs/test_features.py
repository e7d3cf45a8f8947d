"""What `Attune/Features-v0` observes: numbers of the texts, and of nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, load
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS
from attune_data.errors import SettingsError
from attune_data.simulate import simulate
from attune_episodes import Request, Settings, plan
from attune_episodes.gymnasium_envs.features import (
    MESSAGE_CUES,
    NUMERIC_STAGES,
    TEXT_CUES,
    WORDS,
    hashed,
    layout,
    observe,
    question_number,
    size,
)
from tests.rewards.builders import EMOJI, LONG, RIGHT_TO_LEFT
from tests.rewards.strategies import conversations

SETTINGS = Settings(stages=NUMERIC_STAGES)
SAMPLE = load("sample")
PLACE = layout()


def requests(conversation: Conversation) -> tuple[Request, ...]:
    return plan(conversation, SETTINGS)


def cue(row: object, part: str, name: str) -> float:
    """A named cue of the message or of the first text."""
    names = MESSAGE_CUES if part == "message" else TEXT_CUES
    return float(np.asarray(row)[PLACE[part]][names.index(name)])


# --- shape and range ---------------------------------------------------------------------------------


def test_the_layout_covers_an_observation_without_gaps() -> None:
    for buckets in (0, 1, WORDS, 300):
        places = [i for part in layout(buckets).values() for i in range(part.start, part.stop)]
        assert places == list(range(size(buckets)))
    assert size(WORDS) == 258 + 4 * WORDS


@settings(max_examples=40, deadline=None)
@given(conversations(), st.sampled_from([0, 1, 7, 64]))
def test_every_number_is_finite_and_within_bounds(about: Conversation, buckets: int) -> None:
    table = observe(requests(about), buckets)
    assert table.dtype == np.float32
    assert table.shape == (len(requests(about)), size(buckets))
    assert np.isfinite(table).all()
    assert (np.abs(table) <= 1).all()


def test_stage_turn_and_what_is_asked_are_marked() -> None:
    asked = requests(SAMPLE[0])
    for request, row in zip(asked, observe(asked), strict=True):
        assert NUMERIC_STAGES[int(row[PLACE["stage"]].argmax())] == request.stage
        assert row[PLACE["stage"]].sum() == 1
        number = request.turn or len(request.history)
        assert row[PLACE["turn"]].tolist() == [number / 16, request.turn == 1]
        marked = [BINARY_IDS[i] for i in np.flatnonzero(row[PLACE["questions"]])]
        assert sorted(marked) == sorted(request.questions)


def test_sides_and_questions_of_comparisons_stand_in_the_order_of_the_prompt() -> None:
    asked = requests(SAMPLE[0])
    (request, *_) = (r for r in asked if r.stage == "prefer")
    row = observe(asked)[asked.index(request)]
    sides, labels = row[PLACE["sides"]].reshape(-1, 3), list(request.responses)
    for number, comparison in enumerate(request.comparisons):
        assert labels[int(sides[number].argmax())] == comparison.label_a
        assert labels[int(sides[number].argmin())] == comparison.label_b
        about = round(float(row[PLACE["about"]][number]) * 17)
        assert PAIRWISE_IDS[about - 1] == comparison.question
    assert not sides[len(request.comparisons) :].any()
    assert question_number("general") == 1
    assert question_number("PW99") == 0


def test_totals_before_are_seen_in_the_end_only() -> None:
    for conversation in SAMPLE[:5]:
        table = observe(requests(conversation))
        before = requests(conversation)[-1].pre_totals
        assert not table[:-1, PLACE["totals"]].any()
        assert before is not None
        assert table[-1, PLACE["totals"]].tolist() == pytest.approx([total / 70 for total in before])


# --- what is read ----------------------------------------------------------------------------------


def test_words_are_hashed_by_their_crc() -> None:
    found = hashed("Sorry sorry! Noise", 8)
    wanted = np.zeros(8)
    for word in ("sorry", "noise"):
        code = crc32(word.encode())
        wanted[(code & 0x7FFFFFFF) % 8] += -1 if code >> 31 else 1
    assert found.tolist() == pytest.approx((wanted / np.linalg.norm(wanted)).tolist())


@given(st.text(max_size=60) | st.sampled_from([EMOJI, RIGHT_TO_LEFT, LONG, "\ud800 half", "É é ß ẞ İ"]))
def test_hashed_words_have_length_one_whatever_the_text(text: str) -> None:
    found = hashed(text, 16)
    assert np.linalg.norm(found) in (0, pytest.approx(1, abs=1e-5))
    assert hashed(text + " " + text, 16).tolist() == found.tolist()  # each word counts once


def test_cues_are_read_off_the_texts() -> None:
    asked = requests(SAMPLE[0])
    said = dataclasses.replace(
        asked[0],
        user_message="I am so angry! What should I do?",
        reply="Perhaps try to rest, because it helps.",
    )
    row = observe([said])[0]
    assert row[PLACE["message"]][:20].any()
    assert cue(row, "message", "pleasant") == -1
    assert cue(row, "message", "advice") == 1
    assert cue(row, "message", "thanks") == 0
    assert cue(row, "message", "?") == pytest.approx(1 / 3)
    assert cue(row, "texts", "reasons") > 0
    assert cue(row, "texts", "hedges") > 0
    assert cue(row, "texts", "moral") == 0


def test_observations_depend_on_what_the_request_shows_and_on_nothing_else() -> None:
    """Answers and ids changed: the same numbers. A text changed: others."""
    for conversation in [*SAMPLE[:4], *simulate(3, seed=1)]:
        record = json.loads(json.dumps(conversation.model_dump(mode="json", by_alias=True)))
        for turn in record["turns"]:
            turn["moodShiftTags"] = [{"emotion": "Hostile", "intensity": 7}]
            for judged in turn["annotations"]["binaryJudgements"]:
                flip = {"yes": "no", "no": "yes"}
                for key in ("observedBehavior", "preferredBehavior", "llmValue"):
                    judged[key] = flip.get(judged.get(key), judged.get(key))
            for pair in turn["annotations"]["pairwiseComparisons"]:
                pair["winner"] = {"A": "B", "B": "A"}.get(pair["winner"])
        record["conversationWideQuestions"] = None
        other = Conversation.model_validate(record)
        assert observe(requests(other)).tolist() == observe(requests(conversation)).tolist()
        record["turns"][0]["userMessage"] = "Something else entirely, and I was terrified."
        changed = observe(requests(Conversation.model_validate(record)))
        assert (changed != observe(requests(conversation))).any(axis=1).all()


def test_a_request_is_observed_the_same_alone_and_among_others() -> None:
    asked = requests(SAMPLE[1])
    together = observe(asked)
    alone = np.concatenate([observe([request]) for request in reversed(asked)])[::-1]
    assert alone.tolist() == together.tolist()


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_numbers_are_the_same_in_every_process_and_locale(hash_seed: str) -> None:
    code = (
        "from attune_data import load\nfrom attune_episodes import Settings, plan\n"
        "from attune_episodes.gymnasium_envs.features import observe\nimport hashlib\n"
        "s = Settings(stages=('assess', 'prefer', 'reflect'))\n"
        "made = b''.join(observe(plan(c, s)).tobytes() for c in load('sample')[:3])\n"
        "print(hashlib.sha256(made).hexdigest())"
    )
    mine = observe([r for c in SAMPLE[:3] for r in requests(c)])
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == hashlib.sha256(mine.tobytes()).hexdigest()


def test_very_long_and_foreign_texts_are_observed() -> None:
    request = requests(SAMPLE[0])[0]
    for text in ("", "😢" * 5000, RIGHT_TO_LEFT * 2000, "word " * 50_000, "\ud800"):
        row = observe([dataclasses.replace(request, user_message=text, reply=text)])[0]
        assert np.isfinite(row).all()
        assert (np.abs(row) <= 1).all()


def test_a_stage_without_numbers_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="'draft' has no numeric observation; choose from assess, prefer"):
        observe(plan(SAMPLE[0], Settings(stages=("draft",))))
