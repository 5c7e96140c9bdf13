"""Random calls of trietok's tokenizers and transformers', of both profiles: all options, all
inputs, mistakes.

Compared are values, types, dtypes, shapes, the order of columns, the details of fast results, the
warning of the length and the built-in class of what is raised. What may differ has its number in
docs/hf_compatibility.md beside it here.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy
import pytest
import transformers

import trietok
from tests.conftest import often
from tests.parity.conftest import (
    TENSORS,
    assert_same_encodings,
    different,
    directory_of,
    torch,
)

SAME_TOKENIZER = 25  # calls
TOO_LONG = "sequence-length-is-longer-than-the-specified-maximum"
BOOL = (False, True)
OPTIONAL_BOOL = (None, False, True)
PADDINGS = (False, False, True, "longest", "max_length", "max_length", "do_not_pad")
TRUNCATIONS = (
    None,
    False,
    True,
    True,
    "longest_first",
    "only_first",
    "only_second",
    "do_not_truncate",
)
PADDINGS += tuple(transformers.utils.PaddingStrategy)
TRUNCATIONS += tuple(transformers.tokenization_utils_base.TruncationStrategy)
KINDS = (None, None, None, *TENSORS, *(transformers.TensorType(kind) for kind in TENSORS))
SHAPE = {
    "padding": PADDINGS,
    "truncation": TRUNCATIONS,
    "max_length": (None, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 40),
    "stride": (0, 0, 1, 2, 3, 4),
    "pad_to_multiple_of": (None, 1, 2, 4, 8),
    "padding_side": (None, "left", "right"),
    "return_tensors": KINDS,
    "return_token_type_ids": OPTIONAL_BOOL,
    "return_attention_mask": OPTIONAL_BOOL,
    "return_overflowing_tokens": BOOL,
    "return_special_tokens_mask": BOOL,
    "return_length": BOOL,
    "add_special_tokens": BOOL,
    "verbose": BOOL,
}
OF_CALL = {
    **SHAPE,
    "return_offsets_mapping": (False, False, True),
    "is_split_into_words": BOOL,
    "split_special_tokens": OPTIONAL_BOOL,
}
OF_PAD = {
    name: SHAPE[name]
    for name in ("padding", "max_length", "pad_to_multiple_of", "padding_side", "return_tensors")
}
OF_PAD |= {name: SHAPE[name] for name in ("return_attention_mask", "verbose")}
OF_DECODE = {
    "skip_special_tokens": BOOL,
    "clean_up_tokenization_spaces": OPTIONAL_BOOL,
    "spaces_between_special_tokens": BOOL,
}
TYPICAL = {
    "padding": (True, "max_length"),
    "truncation": (None, False, True),
    "max_length": (4, 6, 8),
    "return_tensors": (None, *TENSORS),
}
# At most one of these is in a call: which of several mistakes a library sees first is its own
# affair.
MISTAKES: dict[str, tuple[Any, ...]] = {
    "padding": ("no such padding", None, 2, ["longest"]),
    "truncation": ("no such truncation", 2, ["longest_first"]),
    "max_length": (-1, "8", 8.5, [8]),
    "stride": (-1, "1", 1.5, None),
    "pad_to_multiple_of": (0, -2, "2", 2.5),
    "padding_side": ("no such side", 1),
    "return_tensors": ("no such tensor", 5),
    "no_such_option": (True,),
}
WORDS = (
    "a",
    "ab",
    "abc",
    "hello",
    "world",
    "unaffable",
    "zzz",
    "世界",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "!",
    "é",
    "HELLO",
    "x" * 101,
)
WORDS += ("flurb", "new thing", "<x>", "don't", "\t", "\u3000", "")
NO_TEXT = (
    None,
    5,
    1.5,
    b"ab",
    {"a": 1},
    [[]],
    [None],
    [5],
    [[5]],
    [["a"], "b"],
    [[["a"]]],
    ["a", None],
    [["a", 5]],
    ("a", 5),
)


class Call(NamedTuple):
    """A call of a method, as it is made of both tokenizers."""

    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def texts(self) -> tuple[Any, ...]:
        """The texts and the targets, or the ids that `pad` is given."""
        given = (*self.arguments[:1], self.options.get("text_target"))
        return tuple(each.get("input_ids") if isinstance(each, dict) else each for each in given)

    def made(self, tokenizer: Any) -> Any:
        arguments = copy.deepcopy((self.arguments, self.options))
        result = getattr(tokenizer, self.method)(*arguments[0], **arguments[1])
        if type(tokenizer).__module__.startswith("trietok"):
            changed = different((self.arguments, self.options), arguments)
            assert changed is None, f"the call changes its arguments: {changed}"
        return result

    def __repr__(self) -> str:
        parts = [
            *map(repr, self.arguments),
            *(f"{name}={value!r}" for name, value in self.options.items()),
        ]
        return f"{self.method}({', '.join(parts)})"


# ---- tokenizers ----------------------------------------------------------------------------------

SETTINGS = {
    "model_max_length": (4, 6, 8, 16, int(1e30)),
    "padding_side": ("left", "right"),
    "truncation_side": ("left", "right"),
    "model_input_names": (
        ["input_ids"],
        ["input_ids", "attention_mask"],
        ["input_ids", "token_type_ids"],
    ),
    "clean_up_tokenization_spaces": BOOL,
    "split_special_tokens": BOOL,
}
LATER = {
    **SETTINGS,
    "model_max_length": (0, 4, 6, 8, 16, int(1e30)),
    "padding_side": ("left", "right", "up"),
    "truncation_side": ("left", "right", "up"),
    "pad_token": (None, "a", "[PAD]"),
    "cls_token": (None, "[CLS]"),
    "sep_token": ("a", "[SEP]"),
}


def tokenizers(draw: random.Random) -> tuple[str, Any, Any]:
    """How a pair of tokenizers was made, transformers' and trietok's."""
    kind = draw.choice(("BertTokenizer", "BertTokenizerFast"))
    vocabulary = draw.choice(
        ("uncased", "cased", "odd", "without roles")[: 2 if kind.endswith("Fast") else 4]
    )
    options = {"do_lower_case": vocabulary != "cased", **some_of(draw, SETTINGS, 0.3)}
    file = str(directory_of(vocabulary) / "vocab.txt")
    pair = [getattr(library, kind)(file, **options) for library in (transformers, trietok)]
    added = draw.sample(["flurb", "new thing", "zz", "é"], draw.choice((0, 0, 0, 1, 2, 3)))
    special = draw.choice(([], [], ["<x>"], ["<x>", "!"]))
    if vocabulary == "odd":  # departure 3: there a new token has another id
        added = special = []
    for tokenizer in pair:
        tokenizer.add_tokens(added)
        tokenizer.add_special_tokens({"additional_special_tokens": special})
    if draw.random() < 0.3 and hasattr(pair[1].text_encoder, "make_kernel"):
        pair[1].text_encoder.make_kernel()
        vocabulary += ", kernel"
    return f"{kind}({vocabulary}, {options}), with {added} and {special}", *pair


def changed(draw: random.Random, pair: list[Any]) -> str:
    """Set an attribute of both tokenizers; what was set."""
    name = draw.choice(list(LATER))
    value = draw.choice(LATER[name])
    for tokenizer in pair:
        setattr(tokenizer, name, copy.copy(value))
    return f"{name} = {value!r}"


# ---- calls ---------------------------------------------------------------------------------------


def some_of(
    draw: random.Random, options: Mapping[str, tuple[Any, ...]], share: float
) -> dict[str, Any]:
    return {name: draw.choice(values) for name, values in options.items() if draw.random() < share}


def text(draw: random.Random) -> str:
    return draw.choice((" ", " ", " ", "")).join(
        draw.choices(WORDS, k=draw.choice((0, 1, 1, 2, 3, 4, 7, 12)))
    )


def words(draw: random.Random) -> list[str]:
    return draw.choices(WORDS, k=draw.randint(0, 4))


def some_ids(draw: random.Random) -> list[int]:
    return [draw.randint(0, 30) for _ in range(draw.choice((0, 1, 2, 3, 5, 8)))]


def several(draw: random.Random, form: Callable[[random.Random], Any]) -> list[Any]:
    return [form(draw) for _ in range(draw.choice((0, 1, 2, 2, 3, 4)))]


def pair_of(draw: random.Random, form: Callable[[random.Random], Any]) -> Any:
    return draw.choice((tuple, list))((form(draw), form(draw)))


def texts_of_call(draw: random.Random, options: dict[str, Any], mistaken: bool) -> list[Any]:
    """A text and its pair, as `__call__` takes them."""
    if mistaken:
        return [
            draw.choice([*NO_TEXT, text(draw), words(draw)]),
            draw.choice([None, text(draw), words(draw), *NO_TEXT]),
        ]
    one: Callable[[random.Random], Any] = words if options.get("is_split_into_words") else text
    form = draw.choice((one, lambda draw: several(draw, one)))
    first, second = form(draw), form(draw) if draw.random() < 0.4 else None
    # else the lengths may differ
    if form is not one and second is not None and draw.random() < 0.95:
        second = [one(draw) for _ in first]
    elif form is not one and second is None and draw.random() < 0.3:
        first = [pair_of(draw, one) for _ in first]
    return [
        tuple(each) if isinstance(each, list) and draw.random() < 0.1 else each
        for each in (first, second)
    ]


def one_text(draw: random.Random, options: dict[str, Any], mistaken: bool) -> Any:
    if mistaken:
        return draw.choice((*NO_TEXT, words(draw), some_ids(draw)))
    if options.get("is_split_into_words"):
        return draw.choice((words, words, some_ids))(draw)
    return draw.choice((text, text, text, words, some_ids))(draw)


def batch(draw: random.Random, options: dict[str, Any], mistaken: bool) -> Any:
    if mistaken and draw.random() < 0.3:
        return draw.choice(NO_TEXT)

    def item(draw: random.Random) -> Any:
        return one_text(draw, options, mistaken)

    form = draw.choice((text, text, words, some_ids, item))
    return several(draw, draw.choice((form, form, lambda draw: pair_of(draw, form))))


def encoded(draw: random.Random) -> Any:
    """What `pad` takes: one encoding, a batch of them, or a list of them; lists, arrays or
    tensors.
    """
    keys = draw.choice(
        (
            ["input_ids"],
            ["input_ids", "token_type_ids"],
            ["input_ids", "attention_mask"],
            ["attention_mask"],
        )
    )
    keys = [*keys, *draw.sample(["special_tokens_mask", "labels"], draw.choice((0, 0, 0, 1, 2)))]
    kind = draw.choice(("list", "list", "list", "ints of np", *TENSORS))
    make = {
        "list": list,
        "np": lambda values: numpy.array(values, dtype=numpy.int64),
        "pt": lambda values: torch.tensor(values, dtype=torch.int64),
        "ints of np": lambda values: [numpy.int64(value) for value in values],
    }[kind]
    lengths = (
        [draw.randint(0, 6)] * draw.randint(1, 3)
        if draw.random() < 0.3
        else several(draw, lambda draw: draw.randint(0, 6))
    )
    rows = [
        {key: make([draw.randint(0, 30) for _ in range(length)]) for key in keys}
        for length in lengths
    ]
    if rows and draw.random() < 0.3:
        return rows[0]
    if draw.random() < 0.5:
        return rows
    columns = {key: [row[key] for row in rows] for key in keys}
    if kind in TENSORS and len(set(lengths)) == 1 and draw.random() < 0.5:
        stack = numpy.stack if kind == "np" else torch.stack
        return {key: stack(value) for key, value in columns.items()}
    if len(keys) > 1 and draw.random() < 0.1:
        columns[keys[1]] = columns[keys[1]][:-1]
    return columns


def decodable(draw: random.Random) -> Any:
    if draw.random() < 0.03:
        return draw.choice(
            ([[5]], [None], None, "a", [1.5], ["a"], [-1], 5000, [7, 5000], -1, [2, [3]], [True])
        )
    ids = [draw.randint(0, 60) for _ in range(draw.randint(0, 8))]
    return draw.choice(
        (
            list(ids),
            tuple(ids),
            ids[0] if ids else 0,
            numpy.array(ids, dtype=numpy.int64),
            [*map(numpy.int64, ids)],
        )
    )


METHODS = ("__call__",) * 9 + ("encode_plus", "batch_encode_plus") * 2
METHODS += ("encode", "prepare_for_model", "pad", "tokenize", "decode", "batch_decode")
METHODS += ("convert_ids_to_tokens", "convert_tokens_to_ids")
OPTIONS: dict[str, Mapping[str, tuple[Any, ...]]] = {
    "prepare_for_model": {**SHAPE, "prepend_batch_axis": BOOL},
    "pad": OF_PAD,
    "tokenize": {"split_special_tokens": BOOL, "pair": (None, "a zzz"), "add_special_tokens": BOOL},
    "decode": OF_DECODE,
    "batch_decode": OF_DECODE,
    "convert_ids_to_tokens": {"skip_special_tokens": BOOL},
    "convert_tokens_to_ids": {},
}


def call(draw: random.Random) -> Call:
    method, mistaken = draw.choice(METHODS), draw.random() < 0.04
    known = OPTIONS.get(method, OF_CALL)
    typical = "padding" in known and draw.random() < 0.4
    options = some_of(draw, known, 0.05 if typical else draw.choice((0.1, 0.3, 0.5)))
    if "padding" in known:
        if typical:
            options |= {
                name: draw.choice(values) for name, values in TYPICAL.items() if name in known
            }
        if draw.random() < 0.08 and not mistaken:
            name = draw.choice([name for name in MISTAKES if method != "pad" or name in OF_PAD])
            options[name] = draw.choice(MISTAKES[name])
        elif draw.random() < 0.1 and options:  # what a program may give for True, or for a number
            name = draw.choice(list(options))
            value = options[name]
            if isinstance(value, bool) and name not in ("padding", "truncation"):
                options[name] = draw.choice((int(value), "yes" if value else ""))
            elif type(value) is int:
                options[name] = draw.choice((numpy.int64(value), numpy.int32(value), bool(value)))
    return Call(method, arguments(draw, method, options, mistaken), options)


def arguments(
    draw: random.Random, method: str, options: dict[str, Any], mistaken: bool
) -> tuple[Any, ...]:
    """The arguments of a method beside the options; targets are added to those."""
    match method:
        case "decode" | "convert_ids_to_tokens":
            return (decodable(draw),)
        case "batch_decode":
            return (several(draw, decodable),)
        case "convert_tokens_to_ids":
            return (
                draw.choice(
                    (
                        words(draw),
                        tuple(words(draw)),
                        draw.choice(WORDS),
                        text(draw),
                        None,
                        5,
                        [None],
                        [5],
                    )
                ),
            )
        case "pad":
            return (encoded(draw),)
        case "prepare_for_model":
            if options.get("return_tensors") and not options.get("prepend_batch_axis"):
                # departure 34: tensors of one number
                for name in (
                    "return_length",
                    "return_overflowing_tokens",
                ):
                    options.pop(name, None)
            return some_ids(draw), draw.choice((None, some_ids(draw)))
        case "tokenize":
            return (one_text(draw, {}, True) if mistaken else text(draw),)
        case "batch_encode_plus":
            return (batch(draw, options, mistaken),)
        case "__call__":
            given = texts_of_call(draw, options, mistaken)
            if draw.random() < 0.1:
                targets = texts_of_call(draw, options, mistaken)
                options |= dict(zip(("text_target", "text_pair_target"), targets, strict=True))
                if draw.random() < 0.2:
                    given = []
            return tuple(given)
    pair = one_text(draw, options, mistaken) if draw.random() < 0.4 else None
    return one_text(draw, options, mistaken), pair


# ---- outcomes ------------------------------------------------------------------------------------


def outcome(call: Call, tokenizer: Any) -> tuple[Any, BaseException | None]:
    """What a call returns, or what it raises: a panic of Rust is no `Exception`."""
    try:
        return call.made(tokenizer), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error


def difference(call: Call, theirs: Any, ours: Any) -> str | None:
    """In what the outcomes of a call differ; None where they do not, or as trietok means them
    to.
    """
    asked, setting = without_extras(call, theirs), theirs.split_special_tokens
    if not theirs.is_fast and any(isinstance(each, (list, tuple)) for each in call.texts):
        # departure 5: there a batch goes by the setting alone
        theirs.split_special_tokens = splits(call, theirs)
    want, their_error = outcome(asked, theirs)
    theirs.split_special_tokens = setting
    got, our_error = outcome(call, ours)
    if "PyBool" in str(their_error):
        return None  # departure 34: what is true or false to Python
    if our_error is not None:
        if is_departure(call, ours, their_error, our_error) or is_alike(their_error, our_error):
            return None
        return f"trietok raises {our_error!r}; transformers {their_error or want!r}"
    if their_error is not None:
        if call.method == "pad" and any(isinstance(each, numpy.ndarray) for each in call.texts):
            return None  # departure 34: one text in an array
        if (
            call.method == "convert_tokens_to_ids"
            and theirs.is_fast
            and call.arguments[0] in (None, [None])
        ):
            return None  # departure 34
        return f"transformers raises {their_error!r}; trietok returns {got!r}"
    if call.method != "tokenize" and (TOO_LONG in theirs.deprecation_warnings) != (
        TOO_LONG in ours.deprecation_warnings
    ):
        return f"only one of them warns of the length of {want!r}"
    shown = got
    if isinstance(got, Mapping) and asked is not call:
        shown = {
            name: got[name]
            for name in got
            if name in want or name not in ("offset_mapping", "special_tokens_mask")
        }
    if getattr(want, "encodings", None) is not None:
        assert len(got.encodings) == len(want.encodings)
        for their, our in zip(want.encodings, got.encodings, strict=True):
            assert_same_encodings(their, our)
    if isinstance(want, Mapping) and isinstance(call.options.get("max_length"), numpy.integer):
        # A length of numpy's makes the number one of numpy's in transformers, or another dtype;
        # here it is an int.
        theirs_many, ours_many = (each.get("num_truncated_tokens") for each in (want, got))
        if theirs_many is not None and plain(theirs_many) == plain(ours_many):
            want = {**want, "num_truncated_tokens": ours_many}
    return different(want, shown)


def plain(numbers: Any) -> Any:
    """A number, or a list, an array or a tensor of them, as ints of Python's."""
    if isinstance(numbers, list):
        return [plain(each) for each in numbers]
    return numbers.tolist() if hasattr(numbers, "tolist") else numbers


