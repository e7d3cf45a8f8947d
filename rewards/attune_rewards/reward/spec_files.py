"""Read rewards: a preset's name, a JSON description, or Python that makes a `RewardSpec`."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, UnknownNameError
from attune_data.format.validate import problems_of
from attune_data.jsonio import read_json
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.tree import Node
from attune_rewards.reward.parts import CustomPart, Format
from attune_rewards.reward.presets import REWARDS
from attune_rewards.reward.presets.canonical import CANONICAL
from attune_rewards.reward.spec import RewardSpec, weight_of

_NAMED: Final[Mapping[str, Part]] = {**{part.name: part for part in CANONICAL}, "format": Format()}
"""Parts other than leaves that a file can name."""
EXAMPLE: Final = '{"name": "reading", "weights": {"emotion_va": 2, "binary_hp": 1}, "format": 0.1}'


class _Tree(BaseModel):
    name: StrictStr
    weight: Any = 1.0
    children: list[_Tree] = []

    @property
    def node(self) -> Node:
        return Node(
            self.name, weight_of(self.name, self.weight), tuple(child.node for child in self.children)
        )


class _File(BaseModel):
    """The keys of a file; the spec checks the numbers."""

    model_config = ConfigDict(extra="forbid")
    name: StrictStr = ""
    preset: StrictStr | None = None
    weights: dict[str, Any] | None = None
    tree: _Tree | None = None
    format: Any = None
    baselines: dict[str, Any] = Field({}, validation_alias=AliasChoices("baselines", "nulls"))
    left_out: tuple[StrictStr, ...] | None = None
    floor: Any = None
    terminal: StrictBool = False
    reference: StrictStr | None = None

    def spec(self, name: str) -> RewardSpec:
        """Build the reward; `name` is used if the file does not state one."""
        made_of = [key for key in ("preset", "weights", "tree") if getattr(self, key) is not None]
        if len(made_of) != 1:
            raise SettingsError(f"{', '.join(made_of) or 'none'} of preset, weights, tree; give one of them")
        name = self.name or name
        if self.preset is not None:
            spec = RewardSpec.preset(self.preset)
            if len(self.model_fields_set) > 1:
                spec = spec.renamed(name)  # no longer the preset, so it cannot have its name
        elif self.weights is not None:
            spec = RewardSpec.weighted(name, self.weights)
        elif self.tree is not None:
            root = self.tree.node
            spec = RewardSpec(name, root, tuple(_NAMED[leaf] for leaf in root.leaves() if leaf in _NAMED))
        if self.format is not None:
            spec = spec.with_format(self.format)
            spec = spec.renamed(self.name or spec.name)
        left_out = spec.left_out if self.left_out is None else self.left_out
        baselines = {**spec.baselines, **self.baselines}  # in addition to those of a preset
        return replace(
            spec,
            baselines={part: baseline for part, baseline in baselines.items() if part not in left_out},
            left_out=left_out,
            reference=spec.reference if self.reference is None else self.reference,
            floor=spec.floor if self.floor is None else self.floor,
            dense=not self.terminal,
        )


def read_reward(source: str, *, also: Iterable[str] = ()) -> RewardSpec:
    """Get a reward by preset name, from a file, or from a module.

    Args:
        source: the name of a preset; a `.json` file written by `describe_reward` or in one of its short
            forms; a `.py` file, followed by `:NAME` if it defines several; or `module:NAME`, an importable
            module. Python is executed, so read it first.
        also: other names that the caller accepts, for the error message.

    Raises UnknownNameError if it is none of these, DataError for a file or module that does not describe a
    reward, SettingsError for one that describes an impossible reward.
    """
    if source in REWARDS:
        return RewardSpec.preset(source)
    path, _, name = source.rpartition(":") if ".py:" in source.lower() else (source, "", "")
    if path.lower().endswith(".py"):
        return _from_python(Path(path), name)
    if path.lower().endswith(".json"):
        return reward_from(read_json(Path(path)), path)
    module, _, name = source.partition(":")
    if name.isidentifier() and all(map(str.isidentifier, module.split("."))):
        return _from_module(module, name)
    raise UnknownNameError("reward preset (or .json or .py file, or module:NAME)", source, (*REWARDS, *also))


def describe_reward(spec: RewardSpec) -> dict[str, Any]:
    """Describe a reward as JSON values, from which `reward_from` restores it.

    Raises SettingsError for custom parts, since they are Python functions.
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
        "baselines": {part: float(baseline) for part, baseline in spec.baselines.items()},
        "left_out": list(spec.left_out),
        "floor": spec.floor,
        "terminal": not spec.dense,
        "reference": spec.reference,
    }
    return {key: value for key, value in plain.items() if value or (value == 0.0 and key == "floor")}


