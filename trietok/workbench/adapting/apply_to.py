"""A row plan carried out on a PyTorch model in memory.

In: a plan and a model. Out: the same model, with the same parameter objects, which hold other rows. The rules for names
and the numbers are those of `apply_rows`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trietok.workbench.adapting.applied import AppliedRows, ChangedTensor
from trietok.workbench.adapting.model_ids import moved_ids
from trietok.workbench.adapting.row_blocks import RowBlocks, import_numpy
from trietok.workbench.adapting.tensor_rules import token_axes
from trietok.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from trietok.workbench.adapting.row_plan import RowPlan

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}


def apply_to(
    plan: RowPlan, model: Any, *, also: Iterable[str] = (), leave: Iterable[str] = (), multiple_of: int = 1
) -> AppliedRows:
    """`plan.apply_to(model, ...)`."""
    import_numpy()
    torch = _torch_of(model)
    tensors = _tensors(model)
    configs = _configs(model)
    rows = _rows_of(tensors, configs)
    fitted = plan.for_model(rows, multiple_of)
    axes = token_axes({name: tuple(tensor.shape) for name, tensor in tensors.items()}, rows, also=also, leave=leave)
    blocks = RowBlocks(fitted)
    ids = [moved_ids(_values(config), fitted, where=type(config).__name__) for config in configs]
    generation = [each for each in [getattr(model, "generation_config", None)] if each is not None]
    generation_ids = [
        moved_ids(vars(config), fitted, where="generation_config", is_model=False) for config in generation
    ]
    new: dict[int, Any] = {}  # all are made before the first is put in
    for name, axis in axes.items():
        tensor = tensors[name]
        if id(tensor) not in new:
            new[id(tensor)] = _made(torch, blocks, name, tensor, axis)
    changed = [
        ChangedTensor(name, tuple(tensors[name].shape), tuple(new[id(tensors[name])].shape), _dtype(tensors[name]))
        for name in axes
    ]
    for tensor in {id(tensors[name]): tensors[name] for name in axes}.values():
        tensor.grad = None  # it has a gradient for each old row
        tensor.data = new[id(tensor)]
    _resize_modules(torch, model, axes, fitted)
    _set_ids(model, configs, fitted.rows_after, ids)
    for config, values in zip(generation, generation_ids, strict=True):
        _set(config, values)
    ids_now = {"vocab_size": fitted.rows_after, **(ids[0] if ids else {})}
    return AppliedRows(plan, rows, fitted.rows_after, changed, ids_now)


def _torch_of(model: Any) -> Any:
    """The package that the model is made of: where it is not installed nobody has a model."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise InputTypeError(f"apply_to takes a torch.nn.Module, not {type(model).__name__}", value=model)
    return torch


def _tensors(model: Any) -> dict[str, Any]:
    """Parameters and buffers by name; one that is tied stands there under each of its names."""
    found = dict(model.named_parameters(remove_duplicate=False))
    found.update(model.named_buffers(remove_duplicate=False))
    for name, tensor in found.items():
        if tensor.is_meta:
            raise InputError(f"{name!r} has no values yet (it is on the device meta); load the model first")
    return found


def _configs(model: Any) -> list[Any]:
    """The different configurations of the model and its parts that say how many tokens there are."""
    found = [getattr(module, "config", None) for module in model.modules()]
    different = {id(config): config for config in found if type(getattr(config, "vocab_size", None)) is int}
    return list(different.values())


def _rows_of(tensors: dict[str, Any], configs: list[Any]) -> int:
    said = {config.vocab_size for config in configs}
    if not said:
        said = {tensor.shape[0] for name, tensor in tensors.items() if name.endswith("word_embeddings.weight")}
    if len(said) != 1:
        numbers = " and ".join(f"{number:,}" for number in sorted(said)) or "none"
        raise InputError(
            f"a model with one number of token rows is needed, and this one says {numbers}; give the part of it that "
            "the tokenizer belongs to"
        )
    return int(next(iter(said)))


def _values(config: Any) -> dict[str, Any]:
    values = dict(vars(config))
    values["model_type"] = getattr(config, "model_type", None)
    return values


def _dtype(tensor: Any) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return _DTYPES.get(name, name)


def _made(torch: Any, blocks: RowBlocks, name: str, tensor: Any, axis: int) -> Any:
    """The new values of a tensor, where it is and of its type."""
    np = import_numpy()
    old = tensor.detach().to("cpu").contiguous()
    raw = old.view(torch.uint8).numpy() if old.dim() else old.numpy()
    shape = tuple(old.shape)
    parts = [
        np.ascontiguousarray(block).view(np.uint8).reshape(-1)
        for block in blocks.blocks(name, _dtype(tensor), shape, axis, raw)
    ]
    new = torch.from_numpy(np.concatenate(parts)).view(old.dtype)
    return new.reshape(*shape[:axis], blocks.rows, *shape[axis + 1 :]).to(tensor.device)


def _resize_modules(torch: Any, model: Any, axes: dict[str, int], plan: RowPlan) -> None:
    """Have modules say as many rows as they have."""
    new_rows = plan.new_rows_of()
    for path, module in model.named_modules():
        axis = axes.get(f"{path}.weight" if path else "weight")
        if axis is None:
            continue
        if isinstance(module, torch.nn.Embedding):
            module.num_embeddings = plan.rows_after
            module.padding_idx = new_rows.get(module.padding_idx)
        elif isinstance(module, torch.nn.Linear):
            setattr(module, "in_features" if axis else "out_features", plan.rows_after)


def _set_ids(model: Any, configs: list[Any], rows: int, ids: list[dict[str, Any]]) -> None:
    for config, values in zip(configs, ids, strict=True):
        for module in model.modules():  # Splinter keeps the id of its question token in a module, too
            for key in values.keys() & vars(module).keys():
                if vars(module)[key] == getattr(config, key, None):
                    setattr(module, key, values[key])
        _set(config, {**values, "vocab_size": rows})


def _set(config: Any, values: dict[str, Any]) -> None:
    for key, value in values.items():
        setattr(config, key, value)
