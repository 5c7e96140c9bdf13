"""The added tokens as the compiled kernel looks for them.

The kernel looks for tokens of several words, such as "New York", by their *form*: what the token
looks like once every character of it is folded, in one way whatever is around it. A text is folded
in the same way, so wherever such a token stands, its form does. What stands where a form was found,
the pipeline tells.

Other tokens have *key characters*: the kernel hands a chunk with such a character over to the
pipeline.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from trietok.text.added_search import FastAddedTokens
from trietok.text.cache import cached_property

if TYPE_CHECKING:
    from trietok.text.kernel import _kernel
    from trietok.text.pipeline import Pipeline
    from trietok.text.trie import WordSearch, WordTrie

Fold = Callable[[str], str]

_ASCII_ALPHANUMERICS = "[A-Za-z0-9]+"
# Characters by how often English texts have them, the most common first; any other is rarer than
# all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


def _is_ascii_word(word: str) -> bool:
    return word.isascii() and word.isalnum()


def _commonness(char: str) -> int:
    """Return how common a character is in texts: 0 for digits, signs and other scripts."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position


class Words:
    """The words of a trie, as a kernel needs them. They stay with the trie.

    Attributes:
        spaced, unspaced: the words with spaces and without.
    """

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self.spaced = [word for word in words if " " in word]
        self.unspaced = [word for word in words if " " not in word] if self.spaced else words
        self._forms: dict[object, Forms] = {}

    @classmethod
    def of(cls, trie: WordTrie) -> Words:
        """Return those of a trie, the same object each time."""
        if trie.for_kernel is None:
            trie.for_kernel = cls(trie.words)
        words: Words = trie.for_kernel
        return words

    @cached_property
    def patterns(self) -> _kernel.Vocabulary:
        """The words without spaces, for a kernel to look for; a ValueError if some are too long."""
        from trietok.text.kernel import _kernel

        entries: Any = dict.fromkeys(self.unspaced)
        return _kernel.Vocabulary(entries, {}, None, 0, 0, os.urandom(16))

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters of the words without spaces."""
        return frozenset("".join(self.unspaced))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Characters of which every word without spaces holds one.

        Letters and digits of ASCII are keys only of words made of such; of others one of their
        other characters is.

        >>> sorted(Words(["<ent>", "b2b", "new-york"]).keys)
        ['-', '2', '<']
        """
        keys: set[str] = set()
        for word in filter(keys.isdisjoint, filterfalse(_is_ascii_word, self.unspaced)):
            keys.add(min(re.sub(_ASCII_ALPHANUMERICS, "", word), key=_commonness))
        for word in filter(keys.isdisjoint, self.unspaced):
            keys.add(min(word, key=_commonness))
        return frozenset(keys)

    @cached_property
    def has_odd_spaces(self) -> bool:
        """Whether some word holds whitespace other than single spaces between words."""
        return has_odd_spaces(self._words)

    def forms(self, form_of: Fold, are_settled: bool, rests_on: object) -> Forms:
        """Return the forms of the words with spaces; for the arguments see `Terms`."""
        forms = self._forms.get(rests_on)
        if forms is None:
            # as a character has the same form wherever it stands, all are folded at once
            joined = "|".join(self.spaced)
            if are_settled and form_of(joined) == joined:
                form_of = str
            forms = self._forms[rests_on] = Forms(self.spaced, form_of, are_settled)
        return forms


