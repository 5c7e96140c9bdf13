"""Classes of a user's own: which of their methods and properties calls, ids and offsets heed, in
both profiles.
"""

from __future__ import annotations

from typing import Any

import pytest

from trietok import (
    BasicTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    NotSupportedError,
    VocabularyError,
    WordpieceTokenizer,
    google_bert,
)

PAD, UNK, CLS, SEP, MASK, A, B = range(7)


@pytest.fixture
def file(vocab_file):
    return vocab_file("a", "b")


def test_special_tokens_are_split_after_the_users_own_preparation(file):
    class Prepares(BertTokenizerFast):
        def prepare_for_tokenization(self, text, **options):
            return text.replace("x", "a"), options

    tokenizer = Prepares(file)
    tokens = ["a", "[UNK]", "[UNK]", "[UNK]", "b"]
    assert tokenizer.tokenize("x [SEP] b", split_special_tokens=True) == tokens
    assert tokenizer("x [SEP] b", split_special_tokens=True).tokens()[1:-1] == tokens


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_calls_heed_settings_that_a_class_computes(file, kind):
    class Computes(kind):
        sides, most = ["right"], [512]
        model_input_names = property(lambda self: ["input_ids"], lambda self, names: None)
        padding_side = property(lambda self: self.sides[-1], lambda self, side: None)
        model_max_length = property(lambda self: self.most[-1], lambda self, most: None)

    tokenizer = Computes(file)
    assert dict(tokenizer(["a", "a b"], padding=True)) == {
        "input_ids": [[CLS, A, SEP, PAD], [CLS, A, B, SEP]]
    }
    Computes.sides.append("left")
    Computes.most.append(3)
    assert tokenizer(["a", "a b"], padding=True).input_ids[0] == [PAD, CLS, A, SEP]
    assert tokenizer("a b", truncation=True).input_ids == [CLS, A, SEP]


def test_a_slow_call_heeds_the_users_own_roles(file):
    class Roles(BertTokenizer):
        @property
        def cls_token_id(self):
            return MASK

        @property
        def pad_token_id(self):
            return B

    assert Roles(file)(["a", "a b"], padding=True).input_ids == [
        [MASK, A, SEP, B],
        [MASK, A, B, SEP],
    ]


def test_offsets_are_refused_where_the_users_own_method_changes_the_ids(file):
    class Drops(BertTokenizer):
        def prepare_for_model(self, ids, *args, **options):
            return super().prepare_for_model(
                [token_id for token_id in ids if token_id != A], *args, **options
            )

    class CutsLeft(BertTokenizer):
        def truncate_sequences(self, ids, pair_ids=None, num_tokens_to_remove=0, *args, **options):
            return ids[num_tokens_to_remove:], pair_ids, []

    for tokenizer, options, kept in (
        (Drops(file), {}, [CLS, B, SEP]),
        (CutsLeft(file), {"truncation": True, "max_length": 3}, [CLS, B, SEP]),
    ):
        assert tokenizer("a b", **options).input_ids == kept
        assert tokenizer("b", return_offsets_mapping=True, **options).offset_mapping == [
            (0, 0),
            (0, 1),
            (0, 0),
        ]
        with pytest.raises(NotSupportedError):
            tokenizer("a b", return_offsets_mapping=True, **options)
        with pytest.raises(NotSupportedError):
            tokenizer(["a b", "b"], return_offsets_mapping=True, **options)


def with_own_pad(base: Any) -> Any:
    class Pads(base):
        """Pads a column of its own, as transformers' classes for documents do."""

        def _pad(self, encoded_inputs: Any, max_length: Any = None, **how: Any) -> Any:
            padded = super()._pad(encoded_inputs, max_length, **how)
            self.padded = getattr(self, "padded", 0) + 1
            padded["boxes"] = [7] * len(padded["input_ids"])
            return padded

    return Pads


