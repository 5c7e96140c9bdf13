"""A tokenizer as a class of transformers, and as a `tokenizers.Tokenizer`, for programs that work
with nothing else.

In: a tokenizer. Out of `to_rust`: the Rust object, made of the tokenizer.json that the tokenizer
would save. Out of `to_transformers`: a copy whose class inherits from the tokenizer's class first
and from transformers' base second, for programs that ask by `isinstance`: every method that trietok
has is trietok's. It works with transformers 4.57 and 5, and registers nothing there: a class of the
name BertTokenizer that is registered would take over every BERT directory that the process loads.
"""

from __future__ import annotations

import copy
import logging
import os
import re
import tempfile
from importlib import import_module
from types import SimpleNamespace, new_class
from typing import TYPE_CHECKING, Any, Literal

import trietok
from trietok.errors import InputTypeError, MissingDependencyError, NotSupportedError, errors_naming
from trietok.files.formats import GENERIC_FAST, JAPANESE, TOKENIZER_FILE
from trietok.files.save import save_files_of
from trietok.files.tokenizer_json_content import WordPieceDecoder
from trietok.files.tokenizer_json_writer import unsayable
from trietok.inputs.post_processors import bare_pieces, template_processing_of
from trietok.inputs.settings import SLOW_WITH_DETAILS
from trietok.inputs.template import BERT
from trietok.locks import ForkSafeLock
from trietok.text.wordpiece import BERT_LONGEST_WORD, BERT_PREFIX
from trietok.tokenizer import base, bert
from trietok.tokenizer.auto import fast_class_of
from trietok.workbench.comparing.compare import SENTENCES


def package(name: str, needed_by: str) -> Any:
    """The package, imported; an error where it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the package is there, and lacks one of its own
            raise
        raise MissingDependencyError(
            f"{needed_by} needs the package {name}: pip install {name}", extra=name
        ) from None


def class_of_ours(tokenizer: Any) -> type[Any]:
    """The class of a tokenizer, or the nearest class of trietok that it inherits from."""
    kinds: tuple[type[Any], ...] = type(tokenizer).__mro__
    found: type[Any] = next(kind for kind in kinds if getattr(trietok, kind.__name__, None) is kind)
    return found


def has_methods_of_its_own(tokenizer: Any) -> bool:
    """Whether a class of a user's changes how texts are encoded."""
    own: bool = tokenizer.snapshot().has_own_code
    return own


def refuse_what_no_file_says(tokenizer: Any, name: str) -> None:
    """Raise a NotSupportedError for a fast tokenizer that finds added tokens as they were before
    they were added again.

    A copy, and whatever reads its tokenizer.json, would find them in other texts, or skip others
    when decoding.
    """
    if tokenizer.profile == "fast" and tokenizer._table.added.remembers(tokenizer.basic_tokenizer):
        raise NotSupportedError(
            f"this {type(tokenizer).__name__} looks for an added token as it was before it was"
            " added again with other flags, or before the normalization was changed, which no file"
            f" says; save the tokenizer, load it, and pass {name} what was loaded, which has the"
            " ids that transformers gives then",
            name=name,
        )


