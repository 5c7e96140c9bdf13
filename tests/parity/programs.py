"""Programs that run on transformers' tokenizers and on trietok's: a tokenizer is made, changed and
called, and each step has the same outcome.

Compared are values, types, dtypes, shapes, the order of columns, the details of fast results, the
warning of the length, the state after a change, and the built-in class of what is raised. What may
differ is in `DEPARTURES`, by its number in docs/hf_compatibility.md.
"""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import transformers
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.parity.comparing import (
    TENSORS,
    assert_same_encodings,
    different,
    is_alike,
    plain,
    state_of,
    torch,
    trie_is_wrong,
)
from tests.strategies import (
    BOOL,
    CALL_OPTIONS,
    DECODE_OPTIONS,
    MISTAKEN_OPTIONS,
    OPTIONAL_BOOL,
    ROLE_TOKENS,
    UNCASED,
    Change,
)

# ---- tokenizers ----------------------------------------------------------------------------------

FUNNEL = ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"]
MPNET = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
SPECIAL = {"Funnel": FUNNEL, "MPNet": MPNET, "Splinter": [*ROLE_TOKENS, "[QUESTION]"]}
SPECIAL_TEXTS = [
    *FUNNEL,
    *(" <mask>", "a <mask> b", "[QUESTION]", "[MASK]", "e\u0301", "豈", "\u1112\u1161\u11ab"),
]
RELATIVES = [
    *("ConvBert", "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader", "DistilBert", "Electra"),
    *("Funnel", "LayoutLM", "Lxmert", "MPNet", "MobileBert", "RetriBert", "Splinter"),
    "SqueezeBert",
]
SLOW = [f"{name}Tokenizer" for name in RELATIVES]
FAST = [f"{name}TokenizerFast" for name in RELATIVES]


def their_class(kind: str) -> Any:
    """The class of transformers with that name."""
    if kind.startswith("RetriBert"):
        from transformers.models.deprecated import retribert

        return getattr(retribert, kind)
    return getattr(transformers, kind)


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="trietok-relatives-")


@functools.cache
def vocab_file(kind: str) -> str:
    """A vocab.txt with the special tokens of that class."""
    path = Path(_root().name, f"{kind}.txt")
    special = SPECIAL.get(kind.partition("Tokenizer")[0], ROLE_TOKENS)
    tokens = [*special, *UNCASED[len(ROLE_TOKENS) :]]
    path.write_text("".join(token + "\n" for token in tokens), encoding="utf-8", newline="\n")
    return str(path)


def tokenizers(kind: str, vocabulary: str = "uncased", **options: Any) -> tuple[Any, Any]:
    """transformers' tokenizer and trietok's, with the same options."""
    is_bert = kind.startswith("BertTokenizer")
    file = str(strategies.directory_of(vocabulary) / "vocab.txt") if is_bert else vocab_file(kind)
    if vocabulary == "cased":
        options.setdefault("do_lower_case", False)
    theirs, ours = (
        each(file, **strategies.made(library, copy.deepcopy(options)))
        for library, each in ((transformers, their_class(kind)), (trietok, getattr(trietok, kind)))
    )
    if kind == "SplinterTokenizerFast":  # there a tuple, which it cannot extend
        theirs.additional_special_tokens = ["[QUESTION]"]
    return theirs, ours


# ---- calls ---------------------------------------------------------------------------------------

