"""Training vocabularies from text: WordPiece, byte-pair encoding, and a byte-pair encoding for
Chinese.

In: texts. Out: vocabularies. Nothing here depends on tokenizers; `trietok.save_tokenizer` makes one
of a vocabulary.
"""

from trietok.files.texts import TextFiles
from trietok.training.bpe import Bpe, train_bpe
from trietok.training.chinese import ChineseBpe, Segmenter, save_chinese_bpe, train_chinese_bpe
from trietok.training.word_counts import Progress, WordCounts, count_words
from trietok.training.wordpiece import train_wordpiece

__all__ = [
    "Bpe",
    "ChineseBpe",
    "Progress",
    "Segmenter",
    "TextFiles",
    "WordCounts",
    "count_words",
    "save_chinese_bpe",
    "train_bpe",
    "train_chinese_bpe",
    "train_wordpiece",
]
__dir__ = __all__.copy
