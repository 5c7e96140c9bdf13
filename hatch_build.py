"""Hatch's hooks: the README with links that work on a package index, and the compiled kernel.

If there is a C compiler, a wheel contains a kernel for every CPython from 3.11 on; an editable
install compiles the kernel in the checkout. Without a compiler, or with `TRIETOK_KERNEL=0`, trietok
stays pure Python.
"""

from __future__ import annotations

import os
import pathlib
import re
import runpy
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Makes the README's links to files of the project links to the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = metadata["urls"]["Homepage"]
        page = pathlib.Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(page, repository),
        }


def with_absolute_links(page: str, repository: str) -> str:
    """The Markdown of `page`, whose relative links and pictures lead to the main branch of the
    repository.
    """
    page = re.sub(r'\b(src|srcset)="(?![a-z]+:)', rf'\1="{repository}/raw/main/', page)
    page = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\1{repository}/raw/main/", page)
    return re.sub(
        r"(?<!!)(\[(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*\]\()(?![a-z]+:|#)",
        rf"\1{repository}/blob/main/",
        page,
    )


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernel into a wheel, or into the checkout for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or os.environ.get("TRIETOK_KERNEL") == "0":
            return
        is_editable = version == "editable"
        folder = pathlib.Path(self.root, "trietok", "text", "kernel")
        # By its path: trietok itself cannot be imported before what it depends on is installed.
        build = runpy.run_path(str(folder / "build.py"))
        if not is_editable:
            self._folder = tempfile.TemporaryDirectory()
            folder = pathlib.Path(self._folder.name)
        library = folder / build["LIBRARY"]
        try:
            build["compile_kernel"](library)
        except build["NoKernelError"] as error:
            self.app.display_warning(
                f"trietok is installed without its compiled kernel, as plain Python: {error}"
            )
            return
        if is_editable:
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"{build['WHEEL_TAG']}-{platform}"
        build_data["force_include"][str(library)] = f"trietok/text/kernel/{library.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()
