"""Finding a tokenizer's files on a hub, which answers on 127.0.0.1.

huggingface_hub reads its settings when it is imported, so every load from the hub runs in a process
of its own.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from tests.files.hub_loader import Loader, Parent, clean_environment
from tests.files.hub_server import Hub
from tests.files.models import CASED, CONFIG, MODEL, TOKENIZER_JSON, UNCASED, VOCAB, WANTED

TRIED = ("HEAD", "/", "", "")  # whether the hub can be reached


@pytest.fixture
def hub():
    with Hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def parent():
    with Parent() as parent:
        yield parent


@pytest.fixture
def load(parent, hub, tmp_path):
    return Loader(parent, hub, tmp_path / "home")


def failed(result: dict) -> str:
    """The message of a load that should have failed with one sentence."""
    assert "ids" not in result, result
    assert result["error"][0] == "FileError", result
    assert "\n" not in result["message"]
    return result["message"]


def test_a_model_is_fetched_once_and_then_comes_from_the_cache(hub, load):
    commit = hub.add("org/model", MODEL)
    assert [result.get("ids") for result in load(("org/model", {}))] == [CASED]
    # The hub is tried once. Then every wanted file is asked for once; the ones that are there are
    # fetched, and all are of the first one's commit.
    log = hub.take_log()
    assert [path for method, _, _, path in log if method == "HEAD"] == ["", *WANTED]
    assert [path for method, _, _, path in log if method == "GET"] == list(MODEL)
    assert {revision for _, _, revision, path in log[3:]} == {commit}

    # Again: one question whether the branch has moved. By its commit: none.
    again, by_commit = load(("org/model", {}), ("org/model", {"revision": commit}))
    assert again["ids"] == by_commit["ids"] == CASED
    assert hub.take_log() == [TRIED, ("HEAD", "org/model", "main", "vocab.txt")]
    assert load(("org/model", {"force_download": True}))[0]["ids"] == CASED
    assert ("GET", "org/model", commit, "tokenizer_config.json") in hub.take_log()

    # A hub that fails, answers nonsense or is gone does not matter now, nor does the offline mode.
    for failure in (500, 503, "not a hub"):
        hub.fail["*"] = failure
        assert load(("org/model", {}))[0]["ids"] == CASED
    assert {path for _, _, _, path in hub.take_log()} == {"", "vocab.txt"}
    only_cache = ("org/model", {"local_files_only": True})
    assert [result["ids"] for result in load(("org/model", {}), HF_HUB_OFFLINE="1")] == [CASED]
    assert [result["ids"] for result in load(only_cache)] == [CASED]
    assert hub.take_log() == []
    hub.close()
    gone = load(("org/model", {}), only_cache, ("org/model", {"revision": commit}))
    assert [result["ids"] for result in gone] == [CASED] * 3
    assert load.said == ""


@pytest.mark.parametrize(
    ("asked", "failure"),
    [("*", 500), ("*", 404), ("*", "not a hub"), ("*", "hang up"), ("GET vocab.txt", 500)],
)
def test_a_hub_that_fails_is_asked_for_one_file(hub, load, asked, failure):
    hub.add("org/model", MODEL)
    hub.fail[asked] = failure
    result, from_cache = load(("org/model", {}), ("org/model", {"local_files_only": True}))
    assert "vocab.txt" in failed(result)
    failed(from_cache)
    assert {path for _, _, _, path in hub.take_log()} <= {"", "vocab.txt"}
    hub.fail.clear()
    assert load(("org/model", {}))[0]["ids"] == CASED


def test_a_hub_that_fails_half_way_does_not_make_another_tokenizer(hub, load):
    """Without its tokenizer_config.json the model would lower-case, and nobody would know."""
    hub.add("org/model", MODEL)
    hub.fail["tokenizer_config.json"] = 500
    result, from_cache = load(("org/model", {}), ("org/model", {"local_files_only": True}))
    assert "fetching tokenizer_config.json failed" in failed(result)
    # In offline mode the user has said that the cache is all there is.
    assert from_cache["ids"] == load(("org/model", {}), HF_HUB_OFFLINE="1")[0]["ids"] == UNCASED
    hub.close()
    assert "tokenizer_config.json is not in the cache" in failed(load(("org/model", {}))[0])


def test_a_push_during_the_load_does_not_mix_two_commits(hub, load):
    first = hub.add("org/model", MODEL)

    def push(method, name, revision, path):
        if method == "GET" and path == "vocab.txt":
            without = VOCAB.replace("world\n", "other\n").replace("World\n", "Other\n")
            hub.add("org/model", {"vocab.txt": without, "added_tokens.json": '{"world": 99}'})

    hub.after_request = push
    assert load(("org/model", {}))[0]["ids"] == CASED
    assert {revision for _, _, revision, _ in hub.take_log()[3:]} == {first}
    assert load(("org/model", {}))[0]["ids"] == [2, 5, 99, 3]


def test_a_push_after_a_file_that_is_not_there_does_not_mix_two_commits(hub, load):
    first = hub.add("org/model", {"tokenizer_config.json": CONFIG})

    def push(method, name, revision, path):
        if path == "vocab.txt":
            hub.add("org/model", MODEL)

    hub.after_request = push
    assert "has no vocab.txt" in failed(load(("org/model", {}))[0])
    assert {revision for _, _, revision, _ in hub.take_log()[2:]} == {first}


def test_chat_templates_come_with_the_model(hub, load):
    templates = {"chat_template.jinja": "a", "additional_chat_templates/rag.jinja": "b"}
    hub.add("org/model", {**MODEL, **templates, "additional_chat_templates/README.md": ""})
    show = """
