"""A WordPiece tokenizer.json gives the ids, tokens and spans of tokenizers, with BERT's components
and with others.

TRIETOK_MODELS and TRIETOK_CORPORA name directories with a folder for each model and a text file for
each corpus, for the test marked `parity`.
"""

from __future__ import annotations

import functools
import json
import random
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

import trietok
from tests.conftest import assert_share, examples, often
from tests.parity.comparing import directory_named, unless_panic
from tests.strategies import is_valid, marked_texts

CHARACTERS = [
    *"abcXYZ019.,!-_'# ",
    *" \t\n\u00a0\u3000éÀñ\u0301\u0323\u0903\u20ddßİΣς世界ﬁ①²½Ⅻ٣カﾞガ가각\u1100\u1161\u11a8",
    *"\u0130\u1e9b\u0345\u0344\u2126\u212b\ufdfa\U0001d400\U0001f600\u200d\u200b\u0378\x1c\x85",
    *"\u0b94\u0b92\u0bd7",
]
WORDS = ["a1", "é", "É", "new york", "[MASK]", "[SEP]", "B.", "  c", "Ⅻ"]
TEXTS = st.one_of(
    st.lists(st.sampled_from([*CHARACTERS, *WORDS]), max_size=24).map("".join),
    marked_texts(),
    st.text(max_size=8),
).filter(is_valid)
PATTERNS = st.sampled_from(
    [
        *("a", "  ", "é", ".", " ", "ab", "世"),
        *map(
            tokenizers.Regex,
            [
                *(r"\s+", r"[0-9]+", r"a|bc", r"[^a-z\s]{2,}", r"\.+?", r"(?:x|y)\-"),
                *("[世é]", "é|e", "[-_.]+", "[a-z]+[0-9]+", "(?:ab)+c?", "([a-z]+)-"),
            ],
        ),
    ]
)
BOOL = st.booleans()
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def in_sequences(component: st.SearchStrategy[Any], sequence: Any) -> st.SearchStrategy[Any]:
    """The component, or a sequence of them, nested once."""
    inner = st.one_of(component, component, st.lists(component, max_size=3).map(sequence))
    return st.one_of(component, st.lists(inner, min_size=1, max_size=3).map(sequence))


NORMALIZERS = in_sequences(
    st.one_of(
        st.sampled_from(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"]).map(
            lambda name: getattr(normalizers, name)()
        ),
        st.builds(normalizers.Replace, PATTERNS, st.sampled_from(["", "a", "bc", " ", "é"])),
        st.builds(normalizers.Strip, BOOL, BOOL),
        st.builds(normalizers.BertNormalizer, BOOL, BOOL, BOOL, BOOL),
    ),
    normalizers.Sequence,
)
PRE_TOKENIZERS = in_sequences(
    st.one_of(
        st.sampled_from(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"]).map(
            lambda name: getattr(pre_tokenizers, name)()
        ),
        st.builds(pre_tokenizers.Punctuation, st.sampled_from(BEHAVIORS)),
        st.builds(pre_tokenizers.Digits, BOOL),
        st.builds(pre_tokenizers.Split, PATTERNS, st.sampled_from(BEHAVIORS), BOOL),
        st.builds(pre_tokenizers.CharDelimiterSplit, st.sampled_from("a_ ")),
    ),
    pre_tokenizers.Sequence,
)
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
TEMPLATE = processors.TemplateProcessing(
    "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 1), ("[SEP]", 2)]
)
PROCESSORS = st.one_of(
    st.sampled_from([TEMPLATE, processors.Sequence([TEMPLATE]), None]),
    st.builds(
        lambda a, b: processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1), a, b), BOOL, BOOL
    ),
)
PIECES = [
    *"abcxyz019.,!-_'#eßσ世界",
    *"ab bc abc é fi 1 ²".split(),
    *("a b", " "),
    *"ガ 가 ss A X .. 01".split(),
]


def rust_tokenizer(pieces: list[str], longest: int = 100) -> Tokenizer:
    tokens = dict.fromkeys([*SPECIAL, *pieces, *(f"##{piece}" for piece in pieces)])
    vocab = {token: number for number, token in enumerate(tokens)}
    model = models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=longest)
    rust = Tokenizer(model)
    rust.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    rust.decoder = decoders.WordPiece()
    rust.add_special_tokens(SPECIAL)
    return rust


@st.composite
def pipelines(draw: st.DrawFn) -> Tokenizer:
    rust = rust_tokenizer(PIECES, draw(st.sampled_from([5, 100])))
    rust.normalizer = draw(NORMALIZERS)
    rust.pre_tokenizer = draw(PRE_TOKENIZERS)
    post_processor = draw(PROCESSORS)
    if post_processor is not None:
        rust.post_processor = post_processor
    contents = st.sampled_from(["a1", "É", "new york", "世", "b.", "Ⅻ", "  c"])
    for content in draw(st.lists(contents, unique=True, max_size=3)):
        token = AddedToken(
            content,
            normalized=draw(BOOL),
            **{name: draw(BOOL) for name in ("single_word", "lstrip", "rstrip")},
        )
        # departure 46: a token of which nothing is left
        if not token.normalized or rust.normalizer.normalize_str(content):
            rust.add_tokens([token])
    return rust


