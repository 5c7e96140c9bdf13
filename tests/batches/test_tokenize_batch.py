"""`TokenizeBatch`: its rows are those of the tokenizer's calls, text by text."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import assert_share, examples
from tests.strategies import BOOL, directory_of, short_texts, some_of, texts
from trietok import (
    AutoTokenizer,
    BertJapaneseTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    NotSupportedError,
    OptionError,
    TokenizeBatch,
    TrietokError,
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


def ids_of(tokenize, *texts):
    return tokenize(table(texts)).column("input_ids").to_pylist()


# ---- any batch -----------------------------------------------------------------------------------


class OwnStage(BertTokenizer):
    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text.replace("!", " a "), **kwargs)


ADDED = ["covid-19", "new york", "<a>", "世界"]
TOKENIZERS = {
    "slow": (BertTokenizer, "uncased", {}),
    "slow, cutting left": (BertTokenizer, "cased", {"truncation_side": "left"}),
    "slow, hardly a cache": (BertTokenizer, "uncased", {"cache_limit": 4000}),
    "fast": (BertTokenizerFast, "uncased", {}),
    "fast, padding left": (BertTokenizerFast, "cased", {"padding_side": "left"}),
    "own stage": (OwnStage, "uncased", {}),
    "Japanese": (BertJapaneseTokenizer, "uncased", {"word_tokenizer_type": "basic"}),
    "Chinese": (AutoTokenizer, None, {}),
}


@pytest.fixture
def make(tmp_path):
    """A function that makes one of `TOKENIZERS`, with added tokens."""

    def make(name):
        kind, vocabulary, options = TOKENIZERS[name]
        if vocabulary is None:
            save_chinese_bpe(train_chinese_bpe(["世界人民", "世界", "人民"]), tmp_path)
        tokenizer = kind.from_pretrained(
            tmp_path if vocabulary is None else directory_of(vocabulary), **options
        )
        tokenizer.add_tokens(ADDED)
        return tokenizer

    return make


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.string()),
    *([pa.string_view()] if hasattr(pa, "string_view") else []),
]
CALLS = some_of(
    add_special_tokens=BOOL,
    truncation=(True, "longest_first", False),
    padding=("max_length", "max_length", False),
    max_length=(2, 3, 5, 8, 16, None),
    return_token_type_ids=BOOL,
    return_attention_mask=BOOL,
    return_special_tokens_mask=BOOL,
    return_offsets_mapping=(*[False] * 4, True),
    return_length=BOOL,
    split_special_tokens=BOOL,
)
WINDOWS = st.fixed_dictionaries(
    {
        "return_overflowing_tokens": st.just(True),
        "truncation": st.just(True),
        "max_length": st.integers(6, 16),
        "stride": st.integers(0, 1),
        "return_length": st.booleans(),
    }
)


def written(text):
    """The text without what no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


@st.composite
def batches(draw):
    """A table, the names of its columns of texts, and options of a call."""
    has_words = draw(st.integers(0, 4)) == 0
    names = ["text", "pair"] if draw(st.booleans()) else ["text"]
    size = draw(st.integers(0, 8) | st.integers(3, 8))
    text = st.one_of(texts(ADDED, max_size=6), short_texts()).map(written)
    value = st.none() | (st.lists(text, min_size=1, max_size=3) if has_words else text)
    options = draw(st.one_of(CALLS, CALLS, WINDOWS))
    if options.get("truncation") and len(names) == 2:
        options["truncation"] = draw(st.sampled_from(["only_second", "longest_first"]))
    if not options.get("add_special_tokens", True):
        options.pop("return_token_type_ids", None)
    if has_words:
        options["is_split_into_words"] = True
    # pyarrow repeats no view
    kinds = KINDS[: 4 if options.get("return_overflowing_tokens") else None]
    columns = {"id": pa.array(range(size), pa.int64())}
    for name in names:
        values = draw(st.lists(value, min_size=size, max_size=size))
        if has_words:
            columns[name] = pa.array(values, pa.list_(pa.string()))
        else:
            columns[name] = pa.array(values, pa.string()).cast(draw(st.sampled_from(kinds)))
    return pa.table(columns).slice(draw(st.integers(0, 2))), names, options


