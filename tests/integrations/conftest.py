"""What the tests of clients share: a tokenizer in both profiles, transformers' own beside it, tiny
random models.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.conftest import needs

# The last word of the first text has an unassigned character, which the slow profile deletes and
# Rust's keeps.
TEXTS = [
    "The [E1] people of flurbomycin say héllo, unaffable people\u0378.",
    "A 你好 people, say flurbomycins",
    "short",
]
# The ids of these are the same in both profiles.
SAME_IN_BOTH = [TEXTS[0].replace("\u0378", ""), *TEXTS[1:]]
LONG = " ".join([SAME_IN_BOTH[0], *["The unaffable people of héllo flurbomycin say so much."] * 12])
# How many tokens the models take.
LONGEST = 64


@pytest.fixture(scope="session")
def offline() -> Iterator[None]:
    """Nothing asks the hub, and what is computed does not depend on the number of cores."""
    torch = needs("torch")
    import transformers

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "WANDB_DISABLED": "true",
            "CUDA_VISIBLE_DEVICES": "",
        }.items():
            patch.setenv(name, value)
        patch.setattr(sys.modules["huggingface_hub"].constants, "HF_HUB_OFFLINE", True)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        transformers.logging.disable_progress_bar()
        yield
        torch.set_num_threads(threads)
        transformers.logging.enable_progress_bar()


def config_of(**options: Any) -> Any:
    """The configuration of a tiny model with a row for each token."""
    import transformers

    return transformers.BertConfig(
        vocab_size=8002,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        # wide, so that different ids give clearly different numbers
        **{
            "initializer_range": 0.5,
            **options,
        },
    )


def model_of(name: str, **options: Any) -> Any:
    """A random model of transformers' class of that name, always the same one."""
    import torch
    import transformers

    torch.manual_seed(0)
    return getattr(transformers, name)(config_of(**options)).eval()


@pytest.fixture(scope="session")
def directory(offline: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and its tokenizer, which has added tokens, as trietok saves it. Tests must not change
    it.
    """
    folder = tmp_path_factory.mktemp("model")
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en", model_max_length=LONGEST)
    tokenizer.add_tokens(["flurbomycin"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["[E1]"]})
    assert len(tokenizer) == config_of().vocab_size
    tokenizer.save_pretrained(folder)
    model_of("BertModel").save_pretrained(folder)
    return folder


@pytest.fixture(params=["slow", "fast"])
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tokenizer(profile: str, directory: Path) -> Any:
    """The tokenizer of the directory, in each profile."""
    return (
        trietok.BertTokenizer if profile == "slow" else trietok.BertTokenizerFast
    ).from_pretrained(directory)


@pytest.fixture
def theirs(profile: str, directory: Path) -> Any:
    """transformers' own tokenizer of the same profile."""
    return their_tokenizer(profile, directory)


def their_tokenizer(profile: str, directory: Path) -> Any:
    """transformers' own tokenizer of a profile: of the slow one, transformers 5 has the class under
    another name.
    """
    import transformers

    if profile == "fast":
        return transformers.BertTokenizerFast.from_pretrained(directory)
    kind = getattr(transformers, "BertTokenizerLegacy" if is_five() else "BertTokenizer")
    names = ["input_ids", "token_type_ids", "attention_mask"]  # by itself that class gives no types
    return kind.from_pretrained(directory, model_input_names=names)


def is_five() -> bool:
    return version("transformers").startswith("5.")
