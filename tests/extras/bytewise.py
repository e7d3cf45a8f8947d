"""A tokenizer of bytes, and the folder of a model without weights: what trainers' workers read of a model."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config

END: Final = "<|end|>"


@cache
def tokenizer() -> Any:
    """One token for each byte; a chat template that writes contents one under the other."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=bytewise, eos_token=END, pad_token=END)
    made.chat_template = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    return made


def model_folder(folder: Path) -> str:
    """The tokenizer and a configuration, written there."""
    tokenizer().save_pretrained(folder)
    tiny: Any = dict.fromkeys(("num_attention_heads", "num_hidden_layers", "num_key_value_heads"), 1)
    Qwen2Config(**tiny, architectures=["Qwen2ForCausalLM"]).save_pretrained(folder)
    return str(folder)
