"""How fast tokenizers are on a user's text, and whether their ids agree: what `trietok bench`
prints, in Python.
"""

from trietok.workbench.benchmarking.bench import CONTENDERS, measure, validate

__all__ = ["CONTENDERS", "measure", "validate"]
