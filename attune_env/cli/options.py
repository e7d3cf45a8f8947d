"""Options that several commands share, each defined once; `takes` lets a command take a group of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast, get_type_hints

import typer

from attune_data.errors import SettingsError, UnknownNameError

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_episodes.settings import Mode, Settings
    from attune_rewards.predictions import Stage

DATA, ASKED, SERVER, JUDGES = "Which conversations", "What is asked", "Models behind a server", "Judges"
"""Panels of the help."""
F = TypeVar("F", bound=Callable[..., Any])


def takes(command: F) -> F:
    """Let a command take dataclasses of options: each of their fields becomes an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        return command(**given)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            kept = parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
            parameters.append(kept)
            continue
        types = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name]
            )
            for one in fields(group)
        ]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del called.__wrapped__
    return cast("F", called)


def option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option of the command line."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


SkipInvalid = Annotated[
    bool, option("--skip-invalid", help="Leave out files that cannot be read, and say which.", panel=DATA)
]
Overwrite = Annotated[bool, option("--overwrite", help="Replace what an earlier call wrote there.")]
Seed = Annotated[int, option("--seed", help="Seed of all random draws.")]
DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="Folder of conversation_N.json, .json or .jsonl file, saved dataset, dataset name, or: sample.",
    ),
]
DataOption = Annotated[
    str, option("--data", "-d", metavar="PATH", help='The annotated conversations, or "sample".', panel=DATA)
]
ResultsOption = Annotated[Path, option("--results", "-r", metavar="FOLDER", help="Folder of result files.")]
WhereOption = Annotated[
    str | None,
    option(
        "--where", metavar="CONDITIONS", panel=DATA,
        help='Only conversations that meet them all: "diagnosis=ADHD|Anxiety,category=Family,who_5<13".',
    ),
]  # fmt: skip
NumberOption = Annotated[
    int | None,
    option("--number", "-n", min=1, help="Only the first N conversations (of those left).", panel=DATA),
]
ModeOption = Annotated[
    str, option("--mode", help="default, verbose, omniscient or verbose_omniscient.", panel=ASKED)
]
CodebookOption = Annotated[
    Path | None,
    option(
        "--codebook", metavar="FILE", panel=ASKED,
        help="Official annotation_codebook.json; by default the one beside the data, else our wording.",
    ),
]  # fmt: skip
PromptsOption = Annotated[
    str, option("--prompts", help="full, compact, or a folder of templates.", panel=ASKED)
]


@dataclass(frozen=True)
class Selection:
    """The conversations of a command's data that it is about."""

    where: WhereOption = None
    number: NumberOption = None
    skip_invalid: SkipInvalid = False

    def read(self, path: str, *, in_memory: bool = True) -> Conversations:
        """The chosen conversations of a path."""
        from attune_env.cli.common import read_data

        chosen = read_data(path, skip_invalid=self.skip_invalid, where=self.where, in_memory=in_memory)
        return chosen[: self.number]


@dataclass(frozen=True)
class Asking:
    """The settings that decide how a conversation is asked about, besides the mode."""

    panas_strategy: Annotated[
        Literal["absolute", "delta", "blind_delta"],
        option("--panas-strategy", help="How feelings afterwards are asked.", panel=ASKED),
    ] = "absolute"
    labels: Annotated[
        Literal["masked", "official"],
        option("--labels", help="masked hides which response is which.", panel=ASKED),
    ] = "masked"
    stages: Annotated[
        str | None,
        option(
            "--stages", help="Comma-separated subset of draft,assess,assess_hp,prefer,reflect.", panel=ASKED
        ),
    ] = None
    prompts: PromptsOption = "full"
    codebook: CodebookOption = None

    def settings(self, data: str, seed: int = 0, mode: Mode = "default") -> Settings:
        """The settings of an episode; the codebook beside the data is taken where none is given."""
        from attune_env.cli.common import find_codebook
        from attune_episodes.settings import Settings

        return Settings(
            mode=mode,
            stages=self._stages(),
            panas_strategy=self.panas_strategy,
            labels=self.labels,
            seed=seed,
            prompts=self.prompts,
            codebook=find_codebook(self.codebook, data),
        )

    def _stages(self) -> tuple[Stage, ...]:
        from attune_rewards.predictions import STAGES

        names = STAGES if self.stages is None else [name.strip() for name in self.stages.split(",")]
        for name in names:
            if name not in STAGES:
                raise UnknownNameError("stage", name, STAGES)
        return tuple(stage for stage in STAGES if stage in names)


