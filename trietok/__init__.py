"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # as in typing, whose import takes longer than this whole module
if TYPE_CHECKING:
    from trietok.added_token import AddedToken as AddedToken
    from trietok.auto import AutoTokenizer as AutoTokenizer
    from trietok.basic_tokenizer import BasicTokenizer as BasicTokenizer
    from trietok.batch_encoding import BatchEncoding as BatchEncoding, CharSpan as CharSpan, TokenSpan as TokenSpan
    from trietok.bert import BertTokenizer as BertTokenizer
    from trietok.check_fix import FixResult as FixResult, fix as fix
    from trietok.check_report import CheckReport as CheckReport, Finding as Finding
    from trietok.checking import check as check
    from trietok.comparing import Comparison as Comparison, compare as compare, fingerprint as fingerprint
    from trietok.corpus.encode_files import encode_files as encode_files
    from trietok.corpus.tokenize_batch import TokenizeBatch as TokenizeBatch
    from trietok.dpr_reader import DPRReaderOutput as DPRReaderOutput, DPRSpanPrediction as DPRSpanPrediction
    from trietok.errors import (
        FileError as FileError,
        FileFormatError as FileFormatError,
        InputError as InputError,
        InputTypeError as InputTypeError,
        MissingDependencyError as MissingDependencyError,
        NotSupportedError as NotSupportedError,
        OptionError as OptionError,
        SpecialTokenError as SpecialTokenError,
        TokenIdError as TokenIdError,
        TokenizerClassError as TokenizerClassError,
        TrietokError as TrietokError,
        UnknownTokenError as UnknownTokenError,
        VocabularyError as VocabularyError,
    )
    from trietok.family import (
        ConvBertTokenizer as ConvBertTokenizer,
        DPRContextEncoderTokenizer as DPRContextEncoderTokenizer,
        DPRQuestionEncoderTokenizer as DPRQuestionEncoderTokenizer,
        DPRReaderTokenizer as DPRReaderTokenizer,
        DistilBertTokenizer as DistilBertTokenizer,
        ElectraTokenizer as ElectraTokenizer,
        FunnelTokenizer as FunnelTokenizer,
        LayoutLMTokenizer as LayoutLMTokenizer,
        LxmertTokenizer as LxmertTokenizer,
        MPNetTokenizer as MPNetTokenizer,
        MobileBertTokenizer as MobileBertTokenizer,
        RetriBertTokenizer as RetriBertTokenizer,
        SplinterTokenizer as SplinterTokenizer,
        SqueezeBertTokenizer as SqueezeBertTokenizer,
    )
    from trietok.padding import PaddingStrategy as PaddingStrategy
    from trietok.pretrained import PreTrainedTokenizer as PreTrainedTokenizer
    from trietok.templates import Template as Template
    from trietok.tensors import TensorType as TensorType
    from trietok.trie import Trie as Trie
    from trietok.truncation import TruncationStrategy as TruncationStrategy
    from trietok.unknown_report import UnknownWord as UnknownWord, UnknownWords as UnknownWords
    from trietok.unknown_words import find_unknown as find_unknown
    from trietok.untrusted import Untrusted as Untrusted
    from trietok.vocabulary import Vocabulary as Vocabulary, load_vocab as load_vocab
    from trietok.wordpiece import WordpieceTokenizer as WordpieceTokenizer

# The public names by the module they live in. Each is imported when it is first asked for: who encodes a text need not
# wait for what checks, compares or trains.
_HOMES = {
    name: module
    for module, names in {
        "added_token": ("AddedToken",),
        "auto": ("AutoTokenizer",),
        "basic_tokenizer": ("BasicTokenizer",),
        "batch_encoding": ("BatchEncoding", "CharSpan", "TokenSpan"),
        "bert": ("BertTokenizer",),
        "check_fix": ("FixResult", "fix"),
        "check_report": ("CheckReport", "Finding"),
        "checking": ("check",),
        "comparing": ("Comparison", "compare", "fingerprint"),
        "corpus.encode_files": ("encode_files",),
        "corpus.tokenize_batch": ("TokenizeBatch",),
        "dpr_reader": ("DPRReaderOutput", "DPRSpanPrediction"),
        "errors": (
            "FileError",
            "FileFormatError",
            "InputError",
            "InputTypeError",
            "MissingDependencyError",
            "NotSupportedError",
            "OptionError",
            "SpecialTokenError",
            "TokenIdError",
            "TokenizerClassError",
            "TrietokError",
            "UnknownTokenError",
            "VocabularyError",
        ),
        "family": (
            "ConvBertTokenizer",
            "DPRContextEncoderTokenizer",
            "DPRQuestionEncoderTokenizer",
            "DPRReaderTokenizer",
            "DistilBertTokenizer",
            "ElectraTokenizer",
            "FunnelTokenizer",
            "LayoutLMTokenizer",
            "LxmertTokenizer",
            "MPNetTokenizer",
            "MobileBertTokenizer",
            "RetriBertTokenizer",
            "SplinterTokenizer",
            "SqueezeBertTokenizer",
        ),
        "padding": ("PaddingStrategy",),
        "pretrained": ("PreTrainedTokenizer",),
        "templates": ("Template",),
        "tensors": ("TensorType",),
        "trie": ("Trie",),
        "truncation": ("TruncationStrategy",),
        "unknown_report": ("UnknownWord", "UnknownWords"),
        "unknown_words": ("find_unknown",),
        "untrusted": ("Untrusted",),
        "vocabulary": ("Vocabulary", "load_vocab"),
        "wordpiece": ("WordpieceTokenizer",),
    }.items()
    for name in names
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
