"""Search, topics, adapters, explanations and chunks: what each makes equals what it makes with transformers' tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import LONG, SAME_IN_BOTH, TEXTS, model_of
from tests.clients.page import run_line
from trietok.clients import to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def imported(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def test_sparse_encoder(directory, tokenizer, theirs, tmp_path):
    library = imported("sentence_transformers")
    model_of("BertForMaskedLM").save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    made = []
    for ours in (True, False):
        model = library.SparseEncoder(str(tmp_path), device="cpu")
        if ours:
            run_line("sentence-transformers: SparseEncoder", model=model, tokenizer=tokenizer)
        else:
            model[0].processor = theirs
        made.append(model.encode([*TEXTS, LONG]).to_dense())
    assert (made[0] == made[1]).all()
    assert made[0].any()


@pytest.mark.parametrize(
    ("client", "module"), [("peft", "peft"), ("adapters", "adapters")], ids=lambda each: each
)
def test_libraries_that_change_a_model(client, module, tokenizer, theirs):
    library = imported(module)
    model = model_of("BertModel")
    if client == "peft":
        model = library.get_peft_model(model, library.LoraConfig(target_modules=["query"], init_lora_weights=False))
    else:
        library.init(model)
        model.add_adapter("a", set_active=True)
    model.eval()
    ours = run_line(client, model=model, tokenizer=tokenizer, texts=TEXTS)
    others = model(**theirs(TEXTS, padding=True, return_tensors="pt"))
    assert (ours.last_hidden_state == others.last_hidden_state).all()


def test_optimum_onnx(directory, tokenizer, theirs, tmp_path):
    imported("optimum.onnxruntime")
    from optimum.onnxruntime import ORTModelForFeatureExtraction

    model = ORTModelForFeatureExtraction.from_pretrained(directory, export=True)
    ours = run_line("optimum-onnx", model=model, tokenizer=tokenizer, texts=TEXTS)
    others = model(**theirs(TEXTS, padding=True, return_tensors="np"))
    assert (ours.last_hidden_state == others.last_hidden_state).all()


def test_bertopic(directory, tokenizer, theirs):
    library = imported("bertopic")
    sentences = imported("sentence_transformers")
    made = []
    for one in (to_transformers(tokenizer), theirs):
        model = sentences.SentenceTransformer(str(directory), device="cpu")
        model[0].processor = one
        topics = run_line("BERTopic", BERTopic=library.BERTopic, model=model)
        from bertopic.backend._utils import select_backend

        made.append(select_backend(topics.embedding_model).embed(TEXTS))
    assert (made[0] == made[1]).all()


def test_txtai(directory, tokenizer, theirs):
    library = imported("txtai")
    made = []
    for ours in (True, False):
        embeddings = library.Embeddings(path=str(directory), method="huggingface", gpu=False)
        embeddings.batchtransform(["a text"])  # loads the model
        if ours:
            run_line("txtai", embeddings=embeddings, tokenizer=tokenizer)
        else:
            embeddings.model.model.tokenizer = theirs
        made.append(embeddings.batchtransform(TEXTS))
    assert (made[0] == made[1]).all()


def test_flair(directory, tokenizer, theirs):
    imported("flair")
    from flair.data import Sentence
    from flair.embeddings import TransformerDocumentEmbeddings

    made = []
    for ours in (True, False):
        embeddings = TransformerDocumentEmbeddings(str(directory), fine_tune=False)
        if ours:
            run_line("flair", embeddings=embeddings, tokenizer=tokenizer)
        else:
            embeddings.tokenizer = theirs
        sentences = [Sentence(text) for text in SAME_IN_BOTH]
        embeddings.embed(sentences)
        made.append([sentence.embedding for sentence in sentences])
    assert all((one == other).all() for one, other in zip(*made, strict=True))


def test_flag_embedding(directory, tokenizer, theirs):
    library = imported("FlagEmbedding")
    made = []
    for ours in (True, False):
        model = library.FlagModel(str(directory), devices="cpu", use_fp16=False)
        if ours:
            run_line("FlagEmbedding", model=model, tokenizer=tokenizer)
        else:
            model.tokenizer = theirs
        made.append(model.encode([*TEXTS, LONG], max_length=32))
    assert (made[0] == made[1]).all()


def test_llama_index(tokenizer, theirs):
    imported("llama_index.core")
    from llama_index.core.node_parser import SentenceSplitter

    ours = run_line("llama-index", SentenceSplitter=SentenceSplitter, tokenizer=tokenizer)
    others = SentenceSplitter(chunk_size=40, chunk_overlap=8, tokenizer=theirs.tokenize)
    assert ours.split_text(LONG) == others.split_text(LONG)
    assert len(ours.split_text(LONG)) > 2


def test_shap(tokenizer, theirs):
    shap = imported("shap")
    ours, others = run_line("shap", shap=shap, tokenizer=tokenizer), shap.maskers.Text(theirs)
    for text in SAME_IN_BOTH:
        assert ours.token_segments(text)[1] == others.token_segments(text)[1]


def test_chonkie(tokenizer, theirs):
    library = imported("chonkie")
    ours = run_line("chonkie", TokenChunker=library.TokenChunker, tokenizer=tokenizer)
    others = library.TokenChunker(theirs, chunk_size=40, chunk_overlap=8)
    assert [each.token_count for each in ours(LONG)] == [each.token_count for each in others(LONG)]
    with pytest.raises(NotImplementedError):
        library.TokenChunker(tokenizer, chunk_size=40, chunk_overlap=8)(LONG)


def test_token_classification_with_a_tokenizer_as_it_is(directory: Path):
    """What the page warns of: words are guessed, and in the slow profile nothing says where they stand."""
    transformers = imported("transformers")
    import trietok

    text = "unaffable people"
    places = []
    for kind in (trietok.BertTokenizer, trietok.BertTokenizerFast):
        tokenizer = kind.from_pretrained(directory)
        for one in (tokenizer, to_transformers(tokenizer)):
            made = transformers.pipeline(
                "token-classification", model=model_of("BertForTokenClassification"), tokenizer=one, ignore_labels=[]
            )
            places.append([each["start"] for each in made(text)])
    assert places[0] == [None] * len(places[0])
    assert places[1] == places[3]
    assert None not in places[1]
