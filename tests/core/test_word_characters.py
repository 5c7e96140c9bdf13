"""trietok gives the same where modules are missing, as in a browser; and it knows word characters
as the package `regex` does, with the package and without it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import regex

ROOT = Path(__file__).parents[2]
# What a browser's Python lacks, or has without effect; what needs threads, processes or a network
# is not asked for.
MISSING = (
    *"""
        regex fcntl multiprocessing _multiprocessing concurrent subprocess signal resource
        """.split(),
    *("ssl", "_ssl", "_hashlib", "lzma", "bz2", "sqlite3", "ctypes", "mmap", "socket", "select"),
)
WITHOUT = f"""
import sys
for name in {MISSING}:
    sys.modules[name] = None
"""
PROGRAM = r"""
import tempfile
import trietok
from trietok import AddedToken, BertTokenizer, BertTokenizerFast

for cls in (BertTokenizer, BertTokenizerFast):
    for name in ("trietok-en", "trietok-multi"):
        tokenizer = cls.from_pretrained(name)
        tokenizer.add_tokens([AddedToken("cat", single_word=True), AddedToken("<x>", lstrip=True), "dog"])
        text = "cat bobcat cat\u0301 \u200dcat cat² catⅷ <x> dog naïve 東京 \ud800"
        explained = tokenizer.explain(text)
        print(ascii((explained.input_ids, tokenizer(text, "cats", return_offsets_mapping=True))))
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            assert cls.from_pretrained(folder)(text)["input_ids"] == explained.input_ids
"""
# Prints which of the characters are part of a word: an added token beside one is not found. Then
# the words of some texts.
WORD_CHARACTERS = r"""
import sys
import trietok

tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
tokenizer.add_tokens([trietok.AddedToken("<>", single_word=True)])
codes = [int(line, 16) for line in sys.stdin]
texts = [chr(code) + "<>" for code in codes]
token_id = tokenizer.convert_tokens_to_ids("<>")
rows = tokenizer(texts, add_special_tokens=False).input_ids
print(*(int(token_id not in ids) for ids in rows), sep="")
texts = ["a bobcat’s catflap e\u0301x²"] * 9
print(ascii(trietok.suggest_tokens(tokenizer, texts, way="single-word").suggestions))
"""
NEWEST = "\u0558"  # a word character since the Unicode version of the table


def output(program: str, given: str = "") -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=ROOT, input=given, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_trietok_gives_the_same_without_regex_threads_and_processes():
    with_all = output(PROGRAM)
    assert with_all.count("\n") == 4
    assert output(WITHOUT + PROGRAM) == with_all


def test_words_end_at_the_characters_at_which_they_end_for_regex():
    """At all characters beside which one is of the other kind, and some more."""
    words = {*"".join(regex.findall(r"\w+", "".join(map(chr, range(0x110000)))))}
    is_word = [chr(code) in words for code in range(0x110000)]
    ends = [
        code
        for code in range(1, 0x110000)
        if is_word[code] != is_word[code - 1] and not 0xD800 <= code <= 0xE000
    ]
    codes = sorted({*ends, *(code - 1 for code in ends)})
    seed = random.randrange(2**32)
    codes += random.Random(seed).sample(range(0xE000, 0x110000), 2_000)
    if not is_word[ord(NEWEST)]:  # an older `regex`, of an older Unicode
        codes = [code for code in codes if unicodedata.category(chr(code)) != "Cn"]
    expected = "".join(str(int(is_word[code])) for code in codes)
    given = "".join(f"{code:x}\n" for code in codes)
    with_regex = output(WORD_CHARACTERS, given)
    assert with_regex.splitlines()[0] == expected, seed
    without = output("import sys; sys.modules['regex'] = None" + WORD_CHARACTERS, given)
    assert without == with_regex, (
        f"seed {seed}: add what a newer Unicode version has to `_NEWER` in"
        " trietok/text/characters.py"
    )
