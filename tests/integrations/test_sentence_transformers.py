"""sentence-transformers, and what is built on it: embeddings equal those with transformers' own
tokenizer.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.conftest import needs
from tests.integrations.conftest import LONG, TEXTS, is_five, model_of, their_tokenizer
from tests.integrations.page import run_line, rust_of, saved_anyway

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

PAIRS = [("The people", text) for text in [*TEXTS, LONG]]


@pytest.fixture
def library() -> Any:
    return needs("sentence_transformers")


def with_tokenizer(model: Any, tokenizer: Any) -> Any:
    """A model with transformers' tokenizer in the place where the page's lines put trietok's."""
    model[0].processor = tokenizer
    return model


def encoder(library: Any, directory: Path) -> Any:
    return library.SentenceTransformer(str(directory), device="cpu")


def test_encode(library, directory, tokenizer, theirs):
    model = encoder(library, directory)
    run_line("sentence-transformers: SentenceTransformer", model=model, tokenizer=tokenizer)
    others = with_tokenizer(encoder(library, directory), theirs)
    texts = [*TEXTS, LONG, ""]
    assert (model.encode(texts) == others.encode(texts)).all()
    assert model.tokenizer.profile == tokenizer.profile


def test_the_profile_shows_in_the_embeddings(library, directory):
    model = encoder(library, directory)
    slow, fast = (
        with_tokenizer(model, their_tokenizer(profile, directory)).encode(TEXTS)
        for profile in ("slow", "fast")
    )
    assert not (slow[0] == fast[0]).all()
    assert (slow[1:] == fast[1:]).all()


def test_a_trietok_tokenizer_is_refused_as_it_is(library, directory, tokenizer):
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        with_tokenizer(encoder(library, directory), tokenizer).encode(TEXTS)


def test_save_and_load(library, directory, tokenizer, tmp_path):
    model = encoder(library, directory)
    run_line("sentence-transformers: SentenceTransformer", model=model, tokenizer=tokenizer)
    if tokenizer.profile == "slow" and is_five():
        with pytest.raises(trietok.NotSupportedError):
            model.save(str(tmp_path))
        run_line(
            "sentence-transformers: SentenceTransformer",
            model=model,
            tokenizer=tokenizer,
            **saved_anyway(tokenizer),
        )
    model.save(str(tmp_path))
    if tokenizer.profile == "slow" and not is_five():
        with pytest.raises(ValueError, match="Unrecognized processing class"):
            encoder(library, tmp_path)
        return
    loaded = encoder(library, tmp_path)
    assert (loaded.encode(TEXTS) == model.encode(TEXTS)).all()
    capital = "Flurbomycin"  # the one thing that the page says of it
    has_same_ids = loaded.tokenizer(capital)["input_ids"] == model.tokenizer(capital)["input_ids"]
    assert has_same_ids == (tokenizer.profile == "fast")


def test_cross_encoder(library, directory, tokenizer, theirs, tmp_path):
    model_of("BertForSequenceClassification", num_labels=1).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model, others = (library.CrossEncoder(str(tmp_path), device="cpu") for _ in range(2))
    run_line("sentence-transformers: CrossEncoder", model=model, tokenizer=tokenizer)
    scores = model.predict(PAIRS)
    assert (scores == with_tokenizer(others, theirs).predict(PAIRS)).all()
    assert len(set(scores)) == len(PAIRS)


def test_trainer(library, directory, tokenizer, theirs, tmp_path):
    datasets = needs("datasets")
    needs("accelerate")
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
        losses,
    )

    rows = datasets.Dataset.from_dict({"anchor": TEXTS, "positive": [LONG, *TEXTS[1:]]})
    embeddings = []
    for ours in (True, False):
        model = encoder(library, directory).eval()
        if ours:
            run_line(
                "sentence-transformers: SentenceTransformerTrainer",
                model=model,
                tokenizer=tokenizer,
            )
        else:
            with_tokenizer(model, theirs)
        before = model.encode(TEXTS)
        arguments = SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            max_steps=1,
            report_to=[],
            use_cpu=True,
            seed=1,
            save_strategy="no",
            learning_rate=0.1,
        )
        loss = losses.MultipleNegativesRankingLoss(model)
        SentenceTransformerTrainer(
            model=model, args=arguments, train_dataset=rows, loss=loss
        ).train()
        embeddings.append(model.encode(TEXTS))
        assert not (embeddings[-1] == before).all()
    assert (embeddings[0] == embeddings[1]).all()


