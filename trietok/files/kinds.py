"""Recognize tokenizers that are not WordPiece, for errors that say what loads them.

A file that cannot be read tells nothing here; the next reader reports why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.disk import entries_in, read_vocab_lines
from trietok.errors import TrietokError
from trietok.files.formats import (
    BPE_SPLITTING,
    BPE_VOCAB_FILE,
    MERGES_FILE,
    RECIPE_CLASS,
    RECIPE_LOG_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)
from trietok.files.json_files import read_json_object


class Family(NamedTuple):
    """A kind of tokenizers.

    Attributes:
        name: what it is called, and which models have it.
        types: their model types and the names of their classes, without `Tokenizer`, as `_plain`
            writes them.
    """

    name: str
    types: frozenset[str]

    @property
    def advice(self) -> str:
        """The end of a message: the kind of tokenizer, and what loads it."""
        return f"{self.name}, not WordPiece; transformers' AutoTokenizer loads it"


def _family(name: str, types: str) -> Family:
    return Family(name, frozenset(types.split()))


BYTE_LEVEL = _family(
    "byte-level BPE, as GPT-2, RoBERTa and ModernBERT have",
    "gpt2 roberta modernbert bart barthez blenderbot bloom codegen deberta falcon gptbigcode gptj"
    " gptneo gptneox gptneoxjapanese led longformer luke markuplm mvp olmo opt phi phi3 pythia qwen"
    " qwen2 qwen3 robertaprelayernorm starcoder2 whisper",
)
SENTENCEPIECE = _family(
    "SentencePiece, as XLM-R, multilingual E5 and T5 have",
    "albert bertgeneration bigbird bigbirdpegasus camembert debertav2 fnet llama codellama gemma"
    " gemma2 gemma3 layoutxlm m2m100 marian mbart mbart50 mistral mixtral mluke mt5 nllb pegasus"
    " plbart reformer rembert speech2text t5 udop umt5 xglm xlmprophetnet xlmroberta xlmrobertaxl"
    " xlnet xmod",
)
OTHER_BPE = _family(
    "a byte-pair encoding, as CLIP, XLM and PhoBERT have",
    "bertweet biogpt clip ctrl flaubert fsmt herbert openai openaigpt phobert xlm",
)
WORD_LEVEL = _family("a list of whole words (WordLevel)", "transfoxl")
CHARACTERS = _family("one token a character or byte", "byt5 canine characterbert perceiver")
_FAMILIES = (BYTE_LEVEL, SENTENCEPIECE, OTHER_BPE, WORD_LEVEL, CHARACTERS)
_SENTENCEPIECE_FILES = (
    "sentencepiece.bpe.model",
    "spiece.model",
    "spm.model",
    "tokenizer.model",
    "source.spm",
)
_FASTBPE_FILE = "bpe.codes"  # beside a vocab.txt, which is no WordPiece vocabulary then
_VOCABULARIES = (VOCAB_FILE, TOKENIZER_FILE)
_FILES = (
    *(
        VOCAB_FILE,
        BPE_VOCAB_FILE,
        MERGES_FILE,
        TOKENIZER_FILE,
        TOKENIZER_CONFIG_FILE,
        RECIPE_LOG_FILE,
    ),
    *(*_SENTENCEPIECE_FILES, _FASTBPE_FILE),
)


def family_of_name(name: str) -> Family | None:
    """Return the family of a class or a model type; None if it is unknown, or WordPiece.

    >>> family_of_name("XLMRobertaTokenizerFast").name, family_of_name("bert")
    ('SentencePiece, as XLM-R, multilingual E5 and T5 have', None)
    """
    plain = name.removesuffix("Fast").removesuffix("Tokenizer").lower()
    plain = plain.replace("-", "").replace("_", "")
    return next((family for family in _FAMILIES if plain in family.types), None)


def family_of_json(path: str) -> Family | None:
    """Return the family of a tokenizer.json; None if it is unknown, or WordPiece."""
    try:
        whole = read_json_object(path)
    except (TrietokError, OSError, ValueError, RecursionError):
        return None
    model = whole.get("model")
    model = model if isinstance(model, dict) else {}
    kind = model.get("type") or ("BPE" if "merges" in model else None)  # old files say no type
    if kind == "BPE":
        parts = {*_types_in(whole.get("pre_tokenizer")), *_types_in(whole.get("decoder"))}
        if "ByteLevel" in parts:
            return BYTE_LEVEL
        is_sentencepiece = "Metaspace" in parts or "Prepend" in _types_in(whole.get("normalizer"))
        return SENTENCEPIECE if is_sentencepiece or model.get("byte_fallback") else OTHER_BPE
    return {"Unigram": SENTENCEPIECE, "WordLevel": WORD_LEVEL}.get(str(kind))


def _types_in(part: Any) -> Iterator[str]:
    """Yield the type of a part of a tokenizer.json, and those of the parts in it."""
    if isinstance(part, dict):
        yield str(part.get("type"))
        for inner in (
            *(part.get("pretokenizers") or ()),
            *(part.get("decoders") or ()),
            *(part.get("normalizers") or ()),
        ):
            yield from _types_in(inner)


def is_of_recipe(path: str) -> bool:
    """Return whether `trietok train bpe --recipe chinese` wrote a directory, or a file in one."""
    return _is_of_recipe(*_files_at(path))


def _files_at(path: str) -> tuple[str, set[str]]:
    """Return a directory and its tokenizer files; no files if the path is another file."""
    directory, file = (path, "") if os.path.isdir(path) else os.path.split(path)
    files = {name for name in _FILES if os.path.isfile(os.path.join(directory, name))}
    return directory, files if files >= {file} - {""} else set()


def other_kind(path: str) -> str | None:
    """Return a sentence about the tokenizer in a directory, or in the directory of a file: its
    kind, and what loads it. Return None for WordPiece, and for an unknown kind.
    """
    directory, files = _files_at(path)
    where, json = directory or ".", os.path.join(directory, TOKENIZER_FILE)
    if _is_of_recipe(directory, files):
        what = (
            f"{where} holds a byte-pair encoding of Chinese sentences ({VOCAB_FILE}), made by"
            " `trietok train "
        )
        return (
            what
            + "bpe --recipe chinese`, and no WordPiece vocabulary; trietok.AutoTokenizer loads it"
        )
    if VOCAB_FILE in files and _FASTBPE_FILE not in files:
        return None
    pair = f"{BPE_VOCAB_FILE} and {MERGES_FILE}"
    has_pair = {BPE_VOCAB_FILE, MERGES_FILE} <= files
    loads = f"tokenizers' Tokenizer.from_file loads its {TOKENIZER_FILE}"
    if has_pair and TOKENIZER_FILE in files and _is_of_bpe_save(json):
        return (
            f"{where} holds a byte-pair encoding ({pair}), made by `trietok train bpe` or Bpe.save,"
            " and no WordPiece vocabulary; trietok.Bpe.from_directory splits words by it,"
            f" transformers' AutoTokenizer loads it, and {loads}"
        )
    family = family_of_json(json) if TOKENIZER_FILE in files else None
    sources = [name for name in (_FASTBPE_FILE, *_SENTENCEPIECE_FILES) if name in files]
    source = TOKENIZER_FILE if family is not None else pair if has_pair else (sources or [""])[0]
    if family is None and source:
        family = BYTE_LEVEL if has_pair else OTHER_BPE if source == _FASTBPE_FILE else SENTENCEPIECE
    if family is None:
        return None
    what = (
        f"{where} holds {family.name} ({source}), and no WordPiece vocabulary; transformers'"
        " AutoTokenizer loads it"
    )
    return f"{what}, and {loads}" if source == TOKENIZER_FILE else what


def tokenizer_folders(directory: str) -> list[str]:
    """Return the folders of a directory that have a tokenizer, such as `onnx`, sorted."""
    folders = [
        entry.name
        for entry in entries_in(directory)
        if os.path.isdir(entry) and not entry.name.startswith(".")
    ]
    has = os.path.lexists
    return [
        folder
        for folder in folders
        if any(has(os.path.join(directory, folder, name)) for name in _VOCABULARIES)
    ]


def _is_of_bpe_save(path: str) -> bool:
    return _type_in(path, "model") == "BPE" and _type_in(path, "pre_tokenizer") in BPE_SPLITTING


def _type_in(path: str, part: str) -> str | None:
    """Return the type of a part of a tokenizer.json; None if it cannot be read.

    Old files name no type of their model. One with the keys of WordPiece counts as that.
    """
    try:
        found = read_json_object(path).get(part)
    except (TrietokError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if part == "model" and "type" not in found and "max_input_chars_per_word" in found:
        return "WordPiece"
    return str(found.get("type"))


def is_wordpiece(path: str) -> bool:
    """Return whether a vocab.txt or a tokenizer.json holds a WordPiece vocabulary, as far as the
    file alone tells.
    """
    try:
        if path.endswith(".json"):
            return _type_in(path, "model") == "WordPiece"
        return "[UNK]" in read_vocab_lines(path)
    except (TrietokError, OSError, ValueError):
        return False


def _is_of_recipe(directory: str, files: set[str]) -> bool:
    if VOCAB_FILE not in files:
        return False
    try:
        if TOKENIZER_CONFIG_FILE in files:  # saved by the class that loads it
            config = read_json_object(os.path.join(directory, TOKENIZER_CONFIG_FILE))
            return config.get("tokenizer_class") == RECIPE_CLASS
        if RECIPE_LOG_FILE not in files or TOKENIZER_FILE in files:
            return False
        return "[UNK]" not in read_vocab_lines(os.path.join(directory, VOCAB_FILE))
    except (TrietokError, ValueError, RecursionError):
        return False
