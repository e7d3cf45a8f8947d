"""Build the documentation site: the pages of docs/, the files they link to, and every public name.

    python -m tools.build_site [FOLDER]      (`make docs`; the folder is site/ unless another is named)

The pages are Markdown, readable where it lies. Their links out of docs/ lead to pages made of those files.
A page in none of the groups below, a dead link and a broken docstring are errors.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from sphinx.cmd.build import build_main

from attune_env.cli import app
from attune_env.report.analyses import CHAPTERS
from attune_env.schemas import SCHEMAS, json_schema
from attune_episodes.policies import POLICIES
from attune_rewards.reward.presets import REWARDS
from tools.pages import DOCS, ROOT, table

PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
GROUPS = {
    "Start": "protocol data study people data-cards ladder",
    "Evaluate": "evaluate policies report migration draft-judge lm-eval inspect verifiers profile-prediction",
    "Train": "training trl learning trainers openenv gymnasium",
    "Understand": "rewards custom-reward audit statistics performance",
    "Reference": "gallery commands metrics formats schemas importing python",
    "Develop": "CONTRIBUTING testing examples releasing SECURITY CHANGELOG",
}
"""Heading of the navigation -> its pages, in order."""
FIRST = ("attune_env", "attune_episodes", "attune_rewards", "attune_data")
"""Packages that document a public name before any other that exports it."""
ENVIRONMENTS = (
    (
        "Attune/Conversation-v0",
        "Gymnasium",
        "envs/attune_episodes/frameworks/gymnasium/env.py:ConversationEnv",
    ),
    (
        "attune-env",
        "verifiers, prime-rl, the Environments Hub",
        "envs/attune_episodes/frameworks/verifiers/run.py:AttuneEnv",
    ),
    ("attune_env/attune", "Inspect", "attune_env/inspect_task/tasks.py:attune"),
    (
        "attune serve openenv",
        "OpenEnv",
        "envs/attune_episodes/frameworks/openenv/env.py:AttuneEnvironment",
    ),
)
"""Name, framework, and where the docstring stands."""
SOURCES = (".", "envs", "rewards", "data")
OPTION = re.compile(r"(?<![\w`-])(--[a-z-]+)")
"""An option in a text, whose hyphens the site would join to a dash."""


def public_packages() -> list[ModuleType]:
    """The packages that name their public members in `__all__`: the four floors, then what lies in them."""
    inits = [
        ".".join(path.parent.relative_to(ROOT / floor).parts)
        for floor in SOURCES
        for path in sorted((ROOT / floor).glob("attune_*/**/__init__.py"))
        if "__all__ = " in path.read_text(encoding="utf-8")
    ]
    return [
        importlib.import_module(name) for name in (*FIRST, *(name for name in inits if name not in FIRST))
    ]


def reference() -> Iterator[tuple[str, str]]:
    """(path, text) of a page per package; a name is documented on the first page that exports it."""
    homes: dict[int, str] = {}
    packages = public_packages()
    for package in packages:
        name = package.__name__
        own, other = [], []
        for member in (member for member in package.__all__ if not member.startswith("__")):
            try:
                value = getattr(package, member)
            except ImportError:
                other.append(f"* ``{member}``, where its extra is installed")
                continue
            shared = not isinstance(value, str | int | float | tuple | ModuleType)
            if shared and id(value) in homes:
                other.append(f"* :py:obj:`{homes[id(value)]}`")
            else:
                homes[id(value)] = f"{name}.{member}"
                own.append(member)
        text = f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n"
        text += f"   :members: {', '.join(own)}\n   :imported-members:\n" if own else ""
        text += "\n".join(["", "Also exported:", "", *other, ""]) if other else ""
        yield f"reference/{name}.rst", text
    listed = "\n".join(f"reference/{package.__name__}" for package in packages)
    yield "python.md", f"# Python reference\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"


def examples() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of a page per file in examples/, and of the page that lists them."""
    names = []
    for path in sorted((ROOT / "examples").rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.suffix == ".md":
            yield name, linked(name)
            names.append(name.removesuffix(".md"))
        elif path.suffix in (".py", ".toml") and path.name != "__init__.py":
            code = path.read_text(encoding="utf-8")
            yield f"{name}.md", f"# {name}\n\n```{path.suffix[1:].replace('py', 'python')}\n{code}```\n"
            names.append(name)
    yield "examples.md", "# Examples\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n"


def first_line(defined: str) -> str:
    """The first line of the docstring of `FILE:NAME`, from the source: extras need not be installed."""
    path, _, name = defined.partition(":")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    (node,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
    ]
    return (ast.get_docstring(node) or "").partition("\n")[0]


def gallery() -> str:
    """Markdown of the page that lists environments, rewards, baselines and analyses by their definitions."""
    environments = [(f"`{name}`", use, first_line(defined)) for name, use, defined in ENVIRONMENTS]
    rewards = [(f"`{name}`", preset.text) for name, preset in REWARDS.items()]
    baselines = [(f"`{name}`", one.kind, one.uses) for name, one in POLICIES.items()]
    analyses = [(one.title, one.question) for _, chapter in CHAPTERS for one in chapter]
    return "\n\n".join(
        [
            "# Gallery",
            "Everything that has a name, from its definition.",
            "## Environments\n\n" + table(("id", "for", "what"), environments),
            "## Rewards\n\n" + table(("preset", "what it rewards"), rewards),
            "## Built-in policies\n\n" + table(("policy", "kind", "what it uses"), baselines),
            "## Analyses in a report\n\n" + table(("analysis", "question"), analyses),
        ]
    )


def commands() -> str:
    """Markdown of the page that lists every command with its arguments and options, from the command line."""
    blocks = ["# Commands", "What `attune COMMAND --help` says of each command."]
    told: list[tuple[str, Any]] = [("attune", typer.main.get_command(app))]
    while told:
        name, command = told.pop(0)
        told[:0] = [(f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items()]
        if hasattr(command, "commands"):
            continue
        with command.make_context(name, [], resilient_parsing=True) as context:
            rows = [
                (
                    f"`{term.partition('  ')[0]}`",
                    OPTION.sub(r"`\1`", " ".join(text.split()).replace("|", "\\|")),
                )
                for term, text in (one.get_help_record(context) or ("", "") for one in command.params)
                if term and term != "--help"
            ]
        about = " ".join((command.help or "").partition("\n\n")[0].split())
        blocks += [f"## {name}", about, table(("argument or option", "what it does"), rows)]
    return "\n\n".join(blocks)


def schemas(folder: Path) -> str:
    """Markdown of the page that leads to the JSON Schemas, which it writes to `schemas/` in a folder."""
    (folder / "schemas").mkdir(parents=True)
    rows = []
    for name, schema in SCHEMAS.items():
        path = f"schemas/{name}.json"
        (folder / path).write_text(json.dumps(json_schema(name), indent=1) + "\n", encoding="utf-8")
        rows.append((f'<a href="{path}">{name}.json</a>', schema.about))
    about = "Draft 2020-12, of the [file formats](formats.md). `attune data schema NAME` prints one."
    return "\n\n".join(["# JSON Schemas", about, table(("schema", "files"), rows)])


def place(path: str) -> str | None:
    """Where a file of the checkout stands in the site; None if it is not in it."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("examples/"):
        return path if path.endswith(".md") else f"{path}.md"
    return path if path in PROJECT else None


def linked(path: str) -> str:
    """The Markdown of a file; a relative link leads to the target's page, or is plain text if it has none."""
    folder = os.path.dirname(place(path) or "")

    def inside(match: re.Match[str]) -> str:
        text, target, anchor = match.groups()
        found = place(os.path.normpath(f"{os.path.dirname(path)}/{target}"))
        return text if found is None else f"{text}({os.path.relpath(found, folder)}{anchor})"

    content = (ROOT / path).read_text(encoding="utf-8")
    return re.sub(r"(\[[^\]]+\])\((?!https?:|#)([^)#\s]+)([^)\s]*)\)", inside, content)


def write_source(folder: Path) -> None:
    """Writes what Sphinx reads: pages of docs/, of the checkout, of the examples and of the public names."""
    shutil.copytree(DOCS / "images", folder / "images")
    shutil.copy(DOCS / "conf.py", folder)
    pages = {page.name: linked(f"docs/{page.name}") for page in DOCS.glob("*.md")}
    pages |= {name: linked(name) for name in PROJECT}
    pages |= {"gallery.md": gallery(), "commands.md": commands(), "schemas.md": schemas(folder / "extra")}
    pages |= dict((*examples(), *reference()))
    for caption, names in GROUPS.items():
        entries = names.replace(" ", "\n")
        pages["index.md"] += f"\n```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{entries}\n```\n"
    for name, content in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def main(target: str = "site") -> int:
    """Builds the site; not 0 if anything in it is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        write_source(Path(folder))
        return int(build_main(["-q", "-W", "--keep-going", "-b", "html", folder, target]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
