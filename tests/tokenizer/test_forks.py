"""A process that forks while another of its threads is in the middle of something: the child can do
everything, and sees each tokenizer as it was before that or as it is after it.

The other thread is stopped at a line of trietok's code: at the first, the second, ... that it has
not been at before.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import threading

import pytest

import trietok
from trietok import AddedToken, BertTokenizer, BertTokenizerFast
from trietok.text import chunk_encoder
from trietok.text.kernel.choosing import using_kernel

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")

HOME = str(pathlib.Path(trietok.__file__).parent)
# in the middle of each operation, in the marked run
FORKS = int(os.environ.get("TRIETOK_FORKS", "1000"))
TIMES = int(os.environ.get("TRIETOK_TIMES", "20"))  # of what is done again and again there
SEED = random.SystemRandom().randrange(10**6)
LONGEST = 300  # seconds of a child; what hangs, hangs for ever
TEXT = "the <p> people [X] zoology caf\u00e9 Lower unaffordable"
CORPUS = ["low lower lowest caf\u00e9"] * 3
KINDS = (BertTokenizer, BertTokenizerFast)
FOLDERS = itertools.count()


def set_stage(tokenizer, folder):
    tokenizer.basic_tokenizer.strip_accents = not tokenizer.basic_tokenizer.strip_accents


def patch_class(tokenizer, folder):
    type(tokenizer).watched_by_the_tests = None


def make_kernel(tokenizer, folder):
    with using_kernel("compiled", text_before_kernel=0):
        return copy.deepcopy(tokenizer)(TEXT).input_ids


CHANGES = {
    "add_tokens": lambda t, folder: t.add_tokens(["<p>", AddedToken("<q>", lstrip=True)]),
    "add_special_tokens": lambda t, folder: t.add_special_tokens(
        {"cls_token": "[C]", "additional_special_tokens": ["[X]"]}
    ),
    "role": lambda t, folder: setattr(t, "mask_token", "[X]"),
    "side": lambda t, folder: setattr(t, "padding_side", "left"),
    "max_length": lambda t, folder: setattr(t, "model_max_length", 7),
    "stage": set_stage,
    "remove_tokens": lambda t, folder: t.remove_tokens("<there>", compact=True),
    "assign_unused": lambda t, folder: t.assign_unused("[unused3]", "[X]"),
    "add_wordpieces": lambda t, folder: t.add_wordpieces(["zo", "##ology"]),
    "keep_only": lambda t, folder: t.keep_only([*range(4000), *t.added_tokens_decoder]),
    "patch": patch_class,
}
READS = {
    "call": lambda t, folder: t([TEXT, "short"], padding=True, return_offsets_mapping=True).data,
    "split": lambda t, folder: t(TEXT, split_special_tokens=True).input_ids,
    "encode": lambda t, folder: t.encode(TEXT),
    "decode": lambda t, folder: t.decode(t.encode(TEXT), clean_up_tokenization_spaces=True),
    "first call": lambda t, folder: copy.deepcopy(t).encode(TEXT),
    "kernel": make_kernel,
    "save": lambda t, folder: t.save_pretrained(folder),
    "load": lambda t, folder: type(t).from_pretrained("trietok-en").encode(TEXT),
    "explain": lambda t, folder: str(t.explain(TEXT)),
    "pickle": lambda t, folder: pickle.loads(pickle.dumps(t)).encode(TEXT),
    "fingerprint": lambda t, folder: t.fingerprint,
    "compare": lambda t, folder: trietok.compare(
        t, BertTokenizer.from_pretrained("trietok-en"), [TEXT]
    ),
    "check": lambda t, folder: trietok.check("trietok-en"),
    "train": lambda t, folder: trietok.train_wordpiece(CORPUS, vocab_size=30),
    "train_new": (
        lambda t, folder: BertTokenizerFast.from_pretrained("trietok-en").train_new_from_iterator(
            CORPUS, vocab_size=60
        )
    ),
    "corpus": lambda t, folder: pickle.loads(pickle.dumps(trietok.TokenizeBatch(t, "text"))),
}
ALL = {**CHANGES, **READS}


def made(kind):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["<there>"])
    return tokenizer


def state(tokenizer) -> list[object]:
    """What a tokenizer gives; in terms that a file can hold."""
    encoding = tokenizer(
        [TEXT, "short"], padding="max_length", max_length=30, return_offsets_mapping=True
    )
    stage = tokenizer.wordpiece_tokenizer
    return json.loads(
        json.dumps(
            [
                [*encoding.values()],
                tokenizer.special_tokens_map,
                sorted(tokenizer.get_vocab().items(), key=str),
                tokenizer.get_added_vocab(),
                tokenizer.model_max_length,
                tokenizer.basic_tokenizer.strip_accents,
                [stage.tokenize("zoology unaffordable"), stage.vocab == tokenizer.vocab],
            ]
        )
    )


class Stopped:
    """A thread that does something, and waits at the line of trietok's code that is the `number`th
    new one to it.
    """

    def __init__(self, function, number: int, within: str) -> None:
        self._within = HOME + within
        self._seen: set[tuple[str, int]] = set()
        self._number, self._function = number, function
        self.is_there, self._goes_on = threading.Event(), threading.Event()
        self.line = ""
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self.is_there.wait()

    def _run(self) -> None:
        sys.settrace(
            lambda frame, event, argument: (
                self._trace if frame.f_code.co_filename.startswith(self._within) else None
            )
        )
        try:
            self._function()
        finally:
            sys.settrace(None)
            self.is_there.set()

    def _trace(self, frame, event, argument):
        place = frame.f_code.co_filename, frame.f_lineno
        if place not in self._seen:
            self._seen.add(place)
            if len(self._seen) == self._number:
                self.line = f"{place[0][len(HOME) + 1 :]}:{place[1]}"
                sys.settrace(None)
                frame.f_trace = None
                self.is_there.set()
                self._goes_on.wait()
        return self._trace

    def end(self) -> None:
        self._goes_on.set()
        self._thread.join()


def in_child(do) -> dict[str, object]:
    """What a function writes into a dict, in a forked child; what it is at stays there if the child
    does not end.
    """
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(LONGEST)
            os.close(readable)

            def say(name: str, value: object) -> None:
                os.write(writable, f"{json.dumps([name, value])}\n".encode())

            do(say)
            say("end", True)
        except BaseException as error:
            say("error", repr(error))
        finally:
            os._exit(0)
    os.close(writable)
    with open(readable, encoding="utf-8") as file:
        said = dict(json.loads(line) for line in file)
    os.waitpid(child, 0)
    return said


def fork_in_the_middle(
    kind, change: str, number: int, operations, tmp_path, within: str = ""
) -> str:
    """Fork where the thread is stopped; the line, "" if the change ended before."""
    tokenizer = made(kind)
    tokenizer(TEXT)
    before, after = state(tokenizer), copy.deepcopy(tokenizer)
    parents, childs = (tmp_path / f"{next(FOLDERS)}" for _ in range(2))
    ALL[change](after, childs)
    states = [before, state(after)]
    other = Stopped(lambda: ALL[change](tokenizer, parents), number, within)

    def do(say) -> None:
        for name in operations:
            say("at", name)
            if name == "state":
                is_whole, is_fresh = (
                    state(tokenizer) in states,
                    state(tokenizer) == state(copy.deepcopy(tokenizer)),
                )
                say(name, [is_whole, is_fresh])
                continue
            try:
                ALL[name](tokenizer, childs)
            except trietok.TrietokError as error:  # done already
                say(name, str(error))

    try:
        if not other.line:
            return ""
        said = in_child(do)
        where = (
            f"{kind.__name__}: {change} at {other.line} ({number}), the child at {said.get('at')};"
            f" seed {SEED}"
        )
        assert said.get("end"), f"{where}: {said.get('error', 'it hangs')}"
        assert said.get("state", [True, True]) == [True, True], where
    finally:
        other.end()
        if "watched_by_the_tests" in vars(kind):
            del kind.watched_by_the_tests
    assert state(tokenizer) == states[1], where
    return other.line


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.faults)])
def test_a_fork_in_the_middle_of_a_change(tmp_path, every):
    """At each line, or at one of `every` lines, of the steps that all changes share, and at a line
    of some changes.
    """
    print("seed", SEED)
    rng = random.Random(SEED)
    # what is imported when it is needed is imported: that Python's own locks are free is not ours
    for change in ALL:
        ALL[change](made(BertTokenizer), tmp_path / "first")
    patched = vars(BertTokenizer).get("watched_by_the_tests", "")
    assert patched is None
    del BertTokenizer.watched_by_the_tests
    names, place = ["state", "add_tokens", "save"], "/tokenizer/token_table.py"
    numbers = itertools.count(rng.randrange(1, every + 1), every)
    lines = (
        fork_in_the_middle(BertTokenizer, "add_wordpieces", n, names, tmp_path, place)
        for n in numbers
    )
    assert len(set(itertools.takewhile(bool, lines))) > 15 // every
    for change in rng.sample(list(CHANGES), -(-len(CHANGES) // every)):
        number = rng.randrange(1, 60)
        fork_in_the_middle(
            rng.choice(KINDS), change, number, ["state", *rng.sample(sorted(ALL), 4)], tmp_path
        )


@pytest.mark.faults
@pytest.mark.parametrize("change", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_in_a_child_forked_in_the_middle_of_every_other(tmp_path, kind, change):
    rng = random.Random(SEED)
    for name in ALL:
        ALL[name](made(kind), tmp_path / "first")
    del kind.watched_by_the_tests
    number = 1
    for _ in range(FORKS):
        if not fork_in_the_middle(
            kind, change, number, ["state", *rng.sample(sorted(ALL), len(ALL))], tmp_path
        ):
            break
        number += rng.randrange(1, 40)


# ---- what a program does within a fork -----------------------------------------------------------

# Hooks that are registered before trietok is imported: they are called closest to the fork before
# it, and first after.
PROGRAM = """
import os, signal, sys, threading
does = {}
for when in ("before", "after_in_parent", "after_in_child"):
    os.register_at_fork(**{when: lambda when=when: does.get(when, int)()})
