"""The arguments and options of `trietok train`, as decorators; and the files they name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

import trietok
from trietok.cli.options import NEW_DIRECTORY, NOT_NEGATIVE, OUTPUT, PATH, POSITIVE

files = click.argument("files", nargs=-1, required=True, type=PATH)
output = click.option("--output", "-o", type=OUTPUT, required=True, metavar="DIR", help=NEW_DIRECTORY)
VOCAB_SIZE = 30000
vocab_size = click.option(
    "--vocab-size",
    type=POSITIVE,
    default=VOCAB_SIZE,
    metavar="N",
    help="Make at most N tokens, special tokens and single characters included.",
)
vocab_size_of_recipes = click.option(
    "--vocab-size",
    type=POSITIVE,
    metavar="N",
    help=f"Make at most N tokens; by default {VOCAB_SIZE}, or 10000 with --recipe.",
)
min_frequency = click.option(
    "--min-frequency", type=NOT_NEGATIVE, default=0, metavar="N", help="Merge only pairs that occur at least N times."
)
limit_alphabet = click.option(
    "--limit-alphabet", type=POSITIVE, metavar="N", help="Start from the N most frequent characters."
)
_INITIAL_ALPHABET: dict[str, Any] = {"default": "", "metavar": "CHARS", "show_default": False}
_INCLUDED = "Characters to include even if the texts lack them"
initial_alphabet = click.option("--initial-alphabet", help=f"{_INCLUDED}.", **_INITIAL_ALPHABET)
initial_alphabet_of_words = click.option(
    "--initial-alphabet",
    help=f"{_INCLUDED}, for the beginning of words: n, not ##n. For both, add a text that holds nn.",
    **_INITIAL_ALPHABET,
)
max_token_length = click.option(
    "--max-token-length", type=POSITIVE, metavar="N", help="Make no token of N characters or more."
)
special_tokens = click.option(
    "--special-token", "special_tokens", multiple=True, metavar="TOKEN", help="Add a special token. May be repeated."
)
errors = click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="Refuse bytes that are not UTF-8, or replace them with U+FFFD.",
)
processes = click.option("--processes", type=POSITIVE, default=1, metavar="N", help="Count words in N processes.")
as_json = click.option("--json", "as_json", is_flag=True, help="Write a summary as one JSON object.")


def text_files(files: Sequence[str], column: str, errors: str) -> trietok.TextFiles:
    """The texts of files, globs and standard input, as `trietok train` and `trietok suggest` read them."""
    standard_input = None if sys.stdin is None else sys.stdin.buffer
    return trietok.TextFiles(files, column=column, errors=errors, standard_input=standard_input)