def test_a_classs_own_pad_is_called_for_each_text(vocab_file):
    tokenizer = with_own_pad(BertTokenizer)(vocab_file("a", "b", "c"))
    batch = tokenizer(["a b", "c"], padding=True)
    assert batch.input_ids == [[2, 5, 6, 3], [2, 7, 3, 0]]
    assert (batch.boxes, batch.attention_mask[1], tokenizer.padded) == (
        [[7] * 4] * 2,
        [1, 1, 1, 0],
        2,
    )
    assert tokenizer("a").boxes == [7] * 3
    assert tokenizer.pad({"input_ids": [[5], [6, 7]]}).boxes == [[7, 7]] * 2
    assert tokenizer.prepare_for_model([5], padding="max_length", max_length=4).boxes == [7] * 4
    # whose calls pad in Rust, in transformers
    fast = with_own_pad(BertTokenizerFast)(vocab_file("a", "b", "c"))
    assert "boxes" not in fast(["a b", "c"], padding=True)
    assert fast.pad({"input_ids": [[5], [6, 7]]}).boxes == [[7, 7]] * 2


# ---- the steps of the basic tokenizer ------------------------------------------------------------

STEPS = {
    "_clean_text": lambda own, text: own(text.replace("_", " ")),
    "_tokenize_chinese_chars": lambda own, text: own(text).replace("b", " b "),
    "_is_chinese_char": lambda own, cp: cp == ord("x") or own(cp),
    "_run_strip_accents": lambda own, text: own(text).replace("x", "b"),
    "_run_split_on_punc": lambda own, text, never_split=None: (
        [text] if "," in text else own(text, never_split)
    ),
}
STEPPED = {  # the tokens of "á_b xa a,b"
    "_clean_text": ["a", "b", "[UNK]", "a", ",", "b"],
    "_tokenize_chinese_chars": ["a", "_", "b", "[UNK]", "a", ",", "b"],
    "_is_chinese_char": ["a", "_", "b", "x", "a", "a", ",", "b"],
    "_run_strip_accents": ["a", "_", "b", "ba", "a", ",", "b"],
    "_run_split_on_punc": ["a", "_", "b", "[UNK]", "a,b"],
}


def with_step(name: str, base: Any = BasicTokenizer) -> Any:
    def step(self: Any, *args: Any) -> Any:
        return STEPS[name](getattr(super(kind, self), name), *args)

    kind = type("Own", (base,), {name: step})
    return kind


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_the_basic_tokenizer_that_is_overridden_is_called(vocab_file, name):
    text, path = "á_b xa a,b", vocab_file("a", "b", "_", ",", "x", "ba", "a,b")
    tokenizer = BertTokenizer(path)
    before = tokenizer.encode(text)
    assert tokenizer.tokenize(text) == ["a", "_", "b", "[UNK]", "a", ",", "b"]
    own = tokenizer.basic_tokenizer
    tokenizer.basic_tokenizer = with_step(name)()
    assert tokenizer.tokenize(text) == STEPPED[name]
    assert tokenizer([text]).input_ids == [tokenizer.encode(text)]
    assert tokenizer.encode(text)[1:-1] == tokenizer.convert_tokens_to_ids(STEPPED[name])
    with pytest.raises(NotSupportedError):
        tokenizer("á_b a,b xa bb", return_offsets_mapping=True)
    tokenizer.basic_tokenizer = own
    assert tokenizer.encode(text) == before


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_googles_basic_tokenizer_that_is_overridden_is_called(name):
    # a private character stays
    words = with_step(name, google_bert.BasicTokenizer)().tokenize("á_b xa a,b \ue000")
    assert words[-1] == "\ue000"
    assert words[:-1] == [{"[UNK]": "xa"}.get(token, token) for token in STEPPED[name]]


def test_googles_own_step_for_punctuation_takes_the_word_alone():
    class Whole(google_bert.BasicTokenizer):
        def _run_split_on_punc(self, text):
            return [text]

    assert Whole().tokenize("A-b, c") == ["a-b,", "c"]


def test_never_split_reaches_the_step_for_punctuation():
    told = []

    class Told(BasicTokenizer):
        def _run_split_on_punc(self, text, never_split=None):
            told.append((text, set(never_split)))
            return super()._run_split_on_punc(text, never_split)

    assert Told(never_split=["A.b"]).tokenize("A.b C.d", never_split=["[X]"]) == [
        "A.b",
        "c",
        ".",
        "d",
    ]
    assert told == [("A.b", {"A.b", "[X]"}), ("c.d", {"A.b", "[X]"})]
    assert Told(do_split_on_punc=False).tokenize("C.d") == ["c.d"]


