"""Orders for training: the same for any number of processes, resumed in the middle; batches by
length, and packing.
"""

from __future__ import annotations

import itertools
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.corpus.shards import write
from trietok import BertTokenizer, InputError, encode_files
from trietok.corpus import open_corpus, shard_readers, training_order
from trietok.corpus.training_order import best_fit, by_length

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")
DataLoader = torch.utils.data.DataLoader
SHAPES = [{"batch_size": 3}, {"max_tokens": 60}, {"pack": 40, "batch_size": 2}]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """200 rows of many lengths, each another one, in several shards."""
    folder, rng = tmp_path_factory.mktemp("order"), random.Random(4)
    texts = [f"{number} " + "people " * min(int(rng.expovariate(0.2)), 30) for number in range(200)]
    write(folder / "a.txt", texts)
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    encode_files(
        folder / "a.txt",
        folder / "ids",
        tokenizer,
        workers=1,
        shard_bytes=900,
        return_attention_mask=True,
    )
    return open_corpus(folder / "ids")


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(shard_readers, "MIXED_BYTES", 2000)
    monkeypatch.setattr(training_order, "_MIXED_SHARDS", 3)


def loader_of(dataset, shape, workers, kind=DataLoader, **options):
    size = None if "max_tokens" in shape else shape["batch_size"]
    return kind(dataset, size, num_workers=workers, collate_fn=list, **options)


def ids_in(batches):
    return [[tuple(row["input_ids"].tolist()) for row in batch] for batch in batches]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_order_is_the_same_for_any_number_of_processes(corpus, shape):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dataset = corpus.torch_dataset(["input_ids"], seed=seed, rank=1, ranks=3, **shape)
    alone = ids_in(loader_of(dataset, shape, 0))
    for workers in (1, 3):
        loader = loader_of(dataset, shape, workers)
        assert ids_in(loader) == alone
        assert len(loader) == len(alone)
    dataset.set_epoch(1)
    assert ids_in(loader_of(dataset, shape, 0)) != alone


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_ranks_have_all_rows_between_them_in_as_many_steps(corpus, shape):
    made = [
        ids_in(
            loader_of(
                corpus.torch_dataset(["input_ids"], seed=7, rank=rank, ranks=3, **shape), shape, 0
            )
        )
        for rank in range(3)
    ]
    assert len({len(batches) for batches in made}) == 1
    found = [row for batch in itertools.chain(*made) for row in batch]
    texts = {tuple(row) for row in corpus}
    if "pack" not in shape:
        assert {*found} == texts
    else:  # each row is of whole texts, each of which begins with [CLS]
        parts = [part for row in found for part in split(row)]
        assert {*parts} == texts


def split(row):
    starts = [place for place, token_id in enumerate(row) if token_id == 2]
    return [tuple(row[start:end]) for start, end in itertools.pairwise([*starts, len(row)])]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("workers", [0, 3])
def test_an_epoch_goes_on_in_the_middle(corpus, shape, workers):
    """By hand, in another process, with as many workers or none."""
    dataset = corpus.torch_dataset(["input_ids"], seed=3, **shape)
    dataset.set_epoch(5)
    whole = ids_in(loader_of(dataset, shape, 0))
    for done in (1, 4, len(whole)):
        again = pickle.loads(pickle.dumps(corpus.torch_dataset(["input_ids"], seed=3, **shape)))
        again.load_state_dict({"epoch": 5, "item": done * shape.get("batch_size", 1)})
        assert ids_in(loader_of(again, shape, workers)) == whole[done:]
        again.set_epoch(6)
        assert len(ids_in(loader_of(again, shape, workers))) == len(again) // shape.get(
            "batch_size", 1
        ) + bool(len(again) % shape.get("batch_size", 1))


def test_a_state_is_that_of_the_loop(corpus):
    dataset = corpus.torch_dataset(["input_ids"], seed=3)
    rows = [tuple(row["input_ids"].tolist()) for row in dataset]
    loop = iter(dataset)
    for _ in range(70):
        next(loop)
    state = dataset.state_dict()
    assert state["item"] == 70
    again = corpus.torch_dataset(["input_ids"], seed=3)
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert [tuple(row["input_ids"].tolist()) for row in again] == rows[70:]
    # the next loop begins at the beginning
    assert [tuple(row["input_ids"].tolist()) for row in again] == rows
    for options in ({"seed": 4}, {"seed": 3, "ranks": 2}, {"seed": 3, "pack": 60}):
        with pytest.raises(InputError, match=r"the state is of \w+=\w+, and this dataset has"):
            corpus.torch_dataset(["input_ids"], **options).load_state_dict(state)
    with pytest.raises(InputError, match="the state has no epoch and no item; give"):
        again.load_state_dict({})


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_loader_of_torchdata_goes_on(corpus, shape, workers):
    kind = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader

    def loader():
        return loader_of(corpus.torch_dataset(["input_ids"], seed=3, **shape), shape, workers, kind)

    whole = ids_in(loader())
    assert whole == ids_in(
        loader_of(corpus.torch_dataset(["input_ids"], seed=3, **shape), shape, 0)
    )
    taken, state = [], None
    for number in (1, 4, 2):  # goes on from a loop that has gone on itself
        again = loader()
        again.load_state_dict(state) if state is not None else None
        taken += ids_in(itertools.islice(again, number))
        state = again.state_dict()
    last = loader()
    last.load_state_dict(state)
    assert taken + ids_in(last) == whole


