"""Rows of new tokens fitted to the model: it gives each token alone the embedding that it gave the token's pieces.

In: a model's directory, its tokenizer before and after, and the plan of its rows. Out: a row of numbers for each new
token (`FittedRows`), which takes the place of the sum that the plan says. PyTorch and the model's own class are imported
here only, by sentence-transformers where the directory is one of its models, else by transformers.

The model is frozen and computes with float32 on the CPU, and no number is drawn at random: the same model, tokens and
versions of the libraries give the same rows. Nearest to this comes token distillation (Dobler, Elliott and de Melo,
2025, arXiv 2505.20133), which fits rows to the hidden states of texts.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from trietok.errors import InputError, MissingDependencyError
from trietok.showing.characters import first_few, number_of
from trietok.showing.report import Report
from trietok.tokenizer.pretrained import PreTrainedTokenizer
from trietok.workbench.adapting.apply_rows import MODULES_FILE, Checkpoint, Progress, embeddings_of
from trietok.workbench.adapting.row_plan import RowPlan, ids_of_pieces

STEPS = 20  # of Adam, for each batch of words
_RATE = 0.1  # of a step, as a share of the numbers that rows hold
_BATCH = 256  # words, or texts, at a time
_MEMORY = "/proc/meminfo"


@dataclass(frozen=True)
class FittedRows(Report):
    """Rows that were fitted; `write_rows` writes them. `str` makes it readable.

    Attributes:
        rows: their numbers, in order.
        values: what they hold, float32 of shape (rows, numbers in a row); no part of the JSON.
        start: how near each word's embedding is to that of its pieces before fitting, the mean cosine of all.
        cosine: the same afterwards.
        left: tokens whose rows are as the plan says: a piece of theirs is unknown, or fitting did not better them.
        late: tokens whose rows are as the plan says because the time was over.
        seconds: how long it took, loading the model included.
    """

    rows: list[int]
    values: Any
    start: float
    cosine: float
    left: list[str]
    late: list[str]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, but the numbers of the rows."""
        return {name: value for name, value in super().to_dict().items() if name != "values"}

    def _parts(self) -> Iterator[str]:
        fitted = f"{number_of(len(self.rows), 'row')} fitted in {self.seconds:.1f} s"
        if self.rows:
            fitted += f": cosine to the embedding of the pieces {self.start:.3f} before, {self.cosine:.3f} now"
        yield fitted
        for tokens, why in ((self.left, "not fitted"), (self.late, "not fitted in time")):
            if tokens:
                yield f"{number_of(len(tokens), 'row')} {why}: {first_few(tokens)}"


