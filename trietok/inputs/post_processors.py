"""The post-processors of tokenizer.json: what stands around a text, or two, and with which type
ids.

In: special tokens with their ids, in their order around texts. Out: a value that gives the pieces
of a template for one text and for two, and that turns into the JSON object of `post_processor`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.inputs.template import RowPiece

if TYPE_CHECKING:
    from trietok.inputs.template import Kind, Template


class TemplatePiece(NamedTuple):
    """One piece as TemplateProcessing names it.

    Attributes:
        name: "A" or "B" for a text, else the key of a special token.
        type_id: the token type id of all its tokens.
        is_sequence: whether it is a text.
    """

    name: str
    type_id: int
    is_sequence: bool = False


class TemplateToken(NamedTuple):
    """What a special token of a template stands for: usually one id and one token, of that name.

    Attributes:
        name: the `id` it gives itself in the file; the key it stands under is what the template
            uses.
        ids: what is put into the ids.
        tokens: what is put into the tokens; as many.
    """

    name: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


class TemplateProcessing(NamedTuple):
    """Any order of texts and special tokens, with any type ids.

    >>> first, text = TemplatePiece("[CLS]", 2), TemplatePiece("A", 0, is_sequence=True)
    >>> second = TemplatePiece("B", 1, is_sequence=True)
    >>> cls = TemplateToken("[CLS]", (101,), ("[CLS]",))
    >>> template = TemplateProcessing((first, text), (first, text, second), {"[CLS]": cls})
    >>> [(piece.token_id, piece.sequence, piece.type_id) for piece in template.pieces(pair=True)]
    [(101, None, 2), (None, 0, 0), (None, 1, 1)]
    """

    single: tuple[TemplatePiece, ...]
    pair: tuple[TemplatePiece, ...]
    special_tokens: Mapping[str, TemplateToken] = MappingProxyType({})

    def pieces(self, pair: bool) -> tuple[RowPiece, ...]:
        """The template for one text or, with `pair`, for two."""
        resolved: list[RowPiece] = []
        for name, type_id, is_sequence in self.pair if pair else self.single:
            if is_sequence:
                resolved.append(RowPiece(type_id, sequence="AB".index(name)))
            else:
                entry = self.special_tokens[name]
                resolved += (
                    RowPiece(type_id, token=token, token_id=token_id)
                    for token, token_id in zip(entry.tokens, entry.ids, strict=True)
                )
        return tuple(resolved)

    def special_ids(self) -> list[tuple[str, str, int]]:
        """Where in the object, the token, the id: of every special token."""
        return [
            (f"special_tokens[{key!r:.60}]", token, token_id)
            for key, entry in self.special_tokens.items()
            for token, token_id in zip(entry.tokens, entry.ids, strict=True)
        ]

    def renumbered(self, new_ids: Mapping[int, int]) -> TemplateProcessing:
        """The same with other ids: old id → new id."""
        tokens = {
            key: entry._replace(ids=tuple(new_ids.get(i, i) for i in entry.ids))
            for key, entry in self.special_tokens.items()
        }
        return TemplateProcessing(self.single, self.pair, tokens)

    def to_json(self) -> dict[str, Any]:
        """The object as tokenizer.json has it."""

        def piece(name: str, type_id: int, is_sequence: bool) -> dict[str, Any]:
            return {"Sequence" if is_sequence else "SpecialToken": {"id": name, "type_id": type_id}}

        return {
            "type": "TemplateProcessing",
            "single": [piece(*each) for each in self.single],
            "pair": [piece(*each) for each in self.pair],
            "special_tokens": {
                key: {"id": entry.name, "ids": list(entry.ids), "tokens": list(entry.tokens)}
                for key, entry in sorted(self.special_tokens.items())
            },
        }


class BertProcessing(NamedTuple):
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with the type id 1 from B on. Each token with
    its id.

    >>> processor = BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101))
    >>> [piece.type_id for piece in processor.pieces(pair=True)]
    [0, 0, 0, 1, 1]
    """

    sep: tuple[str, int]
    cls: tuple[str, int]

    def pieces(self, pair: bool) -> tuple[RowPiece, ...]:
        """The template for one text or, with `pair`, for two."""
        single = (_special(self.cls, 0), RowPiece(0, sequence=0), _special(self.sep, 0))
        return (*single, RowPiece(1, sequence=1), _special(self.sep, 1)) if pair else single

    def special_ids(self) -> list[tuple[str, str, int]]:
        """Where in the object, the token, the id: of every special token."""
        return [("sep", *self.sep), ("cls", *self.cls)]

    def renumbered(self, new_ids: Mapping[int, int]) -> BertProcessing:
        """The same with other ids: old id → new id."""
        sep, cls = _renumbered(self, new_ids)
        return self._replace(sep=sep, cls=cls)

    def to_json(self) -> dict[str, Any]:
        """The object as tokenizer.json has it."""
        return _object(self)


