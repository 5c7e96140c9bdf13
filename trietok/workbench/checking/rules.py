"""The rules of a check: which entries no text can give, what the files say together, and what contradicts what.

In: the files of one directory (`CheckedFiles`). Out: `Facts`, and `RULES`, each of which yields findings about them.
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

from trietok.disk import UNFINISHED
from trietok.errors import TrietokError
from trietok.files.atomic import Staging
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
from trietok.files.load import AddedIds
from trietok.files.safetensors import SafetensorsError, read_header
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

# Which entries of a vocabulary no text can give. An entry comes out of a text only as the front of a word or, after
# `##`, as a later stretch of one; so it is reachable if the tokenizer's own `BasicTokenizer` leaves it whole: alone, or
# behind a digit, as none ever combines with what follows it. That test by itself can take a reachable entry for an
# unreachable one where normalization looks at neighbours, and then a second text is tried:
#
# - Where accents are stripped, U+034F between the characters keeps them from being composed or put in another order,
#   and is then stripped itself. What is left is whether each character alone survives, as each does that is ever given.
# - Where a text is lower-cased without that, the characters in upper case: a capital and its accent may have no
#   composed form while the small letter has one.
#
# Words in `never_split` and special tokens are words as they stand, so what WordPiece makes of them is reachable too.

_BEFORE = "0"
_LONGEST_EXAMINED = 100  # characters beyond the longest word: what is longer yet is unreachable by its length alone
_BLOCKER = "\u034f"  # COMBINING GRAPHEME JOINER: stripped as a mark, and nothing combines across it


class Reach:
    """Tells which entries of a `BertTokenizer` a text can give.

    >>> import trietok
    >>> reach = Reach(trietok.BertTokenizer.from_pretrained("trietok-en"))
    >>> reach.is_reachable("the"), reach.is_reachable("##,"), reach.reason("##,")
    (True, False, ('unreachable-punctuation', 'punctuation is a word of its own'))

    Cost: O(code points of the entry) for each question; some microseconds.
    """

    def __init__(self, tokenizer: Any) -> None:
        full, special = tokenizer.wordpiece_tokenizer, set(tokenizer.all_special_tokens)
        self.prefix: str = full.continuing_subword_prefix
        self.longest: int = full.max_input_chars_per_word
        self.basic: Any = copy.copy(tokenizer.basic_tokenizer) if tokenizer.do_basic_tokenize else None
        self._given: set[str] = {*tokenizer.added_tokens_encoder, *special}
        self._lowers = self._strips = False
        if self.basic is not None:
            plain = {token: token_id for token, token_id in tokenizer.vocab.items() if token not in special}
            without_special = WordpieceTokenizer(plain, full.unk_token, self.longest)
            for word in self.basic.never_split | special:
                self._given.update((word, *full.tokenize(word), *without_special.tokenize(word)))
            self.basic.never_split = set()
            self._lowers, strips = bool(self.basic.do_lower_case), self.basic.strip_accents
            self._strips = self._lowers if strips is None else bool(strips)

    def is_reachable(self, token: str) -> bool:
        """Whether a text may give `token`. False is certain; True says only that normalization does not prevent it."""
        if token in self._given:
            return True
        if not token:
            return False
        if token.isascii() and token.isalnum() and len(token) <= self.longest:  # most entries
            return not self._lowers or token.lower() == token
        if len(token) <= self.longest and self._is_word(token):
            return True
        behind = _BEFORE + token[len(self.prefix) :]
        return token.startswith(self.prefix) and 1 < len(behind) <= self.longest and self._is_word(behind)

    def _is_word(self, word: str) -> bool:
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


def _capitals(word: str) -> str:
    """Every letter in upper case that lower-casing gives back; not the sigma, which looks at its neighbours."""
    return "".join(char.upper() if char != "σ" and char.upper().lower() == char else char for char in word)


def _code_points(text: str) -> str:
    shown = " ".join(f"U+{ord(char):04X}" for char in text[:8])
    return shown + " ..." if len(text) > 8 else shown or "nothing"


# What the rules ask about. How the files are weighed against each other is the rule of `files/load.py`: where
# tokenizer_config.json has an added_tokens_decoder, special_tokens_map.json, added_tokens.json and tokenizer.json are
# not looked at for roles and added tokens; else the map's roles come before the config's, and later files before
# earlier ones.

ROLES = tuple(role for role in BertTokenizer.SPECIAL_TOKENS_ATTRIBUTES if role != ADDITIONAL)
UNKNOWN = "unk_token"
_FEW = 8


class Facts:
    """One directory as its files say it is, as far as they can be read."""

    def __init__(self, files: CheckedFiles) -> None:
        self.files = files
        self.json: Any = files.fast_values  # what tokenizer.json says; None where it cannot be read
        self.kind = class_or_bert(files.config, files.model_config)  # the class that the files name, in its slow form
        self.vocabulary = files.tokens  # the lines; None where they cannot be read
        self.by_line = {token_id: token for token_id, token in enumerate(files.tokens or ()) if token is not None}
        self.line_ids = {token: token_id for token_id, token in self.by_line.items()}  # the last of a duplicate
        single = files.path.name if os.path.isfile(files.path) else VOCAB_FILE
        self.vocabulary_file = TOKENIZER_FILE if files.is_json_alone else single
        self.decoder_counts = DECODER in files.config  # its tokens, and not those of other files
        self.holes = files.holes  # the ids declared to have no token
        self.added = files.added_that_count()
        self.added_ids = {token.content: token_id for token_id, token, _ in self.added}
        parameters = inspect.signature(self.kind.__init__).parameters.items()
        self._settings = {name: parameter.default for name, parameter in parameters}  # as the class has them
        self.defaults = {role: token for role, token in self._settings.items() if role in ROLES}
        self.additional: list[str] = []  # special tokens of other roles, or of none
        self.slow: Any = None  # the tokenizer of each profile; None where it does not load
        self.fast: Any = None
        self.roles = dict(self.defaults)  # as they are after loading, without those that a file sets to null
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
        self.special = {*self.roles.values(), *self.additional}
        self.basic = None if self.setting("do_basic_tokenize") is False else True  # whether words are split as in BERT

    def setting(self, name: str) -> bool | None:
        """A setting that is true, false or null: tokenizer_config.json's, else the default of the class."""
        default = self._settings.get(name)
        value = self.files.config.get(name, default)
        return value if value is None or isinstance(value, bool) else default  # there is a finding about any other

    def has(self, token: str | None) -> bool:
        """Whether the vocabulary or an added token is `token`."""
        return token in self.line_ids or token in self.added_ids

    def id_of(self, token: str) -> int | None:
        """The id that encodes a token, as the files say it."""
        return self.added_ids.get(token, self.line_ids.get(token))

    def role_finding(self, code: str, message: str, role: str, severity: Severity = "warning", **known: Any) -> Finding:
        """A finding about the token of a role, in the file that gives it."""
        in_map = not self.decoder_counts and role in self.files.special_map
        file = SPECIAL_TOKENS_MAP_FILE if in_map else TOKENIZER_CONFIG_FILE
        return Finding(severity, code, message, file, role=role, **{"token": self.roles[role], **known})

    def entry_finding(
        self, code: str, message: str, token_id: int, severity: Severity = "warning", odd: bool = True, **known: Any
    ) -> Finding:
        """A finding about an entry, which is not looked at further if it is `odd`."""
        if odd:
            self.files.odd.add(token_id)
        line = None if self.files.is_json_alone else token_id + 1
        return Finding(severity, code, message, self.vocabulary_file, line, self.by_line[token_id], token_id, **known)

    @cached_property
    def words(self) -> list[str]:
        """The entries that a text may give, without the prefix that continues a word: letters only."""
        words = [token.removeprefix("##") for token in self.line_ids if token not in self.special]
        return [word for word in words if word.isalpha()]

    @cached_property
    def case(self) -> tuple[bool | None, str]:
        """Whether the entries are of lower-cased texts, None where they do not tell it; and what tells it, in words."""
        lower = capital = 0
        for word in self.words:
            if word.lower() != word:
                capital += 1
            elif word.upper() != word:
                lower += 1
        cased = lower + capital
        of_them = f"{capital} of its {cased} words with letters of two cases have capitals"
        if cased >= _FEWEST_CASED and capital >= max(_FEWEST_CAPITALS, _CAPITALS_SHARE * cased):
            return False, f"the vocabulary is cased: {of_them}"
        if cased >= _FEWEST_CASED and capital * 1000 < cased and cased >= _CASED_SHARE * len(self.words):
            return True, f"the vocabulary is uncased: {of_them}"
        return None, of_them

    def is_filled(self, token_id: int) -> bool:
        """Whether the line of an id holds nothing but what trietok writes for an id without a token."""
        return token_id in self.holes and self.by_line.get(token_id) in (filling(token_id), "")

    @property
    def bert_stages(self) -> Any:
        """The slow tokenizer, if its stages are BERT's."""
        return None if hasattr(self.slow, "stage_settings") else self.slow

    @property
    def special_places(self) -> int:
        """How many special tokens stand around a pair."""
        return 3 if self.slow is None else sum(part.kind != "sequence" for part in self.slow.template.pair)

    @property
    def shortest_useful(self) -> int:
        """So many tokens that a few of a text are left beside the special tokens of a pair."""
        return self.special_places + _FEW


