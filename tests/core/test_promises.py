"""The promises of SECURITY.md: what loading reads, runs, writes and connects to, and texts that
forge no special token.

Python reports every file that is opened, every import, process and connection to an audit hook
(`sys.addaudithook`). A process loads a directory that tries to make it do more, and prints what was
reported.
"""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys

import pytest

import trietok
from tests.conftest import often
from tests.files.mutants import ENTRIES

ATTEMPTS = 2_500  # of one seed
ROUNDS = often(1, 5)  # of the marked run
READ = {
    *(
        "vocab.txt",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
    ),
    *("config.json", ".trietok-save.json", "chat_template.jinja", "rag.jinja"),
}

AUDITED = """
import json, os, sys
import trietok
folder = os.path.realpath(sys.argv[1])
kinds = (trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.AutoTokenizer)

def use(path):
    for kind in kinds:
        try:
            tokenizer = kind.from_pretrained(path)
        except trietok.TrietokError as error:
            print(error, file=sys.stderr)
        else:
            tokenizer("the [MASK]", return_offsets_mapping=True)
            loaded.append(kind.__name__)
    trietok.check(path)

loaded, events = [], []
use("trietok-en")  # what is imported when it is needed is imported
loaded.clear()

def hook(event, arguments):
    if event in ("open", "import", "exec", "compile", "os.listdir", "os.scandir", "pickle.find_class", "marshal.loads"):
        events.append((event, [str(argument) for argument in arguments[:2]]))
    elif event.startswith(("socket.", "subprocess.", "os.", "shutil.", "ctypes.", "urllib.", "http.")):
        events.append((event, [str(argument) for argument in arguments[:2]]))

sys.addaudithook(hook)
use(folder)
print(json.dumps([loaded, events, sorted(os.listdir(folder))]))
"""


