"""Many threads on one kernel whose memory is so small that its tables are replaced all the time;
some have helpers.

    python -m tests.kernel.run_with_kernel LIBRARY tests.kernel.stress_kernel SECONDS

With a library that is compiled with `-fsanitize=thread`, each access that is not ordered is
reported.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from array import array

import trietok
from tests.kernel.kernel_cases import compiled_kernel
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.plain import IDS_OF_TEXT, ListRows, form_of
from trietok.text.word_search import WordSearch

THREADS = 4
ENTRIES = [
    "a",
    "##a",
    "word",
    "##word",
    *map(str, range(10)),
    *(f"##{digit}" for digit in range(10)),
    "é",
    "##é",
    "世",
]


def main(seconds: float) -> int:
    """Let threads encode the same texts side by side, and compare what they get."""
    classify = kernel.SlowClassifier(
        trietok.BasicTokenizer(do_lower_case=False), [WordSearch(["["])], True
    ).classify
    compiled = compiled_kernel(
        ENTRIES, classify, lambda chunk: [len(chunk)] * 5, plain=lambda text: [1], limit=1 << 18
    )
    texts = [
        f"word{number} a{number * 7}é 世[{number}] {'word' * 4}{number % 50}"
        for number in range(6000)
    ]
    expected = [compiled.ids(text) for text in texts]
    spans = [compiled.spans(text) for text in texts]
    data = "".join(texts).encode()
    offsets = array("q", [0])
    for text in texts:
        offsets.append(offsets[-1] + len(text.encode()))
    end = time.monotonic() + seconds
    wrong: list[str] = []
    calls = [0] * THREADS

    def encode_by_several(first: int) -> None:
        """A batch that is large enough for threads; then once more in a child that has none of
        those there are.
        """
        many, ids = texts[first : first + 1000] * 8, expected[first : first + 1000] * 8
        form = form_of((0, 0), {"ids": (0, [IDS_OF_TEXT], [])}, width=40)._replace(make=())
        if compiled.columns(tuple(many), form, lambda forks: 6) != ListRows(ids).columns(form):
            wrong.append("columns by several threads")
        child = os.fork()
        if child == 0:
            os._exit(compiled.rows(many, lambda forks: 6).lists() != ids)
        if os.waitpid(child, 0)[1]:
            wrong.append("rows in the child of a fork")

    def encode(number: int) -> None:
        while time.monotonic() < end:
            first = (number * 997 + calls[number] * 131) % 5000
            some = texts[first : first + 1000]
            if compiled.rows(some).lists() != expected[first : first + 1000]:
                wrong.append("rows")
            if (
                compiled.rows_between(data, offsets, first, 1000).lists()
                != expected[first : first + 1000]
            ):
                wrong.append("rows_between")
            if [compiled.spans(text) for text in some[:50]] != spans[first : first + 50]:
                wrong.append("spans")
            if calls[number] % 4 == number:
                encode_by_several(first)
            if calls[number] % 20 == 0:
                compiled.forget()
            calls[number] += 1

    threads = [threading.Thread(target=encode, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    info = compiled.info()
    print(f"{sum(calls)} batches, {info['helped']} threads helped, {info['times_full']} times full")
    print(f"of all calls {len(wrong)} differ {sorted(set(wrong))}")
    return 1 if wrong or info["bytes"] > 1 << 18 else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
