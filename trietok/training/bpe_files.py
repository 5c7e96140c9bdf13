"""A trained byte-pair encoding as files: vocab.json, merges.txt, tokenizer.json, tokenizer_config.json.

In: what a `Bpe` consists of. Out: the files, in the formats that tokenizers 0.22.2 and transformers 4.57.6 read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trietok.directory_saves import save_files
from trietok.errors import VocabularyError
from trietok.vocab_files import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, write_json, write_text

VOCAB_FILE = "vocab.json"
MERGES_FILE = "merges.txt"

_SPACE = re.compile(r"\s")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_LONGEST_INPUT = int(1e30)  # what transformers writes for "no limit"
_ROLES = {"[PAD]": "pad_token", "[CLS]": "cls_token", "[SEP]": "sep_token", "[MASK]": "mask_token"}
_ROLES |= {"<pad>": "pad_token", "<s>": "bos_token", "</s>": "eos_token", "<mask>": "mask_token"}


class BpeParts(NamedTuple):
    """The attributes of a `Bpe`."""

    vocab: Mapping[str, int]
    merges: Sequence[tuple[str, str]]
    unk_token: str | None
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    special_tokens: Sequence[str]


def save_bpe(bpe: BpeParts, directory: Path, do_lower_case: bool | None) -> list[Path]:
    """`Bpe.save`."""
    marks = (bpe.continuing_subword_prefix or "", bpe.end_of_word_suffix or "")
    require_utf8([*bpe.vocab, *marks])
    for pair in bpe.merges:
        for token in pair:
            if _SPACE.search(token):
                raise VocabularyError(
                    f"token {token!r} holds whitespace, which {MERGES_FILE} cannot keep; nothing was written",
                    token=token,
                )

    def write(folder: Path) -> None:
        ordered = dict(sorted(bpe.vocab.items(), key=lambda entry: entry[1]))
        write_text(folder / VOCAB_FILE, json.dumps(ordered, ensure_ascii=False, separators=(",", ":")))
        lines = ["#version: 0.2", *(f"{left} {right}" for left, right in bpe.merges)]
        write_text(folder / MERGES_FILE, "\n".join(lines) + "\n")
        tokenizer = json.dumps(tokenizer_json(bpe, do_lower_case), ensure_ascii=False, indent=2)
        write_text(folder / TOKENIZER_FILE, tokenizer)
        write_json(folder / TOKENIZER_CONFIG_FILE, _tokenizer_config(bpe))

    return save_files(directory, write)


def require_utf8(tokens: Iterable[str]) -> None:
    """Refuse tokens that no file can keep.

    Raises:
        VocabularyError: a token holds half of a surrogate pair, for which UTF-8 has no bytes.
    """
    for token in tokens:
        if half := _HALF_PAIR.search(token):
            raise VocabularyError(
                f"token {token!r} holds half of a surrogate pair, {half[0]!r}, which UTF-8 cannot keep; nothing was "
                'written; take such characters out of the texts, as text.encode("utf-8", "replace").decode() does',
                token=token,
            )


def tokenizer_json(bpe: BpeParts, do_lower_case: bool | None) -> dict[str, Any]:
    """The content of a tokenizer.json."""
    plain = do_lower_case is None
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": bpe.vocab[token],
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token in bpe.special_tokens
        ],
        "normalizer": None if plain else _bert_normalizer(bool(do_lower_case)),
        "pre_tokenizer": {"type": "WhitespaceSplit" if plain else "BertPreTokenizer"},
        "post_processor": None,
        "decoder": _decoder(bpe),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": bpe.unk_token,
            "continuing_subword_prefix": bpe.continuing_subword_prefix,
            "end_of_word_suffix": bpe.end_of_word_suffix,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": dict(sorted(bpe.vocab.items(), key=lambda entry: entry[1])),
            "merges": [list(pair) for pair in bpe.merges],
        },
    }


def _bert_normalizer(lowercase: bool) -> dict[str, Any]:
    """What `BasicTokenizer` does before it splits; it composes too, which BertNormalizer does not."""
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": lowercase,
    }
    return normalizer if lowercase else {"type": "Sequence", "normalizers": [normalizer, {"type": "NFC"}]}


def _decoder(bpe: BpeParts) -> dict[str, Any] | None:
    if bpe.end_of_word_suffix:
        return {"type": "BPEDecoder", "suffix": bpe.end_of_word_suffix}
    if bpe.continuing_subword_prefix:
        return {"type": "WordPiece", "prefix": bpe.continuing_subword_prefix, "cleanup": False}
    return None


def _tokenizer_config(bpe: BpeParts) -> dict[str, Any]:
    roles = {_ROLES[token]: token for token in bpe.special_tokens if token in _ROLES}
    if bpe.unk_token is not None:
        roles["unk_token"] = bpe.unk_token
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": _LONGEST_INPUT,
        **roles,
    }
