"""trietok: BERT's tokenizer in pure Python, exactly as HuggingFace's slow one, with room for your own tokens."""

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # as in typing, whose import takes longer than this whole module
if TYPE_CHECKING:
    from trietok.batches.mlm_collator import DataCollatorForLanguageModeling as DataCollatorForLanguageModeling
    from trietok.batches.mlm_collator import DataCollatorForWholeWordMask as DataCollatorForWholeWordMask
    from trietok.batches.padding_collator import DataCollatorWithPadding as DataCollatorWithPadding
    from trietok.checking.check import check as check
    from trietok.checking.fix import FixResult as FixResult
    from trietok.checking.fix import fix as fix
    from trietok.checking.report import CheckReport as CheckReport
    from trietok.checking.report import Finding as Finding
    from trietok.comparing.compare import Comparison as Comparison
    from trietok.comparing.compare import compare as compare
    from trietok.comparing.compare import fingerprint as fingerprint
    from trietok.corpus.encode_files import encode_files as encode_files
    from trietok.corpus.tokenize_batch import TokenizeBatch as TokenizeBatch
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
    from trietok.inputs.batch_encoding import BatchEncoding as BatchEncoding
    from trietok.inputs.batch_encoding import CharSpan as CharSpan
    from trietok.inputs.batch_encoding import TokenSpan as TokenSpan
    from trietok.inputs.padding import PaddingStrategy as PaddingStrategy
    from trietok.inputs.template import Template as Template
    from trietok.inputs.tensors import TensorType as TensorType
    from trietok.inputs.truncation import TruncationStrategy as TruncationStrategy
    from trietok.suggesting.report import Suggestion as Suggestion
    from trietok.suggesting.report import Suggestions as Suggestions
    from trietok.suggesting.suggest import add_suggestions as add_suggestions
    from trietok.suggesting.suggest import suggest_tokens as suggest_tokens
    from trietok.text.added_token import AddedToken as AddedToken
    from trietok.text.basic_tokenizer import BasicTokenizer as BasicTokenizer
    from trietok.text.trie import Trie as Trie
    from trietok.text.untrusted import Untrusted as Untrusted
    from trietok.text.vocabulary import Vocabulary as Vocabulary
    from trietok.text.vocabulary import load_vocab as load_vocab
    from trietok.text.wordpiece import WordpieceTokenizer as WordpieceTokenizer
    from trietok.tokenizer.auto import AutoTokenizer as AutoTokenizer
    from trietok.tokenizer.bert import BertTokenizer as BertTokenizer
    from trietok.tokenizer.bert_fast import BertTokenizerFast as BertTokenizerFast
    from trietok.tokenizer.dpr_reader import DPRReaderOutput as DPRReaderOutput
    from trietok.tokenizer.dpr_reader import DPRSpanPrediction as DPRSpanPrediction
    from trietok.tokenizer.fast_relatives import (
        ConvBertTokenizerFast as ConvBertTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        DistilBertTokenizerFast as DistilBertTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        DPRContextEncoderTokenizerFast as DPRContextEncoderTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        DPRQuestionEncoderTokenizerFast as DPRQuestionEncoderTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        DPRReaderTokenizerFast as DPRReaderTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        ElectraTokenizerFast as ElectraTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        FunnelTokenizerFast as FunnelTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        LayoutLMTokenizerFast as LayoutLMTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        LxmertTokenizerFast as LxmertTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        MobileBertTokenizerFast as MobileBertTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        MPNetTokenizerFast as MPNetTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        RetriBertTokenizerFast as RetriBertTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        SplinterTokenizerFast as SplinterTokenizerFast,
    )
    from trietok.tokenizer.fast_relatives import (
        SqueezeBertTokenizerFast as SqueezeBertTokenizerFast,
    )
    from trietok.tokenizer.pretrained import PreTrainedTokenizer as PreTrainedTokenizer
    from trietok.tokenizer.relatives import ConvBertTokenizer as ConvBertTokenizer
    from trietok.tokenizer.relatives import DistilBertTokenizer as DistilBertTokenizer
    from trietok.tokenizer.relatives import DPRContextEncoderTokenizer as DPRContextEncoderTokenizer
    from trietok.tokenizer.relatives import DPRQuestionEncoderTokenizer as DPRQuestionEncoderTokenizer
    from trietok.tokenizer.relatives import DPRReaderTokenizer as DPRReaderTokenizer
    from trietok.tokenizer.relatives import ElectraTokenizer as ElectraTokenizer
    from trietok.tokenizer.relatives import FunnelTokenizer as FunnelTokenizer
    from trietok.tokenizer.relatives import LayoutLMTokenizer as LayoutLMTokenizer
    from trietok.tokenizer.relatives import LxmertTokenizer as LxmertTokenizer
    from trietok.tokenizer.relatives import MobileBertTokenizer as MobileBertTokenizer
    from trietok.tokenizer.relatives import MPNetTokenizer as MPNetTokenizer
    from trietok.tokenizer.relatives import RetriBertTokenizer as RetriBertTokenizer
    from trietok.tokenizer.relatives import SplinterTokenizer as SplinterTokenizer
    from trietok.tokenizer.relatives import SqueezeBertTokenizer as SqueezeBertTokenizer
    from trietok.tokenizer.unknown_report import UnknownWord as UnknownWord
    from trietok.tokenizer.unknown_report import UnknownWords as UnknownWords
    from trietok.tokenizer.unknown_words import find_unknown as find_unknown
    from trietok.training import Bpe as Bpe
    from trietok.training import TextFiles as TextFiles
    from trietok.training import WordCounts as WordCounts
    from trietok.training import count_words as count_words
    from trietok.training import train_bpe as train_bpe
    from trietok.training import train_chinese_bpe as train_chinese_bpe
    from trietok.training import train_wordpiece as train_wordpiece
    from trietok.training.save_tokenizer import save_tokenizer as save_tokenizer

