"""tokenizer.json against vocab.txt and tokenizer_config.json.

Where both are there, the fast classes read the one and the slow classes the other, so they have to say the same.
"""

from __future__ import annotations

import copy
import html
import inspect
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import regex

from trietok.errors import TrietokError
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    ADDITIONAL,
    ANY_KIND,
    CHAT_TEMPLATE_FILE,
    CONFIG_FILE,
    GENERIC_FAST,
    JAPANESE,
    RECORD,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    WORDPIECE_FAMILY,
    check_depth,
    read_json_text,
)
from trietok.files.safetensors import SafetensorsError, tensor_shapes
from trietok.files.tokenizer_json import NO_NORMALIZER, TokenizerJson, WordPieceDecoder
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.inputs.post_processors import template_processing_of
from trietok.inputs.template import Piece
from trietok.text.added_tokens import AddedToken
from trietok.text.changes import cached_property
from trietok.text.characters import is_chinese_char, is_nonspacing_mark, is_punctuation, normalize
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.tokenizer.auto import class_of_model_type, class_or_bert
from trietok.tokenizer.bert import BertTokenizer, filling, is_unused_slot
from trietok.tokenizer.chat import syntax_error
from trietok.tokenizer.special_tokens import EXTRA
from trietok.workbench.checking.files import DECODER, CheckedFiles, content_of
from trietok.workbench.checking.report import Finding, Severity

# Which entries of a vocabulary no text can give, and why.
#
# In: a tokenizer. Out: entries with a reason.
#
# An entry comes out of a text only as the front of a word or, after `##`, as a later stretch of one; so it is reachable
# if the tokenizer's own `BasicTokenizer` leaves it whole: by itself, or behind a digit. A digit, because none ever
# combines with what follows it. That test alone can take a reachable entry for an unreachable one where normalization
# looks at neighbours, and then a second text is tried:
#
# - Where accents are stripped, U+034F between the characters keeps them from being composed or put in another order,
# and
#   is then stripped itself. What is left is whether each character alone survives, and each that the tokenizer ever
#   writes does.
# - Where a text is lower-cased without that, the characters in upper case: a capital and its accent may have no
# composed
#   form while the small letter has one.
#
# Words in `never_split` and special tokens are words as they stand, so what WordPiece makes of them is reachable too.


_BEFORE = "0"
_LONGEST_EXAMINED = 100  # characters beyond the longest word: what is longer yet is unreachable by its length alone
_BLOCKER = "\u034f"  # COMBINING GRAPHEME JOINER: stripped as a mark, and nothing combines across it


class Unreachable(NamedTuple):
    """An entry that no text gives: `code` names the reason, `why` tells it."""

    token_id: int
    token: str
    code: str
    why: str


class Reach:
    """Tells which entries of a `BertTokenizer` a text can give.

    >>> import trietok
    >>> reach = Reach(trietok.BertTokenizer.from_pretrained("trietok-en"))
    >>> reach.is_reachable("the"), reach.is_reachable("##,"), reach.reason("##,")
    (True, False, ('unreachable-punctuation', 'punctuation is a word of its own'))

    Cost: O(code points of the entry) for each question; some microseconds.
    """

    def __init__(self, tokenizer: Any) -> None:
        wordpiece = tokenizer.wordpiece_tokenizer
        self.prefix: str = wordpiece.continuing_subword_prefix
        self.longest: int = wordpiece.max_input_chars_per_word
        self.basic: Any = None
        self._given: set[str] = {*tokenizer.added_tokens_encoder, *tokenizer.all_special_tokens}
        if tokenizer.do_basic_tokenize:
            self.basic = copy.copy(tokenizer.basic_tokenizer)
            self._given |= self._of_kept_words(tokenizer)
            self.basic.never_split = set()
        self._lowers = bool(self.basic is not None and self.basic.do_lower_case)

    def _of_kept_words(self, tokenizer: Any) -> set[str]:
        """The entries that the words give which are never split."""
        special = set(tokenizer.all_special_tokens)
        full = tokenizer.wordpiece_tokenizer
        plain = {token: token_id for token, token_id in tokenizer.vocab.items() if token not in special}
        without_special = WordpieceTokenizer(plain, full.unk_token, full.max_input_chars_per_word)
        given: set[str] = set()
        for word in self.basic.never_split | special:
            given.update((word, *full.tokenize(word), *without_special.tokenize(word)))
        return given

    @property
    def _strips(self) -> bool:
        strips = self.basic.strip_accents
        return bool(self.basic.do_lower_case if strips is None else strips)

    def is_reachable(self, token: str) -> bool:
        """Whether a text may give `token`. False is certain; True says only that normalization does not prevent it."""
        if token in self._given:
            return True
        if not token:
            return False
        if token.isascii() and token.isalnum() and len(token) <= self.longest:  # most entries
            return not self._lowers or token.lower() == token
        if len(token) <= self.longest and self._is_word("", token):
            return True
        rest = token[len(self.prefix) :]
        return (
            token.startswith(self.prefix)
            and rest != ""
            and len(_BEFORE + rest) <= self.longest
            and self._is_word(_BEFORE, rest)
        )

    def _is_word(self, before: str, stretch: str) -> bool:
        word = before + stretch
        if self.basic is None:
            return word.split() == [word]
        if self.basic.tokenize(word) == [word]:
            return True
        if word.isascii():
            return False
        if self._strips:
            return bool(self.basic.tokenize(_BLOCKER.join(word)) == [word])
        return bool(self.basic.do_lower_case and self.basic.tokenize(_capitals(word)) == [word])

    def reason(self, token: str) -> tuple[str, str]:
        """The code and the words for why an unreachable entry is unreachable."""
        if len(token) > len(self.prefix) + _LONGEST_EXAMINED + self.longest:
            return "unreachable-length", f"a word has at most {self.longest} characters"
        continues = token.startswith(self.prefix)
        word = token.removeprefix(self.prefix)
        if not word:
            return "unreachable-prefix", f"nothing follows {self.prefix}"
        if word.split() != [word]:
            return "unreachable-space", "words are split at whitespace"
        if self.basic is not None:
            reason = self._normalized_away(word, len(word) > 1 or continues)
            if reason:
                return reason
        if len(word) + continues > self.longest:
            return "unreachable-length", f"a word has at most {self.longest} characters"
        made = "" if self.basic is None else " ".join(self.basic.tokenize(word))
        return "unreachable-form", f"the tokenizer writes {_code_points(word)} as {_code_points(made)}"

    def _normalized_away(self, word: str, inside: bool) -> tuple[str, str] | None:
        basic = self.basic
        for char in word:
            if basic.cleaning_table.replacement(char) is None:
                return "unreachable-deleted", f"cleaning deletes {_code_points(char)}"
        if inside and basic.tokenize_chinese_chars and any(is_chinese_char(ord(char)) for char in word):
            return "unreachable-chinese", "a Chinese character is a word of its own"
        if inside and any(map(is_punctuation, word)):
            return "unreachable-punctuation", "punctuation is a word of its own"
        if basic.do_lower_case and word.lower() != word:
            return "unreachable-case", f"the tokenizer lower-cases it to {word.lower()!r}"
        if self._strips and any(map(is_nonspacing_mark, normalize("NFD", word))):
            return "unreachable-accent", f"the tokenizer strips it to {''.join(basic.tokenize(word))!r}"
        return None


def unreachable(tokenizer: Any) -> Iterator[Unreachable]:
    """The entries of a tokenizer's vocabulary that no text gives, in the order of their ids.

    Left out are special and added tokens, and slots such as `[unused1]`, which wait for a meaning.

    >>> import trietok
    >>> lower = trietok.BertTokenizer.from_pretrained("trietok-multi", do_lower_case=True)  # it is a cased one
    >>> [entry.token for entry in unreachable(lower)][:4]
    ['A', 'B', 'C', 'D']

    Cost: some microseconds an entry: half a second for 100,000.
    """
    reach = Reach(tokenizer)
    for token, token_id in tokenizer.vocab.items():
        if not reach.is_reachable(token) and not is_unused_slot(token):
            yield Unreachable(token_id, token, *reach.reason(token))


def _capitals(word: str) -> str:
    """Every letter in upper case that lower-casing gives back; not the sigma, which looks at its neighbours."""
    return "".join(char.upper() if char != "σ" and char.upper().lower() == char else char for char in word)


def _code_points(text: str) -> str:
    shown = " ".join(f"U+{ord(char):04X}" for char in text[:8])
    return shown + " ..." if len(text) > 8 else shown or "nothing"


# What the rules of a check ask about: the files of one directory, read and weighed against each other.
#
# In: `CheckedFiles`. Out: `Facts`. How the files are weighed is the rule of `files/load.py`: where
# tokenizer_config.json has an added_tokens_decoder, special_tokens_map.json, added_tokens.json and tokenizer.json are
# not looked at for roles and added tokens; else the map's roles come before the config's, and later files before
# earlier ones.


