"""What a check finds, and how it is shown.

In: findings. Out: a `CheckReport`, which is read as attributes, as JSON or as text.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any, Literal, NamedTuple

from trietok.errors import shortened
from trietok.showing.report import Report

# The words for each code of a finding: what all findings of it have in common, which is printed once above them where
# there are several; `so`, what follows from it; `do`, the edit or command that repairs it. Without `so` nothing loads,
# and without `do` it is repaired by --fix. `{file}`, `{token}` and the other attributes of a `Finding` stand for its
# values; DIR is the directory that was checked, OUT a new one.
_FIX = "trietok check -m DIR --fix -o OUT"
_NEW = "BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR) writes it anew"
_SHARED = {
    "{FIX}": _FIX,
    "{RENUMBER}": f"{_FIX} --renumber, which writes old id -> new id to id_map.json",
    "{NEW_JSON}": f"remove tokenizer.json, then {_NEW}",
}
_WORDS = r"""
# the vocabulary's lines
missing-vocabulary:
    do: put the model's vocab.txt into the directory
other-kind:
    so: no WordPiece tokenizer loads it
    do: load it with the class that the message names
unreadable-file:
    so: nothing loads, or what loads lacks what the file says
    do: check the path and its permissions; if a limit is named, use a smaller file
empty-vocabulary:
    do: put the model's vocab.txt into its place, one token a line
not-utf8: bytes are not UTF-8
    so: nothing loads, and what {file} says is not checked
    do: convert the file, for example: iconv -f latin1 -t utf-8 {file}
byte-order-mark:
    so: the token of id 0 is in no text, and is missing where it is wanted
duplicate-line: a token stands on several lines
    so: the rows of the other lines are never used, and len(tokenizer) is smaller
blank-line: blank lines are ids of their own
    so: an id for an empty token, which no text gives
carriage-return: lines end in a carriage return
    so: programs that end lines only at LF take CR for part of each token
lone-carriage-return: a carriage return by itself ends a line
    so: programs that end lines only at LF give all later tokens other ids
tab: lines hold a tab
    so: the tab belongs to the token, so no word equals it
    do: take the tab and what follows off the line
edge-space: whitespace before or after a token belongs to it
    so: no word of a text equals it
line-break-character: lines hold a character at which other programs break lines
    so: a program that breaks the line there gives all later tokens other ids
    do: read and write the file with open(..., newline='\n'), not with str.splitlines; published models keep it
control-character: lines hold a control character
    so: no text gives it
    do: replace line {line_number} by the token that was meant
no-final-newline:
    so: a token that is appended becomes part of the last one
# special tokens
unk-missing:
    do: in tokenizer_config.json: "unk_token": the vocabulary's token for unknown words
special-missing: a special token is in no file and is added on loading
    so: its id is behind the model's rows, or one whose row was never trained
    do: in tokenizer_config.json: "{role}": the token that the model was trained with; --fix writes the id down as it is
shared-role: one token plays several roles
    so: a model and a loss cannot tell the roles apart
    do: in tokenizer_config.json: give each of {role} a token of its own
role-contradiction: two files disagree about a special token
    so: transformers' versions and other readers take one or the other
    do: {FIX}, which writes what counts into both
role-null: a role that calls use is null
    so: what needs the role raises or puts a wrong id into its place
    do: in tokenizer_config.json: "{role}": the token that the model was trained with, or take the key out for the
        default
role-exchanged: a role has the token of another
    so: every row has the wrong id in the place of the {role}
    do: {file}: "{role}": the token of that name; the default is right if you take the key out
role-ordinary: a role has an ordinary word as its token
    so: decoding with skip_special_tokens drops the word, and a text with it forges the special token
    do: {file}: "{role}": the token that the model was trained with, or take the key out for the default
special-unmarked: a special token is not marked as one
    so: readers that go by the file, as `tokenizers` does, keep the token when special tokens are skipped
    do: {file}: "special": true in the entry of {token!r}; --fix does it for tokenizer_config.json
