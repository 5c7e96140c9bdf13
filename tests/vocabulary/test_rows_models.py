"""Rows of transformers' models: what they say of the tokens they had does not change."""

from __future__ import annotations

import copy
import json

import pytest
import transformers

from tests.conftest import SPECIAL, needs
from trietok import BertTokenizer, InputError, InputTypeError, apply_rows, plan_rows

torch = needs("torch")
pytestmark = pytest.mark.parity

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmn"] + [
    f"##{a}" for a in "abdefgiklmnoprsu"
]
ROWS = len(SPECIAL) + len(WORDS)
COMMON = {
    **{"vocab_size": ROWS, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
    **{"intermediate_size": 24, "max_position_embeddings": 40},
}
LXMERT = {
    **{key: value for key, value in COMMON.items() if key != "num_hidden_layers"},
    **{"l_layers": 1, "x_layers": 1, "r_layers": 1, "visual_feat_dim": 16},
    **{"num_qa_labels": 5, "num_object_labels": 5, "num_attr_labels": 5},
}
GROUPS = "q_groups k_groups v_groups post_attention_groups intermediate_groups output_groups"
FUNNEL = {
    **{"vocab_size": ROWS, "d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 24},
    **{"block_sizes": [1, 1], "num_decoder_layers": 1},
}
DISTIL = {
    **{"vocab_size": ROWS, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24},
    "max_position_embeddings": 40,
}
SMALL = {"embedding_size": 8}
CONFIGS = {
    "Bert": COMMON,
    "DistilBert": DISTIL,
    "Electra": {**COMMON, **SMALL},
    "MPNet": COMMON,
    "ConvBert": {**COMMON, **SMALL, "conv_kernel_size": 3},
    "MobileBert": {**COMMON, **SMALL, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    "Funnel": FUNNEL,
    "Lxmert": LXMERT,
    "LayoutLM": {**COMMON, "max_2d_position_embeddings": 41},
    "SqueezeBert": {**COMMON, "embedding_size": 16, **dict.fromkeys(GROUPS.split(), 1)},
    "Splinter": {**COMMON, "question_token_id": 7},
    "DPR": COMMON,
}
CLASSES = (
    "BertModel BertForMaskedLM BertForPreTraining BertForSequenceClassification DistilBertModel"
    " DistilBertForMaskedLM ElectraModel ElectraForMaskedLM ElectraForPreTraining MPNetModel"
    " MPNetForMaskedLM ConvBertModel ConvBertForMaskedLM MobileBertModel MobileBertForMaskedLM"
    " MobileBertForPreTraining FunnelModel FunnelForMaskedLM LxmertModel LxmertForPreTraining"
    " LayoutLMModel LayoutLMForMaskedLM SqueezeBertModel SqueezeBertForMaskedLM SplinterModel"
    " SplinterForPreTraining DPRQuestionEncoder DPRContextEncoder DPRReader"
).split()
TEXT = "bal dem fin gol kum bel dam"


@pytest.fixture(autouse=True)
def quiet():
    transformers.logging.set_verbosity_error()


@pytest.fixture
def before(vocab_file):
    # Token 1 is the padding of MPNet.
    return BertTokenizer(vocab_file(*WORDS))


@pytest.fixture
def after(before):
    """The tokenizer with more tokens."""
    grown = copy.deepcopy(before)
    grown.add_tokens(["bald", "bal dem"])
    grown.add_wordpieces(["finn", "##ald"])
    return grown


def made(name: str, *, tie: bool = True, dtype=torch.float32):
    """A small model with random numbers, biases too."""
    torch.manual_seed(len(name))
    families = sorted(CONFIGS, key=len, reverse=True)
    family = next(family for family in families if name.startswith(family))
    config = getattr(transformers, f"{family}Config")(**CONFIGS[family], tie_word_embeddings=tie)
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter)
    return model.to(dtype)


def outputs(model, ids) -> dict[str, torch.Tensor]:
    """Everything that a model says of ids."""
    given = {"input_ids": torch.tensor([ids])}
    dtype = next(model.parameters()).dtype
    if type(model).__name__.startswith("Lxmert"):
        given |= {"visual_feats": torch.zeros(1, 2, 16, dtype=dtype)}
        given |= {"visual_pos": torch.zeros(1, 2, 4, dtype=dtype)}
    if type(model).__name__.startswith("SplinterFor"):
        given["question_positions"] = torch.tensor([[1]])
    with torch.no_grad():
        found = model(**given)
    return {key: value for key, value in found.items() if isinstance(value, torch.Tensor)}


def assert_same(old: dict, new: dict) -> None:
    """The same numbers, bit for bit; where there is one for each token, for those that were there
    before.
    """
    assert old.keys() == new.keys()
    for key, value in old.items():
        assert torch.equal(new[key][..., : value.shape[-1]], value), key


def loaded(name: str, directory, dtype=torch.float32):
    """A model from its files, without a key too many or too few.

    It is copied, so that its tensors lie in memory as those of other models: in a file they begin
    at other places, and some products depend on that in their last bit.
    """
    model, told = getattr(transformers, name).from_pretrained(
        directory, output_loading_info=True, dtype=dtype
    )
    assert [key for key, found in told.items() if found] == []
    return copy.deepcopy(model.eval())


def assert_equal_models(one, other) -> None:
    assert one.state_dict().keys() == other.state_dict().keys()
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    for key in ("vocab_size", "pad_token_id", "question_token_id"):
        assert getattr(one.config, key, None) == getattr(other.config, key, None)
    is_lxmert = type(one).__name__.startswith("Lxmert")
    sizes = ("num_embeddings", "padding_idx", "in_features", "out_features", "question_token_id")
    for (name, module), (_, twin) in zip(one.named_modules(), other.named_modules(), strict=True):
        for key in sizes:
            if not (is_lxmert and key == "padding_idx" and "embeddings" in name):
                assert getattr(module, key, None) == getattr(twin, key, None), (name, key)


@pytest.mark.parametrize("tie", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_model_with_more_tokens_says_the_same_of_the_old_ones(name, tie, before, after, tmp_path):
    """By files and in memory; and the model loads without a key too many or too few."""
    plan = plan_rows(before, after, initialization="mean")
    model = made(name, tie=tie)
    model.save_pretrained(tmp_path / "model")
    before.save_pretrained(tmp_path / "model")
    apply_rows(plan, tmp_path / "model", tmp_path / "out", tokenizer=after, multiple_of=32)
    new = loaded(name, tmp_path / "out")
    ids = before(TEXT)["input_ids"]
    assert_same(outputs(model, ids), outputs(new, ids))
    parameters = dict(model.named_parameters(remove_duplicate=False))
    plan.apply_to(model, multiple_of=32)
    changed = dict(model.named_parameters(remove_duplicate=False))
    assert {key: id(each) for key, each in changed.items()} == {
        key: id(each) for key, each in parameters.items()
    }
    assert_equal_models(model, new)
    assert model.get_input_embeddings().num_embeddings == 128
    ids = after("bald finn bal dem")["input_ids"]
    assert max(ids) >= ROWS
    assert all(torch.isfinite(value).all() for value in outputs(model, ids).values())


@pytest.mark.parametrize("tie", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_model_with_other_ids_says_the_same_of_the_tokens_that_stay(
    name, tie, before, tmp_path, vocab_file
):
    moved = ["[UNK]", "[CLS]", "[PAD]", "[SEP]", "[MASK]"]
    words = ["bal", "dem", "fin", "gol", "kum", "bel", "dam", WORDS[2], *WORDS[-13:]]
    special = SPECIAL if name.startswith("MPNet") else moved
    after = BertTokenizer(vocab_file(*words, special=special, name="after.txt"))
    plan = plan_rows(before, after, initialization="mean")
    assert plan.lost
    model = made(name, tie=tie)
    model.save_pretrained(tmp_path / "model")
    apply_rows(plan, tmp_path / "model", tmp_path / "out", tokenizer=after)
    new = loaded(name, tmp_path / "out")
    tokens = sorted(after.get_vocab(), key=after.get_vocab().get)
    old_rows = before.convert_tokens_to_ids(tokens)
    old_ids, new_ids = before(TEXT)["input_ids"], after(TEXT)["input_ids"]
    assert old_ids != new_ids or name.startswith("MPNet")
    old, found = outputs(model, old_ids), outputs(new, new_ids)
    for key, value in old.items():
        if value.shape[-1] == ROWS:
            value = value[..., old_rows]
        assert torch.allclose(found[key], value, rtol=1e-5, atol=1e-6), key
    plan.apply_to(model)
    assert_equal_models(model, new)


def test_the_index_of_new_shards_is_the_one_that_transformers_writes(before, after, tmp_path):
    plan = plan_rows(before, after, initialization="mean")
    model = made("BertForMaskedLM", tie=False, dtype=torch.bfloat16)
    model.save_pretrained(tmp_path / "model", max_shard_size="8KB")
    apply_rows(plan, tmp_path / "model", tmp_path / "out")
    new = loaded("BertForMaskedLM", tmp_path / "out", torch.bfloat16)
    new.save_pretrained(tmp_path / "again", max_shard_size="8KB")
    ours, theirs = (
        json.loads((tmp_path / each / "model.safetensors.index.json").read_text())
        for each in ("out", "again")
    )
    assert ours["metadata"] == theirs["metadata"]
    assert ours["weight_map"].keys() == theirs["weight_map"].keys()
    plan.apply_to(model)
    assert_equal_models(model, new)


def test_a_refusal_leaves_the_model_in_memory_as_it_was(before, after):
    plan = plan_rows(before, after, initialization="mean")
    model = made("BertForMaskedLM")
    model.scores = torch.nn.Embedding(ROWS, 3)
    old = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    table = "bert.embeddings.word_embeddings.weight"
    with pytest.raises(InputError, match=r"--also scores\.weight"):
        plan.apply_to(model)
    model.bert.embeddings.word_embeddings.weight.data[6] = float("nan")
    with pytest.raises(InputError):
        plan_rows(before, after, initialization="all").apply_to(model, leave=["scores.*"])
    model.bert.embeddings.word_embeddings.weight.data[6] = old[table][6]
    assert all(torch.equal(tensor, old[name]) for name, tensor in model.state_dict().items())
    assert model.config.vocab_size == ROWS
    plan.apply_to(model, also=["scores.weight"])
    assert model.scores.weight.shape == (model.scores.num_embeddings, 3) == (ROWS + 4, 3)
    with pytest.raises(InputError):
        plan_rows(after, before, initialization="mean").apply_to(made("BertModel"))
    with pytest.raises(InputTypeError):
        plan.apply_to({})
    with torch.device("meta"), pytest.raises(InputError):
        plan.apply_to(transformers.BertModel(transformers.BertConfig(**COMMON)))
