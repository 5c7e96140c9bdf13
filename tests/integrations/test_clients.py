"""Libraries that take a tokenizer: what each makes is, number by number, what it makes with
transformers' own.

Each test runs the line of `docs/clients.md`, with trietok's tokenizer and with transformers'.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from tests.conftest import needs
from tests.integrations.conftest import (
    LONG,
    SAME_IN_BOTH,
    TEXTS,
    is_five,
    model_of,
    their_tokenizer,
)
from tests.integrations.page import rows, run_line, saved_anyway
from trietok.clients import to_transformers

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

ALL = [*TEXTS, LONG]
# In one case: the slow class of transformers 5 finds an added token only as it is written.
PARTS = [text.lower() for text in (LONG, *TEXTS, LONG)]
DOCUMENT = "\n\n".join(PARTS)


def plain(value: Any) -> Any:
    """Tensors and arrays as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.fixture
def makes_the_same(directory: Path, tokenizer: Any, theirs: Any) -> Callable[..., Any]:
    """Compares what a function makes of trietok's tokenizer with what it makes of transformers' own,
    and with what it makes of one that does not lower-case, so that it is asked at all.

    A client of the Rust object has that of the fast profile in both.
    """

    def compare(make: Callable[[Any], Any], of_rust: bool = False) -> Any:
        others = their_tokenizer("fast", directory) if of_rust else theirs
        cased = type(tokenizer).from_pretrained(directory, do_lower_case=False)
        ours, expected, different = (plain(make(each)) for each in (tokenizer, others, cased))
        assert ours == expected
        assert ours != different
        return ours

    return compare


def test_every_line_of_the_page_is_run_by_a_test():
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    clients = [client.removeprefix("pipelines: ") for client in rows()]
    assert [client for client in clients if f'"{client}"' not in tests] == []


# ---- embeddings ----------------------------------------------------------------------------------


@pytest.fixture
def library() -> Any:
    return needs("sentence_transformers")


def encoder(library: Any, directory: Path, tokenizer: Any = None) -> Any:
    """A SentenceTransformer, with a tokenizer by the page's line."""
    model = library.SentenceTransformer(str(directory), device="cpu")
    if tokenizer is not None:
        run_line("sentence-transformers: SentenceTransformer", model=model, tokenizer=tokenizer)
    return model


def test_sentence_transformers(makes_the_same, library, directory, tokenizer):
    makes_the_same(lambda one: encoder(library, directory, one).encode([*ALL, ""]))
    assert encoder(library, directory, tokenizer).tokenizer.profile == tokenizer.profile


def test_a_sentence_transformer_is_saved_with_its_tokenizer(
    library, directory, tokenizer, tmp_path
):
    model = encoder(library, directory, tokenizer)
    if tokenizer.profile == "slow" and is_five():
        with pytest.raises(trietok.NotSupportedError):
            model.save(str(tmp_path))
        line = "sentence-transformers: SentenceTransformer"
        run_line(line, model=model, tokenizer=tokenizer, **saved_anyway(tokenizer))
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


def test_cross_encoder(makes_the_same, library, tokenizer, tmp_path):
    model_of("BertForSequenceClassification", num_labels=1).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    def make(one):
        model = library.CrossEncoder(str(tmp_path), device="cpu")
        run_line("sentence-transformers: CrossEncoder", model=model, tokenizer=one)
        return model.predict([("The people", text) for text in ALL])

    assert len(set(makes_the_same(make))) == len(ALL)


def test_sparse_encoder(makes_the_same, library, tokenizer, tmp_path):
    model_of("BertForMaskedLM").save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    def make(one):
        model = library.SparseEncoder(str(tmp_path), device="cpu")
        run_line("sentence-transformers: SparseEncoder", model=model, tokenizer=one)
        return model.encode(ALL).to_dense()

    makes_the_same(make)


def test_sentence_transformer_trainer(makes_the_same, library, directory, tmp_path):
    datasets = needs("datasets")
    needs("accelerate")
    from sentence_transformers import losses

    pairs = datasets.Dataset.from_dict({"anchor": TEXTS, "positive": [LONG, *TEXTS[1:]]})

    def make(one):
        model = encoder(library, directory).eval()
        line = "sentence-transformers: SentenceTransformerTrainer"
        run_line(line, model=model, tokenizer=one)
        before = model.encode(TEXTS)
        arguments = library.SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            max_steps=1,
            report_to=[],
            use_cpu=True,
            seed=1,
            save_strategy="no",
            learning_rate=0.1,
        )
        loss = losses.MultipleNegativesRankingLoss(model)
        library.SentenceTransformerTrainer(
            model=model, args=arguments, train_dataset=pairs, loss=loss
        ).train()
        after = model.encode(TEXTS)
        assert not (after == before).all()
        return after

    makes_the_same(make)


