"""Text to ids, tokens and spans, with the tokens and options of one time: the only evaluator.

A text is cut into added tokens and parts between, a part into words, and a word into pieces. What
is different in the two profiles, the parts of a pipeline say: the added tokens, how they are found;
the basic tokenizer, how a part becomes words. In the slow profile a text is lower-cased around
tokens and cut at all of them. In the fast one it is cut at the tokens that are not normalized, the
parts between are normalized, and then cut at the others.

After the cut at added tokens nothing looks across a space: what a part has between two spaces, a
*chunk*, is encoded by itself. So a dict from chunks to ids makes most of the work, in C, and does
not depend on the added tokens. The stages are written for `str`, and for `AlignedText` where spans
are asked for.

The compiled kernel does the same as `Pipeline`, faster. It asks the pipeline about chunks that it
cannot encode by itself; see `trietok.text.kernel`.
"""

from __future__ import annotations

import array
import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import InputTypeError, VocabularyError
from trietok.text.added_search import AddedPart, AddedTokens, FastAddedTokens
from trietok.text.aligned import (
    UNWATCHED,
    AlignedText,
    AnyText,
    RejectedMatch,
    Span,
    StageName,
    Watch,
    piece_places,
    places,
    spans_along,
    steps_of,
    without_empty,
)
from trietok.text.cache import Cache, CacheInfo
from trietok.text.kernel import choosing
from trietok.text.normalizers import is_left_alone, run
from trietok.text.unicode import TranslationTable, is_in, lower_each
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.text.words import PUNCTUATION, RUST_PUNCTUATION, BasicTokenizer, RustBasicTokenizer

if TYPE_CHECKING:
    from trietok.text.kernel._kernel import Kernel

# a text, the start and end of the word in it, its pieces
Word = tuple[AlignedText, int, int, list[str]]
Ids = tuple[int, ...]

# These characters are words in both profiles, each by itself, and no stage changes them.
FIRST_CHINESE, LAST_CHINESE = "\u4e00", "\u9fef"


@lru_cache(maxsize=1)
def _not_chinese() -> re.Pattern[str]:
    return re.compile(f"([^{FIRST_CHINESE}-{LAST_CHINESE}]+)")


class Located(NamedTuple):
    """The tokens of a text; all lists have one item a token.

    Attributes:
        ids: their ids.
        tokens: what they are shown as.
        spans: what they stand for in the text: half-open, in code points.
        words: the number of the word or added token that each is part of, from 0.
    """

    ids: list[int]
    tokens: list[str]
    spans: list[Span]
    words: list[int]

    @classmethod
    def empty(cls) -> Located:
        """No tokens yet."""
        return cls([], [], [], [])

    def add(self, token_id: int, token: str, span: Span, word: int) -> None:
        """Take one more in."""
        self.ids.append(token_id)
        self.tokens.append(token)
        self.spans.append(span)
        self.words.append(word)

    def next_word(self) -> int:
        """The number that the next word gets."""
        return self.words[-1] + 1 if self.words else 0


class Settings(NamedTuple):
    """What a pipeline does with a text beside its stages.

    Attributes:
        unknown_id: the id of the unknown token, for pieces that have none.
        lowers: whether texts are lower-cased, except for the tokens that are matched as they are
            written.
        whole: words that are left as they are, each as one token.
        trims_offsets: whether whitespace at either end of a token's text is taken off its span.
        keeps_one_space: whether a single whitespace character at the beginning of a text stays in
            the span.
    """

    unknown_id: int | None = None
    lowers: bool = False
    whole: frozenset[str] = frozenset()
    trims_offsets: bool = False
    keeps_one_space: bool = False


