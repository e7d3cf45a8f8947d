"""The steps of a participation, in one table: what each asks, and which comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES, Q3_NEGATIVE
from attune_env.study.events import State, Store
from attune_env.study.fields import MOST_OF_A_LINE, Field, Form, read_form
from attune_env.study.folder import Study
from attune_env.study.questions import Question
from attune_env.study.view import View

ANSWERS: Final = ("yes", "no", "na")
SIDES: Final = ("observed", "preferred")
NOTHING: Final = "nothing"
"""The box that says that nothing was felt, or nothing would be changed."""
CANNED: Final = "canned"
"""The name of the assistant that answers with fixed sentences, in the place of a model's."""
MACHINE: Final = ("reply", "alternate")
"""Steps that a model answers."""
LONG: Final = 10_000
"""The most characters of a long answer."""


@dataclass(frozen=True)
class Step:
    """A kind of page."""

    part: int
    """Which of the four parts of a participation it belongs to."""
    fields: Callable[[View], list[Field]] = field(default=lambda view: [])
    check: Callable[[View, dict[str, Any]], dict[str, str]] = field(default=lambda view, answers: {})
    """Finds what is wrong between fields: field -> name of the trouble."""
    adds: Callable[[View, dict[str, Any]], Mapping[str, Any]] = field(default=lambda view, answers: {})
    """What is recorded besides the answers."""
    transcript: bool = False


def _options(view: View, names: Sequence[str], prefix: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, view.word(f"{prefix}_{name}")) for name in names)


def _consent(view: View) -> list[Field]:
    points = view.study.design.consent.points
    return [Field(point.id, point.text, "tick", required=point.required) for point in points]


def _assignments(view: View, answers: dict[str, Any]) -> Mapping[str, Any]:
    design = view.study.design
    found: dict[str, Any] = {"design": design.fingerprint}
    if design.assistants:
        found["assistant"] = view.assigned("assistant", len(design.assistants))
    if design.topics.mode == "assigned":
        found["topic"] = design.topics.choices[view.assigned("topic", len(design.topics.choices))].text
    return found


def _field_of(question: Question) -> Field:
    options = tuple((option, option) for option in question.options)
    most = LONG if question.kind == "long" else MOST_OF_A_LINE
    return Field(
        *(question.name, question.text, question.kind, options, question.required),
        low=question.low,
        high=question.high,
        ends=question.ends,
        most=most,
    )


def _own(view: View) -> list[Field]:
    return [_field_of(question) for question in view.page.questions]


def _topic(view: View) -> list[Field]:
    topics = view.study.design.topics
    attitudes = tuple((one, one) for one in topics.attitudes)
    fields = [Field("attitude", view.word("attitude"), "one", attitudes)]
    if topics.mode == "choose":
        listed = tuple((topic.text, topic.text) for topic in topics.choices)
        fields.insert(0, Field("topic", view.word("topic"), "one", listed))
    return fields


def _panas(view: View) -> list[Field]:
    ends = (view.word("feeling_low"), view.word("feeling_high"))
    glosses = view.study.codebook.panas
    return [
        Field(e, view.word(f"feeling_{e}"), "scale", help=glosses.get(e, ""), ends=ends) for e in EMOTIONS
    ]


def _say(view: View) -> list[Field]:
    most = view.study.design.conversation.longest_message
    glosses = view.study.codebook.panas
    first = "message_first" if view.number == 1 else "message"
    group = view.study.codebook.questions["moodShiftTags"].text
    return [
        Field("message", view.word(first), "long", most=most),
        *(
            Field(
                e, view.word(f"feeling_{e}"), "strength", required=False, help=glosses.get(e, ""), group=group
            )
            for e in EMOTIONS
        ),
        Field(NOTHING, view.word("no_feeling"), "tick", required=False, group=group),
    ]


def _felt(view: View, answers: dict[str, Any]) -> dict[str, str]:
    some = any(answers[emotion] for emotion in EMOTIONS)
    return {} if some != answers[NOTHING] else {NOTHING: "feelings_both" if some else "feelings_none"}


def _judge(view: View) -> list[Field]:
    book, options = view.study.codebook, _options(view, ANSWERS, "answer")
    return [
        Field(
            f"{question}.{side}",
            view.word(side),
            "one",
            options,
            group=book.binary_text(question, observer=False),
        )
        for question in view.study.design.questions.binary
        for side in SIDES
    ]


def _edit(view: View) -> list[Field]:
    reply = view.replies["original"]
    most = max(LONG, 2 * len(reply))
    return [
        Field("reply", view.word("edit"), "long", most=most, given=reply),
        Field(NOTHING, view.word("no_edit"), "tick", required=False),
    ]


def _edited(view: View, answers: dict[str, Any]) -> dict[str, str]:
    same = answers["reply"] == view.replies["original"].strip()
    if same == answers[NOTHING]:
        return {}
    return {NOTHING: "edit_none" if same else "edit_both"}


