"""What of a run is on the disk at which moment: a power failure takes no shard that was finished,
and no corpus.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.corpus.shards import write
from trietok import encode_files

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="file names of handles are Linux's"
)


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Every flush and rename below `tmp_path`, in order, the names of shards by their kind
    alone.
    """
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def named(path) -> str:
        name = os.path.relpath(path, tmp_path)
        return re.sub(
            r"[.]temporary-[0-9]+-(.*-(?=KEY))?", "temporary ", re.sub("[0-9a-f]{40}", "KEY", name)
        )

    def logged_fsync(handle):
        steps.append(f"flush {named(os.readlink(f'/proc/self/fd/{handle}'))}")
        fsync(handle)

    def logged_replace(source, target):
        replace(source, target)
        steps.append(f"{named(target)} <- {Path(named(source)).name}")

    monkeypatch.setattr(os, "fsync", logged_fsync)
    monkeypatch.setattr(os, "replace", logged_replace)
    return steps


def test_everything_is_flushed_before_the_step_that_needs_it(english, tmp_path, log):
    encode_files(write(tmp_path / "a.txt"), tmp_path / "new" / "ids", english, workers=1)
    out = "new/ids"
    state = f"{out}/.trietok-encode"
    log[-6:-3] = sorted(log[-6:-3])
    assert log == [
        *("flush new", "flush ."),  # the names of both directories that were made
        f"flush {out}",
        *written(state, "plan.json"),
        f"flush {state}/temporary KEY.parquet",
        f"{state}/KEY.parquet <- temporary KEY.parquet",
        f"flush {state}/temporary KEY.record.json",
        f"{state}/KEY.record.json <- temporary KEY.record.json",
        f"flush {state}",
        f"flush {out}",
        *written(state, "shards-00000.jsonl"),
        *written(state, "sources-00000.jsonl"),
        *written(state, "manifest.json"),
        f"{out}/part-00000.parquet <- KEY.parquet",
        f"{out}/shards-00000.jsonl <- shards-00000.jsonl",
        f"{out}/sources-00000.jsonl <- sources-00000.jsonl",
        f"flush {out}",
        f"{out}/manifest.json <- manifest.json",
        f"flush {out}",
    ], "\n".join(log)


def written(folder, name):
    temporary = f"temporary {name}"
    return f"flush {folder}/{temporary}", f"{folder}/{name} <- {temporary}", f"flush {folder}"
