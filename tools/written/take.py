"""Take played conversations into the written corpus: `python -m tools.written.take FOLDER`.

FOLDER is what `attune people play` wrote. Its conversations take the place of the corpus, one file each in
the folder of its part; its cards go to `plan.jsonl` beside this file, so that anybody can see what was drawn.
`left_out.json`, {id: reason}, names those that were dropped after reading them.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Final

from attune_data.jsonio import read_json
from attune_data.source.corpora import corpus

PLAN: Final = Path(__file__).with_name("plan.jsonl")
LEFT_OUT: Final = Path(__file__).with_name("left_out.json")


def take(folder: Path) -> int:
    """Replace the corpus by the conversations of a folder; returns how many there are."""
    home = corpus("written")
    left_out = read_json(LEFT_OUT)
    shutil.copyfile(folder / PLAN.name, PLAN)
    for split in home.splits:
        shutil.rmtree(home.folder / split, ignore_errors=True)
        (home.folder / split).mkdir(parents=True)
    number = 0
    for file in sorted(folder.glob("conversation_*.json")):
        record = read_json(file)
        name = record["conversationId"]
        if name in left_out:
            continue
        record["metadata"]["model"] = home.name  # by which a split that is kept for evaluation is known
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        (home.folder / record["played"]["part"] / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
        number += 1
    return number


if __name__ == "__main__":
    print(f"took {take(Path(sys.argv[1]))} conversations")
