"""Answers as OpenAI's chat completions write them, whole and broken."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from aiohttp import web

from tests.endpoint.answers import Answer
from tests.endpoint.faults import Fault

CHARACTERS_A_TOKEN: Final = 4
"""Tokens are counted by length: the same on every machine, near enough for costs."""
HTML: Final = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
Price = tuple[float, float] | None
CHANGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "no_choices": {"choices": []},
    "empty": {"choices": [{"message": {"content": None}}]},
    "length": {"choices": [{"finish_reason": "length"}]},
    "refusal": {"choices": [{"message": {"content": None, "refusal": "I can't help with that."}}]},
    "content_filter": {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
}
"""Kind of fault -> what it changes in a good answer."""


def tokens(text: str) -> int:
    """How many tokens a text counts as: its characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def problem(body: Any) -> str | None:
    """Why a body is no chat request; None if it is one."""
    if not isinstance(body, dict) or not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
        return "messages must be a list of objects, at least one"
    return None


def error(status: int, message: str, code: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """An error in OpenAI's form."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    about = {"message": message, "type": kind, "param": None, "code": code}
    return web.json_response({"error": about}, status=status, headers=headers)


def _completion(body: Mapping[str, Any], answer: Answer, price: Price) -> dict[str, Any]:
    """One choice, and its usage."""
    message = {"role": "assistant", **({"content": answer} if isinstance(answer, str) else answer)}
    asked = sum(tokens(m["content"]) for m in body["messages"] if isinstance(m.get("content"), str))
    said = sum(tokens(text) for name, text in message.items() if name != "role" and isinstance(text, str))
    said = said or 1  # who says nothing still writes the token that ends it
    usage: dict[str, Any] = {
        "prompt_tokens": asked,
        "completion_tokens": said,
        "total_tokens": asked + said,
    }
    if price is not None:
        usage["cost"] = (asked * price[0] + said * price[1]) / 1e6
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }


def endless(fault: Fault) -> Iterator[tuple[bytes, float]]:
    """The pieces of a body that is too long or never ends, and the seconds to wait after each."""
    blanks = b" " * 10**6
    if fault.kind == "drip":
        yield from repeat((b" ", 0.05))
    elif fault.kind == "flood":
        yield from repeat((blanks, 0.0), int(fault.megabytes))
    else:
        packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        yield packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH), 0.0
        # after a full flush equal pieces have equal bytes: they are packed once
        piece = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
        yield from repeat((piece, 0.0), int(fault.megabytes))


def merged(old: Any, new: Any) -> Any:
    """The value with what the other one holds in its place, down to the members of objects and lists."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {name: merged(old.get(name), value) for name, value in new.items()}
    if isinstance(old, list) and isinstance(new, list) and new:
        return [merged(*pair) for pair in zip(old, new, strict=True)]
    return new


def answered(body: Mapping[str, Any], answer: Answer, price: Price, fault: Fault | None) -> web.Response:
    """A good answer, or what a fault makes of it."""
    if fault is None or fault.kind in ("drop", "reset"):
        return _sent(body, _completion(body, answer, price))
    headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
    if fault.kind == "status":
        return error(fault.code, f"scripted {fault.code}", "scripted", headers)
    if fault.kind == "raw":
        return web.Response(body=fault.text.encode("utf-8", "surrogatepass"), status=fault.code)
    if fault.kind == "html":
        return web.Response(text=HTML, content_type="text/html", status=fault.code, headers=headers)
    if fault.kind == "redirect":
        return web.Response(text=HTML, status=fault.code, headers={"Location": fault.text})
    if fault.kind == "garbage":
        answer = fault.text
    elif fault.kind == "long":
        answer = "🌊" + "x" * int(fault.megabytes * 10**6)
    elif fault.kind == "length" and isinstance(answer, str):
        answer = answer[: len(answer) // 2]
    made = merged(_completion(body, answer, price), CHANGES.get(fault.kind, {}))
    if fault.kind == "merged":
        # escaped: half a character has no bytes in UTF-8
        text = json.dumps(merged(made, json.loads(fault.text)))
        return web.Response(text=text, content_type="application/json", status=fault.code)
    response = _sent(body, made, fault.code)
    data = response.body
    assert isinstance(data, bytes)
    if fault.kind == "truncated":
        response.body = data[: len(data) // 2]
    elif fault.kind == "bad_utf8":
        response.body = data.replace(b'"content": "', b'"content": "\xff\xfe\x80', 1)
    return response


def _sent(body: Mapping[str, Any], made: Mapping[str, Any], status: int = 200) -> web.Response:
    """The completion as JSON; or, as verifiers' chat harness asks for it, as the events of a stream."""
    if not body.get("stream"):
        return web.Response(body=_json(made), content_type="application/json", status=status)
    head = {key: made[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for choice in made["choices"]
        for delta, reason in ((choice["message"], None), ({}, choice["finish_reason"]))
    ]
    events.append(head | {"choices": [], "usage": made["usage"]})
    text = b"".join(b"data: " + _json(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    return web.Response(body=text, content_type="text/event-stream", status=status)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