Rule = Callable[[Facts], Iterator[Finding]]
RULES: list[tuple[tuple[str, ...], Rule]] = []
_WARNING: Severity = "warning"
_NOTE: Severity = "note"


def rule(*needs: str) -> Callable[[Rule], Rule]:
    """Make a function a rule of every check, in the order of this module, where no attribute that it needs is None."""

    def listed(function: Rule) -> Rule:
        RULES.append((needs, function))
        return function

    return listed


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
    read = facts.slow.added_tokens_decoder.items() if facts.slow is not None else (each[:2] for each in facts.added)
    return {token_id: token.content for token_id, token in read}


@rule("vocabulary")
def holes(facts: Facts) -> Iterator[Finding]:
    """Ids that no token has."""
    used = sorted({*facts.by_line, *loaded_ids(facts)})
    for before, after in pairwise([-1, *used]):
        first, last = before + 1, after - 1
        if first > last:
            continue
        message = (f"id {first} belongs" if first == last else f"ids {first} to {last} belong") + " to no token"
        if last - first < len(facts.holes) and facts.holes.issuperset(range(first, last + 1)):
            severity, message = _NOTE, f"{message}, as {TOKENIZER_CONFIG_FILE} declares"
        else:
            severity, message = _WARNING, f"{message}; transformers gives new tokens ids that are taken"
        yield Finding(severity, "id-hole", message, token_id=first, other_id=last)


