"""`AutoTokenizer`: the right class for a directory or hub name.

In: a name. Out: a tokenizer of the class that tokenizer_config.json or config.json asks for. No
code in a directory is executed, so `auto_map` is ignored.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from trietok.disk import read_vocab_bytes
from trietok.errors import InputError, InputTypeError, TokenizerClassError
from trietok.files.findings import say_once
from trietok.files.formats import (
    ANY_KIND,
    CONFIG_FILE,
    GENERIC_FAST,
    JAPANESE,
    RECIPE_CLASS,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    TOKENIZER_FILES,
    VOCAB_FILE,
)
from trietok.files.json_files import read_json_object
from trietok.files.kinds import (
    family_of_name,
    is_of_recipe,
    is_wordpiece,
    other_kind,
)
from trietok.files.load import loads_knowingly, reading_directory
from trietok.files.model_files import BUILT_IN_NAMES, find_files
from trietok.inputs.settings import Profile
from trietok.tokenizer.base import PreTrainedTokenizer
from trietok.tokenizer.bert_japanese import BertJapaneseTokenizer
from trietok.tokenizer.fast_relatives import FAST_CLASSES
from trietok.tokenizer.relatives import CLASSES

TokenizerClass = type[Any]

# The class of each model type: one of its own, whose name in lower case the type mostly is, or
# BERT's.
_WITH_TYPES = [kind.__name__ for kind in CLASSES if not kind.__name__.startswith("DPR")]
_OF_BERT = (
    "align bark blip bros chinese_clip ernie git grounding-dino megatron-bert mm-grounding-dino"
    " nezha qdqbert tvp"
)
_MODEL_TYPES = {
    **{name.removesuffix("Tokenizer").lower(): name for name in _WITH_TYPES},
    **dict.fromkeys([*_OF_BERT.split(), "vilt", "visual_bert"], "BertTokenizer"),
    "bert-japanese": JAPANESE,
    "dpr": "DPRQuestionEncoderTokenizer",
}
_ASSUMED = "because no file names a class, and BERT's is assumed"
_OF_HUB = {
    "cache_dir": None,
    "force_download": False,
    "local_files_only": False,
    "token": None,
    "revision": "main",
}


class _Registry:
    """The classes by name and by model type, each with its slow and its fast form, which may be
    None.
    """

    def __init__(self) -> None:
        self.slow: dict[str, TokenizerClass] = {kind.__name__: kind for kind in CLASSES}
        # by the names of the slow classes
        self.fast: dict[str, TokenizerClass] = {
            kind.__name__.removesuffix("Fast"): kind for kind in FAST_CLASSES
        }
        self.registered: dict[str, tuple[TokenizerClass | None, TokenizerClass | None]] = {}

    def of_class(self, name: str, use_fast: bool) -> TokenizerClass | None:
        """The class of a name, with or without `Fast`."""
        # transformers 5 has a BertTokenizerLegacy, a slow one
        use_fast = use_fast and not name.endswith("Legacy")
        base = name.removesuffix("Fast").removesuffix("Legacy")
        slow = self._slow_of(base)
        pairs = [(slow, self.fast.get(base) if use_fast or slow is None else None)]
        pairs += (  # registered classes come after trietok's own, as in transformers
            pair
            for pair in self.registered.values()
            if any(
                kind is not None and kind.__name__ in (name, base, base + "Fast") for kind in pair
            )
        )
        return next(filter(None, (_choose(*pair, use_fast) for pair in pairs)), None)

    def _slow_of(self, name: str) -> TokenizerClass | None:
        return BertJapaneseTokenizer if name == JAPANESE else self.slow.get(name)

    def of_model_type(self, model_type: str, use_fast: bool) -> TokenizerClass | None:
        if model_type in self.registered:
            return _choose(*self.registered[model_type], use_fast)
        name = _MODEL_TYPES.get(model_type)
        return None if name is None else self.of_class(name, use_fast)

    def class_names(self) -> tuple[str, ...]:
        kinds = [kind for pair in self.registered.values() for kind in pair if kind is not None]
        names = {kind.__name__ for kind in (*self.slow.values(), *self.fast.values(), *kinds)}
        return tuple(sorted({JAPANESE, *names}))

    def type_names(self) -> tuple[str, ...]:
        return tuple(sorted({*_MODEL_TYPES, *self.registered}))


def _choose(
    slow: TokenizerClass | None, fast: TokenizerClass | None, use_fast: bool
) -> TokenizerClass | None:
    first, second = (fast, slow) if use_fast else (slow, fast)
    return second if first is None else first


_registry = _Registry()


_AS_ASKED = "as asked for"


class Choice(NamedTuple):
    """The class that a tokenizer is read with, and why it has its profile."""

    name: str | os.PathLike[str]
    kind: TokenizerClass
    why: str

    def __str__(self) -> str:
        return f"{self.kind.profile}, {self.why}"

    @property
    def is_plain(self) -> bool:
        """Whether nobody can be mistaken: it is a built-in vocabulary, or what was asked for."""
        return self.why == _AS_ASKED or self.name in BUILT_IN_NAMES

    def load(self, *inputs: Any, **options: Any) -> Any:
        """The tokenizer; the arguments are those of `from_pretrained`."""
        if self.kind.profile == "slow":
            loads_knowingly(self.name, options.get("subfolder"))
        return self.kind.from_pretrained(self.name, *inputs, **options)


def choose(name: str, profile: Profile | None = None) -> Choice:
    """What `AutoTokenizer.from_pretrained(name)` loads, and why; where no file names a class, it is
    BERT's.

    Args:
        name: a directory, a file, a built-in name or a name on the hub.
        profile: the profile to have instead.

    Raises:
        TokenizerClassError: the files ask for a class that trietok does not have, or not in the
            profile.

    >>> print(choose("trietok-en"))
    fast, because AutoTokenizer takes the fast class for tokenizer_class BertTokenizer
    """
    choice = _class_of(name, None, profile != "slow", {}, or_bert=True)
    if profile in (None, choice.kind.profile):
        return choice if profile is None else choice._replace(why=_AS_ASKED)
    what = f"{name} is a {choice.kind.__name__}, which has only the {choice.kind.profile} profile"
    raise TokenizerClassError(what, path=name, name=choice.kind.__name__, known=())


class AutoTokenizer:
    """Loads a tokenizer of the class that its files ask for. There are no objects of this class.

    >>> import trietok
    >>> type(trietok.AutoTokenizer.from_pretrained("trietok-en", use_fast=False)).__name__
    'BertTokenizer'

    Raises:
        OSError: always; `from_pretrained` makes tokenizers.
    """

    def __init__(self) -> None:
        raise OSError(
            "AutoTokenizer makes no objects of its own; call AutoTokenizer.from_pretrained(name)"
        )

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str], *inputs: Any, **kwargs: Any
    ) -> PreTrainedTokenizer:
        """Load a tokenizer from a directory, a built-in name or the hub.

        Its class is that of `tokenizer_type`, if given; else tokenizer_config.json's
        `tokenizer_class`; else config.json's; else that of config.json's `model_type`. Where no
        file names one, a WordPiece vocabulary is taken for BERT's, with a warning.

        Args:
            pretrained_model_name_or_path: a directory, a built-in name, or a name on the hub.
            *inputs: go to the tokenizer.
            **kwargs: `use_fast`: the class with the results of transformers' Rust tokenizers, where
                there is one (the default), or the one with those of its Python tokenizers;
                `tokenizer_type`: a model type such as `"bert"`; `config`: what to read instead of
                config.json, an object or a dict with `tokenizer_class` or `model_type`; `subfolder`
                and the options of the hub, as in `BertTokenizer.from_pretrained`; all others go to
                the tokenizer.

        Raises:
            TokenizerClassError: trietok does not have the class or model type, or no file says
                which it is.
            FileError: there is nothing of that name. It is an `OSError`; TokenizerClassError is an
                `OSError` and a `ValueError`.
            FileFormatError: a file does not hold what it should.
        """
        use_fast = bool(kwargs.pop("use_fast", True))
        model_type = kwargs.pop("tokenizer_type", None)
        config = kwargs.pop("config", None)
        if model_type is not None:
            kind = _registry.of_model_type(model_type, use_fast)
            if kind is None:
                known, path = _registry.type_names(), str(pretrained_model_name_or_path)
                message = f"tokenizer_type is {model_type!r}; trietok has {', '.join(known)}"
                raise TokenizerClassError(message, path=path, name=str(model_type), known=known)
            tokenizer: PreTrainedTokenizer
            tokenizer = Choice(pretrained_model_name_or_path, kind, "").load(*inputs, **kwargs)
            return tokenizer
        with _reading(pretrained_model_name_or_path, kwargs):
            choice = _class_of(pretrained_model_name_or_path, config, use_fast, kwargs)
            if choice.why == _ASSUMED:
                what = (
                    f"{choice.name}: no file says which tokenizer this is; its WordPiece"
                    " vocabulary is loaded with"
                )
                say_once(
                    f"{what} {choice.kind.__name__}; tokenizer_type='bert', or another type,"
                    " says so"
                )
            tokenizer = choice.load(*inputs, **kwargs)
        return tokenizer

    @staticmethod
    def register(
        config_class: Any,
        slow_tokenizer_class: TokenizerClass | None = None,
        fast_tokenizer_class: TokenizerClass | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Register classes, by their names and by a model type.

        Args:
            config_class: the model type, as a str or as an object with a `model_type`.
            slow_tokenizer_class, fast_tokenizer_class: the classes; one of them may be None.
            exist_ok: whether the model type may be one that is registered already.

        Raises:
            InputError: both classes are None, or the model type is registered already.

        >>> import trietok
        >>> class MyTokenizer(trietok.BertTokenizer):
        ...     pass
        >>> trietok.AutoTokenizer.register("my-model", MyTokenizer)
        >>> type(
        ...     trietok.AutoTokenizer.from_pretrained("trietok-en", tokenizer_type="my-model")
        ... ).__name__
        'MyTokenizer'
        """
        if slow_tokenizer_class is None and fast_tokenizer_class is None:
            raise InputError(
                "register takes a slow_tokenizer_class, a fast_tokenizer_class or both"
            )
        model_type = (
            config_class
            if isinstance(config_class, str)
            else getattr(config_class, "model_type", None)
        )
        if not isinstance(model_type, str) or not model_type:
            raise InputTypeError(
                "register takes a model type as a str, or a class with a model_type, not"
                f" {config_class!r:.60}",
                value=config_class,
            )
        if not exist_ok and model_type in _registry.type_names():
            raise InputError(
                f"the model type {model_type!r} is known already; pass exist_ok=True to replace its"
                " classes"
            )
        before = _registry.registered.get(model_type, (None, None))
        _registry.registered[model_type] = (
            slow_tokenizer_class or before[0],
            fast_tokenizer_class or before[1],
        )


