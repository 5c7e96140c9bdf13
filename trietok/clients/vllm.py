"""The classes that vLLM's `TokenizerRegistry` asks for: loaded by name, with the methods of its
`TokenizerLike`.

In: a directory or a name. Out: a tokenizer for transformers. Register them where the engine starts:

    from vllm.tokenizers import TokenizerRegistry

    TokenizerRegistry.register("trietok", "trietok.clients.vllm", "TrietokTokenizer")
    engine = LLM("a directory", tokenizer_mode="trietok")

vLLM 0.33.0's protocol is what they follow.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.clients.transformers_classes import to_transformers
from trietok.tokenizer.auto import AutoTokenizer

# What vLLM passes on for other loaders.
_OF_OTHERS = ("code_revision", "config", "mistral_format")


class TrietokTokenizer:
    """Loads tokenizers of the fast profile for vLLM. There are no objects of this class.

    `from_pretrained` returns what `to_transformers` makes, which has `max_token_id`,
    `max_chars_per_token` and all else that the protocol asks for.
    """

    use_fast = True

    @classmethod
    def from_pretrained(
        cls,
        path_or_repo_id: str | os.PathLike[str],
        *args: Any,
        trust_remote_code: bool = False,
        revision: str | None = None,
        download_dir: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Load a tokenizer.

        Args:
            path_or_repo_id: a directory, or a name on the hub.
            *args: go to the tokenizer.
            trust_remote_code: accepted and ignored: no code of a model is ever run.
            revision, download_dir: how to ask the hub, and where what it sends is kept.
            **kwargs: go to the tokenizer.

        Raises:
            TrietokError: see `trietok.AutoTokenizer.from_pretrained`.
        """
        for name in _OF_OTHERS:
            kwargs.pop(name, None)
        if revision is not None:
            kwargs["revision"] = revision
        tokenizer = AutoTokenizer.from_pretrained(
            path_or_repo_id, *args, use_fast=cls.use_fast, cache_dir=download_dir, **kwargs
        )
        # It is loaded to be used, not to be saved.
        return to_transformers(tokenizer, allow_differences=True)


class TrietokSlowTokenizer(TrietokTokenizer):
    """Loads tokenizers of the slow profile for vLLM. There are no objects of this class."""

    use_fast = False
