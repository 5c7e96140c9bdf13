"""Trainer, collators and datasets: the rows and the steps are those with transformers' own
tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from tests.conftest import needs
from tests.integrations.conftest import LONG, TEXTS, model_of
from tests.integrations.page import run_line, saved_anyway
from trietok.clients import to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]
FORMS = pytest.mark.parametrize("form", ["as it is", "to_transformers"])


def arguments_of(folder: Path, **options: Any) -> Any:
    """Few steps, always the same."""
    needs("accelerate")
    transformers.set_seed(3)
    return transformers.TrainingArguments(
        output_dir=str(folder),
        max_steps=3,
        per_device_train_batch_size=4,
        report_to=[],
        use_cpu=True,
        seed=1,
        save_strategy="no",
        learning_rate=0.01,
        disable_tqdm=True,
        **options,
    )


def weights_after_training(trainer: Any) -> list[float]:
    import torch

    trainer.train()
    return torch.cat([each.detach().flatten() for each in trainer.model.parameters()]).tolist()


class Texts:
    """A data set that tokenizes in the worker."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __len__(self) -> int:
        return 12

    def __getitem__(self, number: int) -> dict[str, Any]:
        text = [*TEXTS, LONG][number % 4]
        return {**self.tokenizer(text, truncation=True), "labels": number % 2}


@FORMS
def test_trainer_with_two_workers_makes_the_same_weights(form, tokenizer, theirs, tmp_path):
    def trained(one: Any, folder: Path) -> list[float]:
        kind = transformers.DataCollatorWithPadding
        collator = run_line("DataCollatorWithPadding", one, DataCollatorWithPadding=kind)
        trainer = run_line(
            "Trainer",
            one,
            Trainer=transformers.Trainer,
            model=model_of("BertForSequenceClassification", num_labels=2),
            arguments=arguments_of(folder, dataloader_num_workers=2),
            rows=Texts(one),
            collator=collator,
        )
        weights = weights_after_training(trainer)
        trainer.save_model(str(folder / "saved"))
        return weights

    ours = tokenizer
    if form == "to_transformers":
        ours = saved_anyway(tokenizer)["to_transformers"](tokenizer)
    assert trained(ours, tmp_path / "ours") == trained(theirs, tmp_path / "theirs")
    loaded = type(tokenizer).from_pretrained(tmp_path / "ours" / "saved")
    assert loaded(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]


def test_trainer_pads_by_itself_only_for_a_tokenizer_of_transformers(tokenizer, tmp_path):
    def trainer(one: Any, **options: Any) -> Any:
        model = model_of("BertForSequenceClassification", num_labels=2)
        rows, arguments = Texts(tokenizer), arguments_of(tmp_path)
        return transformers.Trainer(
            model, arguments, train_dataset=rows, processing_class=one, **options
        )

    with pytest.raises(ValueError, match="expected sequence of length"):
        trainer(tokenizer).train()
    collator = trietok.DataCollatorWithPadding(tokenizer)
    by_ours = weights_after_training(trainer(tokenizer, data_collator=collator))
    assert by_ours == weights_after_training(trainer(to_transformers(tokenizer)))


def test_masked_training_without_a_seed_for_the_collator_is_repeatable(tokenizer, tmp_path):
    seen = []

    class Collator(trietok.DataCollatorForLanguageModeling):
        def __call__(self, features, return_tensors=None):
            batch = super().__call__(features, return_tensors)
            seen.append(batch["labels"].tolist())
            return batch

    examples = [tokenizer("the people of the united states " * length) for length in range(1, 9)]
    found = []
    for _ in range(2):
        arguments, model = arguments_of(tmp_path), model_of("BertForMaskedLM")
        trainer = transformers.Trainer(
            model, arguments, train_dataset=examples, data_collator=Collator(tokenizer)
        )
        found.append(weights_after_training(trainer))
    half = len(seen) // 2
    assert seen[:half] == seen[half:]
    assert len({str(labels) for labels in seen[:half]}) == half >= 3
    assert found[0] == found[1]


@FORMS
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("DataCollatorWithPadding", {"pad_to_multiple_of": 8}),
        ("DataCollatorForTokenClassification", {}),
        ("DataCollatorForLanguageModeling", {"mlm_probability": 0.3}),
    ],
)
def test_collators_of_transformers_make_the_same_batches(form, name, options, tokenizer, theirs):
    def batch_of(one: Any) -> dict[str, list[Any]]:
        rows = [dict(one(text)) for text in TEXTS]
        if "TokenClassification" in name:
            rows = [{**row, "labels": [1] * len(row["input_ids"])} for row in rows]
        transformers.set_seed(0)
        batch = getattr(transformers, name)(one, **options)(rows)
        return {key: value.tolist() for key, value in batch.items()}

    ours = tokenizer if form == "as it is" else to_transformers(tokenizer)
    assert batch_of(ours) == batch_of(theirs)


@FORMS
def test_datasets_maps_to_the_same_ids_and_finds_them_again(
    form, tokenizer, theirs, tmp_path, monkeypatch
):
    datasets = needs("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*TEXTS, *TEXTS]), encoding="utf-8")
    ours = tokenizer if form == "as it is" else to_transformers(tokenizer)

    def mapped(**options: Any) -> Any:
        rows = datasets.load_dataset(
            "text", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
        )
        return run_line("datasets", ours, rows=rows, options=options)

    made = mapped()
    assert made["input_ids"] == theirs([*TEXTS, *TEXTS])["input_ids"]
    ours(LONG)  # what it remembers of texts does not make it another one
    assert mapped().cache_files == made.cache_files
    assert mapped(num_proc=2)["input_ids"] == made["input_ids"]


def test_a_processor_saves_and_loads_its_tokenizer(tokenizer, theirs, tmp_path):
    class Processor(transformers.ProcessorMixin):
        attributes = ["tokenizer"]
        tokenizer_class = "AutoTokenizer"

        def __init__(self, tokenizer: Any = None, **options: Any) -> None:
            super().__init__(tokenizer, **options)

    processor = run_line(
        "ProcessorMixin", tokenizer, Processor=Processor, **saved_anyway(tokenizer)
    )
    assert processor.tokenizer(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    processor.save_pretrained(tmp_path)
    loaded = type(tokenizer).from_pretrained(tmp_path)
    assert loaded(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
