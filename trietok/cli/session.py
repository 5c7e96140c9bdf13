"""What the playground's page asks of trietok: which vocabularies there are, why a text has its ids, files to keep.

In: requests as JSON. Out: answers as JSON, which carries any str, lone surrogates too. `trietok play` answers with it,
and so does Python in the browser, where it is on a web site.
"""

from __future__ import annotations

import base64
import copy
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import trietok
from trietok.files.load import BUILT_IN_NAMES
from trietok.inputs.profiles import Profile
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import choose

# What a directory of a tokenizer may hold; all else, such as the weights of a model, is left where it is.
FILES = (
    *("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    "config.json",
)
PROFILES: tuple[Profile, ...] = ("fast", "slow")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
MOST_TOKENS = 2000  # of the list; the same as in the view
MOST_CHARACTERS = 300_000  # of both texts: what Python in a browser has memory and patience for
_OF_TOKEN = ("token", "id", "kind", "text", "start", "end", "word", "word_text", "match", "unknown")


class Session:
    """The vocabularies of a page.

    Attributes:
        shown: those that the page shows at first, side by side.

    >>> session = Session()
    >>> answer = json.loads(session.ask(json.dumps({"do": "explain", "text": "a\\ud800 naïve"})))
    >>> [token["token"] for token in answer["tokens"]]
    ['[CLS]', 'a', 'n', '##ai', '##ve', '[SEP]']
    >>> json.loads(session.ask(json.dumps({"do": "explain", "text": "a", "max_length": 1})))["error"]
    'max_length is 1, but the special tokens alone are 2; raise max_length, or leave the special tokens out'
    """

    def __init__(self) -> None:
        self.shown: list[str] = []
        self._profiles: dict[str, list[Profile]] = {name: [*PROFILES] for name in BUILT_IN_NAMES}
        self._tokenizers: dict[tuple[str, str], Any] = {}
        self._extended: dict[tuple[str, str], tuple[str, Any]] = {}

    def ask(self, request: str) -> str:
        """Answer a request; what trietok refuses is an answer with `error`."""
        values = json.loads(request)
        requests: dict[str, Callable[..., dict[str, Any]]]
        requests = {"models": self._models, "take": self._take, "explain": self._explain, "save": self._save}
        try:
            answer = requests[values.pop("do")](**values)
        except trietok.TrietokError as error:
            answer = {"error": str(error)}
        return json.dumps(answer)

    def load(self, name: str, place: str, profiles: Sequence[Profile] = PROFILES) -> list[Profile]:
        """Take a vocabulary in under a name; return the profiles that it has, of those asked for, in their order."""
        found, errors = {}, []
        for profile in profiles:
            try:
                found[profile] = choose(place, profile).load()
            except trietok.TrietokError as error:
                errors.append(error)
        if not found:
            raise errors[0]
        self._tokenizers.update(((name, profile), tokenizer) for profile, tokenizer in found.items())
        self._profiles[name] = [*found]
        self._extended.clear()
        return [*found]

    # ---- requests ---------------------------------------------------------------------------------------------------

    def _models(self) -> dict[str, Any]:
        return {"models": self._profiles, "shown": self.shown}

    def _take(self, name: str, files: dict[str, str]) -> dict[str, Any]:
        """Take the files of a tokenizer, in base64; a single one of another name that ends in .txt is a vocab.txt."""
        if len(files) == 1 and not set(files) & set(FILES):
            (only,) = files
            files = {"tokenizer.json" if only.endswith(".json") else "vocab.txt": files[only]}
        with tempfile.TemporaryDirectory() as folder:
            for file in set(FILES) & set(files):
                Path(folder, file).write_bytes(base64.b64decode(files[file]))
            profiles = self.load(name, folder)
        for profile in profiles:
            self._tokenizers[name, profile].name_or_path = name
        return {"profiles": profiles}

    def _save(self, model: str, profile: str, added: list[dict[str, Any]]) -> dict[str, Any]:
        """The vocabulary with the added tokens, as a zip in base64 of what `save_pretrained` writes."""
        made = io.BytesIO()
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            self._tokenizer(model, profile, added).save_pretrained(folder)
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
        return {"zip": base64.b64encode(made.getvalue()).decode()}

    def _explain(
        self,
        text: str,
        pair: str | None = None,
        model: str = BUILT_IN_NAMES[0],
        profile: str = "slow",
        added: Sequence[dict[str, Any]] = (),
        against: Sequence[str] = (),
        special_tokens: bool = True,
        max_length: int | None = None,
        reasons: bool = False,
    ) -> dict[str, Any]:
        """The explanation of a text, and beside it those of other tokenizers.

        Args:
            text, pair: the texts.
            model, profile, added: the tokenizer.
            against: `"profile"`, the other profile; `"plain"`, without the added tokens; or models.
            special_tokens, max_length: options of the call.
            reasons: list the reasons of all tokens.
        """
        if len(text) + len(pair or "") > MOST_CHARACTERS:
            what = f"the page takes texts of {MOST_CHARACTERS:,} characters; for more there is trietok explain"
            raise trietok.InputError(what)
        options: dict[str, Any] = {"add_special_tokens": special_tokens, "verbose": False}
        if max_length is not None:
            options.update(max_length=max_length, truncation=True)
        tokenizer = self._tokenizer(model, profile, added)
        explanation = tokenizer.explain(text, pair, **options)
        ids = tokenizer.get_added_vocab() if added else {}
        kept = [content for each in added for content in (each["content"], each["content"].lower())]
        others = []
        for name in against:
            other = self._other(name, model, profile, added).explain(text, pair, **options)
            sides = {"profile": (explanation.profile, other.profile), "plain": ("the extended one", "the plain one")}
            contrast = explanation.against(other, names=sides.get(name, (model, name)))
            others.append({"name": name, "html": contrast.to_html(), "ids": other.input_ids, "counts": other.counts})
        return {
            "html": explanation.to_html(reasons=reasons),
            "ids": explanation.input_ids,
            "tokens": [
                {name: plain_values(getattr(token, name)) for name in _OF_TOKEN}
                for token in explanation.tokens[:MOST_TOKENS]
            ],
            "counts": explanation.counts,
            "size": len(tokenizer),
            "added": {content: ids[content] for content in kept if content in ids},
            "others": others,
        }

    # ---- tokenizers -------------------------------------------------------------------------------------------------

    def _other(self, against: str, model: str, profile: str, added: Sequence[dict[str, Any]]) -> Any:
        if against == "profile":
            return self._tokenizer(model, "fast" if profile == "slow" else "slow", added)
        if against == "plain":
            return self._tokenizer(model, profile, ())
        known = self._profiles.get(against, ())
        return self._tokenizer(against, profile if profile in known or not known else known[0], added)

    def _tokenizer(self, model: str, profile: str, added: Sequence[dict[str, Any]]) -> Any:
        """The tokenizer with these tokens added; the last one of each vocabulary is kept."""
        if profile not in self._profiles.get(model, ()):
            raise trietok.InputError(
                f"the page has no vocabulary {model!r} in the {profile} profile; choose another one"
            )
        if (model, profile) not in self._tokenizers:
            self._tokenizers[model, profile] = choose(model, cast(Profile, profile)).load()
        tokenizer, key = self._tokenizers[model, profile], json.dumps(added)
        if not added:
            return tokenizer
        if self._extended.get((model, profile), ("",))[0] != key:
            made = copy.deepcopy(tokenizer)
            for each in added:
                flags = {flag: each[flag] for flag in FLAGS if flag in each}
                made.add_tokens(
                    [trietok.AddedToken(each["content"], **flags)], special_tokens=flags.get("special", False)
                )
            self._extended[model, profile] = key, made
        return self._extended[model, profile][1]
