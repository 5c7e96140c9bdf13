"""The split at added tokens, compared with one that is written for reading."""

from __future__ import annotations

import random

import pytest

from tests.conftest import often
from tests.reference import tokenizer as reference
from trietok import AddedToken, PreTrainedTokenizer

# Tokens of one character, of whitespace, with spaces and newlines inside, joined emoji, marks, each
# other's beginnings.
CONTENTS = [
    "a",
    "ab",
    "abc",
    "b",
    "bc",
    "a b",
    " ",
    "  ",
    "\n",
    "a\nb",
    "\t",
    "x ",
    " x",
    "<s>",
    "<",
    "s>",
    "_",
]
CONTENTS += ["é", "e\u0301", "\u0301", "👩\u200d👩\u200d👧", "👩", "\u200d"]
CONTENTS += ["中", "中文", "文字", "##b", "-", "a-b", "İ", "ß", "aa", "aaab", "baa", "\u3000"]
PARTS = [*CONTENTS, "c", "d", " ", " ", "e", "👧", "字", ".", "1", "aaa", "bb", "\u2028", "\x85"]


def case(rng: random.Random) -> tuple[list[reference.Token], str]:
    chosen = rng.sample(CONTENTS, rng.randrange(1, 7))
    tokens = [
        reference.Token(content, *(rng.random() < 0.25 for _ in range(3))) for content in chosen
    ]
    return tokens, "".join(rng.choices(PARTS, k=rng.randrange(0, 12)))


class Pieces(PreTrainedTokenizer):
    """Leaves each piece of text between added tokens whole."""

    vocab_size = 0

    def get_vocab(self):
        return dict(self.added_tokens_encoder)

    def _tokenize(self, text, **options):
        return [text]


@pytest.mark.parametrize("others", [0, 100], ids=["few tokens", "many tokens"])
def test_texts_are_split_as_the_reference_splits_them(others):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    never_met = [AddedToken(f"\ue000{number}") for number in range(others)]
    for _ in range(often(1_500)):
        tokens, text = case(rng)
        ours = [
            AddedToken(
                token.content,
                lstrip=token.lstrip,
                rstrip=token.rstrip,
                single_word=token.single_word,
            )
            for token in tokens
        ]
        expected = [piece for piece in reference.split(tokens, text) if piece]
        tokenizer = Pieces()
        tokenizer.add_tokens(never_met)
        tokenizer.add_tokens(ours)
        assert tokenizer.tokenize(text) == expected, (seed, tokens, text)
        # In another order, and after a text.
        rng.shuffle(ours)
        tokenizer = Pieces()
        tokenizer.add_tokens([*never_met, ours[0]])
        tokenizer.tokenize(text)
        tokenizer.add_tokens(ours[1:])
        assert tokenizer.tokenize(text) == expected, (seed, tokens, text)
