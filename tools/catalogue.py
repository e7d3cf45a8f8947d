"""Write tables in docs (policies, presets, analyses, fields) from what each says of itself.

python -m tools.catalogue
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from attune_env.report.analyses import CHAPTERS
from attune_episodes.policies import POLICIES
from attune_rewards import RewardSpec
from attune_rewards.reward.presets import REWARDS
from tools.format_fields import names, spellings
from tools.pages import DOCS, filled, table
from tools.reward_fields import example, predictions, truths

FEW: Final = 3
"""Most parts of a reward that a table names."""


def policies() -> str:
    """The built-in policies."""
    rows = (
        (f"`{name}`", f"{one.kind}{', fitted' * one.fitted}", one.uses, one.answers)
        for name, one in POLICIES.items()
    )
    return table(("name", "kind", "uses", "answers"), rows)


def presets() -> str:
    """The presets."""
    rows = []
    for name, preset in REWARDS.items():
        parts = list(RewardSpec.preset(name).parts)
        named = ", ".join(f"`{part}`" for part in parts) if len(parts) <= FEW else f"{len(parts)} parts"
        rows.append((f"`{name}`", preset.text, named))
    return table(("preset", "what it rewards", "parts"), rows)


def analyses() -> str:
    """The analyses, chapter by chapter."""
    sections = []
    for title, listed in CHAPTERS:
        rows = ((f"`{one.name}`", one.question, one.inputs) for one in listed)
        sections.append(f"### {title}\n\n{table(('name', 'question', 'inputs besides scores'), rows)}")
    return "\n".join(sections)


PAGES: Final[Mapping[str, Mapping[str, Callable[[], str]]]] = {
    "policies.md": {"policies": policies},
    "rewards.md": {"presets": presets},
    "report.md": {"analyses": analyses},
    "formats.md": {"names": names, "spellings": spellings},
    "custom-reward.md": {"example": example, "truths": truths, "predictions": predictions},
}
"""Page of docs -> its table -> what makes it."""


def rewritten(name: str, page: str) -> str:
    """That page with its tables made again."""
    return filled(page, {title: make() for title, make in PAGES[name].items()})


def main() -> None:
    """Write the pages."""
    for name in PAGES:
        page = DOCS / name
        page.write_text(rewritten(name, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