class Pipeline:
    """What a text goes through. Apart from its caches it never changes.

    The spans of the fast profile are those of the Rust tokenizers. Those of the slow one, which has
    none, are trietok's own: if a stage turns one character into several, each gets its span;
    characters composed into one (NFC) get the span from the first to the last. The spans of deleted
    characters and of whitespace go to no character.

    Args:
        basic: cuts a text into words; None for a cut at whitespace only.
        wordpiece: cuts words into pieces.
        vocabulary: the vocabulary without the added tokens.
        added: the added tokens.
        special: the special tokens in the order of their roles.
        settings: see `Settings`.
        cache_limit: how many bytes the caches may take.
        live: whether a user has replaced methods of the basic or WordPiece tokenizer, which are
            called then, and whose results are not cached.
        depends_on: everything that the ids of a chunk depend on, and that the arguments do not say.
        earlier: a pipeline whose caches are taken over as far as they are valid.
    """

    _chunks: Cache[Ids]
    _places: Cache[Ids]
    is_local = True  # whether what lies between two spaces is encoded by itself

    def __init__(
        self,
        basic: BasicTokenizer | None,
        wordpiece: WordpieceTokenizer,
        vocabulary: Vocabulary,
        added: AddedTokens,
        special: tuple[str, ...],
        settings: Settings | None = None,
        *,
        cache_limit: int = 0,
        live: bool = False,
        depends_on: object = None,
        earlier: Pipeline | None = None,
    ) -> None:
        self.basic = basic
        self.wordpiece = wordpiece
        self.vocabulary = vocabulary
        self.vocab: Mapping[str, int] = vocabulary.token_to_id
        self.added = added
        self.special = special
        self.settings = settings = settings or Settings()
        self.is_fast = isinstance(basic, RustBasicTokenizer)
        # whether the basic tokenizer cuts a text into words as BERT does
        self.is_berts = basic is not None and basic.is_berts
        # words that basic tokenization leaves as they are
        self.never_split: frozenset[str] = frozenset() if self.is_fast else frozenset(special)
        self._kept = self.never_split.union((basic and basic.never_split) or ())
        self._composes = basic is not None and basic.composes
        self._live = live
        self._set_added(added)
        self._as_text: Pipeline | None = None
        self.caches = (
            not live
            and self.is_local
            and (basic is None or basic.is_local)
            and wordpiece.vocab is self.vocab  # else it may be a dict that a user changes
        )
        is_apart = basic is not None and basic.tokenize_chinese_chars
        self._chinese_apart = is_apart and (self.is_berts or basic is None)
        of_added = (wordpiece.unk_token, *settings.whole)  # pieces that may be added tokens
        self._depends_on = (
            *(type(self), depends_on, settings, self.never_split, self._cuts_normalized),
            {piece: self._ids.get(piece) for piece in of_added},
        )
        self.limit = cache_limit if self.caches else 0
        self._entries = self._entries_of_words(earlier)
        unknown = self.wordpiece.unk_token
        # whether the tokens between added tokens are those of the ids
        self._ids_say_tokens = bool(self._entries) and unknown in self._entries
        self._set_caches(earlier)
        self.kernel: Kernel | None = None
        self.kernel_vocabulary: Any = None  # shared by the kernels of pipelines with these words
        self._text_before_kernel = choosing.text_before_kernel()
        self.may_have_kernel = self.caches and choosing.can_encode(self)
        if earlier is not None and earlier._depends_on == self._depends_on:
            self.kernel_vocabulary = earlier.kernel_vocabulary
            if self.may_have_kernel and earlier.kernel is not None:
                self._text_before_kernel = 0
                if earlier.added is added:
                    self._take_kernel(earlier.kernel)
        if self._text_before_kernel <= 0:
            self.make_kernel()

    def _set_added(self, added: AddedTokens) -> None:
        """Use some added tokens."""
        self.added = added
        # of the added tokens that pieces may be
        self._ids: Mapping[str, int] = {} if self.is_fast else added.encoder
        # whether a text is searched for added tokens once more after it is normalized
        self._cuts_normalized = isinstance(added, FastAddedTokens) and bool(
            added.normalized.contents
        )
        # a role's token that is not added is not lower-cased either
        self._are_roles_added = all(token in added.encoder for token in self.special)

    def _entries_of_words(self, earlier: Pipeline | None) -> Mapping[str, int]:
        """The entries that are the only piece of the word that they are, with their ids."""
        if earlier is not None and earlier._depends_on == self._depends_on:
            return earlier._entries
        if not self.caches:
            return {}
        if self.is_fast:
            return self.vocab
        added = self.added.encoder.flat()
        both = self.vocab.keys() & added.keys()
        if self.settings.whole or any(added[entry] != self.vocab[entry] for entry in both):
            return {}
        return self.vocab

    def _set_caches(self, earlier: Pipeline | None) -> None:
        is_same = (
            earlier is not None
            and earlier.limit == self.limit
            and earlier._depends_on == self._depends_on
        )
        if earlier is not None and is_same and earlier.kernel is None:
            self._chunks, self._places = earlier._chunks, earlier._places
            # a miss asks this pipeline from now on, and says the same
            self._chunks.function = self._ids_of_chunk
            self._places.function = self._places_in_chunk
            return
        of_places = self.limit // 4
        self._chunks, self._places = self._new_caches(self.limit - of_places, of_places)

    def _new_caches(self, of_ids: int, of_places: int) -> tuple[Cache[Ids], Cache[Ids]]:
        """Caches for ids and for spans, with the bytes that each may take."""
        return Cache(self._ids_of_chunk, of_ids), Cache(self._places_in_chunk, of_places)

    def __getstate__(self) -> dict[str, Any]:
        derived = dict.fromkeys(("kernel", "kernel_vocabulary", "_chunks", "_places", "_as_text"))
        return {**self.__dict__, **derived, "may_have_kernel": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_caches(None)

    def as_text(self) -> Pipeline:
        """The pipeline for a text in which special tokens are text: `split_special_tokens`."""
        if self._as_text is None:
            other = copy.copy(self)
            other._written = self.added
            other._set_added(self.added.as_text())
            other._ids = self._ids  # a piece may be one of them all the same
            other.caches = False
            self._as_text = other
        return self._as_text

    _written: AddedTokens | None = None  # the tokens that are matched as written, if not `added`

    @property
    def punctuation(self) -> TranslationTable:
        """What sets punctuation apart."""
        return RUST_PUNCTUATION if self.is_fast else PUNCTUATION

    @property
    def order(self) -> tuple[StageName, ...]:
        """The stages that the options switch on, in the order in which a text goes through them."""
        first: list[StageName] = ["lower-case-around-tokens", "added-tokens"]
        cuts: list[StageName] = ["whitespace"] if self.basic is None else [*self.basic.stages]
        if self._cuts_normalized:
            cuts.insert(len(cuts) - 1, "normalized-added-tokens")
        return (*first[not self.settings.lowers :], *cuts, "wordpiece")

    # ---- the stages ------------------------------------------------------------------------------

    def parts(
        self, text: AnyText, watch: Watch = UNWATCHED
    ) -> Iterator[tuple[AnyText, int, int, int | None]]:
        """The text cut into added tokens, each with its id, and the parts between, each with None.

        A part is given by its place: added tokens that take whitespace may overlap, and all their
        texts together may be much longer than the text. `watch` is told of each part.
        """
        if self.settings.lowers:
            text = self._lowered_around(text, watch)
        added, encoder = self.added, self.added.encoder
        for start, end, content in self._cut("added-tokens", text, added.parts, watch):
            if content is not None or not self._cuts_normalized:
                yield text, start, end, None if content is None else encoder[content]
                continue
            yield from self._parts_of_normalized(self._normalized(text[start:end], watch), watch)

    def _parts_of_normalized(
        self, text: AnyText, watch: Watch = UNWATCHED
    ) -> Iterator[tuple[AnyText, int, int, int | None]]:
        """Cut a normalized text as `parts` does, in the fast profile."""
        cut: Any = self.added.normalized_parts  # type: ignore[attr-defined]
        for start, end, content in self._cut("normalized-added-tokens", text, cut, watch):
            yield text, start, end, None if content is None else self.added.encoder[content]

    def _cut(
        self,
        stage: StageName,
        whole: AnyText,
        cut: Callable[[str, list[RejectedMatch]], list[AddedPart]],
        watch: Watch,
    ) -> list[AddedPart] | Iterator[AddedPart]:
        """The parts of a text that `cut` finds; `watch` is told of them."""
        rejected: list[RejectedMatch] = []
        parts = cut(str(whole), rejected)
        if watch is UNWATCHED or isinstance(whole, str):
            return parts
        watch.cut(stage, whole, rejected)
        return self._told(stage, whole, parts, watch)

    def _told(
        self, stage: StageName, whole: AlignedText, parts: list[AddedPart], watch: Watch
    ) -> Iterator[AddedPart]:
        for part in parts:
            start, end, content = part
            watch.part(stage, whole[start:end], content)
            yield part

    def _lowered_around(self, text: AnyText, watch: Watch) -> AnyText:
        """The text, lower-cased except for the tokens that are matched as they are written."""
        written: Any = self._written or self.added  # of the slow profile
        lowered: str = written.lower_between(str(text), self.special)
        if isinstance(text, str):
            return lowered
        after = _lowered_between(text, lowered)
        watch.changed("lower-case-around-tokens", text, after)
        return after

    def _normalized(self, text: AnyText, watch: Watch = UNWATCHED) -> AnyText:
        """What the fast profile makes of a text before it looks for normalized tokens."""
        if self.basic is None:
            return text
        if isinstance(text, str):
            return self.basic.normalized(text)  # type: ignore[attr-defined, no-any-return]
        return run(self.basic.steps, text, watch)

    def bare(self, text: str) -> str:
        """A text without added tokens as it is where it is cut into words."""
        text = lower_each(text) if self.settings.lowers else text
        return self._normalized(text) if self.is_fast else text

    def words_of(self, part: str) -> list[str]:
        """The words of a part between added tokens."""
        if self.basic is None:
            return part.split()
        if self._cuts_normalized:
            return self.basic.words(part)  # type: ignore[attr-defined, no-any-return]
        if self._live:
            return self.basic.tokenize(part, self.never_split)
        return self.basic.words_of(part, self._kept)

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of a word."""
        return [word] if word in self.settings.whole else self.wordpiece.pieces_of(word)

    def to_id(self, piece: str) -> int:
        """The id of a piece."""
        token_id = self._ids.get(piece)
        if token_id is None:
            token_id = self.vocab.get(piece, self.settings.unknown_id)
            if token_id is None and self.is_fast:
                raise VocabularyError(
                    f"the wordpiece_tokenizer gives {piece!r}, which is no entry of the tokenizer's"
                    " and has no id: add it with add_wordpieces",
                    token=piece,
                )
        return token_id  # type: ignore[return-value]  # None only where the unknown token has no id

    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        """`words_of` with spans and pieces."""
        for word, start, end in self.places_of_words(part, watch):
            yield word, start, end, self.pieces_of(word.text[start:end])

    def places_of_words(
        self, part: AlignedText, watch: Watch
    ) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of a part, as the basic tokenizer makes them: each by its place in a text."""
        basic = self.basic
        if basic is None:
            for _, start, end in places(part.text, part.text.split()):
                watch.split(part, start, end, False)
                yield part, start, end
        elif self._cuts_normalized:
            yield from basic.places_in_normalized(part)  # type: ignore[attr-defined]
        else:
            yield from basic.places(part, self._kept, watch)

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        """The spans of the pieces of a word, which lies from `start` to `end` in a text."""
        found = piece_places(start, end, pieces, self.wordpiece.continuing_subword_prefix)
        return [word.span(*place) for place in found]

    # ---- ids -------------------------------------------------------------------------------------

    def ids(self, text: str) -> list[int]:
        """The ids of a text, without special tokens around."""
        kernel = self._kernel_now((text,))
        return self.ids_in_python(text) if kernel is None else kernel.ids(text)

    def ids_between(self, front: list[int], text: str, back: list[int]) -> list[int]:
        """The ids of a text, between those of two lists."""
        kernel = self._kernel_now((text,))
        if kernel is None:
            return [*front, *self.ids_in_python(text), *back]
        return kernel.ids(text, front, back)

    def ids_in_python(self, text: str) -> list[int]:
        """`ids` without the kernel."""
        require_text(text)
        before, has_added = self._before_chunks(text) if self.caches else (None, True)
        if before is not None and not has_added:
            return [*self._ids_of_part(before)]
        ids: list[int] = []
        parts = self.parts(text) if before is None else self._parts_of_normalized(before)
        for part, start, end, token_id in parts:
            if token_id is not None:
                ids.append(token_id)
            else:
                ids += self._ids_of_part(part[start:end])
        return ids

    def _ids_of_part(self, part: str) -> Iterable[int]:
        """The ids of a part between added tokens."""
        if not self.caches:
            return self._ids_of_chunk(part)
        return chain.from_iterable(map(self._chunks.__getitem__, self._chunks_of(part)))

    def _before_chunks(self, text: str) -> tuple[str | None, bool]:
        """Return a text as it is before it is cut into chunks, and whether normalized added tokens
        may occur in it; or None if other added tokens may occur.
        """
        added: Any = self.added
        if added.may_stand_in(text):
            return None, True
        if self.settings.lowers:
            text = lower_each(text)
            is_free = self._are_roles_added and not added.may_stand_in(text)
            return (text, False) if is_free else (None, True)
        if self._cuts_normalized:
            text = self._normalized(text)
            return text, added.normalized.search.may_stand_in(text)
        return text, False

    def _without_added(self, text: str) -> str | None:
        """Return a text as it is before it is cut into chunks, or None if it may contain an added
        token.
        """
        before, has_added = self._before_chunks(text)
        return None if has_added else before

    def _chunks_of(self, part: str) -> Iterable[str]:
        """The chunks of a part between added tokens."""
        if not self._chinese_apart or part.isascii():
            return part.split(" ")
        if self._cuts_normalized:  # Chinese is apart already
            return filter(None, part.split(" "))
        runs = _not_chinese().split(part)
        if len(runs) == 3 and runs[1] == part:
            return part.split(" ")
        # every other run is Chinese, of which each character is a chunk
        return chain.from_iterable(
            [run.split(" ") if number % 2 else run for number, run in enumerate(runs)]
        )

    def _ids_of_chunk(self, chunk: str) -> Ids:
        """The ids of a part, or a chunk of one, without a cache."""
        return tuple(chain.from_iterable(map(self._ids_of_word, self.words_of(chunk))))

    def _ids_of_word(self, word: str) -> Iterable[int]:
        token_id = self._entries.get(word)
        if token_id is not None and len(word) <= self.wordpiece.max_input_chars_per_word:
            return (token_id,)
        return map(self.to_id, self.pieces_of(word))

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of a text that is given as tokens."""
        return list(map(self.to_id, tokens))

    def ids_of_words(self, words: Sequence[str]) -> list[int]:
        """The ids of words, each of which is a text of its own."""
        return [*chain.from_iterable(map(self.ids, words))]

    def count(self, text: str) -> int:
        """How many ids a text has."""
        return len(self.ids(text))

    def counts(self, texts: list[str], around: int = 0) -> list[int]:
        """How many ids each of several texts has, and `around` more."""
        return [length + around for length in array.array("i", self.flat(texts)[0])]

    def flat(
        self,
        texts: list[str],
        room: int = -1,
        from_left: bool = False,
        front: bytes = b"",
        back: bytes = b"",
    ) -> tuple[bytes | bytearray, bytes | bytearray]:
        """How many ids each text has, and the ids of all in one run, as int32.

        Args:
            texts: the texts.
            room: how many ids of a text are kept; -1 for all.
            from_left: whether those at the beginning go.
            front, back: what stands around each, int32.
        """
        kernel = self._kernel_now(texts)
        if kernel is not None:
            return kernel.flat(texts, choosing.threads_allowed, room, from_left, front, back)
        lengths, ids = array.array("i"), bytearray()
        for row in map(self.ids_in_python, texts):
            if 0 <= room < len(row):
                row = row[len(row) - room :] if from_left else row[:room]
            lengths.append(len(row) + (len(front) + len(back)) // 4)
            ids += b"".join((front, array.array("i", row).tobytes(), back))
        return lengths.tobytes(), ids

    # ---- tokens, spans, words --------------------------------------------------------------------

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text; an added token is shown as the text that it took."""
        require_text(text)
        known: Any = self.vocabulary.tokens
        if self.do_ids_say_tokens(text):
            return [*map(known.__getitem__, self.ids(text))]
        tokens: list[str] = []
        for part, start, end, token_id in self.parts(text):
            if token_id is not None:
                tokens.append(part[start:end])
            elif self._ids_say_tokens:
                tokens += map(known.__getitem__, self._ids_of_part(part[start:end]))
            else:
                words = self.words_of(part[start:end])
                tokens += chain.from_iterable(map(self.pieces_of, words))
        return tokens

    def do_ids_say_tokens(self, text: str) -> bool:
        """Whether the tokens of a text are the entries that have its ids, so that none is an added
        token.
        """
        return self._ids_say_tokens and self._without_added(text) is not None

    def locate(self, text: str, watch: Watch = UNWATCHED) -> Located:
        """The tokens with their ids, spans and words; `watch` is told what each stage does."""
        require_text(text)
        if watch is UNWATCHED and self.is_only_chunks(text):
            located = self._locate_by_chunks(text)
        else:
            located = self._locate_by_stages(text, watch)
        if self.settings.trims_offsets:
            trim_offsets(located, self.settings.keeps_one_space)
        return located

    def is_only_chunks(self, text: str) -> bool:
        """Whether the tokens of a text are those of its chunks, whatever the added tokens are."""
        if not self.caches:
            return False
        if self._without_added(text) is not None:
            return True
        parts = [*self.parts(text)]
        if not parts:
            return True
        part, _, _, token_id = parts[0]
        is_whole = len(parts) == 1 and token_id is None
        if is_whole and self.settings.lowers:
            return part == lower_each(text)
        return is_whole

    def _locate_by_chunks(self, text: str) -> Located:
        """`locate` of a text of which `is_only_chunks` is true."""
        spans, begins = self._spans_and_begins(text)
        numbers = [*accumulate(begins, initial=-1)][1:]
        words = [word for word, span in zip(numbers, spans, strict=True) if span[0] != span[1]]
        return Located(self.ids_in_python(text), self.tokens(text), without_empty(spans), words)

    def _spans_and_begins(self, text: str) -> tuple[list[Span], list[int]]:
        """The spans of such a text, and empty ones; of each 1 if a word begins with it, else 0."""
        places = [*chain.from_iterable(map(self._places.__getitem__, text.split(" ")))]
        begins = places[2::3]
        del places[2::3]
        return spans_along(places), begins

    def _places_in_chunk(self, chunk: str) -> Ids:
        """Three numbers for each token of a chunk, from which those of a text follow by adding up:
        two that are `steps_of` the chunk, and 1 for the first token of a word, 0 for each other.
        """
        words = self.words_in_a_row(chunk)
        spans, numbers = self._places_by_stages(chunk) if words is None else self._in_a_row(words)
        steps = steps_of(spans, len(chunk))
        begins = [*map(sub, numbers, [-1, *numbers])]
        begins += [0] * (len(steps) // 2 - len(begins))  # for an empty span at the end
        return tuple(chain.from_iterable(zip(steps[::2], steps[1::2], begins, strict=True)))

    def _places_by_stages(self, chunk: str) -> tuple[list[Span], list[int]]:
        """The spans of a chunk without added tokens, and of each the number of its word."""
        part = AlignedText.of(chunk)
        if self.settings.lowers:
            part = _lowered_between(part, lower_each(chunk))
        located = Located.empty()
        self._locate_words(self._normalized(part) if self._cuts_normalized else part, located)
        return located.spans, located.words

    def _in_a_row(self, words: list[str]) -> tuple[list[Span], list[int]]:
        """The same of words, of which each begins where the one before ends."""
        spans: list[Span] = []
        numbers: list[int] = []
        prefix, end = self.wordpiece.continuing_subword_prefix, 0
        for number, word in enumerate(words):
            start, end = end, end + len(word)
            places_of_word = piece_places(start, end, self.pieces_of(word), prefix)
            spans += places_of_word
            numbers += [number] * len(places_of_word)
        return spans, numbers

    def words_in_a_row(self, chunk: str) -> list[str] | None:
        """The words of a chunk without added tokens, if each of its characters is one character of
        a word; else None.
        """
        if not self.is_berts:
            return None
        part = lower_each(chunk) if self.settings.lowers else chunk
        if self._cuts_normalized:
            part = self._normalized(part)
        words = self.words_of(part)
        if sum(map(len, words)) != len(chunk):
            return None
        if chunk.isascii():
            return words
        # Beyond it some are deleted or composed, and others become several.
        is_same = "".join(words) in (chunk, lower_each(chunk))
        is_composed = self._composes and not is_left_alone("NFC", part)
        return words if is_same and not is_composed else None

    def _locate_by_stages(
        self, text: str, watch: Watch = UNWATCHED, shows_added: bool = True
    ) -> Located:
        """`locate` by the stages; unless `shows_added`, added tokens are shown as nothing."""
        located = Located.empty()
        for part, first, last, token_id in self.parts(AlignedText.of(text), watch):
            if token_id is not None:
                shown = part.text[first:last] if shows_added else ""
                located.add(token_id, shown, part.span(first, last), located.next_word())
            else:
                self._locate_words(part[first:last], located, watch)
        return located

    def _locate_words(self, part: AlignedText, located: Located, watch: Watch = UNWATCHED) -> None:
        """Add the tokens of a part between added tokens."""
        for word, start, end, pieces in self.words(part, watch):
            watch.word(word, start, end, pieces)
            number = located.next_word()
            spans = self.spans_of(word, start, end, pieces)
            for piece, span in zip(pieces, spans, strict=True):
                located.add(self.to_id(piece), piece, span, number)

    def locate_words(self, words: Sequence[str]) -> Located:
        """The tokens of words, each a text of its own; every token has its word's number."""
        all_words = Located.empty()
        for number, word in enumerate(words):
            ids, tokens, spans, _ = self.locate(word)
            all_words.ids.extend(ids)
            all_words.tokens.extend(tokens)
            all_words.spans.extend(spans)
            all_words.words.extend([number] * len(ids))
        return all_words

    def spans(self, text: str, count: int = -1) -> list[Span]:
        """The span of each token of a text: half-open, in code points.

        Args:
            text: the text.
            count: how many tokens it has, where that is known.
        """
        if self.kernel is not None and choosing.has_spans(self, text):
            spans = self.kernel.spans(text)
            if spans is not None:
                return spans if len(spans) == count else without_empty(spans)
        return self.spans_in_python(text, count)

    def spans_in_python(self, text: str, count: int = -1) -> list[Span]:
        """`spans` without the kernel."""
        require_text(text)
        if self.settings.trims_offsets:
            return self.locate(text).spans
        if self.is_only_chunks(text):
            spans, _ = self._spans_and_begins(text)
            return spans if len(spans) == count else without_empty(spans)
        return self._locate_by_stages(text, shows_added=False).spans

    def words_between(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        """The words between added tokens: each as WordPiece has it, its pieces, its span."""
        for part, first, last, token_id in self.parts(AlignedText.of(text)):
            if token_id is None:
                for word, start, end, pieces in self.words(part[first:last]):
                    yield word.text[start:end], pieces, word.span(start, end)

    def flat_of_buffers(
        self, data: Any, offsets: Any, first: int, count: int, *cut: Any
    ) -> tuple[bytes | bytearray, bytes | bytearray] | None:
        """Return what `flat` returns for texts in UTF-8, one after the other in a buffer.

        Args:
            data: the bytes of the texts.
            offsets: int64, where each text begins and the last one ends.
            first: the index of the offset of the first text.
            count: the number of texts.
            *cut: `room`, `from_left`, `front` and `back` of `flat`.

        Returns:
            None without a kernel, or if the data is not valid UTF-8.
        """
        if self.may_have_kernel and len(data) + count >= choosing.TEXT_AT_ONCE_BEFORE_KERNEL:
            self.make_kernel()
        if self.kernel is None:
            return None
        return self.kernel.flat_between(data, offsets, first, count, choosing.threads_allowed, *cut)

    def chunks(self, text: str) -> list[str]:
        """What lies between spaces of a text, where each chunk has the words by itself that it has
        in the text; else the whole text.
        """
        return text.split(" ") if self.is_only_chunks(text) else [text]

    # ---- the kernel ------------------------------------------------------------------------------

    def expect(self, texts: Collection[str]) -> None:
        """Make the kernel if these texts, which are encoded next, make it worth that."""
        self._kernel_now(texts)

    def _kernel_now(self, texts: Collection[str]) -> Kernel | None:
        """The kernel, made now if these texts with those before are long enough for that."""
        if self.kernel is not None or not self.may_have_kernel:
            return self.kernel
        try:
            self._text_before_kernel -= choosing.weight(texts)
        except TypeError:  # something else than texts, which the stages refuse
            return None
        if self._text_before_kernel <= 0:
            self.make_kernel()
        return self.kernel

    def make_kernel(self) -> None:
        """Make the kernel now, if there is to be one. Other threads that ask wait for it."""
        with choosing.one_at_a_time:
            if self.may_have_kernel and self.kernel is None:
                kernel = choosing.new_kernel(self)
                if kernel is None:
                    self.may_have_kernel = False
                else:
                    self._take_kernel(kernel)

    def _take_kernel(self, kernel: Kernel) -> None:
        """Use a kernel, which remembers most chunks and spans in place of the caches."""
        left = self.limit - choosing.share_of(self.limit)
        self._chunks, self._places = self._new_caches(left // 3, left - left // 3)
        self.kernel = kernel

    # ---- the caches ------------------------------------------------------------------------------

    def info(self, limit: int) -> CacheInfo:
        """What is cached now; `limit` is the most bytes it may take."""
        kernel: dict[str, int] = {} if self.kernel is None else self.kernel.info()
        caches = self._chunks, self._places
        return CacheInfo(
            chunks=len(self._chunks) + kernel.get("chunks", 0),
            words=kernel.get("words", 0),
            bytes=sum(cache.bytes for cache in caches) + kernel.get("bytes", 0),
            limit=limit,
            times_full=sum(cache.times_full for cache in caches) + kernel.get("times_full", 0),
        )

    def forget(self) -> None:
        """Clear the caches."""
        self._chunks.forget()
        self._places.forget()
        self.added.forget()
        if self.kernel is not None:
            self.kernel.forget()


def require_text(text: object) -> None:
    """Raise an InputTypeError for a value that is no str."""
    if not isinstance(text, str):
        raise InputTypeError(
            f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
        )


def _lowered_between(aligned: AlignedText, lowered: str) -> AlignedText:
    """`aligned` with the characters of `lowered`, each of which is as it was, or lower-cased."""
    if len(lowered) == len(aligned.text):
        return aligned.written_as(lowered)
    position = 0

    def change(char: str) -> str:
        nonlocal position
        small = lower_each(char)
        char = small if lowered.startswith(small, position) else char
        position += len(char)
        return char

    return aligned.each(change)


def trim_offsets(located: Located, add_prefix_space: bool) -> None:
    """Take the whitespace, and the `Ġ`, at either end of a token's text off its span, as
    RobertaProcessing does.

    With `add_prefix_space` a single one at the beginning of a text stays in the span.
    """
    for number, (token, (start, end)) in enumerate(zip(located.tokens, located.spans, strict=True)):
        leading = _run_of_blanks(token)
        if leading == 1 and add_prefix_space and (number == 0 or start == 0):
            leading = 0
        trailing = _run_of_blanks(token[::-1])
        start = min(start + leading, end)
        located.spans[number] = start, max(end - trailing, start) if end >= trailing else end


def _run_of_blanks(text: str) -> int:
    return next(
        (i for i, char in enumerate(text) if not (char == "Ġ" or is_in("split_space", char))),
        len(text),
    )
