"""Options that several commands share, each defined once, and groups of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attune_data.errors import SettingsError
from attune_data.source.corpora import corpora
from attune_env.cli.options import ASKED, CHOSEN, JUDGES, NEEDED, SERVER, argument, option

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_episodes.protocol.settings import Settings

CORPORA = " or ".join(corpora())
"""The named corpora, for help."""
SKIP_INVALID = option(
    "Leave out files, records and rows that cannot be used, and list them.", False, panel=CHOSEN
)
OVERWRITE_REPORT = option(
    "Write into a folder that has other files too, replacing those with a report's names; an earlier report "
    "is always replaced.",
    False,
)
OVERWRITE_FILE = option(
    "Replace the file even if this command did not write it; its own earlier file is always replaced.", False
)
SCORES_ARGUMENT = argument("Scores files written by `attune score`; several are combined.", "SCORES", None)
SCORES = option("The same, as an option.", None, "-s", metavar="PATH")
RECORDED_DATA = option(
    "The annotated conversations; by default, those that the scores were computed from.",
    None,
    "-d",
    metavar="PATH",
)
FORMATS = option("With -o: the figures' formats; may be repeated. By default, only svg.")
SEED = option("Seed for all random draws.", 0)
DATA_ARGUMENT = argument(
    "Folder of conversation_N.json files, .json, .jsonl or .parquet file, saved dataset, dataset name, "
    f"{CORPORA}.",
    "PATH",
)
DATA = option(f"The annotated conversations: a path, {CORPORA}.", NEEDED, "-d", metavar="PATH", panel=CHOSEN)
RESULTS = option("Folder of result files.", NEEDED, "-r", metavar="FOLDER")
WHERE = option(
    'Use only conversations that meet all conditions: "diagnosis=ADHD|Anxiety,category=Family,who_5<13".',
    metavar="CONDITIONS",
    panel=CHOSEN,
)
NUMBER = option("Use only the first N of the selected conversations.", None, "-n", min=1, panel=CHOSEN)
CODEBOOK = option(
    "Official annotation_codebook.json; by default, the one next to the data, or else our wording.",
    metavar="FILE",
    panel=ASKED,
)
PROMPTS = option("full, compact, or a folder of templates.", "full", panel=ASKED)
MODES = option(
    "One or more of default, verbose, omniscient and verbose_omniscient, separated by spaces; or all.",
    panel=ASKED,
)
LABELS_SEED = option(
    "Seed for the labels and the order of what is compared, and for the random policy (default 0).",
    panel=ASKED,
)
SAMPLES = option(
    "Send each request this many times; each sample gets its own result files.",
    panel=SERVER,
    min=1,
    max=1000,
)
JUDGE_MODEL = option("Another model that rates each draft; may be repeated.", metavar="MODEL", panel=JUDGES)
Scoring = Literal["canonical", "strict"]
RESAMPLE = option(
    "Unit of the bootstrap; auto: participants, if any of them has several conversations.", "auto"
)
Resampled = Literal["auto", "conversation", "participant"]
BOOTSTRAP_SEED = option("Seed for the bootstrap.", 0)
Format = StrEnum("Format", ["svg", "png", "pdf"])
"""Formats of figures; Typer accepts no list of a Literal."""


@dataclass(frozen=True)
class Selection:
    """Which conversations of its data a command uses."""

    where: str | None = WHERE
    number: int | None = NUMBER
    skip_invalid: bool = SKIP_INVALID

    def read(self, path: str, *, in_memory: bool = True) -> Conversations:
        """The chosen conversations of a path."""
        from attune_env.cli.common import read_data

        chosen = read_data(path, skip_invalid=self.skip_invalid, where=self.where, in_memory=in_memory)
        return chosen[: self.number]


@dataclass(frozen=True)
class Asking:
    """The settings, besides the mode, that determine how a conversation is asked about."""

    panas_strategy: Literal["absolute", "delta", "blind_delta"] = option(
        "How to ask for the feelings after the conversation.", "absolute", panel=ASKED
    )
    labels: Literal["masked", "official"] = option(
        "masked hides which response is which.", "masked", panel=ASKED
    )
    stages: str | None = option(
        "Comma-separated subset of draft, assess, assess_hp (the yes/no questions again, as worded for the "
        "person), prefer and reflect; by default, all.",
        panel=ASKED,
    )
    prompts: str = PROMPTS
    codebook: Path | None = CODEBOOK

    def settings(self, data: str, seed: int = 0, mode: str = "default") -> Settings:
        """The settings of an episode; by default, the codebook next to the data is used."""
        from attune_env.cli.common import find_codebook
        from attune_episodes.protocol.settings import Settings
        from attune_rewards.predictions import STAGES

        stages = STAGES if self.stages is None else tuple(name.strip() for name in self.stages.split(","))
        book = find_codebook(self.codebook, data)
        return Settings(**{**vars(self), "stages": stages, "codebook": book, "seed": seed, "mode": mode})


_server = partial(option, panel=SERVER)


@dataclass(frozen=True, repr=False)
class Server:
    """The options of models behind a server; None if not given. It may contain a key."""

    base_url: str | None = _server(
        "Address of the server, such as http://localhost:8000/v1 (vLLM, SGLang, llama.cpp, Ollama, …).",
        metavar="URL",
    )
    api_key: str | None = _server(
        "The key. Other users of this machine can see it while the command runs; prefer --api-key-var.",
        metavar="KEY",
    )
    api_key_var: str | None = _server(
        "Name of the environment variable that contains the key.", metavar="NAME"
    )
    concurrency: int | None = _server(
        "Maximum requests in flight; temporarily lowered after status 429. (default 16)", min=1, max=1024
    )
    call_timeout: float | None = _server(
        "Time limit for one request. (default 300)", min=0.1, metavar="SECONDS"
    )
    structured: Literal["auto", "on", "off"] | None = _server(
        "auto: use JSON schemas if the server accepts them."
    )
    extra_body: str | None = _server(
        "Further fields of each request, as a JSON object; recorded with the results.", metavar="JSON"
    )
    system_as_user: bool = _server(
        "For models without a system role: put the system message before the first user message.", False
    )
    finish_ok: list[str] | None = _server(
        "A finish reason of the server that is not known but means a whole answer; may be repeated.",
        metavar="NAME",
    )
    retries: int | None = _server("Retries after a transient failure. (default 6)", min=0, max=100)
    reasks: int | None = _server(
        "How many times to ask again after an unreadable answer. (default 2)", min=0, max=100
    )
    max_calls: int | None = _server("Stop after this many requests, retries included.", min=1)
    max_cost: float | None = _server("Stop when this much has been spent.", min=0.0, metavar="DOLLARS")
    price_in: float | None = _server(
        "Price per million input tokens, if the server reports no cost.", metavar="DOLLARS"
    )
    price_out: float | None = _server("Price per million output tokens.", metavar="DOLLARS")
    dry_run: bool = _server("Print how many calls and tokens the run would need; send nothing.", False)


@dataclass(frozen=True)
class Drawn:
    """How a model behind a server samples its answers."""

    temperature: float | None = _server("Sampling temperature; by default, the server's.")
    max_tokens: int | None = _server(
        "Maximum length of an answer in tokens; by default, the server's.", min=1
    )
    sampling_seed: int | None = _server(
        "Send a seed with each call, derived from this number; by default, none is sent."
    )


@dataclass(frozen=True)
class Judging:
    """The judges of drafts, and where they are."""

    judge_model: list[str] | None = JUDGE_MODEL
    judge_provider: str | None = option(
        "Provider of the judges, if different from the model's.", metavar="PROVIDER", panel=JUDGES
    )
    judge_base_url: str | None = option("Address of the judges' server.", metavar="URL", panel=JUDGES)
    judge_api_key_var: str | None = option(
        "Name of the environment variable that contains the judges' key.", metavar="NAME", panel=JUDGES
    )


def refuse(provider: str, *groups: object) -> None:
    """Raise SettingsError if an option for servers is given with a provider that is not a server."""
    # by identity, since a temperature of 0 counts as given
    given = [
        f"--{name.replace('_', '-')}"
        for group in groups
        for name, value in vars(group).items()
        if value is not None and value is not False and value != []
    ]
    if given:
        raise SettingsError(f"{', '.join(given)}: only for models behind a server, not for {provider}")
