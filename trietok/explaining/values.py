"""The parts of an explanation of a token: the cut before it, the match of WordPiece, the added token.

In: what the trace of a text has noted. Out: plain values that never change, which can be written as JSON.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

# The names of the stages, and of what follows them, to read.
TITLES = {
    "lower-case-around-tokens": "lower case, but for added tokens",
    "added-tokens": "added tokens cut out",
    "clean": "cleaned",
    "chinese": "Chinese characters set apart",
    "compose": "composed (NFC)",
    "compatibility": "composed by compatibility (NFKC)",
    "words": "cut into words by the analyzer",
    "whitespace": "split at whitespace",
    "lower-case": "lower case",
    "accents": "accents stripped (NFD)",
    "normalized-added-tokens": "normalized added tokens cut out",
    "punctuation": "punctuation set apart",
    "wordpiece": "WordPiece",
    "characters": "characters",
    "template": "special tokens around",
    "truncation": "truncated",
}
TokenKind = Literal["wordpiece", "unknown", "added", "kept", "special", "padding"]


class Cut(NamedTuple):
    """Why the text is cut before a token.

    Attributes:
        stage: the stage that made the cut; `""` where the text begins.
        why: the rule, in words.
    """

    stage: str
    why: str


class Match(NamedTuple):
    """How WordPiece found a piece.

    Attributes:
        left: what was left of the word, with the prefix of a piece that continues it.
        entries: the entries of the vocabulary that `left` begins with, shortest first; the last one won. Entries that
            are only the prefix do not count.
        reached: how many characters of `left` some entry begins with: no entry goes on with the next one.
        stopped_by: that next character; `""` where the word ended.
    """

    left: str
    entries: tuple[str, ...]
    reached: int
    stopped_by: str


class Unknown(NamedTuple):
    """Why a word is the unknown token.

    Attributes:
        reason: `"too-long"`: it has more characters than WordPiece tries; `"no-piece"`: no entry begins what is left;
            `"not-an-entry"`: it is never split, and is no entry.
        covered: the pieces that cover the front of the word.
        left: what no entry begins, with the prefix of a piece that continues a word.
        start, end: the place in the original of the character at which the cover failed; of the whole word where it is
            too long.
        reached: how many characters of `left` some entry begins with, although none ends there.
        char: the character at which the cover failed, as WordPiece was given it.
    """

    reason: Literal["too-long", "no-piece", "not-an-entry"]
    covered: tuple[str, ...]
    left: str
    start: int
    end: int
    reached: int
    char: str = ""


class AddedMatch(NamedTuple):
    """How an added token was found.

    Attributes:
        content: the added token.
        single_word, lstrip, rstrip, normalized, special: its flags.
        ate_left, ate_right: the whitespace that `lstrip` and `rstrip` took.
        touches: the letters, digits or marks of the original that stand right before and right after it.
    """

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool
    ate_left: str
    ate_right: str
    touches: tuple[str, str]

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the flags that are set."""
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        return tuple(name for name in names if getattr(self, name))


class Found(NamedTuple):
    """An added token that a stage cut out: its content, and where it stands in the original."""

    content: str
    start: int
    end: int


class Rejected(NamedTuple):
    """An added token that stands in the text and is none there, because a word character touches it.

    Attributes:
        content: the added token, which has `single_word`.
        start, end: where it stands in the original.
        touching: the word characters before and after it; `""` where there is none.
    """

    content: str
    start: int
    end: int
    touching: tuple[str, str]


class Token(NamedTuple):
    """A token of a text, or one that stands around texts, and why it is there.

    Attributes:
        token, id: the token and its id.
        kind: `"wordpiece"`, `"unknown"`, `"added"`; `"kept"` for a word that is never split; `"special"` for a token of
            the template; `"padding"`.
        text: 0 or 1, the text it is of; None for a token of the template and for padding.
        position: which token of that text it is, from 0, also where truncation has removed some; None likewise.
        start, end: what it stands for in the original text, half-open, in code points.
        source: those characters.
        type_id: its token type id.
        word: the number of its word in the text; None where it is of no text.
        word_text: the word as WordPiece was given it.
        cut: why the text is cut before it.
        match: for a piece of WordPiece.
        unknown: for the unknown token.
        added: for an added token.
        rejected: the added tokens that stand here and are rejected.
        is_truncated: whether truncation removed it from the first row of ids.
    """

    token: str
    id: int
    kind: TokenKind
    text: int | None = None
    position: int | None = None
    start: int = 0
    end: int = 0
    source: str = ""
    type_id: int = 0
    word: int | None = None
    word_text: str = ""
    cut: Cut | None = None
    match: Match | None = None
    unknown: Unknown | None = None
    added: AddedMatch | None = None
    rejected: tuple[Rejected, ...] = ()
    is_truncated: bool = False

    @property
    def story(self) -> list[str]:
        """Why it is one, in sentences.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").explain("people").tokens[1].story
        ['The whole word “people” is an entry.', 'The text begins here.']
        """
        from trietok.explaining.stories import story  # not needed for the values

        return story(self)
