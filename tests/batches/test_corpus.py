"""`TokenizeBatch`: the columns it adds, what it refuses, and that its rows are those of calls."""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    OptionError,
    TokenizeBatch,
    train_chinese_bpe,
)
from trietok.training import save_chinese_bpe

ROOT = pathlib.Path(__file__).parents[2]

TEXTS = [
    "The people",
    None,
    "",
    "of the United States, and [SEP] more [MASK]!",
    "  ",
    "東京\u3000タワー",
    "a\nb\tc",
]


def table(texts=TEXTS, **columns):
    return pa.table({"text": pa.array(texts, pa.string()), **columns})


def by_call(tokenizer, texts, **options):
    """What calls give, text by text, None for None."""
    rows = [None if text is None else tokenizer(text, **options) for text in texts]
    names = tokenizer("a", **options).keys()
    return {name: [None if row is None else row[name] for row in rows] for name in names}


# ---- the columns ---------------------------------------------------------------------------------


def test_a_worked_example(small):
    # [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, then the words from 5 on.
    tokenize = TokenizeBatch(
        small("a", "b", "##c"), "text", return_special_tokens_mask=True, return_length=True
    )
    done = tokenize(table(["a bc", None, ""]))
    assert done.to_pydict() == {
        "text": ["a bc", None, ""],
        "input_ids": [[2, 5, 6, 7, 3], None, [2, 3]],
        "token_type_ids": [[0] * 5, None, [0, 0]],
        "special_tokens_mask": [[1, 0, 0, 0, 1], None, [1, 1]],
        "attention_mask": [[1] * 5, None, [1, 1]],
        "length": [5, None, 2],
    }


OPTIONS = [
    {},
    {"add_special_tokens": False},
    {"truncation": True, "max_length": 4},
    {"truncation": True, "max_length": 3, "return_special_tokens_mask": True},
    {"padding": "max_length", "max_length": 8, "truncation": True},
    {"return_attention_mask": False, "return_token_type_ids": False},
    {"return_special_tokens_mask": True, "return_length": True},
    # no room for a text: transformers does not truncate then
    {
        "truncation": True,
        "max_length": 2,
    },
    {"split_special_tokens": True},
    {"add_special_tokens": False, "padding": "max_length", "max_length": 8, "return_length": True},
]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rows_are_those_of_calls(kind, options):
    tokenizer = kind.from_pretrained("trietok-en")
    done = TokenizeBatch(tokenizer, "text", **options)(table())
    expected = by_call(tokenizer, TEXTS, **options)
    assert set(done.column_names) == {"text", *expected}
    for name, rows in expected.items():
        if name == "length" and tokenizer.is_fast:  # there a list of one
            rows = [row and row[0] for row in rows]
        assert done.column(name).to_pylist() == rows, name


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize("words", [False, True])
def test_what_has_no_ids_is_padded_as_in_a_call_for_it_alone(vocab_file, kind, words):
    tokenizer = kind(vocab_file("a", "b"))
    options = {
        "add_special_tokens": False,
        "padding": "max_length",
        "max_length": 2,
        "is_split_into_words": words,
    }
    texts, pairs = (
        (["", "", "a"], ["", "b", ""]) if not words else ([[""], [""], ["a"]], [[""], ["b"], [""]])
    )
    done = TokenizeBatch(tokenizer, "text", "pair", **options)(
        pa.table({"text": texts, "pair": pairs})
    )
    calls = [tokenizer(text, pair, **options) for text, pair in zip(texts, pairs, strict=True)]
    assert done.drop_columns(["text", "pair"]).to_pylist() == [dict(call) for call in calls]
    assert done.column("input_ids").to_pylist() == [
        [0, 0] if tokenizer.is_fast else [],
        [6, 0],
        [5, 0],
    ]


