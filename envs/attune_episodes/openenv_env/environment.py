"""`AttuneEnvironment`: one session's episode, on the engine's `Episode`."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final
from uuid import uuid4

import numpy as np
from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, show
from attune_data.schema import Conversation
from attune_data.version import __version__
from attune_episodes.episode import Episode, EpisodeOverError, Step
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.parsing import sound
from attune_episodes.settings import Settings
from attune_episodes.source import WORLD, ConversationSource
from attune_rewards.spec import RewardSpec

LONGEST: Final = 255
"""Longest id that is looked at, in characters."""


class NotResetError(AttuneError):
    """A step came before the first reset."""


class Served:
    """The state that a server's sessions share: conversations and their order, settings, reward."""

    def __init__(self, source: ConversationSource, settings: Settings, spec: RewardSpec) -> None:
        self.source, self.settings, self.spec = source, settings, spec
        self._lock = Lock()  # the source keeps an order, and the conversations that it made lately

    def episode(self, seed: int | None, conversation_id: str | None, index: int | None) -> Episode:
        """Begin an episode; the arguments and errors are those of `AttuneEnvironment.reset`."""
        check_seed(seed)
        _check_name("conversation_id", conversation_id)
        given = {"conversation_id": conversation_id, "index": index}
        options = {name: value for name, value in given.items() if value is not None}
        generator = np.random.default_rng(seed)
        size = WORLD if self.source.endless else len(self.source)

        def drawn() -> Conversation:
            return self.source.conversation(int(generator.integers(size)))

        with self._lock:
            chosen = self.source.choose(options, self.settings, None if seed is None else drawn)
        return Episode(chosen, self.settings, self.spec)


def check_seed(seed: object) -> None:
    """Raises SettingsError for anything that is not a seed; None draws one at random."""
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
        raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0, below 2^64")


def _check_name(argument: str, value: object) -> None:
    if value is not None and not (isinstance(value, str) and len(value) <= LONGEST):
        raise SettingsError(f"{argument} is {show(value)}; it must be a text of at most {LONGEST} characters")


class AttuneEnvironment(Environment[AttuneAction, AttuneObservation, AttuneState]):
    """One annotated conversation as an episode: a step answers one request of the protocol.

    What a session receives depends on the annotations only through the scores of replies already given.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Served) -> None:
        """Make the environment of one session, which shares `served` with the other sessions."""
        super().__init__()
        self._served = served
        self._episode: Episode | None = None
        self._id: str | None = None

    def reset(
        self,
        /,
        seed: int | None = None,
        episode_id: str | None = None,
        conversation_id: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> AttuneObservation:
        """Begin an episode and show its first request; after an error, the earlier episode continues.

        Args:
            seed: draws the conversation if none is named; the same seed draws the same conversation in every
                session.
            episode_id: a name for the episode, at most 255 characters; made up if None.
            conversation_id: plays the conversation with this id.
            index: plays the conversation at this place of the data, from 0.
            unknown: any other argument, which is refused; OpenEnv itself would drop it.

        Without seed, id and index it is the next conversation of the order that all sessions share.

        Raises:
            SettingsError: arguments that are of another kind or do not go together, or a conversation in
                which the stages ask nothing.
            UnknownNameError: no such conversation, no such argument.
        """
        for name in unknown:
            arguments = ("seed", "episode_id", "conversation_id", "index")
            raise UnknownNameError("reset argument", name[:100], arguments)
        _check_name("episode_id", episode_id)
        self._episode = self._served.episode(seed, conversation_id, index)
        self._id = str(uuid4()) if episode_id is None else sound(episode_id)
        return self._shown(self._episode, None)

    def step(self, action: AttuneAction, timeout_s: float | None = None, **unknown: Any) -> AttuneObservation:
        """Score the reply and show the next request. A reply that cannot be read earns 0 and says why.

        Args:
            action: the reply.
            timeout_s: not used, a step takes milliseconds.
            unknown: not used.

        Raises NotResetError before the first reset, EpisodeOverError after the last request.
        """
        episode = self._episode
        if episode is None:
            raise NotResetError("no episode has begun: reset first (a plain HTTP call keeps no episode)")
        if episode.done:
            raise EpisodeOverError(
                f"the episode of {episode.conversation.conversation_id!r} is over after "
                f"{len(episode.requests)} requests: reset to begin another"
            )
        return self._shown(episode, episode.submit(action.message))

    @property
    def state(self) -> AttuneState:
        """The state of the episode."""
        episode = self._episode
        if episode is None:
            return AttuneState()
        waits = None if episode.done else episode.request
        return AttuneState(
            episode_id=self._id,
            step_count=len(episode.steps),
            conversation_id=episode.conversation.conversation_id,
            stage=waits and waits.stage,
            turn=waits and waits.turn,
            requests=len(episode.requests),
            done=episode.done,
            total=episode.total,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version, and a sentence on what it is."""
        return EnvironmentMetadata(
            name="attune-env",
            description="Annotated conversations: predict, turn by turn, what the person felt and preferred.",
            version=__version__,
        )

    def _shown(self, episode: Episode, step: Step | None) -> AttuneObservation:
        shown: dict[str, Any] = {
            "conversation_id": episode.conversation.conversation_id,
            "answered": len(episode.steps),
            "requests": len(episode.requests),
            "done": episode.done,
            "total": episode.total,
        }
        if episode.done:
            shown["total_name"] = episode.total_name
        else:
            request = episode.request
            shown |= {"request_id": request.id, "stage": request.stage, "turn": request.turn}
            shown |= {"messages": request.chat(), "answer_schema": request.schema}
        if step is not None:
            score = step.score
            shown |= {"reward": step.reward, "scored": step.request.id, "parts": dict(score.parts)}
            shown |= {"value": score.value, "weight": score.weight}
            shown |= {"reason": score.reason, "status": step.status}
        return AttuneObservation(**shown)
