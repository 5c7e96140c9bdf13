"""How new rows start, measured: what a model that took words of a domain still knows of it, without
any training.

    python docs/studies/new_rows.py MODEL_DIR DOMAIN [--words 500] [--held 600] [--starts mean
    length distil] python docs/studies/new_rows.py MODEL_DIR DOMAIN --train 300 [--masked] [--seeds
    0 1 2] [--rows-rates 1 10 100]

MODEL_DIR is a model with its tokenizer, of sentence-transformers or of transformers. DOMAIN holds
names with their definitions: an ontology (.obo), what `apt-cache dumpavail` writes (.avail: the
synopsis of each package, without a definition), or a folder of Python files (the first line of each
docstring, and the rest of it). It needs torch, transformers, and sentence-transformers for a model
of theirs.

Of the pairs, some are held back. In the others the words are found that are most worth a token;
each start then gives the model its rows, and what is measured is measured on the pairs held back.

- cosine: between the embeddings of a name by the changed model and by the original, of the names
  with new tokens.
- neighbours: of the ten names nearest to each name with a new token, in an index of the original
  embeddings of all names, the share that the name's embedding by the changed model finds in it.
- re-embedded: the mean reciprocal rank of a name's definition among all, both embedded by the
  changed model.
- old index: the same where the definitions were embedded by the original model.
- synonyms: the same for a synonym of the name, where the domain has some.

With --train STEPS each start is trained, too, with several seeds, and rates of their own for the
new rows if asked for:

- MRR: names and definitions are told apart within a batch; then `re-embedded`, with texts cut to 64
  tokens.
- loss, with --masked and a BERT with its head: tokens are filled in, in held-back texts, at 15 % of
  the places that are a token to the old and to the new tokenizer; loss at new: at new tokens.
- rows kept: the cosine of new rows to what they were before.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import pathlib
import random
import re
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from safetensors.numpy import load_file, save_file

import trietok
from trietok.workbench.adapting.checkpoint import read_checkpoint
from trietok.workbench.adapting.distil import TextEmbedder

Pair = tuple[str, str, list[str]]  # a name, its definition, its synonyms
Row = dict[str, float]
LossOf = Callable[[int], torch.Tensor]
SEED = 7
STARTS = ("resize", "zeros", "mean", "length", "distil", "context")


def ontology(path: pathlib.Path) -> list[Pair]:
    """(name, definition, synonyms) of each term of an .obo file that is not obsolete."""
    found = []
    for stanza in path.read_text(encoding="utf-8").split("\n\n"):
        if stanza.startswith("[Term]") and "\nis_obsolete: true" not in stanza:
            name = re.search(r"^name: (.+)$", stanza, re.M)
            definition = re.search(r'^def: "((?:[^"\\]|\\.)*)"', stanza, re.M)
            synonyms = re.findall(r'^synonym: "((?:[^"\\]|\\.)*)" EXACT', stanza, re.M)
            if name and definition and len(definition[1]) > 30:
                found.append(
                    (name[1], definition[1].replace("\\n", " ").replace('\\"', '"'), synonyms)
                )
    return found


def packages(path: pathlib.Path) -> list[Pair]:
    """(synopsis, nothing) of each package of `apt-cache dumpavail`, one of several alike."""
    found = re.findall(
        r"^Description(?:-en)?: (.+)$", path.read_text(encoding="utf-8", errors="replace"), re.M
    )
    return [(synopsis, "", []) for synopsis in sorted(set(found)) if len(synopsis) > 30]


def docstrings(folder: pathlib.Path) -> list[Pair]:
    """(first line, the rest) of each docstring below a folder."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                first, _, rest = (ast.get_docstring(node) or "").partition("\n\n")
                rest = " ".join(rest.split())[:800]
                if len(rest) > 60 and 15 < len(first) < 200:
                    found.setdefault(" ".join(first.split()), rest)
    return [(name, definition, []) for name, definition in found.items()]