def named_kind(value: Any) -> str:
    """What something is that is no tokenizer of trietok, for a message.

    >>> named_kind("trietok-en"), named_kind(str)
    ('a str', 'the class str')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    owner = type(value).__module__.partition(".")[0]
    whose = f"{owner}'" if owner in ("transformers", "tokenizers") else "a"
    return f"{whose} {type(value).__name__}"


_MOST_NAMED = 20


def to_rust(tokenizer: Any, *, allow_differences: bool = False) -> Any:
    """A `tokenizers.Tokenizer` with the ids of a tokenizer; tokenizers 0.22, 0.23 and 1.0 make one.

    It truncates and pads as the tokenizer.json says with which the tokenizer was loaded;
    `no_truncation()` and `no_padding()` of what is made switch that off. (In tokenizers 1.0, pass
    `truncation=None` and `padding=None` to `encode`.)

    Args:
        tokenizer: a tokenizer of the fast profile; later changes of it do not change what is made.
        allow_differences: take one of the slow profile, too, or one that finds tokens as they were
            before they were added again. The Rust tokenizer gives some texts other ids:
            `docs/profiles.md` lists what differs, and a warning in the log names examples.

    Raises:
        InputTypeError: it is no `BertTokenizer` or relative of trietok.
        NotSupportedError: it is of the slow profile, or finds tokens as they were before they were
            added again, and `allow_differences` is False; or a Rust tokenizer cannot be what it is,
            and the message names what. With tokenizers 1.0 that is `split_special_tokens`, too.
        VocabularyError: the ids cannot be kept: the vocabulary has holes or a token on two lines.
        MissingDependencyError: the package tokenizers is not installed.

    >>> import trietok
    >>> from trietok.clients import to_rust
    >>> tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    >>> rust = to_rust(tokenizer)  # doctest: +SKIP
    >>> rust.encode("a text").ids == tokenizer.encode("a text")  # doctest: +SKIP
    True
    """
    if not isinstance(tokenizer, bert.BertTokenizer):
        message = (
            "to_rust takes a BertTokenizer of trietok or a relative of it, not"
            f" {named_kind(tokenizer)}"
        )
        raise InputTypeError(message, value=tokenizer)
    if has_methods_of_its_own(tokenizer):
        message = (
            f"this {type(tokenizer).__name__} has methods of its own, which a Rust tokenizer"
            " would not call"
        )
        raise NotSupportedError(message, name="to_rust")
    if not allow_differences:
        refuse_what_no_file_says(tokenizer, "to_rust")
    if tokenizer.profile == "slow" and not allow_differences:
        fast = fast_class_of(class_of_ours(tokenizer))
        if fast is None:
            raise NotSupportedError(
                f"a {type(tokenizer).__name__} splits texts into words in ways that a Rust"
                " tokenizer does not have",
                name="to_rust",
            )
        raise NotSupportedError(
            f"a {type(tokenizer).__name__} is of the slow profile, and a Rust tokenizer gives"
            " some texts other ids, such as those with characters newer than Unicode 9"
            f" (docs/profiles.md lists all). Use the fast profile ({fast.__name__}), or"
            " pass allow_differences=True",
            name="to_rust",
        )
    problems = unsayable(tokenizer) if tokenizer.profile == "slow" else ()
    if problems:
        raise NotSupportedError(
            f"a Rust tokenizer cannot be what this {type(tokenizer).__name__} is:"
            f" {'; '.join(problems)}. Change that, or use the tokenizer as it is",
            name="to_rust",
        )
    tokenizers = package("tokenizers", "to_rust")
    with tempfile.TemporaryDirectory(prefix="trietok-") as folder:
        with errors_naming("", instead_of=folder):
            save_files_of(tokenizer, folder, tokenizer_json=True)
        made = tokenizers.Tokenizer.from_file(os.path.join(folder, TOKENIZER_FILE))
    if hasattr(made, "encode_special_tokens"):
        made.encode_special_tokens = bool(tokenizer.split_special_tokens)
    elif tokenizer.split_special_tokens:
        raise NotSupportedError(
            f"split_special_tokens is True, which a Tokenizer of tokenizers"
            f" {tokenizers.__version__} does not keep: set it to False, and pass"
            " encode_special_tokens=True to each encode; or install tokenizers 0.22 or 0.23",
            name="split_special_tokens",
        )
    if allow_differences:
        _warn_of_differences(tokenizer, made)
    return made


def _warn_of_differences(tokenizer: Any, rust: Any) -> None:
    """Warn of sentences to which a Rust tokenizer gives other ids than the tokenizer it is made
    of.
    """
    differing = [
        text for text in SENTENCES if rust.encode(text).ids != tokenizer.encode(text, verbose=False)
    ]
    if differing:
        logger.warning(
            "the Rust tokenizer gives other ids to %d of %d sentences: %s",
            len(differing),
            len(SENTENCES),
            "; ".join(map(repr, differing[:_MOST_NAMED])),
        )


# No class of trietok is imported by its name: under that this module gives the one for
# transformers, which pickle asks for. Were BertTokenizer imported here, the class made of it could
# not be pickled.
if TYPE_CHECKING:
    _Ours = bert.BertTokenizer
else:
    _Ours = object

logger = logging.getLogger("trietok")

# The class of transformers 5 with the ids of the slow profile. transformers 4 has none of that
# name, and says so.
_LEGACY = "BertTokenizerLegacy"
_SIGMA = re.compile("[\N{GREEK SMALL LETTER SIGMA}\N{GREEK SMALL LETTER FINAL SIGMA}]")


def to_transformers(tokenizer: Any, *, allow_differences: bool = False) -> Any:
    """A copy of a tokenizer that is a `transformers.PreTrainedTokenizerBase` too.

    It gives the ids, the offsets and the errors of the tokenizer. Its `is_fast` is True in both
    profiles, since programs take that to mean that results have `word_ids` and the like; so
    overflowing tokens make rows of their own.

    What it saves, transformers' `AutoTokenizer` reads with the same ids or refuses. A slow
    tokenizer is saved as a `BertTokenizerLegacy`, which transformers 5 has; `AutoTokenizer` of
    transformers 4 says that there is no such class, where it would read a `BertTokenizer` as a
    `BertTokenizerFast`, with other ids. `transformers.BertTokenizer` of version 4, and trietok,
    read it as it is. That class of transformers 5 finds some added tokens in fewer texts: with
    transformers 5, saving a slow tokenizer that has such a token is an error. It also lower-cases a
    Greek capital sigma at the end of a word to another letter, and saving a tokenizer for which
    that makes a difference warns of it.

    Args:
        tokenizer: of either profile; later changes of it do not change the copy.
        allow_differences: save a slow tokenizer all the same: as what transformers 5 reads best, or
            by its own name, which transformers 4 reads as a fast one.

    Raises:
        InputTypeError: it is no tokenizer of trietok.
        NotSupportedError: transformers has no class that would read it with the same ids once it is
            saved, or it finds added tokens as they were before they were added again, and
            `allow_differences` is False.
        MissingDependencyError: transformers is not installed.

    >>> import trietok
    >>> from trietok.clients import to_transformers
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> theirs = to_transformers(tokenizer)  # doctest: +SKIP
    >>> (
    ...     isinstance(theirs, transformers.PreTrainedTokenizerBase),
    ...     theirs("a text").word_ids(),
    ... )  # doctest: +SKIP
    (True, [None, 0, 1, 1, None])
    """
    if not isinstance(tokenizer, base.PreTrainedTokenizer):
        message = (
            f"to_transformers takes a tokenizer of trietok, not {named_kind(tokenizer)}; load"
            " it with "
        )
        raise InputTypeError(f"{message}trietok.AutoTokenizer.from_pretrained", value=tokenizer)
    if isinstance(tokenizer, ForTransformers):
        return tokenizer
    reader = _class_that_reads(tokenizer)
    if not allow_differences:
        if reader is None:
            way_out = "or pass allow_differences=True if transformers is not to read what you save"
            raise NotSupportedError(f"{_why_not(tokenizer)}, {way_out}", name="to_transformers")
        refuse_what_no_file_says(tokenizer, "to_transformers")
    kind = class_for(type(tokenizer))
    missed = None if allow_differences or reader != _LEGACY else _missed_by_legacy(tokenizer)
    if missed and not _is_four():
        logger.warning(
            "what to_transformers gives cannot be saved: transformers would read it as a %s,"
            " which finds the added token %s. Saving it raises an error, also when a Trainer"
            " saves a checkpoint. Pass allow_differences=True to save it all the same,"
            " or use the fast profile",
            _LEGACY,
            missed,
        )
    made = copy.deepcopy(tokenizer)
    made.__class__ = kind
    made.__dict__["allow_differences"] = allow_differences
    return made


def _class_that_reads(tokenizer: Any) -> str | None:
    """The name of the class as which transformers reads a saved tokenizer with the same ids; None
    if there is none.
    """
    if has_methods_of_its_own(tokenizer):
        return None
    if tokenizer.profile == "fast":
        name = _without_fast(class_of_ours(tokenizer))
        return name if _is_of_its_settings(tokenizer) else GENERIC_FAST
    if class_of_ours(tokenizer).__name__ == JAPANESE:
        return JAPANESE
    return (
        _LEGACY
        if isinstance(tokenizer, bert.BertTokenizer) and tokenizer.template == BERT
        else None
    )


def _is_four() -> bool:
    """Whether it is transformers 4 that is installed, and not 5."""
    return str(package("transformers", "to_transformers").__version__).startswith("4.")


def _is_of_its_settings(tokenizer: Any) -> bool:
    """Whether a fast tokenizer is what its class makes of the vocabulary, the roles and the
    settings alone.

    transformers 5 reads no more of the directory of a BERT class. As its generic class it reads all
    of tokenizer.json.
    """
    wordpiece, made = (
        tokenizer.wordpiece_tokenizer,
        template_processing_of(tokenizer, tokenizer.rust_template),
    )
    pieces = bare_pieces if tokenizer.post_processor is None else tokenizer.post_processor.pieces
    return (
        tokenizer.basic_tokenizer.clean_text
        and (wordpiece.continuing_subword_prefix, wordpiece.max_input_chars_per_word)
        == (BERT_PREFIX, BERT_LONGEST_WORD)
        and tokenizer.decoder == WordPieceDecoder()
        and all(pieces(pair) == made.pieces(pair) for pair in (False, True))
    )


def _why_not(tokenizer: Any) -> str:
    """Why no class of transformers reads a saved tokenizer with the same ids, and what else its
    owner can do.
    """
    name = type(tokenizer).__name__
    if not isinstance(tokenizer, bert.BertTokenizer):
        return f"transformers has no {name} to read a saved one with; use the tokenizer as it is"
    differs = (
        f"transformers reads a saved {name} as one of its Rust tokenizers, which gives some texts"
        " other ids"
    )
    if tokenizer.profile == "slow" and fast_class_of(class_of_ours(tokenizer)) is not None:
        return f"{differs}; use the fast profile"
    return f"{differs}, or refuses it; use the tokenizer as it is"


def _lowers(tokenizer: Any) -> bool:
    return bool(tokenizer.do_basic_tokenize and tokenizer.basic_tokenizer.do_lower_case)


def _missed_by_legacy(tokenizer: Any) -> str | None:
    """An added token that transformers 5's slow class finds in fewer texts than ours, and in which;
    None if none is.
    """
    lowers = _lowers(tokenizer)
    for token in tokenizer.added_tokens_decoder.values():
        if lowers and token.content == token.content.lower() != token.content.upper():
            return f"{token.content!r:.60} as it is written, not in {token.content.upper()!r:.60}"
        if token.single_word:
            return f"{token.content!r:.60} between spaces, not beside punctuation"
    return None


def _without_fast(kind: type[Any]) -> str:
    """The name of a class as tokenizer_config.json has it."""
    return kind.__name__.removesuffix("Fast")


def _source(kind: type[Any]) -> type[Any]:
    """The class of trietok that a class for transformers was made of; any other class itself."""
    source: type[Any] = kind.__dict__.get("source", kind)
    return source


class ForTransformers(_Ours):
    """What the classes for transformers have beside the methods of both sides. Not used by
    itself.
    """

    source: type[Any]  # the class of trietok that the class was made of
    allow_differences: bool = False  # see `to_transformers`
    # What transformers' own classes set when they are made.
    verbose: bool = True
    _processor_class: str | None = None
    _in_target_context_manager: bool = False
    _auto_class: str | None = None

    @property
    def is_fast(self) -> Literal[True]:
        """True: results have details, and overflow makes rows of its own."""
        return True

    @property
    def backend_tokenizer(self) -> Any:
        """The tokenizer as a `tokenizers.Tokenizer`; see `to_rust`. Changes of it change nothing
        here.
        """
        snapshot, kept = self.snapshot(), self.__dict__.get("_rust")
        if kept is None or kept[0] is not snapshot:
            made = to_rust(self, allow_differences=self.allow_differences)
            kept = self.__dict__["_rust"] = snapshot, made
        return kept[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the tokenizer gives, as a `BatchEncoding` that is one of transformers' too: spaCy
        asks for that.
        """
        result = super().__call__(*args, **kwargs)
        result.__class__ = _class_of_results()
        return result

    @property
    def _tokenizer(self) -> Any:  # what programs call it that reach behind the interface
        if self.profile == "fast" or self.allow_differences:
            return self.backend_tokenizer
        # Pipelines read the prefix alone, to know which tokens continue a word.
        prefix = getattr(self.wordpiece_tokenizer, "continuing_subword_prefix", None)
        return SimpleNamespace(model=SimpleNamespace(continuing_subword_prefix=prefix))

    def class_to_save(self) -> dict[str, Any]:
        """What tokenizer_config.json says of the class: one that transformers reads with the same
        ids.
        """
        name = _class_that_reads(self)
        is_four = _is_four()
        if name is None or (self.allow_differences and is_four):
            name = _without_fast(_source(type(self)))
        # Some classes of transformers 5 give fewer inputs by themselves: that of the slow profile
        # no token type ids.
        said = {"tokenizer_class": name, "model_input_names": list(self.model_input_names)}
        if self._processor_class is not None:  # a processor says so before it saves its tokenizer
            said["processor_class"] = self._processor_class
        if name == _LEGACY:
            self._say_what_differs_in_legacy(is_four)
        return said

    def _say_what_differs_in_legacy(self, is_four: bool) -> None:
        missed = _missed_by_legacy(self)
        if missed and not (is_four or self.allow_differences):
            raise NotSupportedError(
                f"transformers reads what would be saved as a {_LEGACY}, which finds the added"
                f" token {missed}; save the tokenizer that to_transformers was given, for trietok"
                " to read, or pass it allow_differences=True",
                name="save_pretrained",
            )
        if is_four:
            self.warn_once(
                "saved-as-legacy",
                f"the tokenizer is saved as a {_LEGACY}, which AutoTokenizer of transformers 4"
                " refuses, where it would read a BertTokenizer with the ids of BertTokenizerFast;"
                " load it with transformers.BertTokenizer or trietok.AutoTokenizer, or use the"
                " fast profile. transformers 5 reads it with the same ids"
                + (f", but finds the added token {missed}" if missed else ""),
            )
        if _lowers(self) and any(map(_SIGMA.search, self.get_vocab())):
            self.warn_once(
                "sigma",
                f"transformers 5 reads the tokenizer as a {_LEGACY}, which gives a word in Greek"
                " capitals that ends in \N{GREEK CAPITAL LETTER SIGMA} other ids: it lower-cases"
                f" whole words, as Greek is written, and {_source(type(self)).__name__} letter by"
                " letter. All other words have the same ids",
            )

    def __reduce_ex__(self, protocol: Any) -> Any:
        # By the class of trietok: the class here is made anew where the copy is.
        return _empty, (self.source,), self.__getstate__()


