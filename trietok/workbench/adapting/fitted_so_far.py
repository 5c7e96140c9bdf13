"""`FittedSoFar`: what a run that was stopped has fitted, in a file that it is taken up from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from trietok.errors import FileFormatError, InputError
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.adapting.row_plan import RowPlan


class FittedSoFar:
    """A file of rows that were fitted before a run was stopped, for the same model, plan and texts.

    Attributes:
        tensors, values: what is known by now, as numpy arrays, and as JSON has it.
    """

    def __init__(
        self,
        path: Path,
        checkpoint: Checkpoint,
        plan: RowPlan,
        how: Iterable[Any],
        texts: Iterable[str],
        resume: bool,
    ) -> None:
        self.path, digest = path, hashlib.sha256(f"{plan.to_json()}{[*how]!r}".encode())
        for name in sorted(checkpoint.shards):
            with open(checkpoint.directory / name, "rb") as file:
                for block in iter(partial(file.read, 1 << 20), b""):
                    digest.update(block)
        for text in texts:
            digest.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))
        self._key = digest.hexdigest()
        self.tensors, self.values = dict[str, Any](), dict[str, Any]()
        if resume and os.path.lexists(path):
            self._read()

    def _read(self) -> None:
        safetensors = import_package("safetensors.numpy")
        try:
            with import_package("safetensors").safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
            tensors = safetensors.load_file(self.path)
            values = json.loads(metadata.get("values", "{}"))
        except Exception as error:  # of the package, or of the system
            told = f"{self.path} cannot be read: {error}; start without --resume"
            raise FileFormatError(told, path=self.path) from error
        if metadata.get("key") != self._key:
            raise InputError(
                f"{self.path} has rows of another run: its model, terms, texts or options were"
                " others; give those, or start without --resume (resume=True)"
            )
        self.tensors, self.values = tensors, values

    def save(self) -> None:
        """Write what is known by now, in one step."""
        beside = self.path.with_name(self.path.name + ".new")
        metadata = {"key": self._key, "values": json.dumps(self.values)}
        import_package("safetensors.numpy").save_file(self.tensors, beside, metadata)
        os.replace(beside, self.path)

    @contextlib.contextmanager
    def kept_if_stopped(self) -> Iterator[None]:
        """Save what is known where the body is stopped, and leave no file where it comes to its
        end.
        """
        try:
            yield
        except BaseException:
            if self.tensors:
                self.save()
            raise
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
