"""Loads models from a hub, each time in a process that has not imported huggingface_hub before.

huggingface_hub reads its settings when it is imported. What it imports itself does not, so one
parent process imports that once and forks a child for each load, which takes a fraction of the time
that a new interpreter takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.files.hub_server import Hub

ROOT = Path(__file__).parents[2]

PARENT = """
import importlib, json, os, signal, sys, traceback
for name in "requests httpx yaml tqdm.auto filelock fsspec trietok.tokenizer.bert trietok.files.load".split():
    try:
        importlib.import_module(name)
    except ImportError:  # some versions of huggingface_hub do without it
        pass
for line in sys.stdin:
    request = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(300)
        status = 1
        for number, name in ((1, "output"), (2, "errors")):
            os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["cwd"])
        sys.argv[1:] = request["arguments"]
        try:
            exec(request["code"], {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

# Loads what the arguments say, one after the other. huggingface_hub makes no pauses between attempts.
CHILD = """
import json, sys, time
time.sleep = lambda seconds: None
from trietok import BertTokenizer
results = []
for name, options in json.loads(sys.argv[1]):
    try:
        tokenizer = BertTokenizer.from_pretrained(name, **options)
        results.append({"ids": tokenizer("Hello world").input_ids})
    except Exception as error:
        kinds = [cls.__name__ for cls in type(error).__mro__]
        results.append({"error": kinds, "message": str(error)})
print("RESULTS" + json.dumps(results))
"""


class Parent:
    """The process that forks a child for each load."""

    def __enter__(self) -> Parent:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(
            [sys.executable, "-c", PARENT], env=clean_environment(), text=True, **pipes
        )
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self, code: str, *arguments: str, environment: dict[str, str], cwd: Path, files: Path
    ) -> tuple[str, str]:
        """What a child that runs some code writes to standard output and to standard error."""
        output, errors = files / "output", files / "errors"
        request = {
            "code": code,
            "arguments": arguments,
            "environment": environment,
            "cwd": str(cwd),
        }
        request |= {"output": str(output), "errors": str(errors)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        assert status == 0, errors.read_text(encoding="utf-8")
        return output.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8")


def clean_environment() -> dict[str, str]:
    """This process's environment without settings of hubs and proxies."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "HUGGING", "TRANSFORMERS_"))
        and not key.lower().endswith("_proxy")
    }
    return {**env, "PYTHONPATH": str(ROOT)}


class Loader:
    """Loads models in a fresh process, from one hub and with one cache.

    Attributes:
        said: what the last process wrote to standard error.
    """

    def __init__(self, parent: Parent, hub: Hub, home: Path) -> None:
        self.parent, self.hub, self.home, self.said = parent, hub, home, ""

    def __call__(
        self,
        *loads: tuple[str, dict],
        prologue: str = "",
        cwd: Path | None = None,
        **environment: str,
    ):
        env = clean_environment()
        env |= {"HF_ENDPOINT": self.hub.url, "HF_HOME": str(self.home), "HF_HUB_ETAG_TIMEOUT": "60"}
        env |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", **environment}
        for directory in (self.home, cwd or self.home):
            directory.mkdir(parents=True, exist_ok=True)
        written, self.said = self.parent.run(
            prologue + CHILD,
            json.dumps(loads),
            environment=env,
            cwd=cwd or self.home,
            files=self.home.parent,
        )
        return json.loads(written.rpartition("RESULTS")[2])
