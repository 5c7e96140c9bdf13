"""The added tokens of a tokenizer, and the split of a text at them.

In: a raw text. Out: its pieces, where a piece that is an added token is kept whole by every later stage.

The split is leftmost-longest over all added tokens. `lstrip` and `rstrip` eat whitespace on their side and
`single_word` asks for a Unicode word boundary on both. What counts as whitespace is what `str.strip` takes off, and a
neighbour that is an added token of whitespace is eaten too, both as in transformers' `PreTrainedTokenizer.tokenize`.

A hundred thousand tokens cost a text no more than ten: a few are found by one compiled pattern; of many, a compiled
character class tells that a text holds none, and a trie finds those it holds. Adding or removing one costs that one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

from trietok.text.added_token import AddedToken
from trietok.text.change_guard import Derived, clock, new_version
from trietok.text.characters import lower_each
from trietok.text.prefilter import KeyCharacters
from trietok.text.read_only import ReadOnlyDict
from trietok.text.trie import END, Trie, TrieNode

SHORT = 64  # code points: a text of so many is searched without building the trie
FEW = 32  # tokens: so many are searched by one pattern


class AddedTokens:
    """The added tokens of one tokenizer by id, and the split of texts at them.

    Attributes:
        decoder: id → token, in the order of adding.
        encoder: content → id.
        max_id: the highest id any token has had, -1 before the first: the id of a token taken out is not given again.
        version: a number that no other state of any tokenizer has.
    """

    def __init__(self, decoder: Mapping[int, AddedToken] | None = None) -> None:
        self.decoder: dict[int, AddedToken] = {}
        self.encoder: dict[str, int] = {}
        self.max_id = -1
        self.version = 0
        self._changes: list[tuple[int, frozenset[str]]] = []
        self._derived = Derived()
        self._begin_afresh()
        self.update(decoder or {})

    # ---- changing them ----------------------------------------------------------------------------------------------

    def update(self, tokens: Mapping[int, AddedToken]) -> None:
        """Set the tokens of these ids, in this order. Costs O(their code points)."""
        self._begin_change()
        touched = {token.content for token in tokens.values()}
        replaced = [token_id for token_id in tokens if token_id in self.decoder]
        for token_id in replaced:
            before = self.decoder[token_id]
            if before.content == tokens[token_id].content:
                self._underive(before)  # and keep its place in `encoder`
            else:
                touched.add(self._take_out(token_id, before))
        self.decoder.update(tokens)
        self.encoder.update({token.content: token_id for token_id, token in tokens.items()})
        self.max_id = max(self.max_id, *tokens, -1)
        self._derive(list(tokens.values()))
        if len(self.encoder) != len(self.decoder):  # a content with two ids, as files may have it: keep it findable
            self.encoder = {token.content: token_id for token_id, token in self.decoder.items()}
            self._begin_afresh()
            self._derive(list(self.decoder.values()))
        self._changed(touched)

    def remove(self, token_ids: Iterable[int]) -> None:
        """Take the tokens of these ids out. Costs O(their code points)."""
        self._begin_change()
        touched = {self._take_out(token_id, self.decoder.pop(token_id)) for token_id in token_ids}
        self._changed(touched)

    def _take_out(self, token_id: int, token: AddedToken) -> str:
        """Forget a token's content where it stands for this id; return the content."""
        if self.encoder.get(token.content) == token_id:
            del self.encoder[token.content]
            self._underive(token)
        return token.content

    def _begin_change(self) -> None:
        """Note what there is to be kept up: another thread may make more of it while the tokens change."""
        self._trie: Trie | None = self._derived.there("trie")
        self._written: _WrittenTokens | None = self._derived.there("written")

    def _begin_afresh(self) -> None:
        self._trie = self._written = None
        self._keys = KeyCharacters()
        self._lengths: Counter[int] = Counter()  # of the contents, and how many have each
        self._single_words: set[str] = set()
        self._stripping: set[str] = set()
        self.spaced: set[str] = set()  # tokens that hold whitespace
        self.oddly_spaced: set[str] = set()  # other than single spaces between words
        self._heads: Counter[str] = Counter()  # of the spaced ones: what stands before the first space
        self.words: set[str] = set()  # tokens of ASCII letters and digits

    def reorder(self, token_ids: Iterable[int]) -> None:
        """Put the tokens of these ids, of those that are there, behind the others, in this order."""
        for token_id in token_ids:
            if token_id in self.decoder:
                self.decoder[token_id] = self.decoder.pop(token_id)
        self._derived.begin_another_state(trie=self._derived.there("trie"))

    def _derive(self, tokens: list[AddedToken]) -> None:
        """Take tokens into all that follows from `decoder`: with `_underive` the one place where that is kept up."""
        contents = [token.content for token in tokens]
        self._keys.update(contents)
        self._lengths.update(map(len, contents))
        self.words.update(content for content in contents if content.isalnum() and content.isascii())
        for token in tokens:
            if not token.is_plain:
                if token.single_word:
                    self._single_words.add(token.content)
                if token.lstrip or token.rstrip:
                    self._stripping.add(token.content)
        if "\0".join(contents).split() != ["\0".join(contents)]:  # one look in C; few tokens hold whitespace
            for content in contents:
                words = content.split(" ")
                if content.split() != words:
                    self.spaced.add(content)
                    self.oddly_spaced.add(content)
                elif len(words) > 1 and content not in self.spaced:
                    self.spaced.add(content)
                    self._heads[words[0]] += 1
        if self._trie is not None:
            self._trie.update(contents)
        if self._written is not None:
            self._written.update(token.content for token in tokens if not token.special)

    def _underive(self, token: AddedToken) -> None:
        self._lengths[len(token.content)] -= 1
        if not self._lengths[len(token.content)]:
            del self._lengths[len(token.content)]
        if token.content in self.spaced and token.content not in self.oddly_spaced:
            head = token.content.split(" ")[0]
            self._heads[head] -= 1
            if not self._heads[head]:
                del self._heads[head]
        for kept in (self._single_words, self._stripping, self.spaced, self.oddly_spaced, self.words):
            kept.discard(token.content)
        if self._trie is not None:
            self._trie.discard(token.content)
        self._written = None  # the key characters stay: one too many only costs a look

    def _changed(self, touched: set[str]) -> None:
        """Begin a new state, and note what differs from the one before."""
        self._changes = [*self._changes[-15:], (self.version, frozenset(touched))]
        self._derived.begin_another_state(trie=self._trie, written=self._written)
        self.version = new_version()
        clock.tick()

    def __getstate__(self) -> dict[str, object]:
        return {"decoder": self.decoder, "max_id": self.max_id}  # all else follows

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["decoder"])  # type: ignore[misc]
        self.max_id = state["max_id"]

    def forget_changes(self) -> None:
        """Let `touched_since` know nothing: more is about to change than which tokens stand in texts."""
        self._changes = []
        self.version = new_version()
        clock.tick()

    def touched_since(self, version: int) -> set[str] | None:
        """The contents that have come, gone or changed since a state; None where too much has happened to say."""
        touched: set[str] = set()
        for before, contents in reversed(self._changes):
            touched |= contents
            if len(touched) > 100:
                return None
            if before == version:
                return touched
        return None

    # ---- looking at them --------------------------------------------------------------------------------------------

    @property
    def by_id(self) -> Mapping[int, AddedToken]:
        """id → token in the order of the ids; read-only, and the same object until the tokens change."""
        return self._derived.get("by id", lambda: ReadOnlyDict(sorted(self.decoder.items())))

    @property
    def ids_by_content(self) -> Mapping[str, int]:
        """content → id in the order of the ids; read-only, and the same object until the tokens change."""
        return self._derived.get(
            "by content", lambda: ReadOnlyDict({token.content: i for i, token in self.by_id.items()})
        )

    @property
    def trie(self) -> Trie:
        """The trie of all contents."""
        return self._derived.get("trie", lambda: Trie(self.encoder))

    def without(self, contents: Set[str]) -> AddedTokens:
        """These tokens but for some; made once for a state and remembered for the contents asked for last."""
        out = frozenset(contents & self.encoder.keys())
        if not out:
            return self
        without: dict[frozenset[str], AddedTokens] = self._derived.get("without", dict)
        there = without.get(out)
        if there is None:
            rest = {token_id: token for token_id, token in self.decoder.items() if token.content not in out}
            there = AddedTokens(rest)
            without.clear()
            without[out] = there
        return there

    @property
    def is_plain(self) -> bool:
        """Whether a match always stands, and takes no whitespace along."""
        return not (self._single_words or self._stripping)

    # ---- the split --------------------------------------------------------------------------------------------------

    def may_begin_at_the_end_of(self, chunk: str) -> bool:
        """Whether a chunk between spaces ends as a token with spaces begins, so that it may go on in the next one."""
        lengths = self._derived.get("lengths of heads", lambda: set(map(len, self._heads)))
        return any(chunk[-length:] in self._heads for length in lengths)

    def stands_in(self, text: str) -> bool:
        """Whether any token stands in `text`, be it one that would be rejected there."""
        if len(self.encoder) <= FEW:
            return self._pattern().search(text) is not None
        return bool(self.find(text))

    def _pattern(self) -> re.Pattern[str]:
        """Any of the tokens, the longest first."""

        def compiled() -> re.Pattern[str]:
            longest_first = sorted(self.encoder, key=len, reverse=True)
            return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

        return self._derived.get("pattern", compiled)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where tokens stand in `text`, leftmost-longest."""
        if len(self.encoder) <= FEW:
            return [match.span() for match in self._pattern().finditer(text)]
        if not self._keys.any_in(text):
            return []
        if len(text) <= SHORT and self._derived.there("trie") is None:
            return self._find_by_length(text)
        return self.trie.find(text)

    def _find_by_length(self, text: str) -> list[tuple[int, int]]:
        """`find` for a few characters, without the trie: look every stretch of a token's length up."""
        longest_first = self._derived.get("longest first", lambda: sorted(self._lengths, reverse=True))
        spans: list[tuple[int, int]] = []
        start = 0
        while start < len(text):
            for length in longest_first:
                end = min(start + length, len(text))
                if text[start:end] in self.encoder:
                    spans.append((start, end))
                    start = end
                    break
            else:
                start += 1
        return spans

    def split(self, text: str) -> list[str]:
        """Cut `text` at the added tokens in it.

        >>> tokens = AddedTokens({5: AddedToken("<a>", rstrip=True), 6: AddedToken("ab", single_word=True)})
        >>> tokens.split("x<a>  y ab abc")
        ['x', '<a>', 'y ', 'ab', ' abc']

        Returns:
            The pieces in order, none empty. Whitespace that `lstrip` or `rstrip` took is gone; else they join to
            `text`.
        """
        return [piece for piece, _ in self.pieces(text)]

    def pieces(self, text: str) -> list[tuple[str, bool]]:
        """The pieces of `split`, each with whether it is a token. A rejected single word is none, even by itself."""
        return [(text[start:end], is_token) for start, end, is_token in self.places(text)]

    def places(self, text: str) -> list[tuple[int, int, bool]]:
        """Where the pieces are: half-open in code points, and whether each is a token."""
        spans = self.find(text)
        if self._single_words:
            spans = [(start, end) for start, end in spans if self._stands_alone(text, start, end)]
        marked: list[tuple[int, int, bool]] = []
        position = 0
        for start, end in spans:
            if start > position:
                marked.append((position, start, False))
            marked.append((start, end, True))
            position = end
        if position < len(text):
            marked.append((position, len(text), False))
        return self._stripped(text, marked) if self._stripping else marked

    def _stands_alone(self, text: str, start: int, end: int) -> bool:
        """Whether a match may stand: not one of a single word that a word character touches."""
        if text[start:end] not in self._single_words:
            return True
        return not (touches_word(text, start - 1) or touches_word(text, end))

    def _stripped(self, text: str, marked: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
        """The pieces without the whitespace that their neighbours take along.

        What is left of a piece can be a token itself, and counts as one then, as in transformers.
        """
        pieces = [text[start:end] for start, end, _ in marked]
        starts = [start for start, _, _ in marked]

        def is_token(i: int) -> bool:
            start, end, was_token = marked[i]
            if len(pieces[i]) == end - start:
                return was_token
            return pieces[i] in self.encoder and pieces[i] not in self._single_words

        for i in range(len(pieces)):
            if pieces[i] not in self._stripping or not is_token(i):
                continue
            token = self.decoder[self.encoder[pieces[i]]]
            if token.rstrip and i + 1 < len(pieces):
                left = pieces[i + 1].lstrip()
                starts[i + 1] += len(pieces[i + 1]) - len(left)
                pieces[i + 1] = left
            if token.lstrip and i > 0:
                pieces[i - 1] = pieces[i - 1].rstrip()
        return [(starts[i], starts[i] + len(piece), is_token(i)) for i, piece in enumerate(pieces) if piece]

    def lower_between(self, text: str, special_tokens: tuple[str, ...]) -> str:
        """Lower-case `text` except where a token stands that must be matched as it is written.

        Those are the special tokens, then the other added tokens in the order of adding; where several begin at one
        character the first of that list wins, not the longest. So it is in transformers, whose pattern is an
        alternation in this order.

        >>> AddedTokens().lower_between("[CLS] Hello", ("[CLS]",))
        '[CLS] hello'
        """
        lowered = lower_each(text)
        if lowered == text:
            return text
        written: _WrittenTokens | None = self._derived.there("written")
        if written is None or written.special_tokens != special_tokens:
            self._derived.drop("written")
            others = (token.content for token in self.decoder.values() if not token.special)
            written = self._derived.get("written", lambda: _WrittenTokens(special_tokens, others))
        return written.lower_between(text, lowered)


class _WrittenTokens:
    """The tokens that are matched as they are written: what stays as it is where a text is lower-cased."""

    def __init__(self, special_tokens: tuple[str, ...], others: Iterable[str]) -> None:
        self.special_tokens = special_tokens
        self._contents: list[str] = []
        self._keys = KeyCharacters()  # of those that lower-casing would change: without one of them, all is lower-cased
        self._trie: tuple[int, Trie] | None = None  # and of how many contents
        self.update((*special_tokens, *others))

    def update(self, contents: Iterable[str]) -> None:
        contents = list(contents)
        trie = self._trie
        before = len(self._contents)
        self._contents += contents
        self._keys.update(content for content in contents if lower_each(content) != content)
        if trie is not None and trie[0] == before:
            trie[1].update(contents)
            self._trie = len(self._contents), trie[1]

    def lower_between(self, text: str, lowered: str) -> str:
        if not self._keys.any_in(text):
            return lowered
        count = len(self._contents)
        kept = self._trie
        if kept is None or kept[0] != count:
            kept = self._trie = count, _FirstAddedTrie(self._contents[:count])
        pieces: list[str] = []
        position = 0
        for start, end in kept[1].find(text):
            pieces += lower_each(text[position:start]), text[start:end]
            position = end
        return "".join((*pieces, lower_each(text[position:])))


class _FirstAddedTrie(Trie):
    """A trie in which, of the words that begin at one character, the one added first wins, not the longest."""

    def _end_mark(self, word: str) -> int:
        return len(self._tokens)  # the word's rank: it has just been taken in

    def _settles(self, node: TrieNode) -> bool:
        rank = node.get(END)
        if rank is None:
            return False
        above = node.parent
        while above is not None:
            if above.get(END, rank) < rank:
                return False
            above = above.parent
        return True


def touches_word(text: str, position: int) -> bool:
    r"""Whether the character at `position` is one that words are made of; False outside the text.

    Word characters are those of `\w` in Unicode Technical Standard 18, annex C, which the Rust tokenizers use:
    alphabetic, marks, decimal digits, connector punctuation, joiners.

    >>> touches_word("a-b", 0), touches_word("a-b", 1), touches_word("a-b", 3)
    (True, False, False)
    """
    if not 0 <= position < len(text):
        return False
    import regex  # 20 ms: only where a single-word token asks

    return regex.match(r"\w", text[position]) is not None
