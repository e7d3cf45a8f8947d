"""Every form of an answer, a refusal and a fault, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from attune_episodes.chat.client import ChatClient
from attune_episodes.chat.completion import Answer, read_answer
from attune_episodes.chat.faults import Fault
from attune_episodes.chat.finish import ending_of
from tests.data.builders import Json
from tests.endpoint import Fault as Scripted
from tests.endpoint import Server, serve
from tests.endpoint.faults import Faults

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
USAGE = {"prompt_tokens": 5, "completion_tokens": 0}


def asked(text: str, status: int = 200, *, plain: bool = False, finish_ok: tuple[str, ...] = ()) -> Answer:
    """The answer of a client to which a server sends this body."""

    async def ask(url: str) -> Answer:
        client = ChatClient(url, {}, call_timeout=30, finish_ok=finish_ok)
        try:
            return await client.complete(BODY, plain=plain, readable=lambda said: said.startswith("{"))
        finally:
            await client.close()

    server = _server()
    server.faults = Faults([Scripted("raw", status, text=text)])
    return asyncio.run(ask(server.url))


@cache
def _server() -> Server:
    """One server for all, since starting one takes longer than a call."""
    return _running.enter_context(serve(lambda messages: "Hi."))


_running = ExitStack()


@pytest.fixture(scope="module", autouse=True)
def _stop() -> Iterator[None]:
    yield
    _running.close()
    _server.cache_clear()


def body(message: Json | None = None, finish: str | None = "stop", **fields: Any) -> str:
    choice: Json = {"index": 0, "finish_reason": finish}
    return json.dumps({"choices": [choice if message is None else choice | {"message": message}], **fields})


def events(*chunks: Json | str) -> str:
    lines = [chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}" for chunk in chunks]
    return "\n\n".join(lines) + "\n\n"


def chunk(delta: Json, finish: str | None = None) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


LONG = '{"observed": {"B1": "yes"}, "preferred": {}}'
DONE = "data: [DONE]"
YES = body({"content": "{}"})
STREAM = (
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "{"}),
    chunk({"content": "}"}, "stop"),
)


NO_ERRORS: list[Any] = [
    {"code": 0, "message": ""}, {"code": "0", "message": "Success"}, {"code": None, "message": "ok"},
    {"code": 0, "message": "Success", "request_id": "abc"}, {"message": None}, {}, [], "", False,
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), [
    (YES, "{}"),
    ("\ufeff" + YES, "{}"),
    ("\r\n " + YES + "\n\n", "{}"),
    (YES + "\ndata: [DONE]\n\n", "{}"),
    (f"data: {YES}\n\ndata: [DONE]\n\n", "{}"),
    (events(*STREAM, "data: [DONE]"), "{}"),
    ("\ufeff" + events(": OPENROUTER PROCESSING", *STREAM), "{}"),
    (events(*STREAM, "data: [DONE]").replace("\n", "\r\n"), "{}"),
    (events(*STREAM).replace("data: ", "data:"), "{}"),
    (events(*STREAM, {"choices": [], "usage": USAGE}, "data: [DONE]"), "{}"),
    (events(chunk({"content": [{"type": "text", "text": "{"}]}), chunk({"content": "}"}, "stop")), "{}"),
    (body({"content": [{"type": "text", "text": "{"}, {"type": "output_text", "text": "}"}]}), "{}"),
    (body({"content": [{"type": "reasoning", "text": "Hm { }"}, {"type": "text", "text": "{}"}]}), "{}"),
    (body({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "{"}]},
                       {"type": "text", "text": "{}"}]}), "{}"),
    (body({"content": "{}", "reasoning_content": "Hm {"}), "{}"),
    (body({"content": "{}"}, error=None), "{}"),
    *((body({"content": "{}"}, error=error), "{}") for error in NO_ERRORS),
    (body({"content": "{}"}, errors=[], success=True, detail=None, status="ok"), "{}"),
    (body({"content": ["{", "}"]}), "{}"), (body({"content": ["{", {"type": "text", "text": "}"}]}), "{}"),
    (body({"content": {"picks": {"1": "Ä"}}}), '{"picks": {"1": "Ä"}}'),
    (body({"content": {"type": "text", "text": "{}"}}), "{}"),
    *((events(chunk({"content": f'{{"a": "{mark}"}}'}, "stop")).replace(escaped, mark), f'{{"a": "{mark}"}}')
      for mark, escaped in (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085"))),
    (events(*STREAM, DONE).replace("\n", "\r"), "{}"),
    # a message is all there is so far, and so is a delta that begins with it
    (events(*({"choices": [{"message": {"content": said}, "delta": {"content": "}"}, "finish_reason": end}]}
              for said, end in (("{", None), ("{}", None), ("{}", "stop")))), "{}"),
    (events(*(chunk({"content": LONG[:n]}) for n in (1, 10, 30)), chunk({"content": LONG}, "stop")), "LONG"),
    (events(*(chunk({"content": LONG[n : n + 9]}) for n in range(0, 45, 9)), chunk({"content": LONG}, "stop"),
            DONE), "LONG"),
    (events(*(chunk({"content": piece}) for piece in ("{", "ha ", "ha ", "ha ")), chunk({}, "stop")),
     "{ha ha ha "),
    (events(*STREAM[:2], chunk({"content": "}"}, "stop"), chunk({}, ""), DONE), "{}"),
    (body({"content": "{}"}, None), "{}"),
    (body({"content": "{}"}, "OTHER"), "{}"),  # unknown, but it can be read
    (body({"content": "{}"}, "MAX_TOKENS"), "{}"),
    (json.dumps({"choices": [{"text": "{}", "finish_reason": "stop"}]}), "{}"),
])  # fmt: skip
def test_an_answer_is_read_in_every_form(text: str, said: str) -> None:
    assert asked(text).text == said.replace("LONG", LONG)


@pytest.mark.parametrize(("declared", "encoding"), [
    ("gbk", "gbk"), ("GB18030", "gb18030"), ('"Shift_JIS"', "shift_jis"), ("utf-16", "utf-16"),
    ("big5", "big5"),
    ("utf-8", "utf-8"), ("iso-8859-1", "utf-8"), ("gbk", "utf-8"), ("nonsense", "utf-8"), ("zip", "utf-8"),
])  # fmt: skip
def test_a_body_is_decoded_as_declared(declared: str, encoding: str) -> None:
    text = YES.replace("{}", "了日")
    headers = {"content-type": f"application/json; charset={declared}"}
    assert read_answer(200, text.encode(encoding), headers).text == "了日"


def test_latin_1_is_read_where_it_is_declared() -> None:
    data = YES.replace("{}", "désolé").encode("latin-1")
    assert read_answer(200, data, {"content-type": "text/json;charset=ISO-8859-1"}).text == "désolé"
    assert read_answer(200, data, {}).text == "d\ufffdsol\ufffd"


@pytest.mark.parametrize(("usage", "found"), [
    ({"prompt_tokens": 900000.0, "completion_tokens": 7.0}, (900000, 7)),
    ({"input_tokens": 9, "output_tokens": 7}, (9, 7)),
    ({"prompt_tokens": None, "input_tokens": 9, "completion_tokens": 7.5}, (9, 0)),
    ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, (0, 0)),
    ({"prompt_tokens": -1, "completion_tokens": True}, (0, 0)), (None, (0, 0)), ([], (0, 0)),
])  # fmt: skip
def test_tokens_are_counted_under_every_name(usage: Any, found: tuple[int, int]) -> None:
    counted = asked(body({"content": "{}"}, usage=usage)).usage
    assert ((counted.tokens_in, counted.tokens_out), counted.counted) == (found, any(found))


FILTER = {"error": {"code": "content_filter", "message": "The response was filtered", "status": 400}}
INNER = {"error": {"message": "no", "code": "bad", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}


@pytest.mark.parametrize(("text", "status"), [
    *((body({"content": "I"}, finish), 200) for finish in ("content_filter", "SAFETY", "sensitive")),
    (body({"content": None}, "content_filter: violence"), 200),
    (body({"content": None, "refusal": "I can't."}), 200),
    (body({"content": [{"type": "refusal", "refusal": "I can't."}]}), 200),
    (body(None, "content_filter"), 200),
    (body(None, "PROHIBITED_CONTENT"), 200),
    (json.dumps({"choices": [], "prompt_filter_results": [{"hate": {"filtered": True}}]}), 200),
    (json.dumps({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}), 200),
    (json.dumps({"choices": [], "usage": USAGE, "promptFeedback": {"blockReason": "OTHER"}}), 200),
    (json.dumps({"choices": [{"finish_reason": "error", "error": FILTER["error"]}]}), 200),
    (json.dumps(FILTER), 400), (json.dumps(INNER), 400), (json.dumps([INNER]), 400),
    *((json.dumps({"error": {"code": code, "message": "x"}}), status) for status, code in (
        (400, "data_inspection_failed"), (400, "DataInspectionFailed"), (403, "content_policy_violation"),
        (400, "SensitiveContentDetected.SevereViolation"), (400, "InputTextSensitiveContentDetected"),
        (400, "moderation_blocked"), (400, "content_filter:violence"), (500, "content_filter"),
        (451, "prompt_blocked"), (400, "OperationDenied.TextIllegalDetected"), (400, "sensitive_words"),
        (400, "OutputTextRiskDetection"), (400, "content_moderation"), (400, "PROHIBITED_CONTENT"))),
    *((json.dumps({"error": {"message": said}}), 400) for said in (
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "Your request was rejected as a result of our safety system. If this is an error, contact us.",
        "The request was rejected because it was considered high risk", "Content Exists Risk",
        "系统检测到输入或生成内容可能包含不安全或敏感内容")),
    (json.dumps({"error": {"code": None, "message": "blocked by our content management policy"}}), 400),
    (json.dumps({"error": {"message": "x", "metadata": {"flagged_input": "I"}}}), 403),
    (events(chunk({"content": "I"}), chunk({}, "SAFETY"), "data: [DONE]"), 200),
])  # fmt: skip
def test_a_refusal_is_one_in_every_form(text: str, status: int) -> None:
    assert ending_of(asked(text, status).finish) == "refused"


@pytest.mark.parametrize(("status", "code", "message"), [
    (403, "model_permission_blocked_org", "The model is blocked at the organization level."),
    (403, "trusted_access_required", "Your account was flagged for potentially high-risk cyber activity."),
    (403, "account_flagged", "Your account has been flagged."),
    (400, "account_high_risk", "account is high risk"),
    (403, "access_terminated", "Your access was terminated due to violation of our usage policies."),
    (403, "user_blocked", "This user has been blocked"), (403, "ip_blocked", "Your IP address is blocked"),
    (403, "region_blocked", "blocked in your region"), (403, "blocked", "Sorry, you have been blocked"),
    (403, "API_KEY_SERVICE_BLOCKED", "Requests to this method are blocked."),
    (400, None, "your organization's content policy settings must be accepted first"),
    (400, "schema_violation", "x"), (400, "too_many_blocks", "x"), (400, "policy_violation", "x"),
    (503, "no_free_block", "KV cache blocks exhausted"), (500, "high_risk", "x"),
    (503, None, "content filter"),
    (503, "content_filter", "the filter is unavailable"), (500, "guardrail_timeout", "x"),
    (503, "moderation_service_unavailable", "x"), (400, "moderation_failed", "x"), (400, "moderation", "x"),
    (400, "content_filter_error", "x"), (400, "content_filter_timeout", "x"), (429, None, "prompt flagged"),
])  # fmt: skip
def test_an_error_about_anything_but_the_content_is_no_refusal(
    status: int, code: str | None, message: str
) -> None:
    with pytest.raises(Fault, match=f"HTTP {status}: {message}"):
        asked(json.dumps({"error": {"code": code, "message": message}}), status)


def test_a_refusal_in_an_error_keeps_the_words_of_the_server() -> None:
    answer = asked(json.dumps(FILTER), 400)
    assert (answer.text, answer.finish) == ("The response was filtered", "content_filter")


@pytest.mark.parametrize(("text", "kind"), [
    *((body({"content": "{}"}, finish), "broken_off") for finish in ("error", "abort", "NETWORK_ERROR")),
    (body({"content": ""}, "insufficient_system_resource"), "broken_off"),
    (body(None, "error"), "broken_off"),
    (body({"content": ""}, "OTHER"), "broken_off"),
    (body({"content": "half an ans"}, "OTHER"), "broken_off"),
    (json.dumps({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop",
                              "error": {"code": 502, "message": "gone"}}]}), "busy"),
    (body({"content": "{}"}, error={"message": "gone"}), "busy"),
    (body({"content": "{}"}, error={"message": "slow", "code": "429"}), "rate_limited"),
    (json.dumps({"object": "error", "message": "gone", "code": 503}), "busy"),
    (json.dumps({"error": {"message": "no", "code": "insufficient_quota"}}), "no_credit"),
    *((body({"content": "{}"}, error=error), "busy") for error in (
        "gone", ["gone"], [{"message": "gone"}], True, 7, {"code": 0, "message": "gone"})),
    (body({"content": "{}"}, errors=[["gone"]]), "busy"), (body({"content": "{}"}, success=False), "busy"),
    (json.dumps({"choices": [{"message": {"content": "{}"}, "error": ["gone"]}]}), "busy"),
    (json.dumps({"type": "error", "message": "gone", "code": 429}), "rate_limited"),
    (json.dumps({"choices": [], "usage": USAGE}), "no_choices"),
    (json.dumps({"choices": None, "usage": USAGE}), "no_choices"),
    (body({"content": ""}, usage=USAGE), "broken_off"),
    (body({"content": None, "tool_calls": []}, usage=USAGE), "broken_off"),
    (body({"content": "half"}, {"type": "abort"}), "broken_off"),  # type: ignore[arg-type]
    (json.dumps({"choices": []}), "no_choices"), (json.dumps({"choices": [None]}), "no_choices"),
    (body(None), "no_choices"), ("{}", "no_choices"), ("[]", "no_choices"), ("5", "no_choices"),
    (events(*STREAM[:2]), "bad_json"),  # it ends before its end
    (events(*STREAM[:2], DONE), "bad_json"),
    (events({"choices": [{"message": {"content": "{"}, "delta": {"content": "{"}}]}), "bad_json"),
    (events(*STREAM[:2], 'data: {"choi'), "bad_json"),
    (events(*STREAM[:2], "data: [ERROR] gone", DONE), "bad_json"),
    *((events(*STREAM, gone, {"choices": [], "error": None, "usage": USAGE}, DONE), "busy") for gone in (
        {"type": "error", "message": "gone"}, {"object": "error", "message": "gone"}, {"detail": "gone"},
        {"error": ["gone"]}, {"error": "gone"}, {"error": True}, 'error: {"message": "gone", "code": 500}',
        {"type": "response.failed", "response": {"error": {"code": "x", "message": "gone"}}})),
    (events(*STREAM[:2], {"error": {"message": "gone", "code": 503}}), "busy"),
    (events(*STREAM[:2], 'event: error\ndata: {"message": "gone"}'), "busy"),
    (events(*STREAM[:2], chunk({}, "abort"), "data: [DONE]"), "broken_off"),
    (YES[:-5], "bad_json"), (YES + "rest", "bad_json"), ("", "bad_json"), ("data: [DONE]\n\n", "bad_json"),
    ("\ufeff<html></html>", "web_page"),
])  # fmt: skip
def test_a_fault_is_one_in_every_form(text: str, kind: str) -> None:
    with pytest.raises(Fault) as caught:
        asked(text)
    assert (caught.value.kind, caught.value.action != "give_up") == (kind, True)


@pytest.mark.parametrize("said", [
    {"error_code": 17, "error_msg": "daily limit"}, {"detail": "daily limit"},
    {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "daily limit"}},
    {"success": False, "msg": "daily limit"}, {"choices": [], "code": "x", "message": "daily limit"},
])  # fmt: skip
def test_a_body_without_a_choice_is_quoted(said: Json) -> None:
    with pytest.raises(Fault, match="daily limit"):
        asked(json.dumps(said))


def test_a_plain_text_with_an_unknown_finish_counts_only_if_the_user_says_so() -> None:
    text = body({"content": "Oh."}, "Other")
    with pytest.raises(Fault, match=r'finish reason "Other", which is not known; .* --finish-ok'):
        asked(text, plain=True)
    assert asked(text, plain=True, finish_ok=("other",)).text == "Oh."


@pytest.mark.parametrize(("message", "text_in"), [
    ({"content": None, "reasoning_content": "{}"}, "reasoning"),
    ({"content": "", "reasoning": "{}"}, "reasoning"),
    ({"content": [{"type": "thinking", "thinking": "{}"}]}, "reasoning"),
    ({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, "tool_calls"),
    ({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "tool_calls"),
    ({"content": "{}", "reasoning_content": "Hm"}, ""), ({"content": ""}, ""), ({}, ""),
    ({"content": {}}, ""), ({"content": []}, ""),
])  # fmt: skip
def test_where_the_only_text_is_elsewhere_this_is_said(message: Json, text_in: str) -> None:
    answer = asked(body(message, usage={"completion_tokens": 5}))
    assert (answer.text_in, bool(answer.text)) == (text_in, message.get("content") == "{}")


@pytest.mark.parametrize("error", [
    {"code": "json_validate_failed", "message": "Failed to validate JSON", "failed_generation": "{1"},
    {"code": "output_parse_failed", "message": "x", "failed_generation": "{1"},
])  # fmt: skip
def test_a_sample_that_the_server_could_not_use_is_an_answer_all_the_same(error: Json) -> None:
    assert asked(json.dumps({"error": error}), 400).text == "{1"


NAMES = ("seed", "temperature", "max_tokens", "stream", "top_p")


@pytest.mark.parametrize(("error", "field"), [
    ({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]}, "seed"),
    ({"error": {"message": "Unrecognized request argument supplied: seed"}}, "seed"),
    ({"error": {"message": "Unknown parameter: 'top_p'.", "code": "unknown_parameter"}}, "top_p"),
    ({"error": {"message": "Unsupported value: 'temperature' does not support 0.2 with this model.",
                "param": "temperature", "code": "unsupported_value"}}, "temperature"),
    ({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                           "'max_completion_tokens' instead.", "param": "max_tokens"}}, "max_tokens"),
    ({"message": "property 'seed' is unsupported"}, "seed"),
    ({"error": {"message": "max_tokens is too large: 99999; at most 16384", "param": "max_tokens"}}, None),
    ({"error": {"message": "the prompt is too long"}}, None),
    ({"error": {"message": "model not supported"}}, None),
])  # fmt: skip
def test_a_field_that_is_refused_is_recognised(error: Json, field: str | None) -> None:
    with pytest.raises(Fault) as caught:
        asked(json.dumps(error), 422)
    assert caught.value.refused_field(NAMES) == field


@pytest.mark.parametrize("said", [
    "System role not supported", "System role is not supported by this model", "the role 'system' is invalid",
    "Conversation roles must alternate user/assistant/user/assistant/...",
])  # fmt: skip
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_without_a_system_role_is_told_apart(said: str, status: int) -> None:
    with pytest.raises(Fault, match="add --system-as-user"):
        asked(json.dumps({"error": {"message": said}}), status)