TOO_LONG = "sequence-length-is-longer-than-the-specified-maximum"
OF_CALL: dict[str, tuple[Any, ...]] = {
    **CALL_OPTIONS,
    "padding": (*CALL_OPTIONS["padding"], *transformers.utils.PaddingStrategy),
    "truncation": (
        *CALL_OPTIONS["truncation"],
        *transformers.tokenization_utils_base.TruncationStrategy,
    ),
    "return_tensors": (None, None, *TENSORS, *map(transformers.TensorType, TENSORS)),
}
ONLY_OF_TEXTS = ("return_offsets_mapping", "is_split_into_words", "split_special_tokens")
SHAPE = {name: values for name, values in OF_CALL.items() if name not in ONLY_OF_TEXTS}
OF_PAD = {
    name: SHAPE[name]
    for name in (
        *("padding", "max_length", "pad_to_multiple_of", "padding_side", "return_tensors"),
        *("return_attention_mask", "verbose"),
    )
}
# What a program may give for a number, or for True and False.
LOOSE: dict[str, tuple[Any, ...]] = {
    "max_length": (numpy.int64(6), numpy.int32(4), True),
    "stride": (numpy.int64(1), True),
    "pad_to_multiple_of": (numpy.int64(4), True),
    "add_special_tokens": (0, 1, ""),
    "return_length": (1, "yes"),
    "return_special_tokens_mask": (0, "yes"),
    "return_attention_mask": (0, 1),
    "skip_special_tokens": (0, "yes"),
}
METHODS: dict[str, Mapping[str, tuple[Any, ...]]] = {
    "__call__": OF_CALL,
    "encode_plus": OF_CALL,
    "batch_encode_plus": OF_CALL,
    "encode": OF_CALL,
    "prepare_for_model": {**SHAPE, "prepend_batch_axis": BOOL},
    "pad": OF_PAD,
    "_pad": {
        "padding_strategy": ("max_length", "longest", "do_not_pad"),
        "max_length": (7, 0, 1, 5, 12),
        **{name: SHAPE[name] for name in ("pad_to_multiple_of", "padding_side")},
        "return_attention_mask": OPTIONAL_BOOL,
    },
    "_get_padding_truncation_strategies": {
        **{name: OF_CALL[name] for name in ("padding", "truncation", "max_length", "verbose")},
        "pad_to_multiple_of": (None, 1, 4),
        "stride": (0, 2),
    },
    "truncate_sequences": {},
    "tokenize": {"split_special_tokens": BOOL, "pair": (None, "a zz"), "add_special_tokens": BOOL},
    "decode": DECODE_OPTIONS,
    "batch_decode": DECODE_OPTIONS,
    "convert_ids_to_tokens": {"skip_special_tokens": BOOL},
    "convert_tokens_to_ids": {},
    "convert_tokens_to_string": {},
    "clean_up_tokenization": {},
    "build_inputs_with_special_tokens": {},
    "create_token_type_ids_from_sequences": {},
    "get_special_tokens_mask": {"already_has_special_tokens": BOOL},
    "num_special_tokens_to_add": {"pair": BOOL},
}
# What is no text, or no list of them.
NO_TEXT = [
    *(None, 5, 1.5, b"ab", {"a": 1}, [[]], [None], [5], [[5]], [["a"], "b"], [[["a"]]]),
    *(["a", None], [["a", 5]], ("a", 5)),
]
NO_IDS = [[[5]], [None], None, "a", [1.5], ["a"], [-1], 5000, [7, 5000], -1, [2, [3]], [True]]


class Call(NamedTuple):
    """A call of a method, as it is made of both tokenizers."""

    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    mistake: str | None = None  # the option that is impossible, or "input"

    def of(self, tokenizer: Any) -> Any:
        """Make the call; trietok must not change its arguments."""
        arguments, options = copy.deepcopy((self.arguments, self.options))
        result = getattr(tokenizer, self.method)(*arguments, **options)
        if type(tokenizer).__module__.startswith("trietok"):
            changed = different((self.arguments, self.options), (arguments, options))
            assert changed is None, f"the call changes its arguments: {changed}"
        if self.method == "_get_padding_truncation_strategies":
            return [part.value if isinstance(part, Enum) else part for part in result]
        return result

    def option(self, name: str, default: Any = None) -> Any:
        return self.options.get(name, default)

    @property
    def texts(self) -> tuple[Any, ...]:
        """The texts and the targets, or the ids that `pad` is given."""
        parts = (*self.arguments[:1], self.option("text_target"))
        return tuple(each.get("input_ids") if isinstance(each, dict) else each for each in parts)

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.method}({', '.join([*map(repr, self.arguments), *options])})"


