"""How much of trietok a user's mistake shows: at most four frames, the causes of an error
included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback

import pytest

import trietok
from trietok import (  # noqa: F401  # in MISTAKES
    AutoTokenizer,
    BatchEncoding,
    BertTokenizer,
    BertTokenizerFast,
    TrietokError,
)

HOME = os.path.dirname(trietok.__file__)
MOST = 4
# What a user may write, with `t` for the tokenizer, `K` for its class and `empty` for a directory
# without files.
MISTAKES = """
t(123)
t(None)
t([None])
t([1, 2])
t(["a", 1])
t([])
t([["a", "b", "c"]])
t(["a"], ["b", "c"])
t(["a"], "b")
t("a", padding="longes")
t(["a"], padding="longes")
t("a", truncation="yes")
t("a", max_lenght=4)
t(["a"], max_lenght=4)
t("a", max_length="4")
t("a", max_length=-1)
t("the people", max_length=1, truncation=True)
t("a", return_tensors="tf")
t(["a", "a b c"], return_tensors="np").convert_to_tensors("tf")
t(["a", "a b"], padding=True, padding_side="lft")
t("a", pad_to_max_length=True)
t("a", padding=True, pad_to_multiple_of=0)
t("the people say it", max_length=4, truncation=True, stride=-1, return_overflowing_tokens=True)
t("a").inputs_ids
t("a").char_to_token(-1)
t.encode(1)
t.encode([])
t.encode(["a", 1])
t.encode("a", max_lenght=1)
t.encode("a", padding="x")
t.encode("a", return_tensors="tf")
t.encode_plus(5)
t.batch_encode_plus([5])
t.batch_encode_plus([])
t.prepare_for_model([1], return_offsets_mapping=True)
t.explain(["a"])
t.explain("a", max_lenght=3)
t.tokenize(1)
t.tokenize("a", foo=1)
t.decode("a")
t.decode([-100])
t.decode(None)
t.decode([[1]])
t.decode([1], skip_special=True)
t.batch_decode([[10**9]])
t.convert_ids_to_tokens([10**9])
t.convert_ids_to_tokens([1.5])
t.convert_tokens_to_ids(5)
t.pad([{"ids": [1]}])
t.pad([{"input_ids": [1]}], padding="x")
t.pad({"input_ids": ["a"]})
t.pad({"input_ids": [[1]]}, return_tensors="tf")
t.add_tokens([5])
t.add_tokens([""])
t.add_tokens(["x"], lstrip=True)
t.add_special_tokens({"foo": "x"})
t.add_special_tokens({"pad_token": None})
t.remove_tokens(["nope"])
t.remove_tokens(["[CLS]"])
t.assign_unused("the", "x")
t.add_wordpieces(["a b"])
t.keep_only([1])
t.save_pretrained(os.path.join(HOME, "errors.py", "x"))
t.save_vocabulary(os.path.join(empty, "no", "such"))
t.pad_tokn
t.push_to_hub("x")
setattr(t, "pad_token", 5)
setattr(t, "cache_limit", -1)
K.from_pretrained(os.path.join(empty, "no", "such"))
K.from_pretrained(empty)
K.from_pretrained(5)
K.from_pretrained("trietok-en", padding_side="x")
K.from_pretrained("trietok-en", encode=1)
K.from_pretrained("trietok-en", pad_token=5)
K(os.path.join(empty, "vocab.txt"))
K(None)
AutoTokenizer.from_pretrained(os.path.join(empty, "no", "such"))
AutoTokenizer.from_pretrained(empty)
AutoTokenizer.from_pretrained("trietok-en", tokenizer_type="gpt")
BatchEncoding({}).word_ids()
trietok.load_vocab(os.path.join(empty, "vocab.txt"))
trietok.DataCollatorWithPadding(t)([])
""".strip().splitlines()


@pytest.fixture(scope="module", params=[BertTokenizer, BertTokenizerFast])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def names(kind, tmp_path_factory):
    """The values of the names in the mistakes, which change none of them."""
    empty = str(tmp_path_factory.mktemp("empty"))
    return {"t": kind.from_pretrained("trietok-en"), "K": kind, "empty": empty, **globals()}


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of trietok that are shown of an error."""
    shown = traceback.TracebackException.from_exception(error)
    found: list[traceback.FrameSummary] = []
    while shown is not None:
        found += [frame for frame in shown.stack if frame.filename.startswith(HOME)]
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return found


def error_of(code: str, names: dict[str, object]) -> BaseException:
    with pytest.raises((TrietokError, AttributeError)) as caught:
        eval(code, names)
    return caught.value


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_shows_few_frames(code, names):
    shown = frames(error_of(code, names))
    assert len(shown) <= MOST, shown


def test_the_first_and_the_last_frame_stay(names):
    shown = frames(error_of("t(['a'], padding='longes')", names))
    assert [frame.name for frame in shown] == ["__call__", "_missing_"]


def test_a_users_own_frames_stay(names):
    class Mine(names["K"]):
        def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
            raise trietok.InputError("this text is refused")

    error = error_of("t(['a'])", {"t": Mine.from_pretrained("trietok-en")})
    found = traceback.extract_tb(error.__traceback__)
    assert found[-1].name == "prepare_for_tokenization"
    assert len(frames(error)) <= MOST


def test_an_error_that_is_not_trietoks_keeps_all_its_frames(names):
    class Mine(names["K"]):
        def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        Mine.from_pretrained("trietok-en")(["a"])
    assert len(frames(caught.value)) > MOST


def test_the_development_mode_shows_all_frames():
    code = (
        "import trietok; trietok.BertTokenizer.from_pretrained('trietok-en')('a', padding='longes')"
    )
    said = [
        subprocess.run(
            [sys.executable, *mode, "-c", code], capture_output=True, text=True, timeout=600
        ).stderr
        for mode in ([], ["-X", "dev"])
    ]
    short, long = (text.count('File "' + HOME) for text in said)
    assert short == 2
    assert long > MOST
    assert all("'longes' is not a valid PaddingStrategy" in text for text in said)
