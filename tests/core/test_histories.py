"""Random histories of one tokenizer: it is changed, called, hooked, copied, saved and loaded, and
after each step compared with whatever must give the same.

A run makes the same changes to several tokenizers at once:

- one with the compiled kernel and one in plain Python;
- one whose class overrides a method that only calls the original, so that its texts go through the
  methods of the class;
- one of transformers, as long as only changes were made that both libraries have.

Copies, and what is saved and loaded, have to be as the original; the run goes on with them. An id
never moves unless the method returns the new ids, and a change that fails changes nothing.
"""

from __future__ import annotations

import copy
import logging
import pickle
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import trietok
from tests import strategies
from tests.conftest import PROFILE, assert_share, examples, using_kernel
from tests.kernel import installed_kernel
from tests.parity.comparing import is_alike, plain_fields, trie_is_wrong
from tests.strategies import (
    ADDITIONAL,
    NEAR_CONTENTS,
    ROLES,
    Change,
    apply,
    directory_of,
    is_valid,
)

WITH_KERNEL = installed_kernel.is_there()
SIDES = (*(["compiled"] if WITH_KERNEL else []), "plain", "methods")
# With words that become others where they are special, or never split.
PROBES = [
    "un[X]aff able <a> new york hello, ab!abc [CLS] xab",
    "É 世界 COVID-19 HELLO Zz ΟΔΟΣ a.b Ph.D. a!b the ##b",
]
KEPT_TEXTS = 3  # so many of the latest texts are encoded again after each step
TERM_WORDS = ["new", "york", "of", "the", "ab", "abc", "É", "世", "st.", "x"]
TERMS = st.lists(st.sampled_from(TERM_WORDS), min_size=2, max_size=4).map(" ".join)
OWN_KINDS = ["any", "any", "remove", "remove", "assign", "limit"]
REMOVED = "remove what is there"
IN_PLACE = "never_split.add"
# What an attribute of a stage may be set to while the tokenizer is in use.
STAGES: dict[str, tuple[Any, ...]] = {
    "basic_tokenizer.do_lower_case": (False, True),
    "basic_tokenizer.strip_accents": (None, False, True),
    "basic_tokenizer.tokenize_chinese_chars": (False, True),
    "basic_tokenizer.never_split": ({"hello"}, {"new york", "a.b"}, set()),
    "wordpiece_tokenizer.max_input_chars_per_word": (2, 4, 100),
    "do_basic_tokenize": (False, True),
    IN_PLACE: tuple(strategies.NEVER_SPLIT),
}
# What a method that is replaced on the tokenizer itself returns for the original's result.
HOOKS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "slow": {
        "_tokenize": lambda tokens: tokens[::-1],
        "_convert_token_to_id": lambda token_id: 7 if token_id == 5 else token_id,
        "prepare_for_tokenization": lambda pair: (f"b {pair[0]}", pair[1]),
        "build_inputs_with_special_tokens": lambda ids: [*ids, 4],
    },
    "fast": {"prepare_for_tokenization": lambda pair: (f"b {pair[0]}", pair[1])},
}


class Slow(trietok.BertTokenizer):
    """Its texts go through its methods."""

    def _tokenize(self, text: str, **options: Any) -> list[str]:
        return super()._tokenize(text, **options)


class Fast(trietok.BertTokenizerFast):
    """Its texts go through its methods."""

    def prepare_for_tokenization(self, text: str, **options: Any) -> tuple[str, dict[str, Any]]:
        return super().prepare_for_tokenization(text, **options)


BY_METHODS = {"slow": Slow, "fast": Fast}
NAMES = {"slow": "BertTokenizer", "fast": "BertTokenizerFast"}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Neither library logs the thousands of warnings of a run."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


# ---- what is compared ----------------------------------------------------------------------------