@rule("vocabulary")
def past_the_model(facts: Facts) -> Iterator[Finding]:
    """Ids for which config.json gives the model no row, and rows that no id uses."""
    rows = facts.files.model_config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        return
    tokens = {token_id: token for token, token_id in facts.line_ids.items()} | loaded_ids(facts)
    for token_id, token in sorted(pair for pair in tokens.items() if pair[0] >= rows):
        message = f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1} (vocab_size)"
        yield Finding("error", "id-past-model", message, CONFIG_FILE, token=token, token_id=token_id)
    needed = rows_needed(facts)
    if rows > needed:
        message = f"vocab_size is {rows}, and ids end at {needed - 1}: {rows - needed} row(s) are not used"
        padded = is_padded(rows, needed)
        message += "" if padded else ", which is not a number padded to a multiple of 8 to 1024"
        yield Finding(_NOTE if padded else _WARNING, "model-larger", message, CONFIG_FILE)


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


@rule("vocabulary")
def damaged_entries(facts: Facts) -> Iterator[Finding]:
    """Entries with letters of two scripts, invisible characters, or the traces of a wrong encoding or vocabulary."""
    mixed: list[tuple[int, str]] = []
    for token_id, token in facts.by_line.items():
        if (token.isascii() and token[:1] not in "#\\&") or token_id in facts.files.odd:
            continue
        if _MIXED.search(token) and all(char in _LATIN_LOOKS for char in _GREEK.findall(token)):  # not μm
            mixed.append((token_id, token))
        hidden = _INVISIBLE.search(token)
        if hidden and any(map(str.isalnum, token)):
            char = f"U+{ord(hidden[0]):04X} ({unicodedata.name(hidden[0], 'no name')})"
            message = f"{token!r} holds {char}, which nobody sees: it is not the word it looks like"
            yield facts.entry_finding("invisible-character", message, token_id)
        elif meant := _meant(token):
            yield facts.entry_finding("damaged-entry", f"{token!r} looks damaged; it was probably {meant}", token_id)
    for token_id, token in mixed:
        foreign = _FOREIGN.findall(token)
        looks = "".join(_LATIN_LOOKS.get(char, char) for char in token)
        is_latin = 2 * len(foreign) < len(token.removeprefix("##")) and all(char in _LATIN_LOOKS for char in foreign)
        message = f"{token!r} mixes Latin letters with U+{ord(foreign[0]):04X} ({unicodedata.name(foreign[0], '')})"
        other = looks if is_latin else None
        message += f"; it looks like {looks!r}" if is_latin else ""
        severity = _WARNING if is_latin or len(mixed) < _FEW_MIXED else _NOTE
        yield facts.entry_finding("mixed-scripts", message, token_id, severity, other_token=other)


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


@rule("vocabulary", "slow", "bert_stages")
def missing_letters(facts: Facts) -> Iterator[Finding]:
    """Letters that many entries hold and that are no entry themselves, so that words with them are unknown."""
    first: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for token in facts.line_ids:
        word, is_piece = token.removeprefix("##"), token.startswith("##")
        if word.isalnum():
            first.update(() if is_piece else word[0])
            inside.update(set(word if is_piece else word[1:]))
    if not any(token.startswith("##") for token in facts.line_ids):
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
            message = f"{token!r} is no entry, and other entries hold it"
            message += ": a word for which no longer piece fits is unknown"
            yield Finding("warning", "letter-missing", message, facts.vocabulary_file, token=token)


@rule("vocabulary", "slow", "bert_stages")
def replaced_slots(facts: Facts) -> Iterator[Finding]:
    """Entries in the midst of a run of unused slots: words that were written into slots, or lines that were damaged."""
    slots = {id_: int(match[1]) for id_, token in facts.by_line.items() if (match := _SLOT.fullmatch(token))}
    ids = sorted(slots)
    if not ids:
        return
    meant = {*facts.special, *map(str, (facts.files.record.get("assigned_unused") or {}).values()), *facts.added_ids}
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
            if not token or token in meant or token_id in facts.files.odd:
                continue
            slot = f"[unused{slots[before] + token_id - before}]"
            message = f"{token!r} stands in the place of {slot}"
            if reach.is_reachable(token):
                message += "; its row has no meaning unless the model was trained with it"
                yield facts.entry_finding("slot-replaced", message, token_id, "note", odd=False)
            else:
                message += f", and no text gives it: {reach.reason(token)[1]}"
                yield facts.entry_finding("slot-replaced", message, token_id, other_token=slot)


@rule("vocabulary", "slow", "bert_stages")
def unreachable_entries(facts: Facts) -> Iterator[Finding]:
    """Entries that no text gives; but not special and added tokens, nor slots such as `[unused1]`, which wait.

    Cost: some microseconds an entry: half a second for 100,000.
    """
    reach = Reach(facts.slow)
    for token, token_id in facts.slow.vocab.items():
        if token and not reach.is_reachable(token) and not is_unused_slot(token) and token_id not in facts.files.odd:
            code, why = reach.reason(token)
            is_word = code == "unreachable-punctuation" and token[0] not in "<[" and any(map(str.isalnum, token))
            severity = _WARNING if is_word or len(token.removeprefix("##").split()) > 1 else _NOTE
            yield facts.entry_finding(code, f"no text gives {token!r}: {why}", token_id, severity, odd=False)


# Special tokens and their roles.

_TEMPLATE_ROLES = ("cls_token", "sep_token")  # without them a call has nothing to put around a text
_USED_ROLES = {"pad_token": "padding", "mask_token": "masking"}
_MAY_SHARE = ({"bos_token", "cls_token"}, {"eos_token", "sep_token"})  # a decoder begins and ends with BERT's tokens
_NAMED_ROLES = ("cls_token", "sep_token", "pad_token", "mask_token", UNKNOWN)


