"""`fix`: write a repaired copy of a tokenizer's files.

No id moves unless renumbering is asked for: the lines of duplicates and blank lines become
placeholders such as `[unused17]`, and ids that tokens get on loading are written down.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
from pathlib import Path
from shlex import quote
from typing import Any

from trietok.disk import read_vocab_lines
from trietok.errors import FileFormatError, InputError, TrietokError, errors_naming
from trietok.files.directory import finish_saves
from trietok.files.formats import (
    CHAT_TEMPLATE_FILE,
    CONFIG_FILE,
    RECORD,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    TOKENIZER_FILES,
    VOCAB_FILE,
    read_templates,
    template_files,
    write_json,
    write_vocab_lines,
)
from trietok.files.json_files import read_json_object
from trietok.files.new_directory import checked_new, new_directory
from trietok.showing.report import Report
from trietok.text.added_tokens import AddedToken
from trietok.text.wordpiece import BERT_PREFIX
from trietok.workbench.checking.check import check, check_and_load, quiet
from trietok.workbench.checking.questions import DECODER, Loaded
from trietok.workbench.checking.report import CheckReport

ID_MAP_FILE = "id_map.json"
_SLOT = re.compile(r"\[unused\d+\]")
_DISAGREEMENTS = ("tokenizer-json-differs", "tokenizer-json-setting")


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
        changes = len(self.changes)
        done = f"written to {self.out}; {f'changes: {changes}' if changes else 'no token changed'}"
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
            files and config.json, and no model weights. None finishes a save to `model` that was
            interrupted, or undoes it if it had replaced no file.
        renumber: drop the lines of duplicates and blank lines and close all holes, so that ids
            move; `id_map.json` in `output` then maps old ids to new ones. Without it, every token
            keeps its id. `docs/checking.md` says what is done for each finding.

    Returns:
        The reports before and after, and what was changed.

    Raises:
        InputError: there is no `output`, and no save was interrupted.
        FileError: `output` is not an empty directory, or cannot be written.
        FileFormatError: the tokenizer does not load; tokenizer.json and the other files give
            different ids, and nothing tells which are right; or there is no vocab.txt. The message
            says what to do; nothing is written.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "vocab.txt").write_text(
    ...     "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nun\n"
    ... )
    >>> result = fix(folder / "vocab.txt", folder / "fixed")
    >>> result.changes
    ["line 6: 'un' is replaced by '[unused5]'; 'un' keeps its id 7"]
    >>> fix(folder / "vocab.txt", folder / "renumbered", renumber=True).id_map
    {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 7: 6}
    """
    if output is None:
        return _finish(model)
    target = Path(output)
    checked_new(target)
    before, loaded = check_and_load(model)
    changes = [
        f"the hash of {finding.file} is recorded as the file is now"
        for finding in before.findings
        if finding.code == "file-changed"
    ]
    with tempfile.TemporaryDirectory() as folder, errors_naming(before.path, instead_of=folder):
        try:
            repairable = _repairable(before.path, before, loaded)
        except FileFormatError:
            if loaded is None or not _strip_copy(loaded, folder, changes):
                raise
            repairable = _repairable(before.path, *check_and_load(folder))
        repair = _Repair(repairable, renumber, changes)
        with quiet():
            _write(repair, target, renumber)
    id_map = repair.id_map if renumber else None
    return FixResult(os.fspath(output), before, check(target), changes, id_map)


def _finish(model: str | os.PathLike[str]) -> FixResult:
    """End the interrupted save to a directory."""
    before, done = check(model), finish_saves(model)
    if not done:
        raise InputError(
            f"no save to {os.fspath(model)} was interrupted; name an output directory for a"
            " repaired copy"
        )
    return FixResult(os.fspath(model), before, check(model), done, None)


def _repairable(path: str, report: CheckReport, loaded: Loaded | None) -> Loaded:
    """Return what was loaded; raise a FileFormatError about `path` if it is not repaired."""
    errors = {finding.code: finding for finding in reversed(report.errors)}
    for code in ("save-interrupted", "does-not-load", "ids-contradict"):
        if code in errors:
            finding = errors[code]
            reason = ": ".join(filter(None, (finding.place, finding.message)))
            if code == "save-interrupted":
                reason = (
                    f"finish the interrupted save first: `trietok check -m {quote(path)} --fix`"
                )
            raise _refusal(path, reason, finding.line_number)
    if loaded is None or loaded.slow is None:
        raise _refusal(path, "only WordPiece vocabularies are repaired; train it again")
    if not loaded.has_vocabulary_file:
        raise _refusal(
            path,
            f"it has no {VOCAB_FILE}; BertTokenizerFast.from_pretrained(...).save_pretrained(...)"
            " writes one",
        )
    for finding in report.errors + report.warnings:
        if finding.code in _DISAGREEMENTS:
            raise _refusal(
                path,
                f"{TOKENIZER_FILE} and the other files disagree ({finding.message}); correct the"
                f" file that is wrong, or remove {TOKENIZER_FILE}",
            )
    return loaded


