"""What the playground's page asks of trietok: load a vocabulary, explain a text, save what was made.

In: requests as JSON, and the bytes of dropped files. Out: answers as JSON, and a zip. It runs in the page's worker, in
Pyodide, and as well in any Python. JSON carries every str between the two, also lone surrogates.
"""

from __future__ import annotations

import copy
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import trietok
from trietok.files.load import loads_knowingly

BUILT_IN = ("trietok-en", "trietok-multi", "trietok-zh")
# What a directory of a tokenizer may hold; all else, such as the weights of a model, is left where it is.
FILES = (
    *("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    "config.json",
)
PROFILES = ("slow", "fast")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
MOST_TOKENS = 2000  # of the list; the same as in the view


class Session:
    """The vocabularies of a page.

    >>> session = Session()
    >>> answer = json.loads(session.ask(json.dumps({"do": "explain", "text": "a\\ud800 naïve"})))
    >>> [token["token"] for token in answer["tokens"]]
    ['[CLS]', 'a', 'n', '##ai', '##ve', '[SEP]']
    >>> json.loads(session.ask(json.dumps({"do": "explain", "text": "a", "max_length": 1})))["error"]
    'max_length is 1, but the special tokens alone are 2; raise max_length, or leave the special tokens out'
    """

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}  # name → the directory of files that were dropped
        self._tokenizers: dict[tuple[str, str], Any] = {}
        self._extended: dict[tuple[str, str, str], Any] = {}

    def ask(self, request: str) -> str:
        """Answer a request; what trietok refuses is an answer with `error`."""
        values = json.loads(request)
        try:
            answer = {"explain": self._explain, "load": self._load}[values.pop("do")](**values)
        except trietok.TrietokError as error:
            answer = {"error": str(error), "kind": type(error).__name__}
        return json.dumps(answer)

    def drop(self, name: str, files: dict[str, bytes]) -> None:
        """Take the files of a tokenizer; a single file of another name that ends in .txt is a vocab.txt."""
        if len(files) == 1 and not set(files) & set(FILES):
            (only,) = files
            files = {"tokenizer.json" if only.endswith(".json") else "vocab.txt": files[only]}
        folder = Path(tempfile.mkdtemp())
        for file in FILES:
            if file in files:
                (folder / file).write_bytes(files[file])
        self._folders[name] = str(folder)
        self._tokenizers = {key: value for key, value in self._tokenizers.items() if key[0] != name}
        self._extended = {}

    def save(self, model: str, profile: str, added: list[dict[str, Any]]) -> bytes:
        """The vocabulary with the added tokens, as a zip of what `save_pretrained` writes."""
        with tempfile.TemporaryDirectory() as folder:
            self._with_tokens(model, profile, added).save_pretrained(folder)
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(Path(folder).iterdir()):
                    archive.writestr(path.name, path.read_bytes())
        return made.getvalue()

    def unzip(self, zipped: bytes) -> dict[str, bytes]:
        """The files in a zip: those of the model that `trietok play` serves."""
        with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name in FILES}

    # ---- requests ---------------------------------------------------------------------------------------------------

    def _load(self, model: str) -> dict[str, Any]:
        """Which profiles a vocabulary has, how many tokens, or why it cannot be loaded."""
        errors: dict[str, str] = {}
        for profile in PROFILES:
            try:
                self._tokenizer(model, profile)
            except trietok.TrietokError as error:
                errors[profile] = str(error)
        if len(errors) == len(PROFILES):
            return {"error": errors["slow"]}
        return {"profiles": [profile for profile in PROFILES if profile not in errors]}

    def _explain(
        self,
        text: str,
        pair: str | None = None,
        model: str = BUILT_IN[0],
        profile: str = "slow",
        added: list[dict[str, Any]] | None = None,
        against: str = "",
        special_tokens: bool = True,
        max_length: int | None = None,
    ) -> dict[str, Any]:
        """The explanation of a text, and beside another tokenizer where `against` names one.

        Args:
            text, pair: the texts.
            model, profile, added: the tokenizer.
            against: `"profile"`, the other profile; `"plain"`, without the added tokens; or a model; or nothing.
            special_tokens, max_length: options of the call.
        """
        options: dict[str, Any] = {"add_special_tokens": special_tokens, "verbose": False}
        if max_length is not None:
            options.update(max_length=max_length, truncation=True)
        tokenizer = self._with_tokens(model, profile, added or [])
        explanation = tokenizer.explain(text, pair, **options)
        answer = {
            "html": explanation.to_html(),
            "ids": explanation.input_ids,
            "tokens": _listed(explanation),
            "unknown": explanation.input_ids.count(tokenizer.unk_token_id),
            "size": len(tokenizer),
            "added": [_kept(tokenizer, each["content"]) for each in added or []],
        }
        if against:
            other = self._other(against, model, profile, added or []).explain(text, pair, **options)
            contrast = explanation.against(other)
            answer["contrast"], answer["other_ids"] = contrast.to_html(), other.input_ids
        return answer

    # ---- tokenizers -------------------------------------------------------------------------------------------------

    def _other(self, against: str, model: str, profile: str, added: list[dict[str, Any]]) -> Any:
        if against == "profile":
            return self._with_tokens(model, "fast" if profile == "slow" else "slow", added)
        if against == "plain":
            return self._tokenizer(model, profile)
        return self._with_tokens(against, profile, added)

    def _with_tokens(self, model: str, profile: str, added: list[dict[str, Any]]) -> Any:
        """The tokenizer with these tokens added; the last one of each vocabulary is kept."""
        tokenizer = self._tokenizer(model, profile)
        if not added:
            return tokenizer
        key = (model, profile, json.dumps(added))
        if key not in self._extended:
            made = copy.deepcopy(tokenizer)
            for each in added:
                flags = {flag: each[flag] for flag in FLAGS if flag in each}
                made.add_tokens(
                    [trietok.AddedToken(each["content"], **flags)], special_tokens=flags.get("special", False)
                )
            self._extended = {kept: value for kept, value in self._extended.items() if kept[:2] != key[:2]}
            self._extended[key] = made
        return self._extended[key]

    def _tokenizer(self, model: str, profile: str) -> Any:
        if (model, profile) not in self._tokenizers:
            self._tokenizers[model, profile] = _loaded(self._folders.get(model, model), profile == "fast")
            if model in self._folders:
                self._tokenizers[model, profile].name_or_path = model
        return self._tokenizers[model, profile]


