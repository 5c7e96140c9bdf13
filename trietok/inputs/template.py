"""Templates: which special tokens go around one sequence or two, and the token type id of each
part.

In: a line such as `cls $A sep $B:1 sep:1`. Out: its parts as plain values, which tokenizer.json can
hold, and from which ids, token type ids and masks are made. Every kind of template is converted to
a tuple of `RowPiece`s.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

from trietok.errors import InputTypeError, SpecialTokenError, kind_of


class RowPiece(NamedTuple):
    """One piece of a row, ready to use: a whole text, or one special token.

    Attributes:
        type_id: the token type id of all its tokens.
        sequence: 0 for the first text, 1 for the second; None for a special token.
        token: the special token; None for a text.
        token_id: its id; None for a text, and for a special token that the tokenizer does not have.
        has_type_id: whether the token type ids of a row have one for it. BERT's leave out a `[CLS]`
            that is not set.
        role: the role whose token it is; None for a text, and for a token that the template names
            by its content.
        is_in_mask: whether the special tokens mask has a place for it. Splinter's leaves out
            `[QUESTION] .`.
    """

    type_id: int
    sequence: int | None = None
    token: str | None = None
    token_id: int | None = None
    has_type_id: bool = True
    is_in_mask: bool = True
    role: str | None = None


def require_ids(pieces: Iterable[RowPiece]) -> None:
    """Raise where a special token of the template has no id: its role has no token, or one the
    tokenizer lacks.
    """
    for piece in pieces:
        if piece.sequence is None and piece.token_id is None:
            what = (
                f"{piece.role} is None"
                if piece.token is None
                else f"the token {piece.token!r} has no id"
            )
            raise SpecialTokenError(
                "the template puts a special token around the text that the tokenizer does not"
                f" have: {what}; give the role a token, or pass add_special_tokens=False",
                role=piece.role,
            )


def input_ids(pieces: Iterable[RowPiece], ids: list[int], pair_ids: list[int] | None) -> list[Any]:
    """The ids of a row of one sequence or two; None for a special token without an id.

    >>> input_ids([RowPiece(0, token="[CLS]", token_id=2), RowPiece(0, sequence=0)], [7, 8], None)
    [2, 7, 8]
    """
    result: list[Any] = []
    for piece in pieces:
        if piece.sequence is None:
            result.append(piece.token_id)
        else:
            own = pair_ids if piece.sequence else ids
            require_list(own)
            result += own or ()
    return result


Kind = Literal["sequence", "role", "token"]


class TemplatePart(NamedTuple):
    """One part of a template.

    Attributes:
        kind: `"sequence"`; `"role"` for the token of a role; `"token"` for a token by its content.
        name: `"A"` or `"B"`; the role without its `_token`, such as `"cls"`; or the token.
        type_id: the token type id of everything in the part.
        is_in_mask: whether the special tokens mask has a place for it.
    """

    kind: Kind
    name: str
    type_id: int = 0
    is_in_mask: bool = True


class Template(NamedTuple):
    """What stands around one sequence (`single`), and around two (`pair`)."""

    single: tuple[TemplatePart, ...]
    pair: tuple[TemplatePart, ...]

    @classmethod
    @cache
    def of(cls, single: str, pair: str) -> Template:
        """A template from two lines of parts with spaces between.

        Args:
            single, pair: each part is `$A` or `$B` for a sequence, the name of a role such as
                `cls`, or a token in quotes; a colon and a number after it give its token type id,
                which is 0 else; a tilde before it leaves it out of the special tokens mask.

        >>> template = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
        >>> [(part.name, part.type_id) for part in template.pair]
        [('cls', 0), ('A', 0), ('sep', 0), ('B', 1), ('sep', 1)]
        """
        return cls(_parts(single), _parts(pair))

    def pieces(
        self, pair: bool, token_of: Callable[[str], str | None], id_of: Callable[[str], int | None]
    ) -> tuple[RowPiece, ...]:
        """The pieces of a row of one sequence or two.

        Args:
            pair: whether there are two.
            token_of: the token of a role, such as `"cls_token"`; None where it is not set.
            id_of: the id of a token.

        >>> template = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
        >>> ids = {"[CLS]": 2, "[SEP]": 3}
        >>> [
        ...     piece.token_id
        ...     for piece in template.pieces(False, {"cls_token": "[CLS]"}.get, ids.__getitem__)
        ... ]
        [2, None, None]
        """
        pieces: list[RowPiece] = []
        for part in self.pair if pair else self.single:
            if part.kind == "sequence":
                pieces.append(RowPiece(part.type_id, sequence="AB".index(part.name)))
                continue
            token = token_of(f"{part.name}_token") if part.kind == "role" else part.name
            token_id = None if token is None else id_of(token)
            role = f"{part.name}_token" if part.kind == "role" else None
            pieces.append(
                RowPiece(
                    part.type_id, None, token, token_id, token is not None, part.is_in_mask, role
                )
            )
        return tuple(pieces)

    def input_ids(self, tokenizer: Any, ids: list[int], pair_ids: list[int] | None) -> list[int]:
        """The ids of one sequence or two with the special tokens of a tokenizer."""
        result: list[int] = []
        for part, own in self._parts_of(ids, pair_ids):
            if own is not None:
                require_list(own)
                result += own
            elif part.kind == "role":
                result.append(getattr(tokenizer, f"{part.name}_token_id"))
            else:
                result.append(tokenizer.convert_tokens_to_ids(part.name))
        return result

    def token_type_ids(
        self, ids: list[int], pair_ids: list[int] | None, unset: Collection[str] = ()
    ) -> list[int]:
        """The token type id of every id; none for the roles of `unset`, which have no token."""
        types: list[int] = []
        for part, own in self._parts_of(ids, pair_ids):
            is_unset = part.kind == "role" and f"{part.name}_token" in unset
            types += [part.type_id] * (not is_unset if own is None else len(own))
        return types

    def special_tokens_mask(self, ids: list[int], pair_ids: list[int] | None) -> list[int]:
        """1 for every special token of the template, 0 for the ids between."""
        mask: list[int] = []
        for part, own in self._parts_of(ids, pair_ids):
            mask += [1] * part.is_in_mask if own is None else [0] * len(own)
        return mask

    def _parts_of(
        self, ids: list[int], pair_ids: list[int] | None
    ) -> Iterator[tuple[TemplatePart, list[int] | None]]:
        """Each part, with the ids of a sequence; None for a special token."""
        of = {"A": ids, "B": pair_ids}
        for part in self.single if pair_ids is None else self.pair:
            yield part, of[part.name] if part.kind == "sequence" else None


def require_list(ids: object) -> None:
    """Raise an InputTypeError for ids that are no list or tuple: special tokens cannot be put
    around an array.
    """
    if not isinstance(ids, (list, tuple)):
        raise InputTypeError(
            f"ids are a list of ints, not {kind_of(ids)}; an array has .tolist()", value=ids
        )


def _parts(line: str) -> tuple[TemplatePart, ...]:
    parts: list[TemplatePart] = []
    for word in line.split():
        name, _, type_id = word.lstrip("~").partition(":")
        kind: Kind = (
            "sequence" if name.startswith("$") else "token" if name.startswith("'") else "role"
        )
        parts.append(
            TemplatePart(kind, name.strip("$'"), int(type_id or 0), not word.startswith("~"))
        )
    return tuple(parts)


BERT = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
