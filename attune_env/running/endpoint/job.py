"""One conversation in one mode and sample: its calls, and the result record that they come to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attune_data.schema import Conversation
from attune_env.running.endpoint.asking import OK, Asker, Question
from attune_env.running.endpoint.journal import CallKey, Finished, Journal, group_of
from attune_env.running.endpoint.tally import total, usage_of
from attune_episodes.episode import Episode
from attune_episodes.judging import (
    JudgeRequest,
    add_judgements,
    judge_request,
    parse_judgement,
    reference_of,
)
from attune_episodes.parsing import Unparsed, parse
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_rewards.predictions import TURN_STAGES, Draft
from attune_rewards.spec import is_asked
from attune_rewards.truth import truth_of


@dataclass(frozen=True)
class Step:
    """One call that is to be made."""

    asker: Asker
    question: Question
    group: str
    request: Request | JudgeRequest
    judge: str = ""
    """The judge's model; "" for the evaluated model."""

    @cached_property
    def key(self) -> CallKey:
        """Its key in the journal."""
        id_ = f"{self.request.id}/{self.judge}" if self.judge else self.request.id
        return CallKey(self.group, id_, self.asker.digest(self.question))


@dataclass
class Job:
    """A conversation under way."""

    conversation_id: str
    conversations: Mapping[str, Conversation]
    """By id; it need not be in memory before the job starts, nor after it ends."""
    settings: Settings
    sample: int
    em_model: str
    path: Path
    """Of its result file."""
    facts: Mapping[str, Any]
    """For the result record."""
    askers: Mapping[str, Asker]
    """"" -> the model's; judge model -> its own."""
    identity: Callable[[], str] = str
    """Of what is made: equal where a result of an earlier run is one of this run."""
    anew: bool = False
    """Whether it is asked anew although there is a result, or replies."""
    waiting: deque[Step] = field(default_factory=deque)
    flying: int = 0
    failed: tuple[str, str] | None = None
    """(id of the request, why) of the first call that was given up."""
    kept: int = 0
    """Calls that the journal held."""

    def __post_init__(self) -> None:
        self.group = group_of(self.conversation_id, self.settings.mode, self.sample)
        self._conversation: Conversation | None = None
        self.requests: tuple[Request, ...] = ()
        self._done: dict[str, Finished] = {}
        self._judged: dict[int, dict[str, tuple[JudgeRequest, Finished]]] = {}
        self._open = 0
        """Calls that have no reply yet."""

    @property
    def names(self) -> tuple[str, str, str]:
        """(conversationId, em_model, mode) of its result."""
        return self.conversation_id, self.em_model, self.settings.mode

    @property
    def conversation(self) -> Conversation:
        """The conversation: read again unless the job holds it."""
        held = self._conversation
        return self.conversations[self.conversation_id] if held is None else held

    def hold(self) -> None:
        """Keeps the conversation until `close`; raises DataError where it can no longer be read."""
        self._conversation = self.conversation

    @property
    def planned(self) -> int:
        """How many calls it takes, if every draft can be read."""
        return calls_of(self.conversation, self.settings, judges=len(self.judges))

    @property
    def judges(self) -> list[str]:
        """The judges' models."""
        return [name for name in self.askers if name]

    def start(self, journal: Journal, *, schema_first: bool = False) -> None:
        """Makes the list of its calls; those that the journal holds are done.

        With `schema_first` the first call is one that is asked for JSON: it finds out whether the server
        takes schemas, so that the others need not wait for it long.
        """
        self.requests = plan(self.conversation, self.settings)
        for request in self.requests:
            self._add(self._step(request), journal)
        if schema_first and "" in self.askers and self.askers[""].structured.known is None:
            first = next((step for step in self.waiting if step.question.schema is not None), None)
            if first is not None:
                self.waiting.remove(first)
                self.waiting.appendleft(first)

    def take(self, step: Step, call: Finished, journal: Journal) -> None:
        """Notes a finished call; a draft brings the judges' calls."""
        self._open -= 1
        call = call.without_asides()
        if isinstance(step.request, JudgeRequest):
            self._judged.setdefault(step.request.turn, {})[step.judge] = (step.request, call)
            return
        self._done[step.request.id] = call
        if self.failed:
            return  # kept in the journal; nothing more is asked of a conversation that is given up
        if step.request.stage == "draft" and step.request.turn is not None and self.judges:
            said = parse(step.request, call.reply)
            self.judge(step.request.turn, said.text if isinstance(said, Draft) else None, journal)

    def judge(self, turn: int, draft: str | None, journal: Journal) -> None:
        """Adds the judges' calls about a draft, if there is something to judge."""
        asked = judge_request(self.conversation, turn, draft, self.settings)
        for judge in self.judges if asked is not None else ():
            assert asked is not None
            self._add(self._judge_step(asked, judge), journal)

    def fail(self, step: Step, why: str) -> None:
        """Notes a call that was given up: the conversation cannot be completed in this run."""
        self.waiting.clear()
        if self.failed is None:
            about = f" (judge {step.judge})" if step.judge else ""
            self.failed = (step.request.id + about, why)

    @property
    def complete(self) -> bool:
        """Whether every call has its reply."""
        return not self._open and not self.failed

    def record(self) -> dict[str, Any]:
        """The official result record: the engine reads the replies as it does everybody's."""
        episode = Episode(self.conversation, self.settings)
        for request in self.requests:
            episode.submit(self._done[request.id].reply)
        judging = self.judging
        calls = [*self._done.values(), *judging]
        cost = total(calls).cost
        marks = {
            **self.facts.get("attune", {}),
            "usage": {
                "calls": len(calls),
                "attempts": sum(call.attempts for call in calls),
                "asked_again": sum(call.asks - 1 for call in calls),
                "structured": sum(call.structured for call in calls),
                **usage_of(total(calls)),
                "judges": usage_of(total(judging)) if judging else None,
            },
            "calls": self._remarkable(),
        }
        facts = {
            **self.facts,
            "api_cost": None if cost is None else round(cost, 9),
            "duration_seconds": round(sum(call.seconds for call in calls), 3),
            "attune": marks,
        }
        record = episode.result(self.em_model, facts)
        return self.judged(record) if self.judges else record

    def judged(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A result record with what the judges said."""
        return add_judgements(
            record,
            {
                turn: {judge: parse_judgement(asked, call.reply) for judge, (asked, call) in by.items()}
                for turn, by in self._judged.items()
            },
            self.settings,
            replies={
                turn: {judge: call.reply for judge, (_, call) in by.items()}
                for turn, by in self._judged.items()
            },
            providers={judge: self.askers[judge].client.endpoint.provider for judge in self.judges},
        )

    @property
    def judging(self) -> list[Finished]:
        """The judges' finished calls."""
        return [call for turn in self._judged.values() for _, call in turn.values()]

    def close(self) -> None:
        """Lets go of what a finished conversation no longer needs: memory stays flat over a long run."""
        self._done.clear()
        self._judged.clear()
        self.requests = ()
        if self._conversation is not None:
            self._conversation.memo.pop("plans", None)
            self._conversation = None

    def _remarkable(self) -> dict[str, dict[str, Any]]:
        """Request id -> what was not as usual in its call."""
        told = {}
        for id_, call in self._done.items():
            facts: dict[str, Any] = {}
            if call.asks > 1:
                facts |= {"asks": call.asks, "unread": [reason for _, reason in call.unread]}
            if call.finish != "stop":
                facts["finish"] = call.finish
            if facts:
                told[id_] = facts
        return told

    def _add(self, step: Step, journal: Journal) -> None:
        self._open += 1
        call = journal.get(step.key) if journal.holds(self.group) else None
        if call is None:
            self.waiting.append(step)
        else:
            self.kept += 1
            self.take(step, call, journal)

    def _step(self, request: Request) -> Step:
        def read(text: str) -> str:
            said = parse(request, text)
            return said.reason if isinstance(said, Unparsed) else OK

        plain = request.stage == "draft" and not request.verbose
        question = Question(
            id=f"{self.group}/{request.stage}/{request.turn}",
            stage=request.stage,
            messages=[{"role": m.role, "content": m.content} for m in request.messages],
            read=read,
            schema=None if plain else lambda: request.schema,
            sample=self.sample,
        )
        return Step(self.askers[""], question, self.group, request)

    def _judge_step(self, request: JudgeRequest, judge: str) -> Step:
        def read(text: str) -> str:
            said = parse_judgement(request, text)
            return said.reason if isinstance(said, Unparsed) else OK

        question = Question(
            id=f"{self.group}/judge/{request.turn}/{judge}",
            stage="judge",
            messages=[{"role": m.role, "content": m.content} for m in request.messages],
            read=read,
            schema=lambda: request.schema,
            sample=self.sample,
        )
        return Step(self.askers[judge], question, self.group, request, judge)


def calls_of(conversation: Conversation, settings: Settings, *, judges: int = 0) -> int:
    """How many calls a conversation takes, re-asks aside.

    For each fully annotated turn with one judge these are five (draft, judge, assess, assess_hp, prefer), and
    then one at the end.
    """
    calls = int("reflect" in settings.stages)
    for turn in truth_of(conversation).turns:
        calls += sum(stage in settings.stages and is_asked(stage, turn) for stage in TURN_STAGES)
        if "draft" in settings.stages and (reference_of(conversation, turn) or turn.applicable):
            calls += judges
    return calls
