"""Damaged directories: the files of a small tokenizer's directory, changed at random from a seed.

In: a seed. Out: the files of a directory, name → bytes, and the steps that made them of a sound
one.
"""

from __future__ import annotations

import functools
import json
import pathlib
import random
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import trietok

Files = dict[str, bytes]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ENTRIES = [
    *SPECIAL,
    *"[unused0] [unused1] a b c d e f g h ##a ##b ##c the un ##able 世 ! ,".split(),
]
JSON_FILES = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.json",
    "config.json",
)

# What a value is replaced by: what files hold elsewhere, and what programs stumble over.
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 7, -1, 10_000_000, 10_000_001, 2**63, 10**400, 1.5, 1e308),
    *("", " ", "a", "[UNK]", "[PAD]", "[SUBJ]", "\0", "\n", "a b", "\ud800", "世"),
    *("x" * 300, "x" * 100_001, [], {}, [None], [[]], ["a", "a"], {"a": 1}, {"": ""}),
    *({"content": "a"}, {"__type": "AddedToken"}),
    {"content": "[UNK]", "special": True, "lstrip": True},
]
BYTES = [b"\0", b"\xff", b"\xc3", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b'"', b"{", b"}", b"["]
BYTES += [b"\\ud800", b" " * 50]


def sound_directories(folder: pathlib.Path) -> list[pathlib.Path]:
    """Directories as the classes save them: slow, fast, with tokenizer.json beside, with added
    tokens, without.
    """
    vocab = folder / "vocab.txt"
    vocab.write_text("".join(entry + "\n" for entry in ENTRIES), encoding="utf-8")
    made = []
    for name, kind in (("slow", trietok.BertTokenizer), ("fast", trietok.BertTokenizerFast)):
        plain = kind(str(vocab), do_lower_case=name == "fast")
        plain.save_pretrained(folder / f"{name}-plain")
        grown = kind(str(vocab))
        grown.add_special_tokens({"additional_special_tokens": ["[SUBJ]", "[OBJ]"]})
        grown.add_tokens(
            ["new york", trietok.AddedToken("<ent>", lstrip=True, rstrip=True, single_word=True)]
        )
        grown.save_pretrained(folder / f"{name}-grown", tokenizer_json=True)
        made += [folder / f"{name}-plain", folder / f"{name}-grown"]
    old = folder / "old"  # as before transformers 4.34: no added_tokens_decoder
    shutil.copytree(made[1], old)
    config = json.loads((old / "tokenizer_config.json").read_text(encoding="utf-8"))
    config.pop("added_tokens_decoder")
    (old / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (old / "tokenizer.json").unlink()
    bare = folder / "bare"
    bare.mkdir()
    shutil.copy(vocab, bare)
    made += [old, bare]
    for directory in made:
        (directory / "config.json").write_text(
            json.dumps({"model_type": "bert", "vocab_size": 40}), encoding="utf-8"
        )
    return made


@functools.cache
def sound() -> tuple[tuple[str, Files], ...]:
    """The sound directories: name and files of each."""
    with tempfile.TemporaryDirectory() as folder:
        return tuple(
            (made.name, {path.name: path.read_bytes() for path in sorted(made.iterdir())})
            for made in sound_directories(pathlib.Path(folder))
        )


def mutant(seed: int) -> tuple[Files, list[str]]:
    """The files of one damaged directory, and how it was made."""
    rng = random.Random(seed)
    name, files = rng.choice(sound())
    files = dict(files)
    steps = [name]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        damage = rng.choice(DAMAGES)
        steps.append(f"{damage.__name__}({damage(rng, files)})")
    return files, steps


# ---- one damage each: changes the files, returns what it did -------------------------------------


def _json_file(rng: random.Random, files: Files) -> str:
    """The name of a JSON file; where there is none left, one is put there."""
    there = [name for name in JSON_FILES if name in files]
    if not there:
        files[JSON_FILES[0]] = b"{}"
    return rng.choice(there or JSON_FILES[:1])


def change_value(rng: random.Random, files: Files) -> str:
    """Replace a value somewhere in a JSON file, or rename, double or delete its key."""
    name = _json_file(rng, files)
    try:
        whole = json.loads(files[name])
    except ValueError:  # an earlier damage
        return name
    places = list(_places(whole))
    if not places:
        return name
    holder, key = rng.choice(places)
    kind = rng.choice(("replace", "replace", "replace", "delete", "move", "exchange"))
    if kind == "delete":
        del holder[key]
    elif kind == "move" and isinstance(holder, dict):
        holder[str(rng.choice([*VALUES[:20], *holder]))] = holder.pop(key)
    elif kind == "exchange":
        other, its_key = rng.choice(places)
        holder[key], other[its_key] = json.loads(json.dumps([other[its_key], holder[key]]))
    else:
        holder[key] = rng.choice(VALUES)
    try:
        files[name] = json.dumps(whole).encode("utf-8")
    except ValueError:  # an exchange put a container into itself
        return name
    return f"{name}: {kind} {key!r:.40}"


def _places(value: Any) -> Any:
    pairs = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def add_key(rng: random.Random, files: Files) -> str:
    """Put another key into a JSON object: a known one with another file's value, or an unknown
    one.
    """
    name = _json_file(rng, files)
    key = rng.choice(
        "unk_token pad_token cls_token additional_special_tokens extra_special_tokens trietok"
        " added_tokens_decoder do_lower_case never_split model_max_length tokenizer_class auto_map"
        " tokenizer_file vocab_file strip_accents padding_side vocab_size x_token".split()
    )
    key = json.dumps(key).encode()
    value = json.dumps(rng.choice(VALUES)).encode()
    front, brace, rest = files[name].partition(b"{")
    comma = b"" if rest.strip().startswith(b"}") else b", "
    files[name] = front + brace + key + b": " + value + comma + rest
    return f"{name}: {key!r}"


def change_lines(rng: random.Random, files: Files) -> str:
    """Delete, double, exchange, blank or change a line of vocab.txt."""
    if "vocab.txt" not in files:
        return ""
    lines = files["vocab.txt"].split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.choice(("delete", "double", "exchange", "blank", "replace", "insert", "special"))
    if kind == "delete":
        del lines[here]
    elif kind == "double":
        lines[here] = lines[there]
    elif kind == "exchange":
        lines[here], lines[there] = lines[there], lines[here]
    elif kind == "blank":
        lines[here] = b""
    elif kind == "replace":
        lines[here] = str(rng.choice(VALUES)).encode("utf-8", "replace")
    elif kind == "insert":
        lines.insert(here, b"\0" * rng.choice((1, 100)))
    else:
        lines = [line for line in lines if line != rng.choice(SPECIAL).encode()]
    files["vocab.txt"] = b"\n".join(lines)
    return f"{kind} {here} {there}"


def change_bytes(rng: random.Random, files: Files) -> str:
    """Cut a file off, empty it, flip a bit, or put bytes in."""
    name = rng.choice(sorted(files))
    raw = files[name]
    place = rng.randrange(len(raw) + 1)
    kind = rng.choice(("cut", "flip", "insert", "insert", "remove", "empty"))
    if kind == "cut":
        raw = raw[:place]
    elif kind == "flip" and place < len(raw):
        raw = raw[:place] + bytes([raw[place] ^ (1 << rng.randrange(8))]) + raw[place + 1 :]
    elif kind == "insert":
        raw = raw[:place] + rng.choice(BYTES) * rng.choice((1, 1, 50)) + raw[place:]
    elif kind == "remove":
        raw = raw[:place] + raw[place + rng.choice((1, 10, 100)) :]
    elif kind == "empty":
        raw = b""
    files[name] = raw
    return f"{name}: {kind} at {place}"


def change_files(rng: random.Random, files: Files) -> str:
    """Remove a file, take another directory's, or leave a journal."""
    name = rng.choice(sorted(files))
    kind = rng.choice(("remove", "other", "other", "journal", "rename"))
    other_name, other = rng.choice(sound())
    if kind == "remove":
        del files[name]
    elif kind == "other" and name in other:
        files[name] = other[name]
    elif kind == "journal":
        text = {
            "staging": ".trietok-save-1",
            "files": {name: "0" * 64},
            "obsolete": rng.choice(([], ["added_tokens.json"])),
        }
        files[".trietok-save.json"] = json.dumps(rng.choice((text, {**text, "files": {}}))).encode()
    elif kind == "rename":
        files[rng.choice((*JSON_FILES, "vocab.txt"))] = files.pop(name)
    return f"{name}: {kind} {other_name}"


DAMAGES: tuple[Callable[[random.Random, Files], str], ...] = (
    change_value,
    change_value,
    change_value,
    add_key,
    change_lines,
    change_lines,
    change_bytes,
    change_files,
)
