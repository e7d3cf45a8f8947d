"""Push conversations to the Hugging Face Hub: one commit with the Parquet files and the dataset card."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from attune_data.errors import AttuneError, SettingsError, one_line, show
from attune_data.extras import needs_extra
from attune_data.files.conversations import Conversations
from attune_data.files.destination import CARD
from attune_data.files.tables import PARQUET_FOLDER
from attune_data.publishing.parquet import to_parquet
from attune_data.publishing.splits import Splits
from attune_data.source.names import is_dataset_name

_ADVICE: Final = (
    "check the name and the network, and that `hf auth whoami` names an account that may write there"
)


class HubError(AttuneError):
    """The Hub, or what stands at HF_ENDPOINT, did not take the data."""


def push(
    source: str | Path | Conversations | Splits,
    repo: str,
    *,
    where: str | None = None,
    licence: str | None = None,
    public: bool = False,
    overwrite: bool = False,
) -> str:
    """Push a source to the dataset repository `repo` (`owner/name`); returns the address of the commit.

    The repository is made if there is none. The token is the one that `hf auth login` keeps, or `HF_TOKEN`.

    Args:
        source: as for `to_parquet`.
        repo: `owner/name`.
        where: as for `to_parquet`.
        licence: as for `to_parquet`.
        public: make a new repository public; by default, only you and those you admit can read it. An
            existing one stays as it is.
        overwrite: replace the card and all that is under `data/` in a repository that has files; the earlier
            ones stay in its history.

    Raises:
        BenchmarkTrainingError: as for `to_parquet`; nothing is sent then.
        SettingsError: `repo` is no such name, or the repository has files and `overwrite` is not given.
        HubError: the Hub refuses, or cannot be reached.
        DataError, MissingExtraError: as for `to_parquet`.
    """
    if not is_dataset_name(repo):
        raise SettingsError(f"the repository is {show(repo)}; expected owner/name, and no path that exists")
    with needs_extra("train", "datasets", "huggingface_hub"):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    with tempfile.TemporaryDirectory() as home:
        to_parquet(source, Path(home) / "set", where=where, licence=licence, title=repo.partition("/")[2])
        made = sorted(file for file in (Path(home) / "set").rglob("*") if file.is_file())
        new = {file.relative_to(Path(home) / "set").as_posix(): file for file in made}
        api = HfApi(library_name="attune-env")
        try:
            api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
            there = set(api.list_repo_files(repo, repo_type="dataset")) - {".gitattributes"}
            if there and not overwrite:
                raise SettingsError(
                    f"the dataset {repo} has files already ({', '.join(sorted(there)[:3])}); choose another "
                    "name, or replace them with --overwrite (overwrite=True): the history keeps them"
                )
            old = {name for name in there if name == CARD or name.startswith(f"{PARQUET_FOLDER}/")}
            committed = api.create_commit(
                repo,
                [
                    *(CommitOperationDelete(name) for name in sorted(old - set(new))),
                    *(CommitOperationAdd(name, file) for name, file in new.items()),
                ],
                repo_type="dataset",
                commit_message="Write the conversations",
            )
        except AttuneError:
            raise
        except Exception as error:  # those of the HTTP client, which is another one from release to release
            why = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise HubError(f"{repo}: {one_line(why)}; {_ADVICE}") from error
    return str(committed.commit_url)