# The public names by the module they live in. Each is imported when it is first asked for: who encodes a text need not
# wait for what checks, compares or trains.
_HOMES = {
    name: module
    for module, names in {
        "text.added_token": ("AddedToken",),
        "tokenizer.auto": ("AutoTokenizer",),
        "text.basic_tokenizer": ("BasicTokenizer",),
        "inputs.batch_encoding": ("BatchEncoding", "CharSpan", "TokenSpan"),
        "tokenizer.bert": ("BertTokenizer",),
        "tokenizer.bert_fast": ("BertTokenizerFast",),
        "checking.fix": ("FixResult", "fix"),
        "checking.report": ("CheckReport", "Finding"),
        "checking.check": ("check",),
        "comparing.compare": ("Comparison", "compare", "fingerprint"),
        "corpus.encode_files": ("encode_files",),
        "corpus.tokenize_batch": ("TokenizeBatch",),
        "batches.mlm_collator": ("DataCollatorForLanguageModeling", "DataCollatorForWholeWordMask"),
        "batches.padding_collator": ("DataCollatorWithPadding",),
        "tokenizer.dpr_reader": ("DPRReaderOutput", "DPRSpanPrediction"),
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
        "tokenizer.relatives": (
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
        "tokenizer.fast_relatives": (
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
        "inputs.padding": ("PaddingStrategy",),
        "tokenizer.pretrained": ("PreTrainedTokenizer",),
        "suggesting.suggest": ("add_suggestions", "suggest_tokens"),
        "suggesting.report": ("Suggestion", "Suggestions"),
        "inputs.template": ("Template",),
        "inputs.tensors": ("TensorType",),
        "training.save_tokenizer": ("save_tokenizer",),
        "training": (
            "Bpe",
            "TextFiles",
            "WordCounts",
            "count_words",
            "train_bpe",
            "train_chinese_bpe",
            "train_wordpiece",
        ),
        "text.trie": ("Trie",),
        "inputs.truncation": ("TruncationStrategy",),
        "tokenizer.unknown_report": ("UnknownWord", "UnknownWords"),
        "tokenizer.unknown_words": ("find_unknown",),
        "text.untrusted": ("Untrusted",),
        "text.vocabulary": ("Vocabulary", "load_vocab"),
        "text.wordpiece": ("WordpieceTokenizer",),
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
