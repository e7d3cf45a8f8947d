"""`AttuneTask`: the task class. A document is a conversation, and its requests are those of the plan.

Since a Composite is computed per conversation from all its stages, lm-eval's means, errors, `--limit` and
`--samples` apply to conversations, and the log has one sample for each.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from importlib.metadata import version
from typing import Any, Final

from attune_data.errors import SettingsError, UnknownNameError
from attune_data.extras import needs_extra, warn_if_untested
from attune_data.version import SCORING_VERSION
from attune_episodes.frameworks.lm_eval import TESTED
from attune_episodes.frameworks.lm_eval.arguments import read_arguments
from attune_episodes.frameworks.lm_eval.scores import (
    OF_ALL,
    OF_STAGE,
    PARSE_RATE,
    aggregations,
    score_replies,
)
from attune_episodes.parsing.decode import sound
from attune_episodes.protocol.plan import plan
from attune_rewards.predictions import STAGES

with needs_extra("lm-eval", "lm_eval", "datasets"):
    from datasets import Dataset
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.models.openai_completions import LocalChatCompletion

UNSUPPORTED: Final = (0, 5)
"""The first version that calls tasks in another way; seen in 0.5.0.dev1."""
STOP: Final = ["<|im_end|>"]
"""The stop sequence of the task files: the end of a chat turn."""
Json = dict[str, Any]
logger = logging.getLogger(__name__)


class AttuneTask(ConfigurableTask):
    """A task that asks about conversations in all stages, or in the one in `dataset_kwargs: {stage: …}`.

    The `metadata` of the configuration has the arguments: `attune_data`, `attune_mode` and so on. The errors
    of `read_arguments` are raised before anything is asked.
    """

    VERSION = SCORING_VERSION

    def __init__(self, config: Mapping[str, Any]) -> None:
        installed = version("lm_eval")
        if tuple(map(int, re.findall(r"\d+", installed)[:2])) >= UNSUPPORTED:
            raise SettingsError(
                f"lm-eval {installed} is installed, which the attune tasks do not support: "
                'pip install "lm_eval>=0.4.12,<0.5"'
            )
        warn_if_untested("lm_eval", *TESTED)
        kept = {name: value for name, value in config.items() if name != "class"}
        stage = (kept.get("dataset_kwargs") or {}).get("stage")
        if stage is not None and stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        self.asked = read_arguments(kept.get("metadata") or {}, stage)
        self.metrics = OF_ALL if stage is None else OF_STAGE[stage]
        super().__init__(config=kept)
        self.VERSION = SCORING_VERSION

    def download(self, dataset_kwargs: Json | None = None, **_: object) -> None:
        """Make the documents; nothing is downloaded."""
        self.dataset = {"test": Dataset.from_list(self.asked.documents)}

    def fewshot_docs(self) -> None:
        """No few-shot examples, since the protocol has none."""

    def doc_to_text(self, doc: Json, doc_to_text: object = None) -> str:
        """A name for the document; the requests are made in `construct_requests`."""
        return str(doc["conversation_id"])

    def doc_to_target(self, doc: Json, doc_to_target: object = None) -> str:
        """Empty, to keep the annotations out of the log."""
        return ""

    def build_all_requests(self, **options: Any) -> None:
        """Make the requests, after checking that lm-eval will send them unchanged.

        Raises SettingsError without a chat template, and with a system instruction.
        """
        name = self.config.task
        if options.get("chat_template") is None:
            raise SettingsError(f"{name} sends chat messages; add --apply_chat_template")
        if options.get("system_instruction"):
            raise SettingsError(f"{name} uses the protocol's system message; leave out --system_instruction")
        if options.pop("cache_requests", False):
            # the cache key includes neither data nor mode, so requests of an earlier run would be sent
            logger.warning("%s ignores --cache_requests and builds its requests again", name)
        super().build_all_requests(**options)

    def fewshot_context(self, doc: Json, *_: object, **__: object) -> str:
        """Empty, since a document has several requests, each with its own messages."""
        return ""

    def construct_requests(self, doc: Json, ctx: str, **options: Any) -> list[Instance]:
        """One instance per request of the plan, with its messages rendered by the model's chat template."""
        template: Callable[[list[dict[str, str]]], Any] = options.pop("chat_template")
        options.pop("apply_chat_template", None)
        sampling = deepcopy(self.config.generation_kwargs)
        # a chat server ends the turn by itself, and reasoning models refuse `stop`, so null is sent for it
        if (
            isinstance(getattr(template, "__self__", None), LocalChatCompletion)
            and sampling.get("until") == STOP
        ):
            sampling["stop"] = None
        asked = plan(self.asked.by_id[doc["conversation_id"]], self.asked.settings)
        return [
            Instance(
                request_type="generate_until",
                doc=doc,
                arguments=(template(request.chat()), deepcopy(sampling)),
                idx=index,
                **options,
            )
            for index, request in enumerate(asked)
        ]

    def apply_filters(self) -> Any:
        """Make replies writable, since a lone surrogate would keep lm-eval from writing its samples."""
        for instance in self._instances:
            instance.resps = [sound(reply) if isinstance(reply, str) else reply for reply in instance.resps]
        return super().apply_filters()

    def process_results(self, doc: Json, results: Sequence[str]) -> Json:
        """Compute the metrics of a conversation from the replies to its requests, in order."""
        if self._metric_fn_list:  # --predict_only
            return dict.fromkeys(self._metric_fn_list)
        conversation = self.asked.by_id[doc["conversation_id"]]
        return score_replies(conversation, self.asked.settings, results, self.metrics)

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """Metric -> the function that aggregates the values of conversations."""
        return dict(self._aggregation_list) or aggregations(self.metrics)

    def higher_is_better(self) -> dict[str, bool]:
        """Metric -> True: higher is better for all of them."""
        return dict.fromkeys((*self.metrics, PARSE_RATE), True)
