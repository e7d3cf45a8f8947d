"""The table of finish reasons, and what a reply is with each of them."""

from __future__ import annotations

import pytest

from attune_episodes.chat.finish import Ending, Verdict, ending_of, finish_in, verdict
from tests.data.builders import Json

REASONS: dict[Ending, str] = {
    "whole": (
        "✓ stop STOP end_turn endTurn END_TURN stop_sequence STOP_SEQUENCE eos eos_token eosToken eot eog "
        "EOS_TOKEN_FOUND stopped_eos stop_str complete COMPLETE completed finished done success "
        "FINISH_REASON_STOP FinishReason.STOP finish_reason_unspecified FINISH_REASON_UNSPECIFIED null none "
        "tool_calls tool_call tool_use toolUse TOOL_CALL function_call MALFORMED_FUNCTION_CALL "
        "UNEXPECTED_TOOL_CALL end_of_text natural_stop generation_completed matched_stop stop:<|im_end|>"
    ),
    "cut": (
        "length LENGTH max_tokens MAX_TOKENS maxTokens MaxTokens MAXTOKENS max_output_tokens model_length "
        "FINISH_REASON_MAX_TOKENS FinishReason.LENGTH max_new_tokens max_length token_limit "
        "model_context_window_exceeded incomplete ERROR_LIMIT repetition_truncation pause_turn truncated "
        "token_budget_exhausted context_exhausted"
    ),
    "refused": (
        "content_filter contentFilter CONTENT_FILTER contentfilter content_filtered content-filter SAFETY "
        "FINISH_REASON_SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY sensitive "
        "refusal Refusal ERROR_TOXIC guardrail_intervened content_filter:violence MODEL_ARMOR moderation"
    ),
    "fault": (
        "error ERROR Error abort aborted cancelled canceled USER_CANCEL network_error networkError "
        "NETWORKERROR insufficient_system_resource timeout TIMEOUT timed_out overloaded server_error "
        "internal_error upstream_error rate_limit connection_lost failed client_disconnected max_time "
        "engine_overloaded out_of_memory deadline_exceeded resource_exhausted finish_reason_error"
    ),
    "unknown": (
        "other OTHER unknown FINISH_REASON_OTHER compaction whatever load 1301 über not_finished unfinished "
        "NOT_COMPLETE ended_early no_stop stop:server_shutting_down stop_kv_cache_full half_done in_progress "
        "stopped_by_user system_stop exhausted"
    ),
}


@pytest.mark.parametrize(
    ("ending", "reason"), [(e, r) for e, names in REASONS.items() for r in names.split()]
)
def test_the_table_of_finish_reasons(ending: Ending, reason: str) -> None:
    assert ending_of(reason) == ending


@pytest.mark.parametrize(("choice", "body", "finish"), [
    ({"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}, {"done_reason": "length"}, "stop"),
    ({"finish_reason": None, "native_finish_reason": "MAX_TOKENS"}, {}, "MAX_TOKENS"),
    ({"finish_reason": {"type": "abort", "message": "gone"}}, {}, "abort"),
    ({"finish_reason": {"type": None, "reason": "length"}}, {}, "length"),
    *(({"finish_reason": odd}, {}, "unknown") for odd in ({"length": 16}, ["stop"], 1, True, False)),
    ({"finish_details": {"type": "max_tokens"}}, {}, "max_tokens"),
    ({"finish_reason": None, "stop_reason": 128009}, {}, ""), ({"stop_reason": "end_turn"}, {}, "end_turn"),
    ({}, {"done_reason": "length"}, "length"), ({"finish_reason": ""}, {"stop_reason": "error"}, "error"),
    ({}, {"status": "incomplete", "incomplete_details": {"reason": "max_tokens"}}, "max_tokens"),
    ({}, {"status": "failed"}, "failed"), ({}, {"status": "in_progress"}, "in_progress"),
    *(({}, {"status": good}, "") for good in ("completed", "ok", "success", 200, 0, None)),
])  # fmt: skip
def test_where_a_finish_reason_is_found(choice: Json, body: Json, finish: str) -> None:
    assert finish_in(choice, body) == finish


@pytest.mark.parametrize("reason", ["", " ", "x" * 10**6, "stop" * 10**5, "_" * 10**6])
def test_no_finish_reason_takes_long(reason: str) -> None:
    assert ending_of(reason) in ("whole", "unknown")


@pytest.mark.parametrize(("finish", "plain", "readable", "finish_ok", "expected"), [
    ("stop", True, True, (), "answer"), ("", True, True, (), "answer"),
    ("stop", False, True, (), "answer"), ("stop", False, False, (), "unreadable"),
    ("length", True, True, (), "cut"), ("length", False, False, (), "cut"),
    ("length", False, True, (), "answer"),  # an object that can be read is whole
    ("SAFETY", True, True, (), "refused"), ("SAFETY", False, False, (), "refused"),
    ("error", False, True, (), "fault"), ("error", True, True, (), "fault"),
    ("other", False, True, (), "answer"), ("other", False, False, (), "fault"),
    ("other", True, True, (), "fault"), ("other", True, True, ("OTHER",), "answer"),
    ("other", False, False, ("other",), "unreadable"), ("abort", True, True, ("abort",), "answer"),
])  # fmt: skip
def test_what_a_reply_is(
    finish: str, plain: bool, readable: bool, finish_ok: tuple[str, ...], expected: Verdict
) -> None:
    assert verdict(finish, plain=plain, readable=readable, finish_ok=finish_ok) == expected
