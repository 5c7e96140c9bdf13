"""Templates: which special tokens go around one sequence or two, and the token type id of each part.

In: a line such as `cls $A sep $B:1 sep:1`. Out: its parts as plain values, which tokenizer.json can hold, and from
which ids, token type ids and masks are made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

from trietok.inputs.pieces import Piece
from trietok.inputs.post_processors import TemplatePiece, TemplateProcessing, TemplateToken

Ids = list[int]
Kind = Literal["sequence", "role", "token"]


class Part(NamedTuple):
    """One part of a template.

    Attributes:
        kind: `"sequence"`; `"role"` for the token of a role; `"token"` for a token by its content.
        name: `"A"` or `"B"`; the role without its `_token`, such as `"cls"`; or the token.
        type_id: the token type id of everything in the part.
    """

    kind: Kind
    name: str
    type_id: int = 0


class Template(NamedTuple):
    """What stands around one sequence (`single`), and around two (`pair`)."""

    single: tuple[Part, ...]
    pair: tuple[Part, ...]

    @classmethod
    @cache
    def of(cls, single: str, pair: str) -> Template:
        """A template from two lines of parts with spaces between.

        Args:
            single, pair: each part is `$A` or `$B` for a sequence, the name of a role such as `cls`, or a token in
                quotes; a colon and a number after it give its token type id, which is 0 else.

        >>> template = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
        >>> template.pair[2:4]
        (Part(kind='role', name='sep', type_id=0), Part(kind='sequence', name='B', type_id=1))
        """
        return cls(_parts(single), _parts(pair))

    def pieces(
        self, pair: bool, token_of: Callable[[str], str | None], id_of: Callable[[str], int]
    ) -> tuple[Piece, ...]:
        """The pieces of a row of one sequence or two.

        Args:
            pair: whether there are two.
            token_of: the token of a role, such as `"cls_token"`; None where it is not set.
            id_of: the id of a token.

        >>> template = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
        >>> ids = {"[CLS]": 2, "[SEP]": 3}
        >>> [piece.token_id for piece in template.pieces(False, {"cls_token": "[CLS]"}.get, ids.__getitem__)]
        [2, None, None]
        """
        pieces: list[Piece] = []
        for kind, name, type_id in self.pair if pair else self.single:
            if kind == "sequence":
                pieces.append(Piece(type_id, sequence="AB".index(name)))
            else:
                token = token_of(f"{name}_token") if kind == "role" else name
                pieces.append(Piece(type_id, None, token, None if token is None else id_of(token)))
        return tuple(pieces)

    def input_ids(self, tokenizer: Any, ids: Ids, pair_ids: Ids | None) -> Ids:
        """The ids of one sequence or two with the special tokens of a tokenizer."""
        result: Ids = []
        for kind, name, _ in self._parts_for(pair_ids):
            if kind == "sequence":
                result += _sequence(name, ids, pair_ids)
            elif kind == "role":
                result.append(getattr(tokenizer, f"{name}_token_id"))
            else:
                result.append(tokenizer.convert_tokens_to_ids(name))
        return result

    def token_type_ids(self, ids: Ids, pair_ids: Ids | None) -> Ids:
        """The token type id of every id."""
        types: Ids = []
        for kind, name, type_id in self._parts_for(pair_ids):
            types += [type_id] * (len(_sequence(name, ids, pair_ids)) if kind == "sequence" else 1)
        return types

    def special_tokens_mask(self, ids: Ids, pair_ids: Ids | None) -> list[int]:
        """1 for every special token of the template, 0 for the ids between."""
        mask: list[int] = []
        for kind, name, _ in self._parts_for(pair_ids):
            mask += [0] * len(_sequence(name, ids, pair_ids)) if kind == "sequence" else [1]
        return mask

    def _parts_for(self, pair_ids: Ids | None) -> tuple[Part, ...]:
        return self.single if pair_ids is None else self.pair


class TemplateMixin:
    """The methods that transformers has for a template, read off `template`. Not used by itself."""

    @property
    def template(self) -> Template:
        """Which special tokens go around one sequence and around two, with their token type ids."""
        raise NotImplementedError

    def build_inputs_with_special_tokens(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        """One sequence or a pair with the special tokens of `template`."""
        return self.template.input_ids(self, token_ids_0, token_ids_1)

    def create_token_type_ids_from_sequences(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        """The token type ids of `template`."""
        return self.template.token_type_ids(token_ids_0, token_ids_1)

    def get_special_tokens_mask(
        self, token_ids_0: Ids, token_ids_1: Ids | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 where `template` puts a special token, 0 for the ids between; see `PreTrainedTokenizerBase`."""
        if already_has_special_tokens:
            given: list[int] = super().get_special_tokens_mask(token_ids_0, token_ids_1, True)  # type: ignore[misc]
            return given
        return self.template.special_tokens_mask(token_ids_0, token_ids_1)


def template_processing_of(tokenizer: Any, template: Template) -> TemplateProcessing:
    """A template as tokenizer.json has it, with a tokenizer's tokens and their ids."""
    tokens: dict[str, TemplateToken] = {}

    def pieces(parts: tuple[Part, ...]) -> tuple[TemplatePiece, ...]:
        return tuple(piece(*part) for part in parts)

    def piece(kind: Kind, name: str, type_id: int) -> TemplatePiece:
        if kind == "sequence":
            return TemplatePiece(name, type_id, is_sequence=True)
        token = str(getattr(tokenizer, f"{name}_token")) if kind == "role" else name
        tokens[token] = TemplateToken(token, (tokenizer.convert_tokens_to_ids(token),), (token,))
        return TemplatePiece(token, type_id)

    return TemplateProcessing(pieces(template.single), pieces(template.pair), tokens)


def _sequence(name: str, ids: Ids, pair_ids: Ids | None) -> Ids:
    return ids if name == "A" or pair_ids is None else pair_ids


def _parts(line: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for word in line.split():
        name, _, type_id = word.partition(":")
        kind: Kind = "sequence" if name.startswith("$") else "token" if name.startswith("'") else "role"
        parts.append(Part(kind, name.strip("$'"), int(type_id or 0)))
    return tuple(parts)


BERT = Template.of("cls $A sep", "cls $A sep $B:1 sep:1")
