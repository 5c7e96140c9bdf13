"""Fit the rows of new tokens: the model then embeds each token alone as it embedded its pieces.

The same model, tokens and versions of the libraries give the same rows. Nearest to this is token
distillation (Dobler, Elliott and de Melo, 2025, arXiv 2505.20133), which fits rows to texts.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trietok.errors import TrietokError
from trietok.showing.characters import first_few, number_of
from trietok.showing.report import Report
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.encoder import checked_parts, load_encoder, require
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.adapting.row_initialization import ids_of_pieces
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.adapting.token_tensors import Sum

_STEPS, _RATE, _BATCH = 20, 0.1, 256  # of Adam; as a share of the numbers in rows; tokens at a time


@dataclass(frozen=True)
class FittedRows(Report):
    """Rows that were fitted; `write_rows` writes them. `str` makes it readable.

    Attributes:
        rows: their numbers, in order.
        values: what they hold, float32 of shape (rows, numbers in a row); not in the JSON.
        cosine_before, cosine_after: mean cosine between the embeddings of a token and its pieces.
        left: tokens whose rows stay as the plan says: a piece is unknown, there are too many for
            the model, fitting bettered nothing, or the time was over.
        seconds: duration without loading the model.
    """

    rows: list[int]
    values: Any
    cosine_before: float
    cosine_after: float
    left: list[str]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, but the numbers of the rows."""
        return {name: each for name, each in super().to_dict().items() if name != "values"}

    def _parts(self) -> Iterator[str]:
        near = f"cosine to pieces {self.cosine_before:.3f} before, {self.cosine_after:.3f} now"
        fitted = f"{number_of(len(self.rows), 'row')} fitted in {self.seconds:.1f} s"
        yield f"{fitted}: {near}" if self.rows else fitted
        if self.left:
            left, why = number_of(len(self.left), "row"), "an unknown piece, no gain, or no time"
            yield f"{left} not fitted ({why}), made by length: {first_few(self.left)}"


class Embedder:
    """Embeds sequences of ids by a directory's model and what its modules.json names after it."""

    def __init__(self, checkpoint: Checkpoint, tokenizer: PreTrainedTokenizer) -> None:
        self._torch, self._steps = checked_parts(checkpoint)
        self._tokenizer, self.model = tokenizer, load_encoder(checkpoint)
        self._table = self.model.get_input_embeddings().weight

    def _embedded(self, rows: Any, mask: Any) -> Any:
        values = self.model(inputs_embeds=rows, attention_mask=mask).last_hidden_state
        for step in self._steps:
            values = step(values, mask)
        return values

    def embedded(self, sequences: Sequence[list[int]]) -> Any:
        """Return the embeddings of sequences as a PyTorch tensor."""
        ids = list(map(self._torch.tensor, sequences))
        padded = self._torch.nn.utils.rnn.pad_sequence
        mask = padded(list(map(self._torch.ones_like, ids)), batch_first=True)
        with self._torch.no_grad():
            return self._embedded(self._table[padded(ids, batch_first=True)], mask)

    def fitted(self, pieces: Sequence[list[int]], sums: Sequence[Sum], until: float) -> Any:
        """Return a row for each token, given by its pieces, from a sum of old rows; and the cosines
        before and after. None if it takes until a time of the monotonic clock.
        """
        torch, table = self._torch, self._table
        whole = self._tokenizer.build_inputs_with_special_tokens
        wanted = self.embedded([whole(each) for each in pieces])
        frame = torch.tensor(whole([len(table)]))  # with an id that no token has
        place, around = (frame == len(table))[:, None], table[frame.clamp(max=len(table) - 1)]
        mask = torch.ones(len(pieces), len(frame), dtype=torch.long)
        new = torch.stack([sum(weight * table[row] for row, weight in terms) for terms in sums])
        rate = _RATE * float(new.square().mean().sqrt()) or _RATE
        optimizer = torch.optim.Adam([new.requires_grad_()], lr=rate)
        best, nearest, first = new.detach().clone(), torch.full([len(new)], -math.inf), None
        for _ in range(_STEPS + 1):
            if time.monotonic() > until:
                return None
            optimizer.zero_grad()
            found = self._embedded(torch.where(place, new[:, None], around), mask)
            cosines = torch.nn.functional.cosine_similarity(found, wanted)
            (1 - cosines).sum().backward()
            cosines = cosines.detach().nan_to_num(-1)
            first = cosines if first is None else first
            best[cosines > nearest] = new.detach()[cosines > nearest]
            nearest = nearest.maximum(cosines)
            optimizer.step()
        return best, first, nearest


def distil_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    *,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FittedRows:
    """Fit the rows that a plan makes of several old rows, for so many seconds; `progress` gets the
    number of tokens that are done and of those to do.
    """
    checkpoint.fitted_tensors()  # raises where rows could not be written
    with _refusals(checkpoint):
        embedder = Embedder(checkpoint, before)
    began, fitted = time.monotonic(), dict[int, list[Any]]()
    until = math.inf if seconds is None else began + seconds
    new = {token: row for token, row in after.get_vocab().items() if len(plan.terms_of(row)) > 1}
    # RoBERTa and MPNet count positions from 2
    room = embedder.model.config.max_position_embeddings - 2 - before.num_special_tokens_to_add()
    words = list(zip(ids_of_pieces(before, list(new)), new.values(), strict=True))
    words = [one for one in words if 0 < len(one[0]) <= room and before.unk_token_id not in one[0]]
    words.sort(key=lambda word: len(word[0]))  # of one length, a batch holds no padding
    for at in range(0, len(words), _BATCH):
        pieces, rows = zip(*words[at : at + _BATCH], strict=True)
        with _refusals(checkpoint):
            found = embedder.fitted(pieces, list(map(plan.terms_of, rows)), until)
        if found is None:
            break
        fitted |= {row: each for row, *each in zip(rows, *found, strict=True) if each[2] > each[1]}
        if progress is not None:
            progress(at + len(rows), len(words))
    numbers, count = sorted(fitted), max(len(fitted), 1)
    values = import_package("numpy").array([fitted[row][0].numpy() for row in numbers], "float32")
    mean, later = (float(sum(each[at] for each in fitted.values())) / count for at in (1, 2))
    left = [token for token, row in new.items() if row not in fitted]
    return FittedRows(numbers, values, mean, later, left, time.monotonic() - began)


@contextlib.contextmanager
def _refusals(checkpoint: Checkpoint) -> Iterator[None]:
    try:
        yield
    except TrietokError:
        raise
    except Exception as error:  # whatever the model's own class raises
        why = f"{type(error).__name__}: {error!s:.200}"
        require(False, f"the model in {checkpoint.directory} gives no embedding ({why})")
