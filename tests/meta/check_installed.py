"""Checks an installed trietok: `python check_installed.py compiled`, or `plain`, from a directory
without a checkout.

`compiled` means the compiled kernel where this Python can load it.
"""

from __future__ import annotations

import importlib.metadata
import pathlib
import sys
import sysconfig
import tempfile

import trietok

TEXT = "The people, united, en São Paulo!"
IDS = [2, 134, 289, 32, 509, 32, 266, 408, 120, 1684, 259, 120, 21, 3]


def can_load_it() -> bool:
    """Whether this Python is one that the kernel is made for, as docs/benchmarks.md says."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    cpython = sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
    return cpython and not free_threaded


def main() -> None:
    """Raise AssertionError with what is not as it should be."""
    expected = "compiled" if sys.argv[1] == "compiled" and can_load_it() else "plain"
    package = pathlib.Path(trietok.__file__).parent
    assert pathlib.Path(sys.prefix) in package.parents, f"this is no installed trietok: {package}"
    assert trietok.kernel == expected, f"the kernel is {trietok.kernel}, not {expected}"
    libraries = [
        path for path in package.glob("text/kernel/_kernel*") if path.suffix in (".so", ".pyd")
    ]
    assert len(libraries) == (expected == "compiled")
    assert not list(package.rglob("*.[ch]")), "sources in C are of no use here"
    assert (package / "py.typed").exists()
    assert importlib.metadata.version("trietok") == trietok.__version__
    for tokenizer_class in (trietok.BertTokenizer, trietok.BertTokenizerFast):
        tokenizer = tokenizer_class.from_pretrained("trietok-en")
        assert tokenizer(TEXT)["input_ids"] == IDS, tokenizer(TEXT)["input_ids"]
        # the kernel, where it is there, is at work
        assert tokenizer([TEXT] * 1000)["input_ids"] == [IDS] * 1000
        assert tokenizer.add_tokens(["covid-19"]) == 1
        with tempfile.TemporaryDirectory() as directory:
            tokenizer.save_pretrained(directory)
            again = tokenizer_class.from_pretrained(directory)
        assert again.get_vocab() == tokenizer.get_vocab()
    print(f"trietok {trietok.__version__} on Python {sys.version.split()[0]}: {trietok.kernel}")


if __name__ == "__main__":
    main()
