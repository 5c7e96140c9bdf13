"""The collators: the forms of examples, the batches, and wrong arguments."""

from __future__ import annotations

import copy
import sys
from importlib.util import find_spec

import numpy
import pytest

from tests.batches.conftest import TEXTS
from tests.conftest import needs
from trietok import (
    BertTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorForWholeWordMask,
    DataCollatorWithFlattening,
    DataCollatorWithPadding,
    InputError,
    InputTypeError,
    NotSupportedError,
    SpecialTokenError,
)

TENSORS = ["np"] if find_spec("torch") is None else ["np", "pt"]


def lists(batch) -> dict[str, list]:
    return {
        key: value if isinstance(value, int) else value.tolist() for key, value in batch.items()
    }


# ---- masking and padding -------------------------------------------------------------------------


@pytest.mark.parametrize("tensors", TENSORS)
def test_a_batch_is_what_the_tokenizer_pads_and_labels(english, examples, collator, tensors):
    batch = collator(return_tensors=tensors)(examples)
    padded = english.pad(examples, return_tensors=tensors)
    assert list(batch) == ["input_ids", "token_type_ids", "attention_mask", "labels"]
    assert {type(value) for value in batch.values()} == {type(padded.input_ids)}
    assert {str(value.dtype).rpartition(".")[2] for value in batch.values()} == {"int64"}
    for key in ("token_type_ids", "attention_mask"):
        assert batch[key].tolist() == padded[key].tolist()
    flat = [
        values.flatten().tolist() for values in (batch.input_ids, batch.labels, padded.input_ids)
    ]
    for seen, label, before in zip(*flat, strict=True):
        assert label == before if label != -100 else seen == before


def test_numpy_and_torch_get_the_same_numbers(examples, collator):
    needs("torch")
    arrays = lists(collator()(examples))
    assert arrays == lists(collator(return_tensors="pt")(examples))
    assert arrays == lists(collator().torch_call(examples))
    assert arrays == lists(collator(return_tensors="pt").numpy_call(examples))