def without_extras(call: Call, theirs: Any) -> Call:
    """The call without what trietok does and transformers does not: departures 5, 51 and 34."""
    options = dict(call.options)
    if call.method == "prepare_for_model":
        if theirs.is_fast and options.get("add_special_tokens", True):
            options.pop("return_special_tokens_mask", None)
    elif not theirs.is_fast:
        options.pop("return_offsets_mapping", None)
    elif "split_special_tokens" in options or call.method == "batch_encode_plus":
        options["split_special_tokens"] = splits(call, theirs)
    return call if options == call.options else call._replace(options=options)


def splits(call: Call, tokenizer: Any) -> bool:
    """Whether special tokens in the texts of a call are plain text: what it says, or the
    tokenizer.
    """
    said = call.options.get("split_special_tokens", tokenizer.split_special_tokens)
    return bool(
        tokenizer.split_special_tokens
        if said is None and call.method == "batch_encode_plus"
        else said
    )


def is_departure(call: Call, ours: Any, their: BaseException | None, our: BaseException) -> bool:
    """Whether trietok raises on purpose what transformers does not."""
    if not isinstance(our, trietok.TrietokError):
        return False
    said, length = str(our), call.options.get("max_length")
    mistakes = [
        name
        for name, values in MISTAKES.items()
        if name in call.options and call.options[name] in values
    ]
    return (
        ("no_such_option" in mistakes and isinstance(our, trietok.OptionError))  # 7
        # 7
        or (call.method == "tokenize" and isinstance(our, trietok.OptionError) and not ours.is_fast)
        or isinstance(our, trietok.TokenIdError)  # 8, 46
        # 9
        or (
            "the special tokens alone are" in said
            and (ours.model_max_length if length is None else length) < 3
        )
        or "among strs" in said  # 12
        or "among ints" in said
        or "a pair whose second text is None" in said
        or ("is str " in said and "it should be a list of words" in said)
        or ("a text is a str, not" in said and call.method in ("tokenize", "convert_tokens_to_ids"))
        or any(name in said for name in mistakes)  # 26
        or (ours.truncation_side == "up" and "truncation_side is" in said)
        or "an id is a whole number" in said
        # 27
        or (
            ours.cls_token is None
            and isinstance(our, trietok.SpecialTokenError)
            and "the template" in said
        )
        # 45
        or (
            isinstance(our, trietok.NotSupportedError)
            and bool(call.options.get("return_offsets_mapping"))
        )
        # the other mistake is a word that is none
        or (their is not None and "overflowing tokens of a pair" in said)
        # there are two mistakes, and each library sees another one first
        or (their is not None and bool(mistakes))
    )


