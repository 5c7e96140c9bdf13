"""Reading Parquet files of ids for training: what datasets, torchdata and MosaicML Streaming restore
after a stop.

`pytest -m engines`; these are the claims of docs/training_batches.md.
"""

from __future__ import annotations

import io
import pathlib
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import needs
from trietok import (
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    InputError,
    TokenizeBatch,
)

pytestmark = pytest.mark.engines

SCRIPT = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "parquet_to_mds.py"
FILES, ROWS = 4, 40  # files, and rows of each; a row group has 10 rows
COUNT = FILES * ROWS
BATCH_SIZE, STOP = 4, 7  # examples of a batch, and batches before a stop
WORKERS = pytest.mark.parametrize("workers", [0, 2])


@pytest.fixture(scope="module")
def ids_directory(tmp_path_factory):
    """Parquet files of sequences such as [2, 1017, 3], where 17 is the number of the row."""
    directory = tmp_path_factory.mktemp("ids")
    for number in range(FILES):
        rows = [[2, 1000 + row, 3] for row in range(number * ROWS, (number + 1) * ROWS)]
        table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32())), "label": [1] * ROWS})
        pq.write_table(table, directory / f"{number}.parquet", row_group_size=10)
    return directory


def row_numbers(examples):
    return [int(example["input_ids"][1]) - 1000 for example in examples]


