r"""Word characters: what may not touch an added token with `single_word`.

They are those of `\w` in Unicode Technical Standard 18, annex C, which the Rust tokenizers use: alphabetic, marks,
decimal digits, connector punctuation, joiners. Python's own `\w` has no marks and more digits. The package `regex` has
these; where it is not installed, as in a browser, the table of the Rust tokenizers stands for it.
"""

from __future__ import annotations

import functools
from typing import Any

# What `regex` of 2026 counts as well: characters of Unicode 18 that the table of the Rust tokenizers does not have yet.
# `tests/text/test_word_characters.py` holds both equal.
_NEWER = """
    558 58b-58c 5c8-5c9 88f b53-b54 c5c cdc 1acf-1af0 208f 209d-209f a7ce-a7cf a7d2 a7d4 a7dd a7e2 a7f1 ab6c-ab6d
    107bb-107bf 10940-10959 10ec5-10ec7 10ecb-10ecf 10ed9-10eee 10ef0-10efb 11b0a 11b60-11b67 11db0-11ddb 11de0-11de9
    11df0-11df1 1246f 12475-1247f 12550-12686 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cda 18d09-18d20
    18d80-18df2 18e00-19191 191a0-191d2 1b123-1b128 1b168 1d127-1d128 1d250-1d252 1d25b-1d25c 1d25f 1d280-1d281 1d6a6
    1df1f-1df24 1df2b-1df81 1df90-1df96 1dfcd-1dfff 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 2b73a-2b73f 2b81e 2cea2-2cead
    323b0-33479 3d000-3fc3f
"""


@functools.cache
def word_runs() -> Any:
    """A compiled pattern of as many word characters as there are; `regex`'s or, where it is not installed, `re`'s.

    >>> word_runs().findall("co-op_é ² ⅷ")
    ['co', 'op_é', 'ⅷ']
    """
    try:
        import regex  # 20 ms: only where a single-word token asks
    except ImportError:
        return _runs_of_table()
    return regex.compile(r"\w+")


def _runs_of_table() -> Any:
    import re

    from trietok.text.rust_characters import character_class

    newer = ""
    for part in _NEWER.split():
        first, _, last = part.partition("-")
        newer += f"\\U{int(first, 16):08x}-\\U{int(last or first, 16):08x}"
    return re.compile(f"[{character_class('word')}{newer}]+")


def touches_word(text: str, position: int) -> bool:
    """Whether the character at `position` is a word character; False outside the text.

    >>> touches_word("a-b", 0), touches_word("a-b", 1), touches_word("a-b", 3)
    (True, False, False)
    """
    return 0 <= position < len(text) and _is_word_character(text[position])


@functools.lru_cache(maxsize=4096)
def _is_word_character(char: str) -> bool:
    return word_runs().match(char) is not None
