"""transformers' pipelines: what they say is what they say with transformers' own tokenizer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

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


def made(task: str, model: Any, tokenizer: Any, **options: Any) -> Any:
    """A pipeline, as transformers' page makes it."""
    from transformers import pipeline

    return pipeline(task, model=model, tokenizer=tokenizer, device="cpu", **options)


def run(client: str, model: Any, tokenizer: Any, **options: Any) -> Any:
    """The pipeline that the page's line makes; with other values of the options that the line
    has.
    """
    from transformers import pipeline

    def with_options(task: str, **given: Any) -> Any:
        given |= {name: options[name] for name in options if name in given}
        return pipeline(
            task,
            device="cpu",
            **{name: value for name, value in given.items() if value is not None},
        )

    return run_line(client, pipeline=with_options, model=model, tokenizer=tokenizer)


def test_fill_mask(tokenizer, theirs):
    model = model_of("BertForMaskedLM")
    masked = ["The [MASK] flurbomycin say.", "[E1] [MASK] people\u0378"]
    ours, others = run("pipelines: fill-mask", model, tokenizer), made("fill-mask", model, theirs)
    assert ours(masked) == others(masked)
    assert ours(masked[0], targets=["people", "say"]) == others(
        masked[0], targets=["people", "say"]
    )


def test_text_classification(tokenizer, theirs):
    model = model_of("BertForSequenceClassification", **names(["no", "yes"]))
    ours = run("pipelines: text-classification", model, tokenizer)
    others = made("text-classification", model, theirs)
    assert ours(TEXTS, batch_size=2) == others(TEXTS, batch_size=2)
    assert ours({"text": TEXTS[0], "text_pair": TEXTS[1]}) == others(
        {"text": TEXTS[0], "text_pair": TEXTS[1]}
    )


def test_zero_shot(tokenizer, theirs):
    model = model_of(
        "BertForSequenceClassification", **names(["contradiction", "neutral", "entailment"])
    )
    ours = run("pipelines: zero-shot", model, tokenizer)
    others = made("zero-shot-classification", model, theirs)
    labels = ["people", "héllo flurbomycin"]
    for multi in (False, True):
        assert ours(TEXTS, labels, multi_label=multi) == others(TEXTS, labels, multi_label=multi)


def tagger() -> Any:
    """A model whose labels follow from each token by itself, so that a text has many entities of
    several labels.
    """
    import torch

    model = model_of("BertForTokenClassification", initializer_range=0.02, **names(LABELS))
    torch.nn.init.normal_(model.bert.embeddings.word_embeddings.weight, std=3.0)
    torch.nn.init.normal_(model.classifier.weight, std=1.0)
    return model


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
def test_token_classification(strategy: str, stride: int | None, tokenizer: Any, directory: Path):
    model = tagger()
    others = their_tokenizer("fast", directory)
    if stride is not None:
        tokenizer.model_max_length = others.model_max_length = 32
    options: dict[str, Any] = {"aggregation_strategy": strategy}
    if stride is not None:
        options["stride"] = stride
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Tokenizer does not support real words")
        ours = run(
            "pipelines: token-classification", model, tokenizer, **{"stride": None, **options}
        )([*SAME_IN_BOTH, LONG] if stride is not None else SAME_IN_BOTH)
    wanted = made("token-classification", model, others, **options)(
        [*SAME_IN_BOTH, LONG] if stride is not None else SAME_IN_BOTH
    )
    assert without_words(ours) == without_words(wanted)
    if tokenizer.profile == "fast":
        assert ours == wanted
    assert len(ours[0]) > 3


def without_words(results: Any) -> Any:
    if isinstance(results, list):
        return [without_words(each) for each in results]
    return {key: value for key, value in results.items() if key != "word"}


def test_token_classification_of_words(tokenizer, directory):
    model = tagger()
    words = ["The", "people", "flurbomycin", "héllo"]
    ours = run(
        "pipelines: token-classification",
        model,
        tokenizer,
        aggregation_strategy="simple",
        stride=None,
    )
    others = made(
        "token-classification",
        model,
        their_tokenizer("fast", directory),
        aggregation_strategy="simple",
    )
    options = {"is_split_into_words": True, "delimiter": " "}
    assert without_words(ours(words, **options)) == without_words(others(words, **options))


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
def test_question_answering(options: dict[str, Any], tokenizer: Any, directory: Path):
    model = model_of("BertForQuestionAnswering")
    ours = run("pipelines: question-answering", model, tokenizer)
    others = made("question-answering", model, their_tokenizer("fast", directory))
    question = "Who say flurbomycin?"
    for context in (SAME_IN_BOTH[0], LONG):
        assert ours(question=question, context=context, **options) == others(
            question=question, context=context, **options
        )
