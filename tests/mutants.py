"""`python -m tests.mutants [NAME …]`: sixty subtle errors, and whether the tests notice each.

Each is put into a copy of the tree, never into the tree itself, and the tests that should notice it run
there. Without names all sixty run (about half an hour), and the outcome is compared with
`tests/frozen/mutants.json`: no mutant survives that was killed before. `--write` keeps the outcome instead,
`--check` only looks whether every `old` still stands exactly once in its file. When code moves, `file`, `old`
and `new` move with it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
KEPT: Final = ROOT / "tests" / "frozen" / "mutants.json"
COPIED: Final = (
    "attune_env", "data", "docs", "envs", "examples", "rewards", "tests", "README.md", "pyproject.toml",
)  # fmt: skip
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
"""A test, without its parameters."""


@dataclass(frozen=True)
class Mutant:
    """One error: in `file` the text `old`, which stands there once, becomes `new`."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: str
    """Paths, separated by blanks, of which one should notice it."""


def m(area: str, name: str, file: str, old: str, new: str, tests: str) -> Mutant:
    """A mutant; paths of tests are below `tests/`."""
    return Mutant(area, name, file, old, new, " ".join(f"tests/{path}" for path in tests.split()))


REWARDS, EPISODES, DATA = "rewards/attune_rewards", "envs/attune_episodes", "data/attune_data"
JOURNAL = "attune_env/running/journal.py"
PINNED = "data/simulate/test_stream.py::test_the_first_fifty_are_pinned"
MUTANTS: Final = (
    # --- metrics
    m("metrics", "f1-of-neutral-is-0", f"{REWARDS}/emotion.py",
      "return 2 * len(want & got) / (len(want) + len(got)) if want or got else 1.0",
      "return 2 * len(want & got) / (len(want) + len(got)) if want or got else 0.0",
      "rewards/test_emotion.py rewards/test_strict.py"),
    m("metrics", "va-without-coverage", f"{REWARDS}/emotion.py",
      "return total / max(len(truth), len(predicted))", "return total / min(len(truth), len(predicted))",
      "rewards/test_emotion.py"),
    m("metrics", "last-intensity-counts", f"{REWARDS}/emotion.py",
      "known.setdefault(tag.emotion.casefold(), tag.intensity)",
      "known[tag.emotion.casefold()] = tag.intensity",
      "rewards/test_emotion.py"),
    m("metrics", "matching-is-greedy", f"{REWARDS}/matching.py",
      "straight, crossed = table[0][0] + table[1][1], table[0][1] + table[1][0]",
      "straight, crossed = table[0][0], table[0][1]",
      "rewards/test_emotion.py rewards/test_against_libraries.py"),
    m("metrics", "missing-yes-no-is-wrong-in-canonical", f"{REWARDS}/binary.py",
      'right = [(answers.get(question) == "yes") == (want == "yes") for',
      "right = [answers.get(question) == want for",
      "rewards/test_binary.py"),
    m("metrics", "no-pick-meets-no-winner", f"{REWARDS}/pairwise.py",
      "hits = sum(c.winner is not None and picks.get(i) == c.winner for",
      "hits = sum(picks.get(i) == c.winner for",
      "rewards/test_pairwise.py"),
    m("metrics", "baseline-adjusted-not-below-0", f"{REWARDS}/panas.py",
      "return max(-1.0, min(1.0, (change - abs(post - predicted)) / change))",
      "return max(0.0, min(1.0, (change - abs(post - predicted)) / change))",
      "rewards/test_panas.py"),
    m("metrics", "fuzzy-floor-is-exclusive", f"{REWARDS}/questions.py",
      "return near if near >= FUZZY_FLOOR else 0.0", "return near if near > FUZZY_FLOOR else 0.0",
      "rewards/test_questions.py"),
    # --- weights of the tree
    m("tree", "emotion-weighs-as-holistic", f"{REWARDS}/tree.py",
      '_node("emotion", 0.24)', '_node("emotion", 0.27)', "rewards/test_strict.py rewards/test_composite.py"),
    m("tree", "panas-weighs-as-questions", f"{REWARDS}/tree.py",
      '_node("panas", 0.4)', '_node("panas", 0.3)', "rewards/test_strict.py rewards/test_composite.py"),
    m("tree", "undefined-keeps-its-weight", f"{REWARDS}/tree.py",
      "total = math.fsum(weight for weight, _ in below)",
      "total = math.fsum(child.weight for child in self.children)",
      "rewards/test_strict.py rewards/test_spec.py"),
    m("tree", "weight-not-spread-over-turns", f"{REWARDS}/spec.py",
      "slot: weight / len(found[name])", "slot: weight", "rewards/test_spec.py"),
    m("tree", "leaf-mean-over-all-turns", f"{REWARDS}/strict.py",
      "parts[name] = math.fsum(scores) / len(scores)",
      "parts[name] = math.fsum(scores) / max(len(scores), len(prediction.turns))",
      "rewards/test_strict.py"),
    m("tree", "below-the-null-costs-nothing", f"{REWARDS}/spec.py",
      "paid = (score - null) / (1.0 - null)", "paid = max(0.0, score - null) / (1.0 - null)",
      "rewards/test_spec.py"),
    m("tree", "silent-panas-is-not-half", f"{REWARDS}/composite.py",
      "return 0.5 if adjusted is None else", "return 0.0 if adjusted is None else",
      "rewards/test_composite.py rewards/test_golden.py"),
    # --- the parser's order
    m("parser", "reasoning-is-cut-out-of-answers", f"{EPISODES}/parsing/extract.py",
      'if not isinstance(whole, dict) and "<" in text:', 'if "<" in text:', "episodes/test_extract.py"),
    m("parser", "ambiguous-fences-fall-through", f"{EPISODES}/parsing/extract.py",
      'fenced.code in ("ambiguous", "too_long")', 'fenced.code in ("too_long",)', "episodes/test_extract.py"),
    m("parser", "first-of-two-objects-counts", f"{EPISODES}/parsing/extract.py",
      'return Unparsed("ambiguous", "several different objects")', "continue", "episodes/test_extract.py"),
    m("parser", "broken-object-beside-is-overlooked", f"{EPISODES}/parsing/extract.py",
      "return found if problem is None else Unparsed(", "return found if True else Unparsed(",
      "episodes/test_extract.py"),
    m("parser", "text-before-a-closing-tag-counts", f"{EPISODES}/parsing/extract.py",
      "            kept.clear()\n", "            pass\n", "episodes/test_extract.py"),
    m("parser", "two-spellings-do-not-clash", f"{EPISODES}/parsing/parse.py",
      "return None if differ else given", "return given", "episodes/test_parse.py"),
    m("parser", "nameless-tags-are-dropped", f"{EPISODES}/parsing/parse.py",
      "        if not isinstance(name, str) or not name.strip():\n            return None",
      "        if not isinstance(name, str) or not name.strip():\n            continue",
      "episodes/test_parse.py"),
    m("parser", "option-0-is-the-last", f"{EPISODES}/parsing/parse.py",
      "options[number - 1] if 1 <= number <= len(options)",
      "options[number - 1] if 0 <= number <= len(options)",
      "episodes/test_parse.py"),
    # --- masking
    m("masking", "picks-stay-in-the-prompts-frame", f"{EPISODES}/parsing/parse.py",
      "picks[comparison.index] = comparison.to_conversation(side)", "picks[comparison.index] = side",
      "episodes/test_parse.py episodes/test_episode.py"),
    m("masking", "labels-once-a-conversation", f"{EPISODES}/shown.py",
      'digest(*place, turn.turn_number, "label", name)', 'digest(*place, "label", name)',
      "episodes/test_leaks.py"),
    m("masking", "sides-once-a-conversation", f"{EPISODES}/shown.py",
      'digest(*place, number_of_turn, "side", index)', 'digest(*place, "side", index)',
      "episodes/test_leaks.py"),
    m("masking", "order-by-the-winner", f"{EPISODES}/shown.py",
      'order.sort(key=lambda index: digest(*place, number_of_turn, "order", index))',
      'order.sort(key=lambda index: (comparisons[index].winner or "", index))',
      "episodes/test_leaks.py"),
    m("masking", "the-draft-knows-the-reply", f"{EPISODES}/plan.py",
      'shared = {"history": history, "user_message": turn.user_message}',
      'shared = {"history": history, "user_message": turn.user_message, "reply": turn.llm_response}',
      "episodes/test_leaks.py"),
    m("masking", "record-notes-shown-numbers", f"{EPISODES}/record.py",
      '"swapped": [c.index for c in shown.comparisons if c.swapped]',
      '"swapped": [c.number for c in shown.comparisons if c.swapped]',
      "episodes/test_record.py"),
    # --- prompt fields
    m("prompts", "reasoning-comes-last", f"{EPISODES}/answers.py",
      'wanted = {"reasoning": {"type": "string"}, **properties}',
      'wanted = {**properties, "reasoning": {"type": "string"}}',
      "episodes/test_schemas.py"),
    m("prompts", "blind-delta-sees-totals", f"{EPISODES}/plan.py",
      'if strategy != "blind_delta" and before.positive is not None', "if before.positive is not None",
      "episodes/test_leaks.py"),
    m("prompts", "assess-hp-in-the-observers-words", f"{EPISODES}/plan.py",
      "self._questions(truth.applicable, observer=False)", "self._questions(truth.applicable, observer=True)",
      "episodes/test_prompts.py"),
    m("prompts", "the-thread-loses-the-reply", f"{EPISODES}/plan.py",
      "        self._elide(assess_text)\n", "", "episodes/test_leaks.py episodes/test_plan.py"),
    m("prompts", "assess-hp-without-questions", f"{EPISODES}/plan.py",
      'if "assess_hp" in self.settings.stages and is_asked("assess_hp", truth):',
      'if "assess_hp" in self.settings.stages:',
      "episodes/test_plan.py"),
    m("prompts", "plans-are-kept-whatever-the-seed", f"{EPISODES}/settings.py",
      "            self.labels,\n            self.seed,\n", "            self.labels,\n",
      "episodes/test_plan.py"),
    # --- provenance
    m("provenance", "unmarked-is-own", f"{DATA}/schema.py",
      'return self.provenance or "benchmark"', 'return self.provenance or "own"',
      "data/test_provenance.py data/test_guard.py"),
    m("provenance", "a-mix-passes", f"{DATA}/loading.py",
      'if not marks or "benchmark" in marks:', 'if not marks or marks == {"benchmark"}:',
      "data/test_provenance.py data/test_guard.py"),
    m("provenance", "the-files-mark-beats-the-folder", f"{DATA}/loading.py",
      "forced or conversation.provenance or default", "conversation.provenance or forced or default",
      "data/test_provenance.py"),
    m("provenance", "linked-files-are-no-benchmark", f"{DATA}/loading.py",
      "linked = Path(file).is_symlink() and is_benchmark(Path(file))", "linked = False",
      "data/test_provenance.py"),
    m("provenance", "links-are-not-followed", f"{DATA}/loading.py",
      "parts = (*path.absolute().parts, *Path(real).parts)", "parts = path.absolute().parts",
      "data/test_provenance.py"),
    m("provenance", "only-the-first-item-is-checked", f"{DATA}/guard.py",
      "            self.check(item, index)\n            yield item", "            yield item",
      "data/test_guard.py"),
    # --- journal
    m("journal", "lines-of-other-versions-count", f"{JOURNAL}",
      'if not isinstance(line, dict) or line.get("v") != FORMAT:', "if not isinstance(line, dict):",
      "running/test_journal.py"),
    m("journal", "a-torn-line-is-written-on", f"{JOURNAL}",
      "        if torn:\n", "        if torn and not place:\n", "running/test_journal.py"),
    m("journal", "places-miss-the-head", f"{JOURNAL}",
      "place = self._end + len(head)", "place = self._end",
      "running/test_journal.py running/test_overwriting.py"),
    m("journal", "attempts-are-read-as-asks", f"{JOURNAL}",
      'attempts=found["attempts"]', 'attempts=found["asks"]', "running/test_journal.py"),
    m("journal", "a-failed-write-counts-as-done", f"{JOURNAL}",
      "future.set_exception(error)\n                            future.exception()",
      "future.set_result(self._end)",
      "running/test_journal.py"),
    m("journal", "overwriting-begins-before-an-answer", f"{JOURNAL}",
      '{"anew": dict(self._due)} if self._due and self._answered else {}',
      '{"anew": dict(self._due)} if self._due else {}',
      "running/test_overwriting.py running/test_journal.py"),
    m("journal", "another-temperature-is-the-same-call", "attune_env/running/asker.py",
      "            self.model.sampling.describe(),\n            call.sample,", "            call.sample,",
      "running/test_endpoint_run.py running/test_journal.py"),
    # --- selection
    m("selection", "unstated-is-not-equal", f"{DATA}/selection/where.py",
      'return met if self.comparison == "=" else not met and not self._unstated(facts)',
      'return met if self.comparison == "=" else not met',
      "data/test_where.py"),
    m("selection", "at-least-is-more", f"{DATA}/selection/where.py",
      '">=": operator.ge', '">=": operator.gt', "data/test_where.py"),
    m("selection", "quoted-words-stay-special", f"{DATA}/selection/where.py",
      "return not wanted.quoted and folded(wanted.text) in words", "return folded(wanted.text) in words",
      "data/test_where.py"),
    m("selection", "the-profile-wins-over-metadata", f"{DATA}/selection/facts.py",
      "facts.setdefault(field_name(name), values)", "facts[field_name(name)] = values",
      "data/test_where.py"),
    m("selection", "declined-is-none", f"{DATA}/selection/diagnoses.py",
      'return "unknown" if said & DECLINED else "none"', 'return "none"', "data/test_where.py"),
    m("selection", "a-split-divides-people", f"{DATA}/schema.py",
      "return (profile.participant_id if profile else None) or self.conversation_id",
      "return self.conversation_id",
      "data/test_split.py"),
    # --- simulator
    m("simulator", "the-first-two-are-never-swapped", f"{DATA}/simulate/draws.py",
      "range(len(order) - 1, 0, -1)", "range(len(order) - 1, 1, -1)", "data/simulate/test_draws.py"),
    m("simulator", "the-diagnosed-tag-more", f"{DATA}/simulate/person.py",
      "THRESHOLD + (THRESHOLD_DIAGNOSED if", "THRESHOLD - (THRESHOLD_DIAGNOSED if",
      PINNED),
    m("simulator", "people-come-back-in-the-next-block", f"{DATA}/simulate/stream.py",
      "block * _PEOPLE + _OWNERS[place]", "block + _OWNERS[place]", "data/simulate/test_stream.py"),
    m("simulator", "levels-share-their-chance", f"{DATA}/simulate/stream.py",
      "world = [VERSION, seed, self.level.describe(), topics, templates]",
      "world = [VERSION, seed, topics, templates]",
      "data/simulate/test_stream.py data/simulate/test_levels.py"),
    m("simulator", "what-the-reply-did-not-do-is-wanted", f"{DATA}/simulate/constructs.py",
      "swayed = ACCEPTANCE * (1.0 if observed else -1.0)", "swayed = ACCEPTANCE * (1.0 if observed else 0.0)",
      PINNED),
    m("simulator", "side-a-comes-first", f"{DATA}/simulate/choices.py",
      "a, b = (first, second) if draws.yes(0.5) else (second, first)",
      "a, b = (first, second) if draws.yes(0.6) else (second, first)",
      PINNED),
)  # fmt: skip


