"""`lock`: writes down what a tokenizer gives for some texts.

In: a tokenizer, texts. Out: a `Lock`.
"""

from __future__ import annotations

import platform
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Any

from trietok import __version__
from trietok.workbench.comparing.compare import SENTENCES
from trietok.workbench.engines.worker import roles_of
from trietok.errors import InputError, InputTypeError
from trietok.workbench.locking.lock_file import Lock, LockedText, SpecialId
from trietok.tokenizer.fingerprint import digest, state_of

_LIBRARIES = ("transformers", "tokenizers", "flash-tokenizer")
_HUGE = ("wordpiece_tokenizer.vocab",)  # a setting that only patched tokenizers have, as long as a vocabulary


def lock(tokenizer: Any, texts: Iterable[str] | None = None) -> Lock:
    """Write down what a tokenizer is, and the ids it gives for some texts, for `verify` to compare with later.

    Args:
        tokenizer: a `BertTokenizer`, or any other `PreTrainedTokenizer`.
        texts: the golden texts; each is encoded by itself, with special tokens around. By default the sentences in
            several scripts with which `compare` begins.

    Raises:
        InputTypeError: `tokenizer` is no tokenizer, or `texts` is one string or holds something else than strings.
        InputError: there is no text, or all are empty; or a text holds half of a surrogate pair.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> golden = lock(tokenizer, ["The people", "covid-19"])
    >>> golden.special_tokens[0], golden.max_id
    (SpecialId(role='unk_token', token='[UNK]', id=1), 7999)
    >>> trietok.verify(tokenizer, golden).ok
    True

    Cost: O(tokens), and encoding each text once.
    """
    state = state_of(tokenizer)
    locked = tuple(_locked(tokenizer, checked_texts(SENTENCES if texts is None else texts, "lock")))
    if not any(each.text for each in locked):
        what = "every text is empty" if locked else "there is no text"
        raise InputError(f"{what}, so the lock would prove nothing; give texts such as the model is used on")
    return Lock(
        model=str(tokenizer.name_or_path) or None,
        tokenizer_class=state.kind,
        profile=tokenizer.profile,
        fingerprint=digest(state),
        special_tokens=tuple(special_ids(tokenizer)),
        added_tokens=len(state.added),
        tokens=len(tokenizer),
        max_id=tokenizer.max_id,
        settings=settings_of(tokenizer),
        versions=versions_now(),
        texts=locked,
    )


def checked_texts(texts: Any, function: str) -> Iterator[str]:
    """The texts that were given to `lock` or `export`.

    Raises:
        InputTypeError: it is one text or no iterable, or holds something else than strings.
    """
    if isinstance(texts, (str, bytes)):
        raise InputTypeError(f"{function} takes a list of texts, not one", value=texts)
    if not isinstance(texts, Iterable):
        raise InputTypeError(f"{function} takes a list of texts, not {texts!r:.60}", value=texts)
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputTypeError(f"text {number} is a {type(text).__name__}, not a str: {text!r:.60}", value=text)
        yield text


def _locked(tokenizer: Any, texts: Iterable[str]) -> Iterator[LockedText]:
    for number, text in enumerate(texts, start=1):
        half = next((char for char in text if "\ud800" <= char <= "\udfff"), None)
        if half is not None:
            raise InputError(
                f"text {number} holds U+{ord(half):04X}, half of a surrogate pair, which UTF-8 cannot write and other "
                "tokenizers refuse; leave the text out, or repair it"
            )
        ids = tokenizer.encode(text, verbose=False)
        yield LockedText(text, tokenizer.convert_ids_to_tokens(ids), ids)


def special_ids(tokenizer: Any) -> Iterator[SpecialId]:
    """Each role with its token and id."""
    return starmap(SpecialId, roles_of(tokenizer))


def settings_of(tokenizer: Any) -> dict[str, Any]:
    """The settings of the stages that decide ids."""
    return {name: value for name, value in state_of(tokenizer).settings.items() if name not in _HUGE}


def versions_now() -> dict[str, str]:
    """The versions of trietok, of Python and its Unicode tables, and of the tokenizers' libraries that are there."""
    from importlib import metadata  # slow to import

    versions = {
        "trietok": __version__,
        "python": platform.python_version(),
        "unicode": unicodedata.unidata_version,
    }
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
