"""What public methods take compared with those of transformers' fast class: one table, in CPU time.

    pytest -m benchmark tests/benchmarks/test_operations.py -s

The two are called in turns; of several rounds the fastest counts. The texts were met before.
"""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
import transformers

import trietok
from tests.benchmarks.texts import lines

pytestmark = pytest.mark.benchmark

ROUNDS, SECONDS = 7, 0.01  # that a round takes at least
TEXTS = [line for line in lines() if 200 < len(line) < 300 and line.isascii()][:64]
WORDS = TEXTS[0].split()
OPERATIONS = """
tokenizer(text)
tokenizer(text, pair)
tokenizer(texts)
tokenizer(texts, padding=True, return_tensors="np")
tokenizer(texts, padding=True, truncation=True, max_length=64)
tokenizer(texts, truncation=True, max_length=32, stride=8, return_overflowing_tokens=True)
tokenizer(text, return_offsets_mapping=True)
tokenizer(texts, return_offsets_mapping=True)
tokenizer(words, is_split_into_words=True).word_ids()
tokenizer(text).char_to_token(40)
tokenizer.encode(text)
tokenizer.tokenize(text)
tokenizer.convert_tokens_to_ids(tokens)
tokenizer.convert_ids_to_tokens(ids)
tokenizer.decode(ids)
tokenizer.batch_decode(rows, skip_special_tokens=True)
tokenizer.pad({"input_ids": rows}, padding=True)
tokenizer.get_vocab()
tokenizer.all_special_ids
""".strip().splitlines()


def plain(value: Any) -> Any:
    """A result as both sides have it."""
    if hasattr(value, "data") and hasattr(value, "items"):
        return {name: plain(column) for name, column in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def seconds(operation: Any, space: dict[str, Any], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        eval(operation, space)
    return (time.process_time() - start) / times


def test_methods_return_what_transformers_return(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(os.environ, "TOKENIZERS_PARALLELISM", "false")
    trietok.BertTokenizer.from_pretrained("trietok-en").save_pretrained(tmp_path)
    spaces = []
    for library in (trietok, transformers):
        tokenizer = library.BertTokenizerFast.from_pretrained(tmp_path, model_max_length=10**9)
        rows = tokenizer(TEXTS)["input_ids"]
        tokens = tokenizer.convert_ids_to_tokens(rows[0])
        names = {"text": TEXTS[0], "pair": TEXTS[1], "texts": TEXTS, "words": WORDS}
        spaces.append(
            {**names, "tokenizer": tokenizer, "rows": rows, "ids": rows[0], "tokens": tokens}
        )
    table = ["| operation | trietok, µs | transformers, µs | ratio |", "|" + " --- |" * 4]
    for operation in OPERATIONS:
        compiled = compile(operation, "operation", "eval")
        ours, theirs = (plain(eval(compiled, space)) for space in spaces)
        assert ours == theirs, operation
        times = [max(1, int(SECONDS / seconds(compiled, space, 2))) for space in spaces]
        ours, theirs = (
            min(each)
            for each in zip(
                *(
                    [
                        seconds(compiled, space, count)
                        for space, count in zip(spaces, times, strict=True)
                    ]
                    for _ in range(ROUNDS)
                ),
                strict=True,
            )
        )
        table.append(
            f"| {operation} | {ours * 1e6:,.2f} | {theirs * 1e6:,.2f} | {theirs / ours:.2f} |"
        )
    with capsys.disabled():
        print("", *table, sep="\n")
