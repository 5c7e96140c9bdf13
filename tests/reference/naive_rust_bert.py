"""What the Rust tokenizers make of a text for BERT, said plainly: every character carries the span
it came from.

In: a text, or a list of words. Out: pieces of the vocabulary, each with its id, its half-open span
in the original text (code points) and the number of its word. What follows, templates and
truncation, is in `naive_rust_encoding`.

The order of things:

1. Tokens that are not `normalized` are cut out of the raw text.
2. Each stretch between them is normalized by itself: cleaned, Chinese characters set apart,
   decomposed and stripped of marks, lower-cased. Every character that results has the span of the
   one character it came from. One that is inserted (the spaces around a Chinese character, the
   second half of a decomposition) has the span of the character it came with. One that is deleted
   leaves its span to nobody.
3. Tokens that are `normalized` are cut out of the normalized stretches, by their own normalized
   form.
4. What is left is cut at whitespace, and punctuation is set apart. Every word and every added token
   has a number, in order, from 0.
5. Words become pieces of the vocabulary. A token's span goes from the first of its characters to
   the last.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trietok.text.characters import is_in


@dataclass(frozen=True)
class AddedToken:
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


@dataclass(frozen=True)
class Char:
    """A character of the text as it is being normalized, and where in the original it comes
    from.
    """

    char: str
    start: int
    end: int


@dataclass(frozen=True)
class Token:
    token_id: int
    token: str
    span: tuple[int, int]
    word: int


Chars = list[Char]


class RustPanics(Exception):
    """The Rust library stops the process's call here, so there is nothing to be equal to."""


@dataclass
class AddedVocabulary:
    """The added tokens, in the order in which Rust looks for them."""

    ids: dict[str, int] = field(default_factory=dict)
    by_id: dict[int, AddedToken] = field(default_factory=dict)
    special: dict[str, AddedToken] = field(default_factory=dict)  # as each was first added
    others: list[AddedToken] = field(default_factory=list)  # every adding

    def add(self, tokens: Sequence[AddedToken], vocab: Mapping[str, int]) -> None:
        for token in tokens:
            if token.special and token.content:
                self.special.setdefault(token.content, token)
        known = set(self.by_id.values())  # one that this very call replaces stays known
        for token in tokens:
            if not token.content or token in known:
                continue
            known.add(token)
            token_id = self.ids.get(token.content, vocab.get(token.content))
            if token_id is None:
                token_id = max(len(vocab), *(given + 1 for given in self.ids.values()), 0)
            self.ids[token.content] = token_id
            self.by_id[token_id] = token
            if token.content not in self.special:
                self.others.append(token)

    def listed(self, normalized: bool) -> list[AddedToken]:
        """As each was when it was added: this decides only when it is looked for."""
        return [
            token
            for token in [*self.special.values(), *self.others]
            if token.normalized == normalized
        ]


