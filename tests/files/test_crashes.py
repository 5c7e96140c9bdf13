"""Everything that writes files is killed, cut off from its disk or refused room at any step: then
the old files or the new ones load, or loading raises a FileError.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import random
import runpy
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pytest
import transformers

import trietok
from tests.conftest import assert_share, needs, often
from tests.files.saving import (
    INTERRUPTED,
    Outcome,
    contents,
    found,
    load_fast,
    load_own,
    load_slow,
    own_tokenizer,
    run_in_child,
    run_or_skip,
    two_fast_tokenizers,
    two_tokenizers,
)
from trietok import BertTokenizer, BertTokenizerFast, FileError
from trietok.disk import PATIENCE
from trietok.tokenizer_json import read_tokenizer_json, write_tokenizer_json
from trietok.training import save_chinese_bpe, train_chinese_bpe

resource = needs("resource")

SHARE_MIDWAY = 0.6  # of the kills hit between the first change of the disk and the last one


class Writer(NamedTuple):
    """What writes files.

    Attributes:
        prepare: puts the old files to a path, or nothing.
        write: writes the new ones over them.
        read: what is there then; a FileError or nothing at all before the first write.
    """

    prepare: Callable[[pathlib.Path], Any]
    write: Callable[[pathlib.Path], Any]
    read: Callable[[pathlib.Path], Any]


def nothing(path: pathlib.Path) -> None:
    """The path does not exist yet."""


def commands(*words: str) -> None:
    """Run trietok's command line in this process."""
    sys.argv[:] = ["trietok", *words]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        runpy.run_module("trietok", run_name="__main__")
    except SystemExit as done:
        if done.code:
            raise AssertionError(f"exit code {done.code}") from None


@pytest.fixture
def writers(small, vocab_file, tmp_path) -> dict[str, Writer]:
    slow_old, slow_new = two_tokenizers(small)
    fast_old, fast_new = two_fast_tokenizers(vocab_file)
    model = tmp_path / "model"
    old_json, new_json = (
        read_tokenizer_json(tokenizer.save_pretrained(tmp_path / "json")[-1])
        for tokenizer in (fast_old, fast_new)
    )
    slow_new.save_pretrained(model, tokenizer_json=True)
    terms, texts = tmp_path / "terms.txt", tmp_path / "texts.txt"
    terms.write_text("deep end\nE4\n")
    texts.write_text("a d\n")
    old_lock, new_lock = trietok.lock(slow_old, ["a b"]), trietok.lock(slow_new, ["a c d"])
    old_bpe = trietok.train_bpe(["low lower"], vocab_size=12, unk_token="<unk>")
    new_bpe = trietok.train_bpe(["new newer"], vocab_size=12, unk_token="<unk>")
    old_recipe, new_recipe = (
        train_chinese_bpe([text], vocab_size=8) for text in ("天天向上天天", "处处闻啼鸟处处")
    )

    own_old = own_tokenizer(tmp_path / "own-old", "a", "b")
    own_new = own_tokenizer(tmp_path / "own-new", "c", "d", "e", pad_token="[UNK]")

    def saved(tokenizer: Any, **options: Any) -> Callable[[pathlib.Path], Any]:
        return lambda path: tokenizer.save_pretrained(path, **options)

    return {
        "slow save": Writer(saved(slow_old), saved(slow_new), load_slow),
        "slow save into a new directory": Writer(nothing, saved(slow_new), load_slow),
        "fast save": Writer(saved(fast_old), saved(fast_new), load_fast),
        "fast save into a new directory": Writer(nothing, saved(fast_new), load_fast),
        "slow save over a fast one": Writer(saved(fast_old), saved(slow_new), load_slow),
        "fast save over a slow one": Writer(
            saved(slow_old, tokenizer_json=True), saved(fast_new, legacy_format=True), load_slow
        ),
        "save of a user's class": Writer(saved(own_old), saved(own_new), load_own),
        "vocabulary": Writer(
            lambda path: path.mkdir() or slow_old.save_vocabulary(str(path)),
            lambda path: slow_new.save_vocabulary(str(path)),
            load_slow,
        ),
        "trained vocabulary": Writer(
            saved(slow_old),
            lambda path: trietok.save_tokenizer(
                trietok.train_wordpiece(["to be or not to be"], vocab_size=20), path
            ),
            load_slow,
        ),
        "trained encoding": Writer(
            old_bpe.save, new_bpe.save, lambda path: trietok.Bpe.from_directory(path).vocab
        ),
        "trained recipe": Writer(
            lambda path: save_chinese_bpe(old_recipe, path),
            lambda path: save_chinese_bpe(new_recipe, path),
            lambda path: trietok.AutoTokenizer.from_pretrained(path).get_vocab(),
        ),
        "lock file": Writer(
            old_lock.save, new_lock.save, lambda path: trietok.Lock.load(path).to_dict()
        ),
        "tokenizer.json": Writer(
            lambda path: write_tokenizer_json(path, old_json),
            lambda path: write_tokenizer_json(path, new_json),
            read_tokenizer_json,
        ),
        "fix": Writer(nothing, lambda path: trietok.fix(model, path), load_slow),
        "command add": Writer(
            nothing,
            lambda path: commands("add", "--terms", str(terms), "-m", str(model), "-o", str(path)),
            load_slow,
        ),
        "command trim": Writer(
            nothing,
            lambda path: commands("trim", "-m", str(model), "-o", str(path), str(texts)),
            load_slow,
        ),
    }


