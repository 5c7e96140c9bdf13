"""`add_terms`: a list of terms made tokens in one of five ways, and what each way does to texts.

In: a tokenizer, terms as people write them. Out: the tokenizer with the terms, and which were
added, were known, came twice or cannot be added; or without some terms (`remove_terms`).
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from typing import NamedTuple

from trietok.errors import (
    InputError,
    InputTypeError,
    SpecialTokenError,
    UnknownTokenError,
    VocabularyError,
    one_column,
)
from trietok.showing.characters import alternatives, first_few, number_of
from trietok.showing.report import Report
from trietok.text.added_tokens import AddedToken
from trietok.text.unicode import is_chinese_char
from trietok.text.words import RustBasicTokenizer
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.training.word_counts import WordCounts
from trietok.workbench.read_again import checked
from trietok.workbench.suggesting.suggestions import Suggestions

_BATCH = 256  # texts encoded at a time


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts, some at a time."""
    texts = iter(texts)
    while batch := list(islice(texts, _BATCH)):
        yield batch


def ids_of_texts(tokenizer: PreTrainedTokenizer, texts: list[str]) -> list[list[int]]:
    """The ids of texts, without special tokens around."""
    ids: list[list[int]] = [*map(tokenizer.snapshot().call_pipeline.ids, texts)]
    return ids


def unknown_id_of(tokenizer: BertTokenizer) -> int | None:
    """The id that unknown words get."""
    unknown = tokenizer.wordpiece_tokenizer.unk_token
    token_id = tokenizer.get_vocab().get(unknown)
    return tokenizer.unk_token_id if token_id is None else token_id


# ---- adding terms --------------------------------------------------------------------------------

WAYS = ("auto", "wordpiece", "single-word", "added", "unused")
_COMPARED = WAYS[:4]  # what an unused slot does to a text is what an added token does
_KINDS = {"added": "inside words too", "unused": "whole words, in free slots"}  # of added tokens
_MAX_WORDS = 1_000_000
_EXAMPLES = 5
_NOTHING = "the tokenizer makes nothing of it"


class RefusedTerm(NamedTuple):
    """A term that cannot be added: its number in the list, from 1, and why."""

    number: int
    term: str
    reason: str

    def __str__(self) -> str:
        return f"left out: {self.term!r:.60}, number {self.number}: {self.reason}"


@dataclass(frozen=True)
class AddedTerms(Report):
    """What `add_terms` did. `str` makes it readable.

    Attributes:
        way: how terms were added.
        added: token → its id, in the order of the terms; a token is the term as the tokenizer
            writes it.
        known: terms that are tokens already, and stay what they are; but entries that no text
            gives are `refused`.
        duplicates: terms that come to the same token as one before.
        refused: terms that cannot be added that way.
        entries: those of `added` that are entries of the vocabulary; the others are added tokens.
        in_the_way: the added token for whose sake no entry was added, as other libraries would
            number it anew; empty where there is none.
        instead: those of `added` that are added tokens for that reason alone, and would have been
            entries.
    """

    way: str
    added: dict[str, int]
    known: list[str]
    duplicates: list[str]
    refused: list[RefusedTerm]
    entries: list[str]
    in_the_way: str = ""
    instead: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """Whether no term is left out."""
        return not self.refused

    @property
    def said_of_instead(self) -> list[str]:
        """What there is to say of `instead`, in a line, or none."""
        if not self.instead:
            return []
        told = "no entries, since other libraries would give the added token"
        named = f"{self.in_the_way!r:.60} another id: {first_few(list(self.instead))}"
        return [f"{len(self.instead):,} of them {told} {named}"]

    def _parts(self) -> list[str]:
        entries, tokens = len(self.entries), len(self.added) - len(self.entries)
        as_what = []
        if entries:
            as_what += [f"{entries:,} {'entry' if entries == 1 else 'entries'} of the vocabulary"]
        if tokens:
            how = _KINDS.get(self.way, "whole words")
            as_what += [f"{number_of(tokens, 'added token')} ({how})"]
        told = f"{number_of(len(self.added), 'term')} added{': ' if as_what else ''}"
        lines = [f"{told}{', '.join(as_what)}"]
        for what, terms in (("known already", self.known), ("listed twice", self.duplicates)):
            lines += [f"{len(terms):,} {what}: {first_few(terms)}"] if terms else []
        return [*lines, *self.said_of_instead, *map(str, self.refused)]


