"""`python -m trietok.cli`: the same as `python -m trietok`."""

from trietok.cli import main

if __name__ == "__main__":
    main()
