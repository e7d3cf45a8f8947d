"""The card of the Environments Hub: sections from the package's own definitions, README, docs and changelog.

Nothing is worded here that a page words already, so that the card is as true as they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from attune_data import load
from attune_data.selection.stats import describe
from attune_data.source.corpora import Corpus, corpora, corpus
from attune_data.version import SCORING_VERSION
from attune_episodes.frameworks.verifiers.arguments import (
    ENV_ID,
    AttuneHarnessConfig,
    AttuneTaskConfig,
    AttuneTasksetConfig,
)
from attune_rewards.metrics.tree import COMPOSITE, LEAF, LEAVES
from tools.pages import ROOT, table

ARGUMENTS: Final = {
    "env.taskset": AttuneTasksetConfig,
    "env.taskset.task.draft-judge": AttuneTaskConfig.model_fields["draft_judge"].annotation,
    "env.agent.harness": AttuneHarnessConfig,
}
"""Prefix of the flags -> the configuration that they set."""
WORDS: Final = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "table"}
"""Type of a field -> its name in the table of arguments."""
LINK: Final = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)\s]+\)|\[([^\]]+)\]\(#[^)\s]+\)")
"""A link that leads nowhere on the Hub: to a file of ours, or to a heading of another page."""

QUICK_START: Final = f"""
## Quick start

```console
prime env install OWNER/{ENV_ID}
vf-eval {ENV_ID} -m MODEL -n 3 -r 1 --no-push \\
  --client.base-url http://localhost:8000/v1 --client.api-key-var MY_KEY
```

This plays three conversations with any OpenAI-compatible server. Without `--client.*` it asks Prime
Inference; without `--no-push` it uploads the run, annotations included, to your private Evaluations
(`prime login` first).

