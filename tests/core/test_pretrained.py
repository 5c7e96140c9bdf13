"""`PreTrainedTokenizer` as users subclass it: every method they may override is asked."""

from __future__ import annotations

import pytest

from trietok import AddedToken, OptionError, PreTrainedTokenizer


class Words(PreTrainedTokenizer):
    """A word a token; says hello to what it is asked."""

    def __init__(self, words=("<unk>", "a", "b"), shout=False, unk_token="<unk>", **kwargs):
        self.words = {word: number for number, word in enumerate(words)}
        self.shout = shout
        super().__init__(unk_token=unk_token, shout=shout, **kwargs)

    @property
    def vocab_size(self):
        return len(self.words)

    def get_vocab(self):
        return {**self.words, **self.added_tokens_encoder}

    def _tokenize(self, text, **kwargs):
        return text.split()

    def _convert_token_to_id(self, token):
        return self.words.get(token, 0)

    def _convert_id_to_token(self, index):
        return list(self.words)[index]

    def prepare_for_tokenization(self, text, is_split_into_words=False, louder=False, **kwargs):
        return (text.upper() if louder else text), kwargs

    def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
        return [*token_ids_0, 0] if token_ids_1 is None else [*token_ids_0, 0, *token_ids_1]

    def convert_tokens_to_string(self, tokens):
        return "~".join(tokens)

    def save_vocabulary(self, save_directory, filename_prefix=None):
        return ()


def test_overridden_methods_of_a_subclass_decide():
    words = Words()
    assert words.tokenize("a b c") == ["a", "b", "c"]
    assert words.encode("a b c") == [1, 2, 0, 0]
    assert words.encode("a", "b") == [1, 0, 2]
    assert words.decode([1, 2]) == "a~b"
    assert len(words) == 3


def test_added_tokens_are_split_out_before_the_subclass_sees_the_text():
    words = Words()
    assert words.add_tokens(["x y", AddedToken("<s>", special=True)]) == 2
    assert words.tokenize("ax yb <s>") == ["a", "x y", "b", "<s>"]
    assert words.encode("x y") == [3, 0]
    assert words.decode([3, 1, 4]) == "x y a <s>"
    assert (words.max_id, len(words)) == (4, 5)


def test_keywords_of_the_subclass_reach_its_stages_and_others_are_refused():
    words = Words()
    assert words.tokenize("a", louder=True) == ["A"]
    assert words("a", louder=True).input_ids == [0, 0]
    assert words(["a"], louder=True).input_ids == [[0, 0]]
    with pytest.raises(OptionError, match="'loudest'"):
        words("a", louder=True, loudest=True)
    with pytest.raises(OptionError, match="'loudest'"):
        words.encode([1, 2], loudest=True)


def test_a_method_that_a_subclass_leaves_out_is_not_implemented():
    class Empty(PreTrainedTokenizer):
        def get_vocab(self):
            return {}

    with pytest.raises(NotImplementedError):
        Empty().tokenize("a")


def test_settings_of_a_subclass_are_kept_and_saved(tmp_path):
    words = Words(shout=True, something_else=[1])
    assert words.init_kwargs["something_else"] == [1]
    words.save_pretrained(tmp_path)
    again = Words.from_pretrained(tmp_path)
    assert again.shout is True
    assert again.init_kwargs["something_else"] == [1]