ROLES = tuple(role for role in BertTokenizer.SPECIAL_TOKENS_ATTRIBUTES if role != ADDITIONAL)
UNKNOWN = "unk_token"
_FEW = 8

Rule = Callable[["Facts"], Iterator[Finding]]


class Facts:
    """One directory as its files say it is.

    Attributes:
        kind: the class that the files name, in its slow form.
        by_line: id → token of each entry of the vocabulary; `line_ids` the other way round, the last line of a
            duplicate.
        vocabulary_file: the name of the file that the entries were read from.
        decoder_counts: whether tokenizer_config.json has an added_tokens_decoder.
        holes: the ids declared to have no token.
        added: the added tokens that count, as (id, token, name of the file); `added_ids` has their ids.
        roles: role → token, as it is after loading; a role that a file sets to null is missing.
        additional: special tokens of other roles, or of none.
        slow, fast: the tokenizer of each profile; None where it does not load.
    """

    def __init__(self, files: CheckedFiles) -> None:
        self.files = files
        self.kind = class_or_bert(files.config, files.model_config)
        tokens = files.tokens or []
        self.by_line = {token_id: token for token_id, token in enumerate(tokens) if token is not None}
        self.line_ids = {token: token_id for token_id, token in self.by_line.items()}
        single = files.path.name if os.path.isfile(files.path) else VOCAB_FILE
        self.vocabulary_file = TOKENIZER_FILE if files.is_json_alone else single
        self.decoder_counts = DECODER in files.config
        self.holes = files.holes
        self.added = files.added_that_count()
        self.added_ids = {token.content: token_id for token_id, token, _ in self.added}
        parameters = inspect.signature(self.kind.__init__).parameters
        self.defaults = {name: parameter.default for name, parameter in parameters.items() if name in ROLES}
        self.roles: dict[str, str] = {}
        self.additional: list[str] = []
        self.slow: Any = None
        self.fast: Any = None
        self._read_roles()

    def _read_roles(self) -> None:
        self.roles = dict(self.defaults)
        for values in (self.files.config, {} if self.decoder_counts else self.files.special_map):
            for role in ROLES:
                if role in values:
                    content = content_of(values[role])
                    if content is not None:
                        self.roles[role] = content
                    elif values[role] is None:
                        self.roles.pop(role, None)
            for key in (ADDITIONAL, EXTRA):
                entries = values.get(key)
                entries = list(entries.values()) if isinstance(entries, dict) else entries
                contents = map(content_of, entries if isinstance(entries, list) else ())
                self.additional += [token for token in contents if token and token not in self.additional]

    def setting(self, name: str) -> bool | None:
        """A setting that is true, false or null: tokenizer_config.json's, else the default of the class."""
        parameter = inspect.signature(self.kind.__init__).parameters.get(name)
        default = None if parameter is None else parameter.default
        value = self.files.config.get(name, default)
        return value if value is None or isinstance(value, bool) else default  # there is a finding about any other

    def setting_of(self, name: str, default: str) -> str:
        """A setting that is a word."""
        value = self.files.config.get(name, default)
        return value if isinstance(value, str) else default

    def has(self, token: str | None) -> bool:
        """Whether the vocabulary or an added token is `token`."""
        return token in self.line_ids or token in self.added_ids

    def id_of(self, token: str) -> int | None:
        """The id that encodes a token, as the files say it."""
        return self.added_ids.get(token, self.line_ids.get(token))

    def line_number(self, token_id: int) -> int | None:
        """The line of an entry, where the vocabulary is a file of lines."""
        return None if self.files.is_json_alone else token_id + 1

    def missing_roles(self) -> Iterator[tuple[str, str]]:
        """Role and token of each special token but the unknown one that no file holds."""
        pairs = [pair for pair in self.roles.items() if pair[0] != UNKNOWN]
        for role, token in [*pairs, *((ADDITIONAL, token) for token in self.additional)]:
            if not self.has(token):
                yield role, token

    @cached_property
    def words(self) -> list[str]:
        """The entries that a text may give, without the prefix that continues a word: letters only."""
        special = {*self.roles.values(), *self.additional}
        return [
            word for token in self.line_ids if token not in special and (word := token.removeprefix("##")).isalpha()
        ]

    def is_filled(self, token_id: int) -> bool:
        """Whether the line of an id holds nothing but what trietok writes for an id without a token."""
        return token_id in self.holes and self.by_line.get(token_id) in (filling(token_id), "")


def shortest_useful(facts: Facts) -> int:
    """So many tokens that a few of a text are left beside the special tokens of a pair."""
    return special_places(facts) + _FEW


def special_places(facts: Facts) -> int:
    """How many special tokens stand around a pair."""
    return 3 if facts.slow is None else sum(part.kind != "sequence" for part in facts.slow.template.pair)


# Ids against each other, and entries that are damaged or that no text gives.


# Letters of other scripts, and the Latin ones that they look like.
_LATIN_LOOKS = dict(
    zip("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХЅІЈονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwlABEKMHOPCTYXSIJovABEZHIKMNOPTYX", strict=True)
)
_MIXED = regex.compile(r"\p{Latin}.*[\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}].*\p{Latin}")
_GREEK = regex.compile(r"\p{Greek}")
_FOREIGN = regex.compile(r"[\p{Cyrillic}\p{Greek}]")
_FEW_MIXED = 5  # entries: a vocabulary of many languages has more, such as Chuvash words typed with Latin letters
_INVISIBLE = regex.compile(r"[\p{Cf}\u034f\u2800\u3164\uffa0\ufe00-\ufe0f]")
# How a piece looks whose ## was damaged, or that is one of another kind of vocabulary.
_DAMAGED = regex.compile(r"[#＃][#＃\s]*\w|[▁Ġ]\p{L}|.*\ufffd|.*(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2})")
_SLOT = regex.compile(r"\[unused([0-9]{1,9})\]")
_LEAST_SEEN = 5  # entries that hold a letter
_POINTS = ".,?!-'\"():;"
_FEWEST_FOR_POINTS = 1000  # entries


def loaded_ids(facts: Facts) -> dict[int, str]:
    """The added tokens by id, with those that are added on loading."""
    if facts.slow is None:
        return {token_id: token.content for token_id, token, _ in facts.added}
    return {token_id: token.content for token_id, token in facts.slow.added_tokens_decoder.items()}


def holes(facts: Facts) -> Iterator[Finding]:
    """Ids that no token has."""
    used = sorted({*facts.by_line, *loaded_ids(facts)})
    for before, after in zip([-1, *used], used, strict=False):
        if after > before + 1:
            yield _hole(facts, before + 1, after - 1)


def _hole(facts: Facts, first: int, last: int) -> Finding:
    declared = last - first < len(facts.holes) and facts.holes.issuperset(range(first, last + 1))
    which = f"id {first} belongs" if first == last else f"ids {first} to {last} belong"
    message = f"{which} to no token" + (
        f", as {TOKENIZER_CONFIG_FILE} declares" if declared else "; transformers gives new tokens ids that are taken"
    )
    return Finding("note" if declared else "warning", "id-hole", message, token_id=first, other_id=last)


def past_the_model(facts: Facts) -> Iterator[Finding]:
    """Ids for which config.json gives the model no row, and rows that no id uses."""
    rows = facts.files.model_config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        return
    encoding = {token_id: token for token, token_id in facts.line_ids.items()}
    loaded = loaded_ids(facts)
    past = sorted((token_id, token) for token_id, token in {**encoding, **loaded}.items() if token_id >= rows)
    for token_id, token in past:
        message = f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1} (vocab_size)"
        yield Finding("error", "id-past-model", message, CONFIG_FILE, token=token, token_id=token_id)
    needed = rows_needed(facts)
    if rows > needed:
        padded = is_padded(rows, needed)
        message = f"vocab_size is {rows}, and ids end at {needed - 1}: {rows - needed} row(s) are not used"
        if not padded:
            message += ", which is not a number padded to a multiple of 8 to 1024"
        yield Finding("note" if padded else "warning", "model-larger", message, CONFIG_FILE)


def highest_id(facts: Facts) -> int:
    """The highest id that a token has, -1 if there is none."""
    return max(max(facts.by_line, default=-1), max(loaded_ids(facts), default=-1))


def rows_needed(facts: Facts) -> int:
    """How many rows a model needs; ids of tokens that were removed stay reserved, and have theirs."""
    return 1 + max(highest_id(facts), -1 if facts.slow is None else facts.slow.max_id)


