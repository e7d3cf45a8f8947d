"""Deal a batch of the plan to two hands, check what they wrote, and turn it into files of the corpus.

    python -m tests.written.assemble deal train-01 FOLDER    the person's cards, the replier's manners
    python -m tests.written.assemble check FOLDER            what is missing, wrong or suspicious so far
    python -m tests.written.assemble take FOLDER             what was kept into the corpus, and the verdicts

The hands exchange one file per round, each an object by conversation id: `message-1.json`, `reply-1.json` and
`improved-1.json`, `message-2.json`, then `marks-1.json`, and so on; `felt.json` and `end.json` are the
person's own, `verdicts.json` the editor's: id -> ["kept" | "returned" | "dropped", why].
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attune_data.errors import AttuneError, DataError, Problem
from attune_data.written import corpus
from attune_data.written.compact import expand
from tests.written.casting import HERE, PLAN
from tests.written.gates import kept, ngrams, words

VERDICTS: Final = HERE / "verdicts.json"
MISSES: Final = {
    "early": "advise before you have understood",
    "missed": "miss what they feel",
    "generic": "say what fits anybody",
    "upbeat": "be more upbeat than the moment allows",
    "long": "be too long",
    "formal": "sound formal or clinical",
    "assumed": "take for granted something likely that they did not say",
    "repeated": "repeat yourself",
    "questions": "ask too many questions",
    "smaller": "make it sound smaller than it is",
}
PERSON: Final = (
    "category", "subtopic", "circumstance", "prop", "initials", "person", "openness", "arc",
    "taste", "feelings", "risk", "goals", "clarity",
)  # fmt: skip
STORED: Final = ("id", "age", "gender", "place", "english", "education", "work", "diagnoses", "scores")
END: Final = ("attitude", "after", "goals", "clarity", "fit", "off", "branches")
MARKS: Final = ("edit", "yes", "na", "wanted", "ranks")


def plan() -> dict[str, dict[str, Any]]:
    """Conversation id -> its row of the plan."""
    rows = map(json.loads, PLAN.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row for row in rows}


def deal(batch: str, folder: Path) -> list[str]:
    """Writes what each hand may see.

    The person's cards hold no mistake to come (`aims.json`, how it should end, is opened at the end); the
    replier's manners hold nothing about the person.
    """
    rows = [row for row in plan().values() if row["batch"] == batch]
    if not rows:
        raise DataError(Problem(str(PLAN), "batch", batch, "a batch such as train-01"))
    cards, manners, aims = {}, {}, {}
    for row in rows:
        private = [{key: turn[key] for key in ("shift", "tags", "edit", "compare")} for turn in row["turns"]]
        cards[row["id"]] = {key: row[key] for key in PERSON} | {"turns": private}
        shown = [{"reply": re.sub(r"B\d+ ", "", turn["reply"]), "miss": _spelled(turn.get("miss", "")),
                  "improved": turn["improved"]} for turn in row["turns"]]  # fmt: skip
        manners[row["id"]] = {"manner": row["manner"], "turns": shown}
        aims[row["id"]] = {"fit": row["fit"], "off": row["off"]}
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "cards.json", cards)
    _write(folder / "manners.json", manners)
    _write(folder / "aims.json", aims)
    return list(cards)


def _spelled(miss: str) -> str:
    code, _, rest = miss.partition(", ")
    return ", ".join(filter(None, [MISSES.get(code, ""), rest]))


def assembled(folder: Path) -> dict[str, dict[str, Any]]:
    """Conversation id -> its compact form; DataError lists what the hands have not written."""
    rows, found = plan(), {}
    lacking: list[Problem] = []

    def said(file: str, name: str, *keys: str) -> Any:
        value: Any = _read(folder / file).get(name)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            lacking.append(
                Problem(str(folder / file), ".".join((name, *keys)), "nothing", "it to be written")
            )
            return ""
        return value

    for name in _read(folder / "cards.json"):
        row = rows[name]
        turns = [
            {"message": said(f"message-{n}.json", name), "felt": said("felt.json", name, str(n)),
             "reply": said(f"reply-{n}.json", name), "improved": said(f"improved-{n}.json", name)}
            | {key: said(f"marks-{n}.json", name, key) for key in MARKS}
            for n in range(1, len(row["turns"]) + 1)
        ]  # fmt: skip
        person = {key: row["person"][key] for key in STORED}
        found[name] = (
            {"id": name, "category": row["category"], "subtopic": row["subtopic"], "person": person,
             "before": said("felt.json", name, "before")}
            | {key: said("end.json", name, key) for key in END} | {"turns": turns}
        )  # fmt: skip
    if lacking:
        raise DataError(lacking)
    return found


def suspicious(conversation: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[str]:
    """What an editor should look at, in a conversation whose form is sound."""
    before = ""
    for n, (turn, dealt) in enumerate(zip(conversation["turns"], row["turns"], strict=True), 1):
        here, reply, improved = f"{row['id']} turn {n}", turn["reply"], turn["improved"]
        leaked = set(ngrams(words(turn["message"]), 5)) & set(ngrams(words(before), 5))
        if leaked:
            yield f"{here}: the message uses “{' '.join(min(leaked))}” of a reply that was never received"
        before = improved
        if kept(turn["edit"], reply) < 0.25:
            yield f"{here}: the edit keeps less than a quarter of the reply"
        if ("13" in turn["yes"].split()) != ("?" in reply):
            yield f"{here}: B13 and the reply's question marks disagree"
        compared = [part.split()[0] for part in turn["ranks"].split(",")]
        if compared != ["general", *map(str, dealt["compare"])]:
            yield f"{here}: compared on {compared[1:]}, dealt {dealt['compare']}"
        tags = len([part for part in turn["felt"].split(",") if part.strip()])
        if bool(tags) != bool(dealt["tags"]):
            yield f"{here}: {tags} feelings, dealt {dealt['tags']}"
        ratio = len(words(improved)) / max(len(words(reply)), 1)
        if not 0.6 <= ratio <= 1.67:
            yield f"{here}: the improved reply has {ratio:.1f} times the received reply's words"
        for event in (code for code in dealt["reply"].split() if code[:1] == "B" and code[1:].isdigit()):
            if event[1:] not in turn["yes"].split():
                yield f"{here}: {event} was dealt to the reply and is not answered yes"


def check(folder: Path) -> list[str]:
    """What is suspicious; DataError where something is missing or wrong."""
    rows, found = plan(), assembled(folder)
    problems: list[Problem] = []
    for name, conversation in found.items():
        try:
            expand(conversation, name)
        except DataError as error:
            problems.extend(error.problems)
    if problems:
        raise DataError(problems)
    return [line for name, conversation in found.items() for line in suspicious(conversation, rows[name])]


def take(folder: Path) -> list[str]:
    """Writes what the editor kept, and every verdict; gives the files written."""
    check(folder)
    rows, found = plan(), assembled(folder)
    verdicts = _read(folder / "verdicts.json")
    written = []
    for name, conversation in found.items():
        if name not in verdicts:
            raise DataError(
                Problem(str(folder / "verdicts.json"), name, "nothing", "kept, returned or dropped, and why")
            )
        if verdicts[name][0] == "kept":
            file = corpus.FOLDER / rows[name]["part"] / f"{name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, conversation)
            written.append(str(file))
    _write(VERDICTS, dict(sorted((_read(VERDICTS) | verdicts).items())))
    return written


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _write(file: Path, value: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        match sys.argv[1:]:
            case ["deal", name, place]:
                print(*deal(name, Path(place)))
            case ["check", place]:
                print(*check(Path(place)), sep="\n")
            case ["take", place]:
                print(*take(Path(place)), sep="\n")
            case _:
                raise SystemExit(__doc__)
    except AttuneError as error:
        raise SystemExit(str(error)) from None