SLOW_SAVES = ("slow save", "slow save into a new directory")
WRITERS = (
    *SLOW_SAVES,
    "fast save",
    "fast save into a new directory",
    "slow save over a fast one",
    "fast save over a slow one",
    "save of a user's class",
    "vocabulary",
    "trained vocabulary",
    "trained encoding",
    "trained recipe",
    "lock file",
    "tokenizer.json",
    "fix",
    "command add",
    "command trim",
)
# A directory that is there, a new one and a single file. The others are tried at night.
ALWAYS = ("slow save over a fast one", "command add", "lock file")
# FileError is what each promises; those that begin in a folder of the system's own may raise its
# OSError, and a command exits with its number.
ERRORS = ("FileError", "InterruptedSaveError", "OSError", "AssertionError: exit code")


def writers_of_a_run(names: Iterable[str]) -> list[Any]:
    """Parameters: the writers that every run tries, and others that are marked."""
    return [
        name if name in ALWAYS else pytest.param(name, marks=pytest.mark.faults) for name in names
    ]


def listed(path: pathlib.Path) -> list[str]:
    return sorted(os.listdir(path)) if path.is_dir() else [path.name]


@pytest.mark.parametrize("name", writers_of_a_run(WRITERS))
@pytest.mark.parametrize(
    "kills", [2, pytest.param(often(50, 300), marks=pytest.mark.faults)], ids=["few", "many"]
)
def test_a_killed_writer_leaves_the_old_files_or_the_new_ones(writers, tmp_path, name, kills):
    prepare, write, read = writers[name]
    whole_path = tmp_path / "whole" / "at"  # what a killed save leaves outside, no other finds
    whole_path.parent.mkdir()
    prepare(whole_path)
    old = found(read, whole_path)
    run_in_child(lambda: write(whole_path))  # compiles what is imported only here
    shutil.rmtree(whole_path) if whole_path.is_dir() else whole_path.unlink()
    prepare(whole_path)
    whole = run_in_child(lambda: write(whole_path))
    assert whole.said == "returned"
    new = read(whole_path)
    assert old != new
    seed = random.randrange(2**32)
    steps = {1, whole.steps, *steps_between_changes(random.Random(seed), whole, kills)}
    midway, seen = 0, []
    for step in sorted(steps):
        path = tmp_path / str(step) / "at"
        path.parent.mkdir()
        prepare(path)
        outcome = run_in_child(lambda: write(path), at=step)  # noqa: B023
        assert outcome.signal in (signal.SIGKILL, 0), outcome
        midway += outcome.is_midway(whole)
        seen.append(found(read, path))
        assert seen[-1] in (old, new, INTERRUPTED), f"mixed: seed {seed}, step {step}"
        assert_fix_ends_it(path, read, seen[-1], (old, new))
        write_again(write, path, name)
        assert read(path) == new, f"seed {seed}, step {step}"
        assert listed(path) == (listed(whole_path) if path.is_dir() else [path.name])
    assert (seen[0], seen[-1]) == (old, new)
    assert midway >= SHARE_MIDWAY * (len(steps) - 2), f"{midway} of {len(steps)} were midway"


