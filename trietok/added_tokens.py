"""Added and special tokens: what one is, the set of them, and the split of a text at them.

In: a raw text. Out: its pieces, where a piece that is an added token is kept whole by every later stage.

The split is leftmost-longest over all added tokens. `lstrip` and `rstrip` eat whitespace on their side and
`single_word` asks for a Unicode word boundary on both. What counts as whitespace is what `str.strip` takes off, and a
neighbour that is an added token of whitespace is eaten too, both as in transformers' `PreTrainedTokenizer.tokenize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.char_classes import lower_each
from trietok.errors import InputError, InputTypeError
from trietok.trie import END, Trie, TrieNode


class AddedToken:
    """A token outside the vocabulary's own matching, with the fields and defaults of transformers' `AddedToken`.

    Args:
        content: the text it stands for; not empty.
        single_word: match only where no letter, digit, mark or underscore touches it on either side.
        lstrip: take the whitespace on its left along.
        rstrip: take the whitespace on its right along.
        normalized: match the text as the tokenizer normalizes it (lower-cased, where it lower-cases), not as it came.
            None means `not special`.
        special: skipped by `decode(skip_special_tokens=True)` and listed among the special tokens.

    >>> AddedToken("[SUBJ]", special=True)
    AddedToken("[SUBJ]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True)
    >>> AddedToken("a") == AddedToken("a", lstrip=True), str(AddedToken("a"))
    (False, 'a')

    It cannot be changed; `replace` gives a changed copy. A tokenizer keeps its own copy in any case.

    Raises:
        InputTypeError: `content` is not a string.
        InputError: `content` is empty.
    """

    __slots__ = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    def __init__(
        self,
        content: str,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        if not isinstance(content, str):
            raise InputTypeError(
                f"an added token's content is a string, not {type(content).__name__}: {content!r}", value=content
            )
        if not content:
            raise InputError("an added token's content is empty; give it at least one character")
        state = {
            "content": content,
            "single_word": bool(single_word),
            "lstrip": bool(lstrip),
            "rstrip": bool(rstrip),
            "normalized": not special if normalized is None else bool(normalized),
            "special": bool(special),
        }
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, token: str | AddedToken, **flags: Any) -> AddedToken:
        """`token` itself if it is one, else a new one of that content with these flags.

        Any object that carries the six fields counts as one, such as an `AddedToken` of the tokenizers package.

        Raises:
            InputTypeError: it is neither a string nor such an object.
        """
        if isinstance(token, cls):
            return token
        if isinstance(token, str):
            return cls(token, **flags)
        try:
            return cls(**{name: getattr(token, name) for name in cls.__slots__})
        except AttributeError:
            raise InputTypeError(
                f"a token is a string or an AddedToken, not {type(token).__name__}: {token!r}", value=token
            ) from None

    def replace(self, **changes: Any) -> AddedToken:
        """A copy with some fields changed.

        >>> AddedToken("a").replace(lstrip=True).lstrip
        True
        """
        return AddedToken(**{**self.__getstate__(), **changes})

    def __getstate__(self) -> dict[str, Any]:
        """The six fields, as they stand in tokenizer_config.json."""
        return {
            "content": self.content,
            "single_word": self.single_word,
            "lstrip": self.lstrip,
            "rstrip": self.rstrip,
            "normalized": self.normalized,
            "special": self.special,
        }

    def __reduce__(self) -> Any:
        return _added_token_from_state, (self.__getstate__(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an AddedToken cannot be changed; use token.replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return (
            f'AddedToken("{self.content}", rstrip={self.rstrip}, lstrip={self.lstrip}, '
            f"single_word={self.single_word}, normalized={self.normalized}, special={self.special})"
        )


def _added_token_from_state(state: dict[str, Any]) -> AddedToken:
    return AddedToken(**state)


class AddedTokens:
    """The added tokens of one tokenizer by id, and the split of texts at them.

    Attributes:
        decoder: id → token, in the order of adding.
        encoder: content → id.
        version: a number that changes with every change of the tokens.
    """

    def __init__(self, decoder: Mapping[int, AddedToken] | None = None) -> None:
        self.decoder: dict[int, AddedToken] = {}
        self.encoder: dict[str, int] = {}
        self.version = 0
        self.update(decoder or {})

    def update(self, tokens: Mapping[int, AddedToken]) -> None:
        """Set the tokens of these ids. A content that is known keeps one id: the one given last."""
        for token_id, token in tokens.items():
            before = self.decoder.get(token_id)
            if before is not None and before.content != token.content:
                self.encoder.pop(before.content, None)
            self.decoder[token_id] = token
            self.encoder[token.content] = token_id
        self._derive()

    def _derive(self) -> None:
        """Work out all that follows from `decoder`: the one place where derived state is made."""
        self.version += 1
        self._trie: Trie | None = None
        self._single_words = frozenset(t.content for t in self.decoder.values() if t.single_word)
        self._strips = any(t.lstrip or t.rstrip for t in self.decoder.values())
        self._protection: tuple[tuple[str, ...], Trie] | None = None

    @property
    def trie(self) -> Trie:
        """The trie of all contents, built when first a text is split."""
        if self._trie is None:
            self._trie = Trie(self.encoder)
        return self._trie

    def split(self, text: str) -> list[str]:
        """Cut `text` at the added tokens in it.

        >>> tokens = AddedTokens({5: AddedToken("<a>", rstrip=True), 6: AddedToken("ab", single_word=True)})
        >>> tokens.split("x<a>  y ab abc")
        ['x', '<a>', 'y ', 'ab', ' abc']

        Returns:
            The pieces in order, none empty. Whitespace that `lstrip` or `rstrip` took is gone; else they join to
            `text`.
        """
        trie = self.trie
        spans = trie.find(text)
        if self._single_words:
            spans = [(start, end) for start, end in spans if self._stands_alone(text, start, end)]
        if not spans:
            return [text] if text else []
        pieces = trie.cut_text(text, [offset for span in spans for offset in span])
        if self._strips:
            self._strip_neighbours(pieces)
        return pieces

    def _stands_alone(self, text: str, start: int, end: int) -> bool:
        """Whether a match may stand: not one of a single word that a word character touches."""
        if text[start:end] not in self._single_words:
            return True
        return not (touches_word(text, start - 1) or touches_word(text, end))

    def _strip_neighbours(self, pieces: list[str]) -> None:
        for i, piece in enumerate(pieces):
            token_id = self.encoder.get(piece)
            if token_id is None:
                continue
            token = self.decoder[token_id]
            if token.rstrip and i + 1 < len(pieces):
                pieces[i + 1] = pieces[i + 1].lstrip()
            if token.lstrip and i > 0:
                pieces[i - 1] = pieces[i - 1].rstrip()
        pieces[:] = filter(None, pieces)

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
        if self._protection is None or self._protection[0] != special_tokens:
            others = (token.content for token in self.decoder.values() if not token.special)
            self._protection = special_tokens, _FirstAddedTrie([*special_tokens, *others])
        spans = self._protection[1].find(text)
        if not spans:
            return lowered
        pieces: list[str] = []
        position = 0
        for start, end in spans:
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
