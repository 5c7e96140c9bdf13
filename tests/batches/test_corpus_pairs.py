"""`TokenizeBatch` on pairs of texts, and on texts that overflow: the rows of the tokenizer's call,
in both profiles.
"""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    OptionError,
    TokenizeBatch,
)

QUESTIONS = ["who are they?", None, "", "what of the people", "no more", "[SEP] x"]
CONTEXTS = [
    "we the people of the united states, in order to form a more perfect union",
    "a",
    "the",
    None,
    "",
    "b " * 40,
]
KINDS = [BertTokenizer, BertTokenizerFast]
WINDOWS = {
    "truncation": "only_second",
    "max_length": 14,
    "stride": 3,
    "return_overflowing_tokens": True,
}


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def tokenizer(request):
    return request.param.from_pretrained("trietok-en")


@pytest.fixture(scope="module")
def fast():
    return BertTokenizerFast.from_pretrained("trietok-en")


def table(questions=QUESTIONS, contexts=CONTEXTS):
    return pa.table(
        {
            "id": pa.array(range(len(questions)), pa.int64()),
            "question": pa.array(questions, pa.string()),
            "context": pa.array(contexts, pa.string()),
        }
    )


def by_call(tokenizer, rows, columns, **options):
    """The rows of a call for the texts of a batch, with its other columns; one of nulls where a
    text is null.
    """
    present = [
        number for number, row in enumerate(rows) if all(row[name] is not None for name in columns)
    ]
    encoding = dict(
        tokenizer(*([rows[number][name] for number in present] for name in columns), **options)
    )
    samples = encoding.get("overflow_to_sample_mapping", range(len(present)))
    made = []
    for at, sample in enumerate(samples):
        new = {name: encoding[name][at] for name in encoding}
        if "overflow_to_sample_mapping" in new:
            new["overflow_to_sample_mapping"] = present[sample]
        if "offset_mapping" in new:
            new["offset_mapping"] = list(map(list, new["offset_mapping"]))
        made.append((present[sample], {**rows[present[sample]], **new}))
    absent = set(range(len(rows))) - set(present)
    made += [(number, {**rows[number], **dict.fromkeys(encoding)}) for number in absent]
    return [row for _, row in sorted(made, key=lambda pair: pair[0])]


PAIR_OPTIONS = [
    {},
    {"add_special_tokens": False},
    {"truncation": True, "max_length": 8},
    {"truncation": "only_second", "max_length": 10, "return_special_tokens_mask": True},
    {"truncation": True, "padding": "max_length", "max_length": 16},
    {"return_token_type_ids": False, "return_length": True},
    {"return_offsets_mapping": True},
    WINDOWS,
    {
        **WINDOWS,
        "padding": "max_length",
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
    },
    {**WINDOWS, "stride": 0, "return_token_type_ids": False, "return_attention_mask": False},
]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (kind, options)
        for kind in KINDS
        for options in PAIR_OPTIONS
        # the slow profile has no offsets for pairs
        if kind is BertTokenizerFast or "return_offsets_mapping" not in options
    ],
    ids=str,
)
def test_pairs_are_those_of_the_call(kind, options):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenize = TokenizeBatch(tokenizer, "question", "context", **options)
    expected = by_call(tokenizer, table().to_pylist(), ["question", "context"], **options)
    found = tokenize(table())
    found.validate(full=True)
    assert found.to_pylist() == expected
    assert found.schema == tokenize.output_schema(table().schema)
    (batch,) = table().to_batches()
    assert tokenize(batch).to_pylist() == expected


SINGLE_OPTIONS = [
    {"truncation": True, "max_length": 7, "stride": 2, "return_overflowing_tokens": True},
    {"truncation": True, "max_length": 7, "return_overflowing_tokens": True, "return_length": True},
    {
        "truncation": True,
        "max_length": 9,
        "return_overflowing_tokens": True,
        "padding": "max_length",
    },
    {"max_length": 9, "return_overflowing_tokens": True},
]


@pytest.mark.parametrize("options", SINGLE_OPTIONS, ids=str)
def test_texts_that_overflow(tokenizer, options):
    rows = table().select(["id", "context"])
    expected = by_call(tokenizer, rows.to_pylist(), ["context"], **options)
    found = TokenizeBatch(tokenizer, "context", **options)(rows)
    found.validate(full=True)
    assert found.to_pylist() == expected


