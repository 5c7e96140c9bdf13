"""Rows of new tokens fitted to the model: it gives each token alone the embedding that it gave the
token's pieces.

In: a model's directory, its tokenizer before and after, and the plan of its rows. Out: a row of
numbers for each new token (`FittedRows`), in place of the sum that the plan says. `encoder` loads
the model, and what comes after it in a directory of sentence-transformers is built by
`sentence_model`: no code of a directory runs.

The model is frozen and computes with float32 on the CPU, and no number is drawn at random: the same
model, tokens and versions of the libraries give the same rows. Nearest to this comes token
distillation (Dobler, Elliott and de Melo, 2025, arXiv 2505.20133), which fits rows to the hidden
states of texts.
"""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, TrietokError
from trietok.showing.characters import first_few, number_of
from trietok.showing.report import Report
from trietok.workbench.adapting.add_terms import batches, ids_of_texts
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.encoder import encoder_settings, load_encoder
from trietok.workbench.adapting.fitted_so_far import FittedSoFar
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.adapting.row_starts import ids_of_pieces
from trietok.workbench.adapting.token_tensors import Sum
from trietok.workbench.sentence_model import INSTEAD, Layer, embedding_of, layers_of

if TYPE_CHECKING:
    from trietok.tokenizer.pretrained import PreTrainedTokenizer

STEPS_OF_ADAM = 20  # of Adam, for each batch of words
_RATE = 0.1  # of a step, as a share of the numbers that rows hold
_BATCH, _TEXTS, _TOKENS = 256, 32, 1024  # words, texts, and tokens, at a time
# in texts: tokens on either side of a word, and how it is fitted there
_AROUND, _MORE_STEPS, _MORE_RATE = 6, 8, 0.05
# of a word: the ids before and after it, in each of some texts
_Sides = list[tuple[list[int], list[int]]]
_MEMORY = "/proc/meminfo"
_WITHOUT = "start new rows with 'length' (--start length) and leave --measure (measure=True) out"


