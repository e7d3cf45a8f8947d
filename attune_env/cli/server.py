"""Runs against servers: turn options into models and a run, and print estimates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_env.cli.common import shell_line
from attune_env.cli.shared import Drawn, Judging, Server

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.costs import Estimate
    from attune_env.running.providers import Endpoint
    from attune_env.running.settings import Model, Options, Price, Sampling, Training
    from attune_episodes.protocol.settings import Mode

PROVIDERS: Final = ("openrouter", "openai", "prime", "custom", "builtin")
PROVIDER_HELP: Final = "openrouter, openai, prime, custom (any server; needs --base-url), or builtin."
MODEL_PROVIDERS: Final = "openrouter, openai, prime or custom (any server; needs --base-url)."
REDONE: Final = {"faults": "fault", "unreadable": "unreadable", "cut": "cut", "refused": "refused"}
"""Value of --redo -> kind of answer."""
DEAREST: Final = 1_000_000
"""Largest price in dollars per million tokens, so that the cost of a call is bounded."""
BESIDE: Final = 128
"""Open files besides the connections: the journal, results being written, and Python's own."""


def chosen_models(
    provider: str,
    names: Sequence[str],
    server: Server,
    drawn: Drawn,
    training: Training | None = None,
) -> list[Model]:
    """Models at one endpoint; raises SettingsError for an invalid option."""
    from attune_env.running.providers import endpoint_of
    from attune_env.running.settings import Sampling

    if drawn.temperature is not None and not 0 <= drawn.temperature <= 2:
        raise SettingsError(f"--temperature is {drawn.temperature:g}; expected 0 to 2")
    endpoint = endpoint_of(
        provider,
        base_url=server.base_url,
        api_key=server.api_key,
        api_key_var=server.api_key_var,
        need_key=not server.dry_run,
    )
    sampling = Sampling(
        drawn.temperature,
        drawn.max_tokens,
        drawn.sampling_seed,
        server.structured or "auto",
        extra_fields(server, drawn),
        server.system_as_user,
    )
    return [_model(name, endpoint, sampling, price_of(server), training) for name in names]


def extra_fields(server: Server, drawn: Drawn) -> dict[str, Any]:
    """The further fields of each request; raises SettingsError if they are not, or are given twice."""
    from attune_data.errors import DataError
    from attune_data.jsonio import parse_json

    if server.extra_body is None:
        return {}
    example = """, such as '{"top_p": 0.9}'"""
    try:
        found = parse_json(server.extra_body, "--extra-body")
    except DataError as error:
        raise SettingsError(f"--extra-body is not JSON ({error}); expected an object{example}") from None
    if not isinstance(found, dict):
        raise SettingsError(f"--extra-body is {show(server.extra_body)}; expected a JSON object{example}")
    limited = drawn.max_tokens is not None
    given = {
        "model": "MODEL", "messages": "the requests of the protocol", "n": "--samples",
        **({"temperature": "--temperature"} if drawn.temperature is not None else {}),
        **({"seed": "--sampling-seed"} if drawn.sampling_seed is not None else {}),
        **(dict.fromkeys(("max_tokens", "max_completion_tokens"), "--max-tokens") if limited else {}),
    }  # fmt: skip
    for name in found:
        if name in given:
            raise SettingsError(f"--extra-body has {name}, which {given[name]} gives: leave one out")
    return found


def chosen_judges(model: Model, judging: Judging, server: Server) -> list[Model]:
    """The judges of a model's drafts, at the model's endpoint unless they have their own."""
    from attune_env.running.providers import endpoint_of
    from attune_env.running.settings import Sampling

    names = judging.judge_model or []
    endpoint = model.endpoint
    if judging.judge_provider or judging.judge_base_url or judging.judge_api_key_var:
        if not names:
            raise SettingsError(
                "--judge-provider, --judge-base-url and --judge-api-key-var need --judge-model"
            )
        endpoint = endpoint_of(
            judging.judge_provider or ("custom" if judging.judge_base_url else endpoint.provider),
            base_url=judging.judge_base_url,
            api_key_var=judging.judge_api_key_var,
            need_key=not server.dry_run,
        )
    # judges use their server's defaults, not the evaluated model's temperature or price
    sampling = Sampling(None, None, model.sampling.seed, model.sampling.structured)
    same = (model.name, model.endpoint)
    judges = [
        _model(name, endpoint, sampling, model.price if (name, endpoint) == same else None) for name in names
    ]
    unknown = [judge.name for judge in judges if judge.price is None and not endpoint.tells_cost]
    if server.max_cost is not None and model.price is not None and unknown:
        raise SettingsError(
            f"--max-cost cannot be enforced: --price-in and --price-out apply to {show(model.name)}, and the "
            f"cost of the judge {show(unknown[0])} is unknown; run without the judge, then use "
            "`attune rejudge` with the judge's prices and --max-cost"
        )
    return judges


def _model(
    name: str, endpoint: Endpoint, sampling: Sampling, price: Price | None, training: Training | None = None
) -> Model:
    from attune_env.running.settings import Model

    if not name.strip() or not name.isprintable():
        raise SettingsError(f"{show(name)} is not a valid model name")
    return Model(name, endpoint, sampling, price, training)