def rows_of_call(tokenizer, number, texts, options):
    """The rows of a call for a list of one text or pair: several where it has windows."""
    encoding = dict(tokenizer(*([text] for text in texts), **options))
    if "overflow_to_sample_mapping" in encoding:
        encoding["overflow_to_sample_mapping"] = [number] * len(encoding["input_ids"])
    rows = zip(*encoding.values(), strict=True)
    made = [dict(zip(encoding, values, strict=True)) for values in rows]
    for row in made:
        if "offset_mapping" in row:
            row["offset_mapping"] = list(map(list, row["offset_mapping"]))
    return made


def expected_rows(tokenizer, rows, names, options):
    """What calls give for the rows of a batch; nothing where a text is null."""
    expected = []
    for number, row in enumerate(rows):
        texts = [row[name] for name in names]
        made = [{}] if None in texts else rows_of_call(tokenizer, number, texts, options)
        expected += [{**row, **each} for each in made]
    return expected


@pytest.mark.parametrize("name", TOKENIZERS)
def test_any_batch_has_the_rows_of_calls(make, kernel, name):
    """Any kind of array, part of an array, table or record batch."""
    tokenizer, tally = make(name), Counter()

    @examples(80)
    @given(batches(), st.booleans(), st.sampled_from([None, None, [], ["id"]]))
    def compare(drawn, is_table, keep):
        rows, names, options = drawn
        if name == "Chinese":  # it has no padding token
            options.pop("padding", None)
        if not tokenizer.is_fast:
            options.pop("return_overflowing_tokens", None)
        if not is_table and len(rows):
            (rows,) = rows.to_batches()
        try:
            expected = expected_rows(tokenizer, rows.to_pylist(), names, options)
            example = ["a"] if options.get("is_split_into_words") else "a"
            rows_of_call(tokenizer, 0, [example] * len(names), options)  # as it is tried out
        except TrietokError as error:
            tally["refused"] += 1
            with pytest.raises(type(error)):
                TokenizeBatch(tokenizer, *names, **options)(rows)
            return
        tokenize = TokenizeBatch(tokenizer, *names, keep_columns=keep, **options)
        made = tokenize(rows)
        kept = rows.schema.names if keep is None else keep
        made.validate(full=True)
        assert type(made) is type(rows)
        assert made.schema == tokenize.output_schema(rows.schema)
        assert made.schema.names == [*kept, *tokenize.names]
        nulls = dict.fromkeys(tokenize.names)
        assert made.to_pylist() == [
            {column: (nulls | row)[column] for column in made.schema.names} for row in expected
        ]
        again = pickle.loads(pickle.dumps(tokenize))
        assert again(rows) == made
        assert repr(again) == repr(tokenize)
        tally["compared"] += 1
        tally["rows"] += len(expected)

    compare()
    assert_share(tally["compared"], tally["compared"] + tally["refused"], 0.3)
    assert tally["rows"] > 0


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_many_rows_in_chunks_have_the_rows_of_one_call(kernel, kind):
    """More than are encoded at once; the mapping of windows counts in the whole table."""
    tokenizer = kind.from_pretrained("trietok-en")
    words = [None if number % 7 == 0 else f"people {number}" for number in range(4500)]
    pairs = ["a " * (number % 9) for number in range(4500)]
    whole = pa.table({"text": words, "pair": pairs})
    parts = pa.concat_tables([whole.slice(0, 4097), whole.slice(4097, 1), whole.slice(4098)])
    present = [number for number, text in enumerate(words) if text is not None]
    texts = [[column[number] for number in present] for column in (words, pairs)]
    windows = {"truncation": "only_second", "max_length": 9}
    windows["return_overflowing_tokens"] = tokenizer.is_fast
    for names, options in ((["text"], {}), (["text", "pair"], windows)):
        expected = tokenizer(*texts[: len(names)], **options)
        samples = expected.get("overflow_to_sample_mapping", range(len(present)))
        tokenize = TokenizeBatch(tokenizer, *names, **options)
        for batch in (parts, whole.to_batches()[0]):
            made = [row for row in tokenize(batch).to_pylist() if row["input_ids"] is not None]
            assert [row["input_ids"] for row in made] == expected.input_ids
            assert [row["text"] for row in made] == [words[present[each]] for each in samples]
            if tokenizer.is_fast and options:
                assert len(made) > len(present) + 100
                mapping = [row["overflow_to_sample_mapping"] for row in made]
                assert mapping == [present[each] for each in samples]