def _loaded(place: str, is_fast: bool) -> Any:
    """A tokenizer of the class that its files ask for; BERT's where they name none."""
    try:
        return trietok.AutoTokenizer.from_pretrained(place, use_fast=is_fast)
    except trietok.TokenizerClassError as error:
        if error.name is not None:
            raise
        loads_knowingly(place)  # both profiles are shown
        return (trietok.BertTokenizerFast if is_fast else trietok.BertTokenizer).from_pretrained(place)


def _kept(tokenizer: Any, content: str) -> dict[str, Any]:
    """How a tokenizer keeps a token that was added: the slow profile lower-cases it where it lower-cases texts."""
    for token in (content, content.lower()):
        token_id = tokenizer.convert_tokens_to_ids(token)
        if token_id != tokenizer.unk_token_id or token == tokenizer.unk_token:
            return {"content": content, "token": token, "id": token_id}
    return {"content": content, "token": content, "id": None}


def _listed(explanation: Any) -> list[dict[str, Any]]:
    """The tokens of the row, each with its span, in code points, and which text it is of."""
    return [
        {
            "token": token.token,
            "id": token.id,
            "kind": token.kind,
            "text": token.text,
            "start": token.start,
            "end": token.end,
        }
        for token in explanation.tokens[:MOST_TOKENS]
    ]
