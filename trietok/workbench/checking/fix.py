"""`fix`: a repaired copy of a tokenizer directory.

In: a directory or a vocab.txt. Out: a new directory, and what was changed. No id moves unless
renumbering is asked for: the line of a duplicate or a blank line is given to a placeholder such as
`[unused17]`, and ids that tokens are given on loading are written down.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from trietok.errors import FileFormatError, InputError, TrietokError, errors_naming
from trietok.files.directory import finish_saves
from trietok.files.formats import (
    ADDITIONAL,
    CHAT_TEMPLATE_FILE,
    CONFIG_FILE,
    RECORD,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    read_templates,
    template_files,
    write_json,
    write_vocab_lines,
)
from trietok.files.json_files import read_json_object
from trietok.files.kinds import is_of_recipe
from trietok.files.new_directory import checked_new, new_directory
from trietok.showing.report import Report
from trietok.text.added_tokens import AddedToken
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.special_tokens import EXTRA
from trietok.workbench.checking.check import check, load_quietly
from trietok.workbench.checking.facts import ROLES_OF_BERT, Facts
from trietok.workbench.checking.files import DECODER, CheckedFiles, read_files
from trietok.workbench.checking.report import CheckReport
from trietok.workbench.checking.rules.tokenizer_json import Contradiction, json_contradictions
from trietok.workbench.checking.vocabulary_lines import BOM

ID_MAP_FILE = "id_map.json"
_SLOT = re.compile(r"\[unused\d+\]")
_UNREADABLE = frozenset(
    "unreadable-file not-that-file missing-vocabulary other-kind empty-vocabulary not-utf8 not-json"
    " duplicate-key wrong-shape tokenizer-json-ids tokenizer-json-part".split()
)
_CONFLICTS = {
    "id-clash",
    "added-id-differs",
    "added-id-twice",
    "added-content-twice",
    "added-tokens-contradiction",
}
_OF_JSON = ("tokenizer-json-added", "tokenizer-json-setting", "tokenizer-json-template")


@dataclasses.dataclass(frozen=True)
class FixResult(Report):
    """What `fix` has done.

    Attributes:
        out: the new directory.
        before, after: the reports on what was given and on what was written.
        changes: what was changed in the vocabulary and the ids, a sentence each.
        id_map: old id → new id for every id that is left, where ids were renumbered; else None.
    """

    out: str
    before: CheckReport
    after: CheckReport
    changes: list[str]
    id_map: dict[int, int] | None

    @property
    def ok(self) -> bool:
        """Whether there is no error in what was written."""
        return self.after.ok

    def _parts(self) -> list[str]:
        done = f"written to {self.out}; changes: {len(self.changes) or 'none but of form'}"
        return [done, *(f"  {change}" for change in self.changes), *str(self.after).split("\n")]


def fix(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    renumber: bool = False,
) -> FixResult:
    r"""Write a repaired copy of a tokenizer's files, or finish an interrupted save.

    Args:
        model: a directory, a vocab.txt, or the name of a built-in vocabulary. With `output` it is
            not changed.
        output: the directory to write; it must not exist, or be empty. It gets the tokenizer's own
            files and config.json, and no model weights. tokenizer.json is copied where it says the
            same as the repaired files, and else written anew. None finishes a save to `model` that
            was interrupted, or undoes it if it had replaced no file.
        renumber: drop the lines of duplicates and blank lines and close all holes, so that ids
            move; `id_map.json` in `output` then maps old ids to new ones. Without it, every token
            keeps its id. `docs/checking.md` says what is done for each finding.

    Returns:
        The reports before and after, and what was changed.

    Raises:
        InputError: there is no `output`, and no save was interrupted.
        FileError: `output` is there and not empty, or cannot be written.
        FileFormatError: a file cannot be read, so what it says cannot be kept; ids contradict each
            other, and they are not to be renumbered; tokenizer.json gives other ids than vocab.txt,
            contradicts tokenizer_config.json where nothing tells which is right, or cannot say what
            the repaired tokenizer is; there is no vocab.txt; or what is repaired does not load
            either. The message says why; nothing is written.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "vocab.txt").write_text(
    ...     "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nun\n"
    ... )
    >>> result = fix(folder / "vocab.txt", folder / "fixed")
    >>> result.changes
    ["line 6: 'un' is '[unused5]', a free slot; 'un' keeps its id 7"]
    >>> fix(folder / "vocab.txt", folder / "renumbered", renumber=True).id_map
    {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 7: 6}
    """
    if output is None:
        return _finish(model)
    target = Path(output)
    checked_new(target)
    before = check(model)
    if is_of_recipe(os.fspath(model)):
        why = (
            ": it holds a byte-pair encoding of Chinese sentences, and only WordPiece vocabularies"
        )
        raise _refusal(before.path, f"{why} are repaired; train it again (trietok train bpe)")
    for finding in before.errors:
        if finding.code == "save-interrupted":
            how = "finish it first, with fix(DIR) or `trietok check -m DIR --fix` and no output"
            raise _refusal(before.path, f": a save was interrupted; {how}")
        if finding.code in _UNREADABLE:
            where = f"{finding.place}: " if finding.place else ""
            raise _refusal(before.path, f": {where}{finding.message}", finding.line_number)
        if finding.code in _CONFLICTS and not renumber:
            why = f" without moving an id: {finding.message}; renumbering gives each its own"
            raise _refusal(before.path, why)
        if finding.code == "tokenizer-json-differs":
            why = f": {TOKENIZER_FILE} and {VOCAB_FILE} give one token two ids ({finding.message})"
            raise _refusal(before.path, f"{why}; remove the file that is not the model's")
    files = read_files(model)
    if files.is_json_alone:
        why = (
            f": it has {TOKENIZER_FILE} and no {VOCAB_FILE}; BertTokenizerFast.from_pretrained(...)"
        )
        raise _refusal(before.path, f"{why}.save_pretrained(...) writes both, if it loads")
    facts = Facts(files)
    repair = _Repair(files, facts, renumber)
    if TOKENIZER_FILE in files.present:
        wrong = _wrong_settings(facts)
        repair.settings = {each.setting: each.value for each in wrong}
        told = f"as {TOKENIZER_FILE} and the vocabulary say"
        for name, value in repair.settings.items():
            repair.changes.append(
                f"{TOKENIZER_CONFIG_FILE}: {name} is {str(value).lower()}, {told}"
            )
        corrected = {each.message for each in wrong}
        repair.lost = [
            f.message for f in before.findings if f.code in _OF_JSON and f.message not in corrected
        ]
    repair.changes += [
        f"{finding.file} is taken as it is now, and its hash recorded"
        for finding in before.findings
        if finding.code == "file-changed"
    ]
    id_map = _write(repair, target, renumber)
    return FixResult(os.fspath(output), before, check(target), repair.changes, id_map)


def _finish(model: str | os.PathLike[str]) -> FixResult:
    """End the interrupted save to a directory."""
    before, done = check(model), finish_saves(model)
    if not done:
        raise InputError(
            f"no save to {os.fspath(model)} was interrupted; name an output directory for a"
            " repaired copy"
        )
    return FixResult(os.fspath(model), before, check(model), done, None)


def _refusal(
    path: str | os.PathLike[str], why: str, line_number: int | None = None
) -> FileFormatError:
    return FileFormatError(
        f"cannot repair {os.fspath(path)}{why}", path=path, line_number=line_number
    )


def _wrong_settings(facts: Facts) -> list[Contradiction]:
    """The settings in which tokenizer.json contradicts tokenizer_config.json and is right, as the
    vocabulary tells.

    Where nothing tells which is right, tokenizer.json, which the copy does not have, may be: that
    raises.
    """
    if facts.json is None or not facts.basic:
        return []
    lowers = facts.case[0]
    wrong = [
        each
        for each in json_contradictions(facts)
        if each.setting == "do_lower_case" and each.value == lowers
    ]
    if wrong:
        facts = Facts(
            dataclasses.replace(facts.files, config={**facts.files.config, "do_lower_case": lowers})
        )
    for each in json_contradictions(facts):
        # Where it is null, accents are stripped as texts are lower-cased, so it was as wrong as
        # that.
        if wrong and each.setting == "strip_accents" and facts.setting("strip_accents") is None:
            wrong.append(each)
        elif each.setting != "do_lower_case" or lowers is None:
            why = (
                f": {TOKENIZER_FILE} contradicts {TOKENIZER_CONFIG_FILE}, and nothing tells which"
                " is right: "
            )
            what = (
                f"{each.message}; correct {TOKENIZER_CONFIG_FILE} if that is wrong, else remove"
                f" {TOKENIZER_FILE}"
            )
            raise _refusal(facts.files.path, why + what)
    return wrong


class _Repair:
    """The lines of the repaired vocabulary, and what else is repaired."""

    def __init__(self, files: CheckedFiles, facts: Facts, renumber: bool) -> None:
        self.files = files
        self.facts = facts
        self.changes: list[str] = []  # what was changed, a sentence each
        self.renamed: set[str] = set()  # tokens whose line was repaired
        # those of tokenizer_config.json that are corrected
        self.settings: dict[str, bool | None] = {}
        # what tokenizer.json said otherwise, and says no more where it is written anew
        self.lost: list[str] = []
        self._dropped: set[int] = set()
        # Where texts are split only at whitespace, any placeholder is a word that some text has.
        self._may_replace = bool(files.config.get("do_basic_tokenize", True))
        lines = list(files.tokens or [])
        self._clean(lines, renumber)
        encoding = {line: token_id for token_id, line in enumerate(lines) if line}
        # Of the lines of one token an added token's id is the one that encodes, else the last.
        encoding.update(
            {
                token: i
                for token, i in facts.added_ids.items()
                if i < len(lines) and lines[i] == token
            }
        )
        if renumber:
            self._dropped |= {i for i, line in enumerate(lines) if not line or encoding[line] != i}
            self.changes += [
                f"line {i + 1}: {lines[i]!r} is dropped" for i in sorted(self._dropped)
            ]
        else:
            self._fill(lines, encoding)
        self.old_ids = [token_id for token_id in range(len(lines)) if token_id not in self._dropped]
        # None is one that stays a declared hole
        self.lines = [lines[token_id] for token_id in self.old_ids]

    def _clean(self, lines: list[str | None], renumber: bool) -> None:
        """Take off the byte-order mark and the whitespace around tokens, where no other token has
        that form.
        """
        taken = {*filter(None, lines), *self.facts.added_ids}
        for token_id, line in enumerate(lines):
            clean = (line.removeprefix(BOM) if token_id == 0 else line).strip() if line else line
            if not line or not clean or clean in (line, BERT_PREFIX):
                continue
            if clean not in taken:
                self.changes.append(f"line {token_id + 1}: {line!r} is {clean!r}")
                lines[token_id] = clean
                taken.add(clean)
                self.renamed.add(clean)
            elif renumber and clean not in self.facts.added_ids:
                self._dropped.add(token_id)  # the other line has the token that was meant

    def _fill(self, lines: list[str | None], encoding: dict[str, int]) -> None:
        """Put a placeholder on the lines of duplicates and on blank lines, which no text gives
        before or after.
        """
        if not self._may_replace:
            return
        facts = self.facts
        words = {*encoding, *facts.added_ids, *facts.roles.values(), *facts.additional}
        words.update(self.files.config.get("never_split") or ())
        names = {name for word in words for name in _SLOT.findall(word)}
        for token_id, line in enumerate(lines):
            if line is None or (line and encoding[line] == token_id):
                continue
            number = token_id
            while (slot := f"[unused{number}]") in names:
                number += 1
            names.add(slot)
            lines[token_id] = slot
            kept = f"; {line!r} keeps its id {encoding[line]}" if line else ""
            self.changes.append(f"line {token_id + 1}: {line!r} is {slot!r}, a free slot{kept}")


def _write(repair: _Repair, target: Path, renumber: bool) -> dict[int, int] | None:
    """Make the tokenizer that the files should have been and save it, so that every file says the
    same.
    """
    files = repair.files
    kind = repair.facts.kind
    id_map = dict(zip(repair.old_ids, range(len(repair.lines)), strict=True)) if renumber else None
    with (
        tempfile.TemporaryDirectory() as folder,
        errors_naming(files.path, instead_of=folder),
    ):
        loaded = load_quietly(files.path, kind)
        if isinstance(loaded, Exception):
            config = _config_of_files(repair)
            entries = [(token_id, token) for token_id, token, _ in repair.facts.added]
        else:  # with the ids that tokens are given on loading
            loaded.save_pretrained(folder, save_jinja_files=False)
            config = read_json_object(Path(folder, TOKENIZER_CONFIG_FILE))
            entries = list(loaded.added_tokens_decoder.items())
        added = _new_ids(repair, entries, id_map)
        config |= repair.settings
        if _templates(files.path):  # which are copied, and come before that of the configuration
            config.pop("chat_template", None)
        config[DECODER] = {token_id: token.__getstate__() for token_id, token in added}
        if renumber and RECORD in config:
            config[RECORD] = {
                key: value for key, value in config[RECORD].items() if key == "assigned_unused"
            }
        staged = Path(folder, "staged")
        staged.mkdir()
        write_json(staged / TOKENIZER_CONFIG_FILE, config)
        write_vocab_lines(staged / VOCAB_FILE, [line or "" for line in repair.lines])
        repaired = load_quietly(staged, kind)
        if isinstance(repaired, Exception):
            raise _refusal(
                files.path, f": {str(repaired).replace(f'{staged}{os.sep}', '')}"
            ) from repaired
        if TOKENIZER_FILE in files.present:
            tokenizer_json = _tokenizer_json(repair, repaired)
    templates = read_templates(_templates(files.path))
    if templates is not None:
        repaired.chat_template = templates
    with new_directory(target) as out:
        if TOKENIZER_FILE in files.present:  # the save keeps it
            (out / TOKENIZER_FILE).write_bytes(tokenizer_json)
        # Templates of the configuration stay there; those in files stay files.
        repaired.save_pretrained(out, save_jinja_files=templates is not None)
        if renumber and "vocab_size" in files.model_config:
            write_json(out / CONFIG_FILE, {**files.model_config, "vocab_size": repaired.max_id + 1})
        elif CONFIG_FILE in files.present:
            shutil.copyfile(files.path / CONFIG_FILE, out / CONFIG_FILE)
        if id_map is not None:
            write_json(out / ID_MAP_FILE, id_map)
    return id_map


def _templates(model: Path) -> dict[str, str]:
    """Return name → path of a model's files with chat templates."""
    names = [CHAT_TEMPLATE_FILE] if (model / CHAT_TEMPLATE_FILE).is_file() else []
    return {name: os.fspath(model / name) for name in names + template_files(model)}


