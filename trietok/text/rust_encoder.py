"""What the Rust tokenizers behind `BertTokenizerFast` do with a text, stage by stage and chunk by chunk.

In: a text. Out: its tokens, ids and spans, which are those of the Rust tokenizers. Every character that a stage
produces gets the span of its source; a deleted character's span is lost; reordering by decomposition leaves the spans
in place. A byte-pair encoding that is loaded from a tokenizer.json differs within words only, which it splits by
merges.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from trietok.text import characters as rust_characters
from trietok.text.alignment import UNWATCHED, AlignedText, Located, RejectedMatch, Span, StageName, Watch, places
from trietok.text.basic_tokenizer import LOWER, RUST_MARKS, RUST_PUNCTUATION, RustBasicTokenizer
from trietok.text.bpe import BpeTokenizer
from trietok.text.characters import is_in, normalize
from trietok.text.chunk_encoder import ChunkEncoder
from trietok.text.kernel.chosen import RustClassifier
from trietok.text.memory import STOP, IdTuple
from trietok.text.rust_added_tokens import RustAddedTokens
from trietok.text.stages import Part, Stages, Word
from trietok.text.wordpiece import WordpieceTokenizer


class RustStages(Stages):
    """The stages of a tokenizer of the fast profile at one moment.

    Args:
        basic, wordpiece, vocab, added, special: see `Stages`.
        trims_offsets: whether whitespace at either end of a token's text is taken off its span.
        keeps_one_space: whether a single whitespace character at the beginning of a text stays in the span.
    """

    basic: RustBasicTokenizer
    added: RustAddedTokens
    punctuation = RUST_PUNCTUATION

    def __init__(
        self,
        basic: RustBasicTokenizer,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        added: RustAddedTokens,
        special: tuple[str, ...],
        *,
        trims_offsets: bool = False,
        keeps_one_space: bool = False,
    ) -> None:
        super().__init__(basic, wordpiece, vocab, added, special)
        self.skip: Collection[str] = ()  # contents of added tokens that are treated as text
        self.trims_offsets = trims_offsets
        self.keeps_one_space = keeps_one_space

    def as_text(self) -> RustStages:
        return self._with(skip=self.added.contents_special)

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> RustStages:
        return self._with(skip=special - allowed, wordpiece=self.wordpiece.without(special))

    @property
    def order(self) -> tuple[StageName, ...]:
        basic = self.basic
        stages: list[tuple[StageName, object]] = [("added-tokens", True), ("clean", basic.clean_text)]
        stages += [("chinese", basic.tokenize_chinese_chars), ("accents", basic.strips_accents)]
        stages += [("lower-case", basic.do_lower_case), ("normalized-added-tokens", self.added.normalized.contents)]
        return (*(name for name, is_on in stages if is_on), "punctuation", "wordpiece")

    def to_id(self, piece: str) -> int:
        return self.vocab[piece]

    def parts(self, text: str, watch: Watch = UNWATCHED) -> Iterator[Part]:
        """The parts; an added token is shown as the text that it took, whitespace included."""
        whole, added = AlignedText.of(text), self.added
        rejected: list[RejectedMatch] = []
        parts = added.raw_parts(text, self.skip, rejected)
        watch.cut("added-tokens", whole, rejected)
        for start, end, content in parts:
            watch.part("added-tokens", whole.cut(start, end), content)
            if content is not None:
                yield whole, start, end, added.encoder[content]
                continue
            stretch = _normalized(whole.cut(start, end), self.basic, watch)
            rejected = []
            parts_of_stretch = added.normalized_parts(stretch.text, self.skip, rejected)
            watch.cut("normalized-added-tokens", stretch, rejected)
            for first, last, content in parts_of_stretch:
                watch.part("normalized-added-tokens", stretch.cut(first, last), content)
                yield stretch, first, last, None if content is None else added.encoder[content]

    def specials_in(self, text: str) -> Iterator[str]:
        unknown = self.wordpiece.unk_token
        return (token for token in super().specials_in(text) if token != unknown)

    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        for word, start, end in places(part.text, self.basic.words(part.text)):
            yield part, start, end, self.wordpiece.pieces_of(word)

    def locate(self, text: str, watch: Watch = UNWATCHED) -> Located:
        located = super().locate(text, watch)
        if self.trims_offsets:
            trim_offsets(located, self.keeps_one_space)
        return located

    def spans(self, text: str) -> list[Span]:
        return self.locate(text).spans if self.trims_offsets else super().spans(text)


def _normalized(aligned: AlignedText, basic: RustBasicTokenizer, watch: Watch) -> AlignedText:
    """`RustBasicTokenizer.normalized` with spans."""
    is_clean = aligned.text.isascii() and (aligned.text.isprintable() or not basic.clean_text)
    cleans = not is_clean and (basic.clean_text or basic.tokenize_chinese_chars)
    cleaned = aligned.translated(basic.rust_cleaning_table) if cleans else aligned
    watch.changed("clean", aligned, cleaned)
    strips = not is_clean and basic.strips_accents
    stripped = decomposed(cleaned).translated(RUST_MARKS) if strips else cleaned
    watch.changed("accents", cleaned, stripped)
    if is_clean:
        lowered = aligned.written_as(basic.normalized(aligned.text))
    else:
        lowered = stripped.translated(LOWER) if basic.do_lower_case else stripped
    watch.changed("lower-case", stripped, lowered)
    return composed(lowered) if basic.composes_at_last else lowered


def decomposed(aligned: AlignedText) -> AlignedText:
    """NFD. The characters are put in canonical order, the spans are not: they are assigned from the left.

    A character that is the first of a decomposition, or was not decomposed, takes the next span that is left; a
    character that is a later part of a decomposition takes the span that was assigned last.
    """
    if rust_characters.nfd(aligned.text) == aligned.text:
        return aligned
    ordered = _in_order(aligned.text)
    dealt = -1
    starts, ends = [], []
    for _, takes_next in ordered:
        dealt += takes_next
        starts.append(aligned.starts[max(dealt, 0)])
        ends.append(aligned.ends[max(dealt, 0)])
    return AlignedText("".join([char for char, _ in ordered]), starts, ends)


def composed(aligned: AlignedText) -> AlignedText:
    """NFC. A character that is composed of several takes the next span that is left, and drops one for each other.

    One of its parts that another character brought along, as a later part of its decomposition, had no span to drop.
    """
    text = aligned.text
    if text.isascii() or rust_characters.nfc(text) == text:
        return aligned
    chars: list[str] = []
    taken: list[int] = []  # how many spans each character takes; 0 for that of the character before
    starter: int | None = None
    last_class = 0
    for char, is_first in _in_order(text):
        combining_class = rust_characters.combining_class(char)
        if starter is not None and (len(chars) == starter + 1 or last_class < combining_class):
            joined = rust_characters.nfc(chars[starter] + char)
            if len(joined) == 1:
                chars[starter] = joined
                taken[starter] += is_first
                continue
        if not combining_class:
            starter = len(chars)
        chars.append(char)
        taken.append(int(is_first))
        last_class = combining_class
    dealt = 0
    places = []
    for number in taken:
        places.append(dealt if number else max(dealt - 1, 0))
        dealt += number
    return AlignedText("".join(chars), [aligned.starts[i] for i in places], [aligned.ends[i] for i in places])


def _in_order(text: str) -> list[tuple[str, bool]]:
    """The characters of a text in NFD, each with whether it is the first of the character that it comes from."""
    ordered: list[tuple[str, bool]] = []
    run: list[tuple[str, bool]] = []
    parts_of = {char: _parts_of(char) for char in set(text)}
    for char in text:
        for part, is_first, is_moved in parts_of[char]:
            if is_moved:
                run.append((part, is_first))
                continue
            if run:
                ordered += sorted(run, key=_combining_class)
                run = []
            ordered.append((part, is_first))
    return ordered + sorted(run, key=_combining_class)


def _parts_of(char: str) -> list[tuple[str, bool, bool]]:
    """The decomposition of a character: each part, whether it is the first, and whether it is put in order."""
    parts = normalize("NFD", char) if is_in("decomposed", char) else char
    return [(part, number == 0, is_in("nonstarters", part)) for number, part in enumerate(parts)]


def trim_offsets(located: Located, add_prefix_space: bool) -> None:
    """Take the whitespace, and the `Ġ`, at either end of a token's text off its span, as RobertaProcessing does.

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
    return next((i for i, char in enumerate(text) if not (char == "Ġ" or is_in("split_space", char))), len(text))