WORDS = [
    *"a ab abc hello world unaffable zzz 世界 [CLS] [SEP] [MASK] ! é HELLO flurb <x> don't".split(),
    *("new thing", "\t", "\u3000", "", "x" * 101),
]
PLAIN_TEXTS = st.builds(
    lambda words, glue: glue.join(words),
    st.lists(st.sampled_from(WORDS), max_size=8),
    st.sampled_from([" ", " ", " ", ""]),
)
# The same in the changes and in the texts of a program, so that they meet.
CONTENTS = st.shared(
    st.lists(st.sampled_from(strategies.NEAR_CONTENTS), unique=True, min_size=2, max_size=5),
    key="contents",
)
PARTS = st.one_of(
    CONTENTS.flatmap(st.sampled_from),
    CONTENTS.flatmap(st.sampled_from),
    *map(st.sampled_from, ([*WORDS, *SPECIAL_TEXTS], strategies.WHITESPACE, [" "])),
)
TOKEN_TEXTS = st.lists(PARTS, min_size=2, max_size=9).map("".join)
TEXTS = st.one_of(
    TOKEN_TEXTS, TOKEN_TEXTS, PLAIN_TEXTS, PLAIN_TEXTS, strategies.texts(SPECIAL_TEXTS, max_size=6)
)
WORD_LISTS = st.lists(st.one_of(st.sampled_from(WORDS), TEXTS), max_size=4)
IDS = st.lists(st.integers(0, 30), max_size=7)


def batches(one: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    several = st.lists(one, min_size=1, max_size=4)
    return st.one_of(several, several, several, several, st.just([]))


def either(likely: st.SearchStrategy[Any], *rare: st.SearchStrategy[Any]) -> Any:
    return st.one_of(likely, likely, likely, *rare)


@st.composite
def text_and_pair(draw: st.DrawFn, one: st.SearchStrategy[Any]) -> tuple[Any, Any]:
    """The arguments of `__call__`: one text, a pair, or a batch of either in both forms."""
    form = draw(
        st.sampled_from(["one", "pair", "twice", "batch", "batch", "pairs", "zipped", "unequal"])
    )
    match form:
        case "one":
            return draw(one), None
        case "pair":
            return draw(one), draw(one)
        case "twice":
            return (draw(one),) * 2
        case "batch":
            return draw(batches(one).map(draw(st.sampled_from([list, list, tuple])))), None
        case "pairs":
            return draw(
                batches(st.tuples(one, one).map(draw(st.sampled_from([list, tuple]))))
            ), None
        case "zipped":
            pairs = draw(batches(st.tuples(one, one)))
            return [first for first, _ in pairs], [second for _, second in pairs]
    return draw(batches(one)), draw(batches(one))


@st.composite
def encoded(draw: st.DrawFn) -> Any:
    """What `pad` takes: one encoding, a list of them or columns; lists, arrays or tensors."""
    names = ["token_type_ids", "attention_mask", "special_tokens_mask", "labels"]
    keys = ["input_ids", *draw(st.lists(st.sampled_from(names), unique=True, max_size=2))]
    kind = draw(st.sampled_from(["list", "list", "list", "ints of numpy", *TENSORS]))
    make: Callable[[Any], Any] = {
        "list": list,
        "ints of numpy": lambda values: [*map(numpy.int64, values)],
        "np": lambda values: numpy.array(values, dtype=numpy.int64),
        "pt": lambda values: torch.tensor(values, dtype=torch.int64),
    }[kind]
    lengths = draw(
        st.one_of(
            st.lists(st.integers(0, 6), max_size=4),
            st.lists(st.shared(st.integers(0, 6)), min_size=1, max_size=3),
        )
    )
    row = [draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)) for n in lengths]
    rows = [{key: make(values) for key in keys} for values in row]
    form = draw(st.sampled_from(["rows", "columns", "columns", "one"]))
    if form == "rows":
        return rows
    if form == "one" and rows:
        return rows[0]
    columns = {key: [row[key] for row in rows] for key in keys}
    if kind in TENSORS and len(set(lengths)) == 1 and draw(st.booleans()):
        stack = numpy.stack if kind == "np" else torch.stack
        return {key: stack(value) for key, value in columns.items()}
    return columns


def decodable(ids: st.SearchStrategy[list[int]]) -> st.SearchStrategy[Any]:
    return st.one_of(
        ids,
        ids,
        ids.map(tuple),
        ids.map(lambda several: several[0] if several else 0),
        ids.map(lambda several: numpy.array(several, dtype=numpy.int64)),
        ids.map(lambda several: [*map(numpy.int64, several)]),
    )