def _tokenizer_json(repair: _Repair, repaired: Any) -> bytes:
    """Return the tokenizer.json of the repaired tokenizer; that of the files if it agrees."""
    path = repair.files.file(TOKENIZER_FILE)
    try:
        text, _ = repaired._updated_tokenizer_json(path)
    except TrietokError as error:
        why = (
            f": its {TOKENIZER_FILE} would give other ids than the other files, and cannot be"
            " written anew: "
        )
        raise FileFormatError(
            f"cannot repair {repair.files.path}{why}{error}; without the file the others are"
            " repaired",
            path=path,
        ) from error
    if text is None:
        return path.read_bytes()
    repair.changes.append(
        "; with it goes: ".join([f"{TOKENIZER_FILE} is written anew", *repair.lost])
    )
    return bytes(text.encode())


def _config_of_files(repair: _Repair) -> dict[str, Any]:
    """The configuration of files from which no tokenizer loads."""
    config = dict(repair.files.config)
    if not repair.facts.decoder_counts:
        config.update(
            (role, value)
            for role, value in repair.files.special_map.items()
            if role in ROLES_OF_BERT
        )
        if repair.facts.additional and EXTRA not in config:
            config[ADDITIONAL] = repair.facts.additional
    return config


def _new_ids(
    repair: _Repair, entries: list[tuple[int, AddedToken]], id_map: dict[int, int] | None
) -> list[tuple[int, AddedToken]]:
    """The added tokens under their new ids; `id_map`, where ids are renumbered, takes them in."""
    new_ids = {line: token_id for token_id, line in enumerate(repair.lines) if line is not None}
    if id_map is None:
        # A token whose line was broken was added on loading, beyond the rows of the model: it has
        # its line's id again.
        pairs = [
            (new_ids[t.content] if t.content in repair.renamed else old, t) for old, t in entries
        ]
        repair.changes += [
            f"{token.content!r} has the id {new} instead of {old}, which it was given on loading"
            for (new, token), (old, _) in zip(pairs, entries, strict=True)
            if new != old
        ]
        return pairs
    pairs = []
    # of two ids the one read last
    by_content = {token.content: (old, token) for old, token in entries}
    next_id = len(repair.lines)
    for content, (old, token) in by_content.items():
        line = repair.facts.line_ids.get(content)
        if content in new_ids:
            new = new_ids[content]
            if line is not None and line != old and old not in id_map:
                # transformers encodes it with the added token's id: that row is trained
                id_map.pop(line, None)
                id_map[old] = new
        else:
            new = next_id
            next_id += 1
            if id_map.setdefault(old, new) != new:
                repair.changes.append(
                    f"{content!r} shared the id {old}; no old id maps to its new one, {new}"
                )
        if new != old:
            repair.changes.append(f"{content!r} has the id {new} instead of {old}")
        pairs.append((new, token))
    return pairs
