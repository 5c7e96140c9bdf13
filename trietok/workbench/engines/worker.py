"""The process in which one engine works: it loads one tokenizer and nothing else.

In: a job, as JSON on standard input. Out: what was found, as JSON in the file that the job names.

`process` runs this file as a program. It imports the standard library only; the engine's own
package is imported when the job says which one it is. What goes wrong on the way is a
`problem` in the answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module, metadata
from types import MappingProxyType
from typing import Any, NamedTuple

_BASE = "PreTrainedTokenizer"


class Loaded(NamedTuple):
    """A tokenizer that is ready: its version, a text's ids with special tokens around, the tokens
    of ids.

    `file_options` are what its file says of truncation and padding, which is switched off here:
    `truncation` and `padding`, each a number of tokens, or None for padding to the longest text.
    """

    version: str
    encode: Callable[[str], list[int]]
    tokens: Callable[[list[int]], list[str]]
    roles: list[tuple[str, str, int]] | None = (
        None  # role, token and id; None where the engine knows no roles
    )
    file_options: Mapping[str, int | None] = MappingProxyType({})


class ProblemError(Exception):
    """Why this engine cannot take part, for the user to read."""


class MissingError(ProblemError):
    """It is not installed."""


# ---- the engines ---------------------------------------------------------------------------------


def _transformers(profile: str, job: dict[str, Any]) -> Loaded:
    """The first of the job's classes that transformers has, as it is named, or in one profile."""
    transformers = import_module("transformers")
    version = transformers.__version__
    names = job["classes"]
    if profile:
        names = [name.removesuffix("Fast") + "Fast" * (profile == "fast") for name in names]
    tokenizer_class = next(
        filter(None, (getattr(transformers, name, None) for name in names)), None
    )
    if tokenizer_class is None:
        raise ProblemError(f"transformers {version} has no {names[0]}")
    if tokenizer_class.__name__ == _BASE:  # it loads nothing
        raise ProblemError(f"transformers {version} has no slow {job['classes'][0]}")
    if job["model"] == job["vocab_file"]:
        tokenizer = tokenizer_class(vocab_file=job["vocab_file"])
    else:
        tokenizer = tokenizer_class.from_pretrained(job["model"])
    if profile == "slow" and tokenizer.is_fast:
        name = tokenizer_class.__name__
        raise ProblemError(
            f"transformers {version} has no slow {name}; transformers 4 has: 'transformers<5'"
        )
    return Loaded(
        version, tokenizer.encode, tokenizer.convert_ids_to_tokens, list(roles_of(tokenizer))
    )


def roles_of(tokenizer: Any) -> Iterator[tuple[str, str, int]]:
    """Role, token and id of each special token of a tokenizer with the attributes that
    transformers' have.
    """
    for role, value in tokenizer.special_tokens_map.items():
        # as transformers 5 names it
        role = "additional_special_tokens" if role == "extra_special_tokens" else role
        for token in value if isinstance(value, (list, tuple)) else [value]:
            yield role, str(token), tokenizer.convert_tokens_to_ids(str(token))


def _tokenizers(job: dict[str, Any]) -> Loaded:
    tokenizers = import_module("tokenizers")
    if not job["tokenizer_file"]:
        raise ProblemError(_lacks("tokenizer.json", job))
    tokenizer = tokenizers.Tokenizer.from_file(job["tokenizer_file"])
    said = {
        "truncation": (tokenizer.truncation, "max_length"),
        "padding": (tokenizer.padding, "length"),
    }
    file_options = {
        name: options[key] for name, (options, key) in said.items() if options is not None
    }
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Loaded(
        tokenizers.__version__,
        lambda text: tokenizer.encode(text).ids,
        lambda ids: [str(tokenizer.id_to_token(token_id)) for token_id in ids],
        file_options=file_options,
    )


def _lacks(name: str, job: dict[str, Any]) -> str:
    """What to say where a model does not have the one file that an engine reads."""
    if os.path.isdir(job["model"]):
        return f"the model has no {name} ({job['model']})"
    directory = shlex.quote(os.path.dirname(job["model"]))
    return (
        f"the model has no {name}: it is the file {job['model']}; name the directory: -m"
        f" {directory}"
    )


