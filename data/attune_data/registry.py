"""Find what the modules of a package add to it: one new file in its folder adds one thing.

A module says what it adds in a variable at its top level, such as `POLICIES`. `Registry` reads a literal from
the source, so that names and descriptions are known before anything is imported; `collected` imports.
"""

from __future__ import annotations

import ast
import math
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar

from attune_data.errors import SettingsError, UnknownNameError

Value = TypeVar("Value")


def assigned(package: str, variable: str) -> dict[str, str]:
    """Module -> the source of what it assigns to a variable at its top level, in order of their names.

    The modules directly in the package are looked at; those that do not assign it are left out. An assignment
    goes on over lines that are indented or close a bracket.
    """
    statement = re.compile(rf"^{variable}\b[^=\n]*=[ \t]*(.*(?:\n[ \t)\]}}].*)*)", re.MULTILINE)
    sources = {}
    for found in sorted(pkgutil.iter_modules(import_module(package).__path__), key=lambda one: one.name):
        name = f"{package}.{found.name}"
        spec: Any = found.module_finder.find_spec(name, None)  # from folders and zips alike
        if match := statement.search(spec.loader.get_source(name) or ""):
            sources[name] = match[1]
    return sources


def collected(package: str, variable: str, *, besides: str = "") -> tuple[ModuleType, ...]:
    """Import the modules that assign a variable, besides the one that asks.

    They come in the order of their `PLACE`, a number; modules without one come last, by name.
    """
    modules = [import_module(name) for name in assigned(package, variable) if name != besides]
    return tuple(sorted(modules, key=lambda module: getattr(module, "PLACE", math.inf)))


def by_name(kind: str, entries: Iterable[tuple[str, str, Value]]) -> dict[str, Value]:
    """Name -> value, from (module, name, value); SettingsError names both modules that have the same name."""
    homes: dict[str, str] = {}
    values: dict[str, Value] = {}
    for module, name, value in entries:
        if name in homes:
            raise SettingsError(
                f"there are two of {kind} {name!r}, in {homes[name]} and in {module}; rename one of them"
            )
        homes[name], values[name] = module, value
    return values


class Registry(Mapping[str, Value], Generic[Value]):
    """Name -> what the modules of a package say of it, without importing any of them.

    Args:
        package: each of its modules may assign `variable` a dict literal, name -> keyword arguments of
            `entry`, and then defines `make(name, …)`.
        variable: the variable.
        kind: what it lists, for error messages.
        entry: makes what is known of a name.
        order: sorts entries; those that are equal under it come by module, and then as they stand there.

    Raises SettingsError if a module assigns something else, or if two have the same name.
    """

    def __init__(
        self,
        package: str,
        variable: str,
        kind: str,
        entry: Callable[..., Value],
        order: Callable[[Value], Any],
    ) -> None:
        self.kind = kind
        listed = by_name(
            kind,
            (
                (module, name, (module, value))
                for module, source in assigned(package, variable).items()
                for name, value in _entries(module, variable, source, entry)
            ),
        )
        self._listed = dict(sorted(listed.items(), key=lambda item: order(item[1][1])))

    def __getitem__(self, name: str) -> Value:
        return self._listed[name][1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def check(self, name: str) -> None:
        """Raise UnknownNameError, with the names that there are, unless this is one of them."""
        if name not in tuple(self):  # also one that cannot be hashed
            raise UnknownNameError(self.kind, name, self)

    def make(self, name: str, *arguments: object) -> Any:
        """Import the module that has the name and return its `make(name, …)`; raises what `check` raises."""
        self.check(name)
        return import_module(self._listed[name][0]).make(name, *arguments)


def _entries(module: str, variable: str, source: str, entry: Callable[..., Value]) -> list[tuple[str, Value]]:
    try:
        return [(str(name), entry(**said)) for name, said in ast.literal_eval(source).items()]
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise SettingsError(
            f"{module}: {variable} cannot be read from its source ({error}); expected a dict of literals, "
            "each name with what is said of it"
        ) from error
