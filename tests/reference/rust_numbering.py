"""How tokenizers numbers the added tokens of a tokenizer.json, told step by step."""

from __future__ import annotations


def numbered_by_rust(vocabulary: dict[str, int], contents: list[str]) -> list[int]:
    """One token after the other; the added tokens so far are looked at anew each time."""
    added: dict[str, int] = {}
    numbers = []
    for content in contents:
        if content in added:
            token_id = added[content]
        elif content in vocabulary:
            token_id = vocabulary[content]
        elif not added:
            token_id = len(vocabulary)
        elif max(added.values()) >= len(vocabulary):
            token_id = max(added.values()) + 1
        else:
            token_id = len(vocabulary)
        added[content] = token_id
        numbers.append(token_id)
    return numbers
