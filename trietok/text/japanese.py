"""What transformers' `BertJapaneseTokenizer` does with a text, stage by stage.

In: a text. Out: its tokens, ids and spans. Around words it does what the slow profile does:
lower-casing around the tokens that are matched as they are written, and the cut at added tokens.
The words are those of the basic tokenizer or of an analyzer, and the subwords those of WordPiece,
or characters. An analyzer is given the text composed by compatibility (NFKC), unless an option says
otherwise; a character that becomes several gives its span to each of them.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from trietok.errors import EXTRAS, InputError, MissingDependencyError, NotSupportedError, installing
from trietok.forks import ForkableLock
from trietok.later import Any, Self
from trietok.text.alignment import UNWATCHED, AlignedText, Span, StageName, Watch, places
from trietok.text.changes import Changeable
from trietok.text.normalizers import NormalFormOfPython, run
from trietok.text.stages import Stages, Word, require_text

_COMPATIBILITY = NormalFormOfPython("NFKC", "compatibility")


class CharacterTokenizer(Changeable):
    """Splits words into characters, with the parameters of transformers' `CharacterTokenizer`.

    Args:
        vocab: the entries; anything with `in`.
        unk_token: the token for a character that is no entry.
        normalize_text: compose by compatibility (NFKC) first.

    >>> CharacterTokenizer({"ア": 0, "a": 1}, "[UNK]").tokenize("ｱab")
    ['ア', 'a', '[UNK]']
    """

    def __init__(
        self, vocab: Mapping[str, Any], unk_token: str, normalize_text: bool = True
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.normalize_text = normalize_text

    def tokenize(self, text: str) -> list[str]:
        """The characters of a text."""
        require_text(text)
        if self.normalize_text:
            text = _COMPATIBILITY(text)
        vocab, unknown = self.vocab, self.unk_token
        return [char if char in vocab else unknown for char in text]

    def locate(self, word: AlignedText) -> AlignedText:
        """The characters of a word, each with its span: as many as `tokenize` gives."""
        return _COMPATIBILITY(word) if self.normalize_text else word


# ---- words: MeCab, Sudachi and Juman++, with the parameters that transformers gives them ---------
#
# The analyzers are packages of their own: each is imported when a tokenizer that needs it is made.
# An analyzer works on one text at a time, so threads take turns at it. It is never pickled, but
# made again when it is next needed.


PlacedWord = tuple[
    str, int, int
]  # a word, and where it begins and ends in the text that was analyzed
MECAB_DICTIONARIES = ("ipadic", "unidic_lite", "unidic")


class _Analyzer:
    """An analyzer that is made when it is first needed, and used by one thread at a time.

    Args:
        make: makes it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._lock = ForkableLock()

    def ask(self, question: Callable[[Any], list[Any]]) -> list[Any]:
        """What a function makes of the analyzer."""
        with self._lock.held(self._forget):
            if self._made is None:
                self._made = self._make()
            return question(self._made)

    @property
    def made(self) -> Any:
        """The analyzer itself."""
        self.ask(lambda _: [])
        return self._made

    def _forget(self) -> None:
        """In a forked process: nobody knows what another thread's analyzer was at."""
        self._made = None


