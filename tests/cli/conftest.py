"""What the tests of the command share."""

from __future__ import annotations

import pytest


@pytest.fixture
def tiny(vocab_file) -> str:
    """The path of a tiny vocabulary."""
    from tests.cli.commands import WORDS  # which is skipped where click is not installed

    return str(vocab_file(*WORDS))
