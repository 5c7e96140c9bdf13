"""Two ways to make a word one token, what each does to the words around it, and phrases that are
worth one token.

In: a tokenizer and how often each unit of text was counted. Out: for one word after the other, the
units whose tokens change when it is added; of texts as added tokens are searched in them, the
phrases worth a look, and units none of which a phrase extends beyond.

As an entry of the WordPiece vocabulary a word is matched where the tokenizer sees that word, and
where a longer word begins with it. As an added token of a single word it is matched in the text as
it is written, where no letter, digit, mark or underscore touches it. What is counted differs
likewise: words, or chunks between spaces.
"""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from trietok.errors import InputError, InputTypeError, VocabularyError
from trietok.text.added_tokens import AddedToken
from trietok.text.unicode import word_runs
from trietok.tokenizer.bert import BertTokenizer, require_wordpiece
from trietok.training.word_counts import WordCounts

# ---- phrases: words that stand side by side more often than their own frequencies would have it --
#
# A phrase is two to four words with one space between each two and nothing else, so none extends
# over punctuation. Its cohesion is the normalized pointwise mutual information of its two parts
# (Bouma 2009, "Normalized (pointwise) mutual information in collocation extraction"), the lowest
# over all places to part it at: ln(p(ab) / (p(a) p(b))) / -ln p(ab), where p(x) is how often x
# occurs for each word of the texts. It is 1 for parts that occur only together, 0 for parts that
# meet by chance: in English prose "of the" has 0.3, "new york" 0.6, "district of columbia" 0.9.

LONGEST = 4  # words
COHESION = 0.55  # a choice: about where word lists of English prose turn from grammar to terms
_MOST_REMEMBERED = 200_000  # chunks
# the spaces of `AddingTokens` but for the one that a phrase may hold
_OTHER_SPACES = re.compile(r"[\t\n\r]+")


class WordSequences:
    """The words of a text, as lists of those with only a space between each two.

    >>> list(WordSequences()("a (new york) minute-long  new york"))
    [['a'], ['new', 'york'], ['minute'], ['long'], ['new', 'york']]
    """

    def __init__(self) -> None:
        self._runs = word_runs()
        self._remembered = lru_cache(_MOST_REMEMBERED)(self._look_into)

    def __call__(self, text: str) -> Iterator[list[str]]:
        words: list[str] = []
        for chunk in text.split(" "):
            of_chunk, begins, ends = self._remembered(chunk)
            if words and not begins:
                yield words
                words = []
            if not of_chunk:
                continue
            words.append(of_chunk[0])
            if len(of_chunk) > 1:
                yield words
                yield from ([word] for word in of_chunk[1:-1])
                words = [of_chunk[-1]]
            if not ends:
                yield words
                words = []
        if words:
            yield words

    def _look_into(self, chunk: str) -> tuple[list[str], bool, bool]:
        """The words between two spaces, and whether a word begins and ends what stands there."""
        words = self._runs.findall(chunk)
        return (
            words,
            bool(words) and chunk.startswith(words[0]),
            bool(words) and chunk.endswith(words[-1]),
        )


