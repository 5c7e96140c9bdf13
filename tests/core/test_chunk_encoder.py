"""What is remembered is never wrong: whatever changes between two texts, the ids are those of the
plain path.
"""

from __future__ import annotations

import os
import tracemalloc

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.conftest import SPECIAL, examples
from trietok import AddedToken, BertTokenizer, InputError
from trietok.text.kernel.choosing import using_kernel

PIECES = "the subj sub ##j ##ect un ##able ##ble a b ##b cafe e x ##x".split()
PIECES += "don ' t don't [ ] cls é caf ##é 中 A B S UBJ [unused0] [unused1]".split()
WORDS = [
    *"the subject SUBJ subj unable ab café".split(),
    *("cafe\u0301", "don't", "[CLS]", "[X]", "[x]", "[Y]", "end.", "(a)b,", "一二，。a中b"),
    "中́x",
    *"ÉB ﬁ Ⅷ 가 한글 Å".split(),
    *("the\nsubject", "a\tb", "x\x0by", "。[SEP\0]", "“[MASK\u200b]”", "e\u0301。", "a\ufadab"),
    *("a\0。", "\u212b—", "éa—b", "unable。", "AB", "É。", "xx", "中a中", "a\x00b", "<s>"),
    *("[CL\x00S]", "Ab", "b-b", "S\u0130", "zzz"),
]
contents = st.sampled_from(
    [
        *"subj SUBJ [X] [Y] ab a é 中 ##able b-b <s> un".split(),
        *("a b", "[x]", "e x", "A the", "x\ny", "subject un ab", " b", "é。", "a。", "B", "aB"),
    ]
)
texts = st.lists(st.sampled_from(WORDS) | contents, min_size=1, max_size=6).map(
    " ".join
) | st.sampled_from(["a\x0bb", "a\x85"])


class Plain(BertTokenizer):
    """The same tokenizer, whose texts go through its methods."""

    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text, **kwargs)


@pytest.fixture(scope="module")
def vocab_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("chunks") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES]), encoding="utf-8")
    return path


def test_any_change_between_two_texts(vocab_path):
    class Changes(RuleBasedStateMachine):
        @initialize(lower=st.booleans(), more=st.sampled_from([0, 60]))
        def make(self, lower, more):
            self.both = [kind(vocab_path, do_lower_case=lower) for kind in (BertTokenizer, Plain)]
            # few tokens are found by a pattern, many by a trie
            self.on_both(lambda tokenizer: tokenizer.add_tokens([f"a{i}b" for i in range(more)]))
            self.texts = ["the subject"]

        def on_both(self, change):
            outcomes = []
            for tokenizer in self.both:
                try:
                    outcomes.append(change(tokenizer))
                except Exception as error:  # alike on both, or the test fails
                    outcomes.append(type(error))
            assert outcomes[0] == outcomes[1]

        @rule(text=texts)
        def encode(self, text):
            self.texts = [*self.texts[-5:], text]

        @rule(
            content=contents,
            flags=st.dictionaries(
                st.sampled_from(["lstrip", "single_word", "special", "normalized"]), st.booleans()
            ),
        )
        def add(self, content, flags):
            self.on_both(lambda tokenizer: tokenizer.add_tokens([AddedToken(content, **flags)]))

        @rule(content=contents)
        def remove(self, content):
            self.on_both(lambda tokenizer: tokenizer.remove_tokens([content]))

        @rule(listed=st.lists(contents, max_size=2), replace=st.booleans())
        def list_special(self, listed, replace):
            roles = {"additional_special_tokens": listed}
            self.on_both(lambda tokenizer: tokenizer.add_special_tokens(roles, replace))

        @rule(
            role=st.sampled_from(["cls_token", "unk_token", "bos_token"]),
            token=contents | st.just("[UNK]"),
        )
        def give_role(self, role, token):
            self.on_both(lambda tokenizer: tokenizer.add_special_tokens({role: token}))

        @rule(
            role=st.sampled_from(["cls_token", "mask_token"]),
            token=st.sampled_from(["the", "ab", "[MASK]"]),
        )
        def set_role(self, role, token):
            self.on_both(lambda tokenizer: setattr(tokenizer, role, token))

        @rule(decoder=st.dictionaries(st.integers(110, 114), contents, max_size=2))
        def set_decoder(self, decoder):
            self.on_both(lambda tokenizer: setattr(tokenizer, "added_tokens_decoder", decoder))

        @rule(piece=st.sampled_from(["##ject", "zz", "##z", "subject"]))
        def add_piece(self, piece):
            self.on_both(lambda tokenizer: tokenizer.add_wordpieces([piece]))

        @rule(slot=st.sampled_from(["[unused0]", "[unused1]"]), token=contents)
        def assign(self, slot, token):
            self.on_both(lambda tokenizer: tokenizer.assign_unused(slot, token))

        @rule(
            name=st.sampled_from(
                ["do_lower_case", "tokenize_chinese_chars", "strip_accents", "do_split_on_punc"]
            ),
            value=st.booleans(),
        )
        def set_basic(self, name, value):
            self.on_both(lambda tokenizer: setattr(tokenizer.basic_tokenizer, name, value))

        @rule(kept=st.sets(st.sampled_from(["Ab", "don't"]), max_size=1))
        def never_split(self, kept):
            self.on_both(lambda tokenizer: setattr(tokenizer.basic_tokenizer, "never_split", kept))

        @rule(kept=st.sampled_from(["x-a", "Ab", "the"]))
        def keep_in_place(self, kept):
            self.on_both(lambda tokenizer: tokenizer.basic_tokenizer.never_split.add(kept))

        @rule(value=st.booleans())
        def do_basic_tokenize(self, value):
            self.on_both(lambda tokenizer: setattr(tokenizer, "do_basic_tokenize", value))

        @rule(longest=st.sampled_from([2, 4, 100]))
        def longest_word(self, longest):
            self.on_both(
                lambda t: setattr(t.wordpiece_tokenizer, "max_input_chars_per_word", longest)
            )

        @rule(value=st.booleans())
        def split_special_tokens(self, value):
            self.on_both(lambda tokenizer: setattr(tokenizer, "split_special_tokens", value))

        @invariant()
        def ids_are_those_of_the_plain_path(self):
            fast, plain = self.both
            for text in self.texts:
                self.on_both(lambda tokenizer, text=text: tokenizer.encode(text))
                assert fast.tokenize(text) == plain.tokenize(text), text

    Changes.TestCase.settings = settings(examples(80), stateful_step_count=20)
    Changes.TestCase().runTest()


