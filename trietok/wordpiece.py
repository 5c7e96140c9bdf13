"""WordPiece: the longest vocabulary entry at the front of a word, then at the front of the rest, and so on.

In: words from the basic tokenizer. Out: pieces, or the unknown token for a word that cannot be covered.

A word that is an entry itself costs one dict lookup. Any other is walked through two prefix tries with failure links
(LinMaxMatch: Song et al. 2021, arXiv:2012.15524, section 3): one trie of all entries for the front of a word, one of
the entries that continue a word, without their `##`. When the word leaves the trie at a node, the node's link names
the pieces that are settled (*failure pops*) and the continuation node that stands for the characters still pending, so
no character is read twice. For the entries ab, abcd and ##c and the word abce: the walk stops below abc; its link pops
ab, then the pending c is a path in the continuation trie; at e that path settles as ##c, and e begins no piece.

The tries are built when first a word needs them and a link when first a word needs it: working out every link of
30,000 entries would cost more than loading the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.bulk import bulk
from trietok.change_guard import Versioned
from trietok.errors import InputTypeError
from trietok.trie import END, TrieNode

_Link = tuple[TrieNode | None, tuple[str, ...]]


class WordpieceTokenizer(Versioned):
    """Greedy longest-match-first WordPiece, with the parameters of transformers' `WordpieceTokenizer`.

    Args:
        vocab: the entries; anything with `in`, iteration and `len`, such as the dict of `load_vocab`. Entries added
            later are seen at the next call.
        unk_token: what a word becomes that the entries cannot cover, or that is too long.
        max_input_chars_per_word: longest word, in code points, that is tried.
        continuing_subword_prefix: what marks an entry that continues a word.

    Attributes:
        version: a number that changes with every change of an attribute.

    >>> vocab = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3}
    >>> WordpieceTokenizer(vocab, unk_token="[UNK]").tokenize("unaffable unaffected")
    ['un', '##aff', '##able', '[UNK]']

    Cost: O(code points of the text), once the links it needs are worked out.
    """

    def __init__(
        self,
        vocab: Mapping[str, Any],
        unk_token: str,
        max_input_chars_per_word: int = 100,
        *,
        continuing_subword_prefix: str = "##",
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self.continuing_subword_prefix = continuing_subword_prefix
        self._tries: _Tries | None = None

    def tokenize(self, text: str) -> list[str]:
        """Split every whitespace-separated word of `text` into pieces.

        Returns:
            The pieces in order; one `unk_token` for each word that has none.
        """
        if not isinstance(text, str):
            raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
        pieces: list[str] = []
        vocab, longest = self.vocab, self.max_input_chars_per_word
        for word in text.split():
            if len(word) > longest:
                pieces.append(self.unk_token)
            elif word in vocab:
                pieces.append(word)
            else:
                pieces.extend(self.match_word(word) or (self.unk_token,))
        return pieces

    def match_word(self, word: str) -> list[str] | None:
        """The pieces of one word by the trie walk, whatever its length; None where the entries cannot cover it.

        >>> WordpieceTokenizer({"ab": 0, "abcd": 1, "##c": 2}, "[UNK]").match_word("abc")
        ['ab', '##c']
        """
        tries = self._tries
        if (
            tries is None
            or tries.vocab is not self.vocab
            or tries.size != len(self.vocab)
            or tries.prefix != self.continuing_subword_prefix
        ):
            tries = self._tries = _Tries(self.vocab, self.continuing_subword_prefix)
        return tries.match(word)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tries": None}  # derived: built again when a word needs it


class _Tries:
    """The two prefix tries over the entries, and the walk through them."""

    def __init__(self, vocab: Mapping[str, Any], prefix: str) -> None:
        self.vocab = vocab
        self.size = len(vocab)
        self.prefix = prefix
        self.front = TrieNode()
        self.rest = TrieNode()
        with bulk():
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
        while node is not self.rest:  # the word is over: settle what is pending
            target, pops = node.link or self._link(node)
            if target is None:
                return None
            pieces += pops
            node = target
        return pieces

    def _link(self, node: TrieNode) -> _Link:
        """Where the walk goes on when it fails at `node`, and the pieces settled on the way; (None, ()) for nowhere."""
        top = node
        unlinked = [node]
        while top.parent is not None and top.parent.link is None:  # parents first: no recursion along a path
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
            return None, ()  # no entry begins with the character at hand
        target, pops = node.parent.link
        while target is not None:
            child = target.get(node.char)
            if child is not None:
                return child, pops
            target, more = target.link or self._link(target)
            pops = pops + more
        return None, ()
