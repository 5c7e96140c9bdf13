"""The checks of the project: `nox -l` lists them. `nox -s tests-3.12 -- -x` runs `pytest -x`."""

from __future__ import annotations

import os
import pathlib
import shutil

import nox

ROOT = pathlib.Path(__file__).parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
TORCH = "torch==2.13.0"  # one version, so that the compared figures do not change unnoticed
LIBRARIES = (
    "sentence-transformers setfit keybert langchain-text-splitters docling-core[chunking] tokie"
    " bert_score fastembed onnx semantic-text-splitter nanotoken pytest pytest-xdist hypothesis"
).split()
LIBRARIES_OF_4 = (
    "transformers==4.57.6 model2vec[distill] optimum-onnx[onnxruntime] peft adapters chonkie spacy"
    " spacy-alignments fastapi uvicorn[standard] gunicorn uvicorn-worker httpx"
).split()
# their tests run only by hand, or only with transformers 4
UNTRIED = "FlagEmbedding,txtai,bertopic,flair,llama_index.core,shap,skeletoken"
UNTRIED_WITH_5 = f"{UNTRIED},transformers 4,peft,adapters,chonkie,optimum.onnxruntime,spacy,fastapi"
OTHERS = ("--ignore=tests/integrations", "--ignore=tests/batches/test_s3.py")  # need more packages
DATA = os.environ.get("TRIETOK_DATA")  # published models and large texts
WITH_DATA = {"TRIETOK_MODELS": f"{DATA}/hf", "TRIETOK_CORPORA": f"{DATA}/corpora"} if DATA else {}

nox.needs_version = ">=2026.10.20"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_missing_interpreters = False


def _install(session: nox.Session, extras: str, *packages: str) -> None:
    """Install `packages` and trietok: the wheel that `TRIETOK_WHEEL` names, or the checkout."""
    wheel = os.environ.get("TRIETOK_WHEEL")
    source = f"trietok{extras} @ {pathlib.Path(wheel).as_uri()}" if wheel else f".{extras}"
    session.install(source, *packages)


def _pytest(session: nox.Session, *options: str, **env: str) -> None:
    session.run("python", "-m", "pytest", "-q", *options, *session.posargs, env=env)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and the files of GitHub, pre-commit and pyproject.toml by their schemas."""
    session.install("ruff>=0.9", "check-jsonschema", "pre-commit", "validate-pyproject")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    workflows = sorted(map(str, pathlib.Path(".github/workflows").glob("*.yml")))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("pre-commit", "validate-config", ".pre-commit-config.yaml")
    session.run("validate-pyproject", "pyproject.toml")


@nox.session
def types(session: nox.Session) -> None:
    """The package's own types, and what mypy and pyright say of a user's scripts."""
    _install(session, "[dev]", "pyright")
    session.run("mypy")
    _pytest(session, "-m", "clients", "tests/typed", "-n", "0")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The default tests on each Python; `TRIETOK_KERNEL=0` tests plain Python."""
    session.install(".[test]")
    _pytest(session)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """The kernel with ASan and UBSan on random texts: a minute's look."""
    _install(session, "[test]")
    _pytest(session, "tests/kernel/test_kernel_build.py", "-k", "sanitizers and texts", "-n", "0")


@nox.session
def random(session: nox.Session) -> None:
    """The default tests but for those of `torch`, with the cases of a night; time in proportion
    to the text; then two minutes in which memory stays level.
    """
    _install(session, "[test]", TORCH)
    folders = "cli explaining files kernel training".split()
    _pytest(session, *(f"tests/{folder}" for folder in folders))
    _pytest(session, "-m", "benchmark", "tests/core/test_linear.py")
    session.run("python", "-m", "tests.core.soak", "120")


@nox.session
def torch(session: nox.Session) -> None:
    """What needs torch, and comparisons with transformers on the models of `TRIETOK_DATA`."""
    _install(session, "[test]", TORCH, "sentence-transformers", "peft", "accelerate")
    folders = "vocabulary batches core parity".split()
    _pytest(session, *(f"tests/{folder}" for folder in folders), *OTHERS)
    _pytest(session, "-m", "parity", "tests/vocabulary")
    if WITH_DATA:
        parity = ("-m", "parity", "--ignore=tests/vocabulary", *OTHERS)
        _pytest(session, *parity, **WITH_DATA)


@nox.session
@nox.parametrize("transformers", [4, 5])
def clients(session: nox.Session, transformers: int) -> None:
    """Other libraries, with transformers 4 and 5."""
    if transformers == 4:
        _install(session, "[ja]", *LIBRARIES, *LIBRARIES_OF_4, TORCH)
        # it asks for an older transformers, and works with this one
        session.install("--no-deps", "spacy-transformers")
        more = ["tests/parity/test_japanese_live.py", "--may-skip", UNTRIED]
    else:
        _install(session, "", *LIBRARIES, "transformers>=5,<6", "model2vec", TORCH)
        more = ["--may-skip", UNTRIED_WITH_5]
    _pytest(session, "-m", "clients", "tests/integrations", *more, **WITH_DATA)