class Reader:
    """The model of a directory, which gives an embedding for the ids of each text.

    It has the pooling that sentence-transformers gives it; a model without one has the mean of its last hidden states.

    Raises:
        MissingDependencyError: torch, transformers or sentence-transformers is not installed.
        InputError: the memory is too small for the model, or its class cannot load it.
    """

    def __init__(self, checkpoint: Checkpoint, tokenizer: PreTrainedTokenizer) -> None:
        self._torch, self._tokenizer = _package("torch"), tokenizer
        kind = _package("transformers").PreTrainedModel
        has_modules = (checkpoint.directory / MODULES_FILE).is_file()
        library = _package("sentence_transformers" if has_modules else "transformers")
        _check_memory(checkpoint)
        self._where = checkpoint.directory
        path, options = str(checkpoint.directory), {"local_files_only": True}
        with self._refusals(), _quiet(), self._torch.random.fork_rng(devices=[]):  # a head may get random numbers
            if has_modules:
                model = library.SentenceTransformer(path, device="cpu", **options)
                limits, self._core = (
                    [model.max_seq_length],
                    next(each for each in model.modules() if isinstance(each, kind)),
                )
            else:
                self._core = model = library.AutoModel.from_pretrained(path, **options)
                limits = []
            self._model = model.float().eval().requires_grad_(False)
            self._pooled = self._of_sentences if has_modules else self._mean
        limits += [tokenizer.model_max_length, getattr(self._core.config, "max_position_embeddings", None)]
        if self._core.config.model_type == "mpnet":  # whose positions are counted from 2
            limits[-1] -= 2
        self.max_length = min(limit for limit in limits if limit)

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except (
            OSError,
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
            IndexError,
            RuntimeError,
            ImportError,
        ) as error:
            raise InputError(
                f"the model in {self._where} gives no embedding ({type(error).__name__}: {str(error):.200}); start new "
                "rows with 'length', which needs no model in memory"
            ) from error

    def _of_sentences(self, features: dict[str, Any]) -> Any:
        return self._model(dict(features))["sentence_embedding"]

    def _mean(self, features: dict[str, Any]) -> Any:
        states, mask = self._model(**features).last_hidden_state, features["attention_mask"][:, :, None]
        return (states * mask).sum(1) / mask.sum(1)

    def _embedded(self, sequences: Sequence[list[int]]) -> Any:
        """Embeddings as PyTorch has them, of sequences of about one length."""
        longest, pad = max(map(len, sequences)), self._tokenizer.pad_token_id or 0
        ids = [[*each, *[pad] * (longest - len(each))] for each in sequences]
        mask = [[1] * len(each) + [0] * (longest - len(each)) for each in sequences]
        return self._pooled({"input_ids": self._torch.tensor(ids), "attention_mask": self._torch.tensor(mask)})

    def embeddings(self, sequences: Sequence[list[int]]) -> Any:
        """The embedding of each sequence, special tokens included, as a numpy array of length 1 in each row."""
        torch, order = self._torch, sorted(range(len(sequences)), key=lambda number: len(sequences[number]))
        parts = []
        with self._refusals(), torch.no_grad():
            for first in range(0, len(order), _BATCH // 8):
                found = self._embedded([sequences[number] for number in order[first : first + _BATCH // 8]])
                parts.append(torch.nn.functional.normalize(found, dim=1))
            places = torch.empty(len(order), dtype=torch.long)
            places[torch.tensor(order)] = torch.arange(len(order))
            return torch.cat(parts)[places].numpy()

    def fitted(
        self, pieces: Sequence[list[int]], starts: Sequence[Any], is_over: Callable[[], bool], progress: Progress | None
    ) -> Iterator[tuple[int, Any, float, float]]:
        """Rows with which a word alone is embedded as its pieces are, while there is time: (which word, its row, the
        cosine at the start, the cosine of the row).

        Args:
            pieces: the ids of each word's pieces.
            starts: for each word the (old row, weight) that its fitting starts from.
        """
        torch, alone = self._torch, self._tokenizer.build_inputs_with_special_tokens
        old = self._core.get_input_embeddings()
        order = sorted(range(len(pieces)), key=lambda number: len(pieces[number]))
        cosine = torch.nn.functional.cosine_similarity
        with self._refusals():
            for first in range(0, len(order), _BATCH):
                batch = order[first : first + _BATCH]
                with torch.no_grad():
                    wanted = self._embedded([alone(pieces[number]) for number in batch])
                    start = torch.stack([_sum(torch, old.weight, starts[number]) for number in batch])
                new = start.clone().requires_grad_()
                self._core.set_input_embeddings(_extended(torch, old, new))
                ids = [alone([len(old.weight) + place]) for place in range(len(batch))]
                optimizer = torch.optim.Adam([new], lr=_RATE * float(start.square().mean().sqrt()) or _RATE)
                best, nearest, at_start = start.clone(), torch.full([len(batch)], -math.inf), None
                try:
                    for step in range(STEPS + 1):
                        if is_over():
                            return
                        found = cosine(self._embedded(ids), wanted)
                        at_start = found.detach() if at_start is None else at_start
                        better = found.detach() > nearest
                        nearest = torch.where(better, found.detach(), nearest)
                        best[better] = new.detach()[better]
                        if step < STEPS:
                            optimizer.zero_grad()
                            (1 - found).sum().backward()
                            optimizer.step()
                finally:
                    self._core.set_input_embeddings(old)
                rows = (best.numpy(), at_start.tolist(), nearest.tolist())
                yield from zip(batch, *rows, strict=True)
                if progress is not None:
                    progress(first + len(batch), len(order))


def distil_rows(
    plan: RowPlan,
    checkpoint: Checkpoint,
    before: PreTrainedTokenizer,
    after: PreTrainedTokenizer,
    *,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> FittedRows:
    """Fit the rows that a plan makes, each from what the plan says.

    Args:
        plan: the plan from the one tokenizer to the other.
        checkpoint: the model, as `checked_model` gave it.
        seconds: how long it may take; rows for which there is no time stay as the plan says. None is as long as needed.
        progress: called with the number of rows that are done and of those to do.

    Cost: `STEPS` times reading three tokens for each word, forward and backward, and its pieces once.
    """
    if seconds is not None and not seconds > 0:
        raise InputError(f"the seconds for fitting are {seconds!r:.40}; give a number above 0")
    began = time.monotonic()
    embeddings_of(checkpoint)
    reader = Reader(checkpoint, before)
    made = {token: row for token, row in after.get_vocab().items() if len(plan.terms_of(row)) > 1}
    unknown, room = before.unk_token_id, reader.max_length - before.num_special_tokens_to_add()
    cut = dict(zip(made, ids_of_pieces(before, list(made)), strict=True))
    words = [token for token, pieces in cut.items() if 1 <= len(pieces) <= room and unknown not in pieces]
    starts = [plan.terms_of(made[token]) for token in words]
    is_over = (lambda: False) if seconds is None else (lambda: time.monotonic() - began > seconds)
    rows: dict[int, tuple[Any, float, float]] = {}
    reached: set[str] = set()
    for number, row, start, cosine in reader.fitted([cut[word] for word in words], starts, is_over, progress):
        reached.add(words[number])
        if cosine > start:
            rows[made[words[number]]] = row, start, cosine
    numbers = sorted(rows)
    left = [token for token in made if made[token] not in rows]
    late = [token for token in words if token not in reached]
    mean = [sum(rows[row][place] for row in numbers) / max(len(numbers), 1) for place in (1, 2)]
    values = import_module("numpy").array([rows[row][0] for row in numbers], dtype="float32")
    others = [token for token in left if token not in frozenset(late)]
    return FittedRows(numbers, values, mean[0], mean[1], others, late, time.monotonic() - began)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.replace("_", "-")
        raise MissingDependencyError(
            f"{package} is needed to run the model and cannot be imported ({error}): pip install {package}; the start "
            "'length' needs none of it",
            extra=package,
        ) from error


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
    needed = 4 * sum(map(math.prod, checkpoint.shapes.values()))
    with contextlib.suppress(OSError, ValueError, IndexError), open(_MEMORY, encoding="ascii") as file:
        free = next((int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:")), needed)
        if free < needed * 1.2:
            raise InputError(
                f"the model in {checkpoint.directory} takes {needed / 1e9:.1f} GB of memory in float32, and "
                f"{free / 1e9:.1f} GB are free; start new rows with 'length', which needs no model in memory"
            )


def _sum(torch: Any, table: Any, terms: Sequence[tuple[int, float]]) -> Any:
    rows, weights = zip(*terms, strict=True)
    return (table[list(rows)] * torch.tensor(weights)[:, None]).sum(0)


def _extended(torch: Any, old: Any, new: Any) -> Any:
    """Embeddings with more rows: `old` is a module that stays as it is, `new` a tensor that gets gradients."""

    class Extended(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.old, self.count = old, len(old.weight)

        def forward(self, ids: Any) -> Any:
            known, more = old(ids.clamp(max=self.count - 1)), new[(ids - self.count).clamp(min=0)]
            return torch.where((ids >= self.count)[..., None], more, known)

    return Extended()
