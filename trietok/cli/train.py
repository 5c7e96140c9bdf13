"""`trietok train`: vocabularies from files of text."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.interrupts import stop_said
from trietok.cli.options import FileOpener
from trietok.cli.output import on_one_line
from trietok.cli.progress import shown_bars
from trietok.cli.results import write_result
from trietok.cores import cores
from trietok.files.texts import STANDARD_INPUT
from trietok.showing.characters import number_of
from trietok.tokenizer.auto import Choice
from trietok.training import save_chinese_bpe, train_chinese_bpe
from trietok.training.word_counts import MAX_WORDS, OnProgress
from trietok.training.wordpiece import SPECIAL_TOKENS

_CHINESE = "chinese"

_VOCAB_SIZE = 30000
_WORTH_A_PROCESS = (
    8_000_000  # bytes of text; starting a process takes as long as counting some of them
)
_INCLUDED = "Characters to include even if the texts lack them"

# What both trainers take; the body gets what decides how they learn as `learning`.
_pairs_and_alphabet = options.together(
    options.number(
        "--min-frequency",
        type=options.NOT_NEGATIVE,
        default=0,
        help="Merge only pairs that occur at least N times.",
    ),
    options.number("--limit-alphabet", help="Start from the N most frequent characters."),
)
_initial_alphabet = partial(
    click.option, "--initial-alphabet", default="", metavar="CHARS", show_default=False
)
_cased = click.option(
    "--cased/--uncased",
    default=None,
    help=(
        "Keep case and accents, or lower-case texts and strip accents; wordpiece is uncased by"
        " default, bpe cased."
    ),
)
_tokens = options.together(
    options.number("--max-token-length", help="Make no token of N characters or more."),
    options.text(
        "--special-token",
        "special_tokens",
        multiple=True,
        metavar="TOKEN",
        help="Add a special token. May be repeated.",
    ),
)


def _training(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is read and how it is counted: the command gets `run`, a `_Training`, and an interrupt
    says what is left.
    """

    @wraps(command)
    def in_run(
        files: tuple[str, ...],
        output: str,
        read: FileOpener,
        workers: int | None,
        max_words: int,
        as_json: bool,
        **rest: Any,
    ) -> None:
        run = _Training(command.__name__, files, output, read, workers, max_words, as_json)
        with stop_said(run.left):
            command(run, **rest)

    counting = options.together(options.workers, options.max_words(default=MAX_WORDS))
    return options.together(options.reading, counting, options.json_lines, options.offline)(in_run)


@click.group()
def train() -> None:
    """Train a vocabulary from text.

    \b
    Examples:
      trietok train wordpiece 'texts/*.txt' -o my-tokenizer --vocab-size 30000
      trietok train bpe texts.txt -o my-bpe
    """


@options.command(train, short_help="Train a WordPiece vocabulary for a BERT tokenizer.")
@options.files
@options.writes(options.NEW_DIRECTORY)
@options.number(
    "--vocab-size",
    default=_VOCAB_SIZE,
    help="Make at most N tokens, special tokens and single characters included.",
)
@_pairs_and_alphabet
@_initial_alphabet(
    help=f"{_INCLUDED}, for the beginning of words: n, not ##n. For both, add a text that holds nn."
)
@_tokens
@options.number(
    "--unused",
    type=options.NOT_NEGATIVE,
    default=0,
    help="Reserve N slots, [unused0] and so on, for later tokens.",
)
@options.number("--model-max-length", help="The longest sequence the model will take, in tokens.")
@_cased
@options.tokenizer("--like", help="Split texts into words as this BERT tokenizer does.")
@_training
def wordpiece(
    run: _Training,
    special_tokens: tuple[str, ...],
    unused: int,
    model_max_length: int | None,
    cased: bool | None,
    like: str | None,
    **learning: Any,
) -> None:
    """Train a WordPiece vocabulary, and write a BERT tokenizer's directory.

    BERT's five special tokens come first, then those given with --special-token, then the unused
    slots.

    \b
    Examples:
      trietok train wordpiece texts.txt -o my-tokenizer
      trietok train wordpiece 'texts/*.txt' -o my-tokenizer --cased --vocab-size 20000
    """
    if cased is not None and like is not None:
        raise click.UsageError("Give --cased, --uncased or --like, not two of them.")
    settings: dict[str, Any] = {"do_lower_case": not cased} if like is None else _settings_of(like)
    texts = run.texts()
    more = [token for token in special_tokens if token not in SPECIAL_TOKENS]
    special_tokens = (*SPECIAL_TOKENS, *more, *(f"[unused{number}]" for number in range(unused)))
    with _progress() as progress:
        is_bare = settings.get("do_basic_tokenize") is False
        words = str.split if is_bare else trietok.BasicTokenizer(**settings).tokenize
        counts = run.counted(texts, progress, words=words)
        vocabulary = trietok.train_wordpiece(
            counts, special_tokens=special_tokens, progress=progress, **learning
        )
    run.saving = True
    if more:
        settings["additional_special_tokens"] = more
    if model_max_length is not None:
        settings["model_max_length"] = model_max_length
    trietok.save_tokenizer(vocabulary, run.output, **settings)
    run.finish(_of_counts(counts), vocab_size=len(vocabulary))


