"""What the commands make of options before a run begins."""

from __future__ import annotations

import resource

import pytest

from attune_data import SettingsError
from attune_env.cli.server import BESIDE, allow_connections
from attune_env.cli.shared import Drawn, Server, refuse


def test_an_option_of_servers_is_refused_for_others_also_where_it_is_0() -> None:
    with pytest.raises(SettingsError, match="--temperature, --retries, --max-cost, --dry-run: only"):
        refuse("builtin", Drawn(temperature=0.0), Server(retries=0, max_cost=0.0, dry_run=True))
    refuse("builtin", Drawn(), Server())


@pytest.mark.parametrize(("soft", "number", "then"), [
    (64, 256, 256 + BESIDE),
    (4096, 16, 4096),  # never fewer than before
    (64, 10**9, 8192),  # no more than the system lets it
])  # fmt: skip
def test_so_many_connections_may_be_open_as_there_are_requests_at_once(
    monkeypatch: pytest.MonkeyPatch, soft: int, number: int, then: int
) -> None:
    limits = [(soft, 8192)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda kind, new: limits.append(new))
    allow_connections(number)
    assert limits[-1] == (then, 8192)
