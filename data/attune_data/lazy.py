"""`lazy_names`: load public names on first use, so that importing a package costs almost nothing."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # not from typing, whose import takes longer than everything here
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the `__init__.py` of the package of that `__name__`.

    `homes` maps each name to the module that defines it: in the package (`.module`), next to it
    (`..module`), or by its full name. A name is kept in the package once it has been loaded.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, names
