"""The checks of the project, each in an environment of its own: `nox -l` lists them,
`nox -s lint types` runs two.

`.ci/run` calls them, beside each other. What follows `--` goes to pytest:
`nox -s tests-3.12 -- tests/files -x`.
"""

from __future__ import annotations

import os
import pathlib
import re
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
    "sentence-transformers setfit keybert langchain-text-splitters docling-core[chunking]"
    " bert_score fastembed onnx semantic-text-splitter nanotoken tokie"
).split()
SERVICES = ("fastapi", "uvicorn[standard]", "gunicorn", "uvicorn-worker", "httpx")
NOT_SLOW = (
    "not parity and not engines and not benchmark and not faults and not browser and not clients"
)
# `TRIETOK_NIGHTLY=1` has the sessions run for hours: each test repeats what it draws at random as
# often as it says itself, and those of `tests.conftest.often` twenty times as often. Without it,
# they are what every change waits for.
NIGHTLY = os.environ.get("TRIETOK_NIGHTLY") == "1"
OFTEN = {"TRIETOK_OFTEN": "20"} if NIGHTLY else {}
# How often the marked tests try in the checks of a change, unless the environment says otherwise.
FEWER = {
    "TRIETOK_FAILURES": "15",
    "TRIETOK_ALLOCATIONS_APART": "12",
    "TRIETOK_MUTANTS": "200",
    "TRIETOK_FORGERIES": "8000",
    "TRIETOK_KILLS": "10",
    "TRIETOK_HISTORIES": "30",
    "TRIETOK_LINES": "10",
    "TRIETOK_FORKS": "1",
    "TRIETOK_TIMES": "6",
    "TRIETOK_SCRIPTS": "3",
    "TRIETOK_BLOCKS": "15",
    "TRIETOK_STEPS": "2",
    "TRIETOK_SECONDS": "5",
    "TRIETOK_ANSWERS": "20000",
    "TRIETOK_CALLS": "5000",
}
# What the program that `TRIETOK_PARITY` names compares line by line with transformers, for each
# profile.
COMPARED = (
    ((), {}),
    (("--limit", "2500" if NIGHTLY else "500"), {"TRIETOK_KERNEL": "0"}),
    (("--added", "300", "--limit", "400" if NIGHTLY else "100"), {}),
    (("--code-points", "--limit", "20000" if NIGHTLY else "5000"), {}),
)

nox.needs_version = ">=2026.10.20"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_missing_interpreters = False


def _counts(*names: str) -> dict[str, str]:
    """How often tests try: as the environment says, or else as `FEWER` does, but at night."""
    return OFTEN if NIGHTLY else {name: os.environ.get(name, FEWER[name]) for name in names}


