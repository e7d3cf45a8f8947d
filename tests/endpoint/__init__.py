"""An OpenAI-compatible chat server on loopback, for tests and benchmarks: real HTTP, scripted answers.

In a test:

    with serve(answers_of(load("sample"), "lexicon"), faults=["503,first=1,of=*/reflect"]) as server:
        client = OpenAI(base_url=server.url, api_key="any")
        …
    assert [call.status for call in server.calls] == …

As a process of its own: `python -m tests.endpoint --data sample --policy lexicon` prints its URL on the
first line; `endpoint_process(…)` starts and stops one.
"""

from tests.endpoint.answers import Answer, Answers, Book, answers_of, first_of
from tests.endpoint.faults import Fault
from tests.endpoint.process import EndpointProcess, endpoint_process
from tests.endpoint.server import Call, Server, serve

__all__ = [
    "Answer", "Answers", "Book", "Call", "EndpointProcess", "Fault", "Server", "answers_of",
    "endpoint_process", "first_of", "serve",
]  # fmt: skip
