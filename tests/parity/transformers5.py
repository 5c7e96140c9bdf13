"""What transformers 5 makes of directories, and directories that it makes: run by a Python that has it installed.

    python transformers5.py WORK        # WORK/job.json in, WORK/result.json out; see test_interop.py

The job names directories to load and texts to encode, and a directory with a vocab.txt to make tokenizers from. Nothing
of trietok is imported here, and nothing of transformers before it runs: the versions of both live in different
environments.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any


def ids(tokenizer: Any, texts: list[str]) -> list[list[int] | None]:
    """The ids of each text; None for a text that no Rust string can hold."""
    return [None if tokenizer.is_fast and half_pairs(text) else tokenizer.encode(text) for text in texts]


def half_pairs(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


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
        "added": lambda: changed(lambda tokenizer: tokenizer.add_tokens(["covid-19", "long covid", *flagged])),
        "special": lambda: changed(add_special),
        "cased": lambda: changed(lambda tokenizer: tokenizer.add_tokens(["COVID-19"]), do_lower_case=False),
        "accents kept": lambda: changed(lambda tokenizer: None, strip_accents=False),
        "Chinese characters in words": lambda: changed(lambda tokenizer: None, tokenize_chinese_chars=False),
        "other roles": lambda: changed(lambda tokenizer: None, cls_token="<q>", sep_token="the"),
    }


def main(work: pathlib.Path) -> None:
    import transformers
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    job = json.loads((work / "job.json").read_text(encoding="utf-8"))
    texts = job["texts"]
    loaded = {
        name: {
            "rust": ids(transformers.AutoTokenizer.from_pretrained(directory), texts),
            "python": ids(BertTokenizerLegacy.from_pretrained(directory), texts),
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
    result = {"version": transformers.__version__, "loaded": loaded, "saved": saved}
    (work / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
