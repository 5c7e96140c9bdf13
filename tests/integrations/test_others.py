"""bert_score, ONNX Runtime, fastembed, model2vec, spaCy, and the visualizer of tokenizers."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs
from tests.integrations.conftest import LONG, SAME_IN_BOTH, TEXTS, model_of, their_tokenizer
from tests.integrations.page import run_line, rust_of
from trietok.clients import to_transformers
from trietok.errors import NotSupportedError

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]


def test_bert_score(directory, tokenizer, theirs):
    library = needs("bert_score")
    import torch

    made = []
    for ours in (True, False):
        scorer = library.BERTScorer(
            model_type=str(directory), num_layers=2, device="cpu", nthreads=0, idf=True
        )
        if ours:
            run_line("bert_score", scorer=scorer, tokenizer=tokenizer)
        else:
            scorer._tokenizer = theirs
        scorer.compute_idf(TEXTS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the empty text
            made.append(
                torch.stack(scorer.score([*TEXTS, TEXTS[0]], [TEXTS[1], *TEXTS[1:], TEXTS[2]]))
            )
    assert torch.equal(made[0], made[1])
    assert made[0].isfinite().all()


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


def test_onnx_runtime(tokenizer, theirs, tmp_path):
    onnxruntime = needs("onnxruntime")
    onnx_model(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(
        tmp_path / "model.onnx", providers=["CPUExecutionProvider"]
    )
    (ours,) = run_line("ONNX Runtime", session=session, tokenizer=tokenizer, texts=TEXTS)
    (others,) = session.run(None, dict(theirs(TEXTS, padding=True, return_tensors="np")))
    assert (ours == others).all()


def test_fastembed(tokenizer, directory, tmp_path):
    library = needs("fastembed")
    from fastembed.common.model_description import ModelSource, PoolingType

    embeddings = []
    for name in ("ours", "theirs"):
        folder = tmp_path / name
        folder.mkdir()
        if name == "ours":
            run_line("fastembed", tokenizer=tokenizer, folder=folder)
        else:
            their_tokenizer("fast", directory).save_pretrained(folder)
        (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}), encoding="utf-8")
        onnx_model(folder / "model.onnx")
        model = f"tests/{name}-{tokenizer.profile}"
        library.TextEmbedding.add_custom_model(
            model, PoolingType.MEAN, True, ModelSource(hf=model), dim=16, model_file="model.onnx"
        )
        embedder = library.TextEmbedding(
            model, specific_model_path=str(folder), cache_dir=str(tmp_path)
        )
        embeddings.append(list(embedder.embed([*TEXTS, LONG])))
    assert all((ours == others).all() for ours, others in zip(*embeddings, strict=True))


def test_model2vec(tokenizer, directory):
    library = needs("model2vec")
    import numpy as np

    vectors = np.random.default_rng(0).normal(size=(8002, 16)).astype("float32")
    names = {"StaticModel": library.StaticModel, "vectors": vectors, **rust_of(tokenizer)}
    ours = run_line("model2vec: StaticModel", tokenizer=tokenizer, **names)
    others = library.StaticModel(
        vectors, tokenizer=their_tokenizer("fast", directory).backend_tokenizer
    )
    assert (ours.encode(TEXTS) == others.encode(TEXTS)).all()
    assert ours.encode(TEXTS).any()


def test_model2vec_distills(tokenizer, directory):
    needs("model2vec")
    needs("skeletoken")
    from model2vec.distill import distill_from_model

    if tokenizer.profile == "slow":
        with pytest.raises(NotSupportedError):
            distill_from_model(
                model_of("BertModel"), to_transformers(tokenizer), pca_dims=None, device="cpu"
            )
        return
    made = []
    for ours in (True, False):
        names = {"model": model_of("BertModel"), "distill_from_model": distill_from_model}
        if ours:
            made.append(run_line("model2vec: distill_from_model", tokenizer=tokenizer, **names))
        else:
            others = their_tokenizer("fast", directory)
            made.append(distill_from_model(names["model"], others, pca_dims=None, device="cpu"))
    assert made[0].tokens == made[1].tokens
    assert (made[0].encode(TEXTS) == made[1].encode(TEXTS)).all()


def test_spacy_transformers(directory, tokenizer, theirs):
    spacy = needs("spacy")
    needs("spacy_transformers")

    def made(given: Any, ours: bool) -> list[Any]:
        nlp = spacy.blank("en")
        config = {
            "model": {
                "@architectures": "spacy-transformers.TransformerModel.v3",
                "name": str(directory),
            }
        }
        model = nlp.add_pipe("transformer", config=config).model
        nlp.initialize()
        if ours:
            run_line("spaCy (spacy-transformers)", model=model, tokenizer=given)
        else:
            model.layers[0].shims[0]._hfmodel.tokenizer = given
        assert model.tokenizer(TEXTS)["input_ids"] == given(TEXTS)["input_ids"]
        docs = list(nlp.pipe(SAME_IN_BOTH))
        return [
            (doc._.trf_data.align.dataXd.tolist(), doc._.trf_data.align.lengths.tolist(),
             doc._.trf_data.model_output.last_hidden_state.tolist())
            for doc in docs
        ]  # fmt: skip

    assert made(tokenizer, True) == made(theirs, False)


def test_visualizer(tokenizer, directory):
    from tokenizers.tools import EncodingVisualizer

    names = {"EncodingVisualizer": EncodingVisualizer, **rust_of(tokenizer)}
    ours = run_line("EncodingVisualizer", tokenizer=tokenizer, **names)
    others = EncodingVisualizer(
        their_tokenizer("fast", directory).backend_tokenizer, default_to_notebook=False
    )
    assert ours(TEXTS[0]) == others(TEXTS[0])
