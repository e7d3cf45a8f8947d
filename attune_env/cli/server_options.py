"""The options of `attune run` that only models behind a server have."""

from __future__ import annotations

from typing import Annotated

import typer

SERVER = "Models behind a server"
"""Their place in the help."""

JudgeModel = Annotated[
    list[str] | None,
    typer.Option(
        "--judge-model",
        metavar="MODEL",
        help="Another model that rates each draft; may be given several times.",
        rich_help_panel=SERVER,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Address of the server: http://localhost:8000/v1 (vLLM, SGLang, llama.cpp, Ollama, …).",
        rich_help_panel=SERVER,
    ),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        metavar="KEY",
        help="The key. Others on this machine see it while the command runs: better set the variable.",
        rich_help_panel=SERVER,
    ),
]
ApiKeyVar = Annotated[
    str | None,
    typer.Option(
        "--api-key-var",
        metavar="NAME",
        help="The environment variable that holds the key.",
        rich_help_panel=SERVER,
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        help="Requests at once; fewer for a while when the server says it is too many. (16)",
        rich_help_panel=SERVER,
    ),
]
CallTimeout = Annotated[
    float | None,
    typer.Option(
        "--call-timeout",
        min=0.1,
        metavar="SECONDS",
        help="For one request. (300)",
        rich_help_panel=SERVER,
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1000,
        help="Ask each request so many times; each sample has result files of its own.",
        rich_help_panel=SERVER,
    ),
]
Temperature = Annotated[
    float | None, typer.Option(help="By default the server's own.", rich_help_panel=SERVER)
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=1, help="Longest answer. By default the server's own.", rich_help_panel=SERVER
    ),
]
Structured = Annotated[
    str | None,
    typer.Option(
        "--structured",
        metavar="WAY",
        help="auto: JSON schemas where the server takes them; on; off.",
        rich_help_panel=SERVER,
    ),
]
Retries = Annotated[
    int | None,
    typer.Option(
        min=0, max=100, help="Further attempts after a fault that may pass. (6)", rich_help_panel=SERVER
    ),
]
Reasks = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=100,
        help="How often an answer that cannot be read is asked again. (2)",
        rich_help_panel=SERVER,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls",
        min=1,
        help="Stop after so many requests, retries included.",
        rich_help_panel=SERVER,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0.0,
        metavar="DOLLARS",
        help="Stop when so much is spent.",
        rich_help_panel=SERVER,
    ),
]
PriceIn = Annotated[
    float | None,
    typer.Option(
        "--price-in",
        metavar="DOLLARS",
        help="Per million tokens in, where the server tells no cost.",
        rich_help_panel=SERVER,
    ),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="DOLLARS", help="Per million tokens out.", rich_help_panel=SERVER),
]
JudgeProvider = Annotated[
    str | None,
    typer.Option(
        "--judge-provider",
        metavar="PROVIDER",
        help="Where the judges are, if not where the model is.",
        rich_help_panel=SERVER,
    ),
]
JudgeBaseUrl = Annotated[
    str | None,
    typer.Option(
        "--judge-base-url", metavar="URL", help="Address of the judges' server.", rich_help_panel=SERVER
    ),
]
JudgeApiKeyVar = Annotated[
    str | None,
    typer.Option(
        "--judge-api-key-var",
        metavar="NAME",
        help="The variable that holds the judges' key.",
        rich_help_panel=SERVER,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print how many calls and tokens it takes; send nothing.",
        rich_help_panel=SERVER,
    ),
]
RetrySkipped = Annotated[
    bool,
    typer.Option(
        "--retry-skipped",
        help="Only the conversations that an earlier run skipped.",
        rich_help_panel=SERVER,
    ),
]
