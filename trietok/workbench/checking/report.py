"""What a check finds, and how it is shown.

In: findings. Out: a `CheckReport`, which is read as attributes, as JSON or as text.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from trietok.errors import shortened

# For each code of a finding: what follows from it, and what repairs it.
#
# In: a code. Out: two sentences. `{file}`, `{token}` and the other attributes of a `Finding` stand for its values. DIR
# is the directory that was checked, OUT a new one.


class Advice(NamedTuple):
    """What follows from a finding, and the edit or command that repairs it."""

    consequence: str
    repair: str


_FIX = "trietok check DIR --fix -o OUT"
_RENUMBER = f"{_FIX} --renumber, which writes old id -> new id to id_map.json"
_NEW_JSON = "remove tokenizer.json, then BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR) writes it anew"
_NOTHING_LOADS = "nothing loads"
_OTHER_IDS = "BertTokenizerFast and BertTokenizer give different ids for one text, and one of them is not the model's"
_NO_WORD = "an embedding row that no text uses, which costs memory and nothing else"
_CONFIG = "in tokenizer_config.json"
_RECORD = "a tokenizer that gives new tokens other ids than the one that was saved"

ADVICE = {
    # the vocabulary's lines
    "missing-vocabulary": Advice(_NOTHING_LOADS, "put the model's vocab.txt into the directory"),
    "other-kind": Advice("no WordPiece tokenizer loads it", "load it with the class that the message names"),
    "unreadable-file": Advice(
        "nothing loads, or what loads lacks what the file says",
        "check the path and its permissions; if a limit is named, use a smaller file",
    ),
    "empty-vocabulary": Advice(_NOTHING_LOADS, "put the model's vocab.txt into its place, one token a line"),
    "not-utf8": Advice(_NOTHING_LOADS, "convert the file, for example: iconv -f latin1 -t utf-8 {file}"),
    "byte-order-mark": Advice("the token of id 0 is in no text, and is missing where it is wanted", _FIX),
    "duplicate-line": Advice("the rows of the other lines are never used, and len(tokenizer) is smaller", _FIX),
    "blank-line": Advice("an id for an empty token, which no text gives", _FIX),
    "carriage-return": Advice("programs that end lines only at LF take CR for part of each token", _FIX),
    "lone-carriage-return": Advice("programs that end lines only at LF give all later tokens other ids", _FIX),
    "tab": Advice("the tab belongs to the token, so no word equals it", "take the tab and what follows off the line"),
    "edge-space": Advice("no word of a text equals it", _FIX),
    "line-break-character": Advice(
        "a program that breaks the line there gives all later tokens other ids",
        "read and write the file with open(..., newline='\\n'), not with str.splitlines; published models keep it",
    ),
    "control-character": Advice("no text gives it", "replace line {line_number} by the token that was meant"),
    "no-final-newline": Advice("a token that is appended becomes part of the last one", _FIX),
    # special tokens
    "unk-missing": Advice(_NOTHING_LOADS, f'{_CONFIG}: "unk_token": the vocabulary\'s token for unknown words'),
    "special-missing": Advice(
        "its id is behind the model's rows, or one whose row was never trained",
        f'{_CONFIG}: "{{role}}": the token that the model was trained with; --fix writes the id down as it is',
    ),
    "shared-role": Advice(
        "a model and a loss cannot tell the roles apart", f"{_CONFIG}: give each of {{role}} a token of its own"
    ),
    "role-contradiction": Advice(
        "transformers' versions and other readers take one or the other", f"{_FIX}, which writes what counts into both"
    ),
    "role-null": Advice(
        "what needs the role raises or puts a wrong id into its place",
        f'{_CONFIG}: "{{role}}": the token that the model was trained with, or take the key out for the default',
    ),
    "role-exchanged": Advice(
        "every row has the wrong id in the place of the {role}",
        '{file}: "{role}": the token of that name; the default is right if you take the key out',
    ),
    "role-ordinary": Advice(
        "decoding with skip_special_tokens drops the word, and a text with it forges the special token",
        '{file}: "{role}": the token that the model was trained with, or take the key out for the default',
    ),
    "special-unmarked": Advice(
        "readers that go by the file, as `tokenizers` does, keep the token when special tokens are skipped",
        '{file}: "special": true in the entry of {token!r}; --fix does it for tokenizer_config.json',
    ),
    "word-marked-special": Advice(
        "decoding with skip_special_tokens drops the word",
        '{file}: "special": false in the entry of {token!r}, or name it in additional_special_tokens',
    ),
    "role-unused": Advice(
        "the {role} has a row that no training has changed, so the model makes nothing of it",
        '{file}: "{role}": the token that the model was trained with, or take the key out for the default',
    ),
    # ids
    "id-clash": Advice("two tokens share one embedding row; nothing loads", _RENUMBER),
    "added-id-differs": Advice("one token has two ids; nothing loads", _RENUMBER),
    "added-id-twice": Advice("two tokens share one embedding row; nothing loads", _RENUMBER),
    "added-content-twice": Advice("one token has two ids; nothing loads", _RENUMBER),
    "added-tokens-contradiction": Advice(
        "which of the two counts depends on the program", f"correct {{file}}, or {_RENUMBER}"
    ),
    "added-cuts-words": Advice(
        "such words become fragments, and every text gets longer and worse",
        'tokenizer.remove_tokens([{token!r}]), or "single_word": true in its entry in {file}',
    ),
    "added-shadows": Advice(
        "the ids of texts are others than the model was trained with wherever the token stands in a word or alone",
        "tokenizer.remove_tokens([{token!r}]), unless it is meant so",
    ),
    "added-edge-space": Advice(
        "it is not found at the end of a text or beside punctuation, and takes the space out of others",
        '{file}: the token without the space; "lstrip" and "rstrip" are for spaces around it',
    ),
    "id-hole": Advice("transformers gives the next new token the id len(tokenizer), which is taken", _RENUMBER),
    "id-past-model": Advice(
        "the model raises an index error when the id comes",
        "model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
    ),
    "model-larger": Advice(
        "rows that no id uses; if they were not padded, the vocabulary or config.json is another model's",
        "nothing if the model was padded; else put the model's own vocabulary into the directory",
    ),
    # options
    "unknown-class": Advice(_NOTHING_LOADS, f'{_CONFIG}: "tokenizer_class": "BertTokenizer", or a relative of it'),
    "auto-map": Advice("nothing: the code is not run", "nothing"),
    "option-misspelt": Advice("the option has its default", f"{_CONFIG}: rename the key"),
    "cased-vocabulary": Advice(
        "no text gives an entry with a capital, and names are cut into pieces or unknown",
        f'{_CONFIG}: "do_lower_case": false',
    ),
    "uncased-vocabulary": Advice(
        "every word with a capital is cut into wrong pieces or unknown", f'{_CONFIG}: "do_lower_case": true'
    ),
    "accented-vocabulary": Advice(
        "words with such letters become other words, pieces or unknown", f'{_CONFIG}: "strip_accents": false'
    ),
    "unaccented-vocabulary": Advice(
        "words with accents are cut into pieces or unknown", f'{_CONFIG}: "strip_accents": null, or true'
    ),
    "chinese-vocabulary": Advice(
        "Chinese texts get other ids than the model was trained with",
        f'{_CONFIG}: "tokenize_chinese_chars" the other way round, and "handle_chinese_chars" in tokenizer.json',
    ),
    "left-side": Advice(
        "BERT's positions count from the left, and were trained with padding at the right",
        f'{_CONFIG}: "right", or take the key out',
    ),
    "chat-template": Advice("apply_chat_template raises", "correct the template at the line named"),
    "never-split-unknown": Advice(
        "the word is kept whole and becomes the unknown token",
        f"{_CONFIG}: take {{token!r}} out of never_split, or tokenizer.add_tokens([{{token!r}}])",
    ),
    "model-input-names": Advice(
        "tokenizer.pad and collators raise where the first name is another, and calls give only what is named",
        f'{_CONFIG}: "model_input_names": ["input_ids", "token_type_ids", "attention_mask"], or take the key out',
    ),
    # tokenizer.json
    "tokenizer-json-differs": Advice(
        _OTHER_IDS, f"put the model's own vocab.txt into its place if that is the wrong one; else {_NEW_JSON}"
    ),
    "tokenizer-json-ids": Advice("no fast tokenizer loads, or one with wrong ids", f"correct the id, or {_NEW_JSON}"),
    "tokenizer-json-part": Advice(
        "BertTokenizerFast does not load; the tokenizers package may",
        f"if a vocab.txt has the same tokens: {_NEW_JSON}; else load it with the tokenizers package",
    ),
    "tokenizer-json-added": Advice(
        "one profile finds the token in texts and the other does not, or skips it in decoding",
        f"correct the file that is wrong; if it is tokenizer.json, {_NEW_JSON}",
    ),
    "tokenizer-json-setting": Advice(
        "readers of tokenizer.json and of vocab.txt give different ids for one text",
        "decide which file is right: if tokenizer_config.json is wrong, correct it; if tokenizer.json is wrong, delete "
        "it and write it anew with BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR)",
    ),
    "tokenizer-json-template": Advice(
        "fast tokenizers put other special tokens, or token type ids, around texts than the model was trained with",
        _NEW_JSON,
    ),
    "tokenizer-json-length": Advice(
        "`tokenizers`, and servers that read the file with it, do so with every text; trietok and transformers do what "
        "each call asks for",
        'nothing if it is meant; else {file}: "truncation": null and "padding": null',
    ),
    "fast-does-not-load": Advice("AutoTokenizer, which takes the fast class, raises", "see the message"),
    # config.json and weights
    "model-token-id": Advice(
        "the model masks, pads or ends at another token than the tokenizer", '{file}: "{role}_id": {token_id}'
    ),
    "model-too-short": Advice(
        "truncation leaves texts longer than the model can take, which raise an index error",
        f'{_CONFIG}: "model_max_length": the number of max_position_embeddings',
    ),
    "short-length": Advice(
        "truncation cuts texts shorter than the model needs",
        "{file}: the length that the model was trained with, such as its max_position_embeddings",
    ),
    "model-types": Advice(
        "the model raises an index error for pairs",
        f'{_CONFIG}: "model_input_names": ["input_ids", "attention_mask"], if the model has no token types',
    ),
    "model-type": Advice(
        "the template or the inputs are not those of the model", "put the model's own config.json or tokenizer there"
    ),
    "weights-unreadable": Advice("the model does not load", "copy or download {file} again"),
    "weights-index": Advice(
        "a model that is loaded by the index does not load", "copy or download what {file} names, or the index again"
    ),
    "weights-shape": Advice(
        "the model does not load: the shapes differ", "put the model's own config.json or weights there"
    ),
    "sentence-module": Advice(
        "sentence-transformers does not load the model, or makes wrong vectors of it",
        "put the model's own {file} and folders there",
    ),
    "weights-too-few-rows": Advice(
        "the model raises an index error when an id from {token_id} to {other_id} comes",
        "model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
    ),
    "weights-too-many-rows": Advice(
        "the vocabulary is a shorter one than the model was trained with",
        "put the model's own vocabulary and added_tokens.json into the directory",
    ),
    "weights-vocab-size": Advice(
        "the model does not load: the shapes differ", 'config.json: "vocab_size": the number of rows'
    ),
    # the JSON files, and what trietok keeps
    "not-json": Advice(_NOTHING_LOADS, "correct the file at the place named, or copy it again if it was cut off"),
    "wrong-shape": Advice(_NOTHING_LOADS, "write a value of the kind that the message names"),
    "duplicate-key": Advice("readers disagree about which of the two counts", "remove one of them"),
    "does-not-load": Advice(_NOTHING_LOADS, "see the message"),
    "save-unfinished": Advice(
        "trietok takes the files from before the save; other programs may read new ones",
        "load DIR and call save_pretrained(DIR), then make the changes again",
    ),
    "save-cut-short": Advice(
        "none for who reads the files by their names; whoever removes {file} loses them",
        "load DIR and call save_pretrained(DIR), which puts the files in their places and removes {file}",
    ),
    "save-mixed": Advice(
        "old and new files may be mixed",
        "remove .trietok-save.json if the files are as they should be; else tokenizer.save_pretrained(OUT)",
    ),
    "save-abandoned": Advice(
        "none: the files of the directory do not depend on it",
        "remove {file}, and save again if the changes are not there",
    ),
    "record-false": Advice(
        _RECORD, "BertTokenizer.from_pretrained(DIR).save_pretrained(DIR) writes the record anew; or take the key out"
    ),
    # entries that are damaged, or that no text can give
    "mixed-scripts": Advice(
        "no text with the word as it is written gives the entry: its words are cut into pieces",
        "write the word in one script; an entry of a model that was trained with it stays",
    ),
    "invisible-character": Advice(
        "no word of a text equals it", "replace the entry by the word without the character; its id stays"
    ),
    "damaged-entry": Advice("no word of a text equals it", "replace the entry by what was meant; its id stays"),
    "letter-missing": Advice(
        "such words become the unknown token, whatever their other letters are",
        "put the model's own vocab.txt there, or tokenizer.add_wordpieces([{token!r}]) and train the new row",
    ),
    "slot-replaced": Advice(
        "the row is a slot's, which published models never trained",
        "nothing if you chose the word and train the model with it; else put the model's own vocabulary there",
    ),
    "unreachable-space": Advice(
        "no text gives it: words are split at whitespace",
        "tokenizer.add_tokens([...]) finds phrases; an entry of a vocabulary has no space inside",
    ),
    **dict.fromkeys(
        (
            "unreachable-case",
            "unreachable-accent",
            "unreachable-form",
            "unreachable-punctuation",
            "unreachable-chinese",
            "unreachable-deleted",
            "unreachable-length",
            "unreachable-prefix",
        ),
        Advice(_NO_WORD, "nothing in a published vocabulary; write an entry of your own as the tokenizer writes words"),
    ),
}


Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

# What all findings of a code have in common: printed once above them, where there are several.
TITLES = {
    "duplicate-line": "a token stands on several lines",
    "blank-line": "blank lines are ids of their own",
    "carriage-return": "lines end in a carriage return",
    "lone-carriage-return": "a carriage return by itself ends a line",
    "tab": "lines hold a tab",
    "edge-space": "whitespace before or after a token belongs to it",
    "line-break-character": "lines hold a character at which other programs break lines",
    "control-character": "lines hold a control character",
    "not-utf8": "bytes are not UTF-8",
    "special-missing": "a special token is in no file and is added on loading",
    "shared-role": "one token plays several roles",
    "role-contradiction": "two files disagree about a special token",
    "role-null": "a role that calls use is null",
    "role-exchanged": "a role has the token of another",
    "role-ordinary": "a role has an ordinary word as its token",
    "special-unmarked": "a special token is not marked as one",
    "word-marked-special": "a word is marked as a special token",
    "added-cuts-words": "an added token is part of many words",
    "option-misspelt": "options that change nothing",
    "never-split-unknown": "words that are never split are no entries",
    "tokenizer-json-differs": "tokenizer.json gives other ids than vocab.txt",
    "tokenizer-json-added": "tokenizer.json and tokenizer_config.json disagree about added tokens",
    "tokenizer-json-setting": "tokenizer.json does other things to a text than slow tokenizers",
    "model-token-id": "config.json has the id of another token",
    "added-shadows": "an added token keeps an entry from being given, or is one",
    "letter-missing": "letters or signs are no entries, so words with them are unknown",
    "mixed-scripts": "entries mix letters of several scripts",
    "invisible-character": "entries hold a character that nobody sees",
    "damaged-entry": "entries look damaged",
    "slot-replaced": "entries stand in the place of unused slots",
    "weights-shape": "sizes of the weights are not those of config.json",
    "weights-index": "an index names shards or tensors that are not there",
    "record-false": "trietok's record in tokenizer_config.json contradicts the files",
    "weights-unreadable": "files of weights cannot be read",
    "save-abandoned": "a save was cut short",
    "save-cut-short": "a save was cut short, and its folder is needed",
    "id-hole": "ids without a token",
    "id-clash": "an added token has the id of another token",
    "added-id-differs": "an added token stands in the vocabulary under another id",
    "added-content-twice": "an added token has several ids",
    "added-id-twice": "two added tokens have one id",
    "added-tokens-contradiction": "two files disagree about an added token",
    "id-past-model": "ids for which the model has no embedding row",
    "wrong-shape": "a file holds something else than it should",
    "duplicate-key": "a key stands twice in an object; the last one counts",
    "unreachable-case": "no text can give these, because they have capitals and the tokenizer lower-cases",
    "unreachable-accent": "no text can give these, because they have accents and the tokenizer strips them",
    "unreachable-form": "no text can give these, because the tokenizer writes their characters in another form",
    "unreachable-punctuation": "no text can give these, because each punctuation character becomes a word of its own",
    "unreachable-chinese": "no text can give these, because each Chinese character becomes a word of its own",
    "unreachable-deleted": "no text can give these, because cleaning deletes one of their characters",
    "unreachable-space": "no text can give these, because words are split at whitespace",
    "unreachable-length": "no text can give these, because longer words than the tokenizer takes are unknown",
    "unreachable-prefix": "no text can give this, because nothing follows the prefix of continuing pieces",
}

_USUAL = ("unreachable-chinese", "unreachable-punctuation")
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
         'repair': 'trietok check DIR --fix -o OUT'}
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values |= {"consequence": self.consequence, "repair": self.repair}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

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


class CheckReport:
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
            "findings": [finding.to_dict() for finding in self.findings],
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
            yield severity, code, [*_shown(code, findings, every), *_advised(findings)]

    def text(self, every: bool = False) -> str:
        """The report as lines of text: `str(report)`, or with each finding by itself."""
        lines = [f"{self.path}: {self.summary}"]
        for severity, code, shown in self.groups(every):
            lines += [f"{severity}: {code}", *(f"  {line}" for line in shown)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from trietok.showing.html import fragment, heading, note, table  # only where somebody looks

        rows = [(severity, code, "\n".join(lines)) for severity, code, lines in self.groups()]
        parts = [heading("Check", aside=self.path), note(self.summary, "good" if self.ok else "bad")]
        return fragment(*parts, *([table(("", "code", "finding"), rows)] if rows else []), label="Check of a tokenizer")

    def __repr__(self) -> str:
        return f"<CheckReport of {self.path!r}: {self.summary}>"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `"no errors"`, `"1 error"`, `"1,021 errors"`."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"


def _entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def _order(finding: Finding) -> tuple[int, str, int, int]:
    line = finding.line_number or 0
    return SEVERITIES.index(finding.severity), finding.code, line, finding.token_id or 0


def _advised(findings: list[Finding]) -> Iterator[str]:
    """What follows from findings of one code, and what repairs them; of many a few."""
    if _are_folded(findings):
        return
    for word, sentences in (
        ("so", [finding.consequence for finding in findings]),
        ("do", [finding.repair for finding in findings]),
    ):
        yield from (f"{word}: {sentence}" for sentence in list(dict.fromkeys(sentences))[:_REPAIRS])


def _are_folded(findings: list[Finding]) -> bool:
    """Whether they are of a kind that published vocabularies have hundreds of, or too many to be shown."""
    first = findings[0]
    return first.severity == "note" and (
        first.code in _USUAL or (first.code.startswith("unreachable-") and len(findings) > _SINGLY)
    )


def _shown(code: str, findings: list[Finding], every: bool) -> Iterator[str]:
    if _are_folded(findings) and not every:
        examples = " ".join(f"{finding.token!r}" for finding in findings[:_EXAMPLES])
        more = " ..." if len(findings) > _EXAMPLES else ""
        yield f"{_entries(len(findings))}: {TITLES[code]}, such as {examples}{more}"
        return
    several = len(findings) > _SINGLY and not every
    if several:
        yield f"{counted(len(findings), 'finding')}: {TITLES.get(code, code)}"
    for finding in findings[: _SINGLY - 2 if several else None]:
        yield f"{finding.place}: {finding.message}" if finding.place else finding.message
    if several:
        yield f"... and {len(findings) - _SINGLY + 2:,} more"


# The findings of a check while they are collected: of one code at most so many that a report can be read.
#
# In: findings. Out: the first of each code, and for each code with more of them one finding that says how many.


MOST_OF_ONE_CODE = 100_000  # more than the entries of most vocabularies; a file made to flood a report has millions


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
        self._first: dict[str, Finding] = {}
        self.extend(findings)

    def append(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        code = finding.code
        self._counts[code] += 1
        if self._counts[code] <= MOST_OF_ONE_CODE:
            self._first.setdefault(code, finding)
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
                first = self._first[code]
                known: dict[str, Any] = {"file": first.file}
                message = f"and {count - MOST_OF_ONE_CODE:,} more of this kind, which are not listed"
                yield Finding(first.severity, code, message, **known)
