"""Live conversations in verifiers: play one, and score its trace.

`trace.info["attune"]` is `{"version": 1, "said": [entry]}`, with an entry for each reply as in
`attune_episodes.verifiers_env.logs`: `text`, `status`, `calls`, `finish_reason`. The rest of the conversation
can be reconstructed from the task and the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attune_data.simulate.stream import Simulation
from attune_episodes.live.chat import LiveChat
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.live.standing import Standing
from attune_episodes.verifiers_env.chat import CallFailedError, Chat
from attune_episodes.verifiers_env.logs import FAILED, KEY, VERSION

if TYPE_CHECKING:
    from attune_episodes.verifiers_env.config import AttuneTasksetConfig

TOTAL = "live_total"
"""The name of the reward."""


def live_data(config: AttuneTasksetConfig, index: int) -> dict[str, Any]:
    """The data fields of a task: one conversation of the configured world."""
    standing = Standing(Simulation(config.world_seed, level=config.level), index, reader=config.reader)
    live = standing.live()
    return {"id": live.name, "name": live.name, "prompt": live.message, "live": standing.to_json()}


async def hold(chat: Chat, standing: Standing, system: str | None, info: dict[str, Any]) -> None:
    """Hold the conversation to its end and record the replies; raises CallFailedError if a call fails.

    The chat grows: each call sends the previous messages, the unchanged reply, and the person's answer.
    """
    live = LiveChat(standing.live())
    messages = [*([{"role": "system", "content": system}] if system else []), *live.opening()]
    info[KEY] = {"version": VERSION, "said": []}
    while not live.done:
        entry: dict[str, Any] = {"text": None, "status": FAILED, "calls": 0}
        info[KEY]["said"].append(entry)
        try:
            reply = await chat.ask(messages, f"attune-live-{len(info[KEY]['said'])}")
        except CallFailedError as error:
            entry |= {"calls": error.calls, "failed": str(error)}
            raise
        entry |= {"text": reply.text, "status": "ok", "calls": reply.calls}
        entry["finish_reason"] = reply.finish_reason
        if reply.refused:
            entry["refusal"] = True
        _, _, following = live.submit(reply.text)
        messages = [*messages, {"role": "assistant", "content": reply.text}, *following]


def held(standing: Standing, info: Mapping[str, Any]) -> LiveEpisode:
    """Reconstruct the conversation as far as the trace has replies."""
    live = standing.live()
    for entry in _said(info):
        if entry.get("text") is None or live.done:
            break
        live.say(entry["text"])
    return live


def live_metrics(live: LiveEpisode, info: Mapping[str, Any]) -> dict[str, float]:
    """Metrics other than the total; 0 if there are no replies.

    `replies`; `lost`, turns that were lost because the person left; `told`, 1 if the person disclosed what
    they held back; the mean `fit` of the replies, in [-1, 1]; the means of the parts of their worth;
    `retries` of calls.
    """
    turns = live.turns
    parts = [{"fit": turn.fit, **turn.taken._asdict()} for turn in turns]
    means = {name: sum(one[name] for one in parts) / len(parts) for name in parts[0]} if parts else {}
    return {
        **means,
        "replies": float(len(turns)),
        "lost": float(live.length - len(turns)) if live.done else 0.0,
        "told": float(live.talk.bond.disclosed),
        "retries": float(sum(max(0, entry.get("calls", 1) - 1) for entry in _said(info))),
    }


def unfinished(standing: Standing, info: Mapping[str, Any]) -> str | None:
    """Why a trace is not a complete conversation; None if it is."""
    live = held(standing, info)
    return None if live.done else f"the person still waits for a reply after {len(live.turns)}"


def _said(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = info.get(KEY)
    found = entries.get("said") if isinstance(entries, Mapping) else None
    return found if isinstance(found, list) else []