@nox.session
def interop(session: nox.Session) -> None:
    """Directories between trietok, transformers 4 and 5; `to_rust` with tokenizers 1.0."""
    _install(session, "[test]", "uv")
    other = pathlib.Path(session.create_tmp(), "transformers5").absolute()
    python = other / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    session.run("uv", "venv", "-q", "--clear", str(other))
    session.run("uv", "pip", "install", "-q", "--python", str(python), "transformers>=5,<6")
    tests = ("tests/parity/test_interop.py", "tests/parity/test_transformers5.py")
    _pytest(session, *tests, TRIETOK_TRANSFORMERS5_PYTHON=str(python))
    session.install("tokenizers==1.0.0rc3")  # last: this transformers does not work with it
    _pytest(session, "tests/integrations/test_to_rust.py", "-k", "every_supported_version")


@nox.session
def engines(session: nox.Session) -> None:
    """Ray, Spark, datasets, DuckDB, Dask, Polars, S3 by a server of moto, torchdata and MDS; other
    libraries on a lock.
    """
    more = ("dask", "duckdb", "polars", "moto[server]", "boto3", "flash-tokenizer")
    more += ("torch", "torchdata", "mosaicml-streaming>=0.13")
    _install(session, "[ray,spark,datasets,s3,test]", *more)
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Spark starts in half the time
    _pytest(session, "-m", "engines", "tests/batches", "tests/vocabulary", JAVA_TOOL_OPTIONS=java)


@nox.session
def faults(session: nox.Session) -> None:
    """Killed processes, damaged directories, full disks, sanitizers, what only a night tries."""
    _install(session, "[test]", TORCH, "ziglang")
    _pytest(session, "-m", "faults", "-n", "2", *OTHERS)


@nox.session
@nox.parametrize("profile", ["slow", "fast"])
def lines(session: nox.Session, profile: str) -> None:
    """Each line of large texts, by the program that `TRIETOK_PARITY` names."""
    _install(session, "[test]")
    times = 5 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 1
    session.chdir(session.create_tmp())  # so that the installed package is measured
    program = ("python", "-W", "ignore", os.environ["TRIETOK_PARITY"], "--profile", profile)
    session.run(*program, "--limit", f"{4_000 * times}")
    session.run(*program, "--limit", f"{500 * times}", env={"TRIETOK_KERNEL": "0"})
    session.run(*program, "--added", "300", "--limit", f"{100 * times}")
    session.run(*program, "--code-points", "--limit", f"{4_000 * times}")


@nox.session
@nox.parametrize("which", ["build", "browser"])
def site(session: nox.Session, which: str) -> None:
    """The documentation site and its links; `browser` looks at it and at `play` in Chromium."""
    _install(session, "[test,docs]", *(["playwright"] if which == "browser" else []))
    made = str(pathlib.Path(session.create_tmp(), "site").absolute())
    env = {"NO_MKDOCS_2_WARNING": "1", "TRIETOK_SITE": made}
    session.run("mkdocs", "build", "-q", "--strict", "-f", ".mkdocs.yml", "-d", made, env=env)
    if which == "browser":
        _pytest(session, "-m", "browser", "tests/browser", "-n", "0", **env)


@nox.session
def package(session: nox.Session) -> None:
    """Wheels with the kernel and without it and the sdist, in dist/, and what the index says."""
    session.install("build", "twine", "check-wheel-contents")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    plain = {"TRIETOK_KERNEL": "0"}
    session.run("python", "-m", "build", "--outdir", "dist", "--wheel", env=plain)
    session.run("twine", "check", "--strict", *map(str, (ROOT / "dist").iterdir()))
    session.run("check-wheel-contents", *map(str, (ROOT / "dist").glob("*.whl")))


@nox.session(python=[*PYTHONS, "3.14t"], requires=["package"])
def installed(session: nox.Session) -> None:
    """The files of `package`, installed: wheels, the sdist with and without a C compiler."""
    pure = str(next((ROOT / "dist").glob("trietok-*-none-any.whl")))
    sdist = str(next((ROOT / "dist").glob("trietok-*.tar.gz")))
    again = ("--force-reinstall", "--no-deps", "--no-cache-dir")
    best = ("--no-index", "--find-links", "dist", "trietok")
    for kernel, options, env in (
        ("plain", [pure], {}),
        ("compiled", [*again, *best], {}),
        ("compiled", [*again, sdist], {}),
        ("plain", [*again, sdist], {"PATH": session.bin}),
    ):
        session.install(*options, env=env)
        with session.chdir(session.create_tmp()):  # so that nothing is imported from the checkout
            session.run("python", str(ROOT / "tests" / "meta" / "check_installed.py"), kernel)
