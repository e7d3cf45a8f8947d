"""Rewards from files: a preset's name, a JSON description, or a Python file that makes a `RewardSpec`."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.jsonio import read_json
from attune_rewards.canonical import CANONICAL
from attune_rewards.parts import Format, Part
from attune_rewards.spec import PRESET_TEXTS, RewardSpec, weight_of
from attune_rewards.tree import Node

_NAMED: Final[Mapping[str, Part]] = {**{part.name: part for part in CANONICAL}, "format": Format()}
"""Parts beside the leaves that a file can name."""
_NUMBER: Final = (int, float)
_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "name": (str, "a text"),
    "preset": (str, "the name of a preset"),
    "weights": (Mapping, "an object of parts and numbers"),
    "tree": (Mapping, "an object with a name"),
    "format": (_NUMBER, "the weight of the part format, a number above 0"),
    "nulls": (Mapping, "an object of parts and numbers"),
    "left_out": (list, "a list of part names"),
    "floor": (_NUMBER, "a number, at most 0"),
    "terminal": (bool, "true or false"),
    "reference": (str, "a text"),
}
"""Key -> the type of its value, and what is expected there."""
EXAMPLE: Final = '{"name": "reading", "weights": {"emotion_va": 2, "binary_hp": 1}, "format": 0.1}'


def read_reward(source: str, *, also: Iterable[str] = ()) -> RewardSpec:
    """A reward by preset name, or from a file.

    Args:
        source: the name of a preset; a `.json` file that `describe_reward` wrote or in its short forms; or a
            `.py` file, with `:NAME` behind it where it makes several. Python is executed: read it first.
        also: further names that the caller takes, for the error.

    Raises UnknownNameError for what is neither a preset nor a file, DataError for a file that describes no
    reward, SettingsError for one that describes an impossible one.
    """
    if source in PRESET_TEXTS:
        return RewardSpec.preset(source)
    path, _, name = source.rpartition(":") if ".py:" in source.lower() else (source, "", "")
    if path.lower().endswith(".py"):
        return _from_python(Path(path), name)
    if path.lower().endswith(".json"):
        return reward_from(read_json(Path(path)), path)
    raise UnknownNameError("reward preset (or .json or .py file)", source, (*PRESET_TEXTS, *also))


def describe_reward(spec: RewardSpec) -> dict[str, Any]:
    """A reward as JSON values, of which `reward_from` makes the same one.

    Raises SettingsError for parts of your own: they are Python functions.
    """
    for part in spec.extra:
        if part != _NAMED.get(part.name):
            raise SettingsError(
                f"part {part.name!r} of reward {spec.name!r} is a Python function, which JSON cannot hold; "
                "keep the reward in a .py file"
            )
    plain = {
        "name": spec.name,
        "tree": _plain(spec.root),
        "nulls": dict(spec.nulls),
        "left_out": list(spec.left_out),
        "floor": spec.floor,
        "terminal": not spec.dense,
        "reference": spec.reference,
    }
    return {key: value for key, value in plain.items() if value or (value == 0.0 and key == "floor")}


def reward_from(plain: object, file: str = "reward") -> RewardSpec:
    """The reward that JSON values describe: one of `preset`, `weights` or `tree`, and what is done to it.

    `weights` maps part names to positive weights; `tree` nests `{"name", "weight", "children"}`; `format`
    adds the part `format` with that weight; `nulls` maps parts to what they are measured from, `floor` is
    the lowest value that such a part pays; `terminal` pays everything at the end. Raises DataError naming
    the place.
    """
    if not isinstance(plain, Mapping):
        raise _wrong(file, "", plain, "an object")
    for key, value in plain.items():
        kind, expected = _KINDS.get(key, (None, ""))
        if kind is None:
            raise _wrong(file, show(key), "an unknown key", f"one of {', '.join(_KINDS)}", quote=False)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(file, key, value, expected)
    made_of = [key for key in ("preset", "weights", "tree") if key in plain]
    if len(made_of) != 1:
        raise _wrong(
            file, "", ", ".join(made_of) or "none of them", "one of preset, weights, tree", quote=False
        )
    try:
        return _built(plain, plain.get("name") or Path(file).stem, file)
    except DataError:
        raise
    except (AttuneError, TypeError, ValueError) as error:
        raise DataError(Problem(file, "", str(error), "a reward", f"for example {EXAMPLE}")) from error


def _built(plain: Mapping[str, Any], name: str, file: str) -> RewardSpec:
    if "preset" in plain:
        spec = RewardSpec.preset(plain["preset"])
        spec = spec.renamed(name) if len(plain) > 1 else spec  # no longer the preset, so no longer its name
    elif "weights" in plain:
        spec = RewardSpec.weighted(name, plain["weights"])
    else:
        root = _node(plain["tree"], "tree", file)
        spec = RewardSpec(name, root, tuple(_NAMED[leaf] for leaf in root.leaves() if leaf in _NAMED))
    if "format" in plain:
        spec = spec.with_format(plain["format"])
        spec = spec.renamed(name) if "name" in plain else spec
    left_out = tuple(plain.get("left_out", spec.left_out))
    nulls = {**spec.nulls, **plain.get("nulls", {})}  # on top of what a preset has
    spec = spec.measured_from(
        {part: null for part, null in nulls.items() if part not in left_out},
        plain.get("reference", spec.reference),
        left_out,
    )
    spec = replace(spec, floor=plain.get("floor", spec.floor))
    return spec.terminal() if plain.get("terminal") else spec


def _plain(node: Node) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": node.name, "weight": node.weight}
    if node.children:
        plain["children"] = [_plain(child) for child in node.children]
    return plain


def _node(plain: object, place: str, file: str) -> Node:
    if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
        raise _wrong(file, place, plain, 'an object with a name, such as {"name": "pairwise", "weight": 1}')
    weight, children = plain.get("weight", 1.0), plain.get("children", [])
    if type(weight) not in (int, float):
        raise _wrong(file, f"{place}.weight", weight, "a number above 0")
    if not isinstance(children, list):
        raise _wrong(file, f"{place}.children", children, "a list")
    nodes = (_node(child, f"{place}.children[{i}]", file) for i, child in enumerate(children))
    return Node(plain["name"], weight_of(plain["name"], weight), tuple(nodes))


def _wrong(file: str, place: str, found: object, expected: str, *, quote: bool = True) -> DataError:
    text = show(found) if quote else str(found)
    return DataError(Problem(file, place, text, expected, f"for example {EXAMPLE}"))


def _from_python(path: Path, name: str) -> RewardSpec:
    """The spec that a Python file makes: the one named, else `reward`, else the only one."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise DataError(Problem(str(path), "", found, "a Python file that makes a RewardSpec"))
    sys.path.insert(0, str(path.resolve().parent))  # as `python FILE` has it: files beside it can be imported
    try:
        made = runpy.run_path(str(path), run_name="attune_reward")
    except (Exception, SystemExit) as error:  # whatever its code raises; leaving would look like success
        found = f"{type(error).__name__}: {error}"
        raise DataError(
            Problem(str(path), _line_of(error, path), found, "Python that runs", f"try: python {path.name}")
        ) from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    specs = {key: value for key, value in made.items() if isinstance(value, RewardSpec)}
    wanted = name or ("reward" if "reward" in specs or len(specs) != 1 else next(iter(specs)))
    if wanted not in specs:
        found = ", ".join(specs) or "no RewardSpec"
        raise DataError(
            Problem(str(path), "", found, f"a RewardSpec named {wanted}", f"name one: {path}:NAME")
        )
    return specs[wanted]


def _line_of(error: BaseException, path: Path) -> str:
    """The last line of the file that the error came through."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"line {error.lineno}"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f"line {lines[-1]}" if lines else ""
