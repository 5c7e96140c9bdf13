"""Search, topics, adapters, explanations, chunks: what each makes is what it makes with
transformers' tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from tests.conftest import needs
from tests.integrations.conftest import LONG, SAME_IN_BOTH, TEXTS, model_of
from tests.integrations.page import run_line
from trietok.clients import to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


@pytest.fixture
def embeds_alike(
    directory: Path, tokenizer: Any, theirs: Any
) -> Callable[[Callable[[Any, bool], Any]], None]:
    """Compares what a client makes with either tokenizer, and with one that does not lower-case, so
    that it is asked.

    The function that it takes makes the embeddings with a tokenizer, which is transformers' if the
    second argument is true.
    """

    def compare(make: Callable[[Any, bool], Any]) -> None:
        cased = type(tokenizer).from_pretrained(directory, do_lower_case=False)
        ours, others, different = make(tokenizer, False), make(theirs, True), make(cased, False)
        assert (ours == others).all()
        assert not (ours == different).all()

    return compare


def test_sparse_encoder(embeds_alike, tokenizer, tmp_path):
    library = needs("sentence_transformers")
    model_of("BertForMaskedLM").save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    def make(one, is_theirs):
        model = library.SparseEncoder(str(tmp_path), device="cpu")
        if is_theirs:
            model[0].processor = one
        else:
            run_line("sentence-transformers: SparseEncoder", model=model, tokenizer=one)
        return model.encode([*TEXTS, LONG]).to_dense()

    embeds_alike(make)


def test_flag_embedding(embeds_alike, directory):
    library = needs("FlagEmbedding")

    def make(one, is_theirs):
        model = library.FlagModel(str(directory), devices="cpu", use_fp16=False)
        if is_theirs:
            model.tokenizer = one
        else:
            run_line("FlagEmbedding", model=model, tokenizer=one)
        return model.encode([*TEXTS, LONG], max_length=32)

    embeds_alike(make)


def test_txtai(embeds_alike, directory):
    library = needs("txtai")

    def make(one, is_theirs):
        embeddings = library.Embeddings(path=str(directory), gpu=False)
        embeddings.batchtransform(["a text"])
        if is_theirs:
            embeddings.model.model.tokenizer = one
        else:
            run_line("txtai", embeddings=embeddings, tokenizer=one)
        return embeddings.batchtransform([*TEXTS, LONG])

    embeds_alike(make)


def test_bertopic(embeds_alike, directory):
    library, sentences = needs("bertopic"), needs("sentence_transformers")
    from bertopic.backend._utils import select_backend

    def make(one, is_theirs):
        model = sentences.SentenceTransformer(str(directory), device="cpu")
        model[0].processor = one if is_theirs else to_transformers(one)
        topics = run_line("BERTopic", BERTopic=library.BERTopic, model=model)
        return select_backend(topics.embedding_model).embed([*TEXTS, LONG])

    embeds_alike(make)


def test_flair(embeds_alike, directory):
    needs("flair")
    import torch
    from flair.data import Sentence
    from flair.embeddings import TransformerDocumentEmbeddings

    def make(one, is_theirs):
        embeddings = TransformerDocumentEmbeddings(str(directory), fine_tune=False)
        if is_theirs:
            embeddings.tokenizer = one
        else:
            run_line("flair", embeddings=embeddings, tokenizer=one)
        sentences = [Sentence(text) for text in SAME_IN_BOTH]
        embeddings.embed(sentences)
        return torch.stack([sentence.embedding for sentence in sentences])

    embeds_alike(make)


@pytest.mark.parametrize("client", ["peft", "adapters"])
def test_libraries_that_change_a_model(client, tokenizer, theirs):
    library = needs(client)
    model = model_of("BertModel")
    if client == "peft":
        model = library.get_peft_model(
            model, library.LoraConfig(target_modules=["query"], init_lora_weights=False)
        )
        ours = run_line("peft", model=model.eval(), tokenizer=tokenizer, texts=TEXTS)
    else:
        library.init(model)
        model.add_adapter("a", set_active=True)
        ours = run_line("adapters", model=model.eval(), tokenizer=tokenizer, texts=TEXTS)
    others = model(**theirs(TEXTS, padding=True, return_tensors="pt"))
    assert (ours.last_hidden_state == others.last_hidden_state).all()


def test_optimum_onnx(directory, tokenizer, theirs):
    needs("optimum.onnxruntime")
    from optimum.onnxruntime import ORTModelForFeatureExtraction

    model = ORTModelForFeatureExtraction.from_pretrained(directory, export=True)
    ours = run_line("optimum-onnx", model=model, tokenizer=tokenizer, texts=TEXTS)
    others = model(**theirs(TEXTS, padding=True, return_tensors="np"))
    assert (ours.last_hidden_state == others.last_hidden_state).all()


def test_llama_index(tokenizer, theirs):
    needs("llama_index.core")
    from llama_index.core.node_parser import SentenceSplitter

    ours = run_line("llama-index", SentenceSplitter=SentenceSplitter, tokenizer=tokenizer)
    others = SentenceSplitter(chunk_size=40, chunk_overlap=8, tokenizer=theirs.tokenize)
    assert ours.split_text(LONG) == others.split_text(LONG)
    assert len(ours.split_text(LONG)) > 2


def test_shap(tokenizer, theirs):
    shap = needs("shap")
    ours, others = run_line("shap", shap=shap, tokenizer=tokenizer), shap.maskers.Text(theirs)
    for text in SAME_IN_BOTH:
        assert ours.token_segments(text)[1] == others.token_segments(text)[1]


def test_chonkie(tokenizer, theirs):
    library = needs("chonkie")
    ours = run_line("chonkie", TokenChunker=library.TokenChunker, tokenizer=tokenizer)
    others = library.TokenChunker(theirs, chunk_size=40, chunk_overlap=8)
    assert [each.token_count for each in ours(LONG)] == [each.token_count for each in others(LONG)]
    with pytest.raises(NotImplementedError):
        library.TokenChunker(tokenizer, chunk_size=40, chunk_overlap=8)(LONG)


def test_token_classification_with_a_tokenizer_as_it_is(directory):
    """What the page warns of first: in the slow profile nothing says where the words stand."""

    def starts(tokenizer):
        model = model_of("BertForTokenClassification")
        made = transformers.pipeline(
            "token-classification", model=model, tokenizer=tokenizer, ignore_labels=[]
        )
        return [each["start"] for each in made("unaffable people")]

    slow, fast = (
        each.from_pretrained(directory)
        for each in (trietok.BertTokenizer, trietok.BertTokenizerFast)
    )
    assert starts(slow) == [None] * len(slow.tokenize("unaffable people"))
    assert starts(to_transformers(slow)) == starts(to_transformers(fast)) == starts(fast)
    assert None not in starts(fast)
