"""Print the file of the `skill` preset: the baselines on its reference data, or on other data.

python -m tools.skill > rewards/attune_rewards/reward/presets/skill.json
python -m tools.skill DATA
"""

from __future__ import annotations

import json
import sys

from attune_data import load
from attune_episodes.policies.skill import REFERENCE, described, prior_scores


def main(source: str = REFERENCE) -> None:
    """Print the preset file for a reference data set."""
    conversations = load(source)
    document = {"reference": described(conversations), "baselines": prior_scores(conversations)}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:2])