word-marked-special: a word is marked as a special token
    so: decoding with skip_special_tokens drops the word
    do: {file}: "special": false in the entry of {token!r}, or name it in additional_special_tokens
role-unused:
    so: the {role} has a row that no training has changed, so the model makes nothing of it
    do: {file}: "{role}": the token that the model was trained with, or take the key out for the default
# ids
id-clash: an added token has the id of another token
    so: two tokens share one embedding row; nothing loads
    do: {RENUMBER}
added-id-differs: an added token stands in the vocabulary under another id
    so: one token has two ids; nothing loads
    do: {RENUMBER}
added-id-twice: two added tokens have one id
    so: two tokens share one embedding row; nothing loads
    do: {RENUMBER}
added-content-twice: an added token has several ids
    so: one token has two ids; nothing loads
    do: {RENUMBER}
added-tokens-contradiction: two files disagree about an added token
    so: which of the two counts depends on the program
    do: correct {file}, or {RENUMBER}
added-cuts-words: an added token is part of many words
    so: such words become fragments, and every text gets longer and worse
    do: tokenizer.remove_tokens([{token!r}]), or "single_word": true in its entry in {file}
added-shadows: an added token keeps an entry from being given, or is one
    so: the ids of texts are others than the model was trained with wherever the token stands in a word or alone
    do: tokenizer.remove_tokens([{token!r}]), unless it is meant so
added-edge-space:
    so: it is not found at the end of a text or beside punctuation, and takes the space out of others
    do: {file}: the token without the space; "lstrip" and "rstrip" are for spaces around it
id-hole: ids without a token
    so: transformers gives the next new token the id len(tokenizer), which is taken
    do: {RENUMBER}
id-past-model: ids for which the model has no embedding row
    so: the model raises an index error when the id comes
    do: model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)
model-larger:
    so: rows that no id uses; if they were not padded, the vocabulary or config.json is another model's
    do: nothing if the model was padded; else put the model's own vocabulary into the directory
# options
unknown-class:
    do: in tokenizer_config.json: "tokenizer_class": "BertTokenizer", or a relative of it
auto-map:
    so: nothing: the code is not run
    do: nothing
option-misspelt: options that change nothing
    so: the option has its default
    do: in tokenizer_config.json: rename the key
cased-vocabulary:
    so: no text gives an entry with a capital, and names are cut into pieces or unknown
    do: in tokenizer_config.json: "do_lower_case": false
uncased-vocabulary:
    so: every word with a capital is cut into wrong pieces or unknown
    do: in tokenizer_config.json: "do_lower_case": true
accented-vocabulary:
    so: words with such letters become other words, pieces or unknown
    do: in tokenizer_config.json: "strip_accents": false
unaccented-vocabulary:
    so: words with accents are cut into pieces or unknown
    do: in tokenizer_config.json: "strip_accents": null, or true
chinese-vocabulary:
    so: Chinese texts get other ids than the model was trained with
    do: in tokenizer_config.json: "tokenize_chinese_chars" the other way round, and "handle_chinese_chars" in
        tokenizer.json
left-side:
    so: BERT's positions count from the left, and were trained with padding at the right
    do: in tokenizer_config.json: "right", or take the key out
chat-template:
    so: apply_chat_template raises
    do: correct the template at the line named
never-split-unknown: words that are never split are no entries
    so: the word is kept whole and becomes the unknown token
    do: in tokenizer_config.json: take {token!r} out of never_split, or tokenizer.add_tokens([{token!r}])
model-input-names:
    so: tokenizer.pad and collators raise where the first name is another, and calls give only what is named
    do: in tokenizer_config.json: "model_input_names": ["input_ids", "token_type_ids", "attention_mask"], or take the
        key out
# tokenizer.json
tokenizer-json-differs: tokenizer.json gives other ids than vocab.txt
    so: BertTokenizerFast and BertTokenizer give different ids for one text, and one of them is not the model's
    do: put the model's own vocab.txt into its place if that is the wrong one; else {NEW_JSON}
tokenizer-json-ids:
    so: no fast tokenizer loads, or one with wrong ids
    do: correct the id, or {NEW_JSON}
