"""BERTScore of the drafts, in addition to their token overlap: a diagnostic that needs a language model.

For each token of one text, it takes the most similar token of the other by the cosine of their contextual
embeddings in one layer; precision averages over the draft, recall over the reference, and the score is their
F1, in [-1, 1] and close to 1 for identical texts. Source: Zhang et al. 2020 (BERTScore), computed by the
authors' package `bert-score` without idf weights and without rescaling to a baseline.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError
from attune_data.extras import missing_extra
from attune_data.selection.means import mean
from attune_env.results.files import Result
from attune_rewards.truth import truth_of

NAME: Final = "response_bertscore"
REFERENCES: Final = {
    "original": f"{NAME}_original", "alternate": f"{NAME}_llm_improved", "human": f"{NAME}_human_edited",
}  # fmt: skip
"""Response -> the name of its score in files, as for the token overlap."""


class BertScorer:
    """BERTScore with a model from a local folder; nothing is ever downloaded.

    The folder is one written by `save_pretrained`: `config.json`, weights and the tokenizer. The embedding is
    the output of a layer, counted from 1; by default, it is the layer that the package's authors found best
    for a model with the folder's name (`roberta-large`: 17).

    Raises:
        DataError: the folder contains no model.
        SettingsError: a layer that the model does not have, or none is given and the name is unknown.
        MissingExtraError: the extra `bertscore` is not installed.
    """

    def __init__(self, folder: str | Path, *, layer: int | None = None, batch_size: int = 32) -> None:
        path = Path(folder)
        if not (path / "config.json").is_file():
            raise DataError(
                Problem(str(path), "config.json", "no such file", "the folder of a saved language model",
                        "save one there with save_pretrained, for example roberta-large; "
                        "models are never downloaded here")
            )  # fmt: skip
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the import, which reads this variable
        try:
            from bert_score import BERTScorer as Scorer
            from bert_score.utils import model2layers
            from transformers import AutoConfig
        except ImportError as error:
            raise missing_extra("bertscore", error) from error
        config = AutoConfig.from_pretrained(path)
        layers = int(config.num_hidden_layers)
        known = {name.rpartition("/")[2]: best for name, best in model2layers.items()}
        self.layer = known.get(path.resolve().name) if layer is None else layer
        if self.layer is None:
            raise SettingsError(
                f"the best layer for a model named {path.resolve().name!r} is not known: give one, "
                f"1 to {layers}"
            )
        if not 1 <= self.layer <= layers:
            raise SettingsError(f"layer {self.layer}: the model in {path} has 1 to {layers}")
        self.folder = path
        self._scorer = Scorer(model_type=str(path), num_layers=self.layer, batch_size=batch_size)
        tokenizer = self._scorer._tokenizer
        # A tokenizer without a limit states 10^30, which the package cannot handle. Two positions
        # less than the model has: RoBERTa's begin behind the padding's.
        longest = int(getattr(config, "max_position_embeddings", 512) or 512) - 2
        tokenizer.model_max_length = min(tokenizer.model_max_length, longest)

    def described(self) -> dict[str, Any]:
        """The model's settings for a scores file."""
        return {"model": self.folder.resolve().name, "layer": self.layer}

    def f1(self, candidates: Sequence[str], references: Sequence[str]) -> list[float]:
        """The F1 of each candidate with the corresponding reference; 0 if either is blank."""
        # the package also scores a blank text 0, but cannot encode it with current tokenizers
        both = [
            i for i, pair in enumerate(zip(candidates, references, strict=True)) if all(map(str.strip, pair))
        ]
        found = [0.0] * len(candidates)
        if both:
            _, _, scores = self._scorer.score([candidates[i] for i in both], [references[i] for i in both])
            for i, score in zip(both, scores.tolist(), strict=True):
                found[i] = float(score)
        return found


def add_bertscores(
    entries: Sequence[dict[str, Any]],
    results: Sequence[Result],
    conversations: Conversations,
    scorer: BertScorer,
) -> None:
    """Write `response_bertscore…` into each turn's scores and `avg_response_bertscore…` into each entry.

    `entries` are those of `score_results`, of `results`, before they are aggregated. A draft that was
    requested but not given scores 0 with each response that exists; without responses, or if the stage was
    left out, the score is None.
    """
    by_key = {(r.prediction.conversation_id, r.em_model, r.mode): r for r in results}
    turns: list[dict[str, Any]] = []
    pairs: list[tuple[str, str, str]] = []
    for entry in entries:
        result = by_key[entry["conversationId"], entry["em_model"], entry["mode"]]
        asked = "draft" not in result.prediction.not_asked
        truths = {turn.turn: turn for turn in truth_of(conversations.by_id[entry["conversationId"]]).turns}
        for turn in entry["turn_scores"]:
            turn |= dict.fromkeys((NAME, *REFERENCES.values()))
            said = result.prediction.turns[turn["turnNumber"]].draft
            for response, name in REFERENCES.items():
                text = truths[turn["turnNumber"]].responses.get(response)  # type: ignore[call-overload]
                if asked and text is not None:
                    turns.append(turn)
                    pairs.append((name, said.text if said else "", text))
    scores = scorer.f1([draft for _, draft, _ in pairs], [text for *_, text in pairs])
    for turn, (name, _, _), score in zip(turns, pairs, scores, strict=True):
        turn[name] = score
        turn[NAME] = score if turn[NAME] is None else max(turn[NAME], score)
    for entry in entries:
        for name in (NAME, REFERENCES["human"]):
            entry[f"avg_{name}"] = mean([turn[name] for turn in entry["turn_scores"]])