def is_padded(rows: int, needed: int) -> bool:
    """Whether so many rows are `needed` ones made up to a multiple of a power of two, as is done for speed.

    >>> is_padded(30528, 30522), is_padded(31000, 30522)
    (True, False)
    """
    return any(rows == -(-needed // size) * size for size in (8, 16, 32, 64, 128, 256, 512, 1024))


def damaged_entries(facts: Facts) -> Iterator[Finding]:
    """Entries with letters of two scripts, invisible characters, or the traces of a wrong encoding or vocabulary."""
    mixed: list[tuple[int, str]] = []
    for token_id, token in facts.by_line.items():
        if (token.isascii() and token[:1] not in "#\\&") or token_id in facts.files.odd:
            continue
        if _MIXED.search(token):
            mixed.append((token_id, token))
        hidden = _INVISIBLE.search(token)
        if hidden and any(map(str.isalnum, token)):
            name = unicodedata.name(hidden[0], "no name")
            message = (
                f"{token!r} holds U+{ord(hidden[0]):04X} ({name}), which nobody sees: it is not the word it looks like"
            )
            yield _entry(facts, "warning", "invisible-character", message, token_id, token)
        elif meant := _meant(token):
            message = f"{token!r} looks damaged; it was probably {meant}"
            yield _entry(facts, "warning", "damaged-entry", message, token_id, token)
    mixed = [pair for pair in mixed if all(char in _LATIN_LOOKS for char in _GREEK.findall(pair[1]))]  # not μm
    for token_id, token in mixed:
        foreign = _FOREIGN.findall(token)
        looks = "".join(_LATIN_LOOKS.get(char, char) for char in token)
        is_latin = 2 * len(foreign) < len(token.removeprefix("##")) and all(char in _LATIN_LOOKS for char in foreign)
        message = f"{token!r} mixes Latin letters with U+{ord(foreign[0]):04X} ({unicodedata.name(foreign[0], '')})"
        other = looks if is_latin else None
        message += f"; it looks like {looks!r}" if is_latin else ""
        severity: Severity = "warning" if is_latin or len(mixed) < _FEW_MIXED else "note"
        yield _entry(facts, severity, "mixed-scripts", message, token_id, token, other_token=other)


def _entry(
    facts: Facts, severity: Severity, code: str, message: str, token_id: int, token: str, **known: Any
) -> Finding:
    """A finding about an entry, which is not looked at further."""
    facts.files.odd.add(token_id)
    line = facts.line_number(token_id)
    return Finding(severity, code, message, facts.vocabulary_file, line, token, token_id, **known)


def _meant(token: str) -> str | None:
    """What a damaged entry probably was; None for one that looks sound."""
    if _DAMAGED.match(token) and not regex.match(r"##[^#＃\s]", token):
        if "\ufffd" in token:
            return "a character that was lost when the file was converted"
        if token[0] in "#＃":
            return repr("##" + token.lstrip("#＃ "))
        return "a piece of another kind of vocabulary, or an escaped character"
    if token.startswith("&") and html.unescape(token) != token:
        return repr(html.unescape(token))
    for encoding in ("latin-1", "cp1252"):
        try:
            decoded = token.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        if decoded != token:
            return f"{decoded!r}, read as {encoding}"
    return None


def missing_letters(facts: Facts) -> Iterator[Finding]:
    """Letters that many entries hold and that are no entry themselves, so that words with them are unknown."""
    first: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for token in facts.line_ids:
        word, is_piece = token.removeprefix("##"), token.startswith("##")
        if word.isalnum():
            first.update(() if is_piece else word[0])
            inside.update(set(word if is_piece else word[1:]))
    if facts.slow is None or not any(token.startswith("##") for token in facts.line_ids):
        return  # a vocabulary of whole words
    wanted = [letter for letter, count in first.items() if count >= _LEAST_SEEN]
    wanted += ["##" + letter for letter, count in inside.items() if count >= _LEAST_SEEN]
    if 2 * sum(token in facts.line_ids for token in wanted) < len(wanted):
        return  # words that were chosen, without an alphabet
    if len(facts.line_ids) >= _FEWEST_FOR_POINTS:
        present = [point for point in _POINTS if point in facts.line_ids]
        wanted += _POINTS if 2 * len(present) > len(_POINTS) else ()
    reach = Reach(facts.slow)
    for token in wanted:
        if token not in facts.line_ids and reach.is_reachable(token):
            message = (
                f"{token!r} is no entry, and other entries hold it: a word for which no longer piece fits is unknown"
            )
            yield Finding("warning", "letter-missing", message, facts.vocabulary_file, token=token)


def replaced_slots(facts: Facts) -> Iterator[Finding]:
    """Entries in the midst of a run of unused slots: words that were written into slots, or lines that were damaged."""
    slots = {id_: int(match[1]) for id_, token in facts.by_line.items() if (match := _SLOT.fullmatch(token))}
    special = {*facts.roles.values(), *facts.additional}
    ids = sorted(slots)
    if not ids or facts.slow is None:
        return
    special.update(map(str, (facts.files.record.get("assigned_unused") or {}).values()))
    reach = Reach(facts.slow)
    zero = ids[0] - slots[ids[0]]  # where [unused0] would be; many vocabularies begin with [unused1]
    if slots[ids[0]] > 1 and zero >= 0:
        ids.insert(0, zero - 1)
        slots[zero - 1] = -1
    for before, after in pairwise(ids):
        # Numbers that go on have others between the runs, as [UNK] in BERT's own vocabulary; `fix` makes single slots.
        is_gap = 1 < after - before == slots[after] - slots[before] and after - before <= len(ids)
        if not is_gap or (before - 1 not in slots and after + 1 not in slots):
            continue
        for token_id in range(before + 1, after):
            token = facts.by_line.get(token_id)
            if not token or token in special or token in facts.added_ids or token_id in facts.files.odd:
                continue
            slot = f"[unused{slots[before] + token_id - before}]"
            message = f"{token!r} stands in the place of {slot}"
            if reach.is_reachable(token):
                message += "; its row has no meaning unless the model was trained with it"
                yield Finding(
                    "note",
                    "slot-replaced",
                    message,
                    facts.vocabulary_file,
                    facts.line_number(token_id),
                    token,
                    token_id,
                )
            else:
                message += f", and no text gives it: {reach.reason(token)[1]}"
                yield _entry(facts, "warning", "slot-replaced", message, token_id, token, other_token=slot)


def unreachable_entries(facts: Facts) -> Iterator[Finding]:
    """Entries that no text gives."""
    if facts.slow is None:
        return
    if hasattr(facts.slow, "stage_settings"):  # stages that are not BERT's
        return
    for entry in unreachable(facts.slow):
        if entry.token and entry.token_id not in facts.files.odd:
            is_word = (
                entry.code == "unreachable-punctuation"
                and entry.token[0] not in "<["
                and any(map(str.isalnum, entry.token))
            )
            yield Finding(
                "warning" if is_word or len(entry.token.removeprefix("##").split()) > 1 else "note",
                entry.code,
                f"no text gives {entry.token!r}: {entry.why}",
                file=facts.vocabulary_file,
                line_number=facts.line_number(entry.token_id),
                token=entry.token,
                token_id=entry.token_id,
            )


# Special tokens and their roles: what a check finds in them.


_TEMPLATE_ROLES = ("cls_token", "sep_token")  # without them a call has nothing to put around a text
_USED_ROLES = {"pad_token": "padding", "mask_token": "masking"}
_MAY_SHARE = ({"bos_token", "cls_token"}, {"eos_token", "sep_token"})  # a decoder begins and ends with BERT's tokens
_NAMED_ROLES = ("cls_token", "sep_token", "pad_token", "mask_token", UNKNOWN)


def roles_of_two_files(facts: Facts) -> Iterator[Finding]:
    """special_tokens_map.json against what the config says, or what is the default where it may say nothing."""
    files = facts.files
    says = f"{SPECIAL_TOKENS_MAP_FILE} has"
    for role in ROLES:
        ours = content_of(files.config.get(role, facts.defaults.get(role) if facts.decoder_counts else None))
        theirs = content_of(files.special_map.get(role))
        if ours is not None and theirs is not None and ours != theirs:
            counts = ours if facts.decoder_counts else theirs
            message = f"{role} is {ours!r} in {TOKENIZER_CONFIG_FILE}, and {says} {theirs!r}; {counts!r} counts"
            yield _contradiction(message, role, theirs, ours)
    lists = [values.get(ADDITIONAL) for values in (files.config, files.special_map)]
    contents = [{content_of(entry) or "" for entry in value} for value in lists if isinstance(value, list)]
    if len(contents) == 2 and contents[0] != contents[1]:
        differing = ", ".join(map(repr, sorted(contents[0] ^ contents[1])[:5]))
        message = f"{ADDITIONAL} differs from {TOKENIZER_CONFIG_FILE}: only one of them lists {differing}"
        yield _contradiction(message, ADDITIONAL, None, None)


def _contradiction(message: str, role: str, token: str | None, other: str | None) -> Finding:
    return Finding(
        "warning",
        "role-contradiction",
        message,
        file=SPECIAL_TOKENS_MAP_FILE,
        role=role,
        token=token,
        other_token=other,
    )


def shared_roles(facts: Facts) -> Iterator[Finding]:
    """One token in several roles."""
    for token, roles in _by_token(facts).items():
        shared_by_default = len({facts.defaults.get(role, role) for role in roles}) == 1  # as <s> is in MPNet
        if len(roles) > 1 and not shared_by_default and set(roles) not in _MAY_SHARE:
            message = f"{token!r} is {' and '.join(roles)}: one id for all of them"
            yield Finding("warning", "shared-role", message, token=token, role=" ".join(roles))


def _by_token(facts: Facts) -> dict[str, list[str]]:
    by_token: dict[str, list[str]] = {}
    for role, token in facts.roles.items():
        by_token.setdefault(token, []).append(role)
    return by_token


def unknown_token(facts: Facts) -> Iterator[Finding]:
    """The unknown token has to be there."""
    unknown = facts.roles.get(UNKNOWN)
    if not facts.has(unknown):
        message = f"the unknown token {unknown!r} is neither in the vocabulary nor an added token; nothing loads"
        if unknown is None:
            message = "there is no unknown token: unk_token is null"
        yield Finding("error", "unk-missing", message, file=facts.vocabulary_file, token=unknown, role=UNKNOWN)


def missing_tokens(facts: Facts) -> Iterator[Finding]:
    """Special tokens that loading adds, because no file holds them."""
    if facts.slow is None:
        return
    ids = facts.slow.added_tokens_encoder
    for role, token in facts.missing_roles():
        message = f"the {role} {token!r} is neither in the vocabulary nor an added token; it is added on loading, as id"
        message += f" {ids.get(token)}, for which a trained model has no meaning"
        yield Finding(
            "warning",
            "special-missing",
            message,
            file=facts.vocabulary_file,
            token=token,
            token_id=ids.get(token),
            role=role,
        )


def null_roles(facts: Facts) -> Iterator[Finding]:
    """Roles that a file sets to null, of those that calls use."""
    for role in (*_TEMPLATE_ROLES, *_USED_ROLES):
        if role in facts.roles or role not in facts.defaults:
            continue
        where: dict[str, Any] = {"file": TOKENIZER_CONFIG_FILE, "role": role}
        if role in _TEMPLATE_ROLES:
            message = f"{role} is null: BertTokenizer raises in every call with special tokens, and fast tokenizers "
            yield Finding("error", "role-null", message + "put the unknown token in its place", **where)
        else:
            message = f"{role} is null, and {_USED_ROLES[role]} needs it"
            yield Finding("warning", "role-null", message, **where)


def exchanged_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token has the name of another role, such as `[SEP]` for cls_token."""
    shared = {token for token, roles in _by_token(facts).items() if len(roles) > 1}
    for role in _NAMED_ROLES:
        token = facts.roles.get(role)
        if token is None or token in shared or token == facts.defaults.get(role):
            continue
        named = token.strip("[]<>|").lower() + "_token"
        if named != role and named in _NAMED_ROLES:
            message = f"{role} is {token!r}, which by its name is the {named}"
            yield Finding("warning", "role-exchanged", message, file=_file_of(facts, role), token=token, role=role)


def ordinary_words_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a word that texts hold."""
    for role, token in facts.roles.items():
        if token in facts.line_ids and is_ordinary(token):
            message = f"{role} is {token!r}, a word of the vocabulary: wherever a text holds it, it is the {role}"
            yield Finding(
                "warning",
                "role-ordinary",
                message,
                file=_file_of(facts, role),
                token=token,
                token_id=facts.id_of(token),
                role=role,
            )


def unused_slots_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a slot such as `[unused5]`, whose row no training has changed."""
    for role, token in facts.roles.items():
        if is_unused_slot(token) and facts.has(token):
            severity: Severity = (
                "warning" if role in _NAMED_ROLES else "note"
            )  # a decoder's begin and end may be meant so
            message = f"{role} is {token!r}, a slot of the vocabulary that stands for nothing"
            default = facts.defaults.get(role)
            if default is not None and facts.has(default):
                message += f"; {default!r}, id {facts.id_of(default)}, is there and has no role"
            known: dict[str, Any] = {"file": _file_of(facts, role), "token": token, "token_id": facts.id_of(token)}
            yield Finding(severity, "role-unused", message, other_token=default, role=role, **known)


def is_ordinary(token: str) -> bool:
    """Whether it looks like a word or a piece of one: letters and digits, perhaps behind `##`."""
    return token.removeprefix("##").replace(" ", "").isalnum()


def _file_of(facts: Facts, role: str) -> str:
    in_map = not facts.decoder_counts and role in facts.files.special_map
    return SPECIAL_TOKENS_MAP_FILE if in_map else TOKENIZER_CONFIG_FILE


# tokenizer_config.json: its class, its options, and whether they suit the vocabulary.


# Other names of options, such as those that tokenizer.json has for them.
_OTHER_NAMES = {
    "lowercase": "do_lower_case",
    "handle_chinese_chars": "tokenize_chinese_chars",
    "tokenize_chinese": "tokenize_chinese_chars",
}

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
_CASED_SHARE = 0.25  # of all words: below it the vocabulary is mainly of a script without case, as Chinese
_FEWEST_CAPITALS = 20
_FEWEST_ACCENTED = 20  # entries: fewer may be slips, and are notes of their own
_FEWEST_ASCII = 5000  # entries without an accent: a vocabulary of so many has some, unless they were stripped
_FEWEST_CHINESE = 100
_KNOWN_INPUTS = {"input_ids", "token_type_ids", "attention_mask", "special_tokens_mask", "position_ids"}
_CAPITALS_SHARE = 0.05  # of the words with case: a cased vocabulary has far more, an uncased one none


def class_of_files(facts: Facts) -> Iterator[Finding]:
    """The class that the files name, and code that they name."""
    files = facts.files
    saved = files.config.get("tokenizer_class")
    known = str(saved).removesuffix("Fast").removesuffix("Legacy").removesuffix("Tokenizer") in WORDPIECE_FAMILY
    if saved is not None and not known and saved not in (*ANY_KIND, GENERIC_FAST, JAPANESE):
        message = f"tokenizer_class is {saved!r:.80}, which trietok does not have"
        yield Finding("error", "unknown-class", message, file=TOKENIZER_CONFIG_FILE)
    for name, values in ((TOKENIZER_CONFIG_FILE, files.config), (CONFIG_FILE, files.model_config)):
        if "auto_map" in values:
            yield Finding("note", "auto-map", "auto_map names code to run; it is never run", file=name)


def misspelt_options(facts: Facts) -> Iterator[Finding]:
    """Keys that change nothing and look like ones that would."""
    left_out = {DECODER, RECORD, "tokenizer_class", *_OTHER_NAMES}
    # `pad_token_id` is an option of config.json, which some files repeat.
    keys = [key for key in facts.files.config if key not in left_out and not key.endswith("_id")]
    pairs = [(key, _OTHER_NAMES[key]) for key in facts.files.config if key in _OTHER_NAMES]
    for key, meant in (*pairs, *facts.kind.misspellings(keys)):
        message = f"the option {key!r} changes nothing; {meant!r} is probably meant"
        yield Finding("warning", "option-misspelt", message, file=TOKENIZER_CONFIG_FILE)


class VocabularyCase(NamedTuple):
    """What a vocabulary says of lower-casing.

    Attributes:
        lowers: whether its tokenizer lower-cases; None where the entries do not tell.
        said: what tells it, for a message.
    """

    lowers: bool | None
    said: str


def case_told_by(facts: Facts) -> VocabularyCase:
    """Whether the entries are those of a vocabulary that was made of lower-cased texts."""
    lower = capital = 0
    for word in facts.words:
        if word.lower() != word:
            capital += 1
        elif word.upper() != word:
            lower += 1
    cased = lower + capital
    of_them = f"{capital} of its {cased} words with letters of two cases have capitals"
    if cased < _FEWEST_CASED:
        return VocabularyCase(None, of_them)
    if capital >= max(_FEWEST_CAPITALS, _CAPITALS_SHARE * cased):
        return VocabularyCase(False, f"the vocabulary is cased: {of_them}")
    if capital * 1000 < cased and cased >= _CASED_SHARE * len(facts.words):
        return VocabularyCase(True, f"the vocabulary is uncased: {of_them}")
    return VocabularyCase(None, of_them)


def case_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Lower-casing with a cased vocabulary, and the reverse; the entries tell which it is."""
    if facts.setting("do_basic_tokenize") is False:
        return
    told, lowers = case_told_by(facts), bool(facts.setting("do_lower_case"))
    if told.lowers is None or told.lowers == lowers:
        return
    message = f"{told.said}, and do_lower_case is {str(lowers).lower()}"
    if "do_lower_case" not in facts.files.config:
        message += " where no file says otherwise"
    code = "cased-vocabulary" if lowers else "uncased-vocabulary"
    yield Finding("warning", code, message, file=TOKENIZER_CONFIG_FILE)


def accents_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Stripping accents from the words of a vocabulary that has them, and keeping them where it has none."""
    if facts.slow is None or facts.setting("do_basic_tokenize") is False or hasattr(facts.slow, "stage_settings"):
        return
    lowers, strips = bool(facts.setting("do_lower_case")), facts.setting("strip_accents")
    if strips is None and case_told_by(facts).lowers is not None and case_told_by(facts).lowers != lowers:
        return  # it follows from lower-casing, which has a finding
    value = {None: "null", True: "true", False: "false"}[strips]
    accented = [word for word in facts.words if not word.isascii() and normalize("NFD", word) != word]
    known: dict[str, Any] = {"file": TOKENIZER_CONFIG_FILE}
    if (lowers if strips is None else strips) and len(accented) >= _FEWEST_ACCENTED:
        message = (
            f"strip_accents is {value}, which takes letters apart and accents off, and {len(accented):,} entries have "
        )
        message += f"such letters, as {', '.join(map(repr, accented[:3]))}: no text gives them"
        yield Finding("warning", "accented-vocabulary", message, token=accented[0], **known)
    elif strips is False and not accented and sum(word.isascii() for word in facts.words) >= _FEWEST_ASCII:
        message = "strip_accents is false, so accents stay in texts, and no entry has one"
        yield Finding("warning", "unaccented-vocabulary", message, **known)


def chinese_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Chinese characters as words of their own where the vocabulary has words of several, and the reverse."""
    alone = several = 0
    for word in facts.words:
        if not word.isascii() and any(is_chinese_char(ord(char)) for char in word):
            alone, several = alone + (len(word) == 1), several + (len(word) > 1)
    splits = bool(facts.setting("tokenize_chinese_chars"))
    if facts.setting("do_basic_tokenize") is False or alone + several < _FEWEST_CHINESE:
        return
    if facts.slow is None or hasattr(facts.slow, "stage_settings") or (several * 100 > alone) != splits:
        return
    if splits:
        message = f"tokenize_chinese_chars is true, so no text gives the {several:,} entries of several characters"
    else:
        message = (
            f"tokenize_chinese_chars is false, and the vocabulary has {alone:,} entries of one Chinese character and "
        )
        message += f"{several:,} of several: it was made with each character as a word"
    yield Finding("warning", "chinese-vocabulary", message, file=TOKENIZER_CONFIG_FILE)


def words_never_split(facts: Facts) -> Iterator[Finding]:
    """Words in never_split that are no entries."""
    words = facts.files.config.get("never_split")
    if not isinstance(words, list) or facts.setting("do_basic_tokenize") is False:
        return
    for word in words:
        if isinstance(word, str) and not facts.has(word):
            message = f"never_split holds {word!r}, which is no entry of the vocabulary and no added token"
            yield Finding("warning", "never-split-unknown", message, file=TOKENIZER_CONFIG_FILE, token=word)


def model_inputs(facts: Facts) -> Iterator[Finding]:
    """model_input_names has to begin with input_ids, and to name what there is."""
    names = facts.files.config.get("model_input_names")
    if not isinstance(names, list) or not names:
        return

    def finding(severity: Severity, message: str) -> Finding:
        return Finding(severity, "model-input-names", f"model_input_names {message}", file=TOKENIZER_CONFIG_FILE)

    if names[0] != "input_ids":
        problem = "does not begin with" if "input_ids" in names else "does not have"
        yield finding("warning", f"{problem} 'input_ids'; it begins with {names[0]!r:.60}")
    for name in names:
        if isinstance(name, str) and name not in _KNOWN_INPUTS and name != names[0]:
            yield finding("warning", f"has {name!r:.60}, which no tokenizer of the family gives")
    lacking = [name for name in facts.kind.model_input_names if name not in names and name != "input_ids"]
    if lacking:
        yield finding("note", f"does not have {' and '.join(map(repr, lacking))}, which {facts.kind.__name__} gives")


def sides(facts: Facts) -> Iterator[Finding]:
    """Padding or truncation at the left, of models that count positions from there."""
    cases: tuple[tuple[str, Severity, str], ...] = (
        ("padding_side", "warning", "the first word of a padded text has another position than in training"),
        ("truncation_side", "note", "long texts lose their beginning"),
    )
    for key, severity, why in cases:
        if facts.files.config.get(key) == "left":
            yield Finding(severity, "left-side", f"{key} is 'left': {why}", file=TOKENIZER_CONFIG_FILE)


def chat_templates(facts: Facts) -> Iterator[Finding]:
    """Chat templates that do not parse."""
    templates = None if facts.slow is None else facts.slow.chat_template
    for name, template in templates.items() if isinstance(templates, dict) else (("", templates),):
        wrong = syntax_error(template) if isinstance(template, str) else None
        if wrong is not None:
            file = TOKENIZER_CONFIG_FILE if "chat_template" in facts.files.config else CHAT_TEMPLATE_FILE
            message = (
                f"the chat template {name!r}".removesuffix(" ''") + f" does not parse: line {wrong[0]}: {wrong[1]}"
            )
            yield Finding("warning", "chat-template", message, file=file)


# Added tokens: against each other, against the vocabulary and against what they are said to be.


_FEWEST_WORDS = 50  # fewer tell nothing
_MANY_CUT = 20  # words: a name or a term that is chosen with care is part of fewer
_SHOWN = 5  # words


def contradictions(facts: Facts) -> Iterator[Finding]:
    """Added tokens against each other, and each against the vocabulary."""
    by_id: dict[int, tuple[str, str]] = {}
    by_content: dict[str, tuple[int, str]] = {}
    for token_id, token, name in facts.added:
        content = token.content
        other, other_file = by_id.setdefault(token_id, (content, name))
        other_id, its_file = by_content.setdefault(content, (token_id, name))
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if other != content:
            code = "added-id-twice" if other_file == name else "added-tokens-contradiction"
            message = f"{content!r} has the id {token_id}, and so has {other!r}{_in(other_file, name)}"
            yield Finding("error", code, message, other_token=other, **known)
        elif other_id != token_id:
            code = "added-content-twice" if its_file == name else "added-tokens-contradiction"
            message = f"{content!r} has the id {token_id}, and also {other_id}{_in(its_file, name)}"
            yield Finding("error", code, message, other_id=other_id, **known)
        elif facts.decoder_counts and name == ADDED_TOKENS_FILE and facts.by_line.get(token_id) != content:
            message = f"{content!r}, id {token_id}, is not in {DECODER}, so for transformers it does not exist"
            yield Finding("warning", "added-tokens-contradiction", message, **known)
        yield from _line_of(facts, content, token_id, known)


def _line_of(facts: Facts, content: str, token_id: int, known: dict[str, Any]) -> Iterator[Finding]:
    line = facts.by_line.get(token_id)
    if line == content or (token_id in facts.holes and line == filling(token_id)):
        return
    if line is not None:
        message = f"the added token {content!r} has the id {token_id}, which is that of {line!r} on line "
        message += f"{token_id + 1} of the vocabulary"
        yield Finding("error", "id-clash", message, other_token=line, **known)
    own_id = facts.line_ids.get(content)
    if own_id is not None:
        message = f"the added token {content!r} has the id {token_id}, and {own_id} in the vocabulary"
        yield Finding("error", "added-id-differs", message, other_id=own_id, **known)


def _in(file: str, here: str) -> str:
    return "" if file == here else f" in {file}"


def special_flags(facts: Facts) -> Iterator[Finding]:
    """A special token that is not marked as one, and a word that is."""
    assigned = facts.files.record.get("assigned_unused")
    chosen = set(map(str, assigned.values())) if isinstance(assigned, dict) else set()
    special = {*facts.roles.values(), *facts.additional, *chosen}
    role_of = {token: role for role, token in facts.roles.items()}
    for token_id, token, name in _with_flags(facts):
        known: dict[str, Any] = {"file": name, "token": token.content, "token_id": token_id}
        if token.content in role_of and not token.special:
            role = role_of[token.content]
            message = f"{token.content!r} is the {role} and has special: false"
            yield Finding("warning", "special-unmarked", message, role=role, **known)
        elif token.special and token.content not in special and _is_word(facts, token.content):
            message = f"{token.content!r} is a word, plays no role, and has special: true"
            yield Finding("warning", "word-marked-special", message, **known)


def _with_flags(facts: Facts) -> Iterator[tuple[int, AddedToken, str]]:
    """The added tokens as files with flags have them; a token that two files mark alike stands once."""
    seen: set[tuple[int, str, bool]] = set()
    in_config, in_json = facts.files.decoder, facts.files.fast
    for name, pairs in ((TOKENIZER_CONFIG_FILE, in_config), (TOKENIZER_FILE, in_json)):
        for token_id, token in pairs:
            key = (token_id, token.content, token.special)
            if key not in seen:
                seen.add(key)
                yield token_id, token, name


def _is_word(facts: Facts, content: str) -> bool:
    return content in facts.line_ids and is_ordinary(content)


def tokens_that_cut_words(facts: Facts) -> Iterator[Finding]:
    """An added token that is part of the vocabulary's words, and is cut out of each; many of them are a mistake.

    Cost: O(letters of the vocabulary) for each length that an added token of letters has.
    """
    by_content: dict[str, tuple[int, AddedToken, str]] = {}
    for token_id, token, name in facts.added:
        if not token.single_word and is_ordinary(token.content):
            by_content.setdefault(_searched(facts, token), (token_id, token, name))
    lengths = sorted({len(content) for content in by_content})
    words = [word for word in facts.words if len(word) > 1] if lengths else []
    if len(words) < _FEWEST_WORDS:
        return
    cut: dict[str, list[str]] = {}
    for word in words:
        parts = {word[i : i + n] for n in lengths if n < len(word) for i in range(len(word) - n + 1)}
        for part in parts & by_content.keys():
            cut.setdefault(part, []).append(word)
    for content, its_words in cut.items():
        token_id, token, name = by_content[content]
        message = f"{token.content!r} is an added token and is cut out of every word that holds it: "
        message += f"{len(its_words)} of the vocabulary's {len(words)} words are never given whole, such as "
        message += ", ".join(map(repr, its_words[:_SHOWN]))
        severity: Severity = "warning" if len(its_words) >= _MANY_CUT else "note"
        yield Finding(severity, "added-cuts-words", message, name, token=token.content, token_id=token_id)


def _searched(facts: Facts, token: AddedToken) -> str:
    """What is looked for in texts: a token that is not special is lower-cased with them."""
    return token.content.lower() if facts.setting("do_lower_case") and not token.special else token.content


def shadows(facts: Facts) -> Iterator[Finding]:
    """An added token that keeps an entry, or another added token, from being given; or that only whitespace tells."""
    special = {*facts.roles.values(), *facts.additional}
    first: dict[str, tuple[str, int]] = {}
    for token_id, token, name in facts.added:
        content, searched = token.content, _searched(facts, token)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content.strip() != content:
            message = (
                f"the added token {content!r} has whitespace before or after it, and is found only together with it"
            )
            yield Finding("warning", "added-edge-space", message, **known)
        other, other_id = first.setdefault(searched, (content, token_id))
        entry_id = facts.line_ids.get(searched)
        if other != content and other_id != token_id:
            message = (
                f"the added tokens {other!r} and {content!r} are both searched as {searched!r}, so one is never given"
            )
            yield Finding("warning", "added-shadows", message, other_token=other, other_id=other_id, **known)
        elif entry_id is not None and entry_id != token_id and searched != content:
            message = (
                f"the added token {content!r}, id {token_id}, is searched as {searched!r}, so the entry of that name"
            )
            message += f", id {entry_id}, is never given"
            yield Finding("warning", "added-shadows", message, other_token=searched, other_id=entry_id, **known)
        elif entry_id == token_id and content.startswith("##") and content not in special:
            message = (
                f"the added token {content!r} is a piece of the vocabulary, and is now found in texts as it is written"
            )
            yield Finding("note", "added-shadows", message, **known)


# config.json and the weights of the model against the tokenizer.


_WORD_EMBEDDINGS = "word_embeddings.weight"  # how the name ends in every model of the family
_SUFFIX = ".safetensors"
_INDEXES = {  # an index of shards → the one file that is taken before it
    "model.safetensors.index.json": "model.safetensors",
    "pytorch_model.bin.index.json": "pytorch_model.bin",
}
_SIZES = {  # of BERT: the end of a tensor's name → what config.json calls its rows
    "embeddings.position_embeddings.weight": "max_position_embeddings",
    "embeddings.token_type_embeddings.weight": "type_vocab_size",
    "embeddings.word_embeddings.weight": None,
}
_GENERATION_FILE = "generation_config.json"
_MODULES_FILE = "modules.json"  # of sentence-transformers, as the next
_SENTENCE_FILE = "sentence_bert_config.json"
_WITHOUT_FILES = ("Normalize", "Dropout")  # modules that keep nothing, so that a download may lack their folder

# Types of models whose tokenizers are of other kinds than WordPiece.
_OTHER_KINDS = frozenset(
    "albert bart bigbird_pegasus big_bird bloom camembert clip codegen deberta deberta-v2 falcon gemma gpt2 gpt_neo "
    "gpt_neox gptj led llama longformer m2m_100 marian mbart mistral modernbert mt5 opt pegasus phi qwen2 qwen3 "
    "roberta t5 whisper xglm xlm xlm-roberta xlnet".split()
)


def token_ids(facts: Facts) -> Iterator[Finding]:
    """`pad_token_id` and the like against the tokens of the roles."""
    generation = yield from _json_of(facts, _GENERATION_FILE, "model-token-id")
    for role, token in facts.roles.items():
        for file, config in (
            (CONFIG_FILE, facts.files.model_config),
            (TOKENIZER_CONFIG_FILE, facts.files.config),
            (_GENERATION_FILE, generation if isinstance(generation, dict) else {}),
        ):
            said, token_id = config.get(f"{role}_id"), facts.id_of(token)
            if said is None or isinstance(said, list) or token_id is None or (type(said) is int and said == token_id):
                continue
            other = facts.by_line.get(said) if type(said) is int else None
            other = next((each.content for each_id, each, _ in facts.added if each_id == said), other)
            whose = "which no token has" if other is None else f"that of {other!r}"
            message = f"{role}_id is {said!r:.60}, {whose}; the {role} is {token!r}, id {token_id}"
            known: dict[str, Any] = {"token": token, "token_id": token_id, "role": role}
            known["other_id"] = said if type(said) is int else None
            yield Finding("warning", "model-token-id", message, file=file, **known)


def sizes(facts: Facts) -> Iterator[Finding]:
    """Sizes that are no numbers: all that is compared with them is passed over."""
    for key in ("vocab_size", "type_vocab_size", "max_position_embeddings"):
        value = facts.files.model_config.get(key)
        if value is not None and (type(value) is not int or value < 1):
            yield Finding(
                "error", "wrong-shape", f"{key} should be a whole number from 1, not {value!r}", file=CONFIG_FILE
            )


def lengths_and_types(facts: Facts) -> Iterator[Finding]:
    """How many positions and token types the model has, against what the tokenizer gives."""
    config = facts.files.model_config
    positions, longest = config.get("max_position_embeddings"), facts.files.config.get("model_max_length")
    if type(positions) is int and isinstance(longest, (int, float)) and positions < longest < VERY_LARGE_INTEGER:
        message = f"max_position_embeddings is {positions}, and model_max_length is {int(longest)} in "
        yield Finding("warning", "model-too-short", message + TOKENIZER_CONFIG_FILE, file=CONFIG_FILE)
    elif isinstance(longest, (int, float)) and facts.slow is not None:
        message = f"model_max_length is {longest}"
        if longest < shortest_useful(facts):
            message += f", and the special tokens around a pair are {special_places(facts)}: hardly a word is left"
            yield Finding("warning", "short-length", message, file=TOKENIZER_CONFIG_FILE)
        elif type(positions) is int and longest < positions:
            message += f", and the model takes {positions} (max_position_embeddings)"
            yield Finding("note", "short-length", message, file=TOKENIZER_CONFIG_FILE)
    types = config.get("type_vocab_size")
    if type(types) is not int or facts.slow is None or "token_type_ids" not in facts.slow.model_input_names:
        return
    highest = max(part[2] for part in facts.slow.template.pair)
    if types <= highest:
        message = f"type_vocab_size is {types}, and a pair has token type ids up to {highest}"
        yield Finding("warning", "model-types", message, file=CONFIG_FILE)


def model_type(facts: Facts) -> Iterator[Finding]:
    """A model whose tokenizer is another one than the class that tokenizer_config.json names."""
    named, kind = facts.files.config.get("tokenizer_class"), facts.files.model_config.get("model_type")
    if not isinstance(kind, str) or facts.files.model_config.get("tokenizer_class") is not None:
        return
    usual = class_of_model_type(kind)
    if kind in _OTHER_KINDS:
        message = f"model_type is {kind!r}, whose tokenizer has no WordPiece vocabulary"
    elif named is None or usual is None or _is_alike(usual, facts.kind):
        return
    else:
        message = f"model_type is {kind!r}, whose tokenizer is {usual.__name__}; {TOKENIZER_CONFIG_FILE} has {named!r}"
    yield Finding("warning", "model-type", message, file=CONFIG_FILE)


def _is_alike(first: Any, second: Any) -> bool:
    """Whether two classes put the same around texts, as those do that inherit `template`, and give the same inputs."""
    return bool(first.template == second.template and first.model_input_names == second.model_input_names)


def embedding_rows(facts: Facts) -> Iterator[Finding]:
    """The rows of the embeddings in .safetensors files against the ids."""
    path = facts.files.path
    if not os.path.isdir(path) or facts.files.tokens is None:
        return
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file())
    held: dict[str, set[str]] = {}
    for name in names:
        try:
            shapes = tensor_shapes(path / name)
        except SafetensorsError as error:
            yield Finding("error", "weights-unreadable", str(error), file=name)
            continue
        except OSError as error:
            yield Finding("error", "weights-unreadable", f"cannot read it: {error.strerror}", file=name)
            continue
        held[name] = set(shapes)
        for tensor, shape in shapes.items():
            if tensor.endswith(_WORD_EMBEDDINGS) and len(shape) == 2:
                yield from _rows(facts, name, tensor, shape[0])
            if facts.files.model_config.get("model_type") == "bert":
                yield from _other_sizes(facts, name, tensor, shape)
    for name in _INDEXES:
        yield from _index(facts, name, held)


def _rows(facts: Facts, name: str, tensor: str, rows: int) -> Iterator[Finding]:
    said = facts.files.model_config.get("vocab_size")
    highest, needed = highest_id(facts), rows_needed(facts)
    if rows <= highest:
        message = f"{tensor} has {rows} rows, and the highest id is {highest}"
        yield Finding("error", "weights-too-few-rows", message, file=name, token_id=rows, other_id=highest)
    elif rows > needed and rows != said and not is_padded(rows, needed):
        message = f"{tensor} has {rows} rows, and the tokenizer has {needed} ids: {rows - needed} rows are not used"
        yield Finding("warning", "weights-too-many-rows", message, file=name)
    if type(said) is int and said != rows:
        message = f"{tensor} has {rows} rows, and vocab_size is {said} in {CONFIG_FILE}"
        yield Finding("error", "weights-vocab-size", message, file=name)


def _other_sizes(facts: Facts, name: str, tensor: str, shape: tuple[int, ...]) -> Iterator[Finding]:
    """The other sizes of BERT's embeddings against config.json."""
    for end, key in _SIZES.items():
        if not tensor.endswith(end) or len(shape) != 2:
            continue
        for size, named in zip(shape, (key, "hidden_size"), strict=True):
            said = facts.files.model_config.get(named) if named else None
            if type(said) is int and said != size:
                message = f"{tensor} is {shape[0]} x {shape[1]}, and {named} is {said} in {CONFIG_FILE}"
                yield Finding("error", "weights-shape", message, file=name)


def _index(facts: Facts, name: str, held: dict[str, set[str]]) -> Iterator[Finding]:
    """The shards that an index names, and the tensors that it says are in each."""
    index = yield from _json_of(facts, name, "weights-index")
    if index is None:
        return
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(shard, str) for shard in places.values()):
        yield Finding("warning", "weights-index", "it has no object weight_map of tensors and files", file=name)
        return
    there = set(os.listdir(facts.files.path))
    shards = sorted(set(places.values()))
    # Without any shard the weights were left out, and beside a file with all of them the index is not read.
    is_read = _INDEXES[name] not in there and not there.isdisjoint(shards)
    for shard in shards:
        lacking = [
            tensor for tensor, place in places.items() if place == shard and tensor not in held.get(shard, places)
        ]
        if shard not in there:
            message = f"it names {shard!r:.100}, which is not there"
        elif lacking:
            message = f"it says that {lacking[0]!r:.100} is in {shard!r:.100}, which does not have it"
        else:
            continue
        yield Finding("error" if is_read else "warning", "weights-index", message, file=name)


