"""What comes with an extra: the error where it is not installed, a warning where its version is untested."""

from __future__ import annotations

import re
import warnings
from importlib.metadata import PackageNotFoundError, version

from attune_data.errors import AttuneError


class MissingExtraError(AttuneError, ImportError):
    """A package that comes with an extra is not installed; the message has the line that installs it."""


class UntestedVersionWarning(UserWarning):
    """A package of an extra is there in a version that this project was not tested with."""


def install_line(extra: str) -> str:
    """The command that installs an extra of this project."""
    return f'pip install "attune-env[{extra}]"'


def missing_extra(extra: str, error: ImportError) -> MissingExtraError:
    """The error to raise where the import of an extra's package failed with `error`."""
    return MissingExtraError(f"the extra {extra!r} is not installed ({error}): {install_line(extra)}")


def warn_if_untested(package: str, lowest: str, below: str) -> None:
    """Warns where the installed `package` is not at least `lowest` and below `below`.

    Versions are compared by their leading numbers. Says nothing where the package is not installed.
    """
    try:
        found = version(package)
    except PackageNotFoundError:
        return
    if not _numbers(lowest) <= _numbers(found) < _numbers(below):
        warnings.warn(
            f"{package} {found} is installed; this was tested with {lowest} up to, without, {below}",
            UntestedVersionWarning,
            stacklevel=3,
        )


def _numbers(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, found.group().split("."))) if found else ()
