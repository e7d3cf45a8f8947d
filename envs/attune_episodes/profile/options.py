"""Your own option lists: a file with the options that a questionnaire offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from attune_data.errors import DataError, Problem, show
from attune_data.jsonio import read_json
from attune_data.selection.diagnoses import DECLINED, NONE, folded
from attune_episodes.profile.fields import MAX_LIST, MAX_TEXT, Form


def read_options(path: Path) -> Form:
    """The usual form with the option lists of a JSON file: `{"gender": ["Female", …], "diagnoses": […]}`.

    Fields that the file does not name keep their own lists. Raises DataError with everything that is wrong.
    """
    return form_with(read_json(path), str(path))


def form_with(options: Any, source: str) -> Form:
    """`read_options` of a value; `source` names it in problems."""
    form = Form()
    known = [field.name for field in form.optional]
    if not isinstance(options, Mapping):
        raise DataError(Problem(source, "", show(options), '{"field": ["option", …]}'))
    problems = []
    for name, values in options.items():
        if name not in known:
            expected = f"one of {', '.join(known)}"
            problems.append(Problem(source, str(name), "no field with options", expected))
        elif wrong := _wrong(values):
            problems.append(
                Problem(source, name, wrong, f"2 to {MAX_LIST} different texts of 1 to {MAX_TEXT} characters",
                        'leave out what states nothing, such as "Prefer not to say" and "None of the above"')
            )  # fmt: skip
    if problems:
        raise DataError(problems)
    choices = tuple(
        replace(field, options=tuple(options[field.name])) if field.name in options else field
        for field in form.choices
    )
    diagnoses = replace(form.diagnoses, options=tuple(options.get("diagnoses", form.diagnoses.options)))
    return Form(choices, diagnoses, form.numbers)


def _wrong(values: object) -> str:
    """The fault of a list of options; "" where nothing is."""
    if not isinstance(values, (list, tuple)) or not 2 <= len(values) <= MAX_LIST:
        return show(values)
    for value in values:
        if not isinstance(value, str) or not 0 < len(value.strip()) <= MAX_TEXT:
            return show(value)
        if folded(value) in NONE | DECLINED:
            return show(value)
    keys = [folded(value) for value in values]
    twice = next((value for value, key in zip(values, keys, strict=True) if keys.count(key) > 1), None)
    return f"{show(twice)} twice" if twice is not None else ""
