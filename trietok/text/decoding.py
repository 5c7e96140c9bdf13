"""Tokens back to text.

In: tokens. Out: one string. As transformers' `_decode` and `clean_up_tokenization` (4.57.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import lru_cache

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
# The WordPiece decoder of the Rust tokenizers removes one artifact more, and looks at each token by
# itself.
_ARTIFACTS_OF_TOKENS = (*ARTIFACTS[:7], (" do not", " don't"), *ARTIFACTS[7:])
_MOST_JOINTS = 1 << 16


def clean_up_tokenization(out_string: str) -> str:
    """Take out the spaces that tokenization sets before punctuation and English contractions.

    >>> clean_up_tokenization("hello , i 'm here . do n't")
    "hello, i'm here. don't"
    """
    for artifact, original in ARTIFACTS if " " in out_string else ():
        out_string = out_string.replace(artifact, original)
    return out_string


def join_tokens(
    tokens: list[str],
    standing_alone: Set[str],
    to_string: Callable[[list[str]], str],
    separator: str,
) -> str:
    """Join tokens to a text: runs of ordinary ones by `to_string`, each of `standing_alone` by
    itself.

    >>> join_tokens(
    ...     ["a", "##b", "<x>", "c"], {"<x>"}, lambda run: " ".join(run).replace(" ##", ""), " "
    ... )
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


class Joints(dict[str, str]):
    """What each token adds to a text behind others, in the fast profile; worked out once, for so
    many tokens at most.

    >>> joints_of("##", True).join(["un", "##do", ".", "It", "'s"])
    "undo. It's"
    """

    __slots__ = ("_cleanup", "_prefix")

    def __init__(self, prefix: str, cleanup: bool) -> None:
        self._prefix = prefix
        self._cleanup = cleanup

    def join(self, tokens: Iterable[str]) -> str:
        """The text of tokens."""
        first, *others = tokens or ("",)
        first = self._cleaned(first) if " " in first else first
        return first + "".join(map(self.__getitem__, others)) if others else first

    def __missing__(self, token: str) -> str:
        joint = self._cleaned(
            token[len(self._prefix) :] if token.startswith(self._prefix) else f" {token}"
        )
        if len(self) >= _MOST_JOINTS:
            self.clear()
        self[token] = joint
        return joint

    def _cleaned(self, token: str) -> str:
        for artifact, original in _ARTIFACTS_OF_TOKENS if self._cleanup and " " in token else ():
            token = token.replace(artifact, original)
        return token


joints_of = lru_cache(maxsize=8)(Joints)  # of a prefix, and whether artifacts are removed
