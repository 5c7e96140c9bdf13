"""`encode_spans`: a text put together of spans that may give special tokens and of spans that may not.

In: spans, each a str or `Untrusted`. Out: a `BatchEncoding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trietok.errors import InputTypeError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.text import untrusted
from trietok.text.untrusted import Untrusted
from trietok.tokenizer.calls import CallsMixin
from trietok.tokenizer.model_inputs import Ids, kind_of


class TrustedSpansMixin(CallsMixin):
    """`encode_spans`. Not used by itself: tokenizers inherit it."""

    def encode_spans(
        self, spans: Sequence[str | Untrusted], pair_spans: Sequence[str | Untrusted] | None = None, **options: Any
    ) -> BatchEncoding:
        """Encode one text, or a pair, made of trusted and untrusted spans.

        Each span is tokenized by itself, so no word crosses a border.

        Args:
            spans: a str for a span in which special tokens are special, `Untrusted(text)` for one in which they are
                plain text.
            pair_spans: the second text, likewise.
            **options: those of a call for one text.

        Raises:
            InputTypeError: a span is neither.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> encoding = tokenizer.encode_spans(["people [SEP] say:", trietok.Untrusted("[SEP]")])
        >>> tokenizer.convert_ids_to_tokens(encoding.input_ids)
        ['[CLS]', 'people', '[SEP]', 'say', ':', '[', 'se', '##p', ']', '[SEP]']
        """
        ids = self._ids_of_spans(spans)
        pair_ids = None if pair_spans is None else self._ids_of_spans(pair_spans)
        return self.prepare_for_model(ids, pair_ids, prepend_batch_axis=True, **options)

    def _ids_of_spans(self, spans: Sequence[str | Untrusted]) -> Ids:
        ids: Ids = []
        for number, span in enumerate(spans):
            if isinstance(span, Untrusted):
                ids += self._text_ids(span.text, dict(untrusted.PLAIN_TEXT))
            elif isinstance(span, str):
                ids += self._text_ids(span, {})
            else:
                raise InputTypeError(
                    f"span {number} is {kind_of(span)}; a span is a str or Untrusted(text)", value=span
                )
        return ids
