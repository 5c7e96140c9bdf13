"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes longer to import than the tokenizer
if TYPE_CHECKING:
    from trietok.added_token import AddedToken
    from trietok.basic_tokenizer import BasicTokenizer
    from trietok.batch_encoding import BatchEncoding, CharSpan, TokenSpan
    from trietok.bert import BertTokenizer
    from trietok.check_fix import FixResult, fix
    from trietok.check_report import CheckReport, Finding
    from trietok.checking import check
    from trietok.comparing import Comparison, compare, fingerprint
    from trietok.errors import (
        FileError,
        FileFormatError,
        InputError,
        InputTypeError,
        MissingDependencyError,
        NotSupportedError,
        OptionError,
        SpecialTokenError,
        TokenIdError,
        TrietokError,
        UnknownTokenError,
        VocabularyError,
    )
    from trietok.padding import PaddingStrategy
    from trietok.pretrained import PreTrainedTokenizer
    from trietok.tensors import TensorType
    from trietok.trie import Trie
    from trietok.truncation import TruncationStrategy
    from trietok.untrusted import Untrusted
    from trietok.vocabulary import Vocabulary, load_vocab
    from trietok.wordpiece import WordpieceTokenizer

__version__ = "0.1.0"

# Where each name lives: it is imported when it is first asked for, so that encoding a text does not wait for what
# checks, compares or converts.
_HOMES = {
    "AddedToken": "added_token",
    "BasicTokenizer": "basic_tokenizer",
    "BatchEncoding": "batch_encoding",
    "BertTokenizer": "bert",
    "CharSpan": "batch_encoding",
    "CheckReport": "check_report",
    "Comparison": "comparing",
    "FileError": "errors",
    "FileFormatError": "errors",
    "Finding": "check_report",
    "FixResult": "check_fix",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingDependencyError": "errors",
    "NotSupportedError": "errors",
    "OptionError": "errors",
    "PaddingStrategy": "padding",
    "PreTrainedTokenizer": "pretrained",
    "SpecialTokenError": "errors",
    "TensorType": "tensors",
    "TokenIdError": "errors",
    "TokenSpan": "batch_encoding",
    "Trie": "trie",
    "TrietokError": "errors",
    "TruncationStrategy": "truncation",
    "UnknownTokenError": "errors",
    "Untrusted": "untrusted",
    "Vocabulary": "vocabulary",
    "VocabularyError": "errors",
    "WordpieceTokenizer": "wordpiece",
    "check": "checking",
    "compare": "comparing",
    "fingerprint": "comparing",
    "fix": "check_fix",
    "load_vocab": "vocabulary",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "AddedToken",
    "BasicTokenizer",
    "BatchEncoding",
    "BertTokenizer",
    "CharSpan",
    "CheckReport",
    "Comparison",
    "FileError",
    "FileFormatError",
    "Finding",
    "FixResult",
    "InputError",
    "InputTypeError",
    "MissingDependencyError",
    "NotSupportedError",
    "OptionError",
    "PaddingStrategy",
    "PreTrainedTokenizer",
    "SpecialTokenError",
    "TensorType",
    "TokenIdError",
    "TokenSpan",
    "Trie",
    "TrietokError",
    "TruncationStrategy",
    "UnknownTokenError",
    "Untrusted",
    "Vocabulary",
    "VocabularyError",
    "WordpieceTokenizer",
    "__version__",
    "check",
    "compare",
    "fingerprint",
    "fix",
    "load_vocab",
]
