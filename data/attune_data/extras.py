"""Optional extras: an error if one is not installed, a warning if its version is untested."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from attune_data.errors import AttuneError


class MissingExtraError(AttuneError, ImportError):
    """A package of an extra is not installed; the message gives the command that installs it."""


class UntestedVersionWarning(UserWarning):
    """The installed version of an extra's package was not tested with this project."""


def install_line(extra: str) -> str:
    """How to install an extra: a command, and where to run it."""
    return f'in the clone, pip install ".[{extra}]"'


def missing_extra(extra: str, error: ImportError) -> MissingExtraError:
    """The error to raise when importing an extra's package failed with `error`."""
    absent = isinstance(error, ModuleNotFoundError)  # otherwise the installed version lacks a name
    found = "is not installed" if absent else "is installed in an untested version"
    return MissingExtraError(f"the extra {extra!r} {found} ({error}): {install_line(extra)}")


@contextmanager
def needs_extra(extra: str, *modules: str) -> Iterator[None]:
    """Context for imports: raises MissingExtraError if one fails because an extra is missing or unsuitable.

    `modules` are the top-level modules that come with the extra; an import error in any other module is
    raised unchanged.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in modules:
            raise
        raise missing_extra(extra, error) from error


def warn_if_untested(package: str, lowest: str, below: str, why: str = "") -> None:
    """Warn unless the installed version of `package` is at least `lowest` and below `below`.

    Versions are compared by their leading numbers. There is no warning if the package is not installed. `why`
    is a sentence about what another version may change.
    """
    try:
        found = version(package)
    except PackageNotFoundError:
        return
    if not _numbers(lowest) <= _numbers(found) < _numbers(below):
        warnings.warn(
            f"{package} {found} is installed; tested versions: {lowest} to below {below}"
            + (f". {why}" if why else ""),
            UntestedVersionWarning,
            stacklevel=3,
        )


def _numbers(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, found.group().split("."))) if found else ()
