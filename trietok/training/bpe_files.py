"""A trained byte-pair encoding as files: vocab.json, merges.txt, tokenizer.json, tokenizer_config.json.

In: what a `Bpe` consists of. Out: the files, in the formats that tokenizers 0.22.2 and transformers 4.57.6 read. And
back again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trietok.errors import FileError, FileFormatError, VocabularyError
from trietok.files.atomic import files_of_interrupted_save, save_files
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    read_json_object,
    write_json,
    write_text,
)
from trietok.files.new_directory import save_into
from trietok.files.other_kinds import BPE_SPLITTING, BPE_VOCAB_FILE, MERGES_FILE
from trietok.files.settings import GENERIC_FAST
from trietok.files.tokenizer_json.bpe import MARKS
from trietok.files.tokenizer_json.format import tokenizer_json_object
from trietok.files.tokenizer_json.parts import BertNormalizer, BpeDecoder, TokenizerJson, WordPieceDecoder
from trietok.text.added_token import AddedToken
from trietok.text.bpe import BpeParts
from trietok.text.vocab_txt import read_text

_SPACE = re.compile(r"\s")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_LONGEST_INPUT = int(1e30)  # what transformers writes for "no limit"
_ROLES = {"[PAD]": "pad_token", "[CLS]": "cls_token", "[SEP]": "sep_token", "[MASK]": "mask_token"}
_ROLES |= {"<pad>": "pad_token", "<s>": "bos_token", "</s>": "eos_token", "<mask>": "mask_token"}


def save_bpe(bpe: BpeParts, special_tokens: Sequence[str], directory: Path, do_lower_case: bool | None) -> list[Path]:
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
        write_text(folder / BPE_VOCAB_FILE, vocab_text(bpe.vocab))
        write_text(folder / MERGES_FILE, merges_text(bpe.merges))
        tokenizer = tokenizer_json_object(_values(bpe, special_tokens, do_lower_case))
        write_text(folder / TOKENIZER_FILE, json.dumps(tokenizer, ensure_ascii=False, indent=2))
        write_json(folder / TOKENIZER_CONFIG_FILE, _tokenizer_config(bpe.unk_token, special_tokens))

    # Files of another tokenizer would hide this one, or add their tokens to it.
    others = [VOCAB_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE]
    return save_into(directory, lambda folder: save_files(folder, write, others))


def vocab_text(vocab: Mapping[str, int]) -> str:
    """vocab.json."""
    return json.dumps(
        dict(sorted(vocab.items(), key=lambda entry: entry[1])), ensure_ascii=False, separators=(",", ":")
    )


def merges_text(merges: Iterable[tuple[str, str]]) -> str:
    """merges.txt."""
    return "\n".join(["#version: 0.2", *(f"{left} {right}" for left, right in merges)]) + "\n"


def read_bpe(directory: Path) -> tuple[BpeParts, list[str]]:
    """`Bpe.from_directory`."""
    wanted = (BPE_VOCAB_FILE, MERGES_FILE, TOKENIZER_FILE)
    paths = files_of_interrupted_save(directory, wanted)
    for name in wanted:
        if name not in paths:
            raise FileError(
                f"{directory} has no {name}; a directory that Bpe.save or `trietok train bpe` wrote has "
                f"{', '.join(wanted)}",
                path=directory / name,
            )
    vocab, merges = _read_vocab(paths[BPE_VOCAB_FILE]), _read_merges(paths[MERGES_FILE])
    path = paths[TOKENIZER_FILE]
    content = read_json_object(path)
    model, special = _read_model(content, path), _read_special_tokens(content, path)
    if model.get("vocab") != vocab or model.get("merges") != [list(pair) for pair in merges]:
        raise FileFormatError(
            f"{path} has another vocabulary or other merges than {BPE_VOCAB_FILE} and {MERGES_FILE}; the three have to "
            "come from one save",
            path=path,
        )
    unknown, prefix, suffix = (model.get(name) for name in MARKS)
    if not all(mark is None or isinstance(mark, str) for mark in (unknown, prefix, suffix)):
        raise FileFormatError(f"{path}: {', '.join(MARKS)} are strings or null", path=path)
    return BpeParts(vocab, merges, unknown, prefix, suffix), special


def _read_vocab(path: Path) -> dict[str, int]:
    vocab = read_json_object(path)
    for token, token_id in vocab.items():
        if type(token_id) is not int or token_id < 0:
            raise FileFormatError(f"{path}: the id of {token!r} is {token_id!r:.60}, not a whole number", path=path)
    return vocab


def _read_merges(path: Path) -> list[tuple[str, str]]:
    merges = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        if number == 1 and line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise FileFormatError(
                f"{path}, line {number}: {line!r:.60} is not two tokens with a space between them",
                path=path,
                line_number=number,
            )
        merges.append((left, right))
    return merges


def _read_model(content: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The model of a tokenizer.json, if `Bpe` supports it."""
    model, splitting = content.get("model"), content.get("pre_tokenizer")
    if not isinstance(model, dict) or model.get("type") != "BPE":
        raise FileFormatError(f"{path} holds no byte-pair encoding", path=path)
    for name in ("dropout", "fuse_unk", "byte_fallback", "ignore_merges"):
        if model.get(name):
            raise FileFormatError(f"{path} has {name}={model[name]!r:.60}, which Bpe does not do", path=path)
    if not isinstance(splitting, dict) or splitting.get("type") not in BPE_SPLITTING:
        raise FileFormatError(
            f"{path} makes words in another way than {' or '.join(BPE_SPLITTING)}, the two that Bpe.save writes; "
            "Bpe(vocab, merges) takes the parts as they are",
            path=path,
        )
    return model


def _read_special_tokens(content: Mapping[str, Any], path: Path) -> list[str]:
    added = content.get("added_tokens")
    if not isinstance(added, list) or not all(
        isinstance(token, dict) and isinstance(token.get("content"), str) for token in added
    ):
        raise FileFormatError(f"{path} has no list 'added_tokens' of objects with a 'content'", path=path)
    return [token["content"] for token in added]


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


def _values(bpe: BpeParts, special_tokens: Sequence[str], do_lower_case: bool | None) -> TokenizerJson:
    """The tokenizer.json. Its normalizer does what `BasicTokenizer` does before it splits, NFC included."""
    plain = do_lower_case is None
    return TokenizerJson(
        vocabulary=bpe.vocab,
        normalizer=None if plain else BertNormalizer(lowercase=bool(do_lower_case)),
        decoder=_decoder(bpe),
        added_tokens={bpe.vocab[token]: AddedToken(token, special=True) for token in special_tokens},
        bpe=bpe,
        composes=do_lower_case is False,
        splits_punctuation=not plain,
    )


def _decoder(bpe: BpeParts) -> BpeDecoder | WordPieceDecoder | None:
    if bpe.end_of_word_suffix:
        return BpeDecoder(bpe.end_of_word_suffix)
    return WordPieceDecoder(bpe.continuing_subword_prefix, cleanup=False) if bpe.continuing_subword_prefix else None


def _tokenizer_config(unk_token: str | None, special_tokens: Sequence[str]) -> dict[str, Any]:
    roles = {_ROLES[token]: token for token in special_tokens if token in _ROLES}
    if unk_token is not None:
        roles["unk_token"] = unk_token
    return {
        "tokenizer_class": GENERIC_FAST,
        "clean_up_tokenization_spaces": False,
        "model_max_length": _LONGEST_INPUT,
        **roles,
    }
