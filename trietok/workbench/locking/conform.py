"""`conform`: whether another implementation gives a tokenizer's ids, told by texts that try each of
its rules.

In: a tokenizer, and the command line of a program in any language. Out: a `Conformed`, which says
for each text with other ids which stage makes the difference. The program reads a line of JSON for
each text and answers with a line.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from types import MethodType
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError, TrietokError
from trietok.explaining.values import TITLES
from trietok.inputs.profiles import Profile
from trietok.showing.characters import number_of, visible
from trietok.showing.report import Report, Table
from trietok.text.characters import is_chinese_char, is_punctuation
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.workbench.locking.lock import LockedText, lock
from trietok.workbench.locking.reasons import UNKNOWN_REASON, Reasons, in_other_profile
from trietok.workbench.locking.vectors import PLAIN, Vector, call_options, vectors

_MOST_TOKENS, _MOST_CHARACTERS = 8, 60  # of a differing text that are shown
_MOST_KEPT = 100
_SECONDS_TO_END = 1  # how long it is waited for lines that were not asked for


# ---- the other implementation --------------------------------------------------------------------


class Answer(NamedTuple):
    """What a program has said of a text: its ids, and spans if it has any; or why it has none."""

    ids: list[int]
    spans: list[list[int]] | None = None
    skipped: str = ""
    error: str = ""


class Runner:
    """A program that is asked for ids: a line of JSON for each text goes in, a line comes out.

    Args:
        command: the program and its arguments.
        seconds: how long one answer may take.

    Raises:
        InputError: the program cannot be started, ends early, says what is no answer, or says
            nothing for too long.
    """

    def __init__(self, command: Sequence[str], seconds: int = 60) -> None:
        self._command, self._seconds = list(command), seconds
        self._name = " ".join(command)

    def answers(self, questions: Sequence[dict[str, Any]]) -> Iterator[Answer]:
        """The answers to all questions, in their order. A program may read all of them before it
        answers.
        """
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # so that what it has started ends with it
                )
            except OSError as error:
                raise InputError(
                    f"cannot start {self._command[0]!r}: {error.strerror or error}"
                ) from None
            lines: queue.Queue[bytes] = queue.Queue()
            asking = threading.Thread(target=_ask, args=(process, questions), daemon=True)
            reading = threading.Thread(target=_read_answers, args=(process, lines), daemon=True)
            try:
                asking.start()
                reading.start()
                for question in questions:
                    yield self._answer(question, lines, process, errors)
                self._expect_end(lines)
            finally:
                _end(process)
                reading.join()
                asking.join()

    def _answer(
        self, question: Mapping[str, Any], lines: queue.Queue[bytes], process: Any, errors: Any
    ) -> Answer:
        where = f"text {question['number']} ({question['text']!r:.60})"
        try:
            line = lines.get(timeout=self._seconds)
        except queue.Empty:
            raise InputError(
                f"{self._name} did not answer to {where} within"
                f" {number_of(self._seconds, 'second')}; it has to write a line for each line that"
                " it reads, and flush it, or read all lines to the end first"
            ) from None
        if not line:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            why = f": {said[-1]:.200}" if said else ""
            raise InputError(
                f"{self._name} ended before {where}, with exit code {process.wait()}{why}"
            )
        try:
            value = json.loads(line)
            answer = _answer_of(value)
        except (ValueError, TypeError, LookupError, RecursionError):
            shown = line.decode("utf-8", "replace").strip()
            raise InputError(
                f"{self._name} answered to {where} with {shown!r:.120}; an answer is a line such as"
                ' {"ids": [2, 3]}, with "spans" if it has any, or {"skip": "why"}'
            ) from None
        number = value.get("number") if isinstance(value, dict) else None
        if number not in (None, question["number"]):
            raise InputError(
                f"{self._name} answered to {where} with the answer to text {number!r:.20}; it has"
                " to answer in the order of the lines, with one line each"
            )
        return answer

    def _expect_end(self, lines: queue.Queue[bytes]) -> None:
        """Raise where the program has written more lines than it was asked for: each answer was
        another text's.
        """
        with contextlib.suppress(queue.Empty):
            while line := lines.get(timeout=_SECONDS_TO_END):
                if line.strip():
                    shown = line.decode("utf-8", "replace").strip()
                    raise InputError(
                        f"{self._name} has answered to all texts, and goes on with {shown!r:.120};"
                        " it has to write one line for each line that it reads, and messages to"
                        " stderr"
                    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program, and what it has started, where the system has groups of processes."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _ask(process: Any, questions: Iterable[dict[str, Any]]) -> None:
    try:
        with process.stdin:
            for question in questions:
                process.stdin.write(json.dumps(question).encode("ascii") + b"\n")
    except OSError:  # the program has ended: who reads its answers says so
        pass


def _read_answers(process: Any, lines: queue.Queue[bytes]) -> None:
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(b"")


def _answer_of(value: Any) -> Answer:
    if isinstance(value, list):
        value = {"ids": value}
    if "skip" in value:
        return Answer([], skipped=str(value["skip"]) or "no reason given")
    if "error" in value:
        return Answer([], error=str(value["error"]) or "no reason given")
    ids, spans = value["ids"], value.get("spans")
    if not all(type(each) is int for each in ids):
        raise ValueError("ids that are no whole numbers")
    return Answer(
        list(ids), None if spans is None else [[int(start), int(end)] for start, end in spans]
    )


# ---- what differs --------------------------------------------------------------------------------


class Deviation(NamedTuple):
    """A text to which the other implementation gives other ids, or other spans.

    Attributes:
        number: which of the vectors, from 1.
        vector: the text, and what it should have given.
        ids, tokens: what it has given; tokens are those that the ids have here.
        position: the first token that differs, from 0; None where only spans do.
        start, end: where that stands in the text, half-open, in code points.
        why: the stage that made the difference; or what the other implementation said.
    """

    number: int
    vector: Vector
    ids: list[int]
    tokens: list[str]
    position: int | None
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Conformed(Report):
    """Whether another implementation gives the ids of a tokenizer. `str` says it, rule by rule, and
    why not.

    Attributes:
        command: the program that was asked.
        profile: whose ids are right: those of the `"slow"` or the `"fast"` profile.
        seed: what the texts were made with.
        vectors: how many texts there were.
        skipped: how many of them the program would not take.
        differing: how many got other ids, errors included.
        spans_differing: how many got the same ids with other spans; 0 where the program gives none.
        rules: what the texts try → how many got other ids, how many there were.
        differences: the first of those that differ, at most 100.
    """

    command: str
    profile: Profile
    seed: int
    vectors: int
    skipped: int
    differing: int
    spans_differing: int
    rules: Mapping[str, tuple[int, int]]
    differences: tuple[Deviation, ...]

    _ANSWERS = ("ok", "summary")

    @property
    def ok(self) -> bool:
        """Whether every text that was taken has the same ids, and the same spans where there are
        any.
        """
        return not (self.differing or self.spans_differing) and self.skipped < self.vectors

    @property
    def summary(self) -> str:
        """The answer in a line."""
        tried = number_of(self.vectors - self.skipped, "text")
        skipped = f"; {number_of(self.skipped, 'text')} skipped" if self.skipped else ""
        spans = f"; other spans on {self.spans_differing:,}" if self.spans_differing else ""
        which = (
            f"other ids on {self.differing:,} of {tried}"
            if self.differing
            else f"the same ids on {tried}"
        )
        return f"{self.command}: {which}{spans} (profile {self.profile}, seed {self.seed}){skipped}"

    def _parts(self) -> Iterator[str | Table]:
        yield self.summary
        wrong = {about: counts for about, counts in self.rules.items() if counts[0]}
        if wrong:
            rows = [
                (about, f"{differing:,}", f"{number:,}")
                for about, (differing, number) in wrong.items()
            ]
            yield Table(("what the texts try", "differ", "of"), rows, right=(1, 2))
        reasons = Counter(each.why for each in self.differences if each.why)
        yield from (
            f"{number} x {why}" for why, number in reasons.most_common(_MOST_TOKENS) if number > 1
        )

    def lines(self, most: int = 5) -> Iterator[str]:
        """The report, line by line, with the first texts that differ."""
        yield from str(self).split("\n")
        for each in self.differences[:most]:
            yield from _shown_deviation(each)
        left = self.differing + self.spans_differing - min(most, len(self.differences))
        if left > 0:
            yield f"... and {number_of(left, 'more text')}"


def _shown_deviation(each: Deviation) -> Iterator[str]:
    vector = each.vector
    pair = "" if vector.text_pair is None else f" and {vector.text_pair!r:.{_MOST_CHARACTERS}}"
    yield f"text {each.number} ({vector.about}): {vector.text!r:.{_MOST_CHARACTERS}}{pair}"
    if each.position is not None:
        some = slice(each.position, each.position + _MOST_TOKENS)
        for name, tokens, ids in (
            ("trietok", vector.tokens, vector.ids),
            ("the program", each.tokens, each.ids),
        ):
            shown = " ".join(
                f"{visible(token)} [{i}]" for token, i in zip(tokens[some], ids[some], strict=True)
            )
            more = " ..." if len(ids) > each.position + _MOST_TOKENS else ""
            yield f"  {name}, from token {each.position + 1}: {shown or '(no token)'}{more}"
    if each.why:
        yield f"  {each.why}"


def conform(
    tokenizer: Any,
    command: Sequence[str],
    texts: Iterable[str] = (),
    *,
    limit: int = 1000,
    seed: int = 0,
    seconds: int = 60,
) -> Conformed:
    """Ask another implementation, a program in any language, for the ids of texts that try each of
    a tokenizer's rules.

    The program reads lines of JSON, such as `{"number": 1, "text": "Naïve", "text_pair": null,
    "options": {"add_special_tokens": true, "max_length":
    null}}`, and writes a line for each: `{"ids": [2, 4810,
    3]}`, with `"spans"` if it has any; `{"skip": "no pairs"}` for what it does not do; `{"error":
    "why"}`. A `"number"` in an answer has to be that of the text.

    Args:
        tokenizer: whose ids are right: a `BertTokenizer`, or one of its family, of either profile.
        command: the program and its arguments.
        texts, limit, seed: see `vectors`.
        seconds: how long one answer may take.

    Raises:
        InputTypeError: `command` is one string, or the tokenizer has no WordPiece vocabulary.
        InputError: the program cannot be started, ends early, or answers with something else.

    >>> import sys, trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> answer = "print(json.dumps({'skip': 'not written yet'}), flush=True)"
    >>> port = f"import json, sys\\nfor line in sys.stdin: {answer}"
    >>> conform(tokenizer, [sys.executable, "-c", port], limit=3).skipped
    3
    """
    if isinstance(command, (str, bytes)) or not command:
        raise InputTypeError("a command is a list: the program and its arguments", value=command)
    made = list(vectors(tokenizer, texts, limit=limit, seed=seed))
    reasons = _Reasons(tokenizer)
    counts, wrong = Counter[str](), Counter[str]()
    differences: list[Deviation] = []
    skipped = spans_differing = 0
    questions = [vector.question(number) for number, vector in enumerate(made, start=1)]
    answers = list(Runner(command, seconds).answers(questions))
    for number, (vector, answer) in enumerate(zip(made, answers, strict=True), start=1):
        if answer.skipped:
            skipped += 1
            continue
        counts[vector.about] += 1
        is_same = not answer.error and answer.ids == vector.ids
        same_spans = answer.spans is None or answer.spans == [list(span) for span in vector.spans]
        if is_same and same_spans:
            continue
        wrong[vector.about] += not is_same
        spans_differing += is_same
        if len(differences) < _MOST_KEPT:
            differences.append(reasons.difference(number, vector, answer))
    return Conformed(
        command=" ".join(command),
        profile=tokenizer.profile,
        seed=seed,
        vectors=len(made),
        skipped=skipped,
        differing=wrong.total(),
        spans_differing=spans_differing,
        rules={about: (wrong[about], number) for about, number in counts.items()},
        differences=tuple(differences),
    )


class _Reasons:
    """Says why a program gives other ids: which of our own tokenizers, with one rule changed, gives
    the same.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._verifying = Reasons(tokenizer, "the program", lock(tokenizer, ["a"]), right="trietok")
        self._tokens = {token_id: token for token, token_id in tokenizer.get_vocab().items()}

    def difference(self, number: int, vector: Vector, answer: Answer) -> Deviation:
        tokens = [self._tokens.get(token_id, f"<id {token_id}>") for token_id in answer.ids]
        if answer.error:
            return Deviation(
                number, vector, [], [], None, 0, 0, f"the program said: {answer.error:.200}"
            )
        if answer.ids == vector.ids:
            spans = answer.spans or []
            pairs = enumerate(zip(map(list, vector.spans), spans, strict=False))
            place, (ours, theirs) = next(
                (each for each in pairs if each[1][0] != each[1][1]), (0, ([], []))
            )
            why = (
                f"the same ids, but token {place + 1} has the span {theirs} there, and {ours} here"
            )
            if len(spans) != len(vector.spans):
                why = (
                    f"the same {number_of(len(answer.ids), 'id')}, but"
                    f" {number_of(len(spans), 'span')}: one a token"
                )
            return Deviation(number, vector, answer.ids, tokens, None, 0, 0, why)
        position = next(
            place
            for place, (ours, theirs) in enumerate(zip_longest(vector.ids, answer.ids))
            if ours != theirs
        )
        start, end = vector.spans[position] if position < len(vector.spans) else (0, 0)
        why = self._why(position, vector, answer, tokens)
        return Deviation(number, vector, answer.ids, tokens, position, start, end, why)

    def _why(self, position: int, vector: Vector, answer: Answer, tokens: list[str]) -> str:
        if position < len(answer.ids) and answer.ids[position] not in self._tokens:
            return (
                f"vocabulary: the program gives the id {answer.ids[position]}, which no token has"
            )
        if (ignored := self._ignored(vector, answer.ids)) is not None:
            return ignored
        if vector.text_pair is None and vector.options == PLAIN:
            here = LockedText(vector.text, vector.tokens, vector.ids)
            there = LockedText(vector.text, tokens, answer.ids)
            _, _, why = self._verifying.reason(position, here, there)
            if why and not why.startswith(UNKNOWN_REASON):
                return why
            for what, wrong in self._with_wrong_rules.items():
                if wrong.encode(vector.text, verbose=False) == answer.ids:
                    return f"the program does as trietok would if {what}"
        try:
            said = call_options(vector.options)
            explained = self._tokenizer.explain(
                vector.text, vector.text_pair, verbose=False, **said
            )
        except TrietokError:  # methods of the user's own, which cannot be explained
            return ""
        token = explained.tokens[position] if position < len(explained.tokens) else None
        place = None if token is None else token.text
        around = explained.texts if place is None else [explained.texts[place]]
        start, end = (
            (0, len(vector.text)) if token is None or place is None else (token.start, token.end)
        )
        changes = [
            f"{TITLES[change.stage]}: {change.why}"
            for text in around
            for change in text.changes
            if change.start <= end and change.end >= start
        ]
        return "; ".join(dict.fromkeys([*changes[:3], *(() if token is None else token.story[:1])]))

    def _ignored(self, vector: Vector, ids: list[int]) -> str | None:
        """What a program does that takes no notice of the pair or an option."""
        options, pair = vector.options, vector.text_pair
        special, length = options["add_special_tokens"], options["max_length"]
        others = {
            f"does not cut to max_length, {length}": (pair, {**options, "max_length": None}),
            "puts no special tokens around": (pair, {**options, "add_special_tokens": False}),
            "puts special tokens around where add_special_tokens is false": (pair, PLAIN),
            "leaves text_pair out": (None, options),
        }
        for what, (other_pair, said) in others.items():
            if (
                ids
                == self._tokenizer(vector.text, other_pair, verbose=False, **call_options(said))[
                    "input_ids"
                ]
            ):
                return f"the program {what}"
        if length is not None and special:
            whole = self._tokenizer(vector.text, pair, verbose=False)["input_ids"]
            if ids == whole[:length]:
                return (
                    f"the program cuts special tokens off, too: of {length} tokens they count as"
                    " some"
                )
        return None

    @cached_property
    def _with_wrong_rules(self) -> dict[str, Any]:
        """Our slow tokenizer with one of `_WRONG` each."""
        with contextlib.suppress(TrietokError):
            slow = (
                self._tokenizer
                if self._tokenizer.profile == "slow"
                else in_other_profile(self._tokenizer)
            )
            return {what: _with_wrong_rule(slow, *wrong) for what, wrong in _WRONG.items()}
        return {}


