"""Runs against servers: turn options into models and a run, print estimates, and report the end of a run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from attune_data.errors import SettingsError, one_line, show
from attune_env.cli.shared import Drawn, Judging, Server, Voiced, refuse

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_data.simulate import Simulation
    from attune_env.running.costs import Estimate
    from attune_env.running.providers import Endpoint
    from attune_env.running.run import EndpointReport
    from attune_env.running.settings import Model, Options, Price, Sampling, Training
    from attune_env.running.voice import EndpointVoice
    from attune_episodes.settings import Mode

PROVIDERS: Final = ("openrouter", "openai", "prime", "custom", "builtin")
PROVIDER_HELP: Final = "openrouter, openai, prime, custom (any server; needs --base-url), or builtin."
DEAREST: Final = 1_000_000
"""Largest price in dollars per million tokens, so that the cost of a call is bounded."""
BESIDE: Final = 128
"""Open files besides the connections: the journal, results being written, and Python's own."""


def chosen_models(
    provider: str,
    names: Sequence[str],
    server: Server,
    drawn: Drawn,
    seed: int | None,
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
    sampling = Sampling(drawn.temperature, drawn.max_tokens, seed, server.structured or "auto")
    return [_model(name, endpoint, sampling, price_of(server), training) for name in names]


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


def chosen_voice(voiced: Voiced, server: Server, drawn: Drawn) -> EndpointVoice | None:
    """The model that words the texts; None for the grammar, with which other options raise SettingsError."""
    if voiced.voice is None:
        refuse("the built-in grammar; name a model with --voice", voiced, server, drawn)
        return None
    from attune_env.running.voice import CACHE, EndpointVoice, provider_and_model

    provider, name = provider_and_model(voiced.voice)
    (model,) = chosen_models(provider, [name], server, drawn, None)
    options = options_of(server, model.endpoint, overwrite=False)
    return EndpointVoice(model, voiced.voice_cache or CACHE, options)


def show_voice_estimate(voice: EndpointVoice, world: Simulation, number: int, *, live: bool = False) -> None:
    """Print the estimate for wording the next conversations of a world; sends nothing."""
    from attune_env.running.voice import estimate_voice

    show_estimate([estimate_voice(world, number, live=live)], price=voice.model.price)


@contextmanager
def voicing(voice: EndpointVoice | None) -> Iterator[None]:
    """Open the voice, if there is one; at the end, report how many texts are its own and what they cost.

    If a cap, a fault or Ctrl-C ends the block, the command exits, and the texts so far are kept.
    """
    if voice is None:
        yield
        return
    from attune_env.cli.watching import amounts
    from attune_env.running.faults import StopRun

    code, reason = 0, ""
    with voice:
        try:
            yield
        except StopRun as error:
            code, reason = 1, f"error: {error}"
        except KeyboardInterrupt:
            code, reason = 130, "stopped"
    counts, tally = voice.counts, voice.tally
    print(
        f"voice {voice.name}: {counts['taken']} texts used, {counts['asked_again']} asked for again, "
        f"{counts['fallen_back']} in the grammar's words; {tally.control.sent} requests, {amounts(tally)}"
    )
    if code:
        kept = f"every text is kept in {voice.folder}" if tally.calls_done else "no request was answered"
        print(f"{reason}\n{kept}. Continue with: {voice.options.command}", file=sys.stderr)
        raise typer.Exit(code)


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


def options_of(server: Server, endpoint: Endpoint, *, overwrite: bool) -> Options:
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
        overwrite=overwrite,
        command=again_command(sys.argv[1:], endpoint),
    )


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
    return endpoint.key.hidden_in(shlex.join(["attune", *kept]) + " --api-key …" * had_key)


def score_command(results: Path, data: str, where: str | None, command: str = "score") -> str:
    """The command to run next."""
    narrowed = f" --where {shlex.quote(where)}" if where else ""
    written = " --output scores.json" if command == "score" else ""
    return f'attune {command} --results "{results}" --data "{data}"{narrowed}{written}'


def end(report: EndpointReport, done: str, next_command: str, command: str) -> None:
    """Report a run: what was done (`done`), the cost, what is missing, and the command that continues it.

    Exits with an error code if the run is incomplete; after a complete one, prints `next_command`.
    """
    from attune_env.cli.watching import amounts, duration, rates
    from attune_env.report.names import counted
    from attune_env.running.loop import Interrupted, Unwritten

    tally, stopped, failed = report.tally, report.stopped, report.failed
    print(done)
    if tally.control.sent:
        repeats = counted(tally.asked_again, "repeat")
        again = f" and {repeats} of unusable answers" if tally.asked_again else ""
        print(f"{tally.new} calls{again}, {amounts(tally)}, {rates(tally)}, {duration(tally.seconds)}")
    if failed:
        reasons = one_line("; ".join(list(dict.fromkeys(entry["reason"] for entry in failed))[:3]), 500)
        skipped = f"conversations skipped: {len(failed)}, listed in {report.skipped_file}"
        print(f"error: {skipped}; {reasons}", file=sys.stderr)
    kept = "every answer" + " that could be written" * isinstance(stopped, Unwritten) + " is kept"
    go_on = f"{kept if tally.calls_done else 'no request was answered'}. Continue with: {command}"
    if isinstance(stopped, Interrupted):
        print(f"stopped; {go_on}", file=sys.stderr)
        raise typer.Exit(stopped.code)
    if stopped is not None:
        print(f"error: {stopped}", file=sys.stderr)
    if stopped is not None or failed:
        print(go_on, file=sys.stderr)
        raise typer.Exit(1)
    print(f"next: {next_command}")


def only_skipped(
    conversations: Conversations, output: Path, model: Model, modes: Sequence[Mode]
) -> Conversations:
    """The conversations that an earlier run of the model skipped in these modes."""
    from attune_env.running.lists import read_skipped, skipped_path
    from attune_env.running.samples import split_sample

    skipped = {
        entry["conversationId"]
        for entry in read_skipped(skipped_path(output, model.name))
        if entry["mode"] in modes and split_sample(entry["em_model"])[0] == model.full_name
    }
    return conversations.chosen(n for n, name in enumerate(conversations.by_id) if name in skipped)


def show_estimate(
    estimates: Sequence[Estimate], *, price: Price | None, judge_price: Price | None = None, judges: int = 0
) -> None:
    """Print the estimate of a run; calls without a price are left out of the cost, with a note.

    `price` is that of the evaluated model, `judge_price` that of the judges, `judges` their number.
    """
    from attune_env.report.table import Table

    headings = (
        "mode", "conversations", "calls", "judge calls", "tokens in", "tokens out", "judge tokens in", "cost",
    )  # fmt: skip
    table = Table("estimate (nothing was sent)", headings)
    for one in estimates:
        parts = [p.of(usage) for p, usage in ((price, one.usage), (judge_price, one.judge_usage)) if p]
        tokens = (one.usage.tokens_in, one.usage.tokens_out, one.judge_usage.tokens_in)
        cost = f"${sum(parts):.2f}" if parts else None
        table.rows.append((one.mode, one.conversations, one.calls, one.judge_calls, *tokens, cost))
    table.notes = [
        "calls are exact except for retries and re-asks; completed work is not subtracted",
        "tokens are estimated at 4 bytes each; reasoning models and verbose modes write more",
    ]
    if price is not None and judge_price is None and judges:
        table.notes.append("the cost does not include judges")
    if price is None and judge_price is None:
        table.notes.append("for the cost, give --price-in and --price-out in dollars per million tokens")
    table.print()
