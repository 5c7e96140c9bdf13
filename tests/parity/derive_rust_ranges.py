"""Derive trietok/text/rust_characters_ranges.txt: the Unicode tables of the Rust tokenizers, found
by asking them.

    python tests/parity/derive_rust_ranges.py            # needs tokenizers==0.22.2; writes the file
    python tests/parity/derive_rust_ranges.py --check # fails where the file is not what would be
    written

Every code point but the surrogates, which no Rust string can hold, goes through the library by
itself, with letters around where a neighbour could matter. The tables are absolute: they name every
code point of a class, not what differs from some Python, because the Rust libraries hold Unicode 8,
9 and 17 at once and Python's version changes with Python. The one thing taken from Python is the
canonical decomposition of a character that Rust decomposes too, which no later Unicode version may
change; it is checked here for every such character. `test_live_pipelines` compares what the
components make of characters.
"""

from __future__ import annotations

import pathlib
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from tokenizers import AddedToken, Tokenizer, __version__, models, normalizers, pre_tokenizers

FILE = (
    pathlib.Path(__file__).parent.parent.parent / "trietok" / "text" / "rust_characters_ranges.txt"
)
CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
# combining classes 1 and 240: the lowest and the highest there are
LOW_MARK, HIGH_MARK = (
    "\u0334",
    "\u0345",
)

HEADER = f"""\
# Unicode tables of the Rust tokenizers, version {__version__}. Derived: do not edit. One class a line: NAME: RANGES,
# code points in hexadecimal, both ends included. Written by tests/parity/derive_rust_ranges.py, which says how.
#
# deleted       what clean_text deletes: NUL, U+FFFD, and Cc, Cf, Co of Unicode 8 but for tab, newline, return
# space         what clean_text turns into a space
# split_space   what the pre-tokenizer splits at (and takes away); also what lstrip and rstrip of an added token eat
# chinese       what handle_chinese_chars sets apart
# punctuation   what the pre-tokenizer makes a word of its own
# marks         what strip_accents deletes after NFD
# decomposed    what NFD takes apart (Unicode 9)
# nonstarters   what NFD may reorder and does not take apart: a combining class above 0 (Unicode 9)
# compatible    what NFKD takes apart and NFD does not (Unicode 9)
# combining     what the normalizer StripAccents deletes
# numeric       what the pre-tokenizer Digits sets apart
# word          what single_word takes for a character of a word, and the pre-tokenizer Whitespace
# lower         upper-case characters as FIRST-LAST/STEP+DELTA: lower case is DELTA above. U+0130 becomes i, U+0307
"""


def bert(**steps: bool) -> Callable[[str], str]:
    off = {
        "clean_text": False,
        "handle_chinese_chars": False,
        "strip_accents": False,
        "lowercase": False,
    }
    return normalizers.BertNormalizer(**off | steps).normalize_str


def changed(change: Callable[[str], str]) -> dict[str, str]:
    return {char: result for char in CHARACTERS if (result := change(char)) != char}


# ---- what the library does with every character --------------------------------------------------


def cleaning() -> tuple[set[str], set[str]]:
    """Deleted characters and spaces."""
    clean = bert(clean_text=True)
    results = changed(lambda char: clean(f"a{char}b")[1:-1])
    assert set(results.values()) <= {"", " "}
    deleted = {char for char, result in results.items() if result == ""}
    return deleted, {char for char, result in results.items() if result == " "} | {" "}


def chinese() -> set[str]:
    results = changed(bert(handle_chinese_chars=True))
    assert all(result == f" {char} " for char, result in results.items())
    return set(results)


def pre_tokenization() -> tuple[set[str], set[str]]:
    """Characters split at, and characters set apart."""
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    spaces, punctuation = set(), set()
    for char in CHARACTERS:
        words = [word for word, _ in split(f"a{char}b")]
        if words == ["a", "b"]:
            spaces.add(char)
        elif words == ["a", char, "b"]:
            punctuation.add(char)
        else:
            assert words == [f"a{char}b"]
    return spaces, punctuation


def decomposition() -> tuple[set[str], set[str], set[str]]:
    """Characters that NFD takes apart, those it may reorder, and those that accent stripping
    deletes.
    """
    nfd, strip = normalizers.NFD().normalize_str, bert(strip_accents=True)
    decomposed = changed(nfd)
    assert all(result == unicodedata.normalize("NFD", char) for char, result in decomposed.items())
    plain = [char for char in CHARACTERS if char not in decomposed]
    nonstarters = {char for char in plain if is_reordered(nfd, char)}
    check_classes(nfd, nonstarters)
    marks = {char for char in plain if strip(char) == ""}
    for char in CHARACTERS:
        assert strip(char) == "".join(part for part in nfd(char) if part not in marks)
    return set(decomposed), nonstarters, marks


