"""Ids to tokens and to text."""

from __future__ import annotations

import json
import random

import pytest
from tokenizers import decoders

from tests.conftest import often
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, TokenIdError

BOTH = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])


def test_text_is_joined_of_pieces_and_added_tokens(small):
    tokenizer = small("he", "##llo", ",", "don", "'", "t", "s")
    ids = tokenizer.encode("Hello, he's don't")
    assert tokenizer.decode(ids) == "[CLS] hello, he's don't [SEP]"
    options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    assert tokenizer.decode(ids, **options) == "hello , he ' s don ' t"
    assert tokenizer.decode(ids[1]) == "he"
    assert tokenizer.batch_decode([ids[1:3], ids[:1]]) == ["hello", "[CLS]"]
    tokenizer.add_tokens(["<x>"])
    ids = [tokenizer.max_id, ids[1]]
    assert tokenizer.decode(ids, spaces_between_special_tokens=False) == "<x>he"


@BOTH
def test_ids_of_a_list_become_the_tokens_of_each_id(kind, vocab_file):
    tokenizer = kind(vocab_file("twice", "once", "twice"), additional_special_tokens=["<a>"])
    tokenizer.add_tokens([AddedToken("<b>")])
    ids = list(range(tokenizer.max_id + 1))
    # The earlier of two equal lines has no token of its own.
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "once", "twice", "<a>", "<b>"]
    assert tokenizer.convert_ids_to_tokens(ids) == tokens
    assert tokenizer.convert_ids_to_tokens(iter(ids)) == tokens
    assert [tokenizer.convert_ids_to_tokens(i) for i in ids] == tokens
    assert tokenizer.convert_ids_to_tokens(ids, skip_special_tokens=True) == [
        token for token in tokens[5:] if token != "<a>"
    ]
    assert tokenizer.convert_ids_to_tokens([6.0, True]) == ["once", "[UNK]"]
    assert tokenizer.convert_ids_to_tokens([]) == []


@BOTH
def test_ids_that_no_text_gives_are_refused(kind, vocab_file):
    tokenizer = kind(vocab_file("a"))
    for call in (tokenizer.decode, tokenizer.convert_ids_to_tokens):
        for token_id in (-100, 6):
            with pytest.raises(TokenIdError) as caught:
                call([5, token_id])
            assert (caught.value.token_id, caught.value.max_id) == (token_id, 5)


@BOTH
def test_decoding_follows_changes_of_the_vocabulary(kind, vocab_file):
    tokenizer = kind(vocab_file("[unused1]", "one"))
    assert tokenizer.decode([5, 6]) == "[unused1] one"
    tokenizer.assign_unused("[unused1]", "<x>", special=False)
    tokenizer.add_wordpieces(["##two"])
    tokenizer.add_tokens(["three"])
    assert tokenizer.decode([5, 6, 7, 8]).split() == ["<x>", "onetwo", "three"]
    tokenizer.remove_tokens(["<x>"])
    assert tokenizer.decode([5, 6]) == "[unused1] one"


@BOTH
def test_decoding_follows_changes_of_settings(kind, vocab_file):
    tokenizer = kind(vocab_file("do", "##es", "n't", "."), clean_up_tokenization_spaces=True)
    assert tokenizer.decode([5, 6, 7, 8]) == "doesn't."
    tokenizer.clean_up_tokenization_spaces = False
    is_fast = kind is BertTokenizerFast  # whose decoder cleans up by itself
    assert tokenizer.decode([5, 6, 7, 8]) == ("doesn't." if is_fast else "does n't .")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<s>"]})
    assert tokenizer.decode([5, tokenizer.max_id], skip_special_tokens=True) == "do"
    tokenizer.pad_token = "do"
    skipped = tokenizer.decode([5, 7], skip_special_tokens=True)
    assert skipped == ("don't" if is_fast else "n't")
    if is_fast:
        tokenizer.decoder = None
        assert tokenizer.decode([5, 6]) == "do ##es"


@pytest.mark.parametrize("prefix", ["##", "", "a", " "])
@pytest.mark.parametrize("cleanup", [True, False])
def test_tokens_are_joined_as_by_the_decoder_of_the_rust_library(tmp_path, prefix, cleanup):
    BertTokenizerFast.from_pretrained("trietok-en").save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    decoder = {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}
    file.write_text(json.dumps({**json.loads(file.read_text()), "decoder": decoder}))
    ours = BertTokenizerFast.from_pretrained(tmp_path)
    rust = decoders.WordPiece(prefix, cleanup)
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    parts = "##|#| |a||.| ,|' |n't|'m|do not| do not|'s|é|世|?|  !|'ve".split("|")
    for _ in range(often(800)):
        lengths = [draw.randrange(4) for _ in range(draw.randrange(6))]
        tokens = ["".join(draw.choices(parts, k=length)) for length in lengths]
        assert ours.convert_tokens_to_string(tokens) == rust.decode(tokens), (seed, tokens)