def test_the_new_columns_of_small_texts(small):
    # [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, then the words from 5 on.
    tokenize = TokenizeBatch(
        small("a", "b", "##c"), "text", return_special_tokens_mask=True, return_length=True
    )
    made = tokenize(table(["a bc", None, ""]))
    assert made.to_pydict() == {
        "text": ["a bc", None, ""],
        "input_ids": [[2, 5, 6, 7, 3], None, [2, 3]],
        "token_type_ids": [[0] * 5, None, [0, 0]],
        "special_tokens_mask": [[1, 0, 0, 0, 1], None, [1, 1]],
        "attention_mask": [[1] * 5, None, [1, 1]],
        "length": [5, None, 2],
    }
    types = [str(made.schema.field(name).type) for name in tokenize.names]
    assert [kind.replace("element", "item") for kind in types] == [
        "list<item: int32>",
        *["list<item: int8>"] * 3,
        "int32",
    ]


def test_columns_without_chunks_or_texts_get_columns_of_nulls(english):
    tokenize = TokenizeBatch(english, "text", return_length=True)
    for column in (pa.chunked_array([], pa.string()), pa.array([None, None])):
        made = tokenize(pa.table({"text": column}))
        made.validate(full=True)
        assert made.schema.types[1:] == tokenize(table(["a"])).schema.types[1:]
        assert made.column("input_ids").to_pylist() == [None] * len(column)


def test_nulls_of_a_dictionary_and_bytes_under_a_null_are_nulls(english, kernel):
    tokenize = TokenizeBatch(BertTokenizer.from_pretrained("trietok-en"), "text")
    for numbers in ([0, 1, None, 0], [1, 0, 0, 1]):
        column = pa.DictionaryArray.from_arrays(
            pa.array(numbers, pa.int32()), pa.array(["the", None])
        )
        made = tokenize(pa.table({"text": column})).column("input_ids").to_pylist()
        assert made == [[2, 134, 3] if number == 0 else None for number in numbers]
    there = pa.array([True, False, True]).buffers()[1]
    _, offsets, data = pa.array([b"the", b"caf\xe9", b"people"]).buffers()
    column = pa.Array.from_buffers(pa.string(), 3, [there, offsets, data])
    made = tokenize(pa.table({"text": column}))
    assert made.column("input_ids").to_pylist() == [[2, 134, 3], None, [2, 289, 3]]


def test_other_columns_and_all_metadata_pass_through(english):
    schema = pa.schema(
        [pa.field("text", pa.string()), pa.field("id", pa.int64(), metadata={"a": "b"})], {"c": "d"}
    )
    batch = pa.Table.from_arrays([pa.array(["the"]), pa.array([7])], schema=schema)
    for whole in (batch, batch.to_batches()[0]):
        made = TokenizeBatch(english, "text")(whole)
        assert made.schema.names[:2] == ["text", "id"]
        assert made.schema.metadata == {b"c": b"d"}
        assert made.schema.field("id").metadata == {b"a": b"b"}
        assert made.column("id").to_pylist() == [7]
    batch = table(["a"], input_ids=[1], id=[7])
    for keep in (["id"], ["text", "id"], []):
        made = TokenizeBatch(english, "text", keep_columns=keep)(batch)
        assert made.column_names == [
            *keep, "input_ids", "token_type_ids", "attention_mask"
        ]  # fmt: skip
        assert made.column("input_ids").to_pylist() == [english("a").input_ids]


def test_a_tokenizer_of_another_library_is_called():
    class Letters:
        def __call__(self, texts, **options):
            return {
                "input_ids": [list(map(ord, text)) for text in texts],
                "offset_mapping": [[(at, at + 1) for at in range(len(text))] for text in texts],
            }

    made = TokenizeBatch(Letters(), "text", return_offsets_mapping=True)(table(["ab", None, ""]))
    made.validate(full=True)
    assert made.column("offset_mapping").to_pylist() == [[[0, 1], [1, 2]], None, []]
    assert made.column("input_ids").to_pylist() == [[97, 98], None, []]


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"return_tensors": "np"},
        {"text_pair": ["a"]},
        {"padding": True},
        {"padding": "longest"},
    ],
    ids=str,
)
def test_options_that_depend_on_other_texts_are_refused(english, options):
    with pytest.raises((OptionError, InputError)) as caught:
        TokenizeBatch(english, "text", **options)
    assert next(iter(options)) in str(caught.value)