tokenizer-json-part:
    so: BertTokenizerFast does not load; the tokenizers package may
    do: if a vocab.txt has the same tokens: {NEW_JSON}; else load it with the tokenizers package
tokenizer-json-added: tokenizer.json and tokenizer_config.json disagree about added tokens
    so: one profile finds the token in texts and the other does not, or skips it in decoding
    do: correct the file that is wrong; if it is tokenizer.json, {NEW_JSON}
tokenizer-json-setting: tokenizer.json does other things to a text than slow tokenizers
    so: readers of tokenizer.json and of vocab.txt give different ids for one text
    do: decide which file is right: if tokenizer_config.json is wrong, correct it; if tokenizer.json is wrong, delete it
        and write it anew with BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR)
tokenizer-json-template:
    so: fast tokenizers put other special tokens, or token type ids, around texts than the model was trained with
    do: {NEW_JSON}
tokenizer-json-length:
    so: `tokenizers`, and servers that read the file with it, do so with every text; trietok and transformers do what
        each call asks for
    do: nothing if it is meant; else {file}: "truncation": null and "padding": null
fast-does-not-load:
    so: AutoTokenizer, which takes the fast class, raises
    do: see the message
# config.json and weights
model-token-id: config.json has the id of another token
    so: the model masks, pads or ends at another token than the tokenizer
    do: {file}: "{role}_id": {token_id}
model-too-short:
    so: truncation leaves texts longer than the model can take, which raise an index error
    do: in tokenizer_config.json: "model_max_length": the number of max_position_embeddings
short-length:
    so: truncation cuts texts shorter than the model needs
    do: {file}: the length that the model was trained with, such as its max_position_embeddings
model-types:
    so: the model raises an index error for pairs
    do: in tokenizer_config.json: "model_input_names": ["input_ids", "attention_mask"], if the model has no token types
model-type:
    so: the template or the inputs are not those of the model
    do: put the model's own config.json or tokenizer there
weights-unreadable: files of weights cannot be read
    so: the model does not load
    do: copy or download {file} again
weights-index: an index names shards or tensors that are not there
    so: a model that is loaded by the index does not load
    do: copy or download what {file} names, or the index again
weights-shape: sizes of the weights are not those of config.json
    so: the model does not load: the shapes differ
    do: put the model's own config.json or weights there
sentence-module:
    so: sentence-transformers does not load the model, or makes wrong vectors of it
    do: put the model's own {file} and folders there
weights-too-few-rows:
    so: the model raises an index error when an id from {token_id} to {other_id} comes
    do: model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)
weights-too-many-rows:
    so: the vocabulary is a shorter one than the model was trained with
    do: put the model's own vocabulary and added_tokens.json into the directory
weights-vocab-size:
    so: the model does not load: the shapes differ
    do: config.json: "vocab_size": the number of rows
# the JSON files, and what trietok keeps
not-json:
    so: nothing loads, and what {file} says is not checked
    do: correct the file at the place named, or copy it again if it was cut off
wrong-shape: a file holds something else than it should
    so: nothing loads, and what else {file} says is not checked
    do: write a value of the kind that the message names
duplicate-key: a key stands twice in an object; the last one counts
    so: readers disagree about which of the two counts
    do: remove one of them
does-not-load:
    do: see the message
save-unfinished:
    so: trietok takes the files from before the save; other programs may read new ones
    do: load DIR and call save_pretrained(DIR), then make the changes again
save-cut-short: a save was cut short, and its folder is needed
    so: none for who reads the files by their names; whoever removes {file} loses them
    do: load DIR and call save_pretrained(DIR), which puts the files in their places and removes {file}
save-mixed:
    so: old and new files may be mixed
    do: remove .trietok-save.json if the files are as they should be; else tokenizer.save_pretrained(OUT)
save-abandoned: a save was cut short
    so: none: the files of the directory do not depend on it
    do: remove {file}, and save again if the changes are not there
record-false: trietok's record in tokenizer_config.json contradicts the files
    so: a tokenizer that gives new tokens other ids than the one that was saved
    do: BertTokenizer.from_pretrained(DIR).save_pretrained(DIR) writes the record anew; or take the key out
