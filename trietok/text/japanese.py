"""What transformers' `BertJapaneseTokenizer` does with a text, stage by stage.

In: a text. Out: its tokens, ids and spans. Around words it does what the slow profile does:
lower-casing around the tokens that are matched as they are written, and the cut at added tokens.
The words are those of the basic tokenizer or of MeCab, and the subwords those of WordPiece, or
characters. MeCab is given the text composed by compatibility (NFKC), unless an option says
otherwise; a character that becomes several gives its span to each of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from trietok.errors import EXTRAS, InputError, MissingDependencyError, installing
from trietok.locks import ForkSafeLock
from trietok.text.aligned import UNWATCHED, AlignedText, Span, StageName, Watch, places
from trietok.text.normalizers import NormalFormOfPython, run
from trietok.text.pipeline import Pipeline, Word, require_text
from trietok.text.watched import Watched
from trietok.typing_compat import Self

_COMPATIBILITY = NormalFormOfPython("NFKC", "compatibility")


class CharacterTokenizer(Watched):
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


# ---- words: MeCab, with the parameters that transformers gives it --------------------------------
#
# fugashi is imported when a tokenizer that needs it is made. An analyzer works on one text at a
# time, so threads take turns at it. It is never pickled, but made again when it is next needed.


MECAB_DICTIONARIES = ("ipadic", "unidic_lite", "unidic")


class _Analyzer:
    """An analyzer that is made when it is first needed, and used by one thread at a time.

    Args:
        make: makes it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._lock = ForkSafeLock(self._forget)

    def ask(self, question: Callable[[Any], list[Any]]) -> list[Any]:
        """What a function makes of the analyzer."""
        with self._lock:
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


class MecabTokenizer(Watched):
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
        self.do_lower_case = do_lower_case
        self.never_split = list(never_split or ())
        self.normalize_text = normalize_text
        self.mecab_dic = mecab_dic
        self.mecab_option = mecab_option
        self._analyzer = _Analyzer(self._make)
        self._analyzer.ask(lambda _: [])  # what is missing is missed now, and not at the first text

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

    def _places(self, analyzer: Any, text: str) -> list[tuple[int, int]]:
        """The place of each word; only whitespace is between them."""
        places: list[tuple[int, int]] = []
        end = 0
        for surface in self._surfaces(analyzer, text):
            start = text.index(surface, end)
            end = start + len(surface)
            places.append((start, end))
        return places

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
        return words

    def locate(
        self, part: AlignedText, never_split: Collection[str], watch: Watch
    ) -> Iterator[AlignedText]:
        """The words of a text, each character with its span; see `tokenize`."""
        text = run((_COMPATIBILITY,), part, watch) if self.normalize_text else part
        kept = {*self.never_split, *never_split} if self.do_lower_case else ()
        for start, end in self._asked(self._places, text.text):
            word = text[start:end]
            watch.analyzed(text, start, end)
            if self.do_lower_case:
                given, word = word, word if word.text in kept else word.lower()
                watch.changed("lower-case", given, word)
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


def _mecab_dictionary(name: str) -> str:
    """The folder of one of the dictionaries that are packages."""
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


class JapanesePipeline(Pipeline):
    """What a text goes through in a Japanese tokenizer: around words, as in the slow profile.

    The basic tokenizer makes the words if there is no `analyzer`; without either, a part between
    added tokens is one word. WordPiece makes the subwords if there are no `characters`.

    Args:
        *others, **more: those of `Pipeline`.
        analyzer: makes the words.
        characters: makes the subwords.
        splits: whether words are split into subwords at all.
    """

    is_local = False

    def __init__(
        self,
        *others: Any,
        analyzer: MecabTokenizer | None,
        characters: CharacterTokenizer | None,
        splits: bool = True,
        **more: Any,
    ) -> None:
        self._analyzer = analyzer
        self._characters = characters
        self._splits = splits
        super().__init__(*others, **more)

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