@rule()
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
            known: dict[str, Any] = {"role": role, "token": theirs, "other_token": ours}
            yield Finding("warning", "role-contradiction", message, SPECIAL_TOKENS_MAP_FILE, **known)
    lists = [values.get(ADDITIONAL) for values in (files.config, files.special_map)]
    contents = [{content_of(entry) or "" for entry in value} for value in lists if isinstance(value, list)]
    if len(contents) == 2 and contents[0] != contents[1]:
        differing = ", ".join(map(repr, sorted(contents[0] ^ contents[1])[:5]))
        message = f"{ADDITIONAL} differs from {TOKENIZER_CONFIG_FILE}: only one of them lists {differing}"
        yield Finding("warning", "role-contradiction", message, SPECIAL_TOKENS_MAP_FILE, role=ADDITIONAL)


@rule("vocabulary")
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


@rule("vocabulary")
def unknown_token(facts: Facts) -> Iterator[Finding]:
    """The unknown token has to be there."""
    unknown = facts.roles.get(UNKNOWN)
    if not facts.has(unknown):
        message = f"the unknown token {unknown!r} is neither in the vocabulary nor an added token; nothing loads"
        if unknown is None:
            message = "there is no unknown token: unk_token is null"
        yield Finding("error", "unk-missing", message, file=facts.vocabulary_file, token=unknown, role=UNKNOWN)


@rule("vocabulary", "slow")
def missing_tokens(facts: Facts) -> Iterator[Finding]:
    """Special tokens that loading adds, because no file holds them."""
    ids = facts.slow.added_tokens_encoder
    for role, token in [*facts.roles.items(), *((ADDITIONAL, token) for token in facts.additional)]:
        if role == UNKNOWN or facts.has(token):
            continue
        message = f"the {role} {token!r} is neither in the vocabulary nor an added token; it is added on loading, as id"
        message += f" {ids.get(token)}, for which a trained model has no meaning"
        known: dict[str, Any] = {"token": token, "token_id": ids.get(token), "role": role}
        yield Finding("warning", "special-missing", message, facts.vocabulary_file, **known)


@rule()
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


@rule()
def exchanged_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token has the name of another role, such as `[SEP]` for cls_token."""
    shared = {token for token, roles in _by_token(facts).items() if len(roles) > 1}
    for role in _NAMED_ROLES:
        token = facts.roles.get(role)
        if token is None or token in shared or token == facts.defaults.get(role):
            continue
        named = token.strip("[]<>|").lower() + "_token"
        if named != role and named in _NAMED_ROLES:
            yield facts.role_finding("role-exchanged", f"{role} is {token!r}, which by its name is the {named}", role)


@rule("vocabulary")
def ordinary_words_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a word that texts hold."""
    for role, token in facts.roles.items():
        if token in facts.line_ids and is_ordinary(token):
            message = f"{role} is {token!r}, a word of the vocabulary: wherever a text holds it, it is the {role}"
            yield facts.role_finding("role-ordinary", message, role, token_id=facts.id_of(token))


@rule("vocabulary")
def unused_slots_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a slot such as `[unused5]`, whose row no training has changed."""
    for role, token in facts.roles.items():
        if is_unused_slot(token) and facts.has(token):
            severity = _WARNING if role in _NAMED_ROLES else _NOTE  # a decoder's begin and end may be meant so
            message = f"{role} is {token!r}, a slot of the vocabulary that stands for nothing"
            default = facts.defaults.get(role)
            if default is not None and facts.has(default):
                message += f"; {default!r}, id {facts.id_of(default)}, is there and has no role"
            known: dict[str, Any] = {"token_id": facts.id_of(token), "other_token": default}
            yield facts.role_finding("role-unused", message, role, severity, **known)


def is_ordinary(token: str) -> bool:
    """Whether it looks like a word or a piece of one: letters and digits, perhaps behind `##`."""
    return token.removeprefix("##").replace(" ", "").isalnum()


# tokenizer_config.json: its class, its options, and whether they suit the vocabulary.

# Other names of options: those that tokenizer.json has for them, and one that is taken for one.
_NAMES_IN_JSON = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}
_OTHER_NAMES = {**_NAMES_IN_JSON, "tokenize_chinese": "tokenize_chinese_chars"}

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
_CASED_SHARE = 0.25  # of all words: below it the vocabulary is mainly of a script without case, as Chinese
_FEWEST_CAPITALS = 20
_FEWEST_ACCENTED = 20  # entries: fewer may be slips, and are notes of their own
_FEWEST_ASCII = 5000  # entries without an accent: a vocabulary of so many has some, unless they were stripped
_FEWEST_CHINESE = 100
_KNOWN_INPUTS = {"input_ids", "token_type_ids", "attention_mask", "special_tokens_mask", "position_ids"}
_CAPITALS_SHARE = 0.05  # of the words with case: a cased vocabulary has far more, an uncased one none


@rule()
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


@rule()
def misspelt_options(facts: Facts) -> Iterator[Finding]:
    """Keys that change nothing and look like ones that would."""
    left_out = {DECODER, RECORD, "tokenizer_class", *_OTHER_NAMES}
    # `pad_token_id` is an option of config.json, which some files repeat.
    keys = [key for key in facts.files.config if key not in left_out and not key.endswith("_id")]
    pairs = [(key, _OTHER_NAMES[key]) for key in facts.files.config if key in _OTHER_NAMES]
    for key, meant in (*pairs, *facts.kind.misspellings(keys)):
        message = f"the option {key!r} changes nothing; {meant!r} is probably meant"
        yield Finding("warning", "option-misspelt", message, file=TOKENIZER_CONFIG_FILE)


@rule("vocabulary", "basic")
def case_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Lower-casing with a cased vocabulary, and the reverse; the entries tell which it is."""
    (told, said), lowers = facts.case, bool(facts.setting("do_lower_case"))
    if told is (not lowers):
        code = "cased-vocabulary" if lowers else "uncased-vocabulary"
        message = f"{said}, and do_lower_case is {_json(lowers)}"
        message += "" if "do_lower_case" in facts.files.config else " where no file says otherwise"
        yield Finding("warning", code, message, TOKENIZER_CONFIG_FILE)


