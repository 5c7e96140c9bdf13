"""A read-only dict, returned where a caller must not change the tokenizer's state."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ReadOnlyDict(dict[_Key, _Value]):
    """A dict that refuses to change; `dict(...)` and `.copy()` give one that can.

    >>> view = ReadOnlyDict({"a": 1})
    >>> view["b"] = 2
    Traceback (most recent call last):
    ...
    TypeError: this dict is read-only; change the tokenizer with add_tokens, remove_tokens, assign_unused or
    add_wordpieces, or copy the dict with dict(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "this dict is read-only; change the tokenizer with add_tokens, remove_tokens, assign_unused or "
            "add_wordpieces, or copy the dict with dict(...)"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)
