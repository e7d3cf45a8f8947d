"""Write what built-in policies score: the tables of README.md and docs, and docs/audit.md.

python -m tools.scores    (audits `written`, its test split and the sample: about eight minutes)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attune_data import load
from attune_env import row_reward, training_dataset
from attune_env.audit import Audit, audit, audit_tables
from attune_env.cli.rewards import AUDITED_BY
from attune_env.tables.cells import interval_text
from attune_env.tables.markdown import write_markdown
from attune_episodes.policies import POLICIES
from attune_rewards import RewardSpec
from attune_rewards.reward.spec import PRESETS
from tools.pages import DOCS, ROOT, filled, table

DATA: Final = ("sample", "written", "written:test")
CLOSED: Final = {
    "every tag; all options of every list; every entry four times": (
        ("every-tag", "all-options", "repeated"),
        "wrong entries lower the scores, and a repeated one counts once",
    ),
    "both answers, in one value, under one key twice, or in two objects": (
        ("both-in-one", "both-keys", "both-objects"), "an ambiguous answer is unanswered or unparsed",
    ),
    "sentences of the conversation as answers": (("quotes",), "they match nothing"),
    "the prompt itself; an instruction to the scorer": (
        ("parrot", "injected"), "nothing in a reply is obeyed",
    ),
    "20,000 characters of chatter around the answer": (
        ("huge-text",), "chatter costs nothing, so watch its length",
    ),
    "sycophancy: everybody is right, every reply is kind, all went very well": (
        ("sycophancy",), "the answers are compared with what this person said",
    ),
}  # fmt: skip
"""What a list of attacks in docs/rewards.md says -> the policies of the audit, and why they earn nothing."""
CUES: Final = ("asked", "surface", "lexicon")
UNDER: Final = ("emotion", "preference", "skill")
UNREAD: Final = 20
"""Conversations on which an unreadable reply is measured."""


def pages(found: Mapping[str, Audit]) -> dict[Path, dict[str, str]]:
    """Page -> its tables."""
    return {
        ROOT / "README.md": {"scores": scores(found)},
        DOCS / "policies.md": {"prior": prior(found)},
        DOCS / "rewards.md": {"attacks": attacks(found), "cues": cues(found), "unreadable": unreadable()},
    }


def scores(found: Mapping[str, Audit]) -> str:
    """The strict Composites of the built-in policies."""
    strict = {data: {row.name: row.strict for row in one.rows} for data, one in found.items()}
    rows = [
        (f"`{name}`", policy.uses, *(f"{strict[data][name]:.1f}" for data in ("sample", "written:test")))
        for name, policy in POLICIES.items()
    ]
    return table(("policy", "what it uses", "`sample`", "`written:test`"), rows, numbers=2)


def prior(found: Mapping[str, Audit]) -> str:
    """The strict Composite of `prior` on each data set."""
    rows = []
    for data, one in found.items():
        (row,) = [row for row in one.rows if row.name == "prior"]
        shown = interval_text(row.rewards["composite"], places=1, scale=100)
        rows.append((f"`{data}`", str(len(load(data))), shown))
    return table(("data", "conversations", "`prior`"), rows)


def attacks(found: Mapping[str, Audit]) -> str:
    """What attacks gain over the prior under `skill`."""
    gains = _gains(found["written"])
    rows = []
    for name, (policies, why) in CLOSED.items():
        rows.append((name, "; ".join(dict.fromkeys(gains[one]["skill"] for one in policies)), why))
    return table(("attack", "gain", "why"), rows)


def cues(found: Mapping[str, Audit]) -> str:
    """What the policies that read little or nothing gain over the prior."""
    gains = {data: _gains(one) for data, one in found.items()}
    rows = [
        (f"`{name}`", f"`{data}`", *(gains[data][name][under] for under in UNDER))
        for name in CUES
        for data in DATA
    ]
    return table(("policy", "data", *(f"`{under}`" for under in UNDER)), rows, numbers=len(UNDER))


def _gains(found: Audit) -> dict[str, dict[str, str]]:
    """Policy -> reward -> its mean gain over the prior."""
    return {
        row.name: {name: f"{gain.mean:.3f}".replace("-", "−") for name, gain in row.over_prior.items()}
        for row in found.rows
        if row.name != "prior"
    }


def unreadable() -> str:
    """What an unreadable reply is worth in each stage."""
    rows = []
    for name in ("skill", "skill_bounded"):
        worth: dict[str, list[float]] = {}
        for row in training_dataset("written", number=UNREAD, prompts="compact", reward=name):
            (earned,) = row_reward(completions=["…"], truth=[row["truth"]])
            worth.setdefault(row["stage"], []).append(earned or 0.0)
        ends = ((f"{low:.2f}", f"{high:.2f}") for low, high in ((min(v), max(v)) for v in worth.values()))
        shown = (low if low == high else f"{low} to {high}" for low, high in ends)
        rows.append((f"`{name}`", *(one.replace("-", "−") for one in shown)))
    return table(("", *worth), rows)


def main() -> None:
    """Audit, and write the pages."""
    found = {}
    for data in DATA:
        print(f"auditing {data}", flush=True)
        found[data] = audit(load(data), [RewardSpec.preset(name) for name in PRESETS])
    tables = audit_tables(found["written"])
    command = "attune rewards audit --data written"
    write_markdown(DOCS / "audit.md", "Audit of the rewards", tables, AUDITED_BY, command=command)
    for page, made in pages(found).items():
        page.write_text(filled(page.read_text("utf-8"), made), "utf-8")


if __name__ == "__main__":
    main()