def add_terms(
    tokenizer: BertTokenizer,
    terms: Iterable[str] | Suggestions,
    way: str = "auto",
    *,
    special: bool = False,
) -> AddedTerms:
    """Add terms to a tokenizer. An error leaves the tokenizer as it was.

    Args:
        tokenizer: a `BertTokenizer` or one of its relatives, in either profile. One that does not
            split words by WordPiece takes added tokens only.
        terms: words or phrases as people write them; spaces around are taken off, and several
            inside are one. They are lower-cased where the tokenizer does so. `Suggestions` are
            added in the way that they were worked out for, unless `way` says another.
        way: `"auto"`, entries of the vocabulary where WordPiece can reach the term, and
            `"single-word"` tokens where it cannot, as with spaces or punctuation inside (a token
            that begins and ends with a Chinese character, a word by itself, matches anywhere), or
            where an added token is in the way of entries, which the report says (see
            `BertTokenizer.lines_before_new`); `"wordpiece"`, entries only, for single words and
            pieces as `##ology`; `"single-word"`, added tokens that match where no letter, digit,
            mark or underscore touches them; `"added"`, added tokens that match wherever they stand,
            inside words too; `"unused"`, tokens as in `"single-word"` that take the free slots
            `[unusedN]` in order, so that the model needs no new row.
        special: make them special tokens, which are not lower-cased, which decoding can skip, and
            which match inside words too unless the way is `"single-word"`; not for entries.

    Raises:
        InputTypeError: the tokenizer is none of these, or a term is no str.
        InputError: `way` is none of these; `special` is given for entries; there are fewer free
            slots than terms.
        VocabularyError: the tokens need more rows than `max_embedding_rows`.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> done = add_terms(tokenizer, ["Zoology", "people", "zoology", "Crohn's disease", "\\u200d"])
    >>> done.added, done.known, done.duplicates
    ({'zoology': 8000, "crohn's disease": 8001}, ['people'], ['zoology'])
    >>> done.refused[0].number, done.refused[0].reason
    (5, 'the tokenizer makes nothing of it')
    >>> print(done)
    2 terms added: 1 entry of the vocabulary, 1 added token (whole words)
    1 known already: people
    1 listed twice: zoology
    left out: '\u200d', number 5: the tokenizer makes nothing of it
    >>> tokenizer.tokenize("Zoology of Crohn's disease.")
    ['zoology', 'of', "crohn's disease", '.']
    """
    if not isinstance(tokenizer, BertTokenizer):
        raise InputTypeError(
            f"add_terms takes a BertTokenizer, not {type(tokenizer).__name__}", value=tokenizer
        )
    if way == "wordpiece":
        require_wordpiece(tokenizer, "add_terms in the way 'wordpiece'")
    if isinstance(terms, Suggestions):
        way = terms.adding if (way, terms.adding) == ("auto", "single-word") else way
        terms = [each.word for each in terms.suggestions]
    if way not in WAYS:
        raise InputError(f"way is {way!r:.60}; it is {alternatives(WAYS)}")
    if special and way == "wordpiece":
        raise InputError(
            "an entry of the WordPiece vocabulary is not special; add special tokens in another way"
        )
    found = _Sorted(tokenizer, way, special)
    for number, term in enumerate(checked_terms(terms), start=1):
        found.take(number, term)
    entries = [content for content, token in found.tokens.items() if isinstance(token, str)]
    tokens = [token for token in found.tokens.values() if not isinstance(token, str)]
    if way == "unused":
        _assign(tokenizer, tokens)
    else:  # on a copy first: there may be rows for the entries, and none for the tokens after them
        for each in (copy.deepcopy(tokenizer), tokenizer) if entries and tokens else (tokenizer,):
            if entries:
                each.add_wordpieces(entries)
            each.add_tokens(tokens)
    ids = tokenizer.get_vocab()
    added = {token: ids[token] for token in found.tokens}
    instead = [token for token in found.instead if token in added]
    blocker = str(found.in_the_way) if instead else ""
    return AddedTerms(
        way, added, found.known, found.duplicates, found.refused, entries, blocker, instead
    )


