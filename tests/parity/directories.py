"""Directories that one library saves and others load: what they are made of, and what is compared.

A recipe is a class, a vocabulary, settings and a history of changes. `made_by` makes its tokenizer
in one library. `loaded` loads a directory in both and compares all that the two say and give.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import transformers
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.parity.comparing import different, outcome, trie_is_wrong
from tests.strategies import BOOL, Change, some_of

GOLDEN = Path(__file__).parent / "golden" / "trietok-multi.jsonl"
SENTENCES = [json.loads(line)["text"] for line in GOLDEN.open(encoding="ascii")]

# ---- what is saved -------------------------------------------------------------------------------

# BERT and its relatives, which the tests of all classes draw as often as BERT itself.
FAMILY = [name[: -len("Fast")] for name in trietok.__all__ if name.endswith("TokenizerFast")]
KINDS = st.sampled_from([*["BertTokenizer"] * len(FAMILY), *FAMILY])
# The role tokens of each class.
ROLE_TOKENS = "<s> </s> <pad> <unk> <mask> <cls> <sep> [QUESTION]".split()
# The characters of the golden texts: where most of them are unknown, tokenizers agree too easily.
CHARACTERS = sorted(
    {
        character
        for text in SENTENCES
        for form in ("NFC", "NFD")
        for character in unicodedata.normalize(form, text + text.lower())
        if unicodedata.category(character)[0] not in "ZC"
    }
)
VOCABULARIES = {
    **strategies.VOCABULARIES,
    "every role": [*strategies.UNCASED, *ROLE_TOKENS],
    "scripts": list(
        dict.fromkeys([*strategies.CASED, *CHARACTERS, *(f"##{each}" for each in CHARACTERS)])
    ),
}
SLOW_SETTINGS = ("do_basic_tokenize", "never_split")


class Recipe(NamedTuple):
    """What a tokenizer is made of; `kind` names the slow class."""

    kind: str
    vocabulary: str
    settings: dict[str, Any]
    history: list[Change]


class Maker(NamedTuple):
    """A library and the ending of the names of its slow or fast classes."""

    library: Any
    suffix: str


MAKERS = {
    "transformers slow": Maker(transformers, ""),
    "transformers fast": Maker(transformers, "Fast"),
    "trietok slow": Maker(trietok, ""),
    "trietok fast": Maker(trietok, "Fast"),
}


@st.composite
def recipes(draw: st.DrawFn, own: bool) -> Recipe:
    """A recipe; with `own` its history may have changes that only trietok's tokenizers have."""
    kind = draw(KINDS)
    bert = ["uncased", "cased", "unused", "scripts"]
    settings = some_of(
        do_lower_case=BOOL,
        tokenize_chinese_chars=BOOL,
        strip_accents=strategies.OPTIONAL_BOOL,
        do_basic_tokenize=BOOL,
        never_split=(["hello"], ["É", "ab"]),
        **strategies.SETTINGS,
    )
    return Recipe(
        kind,
        draw(st.sampled_from(bert if kind == "BertTokenizer" else ["every role"])),
        draw(settings),
        draw(strategies.histories(own=own)),
    )


def class_of(library: Any, name: str) -> Any:
    """The class of that name; transformers keeps RetriBERT's in a module of its own."""
    if library is transformers and name.startswith("RetriBert"):
        from transformers.models.deprecated import retribert

        return getattr(retribert, name)
    return getattr(library, name)


def vocabulary_file(vocabulary: str, directory: Path) -> Path:
    """A vocab.txt of one of the `VOCABULARIES` in the directory."""
    path = directory / "vocab.txt"
    text = "".join(f"{token}\n" for token in VOCABULARIES[vocabulary])
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def made_by(maker: str, recipe: Recipe, directory: Path, counts: Counter[str]) -> Any:
    """The tokenizer of a recipe, without the changes that the maker refuses.

    Args:
        directory: where its vocab.txt is written.
        counts: gets the kind of each change that was made.
    """
    library, suffix = MAKERS[maker]
    settings = {
        name: value
        for name, value in recipe.settings.items()
        if not (suffix and name in SLOW_SETTINGS)
    }
    kind = class_of(library, recipe.kind + suffix)
    tokenizer = kind(str(vocabulary_file(recipe.vocabulary, directory)), **settings)
    for change in recipe.history:
        _, error = outcome(lambda change=change: strategies.apply(library, tokenizer, change))
        counts["refused change" if error else change[0]] += 1
    return tokenizer


