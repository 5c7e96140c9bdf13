"""trietok gives the same where modules are missing, as in a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What a browser's Python lacks, or has without effect; what needs threads, processes or a network
# is not asked for.
MISSING = (
    *"""
        fcntl multiprocessing _multiprocessing concurrent subprocess signal resource
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


def output(program: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_trietok_gives_the_same_without_threads_and_processes():
    with_all = output(PROGRAM)
    assert with_all.count("\n") == 4
    assert output(WITHOUT + PROGRAM) == with_all
