"""Counts the calls of a function wherever the product has imported it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest

Call = tuple[Any, ...]


def counted(patch: pytest.MonkeyPatch, function: Callable[..., Any]) -> list[Call]:
    """The positional arguments of each call from now on; the function itself still does its work.

    Modules that are imported later find it wrapped too, because its home is patched.
    """
    calls: list[Call] = []

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **named)

    for name, module in list(sys.modules.items()):
        if name.startswith("attune_"):
            for own, value in list(vars(module).items()):
                if value is function:
                    patch.setattr(module, own, wrapper)
    return calls
