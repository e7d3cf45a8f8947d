"""A function as a policy, and your own reward part. Run: python examples/custom_policy.py."""

import json
import re

from attune_env import RewardSpec, Settings, load, rollout
from attune_rewards import Draft, Prediction
from attune_rewards.truth import ConversationTruth, TurnTruth


def keyword_model(messages: list[dict[str, str]]) -> str:
    """Stands in for a call to your model: chat messages in, text out (async works too)."""
    asked = messages[-1]["content"]
    if "<reply X>" in asked:  # the comparisons: side A throughout
        numbers = re.findall(r"^(\d+)\. \[", asked, flags=re.MULTILINE)
        return json.dumps({"picks": dict.fromkeys(numbers, "A")})
    questions = re.findall(r"^(B\d+): ", asked, flags=re.MULTILINE)
    if questions:
        said_yes = [q for q in questions if q in ("B1", "B3", "B8", "B9", "B10")]
        answers = {q: "yes" if q in said_yes else "no" for q in questions}
        return json.dumps({"emotions": [], "observed": answers, "preferred": answers})
    if "20 feelings" in asked:
        return json.dumps({"q2_emotionClarity": 2, "q3_modelFit": 2})
    return "That sounds like a lot to carry. What is weighing on you most?"


def brevity(truth: ConversationTruth, turn: TurnTruth | None, said: Prediction) -> float:
    """1 for drafts of up to 40 words, falling to 0 at 120: a taste of ours, not of the benchmark."""
    words = len(said.text.split()) if isinstance(said, Draft) else 0
    return max(0.0, min(1.0, (120 - words) / 80))


spec = RewardSpec.preset("composite").with_part("brevity", "draft", brevity, weight=0.1)
for conversation in load("sample")[:3]:
    played = rollout(conversation, keyword_model, Settings(seed=1), spec)
    parts = ", ".join(f"{name} {score:.2f}" for name, score in played.parts.items())
    print(f"{conversation.conversation_id}: {played.total_name} {played.total:.3f}\n  {parts}")
