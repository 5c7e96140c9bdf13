"""A byte-pair encoding: training it, splitting words by it, and its files.

In: texts or word counts, and the parameters of tokenizers' `BpeTrainer`. Out: a `Bpe`, vocabulary
and merges; and vocab.json, merges.txt, tokenizer.json, tokenizer_config.json as tokenizers 0.22.2
and transformers 4.57.6 read them.
"""

from __future__ import annotations

import heapq
import json
import os
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from trietok.disk import is_file, read_text
from trietok.errors import FileError, FileFormatError, VocabularyError
from trietok.files.directory import save_together
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    BPE_SPLITTING,
    BPE_VOCAB_FILE,
    CHAT_TEMPLATE_FILE,
    GENERIC_FAST,
    HALF_PAIR,
    MERGES_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)
from trietok.files.json_files import read_json_object
from trietok.files.json_place import BertNormalizer
from trietok.files.load import reading_directory
from trietok.files.tokenizer_json_content import TokenizerJson, WordPieceDecoder
from trietok.files.tokenizer_json_writer import by_id, tokenizer_json_object
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import ReadOnlyDict
from trietok.training.merging import Options, learnt
from trietok.training.word_counts import MAX_WORDS, OnProgress, ToWords

WORD_MARKS = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
# Options of the BPE model of tokenizers that `Bpe` does not have.
_OFF = ("dropout", "fuse_unk", "byte_fallback", "ignore_merges")
_SPACE = re.compile(r"\s")
_LONGEST_INPUT = int(1e30)  # what transformers writes for "no limit"
_ROLES = {"[PAD]": "pad_token", "[CLS]": "cls_token", "[SEP]": "sep_token", "[MASK]": "mask_token"}
_ROLES |= {"<pad>": "pad_token", "<s>": "bos_token", "</s>": "eos_token", "<mask>": "mask_token"}


def vocab_text(vocab: Mapping[str, int]) -> str:
    """vocab.json."""
    return json.dumps(by_id(vocab), ensure_ascii=False, separators=(",", ":"))


def merges_text(merges: Iterable[tuple[str, str]]) -> str:
    """merges.txt."""
    return "\n".join(["#version: 0.2", *(f"{left} {right}" for left, right in merges)]) + "\n"


def _read_arguments(directory: str) -> dict[str, Any]:
    """The arguments of `Bpe` that the files of a directory hold."""
    wanted = (BPE_VOCAB_FILE, MERGES_FILE, TOKENIZER_FILE)
    paths = {name: os.path.join(directory, name) for name in wanted}
    if missing := [name for name in wanted if not is_file(paths[name])]:
        raise FileError(
            f"{directory} has no {missing[0]}; a directory that Bpe.save or `trietok train bpe`"
            f" wrote has {', '.join(wanted)}",
            path=paths[missing[0]],
        )
    vocab, merges = _read_vocab(paths[BPE_VOCAB_FILE]), _read_merges(paths[MERGES_FILE])
    path = paths[TOKENIZER_FILE]
    content = read_json_object(path)
    model, added = _read_model(content, path), content.get("added_tokens")
    if not isinstance(added, list) or not all(
        isinstance(token, dict) and isinstance(token.get("content"), str) for token in added
    ):
        raise FileFormatError(
            f"{path} has no list 'added_tokens' of objects with a 'content'", path=path
        )
    if model.get("vocab") != vocab or model.get("merges") != [list(pair) for pair in merges]:
        raise FileFormatError(
            f"{path} has another vocabulary or other merges than {BPE_VOCAB_FILE} and"
            f" {MERGES_FILE}; the three have to come from one save",
            path=path,
        )
    marks = {name: model.get(name) for name in WORD_MARKS}
    if not all(mark is None or isinstance(mark, str) for mark in marks.values()):
        raise FileFormatError(f"{path}: {', '.join(WORD_MARKS)} are strings or null", path=path)
    special_tokens = [token["content"] for token in added]
    return {"vocab": vocab, "merges": merges, **marks, "special_tokens": special_tokens}


def _read_vocab(path: str) -> dict[str, int]:
    vocab = read_json_object(path)
    for token, token_id in vocab.items():
        if type(token_id) is not int or token_id < 0:
            raise FileFormatError(
                f"{path}: the id of {token!r} is {token_id!r:.60}, not a whole number", path=path
            )
    return vocab


