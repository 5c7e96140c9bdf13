"""Ranks that train together make as many batches each, as many as `len(loader)` says, and miss no
row.
"""

from __future__ import annotations

import itertools
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.corpus.shards import write
from trietok import BertTokenizer, InputError, encode_files
from trietok.corpus import open_corpus
from trietok.corpus.training_order import Order

data = pytest.importorskip("torch.utils.data")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Corpora of some numbers of rows, by these: each row is another one."""
    tokenizer, folder, made = (
        BertTokenizer.from_pretrained("trietok-en"),
        tmp_path_factory.mktemp("corpora"),
        {},
    )

    def corpus_of(rows):
        if rows not in made:
            path = write(folder / f"{rows}.txt", [str(row) for row in range(rows)])
            encode_files(
                path, folder / f"{rows}", tokenizer, workers=1, shard_bytes=80, file_format="npy"
            )
            made[rows] = open_corpus(folder / f"{rows}")
        return made[rows]

    return corpus_of


def batches(corpus, batch, workers, drop_last, **options):
    """The rows of each batch, by their ids, and how many `len` says that there are."""
    loader = data.DataLoader(
        corpus.torch_dataset(**options),
        batch,
        num_workers=workers,
        drop_last=drop_last,
        collate_fn=list,
    )
    return [[tuple(row["input_ids"].tolist()) for row in rows] for rows in loader], len(loader)


def check(corpus, ranks, batch, workers, drop_last, seed, told):
    options = {"seed": seed, "ranks": ranks, "batch_size": batch if told else None}
    made = [
        batches(corpus, batch, workers, drop_last, rank=rank, **options) for rank in range(ranks)
    ]
    steps, lengths = {len(of_rank) for of_rank, _ in made}, {length for _, length in made}
    assert steps == lengths
    assert len(steps) == 1
    rows = [row for of_rank, _ in made for rows in of_rank for row in rows]
    assert all(len(of_batch) == batch for of_rank, _ in made for of_batch in of_rank[:-1])
    if not drop_last:
        assert {*rows} == {tuple(row) for row in corpus}
        assert len(rows) - len(corpus) < ranks
    else:
        assert len(rows) == ranks * batch * steps.pop()


def test_the_example_of_three_ranks(corpora):
    """31,976 rows in batches of 33 for three ranks made 322, 323 and 323 of them."""
    assert {
        end - start for start, end in (Order(1, rank, 3, 33).place(31_976) for rank in range(3))
    } == {10_659}
    check(corpora(320), 3, 33, 0, True, 1, True)
    check(corpora(320), 3, 33, 2, True, 1, True)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("drop_last", [True, False])
def test_every_rank_makes_as_many_batches(corpora, drop_last, told):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(int(os.environ.get("TRIETOK_LOADERS", "3"))):
        rows, ranks = rng.choice([0, 1, 2, 7, 40, 41, 100]), rng.randint(1, 4)
        check(
            corpora(rows),
            ranks,
            rng.choice([1, 2, 5, 33]),
            rng.choice([0, 1, 2, 3]),
            drop_last,
            seed,
            told,
        )


@examples(300)
@given(st.integers(0, 2000), st.integers(1, 9))
def test_ranks_have_as_many_rows_and_share_few(rows, ranks):
    places = [range(*Order(1, rank, ranks).place(rows)) for rank in range(ranks)]
    assert {len(place) for place in places} == {-(-rows // ranks)}
    assert {*itertools.chain(*places)} == set(range(rows))
    assert sum(map(len, places)) - rows < ranks


def test_what_the_size_of_a_batch_cannot_be(corpora):
    for options, said in [
        ({"seed": 1, "batch_size": 0}, "batch_size is 0; it is a whole number from 1"),
        (
            {"batch_size": 2},
            "rank, ranks, batch_size, max_tokens, pack divide the rows of an order",
        ),
    ]:
        with pytest.raises(InputError, match=said):
            corpora(7).torch_dataset(**options)