def test_offsets_are_given_where_an_own_step_changes_no_token(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", ","))
    tokenizer.basic_tokenizer = with_step("_clean_text")()
    assert tokenizer("a, a", return_offsets_mapping=True).offset_mapping[1:-1] == [
        (0, 1),
        (1, 2),
        (3, 4),
    ]


# ---- methods of transformers that trietok never calls --------------------------------------------

NEVER_CALLED = """
    _encode_plus _batch_encode_plus _convert_encoding _batch_prepare_for_model _update_trie
    _from_pretrained _save_pretrained _switch_to_target_mode set_truncation_and_padding
    as_target_tokenizer push_to_hub save_chat_templates convert_added_tokens
    """.split()


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize("name", NEVER_CALLED)
def test_a_method_that_would_never_be_called_is_refused(kind, name):
    def own(self, *args, **kwargs):
        raise AssertionError

    for value in (own, property(own), classmethod(own), staticmethod(own)):
        with pytest.raises(NotSupportedError) as caught:
            type("Own", (kind,), {name: value})
        assert caught.value.name == name
    with pytest.raises(NotSupportedError):
        type("Own", (type("Mixin", (), {name: own}), kind), {})


# ---- stages of a user's that the fast profile does not go through --------------------------------


@pytest.mark.parametrize("name", [*STEPS, "tokenize", "clean", "normalize", "normalized"])
def test_a_step_that_calls_of_the_fast_profile_do_not_go_through_is_refused(vocab_file, name):
    tokenizer = BertTokenizerFast(vocab_file("a", "b"))
    before = tokenizer.encode("a b")
    setattr(tokenizer.basic_tokenizer, name, lambda *args: [])
    for use in (tokenizer.encode, lambda text: tokenizer.add_tokens([text])):
        with pytest.raises(NotSupportedError):
            use("a b")
    delattr(tokenizer.basic_tokenizer, name)
    assert tokenizer.encode("a b") == before


@pytest.mark.parametrize("other", [BasicTokenizer(), object(), None])
def test_a_basic_tokenizer_of_another_class_is_refused_by_the_fast_profile(vocab_file, other):
    tokenizer = BertTokenizerFast(vocab_file("a", "b"))
    tokenizer.basic_tokenizer = other
    for use in (tokenizer.encode, lambda text: tokenizer.add_tokens([text])):
        with pytest.raises(NotSupportedError):
            use("a b")


def test_a_wordpiece_tokenizer_of_another_class_is_refused_by_the_fast_profile(vocab_file):
    tokenizer = BertTokenizerFast(vocab_file("a", "b"))
    tokenizer.wordpiece_tokenizer = object()
    with pytest.raises(NotSupportedError):
        tokenizer.encode("a b")


def test_a_piece_that_the_fast_tokenizer_has_no_id_for_is_named(vocab_file, tmp_path):
    tokenizer = BertTokenizerFast(vocab_file("a", "b"))
    tokenizer.wordpiece_tokenizer = WordpieceTokenizer({"[UNK]": 0, "a": 1, "zz": 2}, "[UNK]")
    assert tokenizer.tokenize("a b") == ["a", "[UNK]"]
    with pytest.raises(VocabularyError) as caught:
        tokenizer.encode("a zz")
    assert caught.value.token == "zz"
    with pytest.raises(NotSupportedError):
        tokenizer.save_pretrained(tmp_path / "out")
    tokenizer.add_wordpieces(["zz"])  # as the messages say
    assert tokenizer.encode("a zz", add_special_tokens=False)[1] == tokenizer.vocab["zz"]
    tokenizer.wordpiece_tokenizer.vocab = tokenizer.vocab
    tokenizer.save_pretrained(tmp_path / "out")
    assert BertTokenizerFast.from_pretrained(tmp_path / "out").encode("a zz b") == tokenizer.encode(
        "a zz b"
    )