def problems() -> list[str]:
    """Mutants whose `old` does not stand exactly once in its file, or that share a name."""
    found = []
    for one in MUTANTS:
        path = ROOT / one.file
        times = path.read_text(encoding="utf-8").count(one.old) if path.exists() else 0
        if times != 1:
            found.append(f"{one.name}: {one.old!r} stands {times} times in {one.file}, expected once")
    twice = [name for name, times in Counter(one.name for one in MUTANTS).items() if times > 1]
    return found + [f"{name}: two mutants have this name" for name in twice]


def run_tests(tree: Path, tests: str) -> tuple[int, str]:
    """pytest's exit code in a tree, and its output."""
    floors = (tree, *(tree / floor for floor in ("envs", "rewards", "data", "examples")))
    paths = os.pathsep.join(map(str, floors))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    options = ("-x", "-q", "-p", "no:cacheprovider", "-m", "not soak")
    command = [sys.executable, "-m", "pytest", *options, *tests.split()]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr


def outcome(tree: Path, one: Mutant) -> dict[str, Any]:
    """Whether the tests notice the mutant, and which does."""
    path = tree / one.file
    whole = path.read_text(encoding="utf-8")
    try:
        path.write_text(whole.replace(one.old, one.new), encoding="utf-8")
        code, said = run_tests(tree, one.tests)
    finally:
        path.write_text(whole, encoding="utf-8")
    if code not in (0, 1, 2):  # 2: a module that cannot be imported
        raise RuntimeError(f"{one.name}: pytest could not run {one.tests}:\n{said[-2000:]}")
    noticed = FAILED.search(said)
    return {"area": one.area, "killed": code != 0, "by": noticed[1] if noticed else None}


