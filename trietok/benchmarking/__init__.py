"""How fast tokenizers are on a user's text, and whether their ids agree."""

from trietok.benchmarking.run import CONTENDERS, measure, validate

__all__ = ["CONTENDERS", "measure", "validate"]
