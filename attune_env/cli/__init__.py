"""The command line `attune`: one module per group of commands, heavy imports only inside what runs."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Final, NoReturn

import typer

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, one_line
from attune_data.version import __version__
from attune_env.cli import (
    data,
    demo,
    paths,
    profile,
    rejudge,
    report,
    rewards,
    run,
    score,
    serve,
    stats,
    subset,
    view,
)

WIDE: Final = {"terminal_width": 400, "max_content_width": 400}
"""Without a terminal nothing is wrapped or cut."""
EVALUATE, DATA, TRAIN = "Evaluate", "Data", "Train and serve"
"""Panels of the help."""

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
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


app.command(rich_help_panel=EVALUATE)(demo.demo)
app.command(rich_help_panel=EVALUATE)(run.run)
app.command(rich_help_panel=EVALUATE)(rejudge.rejudge)
app.command(rich_help_panel=EVALUATE)(score.score)
for module in (report, subset, stats, view):
    module.register(app)
app.add_typer(profile.app, name="profile", rich_help_panel=EVALUATE)
app.add_typer(data.app, name="data", rich_help_panel=DATA)
app.add_typer(rewards.app, name="rewards", rich_help_panel=TRAIN)
app.add_typer(serve.app, name="serve", rich_help_panel=TRAIN)
app.command(rich_help_panel=TRAIN)(paths.paths)

SYNONYMS: Final = (
    ("--data", "--ground-truth"),
    ("--number", "--limit", "--count"),
    ("--mode", "--modes"),
    ("--output", "--output-dir"),
)
"""Spellings of the same option: each command takes all of those in a row, and its help shows one."""
MODES: Final = ("default", "verbose", "omniscient", "verbose_omniscient", "all")
LISTS: Final = ("--judge-model", "--scores", "--compare", "--formats")
"""Options that take several values in a row, as the official tool has them: nothing else may follow there."""


def spelt_out(words: list[str]) -> list[str]:
    """The command line as its command spells its options.

    Synonyms become the option that the command has; without one of `SYNONYMS[0]` its value is the argument.
    `--modes a b` becomes `--modes a --modes b`, and so do other lists once all arguments stand before them.
    """
    command: Any = typer.main.get_command(app)
    depth = 0
    while depth < len(words) and words[depth] in getattr(command, "commands", {}):
        command = command.commands[words[depth]]
        depth += 1
    known = {name for one in command.params for name in one.opts}
    wanted = [one for one in command.params if one.param_type_name == "argument"]
    arguments = sum(one.required for one in wanted)
    spelt, rest = words[:depth], words[depth:]
    given = 0
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if not word.startswith("-"):
            given += 1
            spelt.append(word + equals + value)
            continue
        same = next((group for group in SYNONYMS if word in group), (word,))
        word = word if word in known else next((name for name in same if name in known), word)
        if same == SYNONYMS[0] and word not in known and wanted:
            rest[:0] = [value] * bool(equals)
            continue
        taken: list[str] = []
        if not equals and word in known:
            several = word in LISTS and given >= arguments
            while rest and (several or word == "--modes") and not rest[0].startswith("-"):
                if word == "--modes" and rest[0] not in MODES:
                    break
                taken += [word, rest.pop(0)]
            if not taken and rest and not _is_flag(command, word):
                taken = [word, rest.pop(0)]
        spelt += taken or [word + equals + value]
    return spelt


def _is_flag(command: Any, name: str) -> bool:
    """Whether an option of a command takes no value."""
    return any(getattr(one, "is_flag", False) for one in command.params if name in one.opts)


def main() -> NoReturn:
    """Entry point: errors meant for people become one message and an exit code, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a narrow terminal is no reason to crash
    try:
        app(args=spelt_out(sys.argv[1:]))
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


def _say(message: str) -> None:
    for line in message.splitlines():
        print(f"error: {one_line(line, 10_000)}", file=sys.stderr)
