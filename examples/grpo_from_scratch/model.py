"""A small language model from scratch: a tokenizer trained on the texts, and an untrained Qwen2."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS

SPECIAL: Final = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
TEMPLATE: Final = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
OFTEN: Final = 100
"""A line that occurs in at least one of this many prompts becomes a single token."""
COMPARISON: Final = re.compile(r"(\d+\. )(\[\w+\])( A = \w, B = \w\n)")
"""A line that says what is compared: three tokens."""
FRAGMENTS: Final = (
    *('{"emotions": [', '{"emotion": ', ', "intensity": ', "}, ", "}", "}}"),
    *('], "observed": {', '}, "preferred": {', '{"picks": {', "]}"),
    *(f'{comma}"{key}": ' for key in (*BINARY_IDS, *range(1, 13)) for comma in ("", ", ")),
    *(f'"{value}"' for value in ("yes", "no", "A", "B", *EMOTIONS)),
)
"""The vocabulary of answers, one token each, so that an answer to twelve questions takes about fifty."""

Chat = Sequence[dict[str, str]]


def make_tokenizer(prompts: Sequence[Chat], words: int = 2000) -> Any:
    """A byte-level BPE trained on the prompts' texts, with one token for every line that they repeat.

    A pretrained model knows English; this one sees each question as a single token and learns its meaning
    from the demonstrations.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    texts = [message["content"] for chat in prompts for message in chat]
    lines = Counter(line for text in texts for line in set(text.splitlines(keepends=True)))
    compared = [match.groups() for line in lines if (match := COMPARISON.fullmatch(line))]
    fixed = {line for line, n in lines.items() if n * OFTEN >= len(prompts) and line.strip()}
    fixed -= {line for line in fixed if COMPARISON.fullmatch(line)}
    pieces = sorted({*fixed, *FRAGMENTS, *(part for parts in compared for part in parts)})
    said = [line for line, n in lines.items() if line not in fixed for _ in range(n)]

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=words, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(said, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>", padding_side="left"
    )
    tokenizer.add_tokens(pieces)
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def make_model(tokenizer: Any, seed: int, *, width: int, layers: int) -> Any:
    """An untrained Qwen2 for that tokenizer, for prompts with answers of up to 2,048 tokens.

    A multiple of 128 as width gives heads of at least 32.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    heads = max(4, width // 64)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=width,
            intermediate_size=2 * width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads,
            max_position_embeddings=2048,
            tie_word_embeddings=True,
            initializer_range=0.05 * (128 / width) ** 0.5,  # outputs of the same size at every width
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model