def _combining_class(part: tuple[str, bool]) -> int:
    return unicodedata.combining(part[0])


class RustChunkEncoder(ChunkEncoder):
    """`ChunkEncoder` with the Rust tokenizers' rules of added tokens.

    If an added token contains whitespace, ids cannot be cached per chunk: then each stretch between added tokens goes
    through the stages, and the ids of its words are cached.
    """

    _basic: RustBasicTokenizer
    _added: RustAddedTokens
    stages: RustStages
    _classifier_of = RustClassifier

    @staticmethod
    def can_remember(stages: Stages) -> bool:
        return stages.wordpiece.vocab is stages.vocab

    def _tells_unknown(self) -> bool:
        # An added token that is normalized, or takes whitespace along, shows the text that it took.
        return self._added.is_plain and not self._added.normalized.contents and super()._tells_unknown()

    def _can_hand_over(self) -> bool:
        return not self._has_spaces  # such a token may stand in a text that has no spaces before it is normalized

    def _ids_of_outer_chunk(self, chunk: str) -> IdTuple:
        return STOP  # asked only if an added token contains whitespace

    def _ids_of_spaced(self, text: str) -> list[int]:
        return self._ids_around(text)

    def _has_chunked_spans(self, text: str) -> bool:
        added = self._added
        if self._has_spaces or self.stages.trims_offsets:
            return False
        if added.is_plain:
            return True
        # A token with `lstrip` or `rstrip` takes whitespace beyond its chunk.
        return not (added.normalized.contents or added.raw.search.stands_in(text))

    def _ids_around(self, text: str) -> list[int]:
        """The ids of the added tokens in a text, and of the words between."""
        added, normalized = self._added, self._basic.normalized
        ids: list[int] = []
        for start, end, content in added.raw_parts(text):
            if content is not None:
                ids.append(added.encoder[content])
                continue
            stretch = normalized(text[start:end])
            if not added.normalized.contents:
                ids += self._ids_of_normalized(stretch)
                continue
            for first, last, content in added.normalized_parts(stretch):
                if content is not None:
                    ids.append(added.encoder[content])
                else:
                    ids += self._ids_of_normalized(stretch[first:last])
        return ids

    def _ids_of_normalized(self, text: str) -> Iterator[int]:
        return chain.from_iterable(map(self._words.__getitem__, self._basic.words(text)))

    def _stands_in(self, text: str) -> bool:
        added = self._added
        if added.raw.search.stands_in(text):
            return True
        return bool(added.normalized.contents) and added.normalized.search.stands_in(self._basic.normalized(text))


class BpeStages(RustStages):
    """`RustStages` with a `BpeTokenizer` in place of WordPiece."""

    wordpiece: BpeTokenizer  # type: ignore[assignment]

    @property
    def order(self) -> tuple[StageName, ...]:
        return super().order[:-1]  # all but WordPiece

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        """The spans of the tokens; a character that is left out belongs to none."""
        places = self.wordpiece.places_of(word.text[start:end])
        return [word.span(start + first, start + behind) for _, first, behind in places]


class BpeChunkEncoder(RustChunkEncoder):
    """`RustChunkEncoder` for `BpeStages`: the compiled kernel knows WordPiece only, and so do the cached spans."""

    def _can_hand_over(self) -> bool:
        return False

    def _has_chunked_spans(self, text: str) -> bool:
        return False
