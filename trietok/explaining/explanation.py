"""`Explanation`: what happened to one text or a pair in a call, to read, as JSON and as HTML.

In: the traces of the texts and the rows of ids. Out: plain values; views of them that are short enough to be looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.explaining.changes import Change, Changes
from trietok.explaining.tokens import RowTokens, TextTokens
from trietok.explaining.values import TITLES, Found, Rejected
from trietok.inputs.profiles import Profile

if TYPE_CHECKING:
    from trietok.explaining.contrast import Contrast


class Stage(NamedTuple):
    """What a stage did to a text.

    Attributes:
        name: such as `"clean"`; `docs/explaining.md` lists the names.
        given, gave: the text before the stage and after it. From the cut into words on, a space stands between two.
        changes: the characters that it deleted, changed or inserted.
        found, rejected: for a stage that looks for added tokens, those that it cut out, and those that `single_word`
            rejected.
    """

    name: str
    given: str
    gave: str
    changes: Changes
    found: Sequence[Found] = ()
    rejected: Sequence[Rejected] = ()

    @property
    def title(self) -> str:
        """The name to read."""
        return TITLES[self.name]

    @property
    def is_idle(self) -> bool:
        """Whether it left the text as it was."""
        return self.given == self.gave and not (self.changes or self.found or self.rejected)


class ExplainedText(NamedTuple):
    """One text of a call.

    Attributes:
        text: the text; words that were given one by one have a space between them.
        stages: the stages that it went through, in order.
        tokens: all its tokens, also those that truncation removed.
        window: which of them the first row of ids holds, half-open.
    """

    text: str
    stages: tuple[Stage, ...]
    tokens: TextTokens
    window: tuple[int, int]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all stages, in their order."""
        return tuple(change for stage in self.stages for change in stage.changes)


class Truncation(NamedTuple):
    """How truncation cut the texts.

    Attributes:
        strategy: `"longest_first"`, `"only_first"`, `"only_second"` or `"do_not_truncate"`.
        max_length: how many tokens a row may have; None for any number.
        stride: how many tokens a row of what did not fit repeats.
        side: the end that is cut, `"right"` or `"left"`.
        removed: how many tokens of each text the first row does not hold.
    """

    strategy: str
    max_length: int | None
    stride: int
    side: str
    removed: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a text, or a pair, has the ids that it has. `str` makes it readable, and a notebook shows it as HTML.

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
    truncation: Truncation
    input_ids: list[Any]

    @property
    def tokens(self) -> RowTokens:
        """The tokens of the first row of ids."""
        return self.rows[0]

    @property
    def truncated(self) -> RowTokens:
        """The tokens that truncation removed from the first row, text by text."""
        return RowTokens(
            [
                stretch
                for text in self.texts
                for stretch in ((text.tokens, 0, text.window[0]), (text.tokens, text.window[1], len(text.tokens)))
            ]
        )

    def against(self, other: Explanation, *, names: tuple[str, str] = ("the left", "the right")) -> Contrast:
        """This explanation beside another one of the same texts: where the two part, and which stage made it so.

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
        from trietok.explaining.contrast import contrast  # seldom asked for

        return contrast(self, other, names)

    def to_dict(self) -> dict[str, Any]:
        """Everything, complete; all of it can be written as JSON. `docs/explaining.md` documents the schema."""
        from trietok.explaining.as_dict import dict_of  # not needed for the values

        return dict_of(self)

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON; the options are those of `json.dumps`. Lone surrogates are escaped."""
        return json.dumps(self.to_dict(), **options)

    def to_text(self, width: int = 80) -> str:
        """The explanation to read on a terminal of so many columns, without colours; at most 2,000 tokens."""
        from trietok.explaining.text_view import lines_of, plain  # not needed for the values

        return plain(lines_of(self, width))

    def to_html(self) -> str:
        """The explanation as one fragment of HTML, which needs no script and nothing from elsewhere; at most 2,000
        tokens. Point at a token, or move the focus to it, to read its story."""
        from trietok.explaining.html_view import html_of  # not needed for the values

        return html_of(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return (
            f"Explanation(tokenizer={self.tokenizer!r}, profile={self.profile!r}, "
            f"texts={len(self.texts)}, tokens={len(self.tokens)}, truncated={len(self.truncated)})"
        )