def test_static_embedding(makes_the_same, library):
    import torch
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    def make(one):
        torch.manual_seed(0)
        line = "sentence-transformers: StaticEmbedding"
        module = run_line(line, StaticEmbedding=StaticEmbedding, tokenizer=one)
        return library.SentenceTransformer(modules=[module], device="cpu").encode(TEXTS)

    makes_the_same(make, of_rust=True)


def test_setfit(makes_the_same, library, directory):
    setfit = needs("setfit")
    from sklearn.linear_model import LogisticRegression

    head = LogisticRegression().fit(encoder(library, directory).encode(TEXTS), [0, 1, 1])

    def make(one):
        model = setfit.SetFitModel(model_body=encoder(library, directory), model_head=head)
        run_line("SetFit", model=model, tokenizer=one)
        return model.predict_proba(ALL)

    makes_the_same(make)


def test_keybert(makes_the_same, library, directory):
    kind = needs("keybert").KeyBERT

    def make(one):
        model = run_line(
            "KeyBERT", KeyBERT=kind, model=encoder(library, directory, one), tokenizer=one
        )
        return model.extract_keywords(TEXTS[0])

    assert makes_the_same(make)


def test_keybert_on_a_pipeline(makes_the_same):
    names = {"KeyBERT": needs("keybert").KeyBERT, "pipeline": transformers.pipeline}
    model = model_of("BertModel")
    makes_the_same(
        lambda one: run_line(
            "KeyBERT on a pipeline", model=model, tokenizer=one, **names
        ).extract_keywords(TEXTS[0])
    )


def test_flag_embedding(makes_the_same, directory):
    kind = needs("FlagEmbedding").FlagModel

    def make(one):
        model = kind(str(directory), devices="cpu", use_fp16=False)
        run_line("FlagEmbedding", model=model, tokenizer=one)
        return model.encode(ALL, max_length=32)

    makes_the_same(make)


def test_txtai(makes_the_same, directory):
    kind = needs("txtai").Embeddings

    def make(one):
        embeddings = kind(path=str(directory), gpu=False)
        embeddings.batchtransform(["a text"])
        run_line("txtai", embeddings=embeddings, tokenizer=one)
        return embeddings.batchtransform(ALL)

    makes_the_same(make)


def test_bertopic(makes_the_same, library, directory):
    kind = needs("bertopic").BERTopic
    from bertopic.backend._utils import select_backend

    def make(one):
        model = encoder(library, directory, one)
        topics = run_line("BERTopic", BERTopic=kind, model=model, tokenizer=one)
        return select_backend(topics.embedding_model).embed(ALL)

    makes_the_same(make)


def test_flair(makes_the_same, directory):
    needs("flair")
    from flair.data import Sentence
    from flair.embeddings import TransformerDocumentEmbeddings

    def make(one):
        embeddings = TransformerDocumentEmbeddings(str(directory), fine_tune=False)
        run_line("flair", embeddings=embeddings, tokenizer=one)
        sentences = [Sentence(text) for text in SAME_IN_BOTH]
        embeddings.embed(sentences)
        return [sentence.embedding for sentence in sentences]

    makes_the_same(make)


