"""tokenizer.json of a tokenizer of the slow profile, if such a file can hold all of the tokenizer.

In: a `BertTokenizer` or one of the family. Out: a `TokenizerJson`, or an error that names everything it cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trietok.errors import NotSupportedError
from trietok.files.tokenizer_json.format import write_tokenizer_json
from trietok.files.tokenizer_json.parts import BertNormalizer, TokenizerJson, WordPieceDecoder
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
        raise NotSupportedError(
            f"a tokenizer.json cannot say what this {type(tokenizer).__name__} is: {'; '.join(problems)}. Save it "
            "without tokenizer_json=True",
            name="tokenizer_json",
        )
    write_tokenizer_json(path, tokenizer_json_of(tokenizer))


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
    )


def unsayable(tokenizer: Any) -> list[str]:
    """The options and tokens of the tokenizer that the file cannot hold, in words."""
    return list(_unsayable(tokenizer))


def _unsayable(tokenizer: Any) -> Iterator[str]:
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
    yield from _unsayable_tokens(tokenizer, basic)


def _unsayable_tokens(tokenizer: Any, basic: Any) -> Iterator[str]:
    """The added tokens that a tokenizer loaded from the file would find in other texts than the slow profile."""
    lower = bool(basic.do_lower_case)
    rust = RustBasicTokenizer(lower, False, basic.strip_accents)
    roles = {token for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    for token in tokenizer.added_tokens_decoder.values():
        content = token.content
        if token.normalized and rust.normalized(content) != content:
            yield f"the added token {content!r}, which readers of the file would find in {rust.normalized(content)!r}"
        elif lower and token.special and content not in roles and _is_found_in_capitals(token):
            yield (
                f"the special token {content!r}, which here is found in {content.upper()!r} too (it can be said of "
                "one added with normalized=True)"
            )


def _is_found_in_capitals(token: AddedToken) -> bool:
    return not token.normalized and token.content == token.content.lower() != token.content.upper()
