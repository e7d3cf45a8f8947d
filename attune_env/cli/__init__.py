"""The command line `attune`: one module per group of commands, with heavy imports inside the commands."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Final, NoReturn

import typer

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, one_line
from attune_data.version import __version__
from attune_env.cli import data, people, profile, rewards, serve, study
from attune_env.cli.demo import demo
from attune_env.cli.evaluate import evaluate
from attune_env.cli.ladder import ladder
from attune_env.cli.options import command
from attune_env.cli.paths import paths
from attune_env.cli.publish import push, schema, to_parquet
from attune_env.cli.report import report, stats, subset
from attune_env.cli.run import rejudge, run
from attune_env.cli.score import score
from attune_env.cli.view import view

WIDE: Final = {"terminal_width": 400, "max_content_width": 400}
"""Width of output without a terminal, so that nothing is wrapped or truncated."""
EVALUATE, DATA, TRAIN = "Evaluate", "Data", "Train and serve"
"""Panels of the help."""

app = typer.Typer(
    name="attune",
    help="Measure and train emotional intelligence in language models with AttuneBench.",
    epilog="Start with `attune demo`: it needs no key and no network, only the extra `report`, and takes "
    "under a minute.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # boxes are for people; without a terminal, help is plain text like everything else
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


for function in (demo, evaluate, run, rejudge, score, report, subset, stats, view):
    command(app, panel=EVALUATE)(function)
for more in (ladder, to_parquet, push, schema):
    command(data.app)(more)
app.add_typer(profile.app, name="profile", rich_help_panel=EVALUATE)
app.add_typer(data.app, name="data", rich_help_panel=DATA)
app.add_typer(study.app, name="study", rich_help_panel=DATA)
app.add_typer(people.app, name="people", rich_help_panel=TRAIN)
app.add_typer(rewards.app, name="rewards", rich_help_panel=TRAIN)
app.add_typer(serve.app, name="serve", rich_help_panel=TRAIN)
command(app, panel=TRAIN)(paths)

SYNONYMS: Final = (
    ("--data", "-d", "--ground-truth"),
    ("--number", "--limit", "--count"),
    ("--mode", "--modes"),
    ("--output", "--output-dir"),
    ("--reward", "--spec"),
)
"""Synonymous options: a command that has one of a group accepts all of them, and its help shows that one."""
MODES: Final = ("default", "verbose", "omniscient", "verbose_omniscient", "all")
LISTS: Final = ("--judge-model", "--scores", "--compare", "--formats")
"""Options that accept several values in a row, as in the official tool; no argument may follow them."""


def spelt_out(words: list[str]) -> list[str]:
    """Rewrite the command line with each option spelled as its command defines it.

    Synonyms become the option that the command has; if it has none of `SYNONYMS[0]`, the value becomes the
    argument. `--modes a b` becomes `--modes a --modes b`; other lists are expanded like this after all
    arguments.
    """
    asked: Any = typer.main.get_command(app)
    depth = 0
    while depth < len(words) and words[depth] in getattr(asked, "commands", {}):
        asked = asked.commands[words[depth]]
        depth += 1
    options = {name: one for one in asked.params for name in one.opts}
    arguments = [one for one in asked.params if one.param_type_name == "argument"]
    needed = sum(one.required for one in arguments)
    spelt, rest = words[:depth], words[depth:]
    while rest:
        word, *value = rest.pop(0).split("=", 1) if rest[0].startswith("-") else [rest.pop(0)]
        if not word.startswith("-"):
            needed -= 1
        same = next((group for group in SYNONYMS if word in group), ())
        word = next((name for name in (word, *same) if name in options), word)
        if same == SYNONYMS[0] and word not in options and arguments:
            rest = [*value, *rest]
        elif value or not rest or word not in options or options[word].is_flag:
            spelt.append("=".join((word, *value)))
        else:
            spelt += [word, rest.pop(0)]
            while rest and not rest[0].startswith("-"):
                if not (rest[0] in MODES if word == "--modes" else word in LISTS and needed <= 0):
                    break
                spelt += [word, rest.pop(0)]
    return spelt


def main() -> NoReturn:
    """Entry point: expected errors become one message and an exit code, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # unencodable output must not crash the command
    try:
        app(args=spelt_out(sys.argv[1:]))
    except AttuneError as error:
        _say(str(error))
        sys.exit(2 if isinstance(error, UnknownNameError | SettingsError) else 1)
    except BrokenPipeError:
        # the reader (head, less) has closed the pipe: stop without an error message, also at shutdown
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
