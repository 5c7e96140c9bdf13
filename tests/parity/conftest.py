"""Fixtures of the live comparisons with transformers."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from tests import strategies

# The old names, for the files that import them from here.
from tests.parity.comparing import *  # noqa: F403
from tests.strategies import *  # noqa: F403
from tests.strategies import ROLE_TOKENS as ROLES  # noqa: F401
from tests.strategies import is_valid as valid  # noqa: F401

WITHOUT_ROLES = strategies.VOCABULARIES["without roles"]


def directory_of(vocabulary: str) -> Path:
    return strategies.directory_of("trietok-en" if vocabulary == "built-in" else vocabulary)


built_in_directory = directory_of


def tokenizers(vocabulary: str, **options: Any) -> tuple[Any, Any]:
    """transformers' tokenizer and trietok's, with the same options."""
    path = str(directory_of(vocabulary) / "vocab.txt")
    if vocabulary == "cased":
        options.setdefault("do_lower_case", False)
    return transformers.BertTokenizer(path, **options), trietok.BertTokenizer(path, **options)


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    """Neither side's log and warnings are of interest here, and there are very many of them."""
    loggers = [logging.getLogger(name) for name in ("trietok", "transformers")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
