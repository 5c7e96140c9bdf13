"""Masking, said plainly: words one after the other, then the tokens of the chosen ones, a number
for each decision.
"""

from __future__ import annotations

from collections.abc import Iterator


def words_of(tokens: list[str], is_maskable: list[bool]) -> list[list[int]]:
    """The places of each word of one text: a piece that continues goes with the token before it."""
    words: list[list[int]] = []
    for place, token in enumerate(tokens):
        if not is_maskable[place]:
            continue
        if token.startswith("##") and place > 0 and is_maskable[place - 1]:
            words[-1].append(place)
        else:
            words.append([place])
    return words


def mask(
    rows: list[list[int]],
    words: list[list[list[int]]],
    shares: tuple[float, float, float],
    raw: Iterator[int],
    mask_token_id: int,
    random_ids: list[int],
) -> tuple[list[list[int]], list[list[int]]]:
    """Masked rows and labels; `words` are the places of each word of each row, `raw` numbers of 64
    bits.
    """
    chosen_share, masked_share, random_share = shares
    seen = [list(row) for row in rows]
    labels = [[-100] * len(row) for row in rows]

    def uniform() -> float:
        return (next(raw) >> 11) / 2**53

    chosen = []
    for row, words_of_row in enumerate(words):
        for word in words_of_row:
            if uniform() < chosen_share:
                chosen += [(row, place) for place in word]
    random = []
    for row, place in chosen:
        labels[row][place] = rows[row][place]
        fate = uniform()
        if fate < masked_share:
            seen[row][place] = mask_token_id
        elif fate < masked_share + random_share:
            random.append((row, place))
    for row, place in random:
        seen[row][place] = random_ids[next(raw) % len(random_ids)]
    return seen, labels
