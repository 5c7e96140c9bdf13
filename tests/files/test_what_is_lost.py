"""Saving keeps what a user has set on a tokenizer and ids depend on, or says that it cannot."""

from __future__ import annotations

import logging
import pathlib
import random

import pytest

import trietok
from tests.conftest import often
from trietok import AddedToken, AutoTokenizer, BertTokenizer, BertTokenizerFast, NotSupportedError
from trietok.errors import TrietokError
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.wordpiece import WordpieceTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ENTRIES = [*SPECIAL, *"[unused1] un ##able @@able a ##b able é e 中 ##文 文 x C c .".split()]
TEXTS = ["unable UNABLE Éa é 中文 a.b C++ qqq [SEP] x", "abbbbbbbb c", "[unused1] <n> N", ""]


def vocab(folder: pathlib.Path, kind: type = BertTokenizer, **options):
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(ENTRIES) + "\n", encoding="utf-8")
    return kind.from_pretrained(folder, **options)


def encoded(tokenizer):
    rows = [tokenizer(text, add_special_tokens=False).input_ids for text in TEXTS]
    whole = None not in (tokenizer.cls_token, tokenizer.sep_token, tokenizer.pad_token)
    return rows, (
        [tokenizer(TEXTS, TEXTS, padding=True, truncation=True, max_length=12)["input_ids"]]
        if whole
        else []
    )


class Letters(WordpieceTokenizer):
    def tokenize(self, text):
        return list(text.replace(" ", ""))

    def pieces_of(self, word):
        return list(word)


class Whole(BasicTokenizer):
    def tokenize(self, text, never_split=None):
        return text.split()


def stage(name, attribute, value):
    return lambda tokenizer: setattr(getattr(tokenizer, name), attribute, value)


def itself(attribute, value):
    return lambda tokenizer: setattr(tokenizer, attribute, value)


def matcher(**options):
    def change(tokenizer):
        tokenizer.wordpiece_tokenizer = WordpieceTokenizer(tokenizer.vocab, "[UNK]", **options)

    return change


def fewer_entries(tokenizer):
    tokenizer.wordpiece_tokenizer = WordpieceTokenizer({"[UNK]": 1, "a": 9, "un": 6}, "[UNK]")


def own_matcher(tokenizer):
    tokenizer.wordpiece_tokenizer = Letters(tokenizer.vocab, "[UNK]")


def own_words(tokenizer):
    tokenizer.basic_tokenizer = Whole()


def other_words(tokenizer):
    kind = type(tokenizer.basic_tokenizer)
    tokenizer.basic_tokenizer = kind(
        do_lower_case=False, tokenize_chinese_chars=False, strip_accents=True
    )


def method(name, *arguments):
    return lambda tokenizer: getattr(tokenizer, name)(*arguments)


# What a user sets, by what becomes of it on saving in the slow and in the fast profile: "kept",
# "refused" (nothing is written) or "warned" (code, which no file holds).
KEPT = {
    "do_lower_case": stage("basic_tokenizer", "do_lower_case", False),
    "strip_accents": stage("basic_tokenizer", "strip_accents", False),
    "tokenize_chinese_chars": stage("basic_tokenizer", "tokenize_chinese_chars", False),
    "never_split": stage("basic_tokenizer", "never_split", {"C++"}),
    "basic_tokenizer": other_words,
    "the same wordpiece_tokenizer": matcher(),
    "no cls_token": itself("cls_token", None),
    "no pad_token": itself("pad_token", None),
    "sep_token": itself("sep_token", "[MASK]"),
    "added sep_token": method("add_special_tokens", {"sep_token": "x"}),
    "split_special_tokens": itself("split_special_tokens", True),
    "model_max_length": itself("model_max_length", 3),
    "truncation_side": itself("truncation_side", "left"),
    "padding_side": itself("padding_side", "left"),
    "model_input_names": itself("model_input_names", ["input_ids"]),
    "added_tokens": method("add_tokens", [AddedToken("<n>", lstrip=True), "N"]),
    "strip_accents of the tokenizer": itself("strip_accents", False),
    "tokenize_chinese_chars of the tokenizer": itself("tokenize_chinese_chars", False),
    "never_split of the tokenizer": itself("never_split", ["C++"]),
    "assign_unused": method("assign_unused", "[unused1]", "<n>"),
}
KEPT_BY_FAST_ONES = {
    "do_split_on_punc": stage("basic_tokenizer", "do_split_on_punc", False),
    "continuing_subword_prefix": stage("wordpiece_tokenizer", "continuing_subword_prefix", "@@"),
    "max_input_chars_per_word": stage("wordpiece_tokenizer", "max_input_chars_per_word", 4),
    "unk_token of the matcher": stage("wordpiece_tokenizer", "unk_token", "x"),
    "wordpiece_tokenizer": matcher(continuing_subword_prefix="@@"),
    "unk_token": itself("unk_token", "[MASK]"),
    "do_basic_tokenize": itself("do_basic_tokenize", False),
}
REFUSED = {
    "entries": fewer_entries,
    "no unk_token": itself("unk_token", None),
    "sep_token of the vocabulary": itself("sep_token", "x"),
    "pad_token of no vocabulary": itself("pad_token", "<pad>"),
    "additional_special_tokens": itself("additional_special_tokens", ["un"]),
}
WARNED = {
    "own basic_tokenizer": own_words,
    "own wordpiece_tokenizer": own_matcher,
    "method": itself("_convert_token_to_id", lambda token: 7),
}
CHANGES = {
    name: (change, slow, fast)
    for changes, slow, fast in (
        (KEPT, "kept", "kept"),
        (KEPT_BY_FAST_ONES, "refused", "kept"),
        (REFUSED, "refused", "refused"),
        (WARNED, "warned", "warned"),
    )
    for name, change in changes.items()
}


