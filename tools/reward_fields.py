"""Write into docs/custom-reward.md the example, and the fields that a part of your own receives.

The tables are made from the classes' own docstrings. `catalogue` writes them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import fields

from attune_rewards.predictions import PREDICTION_OF, Tag
from attune_rewards.truth import ConversationTruth, TurnTruth
from tools.pages import ROOT, table


def example() -> str:
    """The example, without what it does when it is run."""
    code = (ROOT / "examples" / "custom_reward.py").read_text("utf-8")
    return f"```python\n{code.partition('if __name__')[0].strip()}\n```\n"


def truths() -> str:
    """The fields of both truths."""
    return _tables((f"`{one.__name__}`", one) for one in (ConversationTruth, TurnTruth))


def predictions() -> str:
    """The fields of what is said, stage by stage, and of a tag; not those that are as in another class."""
    said = ((f"`{one.__name__}`, in stage `{stage}`", one) for stage, one in PREDICTION_OF.items())
    return _tables((*said, ("`Tag`", Tag)))


def _tables(named: Iterable[tuple[str, type]]) -> str:
    rows = (
        (title, [row for row in described(one) if not row[2].startswith("As in `")]) for title, one in named
    )
    made = (f"**{title}**\n\n{table(('field', 'type', 'what it is'), of)}" for title, of in rows if of)
    return "\n".join(made)


def described(one: type) -> Iterator[tuple[str, str, str]]:
    """(name, type, docstring) of each field of a dataclass; KeyError for one that has no docstring."""
    (definition,) = ast.parse(inspect.getsource(one)).body
    if not isinstance(definition, ast.ClassDef):
        raise TypeError(f"{one} is not a class")
    body, texts, types = definition.body, {}, {}
    for line, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            types[line.target.id] = ast.unparse(line.annotation)
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                texts[line.target.id] = " ".join(str(after.value.value).split())
    for field in fields(one):
        yield f"`{field.name}`", f"`{types[field.name]}`", texts[field.name]
