"""Chat templates side by side with transformers: the files of both, which each other loads."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from trietok.files.model_files import built_in_directory

TEMPLATES = [
    None,
    "two\r\nlines\n",
    {"default": "{{ messages }}", "tool_use": "x"},
    {"rag": "r", "tool_use": "x"},
    [{"name": "default", "template": "d"}, {"name": "b", "template": "é"}],
]


def both(name: str, **settings: Any) -> tuple[Any, Any]:
    """transformers' tokenizer and trietok's."""
    path = str(built_in_directory("trietok-en") / "vocab.txt")
    return getattr(transformers, name)(path, **settings), getattr(trietok, name)(path, **settings)


@pytest.mark.parametrize("templates", TEMPLATES)
@pytest.mark.parametrize(("has_files", "prefix"), [(True, None), (True, "my"), (False, None)])
@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_what_is_saved_and_loaded(
    tmp_path: Path, name: str, has_files: bool, prefix: str | None, templates: Any
) -> None:
    given = {} if templates is None else {"chat_template": templates}
    folders = [tmp_path / kind for kind in ("theirs", "ours")]
    written, files = [], []
    for tokenizer, folder in zip(both(name, **given), folders, strict=True):
        paths = tokenizer.save_pretrained(
            folder, save_jinja_files=has_files, filename_prefix=prefix
        )
        written.append(
            [str(Path(path).relative_to(folder)) for path in paths if Path(path).exists()]
        )
        files.append(
            {
                str(path.relative_to(folder)): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        )
    assert written[0] == written[1]
    assert files[0].keys() == files[1].keys()
    config = f"{prefix}-tokenizer_config.json" if prefix else "tokenizer_config.json"
    for file, content in files[0].items():
        if file.endswith(".jinja"):
            assert files[1][file] == content
        elif file == config:
            assert [json.loads(each[file]).get("chat_template") for each in files] == [
                json.loads(content).get("chat_template")
            ] * 2
    if prefix:
        return
    # Each loads what the other has written.
    kept = [
        getattr(package, name).from_pretrained(tmp_path / kind).chat_template
        for package, kind in itertools.product((transformers, trietok), ("theirs", "ours"))
    ]
    assert kept == kept[:1] * 4
