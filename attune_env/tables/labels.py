"""Names in tables and figures: the kind of a model's row, its mode, short names for axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from attune_data.errors import one_line
from attune_episodes.policies import KINDS

SHORT = 26
"""Most characters of a model's name on an axis."""
READER = "a small word list"
"""The built-in reader, in words."""
ROLES = ("model", "baseline", "reader", "oracle")
"""The kinds of rows, in the order of every table."""
LISTED = 3
"""Most names in a list; a longer one ends with a count of the rest."""


def role_of(em_model: str) -> str:
    """The kind of row a model is: `baseline`, `reader` or `oracle` for built-in policies, else `model`."""
    provider, _, name = em_model.partition("/")
    if provider != "builtin" or name not in KINDS:
        return "model"
    return "baseline" if KINDS[name] in ("content-free", "shallow") else KINDS[name]


def standing(em_model: str) -> int:
    """The place of a row's kind in a table: models first, then baselines, the reader and the oracle."""
    return ROLES.index(role_of(em_model))


def references(models: Iterable[str]) -> set[int]:
    """The indices of reference rows: built-in policies; without a model, all of these but the reader."""
    roles = [role_of(model) for model in models]
    compared = ("model",) if "model" in roles else ("model", "reader")
    return {number for number, role in enumerate(roles) if role not in compared}


def quoted(name: str) -> str:
    """The name of a model or policy in a sentence: in backquotes, which pages show in a code font."""
    plain = one_line(name).replace("`", "'")
    return f"`{plain}`"


def mode_text(mode: str) -> str:
    """The mode, marked if it is not the benchmark's primary one."""
    return mode if mode == "default" else f"{mode} (not primary)"


def short_names(models: Sequence[str]) -> list[str]:
    """Short names for axes and sentences: without the provider if that still distinguishes the models.

    Long names lose their middle, since versions, sizes and steps are at the end.
    """
    plain = [one_line(model.partition("/")[2] or model) for model in models]
    shared = {name for name, n in Counter(plain).items() if n > 1}
    full = [one_line(model) if name in shared else name for model, name in zip(models, plain, strict=True)]
    head, tail = SHORT - SHORT // 2, SHORT // 2 - 1
    cut = [name if len(name) <= SHORT else f"{name[:head]}…{name[-tail:]}" for name in full]
    twice = {name for name, n in Counter(cut).items() if n > 1}
    return [f"{name[: SHORT - 5]} #{i + 1}" if name in twice else name for i, name in enumerate(cut)]


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 model`, `3 models`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """`a`, `a and b`, `a, b and 4 more`."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
