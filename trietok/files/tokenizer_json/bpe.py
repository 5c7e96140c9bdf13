"""A byte-pair encoding in a tokenizer.json: its model, and what stands around it.

In: places in the JSON. Out: plain values, of what `Bpe.save` writes; or an error that names what trietok does not do.
"""

from __future__ import annotations

from typing import Any

from trietok.errors import FileFormatError, VocabularyError
from trietok.files.json_place import JsonPlace
from trietok.text.bpe import BpeParts

MARKS = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
_OFF = ("dropout", "fuse_unk", "byte_fallback", "ignore_merges")  # what the model could do besides


def bpe_of(place: JsonPlace, vocab: dict[str, int]) -> BpeParts:
    """The model.

    Raises:
        FileFormatError: it has an option that trietok does not have, or a merge is not two tokens of the vocabulary.
    """
    model = place.object(("vocab", "merges"), ("type", *MARKS, *_OFF))
    for name in _OFF:
        if model.value.get(name):
            raise model.member(name).error(f"is {model.value[name]!r:.60}, which trietok does not do")
    marks = (None if model.value.get(name) is None else model.member(name).text() for name in MARKS)
    parts = BpeParts(vocab, [_merge(item) for item in model.member("merges").items()], *marks)
    try:
        parts.ranks()
    except VocabularyError as error:
        raise FileFormatError(f"{place.file}: {place.path}: {error}", path=place.file) from None
    return parts


def _merge(place: JsonPlace) -> tuple[str, str]:
    value = place.value
    if isinstance(value, str):  # as tokenizers wrote it before 0.20
        value = value.split(" ")
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(token, str) and token for token in value)):
        raise place.wrong("a list of two tokens")
    return value[0], value[1]


def bpe_object(parts: BpeParts) -> dict[str, Any]:
    """The JSON object of the model."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": parts.unk_token,
        "continuing_subword_prefix": parts.continuing_subword_prefix,
        "end_of_word_suffix": parts.end_of_word_suffix,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(sorted(parts.vocab.items(), key=lambda entry: entry[1])),
        "merges": [list(pair) for pair in parts.merges],
    }