def price_of(server: Server) -> Price | None:
    """The price given by the options; None if there is none."""
    from attune_env.running.settings import Price

    if server.price_in is None and server.price_out is None:
        return None
    if server.price_in is None or server.price_out is None:
        raise SettingsError("--price-in and --price-out must be given together")
    price = Price(server.price_in, server.price_out)
    for name, value in (("--price-in", price.tokens_in), ("--price-out", price.tokens_out)):
        if not 0 <= value <= DEAREST:
            raise SettingsError(f"{name} is {value}; expected 0 to {DEAREST:,} dollars per million tokens")
    return price


def options_of(
    server: Server, endpoint: Endpoint, *, overwrite: bool, redo: frozenset[str] = frozenset()
) -> Options:
    """The options of the run; `endpoint` has the key, which must not appear in a command."""
    from attune_env.running.settings import Options, Patience

    concurrency = server.concurrency or Options.concurrency
    allow_connections(concurrency)
    return Options(
        concurrency=concurrency,
        call_timeout=server.call_timeout or Options.call_timeout,
        patience=Patience(
            asks=Patience.asks if server.reasks is None else server.reasks + 1,
            retries=Patience.retries if server.retries is None else server.retries,
        ),
        max_calls=server.max_calls,
        max_cost=server.max_cost,
        finish_ok=tuple(server.finish_ok or ()),
        redo=redo,
        overwrite=overwrite,
        command=again_command(sys.argv[1:], endpoint),
    )


def redone(names: Sequence[str] | None, *, overwrite: bool) -> frozenset[str]:
    """The kinds of answers that `--redo` names; raises SettingsError for others, and beside `--overwrite`."""
    unknown = next((name for name in names or () if name not in REDONE), None)
    if unknown is not None:
        raise UnknownNameError("kind of answer to --redo", unknown, REDONE)
    if names and overwrite:
        raise SettingsError("--redo asks again for some answers, --overwrite for all: leave one out")
    return frozenset(REDONE[name] for name in names or ())


def allow_connections(number: int) -> None:
    """Raise this process's limit on open files to the number needed, as far as the system allows."""
    with suppress(ImportError, OSError, ValueError):  # the system has no such limit, or refuses to raise it
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = number + BESIDE if hard == resource.RLIM_INFINITY else min(number + BESIDE, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def again_command(arguments: Sequence[str], endpoint: Endpoint) -> str:
    """The command line as typed, without the key."""
    kept = [
        word
        for before, word in pairwise(["", *arguments])
        if "--api-key" not in (before, word) and not word.startswith("--api-key=")
    ]
    had_key = len(kept) < len(arguments)
    return endpoint.key.hidden_in(shell_line(["attune", *kept]) + " --api-key …" * had_key)


def only_skipped(
    conversations: Conversations, output: Path, model: Model, modes: Sequence[Mode]
) -> Conversations:
    """The conversations that an earlier run of the model skipped in these modes."""
    from attune_env.results.samples import split_sample
    from attune_env.running.lists import read_skipped, skipped_path

    skipped = {
        entry["conversationId"]
        for entry in read_skipped(skipped_path(output, model.name))
        if entry["mode"] in modes and split_sample(entry["em_model"])[0] == model.full_name
    }
    return conversations.chosen(n for n, name in enumerate(conversations.by_id) if name in skipped)


def show_estimate(
    estimates: Sequence[Estimate],
    *,
    price: Price | None,
    judge_price: Price | None = None,
    judges: int = 0,
    each: str = "mode",
    calls: str = "calls are exact except for retries and re-asks",
) -> None:
    """Print the estimate of a run; calls without a price are left out of the cost, with a note.

    `price` is that of the evaluated model, `judge_price` that of the judges, `judges` their number; `each` is
    what a row is about, and `calls` says how exact its calls are.
    """
    from attune_env.tables.table import Table

    judged = any(one.judge_calls for one in estimates)
    headings = (
        each, "conversations", "calls", *(["judge calls"] * judged), "tokens in", "tokens out",
        *(["judge tokens in"] * judged), "cost",
    )  # fmt: skip
    table = Table("estimate (nothing was sent)", headings)
    for one in estimates:
        parts = [p.of(usage) for p, usage in ((price, one.usage), (judge_price, one.judge_usage)) if p]
        judge_calls, judge_tokens = [one.judge_calls] * judged, [one.judge_usage.tokens_in] * judged
        tokens = (one.usage.tokens_in, one.usage.tokens_out, *judge_tokens)
        cost = f"${sum(parts):.2f}" if parts else None
        table.rows.append((one.mode, one.conversations, one.calls, *judge_calls, *tokens, cost))
    table.notes = [
        f"{calls}; completed work is not subtracted",
        "tokens are estimated at 4 bytes each; reasoning models and verbose modes write more",
    ]
    if price is not None and judge_price is None and judges:
        table.notes.append("the cost does not include judges")
    if price is None and judge_price is None:
        table.notes.append("for the cost, give --price-in and --price-out in dollars per million tokens")
    table.print()
