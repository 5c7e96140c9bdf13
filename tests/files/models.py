"""The files of a small model."""

from __future__ import annotations

import json

VOCAB = "".join(
    f"{token}\n"
    for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "Hello", "world")
)
CONFIG = json.dumps({"do_lower_case": False, "tokenizer_class": "BertTokenizer"})
TOKENIZER_JSON = json.dumps({"added_tokens": []})
MODEL = {"vocab.txt": VOCAB, "tokenizer_config.json": CONFIG}
# "Hello world" with and without the tokenizer_config.json
CASED, UNCASED = (
    [2, 6, 7, 3],
    [2, 5, 7, 3],
)
WANTED = [
    "vocab.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "tokenizer.json",
]
WANTED += ["chat_template.jinja"]

# What the tokenizer.json of a published model says of truncation and padding, where [PAD] is 3.
CUT = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
FILLED = {
    "strategy": {"Fixed": 128},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 3,
    "pad_type_id": 0,
    "pad_token": "[PAD]",
}
