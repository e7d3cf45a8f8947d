"""BERTScore by the real package and real models, small ones that are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from attune_data import load
from attune_data.errors import DataError, SettingsError
from attune_env.results import read_results, score_results
from attune_env.results.bertscore import BertScorer
from attune_env.running import run_builtin
from tests.command import attune

LETTERS = [*"abcdefghijklmnopqrstuvwxyzé.,!?'"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers and random weights; its tokenizer states no longest input."""
    folder: Path = tmp_path_factory.mktemp("models") / "tiny-bert"
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=96,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def scorer(bert: Path) -> BertScorer:
    return BertScorer(bert, layer=2, batch_size=3)


def by_hand(folder: Path, candidate: str, reference: str) -> float:
    """The formula: greedy cosine matching of the tokens' embeddings, the special tokens left out."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def embedded(text: str) -> Any:
        with torch.no_grad():
            inside = tokenizer(text, return_tensors="pt", truncation=True, max_length=94)
            rows = model(**inside, output_hidden_states=True).hidden_states[2][0]
        return torch.nn.functional.normalize(rows, dim=-1)

    first, second = embedded(candidate), embedded(reference)
    alike = first @ second.T
    precision = alike.max(dim=1).values[1:-1].mean()
    recall = alike.max(dim=0).values[1:-1].mean()
    return float(2 * precision * recall / (precision + recall))


PAIRS = [
    ("i hear you", "that sounds hard, i am sorry"),
    ("that sounds hard", "i hear you. that sounds really hard to carry, and it makes sense"),
    ("y", "yes!"),
    ("é 🙂 שלום", "é"),
    ("a long one " * 60, "b " * 200),
]


def test_scores_are_the_formula_s_whatever_stands_beside_them_in_a_batch(
    bert: Path, scorer: BertScorer
) -> None:
    candidates, references = zip(*PAIRS, strict=True)
    together = scorer.f1(candidates, references)
    for (candidate, reference), score in zip(PAIRS, together, strict=True):
        assert score == pytest.approx(by_hand(bert, candidate, reference), abs=2e-5)
    assert scorer.f1(candidates[::-1], references[::-1]) == pytest.approx(together[::-1], abs=1e-5)


def test_the_same_text_scores_one_and_a_blank_one_nothing(scorer: BertScorer) -> None:
    assert scorer.f1(["i hear you", "", "  \n", "x"], ["i hear you", "x", "x", ""]) == [
        pytest.approx(1.0, abs=1e-6), 0.0, 0.0, 0.0,
    ]  # fmt: skip


def test_a_roberta_counts_its_positions_from_behind_the_padding(tmp_path: Path) -> None:
    from tokenizers import ByteLevelBPETokenizer

    folder = tmp_path / "tiny-roberta"
    folder.mkdir()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(["i hear you", "that sounds hard"], vocab_size=300, special_tokens=specials)
    trained.save_model(str(folder))
    transformers.RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(
        folder
    )
    config = transformers.RobertaConfig(
        vocab_size=300, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=66, pad_token_id=1,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(folder)
    long = "that sounds hard " * 50
    assert BertScorer(folder, layer=1).f1([long], [long]) == [pytest.approx(1.0, abs=1e-6)]


def test_what_is_no_model_and_what_has_no_such_layer_is_said(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"config\.json: found no such file.*never downloaded"):
        BertScorer("roberta-large")
    with pytest.raises(SettingsError, match=r"layer 3: the model in .* has 1 to 2"):
        BertScorer(bert, layer=3)
    with pytest.raises(SettingsError, match="named 'tiny-bert' is not known: give one, 1 to 2"):
        BertScorer(bert)


def test_a_scores_file_holds_it_where_it_was_asked_for(
    bert: Path, scorer: BertScorer, tmp_path: Path
) -> None:
    sample = load("sample")
    run_builtin("copy", sample[:2], tmp_path / "results")
    found, _, _ = read_results(tmp_path / "results", sample)
    without = score_results(found, sample, ground_truth="sample")
    assert "bertscore" not in json.dumps(without)
    out = tmp_path / "scores.json"
    attune("score", "--results", "results", "--data", "sample", "-o", out,
           "--bertscore", bert, "--bertscore-layer", "2", cwd=tmp_path)  # fmt: skip
    scores = json.loads(out.read_text(encoding="utf-8"))
    assert scores["metadata"]["settings"]["bertscore"] == {"model": "tiny-bert", "layer": 2}
    entry = scores["conversations"][0]
    turn, first = entry["turn_scores"][0], sample.by_id[entry["conversationId"]].turns[0]
    draft = next(r for r in found if r.prediction.conversation_id == entry["conversationId"])
    said = draft.prediction.turns[1].draft
    assert said is not None
    human = first.responses["human"]
    assert human is not None
    expected = scorer.f1([said.text], [human])[0]
    assert turn["response_bertscore_human_edited"] == pytest.approx(expected, abs=1e-5)
    ends = ("original", "llm_improved", "human_edited")
    assert turn["response_bertscore"] == max(turn[f"response_bertscore_{end}"] for end in ends)
    means = [t["response_bertscore"] for t in entry["turn_scores"]]
    assert entry["avg_response_bertscore"] == pytest.approx(sum(means) / len(means), abs=1e-12)
    assert "avg_response_bertscore" in scores["aggregates"][0]