def test_without_torch_a_batch_is_of_numpy_arrays(english, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for collator in (
        DataCollatorForLanguageModeling(english),
        DataCollatorWithPadding(english),
        DataCollatorWithFlattening(),
    ):
        assert isinstance(collator([{"input_ids": [2, 3]}]).input_ids, numpy.ndarray)


def test_padding_moves_no_mask(english, examples, collator):
    """The length of a batch and its padding side do not change which tokens are chosen."""

    def chosen(batch) -> list[list[int]]:
        return [[label for label in row if label != -100] for row in batch.labels.tolist()]

    expected = chosen(collator()(examples))
    assert chosen(collator(pad_to_multiple_of=64)(examples)) == expected
    padded = [english(text, padding="max_length", max_length=40) for text in TEXTS * 4]
    assert chosen(collator()(padded)) == expected
    left = copy.deepcopy(english)
    left.padding_side = "left"
    batch = DataCollatorForLanguageModeling(left, return_tensors="np", seed=5)(examples)
    assert chosen(batch) == expected


def test_without_masking_the_labels_are_the_ids(examples, collator):
    batch = collator(mlm=False)(examples)
    assert ((batch.labels == batch.input_ids) == (batch.attention_mask == 1)).all()
    assert ((batch.labels == -100) == (batch.attention_mask == 0)).all()
    batch.labels[0, 0] = 7
    assert batch.input_ids[0, 0] == 2  # an array of their own


def test_special_tokens_and_padding_are_never_chosen(english, examples, collator):
    everything = collator(mlm_probability=1, mask_replace_prob=1, random_replace_prob=0)
    batch = everything(examples)
    is_token = batch.attention_mask == 1
    is_special = numpy.isin(batch.input_ids, [0, 2, 3])
    assert ((batch.labels != -100) == is_token & ~is_special).all()


def test_a_special_tokens_mask_replaces_the_tokenizers_but_never_covers_padding(english, collator):
    everything = collator(mlm_probability=1, mask_replace_prob=1, random_replace_prob=0)
    texts = ["the people", "the [UNK] [SEP]"]
    batch = everything([english(text, return_special_tokens_mask=True) for text in texts])
    assert "special_tokens_mask" not in batch
    assert batch.labels.tolist()[1] == [-100, 134, 1, 3, -100]
    example = {"input_ids": [2, 168, 168, 0], "special_tokens_mask": [1, 0, 0, 0]}
    assert everything([example]).labels.tolist() == [[-100, 168, 168, -100]]
    example["attention_mask"] = [1, 1, 0, 0]
    assert everything([example]).labels.tolist() == [[-100, 168, -100, -100]]


def test_every_form_of_an_example_gives_the_same(english, examples, collator):
    rows = [example.input_ids for example in examples]
    expected = collator()(rows)
    assert list(expected) == ["input_ids", "labels"]
    forms = [
        [{"input_ids": row} for row in rows],
        [{"input_ids": numpy.array(row, numpy.int32)} for row in rows],
    ]
    forms += [list(map(tuple, rows)), list(map(numpy.array, rows)), examples, tuple(rows)]
    if "pt" in TENSORS:
        import torch

        forms += [list(map(torch.tensor, rows)), [{"input_ids": torch.tensor(row)} for row in rows]]
    for form in forms:
        batch = collator()(form)
        assert batch.input_ids.tolist() == expected.input_ids.tolist()
        assert batch.labels.tolist() == expected.labels.tolist()
        assert batch.labels.dtype == numpy.int64
    same_length = numpy.array([[2, 168, 3]] * 3)
    assert collator()(same_length).input_ids.shape == (3, 3)


def test_a_collator_does_not_change_its_examples(examples, collator):
    dicts = [{**examples[0], "offset_mapping": [(0, 1)], "special_tokens_mask": [0] * 8}]
    before = copy.deepcopy(dicts)
    collator(whole_word_mask=True, mlm_probability=1)(dicts)
    assert dicts == before
    rows = [numpy.array([2, 168, 168, 3])]
    collator(mlm_probability=1)(rows)
    assert rows[0].tolist() == [2, 168, 168, 3]


def test_random_tokens_are_tokens(small):
    """Ids without a token are never drawn."""
    tokenizer = small("a", "b", "c")
    tokenizer.add_tokens(["<x>", "<y>", "<z>"])
    tokenizer.remove_tokens(["<x>", "<y>"])
    collator = DataCollatorForLanguageModeling(
        tokenizer, True, False, 1.0, 0.0, 1.0, return_tensors="np", seed=1
    )
    assert set(collator([[5] * 500]).input_ids.flat) == {0, 1, 2, 3, 4, 5, 6, 7, 10}
    tokenizer.add_tokens(["<w>"])
    assert set(collator([[5] * 500]).input_ids.flat) == {0, 1, 2, 3, 4, 5, 6, 7, 10, 11}


def test_empty_texts_give_empty_or_padded_rows(collator):
    assert lists(collator()([[], []])) == {"input_ids": [[], []], "labels": [[], []]}
    assert lists(collator()([[], [3]])) == {"input_ids": [[0], [3]], "labels": [[-100], [-100]]}


# ---- whole words ---------------------------------------------------------------------------------


@pytest.fixture
def pieces(small):
    return small("un", "##aff", "##able", "##s", "世", "界", "a", "x")


def chosen_together(tokenizer, examples, **options) -> list[set[int]]:
    """Return the groups of places that many seeds always choose together."""
    collator = DataCollatorForLanguageModeling(
        tokenizer, whole_word_mask=True, mlm_probability=0.5, return_tensors="np", **options
    )
    seen = []
    for collator.seed in range(200):
        seen.append(tuple((collator(examples).labels != -100)[0].tolist()))
    by_history: dict[tuple[bool, ...], set[int]] = {}
    for place, history in enumerate(zip(*seen, strict=True)):
        if any(history):
            by_history.setdefault(history, set()).add(place)
    return list(by_history.values())


@pytest.mark.parametrize("masking", ["each", "exact", "spans"])
def test_the_pieces_of_a_word_are_chosen_together(pieces, masking):
    ids = pieces("unaffables a 世界 unaff")
    assert pieces.convert_ids_to_tokens(ids.input_ids)[1:5] == ["un", "##aff", "##able", "##s"]
    words = chosen_together(pieces, [ids], masking=masking)
    assert words == [{1, 2, 3, 4}, {5}, {6}, {7}, {8, 9}]


def test_a_piece_without_its_word_is_a_word(pieces):
    """Windows of a text may begin inside a word, and no word continues across [SEP]."""
    tokens = ["##aff", "##able", "[SEP]", "##s", "a", "[SEP]"]
    assert chosen_together(pieces, [pieces.convert_tokens_to_ids(tokens)]) == [{0, 1}, {3}, {4}]


@pytest.mark.parametrize("side", ["right", "left"])
def test_chinese_ref_says_which_characters_are_one_word(pieces, side):
    pieces.padding_side = side
    example = {**pieces("世界 a 界世界"), "chinese_ref": [2, 5, 6]}
    del example["token_type_ids"]
    longer = {key: value * 2 for key, value in example.items() if key != "chinese_ref"}
    start = 0 if side == "right" else 8
    assert chosen_together(pieces, [example, longer]) == [
        {start + 1, start + 2},
        {start + 3},
        {start + 4, start + 5, start + 6},
    ]


def test_words_go_on_with_the_prefix_of_the_tokenizer(vocab_file):
    tokenizer = BertTokenizer(vocab_file("un", "@@able", "##able", "a"))
    tokenizer.wordpiece_tokenizer.continuing_subword_prefix = "@@"
    ids = tokenizer.convert_tokens_to_ids(["un", "@@able", "##able"])
    assert chosen_together(tokenizer, [ids]) == [{0, 1}, {2}]


def test_the_collator_for_whole_words_is_the_one_with_that_option(english, examples):
    one = DataCollatorForLanguageModeling(
        english, whole_word_mask=True, return_tensors="np", seed=1
    )
    other = DataCollatorForWholeWordMask(english, mlm=False, return_tensors="np", seed=1)
    assert lists(one(examples)) == lists(other(examples))


# ---- wrong arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mlm_probability": 1.5}, InputError),
        ({"mlm_probability": -0.1}, InputError),
        ({"mlm_probability": float("nan")}, InputError),
        ({"mlm_probability": None}, InputTypeError),
        ({"mlm_probability": "0.15"}, InputTypeError),
        ({"mask_replace_prob": 1.1}, InputError),
        ({"mask_replace_prob": -1}, InputError),
        ({"random_replace_prob": -0.1}, InputError),
        ({"mask_replace_prob": 0.8, "random_replace_prob": 0.3}, InputError),
        ({"mlm": False, "whole_word_mask": True}, InputError),
        ({"masking": "words"}, InputError),
        ({"pad_to_multiple_of": 0}, InputError),
        ({"pad_to_multiple_of": 8.0}, InputTypeError),
        ({"return_tensors": "tf"}, InputError),
        ({"seed": "1"}, InputTypeError),
        ({"seed": 1.0}, InputTypeError),
        ({"tf_experimental_compile": True}, NotSupportedError),
    ],
)
def test_wrong_options_are_refused(collator, options, error):
    with pytest.raises(error) as caught:
        collator(**options)
    message = str(caught.value)
    assert any(name in message or repr(value) in message for name, value in options.items())


