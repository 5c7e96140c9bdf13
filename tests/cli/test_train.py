"""`trietok train`: what it reads and writes, what it says, how it is stopped, what is refused."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import signal
import time

import pyarrow
import pyarrow.parquet
import pytest

from tests.cli.commands import error, out, posix, process, run, usage_error
from trietok import BertTokenizer, TextFiles, train_bpe, train_wordpiece

TEXT = "The lowest lower low.\nNewest and widest, newer and wider!\nlower, newer\n" * 3


@pytest.fixture
def text(tmp_path, monkeypatch) -> str:
    """The name of a text file, in the directory of the test."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("text.txt").write_text(TEXT, encoding="utf-8")
    return "text.txt"


def files_in(directory: str) -> list[str]:
    return sorted(path.name for path in pathlib.Path(directory).iterdir())


# ---- what is written -----------------------------------------------------------------------------


def test_wordpiece(text):
    lines = out("train", "wordpiece", text, "-o", "out", "--vocab-size", "45")
    assert lines == ["written to out: 45 tokens from 9 texts, 48 words (12 different)"]
    tokenizer = BertTokenizer.from_pretrained("out")
    assert list(tokenizer.vocab) == list(train_wordpiece(TextFiles(text), vocab_size=45))
    assert tokenizer.tokenize("LOWER low.") == ["lower", "low", "."]
    one = out("train", "wordpiece", "-", "-o", "one", stdin="a")
    assert one == ["written to one: 6 tokens from 1 text, 1 word (1 different)"]


def test_wordpiece_options(text):
    options = "--cased --min-frequency 4 --limit-alphabet 9 --initial-alphabet xy --max-token-length 4".split()
    out(
        "train",
        "wordpiece",
        text,
        "-o",
        "out",
        *options,
        "--special-token",
        "[X]",
        "--special-token",
        "[SEP]",
    )
    tokenizer = BertTokenizer.from_pretrained("out")
    expected = train_wordpiece(
        TextFiles(text),
        do_lower_case=False,
        min_frequency=4,
        limit_alphabet=9,
        initial_alphabet="xy",
        max_token_length=4,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[X]"],
    )
    assert list(tokenizer.vocab) == list(expected)
    assert {"x", "y"} < set(expected)
    assert (tokenizer.do_lower_case, tokenizer.additional_special_tokens) == (False, ["[X]"])
    assert tokenizer.tokenize("low[X]")[-1] == "[X]"


