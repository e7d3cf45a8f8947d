"""The house as its imports have it: nothing is imported in a circle, be it a module or a room of modules."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Container, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = {
    "attune_env": ".", "attune_live": "envs", "attune_episodes": "envs", "attune_rewards": "rewards",
    "attune_data": "data",
}  # fmt: skip


def modules() -> dict[str, Path]:
    """Name -> file of each module of the packages; a package is the module of its `__init__`."""
    files: dict[str, Path] = {}
    for package, folder in FLOORS.items():
        for file in (ROOT / folder / package).rglob("*.py"):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imports_of(source: str, known: Container[str]) -> Iterator[str]:
    """The known modules that a file imports anywhere: in functions and under TYPE_CHECKING as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                name = submodule if submodule in known else str(node.module)
                yield from [name] if name in known else []


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """A circle of the graph, from a module back to itself; [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def inside(package: str, graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The graph of what lies directly in a package: modules, and folders with all that is in them."""
    depth = package.count(".") + 2
    found: dict[str, set[str]] = {}
    for module, imported in graph.items():
        if module.startswith(f"{package}."):
            here = ".".join(module.split(".")[:depth])
            there = {".".join(one.split(".")[:depth]) for one in imported if one.startswith(f"{package}.")}
            found.setdefault(here, set()).update(there - {here})
    return found


FILES = modules()
GRAPH = {name: {*imports_of(file.read_text(encoding="utf-8"), FILES)} for name, file in FILES.items()}
PACKAGES = sorted(name for name, file in FILES.items() if file.name == "__init__.py")
HOUSES = (*FLOORS, "attune_env.report", "attune_episodes.frameworks")
"""The packages that are made of rooms."""


def test_no_module_is_imported_in_a_circle() -> None:
    assert circle(GRAPH) == []


@pytest.mark.parametrize("package", HOUSES)
def test_no_room_is_imported_in_a_circle(package: str) -> None:
    assert circle(inside(package, GRAPH)) == []


def test_imports_in_functions_and_for_type_checkers_count() -> None:
    source = (
        "if TYPE_CHECKING:\n import a.b\ndef f() -> None:\n from a import c\n from a.d import e, g\nimport os"
    )
    assert [*imports_of(source, {"a", "a.b", "a.c", "a.d.g"})] == ["a.b", "a.c", "a.d.g"]


def test_a_circle_is_found_between_modules_and_between_rooms() -> None:
    # x.one.a -> x.two.b and x.two.c -> x.one.d: no circle of modules, but one of rooms
    graph: dict[str, set[str]] = {
        "x.one.a": {"x.two.b"},
        "x.two.c": {"x.one.d"},
        "x.one.d": set(),
        "x.two.b": set(),
    }
    assert circle(graph) == []
    assert set(circle(inside("x", graph))) == {"x.one", "x.two"}
    assert circle(graph | {"x.two.b": {"x.one.a"}})[0] in ("x.one.a", "x.two.b")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_that_loads_on_first_use_is_that_of_a_module(package: str) -> None:
    """Importing such a module would put it in the place of what the package offers."""
    module = importlib.import_module(package)
    beside = {name.rpartition(".")[2] for name in FILES if name.rpartition(".")[0] == package}
    if "__getattr__" in vars(module):
        assert beside & set(module.__all__) <= {"testing"}  # offered as the module that it is


def test_a_folder_says_what_is_in_it() -> None:
    silent = [name for name in PACKAGES if not ast.get_docstring(ast.parse(FILES[name].read_text("utf-8")))]
    assert silent == []
