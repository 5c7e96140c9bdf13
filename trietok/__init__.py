"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # as in typing, whose import takes longer than this whole module
if TYPE_CHECKING:
    from trietok.added_token import AddedToken as AddedToken
    from trietok.auto import AutoTokenizer as AutoTokenizer
    from trietok.basic_tokenizer import BasicTokenizer as BasicTokenizer
    from trietok.batch_encoding import BatchEncoding as BatchEncoding
    from trietok.batch_encoding import CharSpan as CharSpan
    from trietok.batch_encoding import TokenSpan as TokenSpan
    from trietok.bert import BertTokenizer as BertTokenizer
    from trietok.bert_fast import BertTokenizerFast as BertTokenizerFast
    from trietok.check_fix import FixResult as FixResult
    from trietok.check_fix import fix as fix
    from trietok.check_report import CheckReport as CheckReport
    from trietok.check_report import Finding as Finding
    from trietok.checking import check as check
    from trietok.comparing import compare as compare
    from trietok.comparing import fingerprint as fingerprint
    from trietok.comparison_report import Comparison as Comparison
    from trietok.corpus.encode_files import encode_files as encode_files
    from trietok.corpus.mlm_collator import DataCollatorForLanguageModeling as DataCollatorForLanguageModeling
    from trietok.corpus.mlm_collator import DataCollatorForWholeWordMask as DataCollatorForWholeWordMask
    from trietok.corpus.padding_collator import DataCollatorWithPadding as DataCollatorWithPadding
    from trietok.corpus.tokenize_batch import TokenizeBatch as TokenizeBatch
    from trietok.dpr_reader import DPRReaderOutput as DPRReaderOutput
    from trietok.dpr_reader import DPRSpanPrediction as DPRSpanPrediction
    from trietok.errors import FileError as FileError
    from trietok.errors import FileFormatError as FileFormatError
    from trietok.errors import InputError as InputError
    from trietok.errors import InputTypeError as InputTypeError
    from trietok.errors import MissingDependencyError as MissingDependencyError
    from trietok.errors import NotSupportedError as NotSupportedError
    from trietok.errors import OptionError as OptionError
    from trietok.errors import SpecialTokenError as SpecialTokenError
    from trietok.errors import TokenIdError as TokenIdError
    from trietok.errors import TokenizerClassError as TokenizerClassError
    from trietok.errors import TrietokError as TrietokError
    from trietok.errors import UnknownTokenError as UnknownTokenError
    from trietok.errors import VocabularyError as VocabularyError
    from trietok.family import ConvBertTokenizer as ConvBertTokenizer
    from trietok.family import DistilBertTokenizer as DistilBertTokenizer
    from trietok.family import DPRContextEncoderTokenizer as DPRContextEncoderTokenizer
    from trietok.family import DPRQuestionEncoderTokenizer as DPRQuestionEncoderTokenizer
    from trietok.family import DPRReaderTokenizer as DPRReaderTokenizer
    from trietok.family import ElectraTokenizer as ElectraTokenizer
    from trietok.family import FunnelTokenizer as FunnelTokenizer
    from trietok.family import LayoutLMTokenizer as LayoutLMTokenizer
    from trietok.family import LxmertTokenizer as LxmertTokenizer
    from trietok.family import MobileBertTokenizer as MobileBertTokenizer
    from trietok.family import MPNetTokenizer as MPNetTokenizer
    from trietok.family import RetriBertTokenizer as RetriBertTokenizer
    from trietok.family import SplinterTokenizer as SplinterTokenizer
    from trietok.family import SqueezeBertTokenizer as SqueezeBertTokenizer
    from trietok.fast_family import (
        ConvBertTokenizerFast as ConvBertTokenizerFast,
    )
    from trietok.fast_family import (
        DistilBertTokenizerFast as DistilBertTokenizerFast,
    )
    from trietok.fast_family import (
        DPRContextEncoderTokenizerFast as DPRContextEncoderTokenizerFast,
    )
    from trietok.fast_family import (
        DPRQuestionEncoderTokenizerFast as DPRQuestionEncoderTokenizerFast,
    )
    from trietok.fast_family import (
        DPRReaderTokenizerFast as DPRReaderTokenizerFast,
    )
    from trietok.fast_family import (
        ElectraTokenizerFast as ElectraTokenizerFast,
    )
    from trietok.fast_family import (
        FunnelTokenizerFast as FunnelTokenizerFast,
    )
    from trietok.fast_family import (
        LayoutLMTokenizerFast as LayoutLMTokenizerFast,
    )
    from trietok.fast_family import (
        LxmertTokenizerFast as LxmertTokenizerFast,
    )
    from trietok.fast_family import (
        MobileBertTokenizerFast as MobileBertTokenizerFast,
    )
    from trietok.fast_family import (
        MPNetTokenizerFast as MPNetTokenizerFast,
    )
    from trietok.fast_family import (
        RetriBertTokenizerFast as RetriBertTokenizerFast,
    )
    from trietok.fast_family import (
        SplinterTokenizerFast as SplinterTokenizerFast,
    )
    from trietok.fast_family import (
        SqueezeBertTokenizerFast as SqueezeBertTokenizerFast,
    )
    from trietok.padding import PaddingStrategy as PaddingStrategy
    from trietok.pretrained import PreTrainedTokenizer as PreTrainedTokenizer
    from trietok.suggesting import add_suggestions as add_suggestions
    from trietok.suggesting import suggest_tokens as suggest_tokens
    from trietok.suggestion_report import Suggestion as Suggestion
    from trietok.suggestion_report import Suggestions as Suggestions
    from trietok.templates import Template as Template
    from trietok.tensors import TensorType as TensorType
    from trietok.trained_tokenizer import save_tokenizer as save_tokenizer
    from trietok.training import Bpe as Bpe
    from trietok.training import TextFiles as TextFiles
    from trietok.training import WordCounts as WordCounts
    from trietok.training import count_words as count_words
    from trietok.training import train_bpe as train_bpe
    from trietok.training import train_chinese_bpe as train_chinese_bpe
    from trietok.training import train_wordpiece as train_wordpiece
    from trietok.trie import Trie as Trie
    from trietok.truncation import TruncationStrategy as TruncationStrategy
    from trietok.unknown_report import UnknownWord as UnknownWord
    from trietok.unknown_report import UnknownWords as UnknownWords
    from trietok.unknown_words import find_unknown as find_unknown
    from trietok.untrusted import Untrusted as Untrusted
    from trietok.vocabulary import Vocabulary as Vocabulary
    from trietok.vocabulary import load_vocab as load_vocab
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
        "bert_fast": ("BertTokenizerFast",),
        "check_fix": ("FixResult", "fix"),
        "check_report": ("CheckReport", "Finding"),
        "checking": ("check",),
        "comparing": ("compare", "fingerprint"),
        "comparison_report": ("Comparison",),
        "corpus.encode_files": ("encode_files",),
        "corpus.tokenize_batch": ("TokenizeBatch",),
        "corpus.mlm_collator": ("DataCollatorForLanguageModeling", "DataCollatorForWholeWordMask"),
        "corpus.padding_collator": ("DataCollatorWithPadding",),
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
        "fast_family": (
            "ConvBertTokenizerFast",
            "DPRContextEncoderTokenizerFast",
            "DPRQuestionEncoderTokenizerFast",
            "DPRReaderTokenizerFast",
            "DistilBertTokenizerFast",
            "ElectraTokenizerFast",
            "FunnelTokenizerFast",
            "LayoutLMTokenizerFast",
            "LxmertTokenizerFast",
            "MPNetTokenizerFast",
            "MobileBertTokenizerFast",
            "RetriBertTokenizerFast",
            "SplinterTokenizerFast",
            "SqueezeBertTokenizerFast",
        ),
        "padding": ("PaddingStrategy",),
        "pretrained": ("PreTrainedTokenizer",),
        "suggesting": ("add_suggestions", "suggest_tokens"),
        "suggestion_report": ("Suggestion", "Suggestions"),
        "templates": ("Template",),
        "tensors": ("TensorType",),
        "trained_tokenizer": ("save_tokenizer",),
        "training": (
            "Bpe",
            "TextFiles",
            "WordCounts",
            "count_words",
            "train_bpe",
            "train_chinese_bpe",
            "train_wordpiece",
        ),
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
    if name in _HOMES.values():
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
