"""Attacks on a study: hostile participants, a broken network, a full disk, a server that is killed."""

from __future__ import annotations

import os
import re
import resource
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from attune_data import load
from attune_data.files.write import write_folder
from attune_data.format.validate import oddities
from attune_data.selection import select
from attune_env.study.app import HEADERS, MOST_BYTES
from attune_env.study.events import INVITED, SHOWN, Store
from attune_env.study.export import export
from attune_env.study.fields import clean
from attune_env.study.scripted import Page, Participant, play_all
from attune_episodes.training import training_dataset
from tests.command import attune
from tests.endpoint.answers import Messages
from tests.endpoint.faults import Fault
from tests.endpoint.server import serve
from tests.study.places import browser, send, served, small, until

NASTY = (
    "</textarea></p>\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7*7 }}{% raw %}{0}%s&lt;"
    "\x00\x07\x1b[31m\x7f\x85\u202eright\u2066left\u200b\u2028\ufeff\ufffe\U0001f642\ud83d\n.*(?P<x>\\1"
)
SPY = """
import sys

def seen(event, given):
    if event in ("socket.connect", "socket.getaddrinfo"):
        print("SEEN", given[1][:2] if event == "socket.connect" else given[:2], file=sys.stderr, flush=True)

sys.addaudithook(seen)
from attune_env.cli import main
main()
"""
FOREIGN = ("https://evil.example", "null", "http://[", "http://127.0.0.1", "")
"""Origins that are not the study's."""
PATHS = ("", "a/b/c", "study.sqlite3", "%2e%2e/study.toml", "%00", "/evil.example", "a" * 9_000)
ELSEWHERE = (INVITED, "withdrawn", f"{SHOWN}pre", "post", "debrief")
"""Steps that are not asked for."""
EVERYWHERE = {name.lower(): value for name, value in HEADERS.items() if name != "Cache-Control"}


def answer(messages: Messages) -> str:
    return f"I read this: {messages[-1]['content']}"


def coded(form: Mapping[str, object]) -> bytes:
    """A form as it is sent, halves of characters included."""
    return urlencode(form, doseq=True, errors="surrogatepass").encode()


def walk(client: httpx.Client, link: str) -> Iterator[Page]:
    """Every page that is to be answered; whoever takes them answers them."""
    for _ in range(200):
        page = Page(client.get(link).text)
        if page.buttons:
            yield page
        elif "data-ready" not in page.html:
            return
        else:
            time.sleep(0.05)
    raise AssertionError(f"{page.step} is asked again and again")