def _settings_of(name: str) -> dict[str, Any]:
    """The settings of a tokenizer that decide what its words are."""
    tokenizer = Choice(name, trietok.BertTokenizer, "").load()
    if not tokenizer.do_basic_tokenize:
        return {"do_basic_tokenize": False}
    names = ("do_lower_case", "tokenize_chinese_chars", "strip_accents")
    return {name: getattr(tokenizer.basic_tokenizer, name) for name in names}


@options.command(train, short_help="Train a byte-pair encoding.")
@options.files
@options.writes(options.NEW_DIRECTORY)
@options.name(
    "--recipe", help="The only recipe is chinese: merge characters of sentences, without words."
)
@options.file("--test", help="With --recipe: segment the sentences of this file.")
@options.number(
    "--vocab-size", help=f"Make at most N tokens; by default {_VOCAB_SIZE}, or 10000 with --recipe."
)
@options.number(
    "--num-merges", type=options.NOT_NEGATIVE, help="With --recipe: make at most N merges."
)
@_pairs_and_alphabet
@_initial_alphabet(help=f"{_INCLUDED}.")
@_tokens
@options.text(
    "--unk-token", default="<unk>", metavar="TOKEN", help="The token for unknown characters."
)
@options.text("--continuing-subword-prefix", help="Marks a token that continues a word.")
@options.text("--end-of-word-suffix", help="Marks a token at the end of a word.")
@_cased
@_training
def bpe(
    run: _Training,
    recipe: str | None,
    test: str | None,
    vocab_size: int | None,
    num_merges: int | None,
    limit_alphabet: int | None,
    cased: bool | None,
    **learning: Any,
) -> None:
    """Train a byte-pair encoding, and write vocab.json, merges.txt and tokenizer.json.

    With --recipe chinese, the texts are sentences of characters without words, and the command
    writes vocab.txt and train.log. --test adds the sentences of a file, segmented by two rules.

    \b
    Examples:
      trietok train bpe texts.txt -o my-bpe --vocab-size 20000
      trietok train bpe sentences.txt -o my-bpe --recipe chinese
    """
    if recipe is not None:
        _check_recipe(recipe)
    else:
        for name, value in (("--test", test), ("--num-merges", num_merges)):
            if value is not None:
                raise click.UsageError(f"{name} needs --recipe {_CHINESE}.")
    if test == STANDARD_INPUT and STANDARD_INPUT in run.given:
        raise click.UsageError(
            "Standard input can be read once: as FILES or as --test, not as both."
        )
    texts = run.texts()
    if recipe is not None:
        # Read first: a file that cannot be read must not cost the training.
        sentences = None if test is None else list(run.read([test]))
        sizes = {
            "vocab_size": vocab_size,
            "num_merges": num_merges,
            "limit_alphabet": limit_alphabet,
        }
        _chinese(run, texts, sentences, sizes)
        return
    uncased = cased is False
    with _progress() as progress:
        counts = run.counted(texts, progress, do_lower_case=uncased)
        learning |= {"limit_alphabet": limit_alphabet, "progress": progress}
        trained = trietok.train_bpe(counts, vocab_size=vocab_size or _VOCAB_SIZE, **learning)
    run.saving = True
    trained.save(run.output, do_lower_case=uncased)
    run.finish(_of_counts(counts), vocab_size=len(trained.vocab), merges=len(trained.merges))