def found_by_rust(rust: Tokenizer, text: str, pair: str | None = None) -> Any:
    encoding = rust.encode(text, pair)
    return encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids


def found_by_ours(ours: Any, text: str, pair: str | None = None) -> Any:
    encoding = ours(text, pair, return_offsets_mapping=True, return_token_type_ids=True)
    return encoding.input_ids, encoding.tokens(), encoding.offset_mapping, encoding.token_type_ids


def arguments_of(normalizer: Any) -> dict[str, Any]:
    """The arguments of the class, which override a BertNormalizer in transformers, as they are
    there.
    """
    if normalizer is None or normalizer["type"] != "BertNormalizer":
        return {}
    names = {
        "do_lower_case": "lowercase",
        "tokenize_chinese_chars": "handle_chinese_chars",
        "strip_accents": "strip_accents",
    }
    return {name: normalizer[key] for name, key in names.items()}


def loaded(rust: Tokenizer, directory: str) -> Any:
    rust.save(str(Path(directory, "tokenizer.json")))
    options = arguments_of(json.loads(rust.to_str())["normalizer"])
    return trietok.BertTokenizerFast.from_pretrained(directory, **options)


def test_random_pipelines_give_the_ids_tokens_and_spans_of_tokenizers() -> None:
    counts: Counter[str] = Counter()

    @examples(120)
    @given(pipelines(), st.lists(TEXTS, min_size=10, max_size=20), TEXTS)
    def each(rust: Tokenizer, texts: list[str], pair: str) -> None:
        with tempfile.TemporaryDirectory() as directory:
            ours = loaded(rust, directory)
            ours.save_pretrained(directory)
            saved = json.loads(Path(directory, "tokenizer.json").read_text(encoding="utf-8"))
            again = trietok.AutoTokenizer.from_pretrained(directory)
        pipeline = json.loads(rust.to_str())
        for name in ("normalizer", "pre_tokenizer", "model"):
            assert saved[name] == pipeline[name]
        for text, second in [*((text, None) for text in texts), (texts[0], f"{pair}a")]:
            want = unless_panic(functools.partial(found_by_rust, rust, text, second))
            counts["panic" if want is None else "equal"] += 1
            if want is None:
                continue
            assert found_by_ours(ours, text, second) == want, (pipeline["pre_tokenizer"], text)
            assert ours.encode(text, second) == want[0], text
            assert again.encode(text, second) == want[0], text

    each()
    assert_share(counts["equal"], counts.total(), 0.5)


@examples(30)
@given(pipelines(), st.lists(TEXTS, min_size=10, max_size=20))
def test_transformers_loads_the_same_from_a_tokenizer_json(
    rust: Tokenizer, texts: list[str]
) -> None:
    """The arguments of transformers' class override a BertNormalizer."""
    with tempfile.TemporaryDirectory() as directory:
        rust.save(f"{directory}/tokenizer.json")
        theirs = transformers.BertTokenizerFast.from_pretrained(directory)
        ours = trietok.BertTokenizerFast.from_pretrained(directory)
    for text in texts:
        want = unless_panic(functools.partial(theirs, text, return_offsets_mapping=True))
        if want is None:
            continue
        got = ours(text, return_offsets_mapping=True)
        assert {name: got[name] for name in want} == dict(want), text


def test_the_pipeline_of_huggingfaces_tutorial_gives_the_same(tmp_path: Path) -> None:
    rust = rust_tokenizer(PIECES)
    steps = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    rust.normalizer = normalizers.Sequence(steps)
    rust.pre_tokenizer = pre_tokenizers.Whitespace()
    ours = loaded(rust, str(tmp_path))
    text = "Éab abc_9 .. a\u0301\u0903b!?"
    assert found_by_ours(ours, text) == found_by_rust(rust, text)


# ---- code points ---------------------------------------------------------------------------------

OFF = {
    "clean_text": False,
    "handle_chinese_chars": False,
    "strip_accents": False,
    "lowercase": False,
}
COMPONENTS: dict[str, Any] = {
    **{
        name: getattr(normalizers, name)()
        for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip")
    },
    "uncased": normalizers.BertNormalizer(),
    "cased": normalizers.BertNormalizer(lowercase=False),
    **{name: normalizers.BertNormalizer(**OFF | {name: True}) for name in OFF},
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer(),
    "Whitespace": pre_tokenizers.Whitespace(),
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
    "Punctuation": pre_tokenizers.Punctuation(),
    "Digits": pre_tokenizers.Digits(individual_digits=True),
    "added tokens": None,
}
ADDED = [
    AddedToken("<<s>>", normalized=False, single_word=True),
    AddedToken("<<l>>", normalized=False, lstrip=True),
    AddedToken("<<r>>", normalized=False, rstrip=True),
]
BLOCK = 5_000  # characters in a vocabulary
SEED = random.randrange(10**6)  # of all tests of this process


