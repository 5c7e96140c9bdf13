"""Interrupts while a process forks: every kernel goes on afterwards, in the parent and in the
child.

python -m tests.text.interrupt_forks
"""

from __future__ import annotations

import os
import signal
import time

import trietok
from trietok.text.kernel import choosing as kernel

assert kernel.choose_kernel("compiled", text_before_kernel=0)
tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
expected = tokenizer(["hello world", "the people"])["input_ids"]
ballast = bytearray(100_000_000)  # a process of some size takes some time to fork
ballast[::4096] = b"x" * len(ballast[::4096])
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
interrupts = 0
for number in range(60):
    child = -1
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001 * (number % 20 + 1))
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
            os._exit(tokenizer(["hello world", "the people"])["input_ids"] != expected)
        time.sleep(0.003)
    except KeyboardInterrupt:
        interrupts += 1
        if child == 0:
            os._exit(tokenizer(["hello world", "the people"])["input_ids"] != expected)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert tokenizer([f"hello world {number}", "the people"])["input_ids"][1] == expected[1]
    while True:  # an interrupt may have hidden the child's number
        try:
            assert os.waitpid(-1, 0)[1] == 0
        except ChildProcessError:
            break
print(f"60 forks, {interrupts} interrupts came")