class MorphemeTokenizer(Changeable):
    """The base of the three: what is done to a text before it is analyzed, and to its words
    afterwards.

    Args:
        do_lower_case: lower-case the words.
        never_split: words that are not lower-cased. They may still be split, as in transformers.
        normalize_text: compose the text by compatibility (NFKC) before it is analyzed.
        trim_whitespace: strip whitespace from words, and leave out words of whitespace.
    """

    def __init__(
        self,
        do_lower_case: bool = False,
        never_split: Iterable[str] | None = None,
        normalize_text: bool = True,
        trim_whitespace: bool = False,
    ) -> None:
        self.do_lower_case = do_lower_case
        self.never_split = list(never_split or ())
        self.normalize_text = normalize_text
        self.trim_whitespace = trim_whitespace
        self._analyzer = _Analyzer(self._make)
        self._analyzer.ask(lambda _: [])  # what is missing is missed now, and not at the first text

    # ---- what an analyzer defines ----------------------------------------------------------------

    @abstractmethod
    def _make(self) -> Any:
        """A new analyzer, by the options of this tokenizer."""

    @abstractmethod
    def _surfaces(self, analyzer: Any, text: str) -> list[str]:
        """The words of a text."""

    def _places(self, analyzer: Any, text: str) -> list[PlacedWord]:
        """The words of a text, each with its place; between is only what the analyzer omits."""
        found: list[PlacedWord] = []
        end = 0
        for surface in self._surfaces(analyzer, text):
            start = text.find(surface, end)
            if start < 0:
                raise NotSupportedError(
                    f"{type(self).__name__} gives the word {surface!r:.60}, which does not stand in"
                    " the text, so it cannot tell which characters it stands for",
                    name="return_offsets_mapping",
                )
            end = start + len(surface)
            found.append((surface, start, end))
        return found

    # ---- the same for all ------------------------------------------------------------------------

    def tokenize(
        self, text: str, never_split: Iterable[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Split a text into words.

        Args:
            text: any string without lone surrogates.
            never_split: more words that are not lower-cased, in this call.
            **kwargs: without effect, as in transformers.

        Raises:
            InputError: the analyzer cannot read the text.
        """
        require_text(text)
        if self.normalize_text:
            text = _COMPATIBILITY(text)
        words: list[str] = self._asked(self._surfaces, text)
        if self.do_lower_case:
            kept = {*self.never_split, *(never_split or ())}
            words = [word if word in kept else word.lower() for word in words]
        if self.trim_whitespace:
            words = [stripped for stripped in map(str.strip, words) if stripped]
        return words

    def locate(
        self, part: AlignedText, never_split: Collection[str], watch: Watch
    ) -> Iterator[AlignedText]:
        """The words of a text, each character with its span; see `tokenize`."""
        text = run((_COMPATIBILITY,), part, watch) if self.normalize_text else part
        kept = {*self.never_split, *never_split} if self.do_lower_case else ()
        for surface, start, end in self._asked(self._places, text.text):
            word = text[start:end]
            watch.analyzed(text, start, end)
            # written in another way than the text: all of it stands for all of that
            if word.text != surface:
                first, last = text.span(start, end)
                word = AlignedText(surface, [first] * len(surface), [last] * len(surface))
            if self.do_lower_case:
                given, word = word, word if word.text in kept else word.lower()
                watch.changed("lower-case", given, word)
            if self.trim_whitespace:
                left = len(word.text) - len(word.text.lstrip())
                word = word[left : left + len(word.text.strip())]
            if word.text:
                yield word

    def _asked(self, method: Callable[[Any, str], list[Any]], text: str) -> list[Any]:
        try:
            return self._analyzer.ask(lambda analyzer: method(analyzer, text))
        except UnicodeEncodeError as error:
            raise InputError(
                f"{type(self).__name__} cannot read the text: its character {error.start} is"
                f" {text[error.start]!r}, half of a surrogate pair; take such characters out, as by"
                " text.encode('utf-8', 'ignore').decode()"
            ) from None

    def snapshot(self) -> Self:
        """A copy of the options as they are now, with the same analyzer."""
        other = super().snapshot()
        other.never_split = list(self.never_split)
        other._analyzer = self._analyzer
        return other

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_analyzer", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__["_analyzer"] = _Analyzer(self._make)


class MecabTokenizer(MorphemeTokenizer):
    """MeCab, through fugashi: words as a dictionary has them. Spaces between words go.

    Args:
        do_lower_case: lower-case the words.
        never_split: words that are not lower-cased. They may still be split, as in transformers.
        normalize_text: compose the text by compatibility (NFKC) before it is analyzed.
        mecab_dic: the dictionary, a package of its own: `"ipadic"`, `"unidic_lite"` or `"unidic"`;
            None for the one that `mecab_option` names, or the system's.
        mecab_option: more options for MeCab, as on its command line.

    Raises:
        MissingDependencyError: fugashi or the dictionary is not installed.
        InputError: there is no dictionary of that name, or MeCab cannot read what `mecab_option`
            names.
    """

    def __init__(
        self,
        do_lower_case: bool = False,
        never_split: Iterable[str] | None = None,
        normalize_text: bool = True,
        mecab_dic: str | None = "unidic_lite",
        mecab_option: str | None = None,
    ) -> None:
        self.mecab_dic = mecab_dic
        self.mecab_option = mecab_option
        super().__init__(do_lower_case, never_split, normalize_text)

    @property
    def mecab(self) -> Any:
        """The `GenericTagger` of fugashi. Threads that use it directly have to take turns."""
        return self._analyzer.made

    def _make(self) -> Any:
        try:
            import fugashi
        except ImportError as error:
            raise _missing("MeCab", "fugashi") from error
        options = self.mecab_option or ""
        if self.mecab_dic is not None:
            folder = _mecab_dictionary(self.mecab_dic)
            options = f'-d "{folder}" -r "{os.path.join(folder, "mecabrc")}" {options}'
        try:
            return fugashi.GenericTagger(options)
        # it explains in many lines what fugashi needs, and in one of them what is wrong
        except RuntimeError as error:
            reason = re.search(
                r"^.*(?:\.cpp|error message).*$", str(error), re.MULTILINE | re.IGNORECASE
            )
            raise InputError(
                f"MeCab cannot be started with mecab_dic={self.mecab_dic!r:.60} and"
                f" mecab_option={self.mecab_option!r:.120}:"
                f" {reason[0].strip() if reason else 'no dictionary found'}; name a dictionary with"
                f" mecab_dic: {', '.join(MECAB_DICTIONARIES)}"
            ) from error

    def _surfaces(self, analyzer: Any, text: str) -> list[str]:
        return [word.surface for word in analyzer(text)]


class SudachiTokenizer(MorphemeTokenizer):
    """Sudachi, through sudachipy. Whitespace gives words of its own.

    Args:
        do_lower_case, never_split, normalize_text: see `MecabTokenizer`.
        trim_whitespace: strip whitespace from words, and leave out words of whitespace.
        sudachi_split_mode: how long words are: `"A"`, the shortest, `"B"` or `"C"`.
        sudachi_config_path, sudachi_resource_dir: Sudachi's configuration, and its directory.
        sudachi_dict_type: `"small"`, `"core"` or `"full"`, a package of its own.
        sudachi_projection: how words are written, such as `"normalized"`; None: as in the text.

    Raises:
        MissingDependencyError: sudachipy or the dictionary is not installed.
        InputError: there is no such split mode.
    """

    def __init__(
        self,
        do_lower_case: bool = False,
        never_split: Iterable[str] | None = None,
        normalize_text: bool = True,
        trim_whitespace: bool = False,
        sudachi_split_mode: str = "A",
        sudachi_config_path: str | None = None,
        sudachi_resource_dir: str | None = None,
        sudachi_dict_type: str | None = "core",
        sudachi_projection: str | None = None,
    ) -> None:
        if sudachi_split_mode not in ("A", "B", "C"):
            raise InputError(
                f"sudachi_split_mode is {sudachi_split_mode!r:.60}; it is 'A', 'B' or 'C'"
            )
        self.sudachi_split_mode = sudachi_split_mode
        self.sudachi_config_path = sudachi_config_path
        self.sudachi_resource_dir = sudachi_resource_dir
        self.sudachi_dict_type = sudachi_dict_type
        self.sudachi_projection = sudachi_projection
        super().__init__(do_lower_case, never_split, normalize_text, trim_whitespace)

    @property
    def sudachi(self) -> Any:
        """The `Tokenizer` of sudachipy. Threads that use it directly have to take turns."""
        return self._analyzer.made

    def _make(self) -> Any:
        try:
            from sudachipy import dictionary, tokenizer
        except ImportError as error:
            raise _missing("Sudachi", "sudachipy") from error
        try:
            words = dictionary.Dictionary(
                config_path=self.sudachi_config_path,
                resource_dir=self.sudachi_resource_dir,
                dict=self.sudachi_dict_type,
            )
        except ImportError as error:
            raise _missing("Sudachi", f"sudachidict_{self.sudachi_dict_type}") from error
        mode = getattr(tokenizer.Tokenizer.SplitMode, self.sudachi_split_mode)
        create = getattr(words, "tokenizer", None) or words.create  # its name before 0.7
        projection = (
            {} if self.sudachi_projection is None else {"projection": self.sudachi_projection}
        )
        return create(mode, **projection)

    def _asked(self, method: Callable[[Any, str], list[Any]], text: str) -> list[Any]:
        try:
            return super()._asked(method, text)
        except Exception as error:
            if type(error).__name__ != "SudachiError":
                raise
            raise InputError(
                f"Sudachi cannot read a text of {len(text)} characters: {error}"
            ) from error

    def _surfaces(self, analyzer: Any, text: str) -> list[str]:
        return [word.surface() for word in analyzer.tokenize(text)]

    def _places(self, analyzer: Any, text: str) -> list[PlacedWord]:
        return [(word.surface(), word.begin(), word.end()) for word in analyzer.tokenize(text)]


class JumanppTokenizer(MorphemeTokenizer):
    """Juman++, through rhoknp, which runs the program `jumanpp`.

    Args:
        do_lower_case, never_split, normalize_text: see `MecabTokenizer`.
        trim_whitespace: strip whitespace from words, and leave out words of whitespace.

    Raises:
        MissingDependencyError: rhoknp or the program jumanpp is not installed.
    """

    @property
    def juman(self) -> Any:
        """The `Jumanpp` of rhoknp. Threads that use it directly have to take turns."""
        return self._analyzer.made

    def _make(self) -> Any:
        try:
            import rhoknp
        except ImportError as error:
            raise _missing("Juman++", "rhoknp") from error
        analyzer = rhoknp.Jumanpp()
        if not analyzer.is_available():
            raise MissingDependencyError(
                "Juman++ needs the program jumanpp, which is not on the PATH:"
                " github.com/ku-nlp/jumanpp says how to install it",
                extra="rhoknp",
            )
        return analyzer

    def _surfaces(self, analyzer: Any, text: str) -> list[str]:
        return [word.text for word in analyzer.apply_to_sentence(text.strip()).morphemes]


def _mecab_dictionary(name: str) -> str:
    """The folder of one of the dictionaries that are packages."""
    from importlib import import_module

    if name not in MECAB_DICTIONARIES:
        known = ", ".join(MECAB_DICTIONARIES)
        raise InputError(
            f"mecab_dic is {name!r:.60}; it is one of {known}, or None where mecab_option names one"
        )
    try:
        folder: str = import_module(name).DICDIR
    except ImportError as error:
        raise _missing(f"MeCab with the dictionary {name}", name.replace("_", "-")) from error
    if not os.path.isdir(folder):
        raise MissingDependencyError(
            f"the package {name} is there, and its dictionary is not: python -m {name} download",
            extra="ja",
        )
    return folder


def _missing(what: str, package: str) -> MissingDependencyError:
    extra = "ja" if package in EXTRAS["ja"].split() else package
    return MissingDependencyError(
        f"{what} needs the package {package}: {installing(extra)}", extra=extra
    )


class JapaneseStages(Stages):
    """The stages of a Japanese tokenizer at one moment: around words those of the slow profile.

    Its basic tokenizer makes the words where there is no `analyzer`; if it has none, a part between
    added tokens is one word. Its WordPiece makes the subwords where there are no `characters`.

    Args:
        analyzer: makes the words.
        characters: makes the subwords.
        splits: whether words are split into subwords at all.
        others: those of `Stages`.
    """

    go_by_chunks = False

    def __init__(
        self,
        *others: Any,
        analyzer: MorphemeTokenizer | None,
        characters: CharacterTokenizer | None,
        splits: bool = True,
        **more: Any,
    ) -> None:
        super().__init__(*others, **more)
        self._analyzer = analyzer
        self._characters = characters
        self._splits = splits

    @property
    def order(self) -> tuple[StageName, ...]:
        around = super().order
        first = around[: around.index("added-tokens") + 1]
        if self._analyzer is not None:
            stages: list[tuple[StageName, object]] = [
                ("compatibility", self._analyzer.normalize_text),
                ("words", True),
            ]
            stages += [("lower-case", self._analyzer.do_lower_case)]
            first = (*first, *(name for name, is_on in stages if is_on))
        elif self.basic is not None:
            first = around[:-1]
        if not self._splits:
            return first
        return (*first, "wordpiece" if self._characters is None else "characters")

    def words_of(self, part: str) -> list[str]:
        words = self._analyzer or self.basic
        return [part] if words is None else words.tokenize(part, self.never_split)

    def pieces_of(self, word: str) -> list[str]:
        if not self._splits:
            return [word]
        return (self._characters or self.wordpiece).tokenize(word)

    def words(self, part: AlignedText, watch: Watch = UNWATCHED) -> Iterator[Word]:
        for word in self._located_words(part, watch):
            text = word.text
            if not self._splits:
                yield word, 0, len(text), self.pieces_of(text)
            elif self._characters is not None:
                chars = self._characters.locate(word)
                yield chars, 0, len(chars.text), self.pieces_of(text)
            else:
                for piece, start, end in places(text, text.split()):
                    yield word, start, end, self.wordpiece.pieces_of(piece)

    def _located_words(self, part: AlignedText, watch: Watch) -> Iterator[AlignedText]:
        if self._analyzer is not None:
            yield from self._analyzer.locate(part, self.never_split, watch)
        elif self.basic is not None:
            for text, start, end in self.places_of_words(part, watch):
                yield text[start:end]
        else:
            yield part

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        if self._splits and self._characters is not None:
            return [word.span(place, place + 1) for place in range(start, end)]
        return super().spans_of(word, start, end, pieces)