class RobertaProcessing(NamedTuple):
    """`<s> A </s>` and `<s> A </s> </s> B </s>`, all of type id 0. Each token with its id.

    `trim_offsets` says whether the offsets of a token leave out the whitespace, and the `Ġ`, that
    it begins and ends with; with `add_prefix_space` a single one stays at the front of a text's
    first token. Ids do not depend on either.

    >>> processor = RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
    >>> [piece.token or piece.sequence for piece in processor.pieces(pair=True)]
    ['<s>', 0, '</s>', '</s>', 1, '</s>']
    """

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def pieces(self, pair: bool) -> tuple[RowPiece, ...]:
        """The template for one text or, with `pair`, for two."""
        sep = _special(self.sep, 0)
        single = (_special(self.cls, 0), RowPiece(0, sequence=0), sep)
        return (*single, sep, RowPiece(0, sequence=1), sep) if pair else single

    def special_ids(self) -> list[tuple[str, str, int]]:
        """Where in the object, the token, the id: of every special token."""
        return [("sep", *self.sep), ("cls", *self.cls)]

    def renumbered(self, new_ids: Mapping[int, int]) -> RobertaProcessing:
        """The same with other ids: old id → new id."""
        sep, cls = _renumbered(self, new_ids)
        return self._replace(sep=sep, cls=cls)

    def to_json(self) -> dict[str, Any]:
        """The object as tokenizer.json has it."""
        return _object(self)


PostProcessor = TemplateProcessing | BertProcessing | RobertaProcessing


def bare_pieces(pair: bool) -> tuple[RowPiece, ...]:
    """The pieces where there is no post-processor: the texts alone, the second of type id 1."""
    return (
        (RowPiece(0, sequence=0), RowPiece(1, sequence=1)) if pair else (RowPiece(0, sequence=0),)
    )


def shown_template(pieces: Collection[RowPiece], with_types: bool = True) -> str:
    """Pieces as messages show them: `[CLS] $A [SEP] $B:1 [SEP]:1`."""
    names = [
        piece.token if piece.sequence is None else f"${'AB'[piece.sequence]}" for piece in pieces
    ]
    types = [f":{piece.type_id}" if with_types and piece.type_id else "" for piece in pieces]
    return " ".join(f"{name}{kind}" for name, kind in zip(names, types, strict=True))


def _special(token: tuple[str, int], type_id: int) -> RowPiece:
    return RowPiece(type_id, token=token[0], token_id=token[1])


def _renumbered(
    value: BertProcessing | RobertaProcessing, new_ids: Mapping[int, int]
) -> list[tuple[str, int]]:
    """The two tokens with other ids: old id → new id."""
    return [(token, new_ids.get(token_id, token_id)) for token, token_id in (value.sep, value.cls)]


def _object(value: BertProcessing | RobertaProcessing) -> dict[str, Any]:
    """The object as tokenizer.json has it; the order of the fields is that of the keys in the
    files.
    """
    fields = value._asdict().items()
    return {
        "type": type(value).__name__,
        **{name: list(of) if isinstance(of, tuple) else of for name, of in fields},
    }


def template_processing_of(tokenizer: Any, template: Template) -> TemplateProcessing:
    """A template as tokenizer.json has it, with a tokenizer's tokens and their ids."""
    tokens: dict[str, TemplateToken] = {}

    def piece(kind: Kind, name: str, type_id: int, is_in_mask: bool) -> TemplatePiece:
        if kind == "sequence":
            return TemplatePiece(name, type_id, is_sequence=True)
        token = str(getattr(tokenizer, f"{name}_token")) if kind == "role" else name
        tokens[token] = TemplateToken(
            token, tuple(tokenizer._ids_of(tokenizer._table, [token])), (token,)
        )
        return TemplatePiece(token, type_id)

    single, pair = (tuple(piece(*part) for part in parts) for parts in template)
    return TemplateProcessing(single, pair, tokens)
