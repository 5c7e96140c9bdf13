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