def is_alike(their: BaseException | None, our: BaseException) -> bool:
    """Whether code that catches transformers' exception catches trietok's."""
    if isinstance(their, (IndexError, AssertionError, OverflowError, ZeroDivisionError)):
        return isinstance(our, trietok.InputError)  # departure 33
    if their is not None and not isinstance(their, Exception):
        return isinstance(our, trietok.InputError)  # departure 46: a panic
    return isinstance(our, next(cls for cls in type(their).__mro__ if cls.__module__ == "builtins"))


def differences(seed: str, number: int) -> Iterator[str]:
    """Make calls of tokenizers that change now and then; what differs."""
    for first in range(0, number, SAME_TOKENIZER):
        draw = random.Random(f"{seed} {first}")
        how, *pair = tokenizers(draw)
        for _ in range(SAME_TOKENIZER):
            if draw.random() < 0.1:
                how += f", then {changed(draw, pair)}"
            for tokenizer in pair:
                tokenizer.deprecation_warnings.pop(TOO_LONG, None)
            made = call(draw)
            try:
                said = difference(made, *pair)
            except AssertionError as error:
                said = str(error)
            if said is not None:
                yield f"{how}\n    {made!r}\n    {said}"


def assert_no_difference(number: int) -> None:
    seed = f"{random.SystemRandom().getrandbits(32)}"
    assert list(islice(differences(seed, number), 3)) == [], f"seed {seed}"


def test_some_calls() -> None:
    assert_no_difference(1_500)


@pytest.mark.parity
def test_many_calls() -> None:
    assert_no_difference(often(5_000, nightly=20_000))
