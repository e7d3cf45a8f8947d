"""A hundred thousand hostile conversation files and as many result files: read, or refused as bad data."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from attune_data import Conversations, DataError, load
from attune_data.format.codebook import Codebook
from attune_env import rollout, save_results
from attune_env.results.files import read_results
from attune_episodes import builtin_policy
from tests.soak.documents import Base, document, lines
from tests.soak.measure import SHARE, Failure, each, spread, watched

pytestmark = pytest.mark.soak

FILES = int(100_000 * SHARE)
SEED = 20261122
LOADING, READING = 25, 12
"""Peak of memory in sizes of the file; 8 MB are always allowed, for short JSON of many values."""
GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def known() -> Conversations:
    """The conversations that the result files are about."""
    return load(GOLDEN / "conversations") + load("sample")[:4]


@cache
def conversations() -> tuple[list[Base], list[Base]]:
    """Valid conversation files, as they are and on one line."""
    whole = [path.read_text("utf-8") for path in sorted((GOLDEN / "conversations").glob("*.json"))]
    whole += [json.dumps(item.to_record(), indent=1, ensure_ascii=False) for item in load("sample")[:4]]
    return [Base(text) for text in whole], [Base(json.dumps(json.loads(text))) for text in whole]


@cache
def results() -> list[Base]:
    """Valid result files: the golden ones, and ours of the oracle."""
    found = [path.read_text("utf-8") for path in sorted((GOLDEN / "results").glob("*.json"))]
    sample = load("sample")[:4]
    oracle = builtin_policy("oracle", sample)
    with TemporaryDirectory() as folder:
        save_results([rollout(item, oracle, em_model="test/oracle") for item in sample], folder)
        found += [path.read_text("utf-8") for path in sorted(Path(folder).glob("*_default.json"))]
    assert len(found) > len(sample)
    return [Base(text) for text in found]


def check_conversations(index: int, folder: Path) -> str:
    """What becomes of one conversation file or JSONL file."""
    draw = random.Random(SEED * 10**9 + index)
    whole, flat = conversations()
    if draw.random() < 0.25:
        path, content = folder / "many.jsonl", lines(draw, flat)
    else:
        path, content = folder / "conversation_1.json", document(draw, draw.choice(whole))
    path.write_bytes(content)
    read = partial(_load, path, skip=draw.random() < 0.3)
    found = watched(read, len(content), LOADING, sample=index % 50 == 0, floor=8e6, ms=50)
    problems = found.problems if isinstance(found, DataError) else found.left_out
    if not all(problem.file and str(problem).isprintable() for problem in problems):
        raise Failure("a problem without a file, or of several lines")
    if isinstance(found, DataError) and not problems:
        raise Failure("refused without a problem")
    return "refused" if isinstance(found, DataError) else "read in part" if problems else "read"


def _load(path: Path, *, skip: bool) -> Conversations | DataError:
    try:
        return load(path, skip_invalid=skip)
    except DataError as error:
        return error.with_traceback(None)


def check_results(index: int, folder: Path) -> str:
    """What becomes of one result file."""
    draw = random.Random(SEED * 10**9 + index)
    content = document(draw, draw.choice(results()))
    (folder / "result.json").write_bytes(content)
    wording = Codebook.own() if draw.random() < 0.2 else None
    read = partial(read_results, folder, known(), reparse_with=wording)
    good, problems, warnings = watched(read, len(content), READING, sample=index % 50 == 0, floor=8e6, ms=50)
    if not all(str(problem).isprintable() for problem in (*problems, *warnings)):
        raise Failure("a problem of several lines")
    if len(good) + bool(problems) != 1 and b'"aggregates"' not in content:
        raise Failure(f"{len(good)} results, {len(problems)} problems")
    return "refused" if problems else "read with warnings" if warnings else "read"


CHECKS: Final = {"conversation": check_conversations, "result": check_results}


def work(kind: str, start: int, stop: int) -> Counter[str]:
    with TemporaryDirectory() as folder:
        check = partial(CHECKS[kind], folder=Path(folder))
        return each(start, stop, check, lambda index: f"{kind} file {index} of seed {SEED}")


@pytest.mark.parametrize("kind", CHECKS)
def test_a_hundred_thousand_hostile_files_are_read_or_refused_in_bounds(kind: str) -> None:
    outcomes = spread(partial(work, kind), FILES, max(1, min(500, FILES // 4)))
    assert outcomes.total() == FILES
    assert 0 < outcomes["refused"] < FILES
