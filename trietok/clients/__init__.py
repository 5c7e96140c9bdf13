"""Tokenizers in the forms that other programs ask for: transformers' classes, a Rust tokenizer.

In: a tokenizer. Out: an object of the client's own kind with the same ids. Each client is imported
when it is used.
"""

from trietok.clients.transformers_classes import to_rust, to_transformers

__all__ = ["to_rust", "to_transformers"]
__dir__ = __all__.copy
