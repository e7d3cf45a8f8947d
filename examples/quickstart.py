"""Load, roll out, print the reward and its parts. Run: python examples/quickstart.py."""

from attune_env import Episode, builtin_policy, load, rollout

conversations = load("sample")
print(conversations)

# 1. One conversation, one policy. Any function from chat messages to text would do as well.
reader = builtin_policy("lexicon", conversations)
played = rollout(conversations[0], reader)
print(f"\n{played.policy} on {played.conversation.conversation_id}: {played.total_name} = {played.total:.3f}")
for part, score in played.parts.items():
    print(f"  {part:22s} {score:.3f}")

# 2. The same by hand, step by step: what an RL loop does.
episode = Episode(conversations[0])
while not episode.done:
    request = episode.request
    step = episode.submit(reader.reply(request))
    worth = "not scored" if step.score.value is None else f"{step.score.value:.3f}"
    print(f"{request.id:22s} {step.status:9s} {worth:>10s}  reward {step.reward:.4f}")
print(f"return {episode.total:.3f}")

# 3. Beside the baselines, which earn without reading a word, and the oracle, which is given the annotations.
print()
for name in ("empty", "prior", "lexicon", "oracle"):
    policy = builtin_policy(name, conversations)
    totals = [rollout(conversation, policy).total for conversation in conversations]
    print(f"{name:8s} mean return {sum(totals) / len(totals):.3f} over {len(totals)} conversations")
