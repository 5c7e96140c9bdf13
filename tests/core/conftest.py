"""A tokenizer of each profile, with the compiled kernel and in plain Python."""

from __future__ import annotations

import pytest

from trietok import BertTokenizer, BertTokenizerFast


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, kernel):
    return request.param.from_pretrained("trietok-en")
