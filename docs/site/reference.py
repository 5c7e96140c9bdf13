"""The pages of the reference: which public name is on which page, and the pages' text.

Out: Markdown, in which mkdocstrings puts signature, docstring and source at each `:::`. A name that
is public and on no page fails a test (tests/meta/test_pages.py). Nothing here needs more than
trietok.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]

# Classes that are shown with the members of their parents, methods before attributes; and pages
# whose classes are shown without methods.
WITH_PARENTS = {"BertTokenizer", "BatchEncoding"}
WITHOUT_MEMBERS = {"errors", "relatives"}

# What people look up first, at the head of the list and of its class.
FIRST = ("from_pretrained", "__call__", "add_tokens", "save_pretrained")

_RELATIVES = """
    ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DistilBert Electra Funnel LayoutLM
    Lxmert MPNet MobileBert RetriBert Splinter SqueezeBert
"""


class Page(NamedTuple):
    """A page of the reference.

    Attributes:
        title: its heading.
        text: what stands before the names, in Markdown.
        names: public names, as they are imported from `trietok`, or with the submodule before a
            dot.
    """

    title: str
    text: str
    names: tuple[str, ...]


PAGES = {
    "tokenizers": Page(
        "Tokenizers",
        "The classes that load a vocabulary and turn texts into ids. `BertTokenizer` is shown with"
        " all methods, which the others have too. [The two profiles](../profiles.md) says which"
        " class to choose.",
        tuple(
            """
            BertTokenizer BertTokenizerFast AutoTokenizer BertJapaneseTokenizer ChineseBpeTokenizer
            PreTrainedTokenizer AddedToken save_tokenizer kernel
            __version__
            """.split()
        ),
    ),
    "relatives": Page(
        "BERT's relatives",
        "Each class has the methods of [`BertTokenizer`][trietok.BertTokenizer]; what sets it apart"
        " is said here and in [BERT's relatives](../profiles.md#berts-relatives).",
        (*(f"{model}Tokenizer{fast}" for model in _RELATIVES.split() for fast in ("", "Fast")),),
    ),
    "results": Page(
        "Inputs and results",
        "What a call returns, and the values of its options.",
        tuple(
            """
            BatchEncoding CharSpan TokenSpan Chunk FlatIds PaddingStrategy
            TruncationStrategy TensorType Template
            """.split()
        ),
    ),
    "explaining": Page(
        "Explaining",
        "Why a text has its ids: `tokenizer.explain(text)` returns an `Explanation`; [the"
        " page](../explaining.md) shows what it looks like.",
        ("Explanation",),
    ),
    "checking": Page(
        "Checking, comparing, locking",
        "Questions about a tokenizer or a directory: [what is wrong with it](../checking.md),"
        " [what differs between two, and whether ids are still the same](../locking.md),"
        " [how fast it is](../benchmarks.md).",
        tuple(
            """
            check CheckReport Finding fix FixResult compare Comparison lock Lock verify
            Verified
            """.split()
        ),
    ),
    "changing": Page(
        "Changing vocabularies and models",
        "[Which words to add, and how to add or drop them](../vocabularies.md), and [the rows of"
        " the model](../adapting.md#plans-for-rows). `adapt` does [all of it](../adapting.md).",
        tuple(
            """
            adapt Adapted suggest_tokens Suggestion Suggestions add_terms AddedTerms
            trim Trimmed Certificate plan_rows RowPlan apply_rows AppliedRows
            """.split()
        ),
    ),
    "training": Page(
        "Training",
        "Vocabularies made of texts: [training a vocabulary](../training.md).",
        tuple(
            """
            train_wordpiece train_bpe train_chinese_bpe count_words WordCounts TextFiles Bpe
            training.ChineseBpe training.save_chinese_bpe training.Segmenter
            training.Progress
            """.split()
        ),
    ),
    "corpora": Page(
        "Datasets and batches",
        "[Tables and files of texts to ids](../corpora.md), and [batches for"
        " training](../training_batches.md).",
        tuple(
            """
            encode_files EncodedFiles TokenizeBatch DataCollatorWithPadding
            DataCollatorWithFlattening DataCollatorForLanguageModeling DataCollatorForWholeWordMask
            """.split()
        ),
    ),
    "building_blocks": Page(
        "Building blocks",
        "The parts that the tokenizers are made of, for [tokenizers of your"
        " own](../results.md#building-blocks).",
        tuple(
            """
            Trie Vocabulary load_vocab BasicTokenizer WordpieceTokenizer CharacterTokenizer
            MecabTokenizer tokenizer_json.read_tokenizer_json
            tokenizer_json.write_tokenizer_json google_bert.FullTokenizer google_bert.BasicTokenizer
            google_bert.WordpieceTokenizer google_bert.load_vocab google_bert.convert_by_vocab
            google_bert.convert_tokens_to_ids google_bert.convert_ids_to_tokens
            google_bert.convert_to_unicode
            """.split()
        ),
    ),
    "others": Page(
        "Other libraries",
        "A tokenizer as the object that another library asks for: [other"
        " libraries](../clients.md).",
        ("clients.to_transformers", "clients.to_rust"),
    ),
    "errors": Page(
        "Error classes",
        "The classes with their attributes. [Errors](../errors.md) says what causes each, and what"
        " to do.",
        tuple(
            """
            TrietokError FileError FileFormatError InputError InputTypeError InterruptedSaveError
            MissingDependencyError
            NotSupportedError OptionError PositionError SpecialTokenError
            TokenIdError TokenizerClassError UnknownTokenError VocabularyError
            """.split()
        ),
    ),
}

# What is no class or function: in a few words, and on its page.
_VALUES = {
    "kernel": (
        "Whether texts are encoded by the compiled kernel.",
        (
            "`trietok.kernel` is a str: `compiled` where texts are encoded by [the compiled"
            " kernel](../benchmarks.md#the-compiled-kernel), `plain` where Python does it. It is"
            " asked anew each time."
        ),
    ),
    "__version__": ("The version, as a str.", "`trietok.__version__` is a str, such as `1.2.3`."),
}


def page_text(name: str) -> str:
    """The Markdown of a page."""
    page = PAGES[name]
    objects = (
        _value(public) if public in _VALUES else _object(name, public) for public in page.names
    )
    return "\n\n".join([f"# {page.title}", page.text, *objects]) + "\n"


def _value(public: str) -> str:
    return f"## `{public}` {{ #{anchor(public)} }}\n\n{_VALUES[public][1]}"


def anchor(public: str) -> str:
    """Where a name stands on its page."""
    return f"trietok.{public.strip('_')}"  # Markdown would make bold letters of __version__


def _object(name: str, public: str) -> str:
    if public in WITH_PARENTS:
        members = [
            _directive(f"{public}.{member}", "heading_level: 3") for member in _members(public)
        ]
        return "\n\n".join([_directive(public, "members: false"), *members])
    return _directive(public, *(["members: false"] if name in WITHOUT_MEMBERS else []))


def _directive(public: str, *options: str) -> str:
    return "\n".join(
        [
            f"::: trietok.{public}",
            *(["    options:"] if options else []),
            *(f"      {each}" for each in options),
        ]
    )


def _members(public: str) -> list[str]:
    """The public members of a class and its parents: those that come first, other methods, then
    what is no method.
    """
    shown = getattr(importlib.import_module("trietok"), public)
    of_trietok = [each for each in shown.__mro__ if each.__module__.startswith("trietok.")]
    names = dict.fromkeys(
        name
        for each in of_trietok
        for name, value in vars(each).items()
        if (not name.startswith("_") or name == "__call__") and inspect.getdoc(value)
    )
    methods = [name for name in names if callable(getattr(shown, name))]
    first = [name for name in FIRST if name in methods]
    return [
        *first,
        *(name for name in methods if name not in first),
        *(name for name in names if name not in methods),
    ]


_CODE = re.compile(r"^ *```.*?^ *```$|(\bsee )?`([^`\n]+)`", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"docs/([\w/]+)\.md")


def with_references(docstring: str, of: str = "") -> str:
    """A docstring in which names that the reference shows, and pages of docs/, are links.

    A class is a link wherever it is named, a function where the docstring says to see it: `lock`
    may be a parameter.

    Args:
        docstring: its Markdown.
        of: the name that it belongs to, which is no link in its own docstring.

    >>> with_references(
    ...     "As `BatchEncoding`; see `plan_rows`, or `docs/saving.md`. `lock` is a file."
    ... )
    'As [`BatchEncoding`][trietok.BatchEncoding]; see [`plan_rows`][trietok.plan_rows], or
    [Loading and saving](../saving.md). `lock` is a file.'
    """

    def linked(code: re.Match[str]) -> str:
        see, name = code[1] or "", code[2] or ""
        page = _PAGE.fullmatch(name)
        if page:
            return f"{see}[{_title(page[1])}](../{page[1]}.md)"
        home = _HOMES.get(name.removeprefix("trietok."))
        if home is None or name == of or not (see or name[0].isupper()):
            return code[0]
        return f"{see}[`{name}`][trietok.{home}]"

    return _CODE.sub(linked, docstring)


# What a docstring calls a public name, which is its last part where two modules do not share it, to
# the whole of it.
_HOMES = {
    short: public
    for page in PAGES.values()
    for public in page.names
    if public not in _VALUES
    for short in {
        public,
        public if public.startswith("google_bert.") else public.rpartition(".")[2],
    }
}


def _title(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def index_text() -> str:
    """The page of all names: the first methods, then each page's names, a line for each with what
    it is.
    """
    text = (
        "Every public name; its page has its signature, its docstring and its source. What is not"
        " listed here may change without notice. The commands are in [commands and"
        " options](commands.md)."
    )
    home = "tokenizers.md#trietok.BertTokenizer"
    first = [
        (f"[`tokenizer.{name}`]({home}.{name})", _summary("BertTokenizer", name)) for name in FIRST
    ]
    parts = ["# Every name", text, "## To begin with", _list(first)]
    for name, page in PAGES.items():
        rows = [
            (f"[`trietok.{each}`]({name}.md#{anchor(each)})", _summary(each)) for each in page.names
        ]
        parts += [f"## [{page.title}]({name}.md)", _list(rows)]
    return "\n\n".join(parts) + "\n"


def _list(rows: list[tuple[str, str]]) -> str:
    return "\n".join(
        ["| name | what it is |", "| --- | --- |", *(f"| {link} | {said} |" for link, said in rows)]
    )


def _summary(public: str, method: str = "") -> str:
    """The first sentence of a docstring, for a cell of a table."""
    if public in _VALUES:
        return _VALUES[public][0]
    module, _, attribute = f"trietok.{public}".rpartition(".")
    shown = getattr(importlib.import_module(module), attribute)
    said = inspect.getdoc(getattr(shown, method) if method else shown) or ""
    sentence = re.split(r"(?<=\.)\s", " ".join(said.partition("\n\n")[0].split()))[0]
    return re.sub(r"[|<]", lambda found: {"|": "\\|", "<": "&lt;"}[found[0]], sentence).rstrip(":")