def test_truncation_on_the_left(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "b", "c"), truncation_side="left")
    tokenize = TokenizeBatch(tokenizer, "text", truncation=True, max_length=4)
    assert tokenize(table(["a b c", "a"])).column("input_ids").to_pylist() == [
        [2, 6, 7, 3],
        [2, 5, 3],
    ]


def test_lists_of_words(small):
    tokenizer = small("a", "b")
    batch = pa.table({"words": [["a", "b"], None, ["b"]]})
    done = TokenizeBatch(tokenizer, "words", is_split_into_words=True)(batch)
    assert done.column("input_ids").to_pylist() == [[2, 5, 6, 3], None, [2, 6, 3]]


@pytest.mark.parametrize(
    "batch",
    [
        table([]),
        table([None, None]),
        table(["a"]),
        pa.table({"text": pa.array([], pa.string())}).slice(0, 0),
        pa.table({"text": pa.chunked_array([], pa.string())}),
        pa.table({"text": pa.array([None, None])}),
    ],
    ids=["empty", "nulls", "one", "slice", "no chunks", "of type null"],
)
def test_the_schema_does_not_depend_on_the_batch(english, batch):
    tokenize = TokenizeBatch(english, "text", return_special_tokens_mask=True, return_length=True)
    done = tokenize(batch)
    assert done.num_rows == batch.num_rows
    assert done.schema == tokenize.output_schema(batch.schema)
    assert [
        str(done.schema.field(name).type).replace("element", "item") for name in tokenize.names
    ] == [
        "list<item: int32>",
        "list<item: int8>",
        "list<item: int8>",
        "list<item: int8>",
        "int32",
    ]
    done.validate(full=True)


@pytest.mark.parametrize("numbers", [[0, 1, 0], [0, 1, None]])
def test_a_null_among_the_values_of_a_dictionary(english, numbers):
    column = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(["the", None]))
    done = (
        TokenizeBatch(english, "text")(pa.table({"text": column})).column("input_ids").to_pylist()
    )
    assert done == [[2, 134, 3] if number == 0 else None for number in numbers]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_kinds_of_text(english, kind):
    texts = ["the people", None, "the people", "the"]
    batch = pa.RecordBatch.from_arrays([pa.array(texts, pa.string()).cast(kind)], ["text"])
    done = TokenizeBatch(english, "text")(batch)
    assert done.column("input_ids").to_pylist() == by_call(english, texts)["input_ids"]


def test_a_record_batch_gives_a_record_batch_and_slices_start_where_they_should(english):
    texts = [None, "the", None, "people", "of"]
    batch = pa.RecordBatch.from_pydict({"text": texts, "id": list(range(5))}).slice(1, 3)
    done = TokenizeBatch(english, "text")(batch)
    assert isinstance(done, pa.RecordBatch)
    done.validate(full=True)
    assert done.column("id").to_pylist() == [1, 2, 3]
    assert done.column("input_ids").to_pylist() == by_call(english, texts[1:4])["input_ids"]


def test_other_columns_pass_through(english):
    schema = pa.schema(
        [pa.field("text", pa.string()), pa.field("id", pa.int64(), metadata={"a": "b"})], {"c": "d"}
    )
    batch = pa.Table.from_arrays([pa.array(["the"]), pa.array([7])], schema=schema)
    for whole in (batch, batch.to_batches()[0]):
        done = TokenizeBatch(english, "text")(whole)
        assert done.schema.names[:2] == ["text", "id"]
        assert done.schema.metadata == {b"c": b"d"}
        assert done.schema.field("id").metadata == {b"a": b"b"}
        assert done.column("id").to_pylist() == [7]


def test_many_rows_come_in_order(english):
    texts = [None if number % 7 == 0 else f"people {number}" for number in range(10_000)]
    expected = by_call(english, texts)["input_ids"]
    whole = pa.table({"text": texts})
    tokenize = TokenizeBatch(english, "text")
    assert tokenize(whole).column("input_ids").to_pylist() == expected
    assert tokenize(whole.to_batches()[0]).column("input_ids").to_pylist() == expected
    parts = pa.concat_tables([whole.slice(0, 4097), whole.slice(4097, 1), whole.slice(4098)])
    assert tokenize(parts).column("input_ids").to_pylist() == expected


