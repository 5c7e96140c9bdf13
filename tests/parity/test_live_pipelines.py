"""A WordPiece tokenizer.json with other components than BERT's gives the ids, tokens and spans of
tokenizers.
"""

from __future__ import annotations

import json
import random

import tokenizers
import transformers
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
from tests.conftest import often

TEXTS = 40  # for each tokenizer
CHARACTERS = (
    *"abcXYZ019.,!-_'# "
    " \t\n\u00a0\u3000éÀñ\u0301\u0323\u0903\u20ddßİΣς世界ﬁ①²½Ⅻ٣カﾞガ가각\u1100\u1161\u11a8",
    *"\u0130\u1e9b\u0345\u0344\u2126\u212b\ufdfa\U0001d400\U0001f600\u200d\u200b\u0378\x1c\x85\u0b94\u0b92\u0bd7",
)
PATTERNS = ("a", "  ", "é", ".", " ", "ab", "世")
REGEXES = (
    *(r"\s+", r"[0-9]+", r"a|bc", r"[^a-z\s]{2,}", r"\.+?", r"(?:x|y)\-"),
    *("[世é]", "é|e", "[-_.]+", "[a-z]+[0-9]+", "(?:ab)+c?", "([a-z]+)-"),
)


def pattern(rng):
    return tokenizers.Regex(rng.choice(REGEXES)) if rng.random() < 0.4 else rng.choice(PATTERNS)


def normalizer(rng, depth=0):
    made = (
        lambda: normalizers.NFC(),
        lambda: normalizers.NFD(),
        lambda: normalizers.NFKC(),
        lambda: normalizers.NFKD(),
        lambda: normalizers.Lowercase(),
        lambda: normalizers.StripAccents(),
        lambda: normalizers.Replace(pattern(rng), rng.choice(["", "a", "bc", " ", "é"])),
        lambda: normalizers.Strip(rng.random() < 0.5, rng.random() < 0.5),
        lambda: normalizers.BertNormalizer(*(rng.random() < 0.5 for _ in range(4))),
    )
    if depth < 2 and rng.random() < (0.6 if depth == 0 else 0.2):
        return normalizers.Sequence([normalizer(rng, depth + 1) for _ in range(rng.randint(1, 3))])
    return rng.choice(made)()


BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")


def pre_tokenizer(rng, depth=0):
    made = (
        lambda: pre_tokenizers.BertPreTokenizer(),
        lambda: pre_tokenizers.Whitespace(),
        lambda: pre_tokenizers.WhitespaceSplit(),
        lambda: pre_tokenizers.Punctuation(rng.choice(BEHAVIORS)),
        lambda: pre_tokenizers.Digits(rng.random() < 0.5),
        lambda: pre_tokenizers.Split(pattern(rng), rng.choice(BEHAVIORS), rng.random() < 0.3),
        lambda: pre_tokenizers.CharDelimiterSplit(rng.choice("a_ ")),
    )
    if depth < 2 and rng.random() < (0.6 if depth == 0 else 0.2):
        return pre_tokenizers.Sequence(
            [pre_tokenizer(rng, depth + 1) for _ in range(rng.randint(1, 3))]
        )
    return rng.choice(made)()


def processor(rng):
    template = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", SPECIAL
    )
    roberta = processors.RobertaProcessing(
        ("[SEP]", 2), ("[CLS]", 1), rng.random() < 0.5, rng.random() < 0.5
    )
    return rng.choice([template, roberta, processors.Sequence([template]), None])


SPECIAL = [("[CLS]", 1), ("[SEP]", 2)]
PIECES = [
    *"abcxyz019.,!-_'#eßσ世界",
    *"ab bc abc é fi 1 ²".split(),
    "a b",
    " ",
    *"ガ 가 ss A X .. 01".split(),
]


def rust_tokenizer(rng):
    vocab = {
        token: number for number, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    }
    for piece in dict.fromkeys([*PIECES, *(f"##{piece}" for piece in PIECES)]):
        vocab.setdefault(piece, len(vocab))
    made = Tokenizer(
        models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=rng.choice([5, 100]))
    )
    if rng.random() < 0.9:
        made.normalizer = normalizer(rng)
    made.pre_tokenizer = pre_tokenizer(rng)
    made.post_processor = processor(rng)
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    for content in rng.sample(
        ["a1", "É", "new york", "世", "b.", "Ⅻ", "  c"], rng.choice([0, 0, 1, 3])
    ):
        flags = {name: rng.random() < 0.3 for name in ("single_word", "lstrip", "rstrip")}
        token = AddedToken(content, normalized=rng.random() < 0.6, **flags)
        # a token of which nothing is left is a departure
        if not token.normalized or not made.normalizer or made.normalizer.normalize_str(content):
            made.add_tokens([token])
    return made


