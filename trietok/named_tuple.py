"""`typing.NamedTuple` for the core, made in half the time: the types of fields, for which nobody
asks, stay text.

In: a class with annotations. Out: the class that `collections.namedtuple` makes of them.
"""

from __future__ import annotations

from trietok.later import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            types = body.pop("__annotations__", {})
            defaults = [body.pop(field) for field in types if field in body]
            made = namedtuple(name, types, defaults=defaults, module=body.pop("__module__"))
            made.__annotations__ = types
            for key, value in body.items():
                setattr(made, key, value)
            return made

    NamedTuple = _Maker("NamedTuple", (), {})
