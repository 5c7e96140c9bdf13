"""Corpora: files and tables of text to ids, on one machine or on an engine's workers, and batches
for training.

Each module imports pyarrow and the like where it is used; the extra `corpus` installs them.
"""

from trietok.corpus.opened import Corpus, open_corpus

__all__ = ["Corpus", "open_corpus"]
__dir__ = __all__.copy