def checked_terms(terms: Iterable[str], whose: str = "terms") -> Iterator[str]:
    """The terms, each checked to be one: a column of a table may have empty cells."""
    if isinstance(terms, (str, bytes)):
        told = f"{whose} are a list, not one: pass [{terms!r:.60}]"
        raise InputTypeError(told, value=terms)
    for number, term in enumerate(one_column(terms, "terms"), start=1):
        if not isinstance(term, str):
            told = f"{type(term).__name__}: {term!r:.60}, number {number} of the list"
            raise InputTypeError(f"a term is a str, not {told}", value=term)
        yield term


class _Sorted:
    """Terms, sorted by what can be done with them."""

    def __init__(self, tokenizer: BertTokenizer, way: str, special: bool) -> None:
        self.tokens: dict[str, AddedToken | str] = {}  # content → token; an entry is its content
        self.known: list[str] = []
        self.duplicates: list[str] = []
        self.refused: list[RefusedTerm] = []
        # contents of tokens that would be entries if none were in the way
        self.instead: dict[str, None] = {}
        self.in_the_way: AddedToken | None = None
        self._tokenizer, self._way, self._special = tokenizer, way, special
        # else auto gives tokens only
        self._has_entries = hasattr(tokenizer, "wordpiece_tokenizer") and not special
        if self._has_entries and way in ("auto", "wordpiece"):
            self.in_the_way = tokenizer.lines_before_new()[1]
        self._lowers = tokenizer.profile == "slow" and bool(
            getattr(tokenizer, "do_lower_case", False)
        )
        basic = tokenizer.basic_tokenizer if tokenizer.profile == "fast" else None
        self._normalizer = basic if isinstance(basic, RustBasicTokenizer) else None
        self._vocabulary = {
            *tokenizer.get_vocab(),
            *map(self._searched, tokenizer.added_tokens_decoder.values()),
        }
        self._taken: set[str] = set()  # the terms so far, as texts are searched for them

    def take(self, number: int, term: str) -> None:
        term = " ".join(term.split())
        try:
            # A token as it is written, such as [MASK], is known as that; but where texts are
            # lower-cased, an entry with capitals is no obstacle.
            is_written = term in self._vocabulary and not self._is_passed_over(term)
            token = term if is_written else self._token_of(term)
            searched = self._searched(token)
            if searched in self._taken:
                self.duplicates.append(term)
            elif searched in self._vocabulary:
                if self._is_out_of_reach(searched):
                    raise InputError(
                        "it is an entry that no text gives, since the tokenizer takes it for"
                        f" something else; tokenizer.add_tokens([{term!r:.60}]) has it found, with"
                        " the id that it has"
                    )
                self.known.append(term)
            else:
                self.tokens[str(token)] = token
            self._taken.add(searched)
        except (InputError, VocabularyError) as error:
            self.refused.append(RefusedTerm(number, term, str(error)))

    def _is_passed_over(self, term: str) -> bool:
        lowers = bool(getattr(self._tokenizer, "do_lower_case", False))
        return lowers and term != term.lower() and self._is_out_of_reach(term)

    def _is_out_of_reach(self, entry: str) -> bool:
        """Whether a word is an entry that no text gives, such as `...`: three words."""
        if not hasattr(self._tokenizer, "wordpiece_tokenizer") or entry != self._word_of(entry):
            return False
        found, unknown = self._tokenizer.tokenize(entry), self._tokenizer.unk_token
        return len(found) != 1 or (found == [unknown] and entry != unknown)

    def _searched(self, token: AddedToken | str) -> str:
        """What a text is searched for: the fast profile normalizes added tokens, which keep their
        contents.
        """
        if isinstance(token, str) or self._normalizer is None or not token.normalized:
            return str(token)
        return self._normalizer.normalized(token.content)

    def _token_of(self, term: str) -> AddedToken | str:
        """The token of a term, or the entry; an `InputError` where there is none."""
        if not term:
            raise InputError("it is empty")
        is_auto, is_instead = self._way == "auto", False
        if self._way == "wordpiece" or (is_auto and self._has_entries):
            try:
                entry = self._entry_of(term)
            except (InputError, VocabularyError) as error:
                if not is_auto or str(error) == _NOTHING:
                    raise
            else:
                # An added token inside would be found first, and the word never seen.
                if (
                    not is_auto
                    or entry in self._vocabulary
                    or self._tokenizer.pieces(entry)[1] == [(entry, False)]
                ):
                    is_instead = self.in_the_way is not None and entry not in self._vocabulary
                    if not is_instead:
                        return entry
                    if not is_auto or entry != self._word_of(entry):
                        raise InputError(
                            "other libraries would give the added token"
                            f" {str(self.in_the_way)!r:.60} another id if an entry followed it; a"
                            " word can be an added token instead, which the way 'auto' makes it"
                        )
        # A Chinese character is a word by itself, whatever touches it.
        is_chinese = is_auto and is_chinese_char(ord(term[0])) and is_chinese_char(ord(term[-1]))
        is_whole = self._way == "single-word" or not (
            self._way == "added" or self._special or is_chinese
        )
        token = AddedToken(term, single_word=is_whole, special=self._special)
        if not self._searched(token):
            raise InputError(_NOTHING)  # a token of it would stand in no text
        token = token.replace(content=term.lower()) if self._lowers and token.normalized else token
        if is_instead:
            self.instead[token.content] = None
        return token

    def _word_of(self, term: str) -> str:
        """A term without the mark of pieces that continue a word."""
        prefix = self._tokenizer.wordpiece_tokenizer.continuing_subword_prefix
        return term.removeprefix(prefix) if prefix and term != prefix else term

    def _entry_of(self, term: str) -> str:
        tokenizer = self._tokenizer
        rest = self._word_of(term)
        marked = term.removesuffix(rest)
        words = (
            tokenizer.basic_tokenizer.tokenize(rest)
            if tokenizer.do_basic_tokenize
            else rest.split()
        )
        if not words:
            raise InputError(_NOTHING)
        if len(words) > 1:
            raise InputError(
                f"this tokenizer splits it into {len(words)} words, and a vocabulary entry can be"
                " only one; the way 'auto' adds it as an added token"
            )
        entry = marked + words[0]
        if entry not in self._vocabulary:
            tokenizer.check_wordpiece(entry)
        return entry


