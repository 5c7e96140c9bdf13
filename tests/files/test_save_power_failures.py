"""Power failures during saves: a file system is cut off from its disk, which keeps only what had
been flushed to it.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import time

import pytest

from tests.conftest import often
from tests.files.saving import (
    read_plainly,
    run_or_skip,
    saving_forever,
    state,
    stop,
    two_tokenizers,
    without_links,
)
from trietok import BertTokenizer

pytestmark = pytest.mark.faults

FAILURES = often(15, 40)
# ioctl of ext4 and xfs: no more is written, not even the log
_SHUT_DOWN, _WITHOUT_FLUSH = 0x8004587D, 2


@pytest.fixture
def disk(tmp_path):
    """Mount an ext4 file system that lies in a file; call it to mount it again after a failure."""
    image, place = tmp_path / "image", tmp_path / "disk"
    image.write_bytes(b"")
    os.truncate(image, 32 << 20)
    place.mkdir()
    run_or_skip("mkfs.ext4", "-q", str(image))

    class Disk:
        path = place

        def mount(self) -> None:
            run_or_skip("mount", "-o", "loop", str(image), str(place))

        def fail(self) -> None:
            import fcntl

            handle = os.open(place, os.O_RDONLY)
            try:
                fcntl.ioctl(handle, _SHUT_DOWN, struct.pack("I", _WITHOUT_FLUSH))
            except OSError as error:
                pytest.skip(f"needs ext4: it cannot be shut down here: {error}")
            finally:
                os.close(handle)

        def unmount(self) -> None:
            subprocess.run(["umount", str(place)], check=True)

    mounted = Disk()
    mounted.mount()
    yield mounted
    subprocess.run(["umount", str(place)], check=False)


def test_what_was_not_flushed_is_lost_on_this_disk(disk):
    """The instrument works."""
    (disk.path / "a.txt").write_text("not flushed")
    disk.fail()
    disk.unmount()
    disk.mount()
    assert not (disk.path / "a.txt").exists()


@pytest.mark.parametrize("has_links", [True, False])
def test_after_a_power_failure_the_old_files_or_the_new_ones_are_there(
    small, disk, monkeypatch, has_links
):
    if not has_links:
        without_links(monkeypatch)
    two = two_tokenizers(small)
    directory = disk.path / "saved"
    plain = []
    for tokenizer in two:
        tokenizer.save_pretrained(directory)
        plain.append(read_plainly(directory))
    for number in range(FAILURES):
        began = time.monotonic()
        two[number % 2].save_pretrained(directory)
        one_save = time.monotonic() - began
        child = saving_forever((two[1 - number % 2], two[number % 2]), directory)
        time.sleep(random.uniform(0, 3 * one_save))
        disk.fail()
        stop(child)
        disk.unmount()
        disk.mount()
        found = state(BertTokenizer.from_pretrained(directory))
        which = [state(tokenizer) for tokenizer in two].index(found)
        if has_links:
            assert read_plainly(directory) == plain[which], number


def test_what_save_pretrained_has_returned_from_stays(small, disk):
    for number, tokenizer in enumerate((*two_tokenizers(small), small("x"))):
        tokenizer.save_pretrained(disk.path / f"saved-{number}" / "below")
        tokenizer.save_pretrained(disk.path / "saved")
        disk.fail()
        disk.unmount()
        disk.mount()
        for directory in (disk.path / f"saved-{number}" / "below", disk.path / "saved"):
            assert state(BertTokenizer.from_pretrained(directory)) == state(tokenizer)
