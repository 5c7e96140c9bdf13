"""`python -m trietok`: the command, where its script is not on the path."""

from trietok.cli import main

if __name__ == "__main__":
    main()
