"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from trietok.added_token import AddedToken
from trietok.basic_tokenizer import BasicTokenizer
from trietok.batch_encoding import BatchEncoding, CharSpan, TokenSpan
from trietok.bert import BertTokenizer
from trietok.check_fix import FixResult, fix
from trietok.check_report import CheckReport, Finding
from trietok.checking import check
from trietok.comparing import Comparison, compare, fingerprint
from trietok.corpus.mlm_collator import DataCollatorForLanguageModeling, DataCollatorForWholeWordMask
from trietok.corpus.padding_collator import DataCollatorWithPadding
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

__all__ = [
    "AddedToken",
    "BasicTokenizer",
    "BatchEncoding",
    "BertTokenizer",
    "CharSpan",
    "CheckReport",
    "Comparison",
    "DataCollatorForLanguageModeling",
    "DataCollatorForWholeWordMask",
    "DataCollatorWithPadding",
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
