"""Which words are worth a token of their own.

In: a tokenizer, texts. Out: `Suggestions`, ranked, with the tokens that adding them saves worked
out on the same texts: each unit of text that a suggestion touches is cut again with all suggestions
before it added.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Iterable, Mapping

from trietok.errors import InputError, InputTypeError
from trietok.showing.characters import alternatives
from trietok.tokenizer.bert import BertTokenizer
from trietok.training.word_counts import WordCounts, require_whole
from trietok.workbench.read_again import checked, read_again
from trietok.workbench.suggesting.adding_words import (
    LONGEST,
    SUGGESTED_WAYS,
    AddingTokens,
    AddingWords,
    ChangedUnit,
    Effect,
    PhraseCounts,
    require_bert,
)
from trietok.workbench.suggesting.suggestions import (
    SAVED_ALREADY,
    LeftOut,
    Milestone,
    Suggestion,
    Suggestions,
)

MILESTONES = (50, 100, 500)
# a suggestion stands so many times as often in the texts as the words it makes worse, or more
HARM = 100
_PHRASES_TRIED = 4  # so many phrases for each suggestion that is wanted are looked at more closely


def suggest_tokens(
    tokenizer: BertTokenizer,
    texts: Iterable[str],
    *,
    most: int = 500,
    min_frequency: int = 3,
    unknown_weight: float = 2.0,
    way: str = "auto",
    leave_others: bool = False,
    max_words: int = 1_000_000,
    phrases: int = 0,
    leave_out: Iterable[str] = (),
) -> Suggestions:
    """Say which words of some texts to add to a tokenizer, and what that saves.

    A word is suggested where it is several tokens or unknown. It is ranked by the tokens that
    adding it saves, (pieces − 1) × frequency; an unknown one, which saves none, by `unknown_weight`
    × frequency. Of equals the more frequent comes first, then the one whose code points are lower.
    Those picked so that save no token come after those that do. The order of the texts makes no
    difference unless words have to be forgotten.

    A word is left out where adding it would make other words of the texts longer, or unknown, that
    together stand there more than a hundredth as often.

    Args:
        tokenizer: a `BertTokenizer`; it stays as it is.
        texts: read once, one after the other.
        most: how many words at most.
        min_frequency: how often a word has to stand in the texts.
        unknown_weight: how many tokens saved one unknown token less is worth.
        way: how the words are to be added: `"wordpiece"`, as entries of the vocabulary;
            `"single-word"`, as added tokens that match single words; `"auto"`, as tokens where
            phrases are suggested, else as entries.
        leave_others: suggest no word that changes the tokens of any other word of the texts.
        max_words: how many different words are held in memory. Beyond it the rarest are forgotten:
            they count among the tokens, but are not suggested, and are taken to stay as they are.
        phrases: the most words of a phrase, 2 to 4: suggest phrases too, such as "atrial
            fibrillation", whose words stand together more often than chance would have it. They can
            only be added tokens. The texts are read twice; an iterator is kept in a temporary file
            for that. Each word or phrase is then ranked by what it saves beyond those before it. 0
            suggests none.
        leave_out: words and phrases to suggest in no case, as they would be suggested or in another
            case.

    Raises:
        InputTypeError: `tokenizer` is no such tokenizer, or cuts texts in a way of its own; `texts`
            is one string, or holds something else.
        InputError: there is no word in the texts; a number is out of range; `way` is none of these;
            phrases are to be suggested as entries.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> texts = ["Zoology is a science."] * 3 + ["The zoology of whales"] * 2
    >>> suggestions = suggest_tokens(tokenizer, texts)
    >>> for suggestion in suggestions.suggestions:
    ...     print(suggestion.word, suggestion.frequency, suggestion.pieces, suggestion.tokens_saved)
    zoology 5 ['z', '##ool', '##og', '##y'] 15
    >>> suggestions.tokens_before, suggestions.tokens_after, suggestions.unknown
    (42, 27, {})

    Cost: O(code points of the texts), then for each suggestion the words that begin with it;
    O(max_words) in memory.
    """
    _check_options(most, min_frequency, unknown_weight, way, max_words, phrases)
    if isinstance(texts, (str, bytes)):
        raise InputTypeError("suggest_tokens takes a list of texts, not one", value=texts)
    if isinstance(leave_out, (str, bytes)):
        raise InputTypeError("leave_out is a list of words, not one", value=leave_out)
    way = way if way in SUGGESTED_WAYS else "single-word" if phrases else "wordpiece"
    trial = SUGGESTED_WAYS[way](require_bert(tokenizer))
    picked = _Picked(trial, leave_others)
    with contextlib.ExitStack() as stack:
        if phrases:
            assert isinstance(trial, AddingTokens)  # as was checked
            texts = stack.enter_context(read_again(texts))
            trial.look_for(
                _phrases(trial, texts, phrases, min_frequency, max_words, _PHRASES_TRIED * most)
            )
        counts = picked.count_texts(texts, max_words)
    occurrences = counts.total + counts.pruned_occurrences
    if not picked.tokens and not occurrences:
        raise InputError(
            f"there is no word in the {counts.texts} texts; give texts that hold words"
        )
    unknown_words: Counter[str] = Counter()
    for unit, count in counts.items():
        if picked.add(unit, count):
            for word in trial.unknown_words(unit):
                unknown_words[word] += count
    tokens_before, unknown_before = picked.tokens, picked.unknown
    unwanted = frozenset(form for word in leave_out for form in (word, word.lower()))
    ranked = _ranked(trial, counts, min_frequency, unknown_weight, unwanted)
    # Those that save no token are as many as their scores are worth, and come after those that do.
    saving, knowing = (
        [each for each in ranked if bool(each.tokens_saved) is saves] for saves in (True, False)
    )
    places = sum(not each.tokens_saved for each in ranked[:most])
    for some, wanted in ((saving, most - places), (knowing, most)):
        picked.pick(some, wanted, bool(phrases), min_frequency, unknown_weight)
    if picked.suggestions and len(picked.suggestions) not in MILESTONES:
        picked.note()
    return Suggestions(
        suggestions=picked.suggestions,
        adding=way,
        fingerprint=tokenizer.fingerprint(),
        texts=counts.texts,
        words=occurrences,
        tokens_before=tokens_before,
        tokens_after=picked.tokens,
        unknown_before=unknown_before,
        unknown_after=picked.unknown,
        unknown=_by_frequency(unknown_words),
        most=most,
        milestones=picked.milestones,
        changed=picked.changed(),
        left_out=picked.left_out,
        frequency_missed=(
            min_frequency
            if not ranked and _ranked(trial, counts, 1, unknown_weight, unwanted)
            else 0
        ),
        forgotten=counts.pruned_occurrences,
        lost_at_most=counts.pruned_below,
    )


def _by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    """The same counts, the most frequent first; of equals the one whose code points are lower."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _check_options(
    most: int, min_frequency: int, unknown_weight: float, way: str, max_words: int, phrases: int
) -> None:
    for name, value in (("most", most), ("min_frequency", min_frequency), ("max_words", max_words)):
        require_whole(name, value, 1)
    if type(unknown_weight) not in (int, float) or not 0 <= unknown_weight < float("inf"):
        raise InputError(f"unknown_weight is {unknown_weight!r}; it is a number from 0")
    if way not in ("auto", *SUGGESTED_WAYS):
        raise InputError(f"way is {way!r:.60}; it is {alternatives(('auto', *SUGGESTED_WAYS))}")
    if type(phrases) is not int or phrases not in (0, *range(2, LONGEST + 1)):
        raise InputError(
            f"phrases is {phrases!r}; it is the most words of a phrase, 2 to {LONGEST}, or 0 for"
            " none"
        )
    if phrases and way == "wordpiece":
        raise InputError(
            "a phrase cannot be an entry, since BERT cuts texts at spaces before it looks entries"
            " up; suggest phrases with way='single-word'"
        )


