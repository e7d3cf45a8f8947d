"""`AttuneEnvironment`: a session's episode, with a recorded or a live conversation."""

from __future__ import annotations

from abc import abstractmethod
from threading import Lock
from typing import Any, ClassVar, Final
from uuid import uuid4

import numpy as np
from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, show
from attune_data.schema import Conversation
from attune_data.version import __version__
from attune_episodes.episode import Episode, EpisodeOverError
from attune_episodes.live.chat import live_score
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.parsing import sound
from attune_episodes.score import LIVE
from attune_episodes.settings import Settings
from attune_episodes.source import WORLD, ConversationSource
from attune_rewards.reward import Score
from attune_rewards.spec import RewardSpec

LONGEST: Final = 255
"""Maximum length of an id, in characters."""
Fields = dict[str, Any]
"""Fields of an observation."""


class NotResetError(AttuneError):
    """A step was taken before the first reset."""


class AttuneEnvironment(Environment[AttuneAction, AttuneObservation, AttuneState]):
    """One conversation as an episode: a step answers one request of the protocol, or a simulated person.

    What a session receives depends on the annotations only through the scores of earlier replies; in a live
    conversation, on the person's state only through what they say and what replies earned.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    description: ClassVar[str]

    def __init__(self, lock: Lock) -> None:
        """Make the environment of one session; all sessions of a server share the lock and the source."""
        super().__init__()
        self._lock = lock  # the source has an order, and a cache of recent conversations
        self._id: str | None = None
        self._shown: AttuneObservation | None = None

    def reset(
        self,
        /,
        seed: int | None = None,
        episode_id: str | None = None,
        conversation_id: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> AttuneObservation:
        """Begin an episode and return its first request; after an error, the earlier episode continues.

        Args:
            seed: draws the conversation if none is named; the same seed draws the same conversation in every
                session.
            episode_id: a name for the episode, at most 255 characters; generated if None.
            conversation_id: play the conversation with this id.
            index: play the conversation at this position of the data, counted from 0.
            unknown: any other argument, which is refused; OpenEnv itself would ignore it.

        Without seed, id and index, the next conversation in the shared order of all sessions is played.

        Raises:
            SettingsError: arguments that are invalid or conflict, or a conversation in which the stages ask
                nothing.
            UnknownNameError: no such conversation, no such argument.
        """
        for name in unknown:
            arguments = ("seed", "episode_id", "conversation_id", "index")
            raise UnknownNameError("reset argument", name[:100], arguments)
        ids: dict[str, object] = {"episode_id": episode_id, "conversation_id": conversation_id}
        for argument, value in ids.items():
            if value is not None and not (isinstance(value, str) and len(value) <= LONGEST):
                raise SettingsError(
                    f"{argument} is {show(value)}; it must be a text of at most {LONGEST} characters"
                )
        if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
            raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0, below 2^64")
        with self._lock:
            self._begin(seed, conversation_id, index)
        self._id = str(uuid4()) if episode_id is None else sound(episode_id)
        self._shown = AttuneObservation(**self._seen())
        return self._shown

    def step(self, action: AttuneAction, timeout_s: float | None = None, **unknown: Any) -> AttuneObservation:
        """Score the reply and return the next request; an unreadable reply earns 0, and the status says why.

        Args:
            action: the reply.
            timeout_s: not used, since a step takes milliseconds.
            unknown: not used.

        Raises NotResetError before the first reset, EpisodeOverError after the last request.
        """
        before = self._shown
        if before is None:
            raise NotResetError("no episode has begun: reset first (plain HTTP calls keep no episode)")
        if before.done:
            raise EpisodeOverError(
                f"the episode of {before.conversation_id!r} is over after {before.answered} replies: "
                "reset to begin another"
            )
        score, earned = self._say(action.message)
        told = {"parts": dict(score.parts), "value": score.value, "weight": score.weight}
        self._shown = AttuneObservation(**self._seen() | told | {"reason": score.reason} | earned)
        return self._shown

    @property
    def state(self) -> AttuneState:
        """The state of the episode."""
        shown = self._shown
        if shown is None:
            return AttuneState()
        same = shown.model_dump(include={*AttuneState.model_fields})
        return AttuneState(episode_id=self._id, step_count=shown.answered, **same)

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version, and a one-sentence description."""
        return EnvironmentMetadata(name="attune-env", description=self.description, version=__version__)

    @abstractmethod
    def _begin(self, seed: int | None, conversation_id: str | None, index: int | None) -> None:
        """Begin an episode; raises the errors of `reset`."""

    @abstractmethod
    def _seen(self) -> Fields:
        """The state of the episode, and the current request."""

    @abstractmethod
    def _say(self, text: str) -> tuple[Score, Fields]:
        """Submit a reply; returns its score, and `reward`, `scored` and `status`."""


