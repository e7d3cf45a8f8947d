"""Plays what `docs/live.md` shows and writes it there: three dialogues, and the table of attacks.

    python docs/live_page.py [dialogues|attacks]      (attacks: about five minutes)

The replies of the dialogues were written by hand, turn by turn, in the light of what the person had said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from attune_env import LiveEpisode, Simulation
from attune_env.audit import live_audit, live_tables

PAGE = Path(__file__).parent / "live.md"
SEED = 2026
PLAYED: dict[tuple[str, int], tuple[str, ...]] = {
    ("Listening", 8): (
        "That sounds hurtful, to be told by Winston that you had better get used to it, with the "
        "festival still ahead. No wonder two late hours and a stranger's jacket stayed with you.",
        "So half of those ten are strangers to you. You sound let down by Winston, and it makes sense "
        "that the weekend is nothing to look forward to. How did you answer him on Sunday?",
        "Half a form on the hall table, and you left to guess at the rest: anyone would be on edge "
        "about that.",
        "When Umberto has to slow you down because the words come out three at a time, you sound "
        "restless. That is understandable with the festival so near. What worries you most about that "
        "weekend?",
        "You need not have the words yet. It sounds as if you are uneasy about Winston more than about "
        "any festival: he sits at your table at half past six, and you still cannot tell where you stand "
        "with him.",
    ),
    ("Good and bad moments", 2): (
        "You sound really hurt: everybody had a key to that class film, even the caretaker, and you "
        "were the one left outside. Sitting in the last row under your coat with tissues in your hands "
        "makes sense after finding that out.",
        "A whole page of questions for Eilidh says how much that film matters to you. For tonight, you "
        "could put the page in a drawer and pick one question to ask her first.",
        "An article so good that Quentin came in unheard, and a run-through in an empty room that "
        "worked: you sound curious again, key or no key. What were you reading about?",
        "Soup at the table and a list that is shorter by twelve: you sound proud of the three of you, "
        "and after the week you had with that key it is good to hear.",
        "Half four is no hour to be working: you must be worried about her. You could agree on fixed "
        "times for the film, and you could put the pens away by ten.",
    ),
    ("The worst", 9): (
        "You could try a breathing exercise. Have you thought about a new pet? Everything happens for a"
        " reason!",
        "Signing a form is quickly done. You could write a list and stay positive, everybody loses "
        "something!",
        "You could go to bed later and buy a new mat. Have you tried yoga? Have you tried tea?",
    ),
}
"""(title, index of the conversation) -> the replies."""


def dialogues() -> str:
    """The dialogues, each reply with what it earned and what the person did."""
    parts = []
    for (title, index), replies in PLAYED.items():
        live, lines = LiveEpisode(Simulation(SEED), index), []
        while not live.done:
            felt, message = live.talk.story.mood.family, live.message
            turn = live.say(replies[len(live.turns)])
            lines += [
                f"> **Person** ({felt}): {' / '.join(message.splitlines())}",
                ">",
                f"> **Reply**: {turn.reply}",
                ">",
                f"> *reward {turn.reward:+.2f}, fit {turn.fit:+.2f}; the person {turn.answer}*",
                ">",
            ]
        if live.turns[-1].answer == "leaves":
            lines += [f"> **Person**: {live.message}", ">"]
        goals = " and ".join(live.talk.story.goals)
        parts.append("\n".join([f"### {title}: total {live.total:+.2f} (goal: {goals})", "", *lines[:-1]]))
    return "\n\n".join(parts)


def attacks() -> str:
    """The table of `attune rewards audit --live`."""
    (table,) = live_tables(live_audit())
    return "\n\n".join((table.markdown(), *table.notes))


MADE: dict[str, Callable[[], str]] = {"dialogues": dialogues, "attacks": attacks}
"""Name of a part of the page, between `<!-- name -->` and `<!-- /name -->` -> what stands there."""


def main() -> None:
    """Writes the parts that are named, or all."""
    for name in sys.argv[1:] or MADE:
        made = MADE[name]()
        head, start, rest = PAGE.read_text("utf-8").partition(f"<!-- {name} -->")
        _, end, tail = rest.partition(f"<!-- /{name} -->")
        PAGE.write_text(f"{head}{start}\n{made}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