def state_of(tokenizer: Any) -> dict[str, Any]:
    """What a tokenizer of either library says of its tokens."""
    return {
        "vocab": dict(sorted(tokenizer.get_vocab().items())),
        "sizes": (len(tokenizer), tokenizer.vocab_size),
        "decoder": list(plain_fields(dict(tokenizer.added_tokens_decoder)).items()),
        "added vocab": tokenizer.get_added_vocab(),
        "roles": tokenizer.special_tokens_map,
        "special": (tokenizer.all_special_tokens, tokenizer.all_special_ids),
        "ids of roles": [
            *(getattr(tokenizer, f"{role}_id") for role in ROLES),
            getattr(tokenizer, f"{ADDITIONAL}_ids"),
        ],
        "settings": [
            getattr(tokenizer, name) for name in strategies.SETTINGS if name != "model_input_names"
        ],
    }


def attempt(call: Callable[[], Any], raised: tuple[type[BaseException], ...] = (Exception,)) -> Any:
    """What a call returns; the error that it raises."""
    try:
        return call()
    except raised as error:
        return error


def without_error(result: Any) -> Any:
    """A result to compare with that of another tokenizer of trietok: of an error its type."""
    return type(result) if isinstance(result, Exception) else result


def results(tokenizer: Any, texts: list[str]) -> list[Any]:
    """What the calls of a tokenizer of trietok return."""
    calls: list[Callable[[], Any]] = [
        lambda: [tokenizer.encode(text) for text in texts],
        lambda: [tokenizer.tokenize(text, split_special_tokens=True) for text in texts],
        lambda: dict(tokenizer(texts, padding=True, return_special_tokens_mask=True)),
        lambda: dict(tokenizer(texts, return_offsets_mapping=True)),
    ]
    return [without_error(attempt(call)) for call in calls]


def summary(tokenizer: Any) -> dict[str, Any]:
    """All of a tokenizer of trietok that a change that fails, a copy or a save must keep."""
    return {
        **state_of(tokenizer),
        "record": tokenizer.record(),
        "fingerprint": tokenizer.fingerprint(),
        "results": results(tokenizer, PROBES),
    }


def assert_same(summary: dict[str, Any], before: dict[str, Any]) -> None:
    for name, value in before.items():
        assert summary[name] == value, name


def simplified(content: str) -> str:
    """A token without capitals, marks and space around."""
    decomposed = unicodedata.normalize("NFD", content.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).strip()


# ---- the machine ---------------------------------------------------------------------------------