def sentence_model(facts: Facts) -> Iterator[Finding]:
    """What sentence-transformers keeps beside the tokenizer."""
    settings = yield from _json_of(facts, _SENTENCE_FILE, "sentence-module")
    settings = settings if isinstance(settings, dict) else {}
    longest, positions = settings.get("max_seq_length"), facts.files.model_config.get("max_position_embeddings")
    if longest is not None and (type(longest) is not int or longest < shortest_useful(facts)):
        message = f"max_seq_length is {longest!r:.60}, which is no number that leaves something of a text"
        yield Finding("warning", "short-length", message, file=_SENTENCE_FILE)
    elif type(positions) is int and longest is not None and longest > positions:
        message = f"max_seq_length is {longest}, and max_position_embeddings is {positions}"
        yield Finding("warning", "model-too-short", message, file=_SENTENCE_FILE)
    told = case_told_by(facts)
    if settings.get("do_lower_case") is True and told.lowers is False:
        message = f"{told.said}, and do_lower_case is true: sentence-transformers lower-cases texts first"
        yield Finding("warning", "cased-vocabulary", message, file=_SENTENCE_FILE)
    yield from _modules(facts)


def _modules(facts: Facts) -> Iterator[Finding]:
    modules = yield from _json_of(facts, _MODULES_FILE, "sentence-module")
    for module in modules if isinstance(modules, list) else ():
        path, kind = (module.get("path"), module.get("type")) if isinstance(module, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(kind, str):
            yield Finding("warning", "sentence-module", "a module has no path and type", file=_MODULES_FILE)
        elif path and not kind.endswith(_WITHOUT_FILES):
            folder = facts.files.path / path
            if path in (".", "..") or os.path.basename(path) != path or not os.path.isdir(folder):
                message = f"it names the folder {path!r:.100} for {kind!r:.100}, and there is no such folder"
                yield Finding("warning", "sentence-module", message, file=_MODULES_FILE)
            elif kind.endswith("Pooling"):
                yield from _pooling(facts, f"{path}/{CONFIG_FILE}")


def _pooling(facts: Facts, name: str) -> Iterator[Finding]:
    settings = yield from _json_of(facts, name, "sentence-module")
    if not isinstance(settings, dict):
        if settings is None and not os.path.exists(facts.files.path / name):
            yield Finding("warning", "sentence-module", "there is no such file, and pooling needs it", file=name)
        return
    said, size = settings.get("word_embedding_dimension"), facts.files.model_config.get("hidden_size")
    if type(said) is int and type(size) is int and said != size:
        message = f"word_embedding_dimension is {said}, and hidden_size is {size} in {CONFIG_FILE}"
        yield Finding("warning", "sentence-module", message, file=name)
    modes = [value for key, value in settings.items() if key.startswith("pooling_mode")]
    if modes and not any(modes):
        yield Finding("warning", "sentence-module", "every pooling_mode is false, so no vector comes out", file=name)


def _json_of(facts: Facts, name: str, code: str) -> Generator[Finding, None, Any]:
    """The value of a JSON file of the directory; None where it is not there or cannot be read, which is a finding."""
    path = facts.files.path / name
    if not os.path.isfile(path):
        return None
    try:
        value = json.loads(read_json_text(path))
        check_depth(value)
    except (TrietokError, ValueError, RecursionError) as error:
        message = str(error).replace(str(path), name) or "it is nested too deeply"
        yield Finding("warning", code, f"it cannot be read: {message}", file=name)
        return None
    return value


_SINGLY = 20  # so many tokens with other ids are findings of their own; more are another vocabulary
_FLAGS = ("special", "lstrip", "rstrip", "single_word")
_SETTINGS = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}


