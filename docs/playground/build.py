"""Builds the playground, a folder of static files: `python docs/playground/build.py OUT`.

In: this checkout, npm (for `pyodide`, which is Python for the browser) and pip. Out: a folder with
everything that the page asks for, so no request leaves its server. The page is that of
`trietok play`, with another `backend.js`, which runs trietok in the browser.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "trietok" / "cli" / "playground"

PYODIDE = "314.0.7"
PYODIDE_SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)


def build(out: Path) -> None:
    """Make the folder, whole: an older one is replaced at the end, and nothing else is."""
    if (
        out.exists()
        and not (out / "build.json").is_file()
        and (not out.is_dir() or any(out.iterdir()))
    ):
        raise SystemExit(
            f"{out} holds something else than a playground; give a folder that is new or empty"
        )
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "site")
        (made / "pyodide").mkdir(parents=True)
        for path in (*PAGE.iterdir(), *HERE.glob("*.js")):
            shutil.copy(path, made / path.name)
        unpack_pyodide(Path(scratch), made / "pyodide")
        wheels = make_wheels(made)
        loaded = [*(made / "pyodide").iterdir(), *(made / name for name in wheels)]
        # of scripts no bytes are counted
        size = sum(path.stat().st_size for path in loaded if path.suffix != ".mjs")
        facts = {
            "trietok": wheels[0].split("-")[1],
            "pyodide": PYODIDE,
            "wheels": wheels,
            "bytes": size,
        }
        (made / "build.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, out)


def unpack_pyodide(scratch: Path, out: Path) -> None:
    """The files of the package that a page needs."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("build.py needs npm, which fetches the package pyodide; install Node.js")
    run([npm, "pack", "--silent", f"pyodide@{PYODIDE}"], scratch)
    packed = scratch / f"pyodide-{PYODIDE}.tgz"
    if hashlib.sha512(packed.read_bytes()).hexdigest() != PYODIDE_SHA512:
        raise SystemExit(
            f"pyodide {PYODIDE} is not the package that build.py knows; compare its checksum"
        )
    with tarfile.open(packed) as archive:
        for name in PYODIDE_FILES:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            (out / name).write_bytes(member.read())


def make_wheels(out: Path) -> list[str]:
    """The names of the wheels, trietok's first."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out)]
    # A compiler that cannot be found: a browser needs a wheel of Python alone.
    run(
        [*pip, str(ROOT), "pygtrie"],
        ROOT,
        {**os.environ, "CC": "no-compiler", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    wheels = sorted(
        (path.name for path in out.glob("*.whl")), key=lambda name: not name.startswith("trietok-")
    )
    for name in wheels:
        if not name.endswith("-none-any.whl"):
            raise SystemExit(f"{name} holds compiled code, which a browser cannot run")
    return wheels


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command, which says itself what goes wrong."""
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"build.py: this failed: {' '.join(command)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("build.py takes the folder to make: python docs/playground/build.py OUT")
    target = Path(sys.argv[1])
    build(target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(
        f"{target}: {size / 1e6:.1f} MB; look at it with: python -m http.server -b 127.0.0.1 -d"
        f" {target}"
    )
