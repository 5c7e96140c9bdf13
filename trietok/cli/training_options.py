"""The arguments and options of `trietok train`, as annotations of its commands' parameters; and the files they name."""
# ruff: noqa: UP045

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

import trietok
from trietok.files.text_rows import expanded

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help="Files or quoted globs: .txt, one text a line; .jsonl, one object a line; .parquet. .txt and .jsonl also "
        "with .gz or .zst. - reads texts from standard input.",
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option("--output", "-o", metavar="DIR", help="Where to write; a new or empty directory.", show_default=False),
]
VocabSize = Annotated[
    Optional[int],
    typer.Option("--vocab-size", min=1, metavar="N", help="The most tokens: 30000, for the recipe 10000."),
]
MinFrequency = Annotated[
    int, typer.Option("--min-frequency", min=0, metavar="N", help="Merge only pairs that occur so often.")
]
LimitAlphabet = Annotated[
    Optional[int],
    typer.Option("--limit-alphabet", min=0, metavar="N", help="Start from so many characters, the most frequent."),
]
NumMerges = Annotated[
    Optional[int],
    typer.Option("--num-merges", min=0, metavar="N", help="With a recipe: make so many merges at most."),
]
InitialAlphabet = Annotated[
    str, typer.Option("--initial-alphabet", metavar="CHARS", help="Characters to have in any case.", show_default=False)
]
MaxTokenLength = Annotated[
    Optional[int],
    typer.Option("--max-token-length", min=1, metavar="N", help="Merge only to tokens of fewer characters than N."),
]
SpecialTokens = Annotated[
    Optional[list[str]],
    typer.Option(
        "--special-token", metavar="TOKEN", help="One more special token. May be repeated.", show_default=False
    ),
]
ModelMaxLength = Annotated[
    Optional[int],
    typer.Option("--model-max-length", min=1, metavar="N", help="The longest sequence the model will take, in tokens."),
]
Unused = Annotated[
    int, typer.Option("--unused", min=0, metavar="N", help="Keep N slots free for tokens of later: [unused0], ...")
]
Prefix = Annotated[
    Optional[str],
    typer.Option("--continuing-subword-prefix", metavar="TEXT", help="Marks a token that continues a word."),
]
Suffix = Annotated[
    Optional[str], typer.Option("--end-of-word-suffix", metavar="TEXT", help="Marks a token at the end of a word.")
]
UnkToken = Annotated[str, typer.Option("--unk-token", metavar="TOKEN", help="Stands for unknown characters.")]
Cased = Annotated[bool, typer.Option("--cased", help="Keep case and accents.")]
Uncased = Annotated[bool, typer.Option("--uncased", help="Lower-case, and strip accents.")]
Recipe = Annotated[
    Optional[str],
    typer.Option(
        "--recipe", metavar="NAME", help="chinese: sentences of characters, without words.", show_default=False
    ),
]
TestFile = Annotated[
    Optional[str],
    typer.Option("--test", metavar="FILE", help="With a recipe: segment this file's sentences.", show_default=False),
]
Like = Annotated[
    Optional[str],
    typer.Option(
        "--like",
        metavar="NAME_OR_DIR",
        help="Make words of the texts as this BERT tokenizer does.",
        show_default=False,
    ),
]
Column = Annotated[
    str, typer.Option("--column", metavar="NAME", help="The field of .jsonl and .parquet that holds the text.")
]
Errors = Annotated[
    str, typer.Option("--errors", metavar="strict|replace", help="What to do with bytes that are not UTF-8.")
]
Processes = Annotated[int, typer.Option("--processes", min=1, metavar="N", help="Count words on so many processes.")]
MaxWords = Annotated[
    int, typer.Option("--max-words", min=1, metavar="N", help="Hold so many different words; drop the rarest above.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write a summary as one JSON object.")]


def text_files(files: list[str], column: str, errors: str) -> trietok.TextFiles:
    """The texts of files, globs and standard input, as `trietok train` and `trietok suggest` read them."""
    standard_input = None if sys.stdin is None else sys.stdin.buffer
    return trietok.TextFiles(expanded(files), column=column, errors=errors, standard_input=standard_input)