def saved(tokenizer: Any, directory: Path) -> bool:
    """Whether the tokenizer was saved, perhaps after the roles' tokens were added.

    Where trietok refuses, there is a reason, and nothing is written. Some fast classes also refuse
    entries behind added tokens.
    """

    def is_saved() -> bool:
        error = outcome(lambda: tokenizer.save_pretrained(directory))[1]
        if isinstance(tokenizer, trietok.BertTokenizer | trietok.BertTokenizerFast):
            assert isinstance(error, trietok.TrietokError | None), error
            out_of_order = tokenizer.is_fast and not is_numbered_in_order(tokenizer)
            assert not error or out_of_order or is_refused_for_a_reason(tokenizer), error
        assert error is None or not directory.exists()
        return error is None

    if is_saved():
        return True
    tokenizer.add_special_tokens(tokenizer.special_tokens_map)
    return is_saved()


def is_refused_for_a_reason(tokenizer: Any) -> bool:
    """Difference 25: a role whose token is in no file, or an unknown token that the subwords do not
    have.
    """
    tokens: set[str] = set()
    for value in tokenizer.special_tokens_map.values():
        tokens |= set(value if isinstance(value, list) else [value])
    model = getattr(tokenizer, "wordpiece_tokenizer", tokenizer)
    return tokenizer.unk_token != model.unk_token or not tokens <= {*tokenizer.added_tokens_encoder}


def is_numbered_in_order(tokenizer: Any) -> bool:
    """Whether each id up to the highest has one token, those behind the vocabulary an added one.

    Otherwise vocab.txt has lines for ids that are not the vocabulary's, which transformers takes
    for tokens of it, and the Rust library numbers the added tokens again.
    """
    added = set(range(tokenizer.vocab_size, len(tokenizer)))
    return (
        sorted(tokenizer.get_vocab().values()) == list(range(len(tokenizer)))
        and added <= tokenizer.added_tokens_decoder.keys()
    )


# ---- what is compared ----------------------------------------------------------------------------

SAID = """
    vocab_size added_tokens_decoder special_tokens_map all_special_tokens all_special_ids
    additional_special_tokens_ids padding_side truncation_side model_max_length model_input_names
    clean_up_tokenization_spaces split_special_tokens is_fast
    """.split()


def said_by(tokenizer: Any) -> dict[str, Any]:
    """What a tokenizer says about its vocabulary, its special tokens and its settings."""
    return {
        "len": len(tokenizer),
        "vocabulary": dict(sorted(tokenizer.get_vocab().items())),
        "added": dict(sorted(tokenizer.get_added_vocab().items())),
        "extended": [str(token) for token in tokenizer.all_special_tokens_extended],
        **{name: getattr(tokenizer, name) for name in SAID},
    }


def results_of(tokenizer: Any, text: str) -> dict[str, Any]:
    """Tokens, ids, masks and decoded text; offsets of a fast tokenizer."""
    if tokenizer.is_fast:
        encoding = tokenizer.encode_plus(text, return_offsets_mapping=True)
        tokens = encoding.tokens()
    else:
        encoding = tokenizer.encode_plus(text)
        tokens = tokenizer.tokenize(text)
    ids = encoding["input_ids"]
    return {
        **encoding,
        "tokens": tokens,
        "of ids": tokenizer.convert_ids_to_tokens(ids),
        "decoded": tokenizer.decode(ids),
        "text": tokenizer.decode(ids, skip_special_tokens=True),
    }


class Loaded(NamedTuple):
    """What came of loading a directory in transformers and in trietok.

    Attributes:
        outcome: "alike" where both say and give the same, "differ", "only trietok",
            "only transformers" or "neither".
        detail: the first difference, or the errors.
    """

    outcome: str
    detail: Any
    theirs: Any
    ours: Any


