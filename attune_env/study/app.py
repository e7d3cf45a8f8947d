"""The application of a study: server-rendered forms, all of which work without JavaScript."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import parse_qs, urlsplit

from attune_data.errors import DataError, show
from attune_data.extras import needs_extra
from attune_env.study.events import INVITED, SHOWN, STOPPED, State, Store
from attune_env.study.fields import Form
from attune_env.study.folder import Study
from attune_env.study.models import Assistants, log
from attune_env.study.pages import Said, message_page, render, step_page
from attune_env.study.steps import MACHINE, current, is_full, outline, read_step
from attune_env.study.texts import asset
from attune_env.study.view import View

with needs_extra("study", "starlette", "uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
    from starlette.routing import Route

MOST_BYTES: Final = 1_000_000
"""The largest form that is read."""
MOST_FIELDS: Final = 1_000
"""The most fields of a form."""
AT_ONCE: Final = 0.5
"""Seconds within which a reply is waited for before the page says that it is being written."""
LOCAL: Final = ("127.0.0.1", "::1", "localhost")
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    # not no-referrer, with which browsers send no origin either
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_ASSETS: Final = {"style.css": "text/css", "waiting.js": "text/javascript"}
Page = Callable[[Request], Awaitable[Response]]


class Refused(Exception):
    """A request that is answered with a sentence: the status, and the names of the page's title and text.

    `withdraw` is the address of the page to withdraw on, "" for none.
    """

    def __init__(self, status: int, title: str, text: str, withdraw: str = "") -> None:
        super().__init__(title)
        self.status, self.title, self.text, self.withdraw = status, title, text, withdraw


def make_app(study: Study, store: Store, hosts: Sequence[str] = ()) -> Starlette:
    """The application of a study; `hosts` are further names under which it is reached.

    Raises SettingsError if a model's key is missing.
    """
    site = Site(study, store, hosts)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.assistants.close()

    return Starlette(
        routes=[
            *(Route(f"/{name}", _file(name, kind)) for name, kind in _ASSETS.items()),
            Route("/{link}", site.answering(site.show)),
            Route("/{link}/ready", site.answering(site.ready)),
            Route("/{link}/stop", site.answering(site.stop), methods=["GET", "POST"]),
            Route("/{link}/{step}", site.answering(site.take), methods=["POST"]),
            Route("/{path:path}", site.answering(_nowhere), methods=_METHODS),
        ],
        lifespan=lifespan,
    )


def _file(name: str, kind: str) -> Page:
    async def send(_: Request) -> Response:
        return Response(asset(name), media_type=kind, headers=HEADERS | {"Cache-Control": "max-age=300"})

    return send


async def _nowhere(_: Request) -> Response:
    raise Refused(404, "unknown_title", "unknown_text")


class Site:
    """Answers requests; each looks up its link, and nothing is kept between requests."""

    def __init__(self, study: Study, store: Store, hosts: Sequence[str] = ()) -> None:
        self.study, self.store = study, store
        own = urlsplit(study.design.address).hostname or ""
        self.hosts = {name.lower() for name in (*LOCAL, own, *hosts)}
        self.assistants = Assistants(study, store)
        store.keep_design(study.design.fingerprint, study.design.model_dump_json())

    def answering(self, page: Page) -> Page:
        """A page with what all have in common: headers, checks of host and origin, sentences for errors."""

        async def answer(request: Request) -> Response:
            try:
                self._check_host(request)
                _check_origin(request)
                response = await page(request)
            except Refused as refused:
                text = message_page(self.study, refused.title, refused.text, withdraw=refused.withdraw)
                response = HTMLResponse(text, status_code=refused.status)
            except ClientDisconnect:
                response = Response(status_code=400)
            except Exception as error:
                log(f"error: {type(error).__name__}: {error}")
                response = HTMLResponse(
                    message_page(self.study, "broken_title", "broken_text"), status_code=500
                )
            response.headers.update(HEADERS)
            return response

        return answer

    def _check_host(self, request: Request) -> None:
        """Refuse a request under a name that is not the study's, such as one that somebody else gave it."""
        host = request.headers.get("host", "")
        if re.sub(r":\d*$", "", host).strip("[]").lower() not in self.hosts:
            known = ", ".join(sorted(self.hosts))
            log(f"refused: a request to {show(host)}, expected {known}; add names with --allowed-host")
            raise Refused(421, "refused_title", "refused_text")

    def _state(self, request: Request, *, late: bool = False) -> State:
        """The participant whose link a request has; refused if it is nobody's, or has ended.

        `late` admits those whose link has expired and who have begun: they can always withdraw.
        """
        state = self.store.holder(request.path_params["link"])
        if state is None:
            raise Refused(404, "unknown_title", "unknown_text")
        if state.withdrawn:
            raise Refused(200, "withdrawn_title", "withdrawn_text")
        if _expired(state) and not (late and state.begun):
            withdraw = f"{_home(request)}/stop" if state.begun else ""
            raise Refused(410, "expired_title", "expired_text", withdraw)
        return state

    def _step(self, state: State) -> str | None:
        """The step that a participant is at; refused if it is the first, and the study is full."""
        if not state.begun and not state.over and is_full(self.study, self.store):
            raise Refused(200, "full_title", "full_text")
        return current(self.study, state)

    async def show(self, request: Request) -> Response:
        """Show where the participant is."""
        state = self._state(request)
        step = self._step(state)
        if step is None:
            return self._end(state)
        view = View(self.study, state, step)
        if view.kind in MACHINE:
            self.assistants.start(view)
            await self.assistants.settled(view, AT_ONCE)
            if step in self.store.state(state.participant).answers:
                return await self.show(request)
        elif SHOWN + step not in state.answers:
            with suppress(DataError):  # the page matters more than its time
                self.store.add(state.participant, SHOWN + step, {})
        if view.kind in ("judge", "edit"):
            # prepared meanwhile, so that nobody waits for them later
            for later in outline(self.study, state):
                if later.startswith("alternate."):
                    self.assistants.again(View(self.study, state, later))
        failed = view.kind in MACHINE and self.assistants.failed(view)
        already = "already" if "note" in request.query_params else ""
        return HTMLResponse(step_page(view, _home(request), Said(note=already, failed=failed)))

    async def ready(self, request: Request) -> Response:
        """Say whether the page that waits for a model should be reloaded."""
        state = self._state(request)
        view = View(self.study, state, current(self.study, state) or "debrief")
        if waiting := view.kind in MACHINE:
            self.assistants.start(view)
        return JSONResponse({"ready": not waiting or self.assistants.failed(view)})

    async def take(self, request: Request) -> Response:
        """Record the answer to a step, and lead to the next."""
        home, step = _home(request), request.path_params["step"]
        form = await _form(request)
        # after the form has come, since the same one may have come from elsewhere meanwhile
        state = self._state(request)
        if step != self._step(state):
            return _to(home, already=step in state.answers)
        view = View(self.study, state, step)
        if view.kind in MACHINE:
            return self._go_on(view, form, home)
        payload, troubles = read_step(view, form)
        if view.kind == "redact" and _button(form) == "try":
            return HTMLResponse(step_page(view, home, Said(payload)))
        if troubles:
            return HTMLResponse(step_page(view, home, Said(payload, troubles)), status_code=422)
        try:
            new = self.store.add(state.participant, step, payload)
        except DataError as error:  # such as a full disk
            log(f"error: {state.participant} {step}: not saved: {error}")
            return HTMLResponse(step_page(view, home, Said(payload, failure="not_saved")), status_code=503)
        return _to(home, already=not new)

    def _go_on(self, view: View, form: Form, home: str) -> Response:
        """Ask a model that failed once more, or go on without it."""
        if self.assistants.failed(view):
            if _button(form) == "leave":
                self.store.add(view.state.participant, view.step, {"text": None})
            else:
                self.assistants.again(view)
        return _to(home)

    async def stop(self, request: Request) -> Response:
        """Show the ways to stop, and stop or withdraw."""
        form = await _form(request) if request.method == "POST" else {}
        state = self._state(request, late=True)
        going, unsure = not (state.over or _expired(state)), False
        if _button(form) == "keep" and going:
            self.store.add(state.participant, STOPPED, {})
            return _to(_home(request))
        if _button(form) == "withdraw":
            unsure = "sure" not in form
            if not unsure:
                self._withdraw(state.participant)
                raise Refused(200, "withdrawn_title", "withdrawn_text")
        texts = self.study.design.texts
        trouble = texts["withdraw_tick"] if unsure else ""
        given = {"home": _home(request), "going": going, "trouble": trouble}
        page = render(self.study, "stop.html", texts["stop_title"], **given)
        return HTMLResponse(page, status_code=422 if unsure else 200)

    def _withdraw(self, participant: str) -> None:
        try:
            self.store.withdraw(participant)
        except DataError as error:
            if not self.store.state(participant).withdrawn:
                raise
            log(f"error: {participant}: withdrawn, but not yet cleared from the free space: {error}")

    def _end(self, state: State) -> Response:
        """The page of somebody of whom nothing more is asked."""
        given = {"withdraw": f"/{self.store.link(state.participant)}/stop"}
        if STOPPED in state.answers:
            return HTMLResponse(message_page(self.study, "stopped_title", "stopped_text", **given))
        ending = self.study.design.ending
        given |= {"code": ending.code, "url": ending.url}
        return HTMLResponse(message_page(self.study, "title_debrief", "done_text", **given))


def _expired(state: State) -> bool:
    expires: float = state.answer(INVITED)["expires"]
    return time.time() > expires


def _home(request: Request) -> str:
    return f"/{request.path_params['link']}"


def _to(home: str, *, already: bool = False) -> Response:
    # in a conversation, to what was said last
    return RedirectResponse(f"{home}{'?note=already' if already else ''}#now", status_code=303)


def _check_origin(request: Request) -> None:
    """Refuse a form that another site sends; browsers name the site of every form."""
    if request.method != "POST":
        return
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    foreign = origin is not None and origin.partition("://")[2].lower() != host.lower()
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refused(403, "refused_title", "refused_text")


def _button(form: Form) -> str:
    """The value of the button that was used."""
    return form.get("do", [""])[-1]


async def _form(request: Request) -> Form:
    """The form that a request sends; refused if it is too large, or none."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise Refused(413, "refused_title", "large_text")
    try:
        return parse_qs(
            body.decode("ascii"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Refused(400, "refused_title", "refused_text") from None
