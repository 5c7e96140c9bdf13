"""Build a vocabulary directory from a text: count words, join the most frequent pairs of pieces, keep the pieces.

    python vocab/build.py TEXT DIRECTORY --size 8000

The text has one passage a line, in UTF-8. Words are those of trietok's uncased `BasicTokenizer`. Every character that
occurs at least five times is a piece, so is every printable ASCII character, each also in its `##` form; the rest of
the size goes to pieces that join two others, the pair that occurs most often first (ties: the pair that sorts first).
The result depends on the text and the size alone.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import pathlib
import string
from collections import Counter, defaultdict

from trietok.basic_tokenizer import BasicTokenizer
from trietok.vocab_files import (
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    VOCAB_FILE,
    write_json,
    write_vocab_lines,
)

ROLES = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
UNUSED = 16  # slots for tokens that users give a meaning of their own
RARE = 5

Pair = tuple[str, str]


def count_words(path: pathlib.Path) -> Counter[str]:
    basic = BasicTokenizer()
    with open(path, encoding="utf-8", newline="\n") as lines:
        return Counter(word for line in lines for word in basic.tokenize(line))


def alphabet(words: Counter[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for char in word:
            counts[char] += count
    seen = {char for char, count in counts.items() if count >= RARE}
    printable = set(string.ascii_lowercase + string.digits + string.punctuation)
    chars = sorted(seen | printable)
    return chars + ["##" + char for char in chars]


def joined(pair: Pair) -> str:
    return pair[0] + pair[1].removeprefix("##")


def joined_pieces(words: Counter[str], wanted: int) -> list[str]:
    """The pieces made by joining, most frequent pair first, until there are `wanted` or no pair occurs twice."""
    spelled = [[word[0], *("##" + char for char in word[1:])] for word in words]
    counts = list(words.values())
    pairs: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, pieces in enumerate(spelled):
        for pair in itertools.pairwise(pieces):
            pairs[pair] += counts[index]
            where[pair].add(index)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    made: dict[str, None] = {}
    while heap and len(made) < wanted:
        count, pair = heapq.heappop(heap)
        if -count != pairs[pair]:  # an entry that was overtaken; the true count is elsewhere in the heap
            continue
        if -count < 2:
            break
        made[joined(pair)] = None
        changed: set[Pair] = set()
        for index in where.pop(pair):
            before = spelled[index]
            after = join_in(before, pair)
            for old in itertools.pairwise(before):
                pairs[old] -= counts[index]
                changed.add(old)
            for new in itertools.pairwise(after):
                pairs[new] += counts[index]
                where[new].add(index)
                changed.add(new)
            spelled[index] = after
        for other in changed:
            if pairs[other] > 0:
                heapq.heappush(heap, (-pairs[other], other))
    return list(made)


def join_in(pieces: list[str], pair: Pair) -> list[str]:
    result: list[str] = []
    for piece in pieces:
        if result and (result[-1], piece) == pair:
            result[-1] = joined(pair)
        else:
            result.append(piece)
    return result


def build(text: pathlib.Path, size: int) -> list[str]:
    words = count_words(text)
    tokens = [*ROLES.values(), *(f"[unused{number}]" for number in range(UNUSED)), *alphabet(words)]
    return tokens + joined_pieces(words, size - len(tokens))


def main() -> None:
    parser = argparse.ArgumentParser(description="Build a vocabulary directory from a text.")
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=8000)
    arguments = parser.parse_args()
    tokens = build(arguments.text, arguments.size)
    arguments.directory.mkdir(parents=True, exist_ok=True)
    write_vocab_lines(arguments.directory / VOCAB_FILE, tokens)
    write_json(
        arguments.directory / TOKENIZER_CONFIG_FILE,
        {**ROLES, "do_lower_case": True, "model_max_length": 512, "tokenizer_class": "BertTokenizer"},
    )
    write_json(arguments.directory / SPECIAL_TOKENS_MAP_FILE, ROLES)
    print(f"{len(tokens)} tokens in {arguments.directory / VOCAB_FILE}")


if __name__ == "__main__":
    main()
