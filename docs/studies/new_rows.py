"""How new rows are initialized, measured: what a model that took words of a domain still knows of
it, without any training.

    python docs/studies/new_rows.py MODEL_DIR DOMAIN [--words 500] [--held 600]
        [--initializations mean length distil]

MODEL_DIR is a model with its tokenizer, of sentence-transformers or of transformers. DOMAIN holds
names with their definitions: an ontology (.obo), what `apt-cache dumpavail` writes (.avail: the
synopsis of each package, without a definition), or a folder of Python files (the first line of each
docstring, and the rest of it). It needs torch and transformers.

Of the pairs, some are held back. In the others the words are found that are most worth a token;
each initialization then gives the model its rows, and what is measured is measured on the pairs
held back.

- cosine: between the embeddings of a name by the changed model and by the original, of the names
  with new tokens.
- neighbours: of the ten names nearest to each name with a new token, in an index of the original
  embeddings of all names, the share that the name's embedding by the changed model finds in it.
- re-embedded: the mean reciprocal rank of a name's definition among all, both embedded by the
  changed model.
- old index: the same where the definitions were embedded by the original model.
- synonyms: the same for a synonym of the name, where the domain has some.
"""

from __future__ import annotations

import argparse
import ast
import json
import pathlib
import random
import re
import shutil
import statistics
import tempfile
import time
import warnings

import numpy as np
import torch
import transformers
from safetensors.numpy import load_file, save_file

import trietok
from trietok.workbench.adapting.checkpoint import read_checkpoint
from trietok.workbench.adapting.distil import Embedder

Pair = tuple[str, str, list[str]]  # a name, its definition, its synonyms
Row = dict[str, float]
SEED = 7
INITIALIZATIONS = ("resize", "zeros", "mean", "length", "distil")


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


class Texts:
    """The embeddings of texts by a directory; a text without a new token has that of the original
    model.
    """

    def __init__(self, directory: pathlib.Path, most: int, first: int = 0) -> None:
        self.tokenizer = trietok.AutoTokenizer.from_pretrained(directory)
        self._embedder = Embedder(read_checkpoint(directory), self.tokenizer)
        self._most, self._first = most, first

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
        """The embedding of each text, of the length 1; of those `known`, texts without a new token
        keep theirs.
        """
        ids, found = self.ids(texts), {} if known is None else dict(enumerate(known))
        new = range(len(texts)) if known is None else self.new(texts)
        order = sorted(new, key=lambda number: len(ids[number]))
        for first in range(0, len(order), 32):  # texts of about one length go together
            some = order[first : first + 32]
            rows = self._embedder.embedded([ids[number] for number in some])
            found |= zip(some, torch.nn.functional.normalize(rows, dim=1).numpy(), strict=True)
        return np.stack([found[number] for number in range(len(texts))])


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


def study(
    model: pathlib.Path,
    domain: pathlib.Path,
    words: int,
    held: int,
    most: int,
    draws: int,
    initializations: list[str],
) -> None:
    pairs = read(domain)
    kept, others = pairs[:held], pairs[held:]
    terms = words_of(model, others, words)
    names, definitions = [name for name, _, _ in kept], [definition for _, definition, _ in kept]
    synonyms = [(synonym, number) for number, (_, _, all_) in enumerate(kept) for synonym in all_]
    right = list(range(len(names)))
    original = Texts(model, most)
    first = len(load_embeddings(model))
    old_names, old_definitions = original.embeddings(names), original.embeddings(definitions)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        trietok.adapt(model, work / "mean", terms=terms, initialization="mean")
        probe = Texts(work / "mean", most, first)
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

        def line(name: str, changed: Texts | None, seconds: float) -> dict[str, float]:
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
            said = " ".join(f"{key} {value:.4f}" for key, value in row.items())
            print(f"{name:10} {said}  ({seconds:.0f} s of CPU)", flush=True)
            return row

        lines = {"original": [line("original", None, 0)]}
        for name in initializations:
            for seed in range(draws if name == "resize" else 1):
                out, began = work / f"{name}{seed}", time.process_time()
                if name in ("resize", "zeros"):
                    rows = resized(model, len(terms), seed) if name == "resize" else np.float32(0)
                    rows = np.broadcast_to(rows, (len(terms), load_embeddings(model).shape[1]))
                    with_rows(work / "mean", out, first, rows)
                else:
                    done = trietok.adapt(model, out, terms=terms, initialization=name)
                    assert load_embeddings(out).shape[0] == first + len(terms)
                    print("  ", done.fitted or "", flush=True)
                seconds = time.process_time() - began
                lines.setdefault(name, []).append(line(name, Texts(out, most, first), seconds))
                shutil.rmtree(out)
    print_table(lines)
    print(json.dumps({"model": model.name, "domain": domain.name, "lines": lines}), flush=True)


def print_table(lines: dict[str, list[Row]]) -> None:
    """Means of rows, and how far they spread where there are several."""
    heads = list(dict.fromkeys(name for rows in lines.values() for name in rows[0]))
    print("\n| initialization | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    for initialization, rows in lines.items():
        cells = []
        for name in heads:
            values = [row[name] for row in rows if name in row]
            spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
            cells.append(f"{statistics.mean(values):.4f}{spread}" if values else "")
        print(f"| {initialization} | " + " | ".join(cells) + " |", flush=True)


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
        "--initializations", nargs="+", choices=INITIALIZATIONS, default=list(INITIALIZATIONS)
    )
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    transformers.logging.set_verbosity_error()
    study(
        given.model,
        given.domain,
        given.words,
        given.held,
        given.max_length,
        given.draws,
        given.initializations,
    )