def _plain(node: Node) -> dict[str, Any]:
    children = {"children": [_plain(child) for child in node.children]} if node.children else {}
    return {"name": node.name, "weight": node.weight, **children}


def reward_from(plain: object, file: str = "reward") -> RewardSpec:
    """Build a reward from JSON values: one of `preset`, `weights` or `tree`, with optional changes.

    `weights` maps part names to positive weights; `tree` nests `{"name", "weight", "children"}`; `format`
    adds the part `format` with that weight; `baselines` (in older files, `nulls`) maps parts to their
    baselines, and `floor` is the lowest value of such a part; `terminal` gives the whole reward at the end.
    Raises DataError naming the place.
    """
    advice = f"for example {EXAMPLE}"
    try:
        return _File.model_validate(plain).spec(Path(file).stem)
    except ValidationError as error:
        raise DataError(problems_of(error, file, advice=advice)) from error
    except (AttuneError, TypeError, ValueError) as error:
        raise DataError(Problem(file, "", str(error), "a reward", advice)) from error


def _from_python(path: Path, name: str) -> RewardSpec:
    """The spec defined by a Python file: the one named, otherwise `reward`, otherwise the only one."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise DataError(Problem(str(path), "", found, "a Python file that makes a RewardSpec"))
    sys.path.insert(0, str(path.resolve().parent))  # like `python FILE`: its folder is importable
    try:
        made = runpy.run_path(str(path), run_name="attune_reward")
    except (Exception, SystemExit) as error:  # also SystemExit, which would look like success
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        place, found = f"line {line}" if line else "", f"{type(error).__name__}: {error}"
        raise DataError(
            Problem(str(path), place, found, "Python that runs", f"try: python {path.name}")
        ) from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return _chosen(made, name, str(path), str(path.resolve()))


def _from_module(module: str, name: str) -> RewardSpec:
    """The spec of that name in a module, which is imported."""
    try:
        made = vars(import_module(module))
    except (Exception, SystemExit) as error:
        found = f"{type(error).__name__}: {error}"
        advice = "is its folder on PYTHONPATH? A file is given as FILE.py"
        raise DataError(
            Problem(f"{module}:{name}", "", found, "a module that can be imported", advice)
        ) from error
    return _chosen(made, name, module, module)


def _chosen(made: Mapping[str, Any], name: str, place: str, source: str) -> RewardSpec:
    """One of the specs that Python made; its custom parts keep what they were read from."""
    specs = {key: value for key, value in made.items() if isinstance(value, RewardSpec)}
    wanted = name or ("reward" if "reward" in specs or len(specs) != 1 else next(iter(specs)))
    if wanted not in specs:
        found = ", ".join(specs) or "no RewardSpec"
        raise DataError(Problem(place, "", found, f"a RewardSpec named {wanted}", f"name one: {place}:NAME"))
    spec = specs[wanted]
    extra = tuple(
        replace(part, again=part.again or partial(_part, f"{source}:{wanted}", part.name))
        if isinstance(part, CustomPart)
        else part
        for part in spec.extra
    )
    return replace(spec, extra=extra)


@cache
def _part(source: str, name: str) -> Part:
    """A part of the reward that a file or a module makes."""
    return next(part for part in read_reward(source).extra if part.name == name)
