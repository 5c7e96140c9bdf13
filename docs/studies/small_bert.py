"""A small BERT of one's own texts, with its masked-language head and as a model of sentences:
something to study with.

    python docs/studies/small_bert.py OUT TEXTS.txt FOLDER... [--minutes 8] [--pair-minutes 5]

It learns a vocabulary of the texts, then to fill in masked tokens (into OUT, a `BertForMaskedLM`),
then to tell which rest belongs to the first line of a docstring, and which line follows a line
(into OUT-st, for sentence-transformers). A folder holds Python files, whose docstrings are texts.
The learning rate falls with the time that is left; so what comes out depends on how fast the
machine is.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import pathlib
import random
import time

import new_rows  # beside this file
import torch
import transformers

import trietok

LENGTH = 64  # tokens


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


def minutes_of(minutes: float, rate: float, optimizer: torch.optim.Optimizer):
    """Numbers of steps, until the minutes are over; the rate rises for 20 steps and falls to 0."""
    began, step = time.monotonic(), 0
    while (done := (time.monotonic() - began) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 20) * (1 - done)
        yield step
        step += 1


def learn_to_fill_in(model, rows: torch.Tensor, tokenizer, minutes: float) -> int:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    losses, step = [], 0
    for step in minutes_of(minutes, 1e-3, optimizer):
        some = rows[torch.randint(len(rows), (32,))]
        read, chosen = masked(some, tokenizer)
        hidden = model.bert(input_ids=read).last_hidden_state[chosen]
        loss = torch.nn.functional.cross_entropy(model.cls(hidden), some[chosen])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        losses.append(loss.item())
        if step % 25 == 0:
            print(f"masked {step}: loss {sum(losses[-25:]) / len(losses[-25:]):.3f}", flush=True)
    return step + 1


def learn_pairs(bert, pairs: list[tuple[str, str]], tokenizer, minutes: float) -> int:
    optimizer = torch.optim.AdamW(bert.parameters(), lr=3e-4, weight_decay=0.01)
    draw, losses, step = random.Random(1), [], 0
    for step in minutes_of(minutes, 3e-4, optimizer):
        some = draw.sample(pairs, 48)
        one, other = (pooled(bert, tokenizer, [pair[side] for pair in some], 48) for side in (0, 1))
        loss = torch.nn.functional.cross_entropy(20 * one @ other.T, torch.arange(len(some)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0:
            print(f"pairs {step}: loss {sum(losses[-10:]) / len(losses[-10:]):.3f}", flush=True)
    return step + 1


def for_sentences(bert, tokenizer, out: pathlib.Path) -> None:
    """A directory of sentence-transformers, with the mean as its pooling."""
    bert.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": bert.config.hidden_size,
        "pooling_mode_mean_tokens": True,
    }
    (out / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (out / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 128, "do_lower_case": False})
    )
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": path,
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, (path, kind) in enumerate(kinds.items())
    ]
    (out / "modules.json").write_text(json.dumps(modules))


def make(
    out: pathlib.Path,
    sources: list[pathlib.Path],
    minutes: float,
    pair_minutes: float,
    words: int,
    layers: int,
    width: int,
) -> None:
    texts, pairs = [], []
    for source in sources:
        if source.is_dir():
            found = [(name, rest) for name, rest, _ in new_rows.docstrings(source)]
            texts += [f"{name} {rest}" for name, rest in found]
            pairs += found
        else:
            lines = [
                line for line in source.read_text(encoding="utf-8").splitlines() if len(line) > 60
            ]
            texts += lines
            pairs += itertools.pairwise(lines)
    print(f"{len(texts):,} texts, {len(pairs):,} pairs", flush=True)
    trietok.save_tokenizer(trietok.train_wordpiece(texts, vocab_size=words), out)
    tokenizer = trietok.BertTokenizerFast.from_pretrained(out)
    tokenizer.model_max_length = 128
    ids = [
        token for each in tokenizer(texts, add_special_tokens=False)["input_ids"] for token in each
    ]
    inner = LENGTH - 2
    rows = torch.tensor(ids[: len(ids) // inner * inner]).view(-1, inner)
    ends = [
        torch.full((len(rows), 1), end) for end in (tokenizer.cls_token_id, tokenizer.sep_token_id)
    ]
    rows = torch.cat([ends[0], rows, ends[1]], 1)
    print(f"{len(ids):,} tokens", flush=True)
    torch.manual_seed(1)
    model = transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            intermediate_size=4 * width,
            max_position_embeddings=128,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )
    with torch.no_grad():
        counts = torch.bincount(rows.flatten(), minlength=len(tokenizer)) + 1
        model.cls.predictions.bias.copy_(counts.log() - math.log(counts.sum()))
    steps = learn_to_fill_in(model, rows, tokenizer, minutes)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    more = learn_pairs(model.bert, pairs, tokenizer, pair_minutes)
    for_sentences(model.bert, tokenizer, out.with_name(out.name + "-st"))
    print(f"{steps} steps of masked tokens, {more} of pairs; {time.process_time():.0f} s of CPU")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("sources", type=pathlib.Path, nargs="+")
    arguments.add_argument("--minutes", type=float, default=8)
    arguments.add_argument("--pair-minutes", type=float, default=5)
    arguments.add_argument("--words", type=int, default=6000)
    arguments.add_argument("--layers", type=int, default=2)
    arguments.add_argument("--width", type=int, default=128)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    make(
        given.out,
        given.sources,
        given.minutes,
        given.pair_minutes,
        given.words,
        given.layers,
        given.width,
    )