def test_batches_by_length(corpus):
    batches = ids_in(
        loader_of(corpus.torch_dataset(["input_ids"], seed=9, max_tokens=200), SHAPES[1], 0)
    )
    assert all(max(map(len, batch)) * len(batch) <= 200 for batch in batches)
    assert {row for batch in batches for row in batch} == {tuple(row) for row in corpus}


def test_packed_rows(corpus, english):
    dataset = corpus.torch_dataset(seed=1, pack=50)
    for row in dataset:
        ids = row["input_ids"].tolist()
        assert len(ids) <= 50
        texts = split(ids)
        assert row["position_ids"].tolist() == [
            place for text in texts for place in range(len(text))
        ]
        assert row["document_ids"].tolist() == [
            number for number, text in enumerate(texts, 1) for _ in text
        ]
        assert row["attention_mask"].tolist() == [1] * len(ids)
        assert list(row) == ["input_ids", "attention_mask", "position_ids", "document_ids"]


def test_padding_of_usual_text(tmp_path, english):
    """At most 2 % where texts are packed, 80 % and less where they come as they come."""
    rng = random.Random(6)
    texts = ["people " * min(int(rng.lognormvariate(3.5, 1)) + 1, 500) for _ in range(5000)]
    encode_files(write(tmp_path / "a.txt", texts), tmp_path / "ids", english, workers=1)
    corpus = open_corpus(tmp_path / "ids")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_readers, "MIXED_BYTES", 1 << 25)
        assert corpus.torch_dataset(seed=1, pack=512).padding() <= 0.02
        assert corpus.torch_dataset(seed=1, max_tokens=8192).padding() <= 0.1
        assert corpus.torch_dataset(seed=1, batch_size=32).padding() > 0.5


def test_what_cannot_be(corpus):
    for options, said in [
        (
            {"max_tokens": 10},
            r"the longest row has \d+ ids, more than 10, and no text is cut; give more",
        ),
        ({"pack": 10}, r"the longest row has \d+ ids, more than 10"),
        (
            {"pack": 100, "max_tokens": 100},
            "max_tokens makes the batches: give it without batch_size and pack",
        ),
        ({"pack": 0}, "pack is 0; it is a whole number from 1"),
        (
            {"pack": 100, "columns": ["attention_mask"]},
            "pack joins input_ids with masks and type ids",
        ),
    ]:
        with pytest.raises(InputError, match=said):
            corpus.torch_dataset(**{"columns": None, **options}, seed=1)


ENTRIES = st.lists(st.integers(0, 30), max_size=60).map(
    lambda lengths: [length << 40 | row for row, length in enumerate(lengths)]
)


def plain_best_fit(entries, length):
    """The same by looking at all packed rows each time."""
    packed = []
    for entry in sorted(entries, key=lambda entry: entry >> 40, reverse=True):
        size = entry >> 40
        rooms = [length - sum(one >> 40 for one in rows) for rows in packed]
        fitting = [room for room in rooms if room >= size]
        if not fitting:
            packed.append([entry])
        else:
            packed[rooms.index(min(fitting))].append(entry)
    return packed


@examples(200)
@given(ENTRIES, st.integers(30, 50))
def test_best_fit_is_as_full_as_that_of_a_plain_twin(entries, length):
    packed = best_fit(entries, length)
    sizes = {entry & (1 << 40) - 1: entry >> 40 for entry in entries}
    assert sorted(itertools.chain(*packed)) == sorted(sizes)
    filled = sorted(sum(sizes[row] for row in rows) for rows in packed)
    assert filled == sorted(
        sum(entry >> 40 for entry in rows) for rows in plain_best_fit(entries, length)
    )
    assert all(sum(sizes[row] for row in rows) <= length for rows in packed)


@examples(200)
@given(ENTRIES, st.integers(30, 90))
def test_batches_by_length_keep_to_the_budget(entries, most):
    batches = by_length(entries, most)
    sizes = {entry & (1 << 40) - 1: entry >> 40 for entry in entries}
    assert sorted(itertools.chain(*batches)) == sorted(sizes)
    assert all(len(batch) * max(sizes[row] for row in batch) <= most for batch in batches)
