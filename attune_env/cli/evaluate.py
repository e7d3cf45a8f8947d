"""What `attune run` does for a model behind a server: its options made into a run, and how it ends."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from attune_data.errors import SettingsError, UnknownNameError, one_line, show
from attune_env.cli.common import stoppable
from attune_env.cli.server import allow_connections

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.providers import Endpoint
    from attune_env.running.run import EndpointReport
    from attune_env.running.settings import Model, Options, Price, Structure, Training
    from attune_episodes.settings import Mode, Settings

CONCURRENCY = 16
CALL_TIMEOUT = 300.0
DEAREST = 1_000_000
"""Dollars per million tokens: what is kept of a call bounds its cost."""
STRUCTURED = ("auto", "on", "off")


@dataclass(frozen=True, repr=False)
class Asked:
    """The options that only models behind a server have; None where not given."""

    base_url: str | None = None
    api_key: str | None = None
    api_key_var: str | None = None
    judge_model: tuple[str, ...] = ()
    judge_provider: str | None = None
    judge_base_url: str | None = None
    judge_api_key_var: str | None = None
    call_timeout: float | None = None
    concurrency: int | None = None
    samples: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    structured: str | None = None
    retries: int | None = None
    reasks: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    dry_run: bool = False
    retry_skipped: bool = False

    def refuse(self, provider: str) -> None:
        """Raises SettingsError where one of them is given for a provider that is no server."""
        # by identity: a temperature of 0 is given too
        given = [
            f"--{n.replace('_', '-')}"
            for n, value in vars(self).items()
            if not (value is None or value is False or value == ())
        ]
        if given:
            raise SettingsError(f"{', '.join(given)}: only for models behind a server, not for {provider}")


def evaluate(
    provider: str,
    model: str,
    conversations: Conversations,
    output: Path,
    *,
    modes: Sequence[Mode],
    settings: Settings,
    seed: int | None,
    asked: Asked,
    overwrite: bool,
    training: Training | None,
    next_command: str,
) -> None:
    """Runs a model behind a server over conversations, or says what that would take (`dry_run`).

    `next_command` is what comes after it. Exits with 1 where conversations are skipped or the run stopped
    early, with 130 after Ctrl-C.
    """
    from attune_data import garbage
    from attune_env.cli.watching import watcher

    garbage.spared_at_exit()
    with garbage.paused():
        models = chosen_models(provider, model, asked, seed, training)
    evaluated, judges = models[0], models[1:]
    if asked.retry_skipped:
        conversations = only_skipped(conversations, output, evaluated, modes)
        if not len(conversations):
            print(f"nothing is skipped in {output}")
            return
    if asked.dry_run:
        from attune_env.cli.server import show_estimate
        from attune_env.running.costs import estimate

        takes = estimate(conversations, modes, settings, samples=asked.samples or 1, judges=len(judges))
        show_estimate(takes, price=evaluated.price, judges=len(judges))
        return
    from attune_env.running.run import run_endpoint

    options = options_of(asked, evaluated.endpoint, overwrite=overwrite)
    allow_connections(options.concurrency)
    with stoppable(), watcher(f"{provider}/{model}") as shown:
        report = run_endpoint(
            evaluated,
            conversations,
            output,
            modes=modes,
            settings=settings,
            samples=asked.samples or 1,
            judges=judges,
            options=options,
            watcher=shown,
        )
    end(
        report,
        f"wrote {report.written} results to {output}, {report.complete_before} were complete already",
        next_command,
        options.command,
    )


def end(report: EndpointReport, done: str, next_command: str, command: str) -> None:
    """Says what was done (`done`), what it took, what is missing and how to go on.

    Raises the exit of a run that is not complete; after one that is, comes `next_command`.
    """
    from attune_env.cli.watching import amounts, duration, rates
    from attune_env.running.loop import Interrupted, Unwritten

    tally = report.tally
    print(done)
    if tally.control.sent:
        print(f"{tally.new} calls, {amounts(tally)}, {rates(tally)}, {duration(tally.seconds)}")
    stopped, failed = report.stopped, report.failed
    if failed:
        reasons = list(dict.fromkeys(entry["reason"] for entry in failed))
        print(
            f"error: conversations skipped: {len(failed)}, listed in {report.skipped_file}; "
            + one_line("; ".join(reasons[:3]), 500),
            file=sys.stderr,
        )
    kept = "every answer" + " that could be written" * isinstance(stopped, Unwritten) + " is kept"
    kept = kept if tally.calls_done else "nothing was answered"
    if isinstance(stopped, Interrupted):
        print(f"stopped; {kept}. Go on with: {command}", file=sys.stderr)
        raise typer.Exit(stopped.code)
    if stopped is not None:
        print(f"error: {stopped}", file=sys.stderr)
    if stopped is not None or failed:
        print(f"{kept}. Go on with: {command}", file=sys.stderr)
        raise typer.Exit(1)
    print(f"next: {next_command}")


def chosen_models(
    provider: str, model: str, asked: Asked, seed: int | None, training: Training | None = None
) -> list[Model]:
    """The evaluated model and the judges, each with its endpoint; raises SettingsError."""
    from attune_env.running.providers import PROVIDERS, endpoint_of
    from attune_env.running.settings import Model, Sampling

    for name in (model, *asked.judge_model):
        if not name.strip() or not name.isprintable():
            raise SettingsError(f"{show(name)} is no name of a model")
    structured = asked.structured or "auto"
    if structured not in STRUCTURED:
        raise UnknownNameError("way of structured outputs", structured, STRUCTURED)
    if asked.temperature is not None and not 0 <= asked.temperature <= 2:
        raise SettingsError(f"--temperature is {asked.temperature:g}; expected 0 to 2")
    need_key = not asked.dry_run
    endpoint = endpoint_of(
        provider,
        base_url=asked.base_url,
        api_key=asked.api_key,
        api_key_var=asked.api_key_var,
        need_key=need_key,
    )
    judge_endpoint = endpoint
    apart = (asked.judge_provider, asked.judge_base_url, asked.judge_api_key_var)
    if any(apart):
        if not asked.judge_model:
            raise SettingsError(
                "--judge-provider, --judge-base-url and --judge-api-key-var need --judge-model"
            )
        judge_provider = asked.judge_provider or ("custom" if asked.judge_base_url else provider)
        if judge_provider not in PROVIDERS:
            raise UnknownNameError("provider of judges", judge_provider, PROVIDERS)
        judge_endpoint = endpoint_of(
            judge_provider,
            base_url=asked.judge_base_url,
            api_key_var=asked.judge_api_key_var,
            need_key=need_key,
        )
    way = cast("Structure", structured)
    sampling = Sampling(asked.temperature, asked.max_tokens, seed, way)
    # a judge answers as its server would: the evaluated model's temperature is not its own
    judging = Sampling(None, None, seed, way)
    price = _price(asked)
    judges = [
        # the price is the evaluated model's: it is a judge's only where that is the same model
        Model(judge, judge_endpoint, judging, price if (judge, judge_endpoint) == (model, endpoint) else None)
        for judge in asked.judge_model
    ]
    unknown = [j.name for j in judges if j.price is None and not j.endpoint.tells_cost]
    if asked.max_cost is not None and price is not None and unknown:
        raise SettingsError(
            f"--max-cost cannot be kept: --price-in and --price-out are those of {show(model)}, and what the "
            f"judge {show(unknown[0])} costs is not known; run without the judge, then `attune rejudge` with "
            "its own prices and --max-cost"
        )
    return [Model(model, endpoint, sampling, price, training), *judges]


def options_of(asked: Asked, endpoint: Endpoint, *, overwrite: bool) -> Options:
    """How the run goes about it; `endpoint` has the key that no command may hold."""
    from attune_env.running.settings import Caps, Options, Patience

    usual = Patience()
    patience = Patience(
        asks=usual.asks if asked.reasks is None else asked.reasks + 1,
        retries=usual.retries if asked.retries is None else asked.retries,
    )
    return Options(
        concurrency=asked.concurrency or CONCURRENCY,
        call_timeout=asked.call_timeout or CALL_TIMEOUT,
        patience=patience,
        caps=Caps(asked.max_calls, asked.max_cost),
        overwrite=overwrite,
        command=again_command(sys.argv[1:], endpoint),
    )


def score_command(results: Path, data: str, where: str | None) -> str:
    """The command that comes after."""
    narrowed = f" --where {shlex.quote(where)}" if where else ""
    return f'attune score --results "{results}" --ground-truth "{data}"{narrowed} --output scores.json'


def _price(asked: Asked) -> Price | None:
    from attune_env.running.settings import Price

    prices = (asked.price_in, asked.price_out)
    if prices == (None, None):
        return None
    if None in prices:
        raise SettingsError("--price-in and --price-out go together: dollars per million tokens in and out")
    for name, value in zip(("--price-in", "--price-out"), prices, strict=True):
        if value is None or not 0 <= value <= DEAREST:
            raise SettingsError(f"{name} is {value}; expected 0 to {DEAREST:,} dollars per million tokens")
    return Price(prices[0] or 0.0, prices[1] or 0.0)


def again_command(arguments: Sequence[str], endpoint: Endpoint | None = None) -> str:
    """The command line that was typed, fit to be typed again: without its key, but with its place."""
    kept: list[str] = []
    had_key = any(word == "--api-key" or word.startswith("--api-key=") for word in arguments)
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--api-key":
            del rest[:1]
        elif not argument.startswith("--api-key="):
            kept.append(argument)
    line = shlex.join(["attune", *kept]) + " --api-key …" * had_key
    return endpoint.key.hidden_in(line) if endpoint is not None else line


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
