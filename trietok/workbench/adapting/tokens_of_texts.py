"""Count the tokens of some texts with a tokenizer and with the changed one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import compress
from operator import ne
from typing import Any, NamedTuple

from trietok.showing.characters import number_of
from trietok.tokenizer.bert import BertTokenizer
from trietok.training.word_counts import WordCounts
from trietok.workbench.adapting.add_terms import add_words_of, batches, ids_of_texts, unknown_id_of


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
            ends = zip(ids, [*ids[1:], None], strict=False)  # of no ids, there is no last one
            given.update(each for each, after in ends if after not in inner)
    before, after = map(TokensOfTexts, (number, number), tokens, unknown_tokens)
    return before, after, given
