"""Fingerprints and comparisons of tokenizers that were changed at random."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.vocabulary.parts import WORDS, parts, reloaded
from trietok import AddedToken, BertTokenizer, compare

# No two begin alike but for their case: which of two that do is kept from lower-casing is the order
# of adding.
CONTENTS = st.sampled_from(["<y>", "zz", "Ü", "東", "京 都", "x", "é", "Q", "[S]", "don't", "_"])
TOKENS = st.builds(
    AddedToken,
    CONTENTS,
    single_word=st.booleans(),
    lstrip=st.booleans(),
    rstrip=st.booleans(),
    normalized=st.booleans(),
    special=st.booleans(),
)
GIVEN = st.lists(st.one_of(CONTENTS, TOKENS), min_size=1, max_size=3)
CHANGES = st.one_of(
    st.tuples(st.just("add_tokens"), GIVEN, st.booleans()),
    st.tuples(st.just("remove_tokens"), st.lists(CONTENTS, min_size=1, max_size=2), st.booleans()),
    st.tuples(st.just("assign_unused"), st.sampled_from(WORDS[6:9]), st.one_of(CONTENTS, TOKENS)),
    st.tuples(
        st.just("add_wordpieces"),
        st.lists(st.sampled_from(["ü", "zz", "##zz", "##b", "t"]), max_size=3),
    ),
    st.tuples(
        st.just("add_special_tokens"), st.fixed_dictionaries({"additional_special_tokens": GIVEN})
    ),
    st.tuples(st.just("add_special_tokens"), st.fixed_dictionaries({"mask_token": CONTENTS})),
    st.tuples(
        st.just("give_role"), st.sampled_from(["bos_token", "sep_token", "pad_token"]), CONTENTS
    ),
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": st.booleans(),
        "do_basic_tokenize": st.booleans(),
        "strip_accents": st.sampled_from([None, True, False]),
        "tokenize_chinese_chars": st.booleans(),
        "never_split": st.lists(st.sampled_from(["x", "don't", "Ü"]), max_size=2),
        "split_special_tokens": st.booleans(),
    },
)
RECIPE = st.tuples(OPTIONS, st.lists(CHANGES, max_size=5))
PROBES = st.lists(
    st.one_of(
        CONTENTS,
        st.sampled_from([*WORDS[:6], "ab", " ", "zzü", "[unused1]", "[MASK]", ".", "AB", "ÉX"]),
    ),
    max_size=8,
).map("".join)


@pytest.fixture(scope="module")
def shared_vocab(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, ""]), encoding="utf-8"
    )
    return path


def made(vocab, recipe) -> BertTokenizer:
    """A tokenizer made by a recipe; changes that are refused are left out."""
    options, changes = recipe
    tokenizer = BertTokenizer(vocab, **options)
    for name, *arguments in changes:
        if name == "give_role":  # to an added token: loading adds any other
            role, token = arguments
            if token in tokenizer.added_tokens_encoder:
                setattr(tokenizer, role, token)
            continue
        try:
            getattr(tokenizer, name)(*arguments)
        except ValueError:
            continue
        except KeyError:
            continue
    return tokenizer


@examples(60)
@given(recipe=RECIPE, texts=st.lists(PROBES, max_size=5))
def test_saving_keeps_the_fingerprint(shared_vocab, recipe, texts):
    tokenizer = made(shared_vocab, recipe)
    again = reloaded(tokenizer)
    assert [again.encode(text) for text in texts] == [tokenizer.encode(text) for text in texts]
    assert again.fingerprint() == tokenizer.fingerprint(), str(compare(tokenizer, again))
    assert compare(tokenizer, again, texts).same_ids
    assert pickle.loads(pickle.dumps(tokenizer)).fingerprint() == tokenizer.fingerprint()


@examples(60)
@given(recipe=RECIPE, other=RECIPE, texts=st.lists(PROBES, min_size=1, max_size=5))
def test_ids_that_differ_show_in_the_fingerprint_and_in_a_part(shared_vocab, recipe, other, texts):
    a, b = made(shared_vocab, recipe), made(shared_vocab, other)
    comparison = compare(a, b, texts)
    same = comparison.fingerprints[0] == comparison.fingerprints[1]
    assert same == (not parts(comparison) or list(parts(comparison)) == ["holes"])
    if any(a.encode(text) != b.encode(text) for text in texts):
        assert not same
        assert comparison.differing
    json.dumps(comparison.to_dict())


@examples(60)
@given(recipe=RECIPE, texts=st.lists(PROBES, min_size=1, max_size=5), data=st.data())
def test_equal_fingerprints_mean_equal_ids(shared_vocab, recipe, texts, data):
    options, changes = recipe
    a, b = (
        made(shared_vocab, recipe),
        made(shared_vocab, (options, data.draw(st.permutations(changes)))),
    )
    assume(a.fingerprint() == b.fingerprint())
    assert [a.encode(text) for text in texts] == [b.encode(text) for text in texts]