# ---- the short way -------------------------------------------------------------------------------


@given(st.lists(st.none() | st.text() | st.text("aA the,\t\n[SEP]é東", max_size=30), max_size=8))
def test_the_short_way_gives_what_calls_give(english, texts):
    texts = [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    for options in ({}, {"truncation": True, "max_length": 5, "return_special_tokens_mask": True}):
        tokenize = TokenizeBatch(english, "text", **options)
        expected = by_call(english, texts, **options)
        done = tokenize(table(texts))
        for name in tokenize.names:
            assert done.column(name).to_pylist() == expected[name]


@given(
    st.lists(
        st.lists(st.sampled_from("new york city New of the in-new york. a".split()), max_size=9),
        max_size=4,
    )
)
def test_tokens_with_spaces(texts):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens(["new york", "of the"])
    tokenize = TokenizeBatch(tokenizer, "text")
    joined = [" ".join(words) for words in texts] + ["in new york city"]
    for _ in range(2):  # with what the first time remembered
        assert tokenize(table(joined)).column("input_ids").to_pylist() == [
            tokenizer(text).input_ids for text in joined
        ]


@pytest.mark.parametrize("limit", [0, 4000])
def test_a_memory_that_is_full_changes_nothing(english, limit):
    texts = [f"people {number % 50} of x{number}" for number in range(300)]
    expected = TokenizeBatch(english, "text")(table(texts))
    tokenize = TokenizeBatch(BertTokenizer.from_pretrained("trietok-en", cache_limit=limit), "text")
    for _ in range(3):
        assert tokenize(table(texts)) == expected


def test_a_subclass_with_a_stage_of_its_own(vocab_file):
    class Loud(BertTokenizer):
        def _tokenize(self, text, **kwargs):
            return super()._tokenize(text.replace("?", " a "), **kwargs)

    tokenizer = Loud(vocab_file("a", "b"))
    tokenize = TokenizeBatch(tokenizer, "text")
    assert (
        tokenize(table(["b?"])).column("input_ids").to_pylist()
        == [tokenizer("b?").input_ids]
        == [[2, 6, 5, 3]]
    )


def test_a_token_added_meanwhile_counts_from_the_next_batch(small):
    tokenizer = small("a", "b")
    tokenize = TokenizeBatch(tokenizer, "text")
    assert tokenize(table(["b cc"])).column("input_ids").to_pylist() == [[2, 6, 1, 3]]
    tokenizer.add_tokens(["cc"])
    assert tokenize(table(["b cc"])).column("input_ids").to_pylist() == [[2, 6, 7, 3]]


# ---- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"return_tensors": "np"},
        {"text_pair": ["a"]},
        {"padding": True},
        {"padding": "longest"},
        {"colour": "red"},
        {"truncation": "somewhere"},
    ],
    ids=str,
)
def test_options_without_a_place(english, options):
    with pytest.raises((OptionError, InputError)):
        TokenizeBatch(english, "text", **options)


def test_offsets(english):
    expected = english(["the people", ""], return_offsets_mapping=True)["offset_mapping"]
    tokenize = TokenizeBatch(english, "text", return_offsets_mapping=True)
    found = tokenize(table(["the people", None, ""])).column("offset_mapping").to_pylist()
    assert [None if row is None else list(map(tuple, row)) for row in found] == [
        expected[0],
        None,
        expected[1],
    ]


def test_offsets_of_a_tokenizer_that_has_them():
    class Letters:
        def __call__(self, texts, **options):
            return {
                "input_ids": [list(map(ord, text)) for text in texts],
                "offset_mapping": [[(at, at + 1) for at in range(len(text))] for text in texts],
            }

    done = TokenizeBatch(Letters(), "text", return_offsets_mapping=True)(table(["ab", None, ""]))
    done.validate(full=True)
    assert done.column("offset_mapping").to_pylist() == [[[0, 1], [1, 2]], None, []]
    assert done.column("input_ids").to_pylist() == [[97, 98], None, []]