def test_windows_need_a_fast_tokenizer(english):
    options = {"return_overflowing_tokens": True, "truncation": True, "max_length": 3}
    with pytest.raises(NotSupportedError, match="BertTokenizerFast"):
        TokenizeBatch(english, "text", **options)


def test_an_empty_second_text_counts_as_a_pair():
    fast = BertTokenizerFast.from_pretrained("trietok-en")
    made = TokenizeBatch(fast, "text", "pair")(table(["a"], pair=[""]))
    assert made.column("input_ids").to_pylist() == fast(["a"], [""]).input_ids
    assert len(fast(["a"], [""]).input_ids[0]) == len(fast("a", "").input_ids) + 1


def test_a_mistyped_option_is_suggested(english):
    with pytest.raises(OptionError, match="did you mean 'max_length'"):
        TokenizeBatch(english, "text", max_lenght=1)


def test_columns_that_do_not_fit_are_named(english):
    tokenize = TokenizeBatch(english, "text")
    with pytest.raises(InputError, match="the batch has 'a', 'b'"):
        tokenize(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(InputError, match="'input_ids'"):
        tokenize(table(["a"], input_ids=[[1]]))
    with pytest.raises(InputError, match="twice"):
        tokenize(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]))
    with pytest.raises(InputError, match="'pair'"):
        TokenizeBatch(english, "text", "pair")(table(["a"]))
    with pytest.raises(InputError, match="'label'"):
        TokenizeBatch(english, "text", keep_columns=["label"])(table(["a"]))
    with pytest.raises(InputTypeError):
        TokenizeBatch(english, "text", keep_columns="id")
    for values in ([1], [b"a"], [["a"]]):
        with pytest.raises(InputTypeError):
            tokenize(pa.table({"text": values}))
        with pytest.raises(InputTypeError):
            TokenizeBatch(english, "other", "text")(pa.table({"text": values, "other": ["a"]}))


@pytest.mark.parametrize("batch", [{"text": ["a"]}, ["a"], "a"])
def test_only_arrow_batches_are_taken(english, batch):
    with pytest.raises(InputTypeError):
        TokenizeBatch(english, "text")(batch)


@pytest.mark.parametrize(
    "raw", [b"caf\xe9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe6\x9d"], ids=repr
)
def test_bytes_that_are_not_utf8_name_their_row(kernel, raw):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    column = pa.array([b"fine", None, *[b"fine"] * 5000, raw, b"fine", b"\xff"], pa.binary())
    column = column.view(pa.string()).slice(1)
    for batch in (pa.table({"text": column}), pa.RecordBatch.from_arrays([column], ["text"])):
        with pytest.raises(InputError, match="row 5001 of column 'text'"):
            TokenizeBatch(tokenizer, "text")(batch)
    pairs = pa.table({"first": ["a"] * len(column), "text": column})
    with pytest.raises(InputError, match="row 5001 of column 'text'"):
        TokenizeBatch(tokenizer, "first", "text")(pairs)
    # Each of these is no UTF-8, though both together are.
    halves = pa.array(["é".encode()[:1], "é".encode()[1:]], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match="row 0"):
        TokenizeBatch(tokenizer, "text")(pa.table({"text": halves}))


@pytest.mark.parametrize(("row", "word"), [(3, 1), (5000, 0)])
def test_a_null_among_words_is_named_by_its_row_and_column(english, row, word):
    tokenize = TokenizeBatch(english, "words", is_split_into_words=True)
    rows = [*[None] * row, ["a"] * word + [None]]
    for batch in (pa.table({"words": rows}), pa.RecordBatch.from_pydict({"words": rows})):
        with pytest.raises(InputError, match=rf"row {row} of column 'words': word {word} is null"):
            tokenize(batch)


@pytest.mark.faults
def test_a_text_too_large_to_be_repeated_for_each_window_is_an_error():
    """Two thousand windows of a text of a megabyte are two gigabytes, more than a column of strings
    holds.
    """
    fast = BertTokenizerFast.from_pretrained("trietok-en")
    options = {"truncation": True, "max_length": 3, "return_overflowing_tokens": True}
    rows = pa.table({"context": ["a " * 3000], "other": ["x" * 1_000_000]})
    with pytest.raises(InputError, match="keep_columns"):
        TokenizeBatch(fast, "context", **options)(rows)
    assert TokenizeBatch(fast, "context", keep_columns=[], **options)(rows).num_rows == 3000