def of_other_components(decomposed: set[str]) -> dict[str, set[str]]:
    """What the components do that BERT's own tokenizers do not have; the others go by the classes
    above.
    """
    compatible = changed(normalizers.NFKD().normalize_str)
    assert all(result == unicodedata.normalize("NFKD", char) for char, result in compatible.items())
    combining = changed(normalizers.StripAccents().normalize_str)
    assert set(combining.values()) == {""}
    digits = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str
    numeric = {char for char in CHARACTERS if len(digits(f"a{char}b")) == 3}
    return {
        "compatible": compatible.keys() - decomposed,
        "combining": {*combining},
        "numeric": numeric,
    }


def is_reordered(nfd: Callable[[str], str], char: str) -> bool:
    before, after = f"x{char}{LOW_MARK}", f"x{HIGH_MARK}{char}"
    return nfd(before) != before or nfd(after) != after


def check_classes(nfd: Callable[[str], str], nonstarters: set[str]) -> None:
    """Check that Rust's combining classes stand in the order of Python's, for all that Rust gives
    one.
    """
    examples = {unicodedata.combining(char): char for char in nonstarters}
    for char in nonstarters:
        for combining_class, example in examples.items():
            moves = nfd(f"x{example}{char}") != f"x{example}{char}"
            assert moves == (combining_class > unicodedata.combining(char)), (example, char)


def word_characters() -> tuple[set[str], set[str]]:
    """Characters that a single word must not touch, and characters that a stripping token eats."""

    def matched(token: AddedToken, texts: list[str]) -> Iterator[tuple[int, int] | None]:
        tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.add_tokens([token])
        for start in range(0, len(texts), 50_000):
            for encoding in tokenizer.encode_batch(texts[start : start + 50_000]):
                yield next(
                    (
                        span
                        for span, i in zip(encoding.offsets, encoding.ids, strict=True)
                        if i == 1
                    ),
                    None,
                )

    def where(token: AddedToken, texts: list[str], span: tuple[int, int] | None) -> set[str]:
        pairs = zip(CHARACTERS, matched(token, texts), strict=True)
        return {char for char, found in pairs if found == span}

    single = AddedToken("@@@", normalized=False, single_word=True)
    before = where(single, [f"{char}@@@" for char in CHARACTERS], None)
    assert before == where(single, [f"@@@{char}" for char in CHARACTERS], None)
    left = AddedToken("@@@", normalized=False, lstrip=True)
    eaten = where(left, [f"a{char}@@@" for char in CHARACTERS], (1, 5))
    right = AddedToken("@@@", normalized=False, rstrip=True)
    assert eaten == where(right, [f"@@@{char}a" for char in CHARACTERS], (0, 4))
    return before, eaten


def lower_case() -> dict[str, str]:
    """Characters that have a lower case of one character, and that."""
    results = changed(bert(lowercase=True))
    assert results.pop("\u0130", "i\u0307") == "i\u0307"
    return results


def classes() -> dict[str, set[str]]:
    """The characters of each class but the upper-case ones."""
    deleted, space = cleaning()
    split_space, punctuation = pre_tokenization()
    decomposed, nonstarters, marks = decomposition()
    word, eaten = word_characters()
    assert eaten == split_space
    return {
        "deleted": deleted,
        "space": space,
        "split_space": split_space,
        "chinese": chinese(),
        "punctuation": punctuation,
        "marks": marks,
        "decomposed": decomposed,
        "nonstarters": nonstarters,
        **of_other_components(decomposed),
        "word": word,
    }


# ---- the file ------------------------------------------------------------------------------------


def stretches_of(results: dict[str, str]) -> list[tuple[int, int, int, int]]:
    """First, last, step and distance of every stretch of characters that have a lower case."""
    runs: list[tuple[int, int, int, int]] = []
    for char, result in sorted(results.items()):
        code, delta = ord(char), ord(result) - ord(char)
        if runs:
            first, last, step, run_delta = runs[-1]
            if run_delta == delta and code - last in ((1, 2) if first == last else (step,)):
                runs[-1] = first, code, code - last, delta
                continue
        runs.append((code, code, 1, delta))
    return runs


def ranges(chars: Iterable[str]) -> str:
    stretches: list[list[int]] = []
    for code in sorted(map(ord, chars)):
        if stretches and stretches[-1][1] == code - 1:
            stretches[-1][1] = code
        else:
            stretches.append([code, code])
    return " ".join(
        f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in stretches
    )


def contents() -> str:
    lines = [f"{name}: {ranges(chars)}\n" for name, chars in classes().items()]
    stretches = stretches_of(lower_case())
    lower = " ".join(
        f"{first:x}-{last:x}/{step}{delta:+x}" for first, last, step, delta in stretches
    )
    return HEADER + "".join(lines) + f"lower: {lower}\n"


def main() -> None:
    text = contents()
    if "--check" in sys.argv[1:]:
        if FILE.read_text(encoding="ascii") != text:
            sys.exit(
                f"{FILE.name} is not what tokenizers {__version__} gives; run this without --check"
            )
    else:
        FILE.write_text(text, encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