def _assign(tokenizer: BertTokenizer, tokens: list[AddedToken]) -> None:
    slots = tokenizer.unused_slots()
    if len(tokens) > len(slots):
        raise InputError(
            f"there are {len(tokens):,} new terms and {len(slots):,} free slots [unusedN]; give"
            " fewer terms, or add them in another way, with new rows"
        )
    # on a copy first: one slot after the other is not all or none
    for each in (copy.deepcopy(tokenizer), tokenizer):
        for slot, token in zip(slots, tokens, strict=False):
            each.assign_unused(slot, token)


def remove_terms(tokenizer: BertTokenizer, terms: Iterable[str]) -> list[str]:
    """Take terms out of a tokenizer, entries and added tokens alike; the ids of the others close
    up, in their order.

    So a tokenizer from which the last of some terms are taken has the ids that it had before they
    came. An error leaves the tokenizer as it was.

    Args:
        tokenizer: a `BertTokenizer` or one of its relatives, in either profile.
        terms: tokens, or terms as people write them.

    Returns:
        The tokens that are gone, in the order of the terms.

    Raises:
        InputTypeError: the terms are one string, or one of them is no str.
        UnknownTokenError: terms are no tokens; all of them are named.
        SpecialTokenError: a token has a role, such as [CLS].

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> add_terms(tokenizer, ["zoology", "covid", "Crohn's disease"]).added
    {'zoology': 8000, 'covid': 8001, "crohn's disease": 8002}
    >>> (
    ...     remove_terms(tokenizer, ["Crohn's Disease", "zoology"]),
    ...     tokenizer.convert_tokens_to_ids("covid"),
    ... )
    (["crohn's disease", 'zoology'], 8000)
    """
    known, gone, unknown = tokenizer.get_vocab(), dict[str, None](), list[str]()
    unknown_id = unknown_id_of(tokenizer)
    for term in checked_terms(terms, "terms to remove (remove)"):
        found = [] if term in known else tokenizer.tokenize(term)
        if term in known:
            gone[term] = None
        elif len(found) == 1 and known.get(found[0], unknown_id) != unknown_id:
            gone[found[0]] = None
        else:
            unknown.append(term)
    if unknown:
        named = first_few([f"{term!r:.60}" for term in unknown])
        told = (
            f"{number_of(len(unknown), 'term')} to remove"
            f" {'is no token' if len(unknown) == 1 else 'are no tokens'}"
        )
        raise UnknownTokenError(f"{told}: {named}; take them off the list", item=unknown[0])
    of_roles = (*tokenizer.all_special_tokens, tokenizer.wordpiece_tokenizer.unk_token)
    roles = [token for token in of_roles if token in gone]
    if roles:
        raise SpecialTokenError(
            f"{roles[0]!r:.60} has a role in the tokenizer; give it to another token first"
        )
    # on a copy first: two steps, all or none
    for each in (copy.deepcopy(tokenizer), tokenizer) if gone else ():
        added = map(str, each.added_tokens_decoder.values())
        each.remove_tokens([token for token in added if token in gone])
        # What fills the line of an added token that stood before entries goes with it.
        tokens = dict(enumerate(each.vocabulary.tokens)) | dict(each.added_tokens_decoder.items())
        left = known.keys() - gone.keys()
        each.keep_only(number for number, token in tokens.items() if str(token) in left)
    return list(gone)


