"""`plan_rows`: from two tokenizers to a plan, which says what the rows of new tokens are made of.

In: the tokenizer before and after, whatever was done between. Out: a `RowPlan`.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import index
from typing import Any

from trietok.errors import InputError, InputTypeError, UnknownTokenError
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.fingerprint import State, digest, state_of
from trietok.workbench.adapting.row_plan import RowPlan, Sums
from trietok.workbench.adapting.token_tensors import Sum

# From a new token and the old ids its text is cut into to the weight of each old row.
Initializer = Callable[[str, list[int]], Mapping[int, float]]
INITIALIZATIONS = ("mean", "length", "distil", "all", "zeros")  # besides "copy:" and a token


def plan_rows(
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    *,
    initialization: str | Initializer = "length",
) -> RowPlan:
    """Say for each row of a model of the tokenizer `after` which row, or rows, of a model of
    `before` it is made of.

    A token of both keeps its row, wherever its id has gone. An id that has no token keeps the row
    it has, so a token that was removed leaves a spare row behind, unless that row has moved with
    its token; then the row is zeros. Where several ids have the same token, as duplicate lines of a
    vocabulary have, the id that texts are encoded with gets the row of the one that they were
    encoded with; any other id keeps its row if its token is the same as before.

    Args:
        before: the tokenizer of the model as it is.
        after: the tokenizer that it is to have: the same with tokens added, removed, assigned or
            trimmed, or another one, whose tokens are looked up by their text.
        initialization: what the row of a new token is made of: `"length"`, the mean of the rows of
            the pieces that `before` cuts its text into, unknown ones left out, with the square of
            each piece's length in code points, without the mark of pieces inside words, as its
            weight;
            `"mean"`, the same with all pieces alike; `"all"`, the mean of the rows of all tokens;
            `"zeros"`; `"copy:"` and a token, whose row is taken; or a function from the token and
            the ids of its pieces to a weight for each old row. Where `before` knows no piece of a
            token, `"mean"` and `"length"` give the mean of all.

    Raises:
        InputTypeError: a tokenizer is none.
        InputError: `initialization` is none of these; the function gave a row that is not there, or
            a weight that is not finite.
        UnknownTokenError: the token to copy is none of `before`.

    >>> import copy, trietok
    >>> before = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> after = copy.deepcopy(before)
    >>> after.add_wordpieces(["zoology"])
    1
    >>> plan = plan_rows(before, after)
    >>> print(plan)
    8,000 of 8,000 rows kept (0 moved), 0 lost, 1 new
    >>> before.convert_ids_to_tokens([row for row, weight in plan.terms_of(8000)])
    ['z', '##ool', '##og', '##y']

    Cost: O(tokens of both), and encoding each new token once: 2 s for 100,000 new tokens, the
    fingerprints included.
    """
    for tokenizer in (before, after):
        if not isinstance(tokenizer, PreTrainedTokenizer):
            raise InputTypeError(
                f"plan_rows takes tokenizers, not {type(tokenizer).__name__}", value=tokenizer
            )
    old, now = state_of(before), state_of(after)
    initial = _Initial(before, initialization, old)
    old_ids, old_tokens = old.ids, _tokens_by_id(old)
    new_ids, new_tokens = now.ids, _tokens_by_id(now)
    there = frozenset(new_tokens.values())
    rows_before, rows_after = before.max_id + 1, after.max_id + 1
    sources = array("q", bytes(8 * rows_after))
    added: dict[str, list[int]] = {}
    for row in range(rows_after):
        token, old_token = new_tokens.get(row), old_tokens.get(row)
        if token in old_ids and new_ids[token] == row:
            sources[row] = old_ids[token]
        elif row < rows_before and (
            old_token == token or (token is None and old_token not in there)
        ):
            sources[row] = row
        elif token is None:
            sources[row] = initial.zeros()
        elif token in old_ids:
            sources[row] = old_ids[token]
        else:
            added.setdefault(token, []).append(row)
    for rows, source in zip(added.values(), initial.sources_of(list(added)), strict=True):
        for row in rows:
            sources[row] = source
    return RowPlan(digest(old), digest(now), rows_before, rows_after, sources, initial.sums.sums)


def check_initialization(before: PreTrainedTokenizer, initialization: str | Initializer) -> None:
    """Raise where `initialization` says nothing that `plan_rows` understands."""
    _Initial(before, initialization, state_of(before))


def ids_of_pieces(before: PreTrainedTokenizer, tokens: list[str]) -> Iterable[list[int]]:
    """The ids that a tokenizer gives for the text of each token that is none of its own; all texts
    go through it at once.
    """
    wordpiece = getattr(before, "wordpiece_tokenizer", None)
    prefix = getattr(wordpiece, "continuing_subword_prefix", None)
    inner: dict[str, list[int]] = {}  # what stands inside a word is no text by itself
    if wordpiece is not None and prefix:
        for token in tokens:
            if token.startswith(prefix) and len(token) > len(prefix):
                inner[token] = list(before.convert_tokens_to_ids(wordpiece.match_word(token) or []))
    texts = [token for token in tokens if token not in inner] if inner else tokens
    options: dict[str, Any] = {
        "return_attention_mask": False,
        "return_token_type_ids": False,
        "verbose": False,
    }
    encoded = iter(before(texts, add_special_tokens=False, **options)["input_ids"] if texts else ())
    return (inner[token] if token in inner else next(encoded) for token in tokens)


def _tokens_by_id(state: State) -> dict[int, str]:
    """Every id that has a token, those included that no text gives."""
    return {**dict(state.entries), **{token_id: content for token_id, content, _ in state.added}}


class _Initial:
    """What the rows of new tokens are made of; each different sum is kept once."""

    def __init__(self, before: PreTrainedTokenizer, initialization: Any, state: State) -> None:
        self.before, self._state = before, state
        self.sums = Sums()
        self._mean: int | None = None
        wordpiece = getattr(before, "wordpiece_tokenizer", None)
        self._prefix = getattr(wordpiece, "continuing_subword_prefix", None) or ""
        # from new tokens to the numbers of their sums, as a plan has them
        self.sources_of = self._way_of(initialization)

    def zeros(self) -> int:
        return self._number(())

    def _way_of(self, how: Any) -> Callable[[list[str]], Iterator[int]]:
        if how in ("mean", "length"):
            return partial(self._of_pieces, weigh=_even if how == "mean" else self._by_length)
        if how == "all":
            return lambda tokens: (self._mean_of_all() for _ in tokens)
        if how == "zeros":
            return lambda tokens: (self.zeros() for _ in tokens)
        if isinstance(how, str) and how.startswith("copy:"):
            token = how.removeprefix("copy:")
            row = self._state.ids.get(token)
            if row is None:
                raise UnknownTokenError(
                    f"there is no token {token!r:.60} to copy the row of", item=token
                )
            return lambda tokens: (self._number(((row, 1.0),)) for _ in tokens)
        if callable(how):
            return lambda tokens: (
                self._number(_checked_sum(how(token, pieces), token, self.before.max_id))
                for token, pieces in zip(tokens, ids_of_pieces(self.before, tokens), strict=True)
            )
        more = ", and for adapt 'distil', which needs the model" if how == "distil" else ""
        raise InputError(
            f"initialization is {how!r:.60}; it is 'mean', 'length', 'all', 'zeros', 'copy:' and a"
            f" token, or a function of a token and the ids of its pieces{more}"
        )

    def _number(self, terms: Sum) -> int:
        return ~self.sums.number_of(terms)

    def _of_pieces(self, tokens: list[str], weigh: Callable[[list[int]], Sum]) -> Iterator[int]:
        unknown = self.before.unk_token_id
        for pieces in ids_of_pieces(self.before, tokens):
            known = [piece for piece in pieces if piece != unknown] if unknown in pieces else pieces
            yield self._number(weigh(known)) if known else self._mean_of_all()

    def _by_length(self, rows: list[int]) -> Sum:
        """The mean of rows, each as often as the square of its token's length says."""
        squares: Counter[int] = Counter()
        for row, token in zip(rows, self.before.convert_ids_to_tokens(rows), strict=True):
            squares[row] += len(token.removeprefix(self._prefix)) ** 2
        count = sum(squares.values())
        return (
            tuple((row, square / count) for row, square in squares.items())
            if count
            else _even(rows)
        )

    def _mean_of_all(self) -> int:
        if self._mean is None:
            self._mean = self._number(_even(sorted(_tokens_by_id(self._state))))
        return self._mean


def _even(rows: list[int]) -> Sum:
    """The mean of rows, one that stands there twice counted twice."""
    share = 1 / len(rows)
    if len(set(rows)) == len(rows):
        return tuple([(row, share) for row in rows])
    return tuple([(row, rows.count(row) * share) for row in dict.fromkeys(rows)])


def _checked_sum(weights: Any, token: str, max_id: int) -> Sum:
    """What a user's function gave for a token."""
    if not isinstance(weights, Mapping):
        raise InputTypeError(
            f"the function gave {type(weights).__name__} for the token {token!r:.60}; it gives a"
            " dict old row → weight",
            value=weights,
        )
    try:
        terms = tuple((index(row), float(weight)) for row, weight in weights.items())
    except (TypeError, ValueError):
        raise InputTypeError(
            f"the function gave {weights!r:.60} for the token {token!r:.60}; a row is an int, a"
            " weight a float",
            value=weights,
        ) from None
    for row, weight in terms:
        if not (0 <= row <= max_id and math.isfinite(weight)):
            raise InputError(
                f"the function gave the weight {weight} for row {row} for the token {token!r:.60};"
                f" rows are from 0 to {max_id}, weights are finite"
            )
    return terms
