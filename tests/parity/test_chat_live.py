"""Chats side by side with transformers: texts, ids, masks, and the files that hold the
templates.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")
pytest.importorskip("jinja2")

import trietok  # noqa: E402
from trietok.files.model_files import built_in_directory  # noqa: E402

from .conftest import TENSORS  # noqa: E402

TEMPLATE = """{%- for m in messages %}{{ '[CLS] ' + m['role'] + ': ' }}
{%- if m.role == 'assistant' %}{% generation %}{{ m['content'] | trim }}{% endgeneration %}
{%- else %}{{ m.content }}{% endif %}{{ ' ' + sep_token + '\n' }}{% endfor %}
{%- if tools %}{{ tools | tojson(indent=1) }}{% endif %}
{%- for d in documents or [] %}{% if loop.index > 1 %}{% break %}{% endif %}{{ d.title }}{% endfor %}
{%- if add_generation_prompt %}{{ '[CLS] assistant:' }}{% endif %}{{ more if more is defined }}
"""
SHORT = [
    {"role": "user", "content": "Hello, who are you? <b>&amp;"},
    {"role": "assistant", "content": " I am a tokenizer, pleased to meet you.  "},
]
LONG = [
    *SHORT,
    {"role": "user", "content": "Really?"},
    {"role": "assistant", "content": "Yes é 東京"},
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"tokenize": False},
    {"tokenize": False, "add_generation_prompt": True},
    {"add_generation_prompt": True},
    {"tokenize": False, "continue_final_message": True},
    {"continue_final_message": True},
    {"tokenize": False, "tools": [{"name": "<é>"}]},
    {"tokenize": False, "documents": [{"title": "x", "text": "y"}, {"title": "z"}]},
    {"tokenize": False, "more": "MORE", "sep_token": "<s>"},
    {"chat_template": "{{ messages|length }} people"},
    {"return_dict": True},
    {"return_dict": True, "tokenizer_kwargs": {"return_special_tokens_mask": True}},
    {"truncation": True, "max_length": 7},
    *({"return_dict": True, "padding": True, "return_tensors": kind} for kind in TENSORS),
    {
        "return_dict": True,
        "padding": "max_length",
        "max_length": 60,
        "truncation": True,
        "return_tensors": "np",
    },
]
MASKS: list[dict[str, Any]] = [
    {"return_dict": True, "return_assistant_tokens_mask": True, **more}
    for more in (
        {},
        {"padding": True},
        {"truncation": True, "max_length": 17},
        {"padding": True, "return_tensors": "np"},
    )
]
TEMPLATES = [
    None,
    "two\r\nlines\n",
    {"default": TEMPLATE, "tool_use": "x"},
    {"rag": "r", "tool_use": "x"},
    [{"name": "default", "template": "d"}, {"name": "b", "template": "é"}],
]


def both(name: str, **settings: Any) -> tuple[Any, Any]:
    """transformers' tokenizer and trietok's."""
    path = str(built_in_directory("trietok-en") / "vocab.txt")
    return getattr(transformers, name)(path, **settings), getattr(trietok, name)(path, **settings)


def plain(value: Any) -> Any:
    if isinstance(value, (str, list)):
        return value
    return (
        value.tolist()
        if hasattr(value, "tolist")
        else {key: plain(column) for key, column in value.items()}
    )


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_chats(name: str) -> None:
    theirs, ours = both(name, chat_template=TEMPLATE)
    # their slow class has no masks
    options = OPTIONS if name == "BertTokenizer" else [*OPTIONS, *MASKS]
    for chat, each in itertools.product((SHORT, LONG, tuple(SHORT), [SHORT, LONG]), options):
        want, got = (
            plain(theirs.apply_chat_template(chat, **each)),
            plain(ours.apply_chat_template(chat, **each)),
        )
        assert (got, list(got)) == (want, list(want)), (chat, each)
    for number in range(len(LONG)):
        arguments = LONG[number], LONG[:number]
        want = theirs.encode_message_with_chat_template(*arguments)
        assert ours.encode_message_with_chat_template(*arguments) == want


@pytest.mark.parametrize(
    "template", ["{{ messages[0].content }}", "{{ messages[0].content | trim }}!", "{{ 1 }}"]
)
@pytest.mark.parametrize(
    "content", ["a  ", " a", "a", [{"type": "text", "text": "a b "}, {"type": "image"}]]
)
def test_the_final_message_continued(template: str, content: Any) -> None:
    chat = [{"role": "assistant", "content": content}]
    results = []
    for tokenizer in both("BertTokenizer", chat_template=template):
        try:
            results.append(
                tokenizer.apply_chat_template(chat, continue_final_message=True, tokenize=False)
            )
        except ValueError:
            results.append(ValueError)
    assert results[0] == results[1]


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
