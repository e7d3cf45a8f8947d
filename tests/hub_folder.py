"""Makes the folder that is pushed to the Environments Hub: `python -m tests.hub_folder FOLDER`.

It holds the source distribution, with the README as package indexes show it: the Hub takes the README as it
is pushed, and links into the repository would lead nowhere there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def description(metadata: bytes) -> str:
    """The README in a distribution's metadata (`METADATA`, `PKG-INFO`)."""
    assert BytesParser().parsebytes(metadata)["Description-Content-Type"] == "text/markdown"
    # the parser takes bytes for ASCII; the body is UTF-8, as all of the file
    return metadata.decode("utf-8").partition("\n\n")[2]


def make_hub_folder(folder: Path) -> None:
    """Builds the source distribution and unpacks it as `folder`, in the place of what is there."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        subprocess.run(
            [sys.executable, "-m", "build", "--sdist", "--outdir", str(work), str(ROOT)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        (archive,) = work.glob("*.tar.gz")
        shutil.unpack_archive(archive, work / "unpacked", filter="data")
        (unpacked,) = (work / "unpacked").iterdir()
        metadata = unpacked / "PKG-INFO"
        (unpacked / "README.md").write_text(description(metadata.read_bytes()), encoding="utf-8")
        metadata.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(unpacked, folder)


if __name__ == "__main__":
    make_hub_folder(Path(sys.argv[1]))
