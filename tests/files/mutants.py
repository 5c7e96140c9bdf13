"""Damaged directories: the files of a small tokenizer's directory, changed at random from a seed,
and what may come of loading them: a consistent tokenizer or a short `TrietokError`.
"""

from __future__ import annotations

import functools
import json
import logging
import pathlib
import random
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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


@functools.cache
def sound() -> tuple[tuple[str, Files], ...]:
    """Directories as the classes save them: name and files of each."""
    made = []
    with tempfile.TemporaryDirectory() as root:
        vocab = pathlib.Path(root, "vocab.txt")
        vocab.write_text("".join(entry + "\n" for entry in ENTRIES), encoding="utf-8")
        config = json.dumps({"model_type": "bert", "vocab_size": 40}).encode()
        made.append(("bare", {"vocab.txt": vocab.read_bytes(), "config.json": config}))
        for name, kind in (("slow", trietok.BertTokenizer), ("fast", trietok.BertTokenizerFast)):
            plain, grown = kind(str(vocab), do_lower_case=name == "fast"), kind(str(vocab))
            grown.add_special_tokens({"additional_special_tokens": ["[SUBJ]", "[OBJ]"]})
            flags = {"lstrip": True, "rstrip": True, "single_word": True}
            grown.add_tokens(["new york", trietok.AddedToken("<ent>", **flags)])
            for size, tokenizer in (("plain", plain), ("grown", grown)):
                folder = pathlib.Path(root, f"{name}-{size}")
                tokenizer.save_pretrained(folder, tokenizer_json=size == "grown" or None)
                files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
                made.append((folder.name, {**files, "config.json": config}))
    older = dict(dict(made)["slow-grown"])  # as before transformers 4.34
    older.pop("tokenizer.json")
    settings = json.loads(older["tokenizer_config.json"])
    settings.pop("added_tokens_decoder")
    older["tokenizer_config.json"] = json.dumps(settings).encode()
    return (*made, ("older", older))


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
    """Remove a file, rename it, or take another directory's."""
    name = rng.choice(sorted(files))
    kind = rng.choice(("remove", "other", "other", "rename"))
    other_name, other = rng.choice(sound())
    if kind == "remove":
        del files[name]
    elif kind == "other" and name in other:
        files[name] = other[name]
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


# ---- what may come of it ------------------------------------------------------------------------

LONGEST_MESSAGE = 1_000
TEXTS = [
    "",
    "the unable [MASK] a!",
    "new york <ent> [SUBJ] [UNK] zzz 世界",
    "[PAD] [CLS] \0 x [SEP]",
]


class Judged(NamedTuple):
    """What came of a directory: the classes that load it, and what is wrong, in words."""

    loaded: list[str]
    faults: list[str]


def judge(folder: pathlib.Path) -> Judged:
    """Load, check, call and save a directory; nothing goes to the log."""
    logger = logging.getLogger("trietok")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        loaded: dict[str, Any] = {}
        faults = [*_faults_of_loading(folder, loaded)]
        for name, tokenizer in loaded.items():
            faults += [f"{name}: {fault}" for fault in inconsistencies(tokenizer)]
            faults += [f"{name}: {fault}" for fault in _faults_of_saving(tokenizer)]
        return Judged(list(loaded), faults)
    finally:
        logger.setLevel(level)


def _faults_of_loading(folder: pathlib.Path, loaded: dict[str, Any]) -> Iterator[str]:
    for kind in (trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.AutoTokenizer):
        try:
            loaded[kind.__name__] = kind.from_pretrained(folder)
        except trietok.TrietokError as error:
            if len(str(error).replace(str(folder), "")) > LONGEST_MESSAGE:
                yield f"{kind.__name__}: a message of {len(str(error)):,} characters"
        except Exception as error:
            yield f"{kind.__name__}: {type(error).__name__}: {error!s:.200}"
    try:
        report = trietok.check(folder)
    except Exception as error:
        yield f"check: {type(error).__name__}: {error!s:.200}"
        return
    if report.ok and "BertTokenizer" not in loaded:
        yield "check finds no error, and BertTokenizer does not load"
    for finding in report.findings:
        if len(finding.message) > LONGEST_MESSAGE:
            yield f"check: a message of {len(finding.message):,} characters"


def _faults_of_saving(tokenizer: Any) -> Iterator[str]:
    """What is saved loads with equal ids, or the save is refused."""
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder, "saved")
        try:
            tokenizer.save_pretrained(directory)
        except trietok.TrietokError:
            return
        except Exception as error:
            yield f"saving raises {type(error).__name__}: {error!s:.200}"
            return
        try:
            again = type(tokenizer).from_pretrained(directory)
            if again.get_vocab() != tokenizer.get_vocab():
                yield "other tokens after saving"
            # A save warns if no file can say how texts are searched for an added token.
            is_said = tokenizer.deprecation_warnings.get("tokens-as-they-were", False)
            if encoded(again) != encoded(tokenizer) and not is_said:
                yield "other ids after saving"
        except Exception as error:
            yield f"what was saved raises {type(error).__name__}: {error!s:.200}"


def encoded(tokenizer: Any) -> list[Any]:
    """The ids of each text, or what is said where a role that is put around it has no token."""
    try:
        return [tokenizer.encode(text) for text in TEXTS]
    except trietok.SpecialTokenError as error:
        return [str(error)]


def inconsistencies(tokenizer: Any) -> Iterator[str]:
    """Where the tokens and ids of a tokenizer contradict each other, or a call raises what it
    should not.
    """
    try:
        vocabulary = tokenizer.get_vocab()
        # Of a token on two lines the later one encodes, and the earlier id is nobody's.
        tokens = list(vocabulary)
        ids, back = (
            tokenizer.convert_tokens_to_ids(tokens),
            tokenizer.convert_ids_to_tokens(list(vocabulary.values())),
        )
        for token, token_id, found in zip(tokens, ids, back, strict=True):
            if token_id != vocabulary[token]:
                yield f"{token!r:.60} has the id {vocabulary[token]}, and {token_id} by itself"
            if found != token:
                yield f"the id {vocabulary[token]} of {token!r:.60} is that of {found!r:.60}"
        for text in TEXTS:
            ids = tokenizer.encode(text)
            if not all(
                type(token_id) is int and 0 <= token_id <= tokenizer.max_id for token_id in ids
            ):
                yield f"{text!r} gives {ids!r:.100}"
            tokenizer.decode(ids)
            tokenizer(
                text,
                text,
                return_offsets_mapping=True,
                padding=True,
                truncation=True,
                max_length=12,
            )
    except trietok.TrietokError as error:
        if len(str(error)) > LONGEST_MESSAGE:
            yield f"a message of {len(str(error)):,} characters"
        if isinstance(error, (trietok.TokenIdError, trietok.VocabularyError)):
            yield f"a call raises {type(error).__name__}: {error!s:.200}"
    except Exception as error:
        yield f"a call raises {type(error).__name__}: {error!s:.200}"