# ---- saves over saves ----------------------------------------------------------------------------


class Kind(NamedTuple):
    """A save of one class over one of another; whether that has added tokens, and who wrote it."""

    new: str
    old: str
    has_added: bool
    record: str


RECORDS = ("with a record", "without one", "saved again by transformers")
KINDS = [
    Kind(*kind)
    for kind in itertools.product(("slow", "fast"), ("slow", "fast"), (True, False), RECORDS)
]
CLASSES = {
    "slow": (BertTokenizer, transformers.BertTokenizer),
    "fast": (BertTokenizerFast, transformers.BertTokenizerFast),
}


def save_old(kind: Kind, vocabulary: pathlib.Path, path: pathlib.Path) -> None:
    ours, theirs = CLASSES[kind.old]
    tokenizer = ours(vocabulary)
    if kind.has_added:
        tokenizer.add_tokens(["<old>", "deep end"])
    tokenizer.save_pretrained(path)
    if kind.record == RECORDS[1]:
        config = json.loads((path / "tokenizer_config.json").read_text())
        del config["trietok"]
        (path / "tokenizer_config.json").write_text(json.dumps(config))
    elif kind.record == RECORDS[2]:
        theirs.from_pretrained(path).save_pretrained(path)


def new_tokenizer(kind: Kind, vocabulary: pathlib.Path) -> Any:
    tokenizer = CLASSES[kind.new][0](vocabulary, do_lower_case=False)
    tokenizer.add_tokens(["<new>", "far away"])
    return tokenizer


def load_any(path: pathlib.Path) -> Any:
    """What every way to load a directory gives."""
    classes = (trietok.AutoTokenizer, BertTokenizer, BertTokenizerFast)
    tokenizers = [each.from_pretrained(path) for each in classes]
    text = "a B c <old> <new> far away deep end d"
    return [(type(each), each.get_vocab(), each.encode(text)) for each in tokenizers]


@pytest.fixture
def vocabularies(vocab_file):
    return vocab_file("a", "b", name="old.txt"), vocab_file("a", "c", "d", name="new.txt")


def try_kills(kind: Kind, vocabularies: Any, folder: pathlib.Path, kills: int) -> None:
    before = folder / "before"
    save_old(kind, vocabularies[0], before)
    tokenizer = new_tokenizer(kind, vocabularies[1])
    old = load_any(before)
    shutil.copytree(before, folder / "whole")
    whole = run_in_child(lambda: tokenizer.save_pretrained(folder / "whole"))
    assert whole.said == "returned"
    new = load_any(folder / "whole")
    seed = random.randrange(2**32)
    for step in steps_between_changes(random.Random(seed), whole, kills):
        path = shutil.copytree(before, folder / str(step) / "at", dirs_exist_ok=True)
        run_in_child(lambda: tokenizer.save_pretrained(path), at=step)  # noqa: B023
        seen = found(load_any, path)
        assert seen in (old, new, INTERRUPTED), f"{kind}, seed {seed}, step {step}"
        assert_fix_ends_it(path, load_any, seen, (old, new))
        tokenizer.save_pretrained(path)
        assert load_any(path) == new
        assert listed(path) == listed(folder / "whole")
        shutil.rmtree(path)


def test_a_killed_save_over_another_one_gives_old_ids_new_ids_or_an_error(vocabularies, tmp_path):
    kind = random.choice(KINDS)
    try_kills(kind, vocabularies, tmp_path, often(12))


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_every_kind_of_killed_save_gives_old_ids_new_ids_or_an_error(kind, vocabularies, tmp_path):
    try_kills(kind, vocabularies, tmp_path, often(80))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_a_directory_loads_without_waiting_or_a_warning(kind, vocabularies, tmp_path, caplog):
    save_old(kind, vocabularies[0], tmp_path / "saved")
    started = time.monotonic()
    load_any(tmp_path / "saved")
    assert time.monotonic() - started < PATIENCE / 2
    assert [record for record in caplog.records if "changed after" in record.getMessage()] == []


