"""transformers' `Trainer` with trietok's tokenizers and collators; needs torch and accelerate."""

from __future__ import annotations

from typing import Any

import pytest
import transformers

import trietok
from tests.conftest import needs
from trietok import DataCollatorForLanguageModeling, DataCollatorWithPadding
from trietok.clients import to_transformers

torch = needs("torch")
needs("accelerate")
pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def tokenizer():
    return trietok.BertTokenizer.from_pretrained("trietok-en")


def trained(tokenizer: Any, folder: Any, kind: Any, examples: list[Any], **options: Any) -> Any:
    """The trainer, after four steps."""
    transformers.set_seed(3)
    small = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    model = kind(transformers.BertConfig(vocab_size=len(tokenizer), **small))
    arguments = transformers.TrainingArguments(
        str(folder),
        max_steps=4,
        per_device_train_batch_size=4,
        use_cpu=True,
        report_to=[],
        seed=42,
        save_strategy="no",
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=examples, **options)
    trainer.train()
    return trainer


def weights(trainer: Any) -> bytes:
    return b"".join(
        parameter.detach().numpy().tobytes() for parameter in trainer.model.parameters()
    )


def test_a_run_without_a_seed_for_the_collator_is_repeatable(tokenizer, tmp_path):
    examples = [tokenizer("the people of the united states " * number) for number in range(1, 17)]
    seen = []

    class Collator(DataCollatorForLanguageModeling):
        def __call__(self, features, return_tensors=None):
            batch = super().__call__(features, return_tensors)
            seen.append(batch["labels"].tolist())
            return batch

    found = []
    for _ in range(2):
        options = {"processing_class": tokenizer, "data_collator": Collator(tokenizer)}
        found.append(
            weights(trained(tokenizer, tmp_path, transformers.BertForMaskedLM, examples, **options))
        )
    half = len(seen) // 2
    assert seen[:half] == seen[half:]
    assert len({str(labels) for labels in seen[:half]}) == half >= 4
    assert found[0] == found[1]


def test_which_collator_trainer_takes(tokenizer, tmp_path):
    """As the page on training batches says: only for tokenizers of transformers' classes does it
    pad by itself.
    """
    examples = [
        {**tokenizer("the people " * (number + 1)), "labels": number % 2} for number in range(16)
    ]
    kind = transformers.BertForSequenceClassification
    with pytest.raises(ValueError, match="expected sequence of length"):
        trained(tokenizer, tmp_path, kind, examples, processing_class=tokenizer)
    collator = DataCollatorWithPadding(tokenizer)
    by_ours = trained(
        tokenizer, tmp_path, kind, examples, processing_class=tokenizer, data_collator=collator
    )
    by_itself = trained(
        tokenizer, tmp_path, kind, examples, processing_class=to_transformers(tokenizer)
    )
    assert weights(by_ours) == weights(by_itself)
