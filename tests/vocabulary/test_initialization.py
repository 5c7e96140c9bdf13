"""How new rows are initialized: by the lengths of pieces, with numbers alone; fitted to the model,
where torch is installed.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import signal
import time
from fractions import Fraction

import numpy as np
import pytest
import transformers

import trietok
from tests.cli.commands import error, out, run
from tests.conftest import needs, often
from tests.vocabulary.models import (
    read_tensors,
    stop_at_the_rename,
    write_tensors,
)
from tests.vocabulary.test_rows_numbers import nearest, value_of
from trietok import BertTokenizer, InputError, adapt, plan_rows
from trietok.workbench.adapting.row_blocks import RowBlocks

WORDS = [
    "the",
    "be",
    "of",
    "co",
    "##v",
    "##id",
    "vac",
    "##cine",
    "##s",
    "a",
    "b",
    "##b",
    "sick",
    "doctor",
    "ill",
]
ROWS = 5 + len(WORDS)
TERMS = ["covid", "vaccines", "the sick", "##cines"]
TEXTS = [
    " ".join(random.Random(number).choices([*WORDS[:3], "covid", "vaccines", "sick"], k=12))
    for number in range(90)
]
TABLE = "embeddings.word_embeddings.weight"


@pytest.fixture
def before(vocab_file):
    return BertTokenizer(str(vocab_file(*WORDS)), model_max_length=24)


def with_terms(before, *terms):
    after = copy.deepcopy(before)
    trietok.add_terms(after, terms)
    return after


# ---- by length -----------------------------------------------------------------------------------


def test_longer_pieces_weigh_more(before):
    after = with_terms(before, *TERMS, "bb", "co\u2603")
    plan, ids = plan_rows(before, after, initialization="length"), after.get_vocab()
    assert plan_rows(before, after) == plan
    assert plan != plan_rows(before, after, initialization="mean")
    old = before.get_vocab()

    def terms(token):
        return {
            before.convert_ids_to_tokens(row): weight for row, weight in plan.terms_of(ids[token])
        }

    assert terms("covid") == {"co": 4 / 9, "##v": 1 / 9, "##id": 4 / 9}
    assert terms("vaccines") == {"vac": 9 / 26, "##cine": 16 / 26, "##s": 1 / 26}
    assert terms("the sick") == {"the": 9 / 25, "sick": 16 / 25}
    assert terms("##cines") == {"##cine": 16 / 17, "##s": 1 / 17}
    assert terms("bb") == {"b": 0.5, "##b": 0.5}
    assert len(terms("co\u2603")) == len(old)  # what has no known piece gets the mean of all


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
def test_a_weighted_mean_is_rounded_once(before, dtype):
    """Beside fractions, whatever the numbers are: 4/26 and the like are no numbers of float64."""
    seed = random.randrange(1 << 32)
    after = with_terms(before, *TERMS)
    plan = plan_rows(before, after, initialization="length")
    kind = {"F32": np.float32, "F16": np.float16}.get(dtype, np.float32)
    table = np.random.default_rng(seed).normal(size=(ROWS, 40)).astype(kind)
    if dtype == "BF16":
        table = (table.view(np.uint32) >> 16).astype(np.uint16)
    raw = np.concatenate(
        [*RowBlocks(plan).blocks(TABLE, dtype, table.shape, 0, table.tobytes())], axis=1
    )[0]
    bits = {"F32": np.uint32}.get(dtype, np.uint16)
    old, new = table.view(bits), np.ascontiguousarray(raw).view(bits)
    assert (new[:ROWS] == old).all()
    for row in range(ROWS, plan.rows_after):
        weights = {
            place: Fraction(weight).limit_denominator(1000) for place, weight in plan.terms_of(row)
        }
        assert sum(weights.values()) == 1
        for column in range(table.shape[1]):
            exact = sum(
                share * value_of(int(old[place, column]), dtype) for place, share in weights.items()
            )
            found = int(new[row, column])
            assert abs(value_of(found, dtype)) == value_of(nearest(exact, dtype), dtype), (
                row,
                column,
                seed,
            )
            assert (value_of(found, dtype) > 0) == (exact > 0), seed


def test_what_python_cannot_do_without_the_model(before):
    with pytest.raises(InputError):
        plan_rows(before, with_terms(before, "covid"), initialization="distil")


# ---- fitted to the model -------------------------------------------------------------------------

COMMON = {
    **{"vocab_size": ROWS, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
    **{"intermediate_size": 24, "max_position_embeddings": 40, "initializer_range": 0.3},
}
DISTIL = {
    "vocab_size": ROWS,
    "dim": 16,
    "n_layers": 1,
    "n_heads": 2,
    "hidden_dim": 24,
    "max_position_embeddings": 40,
}
KINDS = {
    "BertModel": COMMON,
    "BertForMaskedLM": COMMON,
    "DistilBertForMaskedLM": {**DISTIL, "initializer_range": 0.3},
    "ElectraForMaskedLM": {**COMMON, "embedding_size": 8},
    "ElectraForPreTraining": {**COMMON, "embedding_size": 8},
    "MPNetForMaskedLM": COMMON,
}


@pytest.fixture
def make(before, tmp_path):
    """A function that makes a tiny model of transformers, with a tokenizer."""
    torch = needs("torch")
    transformers.logging.set_verbosity_error()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def made(name="BertModel", dtype="float32", **changes):
        torch.manual_seed(0)
        config = getattr(transformers, name.partition("For")[0].removesuffix("Model") + "Config")
        model = getattr(transformers, name)(config(**{**KINDS[name], **changes})).to(
            getattr(torch, dtype)
        )
        directory = tmp_path / f"{name}{len(os.listdir(tmp_path))}"
        model.save_pretrained(directory)
        before.save_pretrained(directory)
        return directory

    yield made
    torch.set_num_threads(threads)


def embedding(directory, ids):
    import torch

    model = transformers.AutoModel.from_pretrained(directory).float().eval()
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0).numpy()


def cosine(one, other):
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("name", KINDS)
def test_a_word_alone_is_what_its_pieces_were(make, before, tmp_path, name):
    directory = make(name)
    old = read_tensors(directory / "model.safetensors")
    told = []
    options = {
        "terms": [*TERMS, "co\u2603v"],
        "progress": None,
        "fitting": lambda *pair: told.append(pair),
    }
    fitted = adapt(directory, tmp_path / "fitted", TEXTS, initialization="distil", **options)
    start = adapt(directory, tmp_path / "start", TEXTS, initialization="length", **options)
    assert told == [(4, 4)]
    assert fitted.plan == start.plan
    assert (fitted.fitted.left, len(fitted.fitted.rows)) == (["co\u2603v"], 4)
    assert 1 - fitted.fitted.cosine_after < 0.8 * (1 - fitted.fitted.cosine_before)
    after = BertTokenizer.from_pretrained(tmp_path / "fitted")
    for term in TERMS[:3]:
        wanted = embedding(directory, before(term)["input_ids"])
        new, at_start = (
            cosine(embedding(tmp_path / each, after(term)["input_ids"]), wanted)
            for each in ("fitted", "start")
        )
        assert new > at_start
    tensors, others = (
        read_tensors(tmp_path / each / "model.safetensors") for each in ("fitted", "start")
    )
    table = next(key for key in tensors if key.endswith("word_embeddings.weight"))
    for key, tensor in tensors.items():
        if key == table:
            rows = [row for row in range(len(tensor)) if (tensor[row] != others[key][row]).any()]
            assert rows == fitted.fitted.rows
            assert (tensor[:ROWS] == old[key]).all()
        else:
            # the bias of a head, too, is as the plan says
            assert (tensor == others[key]).all(), key
    assert json.loads(fitted.to_json())["fitted"].keys() == {
        "rows",
        "cosine_before",
        "cosine_after",
        "left",
        "seconds",
    }
    assert "4 rows fitted in" in str(fitted)


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
    name = "embeddings.position_embeddings.weight"
    return weights | {name: ("F32", np.zeros((10**9, 0), np.float32))}


def of_whole_numbers(weights: Weights) -> Weights:
    name = "embeddings.position_embeddings.weight"
    return weights | {name: ("I8", np.zeros((40, 16), np.int8))}


@pytest.mark.parametrize(
    "change", [without_queries, of_other_shapes, of_no_bytes, of_whole_numbers]
)
def test_weights_that_are_missing_or_do_not_fit_are_refused(make, tmp_path, change):
    """transformers gives them random numbers, to which rows would be fitted, however many."""
    directory = make("BertModel")
    file = directory / "model.safetensors"
    weights = {name: ("F32", array) for name, array in read_tensors(file).items()}
    write_tensors(file, change(weights), {"format": "pt"})
    with pytest.raises((InputError, trietok.FileFormatError), match="'length'"):
        adapt(
            directory, tmp_path / "out", TEXTS, terms=TERMS, progress=None, initialization="distil"
        )
    assert not (tmp_path / "out").exists()


def test_the_type_of_another_model_is_refused(make, tmp_path):
    directory = with_config(make("BertForMaskedLM"), model_type="roberta")
    with pytest.raises(InputError):
        adapt(directory, tmp_path / "out", terms=TERMS, initialization="distil")


def with_config(directory, **changes):
    """The directory, with other settings in its config.json."""
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return directory


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
    directory = make("BertForMaskedLM")
    (directory / "modeling_evil.py").write_text("raise SystemExit('run')")
    adapt(directory, tmp_path / "as it was", terms=TERMS, initialization="distil")
    with_config(directory, **HOSTILE)
    adapt(directory, tmp_path / "hostile", terms=TERMS, initialization="distil")
    same = (tmp_path / each / "model.safetensors" for each in ("as it was", "hostile"))
    assert len({path.read_bytes() for path in same}) == 1


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("BertModel", "num_hidden_layers", 1_000_000),
        ("BertModel", "hidden_size", 10**9),
        ("BertModel", "max_position_embeddings", 10**9),
        ("ElectraForMaskedLM", "embedding_size", 10**9),
        ("MPNetForMaskedLM", "relative_attention_num_buckets", 10**9),
        ("DistilBertForMaskedLM", "n_layers", 1_000_000),
        ("DistilBertForMaskedLM", "hidden_dim", "24"),
    ],
)
def test_sizes_that_the_weights_do_not_have_are_refused(make, tmp_path, name, setting, value):
    directory = with_config(make(name), **{setting: value})
    with pytest.raises(InputError):
        adapt(directory, tmp_path / "out", terms=TERMS, initialization="distil")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[("num_attention_heads", value) for value in ("2", 0, 3, 10**9)],
        *[("hidden_act", value) for value in (5, "no such function")],
        *[("pad_token_id", value) for value in ("0", 10**9)],
        *[("layer_norm_eps", value) for value in ([1], -1)],
        *[("position_embedding_type", value) for value in ({}, "relative_key", "no such type")],
        ("is_decoder", True),
        ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    ],
)
def test_settings_that_cannot_be_are_refused(make, tmp_path, setting, value):
    directory = with_config(make(), **{setting: value})
    with pytest.raises((InputError, trietok.FileFormatError), match="'length'"):
        adapt(directory, tmp_path / "out", terms=TERMS, initialization="distil")
    assert not (tmp_path / "out").exists()


def test_the_same_bytes_each_time_and_the_models_own_numbers_stay(make, tmp_path):
    import torch

    directory, state = make("BertForMaskedLM"), torch.get_rng_state()
    for name in ("one", "two"):
        adapt(directory, tmp_path / name, terms=TERMS, initialization="distil")
        torch.manual_seed(len(name))
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two
    torch.set_rng_state(state)
    adapt(directory, tmp_path / "three", terms=TERMS, initialization="distil")
    assert (torch.get_rng_state() == state).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(make, tmp_path, dtype):
    import torch
    from safetensors.torch import load_file

    directory = make("BertModel", dtype)
    fitted = adapt(directory, tmp_path / "out", TEXTS, terms=TERMS, initialization="distil").fitted
    old, new = (
        load_file(each / "model.safetensors")[TABLE] for each in (directory, tmp_path / "out")
    )
    assert new.dtype == getattr(torch, dtype)
    assert torch.equal(new[:ROWS], old)
    assert torch.equal(new[fitted.rows], torch.tensor(fitted.values).to(new.dtype))


def test_what_is_tied_to_the_embeddings_gets_their_rows(make, tmp_path):
    """A head in the file beside the embeddings: tied by the configuration, it has their rows;
    untied, the plan's.
    """
    from safetensors.torch import load_file, save_file

    for is_tied in (True, False):
        directory = make("BertForMaskedLM", tie_word_embeddings=is_tied)
        tensors = load_file(directory / "model.safetensors")
        tensors.setdefault("cls.predictions.decoder.weight", tensors[f"bert.{TABLE}"].clone())
        save_file(tensors, directory / "model.safetensors", {"format": "pt"})
        for name in ("distil", "length"):
            adapt(directory, tmp_path / f"{name}{is_tied}", terms=TERMS, initialization=name)
        fitted, start = (
            load_file(tmp_path / f"{name}{is_tied}" / "model.safetensors")
            for name in ("distil", "length")
        )
        decoder, table = fitted["cls.predictions.decoder.weight"], fitted[f"bert.{TABLE}"]
        assert (table != start[f"bert.{TABLE}"]).any()
        assert (decoder == (table if is_tied else start["cls.predictions.decoder.weight"])).all()
        assert (fitted["cls.predictions.bias"] == start["cls.predictions.bias"]).all()
        model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / f"distil{is_tied}")
        assert (model.get_output_embeddings().weight == decoder).all()


def test_a_token_of_too_many_pieces_is_left(make, tmp_path):
    """The model has 40 positions."""
    terms = ["covid", "a" + 40 * "b"]
    fitted = adapt(make(), tmp_path / "out", terms=terms, initialization="distil").fitted
    assert (len(fitted.rows), fitted.left) == (1, terms[1:])


def test_free_slots(make, before, tmp_path, vocab_file):
    words = ["the", "[unused0]", *WORDS[2:]]
    tokenizer = BertTokenizer(str(vocab_file(*words)))
    directory = make("BertModel")
    tokenizer.save_pretrained(directory)
    adapted = adapt(
        directory, tmp_path / "out", terms=["covid"], way="unused", initialization="distil"
    )
    assert (adapted.fitted.rows, adapted.applied.rows_after) == ([6], ROWS)


def test_no_time(make, tmp_path):
    directory, options = make(), {"terms": TERMS, "initialization": "distil"}
    late = adapt(directory, tmp_path / "late", initialization_seconds=1e-9, **options)
    adapt(directory, tmp_path / "length", terms=TERMS, initialization="length")
    assert (late.fitted.rows, sorted(late.fitted.left)) == ([], sorted(TERMS))
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("late", "length"))
    assert one == two
    for wrong in (
        {"initialization_seconds": 5, "terms": TERMS},
        {"initialization_seconds": 0, **options},
    ):
        with pytest.raises(InputError):
            adapt(directory, None, **wrong)


@pytest.mark.faults
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
def test_killed_while_it_fits_and_writes(make, tmp_path, signal_):
    """The directory is there whole, or it is not there; beside it Ctrl-C leaves nothing."""
    directory, place = make("BertForMaskedLM"), tmp_path / "place"
    (tmp_path / "terms.txt").write_text("\n".join(TERMS))

    def adapted():
        place.mkdir(exist_ok=True)
        given = (
            "--terms",
            str(tmp_path / "terms.txt"),
            "-o",
            str(place / "out"),
            "--initialization",
            "distil",
        )
        return run("adapt", "-m", str(directory), *given).exit_code

    began = time.monotonic()
    assert adapted() == 0
    seconds, tally = time.monotonic() - began, {"nothing": 0, "all": 0}
    expected = {path.name: path.read_bytes() for path in (place / "out").iterdir()}
    for number in range(often(10, nightly=20)):
        shutil.rmtree(place)
        # Of three, one is stopped before the directory gets its name, one after that, one at any
        # moment.
        ends_itself = number % 3 < 2
        child = os.fork()
        if child == 0:
            try:
                if ends_itself:
                    stop_at_the_rename(place / "out", signal_, is_before=number % 3 == 0)
                os._exit(adapted())
            except KeyboardInterrupt:  # before the command began, or after it
                os._exit(130)
        if not ends_itself:
            time.sleep(random.uniform(0, 1.5 * seconds))
            os.kill(child, signal_)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        names = os.listdir(place) if place.exists() else []
        is_whole = (place / "out").exists()
        assert not ends_itself or is_whole == (number % 3 == 1), number
        tally["all" if is_whole else "nothing"] += 1
        if is_whole:
            assert {
                path.name: path.read_bytes() for path in (place / "out").iterdir()
            } == expected, number
        else:
            assert status in (-signal_, 130), number
        if signal_ == signal.SIGINT and status in (0, 130):
            # both, where it comes just after the directory has its name
            assert set(names) <= {"out"}
        place.mkdir(exist_ok=True)
    print(f"\n{tally}")
    shutil.rmtree(place)
    assert adapted() == 0


def test_what_cannot_be_fitted(make, tmp_path, monkeypatch):
    directory, options = make(), {"terms": TERMS, "initialization": "distil"}
    with monkeypatch.context() as patch:
        patch.setitem(__import__("sys").modules, "torch", None)
        with pytest.raises(trietok.MissingDependencyError, match="pip install torch"):
            adapt(directory, tmp_path / "out", **options)
    with_config(directory, model_type="nosuchmodel")
    with pytest.raises(InputError):
        adapt(directory, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_commands(make, before, tmp_path):
    directory = make("BertForMaskedLM")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    (tmp_path / "terms.txt").write_text("\n".join(TERMS))
    given = (
        "adapt",
        "-m",
        str(directory),
        "--terms",
        str(tmp_path / "terms.txt"),
        str(tmp_path / "texts.txt"),
    )
    lines = out(
        *given,
        "-o",
        str(tmp_path / "out"),
        "--initialization",
        "distil",
        "--initialization-seconds",
        "500",
    )
    assert any(line.startswith("4 rows fitted in") for line in lines)
    (line,) = out(*given, "--dry-run", "--initialization", "distil", "--json")
    assert json.loads(line)["fitted"] is None
    rows = ("rows", "-m", str(directory), "--new-tokenizer", str(tmp_path / "out"))
    lines = out(*rows, "-o", str(tmp_path / "rows"), "--initialization", "distil")
    assert any(line.startswith("4 rows fitted in") for line in lines)
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("out", "rows"))
    assert one == two
    error(*given, "-o", str(tmp_path / "no"), "--initialization-seconds", "5")