class RecordedEnvironment(AttuneEnvironment):
    """A recorded conversation: each reply answers one request of the protocol."""

    description = "Annotated conversations: predict, turn by turn, what the person felt and preferred."
    _episode: Episode

    def __init__(self, source: ConversationSource, settings: Settings, spec: RewardSpec, lock: Lock) -> None:
        super().__init__(lock)
        self._source, self._settings, self._spec = source, settings, spec

    def _begin(self, seed: int | None, conversation_id: str | None, index: int | None) -> None:
        given = {"conversation_id": conversation_id, "index": index}
        options = {name: value for name, value in given.items() if value is not None}
        generator = np.random.default_rng(seed)
        size = WORLD if self._source.endless else len(self._source)

        def drawn() -> Conversation:
            return self._source.conversation(int(generator.integers(size)))

        chosen = self._source.choose(options, self._settings, None if seed is None else drawn)
        self._episode = Episode(chosen, self._settings, self._spec)

    def _seen(self) -> Fields:
        episode = self._episode
        seen = {
            "conversation_id": episode.conversation.conversation_id,
            "answered": len(episode.steps),
            "requests": len(episode.requests),
            "done": episode.done,
            "total": episode.total,
        }
        if episode.done:
            return {**seen, "total_name": episode.total_name}
        request = episode.request
        return {
            **seen,
            "request_id": request.id,
            "stage": request.stage,
            "turn": request.turn,
            "messages": request.chat(),
            "answer_schema": request.schema,
        }

    def _say(self, text: str) -> tuple[Score, Fields]:
        step = self._episode.submit(text)
        return step.score, {"reward": step.reward, "scored": step.request.id, "status": step.status}


class LiveEnvironment(AttuneEnvironment):
    """A live conversation: each reply is said to a simulated person, who answers it.

    `parts` and `status` report what a reply was worth to the person and what they did, never their state.
    """

    description = (
        "Live conversations: a simulated person answers each reply; the reward is what it was worth to them."
    )
    _live: LiveEpisode

    def __init__(self, source: LiveSource, lock: Lock) -> None:
        super().__init__(lock)
        self._source = source

    def _begin(self, seed: int | None, conversation_id: str | None, index: int | None) -> None:
        if conversation_id is not None:
            raise SettingsError(
                f"conversation_id is {show(conversation_id)}; live conversations are chosen by index"
            )
        if seed is not None and index is None:
            self._live = self._source.drawn(seed)
        else:
            self._live = self._source.begin(None if index is None else {"index": index})

    def _seen(self) -> Fields:
        live, said = self._live, len(self._live.turns)
        seen = {
            "conversation_id": live.name,
            "answered": said,
            "requests": live.length,
            "done": live.done,
            "total": live.total,
            "messages": live.chat(),
        }
        if live.done:
            return {**seen, "total_name": "live_total"}
        return {**seen, "request_id": f"{live.name}/{said + 1}", "stage": LIVE, "turn": said + 1}

    def _say(self, text: str) -> tuple[Score, Fields]:
        turn = self._live.say(text)
        scored = f"{self._live.name}/{len(self._live.turns)}"
        earned = {"reward": turn.reward, "scored": scored, "status": turn.answer}
        return live_score(turn.reward), {**earned, "parts": turn.taken._asdict()}
