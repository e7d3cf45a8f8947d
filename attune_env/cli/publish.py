"""`attune data to-parquet`, `push` and `schema`: data as other programs load and check it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from attune_env.cli import shared
from attune_env.cli.data import FOLDER, OVERWRITE
from attune_env.cli.options import argument, option

SOURCE = argument(
    "What `attune data validate` reads, with all its splits; or a folder of split folders, as `attune data "
    "split` writes it.",
    "SOURCE",
)
LICENCE = option(
    'The licence of conversations that state none, such as "CC BY 4.0"; without one, the card says so.',
    metavar="TEXT",
)


def to_parquet(
    source: str = SOURCE,
    output: Path = FOLDER,
    licence: str | None = LICENCE,
    where: str | None = shared.WHERE,
    overwrite: bool = OVERWRITE,
) -> None:
    """Write Parquet files, one per split, and a dataset card: what `attune data push` would send.

    Refuses benchmark records, and records without a mark, which count as such.

    Example: attune data to-parquet written -o written-parquet
    """
    from attune_data.publishing.parquet import to_parquet as write

    sizes = write(source, output, where=where, licence=licence, overwrite=overwrite)
    told = ", ".join(f"{name} {size}" for name, size in sizes.items())
    print(f"wrote {sum(sizes.values())} conversations to {output}: {told}")


def push(
    source: str = SOURCE,
    repo: str = argument("The dataset repository on the Hugging Face Hub: owner/name.", "REPO"),
    public: bool = option("Make a new repository public; otherwise it is private.", False),
    licence: str | None = LICENCE,
    where: str | None = shared.WHERE,
    overwrite: bool = option("Replace the data and the card that are there.", False),
) -> None:
    """Push data to the Hugging Face Hub: Parquet files, one per split, and a dataset card, in one commit.

    Refuses benchmark records, and records without a mark, which count as such. The token is the one of
    `hf auth login`, or HF_TOKEN.

    Example: attune data push written somebody/written --public
    """
    from attune_data.publishing.hub import push as send

    address = send(source, repo, where=where, licence=licence, public=public, overwrite=overwrite)
    print(f'pushed to {address}\nload it with load("{repo}") or datasets.load_dataset("{repo}")')


def schema(name: str | None = argument("The format; if omitted, all are listed.", "[NAME]", None)) -> None:
    """Print the JSON Schema of a file format.

    Example: attune data schema conversation
    """
    from attune_env.schemas import SCHEMAS, json_schema

    if name is not None:
        json.dump(json_schema(name), sys.stdout, indent=1)
        print()
        return
    from attune_env.tables.table import Table

    table = Table("JSON Schemas", ("name", "file"))
    table.rows += [(one, schema.about) for one, schema in SCHEMAS.items()]
    table.print()