def _read_merges(path: str) -> list[tuple[str, str]]:
    merges = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        if number == 1 and line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            problem = f": {line!r:.60} is not two tokens with a space between them"
            raise FileFormatError.at_line(path, number, problem)
        merges.append((left, right))
    return merges


def _read_model(content: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The model of a tokenizer.json, if `Bpe` supports it."""
    model, splitting = content.get("model"), content.get("pre_tokenizer")
    if not isinstance(model, dict) or model.get("type") != "BPE":
        raise FileFormatError(f"{path} holds no byte-pair encoding", path=path)
    for name in _OFF:
        if model.get(name):
            raise FileFormatError(
                f"{path} has {name}={model[name]!r:.60}, which Bpe does not do", path=path
            )
    if not isinstance(splitting, dict) or splitting.get("type") not in BPE_SPLITTING:
        raise FileFormatError(
            f"{path} makes words in another way than {' or '.join(BPE_SPLITTING)}, the two that"
            " Bpe.save writes; Bpe(vocab, merges) takes the parts as they are",
            path=path,
        )
    return model


def require_utf8(tokens: Iterable[str]) -> None:
    """Refuse tokens that no file can keep."""
    for token in tokens:
        if half := re.search(HALF_PAIR, token):
            raise VocabularyError(
                f"token {token!r} holds half of a surrogate pair, {half[0]!r}, which UTF-8 cannot"
                " keep; nothing was written; take such characters out of the texts, as"
                ' text.encode("utf-8", "replace").decode() does',
                token=token,
            )


_REMEMBERED = 10_000  # words
_LONGEST_KEY = 256  # characters; so the cache stays below a few megabytes


class Bpe:
    """Splits words by merges: the earliest merge that applies is made first, the leftmost of
    several.

    Args:
        vocab: token → id.
        merges: the pairs of tokens, in the order they were learnt.
        unk_token: stands for a character that the vocabulary does not hold; None leaves such
            characters out.
        continuing_subword_prefix: marks a token that continues a word.
        end_of_word_suffix: marks a token at the end of a word.
        special_tokens: the tokens that `save` lists as special.

    >>> bpe = Bpe({"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4}, [("l", "o"), ("lo", "w")])
    >>> bpe.tokenize("lowlo"), bpe.encode("lowlo")
    (['low', 'lo'], [4, 3])

    Attributes:
        vocab, merges: as given, read-only.

    Raises:
        VocabularyError: a merge has or makes a token that is not in the vocabulary, or the unknown
            or a special token is not.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        *,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        special_tokens: Iterable[str] = (),
    ) -> None:
        self.vocab: ReadOnlyDict[str, int] = ReadOnlyDict(vocab)
        self.merges = tuple((left, right) for left, right in merges)
        self.unk_token = unk_token
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.special_tokens = tuple(special_tokens)
        self._ranks = self._ranks_of_merges()
        for token in self.special_tokens:
            if token not in self.vocab:
                raise VocabularyError(
                    f"the special token {token!r} is not in the vocabulary; add it, or leave it out"
                    " of special_tokens",
                    token=token,
                )
        self._remembered: dict[str, tuple[str, ...]] = {}

    @classmethod
    def from_directory(cls, directory: str | os.PathLike[str]) -> Bpe:
        """Load what `save` or `trietok train bpe` wrote.

        A `Bpe` splits words; the caller splits the text into words. For the directories of the
        command, that is done by `BasicTokenizer(do_lower_case=...)`, with False unless the command
        was given `--uncased`.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = Bpe({"l": 0, "o": 1, "lo": 2}, [("l", "o")]).save(folder)
        >>> Bpe.from_directory(folder).tokenize("lolo")
        ['lo', 'lo']

        Raises:
            FileError: vocab.json, merges.txt or tokenizer.json is missing or cannot be read.
            FileFormatError: one of them is damaged, they disagree, or tokenizer.json holds what
                `Bpe` does not do.
            VocabularyError: as `Bpe`.
        """
        place = os.fspath(directory)
        with reading_directory(place, (BPE_VOCAB_FILE, MERGES_FILE, TOKENIZER_FILE)):
            return cls(**_read_arguments(place))

    def tokenize(self, word: str) -> list[str]:
        """Split one word into tokens. O(n log n) for n characters."""
        tokens = self._remembered.get(word)
        if tokens is None:
            tokens = tuple(self._merged(self._characters(word)))
            if len(word) <= _LONGEST_KEY:
                if len(self._remembered) >= _REMEMBERED:
                    self._remembered = {}
                self._remembered[word] = tokens
        return list(tokens)

    def encode(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        return [self.vocab[token] for token in self.tokenize(word)]

    def _ranks_of_merges(self) -> dict[tuple[str, str], tuple[int, str]]:
        """Pair → its place among the merges, and what it becomes."""
        if self.unk_token is not None and self.unk_token not in self.vocab:
            raise VocabularyError(
                f"the unknown token {self.unk_token!r} is not in the vocabulary; add it, or pass"
                " unk_token=None",
                token=self.unk_token,
            )
        marked = len(self.continuing_subword_prefix or "")
        ranks: dict[tuple[str, str], tuple[int, str]] = {}
        for rank, (left, right) in enumerate(self.merges):
            merged = left + right[marked:]
            for token in (left, right, merged):
                if token not in self.vocab:
                    raise VocabularyError(
                        f"merge {rank}, {left!r} and {right!r}, needs the token {token!r}, which is"
                        " not in the vocabulary; vocabulary and merges have to come from one"
                        " training",
                        token=token,
                    )
            ranks[left, right] = rank, merged
        return ranks

    def _characters(self, word: str) -> list[str]:
        """The characters of a word, as the tokens that the merges start from."""
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        last = len(word) - 1
        symbols = (
            prefix * (place > 0) + char + suffix * (place == last)
            for place, char in enumerate(word)
        )
        tokens = (symbol if symbol in self.vocab else self.unk_token for symbol in symbols)
        return [token for token in tokens if token is not None]

    def _merged(self, symbols: list[str]) -> list[str]:
        """Make the merges. The symbols stay where they are, and each knows its neighbors."""
        ranks, end = self._ranks, len(symbols)
        after = list(range(1, end + 1))
        before = list(range(-1, end))
        heap: list[tuple[int, int, str]] = []  # rank, place of the left one, what they become

        def consider(left: int, right: int) -> None:
            if left >= 0 and right < end:
                found = ranks.get((symbols[left], symbols[right]))
                if found is not None:
                    heapq.heappush(heap, (found[0], left, found[1]))

        for place in range(end - 1):
            consider(place, place + 1)
        gone = [False] * end
        while heap:
            _, place, merged = heapq.heappop(heap)
            right = after[place]
            if gone[place] or right >= end:
                continue
            found = ranks.get((symbols[place], symbols[right]))
            if found is None or found[1] != merged:  # its neighbors have changed since
                continue
            symbols[place] = merged
            gone[right] = True
            after[place] = after[right]
            before[after[place]] = place
            consider(before[place], place)
            consider(place, after[place])
        return [symbol for symbol, is_gone in zip(symbols, gone, strict=True) if not is_gone]

    def save(
        self, directory: str | os.PathLike[str], *, do_lower_case: bool | None = None
    ) -> list[Path]:
        """Write vocab.json, merges.txt, tokenizer.json and tokenizer_config.json, all of them or
        none.

        tokenizers loads tokenizer.json, and transformers the directory. Both then make words of a
        text first:

        Args:
            directory: where to; made if need be.
            do_lower_case: None splits texts at whitespace only; True or False also splits at
                punctuation, as BERT does it, and True lower-cases and strips accents.

        Returns:
            The files' paths.

        Raises:
            FileError: something cannot be written; the old files are as they were.
            VocabularyError: a token of a merge holds whitespace, which merges.txt cannot keep, or a
                token half of a surrogate pair.
        """
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix
        require_utf8([*self.vocab, prefix or "", suffix or ""])
        for token in chain.from_iterable(self.merges):
            if _SPACE.search(token):
                told = (
                    f"token {token!r} holds whitespace, which {MERGES_FILE} cannot keep; nothing"
                    " was written"
                )
                raise VocabularyError(told, token=token)
        roles = {_ROLES[token]: token for token in self.special_tokens if token in _ROLES}
        if self.unk_token is not None:
            roles["unk_token"] = self.unk_token
        config = {
            "tokenizer_class": GENERIC_FAST,
            "clean_up_tokenization_spaces": False,
            "model_max_length": _LONGEST_INPUT,
        }

        content = json.dumps(self._tokenizer_json(do_lower_case), indent=2, ensure_ascii=False)
        files = {
            BPE_VOCAB_FILE: vocab_text(self.vocab).encode(),
            MERGES_FILE: merges_text(self.merges).encode(),
            TOKENIZER_FILE: content.encode(),
            # Files of another tokenizer would hide this one, or add their tokens to it.
            **dict.fromkeys(
                (VOCAB_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, CHAT_TEMPLATE_FILE)
            ),
        }
        return save_together(directory, files, config | roles)

    def _tokenizer_json(self, do_lower_case: bool | None) -> dict[str, Any]:
        """The object of tokenizer.json, with its keys in the order of the Rust tokenizer."""
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix
        special = {
            self.vocab[token]: AddedToken(token, special=True) for token in self.special_tokens
        }
        content = tokenizer_json_object(
            TokenizerJson(
                self.vocab,
                normalizer=(
                    None if do_lower_case is None else BertNormalizer(lowercase=bool(do_lower_case))
                ),
                decoder=WordPieceDecoder(prefix, cleanup=False) if prefix else None,
                added_tokens=special,
            )
        )
        if suffix:
            content["decoder"] = {"type": "BPEDecoder", "suffix": suffix}
        # The normalizer does what `BasicTokenizer` does before it splits, NFC included.
        if do_lower_case is False:
            steps = [content["normalizer"], {"type": "NFC"}]
            content["normalizer"] = {"type": "Sequence", "normalizers": steps}
        content["pre_tokenizer"] = {"type": BPE_SPLITTING[do_lower_case is not None]}
        content["model"] = {
            "type": "BPE",
            "dropout": None,
            **{name: getattr(self, name) for name in WORD_MARKS},
            **dict.fromkeys(_OFF[1:], False),
            "vocab": by_id(self.vocab),
            "merges": [list(pair) for pair in self.merges],
        }
        return content


def train_bpe(
    texts: Iterable[str] | Mapping[str, int],
    *,
    vocab_size: int = 30000,
    min_frequency: int = 0,
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    special_tokens: Iterable[object] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
    unk_token: str | None = None,
    words: ToWords | None = None,
    do_lower_case: bool = False,
    workers: int | None = 1,
    max_words: int = MAX_WORDS,
    progress: OnProgress | None = None,
) -> Bpe:
    """Train a byte-pair encoding from texts.

    The names and defaults are those of `BpeTrainer` in HuggingFace's tokenizers; `unk_token` is
    that of its `BPE`. The same texts give the same vocabulary and merges, whatever their order and
    the number of processes; they are those that tokenizers gives: `docs/training.md` says more.

    Args:
        texts: strings, `TextFiles`, or words counted before (`count_words`, or any mapping from
            word to count).
        vocab_size: the most tokens, special ones included.
        min_frequency: the least count of a pair to be merged.
        limit_alphabet: the most characters to start from; others are unknown.
        initial_alphabet: characters to have in any case.
        special_tokens: strings or `AddedToken`; they come first, in this order.
        continuing_subword_prefix: marks a token that continues a word.
        end_of_word_suffix: marks a token at the end of a word.
        max_token_length: merge only to tokens of fewer characters than this; two are always
            allowed.
        unk_token: stands for characters outside the alphabet; put before `special_tokens` if it is
            not among them. None: such characters are left out.
        words, do_lower_case, workers, max_words: see `count_words`.
        progress: called with a `Progress` every now and then.

    >>> bpe = train_bpe(["low lower lowest"], vocab_size=9, unk_token="<unk>")
    >>> print(*bpe.vocab)
    <unk> e l o r s t w lo
    >>> bpe.merges, bpe.tokenize("slow?")
    ((('l', 'o'),), ['s', 'lo', 'w', '<unk>'])

    Raises:
        InputError: there is no text or no word, or an option is out of range.
        VocabularyError: `vocab_size` is smaller than the special tokens and the alphabet.
        FileError, FileFormatError: from `TextFiles`.
    """
    special = (
        [special_tokens]
        if isinstance(special_tokens, str)
        else [str(token) for token in special_tokens]
    )
    if unk_token is not None and unk_token not in special:
        special.insert(0, unk_token)
    first = special_tokens if isinstance(special_tokens, str) else special
    marks = continuing_subword_prefix, end_of_word_suffix
    options = Options(
        vocab_size, min_frequency, limit_alphabet, initial_alphabet, first, *marks, max_token_length
    )
    counting = {
        "words": words,
        "do_lower_case": do_lower_case,
        "workers": workers,
        "max_words": max_words,
    }
    spelling, merges = learnt(texts, options, progress, **counting)
    return Bpe(
        spelling.token_to_id,
        merges,
        unk_token=unk_token,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        special_tokens=dict.fromkeys(special),
    )
