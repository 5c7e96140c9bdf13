"""Hatch's hooks: the README with links that work on a package index; the pages and the compiled
kernel in a wheel.

A wheel gets the kernel where a C compiler is there: one for every CPython from 3.11 on, or, where
`TRIETOK_FULL_API=1` asks for that, a faster one for the Python that makes the wheel. Elsewhere it
is pure Python, and so it is where `TRIETOK_KERNEL=0` asks for that.
"""

from __future__ import annotations

import os
import pathlib
import re
import runpy
import sys
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
    """Puts the kernel into a wheel; an editable install runs from the checkout, which
    has its own.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        if os.environ.get("TRIETOK_KERNEL") == "0":
            return
        # By its path: trietok itself cannot be imported before what it depends on is installed.
        build = runpy.run_path(
            str(pathlib.Path(self.root, "trietok", "text", "kernel", "build.py"))
        )
        self._folder = tempfile.TemporaryDirectory()
        full_api = os.environ.get("TRIETOK_FULL_API") == "1"
        name = f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}" if full_api else build["LIBRARY"]
        library = pathlib.Path(self._folder.name, name)
        try:
            build["compile_kernel"](library, ["-DTRIETOK_FULL_API"] if full_api else [])
        except build["NoKernelError"] as error:
            self.app.display_warning(
                f"trietok is installed without its compiled kernel, as plain Python: {error}"
            )
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        python = "cp{}{}".format(*sys.version_info)
        build_data["tag"] = (
            f"{python}-{python}-{platform}" if full_api else f"{build['WHEEL_TAG']}-{platform}"
        )
        build_data["force_include"][str(library)] = f"trietok/text/kernel/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()
