"""Which entries of a vocabulary a text can give, and why not the others.

In: a tokenizer, and entries. Out: yes or no, with a code and words.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from trietok.text.characters import is_chinese_char, is_nonspacing_mark, is_punctuation, normalize
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.workbench.checking.report import Code, declare

# Which entries of a vocabulary no text can give. An entry comes out of a text only as the front of
# a word or, after `##`, as a later stretch of one; so it is reachable if the tokenizer's own
# `BasicTokenizer` leaves it whole: alone, or behind a digit, as none ever combines with what
# follows it. That test by itself can take a reachable entry for an unreachable one where
# normalization looks at neighbours, and then a second text is tried:
#
# - Where accents are stripped, U+034F between the characters keeps them from being composed or put
#   in another order,
#   and is then stripped itself. What is left is whether each character alone survives, as each does
#   that is ever given.
# - Where a text is lower-cased without that, the characters in upper case: a capital and its accent
#   may have no
#   composed form while the small letter has one.
#
# Words in `never_split` and special tokens are words as they stand, so what WordPiece makes of them
# is reachable too.

_BEFORE = "0"
_LONGEST_EXAMINED = (
    100  # characters beyond the longest word: what is longer yet is unreachable by its length alone
)
_BLOCKER = "\u034f"  # COMBINING GRAPHEME JOINER: stripped as a mark, and nothing combines across it


def _unreachable(code: str, because: str, *, so: str = "", do: str = "") -> Code:
    return declare(
        f"unreachable-{code}",
        f"no text can give these, because {because}",
        so=so or "an embedding row that no text uses, which costs memory and nothing else",
        do=do
        or "nothing in a published vocabulary; write an entry of your own as the tokenizer writes"
        " words",
    )


UNREACHABLE_FORM = _unreachable("form", "the tokenizer writes their characters in another form")
UNREACHABLE_LENGTH = _unreachable("length", "longer words than the tokenizer takes are unknown")
UNREACHABLE_PREFIX = _unreachable("prefix", "nothing follows the prefix of continuing pieces")
UNREACHABLE_SPACE = _unreachable(
    "space",
    "words are split at whitespace",
    so="no text gives it: words are split at whitespace",
    do="tokenizer.add_tokens([...]) finds phrases; an entry of a vocabulary has no space inside",
)
UNREACHABLE_CHINESE = _unreachable("chinese", "each Chinese character becomes a word of its own")
UNREACHABLE_PUNCTUATION = _unreachable(
    "punctuation", "each punctuation character becomes a word of its own"
)
UNREACHABLE_CASE = _unreachable("case", "they have capitals and the tokenizer lower-cases")
UNREACHABLE_ACCENT = _unreachable("accent", "they have accents and the tokenizer strips them")
UNREACHABLE_DELETED = _unreachable("deleted", "cleaning deletes one of their characters")
UNREACHABLE = (
    UNREACHABLE_FORM,
    UNREACHABLE_LENGTH,
    UNREACHABLE_PREFIX,
    UNREACHABLE_SPACE,
    UNREACHABLE_CHINESE,
    UNREACHABLE_PUNCTUATION,
    UNREACHABLE_CASE,
    UNREACHABLE_ACCENT,
    UNREACHABLE_DELETED,
)


class Reach:
    """Tells which entries of a `BertTokenizer` a text can give.

    >>> import trietok
    >>> reach = Reach(trietok.BertTokenizer.from_pretrained("trietok-en"))
    >>> reach.is_reachable("the"), reach.is_reachable("##,"), reach.reason("##,")
    (True, False, ('unreachable-punctuation', 'punctuation is a word of its own'))

    Args:
        tokenizer: a slow one.
        prefixes: what marks an entry that continues a word; by default what its own WordPiece has.

    Cost: O(code points of the entry) for each question; some microseconds.
    """

    def __init__(self, tokenizer: Any, prefixes: Iterable[str] = ()) -> None:
        full, special = tokenizer.wordpiece_tokenizer, set(tokenizer.all_special_tokens)
        self.prefixes = tuple(dict.fromkeys(prefixes)) or (str(full.continuing_subword_prefix),)
        self.longest: int = full.max_input_chars_per_word
        self.basic: Any = (
            copy.copy(tokenizer.basic_tokenizer) if tokenizer.do_basic_tokenize else None
        )
        self._given: set[str] = {*tokenizer.added_tokens_encoder, *special}
        self._lowers = self._strips = False
        if self.basic is not None:
            plain = {
                token: token_id
                for token, token_id in tokenizer.vocab.items()
                if token not in special
            }
            without_special = WordpieceTokenizer(plain, full.unk_token, self.longest)
            for word in self.basic.never_split | special:
                self._given.update((word, *full.tokenize(word), *without_special.tokenize(word)))
            self.basic.never_split = set()
            self._lowers, strips = bool(self.basic.do_lower_case), self.basic.strip_accents
            self._strips = self._lowers if strips is None else bool(strips)

    def is_reachable(self, token: str) -> bool:
        """Whether a text may give `token`. False is certain; True says only that normalization does
        not prevent it.
        """
        if token in self._given:
            return True
        if not token:
            return False
        if token.isascii() and token.isalnum() and len(token) <= self.longest:  # most entries
            return not self._lowers or token.lower() == token
        if len(token) <= self.longest and self._is_word(token):
            return True
        behind = [
            _BEFORE + token[len(prefix) :] for prefix in self.prefixes if token.startswith(prefix)
        ]
        return any(1 < len(word) <= self.longest and self._is_word(word) for word in behind)

    def _is_word(self, word: str) -> bool:
        if self.basic is None:
            return word.split() == [word]
        if self.basic.tokenize(word) == [word]:
            return True
        if word.isascii():
            return False
        if self._strips:
            return bool(self.basic.tokenize(_BLOCKER.join(word)) == [word])
        return bool(self.basic.do_lower_case and self.basic.tokenize(_capitals(word)) == [word])

    def reason(self, token: str) -> tuple[Code, str]:
        """The code and the words for why an unreachable entry is unreachable."""
        prefix = next(filter(token.startswith, self.prefixes), self.prefixes[0])
        if len(token) > len(prefix) + _LONGEST_EXAMINED + self.longest:
            return UNREACHABLE_LENGTH, f"a word has at most {self.longest} characters"
        continues = token.startswith(prefix)
        word = token.removeprefix(prefix)
        if not word:
            return UNREACHABLE_PREFIX, f"nothing follows {prefix}"
        if word.split() != [word]:
            return UNREACHABLE_SPACE, "words are split at whitespace"
        if self.basic is not None:
            reason = self._normalized_away(word, len(word) > 1 or continues)
            if reason:
                return reason
        if len(word) + continues > self.longest:
            return UNREACHABLE_LENGTH, f"a word has at most {self.longest} characters"
        made = "" if self.basic is None else " ".join(self.basic.tokenize(word))
        return (
            UNREACHABLE_FORM,
            f"the tokenizer writes {_code_points(word)} as {_code_points(made)}",
        )

    def _normalized_away(self, word: str, inside: bool) -> tuple[Code, str] | None:
        basic = self.basic
        for char in word:
            if basic.cleaning_table.replacement(char) is None:
                return UNREACHABLE_DELETED, f"cleaning deletes {_code_points(char)}"
        if (
            inside
            and basic.tokenize_chinese_chars
            and any(is_chinese_char(ord(char)) for char in word)
        ):
            return UNREACHABLE_CHINESE, "a Chinese character is a word of its own"
        if inside and any(map(is_punctuation, word)):
            return UNREACHABLE_PUNCTUATION, "punctuation is a word of its own"
        if basic.do_lower_case and word.lower() != word:
            return UNREACHABLE_CASE, f"the tokenizer lower-cases it to {word.lower()!r}"
        if self._strips and any(map(is_nonspacing_mark, normalize("NFD", word))):
            return (
                UNREACHABLE_ACCENT,
                f"the tokenizer strips it to {''.join(basic.tokenize(word))!r}",
            )
        return None


def _capitals(word: str) -> str:
    """Every letter in upper case that lower-casing gives back; not the sigma, which looks at its
    neighbours.
    """
    return "".join(
        char.upper() if char != "σ" and char.upper().lower() == char else char for char in word
    )


def _code_points(text: str) -> str:
    shown = " ".join(f"U+{ord(char):04X}" for char in text[:8])
    return shown + " ..." if len(text) > 8 else shown or "nothing"
