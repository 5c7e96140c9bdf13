"""What transformers 5 makes of directories, and directories that it makes: run by a Python that has
it installed.

    python transformers5.py WORK        # WORK/job.json in, WORK/result.json out

The job of test_interop.py names directories to load and texts to encode, and a directory with a
vocab.txt to make tokenizers from; that of test_transformers5.py has `variants`, directories that
each class of KINDS loads. Nothing of trietok is imported here, and nothing of transformers before
it runs: the versions of both live in different environments.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any


def ids(tokenizer: Any, texts: list[str]) -> list[list[int] | None]:
    """The ids of each text; None for a text that no Rust string can hold."""
    return [
        None if tokenizer.is_fast and half_pairs(text) else tokenizer.encode(text) for text in texts
    ]


def half_pairs(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def answers(tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """What the methods of a Python tokenizer give for the texts; called with trietok's tokenizer
    too.
    """
    pairs = list(itertools.pairwise(texts))
    rows = [tokenizer.encode(text) for text in texts]
    # which the class of version 5 leaves out where it is not asked for them
    types = {"return_token_type_ids": True}
    calls = {
        "padded": {"padding": True, "truncation": True, "max_length": 9},
        "masked": {"return_special_tokens_mask": True, "return_length": True},
        "to the left": {
            "padding": "max_length",
            "padding_side": "left",
            "max_length": 60,
            "truncation": True,
        },
    }
    return {
        "tokens": list(map(tokenizer.tokenize, texts)),
        "decoded": [tokenizer.decode(row) for row in rows],
        "without special tokens": [tokenizer.decode(row, skip_special_tokens=True) for row in rows],
        "cleaned up": [tokenizer.decode(row, clean_up_tokenization_spaces=True) for row in rows],
        "of ids": list(map(tokenizer.convert_ids_to_tokens, rows)),
        "strings": [tokenizer.convert_tokens_to_string(tokenizer.tokenize(text)) for text in texts],
        "special": [
            tokenizer.get_special_tokens_mask(row, already_has_special_tokens=True) for row in rows
        ],
        "pairs": [dict(tokenizer(*pair, **types)) for pair in pairs],
        "cut pairs": [
            tokenizer.encode(*pair, truncation="only_second", max_length=40)
            for pair in cut_pairs(tokenizer, pairs)
        ],
        "words": [
            dict(tokenizer(text.split(), is_split_into_words=True, **types))
            for text in texts
            if text.split()
        ],
        **{name: dict(tokenizer(texts, **options, **types)) for name, options in calls.items()},
        "vocabulary": tokenizer.get_vocab(),
        "added": tokenizer.get_added_vocab(),
        "roles": {
            name: getattr(tokenizer, name)
            for name in ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
        },
        "size": [len(tokenizer), tokenizer.num_special_tokens_to_add(True)],
    }


def cut_pairs(tokenizer: Any, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs whose first text leaves room for some of the second."""
    return [pair for pair in pairs if len(tokenizer.tokenize(pair[0])) < 20]


KINDS = ("AutoTokenizer", "BertTokenizer", "PreTrainedTokenizerFast")


def sample(tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """Ids, pairs and decoded texts of a fast tokenizer, of either library."""
    types = {"return_token_type_ids": True}
    pairs = [tokenizer(*pair, **types) for pair in itertools.pairwise(texts)]
    return {
        "ids": [tokenizer.encode(text) for text in texts],
        "cut": [tokenizer.encode(text, truncation=True) for text in texts],
        "pairs": [[pair["input_ids"], pair["token_type_ids"]] for pair in pairs],
        "decoded": [
            tokenizer.decode(tokenizer.encode(text), skip_special_tokens=True) for text in texts
        ],
        "given": list(tokenizer("a", "b")),
    }


def recipes(cls: Any, source: str) -> dict[str, Callable[[], Any]]:
    """Tokenizers that users of transformers 5 make, by name."""
    from transformers import AddedToken

    def changed(change: Callable[[Any], Any], **options: Any) -> Any:
        tokenizer = cls.from_pretrained(source, **options)
        change(tokenizer)
        return tokenizer

    def add_special(tokenizer: Any) -> None:
        extra = ["<q>", AddedToken("<b>", lstrip=True, rstrip=True, special=True)]
        tokenizer.add_special_tokens({"extra_special_tokens": extra, "bos_token": "<s>"})

    flagged = [AddedToken("<l>", lstrip=True), AddedToken("<r>", rstrip=True, normalized=False)]
    return {
        "plain": lambda: changed(lambda tokenizer: None),
        "added": lambda: changed(
            lambda tokenizer: tokenizer.add_tokens(["covid-19", "long covid", *flagged])
        ),
        "special": lambda: changed(add_special),
        "cased": lambda: changed(
            lambda tokenizer: tokenizer.add_tokens(["COVID-19"]), do_lower_case=False
        ),
        "accents kept": lambda: changed(lambda tokenizer: None, strip_accents=False),
        "Chinese characters in words": lambda: changed(
            lambda tokenizer: None, tokenize_chinese_chars=False
        ),
        "other roles": lambda: changed(lambda tokenizer: None, cls_token="<q>", sep_token="the"),
    }


def main(work: pathlib.Path) -> None:
    import transformers

    job = json.loads((work / "job.json").read_text(encoding="utf-8"))
    texts = job["texts"]
    result: dict[str, Any] = {"version": transformers.__version__}
    if "variants" in job:
        for kind in KINDS:
            load = getattr(transformers, kind).from_pretrained
            result[kind] = {
                name: sample(load(directory), texts) for name, directory in job["variants"].items()
            }
    else:
        result |= of_both_classes(transformers, job, work)
    (work / "result.json").write_text(json.dumps(result), encoding="utf-8")


def of_both_classes(transformers: Any, job: dict[str, Any], work: pathlib.Path) -> dict[str, Any]:
    """What the Rust class and the Python class make of the job's directories, and what they
    save.
    """
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    texts = job["texts"]
    loaded = {
        name: {
            "rust": ids(transformers.AutoTokenizer.from_pretrained(directory), texts),
            "python": ids(BertTokenizerLegacy.from_pretrained(directory), texts),
            "answers": answers(BertTokenizerLegacy.from_pretrained(directory), job["lower"]),
        }
        for name, directory in job["load"].items()
    }
    saved = {}
    for kind, cls in (("rust", transformers.BertTokenizer), ("python", BertTokenizerLegacy)):
        for name, make in recipes(cls, job["source"]).items():
            tokenizer = make()
            directory = work / "saved" / kind / name
            tokenizer.save_pretrained(directory)
            saved[f"{kind}: {name}"] = {"directory": str(directory), "ids": ids(tokenizer, texts)}
    return {"loaded": loaded, "saved": saved}


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
