"""Where models are, where keys come from, and that no key gets anywhere else."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from attune_data import SettingsError
from attune_env.running.providers import Endpoint, Secret, checked_url, endpoint_of
from attune_episodes.chat.completion import read_answer
from attune_episodes.chat.faults import status_fault
from tests.command import attune, data_folder
from tests.endpoint import answers_of, serve
from tests.running.playing import KEY, met, model, play, small

DATA = small("c-1")
PRIME = "https://api.pinference.ai/api/v1"


@pytest.mark.parametrize(("provider", "environment", "given", "key", "url"), [
    ("openrouter", {"OPENROUTER_API_KEY": "k1"}, {}, "k1", "https://openrouter.ai/api/v1"),
    ("openai", {"OPENAI_API_KEY": "k2\n"}, {}, "k2", "https://api.openai.com/v1"),
    ("prime", {"PRIME_API_KEY": "k3"}, {}, "k3", PRIME),
    ("prime", {"PRIME_API_KEY": "k3", "RLVR_PRIME_API_KEY": "k4"}, {}, "k4", PRIME),
    ("custom", {}, {"base_url": "http://localhost:8000/v1/"}, "", "http://localhost:8000/v1"),
    ("custom", {"OPENAI_API_KEY": "k5"}, {"base_url": "http://h/v1"}, "k5", "http://h/v1"),
    ("custom", {"OPENAI_API_KEY": "k5", "M": "k6"}, {"base_url": "http://h", "api_key_var": "M"}, "k6", "http://h"),
    ("openai", {"OPENAI_API_KEY": "k2"}, {"api_key": "k7"}, "k7", "https://api.openai.com/v1"),
    ("openrouter", {"OPENROUTER_API_KEY": "k1"}, {"base_url": "http://h/v1/chat/completions"}, "k1", "http://h/v1"),
])  # fmt: skip
def test_each_provider_has_its_address_and_its_key(
    tmp_path: Path, provider: str, environment: dict[str, str], given: Any, key: str, url: str
) -> None:
    endpoint = endpoint_of(provider, environment=environment, home=tmp_path, **given)
    assert (endpoint.key.reveal(), endpoint.base_url) == (key, url)
    assert (key or "-") not in repr(endpoint).replace(url, "")


def test_prime_reads_its_own_configuration_where_no_variable_is_set(tmp_path: Path) -> None:
    (tmp_path / ".prime").mkdir()
    config = tmp_path / ".prime" / "config.json"
    config.write_text(json.dumps({"api_key": "pk", "team_id": "t", "inference_url": "http://i/v1", "x": 5}))
    endpoint = endpoint_of("prime", environment={}, home=tmp_path)
    assert (endpoint.key.reveal(), endpoint.base_url) == ("pk", "http://i/v1")
    assert endpoint.headers == {"X-Prime-Team-ID": "t"}
    other = endpoint_of("prime", environment={"PRIME_API_KEY": "other"}, home=tmp_path)
    assert other.key.reveal() == "other"
    config.write_text('{"api_key": "pk-very-secret"')
    with pytest.raises(SettingsError) as caught:
        endpoint_of("prime", environment={}, home=tmp_path)
    assert "pk-very-secret" not in str(caught.value)


@pytest.mark.parametrize(("provider", "given", "message"), [
    ("openrouter", {}, "OPENROUTER_API_KEY is not set; export OPENROUTER_API_KEY=…"),
    ("openai", {}, "OPENAI_API_KEY is not set"),
    ("prime", {}, "RLVR_PRIME_API_KEY and PRIME_API_KEY are not set; .*prime login"),
    ("custom", {}, "needs --base-url"),
    ("custom", {"base_url": "http://h/v1", "api_key_var": "NOPE"}, '"NOPE", which is not set'),
    ("openai", {"api_key": "a\u00e9b"}, "characters that an HTTP header cannot carry"),
    ("openai", {"api_key": "a\r\nHost: evil"}, "characters that an HTTP header cannot carry"),
])  # fmt: skip
def test_what_is_missing_is_named_before_anything_starts(
    tmp_path: Path, provider: str, given: Any, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        endpoint_of(provider, environment={}, home=tmp_path, **given)


@pytest.mark.parametrize("url", [
    "localhost:8000", "ftp://h", "http://", "http://h:port/v1", "http://h/v1?key=1",
    "http://h/v1?api_key=sk-topsecret", "h/v1?key=sk-topsecret", "me:sk-topsecret@h/v1",
    "ftp://me:sk-topsecret@h", "http://h/v1#sk-topsecret",
])  # fmt: skip
def test_an_address_that_may_hold_a_key_is_not_quoted(url: str) -> None:
    with pytest.raises(SettingsError, match="expected an address such as") as caught:
        checked_url(url)
    assert "topsecret" not in str(caught.value)


ODD_KEY = "sk-ab/cd+ef/0123456789"


@pytest.mark.parametrize("echoed", [ODD_KEY.replace("/", r"\/"), "\\u0073" + ODD_KEY[1:], ODD_KEY])
def test_a_key_that_comes_back_in_escapes_is_hidden_all_the_same(echoed: str) -> None:
    said, hide = f"your key is {echoed}", Secret(ODD_KEY).hidden_in

    def refusal(text: str) -> str:
        return str(status_fault(400, json.loads(text), text, {}, hide))

    message = f'{{"content": "{said}", "reasoning_content": "{said}"}}'
    body = f'{{"model": "{said}", "choices": [{{"message": {message}, "finish_reason": "{said}"}}]}}'
    answer = read_answer(200, body.encode(), {}, hide)
    assert {answer.text, answer.reasoning, answer.finish, answer.served} == {"your key is [key]"}
    for place in (f'"error": {{"message": "{said}"}}', f'"detail": "{said}"', f'"error": "{said}"'):
        assert "key is [key]" in refusal(f"{{{place}}}")
    # cut in the middle of the key, were it not hidden before
    assert "sk-ab" not in refusal(f'{{"error": {{"message": "{"x" * 290}{echoed}"}}}}')


@pytest.mark.parametrize(("variable", "value", "message"), [
    ("ALL_PROXY", "gopher://me:hush-hush@127.0.0.1:1", "the proxy .* cannot be used: .*"),
    ("SSL_CERT_FILE", "no-such-file.pem", "SSL_CERT_FILE.* cannot be used: .*No such file"),
])  # fmt: skip
def test_an_environment_that_no_connection_can_be_made_with_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    with serve(answers_of(DATA)) as server, pytest.raises(SettingsError, match=message) as caught:
        play(server, DATA, tmp_path)
    assert "hush-hush" not in str(caught.value)
    assert (server.calls, list(tmp_path.iterdir())) == ([], [])


def test_a_secret_shows_nothing_of_itself() -> None:
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]} {Endpoint('custom', 'http://h', secret)}"
    for carry in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            carry(secret)
    assert secret.hidden_in(f"a {KEY} b") == "a [key] b"
    assert Secret("EMPTY").hidden_in("an EMPTY word") == "an EMPTY word"


def test_the_key_is_sent_in_the_header_and_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    report, server = met(tmp_path, DATA, key=KEY)
    assert report.written == 1
    for call in server.calls:
        assert call.headers["authorization"] == f"Bearer {KEY}"
        assert "-mine" not in str(call.headers)
    with serve(answers_of(DATA)) as server:
        keyless = endpoint_of("custom", base_url=server.url, environment={})
        play(server, DATA, tmp_path / "keyless", evaluated=type(model(server))("m", keyless))
    assert all("authorization" not in call.headers for call in server.calls)


@pytest.mark.slow
def test_a_key_is_in_no_file_and_no_stream_even_where_the_server_repeats_it(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "data", ["c-1", "c-2"])
    book = answers_of(small(2), change=lambda r, text: f"I know {KEY}" if r.stage == "draft" else text)
    faults = [f"garbage,text=you said {KEY},of=c-1/2/assess", "400,of=c-2/2/prefer"]
    ways = (["--api-key", KEY], [f"--api-key={KEY}"], ["--api-key-var", "MINE"])
    said = ""
    with serve(book, faults) as server, serve(book, key="another") as refusing:
        for asked, given in [*((server, way) for way in ways), (refusing, ways[0])]:
            where = ("-o", f"out/{len(said)}", "--base-url", asked.url)
            done = attune("run", "custom", "m", data, *where, *given, cwd=tmp_path, code=1, MINE=KEY)
            said += done.stdout + done.stderr
            assert "Continue with: attune run custom m" in done.stderr
    written = [path.read_bytes() for path in sorted((tmp_path / "out").rglob("*")) if path.is_file()]
    assert len(written) >= 4 * 3
    assert any(b"I know [key]" in content for content in written)
    assert KEY not in said
    assert not any(KEY.encode() in content for content in written)
