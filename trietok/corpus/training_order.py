"""Orders for training: which rows of a corpus come when, one by one, in batches by length or
packed; to be resumed.

In: a corpus, a seed, an epoch, how many processes train. Out: the numbers of rows. The order is
that of the processes that train, however many each has to read.
"""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from trietok.corpus import shard_readers

_MIXED_SHARDS = 16
_ROW_BITS = 40  # of an entry: the number of a row, below its length
_ROW = (1 << _ROW_BITS) - 1


class CorpusLike(Protocol):
    """What is asked of an open corpus."""

    shard_starts: list[int]
    opened: Callable[[int], Any]  # the reader of a shard

    def __len__(self) -> int: ...
    def ids(self, number: int) -> memoryview[int]: ...
    def columns(
        self, number: int, names: Sequence[str], made_of: Callable[[memoryview[int]], Any]
    ) -> dict[str, Any]: ...


def mixed(
    corpus: CorpusLike,
    epoch: str,
    part: str,
    first: int,
    last: int,
    skipped: int = 0,
    with_lengths: bool = False,
) -> Iterator[array[int]]:
    """The rows from one place to before another, in the order of an epoch, mixed in stretches.

    The first of them are left out, so many. With lengths each is an entry, which `best_fit` takes.
    """
    order = random.Random(epoch)
    pieces = _pieces(corpus, order, first, last)
    for number in range(0, len(pieces), _MIXED_SHARDS):
        some = pieces[number : number + _MIXED_SHARDS]
        rows_of_some = sum(end - start for _, _, start, end in some)
        if skipped >= rows_of_some:  # without opening them
            skipped -= rows_of_some
            continue
        order.seed(f"{epoch} {part} {number}")
        blocks = []
        for shard, before, start, end in some:
            for stop, size in corpus.opened(shard).blocks():
                if start < min(before + stop, end):
                    blocks.append((shard, before, start, min(before + stop, end), size))
                    start = before + stop
        order.shuffle(blocks)
        rows, held = array("q"), 0
        for block in [*blocks, None]:
            if rows and (block is None or held + block[-1] > shard_readers.MIXED_BYTES):
                order.shuffle(rows)
                yield rows[skipped:]
                skipped = max(skipped - len(rows), 0)
                rows, held = array("q"), 0
            if block is not None:
                shard, before, start, end, size = block
                rows.extend(range(start, end))
                held += size
                if with_lengths:
                    lengths = corpus.opened(shard).lengths(start - before, end - before)
                    for at, length in enumerate(lengths, len(rows) - (end - start)):
                        rows[at] |= length << _ROW_BITS


def _pieces(
    corpus: CorpusLike, order: random.Random, first: int, last: int
) -> list[tuple[int, int, int, int]]:
    """The shards in an order, as far as they lie between two places of it: number, first row of all
    rows, and the rows from one to before another.
    """
    shards = list(range(len(corpus.shard_starts) - 1))
    order.shuffle(shards)
    pieces, passed = [], 0
    for shard in shards:
        before, after = corpus.shard_starts[shard : shard + 2]
        start = before + max(first - passed, 0)
        passed += after - before
        end = after - max(passed - last, 0)
        if start < end:
            pieces.append((shard, before, start, end))
    return pieces


def by_length(entries: Iterable[int], max_tokens: int) -> list[tuple[int, ...]]:
    """Entries in batches of rows about as long, each of so many tokens at most, padding too.

    >>> by_length([5 << 40 | 0, 2 << 40 | 1, 4 << 40 | 2, 3 << 40 | 3], 10)
    [(1, 3), (2, 0)]
    """
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    for entry in sorted(entries, key=lambda entry: entry >> _ROW_BITS):
        if batch and (len(batch) + 1) * (entry >> _ROW_BITS) > max_tokens:
            batches.append(tuple(batch))
            batch = []
        batch.append(entry & _ROW)
    return [*batches, tuple(batch)] if batch else batches