# ---- rules that ports get wrong ------------------------------------------------------------------


def _ascii_signs(_: Any, text: str, never_split: Any = None) -> list[str]:
    return "".join(
        f" {char} " if char.isascii() and is_punctuation(char) else char for char in text
    ).split()


def _with_controls(_: Any, text: str) -> str:
    return "".join(" " if char.isspace() else char for char in text)


def _chinese_of_short_codes(_: Any, code: int) -> bool:
    return code <= 0xFFFF and is_chinese_char(code)


def _few_chinese(_: Any, code: int) -> bool:
    return 0x4E00 <= code <= 0x9FFF


def _longest_in_bytes(wordpiece: WordpieceTokenizer, text: str) -> list[str]:
    longest, unknown = wordpiece.max_input_chars_per_word, [wordpiece.unk_token]
    pieces = (
        wordpiece.pieces_of(word) if len(word.encode()) <= longest else unknown
        for word in text.split()
    )
    return [*chain.from_iterable(pieces)]


# What would be so if a port did it; the stage and its step, or its option, that is replaced in a
# slow tokenizer.
_WRONG: dict[str, tuple[str, str, Any]] = {
    "only the signs of ASCII were punctuation": (
        "basic_tokenizer",
        "_run_split_on_punc",
        _ascii_signs,
    ),
    "control characters were kept": ("basic_tokenizer", "_clean_text", _with_controls),
    "no character beyond U+FFFF were Chinese": (
        "basic_tokenizer",
        "_is_chinese_char",
        _chinese_of_short_codes,
    ),
    "only U+4E00 to U+9FFF were Chinese": ("basic_tokenizer", "_is_chinese_char", _few_chinese),
    "no word were too long": ("wordpiece_tokenizer", "max_input_chars_per_word", 1_000_000),
    "the longest word were counted in bytes": (
        "wordpiece_tokenizer",
        "tokenize",
        _longest_in_bytes,
    ),
}


def _with_wrong_rule(tokenizer: Any, stage: str, name: str, wrong: Any) -> Any:
    other = copy.deepcopy(tokenizer)
    right = copy.deepcopy(getattr(other, stage))
    setattr(getattr(other, stage), name, MethodType(wrong, right) if callable(wrong) else wrong)
    return other
