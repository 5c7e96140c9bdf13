"""Examples and collators of the built-in tokenizer."""

from __future__ import annotations

import pytest

from trietok import DataCollatorForLanguageModeling

TEXTS = [
    "the people of the united states",
    "we",
    "in order to form a more perfect union, establish justice",
    "",
]


@pytest.fixture
def examples(english):
    return [english(text) for text in TEXTS * 4]


@pytest.fixture
def collator(english):
    """Return a function that creates a collator of numpy arrays with a seed."""

    def create(**options) -> DataCollatorForLanguageModeling:
        return DataCollatorForLanguageModeling(
            english, **{"return_tensors": "np", "seed": 5, **options}
        )

    return create
