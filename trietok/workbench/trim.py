"""`trim`: a smaller tokenizer for some texts, with exactly the tokens that the texts have now.

In: a tokenizer, texts. Out: a tokenizer with the entries that the texts need, the map of ids, the
plan of rows, and a certificate that says what was proved.

Why the texts keep their tokens: the entries that are left are some of those there were. WordPiece
takes the longest entry at each place of a word; if that entry is left, it is still the longest. So
a word keeps its pieces if all of them are left, and a word that no entries cover stays unknown if
the pieces matched before the place where nothing matches are left. Without those a shorter piece
might be taken there, and the rest of the word might go on from it: for the entries ab, a and ##bc
the word abc is unknown, and for a and ##bc alone it is not.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError, UnknownTokenError, VocabularyError
from trietok.showing.characters import first_few, number_of, visible
from trietok.showing.report import Report
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.training.word_counts import require_texts, require_whole
from trietok.workbench.adapting.add_terms import batches, ids_of_texts, unknown_id_of
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.comparing.compare import compare
from trietok.workbench.read_again import checked, read_again

_MOST_REMEMBERED, _LONGEST_KEY = 100_000, 100  # chunks, and their characters
_NO_ID = -1  # in place of an id that is gone
_MOST_UNKNOWN = 20  # words that are named


class TextCounts(NamedTuple):
    """Some texts, encoded with a tokenizer before and after, without [CLS], [SEP] and the like.

    Attributes:
        texts: how many there are.
        tokens: how many tokens they have before.
        differing: how many of the texts have other ids afterwards than the map of ids says.
        tokens_changed: how many tokens of before are not among those of the same text afterwards.
        unknown_before, unknown_after: how many tokens are the unknown token.
        unknown_words: words that have become unknown → how often they stand there, the 20 most
            frequent ones.
    """

    texts: int
    tokens: int
    differing: int
    tokens_changed: int
    unknown_before: int
    unknown_after: int
    unknown_words: dict[str, int]

    def __str__(self) -> str:
        read = f"{number_of(self.texts, 'text')}, {number_of(self.tokens, 'token')}"
        if not self.differing:
            return f"{read}: 0 texts differ"
        words = first_few(
            [f"{visible(word)} ({count:,})" for word, count in self.unknown_words.items()]
        )
        return (
            f"{read}: {number_of(self.differing, 'text')}"
            f" differ{'s' if self.differing == 1 else ''} in"
            f" {number_of(self.tokens_changed, 'token')}; unknown tokens: {self.unknown_before:,}"
            f" before, {self.unknown_after:,} after{words and f': {words}'}"
        )


@dataclass(frozen=True)
class Certificate(Report):
    """What was trimmed, and the proof that the texts have the same tokens. `str` makes it readable.

    Attributes:
        before, after: the fingerprints.
        tokens_before, tokens_after: how many different tokens there are: `len(tokenizer)`.
        rows_before, rows_after: how many rows a model needs: `max_id + 1`.
        texts: the texts that were trimmed to.
        held_back: the texts of `check_texts`; None without them.
        proof: what became of the ids, in one sentence; see `Comparison.proof`.
    """

    before: str
    after: str
    tokens_before: int
    tokens_after: int
    rows_before: int
    rows_after: int
    texts: TextCounts
    held_back: TextCounts | None
    proof: str

    def lines(self) -> list[str]:
        """What it says, without the proof."""
        share = self.tokens_after / self.tokens_before
        lines = [
            f"{self.tokens_before:,} tokens become {self.tokens_after:,} ({share:.1%})",
            str(self.texts),
        ]
        return lines if self.held_back is None else [*lines, f"held back: {self.held_back}"]

    def _parts(self) -> list[str]:
        return [*self.lines(), self.proof]


def certify(
    before: BertTokenizer,
    after: BertTokenizer,
    new_ids: Mapping[int, int],
    texts: Iterable[str],
    held_back: Iterable[str] | None,
) -> Certificate:
    """Encode all texts with both tokenizers and say how many differ once ids are mapped.

    Cost: O(tokens of both), and encoding each text twice.
    """
    comparison = compare(before, after, ())
    return Certificate(
        *comparison.fingerprints,
        tokens_before=len(before),
        tokens_after=len(after),
        rows_before=before.max_id + 1,
        rows_after=after.max_id + 1,
        texts=_counted(before, after, new_ids, texts),
        held_back=(
            None if held_back is None else _counted(before, after, new_ids, checked(held_back))
        ),
        proof=comparison.proof,
    )


def _counted(
    before: BertTokenizer, after: BertTokenizer, new_ids: Mapping[int, int], texts: Iterable[str]
) -> TextCounts:
    # the slow profile may give a piece without an id
    of_id: dict[Any, int | None] = {
        None: None,
        **new_ids,
    }
    unknown: list[Any] = [unknown_id_of(tokenizer) for tokenizer in (before, after)]
    number = tokens = differing = changed = unknown_before = unknown_after = 0
    encoder, unk_token = after.snapshot().call_pipeline, after.unk_token
    unknown_now: Counter[str] = Counter()  # the words of texts that have become more unknown
    for batch in batches(texts):
        number += len(batch)
        for text, old, new in zip(
            batch, ids_of_texts(before, batch), ids_of_texts(after, batch), strict=True
        ):
            tokens += len(old)
            unknown_before += (times := old.count(unknown[0]))
            unknown_after += (times_now := new.count(unknown[1]))
            expected = list(map(of_id.get, old, repeat(_NO_ID)))
            if expected != new:
                differing += 1
                changed += (Counter(expected) - Counter(new)).total()
                if times_now > times:
                    unknown_now.update(
                        word
                        for word, pieces, _ in encoder.words_between(text)
                        if word != unk_token and unknown[1] in encoder.ids_of_tokens(pieces)
                    )
    words = (
        (word, count)
        for word, count in unknown_now.most_common()
        if unknown[0] not in ids_of_texts(before, [word])[0]
    )
    unknown_words = dict(islice(words, _MOST_UNKNOWN))
    return TextCounts(
        number, tokens, differing, changed, unknown_before, unknown_after, unknown_words
    )


@dataclass(frozen=True)
class Trimmed(Report):
    """What `trim` made. `str` says what was proved, and so do `to_dict` and `to_json`.

    Attributes:
        tokenizer: the smaller tokenizer.
        ids: old id → new id of every token that is left.
        plan: which row of a model goes where.
        certificate: what was proved.
    """

    tokenizer: Any
    ids: dict[int, int]
    plan: RowPlan
    certificate: Certificate

    def to_dict(self) -> dict[str, Any]:
        """The certificate as JSON has it."""
        return self.certificate.to_dict()

    def _parts(self) -> list[str]:
        return str(self.certificate).split("\n")


def trim(
    tokenizer: BertTokenizer,
    texts: Iterable[str],
    *,
    keep: Iterable[str] = (),
    keep_prefixes: Iterable[str] = (),
    unused: int | str = 0,
    characters: bool = False,
    min_frequency: int = 1,
    check_texts: Iterable[str] | None = None,
) -> Trimmed:
    """Make a smaller tokenizer that keeps what some texts need; their tokens stay exactly the same.

    It keeps the entries that the texts give, the entries that unknown words need in order to stay
    unknown, all added tokens and all tokens with a role or a place in the template, and what the
    other arguments name. The ids that are left close up in their order; of a token on two lines the
    one that encodes is kept. Each text is encoded again with both tokenizers, and the result says
    how many differ.

    Args:
        tokenizer: a `BertTokenizer` or `BertTokenizerFast`, or one of their relatives; it stays as
            it is.
        texts: the texts; read twice. An iterator is kept in a temporary file for that.
        keep: tokens to keep in any case.
        keep_prefixes: keep every entry that begins with one of these.
        unused: how many free slots such as `[unused1]` to keep, the lowest ids first; `"all"` keeps
            all.
        characters: keep every entry that is a single character, at the front of a word or inside,
            so that few words of other texts become unknown.
        min_frequency: drop entries that the texts give fewer times. Above 1 the texts may change,
            and the certificate says how many do.
        check_texts: other texts, read once: the certificate says how many of them change.

    Raises:
        InputTypeError: the tokenizer is no such tokenizer, or cuts texts in a way of its own;
            `texts`, or another argument, is one string.
        InputError: there is no token in the texts; a number is out of range; no entry begins with a
            prefix.
        UnknownTokenError: a token to keep is not there.
        VocabularyError: a text differs though `min_frequency` is 1: the texts, or the tokenizer,
            have changed in between, or it is one that no copy and no file keeps as it is.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> trimmed = trim(
    ...     tokenizer,
    ...     ["The people say so.", "So say the people!"],
    ...     keep=["king"],
    ...     check_texts=["A king."],
    ... )
    >>> print(trimmed.certificate)
    8,000 tokens become 12 (0.1%)
    2 texts, 10 tokens: 0 texts differ
    held back: 1 text, 3 tokens: 1 text differs in 1 token; unknown tokens: 0 before, 1 after: a (1)
    5 ids unchanged, 7 moved, 7,988 lost, 0 new; fingerprint trietok-1:3bbfc06f → trietok-1:85ecf435
    >>> trimmed.tokenizer.tokenize("The king, say the people")
    ['the', 'king', '[UNK]', 'say', 'the', 'people']
    >>> print(trimmed.plan)
    12 of 8,000 rows kept (7 moved), 7,988 lost, 0 new

    Cost: O(code points of the texts), O(tokens) in memory.
    """
    require_whole("min_frequency", min_frequency, 1)
    if unused != "all" and (type(unused) is not int or unused < 0):
        raise InputError(f"unused is {unused!r}; it is a whole number from 0, or 'all'")
    require_plain(tokenizer)
    texts = require_texts(texts, "texts", "text")
    if check_texts is not None:
        check_texts = require_texts(check_texts, "check_texts", "text")
    asked = _asked_for(tokenizer, keep, keep_prefixes, unused, characters)
    used = _Used(tokenizer)
    with read_again(texts) as read:
        used.count(read)
        if not used.counts:
            raise InputError(
                f"there is no token in the {used.texts:,} texts; give texts that hold words"
            )
        used_ids = (
            i for i, count in used.counts.items() if i is not None and count >= min_frequency
        )
        trimmed = copy.deepcopy(tokenizer)
        trimmed.config_rows = None  # that of the model as it is
        kept = {*used_ids, *asked, *_fixed(tokenizer)}
        # Of a token on several lines the one that encodes it is kept too: it must not become
        # another.
        lines = tokenizer.vocabulary.tokens
        tokens = (lines[token_id] for token_id in kept if token_id < len(lines))
        new_ids = trimmed.keep_only(
            kept | {tokenizer.vocab[token] for token in tokens if token is not None}
        )
        certificate = certify(tokenizer, trimmed, new_ids, read, check_texts)
    counts = certificate.texts
    if (counts.texts, counts.tokens) != (used.texts, used.tokens) or (
        min_frequency == 1 and counts.differing
    ):
        raise VocabularyError(
            f"{counts.differing:,} of {counts.texts:,} texts differ, and {used.texts:,} were read"
            " at first: the texts, or the tokenizer, have changed between the two readings, or a"
            " token was added twice with different flags, which no copy keeps; give texts that"
            " stay the same, and save and load the tokenizer before"
        )
    plan = RowPlan(
        certificate.before, certificate.after, certificate.rows_before, len(new_ids), list(new_ids)
    )
    return Trimmed(trimmed, new_ids, plan, certificate)


def require_plain(tokenizer: object) -> None:
    """Raise `InputTypeError` unless the stages of a tokenizer are trietok's own, in either
    profile.
    """
    bert = require_wordpiece(tokenizer, "this")
    wordpiece = bert.wordpiece_tokenizer
    has_other_entries = wordpiece.vocab is not bert.vocab and wordpiece.vocab != bert.vocab
    if bert.snapshot().has_own_code or has_other_entries:
        raise InputTypeError(
            f"{type(tokenizer).__name__} has methods, or a stage, of its own, so which entries its"
            " texts need cannot be told; this takes a tokenizer that cuts texts as BertTokenizer"
            " does",
            value=tokenizer,
        )


# ---- what the texts need -------------------------------------------------------------------------


class _Used:
    """How often texts give each id, or need it so that an unknown word stays unknown."""

    def __init__(self, tokenizer: BertTokenizer) -> None:
        # None: a piece without an id, as the unknown token has none
        self.counts: Counter[int | None] = Counter()
        self.texts = self.tokens = 0
        self._tokenizer = tokenizer
        self._encoder = tokenizer.snapshot().call_pipeline
        self._wordpiece = tokenizer.wordpiece_tokenizer
        self._unknown_id = unknown_id_of(tokenizer)
        self._chunks: dict[str, list[str]] = {}  # chunk → entries that its unknown words need

    def count(self, texts: Iterable[str]) -> None:
        for batch in batches(texts):
            rows = ids_of_texts(self._tokenizer, batch)
            self.texts += len(batch)
            for text, ids in zip(batch, rows, strict=True):
                self.tokens += len(ids)
                self.counts.update(ids)
                if self._unknown_id in ids:
                    self.counts.update(
                        map(self._tokenizer.vocab.__getitem__, self._entries_of_unknown(text))
                    )

    def _entries_of_unknown(self, text: str) -> Iterator[str]:
        for chunk in self._encoder.chunks(text):
            found = self._chunks.get(chunk)
            if found is None:
                found = (
                    []
                    if self._unknown_id not in self._encoder.ids(chunk)
                    else self._look_into(chunk)
                )
                if len(chunk) <= _LONGEST_KEY:
                    if len(self._chunks) >= _MOST_REMEMBERED:
                        self._chunks.clear()
                    self._chunks[chunk] = found
            yield from found

    def _look_into(self, chunk: str) -> list[str]:
        wordpiece = self._wordpiece
        found: list[str] = []
        for word, pieces, _ in self._encoder.words_between(chunk):
            if pieces == [wordpiece.unk_token] and len(word) <= wordpiece.max_input_chars_per_word:
                found += wordpiece.pieces_before_failure(word)
        return found


# ---- what is kept whatever the texts are ---------------------------------------------------------


def _fixed(tokenizer: BertTokenizer) -> Iterator[int]:
    """The ids of added tokens, of roles, of the template."""
    known, added = tokenizer.get_vocab(), tokenizer.added_tokens_decoder
    yield from added
    tokens = (
        *map(str, added.values()),
        *tokenizer.all_special_tokens,
        tokenizer.wordpiece_tokenizer.unk_token,
    )
    ids = [each.get(token) for token in tokens for each in (known, tokenizer.vocab)]
    ids += [piece.token_id for pair in (False, True) for piece in tokenizer.snapshot().pieces(pair)]
    yield from (token_id for token_id in ids if token_id is not None)
    processor = getattr(tokenizer, "post_processor", None)
    if processor is not None:
        yield from (token_id for _, _, token_id in processor.special_ids())


def _asked_for(
    tokenizer: BertTokenizer,
    keep: Iterable[str],
    prefixes: Iterable[str],
    unused: int | str,
    characters: bool,
) -> set[int]:
    """The ids of what the user wants to keep."""
    for name, value in (("keep", keep), ("keep_prefixes", prefixes)):
        if isinstance(value, (str, bytes)):
            raise InputTypeError(
                f"{name} is a list of str, not one: pass [{value!r:.60}]", value=value
            )
    known, entries = tokenizer.get_vocab(), tokenizer.vocab
    keep, prefixes = list(keep), list(prefixes)
    missing = [token for token in keep if token not in known]
    if missing:
        named = first_few([f"{token!r:.60}" for token in missing])
        raise UnknownTokenError(
            f"these tokens to keep are not in the vocabulary: {named}", item=missing[0]
        )
    asked = {known[token] for token in keep}
    for prefix in prefixes:
        if not isinstance(prefix, str) or not prefix:
            raise InputError(
                f"a prefix to keep is a str of at least one character, not {prefix!r:.60}"
            )
        found = tokenizer.vocabulary.tokens_with_prefix(prefix)
        if not found:
            raise InputError(f"no entry of the vocabulary begins with {prefix!r:.60}")
        asked.update(map(entries.__getitem__, found))
    if characters:
        marked = tokenizer.wordpiece_tokenizer.continuing_subword_prefix
        asked.update(
            i
            for entry, i in entries.items()
            if len(entry) == 1 or len(entry.removeprefix(marked)) == 1
        )
    free = [entries[slot] for slot in tokenizer.unused_slots()]
    number = len(free) if isinstance(unused, str) else unused
    if number > len(free):
        raise InputError(
            f"unused is {number:,}, and the vocabulary has {len(free):,} free slots; ask for fewer,"
            " or 'all'"
        )
    return asked.union(free[:number])
