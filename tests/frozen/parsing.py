"""What the parser makes of hostile and half-right replies, stage by stage."""

from __future__ import annotations

import json
from typing import Any

from attune_episodes import Request, Settings, builtin_policy, parse, plan
from attune_episodes.play.policy import prepared
from tests.frozen.keeping import digest
from tests.play.players import UNREADABLE, example
from tests.training.batches import BROKEN

Json = dict[str, Any]


def parsed() -> Json:
    """What the parser makes of hostile and half-right replies, stage by stage."""
    about = example()
    found: Json = {}
    for settings in (Settings(), Settings(panas_strategy="delta", mode="verbose")):
        for request in plan(about, settings):
            said = {text: parse(request, text) for text in (*UNREADABLE, *BROKEN, *_hostile(request))}
            found[f"{request.stage}, {settings.panas_strategy}"] = {
                text if len(text) < 200 else f"{text[:60]}… {digest(text)}": repr(outcome)
                for text, outcome in said.items()
            }
    return found


def _hostile(request: Request) -> list[str]:
    """Replies around the right answer that hold it once, twice, differently, or in an odd shape."""
    right = prepared(builtin_policy("oracle", [example()]), example()).reply(request)
    assert isinstance(right, str)
    other = right.replace("yes", "NO").replace('"A"', '"B"').replace(": 4", ": 5")
    body: Json = json.loads(right) if right.startswith("{") else {"draft": right}
    lists = {name: value if isinstance(value, list) else [value] for name, value in body.items()}
    changed: list[Json] = [
        {"observed": {"B1": " Yes ", "b2": 0, "B2": "no", "B3": "maybe", "B1 ": "no"}},
        {"preferred": {"B1": True, "b1": False, "B2": "n/a"}},
        {"emotions": "none"},
        {"emotions": ["None"]},
        {"emotions": ["upset", {"emotion": "DISTRESSED", "intensity": "8"}, {"emotion": "Rage"}]},
        {"emotions": [{"emotion": ""}, {"emotion": "Upset", "intensity": 3}]},
        {"emotions": [{"emotion": "Upset", "intensity": 3.0}, {"emotion": "Upset", "intensity": 5}]},
        {"picks": ["B", "a"]},
        {"picks": {"1": " b ", "2": "AB", "3": "A"}},
        {"q1_lookingFor": 1, "q2_emotionClarity": "2", "q3_modelFit": 9},
        {"q1_lookingFor": [1, 99], "q2_emotionClarity": "2. x", "q3_modelFit": [1]},
        {"post_panas": {"Upset": "7", "upset": 7, "Proud": 8, "alert": 4.5, "ALERT": 3}},
        {"panas_change": {"Upset": "-6", "Proud": "+2", "Alert": 7, "Afraid": True}},
        {"fourBranchScores": {"perceiving": 0, "Managing": 3, "managing": 3, "understanding": "x"}},
    ]
    return [
        right,
        f"```json\n{right}\n```",
        f"Sure! Here: {right} I hope that helps.",
        f"<think>{other}</think>{right}",
        f"<think>{other}\n{right}",
        f"{other}<think>hm</think> so </think>{right}",
        f"{other}\n{right}",
        f"{right}\n{right}",
        f"```\n{other}\n```\n```json\n{right}\n```",
        f"```\nwithout braces\n```\n```json\n{right}\n```",
        f"{right[:-1]}, }}",
        f"{right[:-1]}, // done\n}}",
        right.replace('"', "'"),
        right.replace("null", "None").replace('"yes"', "True"),
        right[: len(right) // 2],
        right + "}",
        json.dumps({"answer": body}),
        json.dumps([body]),
        json.dumps(lists),
        json.dumps({name.upper(): value for name, value in body.items()}),
        *(json.dumps(body | change) for change in changed),
        json.dumps({"reasoning": "because", **body}),
        json.dumps({"draft": "  ", **{k: v for k, v in body.items() if k != "draft"}}),
    ]