def killed_at(name: str, save: Callable[[], Any]) -> None:
    """Run a save that is killed as it puts this file in its place."""
    whole = os.replace

    def replace(source: Any, target: Any) -> None:
        if os.fspath(target).endswith(name):
            os.kill(os.getpid(), signal.SIGKILL)
        whole(source, target)

    def run() -> None:
        os.replace = replace
        save()

    assert run_in_child(run).signal == signal.SIGKILL


def test_a_save_that_fails_after_one_that_was_killed_leaves_what_loaded_before(small, tmp_path):
    """A killed save that had replaced no file is undone, not finished."""
    old, new = two_tokenizers(small)
    old.save_pretrained(tmp_path / "saved")
    before = load_slow(tmp_path / "saved")
    killed_at("special_tokens_map.json", lambda: new.save_pretrained(tmp_path / "saved"))
    assert load_slow(tmp_path / "saved") == before
    (finding, *_) = trietok.check(tmp_path / "saved").findings
    assert (finding.code, finding.severity) == ("save-abandoned", "note")
    (tmp_path / "saved" / "vocab.txt").chmod(0o444)
    with pytest.raises(FileError):
        new.save_pretrained(tmp_path / "saved")
    assert load_slow(tmp_path / "saved") == before


@pytest.mark.parametrize("at", ["chat_template.jinja", "vocab.txt", "tokenizer_config.json"])
def test_chat_templates_of_two_saves_are_never_mixed(small, tmp_path, at):
    old, new = two_tokenizers(small)
    old.chat_template = {"default": "old", "tool": "old tool"}
    new.chat_template = "new"
    old.save_pretrained(tmp_path / "saved")
    killed_at(at, lambda: new.save_pretrained(tmp_path / "saved"))
    if at == "vocab.txt":
        old.save_pretrained(tmp_path / "saved")
        assert BertTokenizer.from_pretrained(tmp_path / "saved").chat_template == old.chat_template
        return
    with pytest.raises(trietok.InterruptedSaveError):
        BertTokenizer.from_pretrained(tmp_path / "saved")
    trietok.fix(tmp_path / "saved")
    assert BertTokenizer.from_pretrained(tmp_path / "saved").chat_template == "new"
    assert "additional_chat_templates" not in listed(tmp_path / "saved")


def test_a_save_with_a_prefix_is_finished(small, tmp_path):
    old, new = two_tokenizers(small)
    for tokenizer in (old, new):
        tokenizer.save_pretrained(tmp_path / tokenizer.fingerprint(), filename_prefix="my")
    saved, whole = (tmp_path / each.fingerprint() for each in (old, new))
    killed_at("my-vocab.txt", lambda: new.save_pretrained(saved, filename_prefix="my"))
    assert trietok.fix(saved).changes == ["the save is finished"]
    assert contents(saved) == contents(whole)


def test_a_directory_that_was_restored_after_an_interrupted_save_loads(small, tmp_path):
    old, new = two_tokenizers(small)
    old.save_pretrained(tmp_path / "saved")
    before = load_slow(tmp_path / "saved")
    shutil.copytree(tmp_path / "saved", tmp_path / "backup")
    killed_at("tokenizer_config.json", lambda: new.save_pretrained(tmp_path / "saved"))
    with pytest.raises(trietok.InterruptedSaveError):
        load_slow(tmp_path / "saved")
    shutil.copytree(tmp_path / "backup", tmp_path / "saved", dirs_exist_ok=True)
    assert load_slow(tmp_path / "saved") == before
    trietok.fix(tmp_path / "saved")
    assert load_slow(tmp_path / "saved") == before


def assert_fix_ends_it(
    path: pathlib.Path, read: Callable[[pathlib.Path], Any], seen: Any, states: tuple[Any, Any]
) -> None:
    """`check` tells an interrupted save, and `fix` finishes it."""
    if not path.is_dir():
        return
    codes = {finding.code for finding in trietok.check(path).errors}
    assert ("save-interrupted" in codes) == (seen == INTERRUPTED)
    copy = shutil.copytree(path, path.with_name("copy"))
    try:
        trietok.fix(copy)
    except trietok.InputError:
        assert seen != INTERRUPTED
    assert read(copy) in states
    shutil.rmtree(copy)


def a_few(steps: int) -> list[int]:
    """The first step and some others."""
    others = range(2, steps + 1)
    return [1, *random.sample(others, min(len(others), often(8)))]


