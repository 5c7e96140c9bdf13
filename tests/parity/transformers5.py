"""What transformers 5 makes of directories, and directories that it saves: run by a Python that has
it installed.

    python transformers5.py WORK        # WORK/job.json in, WORK/result.json out

The job has texts, directories for each class by name, a vocab.txt and the recipes of tokenizers to
save. Nothing of trietok is imported here: it lives in the environment of another transformers.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import sys
from typing import Any

SLOW = "BertTokenizerLegacy"
TYPES = {"return_token_type_ids": True}  # which version 5 leaves out where they are not asked for


def sample(tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """What a tokenizer of either library gives; called with trietok's tokenizers, too."""
    pairs = [tokenizer(*pair, **TYPES) for pair in itertools.pairwise(texts)]
    ids = [tokenizer.encode(text) for text in texts]
    return {
        "ids": ids,
        "cut": [tokenizer.encode(text, truncation=True) for text in texts],
        "pairs": [[pair["input_ids"], pair["token_type_ids"]] for pair in pairs],
        "decoded": [tokenizer.decode(row, skip_special_tokens=True) for row in ids],
        "given": list(tokenizer("a", "b")),
    }


def slow_sample(tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """More of a slow tokenizer, whose classes give the same in all versions."""
    left = {"padding": "max_length", "padding_side": "left", "max_length": 60, "truncation": True}
    masks = {"return_special_tokens_mask": True, "return_length": True}
    ids = [tokenizer.encode(text) for text in texts]
    words = [text.split() for text in texts if text.split()]
    roles = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
    answers = sample(tokenizer, texts)
    del answers["given"]  # without token type ids in version 5
    return {
        **answers,
        "tokens": [tokenizer.tokenize(text) for text in texts],
        "strings": [tokenizer.convert_tokens_to_string(tokenizer.tokenize(text)) for text in texts],
        "with special tokens": [tokenizer.decode(row) for row in ids],
        "of ids": [tokenizer.convert_ids_to_tokens(row) for row in ids],
        "words": dict(tokenizer(words, is_split_into_words=True, **TYPES)),
        "to the left": dict(tokenizer(texts, **left, **TYPES)),
        "masks": dict(tokenizer(texts, **masks, **TYPES)),
        "vocabulary": tokenizer.get_vocab(),
        "added": tokenizer.get_added_vocab(),
        "roles": [getattr(tokenizer, role) for role in roles],
    }


def main(work: pathlib.Path) -> None:
    import transformers
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    job = json.loads((work / "job.json").read_text(encoding="utf-8"))
    texts, lower = job["texts"], job["lower"]
    result: dict[str, Any] = {"version": transformers.__version__, "saved": {}}
    for kind, folders in job["fast"].items():
        load = getattr(transformers, kind).from_pretrained
        result[kind] = {name: sample(load(path), texts) for name, path in folders.items()}
    load = BertTokenizerLegacy.from_pretrained
    result[SLOW] = {name: slow_sample(load(path), lower) for name, path in job["slow"].items()}
    for kind, cls in (("fast", transformers.BertTokenizer), ("slow", BertTokenizerLegacy)):
        for name, recipe in job["recipes"].items():
            tokenizer = cls.from_pretrained(job["source"], **recipe["settings"])
            tokenizer.add_special_tokens(recipe["roles"])
            tokens = [
                transformers.AddedToken(**token) if isinstance(token, dict) else token
                for token in recipe["tokens"]
            ]
            tokenizer.add_tokens(tokens)
            tokenizer.save_pretrained(work / "saved" / kind / name)
            ids = [tokenizer.encode(text) for text in (texts if kind == "fast" else lower)]
            result["saved"][f"{kind} {name}"] = ids
    (work / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