def vocabularies(facts: Facts) -> Iterator[Finding]:
    """The ids of tokenizer.json against those of vocab.txt and the added tokens."""
    json = facts.files.fast_values
    if json is None or facts.files.is_json_alone or facts.files.tokens is None:
        return
    theirs = {**json.vocabulary, **{token.content: token_id for token_id, token in json.added_tokens.items()}}
    ours = {token: token_id for token, token_id in facts.line_ids.items() if token and not facts.is_filled(token_id)}
    ours.update(facts.added_ids)
    tokens = [token for token in {**ours, **theirs} if ours.get(token) != theirs.get(token)]
    unknown_to_json = {token.content for _, token, name in facts.added if name != TOKENIZER_FILE}
    # What only tokenizer_config.json adds, the fast class adds too; that is a finding of `added_tokens`.
    tokens = [token for token in tokens if token in theirs or token not in unknown_to_json or token in facts.line_ids]
    if len(tokens) > _SINGLY:
        message = f"{len(tokens)} of {len({**ours, **theirs})} tokens have other ids than in {VOCAB_FILE}, or stand in "
        message += f"one of the two only, {tokens[0]!r} the first: they are of different models"
        yield Finding("error", "tokenizer-json-differs", message, file=TOKENIZER_FILE, token=tokens[0])
        return
    for token in tokens:
        token_id, other_id = theirs.get(token), ours.get(token)
        if token_id is None:
            message = f"{token!r}, id {other_id} in {VOCAB_FILE}, is not in {TOKENIZER_FILE}"
        elif other_id is None:
            message = f"{token!r} has the id {token_id}, and is neither in {VOCAB_FILE} nor an added token there"
        else:
            message = f"{token!r} has the id {token_id}, and {other_id} in {VOCAB_FILE}"
        known: dict[str, Any] = {"token": token, "token_id": token_id, "other_id": other_id}
        yield Finding("error", "tokenizer-json-differs", message, file=TOKENIZER_FILE, **known)