def _compare(view: View) -> list[Field]:
    number = {name: str(at) for at, (name, _) in enumerate(view.masked, 1)}
    fields = []
    for index, one in enumerate(view.comparisons):
        sides = [(side, number[one[f"response{side}"]]) for side in "AB"]
        options = tuple((side, view.word("reply_number", number=at)) for side, at in sides)
        text = view.word("which_of", first=sides[0][1], second=sides[1][1])
        group = view.study.codebook.pairwise_text(one["questionId"])
        if len(view.replies) > 2:
            group = view.word("each_pair", question=group)
        fields.append(Field(f"c{index}", text, "one", options, group=group))
    return fields


def _closing(view: View) -> list[Field]:
    book = view.study.codebook
    ends = (view.word("branch_low"), view.word("branch_high"))

    def chosen(name: str, kind: Any) -> Field:
        options = tuple((option, option) for option in book.options[name])
        return Field(name, book.questions[name].text, kind, options)

    return [
        chosen("q1_lookingFor", "many"),
        chosen("q2_emotionClarity", "one"),
        chosen("q3_modelFit", "one"),
        *(Field(branch, book.branches[branch].text, "scale", ends=ends) for branch in BRANCHES),
    ]


def _off(view: View) -> list[Field]:
    name = "q3_followUp_whatFeltOff"
    text, options = view.study.codebook.questions[name].text, view.study.codebook.options[name]
    if not options:
        return [Field(name, text, "long", required=False, most=LONG)]
    return [Field(name, text, "many", tuple((option, option) for option in options), required=False)]


def _redact(view: View) -> list[Field]:
    return [Field("words", view.word("redact"), "long", required=False, most=LONG)]


STEPS: Final[Mapping[str, Step]] = {
    "consent": Step(1, _consent, adds=_assignments),
    "own": Step(1, _own),
    "topic": Step(1, _topic),
    "pre": Step(1, _panas),
    "say": Step(2, _say, check=_felt, transcript=True),
    "reply": Step(2, transcript=True),
    "judge": Step(3, _judge, transcript=True),
    "edit": Step(3, _edit, check=_edited, transcript=True),
    "alternate": Step(3, transcript=True),
    "compare": Step(3, _compare, adds=lambda view, answers: {"shown": view.comparisons}, transcript=True),
    "closing": Step(4, _closing),
    "off": Step(4, _off),
    "post": Step(4, _panas),
    "after": Step(4, _own),
    "redact": Step(4, _redact),
    "debrief": Step(4),
}
"""Kind -> what its page asks; the order of the steps is that of `outline`."""


def outline(study: Study, state: State) -> Iterator[str]:
    """Every step of a participation in order, with all that may still come: it only ever gets shorter."""
    pages, talk, annotating = study.design.pages, study.design.conversation, _annotating(study)
    yield "consent"
    yield from (f"own.{page.id}" for page in pages if page.when == "before")
    yield from ("topic", "pre")
    # looking back is the end of the conversation, even if the most turns are changed later
    ended = any(f"{kind}.1" in state.answers for kind in annotating)
    turns: list[int] = []
    for number in count(1):
        said, replied = state.answers.get(f"say.{number}"), state.answers.get(f"reply.{number}")
        if said is None and (ended or number > talk.max_turns):
            break
        yield f"say.{number}"
        if said is not None and said.get("end"):
            break
        yield f"reply.{number}"
        if replied is not None and not replied.get("text"):
            break
        turns.append(number)
    for number in turns:
        yield from (f"{kind}.{number}" for kind in annotating)
    if turns:
        yield "closing"
        closing = state.answers.get("closing")
        if closing is None or closing.get("q3_modelFit") in Q3_NEGATIVE:
            yield "off"
    yield "post"
    yield from (f"after.{page.id}" for page in pages if page.when == "after")
    yield from ("redact", "debrief")


def _annotating(study: Study) -> tuple[str, ...]:
    judging = ("judge",) if study.design.questions.binary else ()
    return (*judging, "edit", "alternate", "compare")


def current(study: Study, state: State) -> str | None:
    """The step that a participant is at: the first that is not answered; None if nothing more is asked."""
    if state.over:
        return None
    return next((step for step in outline(study, state) if step not in state.answers), None)


def is_full(study: Study, store: Store) -> bool:
    """Whether a study has spent its budget, or has as many participants as it wants."""
    budget = study.design.budget
    dollars, begun = store.spent()
    spent = budget.dollars is not None and dollars >= budget.dollars
    return spent or (budget.participants is not None and begun >= budget.participants)


def progress(study: Study, state: State) -> tuple[int, int]:
    """How many steps are answered, and of how many at most."""
    steps = [step for step in outline(study, state) if step.partition(".")[0] not in MACHINE]
    return sum(step in state.answers for step in steps), len(steps)


def read_step(view: View, form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The payload of a step's event from a form, and what is wrong: field -> name of the trouble."""
    step = STEPS[view.kind]
    if may_end(view) and form.get("do", [""])[-1] == "end":
        return {"end": True}, {}
    answers, troubles = read_form(step.fields(view), form)
    troubles = step.check(view, answers) | troubles
    return answers | dict(step.adds(view, answers)), troubles


def may_end(view: View) -> bool:
    """Whether the conversation may be ended instead of a message."""
    return view.kind == "say" and view.number > view.study.design.conversation.min_turns
