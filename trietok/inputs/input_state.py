"""What model inputs depend on: the settings of a tokenizer at one moment, and its templates.

In: settings, and the pieces of a row of one text and of two. Out: values that do not change, by
which plans make rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trietok.inputs.profiles import InputRules
from trietok.inputs.template import RowPiece


class InputSettings(NamedTuple):
    """The settings of a tokenizer that model inputs depend on, apart from the template.

    Attributes:
        model_input_names: the columns that a call returns unless it is told otherwise; the first is
            `input_ids`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_max_length: in tokens; more than 1e20 for no limit.
        pad_token_id, pad_token, pad_token_type_id: the values of padding; None where there is no
            padding token.
        rules: those of the profile.
    """

    model_input_names: tuple[str, ...]
    padding_side: str
    truncation_side: str
    model_max_length: int
    pad_token_id: int | None
    pad_token: str | None
    pad_token_type_id: int
    rules: InputRules


class InputState:
    """The settings and templates of one state of a tokenizer. It never changes.

    Args:
        settings: those of the tokenizer.
        single, pair: the pieces of a row of one text, and of two.
        warn_once: logs a message the first time it gets that key.
        special_counts: how many special tokens truncation makes room for, around one text and
            around two, if that differs from the template.

    Attributes:
        special_counts: see the argument.
        lacks_ids: whether a special token of a template has no id.
    """

    def __init__(
        self,
        settings: InputSettings,
        single: tuple[RowPiece, ...],
        pair: tuple[RowPiece, ...],
        *,
        warn_once: Callable[[str, str], None],
        special_counts: tuple[int, int] | None = None,
    ) -> None:
        self.settings = settings
        self.warn_once = warn_once
        self._templates = (single, pair)
        self.special_counts = special_counts or (len(single) - 1, len(pair) - 2)
        self.lacks_ids = any(
            piece.sequence is None and piece.token_id is None for piece in (*single, *pair)
        )
        self.model_max_length = settings.model_max_length
        self.pad_token_id = settings.pad_token_id

    def is_of(self, settings: InputSettings, templates: object, warn_once: object) -> bool:
        """Whether it is made of these; of equal numbers of other types, some are errors."""
        made_of = self.settings, self._templates, self.warn_once
        return made_of == (settings, templates, warn_once) and (
            [*map(type, self.settings)] == [*map(type, settings)]
        )

    def pieces(self, pair: bool, add_special_tokens: bool) -> tuple[RowPiece, ...]:
        """The pieces of a row of one text, or of a pair."""
        pieces = self._templates[pair]
        if add_special_tokens:
            return pieces
        texts = [piece for piece in pieces if piece.sequence is not None]
        return tuple(
            texts
            if self.settings.rules.types_stay
            else [text._replace(type_id=0) for text in texts]
        )
