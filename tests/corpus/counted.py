"""A tokenizer that writes down which process reads it, for tests of engines, whose workers import
this module.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from trietok import BertTokenizer


class CountedTokenizer(BertTokenizer):
    """Appends a line, the number of the process, to the file `log` when it is read from a
    pickle.
    """

    log = ""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with Path(self.log).open("a", encoding="utf-8") as lines:
            lines.write(f"{os.getpid()}\n")


def reads(log: Path) -> list[str]:
    """The process of each reading."""
    return log.read_text(encoding="utf-8").split() if log.exists() else []
