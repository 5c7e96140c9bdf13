"""trietok and transformers side by side: tokenizers with added tokens and roles are saved and
loaded.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import assert_share, examples
from tests.parity.comparing import different, outcome, state_of
from tests.parity.directories import contents, is_refused_for_a_reason
from tests.parity.programs import Call, change, compare, tokenizers
from tests.strategies import BOOL, NEAR_CONTENTS, OPTIONAL_BOOL, Change

KEPT = {
    "model_max_length": (8, 512),
    "padding_side": ("right", "left"),
    "truncation_side": ("right", "left"),
    "clean_up_tokenization_spaces": BOOL,
    "split_special_tokens": BOOL,
}
SETTINGS = strategies.some_of(
    **KEPT,
    strip_accents=OPTIONAL_BOOL,
    tokenize_chinese_chars=BOOL,
    never_split=(None, [], ["Ph.D.", "HELLO"]),
    additional_special_tokens=([], ["<a>", "[X]"], ["hello"]),
    extra_special_tokens=({}, {"image_token": "<img>"}, {"image_token": "ab"}),
    a_keyword_of_my_own=(3, [1, "x"], {"k": None}),
)
TEXTS = st.lists(strategies.texts(NEAR_CONTENTS, max_size=8), min_size=1, max_size=3)


def settings_of(tokenizer: Any) -> dict[str, Any]:
    """What a tokenizer does not say in `state_of`."""
    basic = tokenizer.basic_tokenizer
    return {
        **{name: getattr(tokenizer, name) for name in KEPT},
        "do_lower_case": basic.do_lower_case,
        "never_split": sorted(basic.never_split),
        "strip_accents": basic.strip_accents,
        "tokenize_chinese_chars": basic.tokenize_chinese_chars,
        "extra_special_tokens": dict(tokenizer.extra_special_tokens),
    }


def files_in(directory: str) -> dict[str, Any]:
    """The files of a slow save: a token with the flags of a plain special one is a string in
    trietok's special_tokens_map.json (departure 17).
    """
    files: dict[str, Any] = {}
    for path in sorted(Path(directory).iterdir()):
        text = path.read_text(encoding="utf-8")
        files[path.name] = json.loads(text) if path.suffix == ".json" else text
        if isinstance(files[path.name], dict):
            files[path.name].pop("trietok", None)  # what transformers has no place for
    files["special_tokens_map.json"] = contents(files["special_tokens_map.json"])
    return files


def test_saved_tokenizers_load_in_both_libraries() -> None:
    counts: Counter[str] = Counter()

    @examples(60)
    @given(
        st.sampled_from(["uncased", "cased", "without roles"]),
        SETTINGS,
        strategies.histories(max_size=4),
        TEXTS,
    )
    def each(
        vocabulary: str, settings: dict[str, Any], history: list[Change], texts: list[str]
    ) -> None:
        theirs, ours = tokenizers("BertTokenizer", vocabulary, **settings)
        for step in history:
            if change(step, theirs, ours) == "errors":
                counts["refused change"] += 1
                return
        with tempfile.TemporaryDirectory() as by_them, tempfile.TemporaryDirectory() as by_us:
            try:
                ours.save_pretrained(by_us)
            except (trietok.VocabularyError, trietok.NotSupportedError):
                assert is_refused_for_a_reason(ours)
                assert not list(Path(by_us).iterdir())
                counts["refused save"] += 1
                return
            theirs.save_pretrained(by_them)
            assert files_in(by_us) == files_in(by_them)
            counts[load_all(by_them, by_us, texts)] += 1

    each()
    assert_share(counts["loaded"], counts.total(), 0.3)


def load_all(by_them: str, by_us: str, texts: list[str]) -> str:
    """Load each directory with each library; all have the same state and give the same ids."""
    want, their_error = outcome(lambda: transformers.BertTokenizer.from_pretrained(by_them))
    for library, directory in ((trietok, by_them), (transformers, by_us), (trietok, by_us)):
        loaded, error = outcome(
            lambda library=library, directory=directory: library.BertTokenizer.from_pretrained(
                directory
            )
        )
        who = f"{library.__name__} loads {'theirs' if directory == by_them else 'ours'}"
        assert (error is None) == (their_error is None), (who, their_error, error)
        if their_error is not None:
            continue
        problem = different(state_of(want), state_of(loaded))
        problem = problem or different(settings_of(want), settings_of(loaded))
        assert problem is None, f"{who}: {problem}"
        for text in texts:
            for call in (Call("tokenize", (text,), {}), Call("__call__", (text,), {})):
                compare(call, want, loaded)
    return "error" if their_error else "loaded"


@pytest.mark.parametrize("library", [transformers, trietok])
def test_a_filename_prefix_gives_the_same_names(library: Any, tmp_path: Path) -> None:
    _, ours = tokenizers("BertTokenizer")
    theirs, _ = tokenizers("BertTokenizer")
    tokenizer = ours if library is trietok else theirs
    paths = tokenizer.save_pretrained(tmp_path, filename_prefix="my")
    names = {"my-vocab.txt", "my-tokenizer_config.json", "my-special_tokens_map.json"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert names <= {Path(path).name for path in paths}


def test_an_unknown_token_that_is_no_token_is_not_saved(tmp_path: Path) -> None:
    _, ours = tokenizers("BertTokenizer")
    ours.unk_token = "<unknown>"
    message = "'<unknown>' is neither in the vocabulary nor an added token"
    with pytest.raises(trietok.VocabularyError, match=message):
        ours.save_pretrained(tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


TERMS = [
    *("hello", "abc", "zebra", "##q", "new york", "c++", "covid", "sars-2", "É", "été", "x y z"),
    *("世界", "Ab Q"),
]
PIECES = "a b ##b ##c z ##e new york c + co ##v - 1 x y 世".split()
# A single word stands between spaces for transformers' slow class (departure 2).
SPACED = [*TERMS, " ".join(TERMS), "covid abcq ZEBRA x y Z hello", "new  york"]
TOUCHING = ["".join(TERMS), "covids covid-19 abcq! ZEBRA-x y Z's hellos!"]


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
@examples(30)
@given(
    steps=st.lists(
        st.tuples(
            st.lists(st.sampled_from(TERMS), min_size=1, max_size=4),
            st.sampled_from(["auto", "auto", "single-word"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_terms_added_step_by_step_keep_all_ids_and_load_in_transformers(
    kind: str, steps: list[tuple[list[str], str]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        tokens = [*strategies.ROLE_TOKENS, *PIECES]
        Path(directory, "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
        ours: Any = getattr(trietok, kind)(f"{directory}/vocab.txt")
        ids = ours.get_vocab()
        for number, (terms, way) in enumerate(steps):
            saved = f"{directory}/{number}"
            trietok.add_terms(ours, terms, way)
            ours.save_pretrained(saved)
            ours = getattr(trietok, kind).from_pretrained(saved)
            theirs = getattr(transformers, kind).from_pretrained(saved)
            assert theirs.get_vocab() == ours.get_vocab()
            assert {token: ours.get_vocab()[token] for token in ids} == ids
            ids = ours.get_vocab()
            for text in SPACED if kind == "BertTokenizer" else [*SPACED, *TOUCHING]:
                assert theirs.encode(text) == ours.encode(text), text
