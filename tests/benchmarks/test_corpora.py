"""A corpus of 200 MB to files of ids: one worker and two, their memory, and `datasets.map` with the
Rust tokenizer.

The corpus is made from the `.txt` files of `TRIETOK_CORPORA`, the model is `TRIETOK_MODEL`, a
directory with a vocab.txt and a tokenizer.json. `datasets` and `tokenizers` are measured where they
are installed.

It is made in two ways. *Repeated*: the lines again and again, each time in another order. *Varied*:
each copy of a line has its words in another order too, its Chinese cut at another place, and a new
word now and then, so that nearly no stretch of Chinese and fewer words are met again than in a real
corpus.

A machine that does other things at the time shows in the load, and in the seconds beside those of
the processors.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.benchmark

CORPORA = os.environ.get("TRIETOK_CORPORA", "")
MODEL = os.environ.get("TRIETOK_MODEL", "")
MEGABYTES = float(os.environ.get("TRIETOK_CORPUS_MB", "200"))
PART_MB = 25  # of a file of the corpus; the rest of the world is measured on the first
NEW_WORD = 0.005  # of the words
ROOT = pathlib.Path(__file__).parent.parent.parent

needs_corpus = pytest.mark.skipif(
    not (CORPORA and MODEL), reason="needs TRIETOK_CORPORA: and TRIETOK_MODEL"
)

DATASETS = """
import os, sys, time
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
import datasets
datasets.disable_progress_bars()
data = datasets.load_dataset("parquet", data_files=sys.argv[2], split="train", cache_dir=sys.argv[3])
size = sum(len(text.encode()) for text in data["text"])
if sys.argv[4] == "trietok":
    import trietok
    tokenizer = trietok.BertTokenizer.from_pretrained(sys.argv[1])
    tokenize = trietok.TokenizeBatch(tokenizer, "text", return_token_type_ids=False, return_attention_mask=False)
    data = data.with_format("arrow")
else:
    import tokenizers
    tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenize = lambda batch: {"input_ids": [one.ids for one in tokenizer.encode_batch(batch["text"])]}
start = time.process_time()  # of the processors, all threads: what else the machine does counts little
done = data.map(tokenize, batched=True, batch_size=1000)
taken = time.process_time() - start
print(size / 1e6 / taken, sum(map(len, done.with_format(None)["input_ids"])))
"""


def other(line: str, rng: random.Random) -> str:
    """A line like this one that has not been there."""
    words = line.split(" ")
    rng.shuffle(words)
    for number, word in enumerate(words):
        if not word.isascii() and len(word) > 20:
            at = rng.randrange(len(word))
            words[number] = word[at:] + word[:at]
        elif rng.random() < NEW_WORD:
            words[number] = word + "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=4))
    return " ".join(words)


def texts(varied: bool) -> Iterator[str]:
    rng = random.Random(1)
    lines = []
    for path in sorted(pathlib.Path(CORPORA).glob("*.txt")):
        lines += path.read_text(encoding="utf-8").split("\n")
    while True:
        rng.shuffle(lines)
        for line in lines:
            yield other(line, rng) if varied else line


@pytest.fixture(params=["repeated", "varied"])
def corpus(request, tmp_path_factory):
    """The files of the corpus."""
    folder = tmp_path_factory.mktemp(request.param)
    endless = texts(request.param == "varied")
    files = []
    for number in range(max(round(MEGABYTES / PART_MB), 1)):
        held, rows = 0, []
        while held < PART_MB * 1e6:
            rows.append(next(endless))
            held += len(rows[-1].encode())
        files.append(str(folder / f"{number}.parquet"))
        pq.write_table(pa.table({"text": rows}), files[-1], row_group_size=20_000)
    return files


class Memory(threading.Thread):
    """The most memory that a process and its children have together, in MB; what they share counts
    once.

    Attributes:
        most: of all of them.
        most_of_one: of the largest.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.most = self.most_of_one = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(1.0):
            sizes = [size for pid in self._family(self._pid) for size in self._size(pid)]
            self.most = max(self.most, sum(sizes))
            self.most_of_one = max(self.most_of_one, max(sizes, default=0))

    def _family(self, pid: int) -> Iterator[int]:
        yield pid
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return
        for child in children:
            yield from self._family(int(child))

    def _size(self, pid: int) -> Iterator[float]:
        try:
            rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            return
        for line in rollup.splitlines():
            if line.startswith("Pss:"):
                yield int(line.split()[1]) / 1000


def encode(files: list[str], out: pathlib.Path, *options: str) -> tuple[float, float, Memory]:
    """The seconds of a run of the command, start and end included, those of the processors, and the
    memory.
    """
    command = [
        sys.executable,
        "-m",
        "trietok",
        "encode-files",
        *files,
        "-o",
        str(out),
        "-m",
        MODEL,
        *options,
    ]
    before = os.times()
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    memory = Memory(child.pid)
    memory.start()
    assert child.wait() == 0
    taken = time.perf_counter() - start
    memory.over.set()
    memory.join()
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return taken, cpu, memory


def mapped(file: str, cache: pathlib.Path, who: str) -> tuple[float, int]:
    """MB/s of `datasets.map` in one process, by processor time, and how many ids came out."""
    done = subprocess.run(
        [sys.executable, "-c", DATASETS, MODEL, file, str(cache), who],
        capture_output=True,
        text=True,
        check=True,
    )
    speed, tokens = done.stdout.split()
    return float(speed), int(tokens)


@needs_corpus
def test_a_corpus(corpus, tmp_path, capsys):
    size = 0
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for path in corpus:
        size += pc.sum(pc.binary_length(pq.read_table(path).column("text"))).as_py()

    def show(what: str, *values: str) -> None:
        with capsys.disabled():
            print(f"{what:44}", *values, flush=True)

    how = pathlib.Path(corpus[0]).parent.name
    show(
        f"\n{size / 1e6:.0f} MB, {how}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        " before"
    )
    rates, cpu_rates = {}, {}
    for workers in ("1", "2"):
        # Small shards, so that the end finds all workers at work.
        taken, cpu, memory = encode(
            corpus, tmp_path / workers, "--workers", workers, "--shard-size", "4"
        )
        rates[workers], cpu_rates[workers] = size / 1e6 / taken, size / 1e6 / cpu
        show(
            f"encode-files, workers {workers}",
            f"{rates[workers]:6.1f} MB/s  {taken:6.1f} s, processors {cpu:.1f} s, most memory"
            f" {memory.most:.0f} MB,",
            f"of one process {memory.most_of_one:.0f} MB, load {os.getloadavg()[0]:.1f}",
        )
    show(
        "two workers / one",
        f"{rates['2'] / rates['1']:6.2f}, by processor time"
        f" {2 * cpu_rates['2'] / cpu_rates['1']:.2f}",
    )
    if importlib.util.find_spec("datasets") is None:
        return
    ours, number = mapped(corpus[0], tmp_path / "cache-1", "trietok")
    show("datasets.map, TokenizeBatch, one process", f"{ours:6.1f} MB/s")
    if importlib.util.find_spec("tokenizers") is not None:
        theirs, their_number = mapped(corpus[0], tmp_path / "cache-2", "tokenizers")
        show("datasets.map, tokenizers, one process", f"{theirs:6.1f} MB/s")
        show(
            "ours / theirs",
            f"{ours / theirs:6.2f} in datasets.map, {cpu_rates['1'] / theirs:6.2f} from file to"
            " file",
        )
        assert abs(number - their_number) < number / 100
