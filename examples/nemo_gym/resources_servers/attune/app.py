"""A resources server of NeMo Gym that scores a reply to a row with attune-env's reward.

Needs Python 3.12 and `nemo-gym`, which asks for versions that an environment of its own should hold.
"""

from __future__ import annotations

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseRunRequest,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)

from attune_env import score_row


class AttuneRunRequest(BaseRunRequest):
    """A row of `prepare.py`."""

    truth: str


class AttuneVerifyRequest(AttuneRunRequest, BaseVerifyRequest):
    """A row and the model's reply to it."""


class AttuneVerifyResponse(AttuneVerifyRequest, BaseVerifyResponse):
    """The reward of the reply, and what it is made of."""

    reason: str
    parts: dict[str, float]


class AttuneServer(SimpleResourcesServer):
    """Parses and scores replies; it keeps no state, so any number of requests may be in flight."""

    config: BaseResourcesServerConfig

    async def verify(self, body: AttuneVerifyRequest) -> AttuneVerifyResponse:
        """Score the text of the reply; reasoning and tool calls do not count."""
        text = "".join(
            content.text
            for output in body.response.output
            if output.type == "message"
            for content in output.content
            if content.type == "output_text"
        )
        score = score_row({"truth": body.truth}, text)
        return AttuneVerifyResponse(
            **body.model_dump(), reward=score.value, reason=score.reason, parts=dict(score.parts)
        )


if __name__ == "__main__":
    AttuneServer.run_webserver()
