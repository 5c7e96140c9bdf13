"""A PyTorch model in memory gets the rows of a plan in place: its parameters stay the same objects.

In: a model, and a plan for so many rows as it has. Out: the tensors that were changed, and the ids
of its configuration. The rules are those of files (`token_tensors`, `row_blocks`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from trietok.errors import InputError, InputTypeError
from trietok.workbench.adapting.row_blocks import ChangedTensor, RowBlocks, import_package
from trietok.workbench.adapting.token_tensors import Sources, moved_ids, token_axes

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}


class ModelInMemory:
    """A model of PyTorch, of which everything is looked at before anything is changed.

    Attributes:
        rows: how many rows for tokens it has.
    """

    def __init__(self, model: Any, also: Iterable[str], leave: Iterable[str]) -> None:
        import_package("numpy")
        torch = sys.modules.get("torch")  # where it is not installed nobody has a model
        if torch is None or not isinstance(model, torch.nn.Module):
            raise InputTypeError(
                f"apply_to takes a torch.nn.Module, not {type(model).__name__}", value=model
            )
        self._torch, self._model = torch, model
        self._tensors, self._configs = _tensors(model), _configs(model)
        self.rows = _embedding_rows(self._tensors, self._configs)
        shapes = {name: tuple(tensor.shape) for name, tensor in self._tensors.items()}
        self._axes = token_axes(shapes, self.rows, also=also, leave=leave)

    def give(self, plan: Sources) -> tuple[list[ChangedTensor], dict[str, Any]]:
        """Give it the rows of a plan; returns the changed tensors, and the ids of its settings."""
        model, tensors = self._model, self._tensors
        blocks = RowBlocks(plan)
        ids = []
        for config in self._configs:
            values = {**vars(config), "model_type": getattr(config, "model_type", None)}
            ids.append(moved_ids(values, plan, where=type(config).__name__))
        generation = getattr(model, "generation_config", None)
        of_generation = {} if generation is None else vars(generation)
        generation_ids = moved_ids(of_generation, plan, where="generation_config", is_model=False)
        new: dict[int, Any] = {}  # all are made before the first is put in
        changed: list[ChangedTensor] = []
        for name, axis in self._axes.items():
            tensor = tensors[name]
            if id(tensor) not in new:
                new[id(tensor)] = _made(self._torch, blocks, name, tensor, axis)
            shape = tuple(new[id(tensor)].shape)
            changed.append(ChangedTensor(name, tuple(tensor.shape), shape, _dtype(tensor)))
        for tensor in {id(tensors[name]): tensors[name] for name in self._axes}.values():
            tensor.grad = None  # it has a gradient for each old row
            tensor.data = new[id(tensor)]
        _resize_modules(self._torch, model, self._axes, plan)
        for config, values in zip(self._configs, ids, strict=True):
            # Splinter keeps the id of its question token in a module, too
            for module in model.modules():
                for key in values.keys() & vars(module).keys():
                    if vars(module)[key] == getattr(config, key, None):
                        setattr(module, key, values[key])
            for key, value in {**values, "vocab_size": plan.rows_after}.items():
                setattr(config, key, value)
        for key, value in generation_ids.items():
            setattr(generation, key, value)
        return changed, {"vocab_size": plan.rows_after, **(ids[0] if ids else {})}


def _tensors(model: Any) -> dict[str, Any]:
    """Parameters and buffers by name; one that is tied stands there under each of its names."""
    found = dict(model.named_parameters(remove_duplicate=False))
    found |= model.named_buffers(remove_duplicate=False)
    for name, tensor in found.items():
        if tensor.is_meta:
            raise InputError(
                f"{name!r} has no values yet (it is on the device meta); load the model first"
            )
    return found


def _configs(model: Any) -> list[Any]:
    """The different configurations of the model and its parts that say how many tokens there
    are.
    """
    found = (getattr(module, "config", None) for module in model.modules())
    with_rows = (each for each in found if type(getattr(each, "vocab_size", None)) is int)
    return list({id(each): each for each in with_rows}.values())


def _embedding_rows(tensors: dict[str, Any], configs: list[Any]) -> int:
    said = {config.vocab_size for config in configs} or {
        tensor.shape[0]
        for name, tensor in tensors.items()
        if name.endswith("word_embeddings.weight")
    }
    if len(said) != 1:
        numbers = " and ".join(f"{number:,}" for number in sorted(said)) or "none"
        raise InputError(
            f"a model with one number of token rows is needed, and this one says {numbers}; give"
            " the part of it that the tokenizer belongs to"
        )
    return int(next(iter(said)))


def _dtype(tensor: Any) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return _DTYPES.get(name, name)


def _made(torch: Any, blocks: RowBlocks, name: str, tensor: Any, axis: int) -> Any:
    """The new values of a tensor, where it is and of its type."""
    np = import_package("numpy")
    old = tensor.detach().to("cpu").contiguous()
    raw = old.view(torch.uint8).numpy() if old.dim() else old.numpy()
    shape = tuple(old.shape)
    parts = [
        np.ascontiguousarray(block).view(np.uint8).reshape(-1)
        for block in blocks.blocks(name, _dtype(tensor), shape, axis, raw)
    ]
    new = torch.from_numpy(np.concatenate(parts)).view(old.dtype)
    return new.reshape(*shape[:axis], blocks.rows, *shape[axis + 1 :]).to(tensor.device)


def _resize_modules(torch: Any, model: Any, axes: dict[str, int], plan: Sources) -> None:
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
