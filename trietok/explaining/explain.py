"""`explain`: goes once more through the stages that gave a call its ids, with somebody watching.

In: the plan of a call, its texts, and the stages for each. Out: an `Explanation`. The stages, the truncation and the
template are those of the call; nothing here cuts a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from trietok.errors import NotSupportedError
from trietok.explaining.explanation import ExplainedText, Explanation, Stage, Truncation
from trietok.explaining.tokens import Entries, Finds, Rejections, RowTokens, Same, TextTokens
from trietok.explaining.trace import Trace
from trietok.explaining.values import Token
from trietok.inputs.pieces import Piece
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import Profile
from trietok.inputs.rows import Row
from trietok.text.alignment import Located
from trietok.text.stages import Stages
from trietok.text.vocabulary import Vocabulary

ONLY_WORDPIECE = "only ids of WordPiece can be explained; these are of another kind"
StagesFor = Callable[[str], tuple[Stages, str]]


class Explained(NamedTuple):
    """The tokenizer that is explained.

    Attributes:
        tokenizer: its class.
        name: where it was loaded from.
        vocabulary: its vocabulary.
        profile: `"slow"` or `"fast"`.
    """

    tokenizer: str
    name: str
    vocabulary: Vocabulary
    profile: Profile


def explain(of: Explained, plan: Plan, stages_for: StagesFor, texts: tuple[Any, ...], input_ids: Any) -> Explanation:
    """Explain the ids of a call.

    Args:
        of: the tokenizer.
        plan: the plan of the call.
        stages_for: gives the stages of a text, and the text that they are given.
        texts: one text or two, each a str or a list of words.
        input_ids: what the call returned.

    Raises:
        NotSupportedError: methods of the user's own gave other ids than the stages, so they cannot be explained.
    """
    traced = [_traced(stages_for, text) for text in texts]
    located = [each.located for each in traced]
    rows = plan.rows([each.ids for each in located])
    found = [row.ids([each.ids for each in located], plan.builder.settings.pad_token_id) for row in rows]
    several = plan.rule.overflows_to_rows and plan.options.return_overflowing_tokens
    ids: list[Any] = found if several else found[0]
    if _flat(input_ids) != _flat(ids):
        raise NotSupportedError(
            f"{of.tokenizer} has methods of its own, which give other ids than the stages; they cannot be explained",
            name="explain",
        )
    explained = tuple(
        _explained(of, number, each, rows[0].windows[number], rows[0].pieces) for number, each in enumerate(traced)
    )
    settings = plan.builder.settings
    padding = Token(str(settings.pad_token), settings.pad_token_id or 0, "padding", type_id=settings.pad_token_type_id)
    return Explanation(
        tokenizer=of.tokenizer,
        name=of.name,
        profile=of.profile,
        texts=explained,
        rows=tuple(_row(row, explained, padding) for row in rows),
        template=tuple(
            "AB"[piece.sequence] if piece.sequence is not None else str(piece.token) for piece in rows[0].pieces
        ),
        truncation=Truncation(
            plan.strategies.truncation.value,
            plan.strategies.max_length,
            plan.options.stride,
            settings.truncation_side,
            tuple(len(text.tokens) - (text.window[1] - text.window[0]) for text in explained),
        ),
        input_ids=ids,
    )


class _Traced(NamedTuple):
    text: str
    stages: Stages
    trace: Trace
    located: Located


def _traced(stages_for: StagesFor, given: Any) -> _Traced:
    """One text of a call, or its words, through the stages."""
    is_text = isinstance(given, str)
    segments: list[str] = []
    located = Located.empty()
    trace: Trace | None = None
    stages: Stages | None = None
    base = 0
    for number, segment in enumerate([given] if is_text else given):
        stages, text = stages_for(segment)
        if "wordpiece" not in stages.order:
            raise NotSupportedError(ONLY_WORDPIECE, name="explain")
        if trace is None:
            trace = Trace(stages)
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
    if stages is None or trace is None:  # no words
        stages, _ = stages_for("")
        trace = Trace(stages)
    return _Traced(" ".join(segments), stages, trace, located)


def _explained(
    of: Explained, number: int, traced: _Traced, window: tuple[int, int], pieces: tuple[Piece, ...]
) -> ExplainedText:
    text, stages, trace, located = traced
    type_id = next(piece.type_id for piece in pieces if piece.sequence == number)
    entries = Entries(stages.wordpiece, of.vocabulary)
    tokens = TextTokens(number, text, located, trace, stages, entries, window, type_id)
    reports: list[Stage] = []
    given = text
    for name in stages.order:
        gave = trace.gave(name)
        rejected = Rejections(text, trace.rejected.get(name, ()))
        found = Finds(trace.found.get(name, ()))
        reports.append(Stage(name, given, gave, trace.changes[name], found, rejected))
        given = gave
    return ExplainedText(text, tuple(reports), tokens, window)


def _row(row: Row, texts: tuple[ExplainedText, ...], padding: Token) -> RowTokens:
    """The tokens of a row of ids."""
    stretches: list[Any] = []
    for piece in row.pieces:
        if piece.sequence is None:
            special = Token(str(piece.token), piece.token_id or 0, "special", type_id=piece.type_id)
            stretches.append(((special,), 0, 1))
        else:
            stretches.append((texts[piece.sequence].tokens, *row.windows[piece.sequence]))
    filling = [(Same(padding, row.missing), 0, row.missing)]
    return RowTokens(filling + stretches if row.pad_left else stretches + filling)


def _flat(ids: Any) -> list[int]:
    """The ids of a row, or of several one after the other, of lists or a tensor."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return [token_id for row in ids for token_id in row] if ids and isinstance(ids[0], list) else list(ids)
