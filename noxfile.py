"""The checks of the project, each in an environment of its own: `nox -l` lists them, `nox -s lint types` runs two.

`.ci/run` calls them all. What follows `--` goes to pytest: `nox -s tests-3.12 -- tests/files -x`.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import nox

ROOT = pathlib.Path(__file__).parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FREE_THREADED = "3.14t"
# One version, so that what is compared does not change unnoticed; any build of it will do.
TORCH = "torch==2.13.0"
PYTEST = ("pytest", "pytest-xdist", "hypothesis")
CLIENTS = (
    "sentence-transformers setfit keybert langchain-text-splitters docling-core[chunking] bert_score fastembed onnx "
    "semantic-text-splitter"
).split()
SERVICES = ("fastapi", "uvicorn[standard]", "gunicorn", "uvicorn-worker", "httpx")
NOT_SLOW = "not parity and not engines and not benchmark and not faults and not browser and not clients"

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_missing_interpreters = False


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and the layers of the packages."""
    session.install("ruff>=0.9")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("python", "tests/layout.py", silent=True)


@nox.session
def types(session: nox.Session) -> None:
    """The package's own types, and what mypy and pyright say of a user's scripts."""
    session.install(".[dev]", "pyright")  # pyright needs node, which it downloads where there is none
    session.run("mypy")
    session.run("pytest", "-m", "clients", "tests/typed", "-n", "0", "-q", *session.posargs)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The default tests, on each Python; `TRIETOK_KERNEL=0` tests plain Python."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def free_threaded(session: nox.Session) -> None:
    """Python without the GIL, which `TRIETOK_FREE_THREADED_PYTHON` names: it needs regex and pygtrie."""
    session.install(".[test]")
    if "TRIETOK_FREE_THREADED_PYTHON" not in os.environ:
        session.skip("TRIETOK_FREE_THREADED_PYTHON names no Python")
    session.run("pytest", "-m", "clients", "tests/text/test_free_threaded.py", "-q", *session.posargs)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """The kernel with sanitizers behind every encoder, in a copy of the checkout, whose own kernel stays as it is."""
    session.install(".[test]")
    checkout = pathlib.Path(session.create_tmp()) / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".nox", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.so")
    shutil.copytree(ROOT, checkout, ignore=left_out, symlinks=True)
    session.chdir(checkout)
    options = ("-Werror", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
    session.run("python", "-m", "trietok.text.build_kernel", *options)
    libraries = [_library_of_the_compiler(name) for name in ("libasan.so", "libubsan.so")]
    session.run(
        *("python", "-m", "pytest", "-p", "tests.text.kernel_from_the_start", "-q"),
        *("tests/text", "tests/inputs", "tests/tokenizer", "tests/property"),
        *session.posargs,
        env={"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"},
    )


def _library_of_the_compiler(name: str) -> str:
    shown = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return shown.stdout.strip()


@nox.session
def torch(session: nox.Session) -> None:
    """What is skipped without torch, and a longer look for differences."""
    session.install(".[test]", TORCH)
    session.run("pytest", "-q", *_files_that_name_torch(), *session.posargs)
    longer = {"TRIETOK_EXAMPLES": os.environ.get("TRIETOK_EXAMPLES", "100")}
    session.run("pytest", "-q", "-m", f"hypothesis and {NOT_SLOW}", "tests", *session.posargs, env=longer)


def _files_that_name_torch() -> list[str]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in files if "torch" in file.read_text(encoding="utf-8")]


@nox.session
def locking(session: nox.Session) -> None:
    """A lock, and the libraries that load its model."""
    session.install(".[test]")
    session.run("pytest", "-m", "engines", "tests/locking", "-q", *session.posargs)


