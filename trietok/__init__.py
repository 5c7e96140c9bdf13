"""trietok: BERT's tokenizer in Python, with exactly HuggingFace's ids, slow or fast, and room for
your own tokens.

>>> from trietok import BertTokenizer
>>> # A vocabulary of trietok's; or a directory, a vocab.txt, a name on the hub.
>>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
>>> tokenizer("The people").input_ids
[2, 134, 289, 3]

The documentation is in docs/ of the source. To begin with:

- "Get started" (docs/get_started.md): five minutes, from the installation to a saved tokenizer of
  your own
- "Guides" (docs/guides/add_tokens.md, docs/guides/replace_transformers.md, docs/adapting.md,
  docs/training.md, docs/corpora.md, docs/explaining.md): what people use it for
- "Where trietok and transformers agree and differ" (docs/hf_compatibility.md), "Errors"
  (docs/errors.md)
"""

from importlib import import_module

__version__ = "0.2.0"

# The public names of each module. The module is imported when one of its names is first used.
_NAMES = {
    "batches.collators": [
        "DataCollatorForLanguageModeling",
        "DataCollatorForWholeWordMask",
        "DataCollatorWithFlattening",
        "DataCollatorWithPadding",
    ],
    "batches.encode_files": ["encode_files"],
    "batches.encoding_run": ["EncodedFiles"],
    "batches.tokenize_batch": ["TokenizeBatch"],
    "errors": [
        "FileError",
        "FileFormatError",
        "InterruptedSaveError",
        "InputError",
        "InputTypeError",
        "MissingDependencyError",
        "NotSupportedError",
        "OptionError",
        "PositionError",
        "SpecialTokenError",
        "TokenIdError",
        "TokenizerClassError",
        "TrietokError",
        "UnknownTokenError",
        "VocabularyError",
    ],
    "explaining.explanation": ["Explanation"],
    "files.findings": ["Finding"],
    "inputs.batch_encoding": ["BatchEncoding", "CharSpan", "TokenSpan"],
    "inputs.options": ["PaddingStrategy"],
    "inputs.template": ["Template"],
    "inputs.tensors": ["FlatIds", "TensorType"],
    "inputs.truncation": ["TruncationStrategy"],
    "text.added_tokens": ["AddedToken"],
    "text.words": ["BasicTokenizer"],
    "text.japanese": ["CharacterTokenizer", "MecabTokenizer"],
    "text.trie": ["Trie"],
    "text.vocabulary": ["Vocabulary", "load_vocab"],
    "text.wordpiece": ["WordpieceTokenizer"],
    "tokenizer.auto": ["AutoTokenizer"],
    "tokenizer.bert": ["BertTokenizer"],
    "tokenizer.bert_fast": ["BertTokenizerFast"],
    "tokenizer.bert_japanese": ["BertJapaneseTokenizer"],
    "tokenizer.chunks": ["Chunk"],
    "tokenizer.fast_relatives": [
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
    ],
    "tokenizer.base": ["PreTrainedTokenizer"],
    "tokenizer.relatives": [
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
    ],
    "tokenizer.trained": ["ChineseBpeTokenizer", "save_tokenizer"],
    "training": [
        "Bpe",
        "TextFiles",
        "WordCounts",
        "count_words",
        "train_bpe",
        "train_chinese_bpe",
        "train_wordpiece",
    ],
    "workbench.adapting.adapt": ["adapt"],
    "workbench.adapting.adapted": ["Adapted"],
    "workbench.adapting.add_terms": ["AddedTerms", "add_terms"],
    "workbench.adapting.apply_rows": ["apply_rows"],
    "workbench.adapting.row_plan": ["AppliedRows", "RowPlan"],
    "workbench.adapting.row_initialization": ["plan_rows"],
    "workbench.checking.check": ["check"],
    "workbench.checking.fix": ["FixResult", "fix"],
    "workbench.checking.report": ["CheckReport"],
    "workbench.comparing.compare": ["Comparison", "compare"],
    "workbench.locking.lock": ["Lock", "lock"],
    "workbench.locking.verify": ["Verified", "verify"],
    "workbench.suggesting.suggest": ["suggest_tokens"],
    "workbench.suggesting.suggestions": ["Suggestion", "Suggestions"],
    "workbench.trim": ["Certificate", "Trimmed", "trim"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = ["__version__", "kernel", *_MODULES]


def __getattr__(name: str) -> object:
    if name == "kernel":  # not kept, since it may change
        return import_module("trietok.text.kernel.choosing").kernel_at_work()
    if name in _NAMES:
        return import_module(f"trietok.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"trietok.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
