"""`typing.NamedTuple` for the core, made in a quarter of the time: the types of fields, for which
nobody asks, stay text, and a class's `__new__` is compiled when it has made a few objects.

In: a class with annotations. Out: a class as `collections.namedtuple` makes it.
"""

from __future__ import annotations

import sys

from trietok.later import TYPE_CHECKING

FEW_OBJECTS = 20  # for which compiling takes longer than it saves

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter as _field
    except ImportError:  # another Python has another

        def _field(number, doc):
            return property(lambda self: tuple.__getitem__(self, number), doc=doc)

    _tuple_new = tuple.__new__

    def _make(cls, iterable):
        made = _tuple_new(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **values):
        made = self._make(map(values.pop, self._fields, self))
        if values:
            raise ValueError(f"Got unexpected field names: {list(values)!r}")
        return made

    def __repr__(self):
        shown = [f"{name}={value!r}" for name, value in zip(self._fields, self)]  # noqa: B905
        return f"{self.__class__.__name__}({', '.join(shown)})"

    def _asdict(self):
        return dict(zip(self._fields, self))  # noqa: B905  # both have the fields' number

    def __getnewargs__(self):
        return tuple(self)

    _METHODS = {
        "__slots__": (),
        "_make": classmethod(_make),
        "__repr__": __repr__,
        "_asdict": _asdict,
        "__getnewargs__": __getnewargs__,
        # what `copy.replace` of Python 3.13 calls
        **dict.fromkeys(("_replace", "__replace__")[: 1 + (sys.version_info >= (3, 13))], _replace),
    }

    class _Signature:
        """Has `__new__` compiled for `inspect.signature`, which asks for this first."""

        def __init__(self, compiled):
            self.compiled = compiled

        def __get__(self, instance, kind):
            self.compiled()
            raise AttributeError("__signature__")

    class _Maker(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.setdefault("__annotations__", {}))
            defaults = {field: body[field] for field in fields if field in body}
            few = FEW_OBJECTS

            def compiled():
                """The `__new__` of `collections.namedtuple`, which is the class's from then on."""
                listed = "".join([f"{field}, " for field in fields])
                names = {"_tuple_new": _tuple_new, "__builtins__": {}, "__name__": name}
                new = eval(f"lambda _cls, {listed}: _tuple_new(_cls, ({listed}))", names)
                new.__name__, new.__qualname__ = "__new__", f"{name}.__new__"
                new.__defaults__ = tuple(defaults.values())
                made.__new__ = staticmethod(new)
                return new

            def new_of_few(cls, /, *values, **named):
                nonlocal few
                few -= 1
                if few > 0 and len(values) <= len(fields):
                    missing, given = fields[len(values) :], {**defaults, **named}
                    if named.keys() <= {*missing} <= given.keys():
                        return _tuple_new(cls, (*values, *map(given.__getitem__, missing)))
                return compiled()(cls, *values, **named)

            made = type(
                name,
                (tuple,),
                {
                    "__doc__": f"{name}({', '.join(fields)})",
                    **_METHODS,
                    **body,
                    **{
                        field: _field(n, f"Alias for field number {n}")
                        for n, field in enumerate(fields)
                    },
                    "__new__": new_of_few,
                    "__signature__": _Signature(compiled),
                    "_fields": fields,
                    "_field_defaults": defaults,
                    "__match_args__": fields,
                },
            )
            return made

    NamedTuple = _Maker("NamedTuple", (), {})