def _reading(name: Any, options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Read the files of a local directory together: its class and its tokens belong together."""
    if not isinstance(name, (str, os.PathLike)):
        return nullcontext()
    directory = os.path.join(name, options.get("subfolder") or "")
    kinds = [kind for pair in _registry.registered.values() for kind in pair if kind is not None]
    own = (name for kind in kinds for name in getattr(kind, "vocab_files_names", {}).values())
    return reading_directory(directory, dict.fromkeys((*TOKENIZER_FILES, *own)))


def _class_of(
    name: Any, config: Any, use_fast: bool, options: dict[str, Any], or_bert: bool = False
) -> Choice:
    """The class that the files of `name` ask for; `or_bert`: BERT's where they ask for none."""
    if not isinstance(name, (str, os.PathLike)):
        raise InputTypeError(
            f"a tokenizer is named by a str or a path, not {name!r:.60}", value=name
        )
    name = os.fspath(name)
    settings, model_config, has_json = _read_configs(name, use_fast, options)
    kind, key, value = _named_class(settings, model_config if config is None else config, use_fast)
    is_generic = settings.get("tokenizer_class") == GENERIC_FAST
    path = os.path.join(name, options.get("subfolder") or "").rstrip(os.sep)
    if kind is None and (value == RECIPE_CLASS or (value is None and is_of_recipe(path))):
        kind = _recipe_class()
    if kind is not None:
        return Choice(name, kind, _why_this_class(kind, has_json, key, value))
    message, known = other_kind(path), _registry.class_names()
    if message is not None:
        raise TokenizerClassError(message, path=path, name=value, known=known)
    if value is None and not is_generic and (or_bert or _holds_wordpiece(name, options)):
        return Choice(name, _registry.of_class("BertTokenizer", use_fast) or CLASSES[0], _ASSUMED)
    if is_generic:
        kind = _registry.fast["BertTokenizer"]
        return Choice(name, kind, _why_this_class(kind, has_json, key, None))
    message = (
        f"neither {TOKENIZER_CONFIG_FILE} nor {CONFIG_FILE} says which tokenizer {name} has, and it"
        f" holds no WordPiece vocabulary ({VOCAB_FILE} with [UNK], or {TOKENIZER_FILE}); pass"
        " tokenizer_type='bert', or load it with its class, such as BertTokenizer.from_pretrained"
    )
    if value is not None:
        known = known if key == "tokenizer_class" else _registry.type_names()
        family = family_of_name(value)
        ends = f"; it has {', '.join(known)}" if family is None else f": {family.advice}"
        message = f"{name}: the {key} is {value!r:.80}, which trietok does not have{ends}"
    raise TokenizerClassError(message, path=name, name=value, known=known)


def _holds_wordpiece(name: str, options: dict[str, Any]) -> bool:
    """Whether what is to be loaded holds a WordPiece vocabulary; a tokenizer.json comes before a
    vocab.txt.
    """
    found, single_file = find_files(
        name,
        (TOKENIZER_FILE, VOCAB_FILE),
        subfolder=options.get("subfolder"),
        **_hub_options(options),
    )
    path = single_file or found.get(TOKENIZER_FILE) or found.get(VOCAB_FILE)
    if path is not None and not path.endswith(".json"):
        read_vocab_bytes(path)  # it says what else the file is, such as a page or UTF-16
    return path is not None and is_wordpiece(path)


def _recipe_class() -> TokenizerClass:
    from trietok.tokenizer.trained import ChineseBpeTokenizer  # it imports all of training

    return ChineseBpeTokenizer


def _named_class(
    settings: dict[str, Any], config: Any, use_fast: bool
) -> tuple[TokenizerClass | None, str, str | None]:
    """The class that tokenizer_config.json or config.json names, if trietok has it; the file and
    key; the name.
    """
    saved_class = settings.get("tokenizer_class")
    use_fast = use_fast or saved_class == GENERIC_FAST  # there is no other
    if saved_class in (None, GENERIC_FAST, *ANY_KIND):
        saved_class = _attribute(config, "tokenizer_class")
    if saved_class is not None:
        return _registry.of_class(str(saved_class), use_fast), "tokenizer_class", str(saved_class)
    model_type = _attribute(config, "model_type")
    if model_type is None:
        return None, "model_type", None
    return _registry.of_model_type(str(model_type), use_fast), "model_type", str(model_type)


def class_or_bert(settings: dict[str, Any], model_config: dict[str, Any]) -> TokenizerClass:
    """The class without `Fast` that the two files name; `BertTokenizer` if they name none, or one
    unknown here.
    """
    kind = _named_class(settings, model_config, use_fast=False)[0]
    return CLASSES[0] if kind is None else kind


def class_of_model_type(model_type: str) -> TokenizerClass | None:
    """The class without `Fast` of a model type; None if trietok does not have it."""
    return _registry.of_model_type(model_type, use_fast=False)


def fast_class_of(kind: TokenizerClass) -> TokenizerClass | None:
    """The fast twin of a class; None if it has none."""
    return _registry.fast.get(kind.__name__)


def _why_this_class(kind: TokenizerClass, has_json: bool, key: str, value: str | None) -> str:
    """Why a class is that of its profile, where the fast one was to be taken if there is one."""
    if kind.profile == "slow":
        return f"because {value or kind.__name__} has no fast class"
    if has_json:
        return f"because {TOKENIZER_FILE} is there"
    return (
        "because AutoTokenizer takes"
        f" {f'the fast class for {key} {value}' if value else GENERIC_FAST}"
    )


def _read_configs(
    name: str, use_fast: bool, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """tokenizer_config.json and config.json of `name`, empty where there is none; whether it has a
    tokenizer.json.

    The last is asked of the hub only where the fast class would ask for it, too.
    """
    asked = (TOKENIZER_CONFIG_FILE, CONFIG_FILE, *([TOKENIZER_FILE] if use_fast else []))
    files, single_file = find_files(
        name, asked, subfolder=options.get("subfolder"), **_hub_options(options)
    )
    first, second = (read_json_object(files[file]) if file in files else {} for file in asked[:2])
    return first, second, TOKENIZER_FILE in files or (single_file or "").endswith(".json")


def _hub_options(options: dict[str, Any]) -> dict[str, Any]:
    hub = {key: options.get(key, default) for key, default in _OF_HUB.items()}
    # the old name
    return {**hub, "token": options["use_auth_token"]} if "use_auth_token" in options else hub


def _attribute(config: Any, key: str) -> Any:
    return config.get(key) if isinstance(config, dict) else getattr(config, key, None)