def require_same_tokens(
    fast: BertTokenizer, slow: BertTokenizer, directory: str | os.PathLike[str]
) -> None:
    """Raise `InputError` if the two profiles of a directory have other ids: one of its files is
    another model's.
    """
    if fast.get_vocab() != slow.get_vocab():
        raise InputError(
            f"the tokenizer.json of {os.fspath(directory)} and the files of its slow tokenizer"
            " (vocab.txt, tokenizer_config.json) hold different tokens; remove or correct what the"
            " model was not trained with (trietok check says what differs)"
        )


def way_to_add(suggestions: Suggestions, asked: str) -> str:
    """The way in which `add_terms` adds words that were found: entries by `"auto"`, unless they
    were asked for.
    """
    is_as_asked = asked == "unused" or (asked, suggestions.adding) == ("auto", "wordpiece")
    return asked if is_as_asked else suggestions.adding


# ---- what each way does --------------------------------------------------------------------------


class OtherWord(NamedTuple):
    """A word of the texts that is no term, and that is split differently."""

    word: str
    frequency: int
    before: list[str]
    after: list[str]


class WayEffect(NamedTuple):
    """What adding terms in one way does to some texts. `str` says it in a line.

    Attributes:
        way: how the terms are added.
        added: how many are new.
        refused: how many cannot be added that way.
        texts: how many texts there are.
        texts_changed: how many of them get other ids.
        tokens_before, tokens_after: the tokens of all texts, without [CLS], [SEP] and the like.
        other_words: the words that are no terms and are split differently, the most frequent first.
    """

    way: str
    added: int
    refused: int
    texts: int
    texts_changed: int
    tokens_before: int
    tokens_after: int
    other_words: list[OtherWord]

    def __str__(self) -> str:
        return (
            f"{self.way}: {self.added:,} added, {self.refused:,} refused; {self.texts_changed:,} of"
            f" {self.texts:,} texts change, {self.tokens_before:,} tokens become"
            f" {self.tokens_after:,}; {said_of(self.other_words)}"
        )


