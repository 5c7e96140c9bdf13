"""What the playground's page asks of trietok: which vocabularies there are, why a text has its ids,
files to keep.

In: requests as JSON. Out: answers as JSON, which carries any str, lone surrogates too.
`trietok play` answers with it.
"""

from __future__ import annotations

import base64
import copy
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import trietok
from trietok.files.model_files import BUILT_IN_NAMES
from trietok.inputs.settings import Profile
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import choose

PROFILES: tuple[Profile, ...] = ("fast", "slow")
_MOST_TOKENS = 2000  # of the list; the same as in the view
_MOST_CHARACTERS = 300_000  # of both texts, and tokens with padding
_OF_TOKEN = ("token", "id", "kind", "text", "start", "end", "word", "word_text", "match", "unknown")


class Session:
    """The vocabularies of a page.

    >>> session = Session()
    >>> asked = {
    ...     "do": "explain",
    ...     "text": "a\\ud800 naïve",
    ...     "tokenizers": [{"model": "trietok-en", "profile": "slow"}],
    ... }
    >>> [token["token"] for token in json.loads(session.ask(json.dumps(asked)))["tokens"]]
    ['[CLS]', 'a', 'n', '##ai', '##ve', '[SEP]']
    >>> json.loads(session.ask(json.dumps({**asked, "max_length": 1})))["error"]
    'max_length is 1, but the special tokens alone are 2; raise
    max_length, or leave the special tokens out'
    """

    def __init__(self) -> None:
        self.shown: list[str] = []  # those that the page shows at first, side by side
        self._profiles: dict[str, list[Profile]] = {name: [*PROFILES] for name in BUILT_IN_NAMES}
        self._tokenizers: dict[tuple[str, str, str], Any] = {}  # model, profile, added tokens

    def ask(self, request: str) -> str:
        """Answer a request; what trietok refuses is an answer with `error`."""
        values = json.loads(request)
        requests: dict[str, Callable[..., dict[str, Any]]]
        requests = {
            "models": self._models,
            "take": self._take,
            "fetch": self._fetch,
            "explain": self._explain,
            "save": self._save,
        }
        try:
            answer = requests[values.pop("do")](**values)
        except trietok.TrietokError as error:
            answer = {"error": str(error)}
        return json.dumps(answer)

    def load(self, name: str, place: str, profiles: Sequence[Profile] = PROFILES) -> None:
        """Take a vocabulary in under a name, in those of the profiles that it has; the first one is
        shown at first.
        """
        found, errors = {}, []
        for profile in profiles:
            try:
                found[profile] = choose(place, profile).load()
            except trietok.TrietokError as error:
                errors.append(error)
        if not found:
            raise errors[0]
        self._profiles[name] = [*found]
        self._tokenizers = {key: made for key, made in self._tokenizers.items() if key[0] != name}
        self._tokenizers.update(
            ((name, profile, "[]"), tokenizer) for profile, tokenizer in found.items()
        )

    def _models(self) -> dict[str, Any]:
        names = dict.fromkeys([*self.shown, *self._profiles])  # the user's own first
        return {"models": {name: self._profiles[name] for name in names}, "shown": self.shown}

    def _take(self, name: str, files: dict[str, str]) -> dict[str, Any]:
        """Take the files of a tokenizer, in base64."""
        with tempfile.TemporaryDirectory() as folder:
            for file, content in files.items():
                Path(folder, Path(file).name).write_bytes(base64.b64decode(content))
            self.load(name, folder)
        for profile in self._profiles[name]:
            self._tokenizers[name, profile, "[]"].name_or_path = name
        return self._models()

    def _fetch(self, name: str) -> dict[str, Any]:
        """Take the tokenizer of a model of the hub."""
        if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name):
            raise trietok.InputError(f"{name!r} is no name on the hub; give ORGANIZATION/MODEL")
        self.load(name, name)
        return self._models()

    def _save(self, **which: Any) -> dict[str, Any]:
        """A tokenizer as a zip, in base64, of what `save_pretrained` writes."""
        made = io.BytesIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            self._tokenizer(**which).save_pretrained(folder)
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
        return {"zip": base64.b64encode(made.getvalue()).decode()}

    def _explain(
        self,
        text: str,
        tokenizers: list[dict[str, Any]],
        pair: str | None = None,
        reasons: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Why a text, or a pair, has its ids in the first tokenizer, and where each other one
        differs.

        `reasons` lists those of all tokens; the options are those of a call.
        """
        if len(text) + len(pair or "") > _MOST_CHARACTERS:
            what = (
                f"the page takes texts of {_MOST_CHARACTERS:,} characters; for more there is"
                " trietok explain"
            )
            raise trietok.InputError(what)
        names = [which.pop("names", None) for which in tokenizers]
        made = [self._tokenizer(**which) for which in tokenizers]
        if options.get("max_length", 0) > _MOST_CHARACTERS:
            what = (
                f"the page takes a max_length of at most {_MOST_CHARACTERS:,}; for more there is"
                " trietok explain"
            )
            raise trietok.InputError(what)
        options = {"truncation": "max_length" in options, "verbose": False, **options}
        first, *others = (tokenizer.explain(text, pair, **options) for tokenizer in made)
        tokens = [
            {name: plain_values(getattr(each, name)) for name in _OF_TOKEN}
            for each in first.tokens[:_MOST_TOKENS]
        ]
        return {
            "html": first.to_html(reasons=reasons),
            "ids": first.input_ids,
            "tokens": tokens,
            "counts": first.counts,
            "size": len(made[0]),
            "added": made[0].get_added_vocab(),
            "others": [
                {
                    "html": first.against(other, names=sides).to_html(),
                    "ids": other.input_ids,
                    "counts": other.counts,
                }
                for other, sides in zip(others, names[1:], strict=True)
            ],
        }

    def _tokenizer(self, model: str, profile: str, added: Sequence[dict[str, Any]] = ()) -> Any:
        """A tokenizer with tokens added; of each vocabulary the last one that was asked for is
        kept.
        """
        if profile not in self._profiles.get(model, ()):
            raise trietok.InputError(
                f"the page has no vocabulary {model!r} in the {profile} profile; choose another one"
            )
        key = model, profile, json.dumps([*added])
        if key not in self._tokenizers:
            if added:
                made = copy.deepcopy(self._tokenizer(model, profile))
                for each in added:
                    made.add_tokens(
                        [trietok.AddedToken(**each)], special_tokens=each.get("special", False)
                    )
                others = self._tokenizers.items()
                self._tokenizers = {
                    old: other for old, other in others if old[:2] != key[:2] or old[2] == "[]"
                }
            else:
                made = choose(model, cast(Profile, profile)).load()
            self._tokenizers[key] = made
        return self._tokenizers[key]
