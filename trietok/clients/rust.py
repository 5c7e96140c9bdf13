"""`to_rust`: a tokenizer as a `tokenizers.Tokenizer`, for programs that work with nothing else.

In: a tokenizer. Out: the Rust object, made of the tokenizer.json that the tokenizer would save.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from trietok import log
from trietok.clients.packages import class_of_ours, has_methods_of_its_own, kind_of, package, refuse_what_no_file_says
from trietok.errors import InputTypeError, NotSupportedError, brief, told_as
from trietok.files.formats import TOKENIZER_FILE
from trietok.workbench.locking.export_file import export
from trietok.tokenizer.auto import fast_class_of
from trietok.tokenizer.bert import BertTokenizer

_MOST_NAMED = 20


def to_rust(tokenizer: Any, *, allow_differences: bool = False) -> Any:
    """A `tokenizers.Tokenizer` with the ids of a tokenizer.

    It truncates and pads as the tokenizer.json says with which the tokenizer was loaded; `no_truncation()` and
    `no_padding()` of what is made switch that off.

    Args:
        tokenizer: a tokenizer of the fast profile; later changes of it do not change what is made.
        allow_differences: take one of the slow profile, too, or one that finds tokens as they were before they were
            added again. The Rust tokenizer gives some texts other ids:
            `docs/profiles.md` lists what differs, a warning in the log names examples, and `trietok.export` finds those
            among your own texts.

    Raises:
        InputTypeError: it is no `BertTokenizer` or relative of trietok.
        NotSupportedError: it is of the slow profile, or finds tokens as they were before they were added again, and
            `allow_differences` is False; or a Rust tokenizer cannot be what it is, and the message names what.
        VocabularyError: the ids cannot be kept: the vocabulary has holes or a token on two lines.
        MissingDependencyError: the package tokenizers is not installed.

    >>> import trietok
    >>> from trietok.clients import to_rust
    >>> tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    >>> rust = to_rust(tokenizer)  # doctest: +SKIP
    >>> rust.encode("a text").ids == tokenizer.encode("a text")  # doctest: +SKIP
    True
    """
    with brief:
        if not isinstance(tokenizer, BertTokenizer):
            raise InputTypeError(
                f"to_rust takes a BertTokenizer of trietok or a relative of it, not {kind_of(tokenizer)}",
                value=tokenizer,
            )
        if has_methods_of_its_own(tokenizer):
            raise NotSupportedError(
                f"this {type(tokenizer).__name__} has methods of its own, which a Rust tokenizer would not call",
                name="to_rust",
            )
        if not allow_differences:
            refuse_what_no_file_says(tokenizer, "to_rust")
        if tokenizer.profile == "slow" and not allow_differences:
            fast = fast_class_of(class_of_ours(tokenizer))
            if fast is None:
                raise NotSupportedError(
                    f"a {type(tokenizer).__name__} splits texts into words in ways that a Rust tokenizer does not have",
                    name="to_rust",
                )
            raise NotSupportedError(
                f"a {type(tokenizer).__name__} is of the slow profile, and a Rust tokenizer gives some texts other "
                "ids, such as those with characters newer than Unicode 9 (docs/profiles.md lists all). Use the fast "
                f"profile ({fast.__name__}), or pass allow_differences=True",
                name="to_rust",
            )
        tokenizers = package("tokenizers", "to_rust")
        with tempfile.TemporaryDirectory(prefix="trietok-") as folder, told_as(folder, ""):
            path = os.path.join(folder, TOKENIZER_FILE)
            exported = export(tokenizer, TOKENIZER_FILE, path, most=_MOST_NAMED)
            made = tokenizers.Tokenizer.from_file(path)
        made.encode_special_tokens = bool(tokenizer.split_special_tokens)
        if exported.examples:
            examples = "; ".join(f"{each.text!r} ({each.why})" for each in exported.examples)
            log.warning(
                "the Rust tokenizer gives other ids to %d of %d sentences: %s",
                exported.differing,
                exported.texts,
                examples,
            )
        return made
