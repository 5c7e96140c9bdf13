"""Ids: against each other, and entries that no text gives."""

from __future__ import annotations

from collections.abc import Iterator

from trietok.checking.reach import unreachable
from trietok.checking.report import Finding
from trietok.checking.rules.facts import Facts
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE


def loaded_ids(facts: Facts) -> dict[int, str]:
    """The added tokens by id, with those that are added on loading."""
    if facts.slow is None:
        return {token_id: token.content for token_id, token, _ in facts.added}
    return {token_id: token.content for token_id, token in facts.slow.added_tokens_decoder.items()}


def holes(facts: Facts) -> Iterator[Finding]:
    """Ids that no token has."""
    used = sorted({*facts.by_line, *loaded_ids(facts)})
    for before, after in zip([-1, *used], used, strict=False):
        if after > before + 1:
            yield _hole(facts, before + 1, after - 1)


def _hole(facts: Facts, first: int, last: int) -> Finding:
    declared = last - first < len(facts.holes) and facts.holes.issuperset(range(first, last + 1))
    which = f"id {first} belongs" if first == last else f"ids {first} to {last} belong"
    message = f"{which} to no token" + (
        f", as {TOKENIZER_CONFIG_FILE} declares" if declared else "; transformers gives new tokens ids that are taken"
    )
    return Finding("note" if declared else "warning", "id-hole", message, token_id=first, other_id=last)


def past_the_model(facts: Facts) -> Iterator[Finding]:
    """Ids for which config.json gives the model no row, and rows that no id uses."""
    rows = facts.files.model_config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        return
    encoding = {token_id: token for token, token_id in facts.line_ids.items()}
    loaded = loaded_ids(facts)
    past = sorted((token_id, token) for token_id, token in {**encoding, **loaded}.items() if token_id >= rows)
    for token_id, token in past:
        message = f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1} (vocab_size)"
        yield Finding("error", "id-past-model", message, CONFIG_FILE, token=token, token_id=token_id)
    needed = rows_needed(facts)
    if rows > needed:
        padded = is_padded(rows, needed)
        message = f"vocab_size is {rows}, and ids end at {needed - 1}: {rows - needed} row(s) are not used"
        if not padded:
            message += ", which is not a number padded to a multiple of 8 to 1024"
        yield Finding("note" if padded else "warning", "model-larger", message, CONFIG_FILE)


def highest_id(facts: Facts) -> int:
    """The highest id that a token has, -1 if there is none."""
    return max(max(facts.by_line, default=-1), max(loaded_ids(facts), default=-1))


def rows_needed(facts: Facts) -> int:
    """How many rows a model needs; ids of tokens that were removed stay reserved, and have theirs."""
    return 1 + max(highest_id(facts), -1 if facts.slow is None else facts.slow.max_id)


def is_padded(rows: int, needed: int) -> bool:
    """Whether so many rows are `needed` ones made up to a multiple of a power of two, as is done for speed.

    >>> is_padded(30528, 30522), is_padded(31000, 30522)
    (True, False)
    """
    return any(rows == -(-needed // size) * size for size in (8, 16, 32, 64, 128, 256, 512, 1024))


def unreachable_entries(facts: Facts) -> Iterator[Finding]:
    """Entries that no text gives."""
    if facts.slow is None:
        return
    if hasattr(facts.slow, "stage_settings"):  # stages that are not BERT's
        return
    for entry in unreachable(facts.slow):
        if entry.token and entry.token_id not in facts.files.odd:
            yield Finding(
                "note",
                entry.code,
                f"no text gives {entry.token!r}: {entry.why}",
                file=facts.vocabulary_file,
                line_number=facts.line_number(entry.token_id),
                token=entry.token,
                token_id=entry.token_id,
            )
