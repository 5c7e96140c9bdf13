"""Orders for training: which rows of a corpus come when, one by one, in batches by length or
packed; to be resumed.

In: a corpus, a seed, an epoch, how many processes train. Out: the numbers of rows; and a dataset
for torch, which says how far it is and goes on from there. The order is that of the processes that
train, however many each has to read.
"""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from trietok import log
from trietok.corpus import shard_readers
from trietok.corpus.row_encoder import ID_BYTES, IDS
from trietok.errors import InputError, imported, whole_number

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
    """The rows from one place to before another of all shards in the order of an epoch, mixed
    stretch by stretch.

    The first of them are left out, so many. With lengths each is an entry, which `best_fit` takes.
    """
    order = random.Random(epoch)
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


def by_length(entries: Iterable[int], max_tokens: int) -> list[tuple[int, ...]]:
    """The rows of entries in batches of rows that are about as long, each with so many tokens at
    most, padding too.

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
    """The rows of entries packed into rows of at most so many ids: the longest first, each where it
    leaves least room.

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
    """How the rows of a corpus come to the processes that train: one by one, in batches, or
    packed.
    """

    seed: int
    rank: int = 0
    ranks: int = 1
    batch_size: int | None = None  # of the loader
    max_tokens: int | None = None  # of a batch by length
    pack: int | None = None  # ids of a packed row

    def place(self, rows: int) -> tuple[int, int]:
        """The places of the rows of this rank: all have as many, two share a row at most, the last
        has the last.
        """
        first = rows * self.rank // self.ranks
        return first, first - (-rows // self.ranks)

    def items(self, corpus: CorpusLike, epoch: int, first: int = 0) -> Iterator[tuple[int, ...]]:
        """The rows of each item of this rank, from one on: of a row itself, of a batch, or of a
        packed row.
        """
        if self.max_tokens is None and self.pack is None:
            place = self.place(len(corpus))
            rows = mixed(corpus, f"{self.seed} {epoch}", f"{self.rank} {self.ranks}", *place, first)
            return zip(itertools.chain.from_iterable(rows))
        return itertools.islice(self._shared_out(self.all_items(corpus, epoch)), first, None)

    def all_items(self, corpus: CorpusLike, epoch: int) -> Iterator[tuple[int, ...]]:
        """The rows of each batch, or of each packed row, of all ranks: of a stretch they are in
        random order.
        """
        order = random.Random(f"{self.seed} {epoch} items")
        for entries in mixed(
            corpus, f"{self.seed} {epoch}", "0 1", 0, len(corpus), with_lengths=True
        ):
            items = (
                best_fit(entries, self.pack)
                if self.pack
                else by_length(entries, self.max_tokens or 0)
            )
            order.shuffle(items)
            yield from items

    def _shared_out(self, items: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """The items of this rank; at the end some of the first come again, so that all ranks have
        as many.
        """
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
        """How many items a rank has. To tell that of batches, or of packed rows, all lengths are
        read.
        """
        if self.max_tokens is None and self.pack is None:
            return -(-len(corpus) // self.ranks)
        return -(-sum(1 for _ in self.all_items(corpus, epoch)) // self.ranks)

    def padding(self, corpus: CorpusLike, epoch: int) -> float:
        """The share of padding in the batches of an epoch, or in its packed rows."""
        items: Iterable[tuple[int, ...]]
        if self.max_tokens is None and self.pack is None:
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


def torch_dataset(
    corpus: CorpusLike, names: Sequence[str], order: Order | None = None, shared: Any = None
) -> Any:
    """Rows by number; or in an order, of which processes share the epoch and the item at which it
    begins.
    """
    torch = imported("torch", "torch")
    data: Any = imported("torch.utils.data", "torch")

    def tensor(run: memoryview[int]) -> Any:
        kind = torch.int32 if run.itemsize == ID_BYTES else torch.int8
        return torch.frombuffer(bytearray(run), dtype=kind).long() if run else torch.zeros(0).long()

    class Rows(data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return len(corpus)

        def __getitem__(self, number: int) -> dict[str, Any]:
            return corpus.columns(number, names, tensor)

        def __reduce__(self) -> tuple[Any, ...]:
            return torch_dataset, (corpus, names)

    if order is None:
        return Rows()
    how: Order = order
    if shared is None:
        shared = torch.zeros(2).long()
        shared.share_memory_()
    told = {**how._asdict(), "rows": len(corpus)}
    del told["rank"], told["batch_size"]

    def packed(item: tuple[int, ...]) -> dict[str, Any]:
        rows = [corpus.columns(row, names, tensor) for row in item]
        made = {name: torch.cat([row[name] for row in rows]) for name in names}
        lengths = torch.tensor([len(row[IDS]) for row in rows])
        made["position_ids"] = torch.cat([torch.arange(length) for length in lengths.tolist()])
        made["document_ids"] = torch.repeat_interleave(torch.arange(1, 1 + len(rows)), lengths)
        return made

    def made_of(item: tuple[int, ...]) -> Any:
        if how.pack is not None:
            return packed(item)
        rows = [corpus.columns(row, names, tensor) for row in item]
        return rows[0] if how.max_tokens is None else rows

    class ShuffledRows(data.IterableDataset):  # type: ignore[misc]
        def __init__(self) -> None:
            # a state, in a process of a loader, which has one of its own
            self._given: dict[str, int] = {}
            self._epoch = self._begun = self._next = 0

        def set_epoch(self, number: int) -> None:
            """Give the rows in the order of another epoch, from its beginning."""
            if shared[0] != whole_number("epoch", number):
                shared[:] = torch.tensor([number, 0])
                self._next = 0

        def state_dict(self) -> dict[str, Any]:
            """Where the loop is; for `load_state_dict`, which torchdata's `StatefulDataLoader`
            calls as well.

            `item` counts the rows that were given, or the batches, or the packed rows.
            """
            begun = {} if data.get_worker_info() is None else {"begun": self._begun}
            epoch = self._epoch if begun else int(shared[0])
            return {**told, "epoch": epoch, "item": self._next, **begun}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            """Have the next loop go on from a state, in its epoch.

            With a plain `DataLoader`, count yourself: `{"epoch": 3, "item": batches * batch_size}`.

            Raises:
                InputError: it is the state of another order.
            """
            for name, value in told.items():
                if state.get(name, value) != value:
                    raise InputError(
                        f"the state is of {name}={state[name]}, and this dataset has {name}={value}"
                    )
            lacking = [name for name in ("epoch", "item") if name not in state]
            if lacking:
                raise InputError(
                    f"the state has no {' and no '.join(lacking)}; give what state_dict() gave, or"
                    ' {"epoch": ..., "item": ...}, in rows that were read'
                )
            epoch, item = (whole_number(name, state[name]) for name in ("epoch", "item"))
            if data.get_worker_info() is None:
                shared[:] = torch.tensor([epoch, item])
                self._next = item
            else:
                self._given = {"epoch": epoch, "item": item, "begun": state.get("begun", item)}

        def padding(self) -> float:
            """The share of padding in the batches of the epoch, or in its packed rows: all lengths
            are read for it.
            """
            return how.padding(corpus, int(shared[0]))

        def __len__(self) -> int:
            return how.length(corpus, int(shared[0]))

        def __iter__(self) -> Iterator[Any]:
            worker, given = data.get_worker_info(), self._given
            self._epoch, self._next = (
                given.get("epoch", int(shared[0])),
                given.get("item", int(shared[1])),
            )
            self._begun, self._given = given.get("begun", self._next), {}
            number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
            if worker is None:
                shared[1] = 0
            size = 1 if how.max_tokens is not None else how.batch_size
            if workers > 1 and size is None and not number:
                log.warning(
                    "one of the %d processes of the loader reads all rows; give torch_dataset the"
                    " loader's batch_size, and all read",
                    workers,
                )
            return self._items(number, workers, size)

        def _items(self, worker: int, workers: int, size: int | None) -> Iterator[Any]:
            """What one process of a loader gives: as it takes them, of each process a batch in
            turn.
            """
            begun = self._begun
            for number, item in enumerate(how.items(corpus, self._epoch, self._next), self._next):
                if (0 if size is None else (number - begun) // size % workers) == worker:
                    self._next = number + 1
                    yield made_of(item)

        def __reduce__(self) -> tuple[Any, ...]:
            return torch_dataset, (corpus, names, order, shared)

    return ShuffledRows()