import trietok
class Shown(trietok.BertTokenizer):
    def __call__(self, text):
        return trietok.BatchEncoding({"input_ids": self.chat_template})
trietok.BertTokenizer = Shown
"""
    model, expected = ("org/model", {}), {"default": "a", "rag": "b"}
    assert load(model, prologue=show)[0]["ids"] == expected
    assert load(model, prologue=show, HF_HUB_OFFLINE="1")[0]["ids"] == expected
    hub.fail["additional_chat_templates"] = 500
    assert "fetching additional_chat_templates failed" in failed(load(model, prologue=show)[0])


def test_an_empty_cache_offline_is_an_error_and_asks_nobody(hub, load):
    hub.add("org/model", MODEL)
    for result in [
        *load(("org/model", {"local_files_only": True})),
        *load(("org/model", {}), HF_HUB_OFFLINE="1"),
    ]:
        assert "the offline mode is on, and its files are not in the cache" in failed(result)
    both = ("org/model", {"force_download": True})
    failed(load(("org/model", {"force_download": True, "local_files_only": True}))[0])
    failed(load(both, HF_HUB_OFFLINE="1")[0])
    assert hub.log == []


def test_a_hub_out_of_reach_is_one_error_at_once(hub, load):
    hub.close()
    loads = [("org/model", {}), ("org/model", {"force_download": True})]
    dead = {"HTTP_PROXY": "http://127.0.0.1:9", "HF_ENDPOINT": "http://hub.invalid"}
    for result in load(*loads) + load(*loads, **dead):
        assert "the hub cannot be reached" in failed(result)
        assert load.said == ""  # huggingface_hub says there that it tries again
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        result = load(loads[0], HF_ENDPOINT=url, HF_HUB_ETAG_TIMEOUT="1")[0]
    assert "the hub cannot be reached" in failed(result)


def commanded(hub, tmp_path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a command with this hub and a cache of its own."""
    env = {**clean_environment(), "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.url}
    command = [sys.executable, "-m", "trietok", *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**env, "NO_PROXY": "127.0.0.1", **environment},
        cwd=tmp_path,
        timeout=300,
    )


def test_a_command_names_in_one_line_what_a_mistyped_name_may_mean(hub, tmp_path):
    hub.close()
    done = commanded(hub, tmp_path, "encode", "-m", "trietok-em", "2")
    assert done.returncode == 2
    assert done.stderr.endswith("; did you mean trietok-en?\n")
    assert done.stderr.count("\n") == 1


def test_a_command_that_is_offline_asks_nobody(hub, tmp_path):
    hub.add("org/model", MODEL)
    words = ("encode", "-m", "org/model", "Hello")
    done = commanded(hub, tmp_path, *words, "--offline")
    assert (done.returncode, hub.take_log()) == (2, [])
    assert "not in the cache" in done.stderr
    assert commanded(hub, tmp_path, *words).stdout != ""
    assert hub.take_log() != []
    assert commanded(hub, tmp_path, *words, "--offline").stdout != ""
    assert hub.take_log() == []


