"""`Attune/Live-v0`: the action is a text, and a simulated person answers it."""

from __future__ import annotations

from typing import Any, Final

from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded

from attune_data.errors import show
from attune_data.simulate.stream import Level
from attune_episodes.gymnasium_envs.render import ChatEnv
from attune_episodes.gymnasium_envs.spaces import TextSpace
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.live.source import LiveSource
from attune_episodes.live.transcript import closing, transcript, turn_lines
from attune_episodes.parsing.extract import MAX_CHARS

TURNS: Final = 21
"""Values of the observation's `turn`: 1 to 20 for the turns of a simulated conversation, 0 for none."""


class LiveEnv(ChatEnv):
    """A conversation in which a simulated person answers the policy's own replies.

    The action is any text: the reply to the person's message. The program keeps the person's state (mood,
    needs, what they hold back), and random draws are keyed: the same replies give the same conversation and
    the same rewards on every machine. After a reply that misses the mark, people may repeat themselves,
    withdraw, object, or leave. docs/live.md has the rules and the rewards.

    The reward is the live reward of the reply, which is unbounded; rewards add up to the total, which,
    averaged over people, is 0 for the best content-free replies and 1 for replies that know the state. After
    the end, the observation's `message` is "" or the person's parting words, and its `turn` is 0. Episodes
    terminate when the person has ended the conversation or left, and are never truncated.

    docs/gymnasium.md describes observation and info. `env.unwrapped.live` is the `LiveEpisode`.
    """

    def __init__(
        self,
        data: str = "simulated",
        *,
        level: str | Level = "default",
        world_seed: int = 0,
        reader: str | None = None,
        max_chars: int = 100_000,
        render_mode: str | None = None,
        **selection: Any,
    ) -> None:
        """Make the environment; all arguments but a Level can be written as JSON.

        `data` to `reader` and `selection` (`sampling`, `shard`, `number`, `training`) are those of
        `LiveSource`. `max_chars` limits the texts in the observation; a longer chat loses its beginning. With
        `render_mode="ansi"`, `render()` returns a transcript with what was felt and wanted; with "human",
        each turn is printed.
        """
        super().__init__(max_chars, render_mode)
        self.source = LiveSource(data, level=level, world_seed=world_seed, reader=reader, **selection)
        self.action_space = TextSpace(MAX_CHARS)
        self.observation_space = spaces.Dict(
            {
                "message": TextSpace(max_chars),
                "messages": TextSpace(max_chars),
                "turn": spaces.Discrete(TURNS),
            }
        )
        self.live: LiveEpisode | None = None
        """The current episode; None before the first reset."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the next conversation.

        Args:
            seed: seeds the order of conversations, which then starts again.
            options: `{"index": i}` names the conversation; the order then continues as if it had not been
            played.

        Raises UnknownNameError for another option, SettingsError for an index that does not exist.
        """
        named = self.source.begin(options) if options else None
        super().reset(seed=seed)
        if seed is not None:
            self.source.order.reset_order()
        self.live = named or self.source.begin(None, self.np_random)
        return self._observation(self.live), self._info(self.live)

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Give the action to the person as a reply.

        Raises ResetNeeded before the first reset and after the end, InvalidAction for anything but a text.
        """
        live = self.live
        if live is None or live.done:
            when = "before the first step" if live is None else "to begin the next episode"
            raise ResetNeeded(f"call reset() {when}")
        if not isinstance(action, str):
            raise InvalidAction(f"an action must be a text, got {show(action)} ({type(action).__name__})")
        turn = live.say(action)
        info = self._info(live) | {"answer": turn.answer, "parts": turn.taken._asdict()}
        if turn.done:
            info |= {"total": live.total, "lost": live.length - len(live.turns)}
        if self.render_mode == "human":
            print("\n".join(turn_lines(len(live.turns), turn, live.felt[-1])), flush=True)
            if turn.done:
                print("\n".join(closing(live)), flush=True)
        return self._observation(live), turn.reward, turn.done, False, info

    def _transcript(self) -> str | None:
        return None if self.live is None else transcript(self.live)

    def _observation(self, live: LiveEpisode) -> dict[str, Any]:
        chat = "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in live.chat())
        return {
            "message": live.message[-self.max_chars :],
            "messages": chat[-self.max_chars :],
            "turn": 0 if live.done else len(live.turns) + 1,
        }

    def _info(self, live: LiveEpisode) -> dict[str, Any]:
        return {"index": live.index, "pass": self.source.order.passes, "chat": live.chat()}
