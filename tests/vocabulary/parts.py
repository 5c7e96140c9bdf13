"""Tokenizers that are compared, and the parts of a comparison that say something."""

from __future__ import annotations

import tempfile

from trietok import Comparison

WORDS = tuple("ab abc ##c ##d x ##x [unused0] [unused1] [unused2] 東 é AB Q".split())


def reloaded(tokenizer):
    with tempfile.TemporaryDirectory() as directory:
        tokenizer.save_pretrained(directory)
        return type(tokenizer).from_pretrained(directory)


PARTS = ("moved", "gained", "lost", "flags", "roles", "settings", "duplicates")


def parts(comparison: Comparison) -> dict[str, object]:
    """What of a comparison holds anything."""
    found = {name: getattr(comparison, name) for name in PARTS if getattr(comparison, name)}
    return found | ({"holes": comparison.holes} if any(comparison.holes) else {})
