"""JSON files are written in C where they are long: byte for byte as `json.dumps` with an indent
writes them.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trietok import AddedToken
from trietok.files.formats import added_tokens_written
from trietok.files.json_files import json_text

TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('{}[]"\\,: \n\x01%')),
    max_size=5,
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)


def values(keys):
    def containers(inner):
        return (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(keys, inner, max_size=3)
        )

    return st.recursive(LEAVES, containers, max_leaves=8)


@given(values(TEXTS) | values(st.integers()), st.booleans())
def test_any_value_is_written_as_json_writes_it(value, sort_keys):
    want = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=sort_keys)
    assert json_text(value, sort_keys=sort_keys) == want


FLAGS = st.fixed_dictionaries(
    dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), st.booleans())
)
TOKENS = st.dictionaries(
    st.integers(0, 10_000),
    st.builds(lambda content, flags: AddedToken(content or "a", **flags), TEXTS, FLAGS),
)


@given(TOKENS)
def test_added_tokens_are_written_as_json_writes_their_fields(tokens):
    value = {"b": {token_id: token.__getstate__() for token_id, token in tokens.items()}, "a": 1}
    written = {**value, "b": added_tokens_written(tokens, as_object=True)}
    assert json_text(written, sort_keys=True) == json.dumps(
        value, indent=2, ensure_ascii=False, sort_keys=True
    )
    value = {
        "b": [{"id": token_id, **token.__getstate__()} for token_id, token in tokens.items()],
        "a": 1,
    }
    written = {**value, "b": added_tokens_written(tokens, as_object=False)}
    assert json_text(written) == json.dumps(value, indent=2, ensure_ascii=False)


def test_a_value_that_holds_itself_is_told():
    value: list[object] = []
    value.append(value)
    with pytest.raises(ValueError, match="Circular reference"):
        json_text(value)


def test_what_no_json_has_is_told_as_json_tells_it():
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        json_text({"a": {"b": {1}}})
