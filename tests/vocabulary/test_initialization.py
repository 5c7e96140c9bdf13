"""New rows that are fitted to the model (`initialization="distil"`), with PyTorch: they embed a token
alone as its pieces were, nothing else changes, and nothing that a directory names is run.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest
import transformers

import trietok
from tests.cli.commands import error, out
from tests.conftest import needs
from tests.vocabulary.models import numbers, read_tensors, write_tensors
from trietok import BertTokenizer, InputError, adapt

torch = needs("torch")

WORDS = [
    *("the", "be", "of", "co", "##v", "##id", "vac", "##cine", "##s", "a", "b", "##b"),
    *("sick", "doctor", "ill"),
]
ROWS = 5 + len(WORDS)
TERMS = ["covid", "vaccines", "the sick", "##cines"]
TABLE = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
COMMON = {
    **{"vocab_size": ROWS, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
    **{"intermediate_size": 24, "max_position_embeddings": 40, "initializer_range": 0.3},
}
DISTIL = {
    **{"vocab_size": ROWS, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24},
    **{"max_position_embeddings": 40, "initializer_range": 0.3},
}
KINDS = {
    "BertForMaskedLM": COMMON,
    "BertModel": COMMON,
    "DistilBertForMaskedLM": DISTIL,
    "ElectraForMaskedLM": {**COMMON, "embedding_size": 8},
    "ElectraForPreTraining": {**COMMON, "embedding_size": 8},
    "MPNetForMaskedLM": COMMON,
}


@pytest.fixture
def before(vocab_file):
    return BertTokenizer(vocab_file(*WORDS), model_max_length=24)


@pytest.fixture
def make(before, tmp_path):
    """A function that makes a tiny model of transformers, with a tokenizer."""
    transformers.logging.set_verbosity_error()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def made(name="BertModel", dtype="float32", settings=None, **changes):
        torch.manual_seed(0)
        config = getattr(transformers, name.partition("For")[0].removesuffix("Model") + "Config")
        model = getattr(transformers, name)(config(**{**KINDS[name], **changes}))
        directory = tmp_path / f"{name}{len(os.listdir(tmp_path))}"
        model.to(getattr(torch, dtype)).save_pretrained(directory)
        before.save_pretrained(directory)
        path = directory / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **(settings or {})}))
        return directory

    yield made
    torch.set_num_threads(threads)


def distil(directory, output, **options):
    return adapt(directory, output, **{"terms": TERMS, "initialization": "distil"} | options)


def check_refused(directory, tmp_path, kind=InputError, match=None):
    with pytest.raises(kind, match=match):
        distil(directory, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


# ---- what is fitted ------------------------------------------------------------------------------


def hidden_states(directory, ids) -> np.ndarray:
    model = transformers.AutoModel.from_pretrained(directory).float().eval()
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()


def cosine(one, other) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("name", KINDS)
def test_fitted_rows_bring_a_word_near_its_pieces_and_change_nothing_else(
    make, before, tmp_path, name
):
    directory, steps = make(name), []
    terms = [*TERMS, "co\u2603v"]
    fitted = distil(
        directory, tmp_path / "fitted", terms=terms, fitting=lambda *step: steps.append(step)
    )
    start = adapt(directory, tmp_path / "start", terms=terms, initialization="length")
    assert steps == [(4, 4)]
    assert fitted.plan == start.plan
    assert (fitted.fitted.left, len(fitted.fitted.rows)) == (["co\u2603v"], 4)
    assert 1 - fitted.fitted.cosine_after < 0.8 * (1 - fitted.fitted.cosine_before)
    after = BertTokenizer.from_pretrained(tmp_path / "fitted")
    for term in TERMS[:3]:
        wanted = hidden_states(directory, before.encode(term)).mean(0)
        ids = after.encode(term)
        new, at_start = (
            cosine(hidden_states(tmp_path / each, ids).mean(0), wanted)
            for each in ("fitted", "start")
        )
        assert new > at_start
    old, tensors, others = (
        read_tensors(each) for each in (directory, tmp_path / "fitted", tmp_path / "start")
    )
    table = next(key for key in tensors if key.endswith("word_embeddings.weight"))
    for key, tensor in tensors.items():
        if key == table:
            changed = [row for row in range(len(tensor)) if (tensor[row] != others[key][row]).any()]
            assert changed == fitted.fitted.rows
            assert (tensor[:ROWS] == old[key]).all()
        else:  # the bias of a head, too, is as with "length"
            assert (tensor == others[key]).all(), key
    keys = {"rows", "cosine_before", "cosine_after", "left", "seconds"}
    assert json.loads(fitted.to_json())["fitted"].keys() == keys
    assert "4 rows fitted in" in str(fitted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_fitted_rows_are_rounded_to_the_type_of_the_model(make, tmp_path, dtype):
    from safetensors.torch import load_file

    directory = make("BertModel", dtype)
    fitted = distil(directory, tmp_path / "out").fitted
    old, new = (
        load_file(each / "model.safetensors")[TABLE] for each in (directory, tmp_path / "out")
    )
    assert new.dtype == getattr(torch, dtype)
    assert torch.equal(new[:ROWS], old)
    assert torch.equal(new[fitted.rows], torch.tensor(fitted.values).to(new.dtype))


@pytest.mark.parametrize("is_tied", [True, False])
def test_a_head_that_is_tied_gets_the_fitted_rows_and_another_does_not(make, tmp_path, is_tied):
    from safetensors.torch import load_file, save_file

    decoder_name = "cls.predictions.decoder.weight"
    directory = make("BertForMaskedLM", tie_word_embeddings=is_tied)
    tensors = load_file(directory / "model.safetensors")
    tensors.setdefault(decoder_name, tensors[f"bert.{TABLE}"].clone())
    save_file(tensors, directory / "model.safetensors", {"format": "pt"})
    for name in ("distil", "length"):
        distil(directory, tmp_path / name, initialization=name)
    fitted, start = (
        load_file(tmp_path / name / "model.safetensors") for name in ("distil", "length")
    )
    decoder, table = fitted[decoder_name], fitted[f"bert.{TABLE}"]
    assert (table != start[f"bert.{TABLE}"]).any()
    assert (decoder == (table if is_tied else start[decoder_name])).all()
    assert (fitted["cls.predictions.bias"] == start["cls.predictions.bias"]).all()
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "distil")
    assert (model.get_output_embeddings().weight == decoder).all()


def test_tokens_of_too_many_pieces_and_those_for_which_there_is_no_time_are_left(make, tmp_path):
    """The model has 40 positions."""
    directory, terms = make(), ["covid", "a" + 40 * "b"]
    fitted = distil(directory, tmp_path / "out", terms=terms).fitted
    assert (len(fitted.rows), fitted.left) == (1, terms[1:])
    late = distil(directory, tmp_path / "late", initialization_seconds=1e-9)
    distil(directory, tmp_path / "length", initialization="length")
    assert (late.fitted.rows, sorted(late.fitted.left)) == ([], sorted(TERMS))
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("late", "length"))
    assert one == two
    for wrong in (
        {"initialization_seconds": 5, "initialization": "length"},
        {"initialization_seconds": 0},
    ):
        with pytest.raises(InputError):
            distil(directory, None, **wrong)


def test_the_row_of_a_slot_is_fitted(make, tmp_path, vocab_file):
    directory = make()
    BertTokenizer(vocab_file("the", "[unused0]", *WORDS[2:])).save_pretrained(directory)
    adapted = distil(directory, tmp_path / "out", terms=["covid"], way="unused")
    assert (adapted.fitted.rows, adapted.applied.rows_after) == ([6], ROWS)


def test_the_same_bytes_each_time_and_the_callers_random_numbers_stay(make, tmp_path):
    directory, state = make(), torch.get_rng_state()
    for name in ("one", "two"):
        distil(directory, tmp_path / name)
        assert torch.equal(torch.get_rng_state(), state)
        state = torch.manual_seed(len(name)).get_state()
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two


def test_the_command_fits_rows(make, tmp_path):
    directory = make("BertForMaskedLM")
    (tmp_path / "terms.txt").write_text("\n".join(TERMS))
    given = ("adapt", "-m", str(directory), "--terms", str(tmp_path / "terms.txt"))
    fits = ("--initialization", "distil")
    lines = out(*given, "-o", str(tmp_path / "out"), *fits, "--initialization-seconds", "500")
    assert any(line.startswith("4 rows fitted in") for line in lines)
    (line,) = out(*given, "--dry-run", *fits, "--json")
    assert json.loads(line)["fitted"] is None
    error(*given, "-o", str(tmp_path / "no"), "--initialization-seconds", "5")


# ---- what is not run -----------------------------------------------------------------------------

Weights = dict[str, tuple[str, np.ndarray]]


def without_queries(weights: Weights) -> Weights:
    return {name: each for name, each in weights.items() if ".query." not in name}


def of_other_shapes(weights: Weights) -> Weights:
    """Weights of next to no bytes, for a model of gigabytes: of one size some, of the rest none."""
    kept = {name: each for name, each in weights.items() if "encoder" not in name}
    kept["encoder.layer.0.output.dense.weight"] = "F32", np.zeros((20_000, 1), np.float32)
    return kept | {
        f"encoder.layer.{number}.x": ("F32", np.zeros(0, np.float32)) for number in range(1, 200)
    }


def of_no_bytes(weights: Weights) -> Weights:
    return weights | {POSITIONS: ("F32", np.zeros((10**9, 0), np.float32))}


def of_whole_numbers(weights: Weights) -> Weights:
    return weights | {POSITIONS: ("I8", np.zeros((40, 16), np.int8))}


@pytest.mark.parametrize(
    "change", [without_queries, of_other_shapes, of_no_bytes, of_whole_numbers]
)
def test_weights_that_are_missing_or_do_not_fit_are_refused(make, tmp_path, change):
    """transformers gives them random numbers, to which rows would be fitted, however many."""
    file = make() / "model.safetensors"
    weights = {name: ("F32", array) for name, array in read_tensors(file).items()}
    write_tensors(file, change(weights), {"format": "pt"})
    check_refused(file.parent, tmp_path, (InputError, trietok.FileFormatError), "'length'")


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        *(("BertForMaskedLM", "model_type", value) for value in ("roberta", "nosuchmodel")),
        *(
            ("BertModel", name, value)
            for name, *values in (
                ("num_hidden_layers", 1_000_000),
                ("hidden_size", 10**9),
                ("max_position_embeddings", 10**9),
                ("num_attention_heads", "2", 0, 3, 10**9),
                ("hidden_act", 5, "no such function"),
                ("pad_token_id", "0", 10**9),
                ("layer_norm_eps", [1], -1),
                ("position_embedding_type", {}, "relative_key", "no such type"),
                ("is_decoder", True),
                ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}),
            )
            for value in values
        ),
        ("ElectraForMaskedLM", "embedding_size", 10**9),
        ("MPNetForMaskedLM", "relative_attention_num_buckets", 10**9),
        ("DistilBertForMaskedLM", "n_layers", 1_000_000),
        ("DistilBertForMaskedLM", "hidden_dim", "24"),
    ],
)
def test_settings_that_do_not_fit_the_weights_are_refused(make, tmp_path, name, setting, value):
    directory = make(name, settings={setting: value})
    check_refused(directory, tmp_path, (InputError, trietok.FileFormatError), "'length'")


# Keys of config.json that name code or files, or take memory that no weight asks for.
HOSTILE = {
    "attn_implementation": "org/repo",
    "_attn_implementation": "org/repo",
    "_attn_implementation_internal": "org/repo",
    "_experts_implementation_internal": "org/repo",
    "transformers_weights": "../elsewhere.safetensors",
    "num_labels": 100_000_000,
    "id2label": {str(number): "a" for number in range(100_000)},
    "auto_map": {"AutoModel": "modeling_evil.Evil", "AutoConfig": "modeling_evil.Evil"},
    "pruned_heads": {"0": [0, 1]},
    "torch_dtype": "float16",
    "chunk_size_feed_forward": 1,
}


def test_hostile_settings_change_nothing_and_run_nothing(make, tmp_path):
    healthy, hostile = make("BertForMaskedLM"), make("BertForMaskedLM", settings=HOSTILE)
    (hostile / "modeling_evil.py").write_text("raise SystemExit('run')")
    distil(healthy, tmp_path / "healthy")
    distil(hostile, tmp_path / "hostile")
    files = [tmp_path / each / "model.safetensors" for each in ("healthy", "hostile")]
    assert len({path.read_bytes() for path in files}) == 1


def test_without_torch_the_command_that_installs_it_is_named(make, tmp_path, monkeypatch):
    directory = make()
    monkeypatch.setitem(sys.modules, "torch", None)
    check_refused(directory, tmp_path, trietok.MissingDependencyError, "pip install torch")


# ---- modules of sentence-transformers ------------------------------------------------------------

TYPE = "sentence_transformers.models."
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": TYPE + "Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": TYPE + "Pooling"},
    {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.base.modules.dense.Dense"},
    {"idx": 3, "name": "3", "path": "3_Normalize", "type": TYPE + "Normalize"},
]  # fmt: skip
FIRST, POOLING, DENSE_MODULE, NORMALIZE = MODULES
DENSE = {"in_features": 16, "out_features": 2, "bias": True}


@pytest.fixture
def sentences(make):
    """A function that makes a model with modules after it, some of them changed."""

    def made(modules=MODULES, pooling=None, dense=None, tensors=None):
        directory = make()
        (directory / "modules.json").write_text(json.dumps(modules))
        for name, config in (("1_Pooling", pooling or {}), ("2_Dense", {**DENSE, **(dense or {})})):
            (directory / name).mkdir()
            (directory / name / "config.json").write_text(json.dumps(config))
        layer = {"linear.weight": numbers(2, 16), "linear.bias": numbers(2)}
        layer = layer if tensors is None else tensors
        write_tensors(directory / "2_Dense" / "model.safetensors", layer)
        return directory

    return made


# How the hidden states of one text, tokens × numbers, are pooled.
POOLED = {
    "cls": lambda states: states[0],
    "max": lambda states: states.max(0),
    "mean": lambda states: states.mean(0),
    "mean_sqrt_len_tokens": lambda states: states.sum(0) / len(states) ** 0.5,
    "weightedmean": lambda states: np.average(states, axis=0, weights=range(1, len(states) + 1)),
    "lasttoken": lambda states: states[-1],
}


@pytest.mark.parametrize(
    ("modules", "modes"),
    [
        (MODULES, ["mean"]),
        (MODULES[:3], ["lasttoken"]),
        (MODULES[:2], ["max", "mean_sqrt_len_tokens"]),
        (MODULES[:2], ["cls", "weightedmean"]),
    ],
)
def test_rows_are_fitted_to_the_output_of_pooling_and_dense_modules(
    sentences, before, tmp_path, modules, modes
):
    directory, layer = sentences(modules, {"pooling_mode": modes}), []
    if len(modules) > 2:
        tensors = read_tensors(directory / "2_Dense" / "model.safetensors")
        layer = [tensors["linear.weight"], tensors["linear.bias"]]
    fitted = distil(directory, tmp_path / "out", terms=TERMS[:3]).fitted
    after, cosines = BertTokenizer.from_pretrained(tmp_path / "out"), []
    for term in TERMS[:3]:
        one, other = (
            np.concatenate([POOLED[mode](hidden_states(folder, ids)) for mode in modes])
            for folder, ids in ((directory, before.encode(term)), (tmp_path / "out", after.encode(term)))
        )  # fmt: skip
        if layer:
            one, other = (np.tanh(layer[0] @ each + layer[1]) for each in (one, other))
        cosines.append(cosine(one, other))
    assert fitted.cosine_after == pytest.approx(np.mean(cosines), abs=1e-3)
    assert 1 - fitted.cosine_after < 0.8 * (1 - fitted.cosine_before)


BAD_FILE = trietok.FileFormatError
REFUSED = {
    "no pooling": ({"modules": [FIRST]}, InputError),
    "the model in a folder": ({"modules": [{**FIRST, "path": "1_Pooling"}, POOLING]}, InputError),
    "two models": ({"modules": [FIRST, FIRST, POOLING]}, InputError),
    "two poolings": ({"modules": [FIRST, POOLING, POOLING, NORMALIZE]}, InputError),
    "an object": ({"modules": {}}, BAD_FILE),
    "names": ({"modules": ["evil"]}, BAD_FILE),
    **{
        f"a folder {path!r}": ({"modules": [FIRST, {**POOLING, "path": path}]}, BAD_FILE)
        for path in ("../other", "/", None, "a\0b", "absent/../..", 3)
    },
    "an unknown pooling": (
        {"modules": MODULES[:2], "pooling": {"pooling_mode": ["mean", "evil"]}},
        InputError,
    ),
    "pooled twice, and a layer for one": ({"pooling": {"pooling_mode": ["max", "mean"]}}, BAD_FILE),
    "nothing pooled": ({"pooling": {"pooling_mode_mean_tokens": False}}, BAD_FILE),
    **{
        f"the activation {name!r}": ({"dense": {"activation_function": name}}, InputError)
        for name in ("evil.Activation", "torch.nn.Evil", "torch.hub.load", 3, None)
    },
    "of tokens": ({"dense": {"module_input_name": "token_embeddings"}}, InputError),
    "to tokens": ({"dense": {"module_output_name": "token_embeddings"}}, InputError),
    "another size": ({"dense": {"in_features": 5}}, BAD_FILE),
    "no bias": ({"dense": {"bias": False}}, BAD_FILE),
    "no weights": ({"tensors": {}}, BAD_FILE),
}


@pytest.mark.parametrize(("changes", "kind"), REFUSED.values(), ids=REFUSED)
def test_modules_that_trietok_does_not_know_are_refused(sentences, tmp_path, changes, kind):
    check_refused(sentences(**changes), tmp_path, kind)


def test_weights_of_a_module_are_read_from_its_own_safetensors_file_only(sentences, tmp_path):
    directory = sentences()
    weights = directory / "2_Dense" / "model.safetensors"
    (directory / "2_Dense" / "pytorch_model.bin").write_bytes(b"no weights")
    weights.rename(tmp_path / "outside")
    check_refused(directory, tmp_path)
    weights.symlink_to(tmp_path / "outside")
    check_refused(directory, tmp_path)
    weights.unlink()
    weights.write_bytes(b"12345678")
    check_refused(directory, tmp_path, BAD_FILE)
    (directory / "1_Pooling" / "config.json").unlink()
    check_refused(directory, tmp_path, trietok.TrietokError)
    (directory / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    check_refused(directory, tmp_path, match="adapter")


EVIL = """
import pathlib
pathlib.Path({place!r}).write_text("run")
import torch
class Transformer(torch.nn.Module):
    def __init__(self, *arguments, **options):
        super().__init__()
    load = classmethod(lambda cls, *arguments, **options: cls())
Pooling = Transformer
"""


@pytest.mark.parametrize("kind", ["evil.Transformer", "evil.Pooling", "evil", TYPE + "Router"])
def test_no_code_of_a_directory_runs(sentences, tmp_path, kind):
    """Neither by its modules nor by what a known module names."""
    first = {**FIRST, "type": kind} if kind.endswith("r") else FIRST
    directory = sentences([first, {**POOLING, "type": kind}])
    place = tmp_path / "place"
    for folder in (directory, directory / "1_Pooling"):
        (folder / "evil.py").write_text(EVIL.format(place=str(place)))
    (directory / "router_config.json").write_text(
        json.dumps({"types": {"query_0": "evil.Transformer"}, "structure": {"query": ["query_0"]}})
    )
    for output in (None, tmp_path / "out"):
        with pytest.raises(InputError, match=f"names a module of the type '{kind}'"):
            distil(directory, output)
    assert not place.exists()
    assert not (tmp_path / "out").exists()
