"""Load a script of `examples/` as a module."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "examples"


def load_example(name: str) -> ModuleType:
    """The module that `examples/NAME.py` is; its `main` does not run."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))  # as for a script, whose neighbours it imports
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
