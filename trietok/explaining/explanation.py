"""`Explanation`: what happened to one text or a pair in a call, to read, as JSON and as HTML.

In: the plan of a call, its texts, and the stages for each. Out: plain values. `explain` goes once
more through the stages that gave the call its ids, with a `Trace` watching; the stages, the
truncation and the template are those of the call, and nothing here cuts a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from trietok.errors import InputError, NotSupportedError
from trietok.explaining.contrast import Contrast, Stretches
from trietok.explaining.html_view import explanation_parts
from trietok.explaining.tokens import (
    Entries,
    ExplainedText,
    Made,
    RowTokens,
    Stage,
    TextTokens,
    TruncatedTexts,
    found_at,
    rejected_at,
)
from trietok.explaining.trace import Trace
from trietok.explaining.values import (
    ExplainedToken,
)
from trietok.explaining.views import explanation_lines, plain
from trietok.inputs.batch import Call, Row
from trietok.inputs.settings import Profile
from trietok.inputs.truncation import size
from trietok.showing.html import fragment
from trietok.showing.report import Report, plain_values
from trietok.text.pipeline import Located, Pipeline
from trietok.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Explanation(Report):
    """Why a text, or a pair, has the ids that it has. `str` makes it readable, and a notebook shows
    it as HTML.

    Attributes:
        tokenizer: the class of the tokenizer.
        name: where it was loaded from.
        profile: `"slow"` or `"fast"`.
        texts: the one or two texts.
        rows: the rows of ids; of several, those after the first hold what did not fit.
        template: the special tokens and the texts, `"A"` and `"B"`, in the order of a row.
        truncation: how the texts were cut.
        input_ids: what the call returns: the ids of the row; of all rows, where it returns several.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> explanation = tokenizer.explain("Naïve\\u200d!")
    >>> [token.token for token in explanation.tokens]
    ['[CLS]', 'n', '##ai', '##ve', '!', '[SEP]']
    >>> [f"{change.start}: {change.why}" for change in explanation.texts[0].changes][1]
    '5: control character (format), deleted'
    """

    tokenizer: str
    name: str
    profile: Profile
    texts: tuple[ExplainedText, ...]
    rows: tuple[RowTokens, ...]
    template: tuple[str, ...]
    truncation: TruncatedTexts
    input_ids: list[Any]

    @property
    def tokens(self) -> RowTokens:
        """The tokens of the first row of ids."""
        return self.rows[0]

    @property
    def counts(self) -> dict[str, int]:
        """How many characters and words the texts have, how many tokens the row, and how many words
        are unknown.

        Characters are code points; words are what WordPiece is given, punctuation marks and added
        tokens among them.
        """
        words, unknown = map(sum, zip(*(text.tokens.words for text in self.texts), strict=True))
        characters = sum(len(text.text) for text in self.texts)
        return {
            "characters": characters,
            "words": words,
            "tokens": len(self.tokens),
            "unknown": unknown,
        }

    @property
    def truncated(self) -> RowTokens:
        """The tokens that truncation removed from the first row, text by text."""
        return RowTokens(
            [
                (text.tokens, *stretch)
                for text in self.texts
                for stretch in ((0, text.window[0]), (text.window[1], len(text.tokens)))
            ]
        )

    def against(
        self, other: Explanation, *, names: tuple[str, str] = ("the left", "the right")
    ) -> Contrast:
        """This explanation beside another one of the same texts: where the two part, and which
        stage made it so.

        Args:
            other: the other explanation.
            names: what this one and the other are called in the reasons.

        >>> import trietok
        >>> slow = trietok.BertTokenizer.from_pretrained("trietok-en").explain("a\\u0378b")
        >>> fast = trietok.BertTokenizerFast.from_pretrained("trietok-en").explain("a\\u0378b")
        >>> [part.why for part in slow.against(fast).parts if part.differs]
        ['cleaned: the left deletes U+0378 <reserved-0378>, the right does not']

        Raises:
            InputError: they are of different texts.
        """
        if [text.text for text in self.texts] != [text.text for text in other.texts]:
            raise InputError(
                "the two explanations are of different texts; explain the same text with both"
                " tokenizers"
            )
        return Contrast(
            self, other, Stretches(list(zip(self.texts, other.texts, strict=True)), names), names
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, complete; all of it can be written as JSON. `docs/explaining.md` documents
        the schema.
        """
        about = ("tokenizer", "name", "profile", "input_ids", "template", "truncation")
        texts = [
            {
                "text": text.text,
                "stages": [{"title": stage.title, **plain_values(stage)} for stage in text.stages],
                "tokens": [{**plain_values(token), "story": token.story} for token in text.tokens],
            }
            for text in self.texts
        ]
        # The tokens of a text are told of among its tokens, at `position`.
        of_row = ("token", "id", "kind", "type_id", "text", "position")
        rows = [
            [{name: getattr(token, name) for name in of_row} for token in row] for row in self.rows
        ]
        return {
            **{name: plain_values(getattr(self, name)) for name in about},
            "texts": texts,
            "rows": rows,
        }

    def to_text(self, width: int = 80) -> str:
        """The explanation to read on a terminal of so many columns, without colours; at most 2,000
        tokens.
        """
        return plain(explanation_lines(self, width))

    def to_html(self, *, reasons: bool = False) -> str:
        """The explanation as one fragment of HTML, which needs no script and nothing from
        elsewhere; at most 2,000 tokens. A click on a token opens its story beside it.

        Args:
            reasons: list the stories of all tokens in a table instead, for paper.

        >>> import trietok
        >>> "The whole word “people”" in trietok.BertTokenizer.from_pretrained(
        ...     "trietok-en"
        ... ).explain("people").to_html()
        True
        """
        return fragment(*explanation_parts(self, reasons), label="Explanation of tokens")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"Explanation(tokenizer={self.tokenizer!r}, profile={self.profile!r}, "
            f"texts={len(self.texts)}, tokens={len(self.tokens)}, truncated={len(self.truncated)})"
        )


