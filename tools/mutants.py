"""`python -m tools.mutants [NAME …]`: subtle errors, and whether the quick tests notice each.

Each is put into a copy of the tree, where the tests that should notice it have passed without it. Without
names all run (about half an hour). `--check` only looks whether each place still stands exactly once in
the packages.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools.pages import ROOT

PACKAGES: Final = ("attune_env", "envs", "rewards", "data")
COPIED: Final = (*PACKAGES, "docs", "examples", "tests", "tools", "README.md", "pyproject.toml")
IMPORTED: Final = (".", "envs", "rewards", "data", "examples")
"""Folders on the path. `attune_env` is a package; on the path, its modules would hide Python's own."""
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
"""A test, without its parameters."""
EDIT: Final = re.compile(r"(\[-.*?-\]|\{\+.*?\+\})")
MUTANTS: Final = (
    # metrics
    ("f1-of-neutral-is-0", "rewards/test_emotion.py rewards/test_strict.py",
     "in predicted} return 2 * len(want & got) / (len(want) + len(got)) if want or got else [-1.0-]{+0.0+}"),
    ("va-without-coverage", "rewards/test_emotion.py",
     "return total / [-max-]{+min+}(len(truth), len(predicted))"),
    ("last-intensity-counts", "rewards/test_emotion.py",
     "{+known.pop(tag.emotion.casefold(), None), +}known.setdefault(tag.emotion.casefold(), tag.intensity)"),
    ("matching-is-greedy", "rewards/test_emotion.py rewards/test_against_libraries.py",
     "straight, crossed = table[0][0][- + table[1][1]-], table[0][1][- + table[1][0]-]"),
    ("missing-yes-no-is-wrong-in-canonical", "rewards/test_binary.py",
     'right = [(answers.get(question)[- == "yes"-]) == (want[- == "yes"-]) for'),
    ("no-pick-meets-no-winner", "rewards/test_pairwise.py",
     "hits = sum([-c.winner is not None and -]picks.get(i) == c.winner for"),
    ("baseline-adjusted-not-below-0", "rewards/test_panas.py",
     "return max([--1.0-]{+0.0+}, min(1.0, (change - abs(post - predicted)) / change))"),
    ("fuzzy-floor-is-exclusive", "rewards/test_questions.py",
     "return near if near >[-=-] FUZZY_FLOOR else 0.0"),
    # tree
    ("emotion-weighs-as-holistic", "rewards/test_strict.py rewards/test_composite.py",
     '_node("emotion", [-0.24-]{+0.27+})'),
    ("panas-weighs-as-questions", "rewards/test_strict.py rewards/test_composite.py",
     '_node("panas", [-0.4-]{+0.3+})'),
    ("undefined-keeps-its-weight", "rewards/test_strict.py rewards/test_spec.py",
     "total = math.fsum([-weight for weight, _ in below-]{+child.weight for child in self.children+})"),
    ("weight-not-spread-over-turns", "rewards/test_spec.py",
     "slot: weight[- / len(found[name])-]"),
    ("leaf-mean-over-all-turns", "rewards/test_strict.py",
     "parts[name] = math.fsum(scores) / {+max(len(prediction.turns), +}len(scores){+)+}"),
    ("below-the-null-costs-nothing", "rewards/test_spec.py",
     "paid = {+max+}({+0.0, +}score - baseline) / (1.0 - baseline)"),
    ("silent-panas-is-not-half", "rewards/test_composite.py rewards/test_golden.py",
     "return [-0.5-]{+0.0+} if adjusted is None else"),
    # parser
    ("reasoning-is-cut-out-of-answers", "parsing/test_extract.py",
     "if mark is None[- or (not opened and objects.hold(at, position))-]: continue"),
    ("ambiguous-fences-fall-through", "parsing/test_extract.py",
     'fenced.code in ([-"ambiguous", -]"too_long")'),
    ("first-of-two-objects-counts", "parsing/test_extract.py",
     '[-return Unparsed("ambiguous", "several different objects")-]{+continue+}'),
    ("broken-object-beside-is-overlooked", "parsing/test_extract.py",
     "return found if [-problem is None-]{+True+} else Unparsed("),
    ("text-before-a-closing-tag-counts", "parsing/test_extract.py",
     "[-kept.clear()-]{+pass+}"),
    ("two-spellings-do-not-clash", "parsing/test_parse.py",
     "return [-None if differ else -]given"),
    ("nameless-tags-are-dropped", "parsing/test_parse.py",
     "if not isinstance(name, str) or not name.strip(): [-return None-]{+continue+}"),
    ("option-0-is-the-last", "parsing/test_parse.py",
     "options[number - 1] if [-1-]{+0+} <= number <= len(options)"),
    # masking
    ("picks-stay-in-the-prompts-frame", "parsing/test_parse.py play/test_episode.py",
     "picks[comparison.index] = [-comparison.to_conversation(side)-]{+side+}"),
    ("labels-once-a-conversation", "protocol/test_leaks.py",
     'digest(*place, [-turn.turn_number, -]"label", name)'),
    ("sides-once-a-conversation", "protocol/test_leaks.py",
     'digest(*place, [-number_of_turn, -]"side", index)'),
    ("order-by-the-winner", "protocol/test_leaks.py",
     '{+(comparisons[index].winner or "", +}digest(*place, number_of_turn, "order", index){+)+}'),
    ("the-draft-knows-the-reply", "protocol/test_leaks.py",
     '{"history": history, "user_message": turn.user_message{+, "reply": turn.llm_response+}}'),
    ("record-notes-shown-numbers", "play/test_record.py",
     '"swapped": [c.[-index-]{+number+} for c in request.comparisons if c.swapped]'),
    # prompts
    ("reasoning-comes-last", "protocol/test_schemas.py",
     'wanted = {[-"reasoning": {"type": "string"}, -]**properties{+, "reasoning": {"type": "string"}+}}'),
    ("blind-delta-sees-totals", "protocol/test_leaks.py",
     'if [-strategy != "blind_delta" and -]before.positive is not None'),
    ("assess-hp-in-the-observers-words", "protocol/test_prompts.py",
     "self._questions(truth.applicable, observer=[-False-]{+True+})"),
    ("the-thread-loses-the-reply", "protocol/test_leaks.py protocol/test_plan.py",
     "[-self._elide(assess_text)-]{+pass+}"),
    ("assess-hp-without-questions", "protocol/test_plan.py",
     'if "assess_hp" in stages[- and is_asked("assess_hp", truth)-]:'),
    ("plans-are-kept-whatever-the-seed", "protocol/test_plan.py",
     "self.labels,[- self.seed,-]"),
    # provenance
    ("unmarked-is-own", "data/test_provenance.py data/source/test_guard.py",
     'return self.provenance or "[-benchmark-]{+own+}"'),
    ("a-mix-passes", "data/test_provenance.py data/source/test_guard.py",
     '= ([-"benchmark", "filler", "study", "imported", "played", "own"-]'
     '{+"own", "imported", "study", "filler", "benchmark"+})'),
    ("the-files-mark-beats-the-folder", "data/test_provenance.py",
     "[-forced or conversation.provenance-]{+conversation.provenance or forced+} or default"),
    ("linked-files-are-no-benchmark", "data/test_provenance.py",
     "linked = [-Path(file).is_symlink() and is_benchmark(Path(file))-]{+False+}"),
    ("links-are-not-followed", "data/test_provenance.py",
     "parts = [-(*path.absolute().parts, *Path(real).parts)-]{+path.absolute().parts+}"),
    ("only-the-first-item-is-checked", "data/source/test_guard.py",
     "[-self.check(item, index) -]yield item"),
    # journal
    ("lines-of-other-versions-count", "running/test_journal.py",
     "v: [-Literal[1]-]{+int+}"),
    ("a-torn-line-is-written-on", "running/test_journal.py",
     "if torn{+ and not place+}:"),
    ("places-miss-the-head", "running/test_journal.py running/test_overwriting.py",
     "place = self._end[- + len(head)-]"),
    ("attempts-are-read-as-asks", "running/test_journal.py",
     '"call": asdict([-call-]{+replace(call, attempts=call.asks)+})}'),
    ("a-failed-write-counts-as-done", "running/test_journal.py",
     "[-future.set_exception(error) future.exception()-]{+future.set_result(self._end)+}"),
    ("overwriting-begins-before-an-answer", "running/test_overwriting.py running/test_journal.py",
     "due = dict(self._due)[- if self._answered else {}-]"),
    ("another-temperature-is-the-same-call", "running/test_run.py running/test_journal.py",
     "[-model.sampling.describe(), -]call.sample,"),
    # selection
    ("unstated-is-not-equal", "data/test_where.py",
     'return met if self.comparison == "=" else not met[- and not self._unstated(facts)-]'),
    ("at-least-is-more", "data/test_where.py",
     '">=": operator.[-ge-]{+gt+}'),
    ("quoted-words-stay-special", "data/test_where.py",
     "return [-not wanted.quoted and -]folded(wanted.text) in words"),
    ("the-profile-wins-over-metadata", "data/test_where.py",
     "facts[-.setdefault(field_name(name), values)-]{+[field_name(name)] = values+}"),
    ("declined-is-none", "data/test_where.py",
     'return "[-unknown" if said & DECLINED else "-]none"'),
    ("a-split-divides-people", "data/test_splitting.py",
     "return [-(profile.participant_id if profile else None) or -]self.conversation_id"),
)  # fmt: skip
"""(name, tests of which one should notice it, change as `git diff --word-diff` writes it: `[-old-]{+new+}`)

Any white space may stand where the change has a blank.
"""