def test_what_is_changed_in_place_is_seen(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.model_input_names = list(tokenizer.model_input_names)
    assert "token_type_ids" in tokenizer("the")
    tokenizer.model_input_names.remove("token_type_ids")
    assert "token_type_ids" not in tokenizer("the")
    own = dict(tokenizer.vocab)
    tokenizer.wordpiece_tokenizer.vocab = own
    assert tokenizer.tokenize("zzx") == ["[UNK]"]
    own["zzx"] = 1
    assert tokenizer.tokenize("zzx") == ["zzx"]


def test_a_removed_token_that_is_a_piece_gives_the_piece_its_id_back(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    own = tokenizer.encode("unable xunable")
    tokenizer.added_tokens_decoder = {50: "##able"}
    assert tokenizer.encode("unable xunable") != own
    tokenizer.remove_tokens(["##able"])
    assert tokenizer.encode("unable xunable") == own


@pytest.mark.parametrize("value", [None, "64MB", -5, True])
def test_the_limit_is_a_number_of_bytes(vocab_path, value):
    tokenizer = BertTokenizer(vocab_path)
    with pytest.raises(InputError):
        tokenizer.cache_limit = value
    with pytest.raises(InputError):
        BertTokenizer(vocab_path, cache_limit=value)
    assert BertTokenizer(vocab_path, cache_limit=1000).cache_info().limit == 1000


def test_no_more_is_remembered_than_the_bound(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.cache_limit = 12_000
    plain = Plain(vocab_path)
    for number in range(400):
        text = f"a{number} the b{number}"
        assert tokenizer.encode(text) == plain.encode(text)
        if number % 40 == 0:
            for each in (tokenizer, plain):
                each.add_tokens([f"<{number}>"])
        info = tokenizer.cache_info()
        assert info.bytes <= info.limit == 12_000
    assert info.times_full > 5
    before = tokenizer.cache_info()
    tokenizer.encode("x" * 1000)
    assert tokenizer.cache_info() == before  # too long to be met again


def test_the_estimate_of_bytes_is_from_above(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.add_wordpieces(["w", "ж", "𝒳", *(f"##{digit}" for digit in range(10))])
    words = [f"{char}{number}" for number in range(8000) for char in ("w", "ж", "𝒳")]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        # the compiled kernel counts its memory exactly, and tracemalloc does not see it
        with using_kernel("plain"):
            for word in words:
                tokenizer.encode(word)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    info = tokenizer.cache_info()
    assert info.chunks == 24_000
    assert taken <= info.bytes <= 3 * taken


def test_nothing_is_remembered_with_a_limit_of_0(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.cache_limit = 0
    assert tokenizer.encode("the subject") == Plain(vocab_path).encode("the subject")
    assert tokenizer.cache_info()[:3] == (0, 0, 0)


@pytest.mark.usefixtures("plain_kernel")
def test_clearing_forgets_and_changes_no_result(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    ids = tokenizer.encode("the subject unable")
    tokenizer.add_tokens(["<x>"])
    assert tokenizer.encode("the subject unable <x>")[:-2] == ids[:-1]
    assert tokenizer.cache_info().chunks > 0
    tokenizer.cache_clear()
    assert tokenizer.cache_info()[:3] == (0, 0, 0)
    assert tokenizer.encode("the subject unable") == ids


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on_with_what_is_remembered(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    ids = tokenizer.encode("the subject")
    remembered = tokenizer.cache_info()
    child = os.fork()
    if not child:
        as_before = tokenizer.cache_info() == remembered and tokenizer.encode("the subject") == ids
        os._exit(0 if as_before and tokenizer.cache_info() == remembered else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("number", [1, 23, 24, 100])
def test_runs_of_chinese_of_any_length(vocab_path, number):
    with using_kernel("plain"):
        tokenizer, plain = BertTokenizer(vocab_path), Plain(vocab_path)
        for tokens in ([], ["中一"]):
            for each in (tokenizer, plain):
                each.add_tokens(tokens)
            # some compose to others
            for chars in (
                "中",
                "中一",
                "中。",
                "\ufadb中\U00020000",
                "中\U0002fa1d",
            ):
                text = (chars * number)[:number] + "the"
                assert tokenizer.encode(text) == plain.encode(text)
                assert tokenizer.encode(text) == plain.encode(text)  # from the caches
        tokenizer.cache_clear()
        assert tokenizer.encode("中" * number) == plain.encode("中" * number)