def test_the_error_names_what_a_mistyped_name_may_mean(hub, load, tmp_path):
    work = tmp_path / "work"
    for name in ("my-model", "models/my-bert", "my-modern"):
        (work / name).mkdir(parents=True)
    for name in ("my-model", "models/my-bert"):
        (work / name / "vocab.txt").write_text(VOCAB)
    hub.add("org/model", MODEL)
    meant = {
        "trietok-em": "trietok-en",
        "Trietok-ZH": "trietok-zh",
        "my-modle": "my-model",
        "./my-modle": "./my-model",
        "models/my-brt": "models/my-bert",
        "models/my-bert2/": "models/my-bert",
    }
    loads = [(name, {}) for name in meant]
    for where in ({}, {"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}):
        for name, result in zip(meant, load(*loads, cwd=work, **where), strict=True):
            assert failed(result).endswith(f"; did you mean {meant[name]}?")
    for result in load(
        ("nothing-like-it", {}), ("no/such/place", {}), ("my-modern-art", {}), cwd=work
    ):
        assert "did you mean" not in failed(result)


def test_the_error_says_what_of_a_model_is_missing(hub, load):
    commit = hub.add("org/model", MODEL)
    hub.add("org/other", {"README.md": "", "tokenizer.json": TOKENIZER_JSON})
    hub.add("org/weights", {"model.safetensors": ""})
    hub.add("org/vocab-only", {"vocab.txt": VOCAB})
    expected = {
        ("org/nothing",): "no model of that name is open to you",
        ("org/nothing", "token", "hf_anybody"): "no model of that name is open to you",
        ("org/model", "revision", "v9"): "it has no revision v9",
        ("org/model", "revision", commit[:7]): f"it has no revision {commit[:7]}",
        (
            "org/other",
        ): "org/other has no vocab.txt, which BertTokenizer needs; it has tokenizer.js",
        ("org/weights",): "org/weights has none of the files of a tokenizer",
        ("org/model", "subfolder", "none"): "folder none of org/model has none of the files",
    }
    loads = [(name, {option[0]: option[1]} if option else {}) for name, *option in expected]
    results = load(*loads, ("org/vocab-only", {}))
    for result, message in zip(results, expected.values(), strict=False):
        assert message in failed(result)
    assert results[-1]["ids"] == UNCASED


def test_private_and_gated_models_need_the_right_token(hub, load):
    hub.add("org/private", MODEL, token="hf_secret")
    hub.add("org/gated", MODEL, token="hf_secret", gated=True)
    for name, message in (("private", "pass token=..."), ("gated", "ask on the model's page")):
        name = f"org/{name}"
        *refused, right = load(
            (name, {}), (name, {"token": "hf_wrong"}), (name, {"token": "hf_secret"})
        )
        for result in refused:
            assert message in failed(result)
            assert "hf_" not in result["message"]
        assert right["ids"] == CASED

    line_break, malformed = load(
        ("org/private", {"force_download": True, "token": "hf_secret\n"}),
        ("org/private", {"token": "hf_secret\nX-Other: 1"}),
    )
    assert line_break["ids"] == CASED
    assert "hf_" not in failed(malformed)


def test_revision_subfolder_and_cache_dir_choose_the_files(hub, load, tmp_path):
    hub.add("org/model", MODEL)
    hub.add("org/model", {"vocab.txt": VOCAB}, "v1")
    hub.add("org/model", {"vocab.txt": VOCAB.replace("world", "World")}, "refs/pr/3")
    hub.add("org/model", {f"a/tokenizer/{file}": text for file, text in MODEL.items()}, "nested")
    hub.add("plain", MODEL)
    cache = tmp_path / "elsewhere"
    loads = [
        ("org/model", {}),
        ("org/model", {"revision": "v1"}),
        ("org/model", {"revision": "refs/pr/3"}),
        ("org/model", {"revision": "nested", "subfolder": "a/tokenizer"}),
        ("org/model", {"revision": "nested", "subfolder": "/a/tokenizer/"}),
        ("plain", {"cache_dir": str(cache), "subfolder": ""}),
    ]
    expected = [CASED, UNCASED, [2, 5, 1, 3], CASED, CASED, CASED]
    assert [result.get("ids") for result in load(*loads)] == expected
    assert {path.name for path in cache.rglob("*.txt")} == {"vocab.txt"}
    hub.take_log()
    assert [result.get("ids") for result in load(*loads)] == expected
    # each asks once whether its revision has moved
    assert len([request for request in hub.take_log() if request != TRIED]) == 6
    assert [result.get("ids") for result in load(*loads, HF_HUB_OFFLINE="1")] == expected
    assert hub.log == []
    leaves = load(("org/model", {"subfolder": "a/../.."}))[0]
    assert "leads out of org/model" in failed(leaves)
    assert hub.log == []


def test_nothing_else_is_fetched_and_nothing_is_run(hub, load, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("wrong\n" * 9)
    code = f"open({str(tmp_path / 'run')!r}, 'w')"
    config = {
        "auto_map": {"AutoTokenizer": ["tokenization.Own", None]},
        "vocab_file": str(outside),
        "tokenizer_file": str(outside),
        "special_tokens_map_file": str(outside),
        "name_or_path": str(outside),
        "custom_files": ["../outside.txt"],
    }
    files = {**MODEL, "tokenizer_config.json": json.dumps({**json.loads(CONFIG), **config})}
    hub.add(
        "org/model", {**files, "tokenization.py": code, "__init__.py": code, "config.json": "{}"}
    )
    results = load(
        ("org/model", {}), ("org/model", {"trust_remote_code": True, "force_download": True})
    )
    assert [result.get("ids") for result in results] == [CASED, CASED]
    assert {path for _, _, _, path in hub.log} == {"", *WANTED}
    assert not (tmp_path / "run").exists()


def test_a_local_directory_or_file_of_that_name_wins(hub, load, tmp_path):
    hub.add("org/model", MODEL)
    hub.add("file", MODEL)
    directory = tmp_path / "work" / "org" / "model"
    directory.mkdir(parents=True)
    (directory / "vocab.txt").write_text(VOCAB)
    (tmp_path / "work" / "file").write_text(VOCAB)
    results = load(
        ("org/model", {"revision": "v9"}), ("file", {}), ("org/none", {}), cwd=tmp_path / "work"
    )
    assert [result.get("ids") for result in results[:2]] == [UNCASED, UNCASED]
    failed(results[2])
    assert {name for _, name, _, _ in hub.log} == {"/", "org/none"}


def test_without_huggingface_hub_the_error_says_how_to_install_it(hub, load):
    hub.add("org/model", MODEL)
    built_in, model = load(
        ("trietok-en", {}),
        ("org/model", {}),
        prologue="import sys; sys.modules['huggingface_hub'] = None",
    )
    assert built_in["ids"]
    assert model["error"][:2] == ["FileError", "TrietokError"]
    assert "OSError" in model["error"]
    assert "org/model is neither a directory nor a file here" in model["message"]
    assert "pip install huggingface_hub" in model["message"]
    assert hub.log == []


# ---- AutoTokenizer on the hub --------------------------------------------------------------------

MPNET = {
    "vocab.txt": "".join(
        f"{token}\n" for token in ("<s>", "<pad>", "</s>", "[UNK]", "<mask>", "hello", "world")
    ),
    "tokenizer_config.json": '{"tokenizer_class": "MPNetTokenizer"}',
}
AUTO = (  # what the child process loads with
    "import trietok; trietok.BertTokenizer = trietok.AutoTokenizer\n"
)


def test_auto_tokenizer_takes_the_class_that_the_hub_names(hub, load):
    hub.add("org/model", MPNET)
    hub.add("org/parts", {f"encoder/{name}": text for name, text in MPNET.items()})
    by_type = {"vocab.txt": MPNET["vocab.txt"], "config.json": '{"model_type": "mpnet"}'}
    hub.add("org/by-type", by_type)
    hub.add("org/other", {"vocab.txt": "a\n", "config.json": '{"model_type": "roberta"}'})
    hub.add("org/none", {"vocab.txt": "a\n"})
    results = load(
        ("org/model", {}),
        ("org/parts", {"subfolder": "encoder"}),
        ("org/by-type", {"revision": "main"}),
        ("org/other", {}),
        ("org/none", {}),
        ("org/nowhere", {}),
        prologue=AUTO,
    )
    assert [result.get("ids") for result in results] == [[0, 5, 6, 2]] * 3 + [None] * 3
    assert "the model_type is 'roberta'" in results[3]["message"]
    errors = [result["error"][0] for result in results[3:]]
    assert errors == ["TokenizerClassError", "FileError", "FileError"]
    hub.take_log()
    assert load(("org/model", {"local_files_only": True}), prologue=AUTO)[0]["ids"] == [0, 5, 6, 2]
    assert hub.take_log() == []


def test_what_the_hub_once_said_it_lacks_is_not_missed_when_it_fails(hub, load):
    """The first file that is asked for, tokenizer_config.json, is not there; the cache says so."""
    hub.add(
        "org/model", {"vocab.txt": MPNET["vocab.txt"], "config.json": '{"model_type": "mpnet"}'}
    )
    model = ("org/model", {})
    assert load(model, prologue=AUTO)[0]["ids"] == [0, 5, 6, 2]
    hub.fail["*"] = 500
    assert load(model, prologue=AUTO)[0]["ids"] == [0, 5, 6, 2]
    hub.close()
    assert load(model, prologue=AUTO)[0]["ids"] == [0, 5, 6, 2]
