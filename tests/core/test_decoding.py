"""Ids to tokens and to text: looked up where that is what the methods say, and never instead of
them.
"""

from __future__ import annotations

import random

import pytest

from tests.conftest import often
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, InputTypeError, TokenIdError
from trietok.files.tokenizer_json_content import WordPieceDecoder

PROFILES = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])


@PROFILES
def test_every_id_as_it_is_alone(kind, vocab_file):
    tokenizer = kind(vocab_file("twice", "once", "twice"), additional_special_tokens=["<a>"])
    tokenizer.add_tokens([AddedToken("<b>")])
    ids = list(range(tokenizer.max_id + 1))
    assert tokenizer.convert_ids_to_tokens([6, 5, 7]) == ["once", "[UNK]", "twice"]
    for skip in (False, True):
        alone = [
            token
            for i in ids
            for token in tokenizer.convert_ids_to_tokens([i], skip_special_tokens=skip)
        ]
        assert tokenizer.convert_ids_to_tokens(ids, skip_special_tokens=skip) == alone
    assert tokenizer.convert_ids_to_tokens(ids)[-2:] == ["<a>", "<b>"]
    assert tokenizer.convert_ids_to_tokens(tuple(ids)) == tokenizer.convert_ids_to_tokens(iter(ids))
    assert tokenizer.convert_ids_to_tokens([6.0, True]) == ["once", "[UNK]"]
    assert tokenizer.convert_ids_to_tokens([]) == []
    with pytest.raises(TokenIdError):
        tokenizer.convert_ids_to_tokens([6, 10])
    for wrong in (6 + 0j, "6", None, [6]):
        with pytest.raises(InputTypeError):
            tokenizer.convert_ids_to_tokens([6, wrong])


@PROFILES
def test_changes_of_the_vocabulary_are_seen(kind, vocab_file):
    tokenizer = kind(vocab_file("[unused1]", "one"))
    assert tokenizer.decode([5, 6]) == "[unused1] one"
    tokenizer.assign_unused("[unused1]", "<x>", special=False)
    tokenizer.add_wordpieces(["##two"])
    tokenizer.add_tokens(["three"])
    assert tokenizer.decode([5, 6, 7, 8]).split() == ["<x>", "onetwo", "three"]
    tokenizer.remove_tokens(["<x>"])
    assert tokenizer.decode([5, 6]) == "[unused1] one"


@PROFILES
def test_settings_are_seen_when_they_change(kind, vocab_file):
    tokenizer = kind(vocab_file("do", "##es", "n't", "."), clean_up_tokenization_spaces=True)
    ids = [5, 6, 7, 8]
    assert tokenizer.decode(ids) == "doesn't."
    tokenizer.clean_up_tokenization_spaces = False
    assert tokenizer.decode(ids) == ("doesn't." if kind is BertTokenizerFast else "does n't .")
    if kind is BertTokenizerFast:
        tokenizer.decoder = WordPieceDecoder(prefix="d", cleanup=False)
        assert tokenizer.decode(ids) == "do ##es n't ."
        tokenizer.decoder = None
        assert tokenizer.decode([5, 6]) == "do ##es"
    tokenizer.add_special_tokens({"additional_special_tokens": ["<s>"]})
    assert (
        tokenizer.decode([5, tokenizer.convert_tokens_to_ids("<s>")], skip_special_tokens=True)
        == "do"
    )
    tokenizer.pad_token = "do"
    assert tokenizer.decode([5, 7], skip_special_tokens=True) == (
        "do n't" if kind is BertTokenizerFast else "n't"
    )


def plain_join(tokens: list[str], prefix: str, cleanup: bool) -> str:
    """What the WordPiece decoder of the Rust tokenizers does, one token after the other."""
    text = ""
    for number, token in enumerate(tokens):
        if number:
            token = token[len(prefix) :] if token.startswith(prefix) else " " + token
        if cleanup:
            for old in " .", " ?", " !", " ,":
                token = token.replace(old, old[1:])
            token = token.replace(" ' ", "'").replace(" n't", "n't").replace(" 'm", "'m")
            token = (
                token.replace(" do not", " don't")
                .replace(" 's", "'s")
                .replace(" 've", "'ve")
                .replace(" 're", "'re")
            )
        text += token
    return text


def test_tokens_are_joined_as_one_after_the_other():
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    parts = "##|#| |a||.| ,|' |n't|'m|do not| do not|'s|é|世|?|  !|'ve".split("|")
    for _ in range(often(6_000)):
        tokens = [
            "".join(draw.choices(parts, k=draw.randrange(4))) for _ in range(draw.randrange(6))
        ]
        prefix, cleanup = draw.choice(["##", "", "a", " "]), draw.random() < 0.7
        tokenizer.decoder = WordPieceDecoder(prefix=prefix, cleanup=cleanup)
        joined = tokenizer.convert_tokens_to_string(tokens)
        assert joined == plain_join(tokens, prefix, cleanup), (seed, tokens, prefix, cleanup)
