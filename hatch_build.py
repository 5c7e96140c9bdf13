"""Hatch's build hook: a wheel gets the compiled kernel where a C compiler is there, and is pure Python elsewhere."""

from __future__ import annotations

import pathlib
import runpy
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernel into a wheel; an editable install runs from the checkout, which has its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        # By its path: trietok itself cannot be imported before what it depends on is installed.
        build = runpy.run_path(str(pathlib.Path(self.root, "trietok", "text", "build_kernel.py")))
        self._folder = tempfile.TemporaryDirectory()
        library = pathlib.Path(self._folder.name, build["LIBRARY"])
        try:
            build["compile_kernel"](library)
        except build["NoKernelError"] as error:
            self.app.display_warning(f"trietok is installed without its compiled kernel, as plain Python: {error}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"{build['WHEEL_TAG']}-{platform}"
        build_data["force_include"][str(library)] = f"trietok/text/{build['LIBRARY']}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()
