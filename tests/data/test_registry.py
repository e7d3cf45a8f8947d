"""What the modules of a package add to it: found in folders and zips, listed without an import, in order."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from attune_data import UnknownNameError
from attune_data.errors import SettingsError
from attune_data.registry import Registry, assigned, by_name, collected

PLAIN = '''"""Plain shapes. SHAPES is told in a docstring too."""
SHAPES: Final = {
    "dot": {"sides": 0},
    "line": {
        "sides": 1,
    },
}  # a comment


def make(name, *given):
    return (__name__, name, *given)
'''
"""`Final` is not imported: it cannot be imported, only read."""
ROUND = """SHAPES = {"circle": {"sides": 0, "round": True}}

def make(name, *given):
    return (__name__, name, *given)
"""


@dataclass(frozen=True)
class Shape:
    sides: int
    round: bool = False


Room = Callable[..., str]


@pytest.fixture(params=["folder", "zip"])
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Room]:
    """Makes a package of these modules and gives its name."""
    package = f"room_in_{request.param}"

    def make(**modules: str) -> str:
        sources = {"__init__": "", **modules}
        if request.param == "zip":
            with zipfile.ZipFile(tmp_path / "rooms.zip", "w") as archive:
                for name, source in sources.items():
                    archive.writestr(f"{package}/{name}.py", source)
            monkeypatch.syspath_prepend(tmp_path / "rooms.zip")
        else:
            (tmp_path / package).mkdir()
            for name, source in sources.items():
                (tmp_path / package / f"{name}.py").write_text(source, encoding="utf-8")
            monkeypatch.syspath_prepend(tmp_path)
        return package

    yield make
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]


def shapes(package: str) -> Registry[Shape]:
    return Registry(package, "SHAPES", "shape", Shape, lambda shape: shape.round)


def test_names_are_listed_in_order_without_an_import_and_made_on_first_use(room: Room) -> None:
    package = room(a_round=ROUND, plain=PLAIN, other="SHAPE = 1\n")
    found = shapes(package)
    assert dict(found) == {"dot": Shape(0), "line": Shape(1), "circle": Shape(0, True)}
    assert list(found) == ["dot", "line", "circle"]  # the round ones last, whatever their module
    assert not [name for name in sys.modules if name.startswith(f"{package}.")]
    assert found.make("circle", 1) == (f"{package}.a_round", "circle", 1)
    assert f"{package}.plain" not in sys.modules


@pytest.mark.parametrize("name", ["circel", ["circle"], None])
def test_an_unknown_name_is_told_the_known_ones(room: Room, name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no shape named .*known: circle"):
        shapes(room(a_round=ROUND)).make(name)


def test_a_name_of_two_modules_names_both(room: Room) -> None:
    package = room(one=ROUND, two=ROUND)
    with pytest.raises(SettingsError, match=rf"shape 'circle', in {package}.one and in {package}.two"):
        shapes(package)


@pytest.mark.parametrize("source", [
    "SHAPES = dict(circle={})\n", 'SHAPES = {"circle": {"corners": 0}}\n',
    'SHAPES = {"circle": 3}\n', "SHAPES = 3\n",
])  # fmt: skip
def test_what_cannot_be_read_names_the_module(room: Room, source: str) -> None:
    package = room(wrong=source)
    with pytest.raises(
        SettingsError, match=rf"{package}.wrong: SHAPES cannot be read .* expected a dict of literals"
    ):
        shapes(package)


def test_modules_are_collected_by_their_place_and_then_by_name(room: Room) -> None:
    package = room(
        z="PLACE = 1\nSHAPES = ()\n", w="PLACE = 2\nSHAPES: tuple = ()\n",
        y="SHAPES = ()\n", x="SHAPES = ()\n",
        without="PLACE = 0\n", asks="SHAPES = ()\n", inside="def f():\n    SHAPES = ()\n",
    )  # fmt: skip
    modules = collected(package, "SHAPES", besides=f"{package}.asks")
    assert [module.__name__.removeprefix(f"{package}.") for module in modules] == ["z", "w", "x", "y"]
    assert assigned(package, "PLACE") == {f"{package}.w": "2", f"{package}.without": "0", f"{package}.z": "1"}


def test_names_keep_the_order_of_what_is_given() -> None:
    assert list(by_name("shape", [("m", "b", 1), ("m", "a", 2)])) == ["b", "a"]
