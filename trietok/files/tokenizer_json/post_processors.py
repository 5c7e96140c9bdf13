"""Reading the post-processor of a tokenizer.json.

In: the JSON object of `post_processor` and its place in the file. Out: a `PostProcessor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trietok.files.json_place import JsonPlace
from trietok.inputs.post_processors import (
    BertProcessing,
    PostProcessor,
    RobertaProcessing,
    TemplatePiece,
    TemplateProcessing,
    TemplateToken,
)


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
