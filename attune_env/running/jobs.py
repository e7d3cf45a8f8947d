"""Jobs: the calls needed for one result, and the record they produce."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attune_data.format.schema import Conversation
from attune_env.results.files import Names, read_result, with_scores
from attune_env.running.asker import Asker, Call
from attune_env.running.existing import is_complete
from attune_env.running.journal import Finished, Journal, group_of
from attune_env.running.tally import total
from attune_episodes.chat.finish import verdict
from attune_episodes.judging import (
    JudgeRequest,
    add_judgements,
    judge_request,
    parse_judgement,
    reference_of,
    with_judgements,
)
from attune_episodes.parsing import parse, sound
from attune_episodes.play.episode import Episode
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import TURN_STAGES, ConversationPrediction, Draft
from attune_rewards.record.marks import answers_in
from attune_rewards.reward.score import OK
from attune_rewards.reward.spec import is_asked
from attune_rewards.truth import truth_of


@dataclass
class Job:
    """One conversation in one mode and sample, on its way to a result; the base of other kinds of jobs."""

    conversation_id: str
    conversations: Mapping[str, Conversation]
    """The conversations by id, so that each needs to be in memory only while its job is in progress."""
    settings: Settings
    em_model: str
    path: Path
    facts: Mapping[str, Any]
    askers: Mapping[str, Asker]
    """"" -> the model's asker; judge model -> the judge's."""
    describe: Callable[[], Mapping[str, Any]]
    """Everything that distinguishes the result from those of other runs."""
    sample: int = 1
    anew: bool = False
    """Whether it is asked even if there is a result or replies."""
    redo: Collection[str] = ()
    """Kinds of stored answers that are asked for again, if only these are."""
    finish_ok: Collection[str] = ()
    waiting: deque[Call] = field(default_factory=deque)
    flying: int = 0
    unanswered: int = 0
    """Calls without a reply, waiting or in flight."""
    failed: tuple[str, str] | None = None
    """(id of the request, why) of the first call that was given up."""
    kept: int = 0
    """Calls found in the journal."""
    done: dict[str, tuple[Call, Finished]] = field(default_factory=dict)
    """Id of a call -> the call and its answer."""

    def __post_init__(self) -> None:
        self.group = group_of(self.conversation_id, self.names[2], self.sample)
        self._conversation: Conversation | None = None
        self._kept: dict[str, Finished] = {}
        """Answers of an earlier result, for those of which the journal has none."""

    @property
    def names(self) -> Names:
        """(conversationId, em_model, mode) of its result."""
        return self.conversation_id, self.em_model, self.settings.mode

    def exists(self) -> bool:
        """Whether its result exists; raises SettingsError for a result of another run."""
        return is_complete(self.path, self.names, self.describe)

    @property
    def conversation(self) -> Conversation:
        """The conversation, which is read again unless the job is in progress."""
        held = self._conversation
        return self.conversations[self.conversation_id] if held is None else held

    @property
    def judges(self) -> list[str]:
        """The judges' models."""
        return [name for name in self.askers if name]

    @property
    def planned(self) -> int:
        """The number of calls it takes, if every draft can be read."""
        return calls_of(self.conversation, self.settings, judges=len(self.judges))

    @property
    def complete(self) -> bool:
        """Whether every call has been answered."""
        return not self.unanswered and not self.failed

    def start(self, journal: Journal) -> None:
        """Make the list of its calls; raises DataError if the conversation can no longer be read."""
        self._conversation = self.conversation
        self._add(self.first(), journal)

    def take(self, call: Call, finished: Finished, journal: Journal) -> None:
        """Record a finished call, and add the calls that follow from it."""
        self.unanswered -= 1
        self.done[call.key.id] = call, finished.without_asides()
        if not self.failed:  # no more calls for a conversation that is given up
            self._add(self.after(call, finished), journal)

    def _add(self, calls: Iterable[Call], journal: Journal) -> None:
        for call in calls:
            self.unanswered += 1
            finished = journal.get(call.key) if journal.holds(self.group) else None
            if finished is None and not call.judge:
                finished = self._kept.get(call.request.id)
            if finished is None or self._is_over(call, finished):
                self.waiting.append(call)
            else:
                self.kept += 1
                self.take(call, finished, journal)

    def _is_over(self, call: Call, finished: Finished) -> bool:
        """Whether an answer no longer counts: a fault never does, others if they are asked for again."""
        found = verdict(
            finished.finish,
            plain=call.request.plain,
            readable=finished.reason == OK,
            finish_ok=self.finish_ok,
        )
        return found == "fault" or found in self.redo

    def stored(self) -> list[str]:
        """The ids of the stored answers that are asked for again; the others are taken from the result."""
        record = read_result(self.path)
        found = answers_in(record)
        self._kept = {id_: Finished(one.reply, one.outcome, one.finish) for id_, one in found.items()}
        return [
            id_
            for id_, one in found.items()
            if verdict(one.finish, plain=one.plain, readable=one.readable, finish_ok=self.finish_ok)
            in self.redo
        ]

    def fail(self, call: Call, why: str) -> None:
        """Record a call that was given up; the conversation cannot be completed in this run."""
        self.waiting.clear()
        if self.failed is None:
            self.failed = (call.request.id + (f" (judge {call.judge})" if call.judge else ""), why)

    def close(self) -> None:
        """Free what a finished conversation no longer needs, so that memory stays constant in a long run."""
        self.done.clear()
        if self._conversation is not None:
            self._conversation.memo.pop("plans", None)
            self._conversation = None

    def first(self) -> Iterable[Call]:
        """Its first calls."""
        for request in plan(self.conversation, self.settings):
            yield Call(self.askers[""], request, parse, request.stage, self.group, self.sample)

    def after(self, call: Call, finished: Finished) -> Iterable[Call]:
        """The calls that follow from an answered one: those that judge a draft."""
        request = call.request
        if not self.judges or not isinstance(request, Request) or request.turn is None:
            return
        if request.stage == "draft":
            said = call.outcome(finished.reply)
            yield from self.to_judges(request.turn, said.text if isinstance(said, Draft) else None)

    def to_judges(self, turn: int, draft: str | None) -> Iterable[Call]:
        """The judges' calls about a draft, if there is something to judge."""
        asked = judge_request(self.conversation, turn, draft, self.settings)
        if asked is not None:
            for judge in self.judges:
                asker = self.askers[judge]
                yield Call(asker, asked, parse_judgement, "judge", self.group, self.sample, judge)

    def record(self) -> dict[str, Any]:
        """The official result record, with what was parsed while the model was asked."""
        episode = Episode(self.conversation, self.settings)
        for request in episode.requests:
            call, finished = self.done[request.id]
            reply = sound(finished.reply)
            episode.take(call.outcome(reply), reply)
        own = {id_: finished for id_, (call, finished) in self.done.items() if not call.judge}
        calls = [*own.values(), *self.judging]
        usage = total(calls).describe()
        marks = {
            **self.facts.get("attune", {}),
            "usage": {
                "calls": len(calls),
                "attempts": sum(call.attempts for call in calls),
                "asked_again": sum(call.asks - 1 for call in calls),
                "structured": sum(call.structured for call in calls),
                **usage,
                "judges": total(self.judging).describe() if self.judging else None,
            },
            "calls": {id_: facts for id_, call in own.items() if (facts := _remarkable(call))},
        }
        if left_out := self.askers[""].left_out:
            marks["left_out"] = sorted(left_out)
        served = Counter(call.served for call in own.values() if call.served)
        if len({*served, *self.askers[""].served}) > 1:
            marks["served"] = dict(served)
        facts = {
            **self.facts,
            "api_cost": usage["api_cost"],
            "duration_seconds": round(sum(call.seconds for call in calls), 3),
            "attune": marks,
        }
        record, prediction = episode.result(self.em_model, facts), episode.prediction
        if self.judges:
            record, prediction = self.judged(record, prediction)
        return with_scores(record, self.conversation, prediction)

    @property
    def judging(self) -> list[Finished]:
        """The judges' finished calls."""
        return [finished for call, finished in self.done.values() if call.judge]

    def judged(
        self, record: Mapping[str, Any], prediction: ConversationPrediction
    ) -> tuple[dict[str, Any], ConversationPrediction]:
        """A result record and its prediction with the judgements."""
        judgements: dict[int, dict[str, Any]] = {}
        replies: dict[int, dict[str, str]] = {}
        for call, finished in self.done.values():
            if isinstance(call.request, JudgeRequest):
                judgements.setdefault(call.request.turn, {})[call.judge] = call.outcome(finished.reply)
                replies.setdefault(call.request.turn, {})[call.judge] = finished.reply
        providers = {judge: self.askers[judge].model.endpoint.provider for judge in self.judges}
        made = add_judgements(record, judgements, self.settings, replies=replies, providers=providers)
        return made, with_judgements(prediction, judgements)


def _remarkable(call: Finished) -> dict[str, Any]:
    """The unusual facts about a call."""
    asks = {"asks": call.asks, "unread": [reason for _, reason in call.unread]} if call.asks > 1 else {}
    rest = {"finish": call.finish if call.finish != "stop" else "", "text_in": call.text_in}
    rest["refusal"] = call.refusal
    return asks | {name: value for name, value in rest.items() if value}


def calls_of(conversation: Conversation, settings: Settings, *, judges: int = 0) -> int:
    """The number of calls that a conversation takes, not counting re-asks.

    A fully annotated turn with one judge takes five calls (draft, judge, assess, assess_hp, prefer); one more
    comes at the end.
    """
    calls = int("reflect" in settings.stages)
    for turn in truth_of(conversation).turns:
        calls += sum(stage in settings.stages and is_asked(stage, turn) for stage in TURN_STAGES)
        if "draft" in settings.stages and (reference_of(conversation, turn) or turn.applicable):
            calls += judges
    return calls
