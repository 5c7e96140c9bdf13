"""Tokens back to text.

In: tokens. Out: one string. As transformers' `_decode` and `clean_up_tokenization` (4.57.6).
"""

from __future__ import annotations

from collections.abc import Callable, Set

# What tokenization leaves behind in English text, and what it was: replaced one after the other.
ARTIFACTS = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def clean_up_tokenization(out_string: str) -> str:
    """Take out the spaces that tokenization sets before punctuation and English contractions.

    >>> clean_up_tokenization("hello , i 'm here . do n't")
    "hello, i'm here. don't"
    """
    for artifact, original in ARTIFACTS:
        out_string = out_string.replace(artifact, original)
    return out_string


def join_tokens(
    tokens: list[str], standing_alone: Set[str], to_string: Callable[[list[str]], str], separator: str
) -> str:
    """Join tokens to a text: runs of ordinary ones by `to_string`, each of `standing_alone` by itself.

    >>> join_tokens(["a", "##b", "<x>", "c"], {"<x>"}, lambda run: " ".join(run).replace(" ##", ""), " ")
    'ab <x> c'
    """
    if tokens and standing_alone.isdisjoint(tokens):
        return to_string(tokens)
    parts: list[str] = []
    run: list[str] = []
    for token in tokens:
        if token not in standing_alone:
            run.append(token)
            continue
        if run and (text := to_string(run)):
            parts.append(text)
        run = []
        parts.append(token)
    if run:
        parts.append(to_string(run))
    return separator.join(parts)