FROM_THE_END = 900  # such ids are counted from the highest one that the tokenizer has
DECODED_IDS = st.lists(
    st.one_of(*[st.integers(first, last) for first, last in ((0, 9), (0, 27), (900, 906))]),
    max_size=8,
)
IDS_AND_PAIR = st.tuples(IDS, st.one_of(st.none(), IDS))
TOKENS = st.lists(st.one_of(st.sampled_from(strategies.WORDS), TEXTS), max_size=6)
TRUNCATED = st.tuples(
    IDS,
    st.one_of(st.none(), IDS, st.just([5, 6, 7])),
    st.integers(1, 9),
    st.sampled_from(["longest_first", "only_first", "only_second", "do_not_truncate", "no such"]),
    st.integers(0, 5),
)
ARGUMENTS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "prepare_for_model": IDS_AND_PAIR,
    "pad": st.tuples(encoded()),
    "_pad": st.tuples(
        IDS.flatmap(
            lambda ids: st.fixed_dictionaries(
                {"input_ids": st.just(ids)},
                optional={
                    key: st.just([1] * len(ids))
                    for key in ("token_type_ids", "attention_mask", "special_tokens_mask")
                },
            )
        ),
    ),
    "_get_padding_truncation_strategies": st.just(()),
    "truncate_sequences": TRUNCATED,
    "tokenize": st.tuples(TEXTS),
    "decode": st.tuples(decodable(DECODED_IDS)),
    "batch_decode": st.tuples(batches(decodable(DECODED_IDS))),
    "convert_ids_to_tokens": st.tuples(decodable(DECODED_IDS)),
    "convert_tokens_to_ids": st.tuples(either(TOKENS, TOKENS.map(tuple), TEXTS)),
    "convert_tokens_to_string": st.tuples(TOKENS),
    "clean_up_tokenization": st.tuples(TEXTS),
    "build_inputs_with_special_tokens": IDS_AND_PAIR,
    "create_token_type_ids_from_sequences": IDS_AND_PAIR,
    "get_special_tokens_mask": IDS_AND_PAIR,
    "num_special_tokens_to_add": st.just(()),
}
ITEMS = either(TEXTS, WORD_LISTS, IDS)
WORD_ITEMS = either(WORD_LISTS, IDS)
TYPICAL: dict[str, tuple[Any, ...]] = {
    "padding": (False, True, "max_length"),
    "truncation": (True, True, "longest_first", "only_first", "only_second"),
    "max_length": (4, 5, 6, 7, 8),
    "stride": (0, 1, 2, 3),
    "return_overflowing_tokens": BOOL,
}
WITH_MISTAKES = {"__call__", "encode_plus", "batch_encode_plus", "encode", "pad"}
OF_IDS = {"decode", "batch_decode", "convert_ids_to_tokens"}


@st.composite
def calls(draw: st.DrawFn, method: str) -> Call:
    """A call of a method with some options, now and then with one mistake."""
    table = METHODS[method]
    names = draw(st.lists(st.sampled_from([*table, ""]), unique=True, max_size=5))
    if method == "_pad":
        names += ["padding_strategy", "max_length"]
    options = {name: draw(st.sampled_from(table[name])) for name in table if name in names}
    if "padding" in table and not method.startswith("_get") and draw(st.booleans()):
        likely = {name: values for name, values in TYPICAL.items() if name in table}
        options |= {name: draw(st.sampled_from(values)) for name, values in likely.items()}
    if method == "prepare_for_model" and not options.get("prepend_batch_axis"):
        options["return_tensors"] = None  # departure 34: tensors of one number
    loose = [name for name in options if name in LOOSE and method in WITH_MISTAKES | OF_IDS]
    if loose and draw(st.integers(0, 7)) == 7:
        name = draw(st.sampled_from(loose))
        options[name] = draw(st.sampled_from(LOOSE[name]))
    if draw(st.sampled_from([True] * 6 + [False])) or not (
        WITH_MISTAKES | OF_IDS | {"tokenize"}
    ) & {method}:
        return Call(method, draw(arguments(method, options)), options)
    if method in OF_IDS:
        return Call(method, (draw(st.sampled_from(NO_IDS)),), options, "input")
    if method in ("pad", "tokenize") or draw(st.booleans()):
        return Call(method, (draw(st.sampled_from(NO_TEXT)),), options, "input")
    mistake = draw(st.sampled_from(sorted(MISTAKEN_OPTIONS)))
    options[mistake] = draw(st.sampled_from(MISTAKEN_OPTIONS[mistake]))
    return Call(method, draw(arguments(method, options)), options, mistake)