@rule("vocabulary", "basic", "bert_stages")
def accents_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Stripping accents from the words of a vocabulary that has them, and keeping them where it has none."""
    lowers, strips = bool(facts.setting("do_lower_case")), facts.setting("strip_accents")
    if strips is None and facts.case[0] is (not lowers):
        return  # it follows from lower-casing, which has a finding
    accented = [word for word in facts.words if not word.isascii() and normalize("NFD", word) != word]
    if (lowers if strips is None else strips) and len(accented) >= _FEWEST_ACCENTED:
        message = f"strip_accents is {_json(strips)}, which takes letters apart and accents off, and {len(accented):,} "
        message += f"entries have such letters, as {', '.join(map(repr, accented[:3]))}: no text gives them"
        yield Finding("warning", "accented-vocabulary", message, TOKENIZER_CONFIG_FILE, token=accented[0])
    elif strips is False and not accented and sum(word.isascii() for word in facts.words) >= _FEWEST_ASCII:
        message = "strip_accents is false, so accents stay in texts, and no entry has one"
        yield Finding("warning", "unaccented-vocabulary", message, TOKENIZER_CONFIG_FILE)


@rule("vocabulary", "basic", "bert_stages")
def chinese_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Chinese characters as words of their own where the vocabulary has words of several, and the reverse."""
    words = [word for word in facts.words if not word.isascii() and any(is_chinese_char(ord(char)) for char in word)]
    alone = sum(len(word) == 1 for word in words)
    several, splits = len(words) - alone, bool(facts.setting("tokenize_chinese_chars"))
    if len(words) < _FEWEST_CHINESE or (several * 100 > alone) != splits:
        return
    message = f"tokenize_chinese_chars is true, so no text gives the {several:,} entries of several characters"
    if not splits:
        message = f"tokenize_chinese_chars is false, and the vocabulary has {alone:,} entries of one Chinese character "
        message += f"and {several:,} of several: it was made with each character as a word"
    yield Finding("warning", "chinese-vocabulary", message, TOKENIZER_CONFIG_FILE)


@rule("vocabulary", "basic")
def words_never_split(facts: Facts) -> Iterator[Finding]:
    """Words in never_split that are no entries."""
    words = facts.files.config.get("never_split")
    for word in words if isinstance(words, list) else ():
        if isinstance(word, str) and not facts.has(word):
            message = f"never_split holds {word!r}, which is no entry of the vocabulary and no added token"
            yield Finding("warning", "never-split-unknown", message, TOKENIZER_CONFIG_FILE, token=word)


@rule()
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


@rule()
def sides(facts: Facts) -> Iterator[Finding]:
    """Padding or truncation at the left, of models that count positions from there."""
    for key, severity, why in (
        ("padding_side", _WARNING, "the first word of a padded text has another position than in training"),
        ("truncation_side", _NOTE, "long texts lose their beginning"),
    ):
        if facts.files.config.get(key) == "left":
            yield Finding(severity, "left-side", f"{key} is 'left': {why}", TOKENIZER_CONFIG_FILE)


@rule("vocabulary", "slow")
def chat_templates(facts: Facts) -> Iterator[Finding]:
    """Chat templates that do not parse."""
    templates = facts.slow.chat_template
    for name, template in templates.items() if isinstance(templates, dict) else (("", templates),):
        wrong = syntax_error(template) if isinstance(template, str) else None
        if wrong is not None:
            which = f"the chat template {name!r}".removesuffix(" ''")
            file = TOKENIZER_CONFIG_FILE if "chat_template" in facts.files.config else CHAT_TEMPLATE_FILE
            yield Finding("warning", "chat-template", f"{which} does not parse: line {wrong[0]}: {wrong[1]}", file)


# Added tokens: against each other, against the vocabulary and against what they are said to be.

_FEWEST_WORDS = 50  # fewer tell nothing
_MANY_CUT = 20  # words: a name or a term that is chosen with care is part of fewer
_SHOWN = 5  # words


@rule("vocabulary")
def contradictions(facts: Facts) -> Iterator[Finding]:
    """Added tokens against each other, and each against the vocabulary."""
    ids = AddedIds()
    for token_id, token, name in facts.added:
        content, clash = token.content, ids.add(token_id, token, name)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if clash is not None:
            is_id, in_one_file = isinstance(clash.other, int), clash.other_source == name
            code = "added-content-twice" if is_id else "added-id-twice"
            which = f"and also {clash.other}" if is_id else f"and so has {clash.other!r}"
            message = f"{content!r} has the id {token_id}, {which}{'' if in_one_file else f' in {clash.other_source}'}"
            other: dict[str, Any] = {"other_id" if is_id else "other_token": clash.other}
            yield Finding("error", code if in_one_file else "added-tokens-contradiction", message, **known, **other)
        elif facts.decoder_counts and name == ADDED_TOKENS_FILE and facts.by_line.get(token_id) != content:
            message = f"{content!r}, id {token_id}, is not in {DECODER}, so for transformers it does not exist"
            yield Finding("warning", "added-tokens-contradiction", message, **known)
        line, own_id = facts.by_line.get(token_id), facts.line_ids.get(content)
        if line == content or (token_id in facts.holes and line == filling(token_id)):
            continue
        message = f"the added token {content!r} has the id {token_id}, "
        if line is not None:
            which = f"which is that of {line!r} on line {token_id + 1} of the vocabulary"
            yield Finding("error", "id-clash", message + which, other_token=line, **known)
        if own_id is not None:
            which = f"and {own_id} in the vocabulary"
            yield Finding("error", "added-id-differs", message + which, other_id=own_id, **known)


