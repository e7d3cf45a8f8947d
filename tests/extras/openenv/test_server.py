"""What clients can do to a server: nothing that another client would notice."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from attune_data.loading import load
from attune_episodes.openenv_env import AttuneClient, Limits
from attune_episodes.openenv_env.workers import Positions, WorkerError, run_workers
from tests.extras.openenv.serving import PATIENCE, Wire, command, seated, served, wire

DATA = load("sample")
STEP = {"type": "step", "data": {"message": "x"}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def narrow() -> Iterator[str]:
    limits = Limits(sessions=2, message_bytes=2_000, idle_seconds=PATIENCE)
    with served(limits=limits) as found:
        yield found


# --- messages that are none ----------------------------------------------------------------------


@pytest.mark.parametrize(("message", "told"), [
    ("", "INVALID_JSON"),
    ("{", "INVALID_JSON"),
    ({"type": "leave"}, "UNKNOWN_TYPE"),
    ({"type": "reset", "data": []}, "VALIDATION_ERROR"),
    ({"type": "reset", "data": {"conversation_id": "\ud800"}}, "EXECUTION_ERROR: no conversation"),
    ({"type": "reset", "data": {"\ud800": 1}}, "EXECUTION_ERROR: no reset argument"),
    ({"type": "reset", "data": {"number": 1}}, "EXECUTION_ERROR: no reset argument"),
    ('{"type": "reset", "data": {"seed": NaN}}', "EXECUTION_ERROR: seed is nan"),
    ({"type": "step", "data": {"message": None}}, "VALIDATION_ERROR"),
    ({"type": "step", "data": {"message": "x", "reward": 1}}, "VALIDATION_ERROR"),
    (STEP, "EXECUTION_ERROR: no episode has begun"),
])  # fmt: skip
def test_a_message_with_a_mistake_is_answered_with_an_error_and_the_session_goes_on(
    url: str, message: object, told: str
) -> None:
    with wire(url) as session:
        assert told in session.error(message)
        assert session.works()


@pytest.mark.parametrize("frame", ["[" * 100_000, "[]", "null", b"\x00\xff", '{"a": ' * 100_000])
def test_what_is_no_message_ends_its_own_session_at_most(url: str, frame: str | bytes) -> None:
    with wire(url) as other, wire(url) as session:
        with suppress(ConnectionClosed):
            session.send(frame)
            session.text()
        assert other.works()


def test_a_text_of_ten_million_characters_is_a_reply_that_is_too_long(url: str) -> None:
    with wire(url) as session:
        session.reset(index=0)
        assert session.step("x" * 10_000_000)["data"]["observation"]["status"] == "unparsed:too_long"
        assert session.works()


def test_a_client_that_floods_and_leaves_hinders_nobody(url: str) -> None:
    """2,000 steps sent without reading an answer, while another client plays."""
    with wire(url) as other:
        with wire(url) as session:
            session.reset(index=0)
            flood = threading.Thread(target=_flood, args=(session, 2_000))
            flood.start()
            assert all(other.works() for _ in range(5))
            session.connection.socket.shutdown(socket.SHUT_RDWR)
            flood.join(PATIENCE)
            assert not flood.is_alive()
        assert other.works()


def _flood(session: Wire, messages: int) -> None:
    try:
        for _ in range(messages):
            session.send(STEP)
    except (ConnectionClosed, OSError):
        pass


# --- limits --------------------------------------------------------------------------------------


def test_one_session_too_many_is_told_so_and_a_place_that_is_left_is_free(narrow: str) -> None:
    with ExitStack() as first:
        one = first.enter_context(seated(narrow))
        with seated(narrow) as two, wire(narrow) as three:
            assert one.works()
            assert two.works()
            assert "CAPACITY_REACHED" in three.text()
            with pytest.raises(ConnectionClosed):
                three.text()
        assert one.works()
    with seated(narrow) as session:
        assert session.works()


def test_a_message_above_the_limit_is_refused(narrow: str) -> None:
    with seated(narrow) as session:
        told = "MESSAGE_TOO_BIG: a message may have at most 2000 bytes"
        assert session.error({"type": "step", "data": {"message": "x" * 2_000}}) == told
        assert session.error("é" * 1_002) == told  # two bytes each
        assert session.works()


@pytest.mark.parametrize(("limits", "told"), [
    (Limits(sessions=1, idle_seconds=0.3), "was idle for 0.3 seconds"),
    (Limits(sessions=1, session_seconds=0.3), "reached its limit of 0.3 seconds"),
], ids=["idle", "long"])  # fmt: skip
def test_sessions_that_are_silent_or_last_too_long_end_and_leave_their_place(
    limits: Limits, told: str
) -> None:
    with served(limits=limits) as found:
        for _ in range(2):  # the second has the only place there is
            with seated(found) as session:
                answer = json.loads(session.text())
                assert answer["data"]["code"] == "SESSION_TIMEOUT"
                assert told in answer["data"]["message"]
                with pytest.raises(ConnectionClosed):
                    session.text()


# --- plain HTTP ----------------------------------------------------------------------------------


def test_http_shows_a_first_request_and_keeps_no_episode(url: str) -> None:
    with httpx.Client(base_url=url) as client:
        first = client.post("/reset", json={"conversation_id": "sample-02"}).json()
        assert first["observation"]["request_id"] == "sample-02/1/draft"
        step = client.post("/step", json={"action": {"message": "x"}})
        assert (step.status_code, "reset first" in step.json()["detail"]) == (400, True)
        assert client.post("/step", json={"action": {"text": "x"}}).status_code == 422
        assert "known: seed" in client.post("/reset", json={"x": 1}).json()["detail"]
        assert client.get("/health").json() == {"status": "healthy"}
        assert client.get("/metadata").json()["name"] == "attune-env"
        shown = client.get("/schema").json()
        assert {"messages", "parts", "reason", "reward", "done"} <= set(shown["observation"]["properties"])
        tool = client.post("/mcp", json={"jsonrpc": "2.0", "method": "openenv/session/create"})
        assert tool.json()["error"]["message"].startswith("there are no tools")


def test_a_body_above_the_limit_is_refused(narrow: str) -> None:
    def pieces() -> Iterator[bytes]:
        yield from [b"x" * 1_000] * 3

    with httpx.Client(base_url=narrow) as client:
        for content in (b"x" * 2_001, pieces()):  # announced by its length, or not
            answer = client.post("/reset", content=content)
            assert (answer.status_code, answer.json()["detail"]) == (
                413,
                "the body is larger than 2000 bytes",
            )
        assert client.post("/reset", json={}).status_code == 200


@pytest.mark.parametrize("body", [
    b'{"conversation_id": "\\ud800"}', b'{"episode_id": "\\ud800"}', b'{"seed": "\\ud800"}',
    b'{"index": "\\ud800"}', b'{"\\ud800": 1}', b'{"action": {"message": "\\ud800"}}',
    b'{"action": {"message": "x", "metadata": {"a": "\\ud800"}}}', b'{"action": "\\ud800"}',
    b'{"seed": NaN}', b'{"index": -Infinity}', b'{"episode_id": [1e999]}', b'{"x": NaN}',
    b'{"action": {"message": NaN}}', b'{"action": {"message": "x"}, "timeout_s": NaN}',
    b'{"seed": 1' + b"0" * 400 + b"}", b'{"index": 1' + b"0" * 400 + b"}", b'{"x": 1' + b"0" * 5_000 + b"}",
    b'{"seed": ' + b"[" * 900 + b"]" * 900 + b"}", b'{"action": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"timeout_s": 1}', b"[]", b"null", b"3", b'"\\ud800"', b"{} x", b"{",
    b"  ", b"\xff\xfe", b'{"conversation_id": "\xed\xa0\x80"}', '{"seed": 1}'.encode("utf-16"), b"--x\r\n",
])  # fmt: skip
def test_a_body_is_a_clients_mistake_and_never_an_internal_error(url: str, body: bytes) -> None:
    with httpx.Client(base_url=url) as client:
        for path in ("/reset", "/step"):
            for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x", None):
                answer = client.post(path, content=body, headers={"Content-Type": kind} if kind else {})
                assert answer.status_code in (400, 422), (path, kind, answer.text)
                assert answer.json()["detail"]


UPGRADE = (
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)  # fmt: skip


def raw(url: str, path: str, *headers: str) -> str:
    """The beginning of the answer to a request with exactly these headers."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as stream:
        stream.sendall("\r\n".join((f"GET {path} HTTP/1.1", *headers, "", "")).encode())
        answer = b""
        while b"\r\n\r\n" not in answer or (b" 101 " not in answer and b"}" not in answer):
            part = stream.recv(4_096)
            if not part:
                break
            answer += part
    return answer.decode()


