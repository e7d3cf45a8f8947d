"""Declare options and arguments as parameter defaults; `command` registers a function with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import typer

CHOSEN, ASKED, SERVER, JUDGES = "Which conversations", "What is asked", "Models behind a server", "Judges"
"""Panels of the help."""
NEEDED: Final = ...
"""The default of a required option or argument."""
_METAVARS: Final = {int: "N", float: "NUMBER", Path: "PATH"}
"""The default placeholder of a value in the help, by type; for a text, it is the option's name."""
F = TypeVar("F", bound=Callable[..., Any])


def option(help: str, default: Any = None, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option, written as the default of a command's parameter or of a field of a group.

    It is named after the parameter (`--skip-invalid`) unless `names` has a long name.
    """
    about = {"help": help, "rich_help_panel": panel, **more}
    return field(default=default, metadata={"kind": typer.Option, "names": names, "about": about})


def argument(help: str, metavar: str, default: Any = NEEDED) -> Any:
    """An argument, written as the default of a command's parameter."""
    about = {"help": help, "metavar": metavar}
    return field(default=default, metadata={"kind": typer.Argument, "names": (), "about": about})


def command(app: typer.Typer, name: str | None = None, panel: str | None = None) -> Callable[[F], F]:
    """Register a command; a parameter that is a dataclass of options becomes an option per field."""

    def register(function: F) -> F:
        hints = get_type_hints(function)
        groups: dict[str, Any] = {one: hint for one, hint in hints.items() if is_dataclass(hint)}
        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(function).parameters.values():
            group = groups.get(one.name)
            if group is None:
                parameters.append(_parameter(one.name, hints[one.name], one.default))
            else:
                types = get_type_hints(group)
                parameters += [_parameter(inner.name, types[inner.name], inner) for inner in fields(group)]

        @functools.wraps(function)
        def called(**given: Any) -> Any:
            for name, group in groups.items():
                given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
            return function(**given)

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app.command(name, rich_help_panel=panel)(called)
        return function

    return register


def _parameter(name: str, hint: Any, given: Field[Any]) -> inspect.Parameter:
    """Convert a parameter to Typer's form."""
    kind, names, about = (given.metadata[one] for one in ("kind", "names", "about"))
    if kind is typer.Option and not any(one.startswith("--") for one in names):
        names = (f"--{name.replace('_', '-')}", *names)
    held = _held(hint)
    info = kind(
        given.default, *names, **{"metavar": name.upper() if held is str else _METAVARS.get(held)} | about
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=hint)


def _held(hint: Any) -> Any:
    """The type of one value: `Path` of `list[Path] | None`."""
    return _held(get_args(hint)[0]) if get_origin(hint) in (list, UnionType) else hint
