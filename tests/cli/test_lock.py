"""The command `lock`."""

from __future__ import annotations

import gzip
import json

import pytest

import trietok
from tests.cli.commands import WHY, error, out, run, usage_error
from trietok import BertTokenizer, BertTokenizerFast, Lock


@pytest.fixture
def lock(tmp_path, tiny):
    """A function that locks the tiny vocabulary, and returns the path of the lock and what the
    command says.
    """

    def locking(*arguments: str):
        path = tmp_path / "trietok.lock.json"
        return path, out("lock", "-m", tiny, "-o", str(path), *arguments)

    return locking


def test_golden_texts_from_files_of_several_kinds(lock, tmp_path, tiny):
    (tmp_path / "a.txt").write_text("hello\n\nworld\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"body": "東京"}\n', encoding="utf-8")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"hello hello\n"))
    (tmp_path / "b.txt").write_text("hel\n", encoding="utf-8")
    path, said = lock(*(str(tmp_path / name) for name in ("c.txt.gz", "a.txt", "b.txt")))
    loaded = Lock.load(path)
    assert [each.text for each in loaded.texts] == ["hello", "", "world", "hel", "hello hello"]
    assert said == [
        f"written to {path}: 5 texts, 15 ids, 5 special ids,"
        f" {BertTokenizerFast(tiny).fingerprint()}"
    ]
    path, _ = lock(str(tmp_path / "b.jsonl"), "--column", "body", "--force")
    assert [each.text for each in Lock.load(path).texts] == ["東京"]


@pytest.mark.parametrize(
    ("asked", "kind"), [((), BertTokenizerFast), (("--profile", "slow"), BertTokenizer)]
)
def test_without_texts_and_in_each_profile(lock, tiny, asked, kind):
    path, said = lock(*asked)
    assert Lock.load(path).fingerprint == kind(tiny).fingerprint()
    assert (len(Lock.load(path).texts), Lock.load(path).profile) == (32, kind.profile)
    assert said[0].startswith(f"written to {path}: 32 texts, ")


def test_the_lock_as_json(lock):
    path, said = lock("--json")
    values = json.loads(said[0])
    assert (values.pop("ok"), values.pop("output"), values.pop("profile_why")) == (
        True,
        str(path),
        WHY,
    )
    assert values == json.loads(path.read_text(encoding="utf-8"))
    assert json.loads(said[0])["model"] == "./vocab.txt"


def test_a_file_that_is_there_is_replaced_only_by_force(lock, tmp_path, tiny):
    path, _ = lock()
    before = path.read_bytes()
    again = ("lock", "-", "-m", tiny, "-o", str(path))
    refused = f"{path} is there already; name another place with -o, or replace it with --force"
    assert error(*again, stdin="hello\n") == refused
    assert path.read_bytes() == before
    out(*again, "--force", stdin="hello\n")
    assert [each.text for each in Lock.load(path).texts] == ["hello"]
    path.write_text("notes")
    assert error(*again, stdin="hello\n") == refused
    assert path.read_text() == "notes"
    directory = f"{tmp_path} is a directory; name a file with -o"
    assert error("lock", "-m", tiny, "-o", str(tmp_path)) == directory


def test_a_lock_of_no_model_is_refused(tmp_path):
    assert "Missing option '--model'" in usage_error("lock", "-o", str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_standard_input(tmp_path, tiny):
    path = tmp_path / "lock.json"
    out("lock", "-m", tiny, "-o", str(path), "-", stdin="hello\n")
    assert [each.text for each in Lock.load(path).texts] == ["hello"]


def test_mistakes(tmp_path, tiny):
    path = tmp_path / "lock.json"
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "none.txt").write_text("")
    (tmp_path / "half.jsonl").write_text('{"text": "a\\ud83d"}\n')
    arguments = ["lock", "-m", tiny, "-o", str(path)]
    assert error(*arguments, str(tmp_path / "empty.txt")).startswith(
        "every text is empty, so the lock would prove noth"
    )
    assert error(*arguments, str(tmp_path / "none.txt")).startswith(
        "there is no text, so the lock would prove nothing"
    )
    assert error(*arguments, str(tmp_path / "half.jsonl")).startswith(
        "text 1 holds U+D83D, half of a surrogate pair"
    )
    assert error(*arguments, str(tmp_path / "no.txt")).endswith("no.txt: No such file or directory")
    assert error("lock", "-m", str(tmp_path / "no"), "-o", str(path)).startswith(
        f"{tmp_path / 'no'} is neither a directory nor a file"
    )
    assert not path.exists()
    (tmp_path / "a.txt").write_text("a\n")
    assert (
        error("lock", "-m", tiny, str(tmp_path / "a.txt"), "-o", f"{tmp_path}/./a.txt", "--force")
        == f"{tmp_path}/./a.txt is what the command reads; name another place with -o"
    )
    assert (tmp_path / "a.txt").read_text() == "a\n"
    arguments = [
        "lock",
        "-m",
        tiny,
        str(tmp_path / "a.txt"),
        "-o",
        str(tmp_path / "no" / "lock.json"),
    ]
    assert error(*arguments) == f"there is no folder {tmp_path / 'no'} to write to; make it"


def test_the_names_are_public():
    assert {"lock", "verify", "Lock", "Verified"} <= set(trietok.__all__)
    assert run("lock", "--help").exit_code == 0