@rule("vocabulary")
def special_flags(facts: Facts) -> Iterator[Finding]:
    """A special token that is not marked as one, and a word that is."""
    assigned = facts.files.record.get("assigned_unused")
    special = {*facts.special, *map(str, assigned.values() if isinstance(assigned, dict) else ())}
    role_of = {token: role for role, token in facts.roles.items()}
    marked: dict[tuple[int, str, bool], str] = {}  # as files with flags have them; what two files say alike, once
    for name, pairs in ((TOKENIZER_CONFIG_FILE, facts.files.decoder), (TOKENIZER_FILE, facts.files.fast)):
        for token_id, token in pairs:
            marked.setdefault((token_id, token.content, token.special), name)
    for (token_id, content, is_special), name in marked.items():
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content in role_of and not is_special:
            role = role_of[content]
            message = f"{content!r} is the {role} and has special: false"
            yield Finding("warning", "special-unmarked", message, role=role, **known)
        elif is_special and content not in special and content in facts.line_ids and is_ordinary(content):
            message = f"{content!r} is a word, plays no role, and has special: true"
            yield Finding("warning", "word-marked-special", message, **known)


@rule("vocabulary")
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
        severity = _WARNING if len(its_words) >= _MANY_CUT else _NOTE
        yield Finding(severity, "added-cuts-words", message, name, token=token.content, token_id=token_id)


def _searched(facts: Facts, token: AddedToken) -> str:
    """What is looked for in texts: a token that is not special is lower-cased with them."""
    return token.content.lower() if facts.setting("do_lower_case") and not token.special else token.content


@rule("vocabulary")
def shadows(facts: Facts) -> Iterator[Finding]:
    """An added token that keeps an entry, or another added token, from being given; or that only whitespace tells."""
    first: dict[str, tuple[str, int]] = {}
    for token_id, token, name in facts.added:
        content, searched = token.content, _searched(facts, token)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content.strip() != content:
            message = "has whitespace before or after it, and is found only together with it"
            yield Finding("warning", "added-edge-space", f"the added token {content!r} {message}", **known)
        other, other_id = first.setdefault(searched, (content, token_id))
        entry_id = facts.line_ids.get(searched)
        if other != content and other_id != token_id:
            message = f"the added tokens {other!r} and {content!r} are both searched as {searched!r}"
            message += ", so one is never given"
            yield Finding("warning", "added-shadows", message, other_token=other, other_id=other_id, **known)
        elif entry_id is not None and entry_id != token_id and searched != content:
            message = f"the added token {content!r}, id {token_id}, is searched as {searched!r}"
            message += f", so the entry of that name, id {entry_id}, is never given"
            yield Finding("warning", "added-shadows", message, other_token=searched, other_id=entry_id, **known)
        elif entry_id == token_id and content.startswith("##") and content not in facts.special:
            message = "is a piece of the vocabulary, and is now found in texts as it is written"
            yield Finding("note", "added-shadows", f"the added token {content!r} {message}", **known)


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


@rule("vocabulary")
def token_ids(facts: Facts) -> Iterator[Finding]:
    """`pad_token_id` and the like against the tokens of the roles."""
    generation = yield from _json_of(facts, _GENERATION_FILE, "model-token-id")
    generation = generation if isinstance(generation, dict) else {}
    files = {CONFIG_FILE: facts.files.model_config, TOKENIZER_CONFIG_FILE: facts.files.config}
    for role, token in facts.roles.items():
        for file, config in {**files, _GENERATION_FILE: generation}.items():
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


@rule()
def sizes(facts: Facts) -> Iterator[Finding]:
    """Sizes that are no numbers: all that is compared with them is passed over."""
    for key in ("vocab_size", "type_vocab_size", "max_position_embeddings"):
        value = facts.files.model_config.get(key)
        if value is not None and (type(value) is not int or value < 1):
            message = f"{key} should be a whole number from 1, not {value!r}"
            yield Finding("error", "wrong-shape", message, CONFIG_FILE)


@rule()
def lengths_and_types(facts: Facts) -> Iterator[Finding]:
    """How many positions and token types the model has, against what the tokenizer gives."""
    config = facts.files.model_config
    positions, longest = config.get("max_position_embeddings"), facts.files.config.get("model_max_length")
    if type(positions) is int and isinstance(longest, (int, float)) and positions < longest < VERY_LARGE_INTEGER:
        message = f"max_position_embeddings is {positions}, and model_max_length is {int(longest)} in "
        yield Finding("warning", "model-too-short", message + TOKENIZER_CONFIG_FILE, file=CONFIG_FILE)
    elif isinstance(longest, (int, float)) and facts.slow is not None:
        message = f"model_max_length is {longest}"
        if longest < facts.shortest_useful:
            message += f", and the special tokens around a pair are {facts.special_places}: hardly a word is left"
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