def _strip_copy(loaded: Loaded, folder: str, changes: list[str]) -> bool:
    """Copy the files to a folder, with the lines of vocab.txt stripped; return whether a line
    changed.

    A byte-order mark before `[PAD]` can keep a tokenizer from loading.
    """
    try:
        lines: list[str | None] = [*read_vocab_lines(loaded.vocabulary_file)]
    except TrietokError:
        return False
    found = _strip(lines, taken=set())
    if found and os.path.isdir(loaded.path):
        json_name = os.path.relpath(loaded.json_file, loaded.path)
        for name in (*TOKENIZER_FILES, CONFIG_FILE, json_name, *template_files(loaded.path)):
            if os.path.isfile(os.path.join(loaded.path, name)):
                copy = Path(folder, name)
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(os.path.join(loaded.path, name), copy)
    write_vocab_lines(Path(folder, VOCAB_FILE), [line or "" for line in lines])
    changes += found
    return bool(found)


def _strip(lines: list[str | None], taken: set[str]) -> list[str]:
    """Remove the byte-order mark and the whitespace around tokens from lines, and return what was
    changed.

    A line stays as it is if another line, or a token in `taken`, has the new form.
    """
    changes = []
    forms = {*filter(None, lines), *taken}
    for token_id, line in enumerate(lines):
        stripped = (line.removeprefix("\ufeff") if token_id == 0 else line).strip() if line else ""
        if stripped and stripped not in (line, BERT_PREFIX) and stripped not in forms:
            changes.append(f"line {token_id + 1}: {line!r} is replaced by {stripped!r}")
            lines[token_id] = stripped
            forms.add(stripped)
    return changes


class _Repair:
    """The repaired vocabulary and the new ids of a tokenizer.

    Attributes:
        loaded: the tokenizer as it is.
        changes: what was changed, a sentence each.
        lines: the lines of the new vocab.txt; None for a declared hole.
        added: the added tokens under their new ids.
        id_map: old id → new id for every id that is left.
    """

    def __init__(self, loaded: Loaded, renumber: bool, changes: list[str]) -> None:
        self.loaded = loaded
        self.changes = changes
        vocabulary, added = loaded.slow.vocabulary, loaded.slow.added_tokens_decoder
        free = {*vocabulary.holes, *added}
        lines = [
            None if not line and token_id in free else line
            for token_id, line in enumerate(vocabulary.tokens)
        ]
        # A token whose line is broken was added on loading, and gets the id of its line again.
        own_ids = (token_id for token_id in added if token_id < len(lines))
        changes += _strip(lines, taken={added[token_id].content for token_id in own_ids})
        ids = {line: token_id for token_id, line in enumerate(lines) if line}
        # If a token is on several lines, the line of its added id counts; else the last.
        for token_id, token in added.items():
            if token_id < len(lines) and lines[token_id] == token.content:
                ids[token.content] = token_id
        spare = {
            token_id
            for token_id, line in enumerate(lines)
            if line == "" or (line is not None and ids[line] != token_id)
        }
        dropped: set[int] = set()
        if renumber:
            dropped = {token_id for token_id, line in enumerate(lines) if line is None} | spare
            changes += [f"line {i + 1}: {lines[i] or ''!r} is dropped" for i in sorted(dropped)]
        # If texts are split only at whitespace, any placeholder is a word that some text has.
        elif loaded.slow.do_basic_tokenize:
            self._drop_past_model(lines, spare)
            self._fill(lines, sorted(spare), ids)
        kept = [token_id for token_id in range(len(lines)) if token_id not in dropped]
        self.lines = [lines[token_id] for token_id in kept]
        self.id_map = {old: new for new, old in enumerate(kept)}
        self.added: dict[int, AddedToken] = {}
        next_id = len(self.lines)
        for old, token in added.items():
            new = old
            if token.content in ids:  # the row of the line is trained, whatever loading gave
                new = self.id_map[ids[token.content]]
            elif renumber:
                new, next_id = next_id, next_id + 1
                self.id_map[old] = new
            self.added[new] = token
            if new != old:
                changes.append(f"{token.content!r} has the id {new} instead of {old}")

    def _drop_past_model(self, lines: list[str | None], spare: set[int]) -> None:
        """Remove spare lines from the end, if the model has no embedding rows for them."""
        rows, last_added = (
            self.loaded.model_config.get("vocab_size"),
            max(self.loaded.slow.added_tokens_decoder, default=-1),
        )
        while type(rows) is int and len(lines) > rows and len(lines) - 1 in spare:
            if last_added >= len(lines) - 1:
                break  # an added token would get another place
            spare.remove(len(lines) - 1)
            self.changes.append(f"line {len(lines)}: {lines.pop()!r} is dropped")

    def _fill(self, lines: list[str | None], spare: list[int], ids: dict[str, int]) -> None:
        """Put placeholders on the lines of duplicates and on blank lines, which no text gives."""
        slow = self.loaded.slow
        words = {*ids, *slow.all_special_tokens, *slow.added_tokens_encoder}
        words.update(self.loaded.config.get("never_split") or ())
        names = {name for word in words for name in _SLOT.findall(word)}
        for token_id in spare:
            line, number = lines[token_id], token_id
            while (slot := f"[unused{number}]") in names:
                number += 1
            names.add(slot)
            lines[token_id] = slot
            kept = f"; {line!r} keeps its id {ids[line]}" if line else ""
            self.changes.append(f"line {token_id + 1}: {line!r} is replaced by {slot!r}{kept}")