# entries that are damaged, or that no text can give
mixed-scripts: entries mix letters of several scripts
    so: no text with the word as it is written gives the entry: its words are cut into pieces
    do: write the word in one script; an entry of a model that was trained with it stays
invisible-character: entries hold a character that nobody sees
    so: no word of a text equals it
    do: replace the entry by the word without the character; its id stays
damaged-entry: entries look damaged
    so: no word of a text equals it
    do: replace the entry by what was meant; its id stays
letter-missing: letters or signs are no entries, so words with them are unknown
    so: such words become the unknown token, whatever their other letters are
    do: put the model's own vocab.txt there, or tokenizer.add_wordpieces([{token!r}]) and train the new row
slot-replaced: entries stand in the place of unused slots
    so: the row is a slot's, which published models never trained
    do: nothing if you chose the word and train the model with it; else put the model's own vocabulary there
unreachable-space: no text can give these, because words are split at whitespace
    so: no text gives it: words are split at whitespace
    do: tokenizer.add_tokens([...]) finds phrases; an entry of a vocabulary has no space inside
unreachable-case: no text can give these, because they have capitals and the tokenizer lower-cases
unreachable-accent: no text can give these, because they have accents and the tokenizer strips them
unreachable-form: no text can give these, because the tokenizer writes their characters in another form
unreachable-punctuation: no text can give these, because each punctuation character becomes a word of its own
unreachable-chinese: no text can give these, because each Chinese character becomes a word of its own
unreachable-deleted: no text can give these, because cleaning deletes one of their characters
unreachable-length: no text can give these, because longer words than the tokenizer takes are unknown
unreachable-prefix: no text can give this, because nothing follows the prefix of continuing pieces
"""


class Advice(NamedTuple):
    """What follows from a finding, and the edit or command that repairs it."""

    consequence: str
    repair: str


_USUAL = Advice("nothing loads", _FIX)
_USUAL_OF_UNREACHABLE = Advice(
    "an embedding row that no text uses, which costs memory and nothing else",
    "nothing in a published vocabulary; write an entry of your own as the tokenizer writes words",
)
_ENTRY = re.compile(r"^([a-z0-9-]+):(?: (.+))?(?:\n    so: (.+))?(?:\n    do: (.+))?$", re.MULTILINE)
_ENTRIES = _ENTRY.findall(re.sub(r"\n {8}", " ", re.sub(r"\{[A-Z_]+\}", lambda name: _SHARED[name[0]], _WORDS)))
TITLES = {code: title for code, title, _, _ in _ENTRIES if title}
ADVICE = {
    code: Advice(so or usual.consequence, do or usual.repair)
    for code, _, so, do in _ENTRIES
    for usual in (_USUAL_OF_UNREACHABLE if code.startswith("unreachable-") else _USUAL,)
}


Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

_FOLDED = ("unreachable-chinese", "unreachable-punctuation")  # of which published vocabularies have hundreds
_SINGLY = 5  # so many findings of one code are shown one by one
_EXAMPLES = 6  # of entries that no text gives
_REPAIRS = 3  # so many different ones are shown for one code


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing a check has found.

    Attributes:
        severity: `"error"`: the tokenizer does not load, or ids contradict each other; `"warning"`: it loads, and
            something in it is probably not meant; `"note"`: worth knowing.
        code: which rule found it; the codes are listed in `docs/checking.md` and do not change.
        message: what was found and what it means, in one line.
        file: the name of the file in the directory.
        line_number: from 1; in a vocab.txt it is the id plus one.
        token, token_id: the token it is about, and its id.
        other_token, other_id: what it clashes with; for a range of ids, the last one.
        role: the role of a special token, such as `pad_token`.
        lines: all line numbers, where there are several.

    What a rule does not know is None.

    >>> finding = Finding("warning", "cased-vocabulary", "...", file="tokenizer_config.json")
    >>> finding.repair
    'in tokenizer_config.json: "do_lower_case": false'
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    line_number: int | None = None
    token: str | None = None
    token_id: int | None = None
    other_token: str | None = None
    other_id: int | None = None
    role: str | None = None
    lines: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))

    def to_dict(self) -> dict[str, Any]:
        """The attributes that are not None; all of it can be written as JSON.

        >>> Finding("note", "no-final-newline", "...", file="vocab.txt").to_dict()
        {'severity': 'note', 'code': 'no-final-newline', 'message': '...', 'file': 'vocab.txt',
         'consequence': 'a token that is appended becomes part of the last one',
         'repair': 'trietok check -m DIR --fix -o OUT'}
        """
        values = {**vars(self), "lines": self.lines and list(self.lines)}
        values |= {"consequence": self.consequence, "repair": self.repair}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def consequence(self) -> str:
        """What follows from it."""
        return self._filled(ADVICE[self.code].consequence)

    @property
    def repair(self) -> str:
        """The edit or the command that repairs it. DIR is the directory that was checked, OUT a new one."""
        return self._filled(ADVICE[self.code].repair)

    def _filled(self, sentence: str) -> str:
        values = {name: shortened(value) if isinstance(value, str) else value for name, value in vars(self).items()}
        return sentence.format_map(values)

    @property
    def place(self) -> str:
        """Where it is, as far as that is known: `"vocab.txt, line 3"`, or nothing."""
        if self.file is None:
            return ""
        return self.file if self.line_number is None else f"{self.file}, line {self.line_number}"


class CheckReport(Report):
    """All that a check has found, the most severe first.

    Attributes:
        path: what was checked, as it was given.
        findings: every `Finding`.
    """

    def __init__(self, path: str, findings: Iterable[Finding]) -> None:
        self.path = path
        self.findings: list[Finding] = sorted(findings, key=_order)

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return self._of("error")

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return self._of("warning")

    @property
    def notes(self) -> list[Finding]:
        """The findings that are notes."""
        return self._of("note")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def _of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == severity]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON: every finding is in it, and is counted in `counts` by its code."""
        return {
            "path": self.path,
            "ok": self.ok,
            "healthy": self.is_healthy,
            **{f"{severity}s": self.count(severity) for severity in SEVERITIES},
            "counts": dict(Counter(finding.code for finding in self.findings)),
            "findings": [{**each.to_dict(), "repair": self._named(each.repair)} for each in self.findings],
        }

    @property
    def is_healthy(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return not any(self.count(severity) for severity in SEVERITIES[:2])

    def count(self, severity: Severity) -> int:
        """How many findings of a severity there are; all notes of one code count as one."""
        found = self._of(severity)
        return len({finding.code for finding in found} if severity == "note" else found)

    @property
    def summary(self) -> str:
        """How many findings of each severity there are, all notes of one code being one; and whether all is well.

        >>> CheckReport("a", [Finding("note", "auto-map", "...")]).summary
        'healthy: no errors, no warnings, 1 note'
        """
        counts = ", ".join(counted(self.count(severity), severity) for severity in SEVERITIES)
        return f"healthy: {counts}" if self.is_healthy else counts

    def groups(self, every: bool = False) -> Iterator[tuple[str, str, list[str]]]:
        """The findings as they are shown: severity, code, and lines of text; unless `every`, many are summed up."""
        by_code: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            by_code.setdefault((finding.severity, finding.code), []).append(finding)
        for (severity, code), findings in by_code.items():
            yield severity, code, [*_shown(code, findings, every), *map(self._named, _advised(findings))]

    def _named(self, advice: str) -> str:
        """Advice with the names of the directory that was checked, and of a new one beside it."""
        old, new = self.path, (self.path.rstrip("./\\") or "tokenizer") + "-fixed"
        named = {"(DIR)": f"({old!r})", " DIR": f" {quote(old)}", "(OUT)": f"({new!r})", " OUT": f" {quote(new)}"}
        return re.sub(r"\((?:DIR|OUT)\)| (?:DIR|OUT)\b", lambda word: named[word[0]], advice)  # not in names and tokens

    def text(self, every: bool = False) -> str:
        """The report as lines of text: `str(report)`, or with each finding by itself."""
        lines = [f"{self.path}: {self.summary}"]
        for severity, code, shown in self.groups(every):
            lines += [f"{severity}: {code}", *(f"  {line}" for line in shown)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _html(self, html: Any) -> Iterator[str]:
        yield html.note(f"{self.path}: {self.summary}", "good" if self.ok else "bad")
        if self.findings:
            rows = ((severity, code, "\n".join(lines)) for severity, code, lines in self.groups())
            yield html.table(("", "code", "finding"), rows)

    def __repr__(self) -> str:
        return f"<CheckReport of {self.path!r}: {self.summary}>"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `"no errors"`, `"1 error"`, `"1,021 errors"`."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"


def _order(finding: Finding) -> tuple[int, str, int, int]:
    line = finding.line_number or 0
    return SEVERITIES.index(finding.severity), finding.code, line, finding.token_id or 0


def _advised(findings: list[Finding]) -> Iterator[str]:
    """What follows from findings of one code, and what repairs them; of many a few."""
    if not _are_folded(findings):
        for word, attribute in (("so", "consequence"), ("do", "repair")):
            sentences = dict.fromkeys(getattr(finding, attribute) for finding in findings)
            yield from (f"{word}: {sentence}" for sentence in list(sentences)[:_REPAIRS])


def _are_folded(findings: list[Finding]) -> bool:
    """Whether they are of a kind that published vocabularies have hundreds of, or too many to be shown."""
    code, many = findings[0].code, len(findings) > _SINGLY
    is_folded = code in _FOLDED or (many and code.startswith("unreachable-"))
    return is_folded and findings[0].severity == "note"


def _shown(code: str, findings: list[Finding], every: bool) -> Iterator[str]:
    if _are_folded(findings) and not every:
        examples = " ".join(f"{finding.token!r}" for finding in findings[:_EXAMPLES])
        more = " ..." if len(findings) > _EXAMPLES else ""
        number = "1 entry" if len(findings) == 1 else f"{len(findings):,} entries"
        yield f"{number}: {TITLES[code]}, such as {examples}{more}"
        return
    several = len(findings) > _SINGLY and not every
    if several:
        yield f"{counted(len(findings), 'finding')}: {TITLES.get(code, code)}"
    for finding in findings[: _SINGLY - 2 if several else None]:
        yield f"{finding.place}: {finding.message}" if finding.place else finding.message
    if several:
        yield f"... and {len(findings) - _SINGLY + 2:,} more"


# More than the entries of most vocabularies; a file that is made to flood a report has millions of faults.
MOST_OF_ONE_CODE = 100_000


class Findings(list[Finding]):
    """A list that keeps at most `MOST_OF_ONE_CODE` findings of each code, and counts the others.

    >>> findings = Findings([Finding("warning", "blank-line", "...")])
    >>> findings.append(Finding("warning", "blank-line", "..."))
    >>> len(findings), findings.has_room("blank-line"), list(findings.left_out())
    (2, True, [])
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        super().__init__()
        self._counts: Counter[str] = Counter()
        self.extend(findings)

    def append(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        self._counts[finding.code] += 1
        if self._counts[finding.code] <= MOST_OF_ONE_CODE:
            super().append(finding)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Keep or count each of them; one after the other, so that those left out take no memory."""
        for finding in findings:
            self.append(finding)

    def has_room(self, code: str, more: int = 1) -> bool:
        """Whether one more finding of a code would be kept; if not, it is counted as `more`, and need not be made."""
        if self._counts[code] < MOST_OF_ONE_CODE:
            return True
        self._counts[code] += more
        return False

    def left_out(self) -> Iterator[Finding]:
        """For each code of which some were only counted: one finding that says how many."""
        for code, count in self._counts.items():
            if count > MOST_OF_ONE_CODE:
                first = next(finding for finding in self if finding.code == code)
                message = f"and {count - MOST_OF_ONE_CODE:,} more of this kind, which are not listed"
                yield Finding(first.severity, code, message, first.file)
