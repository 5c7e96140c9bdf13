"""The vocabulary: id ⇄ token, with duplicates and holes kept, `tokens_with_prefix` and
`longest_prefix`.

In: the lines of a vocab.txt or a mapping from token to id. Out: a `Vocabulary`, which never changes
an id.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from trietok.disk import read_vocab_lines
from trietok.errors import TokenIdError, UnknownTokenError, VocabularyError

if TYPE_CHECKING:
    import pygtrie


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ReadOnlyDict(dict[_Key, _Value]):
    """A dict that refuses to change; `dict(...)` and `.copy()` give one that can.

    >>> view = ReadOnlyDict({"a": 1})
    >>> view["b"] = 2
    Traceback (most recent call last):
    ...
    TypeError: this dict is read-only; change the tokenizer with add_tokens, remove_tokens,
    assign_unused or add_wordpieces, or copy the dict with dict(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "this dict is read-only; change the tokenizer with add_tokens, remove_tokens,"
            " assign_unused or add_wordpieces, or copy the dict with dict(...)"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


def load_vocab(vocab_file: str | os.PathLike[str]) -> dict[str, int]:
    """Read a vocab.txt into a dict from token to id, as transformers' function of that name.

    The id is the line's number from 0. A token on two lines has the number of the later one.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[UNK]\\nun\\n##able\\nun\\n")
    >>> load_vocab(path)
    {'[UNK]': 0, 'un': 3, '##able': 2}

    Raises:
        FileError, FileFormatError, VocabularyError: the file is missing, not UTF-8, or empty.
    """
    return dict(Vocabulary.from_file(vocab_file).token_to_id)


class Vocabulary:
    """Tokens by id and ids by token.

    Args:
        tokens: the tokens in the order of their ids; None where an id has no token (a hole).

    >>> vocabulary = Vocabulary(["[UNK]", "un", "##able", "un"])
    >>> vocabulary["un"], vocabulary.max_id, len(vocabulary), vocabulary.duplicates
    (3, 3, 3, {'un': [1, 3]})
    >>> vocabulary.id_to_token(1), Vocabulary.from_mapping({"a": 0, "b": 2}).holes
    ('un', [1])

    Attributes:
        tokens: the list as it came; the token of id i is `tokens[i]`.
        token_to_id: the dict that encodes, read-only. A token on two lines has the later id, as
            transformers has it.

    Raises:
        VocabularyError: there is no token at all.
    """

    def __init__(self, tokens: Iterable[str | None]) -> None:
        if isinstance(tokens, str):
            raise VocabularyError(
                f"a vocabulary takes a list of tokens, not one string: {tokens!r:.60}"
            )
        self.tokens = list(tokens)
        ids: ReadOnlyDict[Any, int] = ReadOnlyDict(
            zip(self.tokens, range(len(self.tokens)), strict=True)
        )
        if None in ids:
            ids = ReadOnlyDict(
                (token, token_id) for token, token_id in ids.items() if token is not None
            )
        self.token_to_id: ReadOnlyDict[str, int] = ids
        if not self.token_to_id:
            raise VocabularyError("a vocabulary needs at least one token; this one is empty")
        self._prefixes: pygtrie.CharTrie | None = None
        self._inverse: ReadOnlyDict[int, str] | None = None

    @property
    def ids_to_tokens(self) -> ReadOnlyDict[int, str]:
        """`token_to_id` the other way round, read-only; made once."""
        if self._inverse is None:
            self._inverse = ReadOnlyDict(
                {token_id: token for token, token_id in self.token_to_id.items()}
            )
        return self._inverse

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a vocab.txt: one token a line, the id is the line's number from 0.

        Raises:
            FileError, FileFormatError, VocabularyError: the file is missing, not UTF-8, or empty.
        """
        return cls(read_vocab_lines(path))

    @classmethod
    def from_mapping(cls, token_to_id: Mapping[str, int]) -> Vocabulary:
        """Turn a dict from token to id into a vocabulary; ids between that no token has become
        holes.

        Raises:
            VocabularyError: an id is negative or no int, two tokens have one id, or there is no
                token.
        """
        ids = token_to_id.values()
        if not {int}.issuperset(map(type, ids)) or min(ids, default=0) < 0:
            token = next(
                token
                for token, token_id in token_to_id.items()
                if type(token_id) is not int or token_id < 0
            )
            message = f"token {token!r} has the id {token_to_id[token]!r}"
            raise VocabularyError(f"{message}; an id is a whole number from 0", token=token)
        tokens: list[str | None] = [None] * (max(ids, default=-1) + 1)
        for token, token_id in token_to_id.items():
            if tokens[token_id] is not None:
                raise VocabularyError(
                    f"id {token_id} belongs to both {tokens[token_id]!r} and {token!r}; give one of"
                    " them another id",
                    token=token,
                    found_id=token_id,
                )
            tokens[token_id] = token
        return cls(tokens)

    def __len__(self) -> int:
        """The number of different tokens: transformers' `vocab_size`."""
        return len(self.token_to_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self.token_to_id)

    def __contains__(self, token: object) -> bool:
        return token in self.token_to_id

    def __getitem__(self, token: str) -> int:
        """The id of `token`.

        Raises:
            UnknownTokenError: the vocabulary does not hold it.
        """
        try:
            return self.token_to_id[token]
        except KeyError:
            raise UnknownTokenError(
                f"token {token!r} is not in the vocabulary", item=token
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(tuple(self.tokens))

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} tokens, max_id {self.max_id}>"

    def __getstate__(self) -> dict[str, Any]:
        # cheaper to build again than to send
        return {**self.__dict__, "_prefixes": None, "_inverse": None}

    def id_to_token(self, token_id: int) -> str | None:
        """The token on the line of `token_id`, also where a later line holds the same token; None
        for a hole.

        Raises:
            TokenIdError: the id is negative or above `max_id`.
        """
        if not 0 <= token_id <= self.max_id:
            raise TokenIdError(
                f"id {token_id} is outside the vocabulary, whose ids run from 0 to {self.max_id}",
                token_id=token_id,
                max_id=self.max_id,
            )
        return self.tokens[token_id]

    @property
    def max_id(self) -> int:
        """The highest id: a model needs at least `max_id + 1` embedding rows."""
        return len(self.tokens) - 1

    @property
    def duplicates(self) -> dict[str, list[int]]:
        """Every token with several ids, and these in order. The last is the one that encodes."""
        ids: dict[str, list[int]] = {}
        for token_id, token in enumerate(self.tokens):
            if token is not None and self.token_to_id[token] != token_id:
                ids.setdefault(token, []).append(token_id)
        return {token: [*earlier, self.token_to_id[token]] for token, earlier in ids.items()}

    @property
    def holes(self) -> list[int]:
        """The ids between 0 and `max_id` that no token has."""
        if len(self.token_to_id) == len(self.tokens):  # the commonest case
            return []
        return [token_id for token_id, token in enumerate(self.tokens) if token is None]

    def tokens_with_prefix(self, prefix: str) -> list[str]:
        """Every token that begins with `prefix`, in the order of their ids.

        >>> Vocabulary(["[UNK]", "un", "##able", "unit"]).tokens_with_prefix("un")
        ['un', 'unit']

        The first call builds a pygtrie `CharTrie` (about 2 µs a token); later calls cost O(number
        of tokens returned).
        """
        trie = self._prefix_trie()
        if not prefix:
            return sorted(self.token_to_id, key=self.token_to_id.__getitem__)
        if not trie.has_node(prefix):
            return []
        return sorted(trie.iterkeys(prefix), key=self.token_to_id.__getitem__)

    def longest_prefix(self, text: str) -> str | None:
        """The longest token that `text` begins with, or None.

        >>> Vocabulary(["[UNK]", "un", "##able", "unit"]).longest_prefix("united")
        'unit'
        """
        step = self._prefix_trie().longest_prefix(text)
        return str(step.key) if step else None

    def walk(self, text: str) -> tuple[list[str], int]:
        """Follow `text` from its first character, as far as some token goes on.

        >>> Vocabulary(["[UNK]", "u", "un", "##able", "unit"]).walk("under")
        (['u', 'un'], 2)

        Returns:
            The tokens that `text` begins with, shortest first; how many code points the walk has
            read.
        """
        tokens: list[str] = []
        reached = 0
        try:
            for reached, step in enumerate(self._prefix_trie().walk_towards(text)):  # noqa: B007  # read after the loop
                if step.is_set:
                    tokens.append(step.key)
        except KeyError:  # no token goes on
            pass
        return tokens, reached

    def _prefix_trie(self) -> pygtrie.CharTrie:
        if self._prefixes is None:
            import pygtrie

            self._prefixes = pygtrie.CharTrie((token, True) for token in self.token_to_id if token)
        return self._prefixes
