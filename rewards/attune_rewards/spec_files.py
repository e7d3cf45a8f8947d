"""Rewards from files: a preset's name, a JSON description, or a Python file that makes a `RewardSpec`."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.jsonio import read_json
from attune_rewards.parts import Format
from attune_rewards.spec import PRESETS, RewardSpec, weight_of
from attune_rewards.tree import Node

_KEYS: Final = ("name", "preset", "weights", "tree", "format", "nulls", "left_out", "terminal", "reference")
EXAMPLE: Final = '{"name": "reading", "weights": {"emotion_va": 2, "binary_hp": 1}, "format": 0.1}'


def read_reward(source: str, *, also: Iterable[str] = ()) -> RewardSpec:
    """A reward by preset name, or from a file.

    Args:
        source: a name of `PRESETS`; a `.json` file that `describe_reward` wrote or in its short forms; or a
            `.py` file, with `:NAME` behind it where it makes several. Python is executed: read it first.
        also: further names that the caller takes, for the error.

    Raises UnknownNameError for what is neither a preset nor a file, DataError for a file that describes no
    reward, SettingsError for one that describes an impossible one.
    """
    if source in PRESETS:
        return RewardSpec.preset(source)
    path, _, name = source.rpartition(":") if ".py:" in source.lower() else (source, "", "")
    if path.lower().endswith(".py"):
        return _from_python(Path(path), name)
    if path.lower().endswith(".json"):
        return reward_from(read_json(Path(path)), path)
    raise UnknownNameError("reward preset (or .json or .py file)", source, (*PRESETS, *also))


def describe_reward(spec: RewardSpec) -> dict[str, Any]:
    """A reward as JSON values; `reward_from` makes the same one of them.

    Raises SettingsError for parts of one's own: they are Python functions.
    """
    for part in spec.extra:
        if part != Format():
            raise SettingsError(
                f"part {part.name!r} of reward {spec.name!r} is a Python function, which JSON cannot hold; "
                "keep the reward in a .py file"
            )
    plain: dict[str, Any] = {"name": spec.name, "tree": _plain(spec.root)}
    if spec.nulls:
        plain["nulls"] = dict(spec.nulls)
    if spec.left_out:
        plain["left_out"] = list(spec.left_out)
    if not spec.dense:
        plain["terminal"] = True
    if spec.reference:
        plain["reference"] = spec.reference
    return plain


def reward_from(plain: object, file: str = "reward") -> RewardSpec:
    """The reward that JSON values describe: one of `preset`, `weights` or `tree`, and what is done to it.

    `weights` maps part names to positive weights; `tree` nests `{"name", "weight", "children"}`; `format`
    adds the part `format` with that weight; `nulls` maps parts to what they are measured from; `terminal`
    pays everything at the end. Raises DataError naming the place.
    """
    if not isinstance(plain, Mapping):
        raise _wrong(file, "", plain, "an object")
    for key in plain:
        if key not in _KEYS:
            raise _wrong(file, show(key), "an unknown key", f"one of {', '.join(_KEYS)}", quote=False)
    made_of = [key for key in ("preset", "weights", "tree") if key in plain]
    if len(made_of) != 1:
        raise _wrong(
            file, "", ", ".join(made_of) or "none of them", "one of preset, weights, tree", quote=False
        )
    name = plain.get("name", Path(file).stem)
    if not isinstance(name, str) or not name:
        raise _wrong(file, "name", name, "a text")
    try:
        return _built(plain, name, file)
    except DataError:
        raise
    except (AttuneError, TypeError, ValueError) as error:
        raise DataError(Problem(file, "", str(error), "a reward", f"for example {EXAMPLE}")) from error


def _built(plain: Mapping[str, Any], name: str, file: str) -> RewardSpec:
    if "preset" in plain:
        spec = RewardSpec.preset(str(plain["preset"]))
        if len(plain) > 1:  # no longer the preset, so no longer its name
            spec = spec.renamed(name)
    elif "weights" in plain:
        spec = RewardSpec.weighted(name, _numbers(plain, "weights", file))
    else:
        root = _node(plain["tree"], "tree", file)
        extra = (Format(),) if "format" in root.leaves() else ()
        spec = RewardSpec(name, root, extra)
    if "format" in plain:
        weight = plain["format"]
        if type(weight) not in (int, float):
            raise _wrong(file, "format", weight, "the weight of the part format, a number above 0")
        spec = spec.with_format(weight)
        if "name" in plain:
            spec = spec.renamed(name)
    if not {"nulls", "left_out", "reference"}.isdisjoint(plain):
        # on top of what a preset has
        nulls = {**spec.nulls, **(_numbers(plain, "nulls", file) if "nulls" in plain else {})}
        left_out = _names(plain, "left_out", file) if "left_out" in plain else spec.left_out
        reference = plain.get("reference", spec.reference)
        if not isinstance(reference, str):
            raise _wrong(file, "reference", reference, "a text")
        kept = {part: null for part, null in nulls.items() if part not in left_out}
        spec = spec.measured_from(kept, reference, left_out)
    terminal = plain.get("terminal", False)
    if not isinstance(terminal, bool):
        raise _wrong(file, "terminal", terminal, "true or false")
    return spec.terminal() if terminal else spec


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


def _numbers(plain: Mapping[str, Any], key: str, file: str) -> dict[str, float]:
    found = plain[key]
    if not isinstance(found, Mapping):
        raise _wrong(file, key, found, "an object of parts and numbers")
    for part, number in found.items():
        if type(number) not in (int, float):
            raise _wrong(file, f"{key}.{part}", number, "a number")
    return dict(found)


def _names(plain: Mapping[str, Any], key: str, file: str) -> tuple[str, ...]:
    found = plain[key]
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise _wrong(file, key, found, "a list of part names")
    return tuple(found)


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