# ---- changes, threads and processes --------------------------------------------------------------


def test_a_change_of_the_tokenizer_counts_from_the_next_batch_and_pickle_on(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "b", "##c"))
    # a list that is not the class's is changed below
    tokenizer.model_input_names = list(tokenizer.model_input_names)
    tokenize = TokenizeBatch(tokenizer, "text", truncation=True, max_length=5)
    seen = {pickle.dumps(tokenize)}
    assert ids_of(tokenize, "b c bc a") == [[2, 6, 1, 6, 3]]
    for change in (
        lambda: tokenizer.add_tokens(["b c"]),
        lambda: setattr(tokenizer, "truncation_side", "left"),
        lambda: setattr(tokenizer.wordpiece_tokenizer, "max_input_chars_per_word", 1),
        lambda: tokenizer.model_input_names.remove("token_type_ids"),
    ):
        change()
        seen.add(pickle.dumps(tokenize))
        expected = [tokenizer("b c bc a", truncation=True, max_length=5).input_ids]
        again = pickle.loads(pickle.dumps(tokenize))
        assert ids_of(again, "b c bc a") == expected
        if "token_type_ids" in tokenizer.model_input_names:
            assert ids_of(tokenize, "b c bc a") == expected
    assert again.names == ("input_ids", "attention_mask")
    assert len(seen) == 5


class Replaces:
    """A stage that is not trietok's."""

    never_split = ()

    def __init__(self, letters):
        self.letters = letters

    def tokenize(self, text, never_split=None):
        return [self.letters.get(word, word) for word in text.split()]


def test_a_changed_stage_of_the_users_own_is_in_the_next_pickle(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "b"))
    tokenizer.basic_tokenizer = Replaces({"x": "a"})
    tokenize = TokenizeBatch(tokenizer, "text")
    for letter, expected in (("a", 5), ("b", 6)):
        tokenizer.basic_tokenizer.letters["x"] = letter
        assert ids_of(pickle.loads(pickle.dumps(tokenize)), "x") == [[2, expected, 3]]


def test_a_pickle_leaves_caches_out_and_works_in_a_fresh_process(vocab_file, tmp_path):
    tokenize = TokenizeBatch(BertTokenizer(vocab_file("a")), "text", return_length=True)
    before = pickle.dumps(tokenize)
    tokenize(table([f"x{number}" for number in range(2000)]))
    assert pickle.dumps(tokenize) == before
    (tmp_path / "function").write_bytes(pickle.dumps((tokenize, table())))
    code = (
        "import pickle, sys; f, t = pickle.load(open(sys.argv[1], 'rb'));"
        " pickle.dump(f(t), sys.stdout.buffer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "function"], stdout=subprocess.PIPE, check=True
    )
    assert pickle.loads(done.stdout) == tokenize(table())
    assert repr(tokenize) == "TokenizeBatch(BertTokenizer, 'text', return_length=True)"


def test_pickles_do_not_change_from_process_to_process(tmp_path):
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
def test_use_does_not_change_a_tokenizers_pickle(kind, tmp_path):
    """`datasets` keeps the results of `map` by that: a notebook that is run again finds them."""

    def pickles(tokenizer):
        return pickle.dumps(tokenizer), pickle.dumps(TokenizeBatch(tokenizer, "text", max_length=5))

    tokenizer = kind.from_pretrained("trietok-en", model_max_length=8)
    tokenizer.add_tokens(["covid-19"])
    before = pickles(tokenizer)
    for use in (
        lambda: tokenizer("a text that is longer than eight tokens are, so a warning is logged"),
        lambda: tokenizer(["a", "covid-19"], padding=True),
        lambda: tokenizer("a", "b", truncation=True, return_special_tokens_mask=True),
        lambda: (tokenizer.decode([5, 6]), tokenizer.convert_ids_to_tokens([7])),
        lambda: (len(tokenizer), tokenizer.all_special_ids),
        lambda: tokenizer.save_pretrained(tmp_path),
        lambda: tokenizer.explain("covid-19 in a text"),
        tokenizer.cache_clear,
        lambda: copy.deepcopy(tokenizer),
    ):
        use()
        assert pickles(tokenizer) == before
    again = kind.from_pretrained("trietok-en", model_max_length=8)
    again.add_tokens(["covid-19"])
    assert pickles(again) == before