def main() -> int:
    """The command line; 1 where a mutant survives that was killed before."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--write", action="store_true", help="keep the outcome")
    parser.add_argument("--check", action="store_true", help="run nothing")
    parser.add_argument("--unchanged", action="store_true", help="run all their tests on the tree as it is")
    asked = parser.parse_args()
    names = {one.name for one in MUTANTS}
    wrong = problems() + [f"{name}: no such mutant" for name in asked.names if name not in names]
    if wrong or asked.check:
        print("\n".join(wrong) or f"{len(MUTANTS)} mutants, each in its place")
        return bool(wrong)
    chosen = [one for one in MUTANTS if not asked.names or one.name in asked.names]
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tree / name)
        if asked.unchanged:
            paths = {path for one in chosen for path in one.tests.split()}
            code, said = run_tests(tree, " ".join(sorted(paths)))
            print(said)
            return code
        found = {}
        for one in chosen:
            found[one.name] = outcome(tree, one)
            fate = "killed by {by}".format(**found[one.name]) if found[one.name]["killed"] else "SURVIVED"
            print(f"{one.area}: {one.name} {fate}", flush=True)
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    alive = [name for name, about in found.items() if not about["killed"]]
    print(f"{len(found) - len(alive)} of {len(found)} killed")
    if asked.write:
        merged = {**kept, **found}
        text = json.dumps({one.name: merged[one.name] for one in MUTANTS if one.name in merged}, indent=1)
        KEPT.write_text(text + "\n", encoding="utf-8")
        return 0
    worse = [name for name in alive if kept.get(name, {}).get("killed")]
    for name in worse:
        print(f"{name} survives, and was killed by {kept[name]['by']}", file=sys.stderr)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