# ---- from a call to its explanation --------------------------------------------------------------

ONLY_WORDPIECE = "only ids of WordPiece can be explained; these are of another kind"
StagesFor = Callable[[str], tuple[Pipeline, str]]


def explain(
    tokenizer: str,
    name: str,
    profile: Profile,
    vocabulary: Vocabulary,
    call: Call,
    stages_for: StagesFor,
    texts: tuple[Any, ...],
    input_ids: Any,
) -> Explanation:
    """Explain the ids that a call has returned for one text or two, each a str or a list of words.

    `stages_for` gives the stages of a text, and the text that they are given. Other ids than theirs
    are of methods of the user's own, and cannot be explained.
    """
    settings = call.settings
    traced = [_traced(stages_for, text) for text in texts]
    own_ids = [located.ids for *_, located in traced]
    rows = call.rows(own_ids)
    found = [row.values(row.frame.ids, own_ids, settings.pad_token_id) for row in rows]
    ids: list[Any] = found if call.returns_several_rows else found[0]
    if _flat(input_ids) != _flat(ids):
        raise NotSupportedError(
            f"{tokenizer} has methods of its own, which give other ids than the stages; they cannot"
            " be explained",
            name="explain",
        )
    explained: tuple[ExplainedText, ...] = ()
    for number, (text, stages, trace, located) in enumerate(traced):
        window = rows[0].windows[number]
        type_id = next(piece.type_id for piece in rows[0].pieces if piece.sequence == number)
        entries = Entries(stages.wordpiece, vocabulary)
        tokens = TextTokens(number, text, located, trace, stages, entries, window, type_id)
        explained += (ExplainedText(text, tuple(_reports(text, stages, trace)), tokens, window),)
    padding = ExplainedToken(
        str(settings.pad_token),
        settings.pad_token_id or 0,
        "padding",
        type_id=settings.pad_token_type_id,
    )
    row_tokens = tuple(_row(row, explained, padding) for row in rows)
    template = tuple(
        str(each.token) if each.sequence is None else "AB"[each.sequence] for each in rows[0].pieces
    )
    removed = tuple(len(text.tokens) - size(text.window) for text in explained)
    how, stride = call.strategies, call.options.stride
    side = settings.truncation_side
    truncation = TruncatedTexts(how.truncation.value, how.max_length, stride, side, removed)
    return Explanation(tokenizer, name, profile, explained, row_tokens, template, truncation, ids)


def _traced(stages_for: StagesFor, given: Any) -> tuple[str, Pipeline, Trace, Located]:
    """One text of a call, or its words, through the stages: the text, the stages, their trace and
    the tokens.
    """
    is_text = isinstance(given, str)
    segments: list[str] = []
    located = Located.empty()
    trace: Trace | None = None
    base = 0
    for number, segment in enumerate([given] if is_text else given):
        stages, text = stages_for(segment)
        if "wordpiece" not in stages.order:
            raise NotSupportedError(ONLY_WORDPIECE, name="explain")
        trace = trace or Trace(stages)
        trace.begin(text)
        found = stages.locate(text, trace)
        trace.end()
        segments.append(text)
        if is_text:
            located = found
            break
        for token_id, token, (start, end), _ in zip(*found, strict=True):
            located.add(token_id, token, (base + start, base + end), number)
        base += len(text) + 1
    if trace is None:  # no words
        stages, _ = stages_for("")
        trace = Trace(stages)
    return " ".join(segments), stages, trace, located


def _reports(text: str, stages: Pipeline, trace: Trace) -> Iterator[Stage]:
    """What each stage did."""
    given = text
    for place, name in enumerate(stages.order):
        gave = trace.gave(place)
        found, rejected = trace.found.get(name, ()), trace.rejected.get(name, ())
        yield Stage(
            name,
            given,
            gave,
            trace.changes[place],
            Made(found_at, text, found),
            Made(rejected_at, text, rejected),
        )
        given = gave


def _row(row: Row, texts: tuple[ExplainedText, ...], padding: ExplainedToken) -> RowTokens:
    """The tokens of a row of ids."""
    parts: list[Any] = []
    for piece in row.pieces:
        if piece.sequence is None:
            special = ExplainedToken(
                str(piece.token), piece.token_id or 0, "special", type_id=piece.type_id
            )
            parts.append(((special,), 0, 1))
        else:
            tokens = texts[piece.sequence].tokens
            parts.append((tokens, *row.windows[piece.sequence]))
    filling = [((padding,) * row.missing, 0, row.missing)]
    return RowTokens(filling + parts if row.pad_left else parts + filling)


def _flat(ids: Any) -> list[int]:
    """The ids of a row, or of several one after the other, of lists or a tensor."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return (
        [token_id for row in ids for token_id in row]
        if ids and isinstance(ids[0], list)
        else list(ids)
    )