@pytest.mark.parametrize("profile", ["slow", "fast"])
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_user_sets_is_saved_or_refused(tmp_path, name, profile, caplog):
    change, *becomes = CHANGES[name]
    kind = BertTokenizer if profile == "slow" else BertTokenizerFast
    tokenizer, expected = vocab(tmp_path / "model", kind), becomes[profile == "fast"]
    change(tokenizer)
    out = tmp_path / "out"
    if expected == "refused":
        with pytest.raises(TrietokError):
            tokenizer.save_pretrained(out)
        assert not out.exists()
        return
    with caplog.at_level(logging.WARNING, "trietok"):
        tokenizer.save_pretrained(out)
    warned = "code of yours" in caplog.text
    assert warned == (expected == "warned")
    if not warned:
        for again in (kind, AutoTokenizer):
            loaded = again.from_pretrained(
                out, **({"use_fast": profile == "fast"} if again is AutoTokenizer else {})
            )
            assert encoded(loaded) == encoded(tokenizer)
            assert loaded.model_input_names == tokenizer.model_input_names


ROLES = ["unk_token", "cls_token", "sep_token", "pad_token", "mask_token", "bos_token", "eos_token"]
TOKENS = [None, *SPECIAL, "x", "a", "<new>", "[unused1]", "##b"]


def changed_at_random(tokenizer, draw):
    """Some changes of any kind that holds no code; what was done, in words."""
    done = []
    for _ in range(draw.randrange(1, 4)):
        what = draw.randrange(5)
        if what == 0:
            role, token = draw.choice(ROLES), draw.choice(TOKENS)
            setattr(tokenizer, role, token)
            done.append((role, token))
        elif what == 1:
            role, token = draw.choice(ROLES), draw.choice(TOKENS[1:])
            tokenizer.add_special_tokens({role: token})
            done.append(("add", role, token))
        elif what == 2:
            flags = {
                flag: draw.random() < 0.3
                for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
            }
            token = AddedToken(draw.choice(["<n>", "N", "É", "x", "ab"]), **flags)
            tokenizer.add_tokens([token])
            done.append(("add", token))
        elif what == 3:
            token = draw.choice([*SPECIAL, "x", "<new>"])
            tokenizer.additional_special_tokens = [token]
            done.append(("additional", token))
        else:
            name = draw.choice(
                [name for name, (_, *becomes) in CHANGES.items() if "warned" not in becomes]
            )
            CHANGES[name][0](tokenizer)
            done.append(name)
    return done


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_whatever_saves_loads_with_equal_ids(tmp_path, kind, caplog):
    seed = random.randrange(2**32)
    print("seed", seed)
    draw = random.Random(seed)
    saved = 0
    for number in range(often(100)):
        tokenizer, done = vocab(tmp_path / "model", kind), []
        try:
            done = changed_at_random(tokenizer, draw)
        except TrietokError:  # the change itself is refused
            continue
        out = tmp_path / f"out{number}"
        try:
            tokenizer.save_pretrained(out)
        except (trietok.VocabularyError, NotSupportedError):
            assert not out.exists(), done
            continue
        if "as it was before it was added again" in caplog.text:
            caplog.clear()
            continue
        loaded, saved = kind.from_pretrained(out), saved + 1
        assert encoded(loaded) == encoded(tokenizer), done
        roles = [getattr(loaded, role) for role in ROLES]
        assert roles == [getattr(tokenizer, role) for role in ROLES], done
    assert saved > 6