@dataclass(frozen=True, repr=False)
class Server:
    """The options of models behind a server; None where not given. A key may be in it."""

    base_url: Annotated[
        str | None,
        option(
            "--base-url", metavar="URL", panel=SERVER,
            help="Address of the server: http://localhost:8000/v1 (vLLM, SGLang, llama.cpp, Ollama, …).",
        ),
    ] = None  # fmt: skip
    api_key: Annotated[
        str | None,
        option(
            "--api-key", metavar="KEY", panel=SERVER,
            help="The key. Others on this machine see it while the command runs: better set the variable.",
        ),
    ] = None  # fmt: skip
    api_key_var: Annotated[
        str | None,
        option(
            "--api-key-var", metavar="NAME", help="The environment variable that holds the key.", panel=SERVER
        ),
    ] = None
    concurrency: Annotated[
        int | None,
        option(
            "--concurrency", min=1, max=1024, panel=SERVER,
            help="Requests at once; fewer for a while when the server says it is too many. (16)",
        ),
    ] = None  # fmt: skip
    call_timeout: Annotated[
        float | None,
        option("--call-timeout", min=0.1, metavar="SECONDS", help="For one request. (300)", panel=SERVER),
    ] = None
    structured: Annotated[
        Literal["auto", "on", "off"] | None,
        option("--structured", help="auto: JSON schemas where the server takes them.", panel=SERVER),
    ] = None
    retries: Annotated[
        int | None,
        option(
            "--retries",
            min=0,
            max=100,
            help="Further attempts after a passing fault. (6)",
            panel=SERVER,
        ),
    ] = None
    reasks: Annotated[
        int | None,
        option(
            "--reasks",
            min=0,
            max=100,
            help="Further asks after an unreadable answer. (2)",
            panel=SERVER,
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        option("--max-calls", min=1, help="Stop after so many requests, retries included.", panel=SERVER),
    ] = None
    max_cost: Annotated[
        float | None,
        option("--max-cost", min=0.0, metavar="DOLLARS", help="Stop when so much is spent.", panel=SERVER),
    ] = None
    price_in: Annotated[
        float | None,
        option(
            "--price-in", metavar="DOLLARS", panel=SERVER,
            help="Per million tokens in, where the server tells no cost.",
        ),
    ] = None  # fmt: skip
    price_out: Annotated[
        float | None,
        option("--price-out", metavar="DOLLARS", help="Per million tokens out.", panel=SERVER),
    ] = None
    dry_run: Annotated[
        bool,
        option("--dry-run", help="Print how many calls and tokens it takes; send nothing.", panel=SERVER),
    ] = False


@dataclass(frozen=True)
class Drawn:
    """How a model behind a server draws its answers."""

    temperature: Annotated[
        float | None, option("--temperature", help="By default the server's own.", panel=SERVER)
    ] = None
    max_tokens: Annotated[
        int | None,
        option("--max-tokens", min=1, help="Longest answer. By default the server's own.", panel=SERVER),
    ] = None


JudgeModel = Annotated[
    list[str] | None,
    option(
        "--judge-model", metavar="MODEL", panel=JUDGES,
        help="Another model that rates each draft; may be given several times.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Judging:
    """The judges of drafts, and where they are."""

    judge_model: JudgeModel = None
    judge_provider: Annotated[
        str | None,
        option(
            "--judge-provider", metavar="PROVIDER", panel=JUDGES,
            help="Where the judges are, if not where the model is.",
        ),
    ] = None  # fmt: skip
    judge_base_url: Annotated[
        str | None,
        option("--judge-base-url", metavar="URL", help="Address of the judges' server.", panel=JUDGES),
    ] = None
    judge_api_key_var: Annotated[
        str | None,
        option(
            "--judge-api-key-var", metavar="NAME", panel=JUDGES,
            help="The variable that holds the judges' key.",
        ),
    ] = None  # fmt: skip


def refuse(provider: str, *groups: object) -> None:
    """Raises SettingsError where an option of servers is given for a provider that is none."""
    # by identity: a temperature of 0 is given too
    given = [
        f"--{name.replace('_', '-')}"
        for group in groups
        for name, value in vars(group).items()
        if value is not None and value is not False and value != []
    ]
    if given:
        raise SettingsError(f"{', '.join(given)}: only for models behind a server, not for {provider}")
