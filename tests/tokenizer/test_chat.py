"""Chats by chat templates: what is refused, what the masks say, what a template may do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from itertools import chain

import pytest

import trietok
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    MissingDependencyError,
    NotSupportedError,
)

pytest.importorskip("jinja2")

TEMPLATE = (
    "{% for message in messages %}{% if message.role == 'assistant' %}{% generation %} {{"
    " message.content }}\n{% endgeneration %}{% else %}{{ message.content }}{% endif %}{{ sep_token"
    " }}{% endfor %}"
)
CHAT = [{"role": "user", "content": "the people"}, {"role": "assistant", "content": "hello people"}]


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request):
    return request.param.from_pretrained("trietok-en", chat_template=TEMPLATE)


def test_the_mask_marks_the_tokens_of_the_generation_blocks(tokenizer):
    """transformers looks for the token of a block's first and last character, and of a space there
    is none.
    """
    chats = [CHAT, [*CHAT, *CHAT]]
    options = {"return_dict": True, "return_assistant_tokens_mask": True}
    for more in (
        {},
        {"padding": True, "return_tensors": "np"},
        {"padding": True, "tokenizer_kwargs": {"padding_side": "left"}},
    ):
        batch = tokenizer.apply_chat_template(chats, **options, **more)
        for ids, mask, times in zip(
            batch["input_ids"], batch["assistant_masks"], (1, 2), strict=True
        ):
            marked = tokenizer.decode(
                [i for i, is_marked in zip(ids, mask, strict=True) if is_marked]
            )
            assert marked == " ".join(["hello people"] * times)
    alone = tokenizer.apply_chat_template(CHAT, **options)
    assert len(alone["assistant_masks"]) == len(alone["input_ids"])
    # A block at the very beginning counts too; a chat without one has no marked token.
    first = tokenizer.apply_chat_template(CHAT[1:], **options)
    assert first["assistant_masks"] == [1] * (len(first["input_ids"]) - 1) + [0]
    assert set(tokenizer.apply_chat_template(CHAT[:1], **options)["assistant_masks"]) == {0}


def test_threads_do_not_mix_their_masks(tokenizer):
    chats = [[CHAT[0]] * length + CHAT for length in range(20)]
    options = {"return_dict": True, "return_assistant_tokens_mask": True}
    alone = [tokenizer.apply_chat_template(chat, **options)["assistant_masks"] for chat in chats]
    wrong = []

    def work():
        for chat, mask in zip(chats, alone, strict=True):
            if tokenizer.apply_chat_template(chat, **options)["assistant_masks"] != mask:
                wrong.append(chat)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chat_template": "{% for %}"}, "line 1 of the chat template is not valid"),
        (
            {"chat_template": "{{ raise_exception('roles must alternate') }}"},
            "refuses the chat: roles must alternate",
        ),
        ({"chat_template": "{{ messages.append(1) }}"}, "refuses the chat: .*append"),
        ({"chat_template": "{{ ''.__class__.__mro__ }}"}, "refuses the chat: .*__class__"),
        (
            {"chat_template": "{% include 'etc/passwd' %}"},
            "fails on the chat: TypeError: no loader",
        ),
        ({"chat_template": "{{ messages[0].content + none }}"}, "fails on the chat: TypeError"),
        ({"chat_template": "a", "continue_final_message": True}, "leaves it out"),
        ({"continue_final_message": True, "add_generation_prompt": True}, "give one"),
        ({"return_dict": True, "tokenize": False}, "tokenize=False gives a text"),
        ({"return_assistant_tokens_mask": True}, "return_dict=True"),
        (
            {
                "return_assistant_tokens_mask": True,
                "return_dict": True,
                "continue_final_message": True,
            },
            "do not go together",
        ),
        ({"documents": ["a"]}, "a document is a dict"),
        ({"tools": [1]}, "a tool is a JSON schema"),
        ({"tools": 3}, "tools are given as a list, not as int"),
        ({"documents": {}}, "documents are given as a list, not as dict"),
        (
            {"tokenizer_kwargs": {"padding": True}},
            "padding is an option of apply_chat_template itself",
        ),
    ],
)
def test_what_is_refused(tokenizer, options, words):
    with pytest.raises(InputError, match=words):
        tokenizer.apply_chat_template(CHAT, **options)


def test_what_else_is_refused(tokenizer):
    for nothing in ([], [[]], [CHAT, []]):
        with pytest.raises(InputError, match="has no messages"):
            tokenizer.apply_chat_template(nothing)
    with pytest.raises(
        NotSupportedError, match=r"test_what_else_is_refused is a function; .*get_json_schema"
    ):
        tokenizer.apply_chat_template(CHAT, tools=[test_what_else_is_refused])
    with pytest.raises(InputError, match="leave add_generation_prompt out"):
        tokenizer.encode_message_with_chat_template(CHAT[0], add_generation_prompt=True)
    image = [{"role": "user", "content": [{"type": "image"}]}]
    with pytest.raises(InputError, match="the final message has none"):
        tokenizer.apply_chat_template(image, continue_final_message=True)
    tokenizer.chat_template = {"rag": "a", "tool_use": "b"}
    with pytest.raises(
        InputError, match="is named 'default'; pass chat_template= one of 'rag', 'tool_use'"
    ):
        tokenizer.apply_chat_template(CHAT)
    assert tokenizer.get_chat_template(tools=[{}]) == "b"
    for none in (None, {}):
        tokenizer.chat_template = none
        with pytest.raises(InputError, match=r"no chat template; set tokenizer\.chat_template"):
            tokenizer.get_chat_template()


@pytest.mark.parametrize("chat", ["the people", CHAT[0], b"the people", [CHAT, "the people"]])
def test_what_is_no_list_of_messages_is_refused(tokenizer, chat):
    """transformers writes a template of the letters of a str, and of the keys of a dict."""
    with pytest.raises(InputTypeError, match="a conversation is a list of messages"):
        tokenizer.apply_chat_template(chat)


@pytest.mark.parametrize(
    "value", [3, b"a", [1], ["a"], [{"name": "a"}], [{"template": "a"}], {"a": 1}]
)
def test_what_is_no_template_is_refused_at_once(value):
    with pytest.raises(InputTypeError, match="chat_template is a template, a str, or a dict"):
        BertTokenizer.from_pretrained("trietok-en", chat_template=value)


def test_a_chat_that_overflows_has_masks_of_each_row(tokenizer):
    options = {
        "truncation": True,
        "max_length": 4,
        "tokenizer_kwargs": {"return_overflowing_tokens": True},
    }
    batch = tokenizer.apply_chat_template(
        CHAT, return_dict=True, return_assistant_tokens_mask=True, **options
    )
    whole = tokenizer.apply_chat_template(CHAT, return_dict=True, return_assistant_tokens_mask=True)
    rows = [batch["assistant_masks"]] if tokenizer.profile == "slow" else batch["assistant_masks"]
    masks = list(chain.from_iterable(rows))
    assert len(masks) == (4 if tokenizer.profile == "slow" else len(whole["input_ids"]))
    assert masks == whole["assistant_masks"][: len(masks)]


@pytest.mark.parametrize(
    "options", [{"return_dict": True}, {"return_tensors": "np"}, {"tokenize": False}]
)
def test_the_ids_of_one_message_are_a_list(tokenizer, options):
    with pytest.raises(InputError, match=f"leave {next(iter(options))} out"):
        tokenizer.encode_message_with_chat_template(CHAT[1], CHAT[:1], **options)


def test_the_mark_of_the_end_is_in_no_text(tokenizer):
    twice = "{% for message in messages %}{{ message.content }}|{{ message.content }}{% endfor %}"
    with pytest.raises(InputError, match="once in the text"):
        tokenizer.apply_chat_template(CHAT, chat_template=twice, continue_final_message=True)


def test_chats_that_share_a_message(tokenizer):
    """Each is continued by itself: the end of one is no end of the other."""
    said = {"role": "user", "content": "the people"}
    options = {"chat_template": TEMPLATE, "continue_final_message": True, "tokenize": False}
    alone = tokenizer.apply_chat_template([said], **options)
    assert tokenizer.apply_chat_template([[said], [said]], **options) == [alone, alone]


def test_a_chat_is_not_changed(tokenizer):
    chat = [{"role": "user", "content": [{"type": "text", "text": "the people"}]}]
    before = json.dumps(chat)
    template = "{{ messages[0].content[0].text }} and more"
    text = tokenizer.apply_chat_template(
        chat, chat_template=template, continue_final_message=True, tokenize=False
    )
    assert (text, json.dumps(chat)) == ("the people", before)


def test_loading_runs_no_template_and_needs_no_jinja2(tmp_path):
    tokenizer = BertTokenizer.from_pretrained(
        "trietok-en", chat_template={"default": "{% for", "rag": "{{"}
    )
    tokenizer.save_pretrained(tmp_path)
    code = f"import sys, trietok; trietok.AutoTokenizer.from_pretrained({str(tmp_path)!r}); "
    code += "assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_jinja2_the_error_says_what_to_install(tokenizer, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"pip install jinja2"):
        tokenizer.apply_chat_template(CHAT)


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../out", "a/b", "..", ".hidden", "a\\b", "", "a\0"])
def test_a_template_is_not_saved_outside_of_its_folder(tmp_path, name):
    tokenizer = BertTokenizer.from_pretrained(
        "trietok-en", chat_template={"default": "a", name: "b"}
    )
    with pytest.raises(InputError, match="rename it"):
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
    with pytest.raises(trietok.InputTypeError, match="chat_template is a str, or a dict"):
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
    with pytest.raises(
        trietok.FileFormatError, match=r"chat_template is .*it should be a template"
    ):
        BertTokenizer.from_pretrained(tmp_path)


def test_a_link_to_itself_among_templates_hides_no_other(tmp_path):
    templates = {"default": TEMPLATE, "other": "{{ messages }}"}
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=templates)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "additional_chat_templates" / "mine.jinja").symlink_to("mine.jinja")
    assert BertTokenizer.from_pretrained(tmp_path).chat_template == templates


def test_a_folder_of_too_many_templates_is_refused(tmp_path):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", chat_template=TEMPLATE)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "additional_chat_templates").mkdir()
    for number in range(101):
        (tmp_path / "additional_chat_templates" / f"{number}.jinja").touch()
    with pytest.raises(trietok.FileFormatError, match="more than 100 chat templates"):
        BertTokenizer.from_pretrained(tmp_path)
