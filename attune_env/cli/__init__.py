"""The command line `attune`: one module a command, heavy imports only inside what runs."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

import typer

from attune_data.version import __version__

WIDE = {"terminal_width": 400, "max_content_width": 400}
"""Without a terminal nothing is wrapped or cut."""

app = typer.Typer(
    name="attune",
    help="Measure and train emotional intelligence in language models with AttuneBench.",
    epilog="Start with `attune demo`: no key, no network, under a minute.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # boxes are for people: without a terminal, help is plain text like everything else
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]} | ({} if sys.stdout.isatty() else WIDE),
)


def _version(show: bool) -> None:
    if show:
        print(f"attune-env {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    pass


def _register() -> None:
    from attune_env.cli import (
        data,
        importing,
        paths,
        profile,
        report,
        rewards,
        run,
        score,
        selection,
        serve,
        simulate,
        stats,
        subset,
        view,
    )

    run.register(app)
    score.register(app)
    report.register(app)
    subset.register(app)
    stats.register(app)
    view.register(app)
    paths.register(app)
    selection.register(data.app)
    simulate.register(data.app)
    importing.register(data.app)
    app.add_typer(data.app, name="data")
    app.add_typer(profile.app, name="profile")
    app.add_typer(rewards.app, name="rewards")
    app.add_typer(serve.app, name="serve")


_register()


def main() -> NoReturn:
    """Entry point: errors meant for people become one message and an exit code, never a traceback."""
    from attune_data.errors import AttuneError, SettingsError, UnknownNameError

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a narrow terminal is no reason to crash
    try:
        app(args=spread_lists(sys.argv[1:]))
    except (UnknownNameError, SettingsError) as error:
        _say(str(error))
        sys.exit(2)
    except AttuneError as error:
        _say(str(error))
        sys.exit(1)
    except BrokenPipeError:
        # the reader (head, less) has left: nothing more to say, and no complaint at shutdown either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _say(f"{name}{error.strerror or error}")
        sys.exit(1)
    sys.exit(0)


LISTS = {"--modes": ("default", "verbose", "omniscient", "verbose_omniscient", "all")}
"""Options that take several values in a row, as the official tool has them, and those values."""
ANY_LISTS = {
    "--judge-model": {"run": 4, "rejudge": 3},
    "--scores": {"report": 1},
    "--compare": {"report": 1},
    "--formats": {"report": 1, "subset": 1},
}
"""Options that take any values in a row, once so many words came before the first option of that command:
the command and its arguments. Earlier, a further word could be an argument."""


def spread_lists(arguments: list[str]) -> list[str]:
    """`--modes default verbose` as `--modes default --modes verbose`, which the parser understands."""
    spread: list[str] = []
    rest = list(arguments)
    command = rest[0] if rest else ""
    words = next((n for n, word in enumerate(rest) if word.startswith("-")), len(rest))
    while rest:
        option = rest.pop(0)
        values = LISTS.get(option, ())
        anything = words >= ANY_LISTS.get(option, {}).get(command, words + 1)
        taken = []
        while rest and (rest[0] in values or (anything and not rest[0].startswith("-"))):
            taken += [option, rest.pop(0)]
        spread += taken or [option]
    return spread


def _say(message: str) -> None:
    from attune_data.errors import one_line

    for line in message.splitlines():
        print(f"error: {one_line(line, 10_000)}", file=sys.stderr)