def added_tokens(facts: Facts) -> Iterator[Finding]:
    """Added tokens that only one of tokenizer.json and tokenizer_config.json has, or that they mark differently."""
    json, files = facts.files.fast_values, facts.files
    if json is None or DECODER not in files.config:
        return
    config = {token.content: (token_id, token) for token_id, token in files.decoder}
    config.update({token.content: (token_id, token) for token_id, token in files.added if token.content not in config})
    own = {token.content: (token_id, token) for token_id, token in json.added_tokens.items()}
    for content in {**own, **config}:
        if content not in config:
            token_id, where, other = own[content][0], TOKENIZER_FILE, f"{TOKENIZER_CONFIG_FILE}, so slow tokenizers"
        elif content not in own:
            token_id, where, other = config[content][0], TOKENIZER_CONFIG_FILE, f"{TOKENIZER_FILE}, so `tokenizers`"
        else:
            yield from _other_flags(*own[content], config[content][1])
            continue
        message = f"{content!r}, id {token_id}, is an added token in {where} and not in {other}"
        message += " split it as any text"
        known: dict[str, Any] = {"token": content, "token_id": token_id}
        yield Finding("warning", "tokenizer-json-added", message, file=TOKENIZER_FILE, **known)


def _other_flags(token_id: int, ours: AddedToken, theirs: AddedToken) -> Iterator[Finding]:
    flags = [flag for flag in _FLAGS if getattr(ours, flag) != getattr(theirs, flag)]
    if flags:
        said = ", ".join(f"{flag} {str(getattr(ours, flag)).lower()}" for flag in flags)
        message = f"{ours.content!r} has {said} here, and the opposite in {TOKENIZER_CONFIG_FILE}"
        known: dict[str, Any] = {"token": ours.content, "token_id": token_id}
        yield Finding("warning", "tokenizer-json-added", message, file=TOKENIZER_FILE, **known)


