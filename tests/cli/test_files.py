"""Files that commands read and write: every command takes the same kinds, and replaces only what it
may.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from safetensors.numpy import load_file, save_file

from tests.cli.commands import error, out, run, unframed, usage_error
from trietok import AutoTokenizer, BertTokenizer

TEXTS = ["the people 東", "of the ☃ United States", "the people of the people", "in order, snow ☃☃"]
LINES = "".join(f"{text}\n" for text in TEXTS).encode()
OBJECTS = "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in TEXTS).encode()
FILES = {
    "a.txt.gz": gzip.compress(LINES),
    "a.jsonl": OBJECTS,
    "a.jsonl.zst": zstandard.compress(OBJECTS),
    "blank.jsonl": OBJECTS.replace(b"\n", b"\n \n\n"),
    "a.csv": "id,text\n" + "".join(f'1,"{text}"\n' for text in TEXTS),
    "windows.csv": "\ufeffid,text\r\n" + "".join(f'1,"{text}"\r\n' for text in TEXTS),
    "carriage_returns.csv": "id,text\r" + "".join(f'1,"{text}"\r' for text in TEXTS),
    "a.tsv": "id\ttext\n" + "".join(f"1\t{text}\n\n" for text in TEXTS),
    # packed files are known by their first bytes
    "zst.txt": zstandard.compress(LINES),
    "gz.txt.zst": gzip.compress(LINES),
}
READING = {
    "encode": "encode --file",
    "tokenize": "tokenize --file",
    "suggest": "suggest --min-frequency 1",
    "diff": "diff trietok-en trietok-en",
    "train": "train wordpiece --vocab-size 60 -o out --force",
    "lock": "lock -q -m trietok-en -o out.json --force",
    "trim": "trim -q -m trietok-en -o out --force",
}


@pytest.fixture(autouse=True)
def texts_in_this_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_bytes(LINES)


@pytest.mark.parametrize("command", READING)
def test_the_texts_are_the_same_in_every_kind_of_file(command):
    expected = out(*READING[command].split(), "texts.txt")
    assert expected
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert out(*READING[command].split(), name) == expected, name
    pyarrow.parquet.write_table(pyarrow.table({"text": TEXTS}), "a.parquet", row_group_size=3)
    assert out(*READING[command].split(), "a.parquet") == expected


SKIPPING = {  # commands that have --on-error
    "train": READING["train"],
    "lock": READING["lock"],
    "suggest": READING["suggest"],
    "add": "add -m trietok-en -o out --force --terms",
    "encode-files": "encode-files -q -o out --workers 1",
}


@pytest.mark.parametrize("command", SKIPPING)
def test_blank_lines_and_nulls_are_the_same_for_every_command(command):
    """A blank line is an empty text or none, and counts as a line; a null is an error."""
    texts = ["covid", "", "covid snow"]
    objects = [json.dumps({"text": text}) + "\n" for text in texts]
    Path("lines.txt").write_text("covid\n\ncovid snow\n")
    Path("blank.jsonl").write_text("\n \n".join(objects))
    Path("null.jsonl").write_text("\n \n".join([*objects, '{"text": null}\n']))
    for name, column in (("fine", texts), ("null", [*texts, None])):
        table = pyarrow.table({"text": pyarrow.array(column, "string")})
        pyarrow.parquet.write_table(table, f"{name}.parquet")

    def result(name: str, *options: str) -> tuple[str, str]:
        """What the command says and writes, without what only tells of the null."""
        shutil.rmtree("out", ignore_errors=True)
        made = run(*SKIPPING[command].split(), name, *options)
        assert made.exit_code == 0, made.stderr
        ids = str(rows_in("out")) if command == "encode-files" else ""
        return made.stdout.partition("written" if ids else "kept aside")[0], ids

    expected = result("lines.txt")
    for name in ("blank.jsonl", "fine.parquet"):
        assert result(name) == expected, name
    for name, told in (
        ("null.jsonl", "line 10: 'text' is null, not a text; remove the line or fill the field"),
        ("null.parquet", "row 4: 'text' is null, not a text; remove the row or fill the column"),
    ):
        shutil.rmtree("out", ignore_errors=True)
        assert error(*SKIPPING[command].split(), name).startswith(f"{name}, {told}")
        assert result(name, "--on-error", "skip") == expected, name


def rows_in(ids: str) -> list[dict[str, object]]:
    """The rows of a finished run, in order."""
    files = sorted(Path(ids).rglob("*.parquet"))
    return [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]


def test_encode_files_writes_the_ids_of_each_kind_of_file(english):
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    out("encode-files", "-q", *FILES, "-o", "ids", "--workers", "1")
    assert [row["input_ids"] for row in rows_in("ids")] == english(TEXTS * len(FILES)).input_ids


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--no-special-tokens", {"add_special_tokens": False}),
        ("--max-length 4", {"truncation": True, "max_length": 4}),
        ("--truncation", {"truncation": True}),
    ],
)
def test_encode_files_takes_the_options_of_a_call(english, options, expected):
    out("encode-files", "-q", "texts.txt", "-o", "ids", "--workers", "1", *options.split())
    assert [row["input_ids"] for row in rows_in("ids")] == english(TEXTS, **expected).input_ids


def test_encode_files_writes_other_columns():
    Path("a.jsonl").write_bytes(OBJECTS)
    columns = ("--keep-columns", "id, text", "--include", "attention_mask,special_tokens_mask")
    out("encode-files", "a.jsonl", "-o", "ids", "--workers", "1", *columns)
    row = rows_in("ids")[3]
    assert list(row) == ["id", "text", "input_ids", "attention_mask", "special_tokens_mask"]
    assert (row["id"], row["text"]) == (1, TEXTS[3])
    call = ("encode-files", "a.jsonl", "-o", "more", "--workers", "1")
    assert "offsets" in usage_error(*call, "--include", "offsets")


def test_a_table_of_terms_is_read_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("a.csv").write_text("code,term\n0,Zoology\n", encoding="utf-8")
    out("add", "-m", "trietok-en", "--terms", "a.csv", "--column", "term", "-o", "new")
    assert "zoology" in BertTokenizer.from_pretrained("new").get_vocab()


WRITING = {
    "check": "check -m trietok-en --fix",
    "train": "train wordpiece texts.txt --vocab-size 60",
    "suggest": "suggest texts.txt",
    "trim": "trim -m trietok-en texts.txt",
    "add": "add -m trietok-en --terms texts.txt",
    "lock": "lock -m trietok-en texts.txt",
    "explain": "explain a",
}


@pytest.mark.parametrize("command", WRITING)
def test_what_is_at_the_output_is_replaced_only_by_force(tmp_path, command):
    call = [*WRITING[command].split(), "-o", "out"]
    first = run(*call)
    assert (first.exit_code, "written to out" in first.stdout) == (0, True), first.stderr
    is_directory = Path("out").is_dir()
    names = sorted(path.name for path in tmp_path.rglob("*"))
    again = run(*call)
    assert (again.exit_code, "out is there already" in again.stderr) == (2, True)
    if is_directory:
        Path("out", "stale").touch()
    forced = run(*call, "--force")
    assert (forced.exit_code, forced.stdout) == (0, first.stdout)
    assert sorted(path.name for path in tmp_path.rglob("*")) == names


COMMANDS = re.findall("^  ([a-z-]+)  ", run("--help").stdout, re.MULTILINE)
WRONG_CALLS = """
shout | No such command 'shout'.
--versio | Did you mean '--version'?
encode --x a | No such option '--x'.
train bpe --vocabsize 9 a | Did you mean '--vocab-size'?
encode -m | Option '-m' requires an argument.
encode --max-length x a | '--max-length'
encode --max-length 0 a | '--max-length'
encode --profile quick a | 'slow', 'fast'
encode a b --pair c | exactly one text
encode --pair c | exactly one text
encode a --file texts.txt | not both
encode a texts.txt | 'texts.txt' is a file
decode 5 --file texts.txt | not both
decode 5 --skip | No such option '--skip'.
decode hello | 'hello' is not an id
explain --pair c a b | exactly one text
explain -o a.html --json a | not both
rows -m model --new-tokenizer a | '--output'
adapt -m model texts.txt -o s3://b/a | is a URL
check -m trietok-en -o a | --fix
check -m trietok-en --fix | --output
check -m trietok-en --renumber | --fix
check trietok-en | '--model'
lock -o lock.json | '--model'
add -m trietok-en -o a | '--terms'
add --terms texts.txt -o a | '--model'
add -m trietok-en --terms texts.txt | '--output'
trim -m trietok-en texts.txt | '--output'
trim -m trietok-en texts.txt -o a --unused -1 | --unused
suggest texts.txt --most 0 | '--most'
suggest texts.txt --way anyhow | '--way'
encode-files -o a | 'FILES...'
encode-files texts.txt | '--output'
encode-files texts.txt -o a --address auto | --engine
encode-files - -o a | standard input
encode-files texts.txt -o a --on-error csv | '--on-error'
train bpe texts.txt -o a --recipe german | chinese
train bpe texts.txt -o a --recipe chinese --min-frequency 0 | --min-frequency
train bpe texts.txt -o a --num-merges 3 | --recipe
train wordpiece texts.txt -o a --limit-alphabet 0 | '--limit-alphabet'
train wordpiece texts.txt -o a --on-error ignore | 'skip'
train wordpiece texts.txt -o a --like trietok-en --cased | not two
play --no-browser -m ./none | ./none
"""


@pytest.mark.parametrize("line", WRONG_CALLS.strip().splitlines())
def test_a_wrong_call_is_refused_and_writes_nothing(tmp_path, line):
    call, reason = line.split(" | ")
    result = run(*call.split())
    assert result.exit_code == 2
    assert reason in unframed(result.stderr)
    words = call.split()
    named = words[: 2 if words[0] == "train" else int(words[0] in COMMANDS)]
    assert words[0] == "play" or f"Usage: {' '.join(['trietok', *named])} [" in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["texts.txt"]


@pytest.mark.parametrize(
    "ids",
    ["1.5", "1_000", "٣", "9" * 5000, "[1, 2.0]", "[true]", "[[1]]", "[" * 100_000, '{"a": 5}'],
    ids=lambda text: text[:9],
)
def test_what_is_not_ids_is_refused_in_one_short_line(ids):
    message = error("decode", stdin=f"5\n{ids}\n")
    assert message.startswith("standard input, line 2: ")
    assert len(message) < 250


def test_half_a_surrogate_pair_is_refused():
    result = run("explain", "ä\ud83d")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "U+D83D at offset 2" in result.stderr


@pytest.mark.parametrize("command", [*COMMANDS, "train wordpiece", "train bpe"])
def test_each_example_in_the_help_is_a_valid_call(command, monkeypatch):
    """They may fail for want of their files; a wrong call would show the usage."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    lines = out(*command.split(), "--help")
    first = lines.index("  Examples:") + 1
    examples = [line.strip() for line in lines[first : lines.index("", first)]]
    assert examples
    for call in (call for example in examples for call in example.split(" | ")):
        program, *arguments = shlex.split(call)
        assert program == "trietok"
        is_serving = command == "play"
        result = run(*arguments, *(["--help"] if is_serving else []))
        assert "Usage:" not in result.stderr, call


