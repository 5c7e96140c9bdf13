"""Fixtures of the live comparisons with transformers."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import pytest


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