def _phrases(
    way: AddingTokens,
    texts: Iterable[str],
    longest: int,
    min_frequency: int,
    max_words: int,
    most: int,
) -> list[str]:
    """The phrases of the texts that would save the most, each alone."""
    counts = PhraseCounts(longest, max_words)
    for text in texts:
        counts.add(way.tokenizer.pieces(text)[0])
    saved = {
        phrase: count * (len(way.cut(phrase)) - 1)
        for phrase, count in counts.cohesive(min_frequency)
        if way.could_be_added(phrase)
    }
    return sorted(saved, key=lambda phrase: (-saved[phrase], phrase))[:most]


def _ranked(
    way: AddingWords,
    counts: dict[str, int],
    min_frequency: int,
    unknown_weight: float,
    unwanted: frozenset[str],
) -> list[Suggestion]:
    """Every word that could be suggested, the most useful first."""
    ranked = []
    for word, count in way.candidates(counts).items():
        if count < min_frequency or word in unwanted:
            continue
        pieces = way.pieces_of(word)
        saved = (len(pieces) - 1) * count
        unknown = way.unknown_in(pieces)
        score = _worth(saved, unknown * count, unknown_weight)
        if score:
            ranked.append(Suggestion(word, count, pieces, saved, unknown > 0, score))
    return sorted(ranked, key=lambda each: (-each.score, -each.frequency, each.word))


def _worth(saved: int, unknown_removed: int, unknown_weight: float) -> float:
    return saved + unknown_removed * unknown_weight if unknown_removed else saved