class NaiveRustBert:
    """From texts to tokens, with every option of BertNormalizer and WordPiece."""

    def __init__(
        self,
        vocab: Mapping[str, int],
        *,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        unk_token: str = "[UNK]",
        continuing_subword_prefix: str = "##",
        max_input_chars_per_word: int = 100,
    ) -> None:
        self.vocab = vocab
        self.clean_text = clean_text
        self.handle_chinese_chars = handle_chinese_chars
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.lowercase = lowercase
        self.unk_token = unk_token
        self.prefix = continuing_subword_prefix
        self.longest = max_input_chars_per_word
        self.added = AddedVocabulary()
        self.encode_special_tokens = (
            False  # transformers' split_special_tokens: special tokens in texts are text
        )

    def add_tokens(self, tokens: Sequence[AddedToken]) -> None:
        self.added.add(tokens, self.vocab)

    # ---- the whole way ---------------------------------------------------------------------------

    def encode_text(self, text: str) -> list[Token]:
        tokens = []
        for number, (chars, token_id) in enumerate(self.words(text)):
            if token_id is None:
                tokens += [Token(i, piece, span, number) for i, piece, span in self.pieces(chars)]
            else:  # the token reads as the text that it took, whitespace included
                tokens.append(Token(token_id, written(chars), span_of(chars), number))
        return tokens

    def encode_words(self, words: Sequence[str]) -> list[Token]:
        """A text that is cut already: spans count from each word's beginning, every token has its
        word's number.
        """
        return [
            Token(token.token_id, token.token, token.span, number)
            for number, word in enumerate(words)
            for token in self.encode_text(word)
        ]

    def words(self, text: str) -> Iterator[tuple[Chars, int | None]]:
        raw = [Char(char, i, i + 1) for i, char in enumerate(text)]
        for stretch, token_id in self.cut(raw, normalized=False):
            if token_id is not None:
                yield stretch, token_id
                continue
            for part, part_id in self.cut(self.normalize(stretch), normalized=True):
                if part_id is not None:
                    yield part, part_id
                else:
                    yield from ((word, None) for word in self.pre_tokenize(part))

    # ---- added tokens ----------------------------------------------------------------------------

    def cut(self, chars: Chars, *, normalized: bool) -> list[tuple[Chars, int | None]]:
        """Cut at the tokens of one kind; what is cut out comes with its id. Nothing is empty.

        All matches are found first, then they take their whitespace. So a token of whitespace
        behind one that strips right is there twice: inside the span of that one, and by itself.
        """
        text = written(chars)
        patterns: dict[str, int] = {}
        for token in self.added.listed(normalized):
            pattern = token.content
            if normalized:
                pattern = written(self.normalize([Char(char, 0, 0) for char in pattern]))
            # of equal patterns the first counts
            patterns.setdefault(pattern, self.added.ids[token.content])
        parts: list[tuple[Chars, int | None]] = []
        position = 0
        for start, end, token_id in leftmost_longest(patterns, text):
            token = self.added.by_id[token_id]  # as it was added last
            if self.encode_special_tokens and token.content in self.added.special:
                continue
            if token.single_word and (is_word(text[:start][-1:]) or is_word(text[end:][:1])):
                continue
            if token.lstrip:
                start = max(start - whitespace_at(reversed(text[:start])), position)
            if token.rstrip:
                end += whitespace_at(text[end:])
            if start > end:
                raise RustPanics(
                    "whitespace that one token took ends behind a token of whitespace that strips"
                    " left"
                )
            parts += (chars[position:start], None), (chars[start:end], token_id)
            position = end
        parts.append((chars[position:], None))
        return [(part, token_id) for part, token_id in parts if part]

    # ---- normalization ---------------------------------------------------------------------------

    def normalize(self, chars: Chars) -> Chars:
        if self.clean_text:
            chars = each(chars, clean)
        if self.handle_chinese_chars:
            chars = each(chars, lambda char: f" {char} " if is_in("chinese", char) else char)
        if self.strip_accents:
            chars = each(decompose(chars), lambda char: "" if is_in("marks", char) else char)
        if self.lowercase:
            chars = each(chars, lower)
        return chars

    def pre_tokenize(self, chars: Chars) -> list[Chars]:
        words: list[Chars] = [[]]
        for char in chars:
            if is_in("split_space", char.char):
                words.append([])
            elif is_in("punctuation", char.char):
                words += [char], []
            else:
                words[-1].append(char)
        return [word for word in words if word]

    # ---- pieces ----------------------------------------------------------------------------------

    def pieces(self, word: Chars) -> list[tuple[int, str, tuple[int, int]]]:
        unknown = [(self.vocab[self.unk_token], self.unk_token, span_of(word))]
        if len(word) > self.longest:
            return unknown
        pieces = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = (self.prefix if start else "") + written(word[start:end])
                if piece in self.vocab:
                    break
            else:
                return unknown
            pieces.append((self.vocab[piece], piece, span_of(word[start:end])))
            start = end
        return pieces


# ---- characters ----------------------------------------------------------------------------------


def written(chars: Chars) -> str:
    return "".join(char.char for char in chars)


def span_of(chars: Chars) -> tuple[int, int]:
    return chars[0].start, chars[-1].end


def each(chars: Chars, change: Callable[[str], str]) -> Chars:
    """Change each character by itself; what comes of it has its span."""
    return [Char(new, char.start, char.end) for char in chars for new in change(char.char)]


def clean(char: str) -> str:
    if is_in("deleted", char):
        return ""
    return " " if is_in("space", char) else char


def lower(char: str) -> str:
    from trietok.text.characters import lower_case

    return lower_case().get(ord(char), char)


def decompose(chars: Chars) -> Chars:
    """NFD. The characters are put in order, the spans are not: they are dealt out from the left.

    A character that stands for the first of a decomposition, or for an undecomposed one, takes the
    next span that is left; one that stands for a later part of a decomposition takes the span dealt
    last.
    """
    parts: list[tuple[str, bool]] = []  # the character, and whether it takes the next span
    for char in chars:
        decomposed = (
            unicodedata.normalize("NFD", char.char) if is_in("decomposed", char.char) else char.char
        )
        parts += [(part, i == 0) for i, part in enumerate(decomposed)]
    ordered: list[tuple[str, bool]] = []
    run: list[tuple[str, bool]] = []
    for part in [*parts, ("", True)]:
        if part[0] and is_in("nonstarters", part[0]):
            run.append(part)
        else:
            ordered += [*sorted(run, key=lambda marked: unicodedata.combining(marked[0])), part]
            run = []
    spans = iter(chars)
    result: Chars = []
    current = Char("", 0, 0)
    for part, takes_next in ordered[:-1]:
        current = next(spans) if takes_next else current
        result.append(Char(part, current.start, current.end))
    return result


def is_word(char: str) -> bool:
    return char != "" and is_in("word", char)


def whitespace_at(chars: Iterator[str] | str) -> int:
    """How many whitespace characters are at the beginning."""
    count = 0
    for char in chars:
        if not is_in("split_space", char):
            break
        count += 1
    return count


def leftmost_longest(patterns: Mapping[str, int], text: str) -> Iterator[tuple[int, int, int]]:
    """Where patterns stand: at every place the longest, then on behind it. An empty pattern stands
    nowhere.
    """
    longest = max(map(len, patterns), default=0)
    start = 0
    while start < len(text):
        for end in range(min(len(text), start + longest), start, -1):
            if text[start:end] in patterns:
                yield start, end, patterns[text[start:end]]
                start = end
                break
        else:
            start += 1