@pytest.fixture
def model() -> Path:
    """A directory with some tensors of a BERT, and its tokenizer."""
    BertTokenizer.from_pretrained("trietok-en").save_pretrained("model")
    rows = np.arange(32_000, dtype=np.float32).reshape(8000, 4)
    save_file({"bert.embeddings.word_embeddings.weight": rows}, "model/model.safetensors")
    Path("model/config.json").write_text('{"vocab_size": 8000}')
    return Path("model")


def test_adapt_adds_words_and_their_rows_to_a_model(model):
    Path("covid.txt").write_text(
        "Vaccines protect from covid.\nLong covid is real: vaccines help.\n"
    )
    call = ("adapt", "-m", "model", "-o", "out", "covid.txt", "--min-frequency", "2")
    lines = out(*call)
    assert lines[0] == "2 words added: covid, vaccines"
    assert "the model had 8,000 rows and has 8,002" in lines
    tokenizer = AutoTokenizer.from_pretrained("out")
    assert tokenizer.tokenize("covid vaccines") == ["covid", "vaccines"]
    assert load_file("out/model.safetensors")["bert.embeddings.word_embeddings.weight"].shape == (
        8002,
        4,
    )
    assert "out is there already" in error(*call)
    Path("terms.txt").write_text("long covid\npeople\n\u200d\n", encoding="utf-8")
    listed = run("adapt", "-m", "model", "--terms", "terms.txt", "--dry-run", "covid.txt")
    assert (listed.exit_code, "--allow-left-out" in listed.stderr) == (1, True)
    assert "1 known already: people" in listed.stdout.splitlines()


def test_rows_copies_a_model_with_the_rows_of_a_changed_tokenizer(model):
    Path("terms.txt").write_text("covid\n")
    out("add", "-m", "trietok-en", "--terms", "terms.txt", "-o", "new")
    lines = out("rows", "-m", "model", "--new-tokenizer", "new", "-o", "out")
    assert "8,000 of 8,000 rows kept (0 moved), 0 lost, 1 new" in lines
    assert AutoTokenizer.from_pretrained("out").tokenize("covid") == ["covid"]
    name = "bert.embeddings.word_embeddings.weight"
    before, after = (load_file(f"{each}/model.safetensors")[name] for each in ("model", "out"))
    assert after.shape == (8001, 4)
    assert (after[:8000] == before).all()
    other = ("rows", "-m", "model", "--new-tokenizer", "trietok-zh", "-o", "other")
    assert "--allow-other-vocabulary" in error(*other)
    assert not Path("other").exists()