@dataclass(frozen=True)
class FittedRows(Report):
    """Rows that were fitted; `write_rows` writes them. `str` makes it readable.

    Attributes:
        rows: their numbers, in order.
        values: what they hold, float32 of shape (rows, numbers in a row); no part of the JSON.
        start: the cosine between each word's embedding and that of its pieces before fitting, the
            mean of all rows.
        cosine: the same afterwards.
        left: tokens whose rows are as the plan says: a piece of theirs is unknown, or fitting did
            not better them.
        late: the same, because the time was over.
        seconds: how long it took, without loading the model.
        bias, head: the same of the bias of a head, of shape (rows, 1), and of its own rows, if
            those were fitted.
        unknown: those of `left` of whose pieces one is unknown, or too many for the model.
    """

    rows: list[int]
    values: Any
    start: float
    cosine: float
    left: list[str]
    late: list[str]
    seconds: float
    bias: Any = None
    head: Any = None
    unknown: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, but the numbers of the rows."""
        return {
            name: value
            for name, value in super().to_dict().items()
            if name not in ("values", "bias", "head")
        }

    def _parts(self) -> Iterator[str]:
        near = (
            f": cosine to their pieces {self.start:.3f} before, {self.cosine:.3f} now"
            if self.rows
            else ""
        )
        yield f"{number_of(len(self.rows), 'row')} fitted in {self.seconds:.1f} s{near}"
        unknown = frozenset(self.unknown)
        for tokens, why in (
            (self.unknown, "not fitted, as a piece is unknown or there are too many"),
            ([each for each in self.left if each not in unknown], "left, as fitting did no good"),
            (self.late, "not fitted in time"),
        ):
            if tokens:
                yield f"{number_of(len(tokens), 'row')} {why}: {first_few(list(tokens))}"


class TextEmbedder:
    """Embeds texts with a directory's model and what its modules.json says comes after it."""

    def __init__(
        self, checkpoint: Checkpoint, tokenizer: PreTrainedTokenizer, with_head: bool = False
    ) -> None:
        self.torch, layers = checked_parts(checkpoint)
        self._tokenizer, self._where = tokenizer, checkpoint.directory
        self.max_length = checkpoint.most_tokens(tokenizer)
        _check_memory(checkpoint)
        # a head may get random numbers
        with self.refusals(), _quiet(), self.torch.random.fork_rng(devices=[]):
            model = load_encoder(checkpoint, with_head=with_head)
            self.model = model.eval().requires_grad_(False)
            self._embedding = embedding_of(layers)

    @contextlib.contextmanager
    def refusals(self) -> Iterator[None]:
        try:
            yield
        except TrietokError:
            raise
        except Exception as error:  # whatever the model's own class raises
            why = f"{type(error).__name__}: {error!s:.200}"
            raise InputError(
                f"the model in {self._where} gives no embedding ({why}); {INSTEAD}"
            ) from error

    def embedded(self, sequences: Sequence[list[int]]) -> Any:
        """Embeddings as PyTorch has them, of sequences of about one length."""
        ids, mask = self.padded(sequences)
        return self._embedding(
            self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask
        )

    def padded(self, sequences: Sequence[list[int]]) -> tuple[Any, Any]:
        """Ids side by side, and 1 where there is one."""
        longest, pad = max(map(len, sequences)), self._tokenizer.pad_token_id or 0
        ids = self.torch.tensor([[*each, *[pad] * (longest - len(each))] for each in sequences])
        return ids, self.torch.tensor(
            [[1] * len(each) + [0] * (longest - len(each)) for each in sequences]
        )

    def embeddings(self, texts: list[str]) -> Any:
        """The embedding of each text, cut to `max_length` tokens, as a numpy array whose rows have
        the length 1.
        """
        sequences = self._tokenizer(texts, truncation=True, max_length=self.max_length)["input_ids"]
        with self.refusals():
            return self.of_length_1(sequences, self.embedded).numpy()

    def of_length_1(
        self,
        sequences: Sequence[list[int]],
        given: Callable[[list[list[int]]], Any],
        is_sparse: bool = False,
    ) -> Any:
        """What a function gives sequences of about one length: for all, in their order."""
        torch, parts = self.torch, []
        order = sorted(range(len(sequences)), key=lambda number: len(sequences[number]))
        with torch.no_grad():
            for first in range(0, len(order), _TEXTS):
                found = given([sequences[number] for number in order[first : first + _TEXTS]])
                found = torch.nn.functional.normalize(found, dim=1)
                parts.append(found.to_sparse() if is_sparse else found)
            return torch.cat(parts).index_select(0, torch.tensor(order).argsort())

    def fitted(
        self,
        pieces: Sequence[list[int]],
        starts: Sequence[Sum],
        texts: Sequence[_Sides],
        until: float,
    ) -> Any:
        """Rows with which words are embedded as their pieces are, alone and then in texts, each
        from a sum of old rows, and the cosines of words alone before and after; None if it takes
        until a time of the monotonic clock.
        """
        old, torch = self.model.get_input_embeddings(), self.torch
        sums = [sum(weight * old.weight[row] for row, weight in terms) for terms in starts]
        alone: list[Any] = [(word, 1.0, [], []) for word in range(len(pieces))]
        first = self._fitted(pieces, torch.stack(sums), alone, STEPS_OF_ADAM, _RATE, until)
        around = [
            (word, 1 / len(sides), before, after)
            for word, sides in enumerate(texts)
            for before, after in sides
        ]
        if first is None or not around:
            return first
        more = self._fitted(pieces, first[0], [*alone, *around], _MORE_STEPS, _MORE_RATE, until)
        after = None if more is None else self._fitted(pieces, more[0], alone, 0, _RATE, math.inf)
        return first if after is None else (after[0], first[1], after[1])

    def _fitted(
        self,
        pieces: Sequence[list[int]],
        start: Any,
        texts: list[Any],
        steps: int,
        rate: float,
        until: float,
    ) -> Any:
        """Rows fitted in texts, each given as the number of the word, its weight, and the ids
        before and after it.
        """
        torch, whole = self.torch, self._tokenizer.build_inputs_with_special_tokens
        old = self.model.get_input_embeddings()
        texts.sort(key=lambda text: len(text[2]) + len(text[3]))
        size = max(_TOKENS // len(whole([0, *texts[-1][2], *texts[-1][3]])), 1)
        parts = []
        for some in (texts[place : place + size] for place in range(0, len(texts), size)):
            with self.refusals(), torch.no_grad():
                wanted = self.embedded(
                    [whole([*one, *pieces[word], *other]) for word, _, one, other in some]
                )
            ids = [whole([*one, len(old.weight) + word, *other]) for word, _, one, other in some]
            parts.append(
                (ids, wanted, *(torch.tensor([text[column] for text in some]) for column in (0, 1)))
            )
        new = start.clone().requires_grad_()
        optimizer = torch.optim.Adam([new], lr=rate * float(start.square().mean().sqrt()) or rate)
        best, nearest, at_start = start.clone(), torch.full([len(pieces)], -math.inf), None
        self.model.set_input_embeddings(extended(torch, old, new))
        try:
            for _ in range(steps + 1):
                if time.monotonic() > until:
                    return None
                optimizer.zero_grad()
                found = torch.zeros(len(pieces))
                for ids, wanted, words, weights in parts:
                    with self.refusals():
                        cosines = torch.nn.functional.cosine_similarity(self.embedded(ids), wanted)
                    ((1 - cosines) * weights).sum().backward()
                    found.index_add_(0, words, cosines.detach() * weights)
                found = found.nan_to_num(-1)
                at_start = found if at_start is None else at_start
                best[found > nearest] = new.detach()[found > nearest]
                nearest = nearest.maximum(found)
                optimizer.step()
        finally:
            self.model.set_input_embeddings(old)
        return best, at_start, nearest


def distil_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    *,
    texts: Iterable[str] = (),
    in_context: int = 0,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: FittedSoFar | None = None,
) -> FittedRows:
    """Fit the rows that a plan makes, each from what the plan says, and alone; or in so many of the
    texts, too.

    Rows for which there is no time, after some seconds of fitting, stay as the plan says.
    `progress` is called with the number of rows that are done and of those to do. What a run that
    was stopped has `kept` is not fitted again.
    """
    np = import_package("numpy")
    checkpoint.fitted_tensors()  # raises where rows could not be written
    reader = TextEmbedder(checkpoint, before)
    began = time.monotonic()
    until = math.inf if seconds is None else began + seconds
    new = {token: row for token, row in after.get_vocab().items() if plan.sources[row] < 0}
    made = {token: row for token, row in new.items() if len(plan.terms_of(row)) > 1}
    unknown, room = before.unk_token_id, reader.max_length - before.num_special_tokens_to_add()
    cut = dict(zip(new, ids_of_pieces(before, list(new)), strict=True))
    around = _contexts(
        texts if in_context else (),
        {row: cut[token] for token, row in new.items()},
        after,
        in_context,
    )
    words = [token for token in made if 1 <= len(cut[token]) <= room and unknown not in cut[token]]
    words.sort(key=lambda token: len(cut[token]))  # of one length, a batch holds no padding
    late: list[str] = []
    rows: dict[int, tuple[Any, float, float]] = {}
    if kept is not None and "words" in kept.values:
        of_kept = (kept.tensors[name] for name in ("rows", "values", "cosines"))
        rows = {
            int(row): (reader.torch.from_numpy(each), *map(float, pair))
            for row, each, pair in zip(*of_kept, strict=True)
        }
    for first in range(0 if kept is None else kept.values.get("words", 0), len(words), _BATCH):
        batch = words[first : first + _BATCH]
        pieces = [cut[word] for word in batch]
        starts = [plan.terms_of(made[word]) for word in batch]
        spaces = [min(_AROUND, (room - len(each)) // 2) for each in pieces]
        sides = [
            [(one[max(len(one) - space, 0) :], other[:space]) for one, other in around[made[word]]]
            for word, space in zip(batch, spaces, strict=True)
        ]
        found = reader.fitted(pieces, starts, sides, until)
        if found is None:
            late = words[first:]
            break
        for word, row, start, cosine in zip(batch, *found, strict=True):
            if cosine > start:
                rows[made[word]] = row, float(start), float(cosine)
        if kept is not None and rows:
            kept.values["words"] = first + len(batch)
            columns = zip(*rows.values(), strict=True)
            values, *cosines = (np.array([*map(np.asarray, one)], "float32") for one in columns)
            kept.tensors |= {"rows": np.array([*rows]), "values": values}
            kept.tensors["cosines"] = np.stack(cosines, 1)
        if progress is not None:
            progress(first + len(batch), len(words))
    numbers = sorted(rows)
    means = [sum(rows[row][place] for row in numbers) / max(len(numbers), 1) for place in (1, 2)]
    values = np.array([rows[row][0].numpy() for row in numbers], dtype="float32")
    in_time = made.keys() - {*late}
    left = [token for token, row in made.items() if token in in_time and row not in rows]
    without = sorted({*made}.difference(words), key=made.__getitem__)
    took = time.monotonic() - began
    return FittedRows(numbers, values, means[0], means[1], left, late, took, unknown=without)


def _contexts(
    texts: Iterable[str], pieces: dict[int, list[int]], tokenizer: PreTrainedTokenizer, most: int
) -> dict[int, _Sides]:
    """For each new row what is around it in some texts, drawn the same each time; new tokens there
    are in pieces.
    """
    found: dict[int, _Sides] = {row: [] for row in pieces}
    draw, seen = random.Random(0), Counter[int]()
    for batch in batches(texts):
        for ids in ids_of_texts(tokenizer, batch):
            for place, row in enumerate(ids):
                if row not in found:
                    continue
                seen[row] += 1
                drawn = draw.randrange(seen[row])
                if drawn >= most and len(found[row]) >= most:
                    continue
                sides = ids[max(place - _AROUND, 0) : place], ids[place + 1 : place + 1 + _AROUND]
                one, other = (
                    [old for each in side for old in pieces.get(each, (each,))] for side in sides
                )
                if len(found[row]) < most:
                    found[row].append((one, other))
                else:
                    found[row][drawn] = one, other
    return found


def checked_parts(checkpoint: Checkpoint) -> tuple[Any, list[Layer]]:
    """Return PyTorch and what comes after the model of a directory, if both can be run."""
    layers = layers_of(checkpoint.directory)
    encoder_settings(checkpoint)
    import_package("transformers", _WITHOUT)
    return import_package("torch", _WITHOUT), layers


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Have transformers load a model without a word of the heads that it leaves out."""
    logging = import_module("transformers.utils.logging")
    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


def _check_memory(checkpoint: Checkpoint) -> None:
    """Raise where the memory that is free, as Linux tells, does not hold the model in float32."""
    # and a fifth for what it computes
    needed = 4.8 * sum(map(math.prod, checkpoint.shapes.values()))
    free = needed
    wrong = contextlib.suppress(OSError, ValueError, IndexError)
    with wrong, open(_MEMORY, encoding="ascii") as file:
        said = (line.split()[1] for line in file if line.startswith("MemAvailable:"))
        free = next((int(each) * 1024 for each in said), needed)
    if free < needed:
        raise InputError(
            f"to run the model in {checkpoint.directory} takes {needed / 1e9:.1f} GB of memory, and"
            f" {free / 1e9:.1f} GB are free; {INSTEAD}"
        )


def extended(torch: Any, old: Any, new: Any) -> Any:
    """Embeddings with more rows: `old` is a module that stays as it is, `new` a tensor that gets
    gradients.
    """

    class Extended(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.old, self.count = old, len(old.weight)

        def forward(self, ids: Any) -> Any:
            known, more = old(ids.clamp(max=self.count - 1)), new[(ids - self.count).clamp(min=0)]
            return torch.where((ids >= self.count)[..., None], more, known)

    return Extended()