def test_words_as_another_tokenizer_makes_them(text):
    pathlib.Path("more.txt").write_text("Tōkyō 東京タワー\n", encoding="utf-8")
    pathlib.Path("vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    options = {"do_lower_case": False, "tokenize_chinese_chars": False, "strip_accents": True}
    BertTokenizer("vocab.txt", **options).save_pretrained("other")
    out("train", "wordpiece", "more.txt", "-o", "out", "--like", "other")
    tokenizer = BertTokenizer.from_pretrained("out")
    assert tokenizer.tokenize("Tōkyō 東京タワー") == ["Tokyo", "東京タワー"]
    BertTokenizer("vocab.txt", do_basic_tokenize=False).save_pretrained("plain")
    out("train", "wordpiece", text, "-o", "out2", "--like", "plain")
    assert BertTokenizer.from_pretrained("out2").tokenize("low. wider!") == ["low.", "wider!"]
    usage_error("train", "wordpiece", text, "-o", "new", "--like", "other", "--cased")


def test_both_trainers_take_case_alike(text):
    pathlib.Path("capitals.txt").write_text("LOW low Low\n" * 9, encoding="utf-8")
    for kind, by_default in (("wordpiece", "--uncased"), ("bpe", "--cased")):
        found = {}
        for said in ("--cased", "--uncased", None):
            out("train", kind, "capitals.txt", "-o", f"{kind}{said}", *([said] if said else []))
            file = pathlib.Path(
                f"{kind}{said}", "vocab.txt" if kind == "wordpiece" else "vocab.json"
            )
            found[said] = file.read_text(encoding="utf-8")
        assert "LOW" in found["--cased"]
        assert "LOW" not in found["--uncased"]
        assert found[None] == found[by_default]


def test_bpe(text):
    options = "--vocab-size 40 --end-of-word-suffix </w> --special-token <s> --unk-token [U] --uncased".split()
    lines = out("train", "bpe", text, "-o", "out", *options)
    assert lines == ["written to out: 40 tokens from 9 texts, 48 words (12 different)"]
    assert files_in("out") == [
        "merges.txt",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.json",
    ]
    expected = train_bpe(
        TextFiles(text),
        vocab_size=40,
        end_of_word_suffix="</w>",
        special_tokens=["<s>"],
        unk_token="[U]",
        do_lower_case=True,
    )
    assert json.loads(pathlib.Path("out/vocab.json").read_text(encoding="utf-8")) == expected.vocab
    assert list(expected.vocab)[:2] == ["[U]", "<s>"]


def test_the_summary_as_json(text):
    (line,) = out("train", "bpe", text, "-o", "out", "--vocab-size", "35", "--json")
    summary = json.loads(line)
    assert summary.pop("seconds") >= 0
    assert summary == {
        "ok": True,
        "kind": "bpe",
        "output": "out",
        "files": ["text.txt"],
        "texts": 9,
        "words": 48,
        "different_words": 12,
        "pruned_below": 0,
        "vocab_size": 35,
        "merges": 35 - len(set(TEXT) - set(" \n")) - 1,
    }


def test_the_chinese_recipe(text):
    pathlib.Path("zh.txt").write_text(
        "床前明月光，疑是地上霜。\n举 头 望 明 月 ，\n", encoding="utf-8"
    )
    pathlib.Path("test.txt").write_text("望明月?\n", encoding="utf-8")
    command = [
        "train",
        "bpe",
        "zh.txt",
        "--recipe",
        "chinese",
        "--vocab-size",
        "100",
        "--test",
        "test.txt",
    ]
    assert out(*command, "-o", "out") == ["written to out: 15 tokens from 2 texts"]
    assert files_in("out") == ["result.txt", "result_left_to_right.txt", "train.log", "vocab.txt"]
    assert pathlib.Path("out/result.txt").read_text(encoding="utf-8") == "望 明月 <unk>\n"
    assert (
        pathlib.Path("out/train.log").read_text(encoding="utf-8")
        == "1 merges, vocabulary 12, best pair '明月' (2)\n"
    )
    summary = json.loads(out(*command, "-o", "other", "--json")[0])
    assert (summary["subwords"], summary["punctuation"], summary["merges"], summary["texts"]) == (
        12,
        2,
        1,
        2,
    )


# ---- what is read --------------------------------------------------------------------------------


def test_every_kind_of_file_gives_the_same_vocabulary(text):
    texts = TEXT.split("\n")[:-1]
    pathlib.Path("a.jsonl").write_text("".join(json.dumps({"body": line}) + "\n" for line in texts))
    pathlib.Path("b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    pyarrow.parquet.write_table(pyarrow.table({"body": texts}), "c.parquet")
    for number, name in enumerate(
        [text, "a.jsonl", "b.txt.gz", "c.parquet", "te*.txt", "**/text.txt"]
    ):
        out("train", "wordpiece", name, "--column", "body", "-o", f"out{number}")
    out("train", "wordpiece", "-", "-o", "out6", stdin=TEXT)
    assert len({pathlib.Path(f"out{number}/vocab.txt").read_bytes() for number in range(7)}) == 1


def test_bytes_that_are_not_utf8_can_be_replaced(text):
    pathlib.Path("bad.txt").write_bytes(b"fine\nlow\xe9r\n")
    message = error("train", "wordpiece", "bad.txt", "-o", "out")
    assert message.startswith("bad.txt, line 2: byte 0xe9 at offset 8")
    assert not os.path.exists("out")
    out("train", "wordpiece", "bad.txt", "-o", "out", "--on-error", "replace")
    assert "lowr" in BertTokenizer.from_pretrained("out").vocab


# ---- what is refused -----------------------------------------------------------------------------


def test_bad_input_is_one_clear_line(text):
    pathlib.Path("empty.txt").write_text("")
    pathlib.Path("a.jsonl").write_text('{"body": "low"}\n')
    train = ("train", "wordpiece", "-o", "out")
    error(*train, "empty.txt")
    error(*train, "-", stdin=" \n")
    message = error(*train, "a.jsonl")
    assert message.startswith("a.jsonl, line 1: ")
    assert "--column" in message
    assert "20" in error(*train, text, "--vocab-size", "20")
    assert "missing.txt" in error(*train, "missing.txt")
    assert "*.csv" in error(*train, "*.csv")
    assert "'ignore'" in usage_error(*train, text, "--on-error", "ignore")
    error(*train, ".")
    assert not os.path.exists("out")


@posix
def test_the_place_for_the_output_is_looked_at_first(text, monkeypatch):
    for output in ("text.txt/new", "text.txt/new/deeper"):
        assert repr(output) in error("train", "bpe", "missing.txt", "-o", output)
    pathlib.Path("link").symlink_to("nowhere")
    out("train", "bpe", text, "-o", "link")
    assert "vocab.json" in files_in("nowhere")
    pathlib.Path("there").mkdir()
    # nobody stops the superuser
    monkeypatch.setattr("os.access", lambda path, mode: mode & os.W_OK == 0)
    for output in ("new/out", "there"):
        assert repr(output) in error("train", "bpe", "missing.txt", "-o", output)


def test_options_that_do_not_go_together(text):
    command = ("train", "bpe", text, "-o", "out")
    assert "chinese" in usage_error(*command, "--recipe", "german")
    message = usage_error(*command, "--recipe", "chinese", "--min-frequency", "0")
    assert "--min-frequency does not work with --recipe chinese." in message
    assert "--recipe" in usage_error(*command, "--test", text)
    assert "--recipe" in usage_error(*command, "--num-merges", "3")
    error("train", "bpe", "-o", "out")  # what a pipe gives
    for kind in ("wordpiece", "bpe"):
        command = ("train", kind, text, "-o", "out")
        assert "'--limit-alphabet'" in usage_error(*command, "--limit-alphabet", "0")
    assert not pathlib.Path("out").exists()


def test_too_many_different_words_are_pruned_with_a_warning(text, monkeypatch):
    result = run("train", "wordpiece", text, "-o", "out", "--max-words", "6", "--json")
    assert result.exit_code == 0
    assert result.stderr.startswith("trietok: warning: more than 6 different words")
    assert json.loads(result.stdout)["pruned_below"] > 0


def test_the_sizes_of_the_recipe(text):
    pathlib.Path("zh.txt").write_text("春眠不觉晓，处处闻啼鸟。\n处处闻啼鸟\n", encoding="utf-8")
    command = ("train", "bpe", "zh.txt", "--recipe", "chinese", "--json")
    few = json.loads(run(*command, "-o", "few", "--num-merges", "2").stdout)
    assert (few["merges"], few["subwords"]) == (2, 8)
    limited = json.loads(run(*command, "-o", "limited", "--limit-alphabet", "4").stdout)
    assert limited["subwords"] < few["subwords"]
    assert "--vocab-size" in error(*command, "-o", "small", "--vocab-size", "3")
    assert not pathlib.Path("small").exists()


def test_what_is_segmented_is_read_first(text):
    pathlib.Path("bad.txt").write_bytes(b"fine\nlow\xe9r\n")
    command = ("train", "bpe", "--recipe", "chinese", "-o", "out")
    assert "bad.txt, line 2: byte 0xe9" in error(*command, text, "--test", "bad.txt")
    assert "no.txt" in error(*command, text, "--test", "no.txt")
    assert "line 1: byte 0xff" in error(*command, text, "--test", "-", stdin=b"\xff\n")
    usage_error(*command, "-", text, "--test", "-")
    assert files_in(".") == ["bad.txt", "text.txt"]


def test_texts_or_sentences_from_standard_input(text):
    command = ("train", "bpe", "--recipe", "chinese")
    out(*command, "-", "--test", text, "-o", "one", stdin=TEXT)
    out(*command, text, "--test", "-", "-o", "two", stdin=TEXT)
    for name in files_in("one"):
        assert pathlib.Path("one", name).read_bytes() == pathlib.Path("two", name).read_bytes()
    assert len(pathlib.Path("two/result.txt").read_text().splitlines()) == 9


# ---- stopping it ---------------------------------------------------------------------------------


def heed_interrupts():  # a test run in the background may have been told to ignore them
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setsid()  # an interrupt of the group, as a terminal sends it, must not reach this process


@posix
@pytest.mark.parametrize("processes", [pytest.param("1", marks=pytest.mark.faults), "2"])
def test_an_interrupt_leaves_nothing_and_says_so(text, processes):
    command = ("train", "wordpiece", "-", "-o", "out", "--workers", processes)
    child = process(*command, preexec_fn=heed_interrupts)
    # more than a pipe holds: it is being read, and several batches long
    child.stdin.write(TEXT.encode() * 30_000)
    child.stdin.flush()
    time.sleep(0.2)
    os.killpg(child.pid, signal.SIGINT)
    said = child.stderr.read()
    assert (child.wait(), said) == (130, b"trietok: stopped; nothing was written\n")
    assert not os.path.exists("out")


@posix
@pytest.mark.parametrize("processes", [pytest.param("1", marks=pytest.mark.faults), "2"])
def test_sigterm_leaves_nothing_and_says_so(text, processes):
    """It goes to the command alone; a process that were left would keep standard error open."""
    child = process(
        "train", "wordpiece", "-", "-o", "out", "--workers", processes, start_new_session=True
    )
    child.stdin.write(TEXT.encode() * 30_000)
    child.stdin.flush()
    child.terminate()
    said = child.communicate(timeout=300)
    assert (child.returncode, said) == (143, (b"", b"trietok: stopped; nothing was written\n"))
    assert not os.path.exists("out")
