"""tokenizer.json of a tokenizer of the slow profile, if such a file can hold all of the tokenizer.

In: a `BertTokenizer` or one of the family. Out: a `TokenizerJson`, or an error that names everything it cannot hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from trietok.errors import NotSupportedError
from trietok.files.tokenizer_json.format import read_tokenizer_json
from trietok.files.tokenizer_json.of_tokenizer import write_value
from trietok.files.tokenizer_json.parts import NO_NORMALIZER, BertNormalizer, TokenizerJson, WordPieceDecoder
from trietok.inputs.post_processors import template_processing_of
from trietok.text.added_token import AddedToken
from trietok.text.rust_basic_tokenizer import RustBasicTokenizer
from trietok.text.vocab_txt import Path_


def write(path: Path_, tokenizer: Any) -> None:
    """Write a tokenizer.json that has the vocabulary, the options, the template and the added tokens of a slow one.

    Raises:
        NotSupportedError: the tokenizer has options or added tokens that the file cannot hold; the message names each.
        VocabularyError: the file cannot keep its ids: the vocabulary has holes or a token on two lines, and there are
            tokens behind it.
    """
    problems = unsayable(tokenizer)
    if problems:
        raise _not_sayable(tokenizer, problems, ". Save it without tokenizer_json=True")
    write_value(path, tokenizer_json_of(tokenizer), tokenizer, "; or save it without tokenizer_json=True")


def write_anew(path: Path_, tokenizer: Any, there: Path_) -> bool:
    """Write the tokenizer.json of a directory into which a slow tokenizer is saved, unless it gives the ids already.

    The file stays as it is where it has the tokens, the added tokens with their flags, the settings and the template of
    the tokenizer. Else it gets them, and keeps its truncation, its padding and its decoder.

    Args:
        path: where the new file goes.
        tokenizer: what is saved.
        there: the file of the directory.

    Returns:
        Whether the file had to change in more than tokens: in settings or the template.

    Raises:
        NotSupportedError, VocabularyError: as `write`.
        FileFormatError, VocabularyError: the file cannot be read, so what it says is not known.
    """
    kept, problems = read_tokenizer_json(there), list(_unsayable_options(tokenizer))
    if not problems:
        with_tokens, anew = _brought_up_to(tokenizer, kept)
        if anew == kept:
            return False
        problems = list(_unsayable_tokens(tokenizer, kept.added_tokens.values()))
    if problems:
        raise _not_sayable(tokenizer, problems)
    write_value(path, anew, tokenizer)
    return anew != with_tokens


def _brought_up_to(tokenizer: Any, kept: TokenizerJson) -> tuple[TokenizerJson, TokenizerJson]:
    """A file with the tokens of a tokenizer, and with its settings too; what is the same in other words stays."""
    wanted, known = tokenizer_json_of(tokenizer), tokenizer.get_vocab()
    theirs = {**kept.vocabulary, **{token.content: token_id for token_id, token in kept.added_tokens.items()}}
    new_ids = {token_id: known[token] for token, token_id in theirs.items() if token in known}
    with_tokens = replace(
        kept,
        vocabulary=wanted.vocabulary,
        added_tokens=wanted.added_tokens,
        post_processor=kept.post_processor and kept.post_processor.renumbered(new_ids),
        padding=kept.padding and kept.padding.with_id_of(known),
    )
    same_texts = _effective(kept.normalizer) == _effective(wanted.normalizer)
    same_rows = _around(tokenizer, with_tokens) == _around(tokenizer, wanted)
    return with_tokens, replace(
        with_tokens,
        unk_token=wanted.unk_token,
        continuing_subword_prefix=wanted.continuing_subword_prefix,
        max_input_chars_per_word=wanted.max_input_chars_per_word,
        decoder=replace(kept.decoder, prefix="##") if isinstance(kept.decoder, WordPieceDecoder) else kept.decoder,
        normalizer=kept.normalizer if same_texts else wanted.normalizer,
        post_processor=with_tokens.post_processor if same_rows else wanted.post_processor,
    )


def _effective(normalizer: BertNormalizer | None) -> BertNormalizer:
    said = normalizer or NO_NORMALIZER
    return replace(said, strip_accents=said.lowercase if said.strip_accents is None else said.strip_accents)


def _around(tokenizer: Any, value: TokenizerJson) -> list[Any]:
    """The special tokens and the texts in the order of a row, with the token type ids where rows have them."""
    typed = "token_type_ids" in tokenizer.model_input_names
    pieces = [*value.pieces(), *value.pieces(pair=True)]
    return [(piece.sequence, piece.token, piece.token_id, piece.type_id * typed) for piece in pieces]


def tokenizer_json_of(tokenizer: Any) -> TokenizerJson:
    """The values of the file. Where the profiles differ on any text, the file's reader gives the fast profile's ids."""
    basic, wordpiece = tokenizer.basic_tokenizer, tokenizer.wordpiece_tokenizer
    return TokenizerJson(
        vocabulary=dict(tokenizer.vocab),
        unk_token=wordpiece.unk_token,
        continuing_subword_prefix=wordpiece.continuing_subword_prefix,
        max_input_chars_per_word=wordpiece.max_input_chars_per_word,
        normalizer=BertNormalizer(
            handle_chinese_chars=bool(basic.tokenize_chinese_chars),
            strip_accents=basic.strip_accents,
            lowercase=bool(basic.do_lower_case),
        ),
        post_processor=template_processing_of(tokenizer, tokenizer.template),
        decoder=WordPieceDecoder(),
        added_tokens=dict(tokenizer.added_tokens_decoder),
        truncation=tokenizer.truncation_in_file,
        padding=tokenizer.padding_in_file and tokenizer.padding_in_file.with_id_of(tokenizer.get_vocab()),
    )


def _not_sayable(tokenizer: Any, problems: list[str], advice: str = "") -> NotSupportedError:
    return NotSupportedError(
        f"a tokenizer.json cannot say what this {type(tokenizer).__name__} is: {'; '.join(problems)}{advice}",
        name="tokenizer_json",
    )


def unsayable(tokenizer: Any) -> list[str]:
    """The options and tokens of the tokenizer that the file cannot hold, in words."""
    return [*_unsayable_options(tokenizer), *_unsayable_tokens(tokenizer, ())]


def _unsayable_options(tokenizer: Any) -> Iterator[str]:
    if not tokenizer.do_basic_tokenize:
        yield "do_basic_tokenize=False (the file always splits words at punctuation)"
        return
    basic = tokenizer.basic_tokenizer
    if not tokenizer.is_plain:
        yield "stages of its own (a subclass or a patch has replaced a method)"
    if basic.never_split:
        yield f"never_split ({', '.join(map(repr, sorted(basic.never_split)))})"
    if not basic.do_split_on_punc:
        yield "do_split_on_punc=False"
    if tokenizer.split_special_tokens:
        yield "split_special_tokens=True"
    for role in ("cls_token", "sep_token"):
        if getattr(tokenizer, role) is None:
            yield f"{role} None (the template needs it)"


def _unsayable_tokens(tokenizer: Any, there: Collection[AddedToken]) -> Iterator[str]:
    """The added tokens that a tokenizer loaded from the file would find in other texts, without those of `there`."""
    if not tokenizer.do_basic_tokenize:
        return
    basic = tokenizer.basic_tokenizer
    lower = bool(basic.do_lower_case)
    rust = RustBasicTokenizer(lower, False, basic.strip_accents)
    roles = {token for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    for token in tokenizer.added_tokens_decoder.values():
        content = token.content
        if token in there:
            continue
        if token.normalized and rust.normalized(content) != content:
            yield f"the added token {content!r}, which readers of the file would find in {rust.normalized(content)!r}"
        elif lower and token.special and content not in roles and _is_found_in_capitals(token):
            yield (
                f"the special token {content!r}, which here is found in {content.upper()!r} too (it can be said of "
                "one added with normalized=True)"
            )


def _is_found_in_capitals(token: AddedToken) -> bool:
    return not token.normalized and token.content == token.content.lower() != token.content.upper()