def luring(folder: pathlib.Path, bait: pathlib.Path) -> pathlib.Path:
    """A directory whose files name code to run and files to open elsewhere."""
    vocab = "".join(entry + "\n" for entry in ENTRIES)
    (folder / "vocab.txt").write_text(vocab, encoding="utf-8")
    elsewhere = {
        key: str(bait)
        for key in ("vocab_file", "tokenizer_file", "special_tokens_map_file", "name_or_path")
    }
    auto_map = {
        "AutoTokenizer": ["tokenization_own.Own", "tokenization_own.Own"],
        "AutoConfig": "tokenization_own.Own",
    }
    config = {
        "tokenizer_class": "BertTokenizer",
        "auto_map": auto_map,
        "added_tokens_file": str(bait),
        **elsewhere,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "special_tokens_map.json").write_text(
        json.dumps({"unk_token": "[UNK]", **elsewhere}), encoding="utf-8"
    )
    (folder / "config.json").write_text(
        json.dumps({"model_type": "bert", "auto_map": auto_map}), encoding="utf-8"
    )
    (folder / "added_tokens.json").write_text(json.dumps({"[X]": 50}), encoding="utf-8")
    ran = folder / "ran"
    (folder / "additional_chat_templates").mkdir()
    for name in (
        "chat_template.jinja",
        "additional_chat_templates/rag.jinja",
        "additional_chat_templates/code.py",
    ):
        (folder / name).write_text(
            f"{{% include {str(bait)!r} %}}{{{{ cycler.__init__ }}}}", encoding="utf-8"
        )
    for name in ("tokenization_own.py", "sitecustomize.py", "conftest.py", "__init__.py"):
        (folder / name).write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    (folder / "tokenizer.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    return folder


def test_loading_reads_a_tokenizers_files_and_does_nothing_else(tmp_path):
    bait = tmp_path / "elsewhere.txt"
    bait.write_text("bait\n", encoding="utf-8")
    folder = tmp_path / "directory"
    folder.mkdir()
    before = sorted(path.name for path in luring(folder, bait).iterdir())
    command = [sys.executable, "-c", AUDITED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    loaded, events, after = json.loads(done.stdout.splitlines()[-1])
    assert loaded == ["BertTokenizer", "BertTokenizerFast", "AutoTokenizer"], done.stderr
    assert after == before  # nothing was written, and no code ran
    opened = [
        arguments
        for event, arguments in events
        if event == "open" and str(tmp_path) in arguments[0]
    ]
    assert {pathlib.Path(path).name for path, _ in opened} <= READ
    folders = {str(folder), str(folder / "additional_chat_templates")}
    assert {str(pathlib.Path(path).parent) for path, _ in opened} == folders
    assert opened
    for event, arguments in events:
        assert event.split(".")[0] in ("open", "import", "exec", "compile", "marshal", "os"), (
            event,
            arguments,
        )
        if event in (
            "import",
            "exec",
            "compile",
            "marshal.loads",
        ):  # a module of trietok or Python, met for the first time
            assert not any(
                str(tmp_path) in argument or "tokenization_own" in argument
                for argument in arguments
            )
        if event.startswith("os."):
            assert event in ("os.listdir", "os.scandir"), (event, arguments)


def test_the_journal_of_a_save_reaches_no_file_elsewhere(tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path / "saved")
    sums = ["0" * 64, "1" * 64]
    names = ("../outside.json", str(outside), "model.safetensors")
    journals = [{"staging": ".trietok-save-1", "files": {name: sums}} for name in names]
    journals.append(
        {"staging": ".trietok-save-1", "files": {"model.safetensors": [None, "1" * 64]}}
    )
    journals.append({"staging": ".trietok-save-/../..", "files": {}})
    for journal in journals:
        (tmp_path / "saved" / ".trietok-save.json").write_text(
            json.dumps(journal), encoding="utf-8"
        )
        for call in (trietok.BertTokenizer.from_pretrained, tokenizer.save_pretrained):
            with pytest.raises(trietok.FileFormatError):
                call(tmp_path / "saved")
    assert outside.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("part", ["a b ", "'\"", "\\'", "/x", "\n", "世"])
def test_an_error_shows_a_part_of_a_long_value(part):
    value = part * 101_000
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    calls = [
        lambda: trietok.BertTokenizer.from_pretrained(value),
        lambda: trietok.BertTokenizer(value),
        lambda: tokenizer.add_tokens([value]),
        lambda: tokenizer.add_special_tokens({value: "a"}),
        lambda: tokenizer.vocabulary[value],
        lambda: tokenizer("a", padding=value),
        lambda: tokenizer.save_pretrained("a", filename_prefix=f"{value}/"),
    ]
    for call in calls:
        with pytest.raises(trietok.TrietokError) as caught:
            call()
        assert len(str(caught.value)) <= 1_100


# ---- texts ---------------------------------------------------------------------------------------

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SUBJ]", "<e>"]
PARTS = [
    *SPECIAL,
    *"[ ] S E P SEP sep [S EP] mask [MA SK] < e > ## CLS ##SEP a".split(),
    *" \t\n\0\ufffd\u00ad\u200b\u0301\u034f\u0130\x85\ue000！世≮",
    *"［］\U0001d160Kﬁ\ud800",
]


def forged(tokenizer, count: int, seed: int) -> list[str]:
    """Of so many random texts made of parts of special tokens, those that give one although special
    tokens are split.
    """
    rng = random.Random(seed)
    special = {tokenizer.convert_tokens_to_ids(token) for token in SPECIAL if token != "[UNK]"}
    assert len(special) == len(SPECIAL) - 1
    texts = ["".join(rng.choices(PARTS, k=rng.randint(1, 8))) for _ in range(count)]
    rows = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    return [text for text, ids in zip(texts, rows, strict=True) if not special.isdisjoint(ids)]


def tokenizers():
    for name in ("trietok-en", "trietok-multi"):
        tokenizer = trietok.BertTokenizerFast.from_pretrained(name)
        tokenizer.add_special_tokens({"additional_special_tokens": ["[SUBJ]", "<e>"]})
        yield tokenizer


def test_random_texts_forge_no_special_token():
    seed = random.randrange(2**32)
    for tokenizer in tokenizers():
        assert forged(tokenizer, 500, seed) == [], seed
        # by default it is one
        assert tokenizer.encode("[SEP]", add_special_tokens=False) == [tokenizer.sep_token_id]


@pytest.mark.faults
def test_many_random_texts_forge_no_special_token():
    for tokenizer in tokenizers():
        for _ in range(ROUNDS):
            seed = random.randrange(2**32)
            assert forged(tokenizer, ATTEMPTS, seed) == [], seed
