"""transformers' pipelines: what they answer is what they answer with transformers' own tokenizer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import transformers

from tests.integrations.conftest import (
    LONG,
    SAME_IN_BOTH,
    TEXTS,
    is_five,
    model_of,
    their_tokenizer,
)
from tests.integrations.page import run_line

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def names(labels: list[str]) -> dict[str, Any]:
    return {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }


def made(client: str, model: Any, tokenizer: Any, **options: Any) -> Any:
    """The pipeline that the page's line makes; with other values of the options that the line
    has.
    """

    def with_options(task: str, **given: Any) -> Any:
        given |= {name: options[name] for name in options if name in given}
        kept = {name: value for name, value in given.items() if value is not None}
        return transformers.pipeline(task, device="cpu", **kept)

    return run_line(f"pipelines: {client}", tokenizer, pipeline=with_options, model=model)


@pytest.mark.parametrize(
    ("client", "kind", "labels", "calls"),
    [
        (
            "fill-mask",
            "BertForMaskedLM",
            [],
            [
                ((["The [MASK] flurbomycin say.", "[E1] [MASK] people\u0378"],), {}),
                (("The [MASK] flurbomycin say.",), {"targets": ["people", "say"]}),
            ],
        ),
        (
            "text-classification",
            "BertForSequenceClassification",
            ["no", "yes"],
            [((TEXTS,), {"batch_size": 2}), (({"text": TEXTS[0], "text_pair": TEXTS[1]},), {})],
        ),
        (
            "zero-shot",
            "BertForSequenceClassification",
            ["contradiction", "neutral", "entailment"],
            [
                ((TEXTS, ["people", "héllo flurbomycin"]), {"multi_label": multi})
                for multi in (False, True)
            ],
        ),
    ],
)
def test_answers_are_the_same(client, kind, labels, calls, tokenizer, theirs):
    model = model_of(kind, **(names(labels) if labels else {}))
    ours, others = (made(client, model, each) for each in (tokenizer, theirs))
    for arguments, options in calls:
        assert ours(*arguments, **options) == others(*arguments, **options)


def tagger() -> Any:
    """A model whose labels follow from each token by itself, so that a text has many entities of
    several labels.
    """
    import torch

    model = model_of("BertForTokenClassification", initializer_range=0.02, **names(LABELS))
    torch.nn.init.normal_(model.bert.embeddings.word_embeddings.weight, std=3.0)
    torch.nn.init.normal_(model.classifier.weight, std=1.0)
    return model


def without_words(results: Any) -> Any:
    if isinstance(results, list):
        return [without_words(each) for each in results]
    return {key: value for key, value in results.items() if key != "word"}


# transformers' slow tokenizer has no offsets, so the fast one is what both profiles are compared
# with, on texts whose ids are the same; the words of a group are put together by each tokenizer's
# own `convert_tokens_to_string`.
@pytest.mark.parametrize(
    ("strategy", "stride"),
    [
        ("none", None),  # transformers takes a stride with a strategy only
        *((name, stride) for name in ("simple", "first", "average", "max") for stride in (None, 8)),
    ],
)
def test_entities_are_the_same(strategy: str, stride: int | None, tokenizer: Any, directory: Path):
    model, others = tagger(), their_tokenizer("fast", directory)
    texts = SAME_IN_BOTH
    if stride is not None:
        tokenizer.model_max_length = others.model_max_length = 32
        texts = [*SAME_IN_BOTH, LONG]
    options = {"aggregation_strategy": strategy, "stride": stride}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Tokenizer does not support real words")
        ours = made("token-classification", model, tokenizer, **options)(texts)
    wanted = made("token-classification", model, others, **options)(texts)
    assert without_words(ours) == without_words(wanted)
    if tokenizer.profile == "fast":
        assert ours == wanted
    assert len(ours[0]) > 3


def test_entities_of_words_are_the_same(tokenizer, directory):
    model, options = tagger(), {"aggregation_strategy": "simple", "stride": None}
    ours, others = (
        made("token-classification", model, each, **options)(
            ["The", "people", "flurbomycin", "héllo"], is_split_into_words=True, delimiter=" "
        )
        for each in (tokenizer, their_tokenizer("fast", directory))
    )
    assert without_words(ours) == without_words(others)


@pytest.mark.skipif(is_five(), reason="needs transformers 4: 5 has no such pipeline")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_seq_len": 32, "doc_stride": 8},
        {"top_k": 3, "handle_impossible_answer": True},
        {"padding": "max_length"},
    ],
)
def test_answers_to_questions_are_the_same(options, tokenizer, directory):
    model = model_of("BertForQuestionAnswering")
    ours, others = (
        made("question-answering", model, each)
        for each in (tokenizer, their_tokenizer("fast", directory))
    )
    question = {"question": "Who say flurbomycin?"}
    for context in (SAME_IN_BOTH[0], LONG):
        assert ours(**question, context=context, **options) == others(
            **question, context=context, **options
        )
