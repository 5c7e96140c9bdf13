"""`heal_rows`: new rows fitted in whole texts, so that the model gives a text what it gave it
before.

In: a model's directory, its tokenizer before and after, the plan of its rows, rows that were fitted
alone, and texts. Out: the same rows, nearer (`FittedRows`), and what that did to texts that were
held back (`Healed`). Only new rows learn; a model with a head that predicts tokens gets their
biases fitted, too, and rows of the head that are its own.

What a text is to give is what the original model gives it: its embedding, or, with a head, the
weight of each token in the text as SPLADE has it (Formal, Piwowarski and Clinchant, 2021, arXiv
2107.05720), a new token's being the least of its pieces'. Each round goes through all texts, and
begins with the rows and an order of its own alone: a run that is taken up again after a round gives
the rows of one that was never stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import FileFormatError, InputError
from trietok.showing.characters import number_of
from trietok.showing.report import Report
from trietok.workbench.adapting.add_terms import batches
from trietok.workbench.adapting.distil import TextEmbedder, extended
from trietok.workbench.adapting.row_blocks import import_package
from trietok.workbench.adapting.row_plan import RowPlan, ids_of_pieces
from trietok.workbench.sentence_modules import MODULES_FILE

if TYPE_CHECKING:
    from trietok.tokenizer.pretrained import PreTrainedTokenizer
    from trietok.workbench.adapting.apply_rows import Checkpoint
    from trietok.workbench.adapting.distil import FittedRows
    from trietok.workbench.adapting.row_plan import Sum

_MOST_TEXTS, _OF_A_ROW = 2000, 2  # texts: as many as that, or for each new row, whichever is more
_HELD, _MOST_HELD, _LONGEST = 0.2, 300, 128  # their share, texts, tokens of each
_ROUNDS, _PATIENCE = 10, 2  # at most, and rounds that may better nothing
# texts; a step's share of the numbers in rows; of a bias
_BATCH, _RATE, _BIAS_RATE = (
    32,
    0.03,
    0.02,
)
NEAREST = 10  # neighbours of a text in an index


# ---- what is kept of a run that was stopped ------------------------------------------------------


class FittedSoFar:
    """A file of rows that were fitted before a run was stopped, for the same model, plan and
    texts.
    """

    def __init__(
        self, path: Path, checkpoint: Checkpoint, plan: RowPlan, how: Sequence[Any], resume: bool
    ) -> None:
        self.path, digest = path, hashlib.sha256(f"{plan.to_json()}{list(how)!r}".encode())
        for name in sorted(checkpoint.shards):
            with open(checkpoint.directory / name, "rb") as file:
                for block in iter(partial(file.read, 1 << 20), b""):
                    digest.update(block)
        self._key, self.tensors = digest.hexdigest(), dict[str, Any]()
        self.values: dict[str, Any] = {}  # as JSON has them
        if resume and os.path.lexists(path):
            self._read()

    def _read(self) -> None:
        safetensors = import_package("safetensors.numpy")
        try:
            with import_package("safetensors").safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
            tensors, values = (
                safetensors.load_file(self.path),
                json.loads(metadata.get("values", "{}")),
            )
        except Exception as error:  # of the package, or of the system
            told = f"{self.path} cannot be read: {error}; start without --resume"
            raise FileFormatError(told, path=self.path) from error
        if metadata.get("key") != self._key:
            raise InputError(
                f"{self.path} has rows of another run: its model, terms or options were others;"
                " give those, or start without --resume (resume=True)"
            )
        self.tensors, self.values = tensors, values

    def save(self) -> None:
        """Write what is known by now, in one step."""
        beside = self.path.with_name(self.path.name + ".new")
        metadata = {"key": self._key, "values": json.dumps(self.values)}
        import_package("safetensors.numpy").save_file(self.tensors, beside, metadata)
        os.replace(beside, self.path)

    @contextlib.contextmanager
    def kept_if_stopped(self) -> Iterator[None]:
        """Save what is known where the body is stopped, and leave no file where it comes to its
        end.
        """
        try:
            yield
        except BaseException:
            if self.tensors:
                self.save()
            raise
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


# ---- the report ----------------------------------------------------------------------------------


class Retrieval(NamedTuple):
    """What held-back texts give, beside what the original gives them: the mean cosine, and the
    share of the ten nearest in an index of the original that is found.
    """

    cosine: float
    neighbours: float


@dataclass(frozen=True)
class Healed(Report):
    """What `heal_rows` did. `str` makes it readable.

    Attributes:
        texts, held_back: how many texts rows were fitted in, and how many others they were measured
            with.
        rounds: how often all texts were gone through; the rows are those of the best.
        before, after: what the texts held back give.
        seconds: how long it took.
    """

    texts: int
    held_back: int
    rounds: int
    before: Retrieval
    after: Retrieval
    seconds: float

    def _parts(self) -> Iterator[str]:
        told = (
            f"healed in {number_of(self.texts, 'text')}, {number_of(self.rounds, 'round')},"
            f" {self.seconds:.1f} s"
        )
        yield (
            f"{told}: of {self.held_back:,} others cosine {self.before.cosine:.3f} before,"
            f" {self.after.cosine:.3f} now; {self.before.neighbours:.1%} of the {NEAREST} nearest"
            f" in an index made before found, {self.after.neighbours:.1%} now"
        )


def retrieval(old: Any, new: Any) -> Retrieval:
    """How near embeddings, as numpy arrays whose rows have the length 1, are to others of the same
    texts.

    The nearest are looked up among all texts but the one itself, in the index of the old
    embeddings.
    """
    count, nearest = min(NEAREST, len(old) - 1), []
    for each in (old, new):
        likeness = each @ old.T
        likeness[range(len(old)), range(len(old))] = -2  # less than any cosine
        nearest.append((-likeness).argsort(1, kind="stable")[:, :count].tolist())
    kept = sum(len(set(one) & set(other)) for one, other in zip(*nearest, strict=True))
    return Retrieval(float((old * new).sum(1).mean()), kept / (count * len(old)) if count else 1.0)


# ---- healing -------------------------------------------------------------------------------------


def heal_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    fitted: FittedRows,
    texts: Iterable[str],
    kept: FittedSoFar,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FittedRows, Healed]:
    """Fit the rows that a plan makes in whole texts, from where they were fitted to alone.

    Raises:
        InputError: fewer than ten of the texts hold a new token.
    """
    reader = TextEmbedder(checkpoint, before, with_head=has_head(checkpoint))
    torch, began = reader.torch, time.monotonic()
    made = [row for row in range(plan.rows_after) if plan.sources[row] < 0]
    place = {row: number for number, row in enumerate(made)}
    old = reader.model.get_input_embeddings().weight
    start = _sums_of(torch, old.detach(), [plan.terms_of(row) for row in made])
    for row, values in zip(fitted.rows, fitted.values, strict=True):
        start[place[row]] = torch.from_numpy(values)
    known = {
        row: source if source >= 0 else len(old) + place[row]
        for row, source in enumerate(plan.sources)
    }
    pairs = _pairs(before, after, texts, known, len(old), min(reader.max_length, _LONGEST))
    number = min(max(round(_HELD * len(pairs)), 1), _MOST_HELD)
    if len(pairs) < 10:
        raise InputError(
            f"{len(pairs)} of the texts to heal with hold a new token; give ten, and better"
            " hundreds"
        )
    tokens = after.convert_ids_to_tokens(made)
    pieces = [list(set(each)) for each in ids_of_pieces(before, tokens)]
    student = _Student(reader, start, [plan.terms_of(row) for row in made], pieces)
    wanted = student.embeddings([one for one, _ in pairs], as_wanted=True)
    held = list(range(number))
    groups = _groups([len(other) for _, other in pairs], number)
    parameters = student.parameters

    def measured() -> Retrieval:
        new = student.embeddings([pairs[each][1] for each in held])
        return retrieval(_dense(wanted.index_select(0, torch.arange(number))).numpy(), new.numpy())

    rates = [_RATE * float(each.detach().square().mean().sqrt()) or _RATE for each in parameters]
    rates[1:2] = [_BIAS_RATE] * len(rates[1:2])
    at_start = measured()
    done, best, last_better = 0, at_start, 0
    if "round" in kept.values:
        done, last_better = kept.values["round"], kept.values["better"]
        best = Retrieval(*kept.values["best"])
        _put(torch, parameters, kept.tensors, "now")
    else:
        kept.tensors |= _copied(parameters, "now") | _copied(parameters, "best")
    while done < _ROUNDS and done - last_better < _PATIENCE:
        slower = 1 - done / _ROUNDS
        optimizer = torch.optim.Adam(
            [
                {"params": [each], "lr": rate * slower}
                for each, rate in zip(parameters, rates, strict=True)
            ]
        )
        order = random.Random(done).sample(groups, len(groups))
        for step, group in enumerate(order):
            optimizer.zero_grad()
            student.loss(
                [pairs[each][1] for each in group], wanted.index_select(0, torch.tensor(group))
            ).backward()
            optimizer.step()
            if progress is not None:
                progress(done * len(groups) + step + 1, _ROUNDS * len(groups))
        done, now = done + 1, measured()
        kept.tensors |= _copied(parameters, "now")
        if (now.neighbours, now.cosine) > (best.neighbours, best.cosine):
            best, last_better = now, done
            kept.tensors |= _copied(parameters, "best")
        kept.values |= {"round": done, "better": last_better, "best": list(best)}
    if progress is not None:
        progress(_ROUNDS * len(groups), _ROUNDS * len(groups))
    _put(torch, parameters, kept.tensors, "best")
    healed = Healed(len(pairs) - number, number, done, at_start, best, time.monotonic() - began)
    values = dict(
        zip(
            ("values", "bias", "head"), (each.detach().numpy() for each in parameters), strict=False
        )
    )
    return replace(fitted, rows=made, **values), healed


def has_head(checkpoint: Checkpoint) -> bool:
    """Whether the directory is a model that predicts tokens, and says of no other use."""
    said = checkpoint.config.get("architectures")
    of_tokens = isinstance(said, list) and any(
        isinstance(each, str) and each.endswith("MaskedLM") for each in said
    )
    return of_tokens and not (checkpoint.directory / MODULES_FILE).is_file()


class _Student:
    """The model with new rows that learn, and nothing else that does; a head gets biases, and rows
    of its own.
    """

    def __init__(
        self, reader: TextEmbedder, start: Any, sums: list[Sum], pieces: list[list[int]]
    ) -> None:
        self._reader, self._torch, self._pieces = reader, reader.torch, pieces
        model, torch = reader.model, reader.torch
        self.parameters = [start.clone().requires_grad_()]
        self._head = model.get_output_embeddings()  # None where the model has none
        model.set_input_embeddings(
            extended(torch, model.get_input_embeddings(), self.parameters[0])
        )
        if self._head is not None:
            weight, bias = self._head.weight.detach(), self._head.bias.detach()
            self.parameters.append(_sums_of(torch, bias[:, None], sums).requires_grad_())
            if not model.config.tie_word_embeddings:
                self.parameters.append(_sums_of(torch, weight, sums).requires_grad_())
            rows = self.parameters[0 if model.config.tie_word_embeddings else 2]
            model.set_output_embeddings(_with_more(torch, self._head, rows, self.parameters[1]))

    def _given(self, sequences: list[list[int]]) -> Any:
        """What the model gives texts of about one length."""
        if self._head is None:
            return self._reader.embedded(sequences)
        with self._reader.refusals():
            ids, mask = self._reader.padded(sequences)
            logits = self._reader.model(input_ids=ids, attention_mask=mask).logits
            return logits.masked_fill(mask[:, :, None] == 0, 0).max(1).values.relu().log1p()

    def embeddings(self, sequences: list[list[int]], as_wanted: bool = False) -> Any:
        """What texts give, each of the length 1; or, from ids of before alone, what they are to
        give.
        """
        torch, order = (
            self._torch,
            sorted(range(len(sequences)), key=lambda number: len(sequences[number])),
        )
        parts = []
        with torch.no_grad():
            for first in range(0, len(order), _BATCH):
                found = self._given([sequences[number] for number in order[first : first + _BATCH]])
                if as_wanted and self._head is not None:
                    least = [
                        found[:, each].min(1).values if each else 0 * found[:, 0]
                        for each in self._pieces
                    ]
                    found = torch.cat(
                        [found[:, : len(self._head.weight)], torch.stack(least, 1)], 1
                    )
                found = torch.nn.functional.normalize(found, dim=1)
                parts.append(found.to_sparse() if as_wanted and self._head is not None else found)
            return torch.cat(parts).index_select(0, torch.tensor(order).argsort())

    def loss(self, sequences: list[list[int]], wanted: Any) -> Any:
        return (
            1 - self._torch.nn.functional.cosine_similarity(self._given(sequences), _dense(wanted))
        ).mean()


def _dense(tensor: Any) -> Any:
    return tensor.to_dense() if tensor.is_sparse else tensor


def _sums_of(torch: Any, old: Any, sums: list[Sum]) -> Any:
    return torch.stack(
        [
            sum((weight * old[row] for row, weight in terms), torch.zeros_like(old[0]))
            for terms in sums
        ]
    )


def _with_more(torch: Any, head: Any, rows: Any, bias: Any) -> Any:
    """A head that gives more tokens: `head` stays as it is, the rows and biases of the others
    learn.
    """

    class More(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.old, self.bias = head, head.bias

        def forward(self, states: Any) -> Any:
            return torch.cat([self.old(states), states @ rows.T + bias[:, 0]], -1)

    return More()


def _pairs(
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    texts: Iterable[str],
    known: dict[int, int],
    rows: int,
    most: int,
) -> list[tuple[list[int], list[int]]]:
    """The ids of texts with new tokens, with both tokenizers, those of the new rows from `rows` on:
    a sample of all, the same each time, in an order of chance.
    """
    draw, found, seen = random.Random(0), list[tuple[list[int], list[int]]](), 0
    enough = max(_MOST_TEXTS, _OF_A_ROW * sum(each >= rows for each in known.values()))
    how: dict[str, Any] = {"truncation": True, "max_length": most}
    for batch in batches(texts):
        new = after(batch, **how)["input_ids"]
        for text, ids in zip(batch, new, strict=True):
            mapped = [known[each] for each in ids]
            if max(mapped) < rows:
                continue
            seen += 1
            drawn = draw.randrange(seen)
            if len(found) >= enough <= drawn:
                continue
            pair = before(text, **how)["input_ids"], mapped
            if len(found) < enough:
                found.append(pair)
            else:
                found[drawn] = pair
    draw.shuffle(found)
    return found


def _groups(lengths: list[int], first: int) -> list[list[int]]:
    """The numbers of texts from the first on, in groups of about one length."""
    order = sorted(range(first, len(lengths)), key=lambda number: lengths[number])
    return [order[at : at + _BATCH] for at in range(0, len(order), _BATCH)]


def _copied(parameters: list[Any], name: str) -> dict[str, Any]:
    return {
        f"{name}{number}": each.detach().clone().numpy() for number, each in enumerate(parameters)
    }


def _put(torch: Any, parameters: list[Any], tensors: dict[str, Any], name: str) -> None:
    with torch.no_grad():
        for number, each in enumerate(parameters):
            each.copy_(torch.from_numpy(tensors[f"{name}{number}"]))