def text_of(pair: Pair) -> str:
    """A name and its definition as one text."""
    return f"{pair[0]}. {pair[1]}".removesuffix(". ")


def read(domain: pathlib.Path) -> list[Pair]:
    kinds = {".obo": ontology, ".avail": packages}
    pairs = (docstrings if domain.is_dir() else kinds[domain.suffix])(domain)
    random.Random(SEED).shuffle(pairs)
    return pairs


class Embedder:
    """The embeddings of a directory; a text without a new token has that of the original model."""

    def __init__(
        self, directory: pathlib.Path, most: int, original: Embedder | None = None, first: int = 0
    ) -> None:
        self.tokenizer = trietok.AutoTokenizer.from_pretrained(directory)
        self._reader = TextEmbedder(read_checkpoint(directory), self.tokenizer)
        self._most = self._reader.max_length = min(most, self._reader.max_length)
        self._original, self._first = original, first

    def ids(self, texts: list[str]) -> list[list[int]]:
        return (
            self.tokenizer(texts, truncation=True, max_length=self._most)["input_ids"]
            if texts
            else []
        )

    def new(self, texts: list[str]) -> list[int]:
        """The numbers of the texts with a new token."""
        return [number for number, ids in enumerate(self.ids(texts)) if max(ids) >= self._first]

    def embeddings(self, texts: list[str], known: np.ndarray | None = None) -> np.ndarray:
        if known is None:
            return self._reader.embeddings(texts)
        found, new = known.copy(), self.new(texts)
        if new:
            found[new] = self._reader.embeddings([texts[number] for number in new])
        return found


def ranks(queries: np.ndarray, index: np.ndarray, right: list[int]) -> float:
    """The mean reciprocal rank."""
    likeness = queries @ index.T
    own = likeness[range(len(queries)), right]
    return float((1 / (1 + (likeness > own[:, None]).sum(1))).mean())


def neighbours(queries: np.ndarray, old: np.ndarray, some: list[int]) -> float:
    """The share of the ten nearest in an index of the old embeddings that the new ones find, for
    some queries.
    """
    nearest = []
    for each in (queries, old):
        likeness = each[some] @ old.T
        likeness[range(len(some)), some] = -2
        nearest.append(np.argsort(-likeness, axis=1)[:, :10].tolist())
    return statistics.mean(
        len(set(one) & set(other)) / 10 for one, other in zip(*nearest, strict=True)
    )


def masked(
    ids: torch.Tensor, tokenizer: trietok.PreTrainedTokenizer
) -> tuple[torch.Tensor, torch.Tensor]:
    """What a model reads, and which places it is to fill in: 15 %, as BERT's are made."""
    known = torch.tensor(tokenizer.all_special_ids)
    chosen = (torch.rand(ids.shape) < 0.15) & ~torch.isin(ids, known)
    kind = torch.rand(ids.shape)
    read = ids.masked_fill(chosen & (kind < 0.8), tokenizer.mask_token_id)
    return (
        torch.where(chosen & (kind > 0.9), torch.randint(len(tokenizer), ids.shape), read),
        chosen,
    )