import trietok
from trietok.text.kernel import choosing
choosing.choose_kernel(sys.argv[1], text_before_kernel=0)
tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
expected = tokenizer("hello").input_ids
number = 0
def encode():
    global number
    number += 1
    texts = ["hello", *(f"new{number}a{i} [x{i}] " * 30 for i in range(500))]
    return tokenizer(texts).input_ids[0] == expected
def fork():
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        os._exit(0 if encode() else 1)
    assert os.waitpid(child, 0)[1] == 0
signal.alarm(300)  # what hangs, hangs for ever
"""
ENCODING = """
def encode_elsewhere():
    other = threading.Thread(target=encode)
    other.start()
    other.join()
for do in (encode, encode_elsewhere):
    does = dict.fromkeys(("before", "after_in_parent", "after_in_child"), do)
    fork()
"""
# A kernel is made, and the tokenizer is in the middle of a change, in another thread; the hook of
# the child needs both.
LOCKED = """
there, over = threading.Event(), threading.Event()
def lock():
    with choosing.one_at_a_time.held(), tokenizer._changes.changing():
        there.set()
        over.wait()
other = threading.Thread(target=lock)
other.start()
there.wait()
def change():
    tokenizer.add_tokens(["[x1]"])
    encode()
does = {"after_in_child": change}
fork()
over.set()
other.join()
"""


@pytest.mark.parametrize("times", [2, pytest.param(TIMES, marks=pytest.mark.faults)])
@pytest.mark.parametrize("program", [ENCODING, LOCKED], ids=["encoding", "locked"])
@pytest.mark.parametrize("kernel", ["compiled", "plain"])
def test_what_hooks_of_the_program_encode_within_a_fork(kernel, program, times):
    command = [sys.executable, "-c", PROGRAM + program, kernel]
    for _ in range(times):
        subprocess.run(command, check=True, env={**os.environ, "TRIETOK_PARALLELISM": "2"})


@pytest.mark.parametrize("times", [2, pytest.param(TIMES, marks=pytest.mark.faults)])
def test_the_handler_of_a_signal_forks_while_a_kernel_is_made(times, monkeypatch):
    """In the child that goes on after the handler, the kernel is made, and another thread can make
    one.
    """
    make_kernel, children = chunk_encoder.new_kernel, []

    def made_slowly(*arguments):
        if not children:
            signal.raise_signal(signal.SIGUSR1)
        return make_kernel(*arguments)

    monkeypatch.setattr(chunk_encoder, "new_kernel", made_slowly)
    before = signal.signal(signal.SIGUSR1, lambda *_: children.append(os.fork()))
    expected = BertTokenizer.from_pretrained("trietok-en")(TEXT).input_ids
    try:
        for _ in range(times):
            children.clear()
            found: list[object] = []
            try:
                found.append(make_kernel_of_copy())
                if children == [0]:
                    other = threading.Thread(
                        target=lambda found=found: found.append(make_kernel_of_copy())
                    )
                    other.start()
                    other.join(LONGEST)
            finally:
                if children == [0]:
                    os._exit(0 if found == [expected] * 2 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
            assert found == [expected]
    finally:
        signal.signal(signal.SIGUSR1, before)


def make_kernel_of_copy():
    return make_kernel(BertTokenizer.from_pretrained("trietok-en"), None)