class History(RuleBasedStateMachine):
    """The history of one tokenizer. Subclasses say which, and count what ran."""

    profile: str
    ran: Counter[str]

    @initialize(
        slow=strategies.slow_options(),
        fast=strategies.fast_options(),
        own=st.booleans(),
        vocabulary=st.sampled_from(["unused", "unused", "odd"]),
        cache_limit=st.sampled_from([None, None, 0, 3_000]),
    )
    def begin(self, slow, fast, own, vocabulary, cache_limit):
        options = slow if self.profile == "slow" else fast
        self.own = own  # whether changes are made that only trietok has
        # A file where tokens stand twice; transformers gives two tokens one id then.
        self.is_odd = own and vocabulary == "odd" and self.profile == "slow"
        file = str(directory_of("odd" if self.is_odd else "unused") / "vocab.txt")
        limit = {} if cache_limit is None else {"cache_limit": cache_limit}
        self.sides: dict[str, Any] = {}
        for side in SIDES:
            by_methods = BY_METHODS[self.profile]
            kind = by_methods if side == "methods" else getattr(trietok, NAMES[self.profile])
            self.sides[side] = kind(file, **options, **limit)
        self.theirs: Any = None
        if not self.is_odd:
            self.theirs = getattr(transformers, NAMES[self.profile])(file, **options)
        self.hooks: dict[str, Any] = {}
        self.texts = [*PROBES]
        self.left_behind: list[tuple[Any, dict[str, Any]]] = []
        self.has_other_settings = False
        self.has_tokens_found_twice = False
        self.has_own_flags = False
        self.ran["run"] += 1
        self.compared_steps = 0
        self.check()

    @property
    def tokenizer(self) -> Any:
        return self.sides[SIDES[0]]

    def on_each(self, action: Callable[[Any], Any]) -> list[Any]:
        """What an action gives for each tokenizer of trietok; an error counts as what it gives."""
        given = []
        for side, tokenizer in self.sides.items():
            with using_kernel("compiled" if side == "compiled" else "plain"):
                given.append(attempt(lambda tokenizer=tokenizer: action(tokenizer)))
        for result in given[1:]:
            assert without_error(result) == without_error(given[0])
        return given

    def check(self) -> None:
        """All tokenizers give the same for the latest texts."""
        self.ran["step"] += 1
        found = self.on_each(lambda tokenizer: results(tokenizer, self.texts))
        self.ran["results"] += len(found[0])
        self.ran["results that are errors"] += sum(isinstance(each, type) for each in found[0])
        states = self.on_each(state_of)
        if not isinstance(states[0], Exception) and self.theirs is not None:
            self.compare_with_transformers(self.theirs, states[0])

    # ---- oracles ---------------------------------------------------------------------------------

    def compare_with_transformers(self, theirs: Any, state: dict[str, Any] | None) -> None:
        """The state, unless it is None, and what the latest texts become."""
        if state is not None:
            want = attempt(lambda: state_of(theirs))
            if isinstance(want, RecursionError):  # the unknown token is no token
                self.theirs = None
                return
            for name, value in state.items():
                assert value == want[name], name
            self.compared_steps += 1
            self.ran["transformers"] += 1
        for text in filter(is_valid, self.texts):
            if self.profile == "slow":
                if trie_is_wrong(theirs, text):
                    continue
                calls = ("encode", "tokenize", "__call__")
            else:
                calls = ("encode", "tokenize", "encode_plus")
            for name in calls:
                self.compare_call(theirs, name, text)

    def compare_call(self, theirs: Any, name: str, text: str) -> None:
        # What a panic of Rust raises is no Exception.
        want = attempt(lambda: getattr(theirs, name)(text), (BaseException,))
        got = attempt(lambda: getattr(self.tokenizer, name)(text))
        if type(want).__name__ == "PanicException" or "has no id" in str(got):
            self.ran["texts that transformers cannot encode"] += 1
        elif isinstance(want, BaseException):
            assert isinstance(got, Exception), (text, want, got)
            assert is_alike(want, got), (text, want, got)
        else:
            assert got == want, (name, text)
            self.ran["texts as in transformers"] += 1

    def assert_no_id_moved(self, change: Change, before: dict[str, int], max_id: int, result: Any):
        """No token has another id than the method says, and no id is given a second time."""
        kind, argument = change
        after = self.tokenizer.get_vocab()
        moved = result if isinstance(result, dict) else {i: i for i in before.values()}
        gone = {argument[0]} if kind == "assign" else set()
        gone |= set(argument[0]) if kind == "remove" else set()
        for token, token_id in before.items():
            if token in after and (token_id in moved or not self.is_odd):
                assert after[token] == moved[token_id], token
            elif token not in after:
                assert token in gone or (kind == "keep" and token_id not in moved), token
        new = sorted(after[token] for token in after.keys() - before.keys())
        if kind == "assign":
            assert new == [result]
        elif kind not in ("remove", "keep"):
            assert new == [*range(max_id + 1, max_id + 1 + len(new))]
            assert self.tokenizer.max_id == max_id + len(new)
            if self.profile == "slow" and kind in ("add", "roles", "pieces"):
                assert result == len(new)
        elif kind == "remove" and not argument[1]:
            assert self.tokenizer.max_id == max_id  # so that the id is not given again
        if kind == "remove":
            assert gone.isdisjoint(self.tokenizer.all_special_tokens)

    # ---- changes ---------------------------------------------------------------------------------

    def change(self, change: Change, name: str = "", both_libraries: bool = True) -> None:
        """Make a change to every tokenizer, and compare them."""
        name = name or change[0]
        before, vocab, max_id = (
            summary(self.tokenizer),
            self.tokenizer.get_vocab(),
            self.tokenizer.max_id,
        )
        result = self.on_each(lambda tokenizer: apply(trietok, tokenizer, change))[0]
        failed = isinstance(result, Exception)
        if failed:
            assert isinstance(result, (trietok.TrietokError, TypeError, ValueError)), result
            assert_same(summary(self.tokenizer), before)
        else:
            self.assert_no_id_moved(change, vocab, max_id, result)
            self.note_changed_flags(before["decoder"])
        self.ran[f"{name}, failed" if failed else name] += 1
        if not both_libraries:
            self.theirs = None
        elif self.theirs is not None:
            want = attempt(lambda: apply(transformers, self.theirs, change))
            if isinstance(want, Exception) or failed:
                assert isinstance(want, Exception) and is_alike(want, result), (want, result)  # noqa: PT018
                self.theirs = None  # the part of it that was made stays made there
            else:
                assert result == want
        self.check()

    def note_changed_flags(self, before: list[tuple[int, dict[str, Any]]]) -> None:
        """In the fast profile a token whose flags change is still found as it was, too, and a copy
        finds it only as it is (docs/hf_compatibility.md).
        """
        decoder = self.tokenizer.added_tokens_decoder
        tokens = [(fields, decoder.get(token_id)) for token_id, fields in before]
        if self.profile == "fast" and any(
            token is not None
            and token.content == fields["content"]
            and plain_fields(token) != fields
            for fields, token in tokens
        ):
            self.has_tokens_found_twice = True

    def can_be_copied(self) -> bool:
        return not self.hooks and not self.has_tokens_found_twice

    @rule(changes=st.lists(strategies.changes(), min_size=1, max_size=4))
    def change_as_in_transformers(self, changes):
        for change in changes:
            self.change(change)

    @rule(terms=st.lists(TERMS, min_size=1, max_size=30))
    def add_terms(self, terms):
        self.change(("add", (terms, False)), "terms")

    @precondition(lambda self: self.own or self.profile == "fast")
    @rule(
        tokens=st.lists(strategies.flagged_terms(), min_size=1, max_size=3), special=st.booleans()
    )
    def add_tokens_with_any_flags(self, tokens, special):
        # transformers' slow class reads `single_word` and `normalized` otherwise
        self.has_own_flags = self.profile == "slow"
        self.change(("add", (tokens, special)), "flags", self.profile == "fast")

    @precondition(lambda self: self.own)
    @rule(data=st.data(), kinds=st.lists(st.sampled_from(OWN_KINDS), min_size=2, max_size=5))
    def change_as_only_trietok_can(self, data, kinds):
        for kind in kinds:
            if kind == "limit":
                more = data.draw(st.sampled_from([None, None, 0, 2]))
                limit = None if more is None else self.tokenizer.max_id + 1 + more
                change, name = ("setting", ("max_embedding_rows", limit)), "limit rows"
            elif kind == "remove" and self.removable():
                there = st.lists(st.sampled_from(self.removable()), min_size=1, max_size=3)
                change, name = ("remove", (data.draw(there), data.draw(st.booleans()))), REMOVED
            elif kind == "assign":
                slot, token = st.sampled_from(strategies.UNUSED), strategies.terms()
                change, name = ("assign", (data.draw(slot), data.draw(token))), ""
            else:
                change, name = data.draw(strategies.own_changes()), ""
            self.change(change, name, both_libraries=False)

    def removable(self) -> list[str]:
        roles = {getattr(self.tokenizer, role) for role in ROLES}
        return [token for token in self.tokenizer.added_tokens_encoder if token not in roles]

    @rule(data=st.data())
    def change_setting(self, data):
        kinds: list[list[str]] = [[*strategies.SETTINGS]]
        kinds += [[*STAGES], [IN_PLACE]] if self.has_stages() else []
        name = data.draw(st.sampled_from(kinds).flatmap(st.sampled_from))
        self.has_other_settings = True
        if name in strategies.SETTINGS:
            value = data.draw(st.sampled_from(strategies.SETTINGS[name]))
            self.change(("setting", (name, value)))
            return
        value = data.draw(st.sampled_from(STAGES[name]))
        for tokenizer in filter(None, (*self.sides.values(), self.theirs)):
            if name == IN_PLACE:  # which no attribute tells
                tokenizer.basic_tokenizer.never_split.add(value)
            else:
                stage, _, attribute = name.rpartition(".")
                holder = getattr(tokenizer, stage) if stage else tokenizer
                setattr(holder, attribute, copy.copy(value))
        self.ran[name] += 1
        self.check()

    def has_stages(self) -> bool:
        return self.profile == "slow" and hasattr(self.tokenizer, "basic_tokenizer")

    # ---- calls and hooks -------------------------------------------------------------------------

    @rule(data=st.data(), options=strategies.call_options())
    def call(self, data, options):
        added = [*self.tokenizer.added_tokens_encoder]
        near = [*added, *(token.swapcase() for token in added), *NEAR_CONTENTS]
        texts = data.draw(st.lists(strategies.texts(near), min_size=1, max_size=3))
        options = {**options, "return_tensors": None, "verbose": False}
        given = self.on_each(lambda tokenizer: dict(tokenizer(texts, **options)))
        self.ran["call, failed" if isinstance(given[0], Exception) else "call"] += 1
        ids = list(range(min(self.tokenizer.max_id + 1, 300)))
        self.on_each(lambda tokenizer: tokenizer.decode(ids, skip_special_tokens=True))
        self.texts = [*PROBES, *self.texts[len(PROBES) :], *texts]
        self.texts[len(PROBES) :] = self.texts[len(PROBES) :][-KEPT_TEXTS:]
        self.check()

    @rule(data=st.data())
    def replace_a_method(self, data):
        name = data.draw(st.sampled_from([*HOOKS[self.profile]]))
        if name in self.hooks:
            return
        self.hooks[name] = replace = HOOKS[self.profile][name]
        if self.profile == "fast":  # where transformers calls no such method
            self.theirs = None
        for tokenizer in filter(None, (*self.sides.values(), self.theirs)):
            original = getattr(tokenizer, name)

            def own(*args, original=original, **options):
                return replace(original(*args, **options))

            setattr(tokenizer, name, own)
        self.ran["hook"] += 1
        self.check()

    @precondition(lambda self: self.hooks)
    @rule()
    def take_the_methods_back(self):
        for tokenizer in filter(None, (*self.sides.values(), self.theirs)):
            for name in self.hooks:
                delattr(tokenizer, name)
        self.hooks.clear()
        self.check()

    # ---- copies ----------------------------------------------------------------------------------

    @precondition(lambda self: self.can_be_copied())
    @rule(pickled=st.booleans())
    def go_on_with_a_copy(self, pickled):
        before = summary(self.tokenizer)
        self.left_behind.append((self.tokenizer, before))
        copied = (lambda each: pickle.loads(pickle.dumps(each))) if pickled else copy.deepcopy
        self.sides = {side: copied(tokenizer) for side, tokenizer in self.sides.items()}
        # Theirs too: a token whose role was set may have other flags in a copy, in both libraries.
        self.theirs = None if self.has_equal_tokens() else copied(self.theirs)
        assert_same(summary(self.tokenizer), before)
        self.ran["pickle" if pickled else "deepcopy"] += 1
        self.check()

    @precondition(lambda self: self.can_be_copied())
    @rule()
    def go_on_with_what_is_saved_and_loaded(self):
        before = summary(self.tokenizer)
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory, "ours")
            saved = attempt(lambda: self.tokenizer.save_pretrained(folder))
            assert_same(summary(self.tokenizer), before)
            if isinstance(saved, Exception):
                assert isinstance(saved, (trietok.VocabularyError, trietok.NotSupportedError)), (
                    saved
                )
                assert not folder.exists()
                self.ran["save, refused"] += 1
                return
            self.on_each_load(folder)
            # A role's token that is not an added special one becomes one.
            special = {fields["content"] for _, fields in before["decoder"] if fields["special"]}
            if special.issuperset(before["special"][0]):
                assert_same(summary(self.tokenizer), before)
                again = Path(directory, "again")
                self.tokenizer.save_pretrained(again)
                for path in folder.iterdir():
                    assert (again / path.name).read_bytes() == path.read_bytes(), path.name
                self.ran["load, the same"] += 1
            self.load_in_transformers(folder, Path(directory, "theirs"))
        self.check()

    def on_each_load(self, folder: Path) -> None:
        for side, tokenizer in self.sides.items():
            with using_kernel("compiled" if side == "compiled" else "plain"):
                self.sides[side] = type(tokenizer).from_pretrained(folder)
                limit = tokenizer.max_embedding_rows
                self.sides[side].max_embedding_rows = limit

    def has_equal_tokens(self) -> bool:
        """Whether two tokens are equal once normalized. Of those, transformers finds another one
        when it has loaded them (docs/hf_compatibility.md).
        """
        tokens = self.tokenizer.added_tokens_decoder.values()
        contents = [simplified(token.content) for token in tokens if token.normalized]
        return len({*contents}) < len(contents)

    def load_in_transformers(self, folder: Path, other: Path) -> None:
        """Their own save has the same tokens when it is loaded; trietok's has the same ids there."""
        if self.is_odd or self.has_own_flags or self.has_equal_tokens():
            self.theirs = None
            return
        kind = getattr(transformers, NAMES[self.profile])
        loaded = kind.from_pretrained(folder)
        self.compare_with_transformers(loaded, None)
        self.ran["load in transformers"] += 1
        if self.theirs is not None and not self.has_other_settings:
            self.theirs.save_pretrained(other)
            self.theirs = kind.from_pretrained(other)
        else:
            self.theirs = None

    def teardown(self):
        for tokenizer, before in getattr(self, "left_behind", ()):
            assert_same(summary(tokenizer), before)  # whatever was done to its copy
        if getattr(self, "compared_steps", 0) > 3:
            self.ran["run with transformers"] += 1