def flat(batches):
    return [number for batch in batches for number in batch]


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    datasets = needs("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return datasets


@pytest.fixture
def load(datasets, ids_directory):
    """A function that loads the files as a data set, by default as a stream."""

    def load_files(streaming=True):
        files = str(ids_directory / "*.parquet")
        return datasets.load_dataset(
            "parquet", data_files=files, split="train", streaming=streaming, columns=["input_ids"]
        )

    return load_files


@pytest.fixture
def loader_of():
    """A function that makes a `StatefulDataLoader` of the numbers of rows."""
    needs("torch")
    stateful = needs("torchdata.stateful_dataloader")

    def make(dataset, **options):
        return stateful.StatefulDataLoader(
            dataset, batch_size=BATCH_SIZE, collate_fn=row_numbers, **options
        )

    return make


def stop_and_resume(make, loader_of, **options):
    """Return the batches of epochs 1 and 2 before the stop, after it, and after resuming."""
    import torch

    def start(state=None):
        dataset = make()
        loader = loader_of(dataset, **options)
        if state is not None:
            loader.load_state_dict(state)
        return dataset, loader

    def epoch_of(dataset, loader, epoch):
        if hasattr(dataset, "set_epoch"):
            dataset.set_epoch(epoch)
        return iter(loader)

    dataset, loader = start()
    batches = epoch_of(dataset, loader, 1)
    before = [next(batches) for _ in range(STOP)]
    saved = io.BytesIO()
    torch.save(loader.state_dict(), saved)
    unbroken = [list(batches), list(epoch_of(dataset, loader, 2))]
    torch.manual_seed(99)
    saved.seek(0)
    dataset, loader = start(torch.load(saved))
    resumed = [list(epoch_of(dataset, loader, epoch)) for epoch in (1, 2)]
    return before, unbroken, resumed


@WORKERS
@pytest.mark.parametrize("by", ["file", "row group"])
def test_a_stream_resumes_with_exactly_the_remaining_batches(load, loader_of, workers, by):
    def make():
        return load() if by == "file" else load().reshard()

    before, unbroken, resumed = stop_and_resume(make, loader_of, num_workers=workers)
    assert resumed == unbroken
    assert sorted(flat(before + resumed[0])) == sorted(flat(resumed[1])) == list(range(COUNT))
    assert before + resumed[0] != resumed[1]  # the order changes with the epoch


@WORKERS
def test_a_shuffled_data_set_resumes_with_exactly_the_remaining_batches(load, loader_of, workers):
    options = {"shuffle": True, "num_workers": workers}
    before, unbroken, resumed = stop_and_resume(lambda: load(streaming=False), loader_of, **options)
    assert resumed == unbroken
    assert sorted(flat(before + resumed[0])) == list(range(COUNT))
    assert before + resumed[0] != resumed[1]


@WORKERS
def test_a_resumed_stream_loses_the_examples_of_shuffle_buffers(load, loader_of, workers):
    size = 8

    def make():
        return load().shuffle(seed=1, buffer_size=size, max_buffer_input_shards=1)

    before, unbroken, resumed = stop_and_resume(make, loader_of, num_workers=workers)
    read = flat(before + resumed[0])
    buffers = max(1, workers)
    assert buffers * size <= COUNT - len({*read}) <= buffers * (size + 1)
    assert len(read) - len({*read}) <= buffers  # some stops repeat an example
    assert resumed[1] == unbroken[1]


def test_a_buffer_of_all_examples_leaves_nothing_to_resume(load, loader_of):
    _, unbroken, resumed = stop_and_resume(
        lambda: load().shuffle(seed=1, buffer_size=COUNT, max_buffer_input_shards=1), loader_of
    )
    assert unbroken[0]
    assert resumed == [[], unbroken[1]]


def test_a_shuffled_stream_has_one_worker_unless_it_does_not_merge_files(load):
    assert load().num_shards == FILES
    assert load().reshard().num_shards == COUNT // 10
    assert load().shuffle(seed=1).num_shards == 1
    assert load().shuffle(seed=1, max_buffer_input_shards=1).num_shards == FILES


@pytest.mark.parametrize("by", ["file", "row group"])
def test_a_stream_resumes_without_a_loader_after_any_example(load, by):
    stream, resumed = (load() if by == "file" else load().reshard() for _ in range(2))
    expected = [*stream]
    for count in range(1, COUNT):
        rows = iter(stream)
        before = [next(rows) for _ in range(count)]
        resumed.load_state_dict(stream.state_dict())
        assert [*before, *resumed] == expected


def test_the_state_of_a_stream_counts_only_in_its_own_epoch(load):
    stream = load()
    stream.set_epoch(1)
    for _ in zip(range(13), stream, strict=False):
        pass
    state = stream.state_dict()
    resumed = load()
    resumed.load_state_dict(state)
    assert len([*resumed]) == COUNT  # epoch 0
    resumed.set_epoch(1)
    rest = [*resumed]
    assert len(rest) < COUNT
    assert [*resumed] == rest  # the same epoch again also begins in the middle
    resumed.set_epoch(2)
    assert len([*resumed]) == COUNT


# ---- from texts to examples ----------------------------------------------------------------------


@pytest.fixture
def texts(datasets):
    return datasets.Dataset.from_dict({"text": ["the people", None, "of"], "label": [0, 1, 1]})


def test_a_map_over_arrow_keeps_the_format_and_only_the_columns_of_the_function(texts, english):
    needs("torch")
    tokenize = TokenizeBatch(english, "text", keep_columns=["label"], return_attention_mask=False)
    encoded = texts.with_format("arrow").map(tokenize, batched=True)
    assert encoded.format["type"] == "arrow"
    assert encoded.column_names == ["label", "input_ids", "token_type_ids"]
    collator = DataCollatorForLanguageModeling(english)
    with pytest.raises(TypeError):
        collator([encoded[0], encoded[2]])
    encoded.set_format("torch", columns=["input_ids"])
    assert encoded[0].keys() == {"input_ids"}
    assert encoded[1] == {"input_ids": None}
    assert collator([encoded[0], encoded[2]])["input_ids"].shape == (2, 4)


def test_texts_and_labels_are_no_columns_of_a_language_model(texts, english):
    needs("torch")
    texts = texts.filter(lambda text: text is not None, input_columns="text")
    encoded = texts.with_format("arrow").map(TokenizeBatch(english, "text"), batched=True)
    collator = DataCollatorForLanguageModeling(english)
    rows = encoded.with_format("torch")
    with pytest.raises(InputError, match="'text'"):
        collator([*rows])
    rows = rows.remove_columns("text")
    assert {"label", "labels"} <= collator([*rows]).keys()
    assert "label" not in DataCollatorWithPadding(english)([*rows])


# ---- MosaicML Streaming --------------------------------------------------------------------------


def run_script(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True
    )


def count_in_dict(examples):
    return {"rows": row_numbers(examples)}


@pytest.mark.parametrize("shuffle", [False, True])
def test_streaming_resumes_exactly_also_with_other_workers(ids_directory, tmp_path, shuffle):
    needs("torch")
    streaming = needs("streaming")
    done = run_script(ids_directory, tmp_path / "mds", "--columns", "input_ids")
    assert done.stdout == f"{COUNT} rows in {tmp_path / 'mds'}\n", done.stderr

    def loader_of(workers):
        stream = streaming.StreamingDataset(
            local=str(tmp_path / "mds"), shuffle=shuffle, shuffle_seed=1, batch_size=BATCH_SIZE
        )
        options = {"collate_fn": count_in_dict, "num_workers": workers}
        return streaming.StreamingDataLoader(stream, batch_size=BATCH_SIZE, **options)

    loader = loader_of(0)
    batches = iter(loader)
    before = [next(batches)["rows"] for _ in range(STOP)]
    state = loader.state_dict()
    rest = [batch["rows"] for batch in batches]
    assert (flat(before + rest) == list(range(COUNT))) is not shuffle
    assert sorted(flat(before + rest)) == list(range(COUNT))
    for workers in (0, 2):
        loader = loader_of(workers)
        loader.load_state_dict(state)
        assert [batch["rows"] for batch in loader] == rest


def test_the_script_keeps_values_and_types(tmp_path):
    needs("torch")
    streaming = needs("streaming")
    (tmp_path / "ids").mkdir()
    columns = {
        "input_ids": pa.array([[2, 300_000, 3], list(range(300))], pa.list_(pa.int32())),
        "attention_mask": pa.array([[1, 1, 1], [1] * 300], pa.list_(pa.int8())),
        "id": ["é", ""],
        "label": [-1, 2],
        "score": [0.5, 1.0],
    }
    pq.write_table(pa.table(columns), tmp_path / "ids" / "a.parquet")
    assert run_script(tmp_path / "ids", tmp_path / "mds").returncode == 0
    stream = streaming.StreamingDataset(local=str(tmp_path / "mds"), batch_size=1)
    rows = [{name: row[name] for name in columns} for row in stream]
    assert rows[0]["input_ids"].dtype == "int32"
    assert rows[0]["attention_mask"].dtype == "int8"
    values = [
        {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()}
        for row in rows
    ]
    assert values == pa.table(columns).to_pylist()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"input_ids": pa.array([[2, 3], []], pa.list_(pa.int32()))}, "a null or an empty list"),
        ({"input_ids": pa.array([[2, 3], None], pa.list_(pa.int32()))}, "a null or an empty list"),
        ({"words": pa.array([["a"], ["b"]])}, "exclude it with --columns"),
    ],
)
def test_the_script_refuses_what_mds_cannot_store(tmp_path, columns, message):
    needs("streaming")
    (tmp_path / "ids").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "ids" / "a.parquet")
    done = run_script(tmp_path / "ids", tmp_path / "mds")
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "mds" / "index.json").exists()
