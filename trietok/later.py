"""What the core names and most programs never use: the names of `typing`, and modules of Python
that are imported when first used. To import them would be a seventh of the time to start.

In: nothing. Out: the names. Those of `typing` are its own where it has been imported already, else
stand-ins; type checkers see the names themselves.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # type checkers take a variable of this name for true

if TYPE_CHECKING:
    import array as array
    import bisect as bisect
    import copy as copy
    import copyreg as copyreg
    import importlib as importlib
    import json as json
    import re as re
    import unicodedata as unicodedata
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import Literal as Literal
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import TypedDict as TypedDict
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload

    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack
else:

    class _NotYet:
        """Stands for a module, which is imported where something of it is first asked for; then it
        takes the place of this wherever trietok's modules name it.
        """

        def __init__(self, name):
            self.__name__ = name

        def __getattr__(self, name):
            module = __import__(self.__name__)
            for where, each in [*sys.modules.items()]:
                names = getattr(each, "__dict__", {})  # None stands there for what is blocked
                if where.startswith("trietok") and names.get(self.__name__) is self:
                    setattr(each, self.__name__, module)
            return getattr(module, name)

        def __reduce__(self):
            return __import__, (self.__name__,)

    array, bisect, copy, copyreg, importlib, json, re, unicodedata = map(
        _NotYet,
        "array bisect copy copyreg importlib json re unicodedata".split(),
    )

    class _Types:
        """Stands for what is subscripted with types, or inherited from; what it gives is
        `object`.
        """

        def __class_getitem__(cls, types):
            return object

        def __init_subclass__(cls, **options):
            pass

    # What makes forms or tools of functions, as pydantic does, has imported `typing`, and finds the
    # types. `typing.get_type_hints` finds the names in any case.
    # Imported again, since another thread may be in the middle of importing it.
    _typing = __import__("typing") if "typing" in sys.modules else None

    def _name(name, stand_in):
        return getattr(_typing, name, stand_in)

    Any = _name("Any", object)
    BinaryIO = _name("BinaryIO", object)
    Literal = _name("Literal", _Types)
    NoReturn = _name("NoReturn", object)
    Protocol = _name("Protocol", _Types)
    Self = _name("Self", Any)  # not before Python 3.11
    TypedDict = _name("TypedDict", _Types)
    TypeVar = _name("TypeVar", lambda name, *types, **options: object)
    Unpack = _name("Unpack", _Types)
    cast = _name("cast", lambda kind, value: value)
    overload = _name("overload", lambda function: function)