def found(change: str, tree: Path) -> list[tuple[Path, str]]:
    """The files of the packages where a change has a place, and their text once it is made."""
    pattern, made = "", []
    for part in EDIT.split(change):
        if part.startswith("{+"):
            made.append(part[2:-2])
        else:
            kept = not part.startswith("[-")
            code = r"\s+".join(map(re.escape, re.split(r"\s+", part if kept else part[2:-2])))
            pattern += f"({code})" if kept else code
            made += [None] if kept else []
    mutated = []
    for path in (file for package in PACKAGES for file in (tree / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for one in re.finditer(pattern, text):
            same = iter(one.groups())
            new = "".join(next(same) if part is None else part for part in made)
            mutated.append((path, text[: one.start()] + new + text[one.end() :]))
    return mutated


def problems() -> list[str]:
    """Mutants without exactly one place in the packages, without their tests, or with the name of another."""
    times = {name: len(found(change, ROOT)) for name, _, change in MUTANTS}
    lost = [f"{name}: its place stands {number} times" for name, number in times.items() if number != 1]
    names = Counter(name for name, *_ in MUTANTS)
    twice = [f"{name}: two mutants have this name" for name, number in names.items() if number > 1]
    tests = {path.partition("::")[0]: name for name, paths, _ in MUTANTS for path in paths.split()}
    gone = [f"{tests[path]}: no tests/{path}" for path in tests if not (ROOT / "tests" / path).exists()]
    return lost + twice + gone


def first_failure(tree: Path, tests: Iterable[str]) -> str | None:
    """The first quick test that fails in a tree, or a module that cannot be imported; None where all pass."""
    options = ("-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not soak")
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{path}" for path in tests)]
    floors = os.pathsep.join(str(tree / folder) for folder in IMPORTED)
    environment = {**os.environ, "PYTHONPATH": floors, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8")
    first = FAILED.search(done.stdout)
    if done.returncode != 0 and not first:
        raise RuntimeError(f"pytest could not run {command}:\n{(done.stdout + done.stderr)[-2000:]}")
    return first[1] if first else None


def noticed(tree: Path, tests: Iterable[str], change: str) -> str | None:
    """The first test that fails with the change made in a tree; None where all pass."""
    ((path, mutated),) = found(change, tree)
    whole = path.read_text(encoding="utf-8")
    path.write_text(mutated, encoding="utf-8")
    try:
        return first_failure(tree, tests)
    finally:
        path.write_text(whole, encoding="utf-8")


def main() -> int:
    """The command line; 1 where a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--check", action="store_true", help="run nothing")
    asked = parser.parse_args()
    unknown = set(asked.names) - {name for name, *_ in MUTANTS}
    wrong = problems() + [f"{name}: no such mutant" for name in sorted(unknown)]
    if wrong or asked.check:
        print("\n".join(wrong) or f"{len(MUTANTS)} mutants, each in its place")
        return bool(wrong)
    these = [
        (name, tests.split(), change)
        for name, tests, change in MUTANTS
        if name in asked.names or not asked.names
    ]
    alive = []
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tree / name)
        broken = first_failure(tree, dict.fromkeys(path for _, tests, _ in these for path in tests))
        if broken:
            print(f"{broken} fails without any of them: mend it first")
            return 1
        for name, tests, change in these:
            test = noticed(tree, tests, change)
            print(f"{name}: " + (f"killed by {test}" if test else "SURVIVED"), flush=True)
            alive += [] if test else [name]
    return bool(alive)


if __name__ == "__main__":
    sys.exit(main())