@nox.session
@nox.parametrize("transformers", [4, 5])
def clients(session: nox.Session, transformers: int) -> None:
    """Other libraries, with transformers 4 and 5."""
    if transformers == 4:
        japanese = ("sudachipy", "sudachidict_core")
        spacy = ("spacy", "spacy-alignments")
        pinned = ("transformers==4.57.6", "model2vec[distill]")
        session.install(".[ja]", *CLIENTS, *pinned, *spacy, *japanese, *SERVICES, TORCH, *PYTEST)
        session.install("--no-deps", "spacy-transformers")  # it asks for an older transformers, and works with this one
        more = ("tests/parity/test_japanese_live.py", "tests/test_services_page.py")
    else:
        session.install(".", *CLIENTS, "transformers>=5,<6", "model2vec", TORCH, *PYTEST)
        more = ()
    session.run("python", "-m", "pytest", "-m", "clients", "tests/clients", *more, "-q", "-rs", *session.posargs)


@nox.session
def interop(session: nox.Session) -> None:
    """What transformers 5 loads of what is saved, and saves for what is loaded."""
    session.install(".[test]")
    if "TRIETOK_TRANSFORMERS5_PYTHON" not in os.environ:
        session.skip("TRIETOK_TRANSFORMERS5_PYTHON names no Python that has transformers 5")
    session.run("pytest", "tests/parity/test_interop.py", "-q", *session.posargs)


@nox.session
def engines(session: nox.Session) -> None:
    """Ray Data, Spark, HuggingFace datasets, Dask and Polars."""
    session.install(".[ray,spark,datasets]", TORCH, "dask", "polars", *PYTEST)
    file = "tests/corpus/test_corpus_engines.py"
    session.run("python", "-m", "pytest", "-m", "engines", file, "-q", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Killed processes, damaged directories, sanitized kernels."""
    session.install(".[test]")
    session.run("pytest", "-m", "faults", "-q", "--durations", "5", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """The playground in Debian's Chromium, with Pyodide from npm; where one is missing, tests are skipped."""
    session.install(".[test]", "playwright")
    session.run("pytest", "-m", "browser", "tests/browser", "-n", "0", "-s", "-q", "-rs", *session.posargs)


@nox.session
def parity(session: nox.Session) -> None:
    """Models' rows beside transformers' models; published vocabularies, where `TRIETOK_MODELS` names them."""
    session.install(".[test]", TORCH)
    session.run("pytest", "-m", "parity", "-q", "--ignore", "tests/text/test_kernel.py", *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """The documentation site, every link of it."""
    session.install(".[docs]")
    session.run("mkdocs", "build", "--strict", "-f", ".mkdocs.yml", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """The wheel with the kernel, the pure one and the sdist, in dist/, and what the index would say of them."""
    session.install("build", "twine", "check-wheel-contents", "validate-pyproject", "cffconvert")
    session.run("validate-pyproject", "pyproject.toml")
    session.run("cffconvert", "--validate")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    session.run("python", "-m", "build", "--outdir", "dist", "--wheel", env={"TRIETOK_KERNEL": "0"})
    files = [str(file) for file in sorted((ROOT / "dist").iterdir())]
    session.run("twine", "check", "--strict", *files)
    session.run("check-wheel-contents", *(file for file in files if file.endswith(".whl")))


@nox.session(python=[*PYTHONS, FREE_THREADED])
def installed(session: nox.Session) -> None:
    """What the session `package` made, installed on each Python: wheels, the sdist with and without a C compiler."""
    pure, sdist = (next((ROOT / "dist").glob(f"trietok-*{end}"), None) for end in ("-none-any.whl", ".tar.gz"))
    if pure is None or sdist is None:
        session.error("dist/ holds no pure wheel or no sdist; run: nox -s package")
    session.install(str(pure))
    _check_installed(session, "plain")
    again = ("--force-reinstall", "--no-deps", "--no-cache-dir")
    session.install(*again, "--no-index", "--find-links", "dist", "trietok")  # the best wheel for this Python
    _check_installed(session, "compiled")
    session.install(*again, str(sdist))
    _check_installed(session, "compiled")
    session.install(*again, str(sdist), env={"PATH": session.bin, "CC": "no-such-compiler"})
    _check_installed(session, "plain")


def _check_installed(session: nox.Session, kernel: str) -> None:
    with session.chdir(session.create_tmp()):  # so that nothing is imported from the checkout
        session.run("python", str(ROOT / "tests" / "packaging" / "check_installed.py"), kernel)