def padded(rows: list[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids of texts side by side, and 1 where there is one."""
    together = functools.partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
    ids = together([torch.tensor(row) for row in rows], padding_value=pad)
    return ids, together([torch.ones(len(row)) for row in rows])


def pooled(
    model: torch.nn.Module, tokenizer: trietok.PreTrainedTokenizer, texts: list[str], most: int
) -> torch.Tensor:
    """Embeddings with gradients: the mean of the last hidden states. Texts of about one length go
    together.
    """
    ids = tokenizer(texts, truncation=True, max_length=most)["input_ids"]
    order, parts = sorted(range(len(ids)), key=lambda number: len(ids[number])), []
    for first in range(0, len(order), 16):
        read, mask = padded([ids[number] for number in order[first : first + 16]], 0)
        hidden = model(input_ids=read, attention_mask=mask).last_hidden_state * mask[:, :, None]
        parts.append(hidden.sum(1) / mask.sum(1)[:, None])
    return torch.nn.functional.normalize(torch.cat(parts)[torch.tensor(order).argsort()], dim=1)


def with_rows(
    adapted: pathlib.Path, out: pathlib.Path, first: int, rows: np.ndarray
) -> pathlib.Path:
    """A copy of an adapted directory with other new rows in its embeddings."""
    shutil.copytree(adapted, out)
    tensors = load_file(out / "model.safetensors")
    (name,) = (name for name in tensors if name.endswith("word_embeddings.weight"))
    tensors[name][first : first + len(rows)] = rows
    save_file(tensors, out / "model.safetensors", {"format": "pt"})
    return out


def resized(model: pathlib.Path, count: int, seed: int) -> np.ndarray:
    """The rows that transformers' `resize_token_embeddings` draws."""
    torch.manual_seed(seed)
    changed = transformers.AutoModel.from_pretrained(model)
    rows = changed.config.vocab_size
    table = changed.resize_token_embeddings(rows + count).weight
    return table[rows:].detach().numpy()


def words_of(model: pathlib.Path, pairs: list[Pair], most: int) -> list[str]:
    """The words of some pairs that are most worth a token."""
    return list(
        trietok.adapt(model, None, [text_of(pair) for pair in pairs], most=most).terms.added
    )


def adapted(
    model: pathlib.Path, out: pathlib.Path, terms: list[str], start: str, pairs: list[Pair]
) -> trietok.Adapted:
    """A model with rows for some words that start in one of the ways; `context` fits them in two
    texts each as well.
    """
    if start == "context":
        texts = [text_of(pair) for pair in pairs]
        return trietok.adapt(model, out, texts, terms=terms, start="distil", in_context=2)
    return trietok.adapt(model, out, terms=terms, start=start)


def study(
    model: pathlib.Path,
    domain: pathlib.Path,
    words: int,
    held: int,
    most: int,
    draws: int,
    starts: list[str],
) -> None:
    pairs = read(domain)
    kept, others = pairs[:held], pairs[held:]
    terms = words_of(model, others, words)
    names, definitions = [name for name, _, _ in kept], [definition for _, definition, _ in kept]
    synonyms = [(synonym, number) for number, (_, _, all_) in enumerate(kept) for synonym in all_]
    right = list(range(len(names)))
    original = Embedder(model, most)
    first = len(load_embeddings(model))
    old_names, old_definitions = original.embeddings(names), original.embeddings(definitions)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        trietok.adapt(model, work / "mean", terms=terms, start="mean")
        probe = Embedder(work / "mean", most, original, first)
        new_names = probe.new(names)
        synonyms = [synonyms[number] for number in probe.new([text for text, _ in synonyms])]
        old_synonyms = original.embeddings([text for text, _ in synonyms]) if synonyms else None
        places = [number for _, number in synonyms]
        tokens = [sum(map(len, each.ids(names))) for each in (original, probe)]
        print(
            f"{model.name}, {domain.name}: {len(pairs):,} pairs, {held:,} held back, {len(terms)}"
            f" words; with new ones {len(new_names)} names and {len(synonyms)} synonyms; tokens of"
            f" names {tokens[0]:,} to {tokens[1]:,}",
            flush=True,
        )

        def line(start: str, changed: Embedder | None, seconds: float) -> dict[str, float]:
            q = old_names if changed is None else changed.embeddings(names, old_names)
            row = {"cosine": float((q * old_names).sum(1)[new_names].mean())}
            row["neighbours"] = neighbours(q, old_names, new_names)
            if any(definitions):
                d = (
                    old_definitions
                    if changed is None
                    else changed.embeddings(definitions, old_definitions)
                )
                row |= {
                    "re-embedded": ranks(q, d, right),
                    "old index": ranks(q, old_definitions, right),
                }
            if old_synonyms is not None:
                s = (
                    old_synonyms
                    if changed is None
                    else changed.embeddings([t for t, _ in synonyms], old_synonyms)
                )
                row["synonyms"] = ranks(s, old_definitions, places)
            said = " ".join(f"{name} {value:.4f}" for name, value in row.items())
            print(f"{start:10} {said}  ({seconds:.0f} s of CPU)", flush=True)
            return row

        lines = {"original": [line("original", None, 0)]}
        for start in starts:
            for seed in range(draws if start == "resize" else 1):
                out, began = work / f"{start}{seed}", time.process_time()
                if start in ("resize", "zeros"):
                    rows = resized(model, len(terms), seed) if start == "resize" else np.float32(0)
                    rows = np.broadcast_to(rows, (len(terms), load_embeddings(model).shape[1]))
                    with_rows(work / "mean", out, first, rows)
                else:
                    done = adapted(model, out, terms, start, others)
                    assert load_embeddings(out).shape[0] == first + len(terms)
                    print("  ", done.fitted or "", flush=True)
                seconds = time.process_time() - began
                lines.setdefault(start, []).append(
                    line(start, Embedder(out, most, original, first), seconds)
                )
                shutil.rmtree(out)
    print_table(lines)
    print(json.dumps({"model": model.name, "domain": domain.name, "lines": lines}), flush=True)


def print_table(lines: dict[str, list[Row]]) -> None:
    """Means of rows, and how far they spread where there are several."""
    heads = list(dict.fromkeys(name for rows in lines.values() for name in rows[0]))
    print("\n| start | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    for start, rows in lines.items():
        cells = []
        for name in heads:
            values = [row[name] for row in rows if name in row]
            spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
            cells.append(f"{statistics.mean(values):.4f}{spread}" if values else "")
        print(f"| {start} | " + " | ".join(cells) + " |", flush=True)


class Domain(NamedTuple):
    """Pairs to train with and pairs held back, and the spans of held-back texts at which tokens are
    to be filled in.
    """

    others: list[Pair]
    held: list[Pair]
    masks: list[set[tuple[int, int]]]
    first: int  # new row


class Trained(NamedTuple):
    """How training goes: the same for each start."""

    steps: int
    seeds: list[int]
    batch: int
    length: int  # tokens
    rate: float
    rows_rates: list[float]  # of the new rows, as a multiple of the rate
    fills_in: bool  # masked tokens; else names and definitions are told apart


def trained(
    model: torch.nn.Module, first: int, seed: int, how: Trained, rows_rate: float, loss_of: LossOf
) -> float:
    """Train a model, whose rows from `first` on are new; returns the cosine of those to what they
    were, the mean.
    """
    table = model.get_input_embeddings().weight
    began = table[first:].detach().clone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=how.rate, weight_decay=0.0)
    torch.manual_seed(seed)
    model.train()
    for module in model.modules():  # what a step draws must not depend on how long texts are
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    for step in range(how.steps):
        for group in optimizer.param_groups:
            group["lr"] = how.rate * min(1, (step + 1) / 20)
        loss = loss_of(step)
        optimizer.zero_grad()
        loss.backward()
        before = table[first:].detach().clone()
        optimizer.step()
        # Adam's steps are proportional to the rate, so these are steps at a rate of their own
        with torch.no_grad():
            table[first:] += (rows_rate - 1) * (table[first:] - before)
    model.eval()
    return (
        float(torch.nn.functional.cosine_similarity(table[first:].detach(), began).mean())
        if len(began)
        else 1.0
    )


def in_order(texts: list[Any], seed: int, how: Trained) -> list[Any]:
    """What the steps read, one after the other: all of it in an order of the seed, then again."""
    return random.Random(seed).sample(texts, len(texts)) * (how.steps * how.batch // len(texts) + 1)


def spans_to_mask(texts: list[str], before: Any, after: Any) -> list[set[tuple[int, int]]]:
    """Of each text, 15 % of the spans that are a token to both tokenizers."""
    draw, chosen = random.Random(SEED), []
    for text in texts:
        one, other = (
            {
                tuple(span)
                for span in each(text, return_offsets_mapping=True, truncation=True, max_length=64)[
                    "offset_mapping"
                ]
            }
            for each in (before, after)
        )
        common = sorted(span for span in one & other if span[1] > span[0])
        chosen.append({span for span in common if draw.random() < 0.15})
    return chosen


def train_pairs(
    model: torch.nn.Module, tokenizer: Any, domain: Domain, seed: int, how: Trained, **more: Any
) -> Row:
    """In a batch, each name is to find its own definition."""
    order = in_order(domain.others, seed, how)

    def loss_of(step: int) -> torch.Tensor:
        some = order[step * how.batch : (step + 1) * how.batch]
        names, definitions = (
            pooled(model, tokenizer, [pair[side] for pair in some], how.length) for side in (0, 1)
        )
        return torch.nn.functional.cross_entropy(
            20 * names @ definitions.T, torch.arange(how.batch)
        )

    kept = trained(model, seed=seed, how=how, loss_of=loss_of, **more)
    with torch.no_grad():
        names, definitions = (
            pooled(model, tokenizer, [pair[side] for pair in domain.held], 64) for side in (0, 1)
        )
    place = list(range(len(domain.held)))
    return {"MRR": ranks(names.numpy(), definitions.numpy(), place), "rows kept": kept}


def train_masked(
    model: torch.nn.Module, tokenizer: Any, domain: Domain, seed: int, how: Trained, **more: Any
) -> Row:
    """The model fills in masked tokens; the loss is that of tokens that both tokenizers cut
    alike.
    """
    order = in_order([text_of(pair) for pair in domain.others], seed, how)

    def filled_in(
        read: torch.Tensor, mask: torch.Tensor, chosen: torch.Tensor, right: torch.Tensor
    ) -> torch.Tensor:
        hidden = model.base_model(input_ids=read, attention_mask=mask).last_hidden_state
        return torch.nn.functional.cross_entropy(
            model.cls(hidden[chosen]), right[chosen], reduction="none"
        )

    def loss_of(step: int) -> torch.Tensor:
        some = tokenizer(
            order[step * how.batch : (step + 1) * how.batch], truncation=True, max_length=how.length
        )
        ids, mask = padded(some["input_ids"], tokenizer.pad_token_id)
        read, chosen = masked(ids, tokenizer)
        return filled_in(read, mask, chosen, ids).mean()

    kept = trained(model, seed=seed, how=how, loss_of=loss_of, **more)
    losses: dict[bool, list[float]] = {False: [], True: []}
    for pair, spans in zip(domain.held, domain.masks, strict=True):
        text = text_of(pair)
        done = tokenizer(text, truncation=True, max_length=64, return_offsets_mapping=True)
        ids, mask = padded([done["input_ids"]], 0)
        for new in (False, True):
            places = [
                ids[0, place] >= domain.first if new else tuple(span) in spans
                for place, span in enumerate(done["offset_mapping"])
            ]
            chosen = torch.tensor([places])
            if chosen.any():
                with torch.no_grad():
                    read = ids.masked_fill(chosen, tokenizer.mask_token_id)
                    losses[new] += filled_in(read, mask, chosen, ids).tolist()
    row = {"loss": statistics.mean(losses[False]), "rows kept": kept}
    return row | ({"loss at new": statistics.mean(losses[True])} if losses[True] else {})


def train_study(
    model: pathlib.Path, where: pathlib.Path, words: int, held: int, starts: list[str], how: Trained
) -> dict[str, list[Row]]:
    """Each start trained with each seed, and with each rate for its new rows; the original, too."""
    pairs = read(where)
    terms = words_of(model, pairs[held:], words)
    kind = transformers.AutoModelForMaskedLM if how.fills_in else transformers.AutoModel
    first, before, lines = (
        len(load_embeddings(model)),
        trietok.BertTokenizerFast.from_pretrained(model),
        {},
    )
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for start in {"mean", *starts} - {"resize"}:
            adapted(model, work / start, terms, start, pairs[held:])
        after = trietok.BertTokenizerFast.from_pretrained(work / "mean")
        masks = (
            spans_to_mask([text_of(pair) for pair in pairs[:held]], before, after)
            if how.fills_in
            else []
        )
        domain = Domain(pairs[held:], pairs[:held], masks, first)
        ends = [
            sum(map(len, each([text_of(pair) for pair in pairs[:held]])["input_ids"]))
            for each in (before, after)
        ]
        print(
            f"{model.name}, {where.name}: {len(terms)} words, {held} texts held back, {ends[0]:,}"
            f" tokens to {ends[1]:,}"
        )
        for untrained in (True, False):
            for seed in how.seeds[:1] if untrained else how.seeds:
                for start in ("original", *starts):
                    for rate in how.rows_rates if start != "original" and not untrained else [1.0]:
                        began = time.process_time()
                        changed = kind.from_pretrained(
                            model if start in ("original", "resize") else work / start
                        )
                        if start == "resize":
                            torch.manual_seed(seed)
                            changed.resize_token_embeddings(first + len(terms))
                        tokenizer, train = before if start == "original" else after, how
                        if untrained:
                            train = how._replace(steps=0)
                        run = train_masked if how.fills_in else train_pairs
                        row = run(
                            changed, tokenizer, domain, seed, train, first=first, rows_rate=rate
                        )
                        name = (
                            f"{start}, {'untrained' if untrained else 'trained'}"
                            + f", x{rate:g}" * (rate != 1)
                        )
                        lines.setdefault(name, []).append(row)
                        said = {"seed": seed, **row, "CPU": round(time.process_time() - began)}
                        print(name, json.dumps(said), flush=True)
    print_table(lines)
    return lines


def load_embeddings(directory: pathlib.Path) -> np.ndarray:
    tensors = load_file(directory / "model.safetensors")
    return next(
        tensor for name, tensor in tensors.items() if name.endswith("word_embeddings.weight")
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("domain", type=pathlib.Path)
    arguments.add_argument("--words", type=int, default=500)
    arguments.add_argument("--held", type=int, default=600)
    arguments.add_argument("--max-length", type=int, default=96)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--draws", type=int, default=3, help="of transformers' random rows")
    arguments.add_argument(
        "--train", type=int, metavar="STEPS", help="train, and measure what comes of it"
    )
    arguments.add_argument(
        "--masked", action="store_true", help="train a BERT to fill in masked tokens, not on pairs"
    )
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments.add_argument("--batch", type=int, default=32)
    arguments.add_argument(
        "--train-length", type=int, default=64, help="tokens of a text that training reads"
    )
    arguments.add_argument("--rate", type=float, default=2e-5)
    arguments.add_argument(
        "--rows-rates", type=float, nargs="+", default=[1.0], help="of new rows, times --rate"
    )
    arguments.add_argument("--starts", nargs="+", choices=STARTS, default=list(STARTS))
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    transformers.logging.set_verbosity_error()
    if given.train is None:
        study(
            given.model,
            given.domain,
            given.words,
            given.held,
            given.max_length,
            given.draws,
            given.starts,
        )
    else:
        how = (
            given.train,
            given.seeds,
            given.batch,
            given.train_length,
            given.rate,
            given.rows_rates,
            given.masked,
        )
        train_study(given.model, given.domain, given.words, given.held, given.starts, Trained(*how))