class Forms:
    """The forms of some tokens of several words.

    Args:
        words: the tokens as they are searched for, sorted.
        form_of: a token → its form; `str` if no token changes.
        are_settled: whether a token stands wherever its form does, if it is the same.

    Attributes:
        forms: all of them, sorted.
        changed: those of tokens that are not their own form.
        unsettled: those of which only a search can tell whether a token stands there, and which.

    >>> Forms(["new york", "New York", "new deal"], str.lower, True).unsettled
    {'new york'}
    """

    def __init__(self, words: Iterable[str], form_of: Fold, are_settled: bool) -> None:
        forms = {word: form_of(word) for word in words} if form_of is not str else {}
        self.forms = sorted(set(forms.values())) if forms else [*words]
        self.changed = {form for word, form in forms.items() if form != word}
        self.unsettled: Collection[str] = self.changed if are_settled else self.forms

    @cached_property
    def has_odd_spaces(self) -> bool:
        """Whether some form holds whitespace that its token does not, other than single spaces."""
        return has_odd_spaces(self.changed)

    @cached_property
    def not_ascii(self) -> str:
        """The characters of the forms that are not all ASCII, without spaces."""
        return "".join({*"".join([form for form in self.forms if not form.isascii()])} - {" "})

    @cached_property
    def tree(self) -> _kernel.Terms:
        """The same for a kernel."""
        from trietok.text.kernel import _kernel

        return _kernel.Terms(self.forms)


class Terms:
    """The added tokens of a pipeline.

    Attributes:
        words: those of each trie that is searched.
        forms: of the tokens of several words.
        is_odd: whether some token holds other whitespace than single spaces between words.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        basic: Any = pipeline.basic
        added = pipeline.added
        if isinstance(added, FastAddedTokens):
            rests_on = basic.normalizing_options
            raw, normalized = added.raw.search, added.normalized.search
            searches = [(raw, self.fold, False), (normalized, without_marks, True)]
        else:
            rests_on = pipeline.settings.lowers
            searches = [(_search_of(added), self.fold, True)]
        self.words: list[Words] = []
        self.forms: list[Forms] = []
        for search, form_of, are_settled in searches:
            for words in map(Words.of, search.tries):
                self.words.append(words)
                if words.spaced:
                    self.forms.append(words.forms(form_of, are_settled, rests_on))
        self.is_odd = any(words.has_odd_spaces for words in self.words) or any(
            map(self._are_odd, self.forms)
        )
        self._unsettled = frozenset[str]().union(*[forms.unsettled for forms in self.forms])

    def _are_odd(self, forms: Forms) -> bool:
        if not forms.changed and not self._pipeline.is_fast:
            return False  # each character is its own form
        # the second: a character becomes spaces
        return forms.has_odd_spaces or " " in self.fold(forms.not_ascii)

    def fold(self, text: str) -> str:
        """Return a text as it looks where forms are looked for: each character by itself."""
        text = self._pipeline.bare(text)
        return without_marks(text) if self._pipeline.is_fast else text

    def settle(self, form: str) -> tuple[int, ...]:
        """Return the id of the token that a form stands for and its `single_word`; of a token of
        one word, as it is written, the id alone; nothing where more is to be looked at.
        """
        added = self._pipeline.added
        if " " not in form:
            (_, _, _, token_id), *others = self._pipeline.parts(form)
            if token_id is None or others or not added.decoder[token_id].is_plain:
                return ()
            return (token_id,)
        if form in self._unsettled:
            return ()
        content: str | None = form
        if isinstance(added, FastAddedTokens):
            content = added.normalized.contents.get(form)
        token_id = None if content is None else added.encoder.get(content)
        if token_id is None:
            return ()
        return token_id, added.decoder[token_id].single_word


def _search_of(added: Any) -> WordSearch:
    search: WordSearch = added.search
    return search


def without_marks(text: str) -> str:
    """Return a text without the characters that normalization may put in another order."""
    if text.isascii():
        return text
    return "".join([char for char in text if not unicodedata.combining(char)])


def has_odd_spaces(words: Collection[str]) -> bool:
    """Return whether some word contains whitespace other than single spaces between words.

    >>> (
    ...     has_odd_spaces(["a b", "c"]),
    ...     has_odd_spaces(["a  b"]),
    ...     has_odd_spaces(["a\\tb"]),
    ...     has_odd_spaces(["a "]),
    ... )
    (False, True, True, True)
    """
    lines = "\n".join(["", *words, ""])
    if lines.count("\n") > len(words) + 1 or "  " in lines or " \n" in lines or "\n " in lines:
        return True
    return re.search(r"[^\S \n]", lines) is not None
