"""What lm-eval computes of a conversation is what `tests/frozen` keeps of the same replies."""

from __future__ import annotations

from tests.endpoint import serve
from tests.extras.harness.evaluating import evaluate
from tests.frozen.adapters import book
from tests.frozen.keeping import kept
from tests.rewards.test_golden import differences


def test_every_metric_of_a_sample() -> None:
    want = kept("harnesses")["lm_eval"]["draft assess assess_hp prefer reflect"]
    with serve(book(2)) as server:
        found = evaluate(server, "attunebench", metadata={"attune_number": 2})["samples"]["attune_all"]
    assert [one["doc"]["conversation_id"] for one in found] == list(want)
    for one, metrics in zip(found, want.values(), strict=True):
        assert differences({n: v for n, v in metrics.items() if not n.endswith("_stderr")}, one) == []
