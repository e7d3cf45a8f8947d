"""`play_plan`: play the people of a plan, with whatever answers: a cache, endpoints, or somebody elsewhere.

What is asked is looked up by its key in the answers of the folder. What is not there is asked of the endpoint
of its hand, with the caps, retries and journal of runs; without one it goes into `pending.jsonl`, in the
format of an OpenAI batch, for whoever answers elsewhere. Put the answers beside it (under any name that ends
in .jsonl) and play again: it goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, SettingsError, show
from attune_data.files.rows import file_name
from attune_data.jsonio import read_json
from attune_env.results.files import Names, write_json, write_text
from attune_env.running.asker import Call
from attune_env.running.existing import identity_of
from attune_env.running.jobs import Job
from attune_env.running.journal import Finished, Journal
from attune_env.running.loop import Watcher
from attune_env.running.served import EndpointReport, Session
from attune_env.running.settings import Model, Options
from attune_episodes.chat.finish import verdict
from attune_episodes.people.asks import HANDS, Ask, Cast, GivenUpError, Hand, Steps
from attune_episodes.people.cards import Card, plan_text
from attune_episodes.people.pinned import ANSWERS, CAST, PLAN, answer_line, read_answers
from attune_episodes.people.play import matters, play
from attune_episodes.people.record import record
from attune_episodes.protocol.settings import Settings

PENDING: Final = "pending.jsonl"
NAME: Final = "people"
"""The name of the journal, and of the mode of these jobs."""


@dataclass
class Folder:
    """The answers of a folder: those that are known, those used, and what is still asked."""

    path: Path
    known: dict[str, str] = field(default_factory=dict)
    pending: dict[str, Ask] = field(default_factory=dict)
    """Key -> ask, of what no endpoint answers."""

    def __post_init__(self) -> None:
        """Read the answers that lie in the folder; of two to the same key, those of `answers.jsonl` count."""
        others = sorted(self.path.glob("*.jsonl")) if self.path.is_dir() else []
        for file in (*(f for f in others if f.name == ANSWERS), *others):
            if file.name not in (PLAN, PENDING) and not file.name.startswith("_"):
                self.known = {**read_answers(file), **self.known}

    def write(self) -> None:
        """Write `answers.jsonl`, and `pending.jsonl` if something is pending."""
        lines = [answer_line(key, self.known[key]) for key in sorted(self.known)]
        write_text(self.path / ANSWERS, "".join(lines))
        if self.pending:
            asks = sorted(self.pending.values(), key=lambda ask: (ask.id, ask.hand))
            write_text(self.path / PENDING, "".join(map(batch_line, asks)))
        else:
            (self.path / PENDING).unlink(missing_ok=True)


def batch_line(ask: Ask) -> str:
    """An ask as a line of an OpenAI batch's input; its `custom_id` is the key."""
    body: dict[str, Any] = {"model": ask.by.model, "messages": ask.chat()}
    for name in ("temperature", "max_tokens", "seed"):
        if ask.by.sampling.get(name) is not None:
            body[name] = ask.by.sampling[name]
    if not ask.plain:
        schema = {"name": ask.hand.replace("-", "_"), "strict": True, "schema": ask.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    line = {"custom_id": ask.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n"


@dataclass
class StepsJob(Job):
    """One generator of asks on its way to what it returns."""

    begin: Callable[[], Steps[Any]] = field(kw_only=True)
    answers: Folder = field(kw_only=True)
    finish: Callable[[Any], dict[str, Any]] | None = field(kw_only=True, default=None)
    """Makes the record of what is returned; None writes no file."""
    turns: int = field(kw_only=True, default=1)
    result: Any = None
    steps: Steps[Any] | None = None
    here: dict[str, str] = field(default_factory=dict)
    """The answers of this step that are there."""
    wanted: tuple[str, ...] = ()
    """The keys of this step."""

    @property
    def names(self) -> Names:
        """(id, "people", "played")."""
        return self.conversation_id, NAME, "played"

    @property
    def planned(self) -> int:
        """About how many calls it takes."""
        number = 5 * self.turns if self.finish else len(self.wanted)
        return number if self.askers else 0

    @property
    def complete(self) -> bool:
        """Whether the generator has returned, and there is a record to write."""
        return super().complete and self.result is not None and self.finish is not None

    def exists(self) -> bool:
        """Whether its record exists; raises SettingsError if it was played in a different way."""
        if self.finish is None or not self.path.exists():
            return False
        try:
            found = read_json(self.path)
        except DataError:
            return False  # cut off: it is written again
        played = found.get("played") if isinstance(found, dict) else None
        if isinstance(played, dict) and played.get("identity") == identity_of(self.describe()):
            return True
        raise SettingsError(
            f"{self.path} was played from another card or by other hands than "
            f"{show(self.conversation_id)} now has; choose another -o, or remove the file"
        )

    def start(self, journal: Journal) -> None:
        """Begin to play."""
        self.steps = self.begin()
        self._add(self._advance(), journal)

    def alone(self) -> None:
        """Play on with the answers that are known, and ask nobody."""
        self.steps = self.begin()
        self._advance()

    def after(self, call: Call, finished: Finished) -> Iterable[Call]:
        """The calls of the next step, once this one is answered."""
        ask = call.request
        assert isinstance(ask, Ask)
        ended = verdict(finished.finish, plain=ask.plain, readable=True, finish_ok=self.finish_ok)
        text = finished.reply if ended == "answer" else ""  # a text that was cut off is no answer
        self.here[ask.key] = self.answers.known[ask.key] = text
        return self._advance() if len(self.here) == len(self.wanted) else ()

    def _advance(self) -> list[Call]:
        """Play on as far as the answers are known; the calls of the step where they are not."""
        assert self.steps is not None
        while True:
            try:
                asks = self.steps.send(self.here) if self.wanted else next(self.steps)
            except StopIteration as end:
                self.result = end.value
                return []
            except GivenUpError as error:
                self.failed = (NAME, str(error))
                return []
            each = {ask.key: ask for ask in asks}
            self.wanted = tuple(each)
            self.here = {key: self.answers.known[key] for key in each if key in self.answers.known}
            missing = [ask for key, ask in each.items() if key not in self.here]
            if missing:
                self.answers.pending |= {ask.key: ask for ask in missing if ask.hand not in self.askers}
                return [self._call(ask) for ask in missing if ask.hand in self.askers]

    def _call(self, ask: Ask) -> Call:
        return Call(
            self.askers[ask.hand], ask, lambda ask, text: ask.request.parse(text), ask.hand, self.group
        )

    def record(self) -> dict[str, Any]:
        """The record of what was played, with what identifies its card and hands."""
        assert self.finish is not None
        made = self.finish(self.result)
        made["played"]["identity"] = identity_of(self.describe())
        return made

    def close(self) -> None:
        """Free what a finished conversation no longer needs."""
        self.done.clear()
        self.steps = None


@dataclass(frozen=True)
class PlayReport:
    """The outcome of playing a plan."""

    run: EndpointReport
    pending: int
    """Number of requests in `pending.jsonl`."""
    without_matter: Mapping[str, str]
    """Id of a card that got no matter of its own -> why."""


def play_plan(
    cards: Sequence[Card],
    cast: Cast,
    output: Path,
    *,
    models: Mapping[str, Model] | None = None,
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> PlayReport:
    """Play the people of a plan, as far as there are answers; continues what was played before.

    Args:
        cards: the plan.
        cast: who plays which hand, by name.
        output: the folder of the conversations, with the plan, the answers, and what is pending.
        models: hand (`person`, `assistant-1`, `assistant-2`, `reader`) -> its endpoint; others are pending.
        options: caps, retries and concurrency of the calls.
        watcher: receives the progress.

    Raises:
        SettingsError: the folder has conversations of other cards or hands, or another run is writing to it.
        DataError: a file of answers that is none.
    """
    options, models = options or Options(), models or {}
    cast = replace(cast, attempts=options.patience.asks)
    # an answer that cannot be used is asked for again in one place: where people are played
    options = replace(options, patience=replace(options.patience, asks=1))
    answers = Folder(output)
    who = describe(cast)
    by = {name: value for name, value in who.items() if name != "attempts"}

    def session() -> Session:
        return Session(NAME, NAME, output, options, watcher)

    def job(where: Session, name: str, path: Path, **more: Any) -> StepsJob:
        about = more.pop("about")
        return StepsJob(
            name, {}, Settings(), NAME, path, {}, where.askers, lambda: {**by, "card": about},
            answers=answers, **more,
        )  # fmt: skip

    try:
        first = session()
        casting = job(first, "matters", output / PLAN, about="", begin=lambda: matters(cards, cast))
        report = None
        if models:
            report = first.play(models, [casting], who)
            control = report.tally.control
            options = replace(options, used=(control.sent, control.answered, control.spent))
        else:
            casting.alone()
        made, without = casting.result or ([], {})
        jobs: list[StepsJob] = []
        then = session()
        if casting.result is not None:
            write_json(output / CAST, who)
            write_text(output / PLAN, plan_text(made))
            numbers = {card.id: number for number, card in enumerate(cards, 1)}
            jobs = [
                job(
                    then, card.id, output / file_name(numbers[card.id]), about=card.to_line(),
                    begin=lambda card=card: play(card, cast), finish=record, turns=card.turns,
                )
                for card in made
            ]  # fmt: skip
        if report is None or report.stopped is None:
            report = then.play(models, jobs, who)
    finally:
        answers.write()
    return PlayReport(report, len(answers.pending), without)


def describe(cast: Cast) -> dict[str, Any]:
    """Everything about the hands that determines what is asked, as in `cast.json`."""
    hands = {name: {"model": cast.by(name).model, "sampling": dict(cast.by(name).sampling),
                    "family": cast.by(name).family} for name in HANDS}  # fmt: skip
    asked = {"attempts": cast.attempts, "checked": cast.checked, "twice": cast.twice}
    return {"hands": hands, **asked, "codebook": cast.settings.codebook.fingerprint}


def model_hand(model: Model) -> Hand:
    """The hand that a model behind an endpoint plays."""
    return Hand(model.full_name, {k: v for k, v in model.sampling.describe().items() if v is not None})
