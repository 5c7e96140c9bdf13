"""Opening the files of a directory: see `trietok.open_regular`, which packages on lower floors use too."""

from trietok.open_regular import LARGEST_FILE, open_regular, read_regular

__all__ = ["LARGEST_FILE", "open_regular", "read_regular"]