def test_bert_score(makes_the_same, directory):
    kind = needs("bert_score").BERTScorer

    def make(one):
        scorer = kind(model_type=str(directory), num_layers=2, device="cpu", nthreads=0, idf=True)
        run_line("bert_score", scorer=scorer, tokenizer=one)
        scorer.compute_idf(TEXTS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the empty text
            return scorer.score([*TEXTS, TEXTS[0]], [TEXTS[1], *TEXTS[1:], TEXTS[2]])

    makes_the_same(make)


def test_model2vec(makes_the_same):
    kind = needs("model2vec").StaticModel
    import numpy as np

    vectors = np.random.default_rng(0).normal(size=(8002, 16)).astype("float32")
    names = {"StaticModel": kind, "vectors": vectors}
    makes_the_same(
        lambda one: run_line("model2vec: StaticModel", tokenizer=one, **names).encode(TEXTS),
        of_rust=True,
    )


def test_model2vec_distills(makes_the_same, tokenizer):
    needs("model2vec")
    needs("skeletoken")
    from model2vec.distill import distill_from_model

    def make(one):
        names = {"model": model_of("BertModel"), "distill_from_model": distill_from_model}
        model = run_line("model2vec: distill_from_model", tokenizer=one, **names)
        return [model.tokens, model.encode(TEXTS)]

    if tokenizer.profile == "fast":
        makes_the_same(make)
    else:
        with pytest.raises(trietok.NotSupportedError):
            make(tokenizer)


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["peft", "adapters"])
def test_libraries_that_change_a_model(makes_the_same, client):
    library = needs(client)
    model = model_of("BertModel")
    if client == "peft":
        config = library.LoraConfig(target_modules=["query"], init_lora_weights=False)
        model = library.get_peft_model(model, config)
    else:
        library.init(model)
        model.add_adapter("a", set_active=True)
    model.eval()
    makes_the_same(
        lambda one: run_line(client, model=model, tokenizer=one, texts=TEXTS).last_hidden_state
    )


def test_optimum_onnx(makes_the_same, directory):
    needs("optimum.onnxruntime")
    from optimum.onnxruntime import ORTModelForFeatureExtraction

    model = ORTModelForFeatureExtraction.from_pretrained(directory, export=True)
    makes_the_same(
        lambda one: (
            run_line("optimum-onnx", model=model, tokenizer=one, texts=TEXTS).last_hidden_state
        )
    )


