"""`heal_rows`: new rows fitted in whole texts, so that the model gives a text what it gave it
before.

In: a model's directory, its tokenizer before and after, the plan of its rows, rows that were fitted
alone, and texts. Out: the same rows, nearer (`FittedRows`), and what that did to texts that were
held back (`Healed`). Only new rows learn; a model with a head that predicts tokens gets their
biases fitted, too, and rows of the head that are its own.

What a text is to give is what the original model gives it: its embedding, or, with a head, the
weight of each token in the text as SPLADE has it (Formal, Piwowarski and Clinchant, 2021, arXiv
2107.05720), a new token's being the least of its pieces'. Each round goes through all texts in an
order of its own: a run that is taken up again after a round gives the rows of one that was never
stopped.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError
from trietok.showing.characters import number_of
from trietok.showing.report import Report
from trietok.workbench.adapting.add_terms import batches
from trietok.workbench.adapting.checkpoint import Checkpoint
from trietok.workbench.adapting.distil import FittedRows, TextEmbedder, extended
from trietok.workbench.adapting.fitted_so_far import FittedSoFar
from trietok.workbench.adapting.held_back import NEAREST, TOO_FEW, Retrieval, retrieval
from trietok.workbench.adapting.row_plan import RowPlan
from trietok.workbench.adapting.row_starts import ids_of_pieces
from trietok.workbench.adapting.token_tensors import Sum
from trietok.workbench.sentence_modules import MODULES_FILE

if TYPE_CHECKING:
    from trietok.tokenizer.pretrained import PreTrainedTokenizer

_MOST_TEXTS, _OF_A_ROW = 2000, 2  # texts: as many as that, or for each new row, whichever is more
_HELD, _MOST_HELD, _LONGEST = 0.2, 300, 128  # their share, texts, tokens of each
_ROUNDS, _PATIENCE = 10, 2  # at most, and rounds that may better nothing
_BATCH, _RATE, _BIAS_RATE = 32, 0.03, 0.02  # texts; a step, as a share of the numbers; of a bias
_MEAN, _SQUARE = 0.9, 0.95  # how much of the averages a step of Adam keeps


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
        one, other = self.before, self.after
        took = f"{number_of(self.rounds, 'round')}, {self.seconds:.1f} s"
        near = TOO_FEW
        if Retrieval.is_told(self.held_back):
            near = f"{one.neighbours:.1%} of the {NEAREST} nearest in an index made before found"
            near = f"{near}, {other.neighbours:.1%} now"
        yield (
            f"healed in {number_of(self.texts, 'text')}, {took}: of {self.held_back:,} others"
            f" cosine {one.cosine:.3f} before, {other.cosine:.3f} now; {near}"
        )


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
    same: Mapping[int, int] = MappingProxyType({}),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FittedRows, Healed]:
    """Fit the rows that a plan makes in whole texts, from where they were fitted to alone.

    Raises:
        InputError: fewer than ten of the texts hold a new token.
    """
    reader = TextEmbedder(checkpoint, before, with_head=has_head(checkpoint))
    torch, began = reader.torch, time.monotonic()
    made = [row for row, source in enumerate(plan.sources) if source < 0 and row not in same]
    place = {row: number for number, row in enumerate(made)}
    old = reader.model.get_input_embeddings().weight
    start = _sums_of(torch, old.detach(), [plan.terms_of(row) for row in made])
    for row, values in zip(fitted.rows, fitted.values, strict=True):
        start[place[row]] = torch.from_numpy(values)
    known = {
        row: source if source >= 0 else len(old) + place[row]
        for row, source in enumerate(plan.sources)
        if row not in same
    }
    known |= {row: known[other] for row, other in same.items()}
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

    steps, at_start = _Steps(torch, parameters), measured()
    state = [*parameters, *steps.state]
    done, best, last_better = 0, at_start, 0
    if "round" in kept.values:
        done, last_better = kept.values["round"], kept.values["better"]
        best = Retrieval(*kept.values["best"])
        _put(torch, state, kept.tensors, "now")
    else:
        kept.tensors |= _copied(state, "now") | _copied(parameters, "best")
    while done < _ROUNDS and done - last_better < _PATIENCE:
        for step, group in enumerate(random.Random(done).sample(groups, len(groups))):
            of_group = wanted.index_select(0, torch.tensor(group))
            student.loss([pairs[each][1] for each in group], of_group).backward()
            steps.take(1 - done / _ROUNDS)
            if progress is not None:
                progress(done * len(groups) + step + 1, _ROUNDS * len(groups))
        done, now = done + 1, measured()
        kept.tensors |= _copied(state, "now")
        if (now.neighbours, now.cosine) > (best.neighbours, best.cosine):
            best, last_better = now, done
            kept.tensors |= _copied(parameters, "best")
        kept.values |= {"round": done, "better": last_better, "best": list(best)}
    if progress is not None:
        progress(_ROUNDS * len(groups), _ROUNDS * len(groups))
    _put(torch, parameters, kept.tensors, "best")
    healed = Healed(len(pairs) - number, number, done, at_start, best, time.monotonic() - began)
    values = zip(
        ("values", "bias", "head"), (each.detach().numpy() for each in parameters), strict=False
    )
    return replace(fitted, rows=made, **dict(values)), healed


def has_head(checkpoint: Checkpoint) -> bool:
    """Whether the directory is a model that predicts tokens, and says of no other use."""
    said = checkpoint.config.get("architectures")
    of_tokens = isinstance(said, list) and any(
        isinstance(each, str) and each.endswith("MaskedLM") for each in said
    )
    return of_tokens and not (checkpoint.directory / MODULES_FILE).is_file()


class _Steps:
    """Adam (Kingma and Ba, 2015, arXiv 1412.6980), of which each row counts its own steps.

    Most texts lack most rows. A row that a text lacks stays where it is, and the averages of its
    gradients, too: else its next step would be the larger the longer it has waited.
    """

    def __init__(self, torch: Any, parameters: list[Any]) -> None:
        self._torch, self._parameters = torch, parameters
        sizes = (float(each.detach().square().mean().sqrt()) for each in parameters)
        self._rates = [_RATE * size or _RATE for size in sizes]
        self._rates[1:2] = [_BIAS_RATE] * len(parameters[1:2])
        # of each parameter the mean of gradients, that of their squares, and how many there were
        self.state = [torch.zeros_like(each.detach()) for each in parameters for _ in range(2)]
        self.state += [torch.zeros(len(each), 1) for each in parameters]

    def take(self, slower: float) -> None:
        """One step against the gradients, which are gone then."""
        for place, (parameter, rate) in enumerate(zip(self._parameters, self._rates, strict=True)):
            mean, square = self.state[2 * place : 2 * place + 2]
            count, gradient = self.state[2 * len(self._parameters) + place], parameter.grad
            rows = gradient.abs().sum(1).nonzero()[:, 0]
            of_rows = gradient[rows]
            count[rows] += 1
            mean[rows] += (1 - _MEAN) * (of_rows - mean[rows])
            square[rows] += (1 - _SQUARE) * (of_rows.square() - square[rows])
            unbiased = mean[rows] / (1 - _MEAN ** count[rows])
            size = (square[rows] / (1 - _SQUARE ** count[rows])).sqrt() + 1e-8
            with self._torch.no_grad():
                parameter[rows] -= rate * slower * unbiased / size
            parameter.grad = None


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
        if not as_wanted or self._head is None:
            return self._reader.of_length_1(sequences, self._given)
        return self._reader.of_length_1(sequences, self._wanted, is_sparse=True)

    def _wanted(self, sequences: list[list[int]]) -> Any:
        """Of a head, with new tokens that are in a text as much as the least of their pieces."""
        found = self._given(sequences)
        least = [found[:, each].min(1).values if each else 0 * found[:, 0] for each in self._pieces]
        return self._torch.cat([found[:, : len(self._head.weight)], self._torch.stack(least, 1)], 1)

    def loss(self, sequences: list[list[int]], wanted: Any) -> Any:
        return (
            1 - self._torch.nn.functional.cosine_similarity(self._given(sequences), _dense(wanted))
        ).mean()


def _dense(tensor: Any) -> Any:
    return tensor.to_dense() if tensor.is_sparse else tensor


def _sums_of(torch: Any, old: Any, sums: list[Sum]) -> Any:
    zeros = torch.zeros_like(old[0])
    return torch.stack([sum((share * old[row] for row, share in terms), zeros) for terms in sums])


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