def _install(session: nox.Session, extras: str, *packages: str) -> None:
    """Install `packages` and trietok with `extras`: the wheel that `TRIETOK_WHEEL` names, or the
    checkout.
    """
    wheel = os.environ.get("TRIETOK_WHEEL")
    session.install(
        f"trietok{extras} @ {pathlib.Path(wheel).as_uri()}" if wheel else f".{extras}", *packages
    )


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
    # pyright needs node, which it downloads where there is none
    _install(session, "[dev]", "pyright")
    session.run("mypy")
    session.run("pytest", "-m", "clients", "tests/typed", "-n", "0", "-q", *session.posargs)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The default tests, on each Python; `TRIETOK_KERNEL=0` tests plain Python."""
    session.install(".[test]")
    session.run("pytest", *session.posargs, env=OFTEN)


@nox.session
def free_threaded(session: nox.Session) -> None:
    """Python without the GIL, which `TRIETOK_FREE_THREADED_PYTHON` names: it needs regex and
    pygtrie.
    """
    if "TRIETOK_FREE_THREADED_PYTHON" not in os.environ:
        session.skip("TRIETOK_FREE_THREADED_PYTHON names no Python")
    _install(session, "[test]")
    session.run(
        "pytest", "-m", "clients", "tests/text/test_free_threaded.py", "-q", *session.posargs
    )


@nox.session
def sanitizers(session: nox.Session) -> None:
    """The kernel with sanitizers behind every encoder, in a copy of the checkout, whose own kernel
    stays as it is.
    """
    _install(session, "[test]")
    checkout = pathlib.Path(session.create_tmp()) / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    left_out = shutil.ignore_patterns(
        ".git", ".nox", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.so", "dist", "build"
    )
    shutil.copytree(ROOT, checkout, ignore=left_out, symlinks=True)
    session.chdir(checkout)
    options = (
        "-Werror",
        "-O1",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
    )
    session.run("python", "-m", "trietok.text.kernel.build", *options)
    libraries = [_library_of_the_compiler(name) for name in ("libasan.so", "libubsan.so")]
    # What these do around the kernel is Python's; what some change between two calls is, too, and
    # takes minutes.
    python = (
        ("tests/tokenizer", "tests/training") if NIGHTLY else ("tests/tokenizer/test_threads.py",)
    )
    slow = ("test_one_moment", "test_forks", "test_snapshots")
    session.run(
        *("python", "-m", "pytest", "-p", "tests.text.kernel_from_the_start", "-q"),
        *("tests/text", "tests/inputs", "tests/property", *python),
        *(f"--ignore=tests/tokenizer/{name}.py" for name in slow),
        *session.posargs,
        env={
            "LD_PRELOAD": " ".join(libraries),
            "ASAN_OPTIONS": "detect_leaks=0",
            # Few, since the session faults has the sanitized kernel read random texts.
            "TRIETOK_EXAMPLES": os.environ.get("TRIETOK_EXAMPLES", "100" if NIGHTLY else "10"),
        },
    )


def _library_of_the_compiler(name: str) -> str:
    shown = subprocess.run(
        ["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


@nox.session
def compilers(session: nox.Session) -> None:
    """The kernel by Clang, and for Windows by MinGW and Clang, without a warning; what is not
    installed is skipped.
    """
    _install(session, "[test]", "ziglang")
    session.run(
        "pytest",
        "-m",
        "faults",
        "tests/text/test_compilers.py",
        "-n",
        "0",
        "-q",
        "-rs",
        *session.posargs,
    )


@nox.session
def torch(session: nox.Session) -> None:
    """What is skipped without torch; models' rows beside transformers' models; published models, of
    `TRIETOK_DATA`.
    """
    _install(session, "[test]", TORCH)
    session.run("pytest", "-q", *_files_with_torch(), *session.posargs, env=OFTEN)
    if NIGHTLY:  # a longer look for differences
        names = ("adapting", "batches", "checking", "comparing", "inputs", "parity", "property")
        folders = [f"tests/{name}" for name in names]
        session.run(
            "pytest",
            "-q",
            "-m",
            f"hypothesis and {NOT_SLOW}",
            *folders,
            *session.posargs,
            env=OFTEN,
        )
    with_torch = (
        "tests/adapting",
        "tests/parity/test_live_calls_at_random.py",
        "tests/parity/test_live_terms.py",
    )
    session.run(
        "pytest", "-m", "parity", "-q", *with_torch, *session.posargs, env=_counts("TRIETOK_CALLS")
    )
    data = pathlib.Path(os.environ.get("TRIETOK_DATA", "/nowhere"))
    if data.exists():  # its folders hf and corpora
        without = (
            option
            for path in (*with_torch, "tests/text/test_kernel.py")
            for option in ("--ignore", path)
        )
        # Each of many processes would import torch with transformers, for seconds.
        env = {
            "TRIETOK_MODELS": str(data / "hf"),
            "TRIETOK_CORPORA": str(data / "corpora"),
            "USE_TORCH": "0",
        }
        session.run("pytest", "-m", "parity", "-q", *without, *session.posargs, env=env)


def _files_with_torch() -> list[str]:
    """The files of tests that use torch where it is installed; `TENSORS` are the kinds of tensors
    that there are.
    """
    files = (ROOT / "tests").rglob("test_*.py")
    users = [
        file
        for file in files
        if re.search(r'"torch"|"pt"|\bTENSORS\b', file.read_text(encoding="utf-8"))
    ]
    return sorted(str(file.relative_to(ROOT)) for file in users)


@nox.session
def locking(session: nox.Session) -> None:
    """A lock, and the libraries that load its model."""
    _install(session, "[test]")
    session.run("pytest", "-m", "engines", "tests/locking", "-q", *session.posargs)


@nox.session
@nox.parametrize("transformers", [4, 5])
def clients(session: nox.Session, transformers: int) -> None:
    """Other libraries, with transformers 4 and 5."""
    if transformers == 4:
        spacy = ("spacy", "spacy-alignments")
        pinned = ("transformers==4.57.6", "model2vec[distill]", "optimum-onnx[onnxruntime]")
        more_clients = ("peft", "adapters", "chonkie")
        _install(
            session,
            "[ja]",
            *CLIENTS,
            *more_clients,
            *pinned,
            *spacy,
            *SERVICES,
            TORCH,
            *PYTEST,
        )
        # it asks for an older transformers, and works with this one
        session.install("--no-deps", "spacy-transformers")
        more = ("tests/parity/test_japanese_live.py", "tests/test_services_page.py")
    else:
        _install(session, "", *CLIENTS, "transformers>=5,<6", "model2vec", TORCH, *PYTEST)
        more = ()
    data = os.environ.get("TRIETOK_DATA")
    session.run(
        *("python", "-m", "pytest", "-m", "clients", "tests/clients", *more, "-q", "-rs"),
        *session.posargs,
        env={"TRIETOK_CORPORA": f"{data}/corpora"} if data else {},
    )


@nox.session
def interop(session: nox.Session) -> None:
    """Directories go back and forth between trietok, transformers 4 and transformers 5; `to_rust`
    with tokenizers 1.0.
    """
    _install(session, "[test]", "uv")
    other = pathlib.Path(session.create_tmp(), "transformers5").absolute()
    python = other / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    session.run("uv", "venv", "-q", "--clear", str(other))
    session.run("uv", "pip", "install", "-q", "--python", str(python), "transformers>=5,<6")
    five = {"TRIETOK_TRANSFORMERS5_PYTHON": str(python)}
    tests = ("tests/parity/test_interop.py", "tests/parity/test_transformers5.py")
    session.run("pytest", *tests, "-q", *session.posargs, env=five)
    session.install("tokenizers==1.0.0rc3")  # last: this transformers does not work with it
    session.run("pytest", "tests/clients/test_to_rust.py", "-k", "every_supported_version", "-q")


@nox.session
def engines(session: nox.Session) -> None:
    """`TokenizeBatch` in Ray Data, Spark, HuggingFace datasets, Dask and Polars; and texts in S3,
    by a server on this machine.
    """
    more = ("dask", "polars", "moto[server]", "boto3")
    _install(session, "[ray,spark,datasets,s3]", TORCH, *more, *PYTEST)
    corpus = ("tests/corpus/test_corpus_engines.py", "tests/corpus/test_s3.py")
    # Spark starts in half the time
    env = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    session.run("python", "-m", "pytest", "-m", "engines", *corpus, "-q", *session.posargs, env=env)


@nox.session
def faults(session: nox.Session) -> None:
    """Killed processes, damaged directories, sanitized kernels."""
    _install(session, "[test]")
    # Many wait for what they kill: a second process uses that time.
    options = ("-m", "faults", "-q", "--durations", "5", "-n", "2")
    session.run("pytest", *options, *session.posargs, env=_counts(*FEWER))


@nox.session
def soak(session: nox.Session) -> None:
    """Ten minutes of changes, batches, saving and loading, or as many seconds as are given: memory
    stays level.
    """
    _install(session, "")
    session.run("python", "-m", "tests.tokenizer.soak", *(session.posargs or ["600"]))


@nox.session
@nox.parametrize("profile", ["slow", "fast"])
def lines(session: nox.Session, profile: str) -> None:
    """Each line of large texts, by the program that `TRIETOK_PARITY` names."""
    if "TRIETOK_PARITY" not in os.environ:
        session.skip("TRIETOK_PARITY names no program")
    _install(session, "[test]")
    with session.chdir(session.create_tmp()):  # so that the installed package is what is measured
        for options, environment in COMPARED:
            command = ("python", "-W", "ignore", os.environ["TRIETOK_PARITY"], "--profile", profile)
            session.run(*command, *options, env=environment)


@nox.session
def site(session: nox.Session) -> None:
    """The documentation site, every link of it; and the site and the playground in Debian's
    Chromium, if it is there.
    """
    _install(session, "[test,docs]", "playwright")
    made = pathlib.Path(session.create_tmp()).absolute()
    env = {"NO_MKDOCS_2_WARNING": "1", "TRIETOK_SITE": str(made / "site")}
    session.run(
        "mkdocs", "build", "--strict", "-f", ".mkdocs.yml", "-d", str(made / "site"), env=env
    )
    session.run(
        "pytest",
        "-m",
        "browser",
        "tests/browser",
        "-n",
        "0",
        "-q",
        "-rs",
        *session.posargs,
        env=env,
    )


@nox.session
def package(session: nox.Session) -> None:
    """The wheels with the kernel, the pure one and the sdist, in dist/, and what the index would
    say of them.
    """
    session.install("build", "twine", "check-wheel-contents", "validate-pyproject", "cffconvert")
    session.run("validate-pyproject", "pyproject.toml")
    session.run("cffconvert", "--validate")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    for only in ({"TRIETOK_KERNEL": "0"}, {"TRIETOK_FULL_API": "1"}):
        session.run("python", "-m", "build", "--outdir", "dist", "--wheel", env=only)
    files = [str(file) for file in sorted((ROOT / "dist").iterdir())]
    session.run("twine", "check", "--strict", *files)
    session.run("check-wheel-contents", *(file for file in files if file.endswith(".whl")))


@nox.session
def workflows(session: nox.Session) -> None:
    """The workflows by GitHub's schema, and pre-commit's configuration."""
    session.install("check-jsonschema", "pre-commit")
    files = [str(file) for file in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
    for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
        session.run("check-jsonschema", "--builtin-schema", schema, *files)
    session.run("pre-commit", "validate-config", ".pre-commit-config.yaml")


@nox.session(python=[*PYTHONS, FREE_THREADED], requires=["package"])
def installed(session: nox.Session) -> None:
    """What the session `package` made, installed on each Python: wheels, the sdist with and without
    a C compiler.
    """
    pure, sdist = (
        next((ROOT / "dist").glob(f"trietok-*{end}")) for end in ("-none-any.whl", ".tar.gz")
    )
    session.install(str(pure))
    _check_installed(session, "plain")
    again = ("--force-reinstall", "--no-deps", "--no-cache-dir")
    # the best wheel for this Python
    session.install(*again, "--no-index", "--find-links", "dist", "trietok")
    _check_installed(session, "compiled")
    session.install(*again, str(sdist))
    _check_installed(session, "compiled")
    session.install(*again, str(sdist), env={"PATH": session.bin})  # without a compiler
    _check_installed(session, "plain")


def _check_installed(session: nox.Session, kernel: str) -> None:
    with session.chdir(session.create_tmp()):  # so that nothing is imported from the checkout
        session.run("python", str(ROOT / "tests" / "packaging" / "check_installed.py"), kernel)
