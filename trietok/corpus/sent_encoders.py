"""Row encoders on their way to other processes: the tokenizer is pickled once, and read once by each process.

In: the tokenizer and the options of an encoder. Out: for the process that sends it, a pickle that is made anew only
after the tokenizer has changed; for a process that gets it again and again, one encoder, which keeps what it remembers.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from trietok.corpus.row_encoder import RowEncoder

_MOST_RECEIVED = 4  # encoders that a process keeps for the functions it unpickles


class Parcel(NamedTuple):
    """A pickled tokenizer.

    Attributes:
        tokenizer: the pickle.
        digest: its SHA-256, by which a process that has read it knows it again.
    """

    tokenizer: bytes
    digest: bytes


class Sender:
    """Keeps the pickle of a tokenizer.

    Args:
        tokenizer: any tokenizer. One whose methods or stages are a user's own is pickled each time, since nobody can
            see whether it has changed.
        parcel: the pickle that the tokenizer was read from.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> sender = Sender(tokenizer)
    >>> before = sender.parcel()
    >>> sender.parcel() is before
    True
    >>> _ = tokenizer.add_tokens(["covid-19"])
    >>> sender.parcel() == before
    False
    """

    def __init__(self, tokenizer: Any, parcel: Parcel | None = None) -> None:
        self._tokenizer = tokenizer
        self._kept = parcel
        self._state = None if parcel is None else self._state_now()
        self.process: int | None = None

    def _state_now(self) -> Any:
        """An object that is another one after each change of the tokenizer; None where changes cannot be seen."""
        return self._tokenizer.input_builder if getattr(self._tokenizer, "is_plain", False) else None

    @property
    def is_current(self) -> bool:
        """Whether the kept pickle is that of the tokenizer as it is now."""
        return self._kept is not None and self._state is not None and self._state is self._state_now()

    def parcel(self) -> Parcel:
        """The pickle of the tokenizer as it is now."""
        if self._kept is None or not self.is_current:
            self._state = self._state_now()  # before the pickle: of a tokenizer that changes meanwhile, none is kept
            pickled = pickle.dumps(self._tokenizer, pickle.HIGHEST_PROTOCOL)
            self._kept = Parcel(pickled, hashlib.sha256(pickled).digest())
        return self._kept


# What this process has sent, for processes that are forked from it: they have the encoder already, with all that it
# remembers. A process itself reads its own parcel, as others do: what it sent and what it gets are two tokenizers.
_sent: WeakValueDictionary[bytes, RowEncoder] = WeakValueDictionary()
# The encoders that this process has got last: a worker gets the same function for each of its tasks.
_received: dict[bytes, RowEncoder] = {}
_receiving = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_receiving._at_fork_reinit)  # type: ignore[attr-defined]


def _key(digest: bytes, options: dict[str, Any], has_pairs: bool) -> bytes:
    return digest + repr((sorted(options.items()), has_pairs)).encode()


def sent(encoder: RowEncoder, sender: Sender, options: dict[str, Any], has_pairs: bool) -> Parcel:
    """What another process needs of an encoder, beside its options."""
    parcel = sender.parcel()
    if sender.is_current:
        sender.process = os.getpid()
        _sent[_key(parcel.digest, options, has_pairs)] = encoder
    return parcel


def received(
    parcel: Parcel, given: tuple[dict[str, Any], bool], make: Callable[[Any, Sender], RowEncoder]
) -> RowEncoder:
    """The encoder of a parcel, the same one each time, as long as it is among the last of this process.

    Args:
        parcel: from `sent`.
        given: the options of the encoder, and whether it has pairs.
        make: makes an encoder of a tokenizer.
    """
    key = _key(parcel.digest, *given)
    with _receiving:
        encoder = _received.pop(key, None) or _inherited(key)
        if encoder is None:
            tokenizer = pickle.loads(parcel.tokenizer)
            encoder = make(tokenizer, Sender(tokenizer, parcel))
        _received[key] = encoder
        while len(_received) > _MOST_RECEIVED:
            del _received[next(iter(_received))]
    return encoder


def _inherited(key: bytes) -> RowEncoder | None:
    """The encoder that the process sent from which this one was forked."""
    encoder = _sent.get(key)
    if encoder is None or encoder.sender.process == os.getpid() or not encoder.sender.is_current:
        return None
    return encoder
