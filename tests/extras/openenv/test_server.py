"""What clients can do to a server: nothing that another client would notice."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from attune_data.source.load import load
from attune_episodes.frameworks.openenv import AttuneClient
from tests.extras.openenv.serving import PATIENCE, command, seated, served, wire

DATA = load("sample")
STEP = {"type": "step", "data": {"message": "x"}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def narrow() -> Iterator[str]:
    with served(sessions=2) as found:
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


def test_a_message_above_16_megabytes_ends_its_session(url: str) -> None:
    with wire(url) as other, wire(url) as session:
        with pytest.raises(ConnectionClosed):
            session.step("x" * (16 * 1024 * 1024))
        assert other.works()


def test_a_session_that_is_silent_too_long_loses_its_place() -> None:
    with served(sessions=1, idle_seconds=0.5) as found, wire(found) as silent:
        silent.reset()
        with seated(found) as session:
            assert session.works()


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


def test_a_body_above_16_megabytes_is_refused(url: str) -> None:
    with httpx.Client(base_url=url) as client:
        assert client.post("/reset", content=b" " * (16 * 1024 * 1024 + 1)).status_code == 413


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"3", b"{} x", b'{"action": 1}', b'{"action": {"message": 1}}', b'{"x": 1}',
    b"[" * 100_000,
])  # fmt: skip
def test_a_body_with_a_mistake_is_the_clients(url: str, body: bytes) -> None:
    with httpx.Client(base_url=url) as client:
        assert client.post("/step", content=body).status_code in (400, 422)
        assert client.post("/reset", json={}).status_code == 200


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
    ("127.0.0.1", True), ("localhost:{port}", True), ("LOCALHOST", True), ("[::1]:{port}", True),
    ("env.example.org:9", True), ("gpu.local", True),
    ("rebound.example.com:{port}", False), ("localhost.example.com", False), ("192.0.2.1", False),
    ("", False), ("x.env.example.org", False),
])  # fmt: skip
def test_only_the_hosts_that_are_served_get_an_answer(named: str, host: str, welcome: bool) -> None:
    """A page whose name is made to resolve to this machine asks for that name."""
    header = f"Host: {host.format(port=named.rpartition(':')[2])}"
    answers = raw(named, "/health", header), raw(named, "/ws", header, *UPGRADE)
    wanted = ["200", "101"] if welcome else ["400", "400"]
    assert [answer.split()[1] for answer in answers] == wanted


@pytest.mark.parametrize(("origin", "welcome"), [
    ("http://127.0.0.1", True), ("HTTP://127.0.0.1", True),
    ("https://evil.example.com", False), ("http://127.0.0.1:1", False), ("null", False), ("", False),
])  # fmt: skip
def test_pages_on_other_sites_get_no_answer(named: str, origin: str, welcome: bool) -> None:
    headers = "Host: 127.0.0.1", f"Origin: {origin}"
    answers = raw(named, "/health", *headers), raw(named, "/ws", *headers, *UPGRADE)
    assert [answer.split()[1] for answer in answers] == (["200", "101"] if welcome else ["403", "403"])


@pytest.fixture(scope="module")
def named() -> Iterator[str]:
    with served(allowed_hosts=["Env.Example.org", "*.local"]) as found:
        yield found


# --- the command ---------------------------------------------------------------------------------


def test_the_command_says_its_url_first_and_ends_cleanly() -> None:
    """SIGTERM: 0; Ctrl-C: 130; both while a client plays."""
    with (
        command("--data", "written", "--training", "--stages", "assess", "--allowed-host", "a.b") as first,
        command("--host", "127.0.0.2", "--reward", "skill") as second,
    ):
        for process, host, number, code in (
            (first, "127.0.0.1", signal.SIGTERM, 0),
            (second, "127.0.0.2", signal.SIGINT, 130),
        ):
            assert process.stdout is not None
            found = process.stdout.readline().strip()
            assert found.startswith(f"http://{host}:")
            welcome = ["200", "400"] if process is first else ["400", "400"]
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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_each_worker_serves_and_all_end_together(number: int, code: int) -> None:
    """With one session per worker two open sessions are those of two workers."""
    options = ("--workers", "2", "--max-sessions", "1", "--stages", "prefer", "--reward", "preference")
    with command(*options) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with seated(url) as first, seated(url) as second:
            for session in (first, second):
                shown = session.reset()["data"]["observation"]
                assert (shown["conversation_id"], shown["stage"]) == ("sample-01", "prefer")
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            workers = [
                child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
            ]
            assert len(workers) == 2
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, ""), err
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
