"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from trietok.added_token import AddedToken
from trietok.auto import AutoTokenizer
from trietok.basic_tokenizer import BasicTokenizer
from trietok.batch_encoding import BatchEncoding, CharSpan, TokenSpan
from trietok.bert import BertTokenizer
from trietok.check_fix import FixResult, fix
from trietok.check_report import CheckReport, Finding
from trietok.checking import check
from trietok.comparing import Comparison, compare, fingerprint
from trietok.dpr_reader import DPRReaderOutput, DPRSpanPrediction
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
    TokenizerClassError,
    TrietokError,
    UnknownTokenError,
    VocabularyError,
)
from trietok.family import (
    ConvBertTokenizer,
    DistilBertTokenizer,
    DPRContextEncoderTokenizer,
    DPRQuestionEncoderTokenizer,
    DPRReaderTokenizer,
    ElectraTokenizer,
    FunnelTokenizer,
    LayoutLMTokenizer,
    LxmertTokenizer,
    MobileBertTokenizer,
    MPNetTokenizer,
    RetriBertTokenizer,
    SplinterTokenizer,
    SqueezeBertTokenizer,
)
from trietok.padding import PaddingStrategy
from trietok.pretrained import PreTrainedTokenizer
from trietok.templates import Template
from trietok.tensors import TensorType
from trietok.trie import Trie
from trietok.truncation import TruncationStrategy
from trietok.unknown_report import UnknownWord, UnknownWords
from trietok.unknown_words import find_unknown
from trietok.untrusted import Untrusted
from trietok.vocabulary import Vocabulary, load_vocab
from trietok.wordpiece import WordpieceTokenizer

__version__ = "0.1.0"

__all__ = [
    "AddedToken",
    "AutoTokenizer",
    "BasicTokenizer",
    "BatchEncoding",
    "BertTokenizer",
    "CharSpan",
    "CheckReport",
    "Comparison",
    "ConvBertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DPRReaderOutput",
    "DPRReaderTokenizer",
    "DPRSpanPrediction",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "FileError",
    "FileFormatError",
    "Finding",
    "FixResult",
    "FunnelTokenizer",
    "InputError",
    "InputTypeError",
    "LayoutLMTokenizer",
    "LxmertTokenizer",
    "MPNetTokenizer",
    "MissingDependencyError",
    "MobileBertTokenizer",
    "NotSupportedError",
    "OptionError",
    "PaddingStrategy",
    "PreTrainedTokenizer",
    "RetriBertTokenizer",
    "SpecialTokenError",
    "SplinterTokenizer",
    "SqueezeBertTokenizer",
    "Template",
    "TensorType",
    "TokenIdError",
    "TokenSpan",
    "TokenizerClassError",
    "Trie",
    "TrietokError",
    "TruncationStrategy",
    "UnknownTokenError",
    "UnknownWord",
    "UnknownWords",
    "Untrusted",
    "Vocabulary",
    "VocabularyError",
    "WordpieceTokenizer",
    "__version__",
    "check",
    "compare",
    "find_unknown",
    "fingerprint",
    "fix",
    "load_vocab",
]
