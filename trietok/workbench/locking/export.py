"""`export`: a tokenizer as the one file of the other profile, and what the file's readers give
otherwise.

In: a tokenizer, texts. Out: a tokenizer.json or a vocab.txt, and an `Exported`.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from trietok.disk import replacing
from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    TrietokError,
    as_file_error,
    told_as,
)
from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE, write_json
from trietok.files.save import save_files_of, unsayable_of_stages
from trietok.files.tokenizer_json_writer import unsayable
from trietok.log import renamed
from trietok.showing.characters import number_of, visible
from trietok.showing.report import Report
from trietok.tokenizer.bert_fast import BertTokenizerFast
from trietok.workbench.engines.process import OTHERS, classes_of, model_of
from trietok.workbench.locking.lock import given_texts
from trietok.workbench.locking.verify import compared

_MOST_CHARACTERS = 60  # of a text
# What each file is for: the engines that read it by itself, into the profile of its readers.
_READERS = {
    TOKENIZER_FILE: ("transformers", "transformers-fast", "tokenizers"),
    VOCAB_FILE: ("transformers", "transformers-slow", "flash-tokenizer"),
}
EXPORT_FORMATS = tuple(_READERS)
_SETTINGS = ("do_lower_case", "tokenize_chinese_chars", "strip_accents")
_MOST_NAMED = 3  # added tokens in a message


class ExportedText(NamedTuple):
    """A text to which the file's readers give other ids.

    Attributes:
        number: which of the texts, from 1.
        text: the text.
        ids, readers_ids: those of the tokenizer, and those of the file's readers, special tokens
            included.
        tokens, readers_tokens: those from the first stretch that differs, on either side.
        start, end: that stretch in the text, half-open, in code points.
        why: the stage that makes the difference, and how.
    """

    number: int
    text: str
    ids: list[int]
    readers_ids: list[int]
    tokens: list[str]
    readers_tokens: list[str]
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Exported(Report):
    """A file that was written from a tokenizer. `str` says what its readers do otherwise.

    Attributes:
        path: the file.
        reader: who reads such a file: the class whose ids its readers give.
        texts: how many texts were tried.
        differing: how many of them get other ids from the file's readers.
        examples: the first of them.
        options: what a vocab.txt does not say, and its readers have to be told: option → value.
        checked: engine and version → how many texts got other ids there than is said here.

    >>> import os, tempfile, trietok
    >>> path = os.path.join(tempfile.mkdtemp(), "tokenizer.json")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> exported = trietok.export(
    ...     tokenizer, "tokenizer.json", path, texts=["The people", "a\\u0378b"]
    ... )
    >>> exported.differing, exported.examples[0].why
    (1, 'cleaned: the tokenizer deletes U+0378 <reserved-0378>, the reader does not')
    """

    path: str
    reader: str
    texts: int
    differing: int
    examples: tuple[ExportedText, ...]
    options: dict[str, Any]
    checked: dict[str, int]

    _ANSWERS = ("same_ids", "summary")

    @property
    def same_ids(self) -> bool:
        """Whether every text gets the same ids, and every library that was asked agrees."""
        return not self.differing and not any(self.checked.values())

    ok = same_ids

    @property
    def summary(self) -> str:
        """What was written, and how many texts differ, in a line."""
        texts = number_of(self.texts, "text")
        which = (
            f"other ids for {self.differing:,} of {texts}"
            if self.differing
            else f"the same ids for {texts}"
        )
        return f"written to {self.path}; {self.reader} gives {which}"

    def lines(self) -> Iterator[str]:
        """The report, line by line, the first of which is the summary."""
        yield self.summary
        for each in self.examples:
            text = (
                each.text
                if len(each.text) <= _MOST_CHARACTERS
                else each.text[:_MOST_CHARACTERS] + "..."
            )
            yield f"text {each.number}, {each.start}-{each.end}: {text!r}"
            yield f"    the tokenizer: {_joined(each.tokens)}"
            yield f"    the reader:    {_joined(each.readers_tokens)}"
            yield f"  {each.why}"
        if self.differing > len(self.examples):
            yield f"  ... and {number_of(self.differing - len(self.examples), 'more text')}"
        if self.options:
            yield "the file does not say: " + ", ".join(
                f"{name}={value!r}" for name, value in self.options.items()
            )
        for name, differing in self.checked.items():
            texts = number_of(self.texts, "text")
            if differing:
                yield (
                    f"{name}: on {differing:,} of {texts} its ids are not those that were predicted"
                )
            else:
                yield (
                    f"{name}: the ids that were predicted, on"
                    f" {'the ' if self.texts == 1 else 'all '}{texts}"
                )

    _parts = lines


def _joined(tokens: list[str]) -> str:
    return " ".join(map(visible, tokens)) or "(no token)"


@renamed(to="file_format", path="output")
def export(
    tokenizer: Any,
    file_format: str,
    output: str | os.PathLike[str] | None = None,
    *,
    texts: Iterable[str] | None = None,
    most: int = 20,
    engines: Sequence[str] = (),
) -> Exported:
    """Write a tokenizer as a tokenizer.json or a vocab.txt, and say to which texts the file's
    readers give other ids.

    Args:
        tokenizer: a `BertTokenizer`, or one of its family, of either profile.
        file_format: `"tokenizer.json"`, whose readers are those of the fast profile, or
            `"vocab.txt"`, whose readers are those of the slow one.
        output: the file to write; without it, one of that name in the present directory.
        texts: what to try; by default the sentences in several scripts with which `compare` begins.
        most: how many of the differing texts are kept.
        engines: libraries that read the file too and have to give the ids that are foretold, such
            as `"tokenizers"`.

    Raises:
        InputError: `file_format` is neither of the two, or there is no such engine, or it cannot
            read the file; or there is no text, or all are empty.
        InputTypeError: `texts` or `engines` is one string, or a text is none.
        NotSupportedError: such a file cannot hold all of the tokenizer; the message names what.
            Nothing is written.
        VocabularyError: a token cannot be kept in the file. Nothing is written.
        FileError: the file cannot be written.
        MissingDependencyError: an engine is not installed.

    >>> import os, tempfile, trietok
    >>> path = os.path.join(tempfile.mkdtemp(), "tokenizer.json")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> exported = export(tokenizer, "tokenizer.json", path, texts=["The people"])
    >>> exported.same_ids, exported.reader, os.path.getsize(path) > 100_000
    (True, 'BertTokenizerFast', True)
    """
    if file_format not in EXPORT_FORMATS:
        raise InputError(
            f"a tokenizer is exported to {' or '.join(EXPORT_FORMATS)}, not to {file_format!r:.60}"
        )
    _require_readers(engines, file_format)
    given = given_texts(texts, "export", "nothing would be tried")
    if getattr(tokenizer, "_write_slow_tokenizer_json", None) is None:
        raise NotSupportedError(
            f"a {type(tokenizer).__name__} has no {file_format}; BertTokenizer and its family"
            " have one",
            name="export",
        )
    output = os.fspath(output) if output is not None else file_format
    with (
        tempfile.TemporaryDirectory(prefix="trietok-") as folder,
        told_as(folder, os.path.dirname(output)),
    ):
        write = _as_tokenizer_json if file_format == TOKENIZER_FILE else _as_vocab_txt
        reader, options = write(tokenizer, folder)
        ids = [
            (tokenizer.encode(text, verbose=False), reader.encode(text, verbose=False))
            for text in given
        ]
        checked = dict(
            _checked_by_engine(name, folder, reader, given, [theirs for _, theirs in ids])
            for name in engines
        )
        with as_file_error(f"cannot write {output}", output), replacing(output) as file:
            file.write(Path(folder, file_format).read_bytes())
    differing = [number for number, (ours, theirs) in enumerate(ids) if ours != theirs]
    return Exported(
        path=output,
        reader=type(reader).__name__,
        texts=len(given),
        differing=len(differing),
        examples=tuple(
            _example(tokenizer, reader, number, given[number], *ids[number])
            for number in differing[:most]
        ),
        options=options,
        checked=checked,
    )


def _require_readers(engines: Sequence[str], to: str) -> None:
    if isinstance(engines, str):
        raise InputTypeError(
            f"engines are a list of names, not one: [{engines!r:.60}]", value=engines
        )
    for name in engines:
        if name not in OTHERS:
            raise InputError(f"there is no engine {name!r:.60}; there are {', '.join(OTHERS)}")
        if name not in _READERS[to]:
            raise InputError(
                f"{name} cannot read a {to} as its readers do; those are {', '.join(_READERS[to])}"
            )


def _as_tokenizer_json(tokenizer: Any, folder: str) -> tuple[Any, dict[str, Any]]:
    """Write the file, with the arguments of its readers beside it, and load it by itself in the
    fast profile.
    """
    problems = unsayable(tokenizer) if tokenizer.profile == "slow" else ()
    _require_sayable(
        tokenizer, TOKENIZER_FILE, problems, f"keep to its {VOCAB_FILE} and tokenizer_config.json"
    )
    save_files_of(tokenizer, folder, tokenizer_json=True)
    # A class may add tokens of its own to what the file says, as Splinter's does; the file's other
    # readers do not.
    basic, roles = tokenizer.basic_tokenizer, tokenizer.special_tokens_map
    settings = {name: getattr(basic, name) for name in _SETTINGS}
    settings |= {role: roles.get(role) for role in tokenizer.SPECIAL_TOKENS_ATTRIBUTES}
    for other in set(os.listdir(folder)) - {TOKENIZER_FILE}:
        # an engine that has to read the file alone shall not find them
        os.remove(os.path.join(folder, other))
    said = {name: value for name, value in settings.items() if value is not None}
    kind = BertTokenizerFast
    write_json(Path(folder, TOKENIZER_CONFIG_FILE), {**said, "tokenizer_class": kind.__name__})
    return kind(tokenizer_file=os.path.join(folder, TOKENIZER_FILE), **settings), {}


def _as_vocab_txt(tokenizer: Any, folder: str) -> tuple[Any, dict[str, Any]]:
    """Write the directory of the file, and load it in the slow profile; and what its readers have
    to be told.
    """
    file, otherwise = f"{VOCAB_FILE} alone", "save the whole directory with save_pretrained"
    problems = _unsayable_in_vocab_txt(tokenizer)
    _require_sayable(tokenizer, file, problems, otherwise)
    tokenizer.save_vocabulary(folder, include_added=True)
    kind = tokenizer.slow_tokenizer_class if tokenizer.profile == "fast" else type(tokenizer)
    options = _options(tokenizer, kind)
    path = os.path.join(folder, VOCAB_FILE)
    reader = kind(path, **options)
    _require_sayable(
        tokenizer, file, _unlike(tokenizer, reader, type(tokenizer)(path, **options)), otherwise
    )
    written = Path(folder, VOCAB_FILE).read_bytes()
    save_files_of(reader, folder)  # with the options, for engines that read a directory
    Path(folder, VOCAB_FILE).write_bytes(written)
    return reader, options


def _require_sayable(tokenizer: Any, file: str, problems: Iterable[str], otherwise: str) -> None:
    said = "; ".join(problems)
    if said:
        what = f"a {file} cannot say what this {type(tokenizer).__name__} is: {said}"
        raise NotSupportedError(f"{what}. Change that, or {otherwise}", name="export")


def _unlike(tokenizer: Any, reader: Any, of_class: Any) -> Iterator[str]:
    """What the tokenizer has that neither the file's reader has nor its own class gives to any such
    file.
    """
    known = {
        token.content for each in (reader, of_class) for token in each.added_tokens_decoder.values()
    }
    added = [
        token.content
        for token in tokenizer.added_tokens_decoder.values()
        if token.content not in known
    ]
    if added:
        named = ", ".join(map(repr, added[:_MOST_NAMED])) + (
            ", ..." if len(added) > _MOST_NAMED else ""
        )
        yield f"{number_of(len(added), 'added token')} ({named}), which would be found no more"
    if _around(tokenizer) not in (_around(reader), _around(of_class)):
        yield "its template puts other special tokens around texts than its class does"


def _around(tokenizer: Any) -> list[Any]:
    """The special tokens and the texts, in the order of a row, of one text and of two."""
    builder = tokenizer.input_builder
    pieces = [*builder.pieces(False, True), *builder.pieces(True, True)]
    return [
        "AB"[piece.sequence] if piece.sequence is not None else piece.token_id for piece in pieces
    ]


def _unsayable_in_vocab_txt(tokenizer: Any) -> Iterator[str]:
    yield from unsayable_of_stages(tokenizer)
    if not getattr(tokenizer, "do_basic_tokenize", True):
        yield "do_basic_tokenize=False"
    if not getattr(tokenizer, "can_save_slow_tokenizer", True):
        yield "its normalizer and pre-tokenizer are not BERT's"
    if getattr(tokenizer.basic_tokenizer, "never_split", ()):
        yield "it keeps words from being split (never_split)"
    if tokenizer.split_special_tokens:
        yield "split_special_tokens=True"


def _options(tokenizer: Any, kind: type[Any]) -> dict[str, Any]:
    """The arguments that make `kind` of the vocabulary alone what the tokenizer is, where they are
    no defaults.
    """
    defaults = {
        name: parameter.default
        for cls in reversed(kind.__mro__)
        if cls is not object
        for name, parameter in inspect.signature(cls).parameters.items()
    }
    basic = tokenizer.basic_tokenizer
    values = {name: getattr(basic, name) for name in _SETTINGS}
    values |= {
        role: value
        for role, value in tokenizer.special_tokens_map.items()
        if isinstance(value, str)
    }
    return {name: value for name, value in values.items() if value != defaults.get(name)}


def _checked_by_engine(
    engine: str, folder: str, reader: Any, texts: list[str], ids: list[list[int]]
) -> tuple[str, int]:
    """An engine with its version, and how many texts get other ids from it than from the reader."""
    answer = compared(engine, model_of(folder, reader, classes_of(reader)), texts, ids, most=0)
    return f"{engine} {answer['version']}".rstrip(), answer["differing"]


def _example(
    tokenizer: Any, reader: Any, number: int, text: str, ids: list[int], readers_ids: list[int]
) -> ExportedText:
    left, right, start, end, why = list[str](), list[str](), 0, 0, ""
    try:
        ours, theirs = (each.explain(text, verbose=False) for each in (tokenizer, reader))
        contrast = ours.against(theirs, names=("the tokenizer", "the reader"))
    except TrietokError:  # methods of the user's own, which cannot be explained
        pass
    else:
        why = "; ".join(contrast.notes)
        part = next((part for part in contrast.parts if part.differs), None)
        if part is not None:
            left, right = ([token.token for token in side] for side in (part.left, part.right))
            start, end, why = part.start, part.end, part.why
    return ExportedText(number + 1, text, ids, readers_ids, left, right, start, end, why)