@functools.cache
def sampled_characters(seed: int) -> list[str]:
    """Every 7,999th character, at night every 11th; some marks, and some that are composed."""
    stride, of_marks, of_composed = often(7_999, 11), often(9, 1), often(199, 61)
    rest = random.Random(seed).randrange(stride)
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    composed = [char for char in characters if unicodedata.normalize("NFKD", char) != char]
    marks = [char for char in characters if unicodedata.combining(char)]
    return sorted(
        {
            *characters[rest::stride],
            *marks[rest % of_marks :: of_marks],
            *composed[rest % of_composed :: of_composed],
        }
    )


@pytest.mark.parametrize("name", COMPONENTS)
def test_code_points_are_treated_as_by_tokenizers(name: str, tmp_path: Path) -> None:
    """Each component alone: what is left of a character shows in the tokens and the spans."""
    component, characters = COMPONENTS[name], sampled_characters(SEED)
    assert len(characters) > 250
    for first in range(0, len(characters), BLOCK):
        block = characters[first : first + BLOCK]
        parts = {*block, *"abexyz", "\u0301", *unicodedata.normalize("NFKD", "".join(block))}
        parts |= {*"".join(block).lower()}
        rust = rust_tokenizer(sorted(parts - {" "}))
        rust.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if isinstance(component, normalizers.Normalizer):
            rust.normalizer = component
        elif component is not None:
            rust.pre_tokenizer = component
        rust.add_tokens(ADDED)
        ours = loaded(rust, str(tmp_path))
        if name == "added tokens":
            texts = [f"a{c}<<s>>{c} <<s>>{c}b a{c}<<l>> <<r>>{c}b" for c in block]
        else:
            texts = [f"a{c}b e{c}\u0301 e\u0323{c}\u0302 {c * 2}\u0307 世{c}、" for c in block]
        wanted = rust.encode_batch(texts)
        found = ours(texts, return_offsets_mapping=True)
        for number, want in enumerate(wanted):
            got = found.input_ids[number], found.tokens(number), found.offset_mapping[number]
            assert got == (want.ids, want.tokens, want.offsets), (SEED, ascii(texts[number]))


# ---- objects and published models ----------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"do_lower_case": False, "model_max_length": 7},
        {"pad_token": "a"},
        {"additional_special_tokens": ["<x>"]},
    ],
)
@pytest.mark.parametrize("kind", ["BertTokenizerFast", "MPNetTokenizerFast"])
def test_a_tokenizer_object_of_rust_is_taken_as_by_transformers(
    kind: str, options: dict[str, Any], tmp_path: Path
) -> None:
    vocab = tmp_path / "vocab.txt"
    special = [*SPECIAL, "<s>", "</s>", "<pad>", "<mask>"]
    vocab.write_text("\n".join([*special, *"abcdefgh", "##b", "##c"]), encoding="utf-8")
    rust = getattr(transformers, kind)(str(vocab)).backend_tokenizer
    rust.add_tokens(["<y>"])
    theirs, ours = (
        getattr(library, kind)(tokenizer_object=rust, **options)
        for library in (transformers, trietok)
    )
    for text in ("abc b c d efgh", "A <x> <y>", ["a", "h g f e bc a"]):
        assert ours(text).data == theirs(text).data
    assert ours.special_tokens_map == theirs.special_tokens_map
    ours.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    assert saved == json.loads(theirs.backend_tokenizer.to_str())
    rust.add_tokens(["<z>"])
    assert "<z>" not in ours.get_vocab()


@pytest.mark.parity
@pytest.mark.parametrize(
    "model",
    [f"bert-base-{name}" for name in ("uncased", "cased", "multilingual-cased", "chinese")],
)
def test_lines_of_corpora_give_the_same_with_published_models(model: str) -> None:
    directory = directory_named("TRIETOK_MODELS") / model
    rust = transformers.BertTokenizerFast.from_pretrained(directory).backend_tokenizer
    ours = trietok.BertTokenizerFast.from_pretrained(directory)
    seed = random.randrange(10**6)
    for file in sorted(directory_named("TRIETOK_CORPORA").glob("*.txt")):
        lines = file.read_bytes().decode().split("\n")
        for line in random.Random(seed).sample(lines, min(400, len(lines))):
            assert found_by_ours(ours, line) == found_by_rust(rust, line), (seed, line)
