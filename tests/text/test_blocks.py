"""Of a block of characters is told what `classify` says of each, whatever was asked before; a kernel takes it in."""

from __future__ import annotations

import random
from itertools import product

import pytest

import trietok
from tests.conftest import often
from tests.text.kernel_cases import compiled_kernel
from trietok import google_bert
from trietok.text.basic_tokenizer import BasicTokenizer, RustBasicTokenizer
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.blocks import ASKED_ALONE, BLOCK_SIZE, FLAGS_SHIFT
from trietok.text.word_search import WordSearch

FIRSTS = [
    *range(BLOCK_SIZE, 0xD800, BLOCK_SIZE),
    *range(0xE000, 0x33000, BLOCK_SIZE),
    0xE0000,
    0xE0100,
    0xFFF00,
    0x10FF00,
]
# all of them are mixed; Hangul, compatibility ideographs, a dotted capital I, the replacement character
ALWAYS = [0x100, 0x300, 0x900, 0xAC00, 0xD700, 0xF900, 0xFA00, 0xFF00, 0x1D100, 0x2F800]
FEW = 12
MANY = len(FIRSTS) // 5
KEPT = (kernel.ORDINARY, kernel.ALONE)
PLAIN = ("[SEP]",)
ODD_KEYS = ("[SEP]", "café", "\u9fff", "한", "\U00020005x", "\ue123", "é", "\u0301x")


def classifiers():
    """Each with its name, of all options that a kernel goes by."""
    for lowers, chinese, strips, words in product(
        (True, False), (True, False), (None, True, False), (PLAIN, ODD_KEYS)
    ):
        added = [WordSearch(words)]
        name = f"{lowers}-{chinese}-{strips}-{len(words)}"
        yield (
            f"slow-{name}",
            kernel.SlowClassifier(BasicTokenizer(lowers, None, chinese, strips), added, True),
        )
        yield (
            f"fast-{name}",
            kernel.RustClassifier(RustBasicTokenizer(lowers, chinese, strips), added, True),
        )
    added = [WordSearch(PLAIN)]
    yield "not cleaned", kernel.RustClassifier(RustBasicTokenizer(clean_text=False), added, True)
    yield "not split", kernel.SlowClassifier(BasicTokenizer(do_split_on_punc=False), added, True)
    yield "Google's", kernel.SlowClassifier(google_bert.BasicTokenizer(), added, True)


CLASSIFIERS = dict(classifiers())


def blocks_of(classifier):
    """Of a kernel that asks about blocks from the first character on."""
    with kernel.using_kernel("compiled", text_before_kernel=0):
        return classifier.blocks()


def told(classifier, firsts):
    """What the blocks say of each code point that they tell of."""
    blocks = blocks_of(classifier)
    for first in firsts:
        found, values, outputs = blocks.ask(first)
        assert (found, len(values)) == (first, BLOCK_SIZE)
        lines = (
            outputs.decode().split("\n")
            if outputs
            else list(map(chr, range(first, first + BLOCK_SIZE)))
        )
        for code_point, value, line in zip(
            range(first, first + BLOCK_SIZE), values, lines, strict=True
        ):
            kind, flags = value & (1 << FLAGS_SHIFT) - 1, value >> FLAGS_SHIFT
            if value:
                yield code_point, (kind, 0, flags, line.encode() if kind in KEPT else b"")


def assert_equal_to_single(classifier, firsts):
    # where marks are stripped in any order nobody asks what is plain
    ignored = kernel.IS_PLAIN if classifier._any_order else 0
    for code_point, (kind, combining_class, flags, word) in told(classifier, firsts):
        single = classifier.classify(code_point)
        expected = (*single[:2], single[2] & ~ignored, single[3])
        assert (kind, combining_class, flags & ~ignored, word) == expected, hex(code_point)


# a tenth of the blocks; all of them at night
@pytest.mark.parametrize(
    "count", [FEW, pytest.param(min(often(MANY), len(FIRSTS)), marks=pytest.mark.parity)]
)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_blocks_tell_what_is_told_of_each_character(name, count):
    seed = random.randrange(10**9)
    print("seed", seed)
    rng = random.Random(seed)
    firsts = [*dict.fromkeys(ALWAYS + rng.sample(FIRSTS, FEW))]
    rng.shuffle(firsts)  # who is met first tells of others of its sort
    assert_equal_to_single(CLASSIFIERS[name], firsts)


@pytest.mark.parametrize("name", ["slow-True-True-None-1", "fast-True-True-None-1"])
def test_few_characters_are_asked_for_by_themselves(name):
    code_points = sum(1 for _ in told(CLASSIFIERS[name], FIRSTS))
    assert code_points > 0.995 * BLOCK_SIZE * len(FIRSTS)