def _empty(source: type[Any]) -> Any:
    return object.__new__(class_for(source))


_classes: dict[type[Any], type[Any]] = {}
_making = ForkSafeLock()


def class_for(source: type[Any]) -> type[Any]:
    """The class for transformers of a class of trietok, or of a subclass; the same one for the same
    class.

    Those of trietok's own classes are attributes of this module, so that they can be pickled.
    """
    with _making:
        if source not in _classes:
            transformers = package("transformers", "to_transformers")
            # Only the fast profile has the Rust tokenizer that transformers' fast class promises.
            name = (
                "PreTrainedTokenizerFast" if source.profile == "fast" else "PreTrainedTokenizerBase"
            )
            body: dict[str, Any] = {
                "source": source,
                "__module__": __name__,
                "__doc__": source.__doc__,
            }
            if source.profile == "slow":
                body["_input_rules"] = SLOW_WITH_DETAILS
            theirs = getattr(transformers, name)
            named = [pair for each in theirs.__mro__ for pair in vars(each).items()]
            hidden = {each for each, value in named if isinstance(value, property)}
            ours = ForTransformers, source
            body |= {
                each: _Hidden(each)
                for each in hidden
                if not any(hasattr(kind, each) for kind in ours)
            }
            bases = (ForTransformers, source, theirs)
            _classes[source] = new_class(
                source.__name__, bases, exec_body=lambda space: space.update(body)
            )
        return _classes[source]


def _class_of_results() -> type[Any]:
    """The class of results for transformers: all its methods are trietok's."""
    ours = trietok.BatchEncoding
    if ours not in _classes:  # it is asked for with every result: mostly without the lock
        with _making:
            bases = (ours, package("transformers", "to_transformers").BatchEncoding)
            body = {"__module__": __name__, "__doc__": ours.__doc__}
            _classes.setdefault(
                ours, new_class("BatchEncoding", bases, exec_body=lambda space: space.update(body))
            )
    return _classes[ours]


class _Hidden:
    """Stands in the way of a property of transformers, which would hide an attribute of the
    tokenizer's own.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        raise AttributeError(f"{owner.__name__} has no attribute {self._name}")


def __getattr__(name: str) -> type[Any]:
    if name == "BatchEncoding":
        return _class_of_results()
    source = getattr(trietok, name, None) if not name.startswith("_") else None
    if isinstance(source, type) and issubclass(source, base.PreTrainedTokenizer):
        return class_for(source)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
