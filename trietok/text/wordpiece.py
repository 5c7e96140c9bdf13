"""WordPiece: the longest vocabulary entry at the front of a word, then at the front of the rest,
and so on.

In: words from the basic tokenizer. Out: pieces, or the unknown token for a word that cannot be
covered.

A word that is an entry itself costs one dict lookup. Any other is walked through two prefix tries
with failure links (LinMaxMatch: Song et al. 2021, arXiv:2012.15524, section 3): one trie of all
entries for the front of a word, one of the entries that continue a word, without their `##`. When
the word leaves the trie at a node, the node's link names the pieces that are settled (*failure
pops*) and the continuation node that stands for the characters still pending, so no character is
read twice. For the entries ab, abcd and ##c and the word abce: the walk stops below abc; its link
pops ab, then the pending c is a path in the continuation trie; at e that path settles as ##c, and e
begins no piece.

A link is computed when a word first needs it: computing those of 30,000 entries would cost more
than loading the vocabulary. Building the tries costs as much as `LOOKUPS_PER_ENTRY` lookups for
each entry, about 500,000 lookups for 30,000 entries. The first words are therefore split by looking
up slices of them, the longest first, and the tries are built after that many lookups. Whatever the
words are, the total cost is at most twice the cheaper of the two methods.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trietok.errors import InputTypeError
from trietok.text.changes import Changeable, cached_property
from trietok.text.trie import END, TrieNode
from trietok.typing_compat import Self

_Link = tuple[TrieNode | None, tuple[str, ...]]

BERT_PREFIX = "##"  # marks what continues a word: vocab.txt cannot name another
BERT_LONGEST_WORD = 100  # code points
LOOKUPS_PER_ENTRY = 16  # adding one entry to the tries costs as much as so many lookups


class WordpieceTokenizer(Changeable):
    """Greedy longest-match-first WordPiece, with the parameters of transformers'
    `WordpieceTokenizer`.

    Args:
        vocab: the entries; anything with `in`, iteration and `len`, such as the dict of
            `load_vocab`. Entries added later are seen at the next call.
        unk_token: the token for a word that the entries cannot cover, or that is too long.
        max_input_chars_per_word: longest word, in code points, that is tried.
        continuing_subword_prefix: what marks an entry that continues a word.

    >>> vocab = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3}
    >>> WordpieceTokenizer(vocab, unk_token="[UNK]").tokenize("unaffable unaffected")
    ['un', '##aff', '##able', '[UNK]']

    Cost: O(code points of the text), once the tries are built and the links it needs are computed.
    """

    def __init__(
        self,
        vocab: Mapping[str, Any],
        unk_token: str,
        max_input_chars_per_word: int = BERT_LONGEST_WORD,
        *,
        continuing_subword_prefix: str = BERT_PREFIX,
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self.continuing_subword_prefix = continuing_subword_prefix
        self._matching: list[_Slices | _Tries] = []  # at most one; snapshots share it

    def tokenize(self, text: str) -> list[str]:
        """Split every whitespace-separated word of `text` into pieces.

        Returns:
            The pieces in order; one `unk_token` for each word that the entries cannot cover.
        """
        if not isinstance(text, str):
            raise InputTypeError(
                f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
            )
        pieces: list[str] = []
        for word in text.split():
            pieces += self.pieces_of(word)
        return pieces

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of one word, or one `unk_token`.

        >>> WordpieceTokenizer({"ab": 0, "##c": 1}, "[UNK]").pieces_of("abc")
        ['ab', '##c']
        """
        if len(word) > self.max_input_chars_per_word:
            return [self.unk_token]
        if word in self.vocab:
            return [word]
        return (self.match_word(word) if len(word) > 1 else None) or [self.unk_token]

    def match_word(self, word: str) -> list[str] | None:
        """The pieces of one word, whatever its length; None where the entries cannot cover it.

        >>> WordpieceTokenizer({"ab": 0, "abcd": 1, "##c": 2}, "[UNK]").match_word("abc")
        ['ab', '##c']
        """
        return self._matcher().match(word)

    def _matcher(self) -> _Slices | _Tries:
        matching = self._matching
        matcher = matching[0] if matching else None
        if matcher is None or not matcher.is_of(self.vocab, self.continuing_subword_prefix):
            matcher = _Slices(self.vocab, self.continuing_subword_prefix)
            matching[:] = [matcher]
        elif matcher.is_spent():
            matcher = _Tries(self.vocab, self.continuing_subword_prefix)
            matching[:] = [matcher]
        return matcher

    def pieces_before_failure(self, word: str) -> list[str]:
        """The pieces that are matched in a word before no entry goes on; all of its pieces if it
        can be covered.

        A vocabulary without them might cover the word in another way.

        >>> WordpieceTokenizer({"ab": 0, "a": 1, "##bc": 2}, "[UNK]").pieces_before_failure("abc")
        ['ab']

        Cost: O(code points × longest entry).
        """
        longest, prefix = self._matcher().longest, self.continuing_subword_prefix
        pieces: list[str] = []
        start, marked = 0, ""
        while start < len(word):
            ahead = (marked + word[start : start + longest])[:longest]
            end = len(ahead)
            while end > len(marked) and ahead[:end] not in self.vocab:
                end -= 1
            if end <= len(marked):
                break
            pieces.append(ahead[:end])
            start += end - len(marked)
            marked = prefix
        return pieces

    def snapshot(self) -> Self:
        """A copy of the options as they are now; both share what has been built to match words."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__dict__)  # what has been built too
        return other

    def __getstate__(self) -> dict[str, Any]:
        # derived: built again when a word needs it
        return {**super().__getstate__(), "_matching": []}


class _Matcher:
    """The base of both ways of matching: holds the entries as they were when it was made."""

    def __init__(self, vocab: Mapping[str, Any], prefix: str) -> None:
        self.vocab = vocab
        self.size = len(vocab)
        self.prefix = prefix

    @cached_property
    def longest(self) -> int:
        """Code points of the longest entry."""
        return max(map(len, self.vocab), default=0)

    def is_of(self, vocab: Mapping[str, Any], prefix: str) -> bool:
        return self.vocab is vocab and self.size == len(vocab) and self.prefix == prefix

    def is_spent(self) -> bool:
        """Whether another matcher is cheaper from now on."""
        return False


class _Slices(_Matcher):
    """Looks slices of the word up, the longest first: nothing to build, and at most the longest
    entry's length in lookups for every character.
    """

    def __init__(self, vocab: Mapping[str, Any], prefix: str) -> None:
        super().__init__(vocab, prefix)
        self.entries: Collection[Any] = vocab
        self.lookups_left = LOOKUPS_PER_ENTRY * self.size
        # Lookups are a third faster in a set, and fewer where the longest entry is known; a program
        # that encodes a few texts does not wait for either.
        self.most = 1 << 30
        self.copied_below = (
            self.lookups_left - self.size // 8 if isinstance(vocab, dict) else float("inf")
        )

    def is_spent(self) -> bool:
        return self.lookups_left < 0

    def match(self, word: str) -> list[str] | None:
        if self.lookups_left < self.copied_below:
            self.entries, self.copied_below = frozenset(self.vocab), -float("inf")
            self.most = self.longest
        entries, longest = self.entries, self.most
        pieces: list[str] = []
        lookups = 0
        ahead = word[:longest]
        start = shortest = 0  # an entry that continues a word is longer than the prefix
        while ahead:
            first = end = len(ahead)
            while (piece := ahead[:end]) not in entries:
                end -= 1
                if end <= shortest:
                    self.lookups_left -= lookups + first
                    return None
            lookups += first - end + 1
            pieces.append(piece)
            start += end - shortest
            if start >= len(word):
                break
            shortest = len(self.prefix)
            ahead = (self.prefix + word[start : start + longest])[:longest]
            if len(ahead) <= shortest:
                return None
        self.lookups_left -= lookups
        return pieces or None


class _Tries(_Matcher):
    """The two prefix tries over the entries, and the walk through them."""

    def __init__(self, vocab: Mapping[str, Any], prefix: str) -> None:
        super().__init__(vocab, prefix)
        self.front = TrieNode()
        self.rest = TrieNode()
        for entry in vocab:
            if entry:
                self.front.insert(entry, entry)
            if entry.startswith(prefix) and len(entry) > len(prefix):
                self.rest.insert(entry[len(prefix) :], entry)

    def match(self, word: str) -> list[str] | None:
        pieces: list[str] = []
        node = self.front
        for char in word:
            child = node.get(char)
            while child is None:
                target, pops = node.link or self._link(node)
                if target is None:
                    return None
                pieces += pops
                node = target
                child = node.get(char)
            node = child
        while node is not self.rest:  # the word has ended: settle the characters still pending
            target, pops = node.link or self._link(node)
            if target is None:
                return None
            pieces += pops
            node = target
        return pieces

    def _link(self, node: TrieNode) -> _Link:
        """Where a walk failing at `node` goes on, and the pieces settled; (None, ()) if nowhere."""
        top = node
        unlinked = [node]
        # parents first: no recursion along a path
        while top.parent is not None and top.parent.link is None:
            top = top.parent
            unlinked.append(top)
        for step in reversed(unlinked):
            step.link = self._work_out_link(step)
        link: _Link = node.link
        return link

    def _work_out_link(self, node: TrieNode) -> _Link:
        if END in node:
            return self.rest, (node[END],)
        if node.parent is None:
            return None, ()  # no entry begins with the current character
        target, pops = node.parent.link
        while target is not None:
            child = target.get(node.char)
            if child is not None:
                return child, pops
            target, more = target.link or self._link(target)
            pops = pops + more
        return None, ()
