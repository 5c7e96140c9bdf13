"""Which tensors of a model have a row, or a column, for each token of its vocabulary.

In: the names and shapes of tensors. Out: for each that goes with the vocabulary the axis of the tokens. The names are
those of transformers' models, in files and as parameters alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from trietok.errors import InputError

# How the name of a tensor ends, whatever stands before it (`bert.`, `question_encoder.bert_model.` and the like), and
# the axis of the tokens.
TOKEN_AXES: dict[str, int] = {
    "word_embeddings.weight": 0,  # all of the family
    # BERT, LayoutLM, LXMERT, MobileBERT, SqueezeBERT
    "cls.predictions.decoder.weight": 0,
    "cls.predictions.decoder.bias": 0,
    "cls.predictions.bias": 0,
    "cls.predictions.dense.weight": 1,  # MobileBERT: the part of its head that is not tied to its embeddings
    # DistilBERT
    "vocab_projector.weight": 0,
    "vocab_projector.bias": 0,
    # ELECTRA, ConvBERT
    "generator_lm_head.weight": 0,
    "generator_lm_head.bias": 0,
    # MPNet, Funnel
    "lm_head.decoder.weight": 0,
    "lm_head.decoder.bias": 0,
    "lm_head.weight": 0,
    "lm_head.bias": 0,
}


def token_axis(name: str) -> int | None:
    """The axis of the tokens in a tensor of that name; None where no rule knows it.

    >>> token_axis("question_encoder.bert_model.embeddings.word_embeddings.weight")
    0
    >>> token_axis("cls.predictions.dense.weight"), token_axis("pooler.dense.weight")
    (1, None)
    """
    words = name.split(".")
    return next(
        (TOKEN_AXES[end] for start in range(len(words)) if (end := ".".join(words[start:])) in TOKEN_AXES), None
    )


def token_axes(
    shapes: Mapping[str, tuple[int, ...]],
    rows: int,
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    places: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """The tensors that go with the vocabulary, each with the axis of the tokens.

    Args:
        shapes: every tensor of a model.
        rows: how many rows the model has for tokens.
        also: names, or patterns with `*`, of more tensors whose first axis is that of the tokens.
        leave: names or patterns of tensors that do not go with the vocabulary.
        places: for each tensor the file that it is in, which an error names.

    Raises:
        InputError: a tensor that should go with the vocabulary has another number of rows; one of which nothing is
            known has as many; `also` or `leave` names none, or both name one; no tensor goes with the vocabulary.

    >>> token_axes({"embeddings.word_embeddings.weight": (9, 4), "pooler.dense.weight": (4, 4)}, 9)
    {'embeddings.word_embeddings.weight': 0}
    """
    wanted, left = (_matching(patterns, shapes, option) for patterns, option in ((also, "also"), (leave, "leave")))
    both = sorted(wanted & left)
    if both:
        raise InputError(f"{both[0]!r} is named by both `also` and `leave`")
    axes: dict[str, int] = {}
    for name, shape in shapes.items():
        if name in left:
            continue
        axis = 0 if name in wanted else token_axis(name)
        where = f"{name!r} of shape {list(shape)}{f' in {places[name]}' if places else ''}"
        if axis is None:
            if rows in shape:
                raise InputError(
                    f"{where} has a dimension of {rows:,}, as many as there are token rows, and nothing is known of "
                    f"it. Say --also {name} (also=[...]) if its first axis has a row for each token, or --leave {name} "
                    "(leave=[...]) if it has nothing to do with tokens"
                )
        elif axis >= len(shape) or shape[axis] != rows:
            found = shape[axis] if axis < len(shape) else "no"
            raise InputError(
                f"{where} has {found} rows for tokens, and the configuration says vocab_size {rows:,}; correct the "
                f"model, or say --leave {name} (leave=[...]) if the tensor has nothing to do with tokens"
            )
        else:
            axes[name] = axis
    if not axes:
        raise InputError(
            f"none of the {len(shapes):,} tensors has rows for tokens by its name; say --also NAME (also=[...]) which "
            "of them has"
        )
    return axes


def _matching(patterns: Iterable[str], names: Iterable[str], option: str) -> set[str]:
    found: set[str] = set()
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        matching = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            raise InputError(f"`{option}` names {pattern!r}, and there is no such tensor")
        found |= matching
    return found
