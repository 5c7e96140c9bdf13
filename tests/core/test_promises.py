"""The promises of SECURITY.md: what loading reads, runs, writes and connects to, and texts that
forge no special token.

Python reports every file that is opened, every import, process and connection to an audit hook
(`sys.addaudithook`). A process loads a directory that tries to make it do more, and prints what was
reported.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import random
import subprocess
import sys

import pytest

import trietok
from tests.conftest import SPECIAL, often

# That loading may open.
READ = {
    *("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *(
        "added_tokens.json",
        "config.json",
        "tokenizer_config.json.new",
        "chat_template.jinja",
        "rag.jinja",
    ),
}
AUDITED = """
import json, os, sys
import trietok
folder = os.path.realpath(sys.argv[1])
kinds = (trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.AutoTokenizer)

def use(path):
    for kind in kinds:
        tokenizer = kind.from_pretrained(path)
        tokenizer("the [MASK]", return_offsets_mapping=True)
    trietok.check(path)

events = []
use("trietok-en")  # what is imported when it is needed is imported
NAMES = ("open", "import", "exec", "compile", "pickle.find_class", "marshal.loads")
AREAS = ("socket.", "subprocess.", "os.", "shutil.", "ctypes.", "urllib.", "http.")

def hook(event, arguments):
    if event in NAMES or event.startswith(AREAS):
        events.append((event, [str(argument) for argument in arguments[:2]]))

sys.addaudithook(hook)
use(folder)
print(json.dumps([events, sorted(os.listdir(folder))]))
"""


def luring(folder: pathlib.Path, bait: pathlib.Path) -> pathlib.Path:
    """A directory whose files name code to run and files to open elsewhere."""
    folder.mkdir()
    own = ["tokenization_own.Own", "tokenization_own.Own"]
    auto_map = {"AutoTokenizer": own, "AutoConfig": own[0]}
    names = ("vocab_file", "tokenizer_file", "special_tokens_map_file", "name_or_path")
    elsewhere = dict.fromkeys(names, str(bait))
    files = {
        "tokenizer_config.json": {
            **elsewhere,
            "tokenizer_class": "BertTokenizer",
            "auto_map": auto_map,
            "added_tokens_file": str(bait),
        },
        "special_tokens_map.json": {"unk_token": "[UNK]", **elsewhere},
        "config.json": {"model_type": "bert", "auto_map": auto_map},
        "added_tokens.json": {"[X]": len(SPECIAL) + 1},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, "the", ""]), encoding="utf-8")
    (folder / "additional_chat_templates").mkdir()
    template = f"{{% include {str(bait)!r} %}}{{{{ cycler.__init__ }}}}"
    for name in ("chat_template.jinja", "additional_chat_templates/rag.jinja"):
        (folder / name).write_text(template, encoding="utf-8")
    for name in ("tokenization_own.py", "sitecustomize.py", "conftest.py", "__init__.py"):
        (folder / name).write_text(f"open({str(folder / 'ran')!r}, 'w')\n", encoding="utf-8")
    (folder / "tokenizer.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    return folder


def test_loading_reads_a_tokenizers_files_and_does_nothing_else(tmp_path):
    bait = tmp_path / "elsewhere.txt"
    bait.write_text("bait\n", encoding="utf-8")
    folder = luring(tmp_path / "directory", bait)
    before = sorted(path.name for path in folder.iterdir())
    command = [sys.executable, "-c", AUDITED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    events, after = json.loads(done.stdout.splitlines()[-1])
    assert after == before  # nothing was written, and no code ran
    paths = [pathlib.Path(arguments[0]) for event, arguments in events if event == "open"]
    opened = [path for path in paths if path.is_relative_to(tmp_path)]
    assert {path.name for path in opened} <= READ
    assert {path.parent for path in opened} == {folder, folder / "additional_chat_templates"}
    for event, arguments in events:
        assert event in (
            *("open", "import", "exec", "compile", "marshal.loads", "os.listdir", "os.scandir"),
        ), (event, arguments)
        # A module is trietok's or Python's, met for the first time.
        if event in ("import", "exec", "compile", "marshal.loads"):
            assert "tokenization_own" not in str(arguments)
            assert str(tmp_path) not in str(arguments)


@pytest.mark.parametrize("digest", [None, hashlib.sha256(b"theirs").hexdigest()])
def test_the_plan_of_a_save_from_elsewhere_changes_only_a_tokenizers_files(tmp_path, digest):
    """A download may bring a plan, the files that it would put in place, and a link."""
    directory, outside = tmp_path / "saved", tmp_path / "outside"
    outside.mkdir()
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.save_pretrained(directory)
    (directory / "additional_chat_templates").symlink_to(outside)
    for name in (
        *("../outside/a.jinja", str(outside / "a.jinja"), "additional_chat_templates/a.jinja"),
        *("model.safetensors", "model.safetensors.index.json", "config.json", "model.py"),
        *("generation_config.json", "modules.json", "pytorch_model.bin"),
        *(() if digest else ["README.txt"]),
    ):
        path = directory / name
        path.write_text("{}", encoding="utf-8")
        for action in (
            trietok.BertTokenizer.from_pretrained,
            trietok.fix,
            tokenizer.save_pretrained,
        ):
            path.with_name(path.name + ".new").write_text("theirs", encoding="utf-8")
            (directory / "tokenizer_config.json.new").write_bytes(_plan(directory, {name: digest}))
            action(directory)
            assert path.read_text(encoding="utf-8") == "{}"
        path.unlink()


def _plan(directory, hashes):
    """The text of a complete plan, as a save would write it, with these hashes."""
    config = json.loads((directory / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["trietok"] = {"files": hashes, "digest": ""}
    start, end = json.dumps(config, indent=2).removesuffix('"\n  }\n}').encode(), b'"\n  }\n}\n'
    return start + hashlib.sha256(start).hexdigest().encode() + end


@pytest.mark.parametrize("part", ["a b ", "'\"", "\\'", "/x", "\n", "世"])
def test_an_error_shows_only_a_part_of_a_long_value(part, small):
    value = part * 101_000
    tokenizer = small("a")
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

FORGEABLE = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[SUBJ]", "<e>"]
PARTS = [
    *FORGEABLE,
    *"[UNK] [ ] S E P SEP sep [S EP] mask [MA SK] < e > ## CLS ##SEP a".split(),
    *" \t\n\0\ufffd\u00ad\u200b\u0301\u034f\u0130\x85\ue000！世≮",
    *"［］\U0001d160Kﬁ\ud800",
]


@pytest.mark.parametrize("name", ["trietok-en", "trietok-multi"])
def test_random_texts_forge_no_special_token(name, kernel):
    tokenizer = trietok.BertTokenizerFast.from_pretrained(name)
    tokenizer.add_special_tokens({"additional_special_tokens": FORGEABLE[-2:]})
    special = set(tokenizer.convert_tokens_to_ids(FORGEABLE))
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    texts = ["".join(rng.choices(PARTS, k=rng.randint(1, 8))) for _ in range(often(2_000))]
    as_text = tokenizer(texts, add_special_tokens=False, split_special_tokens=True).input_ids
    forged = [text for text, ids in zip(texts, as_text, strict=True) if special & {*ids}]
    assert forged == [], seed
    # By default a great part of them has one.
    rows = tokenizer(texts, add_special_tokens=False).input_ids
    assert sum(bool(special & {*ids}) for ids in rows) > len(texts) / 4
