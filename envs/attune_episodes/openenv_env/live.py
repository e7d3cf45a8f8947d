"""`LiveEnvironment`: one session's live conversation with a simulated person."""

from __future__ import annotations

from threading import Lock
from typing import Any

from openenv.core.env_server.types import EnvironmentMetadata

from attune_data.errors import SettingsError, show
from attune_data.version import __version__
from attune_episodes.episode import EpisodeOverError
from attune_episodes.live.episode import LiveEpisode, LiveTurn
from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env.environment import AttuneEnvironment, NotResetError, check_seed
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.score import LIVE


class LiveServed:
    """The state that a server's sessions share: the world, the order of its people, the reader."""

    def __init__(self, source: LiveSource) -> None:
        self.source = source
        self._lock = Lock()  # the source keeps an order

    def episode(self, seed: int | None, conversation_id: str | None, index: int | None) -> LiveEpisode:
        """Begin an episode; the arguments and errors are those of `AttuneEnvironment.reset`."""
        check_seed(seed)
        if conversation_id is not None:
            raise SettingsError(
                f"conversation_id is {show(conversation_id)}; a live conversation is named by its index"
            )
        with self._lock:
            if seed is not None and index is None:
                return self.source.drawn(seed)
            return self.source.begin(None if index is None else {"index": index})


class LiveEnvironment(AttuneEnvironment):
    """A live conversation as an episode: a step is a reply, and the observation what the person answers.

    A session never receives the person's state; `parts` and `status` say what the reply was worth to them
    and what they did.
    """

    _episode: LiveEpisode | None  # type: ignore[assignment]

    def __init__(self, served: LiveServed) -> None:
        """Make the environment of one session, which shares `served` with the other sessions."""
        super().__init__(served)  # type: ignore[arg-type]  # `reset` wants an episode of it, and no more

    def step(self, action: AttuneAction, timeout_s: float | None = None, **unknown: Any) -> AttuneObservation:
        """Say the reply to the person and show the answer.

        The arguments and errors are those of `AttuneEnvironment.step`.
        """
        live = self._episode
        if live is None:
            raise NotResetError("no episode has begun: reset first (a plain HTTP call keeps no episode)")
        if live.done:
            raise EpisodeOverError(
                f"the person has ended {live.name} after {len(live.turns)} replies: reset to begin another"
            )
        return self._shown(live, live.say(action.message))

    @property
    def state(self) -> AttuneState:
        """The state of the episode."""
        live = self._episode
        if live is None:
            return AttuneState()
        return AttuneState(
            episode_id=self._id,
            step_count=len(live.turns),
            conversation_id=live.name,
            stage=None if live.done else LIVE,
            turn=None if live.done else len(live.turns) + 1,
            requests=live.length,
            done=live.done,
            total=live.total,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version, and a sentence on what it is."""
        return EnvironmentMetadata(
            name="attune-env",
            description="Live conversations: a simulated person answers the reply, and pays for it.",
            version=__version__,
        )

    def _shown(  # type: ignore[override]  # a live episode and its turn
        self, live: LiveEpisode, turn: LiveTurn | None
    ) -> AttuneObservation:
        shown: dict[str, Any] = {
            "conversation_id": live.name,
            "messages": live.chat(),
            "answered": len(live.turns),
            "requests": live.length,
            "done": live.done,
            "total": live.total,
        }
        if live.done:
            shown["total_name"] = "live_total"
        else:
            number = len(live.turns) + 1
            shown |= {"request_id": f"{live.name}/{number}", "stage": LIVE, "turn": number}
        if turn is not None:
            shown |= {"reward": turn.reward, "scored": f"{live.name}/{len(live.turns)}"}
            shown |= {"parts": turn.taken._asdict(), "value": turn.reward, "weight": 1.0}
            shown |= {"reason": "ok", "status": turn.answer}
        return AttuneObservation(**shown)