def test_a_share_may_be_any_number_from_none_to_all(examples, collator):
    before = collator(mlm=False, mlm_probability=None)(examples)  # not looked at without masking
    none = collator(mlm_probability=0, mask_replace_prob=0.9, random_replace_prob=0.1)(examples)
    assert (none.labels == -100).all()
    assert (none.input_ids == before.input_ids).all()
    share = numpy.float32(1)
    batch = collator(mlm_probability=share, mask_replace_prob=1, random_replace_prob=0)(examples)
    chosen = batch.labels != -100
    assert chosen.sum() > 16
    assert (batch.input_ids[chosen] == 4).all()


def test_whole_words_need_a_vocabulary_with_pieces(small):
    with pytest.raises(InputError):
        DataCollatorForLanguageModeling(small("a", "b"), whole_word_mask=True)


def test_masking_needs_a_mask_token(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a"), mask_token=None)
    with pytest.raises(SpecialTokenError) as caught:
        DataCollatorForLanguageModeling(tokenizer)
    assert caught.value.role == "mask_token"
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False, return_tensors="np")
    assert collator([[5, 5], [5]]).labels.tolist() == [[5, 5], [5, -100]]


def test_only_padding_needs_a_padding_token(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a"), pad_token=None)
    collator = DataCollatorForLanguageModeling(
        tokenizer,
        mlm_probability=1,
        mask_replace_prob=1,
        random_replace_prob=0,
        return_tensors="np",
    )
    batch = collator([[5, 5], [5, 5]])
    assert lists(batch) == {"input_ids": [[4, 4]] * 2, "labels": [[5, 5]] * 2}
    for batch in ([[5, 5], [5]], [{"input_ids": [5]}]):
        with pytest.raises(SpecialTokenError) as caught:
            collator(batch)
        assert caught.value.role == "pad_token"


@pytest.fixture(params=["mask", "pad", "flatten"])
def any_collator(request, english):
    return {
        "mask": DataCollatorForLanguageModeling(english, return_tensors="np"),
        "pad": DataCollatorWithPadding(english, return_tensors="np"),
        "flatten": DataCollatorWithFlattening("np"),
    }[request.param]


@pytest.mark.parametrize(
    "features",
    [
        [],
        {"input_ids": [[2, 3]]},
        "the people",
        None,
        ["the people"],
        [{"input_ids": [2, 3]}, [2, 3]],
        [{"input_ids": [2, 3]}, {}],
        [{"text": "a"}],
        [{"input_ids": [2, 3]}, {"input_ids": None}],
    ],
)
def test_wrong_batches_are_refused(any_collator, features):
    assert any_collator([{"input_ids": [2, 3]}]).input_ids.tolist() == [[2, 3]]
    with pytest.raises(InputError):
        any_collator(features)


@pytest.mark.parametrize(
    "features",
    [
        [[2, 3], [2.5]],
        [[2, 3], {"input_ids": [2, 3]}],
        [{"input_ids": [[2, 3]]}],
        [{"input_ids": numpy.array([[2, 3]])}],
        [{"input_ids": numpy.array([2.0])}],
        [{"input_ids": [2, 3], "special_tokens_mask": [1]}],
    ],
)
def test_masking_refuses_what_is_not_a_sequence_of_ids(collator, features):
    with pytest.raises(InputError):
        collator()(features)


@pytest.mark.parametrize("position", [-1, 3])
def test_a_chinese_ref_outside_its_text_is_refused(collator, position):
    whole_words = collator(whole_word_mask=True)
    example = {"input_ids": [2, 168, 3], "chinese_ref": [1]}
    assert whole_words([{"input_ids": [2] * 9}, example]).input_ids.shape == (2, 9)
    example["chinese_ref"].append(position)
    with pytest.raises(InputError, match="chinese_ref"):
        whole_words([{"input_ids": [2] * 9}, example])


@pytest.mark.parametrize("options", [{"pad_to_multiple_of": 0}, {"return_tensors": "jax"}])
def test_padding_refuses_wrong_options(english, options):
    with pytest.raises(InputError):
        DataCollatorWithPadding(english, **options)


@pytest.mark.parametrize("tensors", TENSORS)
def test_without_padding_texts_of_one_length_still_become_a_batch(english, tensors):
    collator = DataCollatorWithPadding(english, False, return_tensors=tensors)
    assert collator([{"input_ids": [2]}, {"input_ids": [3]}]).input_ids.tolist() == [[2], [3]]
    if tensors == "pt":  # numpy has ragged arrays
        with pytest.raises(InputError):
            collator([{"input_ids": [2]}, {"input_ids": [2, 3]}])


# ---- flattening ----------------------------------------------------------------------------------

TWO_TEXTS = [{"input_ids": [2, 5, 6, 3]}, {"input_ids": [2, 7, 3]}]


@pytest.mark.parametrize("tensors", TENSORS)
def test_flattening_concatenates_ids_and_restarts_positions(tensors):
    batch = DataCollatorWithFlattening(tensors)(TWO_TEXTS)
    assert lists(batch) == {
        "input_ids": [[2, 5, 6, 3, 2, 7, 3]],
        "labels": [[-100, 5, 6, 3, -100, 7, 3]],
        "position_ids": [[0, 1, 2, 3, 0, 1, 2]],
    }
    assert {str(value.dtype).rpartition(".")[2] for value in batch.values()} == {"int64"}


@pytest.mark.parametrize("tensors", TENSORS)
def test_flattening_returns_the_boundaries_of_texts_on_request(tensors):
    collator = DataCollatorWithFlattening(
        tensors, return_position_ids=False, return_flash_attn_kwargs=True, return_seq_idx=True
    )
    batch = collator(TWO_TEXTS)
    assert list(lists(batch).items())[2:] == [
        ("seq_idx", [[0, 0, 0, 0, 1, 1, 1]]),
        ("cu_seq_lens_q", [0, 4, 7]),
        ("cu_seq_lens_k", [0, 4, 7]),
        ("max_length_q", 4),
        ("max_length_k", 4),
    ]
    for name in ("seq_idx", "cu_seq_lens_q", "cu_seq_lens_k"):
        assert str(batch[name].dtype).rpartition(".")[2] == "int32"


def test_flattening_separates_the_labels_of_the_examples():
    examples = [{**example, "labels": [1] * len(example["input_ids"])} for example in TWO_TEXTS]
    collator = DataCollatorWithFlattening("np", separator_id=-1)
    assert collator(examples).labels.tolist() == [[-1, 1, 1, 1, -1, 1, 1]]
    assert collator(examples, separator_id=0).labels.tolist() == [[0, 1, 1, 1, 0, 1, 1]]


def test_flattening_takes_every_form_of_ids(english):
    collator = DataCollatorWithFlattening("np")
    expected = lists(collator(TWO_TEXTS))
    forms = [tuple, numpy.array]
    if "pt" in TENSORS:
        import torch

        forms.append(torch.tensor)
    for form in forms:
        examples = [
            {"input_ids": form(ids), "labels": form(ids), "attention_mask": form([1] * len(ids))}
            for ids in (example["input_ids"] for example in TWO_TEXTS)
        ]
        assert lists(collator(examples)) == expected
    texts = [english(text) for text in TEXTS]
    ids = [token_id for text in texts for token_id in text.input_ids]
    assert collator(texts).input_ids.tolist() == [ids]


def test_an_empty_text_has_no_label_in_a_flat_batch():
    collator = DataCollatorWithFlattening("np", return_flash_attn_kwargs=True)
    batch = collator([{"input_ids": []}, {"input_ids": [2, 3]}])
    assert batch.labels.tolist() == [[-100, 3]]
    assert batch.cu_seq_lens_q.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "features",
    [
        [{"input_ids": [2.5]}],
        [{"input_ids": [[2, 3]]}],
        [{"input_ids": [2, 3], "labels": [1]}],
        [{"input_ids": [2, 3], "labels": 1}],
        [{"input_ids": [2], "labels": [1]}, {"input_ids": [2]}],
    ],
)
def test_flattening_refuses_values_that_do_not_fit_together(features):
    with pytest.raises(InputError, match="item"):
        DataCollatorWithFlattening("np")(features)


def test_flattening_refuses_wrong_options():
    with pytest.raises(InputError):
        DataCollatorWithFlattening("jax")
    with pytest.raises(InputTypeError):
        DataCollatorWithFlattening("np", separator_id=0.5)(TWO_TEXTS)