def arguments(method: str, options: Mapping[str, Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """The arguments of a method besides the options."""
    of_words = bool(options.get("is_split_into_words"))
    match method:
        case "__call__":
            return text_and_pair(WORD_LISTS if of_words else TEXTS)
        case "encode" | "encode_plus":
            one = WORD_ITEMS if of_words else ITEMS
            return st.one_of(st.tuples(one), st.tuples(one, one))
        case "batch_encode_plus":
            forms = (WORD_LISTS, IDS) if of_words else (TEXTS, TEXTS, WORD_LISTS, IDS)
            pairs = [batches(st.tuples(form, form)) for form in forms]
            return st.tuples(st.one_of(*map(batches, forms), *pairs))
    return ARGUMENTS[method]


# ---- programs ------------------------------------------------------------------------------------

LATER: dict[str, tuple[Any, ...]] = {
    **strategies.SETTINGS,
    "model_max_length": (0, *strategies.SETTINGS["model_max_length"]),
    "truncation_side": ("left", "right", "up"),
    "pad_token": (None, "a", "[PAD]"),
    "cls_token": (None, "[CLS]"),
    "sep_token": ("a", "[SEP]"),
}


def is_for_fast(change: Change) -> bool:
    """Whether the fast classes agree about a change: not where two roles get the same token, whose
    flags differ then, and not where the unknown token is no token, which makes transformers recurse.
    """
    kind, argument = change
    if kind == "set":
        return argument[0] != "unk_token" or argument[1] in strategies.KNOWN
    if kind != "roles":
        return True
    tokens = flat([*argument[0].values()])
    contents = [token["content"] if isinstance(token, dict) else token for token in tokens]
    return "unk_token" not in argument[0] and len(set(contents)) == len(contents)


SLOW_CHANGES = CONTENTS.flatmap(strategies.changes)
FAST_CHANGES = st.one_of(
    st.tuples(
        st.just("add"),
        st.tuples(strategies.several(CONTENTS.flatmap(strategies.flagged_terms)), st.booleans()),
    ),
    SLOW_CHANGES.filter(is_for_fast),
)


@st.composite
def settings(draw: st.DrawFn) -> Change:
    name = draw(st.sampled_from(sorted(LATER)))
    return "setting", (name, draw(st.sampled_from(LATER[name])))


@st.composite
def role_options(draw: st.DrawFn) -> dict[str, Any]:
    """Roles as the constructor takes them."""
    roles = [role for role in strategies.ROLES if role != "unk_token"]
    options = draw(st.dictionaries(st.sampled_from(roles), strategies.terms(), max_size=3))
    if draw(st.booleans()):
        options[strategies.ADDITIONAL] = draw(strategies.several(strategies.terms()))
    if draw(st.booleans()):
        extra = st.dictionaries(st.just("image_token"), strategies.terms(), max_size=1)
        options["extra_special_tokens"] = draw(extra)
    return options


class Made(NamedTuple):
    """How a tokenizer is made and changed before it is called."""

    kind: str
    vocabulary: str
    options: dict[str, Any]
    history: list[Change]


class Program(NamedTuple):
    tokenizers: list[Made]
    steps: list[Change | Call]


@st.composite
def slow_tokenizers(draw: st.DrawFn) -> Made:
    kind = draw(st.sampled_from(["BertTokenizer"] * len(SLOW) + SLOW))
    vocabularies = ["uncased", "cased", "odd", "without roles"]
    vocabulary = draw(st.sampled_from(vocabularies)) if kind == "BertTokenizer" else "uncased"
    options = draw(strategies.slow_options()) | draw(strategies.some_of(**strategies.SETTINGS))
    if kind != "BertTokenizer":
        options.pop("unk_token", None)
    if vocabulary == "odd":  # departure 3: a new token has another id there
        return Made(kind, vocabulary, options, [])
    if draw(st.booleans()):
        options |= draw(role_options())
    return Made(kind, vocabulary, options, draw(st.lists(SLOW_CHANGES, max_size=3)))


@st.composite
def fast_tokenizers(draw: st.DrawFn) -> Made:
    kind = draw(st.sampled_from(["BertTokenizerFast"] * len(FAST) + FAST))
    is_bert = kind == "BertTokenizerFast"
    vocabulary = draw(st.sampled_from(["uncased", "cased"])) if is_bert else "uncased"
    options = draw(strategies.fast_options()) | draw(strategies.some_of(**strategies.SETTINGS))
    return Made(kind, vocabulary, options, draw(st.lists(FAST_CHANGES, max_size=3)))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A slow and a fast tokenizer, each with a few changes, and about ten calls of both with
    changes of settings between them.
    """
    made = [draw(slow_tokenizers()), draw(fast_tokenizers())]
    # Hypothesis likes to repeat itself: so a program calls each method once, but for those that
    # matter most
    methods = draw(st.lists(st.sampled_from([*METHODS]), unique=True, min_size=6, max_size=9))
    steps: list[Change | Call] = []
    for method in [*methods, "__call__", "__call__", "pad", "decode"]:
        if draw(st.integers(0, 3)) == 3:
            steps.append(draw(settings()))
        steps.append(draw(calls(method)))
    return Program(made, steps)


# ---- outcomes ------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A call with its outcome in both libraries: what is returned, and what is raised."""

    call: Call
    theirs: Any
    ours: Any
    want: Any
    their_error: BaseException | None
    got: Any
    our_error: BaseException | None

    def names_the_mistake(self) -> bool:
        return self.call.mistake is not None and self.call.mistake in str(self.our_error)

    def has_unknown_id(self) -> bool:
        ids = flat(self.call.arguments[:1])
        return any(isinstance(i, int) and not 0 <= i < len(self.theirs) for i in ids)

    def is_too_short(self) -> bool:
        """Whether the special tokens alone are longer than the text may be."""
        length = self.call.option("max_length")
        length = self.ours.model_max_length if length is None else length
        first, second = (*self.call.arguments, None)[:2]
        # of two words, which `encode_plus` takes for a text and its pair
        is_two = self.call.method == "encode_plus" and isinstance(first, (list, tuple))
        has_pair = (second is not None or is_two) or any(
            isinstance(each, (list, tuple)) for each in (first if isinstance(first, list) else [])
        )
        count = self.theirs.num_special_tokens_to_add(pair=has_pair)
        return isinstance(length, (int, numpy.integer)) and length < count


def flat(value: Any) -> list[Any]:
    """What stands in lists, tuples and arrays, at any depth."""
    value = plain(value)
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in flat(item)]
    return [value]


def outcome(call: Call, tokenizer: Any) -> tuple[Any, BaseException | None]:
    """What a call returns, or what it raises: a panic of Rust is no `Exception`."""
    try:
        return call.of(tokenizer), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error


# ---- departures ----------------------------------------------------------------------------------


def raises(case: Case, *kinds: type[BaseException]) -> bool:
    """Whether trietok raises one of these, where transformers returns or raises another error."""
    return isinstance(case.our_error, kinds)


def roles_are_missing(case: Case) -> bool:
    """Whether a role has no token, or transformers puts None among the ids."""
    ids = case.want["input_ids"] if isinstance(case.want, Mapping) else case.want
    roles = ("cls_token", "sep_token", "pad_token")
    return None in flat(ids) or any(getattr(case.ours, role) is None for role in roles)


# The number in docs/hf_compatibility.md, and where it may show.
DEPARTURES: list[tuple[int, Callable[[Case], bool]]] = [
    (7, lambda c: raises(c, trietok.OptionError) and c.call.mistake == "no_such_option"),
    (
        7,
        lambda c: (
            raises(c, trietok.OptionError)
            and c.call.method == "tokenize"
            and not c.ours.is_fast
            and bool({"pair", "add_special_tokens"} & c.call.options.keys())
        ),
    ),
    (8, lambda c: raises(c, trietok.TokenIdError) and c.has_unknown_id()),
    (9, lambda c: raises(c, trietok.InputError) and c.is_too_short()),
    (12, lambda c: raises(c, trietok.InputError) and c.call.mistake == "input"),
    (26, lambda c: raises(c, trietok.TrietokError) and c.names_the_mistake()),
    (
        28,
        lambda c: (
            raises(c, trietok.InputError)
            and c.ours.truncation_side == "up"
            and "truncation_side" in str(c.our_error)
        ),
    ),
    (29, lambda c: raises(c, trietok.SpecialTokenError) and roles_are_missing(c)),
    # an unknown token that is an added token has no id among the entries
    (29, lambda c: c.our_error is None and c.their_error is not None and None in flat(c.got)),
    (
        29,
        lambda c: (
            c.our_error is None
            and c.call.method == "create_token_type_ids_from_sequences"
            and roles_are_missing(c)
        ),
    ),
    (
        33,
        lambda c: (
            raises(c, trietok.InputError)
            and isinstance(
                c.their_error, (AssertionError, IndexError, OverflowError, ZeroDivisionError)
            )
        ),
    ),
    (33, lambda c: raises(c, trietok.TrietokError) and bool(c.their_error and c.call.mistake)),
    (
        34,
        lambda c: (
            c.call.method == "pad"
            and c.our_error is None
            and any(isinstance(each, numpy.ndarray) for each in c.call.texts)
        ),
    ),
    (
        34,
        lambda c: (
            c.ours.is_fast
            and c.call.method == "convert_tokens_to_ids"
            and c.call.arguments[0] is None
        ),
    ),
    (
        34,
        lambda c: (
            c.ours.is_fast
            and c.call.method == "get_special_tokens_mask"
            and not c.call.option("already_has_special_tokens")
        ),
    ),
    (
        34,
        lambda c: (
            "PyBool" in str(c.their_error)
            and (c.our_error is None or raises(c, trietok.InputError))
        ),
    ),
    (
        51,
        lambda c: raises(c, trietok.NotSupportedError) and c.call.option("return_offsets_mapping"),
    ),
    (46, lambda c: c.their_error is not None and not isinstance(c.their_error, Exception)),
    (34, lambda c: c.our_error is None and "question_token_id" in str(c.their_error)),
    (
        49,
        lambda c: isinstance(c.their_error, (TypeError, UnicodeError)) and "\\ud" in repr(c.call),
    ),
    (
        1,
        lambda c: (
            not c.ours.is_fast
            and any(isinstance(t, str) and trie_is_wrong(c.theirs, t) for t in flat(c.call.texts))
        ),
    ),
]


def splits(call: Call, tokenizer: Any) -> bool:
    """Whether special tokens in the texts of a call are plain text: the call says so, or else the
    tokenizer.
    """
    option = call.option("split_special_tokens", tokenizer.split_special_tokens)
    if option is None and call.method == "batch_encode_plus":
        return bool(tokenizer.split_special_tokens)
    return bool(option)


def without_extras(call: Call, theirs: Any) -> Call:
    """The call without what trietok does and transformers does not: departures 5, 34 and 51."""
    options = dict(call.options)
    if call.method == "prepare_for_model":
        if theirs.is_fast and options.get("add_special_tokens", True):
            options.pop("return_special_tokens_mask", None)
    elif not theirs.is_fast:
        options.pop("return_offsets_mapping", None)
    elif "split_special_tokens" in options or call.method == "batch_encode_plus":
        options["split_special_tokens"] = splits(call, theirs)
    return call if options == call.options else call._replace(options=options)


def compare(call: Call, theirs: Any, ours: Any) -> str:
    """Make a call of both; "values" or "errors" where the outcomes are equal, "departure N" where
    they differ as documented.
    """
    asked, setting = without_extras(call, theirs), theirs.split_special_tokens
    for tokenizer in (theirs, ours):
        tokenizer.deprecation_warnings.pop(TOO_LONG, None)
    if not theirs.is_fast and any(isinstance(each, (list, tuple)) for each in call.texts):
        theirs.split_special_tokens = splits(call, theirs)
    want, their_error = outcome(asked, theirs)
    theirs.split_special_tokens = setting
    case = Case(call, theirs, ours, want, their_error, *outcome(call, ours))
    if case.our_error and their_error and is_alike(their_error, case.our_error):
        return "errors"
    problem = difference(case, added_columns=asked is not call)
    if problem is None:
        return "values"
    for number, may_differ in DEPARTURES:
        if may_differ(case):
            return f"departure {number}"
    raise AssertionError(problem)


def difference(case: Case, added_columns: bool) -> str | None:
    """In what the outcomes of a call differ."""
    want, got, ours = case.want, case.got, case.ours
    if case.our_error is not None:
        return f"trietok raises {case.our_error!r}; transformers {case.their_error or want!r}"
    if case.their_error is not None:
        return f"transformers raises {case.their_error!r}; trietok returns {got!r}"
    warns = [TOO_LONG in each.deprecation_warnings for each in (case.theirs, ours)]
    if case.call.method != "tokenize" and warns[0] != warns[1]:
        return f"only one of them warns of the length of {want!r}"
    if isinstance(got, Mapping) and added_columns:
        added = ("offset_mapping", "special_tokens_mask")
        got = {name: got[name] for name in got if name in want or name not in added}
    if getattr(want, "encodings", None) is not None:
        if len(case.got.encodings) != len(want.encodings):
            return "the numbers of encodings differ"
        for their_encoding, our_encoding in zip(want.encodings, case.got.encodings, strict=True):
            assert_same_encodings(their_encoding, our_encoding)
    if isinstance(want, Mapping) and isinstance(case.call.option("max_length"), numpy.integer):
        # The number is one of numpy's in transformers, or has another dtype; here it is an int.
        theirs_many, ours_many = (each.get("num_truncated_tokens") for each in (want, got))
        if theirs_many is not None and plain(theirs_many) == plain(ours_many):
            want = {**want, "num_truncated_tokens": ours_many}
    return different(want, got)


# ---- running -------------------------------------------------------------------------------------


@functools.lru_cache(200)
def _made(kind: str, vocabulary: str, options: str, kernel: str) -> tuple[Any, Any]:
    return tokenizers(kind, vocabulary, **json.loads(options))


def run(program: Program, kernel: str, counts: Counter[tuple[str, str]]) -> None:
    """Run a program on both libraries and compare each step; counts the verdicts by method."""
    for made in program.tokenizers:
        pair = _made(made.kind, made.vocabulary, json.dumps(made.options), kernel)
        theirs, ours = copy.deepcopy(pair)
        problem = different(state_of(theirs), state_of(ours))
        assert problem is None, problem
        for step in [*made.history, *program.steps]:
            if isinstance(step, Call):
                verdict = compare(with_ids(step, len(theirs) - 1), theirs, ours)
                counts[step.method, verdict] += 1
                continue
            verdict = change(step, theirs, ours)
            counts[f"change: {step[0]}", verdict] += 1
            if verdict == "errors":  # what both have done before they refuse may differ
                break


def with_ids(call: Call, highest: int) -> Call:
    """The call with the ids that it counts from the highest one."""

    def of(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(of, value))
        if isinstance(value, numpy.ndarray):
            return numpy.array(of(value.tolist()), dtype=value.dtype)
        is_id = isinstance(value, (int, numpy.integer)) and FROM_THE_END <= value < 2 * FROM_THE_END
        return type(value)(highest - value + FROM_THE_END) if is_id else value

    if call.method not in OF_IDS:
        return call
    return call._replace(arguments=of(call.arguments))


def change(step: Change, theirs: Any, ours: Any) -> str:
    results = []
    for library, tokenizer in ((transformers, theirs), (trietok, ours)):
        try:
            results.append(strategies.apply(library, tokenizer, copy.deepcopy(step)))
        except Exception as error:
            results.append(error)
    want, got = results
    if isinstance(want, Exception) and isinstance(got, Exception):
        assert is_alike(want, got), f"transformers raises {want!r}; trietok {got!r}"
        return "errors"
    try:
        their_state = state_of(theirs)
    except RecursionError:  # the unknown token is no token
        return "errors"
    problem = different(want, got) or different(their_state, state_of(ours))
    assert problem is None, f"after {step}: {problem}"
    return "values"