def settings(facts: Facts) -> Iterator[Finding]:
    """What tokenizer.json does to a text against what tokenizer_config.json, and the slow classes, do."""
    json = facts.files.fast_values
    if json is None:
        return
    for message in (*_normalizing(facts, json), *_word_pieces(facts, json), *_padding(facts, json)):
        yield Finding("warning", "tokenizer-json-setting", message, file=TOKENIZER_FILE)


class Contradiction(NamedTuple):
    """A setting of tokenizer_config.json that tokenizer.json contradicts: its name, and the value that one has."""

    setting: str
    value: bool | None
    message: str


def json_contradictions(facts: Facts, json: TokenizerJson) -> Iterator[Contradiction]:
    """The settings of the basic tokenizer for which the two files have different values."""
    said = json.normalizer or NO_NORMALIZER
    for ours, theirs in _SETTINGS.items():
        wanted = bool(facts.setting(theirs))
        if getattr(said, ours) != wanted:
            message = f"normalizer.{ours} is {_json(not wanted)}, and {theirs} is {_config_value(facts, theirs)}"
            yield Contradiction(theirs, not wanted, message)
    strips = said.lowercase if said.strip_accents is None else said.strip_accents
    asked = facts.setting("strip_accents")
    if strips != (bool(facts.setting("do_lower_case")) if asked is None else asked):
        if said.strip_accents != asked:  # else it follows from lower-casing, which has a finding
            value = _config_value(facts, "strip_accents")
            message = f"normalizer.strip_accents is {_json(said.strip_accents)}, and strip_accents is {value}"
            yield Contradiction("strip_accents", said.strip_accents, message)