def test_columns_that_are_missing_or_there_already(english):
    tokenize = TokenizeBatch(english, "text")
    with pytest.raises(InputError, match="the batch has 'a', 'b'"):
        tokenize(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(InputError):
        tokenize(table(["a"], input_ids=[[1]]))
    with pytest.raises(InputError):
        tokenize(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]))


@pytest.mark.parametrize("values", [[1], [b"a"], [["a"]]], ids=["numbers", "bytes", "lists"])
def test_columns_that_hold_no_text(english, values):
    with pytest.raises(InputTypeError):
        TokenizeBatch(english, "text")(pa.table({"text": values}))


@pytest.mark.parametrize("batch", [{"text": ["a"]}, ["a"], "a"])
def test_what_is_no_batch(english, batch):
    with pytest.raises(InputTypeError):
        TokenizeBatch(english, "text")(batch)


def test_bytes_that_are_not_utf8_name_their_row(english):
    raw = pa.array([b"fine"] * 5000 + [b"caf\xe9"], pa.binary()).view(pa.string())
    for batch in (pa.table({"text": raw}), pa.RecordBatch.from_arrays([raw], ["text"])):
        with pytest.raises(InputError, match="row 5000 of column 'text'"):
            TokenizeBatch(english, "text")(batch)


# ---- into other processes ------------------------------------------------------------------------


def test_it_pickles_without_what_is_remembered(vocab_file):
    tokenize = TokenizeBatch(BertTokenizer(vocab_file("a")), "text", return_length=True)
    before = pickle.dumps(tokenize)
    tokenize(table([f"x{number}" for number in range(2000)]))
    assert pickle.dumps(tokenize) == before
    again = pickle.loads(before)
    assert again(table()) == tokenize(table())
    assert repr(again) == "TokenizeBatch(BertTokenizer, 'text', return_length=True)"


def test_a_pickle_has_the_tokenizer_as_it_is_now(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "b", "##c"))
    # a list that is not the class's is changed below
    tokenizer.model_input_names = list(tokenizer.model_input_names)
    tokenize = TokenizeBatch(tokenizer, "text")
    texts, seen = table(["b c bc"]), {pickle.dumps(tokenize)}
    for change in (
        lambda: tokenizer.add_tokens(["b c"]),
        lambda: setattr(tokenizer, "truncation_side", "left"),
        lambda: tokenizer.model_input_names.remove("token_type_ids"),
        lambda: setattr(tokenizer.wordpiece_tokenizer, "max_input_chars_per_word", 1),
    ):
        change()
        seen.add(pickle.dumps(tokenize))
        again = pickle.loads(pickle.dumps(tokenize))
        assert again(texts) == TokenizeBatch(tokenizer, "text")(texts)
    assert len(seen) == 5


def test_a_tokenizer_with_stages_of_a_user_is_pickled_each_time(vocab_file):
    """Whether such a stage has changed cannot be seen."""
    tokenizer = BertTokenizer(vocab_file("a", "b"))
    tokenizer.basic_tokenizer = Replaces({"x": "a"})
    tokenize = TokenizeBatch(tokenizer, "text")
    for letter, expected in (("a", 5), ("b", 6)):
        tokenizer.basic_tokenizer.letters["x"] = letter
        assert pickle.loads(pickle.dumps(tokenize))(table(["x"])).column(
            "input_ids"
        ).to_pylist() == [[2, expected, 3]]


class Replaces:
    """A stage that is not trietok's."""

    never_split = ()

    def __init__(self, letters):
        self.letters = letters

    def tokenize(self, text, never_split=None):
        return [self.letters.get(word, word) for word in text.split()]


