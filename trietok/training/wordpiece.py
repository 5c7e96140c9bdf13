"""Training a WordPiece vocabulary.

In: texts or word counts, and the parameters of tokenizers' `WordPieceTrainer`. Out: a `Vocabulary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import BERT_PREFIX
from trietok.training.merging import Options, learnt
from trietok.training.word_counts import MAX_WORDS, OnProgress, ToWords

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class WordPieceVocabulary(Vocabulary):
    """A trained vocabulary, with the prefix that marks its tokens that continue a word.

    Attributes:
        continuing_subword_prefix: the mark.
    """

    def __init__(
        self, tokens: Iterable[str | None], continuing_subword_prefix: str = BERT_PREFIX
    ) -> None:
        super().__init__(tokens)
        self.continuing_subword_prefix = continuing_subword_prefix


def train_wordpiece(
    texts: Iterable[str] | Mapping[str, int],
    *,
    vocab_size: int = 30000,
    min_frequency: int = 0,
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    special_tokens: Iterable[object] = SPECIAL_TOKENS,
    continuing_subword_prefix: str = BERT_PREFIX,
    max_token_length: int | None = None,
    words: ToWords | None = None,
    do_lower_case: bool = True,
    workers: int | None = 1,
    max_words: int = MAX_WORDS,
    progress: OnProgress | None = None,
) -> WordPieceVocabulary:
    """Train a WordPiece vocabulary from texts.

    The names and defaults are those of `WordPieceTrainer` in HuggingFace's tokenizers, but for
    `special_tokens`, which are empty there. The same texts give the same vocabulary, whatever their
    order and the number of processes; it is the one that tokenizers gives, where tokenizers gives
    one: `docs/training.md` says more.

    Args:
        texts: strings, `TextFiles`, or words counted before (`count_words`, or any mapping from
            word to count).
        vocab_size: the most tokens, special ones included.
        min_frequency: the least count of a pair to be merged.
        limit_alphabet: the most characters to start from; others make their words unknown.
        initial_alphabet: characters to have in any case, at the beginning of words: `n`, and not
            `##n`.
        special_tokens: strings or `AddedToken`; they come first, in this order.
        continuing_subword_prefix: marks a token that continues a word. BERT knows "##" only, so
            `save_tokenizer` refuses vocabularies with another.
        max_token_length: merge only to tokens of fewer characters than this; two are always
            allowed.
        words, do_lower_case, workers, max_words: see `count_words`.
        progress: called with a `Progress` every now and then.

    >>> vocabulary = train_wordpiece(["low lower lowest"], vocab_size=17, special_tokens=["[UNK]"])
    >>> print(*vocabulary)
    [UNK] e l o r s t w ##e ##o ##r ##s ##t ##w lo low lowe

    Raises:
        InputError: there is no text or no word, or an option is out of range.
        VocabularyError: `vocab_size` is smaller than the special tokens and the alphabet.
        FileError, FileFormatError: from `TextFiles`.
    """
    special = special_tokens if isinstance(special_tokens, str) else tuple(special_tokens)
    marks = continuing_subword_prefix, None
    options = Options(
        vocab_size,
        min_frequency,
        limit_alphabet,
        initial_alphabet,
        special,
        *marks,
        max_token_length,
    )
    counting = {
        "words": words,
        "do_lower_case": do_lower_case,
        "workers": workers,
        "max_words": max_words,
    }
    spelling, _ = learnt(texts, options, progress, **counting)
    return WordPieceVocabulary(spelling.tokens, continuing_subword_prefix)
