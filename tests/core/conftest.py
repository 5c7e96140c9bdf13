"""A tokenizer of each profile, with the compiled kernel and in plain Python."""

from __future__ import annotations

import pytest

from trietok import BertTokenizer, BertTokenizerFast
from trietok.text.kernel.choosing import using_kernel


@pytest.fixture(params=[pytest.param("compiled", marks=pytest.mark.kernel), "plain"])
def kernel(request):
    with using_kernel(request.param, text_before_kernel=0):
        yield


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, kernel):
    return request.param.from_pretrained("trietok-en")
