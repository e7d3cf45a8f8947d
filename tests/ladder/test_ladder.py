"""The ladder on data whose words settle the labels, on shuffled labels, and worked by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from attune_data import Conversation, Conversations, load
from attune_data.errors import SettingsError
from attune_data.files.write import write_jsonl
from attune_data.format.affect import POLARITY
from attune_data.jsonio import read_json
from attune_data.source.guard import BenchmarkTrainingError
from attune_env.ladder import Rung, ladder, ladder_tables, load_encoder
from attune_env.ladder.features import Encoded, Words
from attune_env.ladder.rungs import Answered, Sample
from attune_env.ladder.tasks import DID, PREFERRED, TASKS, UNEDITED, UNMARKED, VALENCE, Item, Key, items
from attune_env.testing import filler
from tests.command import attune

ASKED = {"yes": "Ja، ehrlich?", "no": "Nö 🙃."}
FELT = {"positive": "schön 🎉", "negative": "حزين"}


def planted(n: int, seed: int, prefix: str, *, shuffled: bool = False) -> Conversations:
    """Filler whose words say what is felt, whether the reply asks (B13), and which reply is better.

    With `shuffled`, the words are drawn at random and carry no information.
    """
    made = []
    for conversation in filler(n, seed, turns=(4, 4)):
        record, chance = conversation.to_record(), Random(f"{seed} {conversation.conversation_id}")
        record |= {"conversationId": prefix + record["conversationId"], "provenance": "own"}
        record["participant_profile"]["participant_id"] = f"{prefix}{conversation.participant}"
        for turn in record["turns"]:
            sign = chance.choice(("positive", "negative"))
            feeling = next(name for name, polarity in POLARITY.items() if polarity == sign)
            turn["moodShiftTags"] = [{"emotion": feeling, "intensity": 4}]
            answer = chance.choice(("yes", "no"))
            judgements = [{"questionId": "B13", "observedBehavior": answer, "preferredBehavior": "yes"}]
            better = chance.choice(("original", "alternate"))
            pair = {"questionId": "general", "responseA": "original", "responseB": "alternate"}
            pair["winner"] = "A" if better == "original" else "B"
            turn["annotations"] |= {"binaryJudgements": judgements, "pairwiseComparisons": [pair]}
            if shuffled:
                sign, answer = chance.choice(tuple(FELT)), chance.choice(tuple(ASKED))
                better = chance.choice(("original", "alternate"))
            turn["userMessage"] += f" {FELT[sign]}"
            turn["llmResponse"] += f" {ASKED[answer]}" + " Genau!" * (better == "original")
            turn["annotations"]["alternateResponses"]["llmImproved"] += " Genau!" * (better == "alternate")
        made.append(Conversation.model_validate(record))
    return Conversations(made, source=prefix)


class Hashed:
    """An encoder: how often the words of a text fall into each of 256 cells."""

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        rows = np.zeros((len(texts), 256))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[0]] += 1
        return [list(row) for row in rows]


def of(rungs: Sequence[Rung], fit: str, reader: str, test: str) -> dict[str, Rung]:
    return {rung.task: rung for rung in rungs if (rung.fit, rung.reader, rung.test) == (fit, reader, test)}


@pytest.fixture(scope="module")
def rungs() -> list[Rung]:
    fits = {"planted": planted(20, 1, "p"), "shuffled": planted(20, 7, "s", shuffled=True)}
    new = {"new": planted(15, 3, "n"), "new shuffled": planted(20, 4, "m", shuffled=True)}
    return ladder(fits, {"planted": fits["planted"], **new}, Hashed())


@pytest.mark.parametrize("test", ["planted", "new"])
@pytest.mark.parametrize("reader", ["words", "encoder"])
def test_words_that_settle_a_label_are_read(rungs: list[Rung], reader: str, test: str) -> None:
    found = of(rungs, "planted", reader, test)
    assert list(found) == list(TASKS)
    assert {rung.crossed for rung in found.values()} == {test == "planted"}
    for rung in found.values():
        assert rung.value.mean is not None
        assert rung.value.mean > (0.95 if reader == "words" else 0.8)
        assert rung.questions == (("B13",) if rung.task in (DID, UNMARKED) else ())
    assert found[VALENCE].above.leaves_out_zero


@pytest.mark.parametrize("reader", ["words", "encoder"])
def test_words_that_say_nothing_teach_nothing(rungs: list[Rung], reader: str) -> None:
    for rung in of(rungs, "shuffled", reader, "new shuffled").values():
        assert rung.value.low is not None
        assert rung.value.high is not None
        assert rung.value.low < 0.5 < rung.value.high


def test_balanced_accuracy_by_hand() -> None:
    conversations = filler(2, turns=(1, 1))
    names = [one.conversation_id for one in conversations]
    model = (DID, "B1")
    those = [Item(Key(names[i % 2], i), "", "", i < 5) for i in range(15)]
    answers = {(model, one.key): one.key.turn < 4 for one in those if one.key.turn != 14}
    sample = Sample(conversations, {model: those})
    found = {rung.task: rung for rung in sample.rungs("f", "r", "t", Answered(answers, {model}, False))}
    # 4 of 5 yes are right; 9 of 10 no, and one without an answer is half right
    assert found[DID].value.mean == pytest.approx((4 / 5 + 9.5 / 10) / 2)
    assert (found[DID].value.n, found[DID].value.units) == (15, 2)
    assert found[PREFERRED].missing == "no labels"
    few = Sample(conversations, {model: those[1:]})  # four yes
    lacking = {rung.task: rung.missing for rung in few.rungs("f", "r", "t", Answered({}, {model}, False))}
    assert lacking[DID] == "few labels"


def test_a_turn_without_a_feeling_or_with_feelings_of_both_kinds_has_no_valence() -> None:
    record = planted(1, 1, "p")[0].to_record()
    felt: tuple[list[str], ...] = ([], ["Proud", "Upset"], ["Proud", "Strong"], ["Upset"])
    for turn, names in zip(record["turns"], felt, strict=True):
        turn["moodShiftTags"] = [{"emotion": name, "intensity": 1} for name in names]
    valences = items([Conversation.model_validate(record)])[VALENCE, ""]
    assert [(item.key.turn, item.yes) for item in valences] == [(3, True), (4, False)]


def test_the_replies_that_nobody_edited_are_a_task_of_their_own() -> None:
    found = items(load("sample")[:3])
    turns = {
        (one.conversation_id, turn.turn_number): turn for one in load("sample")[:3] for turn in one.turns
    }

    def edited(item: Item) -> bool:
        human = turns[item.key.conversation, item.key.turn].responses["human"]
        return human in (item.text, item.against)

    preferred, unedited = found[PREFERRED, ""], found[UNEDITED, ""]
    assert len(preferred) == 3 * len(unedited)  # three replies in each turn
    assert unedited == [item for item in preferred if not edited(item)]

    record = load("sample")[0].to_record()
    record["metadata"] = {"alternates": "replies of models"}  # as importers of preferences mark them
    imported = items([Conversation.model_validate(record)])
    assert imported[UNEDITED, ""] == imported[PREFERRED, ""]


def test_a_comparison_has_no_side_and_a_side_no_worth() -> None:
    source = planted(15, 1, "p")
    turned = []
    for conversation in source:
        record = conversation.to_record()
        for turn in record["turns"]:
            (pair,) = turn["annotations"]["pairwiseComparisons"]
            pair |= {"responseA": pair["responseB"], "responseB": pair["responseA"]}
            pair["winner"] = "B" if pair["winner"] == "A" else "A"
        turned.append(Conversation.model_validate(record))
    test = {"new": planted(15, 3, "n")}
    first, second = (of(ladder({"f": fit}, test), "f", "words", "new")[PREFERRED] for fit in (source, turned))
    assert first.value == second.value


def test_labels_that_are_absent_are_named() -> None:
    feelings = []
    for conversation in planted(10, 4, "f"):
        record = conversation.to_record()
        for turn in record["turns"]:
            del turn["annotations"]
        feelings.append(Conversation.model_validate(record))
    rungs = ladder({"feelings": feelings, "all": planted(10, 5, "a")}, {"feelings": feelings})
    by_all, by_feelings = (of(rungs, fit, "words", "feelings") for fit in ("all", "feelings"))
    assert by_all[VALENCE].value.mean == pytest.approx(1)
    assert by_feelings[VALENCE].crossed
    assert [rung.missing for rung in by_all.values()] == ["", *["no labels"] * 4]
    back = of(ladder({"f": feelings}, {"all": planted(10, 5, "a")}), "f", "words", "all")
    assert [rung.missing for rung in back.values()] == ["", *["nothing to fit"] * 4]
    assert "no labels, few labels: of the test data" in ladder_tables(rungs)[-1].footnotes[-1]


def test_nobody_is_read_by_a_reader_fitted_on_them() -> None:
    one = planted(1, 1, "p")
    with pytest.raises(SettingsError, match=r"p and p both have only one person, the same.*give other"):
        ladder({"p": one}, {"p": one})
    within = [rung for rung in ladder({"q": planted(8, 2, "q")}, {"p": one}) if rung.missing == "one person"]
    assert [rung.task for rung in within] == list(TASKS)


def said(texts: Sequence[tuple[str, bool]], prefix: str) -> Conversations:
    """A conversation by another person, who names no id, for each text and whether it is of good feelings."""
    made = []
    for number, (conversation, (text, good)) in enumerate(zip(filler(len(texts)), texts, strict=True)):
        record = {**conversation.to_record(), "conversationId": f"{prefix}{number}", "provenance": "own"}
        del record["participant_profile"]
        tags = [{"emotion": "Proud" if good else "Upset", "intensity": 4}]
        record["turns"] = [
            {"turnNumber": 1, "userMessage": text, "llmResponse": "Ja.", "moodShiftTags": tags}
        ]
        made.append(Conversation.model_validate(record))
    return Conversations(made, source=prefix)


def noise(n: int, seed: int) -> list[tuple[str, bool]]:
    """Texts of six words at random, half of them called good."""
    chance = Random(seed)
    return [(" ".join(chance.choices("abcdefghijklmnopqrst", k=6)), i % 2 == 0) for i in range(n)]


def test_no_text_is_read_by_a_reader_fitted_on_the_same_text() -> None:
    texts = noise(60, 1)
    thrice = said(texts * 3, "t")
    copies = said([(f" {text.upper()}", good) for text, good in texts], "c")
    rungs = ladder({"thrice": thrice}, {"thrice": thrice, "copies": copies, "new": said(noise(60, 2), "n")})
    for test in ("thrice", "copies"):
        rung = of(rungs, "thrice", "words", test)[VALENCE]
        assert rung.crossed
        assert rung.value.mean == pytest.approx(0.5, abs=0.1)
        assert (rung.value.low or 0) < 0.5
    assert not of(rungs, "thrice", "words", "new")[VALENCE].crossed
    assert "without the people and texts that are read, fold by fold: thrice → thrice, thrice → copies." in (
        "".join(ladder_tables(rungs)[-1].footnotes)
    )


def test_texts_that_everybody_says_leave_nothing_to_fit_and_a_common_one_leaves_the_others() -> None:
    same = said(noise(10, 1) * 30, "s")
    assert of(ladder({"s": same}, {"s": same}), "s", "words", "s")[VALENCE].missing == "nothing to fit"
    thanks = []
    for conversation in planted(20, 1, "p"):
        record = conversation.to_record()
        record["turns"][0]["userMessage"] = "Thanks"
        thanks.append(Conversation.model_validate(record))
    rung = of(ladder({"p": thanks}, {"p": thanks}), "p", "words", "p")[VALENCE]
    assert rung.crossed
    assert rung.value.mean == pytest.approx((3 + 0.5) / 4, abs=0.03)  # of four turns, one cannot be read


def test_the_training_guard_applies_to_what_is_fitted_on() -> None:
    sample = load("sample")
    marked = [one.marked("benchmark") for one in sample]
    with pytest.raises(BenchmarkTrainingError):
        ladder({"sample": marked}, {"sample": sample})
    with pytest.raises(SettingsError, match="kept for evaluation"):
        ladder({"dev": load("written:dev")}, {"sample": sample})


def test_an_encoder_that_returns_something_else_is_refused() -> None:
    class Wrong:
        def encode(self, texts: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            return np.zeros(len(texts))

    with pytest.raises(SettingsError, match=r"shape \(2,\) for 2 texts; expected one row"):
        Encoded(Wrong()).rows(["a", "b"])


def test_words_of_any_script() -> None:
    words = Words().words("Don’t—CAFÉ? 🙃 שלום")
    assert words[:5] == ["don't", "café", "?", "🙃", "שלום"]
    assert "? 🙃" in words
    rows = Words().fit(["ü 🙃"] * 3)(["x" * 100_000, "ü", ""])  # the same text thrice is one text
    assert rows.shape == (3, 0)


def test_an_encoder_without_its_package_says_how_to_install_it() -> None:
    with pytest.raises(SettingsError, match="pip install sentence-transformers"):
        load_encoder("any")


def test_the_command_writes_the_same_bytes_under_any_hash_seed(tmp_path: Path) -> None:
    write_jsonl(planted(6, 1, "p"), tmp_path / "p.jsonl")
    made = []
    for seed in ("1", "2"):
        words = ("data", "ladder", "--fit", "p.jsonl", "--test", "p.jsonl", "-o", "ladder.json")
        done = attune(*words, cwd=tmp_path, PYTHONHASHSEED=seed)
        made.append((done.stdout, (tmp_path / "ladder.json").read_bytes()))
    assert made[0] == made[1]
    first = read_json(tmp_path / "ladder.json")["rungs"][0]
    assert (first["fit"], first["reader"], first["task"]) == ("p.jsonl", "words", VALENCE)
    assert first["value"]["participants"] == 5  # of six conversations, two are of one person
    assert set(first["above"]) == set(first["value"])
    assert "above_surface" not in first
    (tmp_path / "ladder.md").write_text("mine")
    done = attune("data", "ladder", "--test", "p.jsonl", "-o", "ladder.md", cwd=tmp_path, code=1)
    assert "choose another --output" in done.stderr
