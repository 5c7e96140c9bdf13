"""What the tests of the command share."""

from __future__ import annotations

import pytest

from tests.cli.commands import WORDS


@pytest.fixture
def tiny(vocab_file) -> str:
    """The path of a tiny vocabulary."""
    return str(vocab_file(*WORDS))
