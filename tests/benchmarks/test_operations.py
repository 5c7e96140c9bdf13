"""What a public method takes beside the same method of transformers' fast class, in CPU time.

The two are called in turns; of several rounds the fastest counts, on either side. The texts are
lines of the pages, each called several times before, so what is remembered of them is at hand.
"""

from __future__ import annotations

import copy
import os
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

import trietok
from tests.benchmarks.texts import lines
from trietok.files.model_files import built_in_directory

pytestmark = pytest.mark.benchmark

ROUNDS = 7
SECONDS = 0.01  # that a round of an operation takes at least, on either side
TEXTS = [line for line in lines() if 200 < len(line) < 300 and line.isascii()][:64]
WORDS = [text.split() for text in TEXTS]
MANY = [f"zq{number:06d}" for number in range(100_000)]


class Side:
    """A tokenizer, and what its methods are given.

    Attributes:
        tokenizer: a BertTokenizerFast, trietok's or transformers'.
        many, large: the same with 100,000 added tokens, or as many more entries, once it is first
            asked for.
        ids, tokens, rows: of the first text, and of all.
        result: of the first text.
        at: counts calls, for what is to be new in each.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.tokenizer = kind.from_pretrained(
            built_in_directory("trietok-en"), model_max_length=10**9
        )
        self.directory = tempfile.mkdtemp()
        self.text, self.pair = TEXTS[:2]
        for _ in range(3):
            self.rows = self.tokenizer(TEXTS, return_offsets_mapping=True).input_ids
        self.ids, self.bare = self.rows[0], self.rows[0][1:-1]
        self.tokens = self.tokenizer.convert_ids_to_tokens(self.ids)
        self.result = self.tokenizer(self.text)
        self.last = len(self.ids) - 2
        self.growing = copy.deepcopy(self.tokenizer)
        self.at = 0

    @property
    def many(self) -> Any:
        if "_many" not in self.__dict__:
            self._many = copy.deepcopy(self.tokenizer)
            self._many.add_tokens(MANY)
        return self._many

    @property
    def large(self) -> Any:
        if "_large" not in self.__dict__:
            entries = sorted(self.tokenizer.vocab, key=self.tokenizer.vocab.__getitem__)
            path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{entry}\n" for entry in [*entries, *MANY])
            self._large = self.kind(path)
        return self._large

    def new(self) -> str:
        self.at += 1
        return f"qz{self.at:07d}"


def add_one_and_encode(side: Side) -> object:
    side.growing.add_tokens([side.new()])
    return side.growing.encode(side.text)


def add_one_to_many_and_encode(side: Side) -> object:
    side.many.add_tokens([side.new()])
    return side.many.encode(side.text)


def word_ids_of_batch(side: Side) -> object:
    result = side.tokenizer(WORDS, is_split_into_words=True, truncation=True, max_length=128)
    return [result.word_ids(number) for number in range(len(WORDS))]


def align_labels(side: Side) -> object:
    """The loop of token classification that transformers' page has: labels only where a word
    begins.
    """
    result = side.tokenizer(WORDS[0], is_split_into_words=True)
    before, labels = None, []
    for word in result.word_ids():
        labels.append(-100 if word is None or word == before else 1)
        before = word
    return labels


OPERATIONS: dict[str, Callable[[Side], object]] = {
    "tokenizer(text)": lambda side: side.tokenizer(side.text),
    "tokenizer(text, pair)": lambda side: side.tokenizer(side.text, side.pair),
    "tokenizer(text, truncation, max_length)": lambda side: side.tokenizer(
        side.text, truncation=True, max_length=32
    ),
    "tokenizer(texts)": lambda side: side.tokenizer(TEXTS),
    "tokenizer(texts, padding, truncation)": lambda side: side.tokenizer(
        TEXTS, padding=True, truncation=True, max_length=64
    ),
    "tokenizer(texts, padding, numpy)": lambda side: side.tokenizer(
        TEXTS, padding=True, return_tensors="np"
    ),
    "tokenizer(texts, pairs, truncation)": lambda side: side.tokenizer(
        TEXTS, TEXTS, truncation=True, max_length=64
    ),
    "tokenizer(text, offsets)": lambda side: side.tokenizer(side.text, return_offsets_mapping=True),
    "tokenizer(texts, offsets)": lambda side: side.tokenizer(TEXTS, return_offsets_mapping=True),
    "tokenizer(texts, overflow, stride)": lambda side: side.tokenizer(
        TEXTS, truncation=True, max_length=32, stride=8, return_overflowing_tokens=True
    ),
    "tokenizer(question, texts, overflow, offsets)": lambda side: side.tokenizer(
        [side.text[:40]] * len(TEXTS),
        TEXTS,
        truncation="only_second",
        max_length=48,
        stride=8,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    ),
    "tokenizer(words)": lambda side: side.tokenizer(WORDS[0], is_split_into_words=True),
    "tokenizer(words).word_ids()": (
        lambda side: side.tokenizer(WORDS[0], is_split_into_words=True).word_ids()
    ),
    "tokenizer(words, offsets)": lambda side: side.tokenizer(
        WORDS[0], is_split_into_words=True, return_offsets_mapping=True
    ),
    "labels of words": align_labels,
    "tokenizer(batch of words), word_ids of each": word_ids_of_batch,
    "tokenizer(text).word_ids()": lambda side: side.tokenizer(side.text).word_ids(),
    "tokenizer(text).char_to_token(last)": (
        lambda side: side.tokenizer(side.text).char_to_token(len(side.text) - 2)
    ),
    "tokenizer(text).tokens()": lambda side: side.tokenizer(side.text).tokens(),
    "result.word_ids()": lambda side: side.result.word_ids(),
    "result.char_to_token(last)": lambda side: side.result.char_to_token(len(side.text) - 2),
    "result.token_to_chars(last)": lambda side: side.result.token_to_chars(side.last),
    "result.word_to_tokens(20)": lambda side: side.result.word_to_tokens(20),
    "result.sequence_ids()": lambda side: side.result.sequence_ids(),
    "encode(text)": lambda side: side.tokenizer.encode(side.text),
    "encode(text, add_special_tokens=False)": lambda side: side.tokenizer.encode(
        side.text, add_special_tokens=False
    ),
    "encode(text, truncation, max_length)": lambda side: side.tokenizer.encode(
        side.text, truncation=True, max_length=32
    ),
    "encode_plus(text)": lambda side: side.tokenizer.encode_plus(side.text),
    "batch_encode_plus(texts)": lambda side: side.tokenizer.batch_encode_plus(TEXTS),
    "tokenize(text)": lambda side: side.tokenizer.tokenize(side.text),
    "prepare_for_model(ids)": lambda side: side.tokenizer.prepare_for_model(side.bare),
    "pad(rows)": lambda side: side.tokenizer.pad({"input_ids": side.rows}),
    "build_inputs_with_special_tokens(ids)": lambda side: (
        side.tokenizer.build_inputs_with_special_tokens(side.bare)
    ),
    "create_token_type_ids_from_sequences(ids)": lambda side: (
        side.tokenizer.create_token_type_ids_from_sequences(side.bare)
    ),
    "get_special_tokens_mask(ids)": lambda side: side.tokenizer.get_special_tokens_mask(
        side.ids, already_has_special_tokens=True
    ),
    "num_special_tokens_to_add()": lambda side: side.tokenizer.num_special_tokens_to_add(),
    "convert_tokens_to_ids(tokens)": lambda side: side.tokenizer.convert_tokens_to_ids(side.tokens),
    "convert_ids_to_tokens(ids)": lambda side: side.tokenizer.convert_ids_to_tokens(side.ids),
    "convert_tokens_to_string(tokens)": lambda side: side.tokenizer.convert_tokens_to_string(
        side.tokens
    ),
    "decode(ids)": lambda side: side.tokenizer.decode(side.ids),
    "decode(ids, skip_special_tokens)": lambda side: side.tokenizer.decode(
        side.ids, skip_special_tokens=True
    ),
    "decode(ids, clean_up)": lambda side: side.tokenizer.decode(
        side.ids, clean_up_tokenization_spaces=True
    ),
    "decode(id)": lambda side: side.tokenizer.decode(side.ids[5]),
    "batch_decode(rows)": lambda side: side.tokenizer.batch_decode(side.rows),
    "batch_decode(rows, skip_special_tokens)": lambda side: side.tokenizer.batch_decode(
        side.rows, skip_special_tokens=True
    ),
    "vocab_size": lambda side: side.tokenizer.vocab_size,
    "len(tokenizer)": lambda side: len(side.tokenizer),
    "get_vocab()": lambda side: side.tokenizer.get_vocab(),
    "pad_token_id": lambda side: side.tokenizer.pad_token_id,
    "all_special_ids": lambda side: side.tokenizer.all_special_ids,
    "add_tokens of one, then encode(text)": add_one_and_encode,
    "the same with 100,000 added": add_one_to_many_and_encode,
    "save_pretrained()": lambda side: side.tokenizer.save_pretrained(side.directory),
    "save_pretrained() with 100,000 added": lambda side: side.many.save_pretrained(side.directory),
    "save_pretrained() with 100,000 more entries": lambda side: side.large.save_pretrained(
        side.directory
    ),
    "from_pretrained() of the same": lambda side: side.kind.from_pretrained(side.directory),
    "pickle.loads(pickle.dumps(tokenizer))": lambda side: pickle.loads(
        pickle.dumps(side.tokenizer)
    ),
}


def shown(value: Any) -> Any:
    """A result as both sides have it; None for a tokenizer, which is made or saved."""
    if isinstance(value, (int, str)) or value is None:
        return value
    if hasattr(value, "data") and hasattr(value, "items"):
        value = dict(value)
    if isinstance(value, dict):
        return {name: shown(column) for name, column in value.items()}
    return (
        list(value)
        if isinstance(value, (list, tuple))
        else getattr(value, "tolist", lambda: None)()
    )


def seconds(operation: Callable[[Side], object], side: Side, times: int) -> float:
    """What a call takes, of so many."""
    start = time.process_time()
    for _ in range(times):
        operation(side)
    return (time.process_time() - start) / times


def measured(operation: Callable[[Side], object], sides: list[Side]) -> tuple[list[float], float]:
    """The fewest seconds of each side, and the median of the rounds' ratios."""
    rounds = []
    if "directory" not in operation.__code__.co_names:  # what is saved has a path on each side
        ours, theirs = (shown(operation(side)) for side in sides)
        assert ours == theirs
    firsts = [seconds(operation, side, 1) for side in sides for _ in range(2)]
    times = [max(1, int(SECONDS / first)) for first in firsts[1::2]]
    for number in range(ROUNDS):
        order = (0, 1) if number % 2 else (1, 0)
        found = {which: seconds(operation, sides[which], times[which]) for which in order}
        rounds.append([found[0], found[1]])
        if sum(found.values()) > 2 and number == 2:  # slow ones are steady
            break
    return [min(each) for each in zip(*rounds, strict=True)], statistics.median(
        b / a for a, b in rounds
    )


def table(wanted: str = "") -> str:
    """The operations whose names hold `wanted`, as a table of Markdown, in microseconds."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import transformers

    sides = [Side(trietok.BertTokenizerFast), Side(transformers.BertTokenizerFast)]
    found = [
        "| operation | trietok, µs | transformers, µs | ratio of the fastest | median |",
        "|" + " --- |" * 5,
    ]
    for name, operation in OPERATIONS.items():
        if wanted in name:
            (ours, theirs), median = measured(operation, sides)
            found.append(
                f"| {name} | {ours * 1e6:,.2f} | {theirs * 1e6:,.2f} | {theirs / ours:.2f} |"
                f" {median:.2f} |"
            )
    return "\n".join(found)


def test_operations(capsys):
    found = table(os.environ.get("TRIETOK_OPERATIONS", ""))
    with capsys.disabled():
        print(f"\n{found}")