def loaded(load: Callable[[Any], Any], texts: Sequence[str], counts: Counter[str]) -> Loaded:
    """Load a directory in both libraries, and compare what the two tokenizers say and give.

    Args:
        load: makes the tokenizer of the library that it gets.
        texts: encoded by both, but for those that no Rust string holds and those that
            transformers' slow class splits otherwise at added tokens (difference 1).
        counts: gets the number of each outcome, and of the texts.
    """
    (theirs, their_error), (ours, our_error) = (
        outcome(lambda library=library: load(library)) for library in (transformers, trietok)
    )
    assert our_error is None or isinstance(our_error, trietok.TrietokError), our_error
    detail: Any = (their_error, our_error)
    if their_error is None and our_error is None:
        detail = different(said_by(theirs), said_by(ours)) or _first(texts, theirs, ours, counts)
        name = "alike" if detail is None else "differ"
    elif their_error is None:
        name = "only transformers"
    else:
        name = "neither" if our_error else "only trietok"
    counts[name] += 1
    return Loaded(name, detail, theirs, ours)


def _first(texts: Sequence[str], theirs: Any, ours: Any, counts: Counter[str]) -> str | None:
    """The first difference between the results of the texts."""
    for text in texts:
        if not (strategies.is_valid(text) if theirs.is_fast else not trie_is_wrong(theirs, text)):
            counts["texts left out"] += 1
            continue
        counts["texts"] += 1
        difference = different(results_of(theirs, text), results_of(ours, text))
        if difference is not None:
            return f"{text!r}: {difference}"
    return None


def assert_alike_or_documented(loaded: Loaded) -> bool:
    """Whether both libraries load the directory alike. If not, it is a documented difference."""
    match loaded.outcome:
        case "alike":
            return True
        case "only trietok":  # difference 57: a template of tokens that the vocabulary has not
            assert isinstance(loaded.detail[0], ImportError), loaded.detail
        case "only transformers":  # difference 56: an unknown token that is an added one
            assert "unknown token" in str(loaded.detail[1]), loaded.detail
        case "differ":  # difference 57: transformers reads `$` in a template as a text
            roles = (loaded.theirs.cls_token, loaded.theirs.sep_token)
            assert loaded.theirs.is_fast, loaded.detail
            assert any(str(token).startswith("$") for token in roles), loaded.detail
    return False


# Keys of tokenizer_config.json: arguments without an effect, and what transformers cannot say.
ONLY_IN_ONE = ("clean_text", "from_slow", "trietok", "wordpieces_prefix")


def differing_files(root: Path, theirs: Any, ours: Any) -> str | None:
    """Save both into folders below `root`; the name and contents of a file that differs, or None."""
    folders = []
    for library, tokenizer in (("theirs", theirs), ("ours", ours)):
        if not saved(tokenizer, root / library):
            return None
        folders.append({path.name: content_of(path) for path in (root / library).iterdir()})
    return different(*(dict(sorted(files.items())) for files in folders))


def content_of(path: Path) -> Any:
    """What a saved file must say in both libraries.

    Of special_tokens_map.json the tokens without their flags (difference 17), of
    tokenizer_config.json all but `ONLY_IN_ONE`, of tokenizer.json the added tokens in any order
    where two may be equal once normalized (difference 54).
    """
    written = path.read_bytes()
    name = path.name.rpartition("-")[2]  # behind a prefix
    if name not in ("special_tokens_map.json", "tokenizer_config.json", "tokenizer.json"):
        return written
    value = json.loads(written)
    if name == "tokenizer.json":
        tokens = value["added_tokens"]
        if len({token["content"].lower() for token in tokens}) == len(tokens):
            return written
        return {**value, "added_tokens": sorted(tokens, key=lambda token: token["id"])}
    if name == "special_tokens_map.json":
        return contents(value)
    left_out = set(ONLY_IN_ONE)
    if not value["tokenizer_class"].startswith("BertTokenizer"):
        # transformers' other fast classes keep this argument and do not use it.
        left_out.add("tokenize_chinese_chars")
    return {name: value[name] for name in sorted(value) if name not in left_out}


def contents(value: Any) -> Any:
    """Tokens without their flags, at any depth."""
    if isinstance(value, dict):
        if "content" in value:
            return value["content"]
        return {key: contents(item) for key, item in value.items()}
    return [contents(item) for item in value] if isinstance(value, list) else value
