"""`plan_rows`: which row of a model belongs to which token once its tokenizer has changed, and what new rows are of.

In: the tokenizer before and after, whatever was done between. Out: a `RowPlan`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from trietok.adapting.row_plan import RowPlan, Sum
from trietok.errors import InputError, InputTypeError, UnknownTokenError
from trietok.tokenizer.pretrained import PreTrainedTokenizer

# From a new token and the old ids its text is cut into to the weight of each old row.
Initializer = Callable[[str, list[int]], Mapping[int, float]]
_COPY = "copy:"


def plan_rows(before: PreTrainedTokenizer, after: PreTrainedTokenizer, new: str | Initializer = "pieces") -> RowPlan:
    """Say for each row of a model of the tokenizer `after` which row, or rows, of a model of `before` it is made of.

    A token of both keeps its row, wherever its id has gone. An id of both that has no token keeps its row too.

    Args:
        before: the tokenizer of the model as it is.
        after: the tokenizer that it is to have: the same with tokens added, removed, assigned or trimmed, or another
            one, whose tokens are looked up by their text.
        new: what the row of a new token is made of: `"pieces"`, the mean of the rows of the pieces that `before` cuts
            its text into, unknown ones left out; `"mean"`, the mean of the rows of all tokens; `"zeros"`; `"copy:"` and
            a token, whose row is taken; or a function from the token and the ids of its pieces to a weight for each old
            row. Where `before` knows no piece of a token, `"pieces"` gives the mean of all.

    Raises:
        InputTypeError: a tokenizer is none.
        InputError: `new` is none of these.
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

    Cost: O(tokens of both), and encoding each new token once.
    """
    for tokenizer in (before, after):
        if not isinstance(tokenizer, PreTrainedTokenizer):
            raise InputTypeError(f"plan_rows takes tokenizers, not {type(tokenizer).__name__}", value=tokenizer)
    initialize = _Initial(before, new)
    old_ids, old_tokens = before.get_vocab(), _tokens_by_id(before)
    new_tokens = _tokens_by_id(after)
    rows_before, rows_after = before.max_id + 1, after.max_id + 1
    sources = array("q", bytes(8 * rows_after))
    for row in range(rows_after):
        token = new_tokens.get(row)
        if row < rows_before and old_tokens.get(row) == token:
            sources[row] = row
        elif token is None:
            sources[row] = initialize.zeros()
        elif token in old_ids:
            sources[row] = old_ids[token]
        else:
            sources[row] = initialize(token)
    return RowPlan(before.fingerprint(), after.fingerprint(), rows_before, rows_after, sources, initialize.sums)


def _tokens_by_id(tokenizer: PreTrainedTokenizer) -> dict[int, str]:
    """Every id that has a token, those included that no text gives."""
    vocabulary = getattr(tokenizer, "vocabulary", None)
    if vocabulary is None:
        by_id = {token_id: token for token, token_id in tokenizer.get_vocab().items()}
    else:
        by_id = {token_id: token for token_id, token in enumerate(vocabulary.tokens) if token is not None}
    by_id.update((token_id, token.content) for token_id, token in tokenizer.added_tokens_decoder.items())
    return by_id


class _Initial:
    """What the rows of new tokens are made of; each different sum is kept once."""

    def __init__(self, before: PreTrainedTokenizer, new: Any) -> None:
        self.before = before
        self.sums: list[Sum] = []
        self._numbers: dict[Sum, int] = {}
        self._mean: int | None = None
        self._source_of = self._way(new)

    def __call__(self, token: str) -> int:
        return self._source_of(token)

    def zeros(self) -> int:
        return self._number(())

    def _way(self, new: Any) -> Callable[[str], int]:
        if new == "pieces":
            return self._of_pieces
        if new == "mean":
            return lambda token: self._mean_of_all()
        if new == "zeros":
            return lambda token: self.zeros()
        if isinstance(new, str) and new.startswith(_COPY):
            row = self._row_to_copy(new[len(_COPY) :])
            return lambda token: self._number(((row, 1.0),))
        if callable(new):
            return lambda token: self._number(_checked(new(token, self._pieces_of(token)), token))
        raise InputError(
            f"new is {new!r:.60}; it is 'pieces', 'mean', 'zeros', 'copy:' and a token, or a function of a token and "
            "the ids of its pieces"
        )

    def _row_to_copy(self, token: str) -> int:
        row = self.before.get_vocab().get(token)
        if row is None:
            raise UnknownTokenError(f"there is no token {token!r:.60} to copy the row of", item=token)
        return row

    def _number(self, terms: Sum) -> int:
        number = self._numbers.setdefault(terms, len(self.sums))
        if number == len(self.sums):
            self.sums.append(terms)
        return ~number

    def _of_pieces(self, token: str) -> int:
        unknown = self.before.unk_token_id
        known = [piece for piece in self._pieces_of(token) if piece != unknown]
        return self._number(_even(known)) if known else self._mean_of_all()

    def _pieces_of(self, token: str) -> list[int]:
        """The ids that the tokenizer so far gives for the text of a token."""
        wordpiece = getattr(self.before, "wordpiece_tokenizer", None)
        prefix = getattr(wordpiece, "continuing_subword_prefix", None)
        if wordpiece is not None and prefix and token.startswith(prefix) and len(token) > len(prefix):
            return list(self.before.convert_tokens_to_ids(wordpiece.match_word(token) or []))
        return list(self.before.encode(token, add_special_tokens=False, verbose=False))

    def _mean_of_all(self) -> int:
        if self._mean is None:
            self._mean = self._number(_even(sorted(_tokens_by_id(self.before))))
        return self._mean


def _even(rows: list[int]) -> Sum:
    """The mean of rows, one that stands there twice counted twice."""
    weights: dict[int, float] = {}
    for row in rows:
        weights[row] = weights.get(row, 0.0) + 1 / len(rows)
    return tuple(weights.items())


def _checked(weights: Any, token: str) -> Sum:
    """What a user's function gave for a token; which rows there are, and that weights are finite, the plan checks."""
    if not isinstance(weights, Mapping):
        raise InputTypeError(
            f"the function gave {type(weights).__name__} for the token {token!r:.60}; it gives a dict old row → weight",
            value=weights,
        )
    return tuple((int(row), float(weight)) for row, weight in weights.items())