class _Picked:
    """The tokens of all texts, the suggestions picked in the order of their ranks, and what these
    leave of them.
    """

    def __init__(self, way: AddingWords, leave_others: bool) -> None:
        self.way, self.leave_others = way, leave_others
        self.tokens = self.unknown = 0  # of all texts, with the suggestions so far added
        self.suggestions: list[Suggestion] = []
        self.milestones: list[Milestone] = []
        self.left_out: list[LeftOut] = []
        self._extra = self._gone = (
            0  # tokens beyond one for each word, and unknown ones: at first, and gone since
        )
        self._changes: dict[str, ChangedUnit] = {}

    def count_texts(self, texts: Iterable[str], max_words: int) -> WordCounts:
        """Count the words of all texts; those that are forgotten are among the tokens, and no
        longer counted.
        """
        counts = WordCounts()
        for text in checked(texts):
            counts.texts += 1
            units, added = self.way.units(text)
            counts.add(Counter(units))
            for unit, count in counts.prune(max_words).items():
                self.add(unit, count)
            self.tokens += len(added)
            # a text may hold the unknown token itself
            self._note_unknown(self.way.unknown_in(added))
        return counts

    def add(self, unit: str, count: int) -> int:
        """Count the tokens of a unit that occurs so often; return how many of them are unknown."""
        tokens = self.way.cut(unit)
        unknown = self.way.unknown_in(tokens)
        self.tokens += count * len(tokens)
        self._extra += count * self.way.extra_in(unit, tokens)
        self._note_unknown(count * unknown)
        return unknown

    def _note_unknown(self, number: int) -> None:
        self.unknown += number
        self._extra += number

    def pick(
        self,
        ranked: list[Suggestion],
        most: int,
        by_gain: bool,
        min_frequency: int,
        unknown_weight: float,
    ) -> None:
        """Pick one suggestion after the other, until there are so many; by gain, always what saves
        most beyond the suggestions before it.

        What a suggestion saves seldom grows as others are picked, so only the first of the queue is
        looked at again: the lazy greedy algorithm (Minoux 1978, "Accelerated greedy algorithms for
        maximizing submodular functions").
        """
        # sorted, and so a heap
        queue = [(-each.score, -each.frequency, each.word, -1, each) for each in ranked]
        while queue and len(self.suggestions) < most:
            _, _, word, picked_then, suggestion = heapq.heappop(queue)
            reason, gain = self.way.reason_against(word), suggestion.score
            if reason is None:
                effect = self.way.effect(word)
                if by_gain:
                    gain = _worth(effect.tokens_saved, effect.unknown_removed, unknown_weight)
                    if gain * suggestion.frequency < min_frequency * suggestion.score:
                        reason = SAVED_ALREADY
                    elif picked_then < len(self.suggestions) and queue and gain < -queue[0][0]:
                        self.way.give_back(word)
                        again = (
                            -gain,
                            -suggestion.frequency,
                            word,
                            len(self.suggestions),
                            suggestion,
                        )
                        heapq.heappush(queue, again)
                        continue
                reason = reason or self._reason_against(suggestion, effect)
                if reason is None:
                    self._take(suggestion._replace(score=gain), effect)
                    continue
                self.way.give_back(word)
            self.left_out.append(LeftOut(word, suggestion.frequency, reason))

    def _reason_against(self, suggestion: Suggestion, effect: Effect) -> str | None:
        if not self.way.is_one_token(suggestion.word):
            return "it would not become one token"
        others = sorted(effect.others, key=lambda change: (-change.frequency, change.text))
        if not self.leave_others:
            # Those that become worse: with more unknown tokens, or with as many and longer.
            sizes = [
                [(self.way.unknown_in(side), len(side)) for side in each[2:]] for each in others
            ]
            others = [
                each for each, (before, after) in zip(others, sizes, strict=True) if after > before
            ]
            if HARM * sum(change.frequency for change in others) <= suggestion.frequency:
                return None
        return (
            f"{others[0].text!r:.60} would become {' '.join(others[0].after)}" if others else None
        )

    def _take(self, suggestion: Suggestion, effect: Effect) -> None:
        self.way.keep(effect)
        self._changes.update((change.text, change) for change in effect.others)
        self.tokens -= effect.tokens_saved
        self.unknown -= effect.unknown_removed
        self._gone += effect.tokens_saved + effect.unknown_removed
        self.suggestions.append(suggestion)
        if len(self.suggestions) in MILESTONES:
            self.note()

    def note(self) -> None:
        """Note what the suggestions so far come to."""
        coverage = self._gone / self._extra if self._extra else 1.0
        self.milestones.append(
            Milestone(len(self.suggestions), self.tokens, self.unknown, coverage)
        )

    def changed(self) -> list[ChangedUnit]:
        """What has changed beside the suggestions, the most frequent first."""
        changes = (change for text, change in self._changes.items() if text not in self.way.taken)
        return sorted(changes, key=lambda change: (-change.frequency, change.text))
