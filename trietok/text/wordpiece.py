"""WordPiece: the longest vocabulary entry at the front of a word, then at the front of the rest.

A word that is an entry itself costs one dict lookup. Any other is walked through two prefix tries
with failure links (LinMaxMatch: Song et al. 2021, arXiv:2012.15524, section 3): one of all entries
for the front of a word, one of the entries that continue a word, without their `##`. When the word
leaves the trie at a node, the link of the node names the pieces that are settled, and the node of
the characters that are still pending, so no character is read twice. For the entries ab, abcd and
##c and the word abce: the walk stops below abc; its link settles ab, then the pending c is a path
in the second trie; at e that path settles as ##c, and e begins no piece.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trietok.errors import InputTypeError
from trietok.text.trie import Node, Root
from trietok.text.watched import Watched, state_of
from trietok.typing_compat import Self

_Link = tuple[Node | None, tuple[str, ...]]

BERT_PREFIX = "##"  # marks what continues a word: vocab.txt cannot name another
BERT_LONGEST_WORD = 100  # code points


class WordpieceTokenizer(Watched):
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

    Cost: O(code points of the text), once the nodes and links that it needs are there. The tries
    are made after some words that are no entries: 5 ms for 30,000 entries.
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
        self._tries: list[PieceTries] = []  # at most one; snapshots share it

    def tokenize(self, text: str) -> list[str]:
        """Split every whitespace-separated word of a text into pieces.

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
        """Return the pieces of one word, or one `unk_token`.

        >>> WordpieceTokenizer({"ab": 0, "##c": 1}, "[UNK]").pieces_of("abc")
        ['ab', '##c']
        """
        if len(word) > self.max_input_chars_per_word:
            return [self.unk_token]
        if word in self.vocab:
            return [word]
        return (self.match_word(word) if len(word) > 1 else None) or [self.unk_token]

    def match_word(self, word: str) -> list[str] | None:
        """Return the pieces of one word of any length; None if the entries cannot cover it.

        >>> WordpieceTokenizer({"ab": 0, "abcd": 1, "##c": 2}, "[UNK]").match_word("abc")
        ['ab', '##c']
        """
        tries = self._tries[0] if self._tries else None
        if tries is None or not tries.are_of(self.vocab, self.continuing_subword_prefix):
            tries = PieceTries(self.vocab, self.continuing_subword_prefix)
            self._tries[:] = [tries]
        return tries.match(word)

    def pieces_before_failure(self, word: str) -> list[str]:
        """Return the pieces that match before no entry goes on; all pieces if the word is covered.

        A vocabulary without them might cover the word in another way.

        >>> WordpieceTokenizer({"ab": 0, "a": 1, "##bc": 2}, "[UNK]").pieces_before_failure("abc")
        ['ab']

        Cost: O(code points²).
        """
        return _by_slices(word, self.vocab, self.continuing_subword_prefix)[0]

    def snapshot(self) -> Self:
        """Return a copy of the options as they are now; both share what matches words."""
        other = type(self).__new__(type(self))
        other.__setstate__(state_of(self))
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_tries": []}  # built again when a word needs them


def _by_slices(word: str, vocab: Collection[str], prefix: str) -> tuple[list[str], bool]:
    """Return the pieces of a word up to where no entry goes on, and whether they cover it."""
    pieces: list[str] = []
    start, marked = 0, ""
    while start < len(word):
        ahead = marked + word[start:]
        end = len(ahead)
        while end > len(marked) and ahead[:end] not in vocab:
            end -= 1
        if end <= len(marked):
            return pieces, False
        pieces.append(ahead[:end])
        start += end - len(marked)
        marked = prefix
    return pieces, True


class PieceTries:
    """The two prefix tries over the entries, and the walk through them. They are made once several
    words have been matched without them.

    Args:
        vocab: the entries; the tries are of those that it has now.
        prefix: what marks an entry that continues a word.
    """

    _roots: tuple[Root, Root] | None = None

    def __init__(self, vocab: Mapping[str, Any], prefix: str) -> None:
        self._vocab, self._size, self._prefix = vocab, len(vocab), prefix
        self._slices_left = len(vocab)  # to make the tries takes longer than that

    def _made(self) -> tuple[Root, Root]:
        """The roots of the tries over the entries and over what continues a word."""
        prefix, front = self._prefix, Root(filter(None, self._vocab))
        marked = front.by_first.get(prefix[0], ()) if prefix else self._vocab
        rest = Root(
            entry[len(prefix) :]
            for entry in marked
            if entry.startswith(prefix) and len(entry) > len(prefix)
        )
        # another thread may have made them and be walking through them
        roots: tuple[Root, Root] = self.__dict__.setdefault("_roots", (front, rest))
        return roots

    def are_of(self, vocab: Collection[Any], prefix: str) -> bool:
        """Return whether the tries are those of these entries."""
        return self._vocab is vocab and self._size == len(vocab) and self._prefix == prefix

    def match(self, word: str) -> list[str] | None:
        """Return the pieces of a word; None if the entries cannot cover it."""
        if self._roots is None:
            self._slices_left -= len(word) ** 2
            if self._slices_left > 0:
                pieces, is_covered = _by_slices(word, self._vocab, self._prefix)
                return pieces if is_covered else None
        front, rest = self._roots or self._made()
        pieces = []
        node: Node = front
        for char in word:
            while (child := node[char]) is None:
                target, settled = node.link or self._link(node)
                if target is None:
                    return None
                pieces += settled
                node = target
            node = child
        while node is not rest:  # the word has ended: settle the characters still pending
            target, settled = node.link or self._link(node)
            if target is None:
                return None
            pieces += settled
            node = target
        return pieces

    def _link(self, node: Node) -> _Link:
        """Return where a walk that fails at a node goes on, and the pieces that are settled then;
        (None, ()) if nowhere.
        """
        for step in node.unlinked_path():  # parents first, without recursion
            step.link = self._new_link(step)
        link: _Link = node.link
        return link

    def _new_link(self, node: Node) -> _Link:
        if node.is_word:
            front, rest = self._roots or self._made()
            entry = node.words[node.low]
            first = front[entry[0]]
            is_first = first is not None and node.words is first.words
            return rest, (entry if is_first else self._prefix + entry,)
        if node.parent is None:
            return None, ()  # no entry begins with the character
        target, settled = node.parent.link
        while target is not None:
            child = target[node.char]
            if child is not None:
                return child, settled
            target, more = target.link or self._link(target)
            settled += more
        return None, ()