def _flash_tokenizer(job: dict[str, Any]) -> Loaded:
    flash = import_module("flash_tokenizer")
    if not job["vocab_file"]:
        raise ProblemError(_lacks("vocab.txt", job))
    tokenizer = flash.BertTokenizerFlash(
        job["vocab_file"],
        do_lower_case=job["do_lower_case"],
        tokenize_chinese_chars=job["tokenize_chinese_chars"],
    )
    longest = 2**31 - 1  # it always truncates

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, max_length=longest, padding="longest").input_ids[0]
        return ids

    def tokens(ids: list[int]) -> list[str]:  # it has no method for that
        with open(job["vocab_file"], encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
        return [
            lines[token_id] if 0 <= token_id < len(lines) else f"<id {token_id}>"
            for token_id in ids
        ]

    return Loaded(_version_of(flash, "flash-tokenizer"), encode, tokens)


def _nanotoken(job: dict[str, Any]) -> Loaded:
    nanotoken = import_module("nanotoken")
    if job["tokenizer_file"]:
        with open(job["tokenizer_file"], "rb") as file:
            tokenizer = nanotoken.Tokenizer.from_json(file.read())
    elif job["vocab_file"]:
        tokenizer = nanotoken.Tokenizer.from_vocab(
            job["vocab_file"], lowercase=job["do_lower_case"]
        )
    else:
        raise ProblemError(_lacks("tokenizer.json", job))
    return Loaded(
        _version_of(nanotoken, "nanotoken"),
        lambda text: tokenizer.encode(text).tolist(),
        lambda ids: [str(tokenizer.id_to_token(token_id)) for token_id in ids],
    )


def _tokie(job: dict[str, Any]) -> Loaded:
    tokie = import_module("tokie")
    if not job["tokenizer_file"]:
        raise ProblemError(_lacks("tokenizer.json", job))
    tokenizer = tokie.Tokenizer.from_json(job["tokenizer_file"])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Loaded(
        _version_of(tokie, "tokie"),
        lambda text: tokenizer.encode(text).ids,
        lambda ids: [str(tokenizer.id_to_token(token_id)) for token_id in ids],
    )


def _version_of(package: Any, name: str) -> str:
    """The version that a package says, or that pip knows it by; empty where neither does."""
    version: str = getattr(package, "__version__", None) or ""
    if not version:
        with contextlib.suppress(metadata.PackageNotFoundError):
            version = metadata.version(name)
    return version


# name → how it is loaded, the package it imports, the name pip has for it
ENGINES: dict[str, tuple[Callable[[dict[str, Any]], Loaded], str, str]] = {
    "transformers": (partial(_transformers, ""), "transformers", "transformers"),
    "transformers-slow": (partial(_transformers, "slow"), "transformers", "'transformers<5'"),
    "transformers-fast": (partial(_transformers, "fast"), "transformers", "transformers"),
    "tokenizers": (_tokenizers, "tokenizers", "tokenizers"),
    "flash-tokenizer": (_flash_tokenizer, "flash_tokenizer", "flash-tokenizer"),
    "nanotoken": (_nanotoken, "nanotoken", "nanotoken"),
    "tokie": (_tokie, "tokie", "tokie"),
}


def _load(job: dict[str, Any]) -> Loaded:
    load, package, pip_name = ENGINES[job["engine"]]
    try:
        return load(job)
    except ModuleNotFoundError as error:
        if error.name == package:
            raise MissingError(f"not installed: pip install {pip_name}") from None
        raise ProblemError(f"cannot be imported: {error}") from None
    except ProblemError:
        raise
    except Exception as error:
        raise ProblemError(f"cannot load the model: {_in_a_line(error)}") from None


def _in_a_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]:.200}" if lines else type(error).__name__


# ---- what is done with one -----------------------------------------------------------------------


def compare_ids(loaded: Loaded, job: dict[str, Any]) -> dict[str, Any]:
    """Compare the ids of each text with those in the file `ids`.

    Returns how many lines differ, the first of them, the tokens of the ids in `asked`, and the
    roles and the file's own options as `Loaded` has them.
    """
    differing = 0
    shown: list[dict[str, Any]] = []
    with open(job["ids"], encoding="ascii") as file:
        for number, (line, ids) in enumerate(
            zip(file, _encoded(loaded, job), strict=True), start=1
        ):
            expected = json.loads(line)
            if ids != expected:
                differing += 1
                if len(shown) < job["most"]:
                    tokens = loaded.tokens(ids)
                    found = {"ids": expected, "their_ids": ids, "their_tokens": tokens}
                    shown.append({"line_number": number, **found})
    asked = [_token(loaded, token_id) for token_id in job.get("asked", ())]
    about = {"roles": loaded.roles, "file_options": dict(loaded.file_options)}
    return {"differing": differing, "differences": shown, "asked": asked, **about}


def _token(loaded: Loaded, token_id: int) -> str | None:
    """The token of an id; None where the engine has none."""
    try:
        return loaded.tokens([token_id])[0]
    except Exception:  # each has its own
        return None


def _encoded(loaded: Loaded, job: dict[str, Any]) -> Iterator[list[int]]:
    for number, text in enumerate(_texts(job), start=1):
        try:
            yield list(loaded.encode(text))
        except Exception as error:
            raise _cannot_encode(number, error) from None


def _cannot_encode(number: int, error: Exception) -> ProblemError:
    return ProblemError(f"cannot encode line {number}: {_in_a_line(error)}")


def _texts(job: dict[str, Any]) -> Iterator[str]:
    with open(job["texts"], encoding="ascii") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Do the job on standard input."""
    job = json.load(sys.stdin)
    answer: dict[str, Any] = {"version": ""}
    try:
        loaded = _load(job)
        answer["version"] = loaded.version
        answer |= compare_ids(loaded, job)
    except ProblemError as problem:
        answer["problem"] = str(problem)
        answer["missing"] = isinstance(problem, MissingError)
    with open(job["answer"], "w", encoding="ascii") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