def steps_between_changes(draw: random.Random, whole: Outcome, count: int) -> Iterator[int]:
    """Draw steps behind the first change of the disk that a whole run makes, and before the last;
    each time between two changes is as likely as another.
    """
    pairs = [pair for pair in itertools.pairwise(whole.changes) if pair[0] < pair[1]]
    for number in range(count):
        earlier, later = pairs[number] if number < len(pairs) < count else draw.choice(pairs)
        yield draw.randrange(earlier + 1, later + 1)


def write_again(write: Callable[[pathlib.Path], Any], path: pathlib.Path, name: str) -> None:
    """Make the write that was killed a second time; a command takes an empty place only."""
    if name.startswith(("fix", "command")) and path.exists():
        shutil.rmtree(path)
    outcome = run_in_child(lambda: write(path))
    assert outcome.said == "returned", outcome


def test_a_directory_outlives_kills_one_after_another(small, tmp_path):
    two, path = two_tokenizers(small), tmp_path / "saved"
    two[0].save_pretrained(path)
    states = [load_slow(path)]
    whole = run_in_child(lambda: two[1].save_pretrained(path))
    states.append(load_slow(path))
    seed = random.randrange(2**32)
    midway, rounds = 0, often(40)
    for number, step in enumerate(steps_between_changes(random.Random(seed), whole, rounds)):
        outcome = run_in_child(lambda: two[number % 2].save_pretrained(path), at=step)  # noqa: B023
        midway += outcome.is_midway(whole)
        assert found(load_slow, path) in (*states, INTERRUPTED), f"seed {seed}, kill {number}"
    assert_share(midway, rounds, SHARE_MIDWAY, seed)
    for number in (0, 1):
        two[number].save_pretrained(path)
        assert load_slow(path) == states[number]


@pytest.mark.parametrize("failure", ["full", "broken"])
@pytest.mark.parametrize("name", writers_of_a_run(WRITERS))
def test_a_writer_that_the_disk_refuses_raises_and_the_old_files_stay(
    writers, tmp_path, name, failure
):
    """A full disk refuses all that needs room from a change on, a broken one a single change."""
    prepare, write, read = writers[name]
    prepare(tmp_path / "whole")
    old = found(read, tmp_path / "whole")
    whole = run_in_child(lambda: write(tmp_path / "whole"), failure=failure)
    new, raised = read(tmp_path / "whole"), 0
    for step in a_few(whole.steps):
        path = tmp_path / str(step)
        prepare(path)
        before = contents(path)
        outcome = run_in_child(lambda: write(path), at=step, failure=failure)  # noqa: B023
        if outcome.said == "returned":
            assert read(path) == new, step
            continue
        raised += 1
        assert outcome.said.startswith(ERRORS), outcome
        if failure == "full":
            assert contents(path) == before, (step, outcome)
        assert found(read, path) in (old, *([INTERRUPTED] if failure == "broken" else [])), step
        write_again(write, path, name)
        assert read(path) == new, step
    # a broken disk may be written to in another way, where no file is there yet
    assert raised or failure == "broken"