def _write(repair: _Repair, target: Path, renumber: bool) -> None:
    """Load the repaired files, and save them so that every file says the same."""
    loaded = repair.loaded
    templates = _templates(Path(loaded.path))
    with (
        tempfile.TemporaryDirectory() as folder,
        errors_naming(loaded.path, instead_of=folder),
    ):
        loaded.slow.save_pretrained(folder, save_jinja_files=False)
        config = read_json_object(Path(folder, TOKENIZER_CONFIG_FILE))
        if templates:  # which are copied, and come before that of the configuration
            config.pop("chat_template", None)
        config[DECODER] = {i: token.__getstate__() for i, token in repair.added.items()}
        if renumber and RECORD in config:
            record = config[RECORD]
            config[RECORD] = {key: record[key] for key in ("assigned_unused",) if key in record}
        staged = Path(folder, "staged")
        staged.mkdir()
        write_json(staged / TOKENIZER_CONFIG_FILE, config)
        write_vocab_lines(staged / VOCAB_FILE, [line or "" for line in repair.lines])
        repaired = loaded.kind.from_pretrained(staged)
        tokenizer_json = None if loaded.json is None else _tokenizer_json(repair, repaired)
    if templates:
        repaired.chat_template = read_templates(templates)
    with new_directory(target) as out:
        if tokenizer_json is not None:  # the save keeps it
            (out / TOKENIZER_FILE).write_bytes(tokenizer_json)
        # Templates of the configuration stay there; those in files stay files.
        repaired.save_pretrained(out, save_jinja_files=bool(templates))
        if renumber and "vocab_size" in loaded.model_config:
            write_json(
                out / CONFIG_FILE, {**loaded.model_config, "vocab_size": repaired.max_id + 1}
            )
        elif loaded.model_config:
            shutil.copyfile(Path(loaded.path, CONFIG_FILE), out / CONFIG_FILE)
        if renumber:
            write_json(out / ID_MAP_FILE, repair.id_map)


def _templates(model: Path) -> dict[str, str]:
    """Return name → path of a model's files with chat templates."""
    names = [CHAT_TEMPLATE_FILE] if (model / CHAT_TEMPLATE_FILE).is_file() else []
    return {name: os.fspath(model / name) for name in names + template_files(model)}


def _tokenizer_json(repair: _Repair, repaired: Any) -> bytes:
    """Return the tokenizer.json of the repaired tokenizer; the one of the files if it agrees."""
    path = repair.loaded.json_file
    try:
        text, _ = repaired._updated_tokenizer_json(path)
    except TrietokError as error:
        raise _refusal(
            repair.loaded.path,
            f"its {TOKENIZER_FILE} cannot be written again: {error}; without the file the others"
            " are repaired",
        ) from error
    if text is None:
        return Path(path).read_bytes()
    repair.changes.append(f"{TOKENIZER_FILE} is written again")
    return bytes(text.encode())


def _refusal(path: str, reason: str, line_number: int | None = None) -> FileFormatError:
    return FileFormatError(f"cannot repair {path}: {reason}", path=path, line_number=line_number)
