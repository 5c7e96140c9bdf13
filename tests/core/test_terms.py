"""Added tokens with spaces in them stand wherever their words do."""

from __future__ import annotations

import pytest
import transformers

import trietok
from trietok import AddedToken

SLOW, FAST = trietok.BertTokenizer, trietok.BertTokenizerFast
# Words whose halves of the compiled kernel's hash are equal.
ALIKE = [f"{word} then" for word in ("atqdyxu", "imifc")]
ALIKE += [f"{word} york" for word in ("blmxntbs", "qgmjibs")]
OVERLAPPING = ["a b", "b c d", "c d e f"]
LONG = ["a " * 300 + "b", "a " * 20 + "c"]

# added tokens, text, its tokens
BOTH = [
    (["new york"], "xnew yorker", ["x", "new york", "er"]),
    (["new york"], "(New York)", ["(", "new york", ")"]),
    (["new york"], "new  york", ["new", "york"]),
    (["new york"], "reNEW York", ["re", "new york"]),
    ([AddedToken("new york", single_word=True)], "new yorker", ["new", "york", "##er"]),
    (OVERLAPPING, "a b c d e f", ["a b", "c d e f"]),
    (OVERLAPPING, "b c d e f", ["b c d", "e", "f"]),
    ([*OVERLAPPING, "xa"], "xa b c d e f", ["xa", "b c d", "e", "f"]),
    (LONG, "a " * 2000 + "c", ["a"] * 1980 + [LONG[1]]),
    *((ALIKE, f"so {term} is", ["so", term, "is"]) for term in ALIKE),
]
FAST_ONLY = [  # other whitespace becomes a space first
    (["new york"], "of new\nyork, new\xa0york", ["of", "new york", ",", "new york"]),
    (["new york"], "new \x7fyo\x01rk", ["new york"]),
]
SLOW_ONLY = [
    (["new york"], "of new\nyork", ["of", "new", "york"]),
    # it keeps the case of what is matched as it is written, and searches once more
    (
        [AddedToken("X", special=True), AddedToken("X new", special=True)],
        "X NEW",
        ["X new"],
    ),
    # a token as it is written goes before a longer one that is lower-cased
    (
        [AddedToken("NEW YOR", normalized=False), AddedToken("new york")],
        "NEW YORK new york",
        ["NEW YOR", "k", "new york"],
    ),
]
CASES = [
    *((kind, *case) for case in BOTH for kind in (SLOW, FAST)),
    *((FAST, *case) for case in FAST_ONLY),
    *((SLOW, *case) for case in SLOW_ONLY),
]


@pytest.mark.parametrize(("kind", "added", "text", "tokens"), CASES)
def test_a_term_is_found_leftmost_longest_across_words(kind, added, text, tokens, kernel):
    tokenizer = kind.from_pretrained("trietok-en", model_max_length=10**9)
    tokenizer.add_tokens(added)
    for _ in range(2):  # worked out, and from the cache
        ids = tokenizer([text, text], add_special_tokens=False).input_ids
        assert ids[0] == ids[1] == tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.convert_ids_to_tokens(ids[0]) == tokens == tokenizer.tokenize(text)


@pytest.mark.parametrize("kind", [SLOW, FAST])
def test_what_truncation_cuts_off_behind_a_term_is_there_the_next_time(kind, kernel):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["of the"])
    text = "some of thesecond time"
    whole = ["some", "of the", "second", "time"]
    for length in range(1, len(whole)):
        cut = tokenizer([text], truncation=True, max_length=length, add_special_tokens=False)
        assert tokenizer.convert_ids_to_tokens(cut.input_ids[0]) == whole[:length]
    assert tokenizer.convert_ids_to_tokens(tokenizer.encode(text)[1:-1]) == whole


def test_the_fast_cases_are_those_of_transformers(vocab_file):
    letters = "abcdefghijklmnopqrstuvwxyz(),"
    path = str(vocab_file(*letters, *(f"##{letter}" for letter in letters)))
    for added, text, _ in [*BOTH, *FAST_ONLY]:
        tokens = []
        for library in (transformers, trietok):
            tokenizer = library.BertTokenizerFast(path)
            fields = [AddedToken(token) if isinstance(token, str) else token for token in added]
            tokenizer.add_tokens(
                [library.AddedToken(each.content, single_word=each.single_word) for each in fields]
            )
            tokens.append(tokenizer.tokenize(text))
        assert tokens[0] == tokens[1], text
