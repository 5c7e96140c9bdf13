"""What of a model goes with its vocabulary: the tensors that have a row for each token, by their
names, and the ids that its configuration holds.

In: names and shapes, the values of a configuration, and what a plan says of rows. Out: the axis of
the tokens in each tensor, and the ids that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

from trietok.errors import InputError

# A weighted sum of old rows, by their numbers; one without terms is a row of zeros.
Sum = tuple[tuple[int, float], ...]


class Sources(Protocol):
    """Where rows come from, as a `RowPlan` says it."""

    @property
    def rows_before(self) -> int: ...

    @property
    def rows_after(self) -> int: ...

    @property
    def sources(self) -> Sequence[int]: ...

    @property
    def sums(self) -> Sequence[Sum]: ...

    def new_rows_of(self) -> dict[int, int]: ...


# ---- which tensors have a row, or a column, for each token ---------------------------------------

# How the name of a tensor ends in transformers' models, whatever stands before it (`bert.`,
# `question_encoder.bert_model.` and the like), and the axis of the tokens.
TOKEN_AXES: dict[str, int] = {
    "word_embeddings.weight": 0,  # all of the family
    # BERT, LayoutLM, LXMERT, MobileBERT, SqueezeBERT
    "cls.predictions.decoder.weight": 0,
    "cls.predictions.decoder.bias": 0,
    "cls.predictions.bias": 0,
    # MobileBERT: the part of its head that is not tied to its embeddings
    "cls.predictions.dense.weight": (1),
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
        (
            TOKEN_AXES[end]
            for start in range(len(words))
            if (end := ".".join(words[start:])) in TOKEN_AXES
        ),
        None,
    )


def token_axes(
    shapes: Mapping[str, tuple[int, ...]],
    rows: int,
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    places: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """The tensors that go with the vocabulary of a model with so many rows, each with the axis of
    the tokens.

    `also` and `leave` are names, or patterns with `*`, of more tensors whose first axis is that of
    the tokens, and of tensors that do not go with the vocabulary; `places` are the files of the
    tensors, which an error names.

    >>> token_axes({"embeddings.word_embeddings.weight": (9, 4), "pooler.dense.weight": (4, 4)}, 9)
    {'embeddings.word_embeddings.weight': 0}
    """
    wanted, left = (
        _matching(patterns, shapes, option)
        for patterns, option in ((also, "also"), (leave, "leave"))
    )
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
                    f"{where} has a dimension of {rows:,}, as many as there are token rows, and"
                    f" nothing is known of it. Say --also {name} (also=[...]) if its first axis has"
                    f" a row for each token, or --leave {name} (leave=[...]) if it has nothing to"
                    " do with tokens"
                )
        elif axis >= len(shape) or shape[axis] != rows:
            found = shape[axis] if axis < len(shape) else "no"
            raise InputError(
                f"{where} has {found} rows for tokens, and the configuration says vocab_size"
                f" {rows:,}; correct the model, or say --leave {name} (leave=[...]) if the tensor"
                " has nothing to do with tokens"
            )
        else:
            axes[name] = axis
    if not axes:
        raise InputError(
            f"none of the {len(shapes):,} tensors has rows for tokens by its name; say --also NAME"
            " (also=[...]) which of them has"
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


# ---- the ids that a model's configuration holds --------------------------------------------------

_ENDINGS = ("_token_id", "_token_ids")
_OTHERS = frozenset(("suppress_tokens", "begin_suppress_tokens", "bad_words_ids"))
# What a model's class takes where config.json does not say; those of Funnel and LXMERT take
# nothing.
_PAD, _QUESTION = "pad_token_id", "question_token_id"
_DEFAULTS = {
    **{
        name: {_PAD: 0}
        for name in "bert distilbert dpr electra layoutlm mobilebert retribert squeezebert".split()
    },
    "convbert": {_PAD: 1},
    "splinter": {_PAD: 0, _QUESTION: 104},
}
_MPNET_PAD = 1


def moved_ids(
    values: Mapping[str, Any],
    plan: Sources,
    *,
    where: str,
    tokenizer: Any = None,
    is_model: bool = True,
) -> dict[str, Any]:
    """The ids among the values of a configuration that change, with what they are to be.

    `where` is how an error names the configuration; the tokenizer tells the id of a role where the
    plan loses the row of the old one; `is_model`: it is that of a model, whose class has ids that
    it takes where none are given.

    >>> from trietok.workbench.adapting.row_plan import RowPlan
    >>> moved_ids(
    ...     {"pad_token_id": 0, "vocab_size": 3},
    ...     RowPlan("A", "B", 3, 3, [1, 0, 2]),
    ...     where="config.json",
    ... )
    {'pad_token_id': 1}
    """
    new_ids = plan.new_rows_of()
    kind = values.get("model_type") if is_model else None
    if kind == "mpnet" and plan.rows_before > _MPNET_PAD and new_ids.get(_MPNET_PAD) != _MPNET_PAD:
        raise InputError(
            "MPNet takes the id 1 for padding, whatever its configuration says, and the plan moves"
            " that row; give a tokenizer whose padding token has the id 1"
        )

    def moved(key: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [moved(key, each) for each in value]
        if type(value) is not int or not 0 <= value < plan.rows_before:
            return value  # None, or an id that means nothing to this vocabulary
        if value in new_ids:
            return new_ids[value]
        role = key.removesuffix("_id")
        if tokenizer is None or not key.endswith("_token_id"):
            raise InputError(
                f"{where} has {key} {value}, and the plan drops that row; give the new tokenizer"
                " too (tokenizer=..., --new-tokenizer), which has another token in that role, or"
                " change the configuration first"
            )
        token = getattr(tokenizer, role, None)
        return None if token is None else tokenizer.convert_tokens_to_ids(str(token))

    defaults = _DEFAULTS.get(kind, {}) if isinstance(kind, str) else {}
    ids = {key: value for key, value in defaults.items() if key not in values}
    ids |= {key: value for key, value in values.items() if key.endswith(_ENDINGS) or key in _OTHERS}
    return {key: new for key, value in ids.items() if (new := moved(key, value)) != value}
