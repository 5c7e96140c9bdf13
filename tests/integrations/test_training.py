"""Trainer, collators and datasets: the rows and the steps are those with transformers' own
tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import LONG, TEXTS, model_of
from tests.integrations.page import run_line, saved_anyway
from trietok.clients import to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def weights_after_training(model: Any, trainer: Any) -> Any:
    import torch

    trainer.train()
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


@pytest.mark.parametrize("form", ["as it is", "to_transformers"])
def test_trainer_with_two_workers(form: str, tokenizer: Any, theirs: Any, tmp_path: Path):
    needs("accelerate")
    import torch
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    class Texts(torch.utils.data.Dataset):
        """Tokenizes in the worker."""

        def __init__(self, tokenizer: Any) -> None:
            self.tokenizer = tokenizer

        def __len__(self) -> int:
            return 8

        def __getitem__(self, number: int) -> dict[str, Any]:
            text = [*TEXTS, LONG][number % 4]
            return {**self.tokenizer(text, truncation=True), "labels": number % 2}

    def trained(tokenizer: Any, folder: Path) -> Any:
        torch.manual_seed(0)
        arguments = TrainingArguments(
            output_dir=str(folder), max_steps=3, dataloader_num_workers=2, per_device_train_batch_size=2,
            report_to=[], use_cpu=True, seed=1, save_strategy="no", learning_rate=0.01, disable_tqdm=True,
        )  # fmt: skip
        model = model_of("BertForSequenceClassification", num_labels=2)
        names = {
            "Trainer": Trainer,
            "model": model,
            "arguments": arguments,
            "rows": Texts(tokenizer),
        }
        if tokenizer is theirs:
            collator = DataCollatorWithPadding(tokenizer)
            options = {"args": arguments, "train_dataset": Texts(tokenizer)}
            trainer = Trainer(
                model=model, processing_class=tokenizer, data_collator=collator, **options
            )
        else:
            collator = run_line(
                "DataCollatorWithPadding",
                DataCollatorWithPadding=DataCollatorWithPadding,
                tokenizer=tokenizer,
            )
            trainer = run_line("Trainer", tokenizer=tokenizer, collator=collator, **names)
        weights = weights_after_training(model, trainer)
        trainer.save_model(str(folder / "saved"))
        return weights

    ours = (
        tokenizer if form == "as it is" else saved_anyway(tokenizer)["to_transformers"](tokenizer)
    )
    assert torch.equal(trained(ours, tmp_path / "ours"), trained(theirs, tmp_path / "theirs"))
    kind = trietok.BertTokenizer if tokenizer.profile == "slow" else trietok.BertTokenizerFast
    assert (
        kind.from_pretrained(tmp_path / "ours" / "saved")(TEXTS)["input_ids"]
        == theirs(TEXTS)["input_ids"]
    )


@pytest.mark.parametrize("form", ["as it is", "to_transformers"])
def test_collators(form: str, tokenizer: Any, theirs: Any):
    import torch
    import transformers

    ours = tokenizer if form == "as it is" else to_transformers(tokenizer)
    for name, options in (
        ("DataCollatorWithPadding", {"pad_to_multiple_of": 8}),
        ("DataCollatorForTokenClassification", {}),
        ("DataCollatorForLanguageModeling", {"mlm_probability": 0.3}),
    ):
        batches = []
        for each in (ours, theirs):
            rows = [dict(each(text)) for text in TEXTS]
            if "TokenClassification" in name:
                rows = [{**row, "labels": [1] * len(row["input_ids"])} for row in rows]
            torch.manual_seed(0)
            batches.append(getattr(transformers, name)(each, **options)(rows))
        assert set(batches[0]) == set(batches[1])
        for key, value in batches[1].items():
            assert torch.equal(batches[0][key], value), (name, key)


@pytest.mark.parametrize("form", ["as it is", "to_transformers"])
def test_datasets(
    form: str, tokenizer: Any, theirs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        return run_line("datasets", rows=rows, tokenizer=ours, options=options)

    made = mapped()
    assert made["input_ids"] == theirs([*TEXTS, *TEXTS])["input_ids"]
    ours(LONG)  # what it remembers of texts does not make it another one
    assert mapped()._fingerprint == made._fingerprint
    assert mapped(num_proc=2)["input_ids"] == made["input_ids"]


def test_processor(tokenizer, theirs, tmp_path):
    from transformers import ProcessorMixin

    class Processor(ProcessorMixin):
        attributes = ["tokenizer"]
        tokenizer_class = "AutoTokenizer"

        def __init__(self, tokenizer: Any = None, **options: Any) -> None:
            super().__init__(tokenizer, **options)

    processor = run_line(
        "ProcessorMixin", Processor=Processor, tokenizer=tokenizer, **saved_anyway(tokenizer)
    )
    assert processor.tokenizer(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    processor.save_pretrained(tmp_path)
    kind = "fast" if tokenizer.profile == "fast" else "slow"
    loaded = (
        trietok.BertTokenizerFast if kind == "fast" else trietok.BertTokenizer
    ).from_pretrained(tmp_path)
    assert loaded(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
