"""What is refused is refused before a call; what lm-eval offers and a conversation does not have, too."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError
from attune_data.errors import SettingsError, UnknownNameError
from attune_data.extras import UntestedVersionWarning
from attune_data.version import SCORING_VERSION
from attune_env.lm_eval_tasks import AttuneTask
from tests.endpoint import Server, answers_of, serve
from tests.extras.harness.evaluating import evaluate, manager
from tests.running.playing import sample


def refused(kind: type[Exception], server: Server, *tasks: str, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        evaluate(server, *tasks, **options)
    assert server.calls == []
    return str(caught.value)


def test_what_would_change_the_protocol_is_refused_before_a_call() -> None:
    with serve(answers_of(sample(1))) as server:
        assert "add --apply_chat_template" in refused(
            SettingsError, server, "attunebench", apply_chat_template=False
        )
        told = refused(SettingsError, server, "attune_assess", system_instruction="Be kind.")
        assert "leave out --system_instruction" in told
        wrong = {"attune_mode": "verbos"}
        assert "did you mean 'verbose'" in refused(UnknownNameError, server, "attunebench", metadata=wrong)
        wrong = {"attune_mod": "verbose"}
        assert "did you mean 'attune_mode'" in refused(
            UnknownNameError, server, "attune_draft", metadata=wrong
        )
        wrong = {"attune_data": "no/such/place"}
        assert "no/such/place" in refused(DataError, server, "attunebench", metadata=wrong)
        wrong = {"attune_stages": "assess,prefer"}
        told = refused(SettingsError, server, "attunebench", metadata=wrong)
        assert "leaves out reflect" in told
        assert "attune_assess" in told


def test_examples_are_not_shown_and_requests_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve(answers_of(sample(1))) as server:
        evaluate(server, "attune_all", metadata={"attune_number": 1}, num_fewshot=3, cache_requests=True)
        assert server.unknown == []
    assert "does not cache requests" in caplog.text


def test_predict_only_keeps_the_replies_and_scores_nothing() -> None:
    with serve(answers_of(sample(1))) as server:
        found = evaluate(server, "attune_all", metadata={"attune_number": 1}, predict_only=True)
    (one,) = found["samples"]["attune_all"]
    assert len(one["resps"]) == len(one["doc"]["requests"]) == len(server.calls)
    assert "composite_score" not in one


def test_a_version_outside_the_tested_range_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UntestedVersionWarning)
        manager(attune_number=1).load(["attune_draft"])  # the one that is installed
    monkeypatch.setattr("attune_data.extras.version", lambda _: "0.4.14")
    with pytest.warns(UntestedVersionWarning, match=r"lm_eval 0\.4\.14 is installed; .* 0\.4\.12"):
        manager(attune_number=1).load(["attune_draft"])


def test_tasks_carry_the_version_of_the_scoring() -> None:
    found = manager().load(["attunebench"])
    (task,) = found["tasks"].values()
    assert isinstance(task, AttuneTask)
    assert task.VERSION == found["groups"]["attunebench"].version == SCORING_VERSION