@pytest.mark.parametrize(("host", "welcome"), [
    ("127.0.0.1", True), ("127.0.0.1:{port}", True), ("localhost:{port}", True), ("LOCALHOST", True),
    ("[::1]:{port}", True), ("127.0.0.2:9", True), ("env.example.org", True), ("ENV.example.org:443", True),
    ("xn--mnchen-3ya.example", True),
    ("rebound.example.com:{port}", False), ("localhost.example.com", False), ("127.0.0.1.example.com", False),
    ("x@localhost", False), ("localhost@x", False), ("localhost/x", False), ("192.0.2.1", False), ("", False),
    ("[::1", False), ("::1", False), ("localhost:x", False), ("x.env.example.org", False),
])  # fmt: skip
def test_only_the_hosts_that_are_served_get_an_answer(named: str, host: str, welcome: bool) -> None:
    """A page whose name is made to resolve to this machine asks for that name."""
    header = f"Host: {host.format(port=named.rpartition(':')[2])}"
    answers = raw(named, "/health", header), raw(named, "/ws", header, *UPGRADE)
    if welcome:
        assert [answer.split()[1] for answer in answers] == ["200", "101"]
    else:
        assert [answer.split()[1] for answer in answers] == ["421", "421"]
        assert all("with --allowed-host NAME" in answer for answer in answers)