def test_static_embedding(library, directory, tokenizer):
    import torch
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    names = {"StaticEmbedding": StaticEmbedding, **rust_of(tokenizer)}
    embeddings = []
    for made in (
        lambda: run_line("sentence-transformers: StaticEmbedding", tokenizer=tokenizer, **names),
        lambda: StaticEmbedding(
            their_tokenizer("fast", directory).backend_tokenizer, embedding_dim=32
        ),
    ):
        torch.manual_seed(0)
        embeddings.append(library.SentenceTransformer(modules=[made()], device="cpu").encode(TEXTS))
    assert (embeddings[0] == embeddings[1]).all()


def test_setfit(library, directory, tokenizer, theirs):
    setfit = needs("setfit")
    from sklearn.linear_model import LogisticRegression

    head = LogisticRegression().fit(encoder(library, directory).encode(TEXTS), [0, 1, 1])
    models = [
        setfit.SetFitModel(model_body=encoder(library, directory), model_head=head)
        for _ in range(2)
    ]
    run_line("SetFit", model=models[0], tokenizer=tokenizer)
    with_tokenizer(models[1].model_body, theirs)
    texts = [*TEXTS, LONG]
    assert (models[0].predict_proba(texts) == models[1].predict_proba(texts)).all()


def test_setfit_trains(library, directory, tokenizer, tmp_path):
    setfit = needs("setfit")
    datasets = needs("datasets")
    model = setfit.SetFitModel.from_pretrained(str(directory), labels=["no", "yes"], device="cpu")
    run_line("SetFit", model=model, tokenizer=tokenizer, **saved_anyway(tokenizer))
    rows = datasets.Dataset.from_dict({"text": [*TEXTS, LONG], "label": [0, 1, 0, 1]})
    arguments = setfit.TrainingArguments(
        output_dir=str(tmp_path), max_steps=1, batch_size=2, report_to="none"
    )
    setfit.Trainer(model=model, args=arguments, train_dataset=rows).train()
    assert set(model.predict(TEXTS)) <= {"no", "yes"}


def test_keybert(library, directory, tokenizer, theirs):
    keybert = needs("keybert")
    model = encoder(library, directory)
    run_line("sentence-transformers: SentenceTransformer", model=model, tokenizer=tokenizer)
    ours = run_line("KeyBERT", KeyBERT=keybert.KeyBERT, model=model).extract_keywords(TEXTS[0])
    others = with_tokenizer(encoder(library, directory), theirs)
    assert ours == keybert.KeyBERT(others).extract_keywords(TEXTS[0])
    assert ours


def test_keybert_on_a_pipeline(tokenizer, theirs):
    keybert = needs("keybert")
    from transformers import pipeline

    names = {"KeyBERT": keybert.KeyBERT, "pipeline": pipeline}
    model = model_of("BertModel")
    ours = run_line("KeyBERT on a pipeline", model=model, tokenizer=tokenizer, **names)
    others = keybert.KeyBERT(pipeline("feature-extraction", model=model, tokenizer=theirs))
    assert ours.extract_keywords(TEXTS[0]) == others.extract_keywords(TEXTS[0])


def test_the_page_of_embeddings(library, directory, monkeypatch):
    """Its lines run, with a model that is here, and give the vectors that the model gives without
    them.
    """
    page = (Path(__file__).parents[2] / "docs" / "guides" / "embeddings.md").read_text(
        encoding="utf-8"
    )
    lines, measured = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"texts": TEXTS}
    exec(re.sub(r'name = ".*', f"name = {str(directory)!r}", lines), names)
    assert names["model"].tokenizer.profile in ("slow", "fast")  # it is trietok's
    expected = encoder(library, directory).encode(["The people of New York", "after COVID-19"])
    assert (names["vectors"] == expected).all()
    exec(measured, names)
