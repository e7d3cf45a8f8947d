"""Cast the written corpus: who writes about what, how much shows, and what the assistant gets wrong.

`python -m tools.written.casting` writes `cast.jsonl` again, one conversation per line, byte for byte.
One seed draws everything from `pools.toml`, so that nobody chose. Shares are dealt, not tossed: each part
gets its share of every arc, mistake and question, which is what the corpus's gates count.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attune_data.format.affect import NEGATIVE, POSITIVE
from attune_data.written.compact import CLARITY, FIT, GOALS, OFF
from attune_episodes.people import cards
from attune_episodes.people.draws import Draws, cycled, dealt

HERE: Final = Path(__file__).parent
PLAN: Final = HERE / "cast.jsonl"
SEED: Final = 20261123
PARTS: Final = {"train": (7, 20), "dev": (1, 3), "test": (2, 5)}
"""Part -> (subtopics, conversations) of each category. An editor drops one in ten: 364 are cast for 300."""
PEOPLE: Final = 0.77
"""Participants per conversation: some hold two, as in the benchmark."""
BATCH: Final = 5
"""Conversations that one pair of hands writes."""

TURNS: Final = {3: 0.12, 4: 0.22, 5: 0.25, 6: 0.2, 7: 0.1, 8: 0.06, 9: 0.03, 10: 0.02}
OPENNESS: Final = {"named outright": "clear", "between the lines": "implied", "mixed signals": "mixed",
                   "hardly shows": "unclear"}  # fmt: skip
"""How much shows, dealt in equal shares -> the answer to Q2 that is likeliest then."""
FITS: Final = {"very": 0.2, "mostly": 0.35, "mixed": 0.28, "off": 0.17}
GOAL_SHARES: Final = {
    "listen": 0.24, "sort": 0.22, "decide": 0.2, "urgent": 0.06, "advice": 0.14, "calm": 0.1, "other": 0.04,
}  # fmt: skip
SHIFTS: Final = {"none": 0.4, "shown": 0.28, "hidden": 0.2, "other": 0.12}
"""Nothing shifts; it shifts and shows; it shifts and does not show; the words show another feeling."""
TAGS: Final = {1: 0.58, 2: 0.34, 3: 0.08}
IMPROVED: Final = {
    "better": 0.34,
    "of equal worth": 0.36,
    "worse despite good intentions": 0.2,
    "another kind": 0.1,
}
LENGTHS: Final = {"shorter": 1, "same": 1, "longer": 1}
EDITS: Final = {
    "a few words": 0.25,
    "one sentence gone": 0.2,
    "one sentence added": 0.2,
    "one thing put right": 0.25,
    "more than needed": 0.1,
}
EVENTS: Final = {
    "": 0.26,
    "B310 advise something unconnected with their situation": 0.06,
    "B311 move to the general topic": 0.06,
    "B315 bring up a new topic": 0.06,
    "B408 repeat earlier advice": 0.06,
    "B20 make it sound bigger or worse": 0.06,
    "B14 take sides morally": 0.03,
    "B207 dwell on the feeling words": 0.03,
    "B206 be too formal": 0.04,
    "B406 take back an earlier assumption": 0.05,
    "B502 give the other person's view": 0.03,
    "B503 give two readings": 0.04,
    "B504 say that it is not simple": 0.03,
    "B316 suggest, and say what makes it hard": 0.04,
    "B7 guess a feeling, with care": 0.04,
    "B108 use their own word for the feeling": 0.03,
    "B16 change the approach": 0.04,
    "B5 note that the feeling has moved": 0.03,
    "B4 name two feelings": 0.04,
}
"""What the recorded reply does in a turn, beside its manner; the first is nothing in particular."""
LATER: Final = ("B408", "B406", "B16", "B5")
"""Events that need a turn before them."""
RISK_SHARE: Final = 0.05
"""Conversations in which something sounds mildly risky, and one reply takes it up (B17, B18)."""


def cast(seed: int = SEED) -> list[dict[str, Any]]:
    """All conversations of the plan, part by part and batch by batch."""
    pools = _pools()
    draws = Draws(seed, "topics")
    topics: dict[str, list[tuple[str, str]]] = {part: [] for part in PARTS}
    for category, subtopics in pools["subtopics"].items():
        left = draws.shuffled(subtopics)
        for part, (kinds, number) in PARTS.items():
            own, left = left[:kinds], left[kinds:]
            topics[part] += [(category, subtopic) for subtopic in cycled(draws, own, number)]
    props = iter(draws.shuffled(pools["matter"]["props"]))
    rows: list[dict[str, Any]] = []
    people = 0
    for part in PARTS:
        found = _part(Draws(seed, part), part, draws.shuffled(topics[part]), pools, people, len(rows))
        people += len({row["person"]["id"] for row in found})
        rows += [row | {"prop": next(props)} for row in found]
    return rows


def _pools() -> dict[str, Any]:
    """The pools of played people with those of this corpus; the order of what a person has counts."""
    own, known = tomllib.loads((HERE / "pools.toml").read_text(encoding="utf-8")), cards.pools()
    person = {**known["person"], **own["person"]}
    person["habits"] = person.pop("habits")
    return {**known, **own, "person": person, "matter": {**known["matter"], **own["matter"]}}


def _part(
    draws: Draws, part: str, topics: list[tuple[str, str]], pools: Mapping[str, Any], people: int, first: int
) -> list[dict[str, Any]]:
    """The rows of one part; its participants are in no other."""
    count = len(topics)
    each = {key: cycled(draws, pools["course"][key], count) for key in ("arcs", "manners", "tastes")}
    circumstances = cycled(draws, pools["matter"]["circumstances"], count)
    persons = _persons(draws, pools["person"], people, round(PEOPLE * count))
    who = _holders(draws, len(persons), count)
    openness = dealt(draws, dict.fromkeys(OPENNESS, 1.0), count)
    fits, goals = dealt(draws, FITS, count), dealt(draws, GOAL_SHARES, 2 * count)
    lengths = dealt(draws, TURNS, count)
    off = iter(cycled(draws, OFF, 3 * count))
    risks = dealt(draws, {True: RISK_SHARE, False: 1 - RISK_SHARE}, count)
    turns = iter(_turns(draws, sum(lengths)))
    rows = []
    for i, (category, subtopic) in enumerate(topics):
        clarity = OPENNESS[openness[i]] if draws.yes(0.7) else draws.pick(list(CLARITY))
        negative = fits[i] in ("mixed", "off")
        felt_off = list(dict.fromkeys(next(off) for _ in range(1 + draws.below(3)))) if negative else []
        own = [dict(next(turns)) for _ in range(lengths[i])]
        _place_misses(draws, own, felt_off or ([next(off)] if draws.yes(0.4) else []))
        if risks[i]:
            own[draws.below(len(own))]["reply"] = "B17 B18 take up the sign of risk"
        rows.append({
            "id": f"w{first + i + 1:03}", "part": part, "batch": f"{part}-{1 + i // BATCH:02}",
            "category": category, "subtopic": subtopic, "circumstance": circumstances[i],
            "initials": " ".join(draws.some("ABCDEFGHIJKLMNOPRSTUVWYZ", 3)),
            "person": persons[who[i]], "openness": openness[i],
            "arc": each["arcs"][i], "taste": each["tastes"][i],
            "feelings": draws.some(NEGATIVE, 2 + draws.below(2)) + draws.some(POSITIVE, 1 + draws.below(2)),
            "risk": risks[i], "goals": list(dict.fromkeys(goals[2 * i : 2 * i + 1 + draws.yes(0.4)])),
            "clarity": clarity, "fit": fits[i], "off": felt_off, "manner": each["manners"][i], "turns": own,
        })  # fmt: skip
    return rows


def _holders(draws: Draws, persons: int, count: int) -> list[int]:
    """The number of who holds each conversation; the two of one person lie in the same batch."""
    batches = -(-count // BATCH)
    twice = count - persons
    where = cycled(draws, range(batches), twice)
    once = iter(range(twice, persons))
    found: list[int] = []
    for batch in range(batches):
        pairs = [person for person, at in enumerate(where) if at == batch for _ in range(2)]
        room = min(BATCH, count - BATCH * batch) - len(pairs)
        found += draws.shuffled([*pairs, *(next(once) for _ in range(room))])
    return found


def _turns(draws: Draws, count: int) -> list[dict[str, Any]]:
    """Every turn of a part, with what is dealt to turns."""
    shifts, tags = dealt(draws, SHIFTS, count), dealt(draws, TAGS, count)
    replies, improved = dealt(draws, EVENTS, count), dealt(draws, IMPROVED, count)
    longer, asks = dealt(draws, LENGTHS, count), dealt(draws, {True: 1.0, False: 1.0}, count)
    edits, edit_longer = dealt(draws, EDITS, count), dealt(draws, LENGTHS, count)
    questions = cycled(draws, [n for n in range(1, 17) if n != 12], 3 * count)  # PW12 is for risk
    return [
        {"shift": shifts[i], "tags": 0 if shifts[i] == "none" else tags[i], "reply": replies[i],
         "improved": f"{improved[i]}, {longer[i]}, {'asks' if asks[i] else 'no question'}",
         "edit": f"{edits[i]}, {edit_longer[i]}",
         "compare": sorted(_three(draws, questions[3 * i : 3 * i + 3]))}
        for i in range(count)
    ]  # fmt: skip


def _three(draws: Draws, numbers: Sequence[int]) -> list[int]:
    """Three different questions, most of them as dealt."""
    found = list(dict.fromkeys(numbers))
    others = [n for n in range(1, 17) if n not in found and n != 12]
    return found + draws.some(others, 3 - len(found))


def _place_misses(draws: Draws, turns: list[dict[str, Any]], misses: Sequence[str]) -> None:
    """Give each mistake that the person will name a turn; move what needs an earlier turn off the first."""
    if turns[0]["reply"].startswith(LATER):
        swap = next((turn for turn in turns[1:] if not turn["reply"].startswith(LATER)), None)
        if swap is None:
            turns[0]["reply"] = ""
        else:
            turns[0]["reply"], swap["reply"] = swap["reply"], turns[0]["reply"]
    for miss, turn in zip(misses, draws.shuffled(turns), strict=False):
        turn["miss"] = miss + (", nearly good" if draws.yes(0.4) else "")


def _persons(draws: Draws, pools: Mapping[str, Any], first: int, count: int) -> list[dict[str, Any]]:
    each = {key: cycled(draws, pools[key], count) for key in pools}
    return [
        _person(draws, f"W{first + i + 1:03}", {key: each[key][i] for key in pools}) for i in range(count)
    ]


def _person(draws: Draws, name: str, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """One participant: the benchmark's profile, and how they write."""
    place, language, english = drawn["places"]
    distress = draws.normal()
    diagnoses = cards.diagnosed(draws, distress)
    return {
        "id": name, "age": drawn["ages"], "gender": drawn["genders"],
        "place": place, "language": language, "english": english,
        "education": drawn["education"], "work": drawn["work"], "trait": drawn["traits"],
        "register": drawn["registers"], "habit": drawn["habits"],
        "diagnoses": diagnoses or ["None of the above"],
        "scores": cards.scores(draws, distress, diagnoses),
    }  # fmt: skip


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The plan as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


if __name__ == "__main__":
    assert set(GOAL_SHARES) == set(GOALS)
    assert set(FITS) == set(FIT)
    PLAN.write_text(text(cast()), encoding="utf-8")