def onnx_model(path: Path) -> None:
    """A model of a word embedding and a type embedding: what an ONNX session is fed shows in what
    it gives.
    """
    onnx = needs("onnx")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    words, types = random.normal(size=(8002, 16)), random.normal(size=(2, 16))
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["word"]),
        helper.make_node("Gather", ["types", "token_type_ids"], ["type"]),
        helper.make_node("Add", ["word", "type"], ["sum"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["sum", "column"], ["last_hidden_state"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", 16]
    )
    constants = [
        numpy_helper.from_array(words.astype("float32"), "words"),
        numpy_helper.from_array(types.astype("float32"), "types"),
        numpy_helper.from_array(np.array([2]), "last"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))


def test_onnx_runtime(makes_the_same, tmp_path):
    onnxruntime = needs("onnxruntime")
    onnx_model(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(
        tmp_path / "model.onnx", providers=["CPUExecutionProvider"]
    )
    makes_the_same(
        lambda one: run_line("ONNX Runtime", session=session, tokenizer=one, texts=TEXTS)
    )


def test_fastembed(makes_the_same, profile, tmp_path):
    """Of transformers' tokenizers only the fast one writes a tokenizer.json, of the same ids."""
    library = needs("fastembed")
    from fastembed.common.model_description import ModelSource, PoolingType

    def make(one):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        if hasattr(one, "profile"):
            run_line("fastembed", tokenizer=one, folder=folder)
        else:
            one.save_pretrained(folder)
        (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}), encoding="utf-8")
        onnx_model(folder / "model.onnx")
        model = f"tests/{profile}-{folder.name}"
        library.TextEmbedding.add_custom_model(
            model, PoolingType.MEAN, True, ModelSource(hf=model), dim=16, model_file="model.onnx"
        )
        embedder = library.TextEmbedding(
            model, specific_model_path=str(folder), cache_dir=str(tmp_path / "cache")
        )
        return list(embedder.embed(ALL))

    makes_the_same(make, of_rust=True)


def test_spacy_transformers(makes_the_same, directory):
    spacy = needs("spacy")
    needs("spacy_transformers")

    def make(one):
        nlp = spacy.blank("en")
        architecture = "spacy-transformers.TransformerModel.v3"
        config = {"model": {"@architectures": architecture, "name": str(directory)}}
        model = nlp.add_pipe("transformer", config=config).model
        nlp.initialize()
        run_line("spaCy (spacy-transformers)", model=model, tokenizer=one)
        assert model.tokenizer(TEXTS)["input_ids"] == one(TEXTS)["input_ids"]
        found = [doc._.trf_data for doc in nlp.pipe(SAME_IN_BOTH)]
        return [
            [each.align.dataXd, each.align.lengths, each.model_output.last_hidden_state]
            for each in found
        ]

    makes_the_same(make)


# ---- pieces of texts -----------------------------------------------------------------------------


def test_langchain(makes_the_same, tokenizer):
    kind = needs("langchain_text_splitters").RecursiveCharacterTextSplitter
    names = {"RecursiveCharacterTextSplitter": kind}
    pieces = makes_the_same(
        lambda one: run_line("LangChain text splitters", tokenizer=one, **names).split_text(
            DOCUMENT
        )
    )
    assert len(pieces) > 5
    with pytest.raises(ValueError, match="PreTrainedTokenizerBase"):
        kind.from_huggingface_tokenizer(tokenizer)


def test_docling(makes_the_same):
    needs("docling_core")
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.labels import DocItemLabel

    document = DoclingDocument(name="a document")
    for text in PARTS:
        document.add_text(label=DocItemLabel.PARAGRAPH, text=text)

    def make(one):
        counted = run_line("docling-core", HuggingFaceTokenizer=HuggingFaceTokenizer, tokenizer=one)
        return [each.text for each in HybridChunker(tokenizer=counted).chunk(document)]

    assert len(makes_the_same(make)) > 5


def test_semantic_text_splitter(makes_the_same):
    kind = needs("semantic_text_splitter").TextSplitter

    def make(one):
        if not hasattr(one, "profile"):
            one.backend_tokenizer.no_truncation()
        return run_line("semantic-text-splitter", TextSplitter=kind, tokenizer=one).chunks(DOCUMENT)

    assert len(makes_the_same(make, of_rust=True)) > 5


def test_llama_index(makes_the_same):
    needs("llama_index.core")
    from llama_index.core.node_parser import SentenceSplitter

    names = {"SentenceSplitter": SentenceSplitter}
    pieces = makes_the_same(
        lambda one: run_line("llama-index", tokenizer=one, **names).split_text(LONG)
    )
    assert len(pieces) > 2


def test_chonkie(makes_the_same, tokenizer):
    kind = needs("chonkie").TokenChunker

    def make(one):
        chunker = run_line("chonkie", TokenChunker=kind, tokenizer=one)
        return [[each.text, each.token_count] for each in chunker(LONG)]

    makes_the_same(make)
    with pytest.raises(NotImplementedError):
        kind(tokenizer, chunk_size=40, chunk_overlap=8)(LONG)


def test_shap(makes_the_same):
    shap = needs("shap")

    def make(one):
        masker = run_line("shap", shap=shap, tokenizer=one)
        return [masker.token_segments(text)[1] for text in SAME_IN_BOTH]

    makes_the_same(make)


def test_visualizer(makes_the_same):
    from tokenizers.tools import EncodingVisualizer

    names = {"EncodingVisualizer": EncodingVisualizer}
    makes_the_same(
        lambda one: run_line("EncodingVisualizer", tokenizer=one, **names)(TEXTS[0]), of_rust=True
    )


# ---- a tokenizer as it is ------------------------------------------------------------------------


def test_a_sentence_transformer_refuses_a_tokenizer_as_it_is(library, directory, tokenizer):
    model = encoder(library, directory)
    model[0].processor = tokenizer
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        model.encode(TEXTS)


def test_token_classification_finds_no_places_with_a_slow_tokenizer_as_it_is(directory):
    """What the page warns of first."""

    def starts(tokenizer):
        model = model_of("BertForTokenClassification")
        tagger = transformers.pipeline(
            "token-classification", model=model, tokenizer=tokenizer, ignore_labels=[]
        )
        return [each["start"] for each in tagger("unaffable people")]

    slow, fast = (
        each.from_pretrained(directory)
        for each in (trietok.BertTokenizer, trietok.BertTokenizerFast)
    )
    assert starts(slow) == [None] * len(slow.tokenize("unaffable people"))
    assert starts(to_transformers(slow)) == starts(to_transformers(fast)) == starts(fast)
    assert None not in starts(fast)


# ---- engines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nanotoken", "tokie"])
def test_other_tokenizers_give_the_ids_of_the_fast_profile(tmp_path, name):
    needs(name)
    tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path)
    texts = ["The people, united!", "naïve 東京 [MASK] unaffable", "a\tb " * 50]
    verified = trietok.verify(name, trietok.lock(tokenizer, texts), model=tmp_path)
    assert verified.ok, str(verified)