def random_text(rng):
    words = ["a1", "é", "É", "new york", "[MASK]", "[SEP]", "B.", "  c", "Ⅻ"]
    return "".join(
        rng.choice(words) if rng.random() < 0.1 else rng.choice(CHARACTERS)
        for _ in range(rng.randint(0, 24))
    )


def found_by_rust(rust, text, pair=None):
    encoding = rust.encode(text) if pair is None else rust.encode(text, pair)
    return encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids


def found_by_ours(ours, text, pair=None):
    encoding = ours(text, pair, return_offsets_mapping=True, return_token_type_ids=True)
    return encoding.input_ids, encoding.tokens(), encoding.offset_mapping, encoding.token_type_ids


def arguments_of(said):
    """The arguments of the class, which override a BertNormalizer in transformers, as they are
    there.
    """
    if said is None or said["type"] != "BertNormalizer":
        return {}
    names = {
        "do_lower_case": "lowercase",
        "tokenize_chinese_chars": "handle_chinese_chars",
        "strip_accents": "strip_accents",
    }
    return {name: said[key] for name, key in names.items()}


def is_a_panic(error):
    return type(error).__name__ == "PanicException"


def test_random_pipelines(tmp_path):
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    for number in range(often(60)):
        rust = rust_tokenizer(rng)
        file = tmp_path / str(number) / "tokenizer.json"
        file.parent.mkdir()
        rust.save(str(file))
        said = json.loads(file.read_text(encoding="utf-8"))
        ours = trietok.BertTokenizerFast.from_pretrained(
            file.parent, **arguments_of(said["normalizer"])
        )
        ours.save_pretrained(tmp_path / "again")
        again = trietok.AutoTokenizer.from_pretrained(tmp_path / "again")
        saved = json.loads((tmp_path / "again" / "tokenizer.json").read_text(encoding="utf-8"))
        assert [saved[name] for name in ("normalizer", "pre_tokenizer", "model")] == [
            said[name] for name in ("normalizer", "pre_tokenizer", "model")
        ]
        for _ in range(TEXTS):
            text, pair = random_text(rng), random_text(rng) + "a" if rng.random() < 0.1 else None
            try:
                theirs = found_by_rust(rust, text, pair)
            except BaseException as error:
                if not is_a_panic(error):
                    raise
                continue
            context = (
                seed,
                number,
                said["normalizer"],
                said["pre_tokenizer"],
                said["added_tokens"][5:],
                text,
                pair,
            )
            assert found_by_ours(ours, text, pair) == theirs, context
            assert ours.encode(text, pair) == theirs[0], context
            assert again.encode(text, pair) == theirs[0], context


def test_the_pipeline_of_the_tutorials(tmp_path):
    """NFD, Lowercase, StripAccents, then Whitespace: what HuggingFace's tutorial builds."""
    rust = rust_tokenizer(random.Random(0))
    steps = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    rust.normalizer = normalizers.Sequence(steps)
    rust.pre_tokenizer = pre_tokenizers.Whitespace()
    rust.save(str(tmp_path / "tokenizer.json"))
    ours = trietok.BertTokenizerFast.from_pretrained(tmp_path)
    text = "Éab abc_9 .. a\u0301\u0903b!?"
    assert found_by_ours(ours, text) == found_by_rust(rust, text)
    assert ours.profile == "fast"


def test_transformers_loads_the_same(tmp_path):
    """What the class of transformers makes of such a directory, whose arguments override a
    BertNormalizer.
    """
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    for number in range(8):
        rust = rust_tokenizer(rng)
        if rust.normalizer is None:  # which transformers 4.57.6 refuses
            rust.normalizer = normalizers.Lowercase()
        folder = tmp_path / str(number)
        folder.mkdir()
        rust.save(str(folder / "tokenizer.json"))
        theirs = transformers.BertTokenizerFast.from_pretrained(folder)
        ours = trietok.BertTokenizerFast.from_pretrained(folder)
        for text in (random_text(rng) for _ in range(TEXTS)):
            try:
                wanted = theirs(text, return_offsets_mapping=True)
            except BaseException as error:
                if not is_a_panic(error):
                    raise
                continue
            found = ours(text, return_offsets_mapping=True)
            assert {name: found[name] for name in wanted} == dict(wanted), (seed, number, text)
