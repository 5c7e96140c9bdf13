"""trietok: BERT's tokenizer in Python, exactly as HuggingFace's slow one, with room for your own tokens.

>>> from trietok import BertTokenizer
>>> tokenizer = BertTokenizer.from_pretrained("trietok-en")  # or a directory, a vocab.txt, a name on the hub
>>> tokenizer("The people").input_ids
[2, 134, 289, 3]

The pages of the documentation are in docs/ of the source, which an installation does not have. To begin with:

- "Get started" (docs/get_started.md): five minutes, from the installation to a saved tokenizer of your own
- "Guides" (docs/guides/add_tokens.md, docs/guides/replace_transformers.md, docs/adapting.md, docs/guides/train.md,
  docs/guides/encode_a_corpus.md, docs/guides/debug_a_text.md): what people use it for
- "Where trietok and transformers agree and differ" (docs/hf_compatibility.md)
- "Errors" (docs/errors.md): what each error means, and what to do
- "The command line" (docs/command_line.md): the command `trietok`
"""

from importlib import import_module

__version__ = "0.2.0"

# The public names by the module they live in. Each is imported when it is first asked for: who encodes a text need not
# wait for what checks, compares or trains.
_HOMES = {
    name: module
    for module, names in {
        "corpus.batches.mlm_collator": "DataCollatorForLanguageModeling DataCollatorForWholeWordMask",
        "corpus.batches.padding_collator": "DataCollatorWithPadding",
        "corpus.encode_files": "encode_files",
        "corpus.tokenize_batch": "TokenizeBatch",
        "errors": """
            FileError FileFormatError InputError InputTypeError MissingDependencyError NotSupportedError
            OptionError PositionError SpecialTokenError TokenIdError TokenizerClassError TrietokError
            UnknownTokenError VocabularyError
        """,
        "explaining.explanation": "Explanation",
        "inputs.batch_encoding": "BatchEncoding CharSpan TokenSpan",
        "inputs.padding": "PaddingStrategy",
        "inputs.template": "Template",
        "inputs.tensors": "TensorType",
        "inputs.truncation": "TruncationStrategy",
        "text.added_token": "AddedToken",
        "text.basic_tokenizer": "BasicTokenizer",
        "text.character_tokenizer": "CharacterTokenizer",
        "text.morphemes": "JumanppTokenizer MecabTokenizer SudachiTokenizer",
        "text.trie": "Trie",
        "text.untrusted": "Untrusted",
        "text.vocabulary": "Vocabulary load_vocab",
        "text.wordpiece": "WordpieceTokenizer",
        "tokenizer.auto": "AutoTokenizer",
        "tokenizer.bert": "BertTokenizer",
        "tokenizer.bert_fast": "BertTokenizerFast",
        "tokenizer.bert_japanese": "BertJapaneseTokenizer",
        "tokenizer.bpe_fast": "PreTrainedTokenizerFast",
        "tokenizer.chinese_bpe": "ChineseBpeTokenizer",
        "tokenizer.dpr_reader": "DPRReaderOutput DPRSpanPrediction",
        "tokenizer.fast_relatives": """
            ConvBertTokenizerFast DPRContextEncoderTokenizerFast DPRQuestionEncoderTokenizerFast
            DPRReaderTokenizerFast DistilBertTokenizerFast ElectraTokenizerFast FunnelTokenizerFast
            LayoutLMTokenizerFast LxmertTokenizerFast MPNetTokenizerFast MobileBertTokenizerFast
            RetriBertTokenizerFast SplinterTokenizerFast SqueezeBertTokenizerFast
        """,
        "tokenizer.pretrained": "PreTrainedTokenizer",
        "tokenizer.relatives": """
            ConvBertTokenizer DPRContextEncoderTokenizer DPRQuestionEncoderTokenizer DPRReaderTokenizer
            DistilBertTokenizer ElectraTokenizer FunnelTokenizer LayoutLMTokenizer LxmertTokenizer
            MPNetTokenizer MobileBertTokenizer RetriBertTokenizer SplinterTokenizer SqueezeBertTokenizer
        """,
        "tokenizer.save_tokenizer": "save_tokenizer",
        "tokenizer.unknown_report": "UnknownWord UnknownWords",
        "tokenizer.unknown_words": "find_unknown",
        "training": "Bpe TextFiles WordCounts count_words train_bpe train_chinese_bpe train_wordpiece",
        "workbench.adapting.adapt": "Adapted adapt",
        "workbench.adapting.add_terms": "AddedTerms add_terms",
        "workbench.adapting.applied": "AppliedRows",
        "workbench.adapting.apply_rows": "apply_rows",
        "workbench.adapting.certificate": "Certificate",
        "workbench.adapting.plan_rows": "plan_rows",
        "workbench.adapting.row_plan": "RowPlan",
        "workbench.adapting.trim": "Trimmed trim",
        "workbench.checking.check": "check",
        "workbench.checking.fix": "FixResult fix",
        "workbench.checking.report": "CheckReport Finding",
        "workbench.comparing.compare": "compare fingerprint",
        "workbench.comparing.report": "Comparison",
        "workbench.locking.export_file": "export",
        "workbench.locking.exported": "Exported",
        "workbench.locking.lock_file": "Lock",
        "workbench.locking.make_lock": "lock",
        "workbench.locking.verified": "Verified",
        "workbench.locking.verify_lock": "verify",
        "workbench.suggesting.report": "Suggestion Suggestions",
        "workbench.suggesting.suggest": "add_suggestions suggest_tokens",
    }.items()
    for name in names.split()
}
__all__ = ["__version__", "kernel", *_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES.values():
        return import_module(f"{__name__}.{name}")
    if name == "kernel":  # "compiled" or "plain": what encodes texts; it may change, so it is asked for each time
        return import_module(f"{__name__}.text.kernel.chosen").kernel_at_work()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
