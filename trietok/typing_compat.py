"""`Self` and `Unpack`, which `typing` has from Python 3.11 on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    from typing import Self as Self
    from typing import Unpack as Unpack
elif TYPE_CHECKING:
    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack
else:  # for `typing.get_type_hints`, which evaluates annotations
    Self = Any

    class Unpack:
        def __class_getitem__(cls, options: Any) -> Any:
            return Any