def said_of(others: Sequence[OtherWord]) -> str:
    """How many other words there are, and the most frequent of them with their new tokens, in a
    line.
    """
    told = f"{number_of(len(others), 'other word')} split differently"
    if not others:
        return told
    examples = ", ".join(f"{each.word} → {' '.join(each.after)}" for each in others[:_EXAMPLES])
    return f"{told} ({number_of(sum(each.frequency for each in others), 'occurrence')}): {examples}"


def add_words_of(tokenizer: BertTokenizer, texts: Iterable[str], words: WordCounts) -> None:
    """Add the words of texts to those counted, of which the rarest of many are forgotten."""
    cut = tokenizer.basic_tokenizer.tokenize if tokenizer.do_basic_tokenize else str.split
    for text in texts:
        words.add(Counter(cut(text)))
    words.prune(_MAX_WORDS)


def other_words(
    before: BertTokenizer, after: BertTokenizer, done: AddedTerms, words: Iterable[tuple[str, int]]
) -> list[OtherWord]:
    """The words, of some with their frequencies, that are no terms and are split differently;
    frequent ones first.
    """
    # what becomes one of them is a term, however written
    terms = {(token_id,) for token_id in done.added.values()}
    frequent, found = sorted(words, key=lambda item: (-item[1], item[0])), list[OtherWord]()
    for start in range(0, len(frequent), _BATCH):
        some = frequent[start : start + _BATCH]
        old, new = (
            ids_of_texts(tokenizer, [word for word, _ in some]) for tokenizer in (before, after)
        )
        for (word, frequency), ids, new_ids in zip(some, old, new, strict=True):
            if ids != new_ids and tuple(new_ids) not in terms:
                tokens = before.tokenize(word), after.tokenize(word)
                found.append(OtherWord(word, frequency, *tokens))
    return found


def effects_of_terms(
    tokenizer: BertTokenizer, terms: Sequence[str], texts: Iterable[str], *, special: bool = False
) -> list[WayEffect]:
    """What adding terms would do to texts, in each way that takes new rows.

    Args:
        tokenizer: stays as it is.
        terms, special: see `add_terms`.
        texts: read once.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> for effect in effects_of_terms(tokenizer, ["covid"], ["Covid and Covidien", "the people"]):
    ...     print(effect)
    auto: 1 added, 0 refused; 1 of 2 texts change, 11 tokens become 7; 1 other word split
        differently (1 occurrence): covidien → covid ##ie ##n
    wordpiece: 1 added, 0 refused; 1 of 2 texts change, 11 tokens become 7; 1 other word split
        differently (1 occurrence): covidien → covid ##ie ##n
    single-word: 1 added, 0 refused; 1 of 2 texts change, 11 tokens become 9; 0 other words split
        differently
    added: 1 added, 0 refused; 1 of 2 texts change, 11 tokens become 7; 1 other word split
        differently (1 occurrence): covidien → covid i ##en

    Cost: O(code points of the texts); O(their different words, at most a million) in memory.
    """
    ways = [way for way in _COMPARED if not (special and way == "wordpiece")]
    trials = [copy.deepcopy(tokenizer) for _ in ways]
    for trial in trials:
        trial.max_embedding_rows = trial.config_rows = None
    done = list(map(partial(add_terms, special=special), trials, repeat(terms), ways))
    words = WordCounts()
    before, changed, after = 0, [0] * len(ways), [0] * len(ways)
    for batch in batches(checked(texts)):
        words.texts += len(batch)
        add_words_of(tokenizer, batch, words)
        old = ids_of_texts(tokenizer, batch)
        before += sum(map(len, old))
        for number, trial in enumerate(trials):
            new = ids_of_texts(trial, batch)
            changed[number] += sum(map(list.__ne__, old, new))
            after[number] += sum(map(len, new))
    effects = []
    for trial, terms_done, texts_changed, tokens in zip(trials, done, changed, after, strict=True):
        others = other_words(tokenizer, trial, terms_done, words.items())
        of_terms = len(terms_done.added), len(terms_done.refused)
        of_texts = (words.texts, texts_changed, before, tokens)
        effects.append(WayEffect(terms_done.way, *of_terms, *of_texts, others))
    return effects