def test_a_block_is_asked_once_and_latin_1_never():
    blocks = blocks_of(CLASSIFIERS["slow-True-True-None-1"])
    assert len(blocks.ask(0x4E01)) == 3
    assert blocks.ask(0x4E01) == CLASSIFIERS["slow-True-True-None-1"].classify(0x4E01)
    assert len(blocks.ask(0xE9)) == 4


def test_a_text_of_few_characters_asks_for_no_block():
    """A block takes as long as many characters by themselves, of which texts have some tens."""
    with kernel.using_kernel("compiled"):
        blocks = CLASSIFIERS["fast-True-True-None-1"].blocks()
    assert {
        len(blocks.ask(code_point)) for code_point in range(BLOCK_SIZE, BLOCK_SIZE + ASKED_ALONE)
    } == {4}
    assert len(blocks.ask(0x4E01)) == 3


# ---- a kernel that is told of blocks -------------------------------------------------------------

needs_kernel = pytest.mark.skipif(
    kernel.kernel_at_work() == "plain", reason="not built: python -m trietok.text.kernel.build"
)


def itself(code_point):
    return kernel.ORDINARY, 0, 0, chr(code_point).encode()


def kernel_told(block, single=itself):
    """A kernel that hears of this block when it first asks beyond Latin-1, later of each what `single` says."""
    asked = []

    def classify(code_point):
        if code_point < BLOCK_SIZE:
            return itself(code_point)
        asked.append(code_point)
        return block if len(asked) == 1 else single(code_point)

    return compiled_kernel(["а", "б", "##б", "x"], classify, lambda chunk: [9]), asked


def values_of(*values):
    return bytes(values) + bytes(BLOCK_SIZE - len(values))


@needs_kernel
def test_a_kernel_takes_what_becomes_of_a_block():
    ordinary, alone = kernel.ORDINARY, kernel.ALONE | kernel.IS_BOUNDARY << FLAGS_SHIFT
    compiled, asked = kernel_told((0x400, bytes((ordinary,)) * BLOCK_SIZE, b""))
    assert (compiled.ids("аб"), compiled.ids("б")) == ([0, 2], [1])
    assert asked == [ord("а")]

    lines = b"\n".join([b"x", "а".encode(), b"", b"zz", b"left", *[b"?"] * (BLOCK_SIZE - 5)])
    compiled, asked = kernel_told(
        (0x400, values_of(ordinary, alone, ordinary, kernel.DELETED), lines)
    )
    # x; а by itself, twice; nothing, within a word; what is deleted has no bytes, whatever is said of them
    assert compiled.ids("\u0400\u0401\u0401\u0400\u0402 \u0403\u0400\u0403") == [3, 0, 0, 3, 3]
    assert asked == [0x400]


@needs_kernel
@pytest.mark.parametrize(
    "block",
    [
        (0x400, bytes(BLOCK_SIZE), b""),
        (0x400, b"", b""),
        (0x500, bytes((1,)) * BLOCK_SIZE, b""),
        (
            0x400,
            bytes((1,)) * BLOCK_SIZE,
            b"\n".join([b"x" * 65] * BLOCK_SIZE),
        ),  # more than a code point may become
        (0x400, bytes((kernel.ALONE,)) * BLOCK_SIZE, b"\n"),  # nothing, which is no word
        (0x400, bytes((6,)) * BLOCK_SIZE, b""),  # no kind
        (0x10FFFF, bytes((1,)) * BLOCK_SIZE, b""),
        (2**32 - 1, bytes((1,)) * BLOCK_SIZE, b""),
    ],
)
def test_what_a_block_does_not_tell_is_asked_for_each(block):
    compiled, asked = kernel_told(block)
    assert compiled.ids("а") == [0]
    assert asked == [ord("а")] * 2


@needs_kernel
@pytest.mark.parametrize("block", [("x", b"", b""), (0, "", b""), (0, b"", None), (-1, b"", 1)])
def test_an_answer_that_is_no_block_is_an_error(block):
    compiled, _ = kernel_told(block)
    with pytest.raises((TypeError, ValueError, OverflowError)):
        compiled.ids("а")
    compiled, _ = kernel_told(
        (0x400, bytes(BLOCK_SIZE), b""), lambda code_point: (0x400, bytes(BLOCK_SIZE), b"")
    )
    with pytest.raises(TypeError):
        compiled.ids("а")


@needs_kernel
@pytest.mark.parametrize("profile", [trietok.BertTokenizer, trietok.BertTokenizerFast])
def test_compatibility_ideographs_become_others(profile):
    """Each by itself, in both profiles: in NFC it is another character between the spaces that were set around it."""
    made = []
    for name in ("plain", "compiled"):
        with kernel.using_kernel(name, text_before_kernel=0):
            made.append(profile.from_pretrained("trietok-zh"))
            made[-1]("")
    text = "".join(
        f"a{chr(code_point)}\u3099b"
        for code_point in [*range(0xF900, 0xFAFF), *range(0x2F800, 0x2FA20)]
    )
    plain, compiled = made
    assert compiled(text)["input_ids"] == plain(text)["input_ids"]