# Of a day's steps chance may leave each of them out; at night each has to occur.
CHANGES = [
    *("add", "roles", "set", "set id", "set additional", "sanitize", "terms", "setting", "flags"),
    *(REMOVED, "assign", "pieces", "keep", "limit rows"),  # only in trietok
    *("pickle", "deepcopy"),
]
ORACLES = ["call", "hook", "load, the same", "load in transformers"]


@pytest.mark.parametrize("profile", ["slow", "fast"])
def test_no_history_makes_two_ways_to_the_same_tokenizer_differ(profile):
    ran: Counter[str] = Counter()
    machine = type("Machine", (History,), {"profile": profile, "ran": ran})
    phases = (Phase.reuse, Phase.generate)
    if PROFILE == "nightly":  # it takes five minutes
        phases += (Phase.shrink,)
    chosen = settings(
        examples(60), stateful_step_count=15, report_multiple_bugs=False, phases=phases
    )
    run_state_machine_as_test(machine, settings=chosen)
    print(sorted(ran.items()))
    for name in CHANGES:
        assert_share(ran[name], ran["step"], 0.002, name)
    for name in ORACLES:
        assert_share(ran[name], ran["step"], 0.01, name)
    assert_share(ran["run with transformers"], ran["run"], 0.2)
    assert_share(ran["results"] - ran["results that are errors"], ran["results"], 0.4)