@rule()
def model_type(facts: Facts) -> Iterator[Finding]:
    """A model whose tokenizer is another one than the class that tokenizer_config.json names."""
    named, kind = facts.files.config.get("tokenizer_class"), facts.files.model_config.get("model_type")
    if not isinstance(kind, str) or facts.files.model_config.get("tokenizer_class") is not None:
        return
    usual = class_of_model_type(kind)
    if kind in _OTHER_KINDS:
        message = f"model_type is {kind!r}, whose tokenizer has no WordPiece vocabulary"
    elif named is None or usual is None:
        return
    elif (usual.template, usual.model_input_names) == (facts.kind.template, facts.kind.model_input_names):
        return  # both put the same around texts, and give the same inputs
    else:
        message = f"model_type is {kind!r}, whose tokenizer is {usual.__name__}; {TOKENIZER_CONFIG_FILE} has {named!r}"
    yield Finding("warning", "model-type", message, file=CONFIG_FILE)


@rule("vocabulary")
def embedding_rows(facts: Facts) -> Iterator[Finding]:
    """The rows of the embeddings in .safetensors files against the ids."""
    path = facts.files.path
    if not os.path.isdir(path):
        return
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file())
    held: dict[str, set[str]] = {}
    for name in names:
        try:
            shapes = {key: tensor.shape for key, tensor in read_header(path / name).tensors.items()}
        except (SafetensorsError, OSError) as error:
            message = f"cannot read it: {error.strerror}" if isinstance(error, OSError) else str(error)
            yield Finding("error", "weights-unreadable", message, file=name)
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
    severity: Severity = "error" if is_read else "warning"
    for shard in shards:
        of_shard = [tensor for tensor, place in places.items() if place == shard]
        lacking = [tensor for tensor in of_shard if tensor not in held.get(shard, places)]
        if shard not in there:
            yield Finding(severity, "weights-index", f"it names {shard!r:.100}, which is not there", name)
        elif lacking:
            message = f"it says that {lacking[0]!r:.100} is in {shard!r:.100}, which does not have it"
            yield Finding(severity, "weights-index", message, name)


@rule("vocabulary")
def sentence_model(facts: Facts) -> Iterator[Finding]:
    """What sentence-transformers keeps beside the tokenizer."""
    settings = yield from _json_of(facts, _SENTENCE_FILE, "sentence-module")
    settings = settings if isinstance(settings, dict) else {}
    longest, positions = settings.get("max_seq_length"), facts.files.model_config.get("max_position_embeddings")
    if longest is not None and (type(longest) is not int or longest < facts.shortest_useful):
        message = f"max_seq_length is {longest!r:.60}, which is no number that leaves something of a text"
        yield Finding("warning", "short-length", message, file=_SENTENCE_FILE)
    elif type(positions) is int and longest is not None and longest > positions:
        message = f"max_seq_length is {longest}, and max_position_embeddings is {positions}"
        yield Finding("warning", "model-too-short", message, file=_SENTENCE_FILE)
    if settings.get("do_lower_case") is True and facts.case[0] is False:
        message = f"{facts.case[1]}, and do_lower_case is true: sentence-transformers lower-cases texts first"
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


# tokenizer.json against vocab.txt and tokenizer_config.json: the fast classes read the one and the slow classes the
# other, so they have to say the same.

_SINGLY = 20  # so many tokens with other ids are findings of their own; more are another vocabulary
_FLAGS = ("special", "lstrip", "rstrip", "single_word")


@rule("vocabulary", "json")
def vocabularies(facts: Facts) -> Iterator[Finding]:
    """The ids of tokenizer.json against those of vocab.txt and the added tokens."""
    json: TokenizerJson = facts.json
    if facts.files.is_json_alone:
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
        yield Finding("error", "tokenizer-json-differs", message, TOKENIZER_FILE, **known)


@rule("vocabulary", "json")
def added_tokens(facts: Facts) -> Iterator[Finding]:
    """Added tokens that only one of tokenizer.json and tokenizer_config.json has, or that they mark differently."""
    files = facts.files
    if not facts.decoder_counts:
        return
    config = {token.content: (token_id, token) for token_id, token in files.decoder}
    config.update({token.content: (token_id, token) for token_id, token in files.added if token.content not in config})
    own = {token.content: (token_id, token) for token_id, token in facts.json.added_tokens.items()}
    for content in {**own, **config}:
        token_id, token = own.get(content) or config[content]
        message = f"{content!r}, id {token_id}, is an added token in "
        if content not in config:
            message += f"{TOKENIZER_FILE} and not in {TOKENIZER_CONFIG_FILE}, so slow tokenizers split it as any text"
        elif content not in own:
            message += f"{TOKENIZER_CONFIG_FILE} and not in {TOKENIZER_FILE}, so `tokenizers` split it as any text"
        else:
            flags = [flag for flag in _FLAGS if getattr(token, flag) != getattr(config[content][1], flag)]
            if not flags:
                continue
            said = ", ".join(f"{flag} {_json(getattr(token, flag))}" for flag in flags)
            message = f"{content!r} has {said} here, and the opposite in {TOKENIZER_CONFIG_FILE}"
        yield Finding("warning", "tokenizer-json-added", message, TOKENIZER_FILE, token=content, token_id=token_id)


@rule("vocabulary", "json")
def settings(facts: Facts) -> Iterator[Finding]:
    """What tokenizer.json does to a text against what tokenizer_config.json, and the slow classes, do."""
    for message in (*_normalizing(facts), *_word_pieces(facts, facts.json), *_padding(facts, facts.json)):
        yield Finding("warning", "tokenizer-json-setting", message, TOKENIZER_FILE)