@pytest.fixture(scope="module")
def named() -> Iterator[str]:
    with served(allowed_hosts=["Env.Example.org", "münchen.example"]) as found:
        yield found


def test_web_pages_of_other_sites_are_refused(url: str) -> None:
    with httpx.Client(base_url=url) as client:
        assert client.post("/reset", json={}, headers={"Origin": "https://example.org"}).status_code == 403
        assert client.post("/reset", json={}, headers={"Origin": url}).status_code == 200
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws{url.removeprefix('http')}/ws", origin="https://example.org", proxy=None)


# --- the command ---------------------------------------------------------------------------------


def test_the_command_says_its_url_first_and_ends_cleanly() -> None:
    """SIGTERM: 0; Ctrl-C: 130; both while a client plays."""
    with (
        command("--data", "simulated", "--training", "--stages", "assess", "--allowed-host", "a.b") as first,
        command("--host", "127.0.0.2", "--reward", "skill") as second,
    ):
        for process, host, number, code in (
            (first, "127.0.0.1", signal.SIGTERM, 0),
            (second, "127.0.0.2", signal.SIGINT, 130),
        ):
            assert process.stdout is not None
            found = process.stdout.readline().strip()
            assert found.startswith(f"http://{host}:")
            welcome = ["200", "421"] if process is first else ["421", "421"]
            assert [raw(found, "/health", f"Host: {name}").split()[1] for name in ("a.b", "c.d")] == welcome
            with AttuneClient(base_url=found).sync() as client:
                assert client.reset().observation.stage in ("draft", "assess")
                process.send_signal(number)
                out, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == code, err
            assert out == ""
            assert "Traceback" not in err
            assert "warning" not in err


# --- several workers -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["sequential", "shuffled"])
def test_workers_share_one_order_and_each_serves(order: str) -> None:
    """With one session per worker two open sessions are those of two workers."""
    options = ("--workers", "2", "--max-sessions", "1", "--stages", "prefer", "--order", order)
    with command(*options) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        played = []
        with seated(url) as first, seated(url) as second:
            for turn in range(2 * len(DATA)):
                shown = (first, second)[turn % 3 == 0].reset()["data"]["observation"]
                played.append(shown["conversation_id"])
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), err
    everything = [one.conversation_id for one in DATA]
    for one_pass in (played[: len(DATA)], played[len(DATA) :]):
        assert sorted(one_pass) == sorted(everything)
        assert (one_pass == everything) == (order == "sequential")


def test_a_worker_that_ends_by_itself_ends_the_server() -> None:
    with command("--workers", "2") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://")
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(workers) == 2
        os.kill(int(workers[0]), signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "error: a worker ended unexpectedly" in err
    assert not Path(f"/proc/{workers[1]}").exists()


def interrupt_parent() -> None:
    time.sleep(0.5)  # in a hook that runs right after the fork, the interrupt would be swallowed
    os.kill(os.getppid(), signal.SIGINT)


@pytest.mark.parametrize(("happens", "raised"), [
    (lambda: os._exit(3), WorkerError),
    (interrupt_parent, KeyboardInterrupt),
])  # fmt: skip
def test_what_ends_a_start_ends_every_worker_at_once(happens: Callable[[], None], raised: type) -> None:
    order = Positions()

    def run(ready: Callable[[], object]) -> None:
        if next(order):
            happens()
        time.sleep(PATIENCE)  # starts for longer than a worker may

    with pytest.raises(raised, match="ended unexpectedly" if raised is WorkerError else None):
        run_workers(run, 2, pytest.fail)
