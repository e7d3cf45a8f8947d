"""An episode served by OpenEnv is the engine's own, step by step, as `tests/frozen` keeps it."""

from __future__ import annotations

from attune_episodes import Settings
from attune_episodes.openenv_env import AttuneAction
from attune_episodes.openenv_env.environment import AttuneEnvironment, Served
from attune_episodes.source import ConversationSource
from attune_rewards import RewardSpec
from tests.frozen.keeping import digest, kept
from tests.frozen.traces import replies, sample, step_of


def test_every_step_is_that_of_the_engine() -> None:
    frozen, asked = kept("episodes")["composite"], kept("prompts")["requests"]["default"]
    source = ConversationSource("sample", sampling="sequential")
    env = AttuneEnvironment(Served(source, Settings(), RewardSpec.preset("composite")))
    for about in sample()[:2]:
        said = replies(about)
        shown = env.reset(conversation_id=about.conversation_id)
        steps = []
        while not shown.done:
            name = str(shown.request_id)
            chat = [message.model_dump() for message in shown.messages]
            wanted = asked[about.conversation_id][name.split("/", 1)[1]]
            assert f"{len(chat)} {digest(chat)} {digest(shown.answer_schema)}" == wanted
            shown = env.step(AttuneAction(message=said[name]))
            steps.append(step_of(name, said[name], shown.status, shown.reward, shown))
        want = frozen[about.conversation_id]
        assert [_without_reply(step) for step in steps] == [_without_reply(step) for step in want["steps"]]
        assert (shown.total, shown.total_name) == (want["total"], want["total_name"])


def _without_reply(step: dict[str, object]) -> dict[str, object]:
    """The raw text is the client's own: OpenEnv tells nothing of it."""
    return {name: value for name, value in step.items() if name != "reply"}
