"""Tell an error that refuses the content of a request from every other error."""

from __future__ import annotations

import re
from typing import Final

from attune_episodes.chat.faults import error_of, message_of, named

_STATUSES: Final = {400, 403, 422, 451}
"""Status codes with which servers refuse a request for its content; any other needs a code that says so."""
_CODE: Final = re.compile(
    r"(?:input|output|prompt|response|request|text|message|image|new)*"
    r"(?:contentfilter(?:ed|ing)?|content(?:policy|moderation|safety)|content(?=violation|blocked|flagged)"
    r"|responsibleai(?:policy)?|datainspection(?:failed)?|prompt(?:blocked|flagged)|nsfw"
    r"|sensitive(?:content|words?|data|information)?|(?:unsafe|harmful|inappropriate|prohibited|illegal)content"
    r"|(?<=text)illegal(?=detected)|riskdetection|safety|modelarmor|jailbreak|recitation|blocklist|spii|refusal"
    r"|(?:moderation|guardrails?)(?=blocked|flagged|violation|intervened))"
    r"(?:policy|violation|detected|block(?:ed)?|flagged|intervened|error(?<=violationerror))*"
)
"""The codes of content filters, in small letters and without marks between words: OpenAI and Azure
(`content_filter`, `ResponsibleAIPolicyViolation`, `moderation_blocked`), Gemini's block reasons, DashScope
(`data_inspection_failed`), Volcengine (`InputTextSensitiveContentDetected`), and their like.

Words for a fault (timeout, unavailable, error), an account, a key, a region or a service are in none.
"""
_ASKED: Final = r"(?:prompt|input|request|messages?|content|text|output|response)s?"
_SAID: Final = re.compile(
    r"content (?:management )?(?:polic|filter|safety)|content_(?:filter|policy)"
    r"|safety (?:system|filter|polic)"
    r"|(?:inappropriate|sensitive|harmful|unsafe) content|content exists risk|敏感"
    rf"|\b{_ASKED}\b[^.]{{0,80}}(?:usage (?:polic|guideline)|flagged|high risk)"
    rf"|flagged {_ASKED}",
    re.IGNORECASE,
)
"""Phrases with which servers refuse content without a code."""
_NOT_CONTENT: Final = re.compile(
    r"\b(?:accounts?|organi[sz]ations?|orgs?|api[ _-]?keys?|ips?|permissions?|regions?|quotas?"
    r"|countr(?:y|ies)|rate limits?|access|subscriptions?|verification|verif(?:y|ied)|time[ds]?[ -]?out"
    r"|unavailable|not available|overloaded|internal error|try again later)\b",
    re.IGNORECASE,
)
"""Words of an error that is about the account, the place or the service instead."""
_FAULTY: Final = re.compile(r"time[ds]?[ -]?out|unavailable|overloaded|internal|unreachable", re.IGNORECASE)
_NAMES: Final = ("code", "type", "reason", "finish_reason", "block_reason", "blockReason")


def is_refused(status: int, body: object) -> bool:
    """Whether an error refuses the content of the request; it then counts as the model's own refusal.

    A code that names the content decides, whatever the status, unless a server error says that the filter
    itself failed. Without one, the message does, if it is about the request and nothing else.
    """
    about, said = error_of(body), message_of(body)
    allowed = 200 <= status < 300 or status in _STATUSES or (status >= 500 and not _FAULTY.search(said))
    if allowed and any(_names_content(code) for code in named(about, *_NAMES)):
        return True
    if status not in _STATUSES:
        return False
    flagged = "flagged_input" in str(about.get("metadata"))
    return flagged or bool(_SAID.search(said) and not _NOT_CONTENT.search(said))


def _names_content(code: str) -> bool:
    """Whether a code, or a part of it as in `content_filter:violence`, is that of a content filter."""
    parts = re.split(r"[.:/]", code[:200])
    return any(_CODE.fullmatch(re.sub(r"[\W_]", "", part).lower()) for part in parts)
