"""The public names as type checkers and editors read them; `__init__.py` imports each when it is
first asked for.
"""

from trietok.batches.collators import (
    DataCollatorForLanguageModeling as DataCollatorForLanguageModeling,
)
from trietok.batches.collators import DataCollatorForWholeWordMask as DataCollatorForWholeWordMask
from trietok.batches.collators import DataCollatorWithFlattening as DataCollatorWithFlattening
from trietok.batches.collators import DataCollatorWithPadding as DataCollatorWithPadding
from trietok.batches.encode_files import encode_files as encode_files
from trietok.batches.encoding_run import EncodedFiles as EncodedFiles
from trietok.batches.tokenize_batch import TokenizeBatch as TokenizeBatch
from trietok.errors import FileError as FileError
from trietok.errors import FileFormatError as FileFormatError
from trietok.errors import InputError as InputError
from trietok.errors import InputTypeError as InputTypeError
from trietok.errors import InterruptedSaveError as InterruptedSaveError
from trietok.errors import MissingDependencyError as MissingDependencyError
from trietok.errors import NotSupportedError as NotSupportedError
from trietok.errors import OptionError as OptionError
from trietok.errors import PositionError as PositionError
from trietok.errors import SpecialTokenError as SpecialTokenError
from trietok.errors import TokenIdError as TokenIdError
from trietok.errors import TokenizerClassError as TokenizerClassError
from trietok.errors import TrietokError as TrietokError
from trietok.errors import UnknownTokenError as UnknownTokenError
from trietok.errors import VocabularyError as VocabularyError
from trietok.explaining.explanation import Explanation as Explanation
from trietok.files.findings import Finding as Finding
from trietok.inputs.batch_encoding import BatchEncoding as BatchEncoding
from trietok.inputs.batch_encoding import CharSpan as CharSpan
from trietok.inputs.batch_encoding import TokenSpan as TokenSpan
from trietok.inputs.options import PaddingStrategy as PaddingStrategy
from trietok.inputs.template import Template as Template
from trietok.inputs.tensors import FlatIds as FlatIds
from trietok.inputs.tensors import TensorType as TensorType
from trietok.inputs.truncation import TruncationStrategy as TruncationStrategy
from trietok.text.added_tokens import AddedToken as AddedToken
from trietok.text.japanese import CharacterTokenizer as CharacterTokenizer
from trietok.text.japanese import MecabTokenizer as MecabTokenizer
from trietok.text.trie import Trie as Trie
from trietok.text.vocabulary import Vocabulary as Vocabulary
from trietok.text.vocabulary import load_vocab as load_vocab
from trietok.text.wordpiece import WordpieceTokenizer as WordpieceTokenizer
from trietok.text.words import BasicTokenizer as BasicTokenizer
from trietok.tokenizer.auto import AutoTokenizer as AutoTokenizer
from trietok.tokenizer.base import PreTrainedTokenizer as PreTrainedTokenizer
from trietok.tokenizer.bert import BertTokenizer as BertTokenizer
from trietok.tokenizer.bert_fast import BertTokenizerFast as BertTokenizerFast
from trietok.tokenizer.bert_japanese import BertJapaneseTokenizer as BertJapaneseTokenizer
from trietok.tokenizer.chunks import Chunk as Chunk
from trietok.tokenizer.fast_relatives import ConvBertTokenizerFast as ConvBertTokenizerFast
from trietok.tokenizer.fast_relatives import DistilBertTokenizerFast as DistilBertTokenizerFast
from trietok.tokenizer.fast_relatives import (
    DPRContextEncoderTokenizerFast as DPRContextEncoderTokenizerFast,
)
from trietok.tokenizer.fast_relatives import (
    DPRQuestionEncoderTokenizerFast as DPRQuestionEncoderTokenizerFast,
)
from trietok.tokenizer.fast_relatives import DPRReaderTokenizerFast as DPRReaderTokenizerFast
from trietok.tokenizer.fast_relatives import ElectraTokenizerFast as ElectraTokenizerFast
from trietok.tokenizer.fast_relatives import FunnelTokenizerFast as FunnelTokenizerFast
from trietok.tokenizer.fast_relatives import LayoutLMTokenizerFast as LayoutLMTokenizerFast
from trietok.tokenizer.fast_relatives import LxmertTokenizerFast as LxmertTokenizerFast
from trietok.tokenizer.fast_relatives import MobileBertTokenizerFast as MobileBertTokenizerFast
from trietok.tokenizer.fast_relatives import MPNetTokenizerFast as MPNetTokenizerFast
from trietok.tokenizer.fast_relatives import RetriBertTokenizerFast as RetriBertTokenizerFast
from trietok.tokenizer.fast_relatives import SplinterTokenizerFast as SplinterTokenizerFast
from trietok.tokenizer.fast_relatives import SqueezeBertTokenizerFast as SqueezeBertTokenizerFast
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
from trietok.tokenizer.trained import ChineseBpeTokenizer as ChineseBpeTokenizer
from trietok.tokenizer.trained import save_tokenizer as save_tokenizer
from trietok.training import Bpe as Bpe
from trietok.training import TextFiles as TextFiles
from trietok.training import WordCounts as WordCounts
from trietok.training import count_words as count_words
from trietok.training import train_bpe as train_bpe
from trietok.training import train_chinese_bpe as train_chinese_bpe
from trietok.training import train_wordpiece as train_wordpiece
from trietok.workbench.adapting.adapt import adapt as adapt
from trietok.workbench.adapting.adapted import Adapted as Adapted
from trietok.workbench.adapting.add_terms import AddedTerms as AddedTerms
from trietok.workbench.adapting.add_terms import add_terms as add_terms
from trietok.workbench.adapting.apply_rows import apply_rows as apply_rows
from trietok.workbench.adapting.row_initialization import plan_rows as plan_rows
from trietok.workbench.adapting.row_plan import AppliedRows as AppliedRows
from trietok.workbench.adapting.row_plan import RowPlan as RowPlan
from trietok.workbench.checking.check import check as check
from trietok.workbench.checking.fix import FixResult as FixResult
from trietok.workbench.checking.fix import fix as fix
from trietok.workbench.checking.report import CheckReport as CheckReport
from trietok.workbench.comparing.compare import Comparison as Comparison
from trietok.workbench.comparing.compare import compare as compare
from trietok.workbench.locking.lock import Lock as Lock
from trietok.workbench.locking.lock import lock as lock
from trietok.workbench.locking.verify import Verified as Verified
from trietok.workbench.locking.verify import verify as verify
from trietok.workbench.suggesting.suggest import suggest_tokens as suggest_tokens
from trietok.workbench.suggesting.suggestions import Suggestion as Suggestion
from trietok.workbench.suggesting.suggestions import Suggestions as Suggestions
from trietok.workbench.trim import Certificate as Certificate
from trietok.workbench.trim import Trimmed as Trimmed
from trietok.workbench.trim import trim as trim

__version__: str
kernel: str