def _chinese(
    run: _Training,
    texts: Iterable[str],
    sentences: Iterable[str] | None,
    sizes: dict[str, int | None],
) -> None:
    log: list[str] = []
    with _progress() as progress:
        trained = train_chinese_bpe(texts, **sizes, progress=progress, log=log.append)
    run.saving = True
    save_chinese_bpe(trained, run.output, log=log, texts=sentences)
    numbers = {
        "subwords": len(trained.counts),
        "punctuation": len(trained.punctuation),
        "merges": len(trained.merges),
    }
    run.finish({"texts": trained.sentences}, vocab_size=len(trained.tokens), **numbers)


_OF_THE_RECIPE = {"files", "output", "recipe", "test", "vocab_size", "num_merges", "limit_alphabet"}
_OF_THE_RECIPE |= {"column", "on_error", "force", "as_json", "offline"}


def _check_recipe(recipe: str) -> None:
    if recipe != _CHINESE:
        raise click.UsageError(f"There is no recipe {recipe!r}; there is {_CHINESE}.")
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        source = ctx.get_parameter_source(name)
        if name not in _OF_THE_RECIPE and source is not None and source.name == "COMMANDLINE":
            raise click.UsageError(f"{parameter.opts[0]} does not work with --recipe {_CHINESE}.")


@contextlib.contextmanager
def _progress() -> Iterator[OnProgress | None]:
    """What to pass as `progress`."""
    with shown_bars() as bars:
        yield None if bars is None else lambda progress: bars.show(*progress)


@dataclass
class _Training:
    """One training: what it reads, how long it takes, what it tells at the end."""

    kind: str
    given: tuple[str, ...]
    output: str
    read: FileOpener
    workers: int | None
    max_words: int
    as_json: bool
    saving: bool = False
    began: float = field(default_factory=time.monotonic)

    def texts(self) -> trietok.TextFiles:
        texts = self.read(self.given)
        self.files = texts.paths
        return texts

    def counted(
        self, texts: trietok.TextFiles, progress: OnProgress | None, **how: Any
    ) -> trietok.WordCounts:
        """Count the words of texts with `--workers`, or with as many as the texts keep busy."""
        worth = min(cores(), 1 + (texts.total_bytes or 0) // _WORTH_A_PROCESS)
        how |= {"workers": self.workers or worth, "max_words": self.max_words}
        return trietok.count_words(texts, progress=progress, **how)

    def left(self) -> str:
        """What is there where it is stopped: all of the files or nothing."""
        is_written = self.saving and os.path.isdir(self.output) and bool(os.listdir(self.output))
        return f"{on_one_line(self.output)} is complete" if is_written else "nothing was written"

    def finish(self, counted: dict[str, int], **numbers: int) -> None:
        values = {
            "kind": self.kind,
            "output": self.output,
            "files": self.files,
            **counted,
            **numbers,
        }
        values["seconds"] = round(time.monotonic() - self.began, 2)
        words = ""
        if "words" in counted:
            words = (
                f", {number_of(counted['words'], 'word')} ({counted['different_words']:,}"
                " different)"
            )
        tokens = (
            f"{number_of(numbers['vocab_size'], 'token')} from"
            f" {number_of(counted['texts'], 'text')}{words}"
        )
        write_result(values, self.as_json, lambda: [f"written to {self.output}: {tokens}"])


def _of_counts(counts: trietok.WordCounts) -> dict[str, int]:
    return {
        "texts": counts.texts,
        "words": counts.total,
        "different_words": len(counts),
        "pruned_below": counts.pruned_below,
    }