@pytest.mark.parametrize("options", [{}, WINDOWS], ids=["pairs", "windows"])
@pytest.mark.parametrize(
    ("questions", "contexts"),
    [([], []), ([None], ["a"]), (["a", None], [None, None]), (["a"], ["a"]), (["a"], ["b " * 90])],
)
def test_the_schema_does_not_depend_on_the_batch(tokenizer, options, questions, contexts):
    tokenize = TokenizeBatch(tokenizer, "question", "context", **options)
    rows = table(questions, contexts)
    schema = tokenize.output_schema(rows.schema)
    assert tokenize(rows).schema == schema
    for batch in rows.to_batches():
        assert tokenize(batch).schema == schema
    assert schema == tokenize.output_schema(table().schema)


def test_many_rows_and_chunks(fast):
    """More than are encoded at once, in chunks that begin elsewhere; the mapping counts in the
    whole.
    """
    questions, contexts = QUESTIONS * 900, CONTEXTS * 900
    whole = table(questions, contexts)
    parts = pa.concat_tables([whole.slice(0, 1000), whole.slice(1000, 4097), whole.slice(5097)])
    expected = by_call(fast, whole.to_pylist(), ["question", "context"], **WINDOWS)
    tokenize = TokenizeBatch(fast, "question", "context", **WINDOWS)
    assert tokenize(parts).to_pylist() == expected
    assert tokenize(whole.combine_chunks().to_batches()[0]).to_pylist() == expected


def test_pairs_of_lists_of_words(tokenizer):
    rows = pa.table({"left": [["a", "b"], None, ["b"]], "right": [["united"], ["b"], ["a"]]})
    found = TokenizeBatch(tokenizer, "left", "right", is_split_into_words=True)(rows)
    left, right = [["a", "b"], ["b"]], [["united"], ["a"]]
    expected = tokenizer(left, right, is_split_into_words=True)
    assert [row for row in found.column("input_ids").to_pylist() if row] == expected["input_ids"]
    assert found.column("token_type_ids").to_pylist()[1] is None


@pytest.mark.parametrize("options", [{}, WINDOWS], ids=["pairs", "windows"])
def test_it_pickles(tokenizer, options):
    tokenize = TokenizeBatch(tokenizer, "question", "context", keep_columns=["id"], **options)
    again = pickle.loads(pickle.dumps(tokenize))
    assert again(table()) == tokenize(table())
    assert repr(again) == repr(tokenize)
    options = {**options, "truncation": True} if options else {}
    single = pickle.loads(pickle.dumps(TokenizeBatch(tokenizer, "context", **options)))
    assert single(table()) == TokenizeBatch(tokenizer, "context", **options)(table())


# ---- which columns pass through ------------------------------------------------------------------


def test_columns_that_are_kept(tokenizer):
    rows = table().append_column("input_ids", pa.array(range(len(QUESTIONS))))
    for keep in ([], ["id"], ["context", "id"]):
        tokenize = TokenizeBatch(
            tokenizer, "question", keep_columns=keep, return_token_type_ids=False
        )
        found = tokenize(rows)
        assert found.column_names == [*keep, "input_ids", "attention_mask"]
        assert found.select(keep) == rows.select(keep)
        assert found.schema == tokenize.output_schema(rows.schema)
        assert tokenize(rows.to_batches()[0]).column_names == found.column_names


def test_what_is_refused(tokenizer):
    for column, pair in (("question", "answer"), ("question", "id")):
        with pytest.raises((InputError, InputTypeError)):
            TokenizeBatch(tokenizer, column, pair)(table())
    with pytest.raises(InputError):
        TokenizeBatch(tokenizer, "question", keep_columns=["label"])(table())
    with pytest.raises(InputTypeError):
        TokenizeBatch(tokenizer, "question", keep_columns="id")
    with pytest.raises(OptionError):
        TokenizeBatch(tokenizer, "question", text_pair="context")
    raw = pa.array([b"fine", b"caf\xe9"], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match="row 1 of column 'context'"):
        TokenizeBatch(tokenizer, "question", "context")(
            pa.table({"question": ["a", "b"], "context": raw})
        )


@pytest.mark.faults
def test_a_text_that_is_too_large_to_be_repeated(fast):
    """Two thousand windows of a text of a megabyte are two gigabytes, more than a column of strings
    holds.
    """
    tokenize = TokenizeBatch(
        fast, "context", truncation=True, max_length=3, return_overflowing_tokens=True
    )
    rows = pa.table({"context": ["a " * 3000], "other": ["x" * 1_000_000]})
    with pytest.raises(InputError, match="keep_columns"):
        tokenize(rows)
    kept = TokenizeBatch(
        fast,
        "context",
        keep_columns=[],
        truncation=True,
        max_length=3,
        return_overflowing_tokens=True,
    )(rows)
    assert kept.num_rows == 3000
