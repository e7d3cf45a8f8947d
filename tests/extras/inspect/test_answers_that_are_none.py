"""Refusals and answers that a server broke off, as `attune run` takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from attune_data import load
from attune_episodes.frameworks.inspect import rollouts_from
from tests.endpoint import answers_of, serve
from tests.endpoint.faults import Fault
from tests.extras.inspect.evaluating import Json, evaluated, named, written

ASSESS: Final = "c-1/1/assess"
DRAFT: Final = "c-1/1/draft"
NO_TEXT: Final = {"message": {"content": None}}


def choice(**fields: Any) -> Json:
    return {"choices": [fields]}


def asked(
    folder: Path,
    what: Json,
    of: str,
    *,
    first: int = 0,
    status: str = "success",
    finish_ok: str | None = None,
) -> Any:
    """The log of one conversation, where the responses to a request hold something else."""
    data = load(written(folder / "data", [named("c-1", "P1")]))
    fault = Fault("merged", text=json.dumps(what), of=of, first=first)
    arguments = {"data": data.source, "reasks": 1, "finish_ok": finish_ok}
    with serve(answers_of(data, "oracle"), [fault]) as server:
        found = evaluated(server, folder / "logs", arguments, status=status)
        asks = sum(call.request == of for call in server.calls)
    return found, asks


@pytest.mark.parametrize("what", [
    choice(message={"content": None, "refusal": "I cannot help with that."}),
    choice(finish_reason="content_filter"),
    choice(finish_reason="stop", content_filter_results={"hate": {"filtered": True}}, **NO_TEXT),
], ids=["message", "filter", "azure"])  # fmt: skip
@pytest.mark.parametrize("of", [ASSESS, DRAFT])
def test_a_refusal_is_an_unanswered_request(tmp_path: Path, what: Json, of: str) -> None:
    found, asks = asked(tmp_path, what, of)
    (sample,) = found.log.samples
    kept = sample.store["attune:replies"][of]
    assert (kept["text"], kept["status"], kept["asks"], asks) == ("", "unparsed:empty", 2, 2)
    (played,) = rollouts_from(found.path)
    assert {step.request.id: step.status for step in played.steps}[of] == "unparsed:empty"
    assert found.values["c-1", 1]["complete"] == 1


@pytest.mark.parametrize(("what", "of"), [
    (choice(finish_reason="error"), DRAFT),
    (choice(finish_reason="network_error", message={"content": '{"emotions": [{"emo'}), ASSESS),
    (choice(finish_reason="insufficient_system_resource", **NO_TEXT), ASSESS),
    (choice(finish_reason="something_new"), DRAFT),
], ids=["error", "network", "empty", "unknown"])  # fmt: skip
def test_what_a_server_broke_off_is_asked_again_and_never_an_answer(
    tmp_path: Path, what: Json, of: str
) -> None:
    found, asks = asked(tmp_path / "once", what, of, first=1)
    assert asks == 2
    assert found.values["c-1", 1]["composite_strict"] == pytest.approx(100)
    found, asks = asked(tmp_path / "always", what, of, status="error")
    assert asks == 2
    (sample,) = found.log.samples
    assert of not in sample.store.get("attune:replies", {})
    assert of in sample.error.message
    assert "-T finish_ok=unknown" in sample.error.message


@pytest.mark.parametrize(("finish", "of", "finish_ok"), [
    ("something_new", ASSESS, None),
    ("end_turn", DRAFT, "unknown"),
    (None, DRAFT, "Unknown"),
])  # fmt: skip
def test_an_end_that_inspect_does_not_know_counts_where_it_can_be_read_or_is_named(
    tmp_path: Path, finish: str | None, of: str, finish_ok: str | None
) -> None:
    found, asks = asked(tmp_path, choice(finish_reason=finish), of, finish_ok=finish_ok)
    assert asks == 1
    assert found.values["c-1", 1]["composite_strict"] == pytest.approx(100)