class PhraseCounts:
    """How often each word, and each phrase of so many words at most, occurs; the rarest of many are
    forgotten.

    >>> phrases = PhraseCounts(3, 1000)
    >>> phrases.add("a new york minute, new york")
    >>> phrases.counts["new york"], "minute new" in phrases.counts
    (2, False)
    """

    def __init__(self, longest: int, max_words: int) -> None:
        self.longest = longest
        self.counts = WordCounts()
        self.words = 0
        self._max_words = max_words
        self._sequences = WordSequences()

    def add(self, text: str) -> None:
        """Count the words and phrases of a text."""
        found: Counter[str] = Counter()
        for words in self._sequences(text):
            self.words += len(words)
            found.update(words)
            for length in range(2, min(self.longest, len(words)) + 1):
                found.update(
                    map(" ".join, zip(*(words[start:] for start in range(length)), strict=False))
                )
        self.counts.add(found)
        self.counts.prune(self._max_words)

    def cohesion(self, phrase: str) -> float:
        """The cohesion of a phrase that was counted, at most 1."""
        count, words = self.counts[phrase], phrase.split(" ")
        if count >= self.words:
            return 1.0
        # What was forgotten occurred at least as often as the whole.
        parts = (
            (" ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words))
        )
        counts = ([max(self.counts.get(part, 0), count) for part in both] for both in parts)
        return min(
            math.log(count * self.words / (a * b)) / -math.log(count / self.words)
            for a, b in counts
        )

    def cohesive(self, min_frequency: int) -> Iterator[tuple[str, int]]:
        """The phrases that hold together, each with how often it occurs."""
        for text, count in self.counts.items():
            if count >= min_frequency and " " in text and self.cohesion(text) >= COHESION:
                yield text, count


class Joining:
    """Finds phrases in texts, and cuts texts at their spaces, but not at one inside a phrase.

    >>> Joining(["new york", "york city hall"]).units(
    ...     "a (new york city halls) new\\tyork new  york"
    ... )
    ['a', '(new york city halls)', 'new', 'york', 'new', 'york']
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._rests: dict[str, list[list[str]]] = {}  # first word → the other words of each phrase
        for phrase in phrases:
            first, *rest = phrase.split(" ")
            self._rests.setdefault(first, []).append(rest)
        self._longest = max(map(len, self._rests), default=0)
        self._remembered = lru_cache(_MOST_REMEMBERED)(self._firsts_of)

    def units(self, text: str) -> list[str]:
        """The units of a text, none empty: no phrase of a text extends beyond a unit, wherever in
        words it stands.
        """
        units: list[str] = []
        for part in _OTHER_SPACES.split(text):
            chunks = part.split(" ")
            start = reached = 0  # the unit begins at the one, and goes on to the other at least
            for place, _, end in self._found(chunks):
                if place > reached:
                    units += [" ".join(chunks[start : reached + 1]), *chunks[reached + 1 : place]]
                    start = place
                reached = max(reached, end)
            units += [" ".join(chunks[start : reached + 1]), *chunks[reached + 1 :]]
        return [unit for unit in units if unit]

    def occurring(self, text: str) -> set[str]:
        """The phrases that occur in a text, those included that a word goes on from."""
        parts = (part.split(" ") for part in _OTHER_SPACES.split(text))
        return {phrase for chunks in parts for _, phrase, _ in self._found(chunks)}

    def _found(self, chunks: list[str]) -> Iterator[tuple[int, str, int]]:
        """Each place of a phrase, by that of its first and its last chunk, in the order of the
        first.
        """
        for place, chunk in enumerate(chunks):
            for first in self._remembered(chunk):
                for rest in self._rests[first]:
                    end = place + len(rest)  # of the last word the chunk there may be the beginning
                    if (
                        end < len(chunks)
                        and chunks[end].startswith(rest[-1])
                        and chunks[place + 1 : end] == rest[:-1]
                    ):
                        yield place, " ".join((first, *rest)), end

    def _firsts_of(self, chunk: str) -> tuple[str, ...]:
        """The first words of phrases that a chunk ends with."""
        starts = range(max(0, len(chunk) - self._longest), len(chunk))
        return tuple(chunk[start:] for start in starts if chunk[start:] in self._rests)


# ---- words made tokens ---------------------------------------------------------------------------

# Whitespace to every stage, whatever the options; other whitespace stays inside a chunk, and costs
# only memory.
_SPACES = re.compile(r"[ \t\n\r]+")
# What a subclass may put in another's place; then words are no longer what is counted here.
_STAGES = ("prepare_for_tokenization", "tokenize", "_tokenize")


class ChangedUnit(NamedTuple):
    """A counted unit of text that is split differently once words are added, though it is none of
    them.

    Attributes:
        text: the word, or the chunk between spaces.
        frequency: how often it stands in the texts.
        before, after: its tokens.
    """

    text: str
    frequency: int
    before: list[str]
    after: list[str]


class Effect(NamedTuple):
    """What adding one word, after those added before it, does to the counted texts."""

    tokens_saved: int  # over all counted units
    unknown_removed: int
    tokens: dict[str, list[str]]  # unit → its tokens from now on; those that change
    others: list[ChangedUnit]  # those of units beside the word


class AddingWords:
    """Words made entries of the WordPiece vocabulary. The units that are counted are the words of
    the basic tokenizer.

    A new entry that is a whole word changes the first piece of longer words at most: what begins
    them is matched longest first, and no entry that continues a word is new. The tokenizer stays as
    it is.
    """

    def __init__(self, tokenizer: BertTokenizer) -> None:
        self.tokenizer = tokenizer
        self.unk_token = tokenizer.wordpiece_tokenizer.unk_token
        self.special = frozenset(tokenizer.all_special_tokens)
        self.never_split = frozenset(
            tokenizer.basic_tokenizer.never_split if tokenizer.do_basic_tokenize else ()
        )
        self.taken: dict[str, None] = {}  # the words added so far
        self.counts: Mapping[str, int] = {}
        # unit → its tokens, where the words added so far have changed them
        self._now: dict[str, list[str]] = {}
        self._entries = frozenset(tokenizer.wordpiece_tokenizer.vocab)
        self._prefix = tokenizer.wordpiece_tokenizer.continuing_subword_prefix
        # candidate → the other units that adding it may change
        self._touching: dict[str, list[str]] = {}

    def units(self, text: str) -> tuple[list[str], list[str]]:
        """What to count in a text, and the tokens it holds beside that."""
        return self.words_in(text)

    def cut(self, unit: str) -> list[str]:
        """The tokens of a unit with no word added."""
        return self.pieces_of(unit)

    def words_in(self, text: str) -> tuple[list[str], list[str]]:
        """The words of a text between the added tokens it holds, and those."""
        tokenizer = self.tokenizer
        words: list[str] = []
        added: list[str] = []
        for piece, is_token in tokenizer.pieces(text)[1]:
            if is_token:
                added.append(piece)
            elif tokenizer.do_basic_tokenize:
                words += tokenizer.basic_tokenizer.tokenize(piece, self.special)
            else:
                words += piece.split()
        return words, added

    def extra_in(self, unit: str, tokens: list[str]) -> int:
        """How many of a unit's tokens are there because words are split."""
        return len(tokens) - 1

    def unknown_in(self, tokens: list[str]) -> int:
        """How many of these tokens are unknown."""
        return tokens.count(self.unk_token)

    def unknown_words(self, unit: str) -> list[str]:
        """The words of a unit that become the unknown token, but for that token itself."""
        return [
            word
            for word in self._words_of(unit)
            if word != self.unk_token and self.unk_token in self.pieces_of(word)
        ]

    def _words_of(self, unit: str) -> list[str]:
        return [unit]

    def candidates(self, counts: Mapping[str, int]) -> dict[str, int]:
        """The words that are more than one token, or unknown, and how often adding each would
        matter.
        """
        self.counts = counts
        longest = self.tokenizer.wordpiece_tokenizer.max_input_chars_per_word
        found = {}
        for word, count in counts.items():
            if len(word) > longest or word.startswith(self._prefix):
                continue
            tokens = self.cut(word)
            if len(tokens) > 1 or self.unknown_in(tokens):
                found[word] = count
        self._touching = {}
        for word in counts:
            if len(word) <= longest:
                for end in range(1, len(word)):
                    if word[:end] in found:
                        self._touching.setdefault(word[:end], []).append(word)
        return found

    def pieces_of(self, word: str) -> list[str]:
        """The tokens of one word now."""
        wordpiece = self.tokenizer.wordpiece_tokenizer
        if word in self.never_split:  # kept whole, but it may have no id
            return [word if word in wordpiece.vocab else self.unk_token]
        return wordpiece.pieces_of(word)

    def is_one_token(self, word: str) -> bool:
        """Whether a word that was added, standing by itself, is that token: nothing else comes in
        its way.
        """
        return self._cut_again(word) == [word]

    def reason_against(self, word: str) -> str | None:
        """Why a word cannot be added, or None."""
        try:
            self.tokenizer.check_wordpiece(word)
        except (InputError, VocabularyError) as error:
            return str(error)
        return None

    def effect(self, word: str) -> Effect:
        """What adding the word does; it is added from now on, unless `give_back` is called."""
        self.taken[word] = None
        self._add(word)
        saved = known = 0
        tokens: dict[str, list[str]] = {}
        others: list[ChangedUnit] = []
        for unit in self._touched(word):
            before, after = self._now.get(unit) or self.cut(unit), self._cut_again(unit)
            if after == before:
                continue
            number = self.counts[unit]
            tokens[unit] = after
            saved += number * (len(before) - len(after))
            known += number * (self.unknown_in(before) - self.unknown_in(after))
            if self.is_other(unit, after):
                others.append(ChangedUnit(unit, number, self.cut(unit), after))
        return Effect(saved, known, tokens, others)

    def keep(self, effect: Effect) -> None:
        """Let the word whose effect this is stay added."""
        self._now.update(effect.tokens)

    def give_back(self, word: str) -> None:
        """Let the word added last be none."""
        del self.taken[word]

    def _add(self, word: str) -> None:
        """Make the word one token."""

    def _touched(self, word: str) -> Iterable[str]:
        """The counted units that adding the word may change."""
        yield word
        for longer in self._touching.get(word, ()):
            if longer not in self.taken and longer not in self.never_split:
                yield longer

    def _cut_again(self, unit: str) -> list[str]:
        """The tokens of a unit with the words added so far."""
        if unit in self.taken or unit in self._entries:
            return [unit]
        end = len(unit)
        while end and unit[:end] not in self.taken and unit[:end] not in self._entries:
            end -= 1
        if not end or unit[:end] not in self.taken:
            return self.cut(unit)
        # A vocabulary holds what continues a word with the prefix before it, so that stands for
        # what comes before.
        rest = self.tokenizer.wordpiece_tokenizer.match_word(self._prefix + unit[end:])
        return (
            [self.unk_token]
            if rest is None or len(rest[0]) <= len(self._prefix)
            else [unit[:end], *rest]
        )

    def is_other(self, unit: str, after: list[str]) -> bool:
        """Whether more has changed in a unit than that the words added are one token each."""
        return unit not in self.taken


class AddingTokens(AddingWords):
    """Words made added tokens, each a single word. The units are chunks between spaces, lower-cased
    where the tokenizer does so, but otherwise as they are written: what touches a word there
    decides whether it is matched.
    """

    def __init__(self, tokenizer: BertTokenizer) -> None:
        super().__init__(tokenizer)
        self._runs = word_runs()  # what `single_word` looks for around a match
        self._extended = copy.deepcopy(tokenizer)
        self._extended.max_embedding_rows = self._extended.config_rows = (
            None  # rows are asked for when all is added
        )
        self._sequences = WordSequences()
        self._phrases: frozenset[str] = frozenset()
        self._joining: Joining | None = None
        self._spaced = [
            token for token in tokenizer.added_tokens_encoder if token.split() != [token]
        ]
        self._with_tokens: list[str] = []  # the chunks that hold an added token already

    def look_for(self, phrases: Iterable[str]) -> None:
        """Let these phrases be candidates too. A unit is then a chunk, or several that a phrase
        holds together.
        """
        self._phrases = frozenset(phrases)
        self._joining = Joining(sorted(self._phrases)) if self._phrases else None

    def units(self, text: str) -> tuple[list[str], list[str]]:
        lowered, _ = self.tokenizer.pieces(text)
        if any(token in lowered for token in self._spaced):
            return [lowered], []  # a token that holds a space: the text cannot be taken apart there
        if self._joining is not None:
            return self._joining.units(lowered), []
        return [chunk for chunk in _SPACES.split(lowered) if chunk], []

    def cut(self, unit: str) -> list[str]:
        return self.tokenizer.tokenize(unit)

    def extra_in(self, unit: str, tokens: list[str]) -> int:
        words, added = self.words_in(unit)
        return len(tokens) - len(words) - len(added)

    def _words_of(self, unit: str) -> list[str]:
        return self.words_in(unit)[0]

    def candidates(self, counts: Mapping[str, int]) -> dict[str, int]:
        self.counts = counts
        found: dict[str, int] = {}
        # Candidate → the chunks in which it stands alone, a phrase at all.
        holding: dict[str, list[str]] = {}
        is_candidate: dict[str, bool] = {}
        for chunk, count in counts.items():
            for word in self._runs.findall(chunk):
                if word not in is_candidate:
                    is_candidate[word] = self.could_be_added(word)
                if is_candidate[word]:
                    found[word] = found.get(word, 0) + count
                    if holding.setdefault(word, [chunk])[-1] != chunk:
                        holding[word].append(chunk)
            if self._joining is not None and " " in chunk:
                for phrase, number in self._alone_in(chunk).items():
                    found[phrase] = found.get(phrase, 0) + number * count
                # a match that is rejected hides others
                for phrase in self._joining.occurring(chunk):
                    holding.setdefault(phrase, []).append(chunk)
        self._touching = holding
        self._with_tokens = [chunk for chunk in counts if self.tokenizer.tokens_trie.find(chunk)]
        return found

    def _alone_in(self, unit: str) -> dict[str, int]:
        """The phrases that stand in a unit by themselves, each with how often it could be
        matched.
        """
        found: dict[str, int] = {}
        ends: dict[str, int] = {}  # phrase → where its last match ended
        for words in self._sequences(unit):
            for start in range(len(words)):
                for end in range(start + 2, min(start + LONGEST, len(words)) + 1):
                    phrase = " ".join(words[start:end])
                    if phrase in self._phrases and ends.get(phrase, 0) <= start:
                        found[phrase] = found.get(phrase, 0) + 1
                        ends[phrase] = end
            ends.clear()
        return found

    def pieces_of(self, word: str) -> list[str]:
        return self.cut(word) if " " in word else super().pieces_of(word)

    def reason_against(self, word: str) -> str | None:
        return None if " " in word else super().reason_against(word)

    def could_be_added(self, text: str) -> bool:
        """Whether it is no token yet, and the words of it, which may be a phrase, are such as the
        tokenizer makes.
        """
        tokens, tokenizer = self.cut(text), self.tokenizer
        if len(tokens) == 1 and tokens[0] != self.unk_token:
            return False
        basic = tokenizer.basic_tokenizer
        return not tokenizer.do_basic_tokenize or basic.tokenize(text, self.special) == text.split(
            " "
        )

    def _add(self, word: str) -> None:
        self._extended.add_tokens([AddedToken(word, single_word=True)])

    def give_back(self, word: str) -> None:
        super().give_back(word)
        self._extended.remove_tokens([word])

    def _touched(self, word: str) -> Iterable[str]:
        # A match that is rejected still hides a token that begins inside it.
        return dict.fromkeys(
            (*self._touching[word], *(chunk for chunk in self._with_tokens if word in chunk))
        )

    def _cut_again(self, unit: str) -> list[str]:
        return self._extended.tokenize(unit)

    def is_other(self, unit: str, after: list[str]) -> bool:
        apart: list[str] = []
        for token in after:
            apart += self.pieces_of(token) if token in self.taken else [token]
        return apart != self.cut(unit)


SUGGESTED_WAYS: dict[str, type[AddingWords]] = {
    "wordpiece": AddingWords,
    "single-word": AddingTokens,
}


def require_bert(tokenizer: object) -> BertTokenizer:
    """The tokenizer, if its words can be told: a `BertTokenizer` that cuts texts as that class
    does, and marks the entries that continue a word.
    """
    bert = require_wordpiece(tokenizer, "this")
    if bert.profile == "fast":
        raise InputTypeError(
            f"{type(tokenizer).__name__} is of the fast profile, and this takes the slow one: load"
            " it with AutoTokenizer.from_pretrained(..., use_fast=False); add_wordpieces of a fast"
            " one takes what is suggested",
            value=tokenizer,
        )
    for name in _STAGES:
        if getattr(type(tokenizer), name) is not getattr(BertTokenizer, name) or name in vars(
            tokenizer
        ):
            raise InputTypeError(
                f"{type(tokenizer).__name__} has a {name} of its own, so what its words are cannot"
                " be told; this takes a tokenizer that cuts texts as BertTokenizer does",
                value=tokenizer,
            )
    if not bert.wordpiece_tokenizer.continuing_subword_prefix:
        raise InputError(
            "this tokenizer has no continuing_subword_prefix, so a word added would be matched"
            " inside others too; set one"
        )
    return bert
