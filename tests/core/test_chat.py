"""Chat templates: data that loading reads and saving writes, and that trietok never renders."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import trietok
from trietok import BertTokenizer, InputError

TEMPLATE = "{% for message in messages %}{{ message.content }}{{ sep_token }}{% endfor %}"


def test_loading_runs_no_template_and_needs_no_jinja2(tmp_path):
    tokenizer = BertTokenizer.from_pretrained(
        "trietok-en", chat_template={"default": "{% for", "rag": "{{"}
    )
    tokenizer.save_pretrained(tmp_path)
    code = f"import sys, trietok; trietok.AutoTokenizer.from_pretrained({str(tmp_path)!r}); "
    code += "assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["../out", "a/b", "..", ".hidden", "a\\b", "", "a\0"])
def test_a_template_is_not_saved_outside_of_its_folder(tmp_path, name):
    tokenizer = BertTokenizer.from_pretrained(
        "trietok-en", chat_template={"default": "a", name: "b"}
    )
    with pytest.raises(InputError):
        tokenizer.save_pretrained(tmp_path / "saved")
    assert not list(tmp_path.rglob("*"))
    # within the config a name is only a name
    tokenizer.save_pretrained(tmp_path / "saved", save_jinja_files=False)
    assert (
        BertTokenizer.from_pretrained(tmp_path / "saved").chat_template == tokenizer.chat_template
    )


def test_a_save_takes_away_the_templates_of_an_earlier_one(tmp_path):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=TEMPLATE)
    for templates in (
        {"default": "a", "rag": "b", "tool_use": "c"},
        {"rag": "d"},
        "e",
        None,
        {"default": "f"},
    ):
        tokenizer.chat_template = templates
        paths = tokenizer.save_pretrained(tmp_path)
        written = sorted(path for path in paths if path.endswith(".jinja"))
        assert written == sorted(str(path) for path in tmp_path.rglob("*.jinja"))
        again = BertTokenizer.from_pretrained(tmp_path).chat_template
        assert again == ("f" if templates == {"default": "f"} else templates)
    assert not (tmp_path / "additional_chat_templates").exists()
    tokenizer.chat_template = 5
    with pytest.raises(trietok.InputTypeError):
        tokenizer.save_pretrained(tmp_path)


def test_the_argument_comes_before_the_files_and_those_before_the_config(tmp_path):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=TEMPLATE)
    tokenizer.save_pretrained(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(
        json.dumps({**json.loads(config.read_text()), "chat_template": "of the config"})
    )
    assert BertTokenizer.from_pretrained(tmp_path).chat_template == TEMPLATE
    assert BertTokenizer.from_pretrained(tmp_path, chat_template="mine").chat_template == "mine"
    (tmp_path / "chat_template.jinja").unlink()
    assert BertTokenizer.from_pretrained(tmp_path).chat_template == "of the config"


@pytest.mark.parametrize("value", [5, [{"name": "a"}], ["a"], {"a": 1}])
def test_a_config_with_another_kind_of_template_is_refused(tmp_path, value):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=TEMPLATE)
    tokenizer.save_pretrained(tmp_path, save_jinja_files=False)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "chat_template": value}))
    with pytest.raises(trietok.FileFormatError):
        BertTokenizer.from_pretrained(tmp_path)


def test_a_folder_of_too_many_templates_is_refused(tmp_path):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=TEMPLATE)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "additional_chat_templates").mkdir()
    for number in range(101):
        (tmp_path / "additional_chat_templates" / f"{number}.jinja").touch()
    with pytest.raises(trietok.FileFormatError):
        BertTokenizer.from_pretrained(tmp_path)