def best_fit(entries: Iterable[int], length: int) -> list[tuple[int, ...]]:
    """Entries packed into rows of so many ids at most: the longest first, where it fits best.

    No text is cut. See Ding et al. 2024, "Fewer Truncations Improve Language Modeling",
    https://arxiv.org/abs/2404.10830.

    >>> best_fit([5 << 40 | 0, 2 << 40 | 1, 4 << 40 | 2, 3 << 40 | 3], 7)
    [(0, 1), (2, 3)]
    """
    packed: list[list[int]] = []
    with_room: list[list[list[int]]] = [[] for _ in range(length + 1)]
    rooms = 0  # a bit for each room that a packed row has
    for entry in sorted(entries, key=lambda entry: entry >> _ROW_BITS, reverse=True):
        size = entry >> _ROW_BITS
        fitting = rooms >> size
        if fitting:
            room = size + (fitting & -fitting).bit_length() - 1
            rows = with_room[room].pop()
            rooms ^= 0 if with_room[room] else 1 << room
        else:
            room, rows = length, []
            packed.append(rows)
        rows.append(entry & _ROW)
        with_room[room - size].append(rows)
        rooms |= 1 << room - size
    return [tuple(rows) for rows in packed]


class Order(NamedTuple):
    """How rows come to the processes that train: one by one, in batches, or packed."""

    seed: int
    rank: int = 0
    ranks: int = 1
    batch_size: int | None = None  # of the loader
    max_tokens: int | None = None  # of a batch by length
    pack: int | None = None  # ids of a packed row

    @property
    def is_by_row(self) -> bool:
        return self.max_tokens is None and self.pack is None

    def place(self, rows: int) -> tuple[int, int]:
        """Where this rank's rows are: all have as many, and two share one row at most."""
        first = rows * self.rank // self.ranks
        return first, first - (-rows // self.ranks)

    def items(self, corpus: CorpusLike, epoch: int, first: int = 0) -> Iterator[tuple[int, ...]]:
        """The rows of each item of this rank, from one on: a row, a batch, a packed row."""
        if self.is_by_row:
            place = self.place(len(corpus))
            rows = mixed(corpus, f"{self.seed} {epoch}", f"{self.rank} {self.ranks}", *place, first)
            return zip(itertools.chain.from_iterable(rows))
        return itertools.islice(self._shared_out(self.all_items(corpus, epoch)), first, None)

    def all_items(self, corpus: CorpusLike, epoch: int) -> Iterator[tuple[int, ...]]:
        """The rows of each batch, or packed row, of all ranks; in a stretch in random order."""
        name, size = f"{self.seed} {epoch}", self.pack or self.max_tokens or 0
        order = random.Random(f"{name} items")
        for entries in mixed(corpus, name, "0 1", 0, len(corpus), with_lengths=True):
            items = best_fit(entries, size) if self.pack else by_length(entries, size)
            order.shuffle(items)
            yield from items

    def _shared_out(self, items: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """The items of this rank; some may come again at the end, so that all have as many."""
        first: list[tuple[int, ...]] = []
        number = -1
        for number, item in enumerate(items):
            if len(first) < self.ranks:
                first.append(item)
            if number % self.ranks == self.rank:
                yield item
        in_last = (number + 1) % self.ranks
        if in_last and self.rank >= in_last:
            yield first[(self.rank - in_last) % len(first)]

    def length(self, corpus: CorpusLike, epoch: int) -> int:
        """How many items a rank has; for batches and packed rows, all lengths are read."""
        if self.is_by_row:
            return -(-len(corpus) // self.ranks)
        return -(-sum(1 for _ in self.all_items(corpus, epoch)) // self.ranks)

    def padding(self, corpus: CorpusLike, epoch: int) -> float:
        """The share of padding in the batches of an epoch, or in its packed rows."""
        items: Iterable[tuple[int, ...]]
        if self.is_by_row:
            rows = (row for (row,) in self._replace(rank=0, ranks=1).items(corpus, epoch))
            items = iter(lambda: tuple(itertools.islice(rows, self.batch_size or 1)), ())
        else:
            items = self.all_items(corpus, epoch)
        tokens = room = 0
        for item in items:
            lengths = [len(corpus.ids(row)) for row in item]
            tokens += sum(lengths)
            room += self.pack or max(lengths) * len(lengths)
        return 1 - tokens / room if room else 0.0