def _normalizing(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    said = json.normalizer or NO_NORMALIZER
    if facts.setting("do_basic_tokenize") is False:
        yield f"its words are split at punctuation, and do_basic_tokenize is false in {TOKENIZER_CONFIG_FILE}"
        return
    for each in json_contradictions(facts, json):
        yield each.message
    if not said.clean_text:
        yield "normalizer.clean_text is false, and slow tokenizers always delete control characters"
    words = facts.files.config.get("never_split") if facts.fast is not None else None
    split = [word for word in words or () if facts.fast.tokenize(word) != [word]]
    if split:
        yield f"it cannot hold never_split, so fast classes split {split[0]!r}, which slow tokenizers keep whole"


def _word_pieces(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    prefix, decoder = json.continuing_subword_prefix, json.decoder
    plain = WordpieceTokenizer({"": 0}, "")
    if prefix != plain.continuing_subword_prefix:
        pieces = sum(token.startswith(prefix) for token in json.vocabulary) if prefix else 0
        yield (
            f"model.continuing_subword_prefix is {prefix!r}, with which {pieces} entries begin; slow tokenizers have "
            f"{plain.continuing_subword_prefix!r}"
        )
    elif decoder is None:
        yield f"decoder is null: decoding leaves {prefix!r} and spaces between the pieces of words"
    elif isinstance(decoder, WordPieceDecoder) and decoder.prefix != prefix:
        yield f"decoder.prefix is {decoder.prefix!r}, and the model's is {prefix!r}: decoding leaves it in the text"
    if json.max_input_chars_per_word != plain.max_input_chars_per_word:
        yield (
            f"model.max_input_chars_per_word is {json.max_input_chars_per_word}: longer words are unknown; slow "
            f"tokenizers have {plain.max_input_chars_per_word}"
        )
    unknown = facts.roles.get(UNKNOWN)
    if unknown is not None and json.unk_token != unknown:
        yield f"model.unk_token is {json.unk_token!r}, and {UNKNOWN} is {unknown!r}"


def _padding(facts: Facts, json: TokenizerJson) -> Iterator[str]:
    said, token = json.padding, facts.roles.get("pad_token")
    if said is None or token is None:
        return
    if said.pad_id != (token_id := facts.id_of(token)):
        yield f"padding.pad_id is {said.pad_id}, and the pad_token {token!r} has the id {token_id}"
    elif said.pad_token != token:
        yield f"padding.pad_token is {said.pad_token!r}, and the pad_token is {token!r}"
    if said.pad_type_id != (type_id := facts.files.config.get("pad_token_type_id", 0)):
        yield f"padding.pad_type_id is {said.pad_type_id}, and pad_token_type_id is {type_id}"


def lengths(facts: Facts) -> Iterator[Finding]:
    """Truncation and padding that the file keeps, which `tokenizers` applies to every text."""
    json, positions = facts.files.fast_values, facts.files.model_config.get("max_position_embeddings")
    if json is None or facts.slow is None:
        return
    longest = facts.slow.model_max_length

    def finding(message: str, odd: bool) -> Finding:
        return Finding("warning" if odd else "note", "tokenizer-json-length", message, file=TOKENIZER_FILE)

    for what, said, length in (
        ("truncation", json.truncation, json.truncation and json.truncation.max_length),
        ("padding", json.padding, json.padding and json.padding.strategy),
    ):
        if said is None:
            continue
        if not isinstance(length, int):
            yield finding("padding fills every batch up to its longest text", odd=False)
        elif type(positions) is int and length > positions:
            yield finding(f"{what} is to {length} tokens, and max_position_embeddings is {positions}", odd=True)
        else:
            does = "every text is cut to" if what == "truncation" else "every text is filled up to"
            than = f"; model_max_length is {longest}" if length != longest < VERY_LARGE_INTEGER else ""
            yield finding(f"{what}: {does} {length} tokens{than}", odd=length < shortest_useful(facts))
        side = facts.setting_of(f"{what}_side", "right")
        if said.direction.lower() != side:
            yield finding(f"{what}.direction is {said.direction!r}, and {what}_side is {side!r}", odd=True)
    if json.truncation is not None and 0 < json.truncation.stride >= json.truncation.max_length - special_places(facts):
        yield finding(f"truncation.stride is {json.truncation.stride}: too much for the length", odd=True)


def template(facts: Facts) -> Iterator[Finding]:
    """The special tokens around texts against those of the class."""
    json = facts.files.fast_values
    if json is None or facts.fast is None:
        return
    if None in (facts.fast.cls_token, facts.fast.sep_token):
        return  # there is a finding about the role
    expected = template_processing_of(facts.fast, facts.fast.rust_template)
    with_types = "token_type_ids" in facts.fast.model_input_names
    for pair, what in ((False, "one text"), (True, "a pair")):
        ours, theirs = (_shown(pieces, with_types) for pieces in (json.pieces(pair), expected.pieces(pair)))
        if ours != theirs:
            message = f"the template for {what} is {ours}, and {type(facts.fast).__name__} has {theirs}"
            yield Finding("warning", "tokenizer-json-template", message, file=TOKENIZER_FILE)


def _shown(pieces: tuple[Piece, ...], with_types: bool) -> str:
    names = [piece.token if piece.sequence is None else f"${'AB'[piece.sequence]}" for piece in pieces]
    types = [f":{piece.type_id}" if with_types and piece.type_id else "" for piece in pieces]
    return " ".join(f"{name}{kind}" for name, kind in zip(names, types, strict=True))


def _config_value(facts: Facts, name: str) -> str:
    value = _json(facts.setting(name))
    where = f"in {TOKENIZER_CONFIG_FILE}" if name in facts.files.config else "by default"
    return f"{value} {where}"


def _json(value: Any) -> str:
    return {None: "null", True: "true", False: "false"}.get(value, repr(value))