class Contradiction(NamedTuple):
    """A setting of tokenizer_config.json that tokenizer.json contradicts: its name, and the value that one has."""

    setting: str
    value: bool | None
    message: str


def json_contradictions(facts: Facts) -> Iterator[Contradiction]:
    """The settings of the basic tokenizer for which the two files have different values."""
    said = facts.json.normalizer or NO_NORMALIZER
    for ours, theirs in _NAMES_IN_JSON.items():
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


def _normalizing(facts: Facts) -> Iterator[str]:
    if not facts.basic:
        yield f"its words are split at punctuation, and do_basic_tokenize is false in {TOKENIZER_CONFIG_FILE}"
        return
    for each in json_contradictions(facts):
        yield each.message
    if not (facts.json.normalizer or NO_NORMALIZER).clean_text:
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


@rule("vocabulary", "json", "slow")
def lengths(facts: Facts) -> Iterator[Finding]:
    """Truncation and padding that the file keeps, which `tokenizers` applies to every text."""
    json: TokenizerJson = facts.json
    positions, longest = facts.files.model_config.get("max_position_embeddings"), facts.slow.model_max_length

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
            yield finding(f"{what}: {does} {length} tokens{than}", odd=length < facts.shortest_useful)
        side = facts.files.config.get(f"{what}_side")
        side = side if isinstance(side, str) else "right"
        if said.direction.lower() != side:
            yield finding(f"{what}.direction is {said.direction!r}, and {what}_side is {side!r}", odd=True)
    if json.truncation is not None and 0 < json.truncation.stride >= json.truncation.max_length - facts.special_places:
        yield finding(f"truncation.stride is {json.truncation.stride}: too much for the length", odd=True)


@rule("vocabulary", "json", "fast")
def template(facts: Facts) -> Iterator[Finding]:
    """The special tokens around texts against those of the class."""
    if None in (facts.fast.cls_token, facts.fast.sep_token):
        return  # there is a finding about the role
    expected = template_processing_of(facts.fast, facts.fast.rust_template)
    with_types = "token_type_ids" in facts.fast.model_input_names
    for pair, what in ((False, "one text"), (True, "a pair")):
        ours, theirs = (_shown(said.pieces(pair), with_types) for said in (facts.json, expected))
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


# What trietok itself has written: its record in tokenizer_config.json, and what a save has left behind.

_REMOVED = 1000


@rule("vocabulary")
def false_records(facts: Facts) -> Iterator[Finding]:
    """Keys of the record that say something else than the files."""
    for message in (*_false_holes(facts), *_false_ids(facts), *_false_slots(facts)):
        yield Finding("warning", "record-false", f"{RECORD}.{message}", file=TOKENIZER_CONFIG_FILE)


def _false_holes(facts: Facts) -> Iterator[str]:
    last = max(facts.by_line, default=-1)
    size = max(last + 1, len(facts.files.tokens or ()))
    for hole in sorted(facts.holes):
        token = facts.by_line.get(hole)
        if hole >= size:
            yield f"vocab_holes has the id {hole}, and the vocabulary ends at {size - 1}"
        elif token is not None and not facts.is_filled(hole) and facts.added_ids.get(token) != hole:
            yield f"vocab_holes has the id {hole}, which is that of {token!r}"


def _false_ids(facts: Facts) -> Iterator[str]:
    record, highest = facts.files.record, highest_id(facts)
    max_id = record.get("max_id")
    if type(max_id) is int:
        last_added = max(facts.added_ids.values(), default=-1)
        if max_id < last_added:
            yield f"max_id is {max_id}, and an added token has the id {last_added}"
        elif max_id > 2 * highest + _REMOVED:  # ids of removed tokens stay reserved, but hardly so many
            yield f"max_id is {max_id}, and the highest id is {highest}: a new token gets the id {max_id + 1}"
    order = record.get("added_order")
    known = set(facts.added_ids.values())
    for token_id in order if isinstance(order, list) else ():
        if token_id not in known:
            yield f"added_order has the id {token_id!r}, which no added token has"


def _false_slots(facts: Facts) -> Iterator[str]:
    slots = facts.files.record.get("assigned_unused")
    for slot, token in slots.items() if isinstance(slots, dict) else ():
        if slot in facts.line_ids:
            yield f"assigned_unused says that {slot!r} became {token!r}, and {slot!r} is an entry still"
        elif not is_unused_slot(slot):
            yield f"assigned_unused has {slot!r}, which is no unused slot"
        elif token in facts.line_ids and token not in facts.added_ids:
            yield f"assigned_unused says that {slot!r} became {token!r}, which is no added token"


@rule()
def leftovers(facts: Facts) -> Iterator[Finding]:
    """Files and folders of saves that never counted."""
    path = facts.files.path
    if facts.files.pending is not None or not os.path.isdir(path):
        return
    for staging in Staging.all_in(path):
        name = staging.path.name
        if staging.is_at_work():
            continue
        if staging.pointers():
            message = f"a save was cut short, and files of the directory lead into {name}, where they are whole"
            yield Finding("warning", "save-cut-short", message, name)
        else:
            message = f"{name} is left of a save that was cut short; its files are not used"
            yield Finding("warning", "save-abandoned", message, name)
    for name in sorted(name for name in os.listdir(path) if name.startswith(UNFINISHED)):
        message = f"{name} is left of a save that was cut short before it counted; its content is not used"
        yield Finding("warning", "save-abandoned", message, name)