verifiers announces the end of `vf-eval`. Where [prime-rl](https://github.com/PrimeIntellect-ai/prime-rl)
is installed, `uv run eval` takes its place, with the same `-m`, `-n`, `-r`, `-c`, `--client.*` and
`--env.*`. `prime eval run` evaluates on Prime's machines and nowhere else:

```console
uv run eval {ENV_ID} -m MODEL -n 3 -r 1 --client.base_url http://localhost:8000/v1
prime eval run OWNER/{ENV_ID} --hosted -m MODEL -n 3 -r 1
```

Single requests about the written corpus, with the reward meant for training:

```console
vf-eval {ENV_ID} -m MODEL -n 3 --env.taskset.data written --env.taskset.training true \\
  --env.taskset.granularity request --env.taskset.reward skill
```

`--env.taskset.data FOLDER` plays your own conversations.
"""
LICENCE: Final = (
    "## Licence\n\nCode MIT; the bundled conversations and the wording of the questions CC BY 4.0. "
    "AttuneBench's own conversations are not included, and its authors do not allow training on them."
)


def project(folder: Path) -> dict[str, Any]:
    """The project table of a folder's pyproject.toml."""
    declared: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return declared


def section(file: str, heading: str) -> str:
    """The text under a second-level heading of a Markdown file, up to the next heading of any level."""
    text = (ROOT / file).read_text("utf-8")
    under = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", text, re.DOTALL | re.MULTILINE)
    assert under, f"{file} has no section {heading!r}"
    return under[1].strip()


def cells(text: str) -> Iterator[list[str]]:
    """The rows of the tables in a text, without the lines under their heads."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def overview() -> str:
    """What the environment is called and what it needs."""
    declared = project(ROOT)
    (verifiers,) = (
        need for need in declared["optional-dependencies"]["verifiers"] if need.startswith("verifiers")
    )
    lines = {
        "Environment ID": f"`{ENV_ID}`",
        "Short description": declared["description"],
        "Tags": ", ".join(declared["tags"]),
        "Version": f"{declared['version']}, scoring `{SCORING_VERSION}`",
        "Requires": f"`{verifiers}` (its v1 API), Python {declared['requires-python']}",
    }
    lines |= {name: f"<{url}>" for name, url in declared.get("urls", {}).items()}
    return "## Overview\n\n" + "\n".join(f"- **{name}**: {text}" for name, text in lines.items())


def datasets() -> str:
    """The bundled data, counted."""
    rows = [row for name in corpora() for row in _splits(corpus(name))]
    heads = ("`--env.taskset.data`", "for", "conversations", "turns", "participants")
    return f"## Datasets\n\n{table(heads, rows)}\n{_datasheet()['Data']}"


def _splits(one: Corpus) -> Iterator[list[str]]:
    for name in [f"{one.name}:{split}" for split in one.splits] or [one.name]:
        held = describe(load(name))
        kept = one.training is not None and name != f"{one.name}:{one.training}"
        use = "evaluation only" if kept else "training" if one.training else "trying things out"
        yield [f"`{name}`", use, *(str(held[count]) for count in ("conversations", "turns", "participants"))]


def _datasheet() -> dict[str, str]:
    return {row[0]: row[1] for row in cells(section("docs/index.md", "Datasheet"))}


def task() -> str:
    """What the model does, and how its replies become a reward."""
    sheet = _datasheet()
    lines = {
        "Type": "single agent; an episode is a conversation, played as independent requests, or (with "
        "`--env.taskset.granularity request`) one of these requests",
        "Observation": sheet["Observation"].partition(" In Gymnasium")[0],
        **{name: sheet[name] for name in ("Action", "End of an episode")},
        "Parser": "one JSON object per reply, also inside prose, code fences or reasoning; each request has "
        "a schema, and an unreadable reply a reason code",
        "Rubric": sheet["Reward"],
    }
    return "## Task\n\n" + "\n".join(f"- **{name}**: {text}" for name, text in lines.items())


def arguments() -> str:
    """Each flag with its type, its default and what it means."""
    rows = []
    for prefix, config in ARGUMENTS.items():
        assert isinstance(config, type)
        assert issubclass(config, BaseModel)
        for name in (name for name in config.model_fields if name in config.__annotations__):
            field = config.model_fields[name]
            default = field.get_default(call_default_factory=True)
            if name == "id" or isinstance(default, BaseModel):
                continue
            shown = "" if default is None else f"`{json.dumps(default)}`"
            meaning = " ".join((field.description or "").split())
            rows.append((f"`--{prefix}.{name.replace('_', '-')}`", typed(field.annotation), shown, meaning))
    heads = ("argument", "type", "default", "meaning")
    return (
        f"## Environment arguments\n\n{table(heads, rows)}\nAn empty default means: not set. For the judge's "
        f"other fields, and everything else that verifiers takes, see `vf-eval {ENV_ID} --help`."
    )


def typed(annotation: Any) -> str:
    """The type of a field in words."""
    inner = [one for one in get_args(annotation) if one is not NoneType]
    origin = get_origin(annotation) or annotation
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin is list:
        return f"list of {typed(inner[0])}"
    return WORDS[origin] if origin in WORDS else " or ".join(map(typed, inner))


def metrics() -> str:
    """Each reward and metric of a trace with its meaning; those of parts from their registry."""
    page = list(cells(section("docs/verifiers.md", "What comes back")))
    (place,) = (number for number, row in enumerate(page) if "`emotion_f1`" in row[0])
    parts = [
        (f"`{name}`", LEAF[name].text.what, LEAF[name].text.formula, f"{100 * share:.4g}%")
        for name, share in COMPOSITE.weights(LEAVES).items()
    ]
    before, after = ([(*row, "", "") for row in rows] for rows in (page[1:place], page[place + 1 :]))
    heads = ("name", "meaning", "value", "share of the reward")
    return (
        f"## Metrics\n\n{table(heads, [*before, *parts, *after])}\nParts, which have a share, are means "
        "over the requests that score them; the shares are those of a conversation with all annotations."
    )


def baselines() -> str:
    """The README's table of what a score is worth."""
    shown = section("README.md", "What a score is worth").partition("Four more things")[0]
    return f"## Baselines\n\n{shown.strip()}"


def limits() -> str:
    """Known limits: the README's, those of the metrics, and those of the adapter."""
    readme, page = ((ROOT / file).read_text("utf-8") for file in ("README.md", "docs/verifiers.md"))
    lines = [
        _paragraph(readme, "**Not there yet.** ").replace("**Not there yet.** ", ""),
        _paragraph(page, "`vf-eval`'s summary counts"),
        f"Not suitable for: {_datasheet()['Not suitable for'][0].lower()}"
        f"{_datasheet()['Not suitable for'][1:]}",
    ]
    return (
        "## Known limits\n\n"
        + "\n".join(f"* {line}" for line in lines)
        + "\n"
        + section("docs/verifiers.md", "Limits")
    )


def _paragraph(text: str, start: str) -> str:
    begun = text.index(f"\n{start}") + 1
    return " ".join(text[begun : text.index("\n\n", begun)].split())


def changelog() -> str:
    """Each version of the changelog: what it adds, by name, and which scores it moves, by first sentence."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    lines = []
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = version.partition("\n")
        added = [name.rstrip(".") for name in re.findall(r"^- \*\*(.+?)\*\*", rest, re.MULTILINE)]
        lines.append(f"- **{title}.** Added: {'; '.join(added)}.")
        moved = rest.partition("### Moved scores and constants")[2].partition("\n### ")[0]
        entries = (" ".join(entry.split()) for entry in re.split(r"^- ", moved, flags=re.MULTILINE)[1:])
        lines += [f"  - {re.split(r'(?<=[.]) (?=[A-Z])', entry)[0]}" for entry in entries]
    return "## Changelog\n\n" + "\n".join(lines)


def card(examples: str = "") -> str:
    """The README of the environment, with a section about its example outputs if there are any."""
    text = (ROOT / "README.md").read_text("utf-8")
    opening = text[: text.index("\n![")].replace("# attune-env\n", "", 1).strip()
    parts = [
        f"# {ENV_ID}", opening, overview(), datasets(), task(), QUICK_START, arguments(), metrics(),
        baselines(), examples, limits(), changelog(), LICENCE,
    ]  # fmt: skip
    shown = "\n\n".join(part.strip() for part in parts if part)
    return LINK.sub(lambda link: link[1] or link[2], shown) + "\n"
