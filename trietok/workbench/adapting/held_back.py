"""What new tokens do to texts that were held back: their tokens, and where their embeddings go.

In: texts, two tokenizers, and their embeddings by two models. Out: numbers (`HeldBack`), with
sentences and pictures of them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import compress
from operator import ne
from typing import Any, NamedTuple

from trietok.showing.characters import number_of
from trietok.tokenizer.bert import BertTokenizer
from trietok.training.word_counts import WordCounts
from trietok.workbench.adapting.add_terms import add_words_of, batches, ids_of_texts, unknown_id_of
from trietok.workbench.adapting.checkpoint import UNLIMITED, Checkpoint

_MOST_HELD, MOST_EMBEDDED = 2000, 400  # texts
NEAREST = 10  # neighbours of a text in an index
_FEWEST = 5 * NEAREST  # texts: of fewer, the nearest say little
_SAME = 0.99  # of the neighbours: where fewer are found, the report warns


class TokensOfTexts(NamedTuple):
    """The tokens of some texts, without [CLS], [SEP] and the like: how many, and how many of them
    are unknown.
    """

    texts: int
    tokens: int
    unknown: int

    def becomes(self, after: TokensOfTexts) -> str:
        """How many there are with another tokenizer, in a line."""
        saved = (self.tokens - after.tokens) / self.tokens if self.tokens else 0
        return (
            f"{number_of(after.texts, 'text')}: {self.tokens:,} tokens become {after.tokens:,}"
            f" ({saved:.1%} fewer)"
        )


def tokens_of(
    tokenizers: tuple[BertTokenizer, BertTokenizer],
    texts: Iterable[str],
    words: WordCounts | None = None,
) -> tuple[TokensOfTexts, TokensOfTexts, Counter[int]]:
    """The tokens of texts with each of two tokenizers, and how often the second one gives each id
    as a word's last.

    `words` gets the words of those texts that have other ids: they hold all that are split
    differently.
    """
    unknown: list[Any] = list(map(unknown_id_of, tokenizers))
    tokens, unknown_tokens, number = [0, 0], [0, 0], 0
    prefix = tokenizers[1].wordpiece_tokenizer.continuing_subword_prefix
    vocabulary = tokenizers[1].get_vocab() if prefix else {}
    inner = {token_id for token, token_id in vocabulary.items() if token.startswith(prefix)}
    given: Counter[int] = Counter()
    for batch in batches(texts):
        number += len(batch)
        both = [ids_of_texts(tokenizer, batch) for tokenizer in tokenizers]
        for which, rows in enumerate(both):
            tokens[which] += sum(map(len, rows))
            unknown_tokens[which] += sum(ids.count(unknown[which]) for ids in rows)
        if words is not None:
            add_words_of(tokenizers[0], compress(batch, map(ne, *both)), words)
        for ids in both[1]:
            ends = zip(ids, [*ids[1:], None], strict=True)
            given.update(each for each, after in ends if after not in inner)
    before, after = map(TokensOfTexts, (number, number), tokens, unknown_tokens)
    return before, after, given


class Retrieval(NamedTuple):
    """What texts give, beside what the original gives them: the mean cosine, and the share of the
    ten nearest in an index of the original that is found.
    """

    cosine: float
    neighbours: float

    @staticmethod
    def is_told(texts: int) -> bool:
        """Whether neighbours among so many texts say much: of eleven, each finds all others."""
        return texts >= _FEWEST


TOO_FEW = f"too few texts to say which of the {NEAREST} nearest are found: give {_FEWEST} or more"


def retrieval(old: Any, new: Any) -> Retrieval:
    """How near embeddings, as numpy arrays whose rows have the length 1, are to others of the same
    texts.

    The nearest are looked up among all texts but the one itself, in the index of the old
    embeddings.
    """
    count, nearest = min(NEAREST, len(old) - 1), []
    for each in (old, new):
        likeness = each @ old.T
        likeness[range(len(old)), range(len(old))] = -2  # less than any cosine
        nearest.append((-likeness).argsort(1, kind="stable")[:, :count].tolist())
    kept = sum(len(set(one) & set(other)) for one, other in zip(*nearest, strict=True))
    return Retrieval(float((old * new).sum(1).mean()), kept / (count * len(old)) if count else 1.0)


class HeldBack(NamedTuple):
    """What the new tokens do to texts that no word was found in; with given terms, to a sample of
    all.

    Attributes:
        before, after: the tokens of the texts.
        most: how many tokens the model takes, special ones included.
        fit_before, fit_after: how many texts are no longer than that.
        changed: how many texts have other ids than before.
        embedded: how many of the texts both models have embedded; 0 where that was not measured.
        cosine: between the two embeddings of a text, the mean.
        neighbours: of the ten texts nearest to each, by an index of the old embeddings, the share
            that its new embedding finds in that index.
    """

    before: TokensOfTexts
    after: TokensOfTexts
    most: int
    fit_before: int
    fit_after: int
    changed: int
    embedded: int = 0
    cosine: float | None = None
    neighbours: float | None = None

    def measured(self, old: Any, new: Any) -> HeldBack:
        """The same, with what became of the embeddings of some of the texts."""
        return self._replace(embedded=len(old), **retrieval(old, new)._asdict())

    @property
    def _found(self) -> float | None:
        """The neighbours, where there are enough texts for them to mean something."""
        return self.neighbours if Retrieval.is_told(self.embedded) else None

    def lines(self, is_last: bool = True) -> Iterator[str]:
        """What it says, in sentences, without the tokens; unless it `is_last`, embeddings are
        measured later.
        """
        fit = f" fit into {self.most:,} tokens before, {self.fit_after:,} now"
        fit = (
            f"{self.fit_before:,} of {number_of(self.before.texts, 'text')}{fit}; "
            if self.most < UNLIMITED
            else ""
        )
        yield f"{fit}{self.changed:,} {'has' if self.changed == 1 else 'have'} other ids"
        found = self._found
        if self.neighbours is not None:
            near = TOO_FEW
            if found is not None:
                near = f"{found:.1%} of the {NEAREST} nearest in an index made before are found"
            yield (
                f"embeddings of {number_of(self.embedded, 'text')}: cosine {self.cosine:.3f} to"
                f" those before; {near}"
            )
        if found is None and self.changed:
            is_open = is_last and self.neighbours is None
            how_far = "; --measure (measure=True) says how far" if is_open else ""
            yield f"an index made before does not match the new model{how_far}"
        elif found is not None and found < _SAME:
            yield (
                "an index made before no longer matches: searches in it miss"
                f" {1 - found:.1%} of what they found; embed its texts anew"
            )

    def pictures(self) -> Iterator[tuple[str, list[tuple[str, float, str]]]]:
        """The same in bars: what they are about, and of each its name, its length up to 1, and its
        number.
        """
        tokens = (self.before.tokens, self.after.tokens)
        yield (
            "tokens of these texts",
            two_bars((each / max(*tokens, 1), f"{each:,}") for each in tokens),
        )
        if self.most < UNLIMITED:
            fit = (self.fit_before, self.fit_after)
            shares = ((each / self.before.texts, f"{each:,}") for each in fit)
            yield f"texts that fit into {self.most:,} tokens", two_bars(shares)
        if self._found is not None:
            found = ((1.0, "100.0%"), (self._found, f"{self._found:.1%}"))
            yield f"of the {NEAREST} nearest in an index made before, found", two_bars(found)
        if self.cosine is not None:
            cosines = ((1.0, "1.000"), (self.cosine, f"{self.cosine:.3f}"))
            yield "cosine to the embeddings before", two_bars(cosines)


def two_bars(values: Iterable[tuple[float, str]]) -> list[tuple[str, float, str]]:
    """Two bars, that before and that now."""
    pairs = zip(("before", "now"), values, strict=True)
    return [(name, max(share, 0), number) for name, (share, number) in pairs]


class HeldTexts:
    """Texts without a share of them, of which `texts` is a sample once they are read: the same each
    time.

    More of a large corpus would not fit into memory, and it may begin with texts of one kind.
    """

    def __init__(self, read: Iterable[str], share: float) -> None:
        self._read, self._share, self.texts = read, share, list[str]()

    def __iter__(self) -> Iterator[str]:
        self.texts, draw, number = [], random.Random(0), 0
        for text in self._read:
            if draw.random() >= self._share:
                yield text
                continue
            place, number = draw.randrange(number + 1), number + 1
            if len(self.texts) < _MOST_HELD:
                self.texts.append(text)
            elif place < _MOST_HELD:
                self.texts[place] = text

    def told(
        self, tokenizers: tuple[BertTokenizer, BertTokenizer], checkpoint: Checkpoint
    ) -> HeldBack | None:
        """What two tokenizers make of the sample, if there is one."""
        if not self.texts:
            return None
        before, after, _ = tokens_of(tokenizers, self.texts)
        old, new = (ids_of_texts(tokenizer, self.texts) for tokenizer in tokenizers)
        most = checkpoint.most_tokens(tokenizers[0])
        room = most - tokenizers[0].num_special_tokens_to_add()
        fit = [sum(len(ids) <= room for ids in rows) for rows in (old, new)]
        return HeldBack(before, after, most, fit[0], fit[1], sum(map(ne, old, new)))