@pytest.mark.parametrize("is_killed", [True, False])
@pytest.mark.parametrize(
    "name",
    writers_of_a_run(
        [*SLOW_SAVES, "slow save over a fast one", "vocabulary", "lock file", "tokenizer.json"]
    ),
)
def test_a_write_that_breaks_off_in_the_middle_of_a_file_leaves_the_old_files(
    writers, tmp_path, name, is_killed
):
    """The system lets a process write files of so many bytes, and kills it there or refuses."""
    prepare, write, read = writers[name]
    prepare(tmp_path / "whole")
    old = found(read, tmp_path / "whole")
    write(tmp_path / "whole")
    new, broken = read(tmp_path / "whole"), 0
    largest = max(map(len, contents(tmp_path / "whole").values()), default=400)
    for size in range(0, largest + 200, max(1, largest // 4)):
        path = tmp_path / str(size)
        prepare(path)

        def limit(size=size):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if is_killed else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        outcome = run_in_child(lambda: write(path), before=limit)  # noqa: B023
        if outcome.said == "returned":
            assert read(path) == new
            continue
        broken += 1
        assert outcome.signal == signal.SIGXFSZ if is_killed else "File too large" in outcome.said
        assert found(read, path) == old, size
    assert broken >= 2


# ---- disks that misbehave: these need root on Linux ----------------------------------------------


@pytest.fixture
def mounted():
    """Mount something: `mounted("-t", "tmpfs", "tmpfs", directory)`; the last is where."""
    places = []

    def mount(*arguments):
        run_or_skip("mount", *map(str, arguments))
        places.append(arguments[-1])

    yield mount
    for place in reversed(places):
        subprocess.run(["umount", str(place)], check=False)


@pytest.mark.faults
@pytest.mark.parametrize("obstacle", ["immutable", "mount point", "read-only"])
@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer_config.json", "added_tokens.json"])
def test_a_file_that_cannot_be_replaced_is_named(small, tmp_path, mounted, name, obstacle):
    """It loads as before, or not until the obstacle is gone and the save was made again."""
    two, directory = two_tokenizers(small), tmp_path / "saved"
    two[0].save_pretrained(directory)
    old = load_slow(directory)
    if obstacle == "immutable":
        run_or_skip("chattr", "+i", str(directory / name))
    elif obstacle == "mount point":
        (tmp_path / "elsewhere").write_bytes((directory / name).read_bytes())
        mounted("--bind", tmp_path / "elsewhere", directory / name)
    else:
        mounted("--bind", directory, directory)
        run_or_skip("mount", "-o", "remount,bind,ro", str(directory))
    try:
        with pytest.raises(FileError, match="Read-only" if obstacle == "read-only" else name):
            two[1].save_pretrained(directory)
        assert found(load_slow, directory) in (old, INTERRUPTED)
    finally:
        if obstacle == "immutable":
            subprocess.run(["chattr", "-i", str(directory / name)], check=True)
    if obstacle == "immutable":
        two[1].save_pretrained(directory)
        assert load_slow(directory) != old


@pytest.fixture
def disk(tmp_path):
    """An ext4 file system that lies in a file, and can be cut off from it as by a power failure."""
    image, place = tmp_path / "image", tmp_path / "disk"
    image.write_bytes(b"")
    os.truncate(image, 32 << 20)
    place.mkdir()
    run_or_skip("mkfs.ext4", "-q", str(image))

    class Disk:
        path = place

        def mount(self) -> None:
            run_or_skip("mount", "-o", "loop", str(image), str(place))

        def fail(self) -> None:
            """Lose what was not flushed; what was is there again."""
            import fcntl

            handle = os.open(place, os.O_RDONLY)
            try:
                # ioctl of ext4 and xfs: no more is written, not even the log
                fcntl.ioctl(handle, 0x8004587D, struct.pack("I", 2))
            except OSError as error:
                pytest.skip(f"needs ext4: it cannot be shut down here: {error}")
            finally:
                os.close(handle)
            subprocess.run(["umount", str(place)], check=True)
            self.mount()

    mounted_disk = Disk()
    mounted_disk.mount()
    yield mounted_disk
    subprocess.run(["umount", str(place)], check=False)


@pytest.mark.faults
@pytest.mark.parametrize("name", [*SLOW_SAVES, "fast save", "vocabulary", "lock file"])
def test_after_a_power_failure_the_old_files_or_the_new_ones_load(writers, disk, name):
    (disk.path / "canary").write_text("not flushed")
    disk.fail()
    assert not (disk.path / "canary").exists()
    prepare, write, read = writers[name]
    whole_path = disk.path / "whole"
    prepare(whole_path)
    old = found(read, whole_path)
    whole = run_in_child(lambda: write(whole_path))
    disk.fail()
    new = read(whole_path)  # what a save has returned from stays
    seed = random.randrange(2**32)
    midway, failures = 0, often(8, 40)
    for number, step in enumerate(steps_between_changes(random.Random(seed), whole, failures)):
        path = disk.path / str(number)
        prepare(path)
        os.sync()
        outcome = run_in_child(lambda: write(path), at=step)  # noqa: B023
        midway += outcome.is_midway(whole)
        disk.fail()
        assert found(read, path) in (old, new, INTERRUPTED), f"seed {seed}, failure {number}"
    assert midway >= SHARE_MIDWAY * failures
