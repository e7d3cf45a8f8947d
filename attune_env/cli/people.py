"""`attune people plan | play | check | talk`: people whose state is decided, with models for their voices."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from attune_data.errors import DataError, Problem, SettingsError
from attune_env.cli import server as servers
from attune_env.cli import shared
from attune_env.cli.common import command_line, output_folder, read_data, shell_line, stoppable
from attune_env.cli.ending import outcome
from attune_env.cli.options import NEEDED, argument, command, option

if TYPE_CHECKING:
    from attune_env.people.answering import PlayReport
    from attune_env.running.settings import Model
    from attune_episodes.people.asks import Hand
    from attune_episodes.people.endpoint import Endpoint

ELSEWHERE: Final = "elsewhere"
CHECKED_BY: Final = "made by attune people check"
"""The marker in the first line of a page of checks."""
_HAND: Final = "PROVIDER:MODEL, custom:MODEL@URL, or any name if somebody answers elsewhere"

app = typer.Typer(
    help="Play people: plan them, and play conversations with them to train on.", no_args_is_help=True
)


@command(app)
def plan(
    *,
    number: int = option("How many conversations to plan.", NEEDED, "-n", min=1),
    output: Path = option("File for the plan.", Path("plan.jsonl"), "-o"),
    seed: int = shared.SEED,
    style: str = option("Conversations whose messages are examples of style.", "sample"),
    overwrite: bool = option("Replace the file, even if it is another plan.", False),
) -> None:
    """Draw cards: who is played, what about, what they look for, and which questions they are asked.

    A plan is a file of JSON lines, one card each, to read and to edit. No model is asked.

    Example: attune people plan -n 500 --seed 7 -o plan.jsonl
    """
    from attune_env.results.files import write_text
    from attune_episodes.people import cards

    messages = [[turn.user_message for turn in one.turns] for one in read_data(style)]
    planned = cards.plan(number, seed, messages)
    text = cards.plan_text(planned)
    if output.exists() and not overwrite and output.read_bytes() != text.encode():
        raise DataError(
            Problem(str(output), "", "a file with other contents", "no file, or this plan",
                    "choose another -o, or pass --overwrite")
        )  # fmt: skip
    write_text(output, text)
    parts = ", ".join(f"{sum(c.part == part for c in planned)} {part}" for part in cards.PARTS)
    print(f"wrote {number} cards to {output}: {parts}")
    print(f"next: {command_line('people', 'play', str(output), output='played', dry_run=True)}")


@command(app)
def play(
    *,
    path: Path = argument("The plan, written by `attune people plan`.", "PLAN"),
    server: shared.Server,
    drawn: shared.Drawn,
    output: Path = option("Folder for the conversations and the answers.", Path("played"), "-o"),
    person: str = option(f"Who plays the people: {_HAND}.", ELSEWHERE, metavar="HAND"),
    assistant: list[str] | None = option(
        "Who plays the assistant; may be given twice, and then one of two replies is drawn.", metavar="HAND"
    ),
    reader: str = option("Who reads what the replies did.", ELSEWHERE, metavar="HAND"),
    checked: float = option(
        "Share of messages in which the reader looks for what should show; 1 while you try a plan.",
        0.1,
        min=0.0,
        max=1.0,
    ),
) -> None:
    """Play the people of a plan: every answer is kept, and playing again goes on.

    A hand is the model or person that answers for one role: the played person, the assistant, or the reader.
    Without a provider, it is answered elsewhere: what is asked lies in pending.jsonl in the format of an
    OpenAI batch; put the answers into the folder, as the batch's output or as lines {"key": …, "text": …},
    and play again. Exits with 1 while something is missing.

    Example: attune people play plan.jsonl -o mine --person openrouter:a/model --assistant openrouter:b/model
    --reader openrouter:c/model --max-cost 60

    Example: attune people play plan.jsonl -o mine --person claude --assistant claude --reader claude
    """
    from attune_env.people.answering import PENDING, play_plan
    from attune_env.people.costs import estimate
    from attune_env.running.settings import Options
    from attune_episodes.people.asks import HANDS, Cast
    from attune_episodes.people.cards import read_plan

    names = assistant or [ELSEWHERE]
    if len(names) > 2:
        raise SettingsError(f"--assistant is given {len(names)} times; expected once or twice")
    hands = [_hand(name, server, drawn) for name in (person, *names, reader)]
    who, *assistants, reads = (hand for hand, _ in hands)
    cast = Cast(who, tuple(assistants), reads, checked=checked)
    cards = read_plan(path)
    found = dict(zip(HANDS, (hands[0], hands[1], hands[len(names)], hands[-1]), strict=True))
    models = {name: model for name, (_, model) in found.items() if model is not None}
    if server.dry_run:
        price = next((model.price for model in models.values()), None)
        calls = "calls are an estimate for people who stay to the end; retries and re-asks add to them"
        servers.show_estimate(estimate(cards, cast), price=price, each="role", calls=calls)
        return
    output_folder(output)
    if not models:
        options = Options(command=shell_line(["attune", *sys.argv[1:]]))
    else:
        options = servers.options_of(server, next(iter(models.values())).endpoint, overwrite=False)
    from attune_env.cli.watching import watcher

    with stoppable(), watcher(f"playing {path.name}") as shown:
        report = play_plan(cards, cast, output, models=models, options=options, watcher=shown)
    code = _end(report, len(cards), output, options.command, str(output / PENDING))
    if code:
        raise typer.Exit(code)


@command(app)
def check(
    *,
    folder: str = argument("The folder that `attune people play` wrote.", "FOLDER"),
    output: Path | None = option("Also write the page to this file, as Markdown.", None, "-o"),
    overwrite: bool = shared.OVERWRITE_FILE,
) -> None:
    """Check played people beside the sample; the exit code is 1 if a check fails.

    One page: whether each person's answers, edit and ranking fit together, whether feelings can be read, what
    gives answers away, what repeats, and how far the reader agrees with itself. A check fails only where the
    whole interval lies outside the sample's bound.

    Example: attune people check mine -o check.md
    """
    from attune_env.people import checks
    from attune_env.tables.markdown import check_replaceable, write_markdown

    if output is not None:
        check_replaceable(output, CHECKED_BY, overwrite=overwrite)
    path = Path(folder)
    found = checks.check(read_data(folder), read_data("sample"), path if path.is_dir() else None)
    tables = checks.check_tables(found, path.name)
    for table in tables:
        table.print()
    if output is not None:
        typed = command_line("people", "check", folder)
        write_markdown(output, f"Check of {path.name}", tables, CHECKED_BY, command=typed)
        print(f"wrote {output}")
    if found.failed:
        raise typer.Exit(1)


@command(app)
def talk(
    *,
    path: Path = argument("The plan, or the folder of pinned people.", "PLAN"),
    person: str | None = option(
        "Who plays the person: PROVIDER:MODEL or custom:MODEL@URL; by default, pinned people.", metavar="HAND"
    ),
    reader: str | None = option("Who reads your replies; by default, as --person.", metavar="HAND"),
    card: str | None = option("The id of the card to talk with; by default, the first."),
    output: Path | None = option("File for the conversation.", None, "-o"),
) -> None:
    """Talk with a played person yourself: type a reply, see what it earns; Ctrl-D ends.

    An empty line is silence. The person's own judgement comes at the end, and is not part of the reward.

    Example: attune people talk plan.jsonl --person custom:MODEL@http://localhost:8000/v1
    """
    from attune_data.errors import UnknownNameError
    from attune_env.results.files import write_json
    from attune_episodes.people.endpoint import people_of
    from attune_episodes.people.live import LiveEpisode

    if output is not None and output.exists():
        raise DataError(Problem(str(output), "", "a file", "no file", "choose another -o"))
    plays, cards = people_of(path, None if person is None else _endpoint(person))
    known = {one.id: one for one in cards}
    if card is not None and card not in known:
        raise UnknownNameError("card", card, known)
    reads = None if reader is None else _endpoint(reader)
    episode = LiveEpisode(known[card] if card else cards[0], person=plays, reader=reads)
    while not episode.done:
        print(f"\n{episode.message}\n")
        try:
            turn = episode.say(input("you> "))
        except EOFError:
            print()
            break
        print(f"reward {turn.reward:+.2f}; {turn.share:.0%} of what was wanted")
    if not episode.turns:
        return
    end = episode.closing
    print(f"\n{'the person left' if episode.left else 'the end'}: total {episode.total:+.2f}")
    off = f"; what felt off: {', '.join(end.off)}" if end.off else ""
    print(f"the person's own judgement of the fit: {end.fit}{off}")
    if output is not None:
        write_json(output, episode.record())
        print(f"wrote {output}")


def _endpoint(value: str) -> Endpoint:
    """The endpoint that an option names."""
    from attune_env.running.providers import endpoint_of
    from attune_episodes.people.endpoint import Endpoint

    provider, _, name = value.partition(":")
    if not name or provider not in servers.PROVIDERS or provider == "builtin":
        raise SettingsError(f"{value} names no endpoint; expected PROVIDER:MODEL or custom:MODEL@URL")
    model, at, url = name.partition("@http")
    found = endpoint_of(provider, base_url=f"http{url}" if at else None)
    return Endpoint(found.base_url, model, sampling=dict(found.extra), headers=found.all_headers)


def _hand(value: str, server: shared.Server, drawn: shared.Drawn) -> tuple[Hand, Model | None]:
    """Who plays a hand, and the model behind an endpoint if that is who."""
    from attune_env.people.answering import model_hand
    from attune_episodes.people.asks import Hand

    provider, colon, name = value.partition(":")
    if not colon or provider not in servers.PROVIDERS or provider == "builtin":
        return Hand(value), None
    name, at, url = name.partition("@http")
    if at:
        server = replace(server, base_url=f"http{url}")
    (model,) = servers.chosen_models(provider, [name], server, drawn)
    return model_hand(model), model


def _end(report: PlayReport, planned: int, output: Path, again: str, pending: str) -> int:
    """Print what was played and what is missing; the exit code."""
    from attune_episodes.people.pinned import ANSWERS

    run = report.run
    for identity, why in report.without_matter.items():
        print(f"error: {identity}: {why}", file=sys.stderr)
    there = run.written + run.complete_before
    done = f"played {run.written} conversations into {output}; {there} of {planned} are complete"
    unusable = f"docs/people.md says what can be used; the answers are in {output / ANSWERS}"
    code, go_on = outcome(run, done, again, unusable)
    if report.pending:
        print(f"{report.pending} answers are missing: {pending} has what is asked", file=sys.stderr)
        print(f"put the answers into {output}, then: {again}", file=sys.stderr)
    elif go_on:
        print(go_on, file=sys.stderr)
    elif not code and not report.without_matter:
        print(f"next: {command_line('people', 'check', str(output))}")
    return int(bool(code or report.pending or report.without_matter))
