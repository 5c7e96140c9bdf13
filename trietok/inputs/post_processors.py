"""The post-processors of tokenizer.json: what stands around a text, or two, and with which type ids.

In: the JSON object of `post_processor`. Out: a value that gives the pieces of a template for one text and for two, and
that turns back into the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from trietok.files.json_place import JsonPlace
from trietok.inputs.pieces import Piece


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
        name: the `id` it gives itself in the file; the key it stands under is what the template uses.
        ids: what is put into the ids.
        tokens: what is put into the tokens; as many.
    """

    name: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class TemplateProcessing:
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
    special_tokens: Mapping[str, TemplateToken] = field(default_factory=dict)

    def pieces(self, pair: bool) -> tuple[Piece, ...]:
        """The template for one text or, with `pair`, for two."""
        resolved: list[Piece] = []
        for name, type_id, is_sequence in self.pair if pair else self.single:
            if is_sequence:
                resolved.append(Piece(type_id, sequence="AB".index(name)))
            else:
                entry = self.special_tokens[name]
                resolved += (
                    Piece(type_id, token=token, token_id=token_id)
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


@dataclass(frozen=True)
class BertProcessing:
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with the type id 1 from B on. Each token with its id.

    >>> processor = BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101))
    >>> [piece.type_id for piece in processor.pieces(pair=True)]
    [0, 0, 0, 1, 1]
    """

    sep: tuple[str, int]
    cls: tuple[str, int]

    def pieces(self, pair: bool) -> tuple[Piece, ...]:
        """The template for one text or, with `pair`, for two."""
        single = (_special(self.cls, 0), Piece(0, sequence=0), _special(self.sep, 0))
        return (*single, Piece(1, sequence=1), _special(self.sep, 1)) if pair else single

    def special_ids(self) -> list[tuple[str, str, int]]:
        """Where in the object, the token, the id: of every special token."""
        return [("sep", *self.sep), ("cls", *self.cls)]

    def renumbered(self, new_ids: Mapping[int, int]) -> BertProcessing:
        """The same with other ids: old id → new id."""
        (sep, sep_id), (cls, cls_id) = self.sep, self.cls
        return replace(self, sep=(sep, new_ids.get(sep_id, sep_id)), cls=(cls, new_ids.get(cls_id, cls_id)))

    def to_json(self) -> dict[str, Any]:
        """The object as tokenizer.json has it."""
        return {"type": "BertProcessing", "sep": list(self.sep), "cls": list(self.cls)}


@dataclass(frozen=True)
class RobertaProcessing:
    """`<s> A </s>` and `<s> A </s> </s> B </s>`, all of type id 0. Each token with its id.

    `trim_offsets` says whether the offsets of a token leave out the whitespace, and the `Ġ`, that it begins and ends
    with; with `add_prefix_space` a single one stays at the front of a text's first token. Ids do not depend on either.

    >>> processor = RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
    >>> [piece.token or piece.sequence for piece in processor.pieces(pair=True)]
    ['<s>', 0, '</s>', '</s>', 1, '</s>']
    """

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def pieces(self, pair: bool) -> tuple[Piece, ...]:
        """The template for one text or, with `pair`, for two."""
        sep = _special(self.sep, 0)
        single = (_special(self.cls, 0), Piece(0, sequence=0), sep)
        return (*single, sep, Piece(0, sequence=1), sep) if pair else single

    def special_ids(self) -> list[tuple[str, str, int]]:
        """Where in the object, the token, the id: of every special token."""
        return [("sep", *self.sep), ("cls", *self.cls)]

    def renumbered(self, new_ids: Mapping[int, int]) -> RobertaProcessing:
        """The same with other ids: old id → new id."""
        (sep, sep_id), (cls, cls_id) = self.sep, self.cls
        return replace(self, sep=(sep, new_ids.get(sep_id, sep_id)), cls=(cls, new_ids.get(cls_id, cls_id)))

    def to_json(self) -> dict[str, Any]:
        """The object as tokenizer.json has it."""
        return {
            "type": "RobertaProcessing",
            "sep": list(self.sep),
            "cls": list(self.cls),
            "trim_offsets": self.trim_offsets,
            "add_prefix_space": self.add_prefix_space,
        }


PostProcessor = TemplateProcessing | BertProcessing | RobertaProcessing


def bare_pieces(pair: bool) -> tuple[Piece, ...]:
    """The pieces where there is no post-processor: the texts alone, the second of type id 1."""
    return (Piece(0, sequence=0), Piece(1, sequence=1)) if pair else (Piece(0, sequence=0),)


def template_processing(place: JsonPlace) -> TemplateProcessing:
    """Read an object of type TemplateProcessing.

    Raises:
        FileFormatError: a value is not what it should be, a special token of a template is not listed, or a template
            has not every text once.
    """
    value = place.object(("single", "pair", "special_tokens"), ("type",))
    listed = value.member("special_tokens")
    if not isinstance(listed.value, dict):
        raise listed.wrong("an object name → special token")
    tokens = {key: _template_token(listed.member(key)) for key in listed.value}
    return TemplateProcessing(
        _template(value.member("single"), "A", tokens), _template(value.member("pair"), "AB", tokens), tokens
    )


def bert_processing(place: JsonPlace) -> BertProcessing:
    """Read an object of type BertProcessing."""
    value = place.object(("sep", "cls"), ("type",))
    return BertProcessing(_token_and_id(value.member("sep")), _token_and_id(value.member("cls")))


def roberta_processing(place: JsonPlace) -> RobertaProcessing:
    """Read an object of type RobertaProcessing."""
    value = place.object(("sep", "cls", "trim_offsets", "add_prefix_space"), ("type",))
    return RobertaProcessing(
        _token_and_id(value.member("sep")),
        _token_and_id(value.member("cls")),
        value.member("trim_offsets").flag(),
        value.member("add_prefix_space").flag(),
    )


READERS: dict[str, Callable[[JsonPlace], PostProcessor]] = {
    "TemplateProcessing": template_processing,
    "BertProcessing": bert_processing,
    "RobertaProcessing": roberta_processing,
}


def _special(token: tuple[str, int], type_id: int) -> Piece:
    return Piece(type_id, token=token[0], token_id=token[1])


def _template(place: JsonPlace, sequences: str, tokens: Mapping[str, TemplateToken]) -> tuple[TemplatePiece, ...]:
    pieces = tuple(_template_piece(item, tokens) for item in place.items())
    used = sorted(name for name, _, is_sequence in pieces if is_sequence)
    if used != list(sequences):
        raise place.error(
            f"has the texts {', '.join(used) or 'none'}; a template that trietok can fill has "
            f"{' and '.join(sequences)} once each"
        )
    return pieces


def _template_piece(place: JsonPlace, tokens: Mapping[str, TemplateToken]) -> TemplatePiece:
    if not isinstance(place.value, dict) or place.value.keys() not in ({"Sequence"}, {"SpecialToken"}):
        raise place.wrong('an object {"Sequence": ...} or {"SpecialToken": ...}')
    kind = next(iter(place.value))
    value = place.member(kind).object(("id", "type_id"))
    type_id = value.member("type_id").number()
    if kind == "Sequence":
        return TemplatePiece(value.member("id").choice("A", "B"), type_id, is_sequence=True)
    name = value.member("id")
    if name.text() not in tokens:
        raise name.error(f"is {name.value!r:.60}, which post_processor.special_tokens does not list; add it there")
    return TemplatePiece(name.value, type_id)


def _template_token(place: JsonPlace) -> TemplateToken:
    value = place.object(("id", "ids", "tokens"))
    ids = tuple(item.number() for item in value.member("ids").items())
    tokens = tuple(item.text() for item in value.member("tokens").items())
    if len(ids) != len(tokens):
        raise place.error(f"has {len(ids)} ids and {len(tokens)} tokens; there should be as many of both")
    return TemplateToken(value.member("id").text(), ids, tokens)


def _token_and_id(place: JsonPlace) -> tuple[str, int]:
    if not isinstance(place.value, list) or len(place.value) != 2:
        raise place.wrong("a list of a token and its id")
    token, token_id = place.items()
    return token.text(), token_id.number()
