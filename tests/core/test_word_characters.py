"""Word characters with the package `regex` and without it; trietok where modules are missing, as in
a browser.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import regex

from trietok.text import characters as word_characters

ROOT = Path(__file__).parents[2]
ALL = "".join(map(chr, range(0x110000)))
NEWEST = "\u0558"  # a word character since the Unicode version of the table
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
    for name in ("trietok-en", "trietok-multi", "trietok-zh"):
        tokenizer = cls.from_pretrained(name)
        tokenizer.add_tokens([AddedToken("cat", single_word=True), AddedToken("<x>", lstrip=True), "dog"])
        text = "cat bobcat cat\u0301 \u200dcat cat² catⅷ <x> dog naïve 東京 \ud800"
        explained = tokenizer.explain(text)
        explained.to_html(), explained.to_json(), str(explained)
        print(ascii((explained.input_ids, tokenizer(text, "cats", return_offsets_mapping=cls is BertTokenizerFast))))
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            assert cls.from_pretrained(folder)(text)["input_ids"] == explained.input_ids
        print(ascii(explained.against(tokenizer.explain(text)).to_dict()))
"""
SUGGEST = """
import trietok
tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
print(ascii(trietok.suggest_tokens(tokenizer, ["a bobcat’s catflap e\u0301x²"] * 9, way="single-word").suggestions))
"""


def output(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_table_has_the_word_characters_of_regex():
    runs = regex.compile(r"\w+"), word_characters._runs_of_table()
    word, table = ({*"".join(pattern.findall(ALL))} for pattern in runs)
    differing = sorted(word ^ table)
    # an older `regex`, of an older Unicode: it may lack characters, and no more
    if NEWEST not in word:
        differing = [char for char in differing if regex.match(r"\P{Cn}", char)]
    assert differing == [], (
        "add what a newer Unicode version has to `_NEWER` in trietok/text/characters.py"
    )


def test_trietok_gives_the_same_without_regex_threads_and_processes():
    with_all = output(PROGRAM)
    assert with_all.count("\n") == 12
    assert output(WITHOUT + PROGRAM) == with_all


def test_suggestions_are_the_same_without_regex():
    assert output("import sys; sys.modules['regex'] = None" + SUGGEST) == output(SUGGEST)
