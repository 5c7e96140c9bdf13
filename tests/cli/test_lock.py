"""The command `lock`."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.cli.commands import WHY, error, out, usage_error
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
    assert f"{path} is there already" in error(*again, stdin="hello\n")
    assert path.read_bytes() == before
    out(*again, "--force", stdin="hello\n")
    assert [each.text for each in Lock.load(path).texts] == ["hello"]
    path.write_text("notes")
    assert f"{path} is there already" in error(*again, stdin="hello\n")
    assert path.read_text() == "notes"
    assert "is a directory" in error("lock", "-m", tiny, "-o", str(tmp_path))


def test_mistakes(tmp_path, tiny):
    path = tmp_path / "lock.json"
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "none.txt").write_text("")
    (tmp_path / "half.jsonl").write_text('{"text": "a\\ud83d"}\n')
    arguments = ["lock", "-m", tiny, "-o", str(path)]
    for name in ("empty.txt", "none.txt", "no.txt"):
        error(*arguments, str(tmp_path / name))
    assert "U+D83D" in error(*arguments, str(tmp_path / "half.jsonl"))
    assert str(tmp_path / "no") in error("lock", "-m", str(tmp_path / "no"), "-o", str(path))
    assert "Missing option '--model'" in usage_error("lock", "-o", str(path))
    assert not path.exists()
    text = tmp_path / "a.txt"
    text.write_text("a\n")
    error("lock", "-m", tiny, str(text), "-o", f"{tmp_path}/./a.txt", "--force")
    assert text.read_text() == "a\n"
    error("lock", "-m", tiny, str(text), "-o", str(tmp_path / "no" / "lock.json"))