def test_a_fresh_process_gives_the_same(english, tmp_path):
    tokenize = TokenizeBatch(english, "text", return_special_tokens_mask=True)
    (tmp_path / "function").write_bytes(pickle.dumps((tokenize, table())))
    code = (
        "import pickle, sys; f, t = pickle.load(open(sys.argv[1], 'rb')); pickle.dump(f(t),"
        " sys.stdout.buffer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "function"], stdout=subprocess.PIPE, check=True
    )
    assert pickle.loads(done.stdout) == tokenize(table())


def test_its_pickle_does_not_change_from_process_to_process(tmp_path):
    """Engines know a function again by its pickle, and keep its results by that."""
    save_chinese_bpe(train_chinese_bpe(["处处闻啼鸟", "处处风雨声"]), tmp_path / "chinese")
    code = """
import hashlib, pickle, trietok
words = ["new york", "hello world", "covid-19"]
for tokenizer in (
    trietok.BertTokenizer.from_pretrained("trietok-en", never_split=words),
    trietok.BertTokenizerFast.from_pretrained("trietok-en"),
    trietok.ElectraTokenizerFast.from_pretrained("trietok-en"),
    trietok.BertJapaneseTokenizer.from_pretrained("trietok-multi", never_split=words),
    trietok.BertJapaneseTokenizer.from_pretrained("trietok-multi", subword_tokenizer_type="character"),
    trietok.AutoTokenizer.from_pretrained("chinese"),
):
    tokenizer.add_special_tokens({"additional_special_tokens": ["[A]", "[B]", "[C]"]})
    tokenizer.add_tokens(words)
    pickled = pickle.dumps(trietok.TokenizeBatch(tokenizer, "text"))
    print(type(tokenizer).__name__, hashlib.sha256(pickled).hexdigest())
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            text=True,
        ).stdout.splitlines()
        for seed in ("1", "2")
    ]
    assert len(found[0]) == 6
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_tokenizers_pickle_is_the_same_however_often_it_is_loaded_and_used(kind, tmp_path):
    """`datasets` keeps the results of `map` by that: a notebook that is run again finds them."""
    seen = set()
    for number in range(3):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=8)
        tokenizer.add_tokens(["covid-19"])
        if number:
            tokenizer("a text that is longer than eight tokens are, so that a warning is logged")
            tokenizer(["a", "covid-19"], padding=True)
            tokenizer("a", "b", truncation=True, return_special_tokens_mask=True)
            (
                tokenizer.decode([5, 6]),
                tokenizer.convert_ids_to_tokens([7]),
                len(tokenizer),
                tokenizer.all_special_ids,
            )
            tokenizer.save_pretrained(tmp_path)
        if number == 2:
            tokenizer.explain("covid-19 in a text")
            tokenizer.cache_clear()
        seen.add(
            (pickle.dumps(tokenizer), pickle.dumps(TokenizeBatch(tokenizer, "text", max_length=5)))
        )
    assert len(seen) == 1


def test_several_threads_share_one(english):
    tokenize = TokenizeBatch(english, "text")
    batches = [
        table([f"people {number} of {other}" for other in range(200)]) for number in range(8)
    ]
    expected = [tokenize(batch) for batch in batches]
    fresh, found = pickle.loads(pickle.dumps(tokenize)), {}

    def run(number):
        found[number] = fresh(batches[number])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(8)] == expected


@pytest.mark.parametrize(("row", "word"), [(3, 1), (5000, 0)])
def test_a_null_among_words_is_named_by_its_row_and_column(english, row, word):
    tokenize = TokenizeBatch(english, "words", is_split_into_words=True)
    rows = [*[None] * row, ["a"] * word + [None]]
    for batch in (pa.table({"words": rows}), pa.RecordBatch.from_pydict({"words": rows})):
        with pytest.raises(InputError, match=rf"row {row} of column 'words': word {word} is null"):
            tokenize(batch)
