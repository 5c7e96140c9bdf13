"""Chat templates: data that loading reads and saving writes, and that trietok never renders."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import trietok
from trietok import BertTokenizer, InputError


@pytest.mark.parametrize("name", ["../out", "a/b", "..", ".hidden", "a\\b", "", "a\0"])
def test_a_template_is_not_saved_outside_of_its_folder(tmp_path, name):
    templates = {"default": "a", name: "b"}
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=templates)
    with pytest.raises(InputError):
        tokenizer.save_pretrained(tmp_path / "saved")
    assert not list(tmp_path.rglob("*"))
    # Within the config a name is only a name.
    tokenizer.save_pretrained(tmp_path / "saved", save_jinja_files=False)
    assert BertTokenizer.from_pretrained(tmp_path / "saved").chat_template == templates


def test_templates_are_saved_and_loaded_without_jinja2_and_an_earlier_save_is_taken_away(tmp_path):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template="{% for")
    for templates in ({"default": "a", "rag": "b", "tool_use": "{{"}, {"rag": "d"}, "e", None, "f"):
        tokenizer.chat_template = templates
        paths = tokenizer.save_pretrained(tmp_path)
        written = sorted(path for path in paths if path.endswith(".jinja"))
        assert written == sorted(str(path) for path in tmp_path.rglob("*.jinja"))
        assert BertTokenizer.from_pretrained(tmp_path).chat_template == templates
    code = f"import sys, trietok; trietok.AutoTokenizer.from_pretrained({str(tmp_path)!r}); "
    code += "assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "chat_template": "config's"}))
    assert BertTokenizer.from_pretrained(tmp_path, chat_template="mine").chat_template == "mine"
    assert BertTokenizer.from_pretrained(tmp_path).chat_template == "f"  # before the config's
    (tmp_path / "chat_template.jinja").unlink()
    assert BertTokenizer.from_pretrained(tmp_path).chat_template == "config's"


@pytest.mark.parametrize("value", [5, [{"name": "a"}], ["a"], {"a": 1}])
def test_a_config_with_another_kind_of_template_is_refused(tmp_path, value):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "chat_template": value}))
    with pytest.raises(trietok.FileFormatError):
        BertTokenizer.from_pretrained(tmp_path)
