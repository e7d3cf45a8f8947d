"""Write training rows as NeMo Gym reads them: one request a line, with the truth that scores it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from attune_env import training_dataset


def main() -> None:
    """Write the rows of some conversations; the benchmark's own are refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", default="written", help="conversations, as `attune` names them")
    parser.add_argument("-n", "--number", type=int, default=None, help="only the first N conversations")
    parser.add_argument("-o", "--output", type=Path, default=Path("rows.jsonl"))
    options = parser.parse_args()
    rows = training_dataset(options.data, number=options.number, prompts="compact", reward="composite")
    with options.output.open("w", encoding="utf-8") as file:
        for row in rows:
            line = {
                "responses_create_params": {"input": row["prompt"]},
                "truth": row["truth"],
                "agent_ref": {"type": "responses_api_agents", "name": "attune_simple_agent"},
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(rows)} rows in {options.output}")


if __name__ == "__main__":
    main()
