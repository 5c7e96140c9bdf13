"""The rows of a corpus as a dataset of torch: by number, or in an order for training.

In: a corpus, the columns of a row, and an `Order`. Out: dicts of tensors, for a collator. A dataset
in an order says how far it is, and goes on from there, also in the processes of a loader, which
share the epoch. torch is imported when one is made, and its classes come to ours then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trietok import log
from trietok.corpus.row_encoder import ID_BYTES, IDS
from trietok.corpus.training_order import CorpusLike, Order
from trietok.errors import InputError, imported, whole_number


def torch_dataset(
    corpus: CorpusLike, names: Sequence[str], order: Order | None = None, shared: Any = None
) -> Any:
    """Rows by number; or in an order, of which processes share the epoch and first item."""
    data: Any = imported("torch.utils.data", "torch")
    if order is None:
        return type("Rows", (_Rows, data.Dataset), {})(corpus, names)
    return type("ShuffledRows", (_ShuffledRows, data.IterableDataset), {})(
        corpus, names, order, shared
    )


class _Rows:
    """Rows by number."""

    def __init__(self, corpus: CorpusLike, names: Sequence[str]) -> None:
        self._corpus, self._names = corpus, names
        self._torch: Any = imported("torch", "torch")

    def __len__(self) -> int:
        return len(self._corpus)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self._corpus.columns(number, self._names, self._tensor)

    def __reduce__(self) -> tuple[Any, ...]:
        return torch_dataset, (self._corpus, self._names)

    def _tensor(self, run: memoryview[int]) -> Any:
        torch = self._torch
        kind = torch.int32 if run.itemsize == ID_BYTES else torch.int8
        return torch.frombuffer(bytearray(run), dtype=kind).long() if run else torch.zeros(0).long()


class _ShuffledRows:
    """Rows, batches of them, or packed rows, in an order.

    `shared` has the epoch, and the item at which its loop begins, for the processes of a loader.
    """

    def __init__(self, corpus: CorpusLike, names: Sequence[str], order: Order, shared: Any) -> None:
        self._torch, self._data = imported("torch", "torch"), imported("torch.utils.data", "torch")
        if shared is None:
            shared = self._torch.zeros(2).long()
            shared.share_memory_()
        self._corpus, self._names, self._order, self._shared = corpus, names, order, shared
        self._rows = _Rows(corpus, names)
        self._told = {**order._asdict(), "rows": len(corpus)}
        del self._told["rank"], self._told["batch_size"]
        self._given: dict[str, int] = {}  # a state, in a process of a loader, with one of its own
        self._epoch = self._begun = self._next = 0

    def set_epoch(self, number: int) -> None:
        """Give the rows in the order of another epoch, from its beginning."""
        if self._shared[0] != whole_number("epoch", number):
            self._shared[:] = self._torch.tensor([number, 0])
            self._next = 0

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is; `StatefulDataLoader` calls this and `load_state_dict`.

        `item` counts the rows that were given, or the batches, or the packed rows.
        """
        begun = {} if self._data.get_worker_info() is None else {"begun": self._begun}
        epoch = self._epoch if begun else int(self._shared[0])
        return {**self._told, "epoch": epoch, "item": self._next, **begun}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Have the next loop go on from a state, in its epoch.

        With a plain `DataLoader`, count yourself: `{"epoch": 3, "item": batches * batch_size}`.

        Raises:
            InputError: it is the state of another order.
        """
        for name, value in self._told.items():
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
        if self._data.get_worker_info() is None:
            self._shared[:] = self._torch.tensor([epoch, item])
            self._next = item
        else:
            self._given = {"epoch": epoch, "item": item, "begun": state.get("begun", item)}

    def padding(self) -> float:
        """The share of padding in the epoch; all lengths are read for it."""
        return self._order.padding(self._corpus, int(self._shared[0]))

    def __len__(self) -> int:
        return self._order.length(self._corpus, int(self._shared[0]))

    def __iter__(self) -> Iterator[Any]:
        worker, given, order = self._data.get_worker_info(), self._given, self._order
        epoch, item = self._shared.tolist()
        self._epoch, self._next = given.get("epoch", epoch), given.get("item", item)
        self._begun, self._given = given.get("begun", self._next), {}
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        if worker is None:
            self._shared[1] = 0
        size = 1 if order.max_tokens is not None else order.batch_size
        if workers > 1 and size is None and not number:
            log.warning(
                "one of the %d processes of the loader reads all rows; give torch_dataset the"
                " loader's batch_size, and all read",
                workers,
            )
        return self._items(number, workers, size)

    def _items(self, worker: int, workers: int, size: int | None) -> Iterator[Any]:
        """What one process of a loader gives: each a batch in turn."""
        begun, items = self._begun, self._order.items(self._corpus, self._epoch, self._next)
        for number, item in enumerate(items, self._next):
            if (0 if size is None else (number - begun) // size % workers) == worker:
                self._next = number + 1
                yield self._made_of([self._rows[row] for row in item])

    def _made_of(self, rows: list[dict[str, Any]]) -> Any:
        """What an item is: a row, a list of rows, or rows joined to one."""
        if self._order.pack is None:
            return rows[0] if self._order.max_tokens is None else rows
        torch = self._torch
        made = {name: torch.cat([row[name] for row in rows]) for name in self._names}
        lengths = torch.tensor([len(row[IDS]) for row in rows])
        made["position_ids"] = torch.cat([torch.arange(length) for length in lengths.tolist()])
        made["document_ids"] = torch.repeat_interleave(torch.arange(1, 1 + len(rows)), lengths)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return torch_dataset, (self._corpus, self._names, self._order, self._shared)