@contextmanager
def running(folder: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`attune study serve` in a process of its own, and its address; its log is `log` beside the folder."""
    command = [sys.executable, "-c", SPY, "study", "serve", str(folder), "--port", "0"]
    with (
        (folder.parent / "log").open("a") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | environment
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.kill()


def test_killed_at_any_moment_what_was_confirmed_is_there(tmp_path: Path) -> None:
    study, where, confirmed = small(tmp_path / "s"), list[str](), dict[tuple[str, str], str]()
    with Store(study.database) as store:
        links = [store.link(store.invite(9e9)) for _ in range(4)]

    def take_part(link: str) -> None:
        person, tries = Participant(link), 0
        with httpx.Client(trust_env=False) as client:
            while True:
                try:
                    page = Page(client.get(f"{where[-1]}/{link}").text)
                    if not page.buttons and "data-ready" not in page.html:
                        return
                    if page.buttons:
                        form, tries = person.answers(page), tries + 1
                        for name in form.keys() & {"message", "reply"}:
                            form[name] = f"{tries} {form[name]}"
                        answered = client.post(where[-1] + page.action, data=form)
                        if answered.status_code == 303 and "already" not in answered.headers["location"]:
                            said = form["do"] != "end" and (form.get("message") or form.get("reply"))
                            assert (link, page.step) not in confirmed
                            confirmed[link, page.step] = str(said or "")
                except httpx.TransportError:
                    time.sleep(0.02)

    with ThreadPoolExecutor(len(links)) as pool:
        people = list[Future[None]]()
        for most in (9, 31, 10_000):
            with running(study.folder) as (_, url):
                where.append(url)
                people = people or [pool.submit(take_part, link) for link in links]
                while len(confirmed) < most and not all(one.done() for one in people):
                    time.sleep(0.001)
        assert [one.result() for one in people] == [None] * len(links)
    with closing(sqlite3.connect(study.database)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Store(study.database) as store:
        for (link, step), text in confirmed.items():
            state = store.holder(link)
            assert state is not None
            assert text in ("", state.answers[step].get("message"), state.answers[step].get("reply"))
        assert len(export(study, store)[0]) == len(links)


def test_on_a_full_disk_everybody_reads_a_sentence_and_goes_on_later(tmp_path: Path) -> None:
    study = small(tmp_path / "s")
    with running(study.folder) as (process, url), browser() as client, Store(study.database) as store:
        link, other = (f"{url}/{store.link(store.invite(9e9))}" for _ in range(2))
        page, _ = until(client, link, "say"), until(client, other, "say")
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, most))  # its log cannot be written either
        form = {"message": "not lost", "nothing": "yes", "do": "save"}
        refused = send(client, link, page, form)
        assert refused.status_code == 503
        assert "could not be saved" in refused.text
        again = Page(refused.text)
        assert again.texts["message"].strip() == "not lost"
        for given in ({"do": "keep"}, {"do": "withdraw", "sure": "yes"}):
            stopped = client.post(f"{other}/stop", data=given)
            assert "What you answered before is kept" in stopped.text
        assert Page(client.get(other).text).step == "say.1"
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
        assert send(client, link, again, form).status_code == 200
        Participant(link).play()
        conversations, _ = export(study, store)
        assert [one.turns[0].user_message for one in conversations] == ["not lost"]
    limited = f"ulimit -f 0; exec {sys.executable} -m attune_env study links s -n 1"
    done = subprocess.run(["sh", "-c", limited], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make room on its disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_withdrawal_could_not_clear_the_next_call_clears(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        form = {"message": "said in confidence", "nothing": "yes"}
        send(client, link, until(client, link, "say"), form)
        with closing(site.store._db.execute("SELECT id FROM events")) as reading:
            reading.fetchone()  # SQLite does not clear a file that is being read
            page = client.post(f"{link}/stop", data={"do": "withdraw", "sure": "yes"})
            assert "Your answers are deleted" in page.text
            assert list(site.state(link).answers) == ["withdrawn"]
        assert b"confidence" in site.study.database.with_name("study.sqlite3-wal").read_bytes()
        site.store.withdraw(site.state(link).participant)
        assert not any(b"confidence" in path.read_bytes() for path in site.study.folder.iterdir())


def test_markup_and_odd_characters_in_every_field(tmp_path: Path) -> None:
    own = '[[pages]]\ntitle = "T"\n[[pages.questions]]\nname = "NAME"\ntext = "?"\nkind = "NAME"\n\n'
    pages = "".join(own.replace("NAME", kind) for kind in ("long", "text"))
    html = []
    with serve(lambda _: NASTY) as endpoint:
        study = small(tmp_path / "s", endpoint.url, ("\n[[pages]]\n", f"\n{pages}[[pages]]\n"))
        with served(study) as site, browser() as client:
            link = site.invite()
            for page in walk(client, link):
                good = Participant(link).answers(page) | dict.fromkeys(page.texts, NASTY)
                # an edit changes the reply; words are replaced as they stand, and are no pattern
                other = {"reply": f"mine {NASTY}", "words": ".*\n(?P<x>"}
                good |= {name: text for name, text in other.items() if name in page.texts}
                if chosen := [*page.radios, *page.selects]:
                    bad = good | dict.fromkeys(chosen, NASTY) | {"do": "save"}
                    wrong = send(client, link, page, {}, content=coded(bad))
                    assert wrong.status_code == 422
                    html.append(wrong.text)
                html += [page.html, send(client, link, page, {}, content=coded(good)).text]
            (conversation,), beside = export(study, site.store)
    assert [page for page in html if set("\x00\x1b\x85\ud83d") & set(page) or "<img" in page] == []
    assert [page for page in html if page.count("<script") > page.count('<script src="/waiting.js"')] == []
    write_folder([conversation], tmp_path / "data")
    assert load(tmp_path / "data")[0] == conversation
    assert list(oddities(conversation, "")) == []
    kept = clean(NASTY).strip().replace(".*", "[removed]").replace("(?P<x>", "[removed]")
    turn = conversation.turns[0]
    free = beside["participants"].popitem()[1]["answers"]["long"]
    edit = str(turn.responses["human"]).removeprefix("mine ")
    texts = (free, turn.user_message, turn.llm_response, edit)
    assert {re.sub("\ufffd+", "\ufffd", text) for text in texts} == {re.sub("\ufffd+", "\ufffd", kept)}


def test_too_much_and_too_little(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link = site.invite()
        page = until(client, link, "say")
        before = site.state(link)
        for content, status, title in (
            (b"message=" + b"x" * (MOST_BYTES - 8), 422, "Conversation"),
            (b"message=" + b"x" * MOST_BYTES, 413, "This could not be read"),
            (b"message=" + b"x" * 20 * MOST_BYTES, 413, "This could not be read"),
            (b"a=&" * 5_000, 400, "This could not be read"),
            (b"message=\xff\xfe", 400, "This could not be read"),
            (b"", 422, "Conversation"),
        ):
            got = send(client, link, page, {}, content=content)
            assert (got.status_code, Page(got.text).title) == (status, title)
        address = httpx.URL(site.url)
        head = f"POST {page.action} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n"
        with socket.create_connection((address.host, address.port or 0)) as broken:
            broken.sendall(f"{head}message=half&nothing=yes".encode())
        assert Page(client.get(link).text).step == "say.1"
        assert site.state(link) == before
        send(client, link, page, {"message": "short", "nothing": "yes"})
        assert site.state(link).answer("say.1")["message"] == "short"


def test_whoever_is_not_asked_changes_nothing(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link, other, late = site.invite(), site.invite(), site.invite(-1)
        page = until(client, link, "say")
        before = site.store.states()
        form, own = {"message": "not mine", "nothing": "yes"}, httpx.URL(site.url).netloc.decode()
        forged = other[: other.rindex("-")] + link[link.rindex("-") :]
        gone = {"do": "withdraw", "sure": "yes"}
        for status, method, url, headers, data in (
            (421, "GET", link, {"host": "evil.example"}, None),
            (421, "POST", f"{link}/say.1", {"host": "evil.example", "origin": "http://evil.example"}, form),
            *((403, "POST", f"{link}/say.1", {"origin": origin}, form) for origin in FOREIGN),
            (403, "POST", f"{link}/stop", {"sec-fetch-site": "cross-site"}, gone),
            (403, "POST", f"{link}/stop", {"sec-fetch-site": "same-site", "origin": f"http://{own}"}, gone),
            *((404, method, link, {}, None) for method in ("PUT", "DELETE", "OPTIONS")),
            *((404, "GET", f"{site.url}/{path}", {}, None) for path in PATHS),
            *((404, "POST", f"{forged}/{step}", {}, form) for step in ("say.1", "consent", "stop")),
            (404, "GET", f"{forged}/ready", {}, None),
            *((410, "POST", f"{late}/{step}", {}, gone) for step in ("consent", "stop")),
            (410, "GET", late, {}, None),
            *((200, "POST", f"{link}/{step}", {}, gone) for step in ELSEWHERE),
            (200, "GET", f"{site.url}/style.css", {}, None),
        ):
            got = client.request(method, url, headers=headers, data=data)
            assert got.status_code == status, (method, url)
            assert EVERYWHERE.items() <= dict(got.headers).items(), (method, url)
            assert "not mine" not in got.text
        assert client.get(forged).text == client.get(f"{site.url}/p00000000-{'0' * 40}").text
        assert site.store.states() == before
        assert send(client, link, page, form, headers={"origin": f"http://{own}"}).status_code == 200
        assert "say.1" in site.state(link).answers


def test_replayed_forms_change_nothing_and_show_nothing_to_others(tmp_path: Path) -> None:
    with served(small(tmp_path / "s")) as site, browser() as client:
        link, other = site.invite(), site.invite()
        person = Participant(link)
        forms = [(page, person.answers(page)) for page in person.walk() if page.buttons]
        before = site.state(link)
        for page, form in reversed(forms):  # of the other, only the consent is asked for, which comes last
            assert send(client, link, page, form).status_code == 200
            shown = client.post(f"{other}/{page.step}", data=form).text
            assert before.answer("say.1")["message"] not in shown
        assert site.state(link) == before
        given = [step for step in site.state(other).answers if not step.startswith(SHOWN)]
        assert given == [INVITED, "consent"]


def test_withdrawing_while_the_assistant_writes(tmp_path: Path) -> None:
    with (
        serve(answer, gather=2) as endpoint,
        served(small(tmp_path / "s", endpoint.url)) as site,
        browser() as client,
    ):
        link, other = site.invite(), site.invite()
        waiting = send(client, link, until(client, link, "say"), {"message": "a", "nothing": "yes"})
        assert "data-ready" in waiting.text  # the endpoint answers nobody before a second request
        assert client.get(f"{link}/ready").json() == {"ready": False}
        client.post(f"{link}/stop", data={"do": "withdraw", "sure": "yes"})
        send(client, other, until(client, other, "say"), {"message": "b", "nothing": "yes"})
        while "reply.1" not in site.state(other).answers:
            time.sleep(0.01)
        assert list(site.state(link).answers) == ["withdrawn"]


def test_nothing_secret_is_logged_and_nothing_leaves_the_machine(tmp_path: Path) -> None:
    key, said = "sk-0123456789abcdef", "a sentence of mine"
    fault = Fault("raw", status=400, first=1, text=f'{{"error": {{"message": "no such key: {key}"}}}}')
    with serve(answer, [fault], key=key) as endpoint:
        study = small(tmp_path / "s", endpoint.url)
        toml = study.folder / "study.toml"
        text = toml.read_text(encoding="utf-8")
        toml.write_text(text.replace('model = "m"', 'model = "m"\nkey_var = "MY_KEY"'), encoding="utf-8")
        with (
            Store(study.database) as store,
            running(study.folder, MY_KEY=key) as (_, url),
            browser() as client,
        ):
            code = store.link(store.invite(9e9))
            client.get(f"{url}/{code}", headers={"host": "evil.example"})
            for page in walk(client, f"{url}/{code}"):
                form = Participant(code).answers(page)
                form |= {"message": said} if "message" in form else {}
                send(client, url, page, form)
                linked = re.findall(r"""(?:src|href|action|url|content)=["'(]?([^"'\s>)]+)""", page.html)
                assert [one for one in linked if "//" in one and not one.startswith(url)] == []
            assert {path.stat().st_mode & 0o077 for path in study.folder.glob("study.sqlite3*")} == {0}
            assert study.folder.stat().st_mode & 0o077 == 0
    log = (tmp_path / "log").read_text()
    assert "reply.1: " in log
    assert 'refused: a request to "evil.example"' in log
    places = {line for line in log.splitlines() if line.startswith("SEEN")}
    assert places == {f"SEEN ('127.0.0.1', {httpx.URL(endpoint.url).port})"}
    assert [secret for secret in (key, code, code[-20:], said) if secret in log] == []


def crowd(place: Path, number: int) -> tuple[float, float]:
    """Have people take part, 20 at a time, and use what they gave; the seconds, and requests a second."""
    faults = ["503,every=7", "reset,every=11", "429,retry_after=0.2,every=13", "empty,every=19"]
    with (
        serve(answer, [*faults, "400,every=53"], latency=0.2) as endpoint,
        served(small(place / "s", endpoint.url)) as site,
    ):
        links = [site.invite() for _ in range(number)]
        begun = time.monotonic()
        people = play_all(links, at_once=20)
        seconds = time.monotonic() - begun
    slowest = sorted(person.slowest for person in people)
    print(
        f"{number}: {seconds:.1f} s, slowest page: median {slowest[number // 2]:.2f} s, {slowest[-1]:.2f} s"
    )
    attune("study export s -o data", cwd=place)
    attune("data validate data", cwd=place)
    loaded = load(place / "data")
    assert len({one.conversation_id for one in loaded}) == number
    assert [warning for one in loaded for warning in oddities(one, "")] == []
    attune("run builtin all data -o results", cwd=place)
    attune("score --results results --data data", cwd=place)
    attune("report scores.json -o report", cwd=place)
    assert (place / "report" / "report.html").is_file()
    rows = training_dataset(select(loaded, "train=true"))
    assert {row["conversation_id"] for row in rows} == {one.conversation_id for one in loaded}
    return seconds, len(endpoint.calls) / seconds


@pytest.mark.slow
def test_a_crowd_over_a_slow_and_failing_endpoint(tmp_path: Path) -> None:
    crowd(tmp_path, 40)
