"""Which entries of a vocabulary no text can give, and why.

In: a tokenizer. Out: entries with a reason.

An entry comes out of a text only as the front of a word or, after `##`, as a later stretch of one; so it is reachable
if the tokenizer's own `BasicTokenizer` leaves it whole: by itself, or behind a digit. A digit, because none ever
combines with what follows it. That test alone can take a reachable entry for an unreachable one where normalization
looks at neighbours, and then a second text is tried:

- Where accents are stripped, U+034F between the characters keeps them from being composed or put in another order, and
  is then stripped itself. What is left is whether each character alone survives, and each that the tokenizer ever
  writes does.
- Where a text is lower-cased without that, the characters in upper case: a capital and its accent may have no composed
  form while the small letter has one.

Words in `never_split` and special tokens are words as they stand, so what WordPiece makes of them is reachable too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.text.characters import is_chinese_char, is_nonspacing_mark, is_punctuation, normalize
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.tokenizer.bert import is_unused_slot

_BEFORE = "0"
_LONGEST_EXAMINED = 100  # characters beyond the longest word: what is longer yet is unreachable by its length alone
_BLOCKER = "\u034f"  # COMBINING GRAPHEME JOINER: stripped as a mark, and nothing combines across it


class Unreachable(NamedTuple):
    """An entry that no text gives: `code` names the reason, `why` tells it."""

    token_id: int
    token: str
    code: str
    why: str


class Reach:
    """Tells which entries of a `BertTokenizer` a text can give.

    >>> import trietok
    >>> reach = Reach(trietok.BertTokenizer.from_pretrained("trietok-en"))
    >>> reach.is_reachable("the"), reach.is_reachable("##,"), reach.reason("##,")
    (True, False, ('unreachable-punctuation', 'punctuation is a word of its own'))

    Cost: O(code points of the entry) for each question; some microseconds.
    """

    def __init__(self, tokenizer: Any) -> None:
        wordpiece = tokenizer.wordpiece_tokenizer
        self.prefix: str = wordpiece.continuing_subword_prefix
        self.longest: int = wordpiece.max_input_chars_per_word
        self.basic: Any = None
        self._given: set[str] = {*tokenizer.added_tokens_encoder, *tokenizer.all_special_tokens}
        if tokenizer.do_basic_tokenize:
            self.basic = copy.copy(tokenizer.basic_tokenizer)
            self._given |= self._of_kept_words(tokenizer)
            self.basic.never_split = set()
        self._lowers = bool(self.basic is not None and self.basic.do_lower_case)

    def _of_kept_words(self, tokenizer: Any) -> set[str]:
        """The entries that the words give which are never split."""
        special = set(tokenizer.all_special_tokens)
        full = tokenizer.wordpiece_tokenizer
        plain = {token: token_id for token, token_id in tokenizer.vocab.items() if token not in special}
        without_special = WordpieceTokenizer(plain, full.unk_token, full.max_input_chars_per_word)
        given: set[str] = set()
        for word in self.basic.never_split | special:
            given.update((word, *full.tokenize(word), *without_special.tokenize(word)))
        return given

    @property
    def _strips(self) -> bool:
        strips = self.basic.strip_accents
        return bool(self.basic.do_lower_case if strips is None else strips)

    def is_reachable(self, token: str) -> bool:
        """Whether a text may give `token`. False is certain; True says only that normalization does not prevent it."""
        if token in self._given:
            return True
        if not token:
            return False
        if token.isascii() and token.isalnum() and len(token) <= self.longest:  # most entries
            return not self._lowers or token.lower() == token
        if len(token) <= self.longest and self._is_word("", token):
            return True
        rest = token[len(self.prefix) :]
        return (
            token.startswith(self.prefix)
            and rest != ""
            and len(_BEFORE + rest) <= self.longest
            and self._is_word(_BEFORE, rest)
        )

    def _is_word(self, before: str, stretch: str) -> bool:
        word = before + stretch
        if self.basic is None:
            return word.split() == [word]
        if self.basic.tokenize(word) == [word]:
            return True
        if word.isascii():
            return False
        if self._strips:
            return bool(self.basic.tokenize(_BLOCKER.join(word)) == [word])
        return bool(self.basic.do_lower_case and self.basic.tokenize(_capitals(word)) == [word])

    def reason(self, token: str) -> tuple[str, str]:
        """The code and the words for why an unreachable entry is unreachable."""
        if len(token) > len(self.prefix) + _LONGEST_EXAMINED + self.longest:
            return "unreachable-length", f"a word has at most {self.longest} characters"
        continues = token.startswith(self.prefix)
        word = token.removeprefix(self.prefix)
        if not word:
            return "unreachable-prefix", f"nothing follows {self.prefix}"
        if word.split() != [word]:
            return "unreachable-space", "words are split at whitespace"
        if self.basic is not None:
            reason = self._normalized_away(word, len(word) > 1 or continues)
            if reason:
                return reason
        if len(word) + continues > self.longest:
            return "unreachable-length", f"a word has at most {self.longest} characters"
        made = "" if self.basic is None else " ".join(self.basic.tokenize(word))
        return "unreachable-form", f"the tokenizer writes {_code_points(word)} as {_code_points(made)}"

    def _normalized_away(self, word: str, inside: bool) -> tuple[str, str] | None:
        basic = self.basic
        for char in word:
            if basic.cleaning_table.replacement(char) is None:
                return "unreachable-deleted", f"cleaning deletes {_code_points(char)}"
        if inside and basic.tokenize_chinese_chars and any(is_chinese_char(ord(char)) for char in word):
            return "unreachable-chinese", "a Chinese character is a word of its own"
        if inside and any(map(is_punctuation, word)):
            return "unreachable-punctuation", "punctuation is a word of its own"
        if basic.do_lower_case and word.lower() != word:
            return "unreachable-case", f"the tokenizer lower-cases it to {word.lower()!r}"
        if self._strips and any(map(is_nonspacing_mark, normalize("NFD", word))):
            return "unreachable-accent", f"the tokenizer strips it to {''.join(basic.tokenize(word))!r}"
        return None


def unreachable(tokenizer: Any) -> Iterator[Unreachable]:
    """The entries of a tokenizer's vocabulary that no text gives, in the order of their ids.

    Left out are special and added tokens, and slots such as `[unused1]`, which wait for a meaning.

    >>> import trietok
    >>> lower = trietok.BertTokenizer.from_pretrained("trietok-multi", do_lower_case=True)  # it is a cased one
    >>> [entry.token for entry in unreachable(lower)][:4]
    ['A', 'B', 'C', 'D']

    Cost: some microseconds an entry: half a second for 100,000.
    """
    reach = Reach(tokenizer)
    for token, token_id in tokenizer.vocab.items():
        if not reach.is_reachable(token) and not is_unused_slot(token):
            yield Unreachable(token_id, token, *reach.reason(token))


def _capitals(word: str) -> str:
    """Every letter in upper case that lower-casing gives back; not the sigma, which looks at its neighbours."""
    return "".join(char.upper() if char != "σ" and char.upper().lower() == char else char for char in word)


def _code_points(text: str) -> str:
    shown = " ".join(f"U+{ord(char):04X}" for char in text[:8])
    return shown + " ..." if len(text) > 8 else shown or "nothing"
