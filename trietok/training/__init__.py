"""Training vocabularies from text: WordPiece, byte-pair encoding, and a byte-pair encoding for Chinese.

In: texts. Out: vocabularies. Nothing here depends on tokenizers; `trietok.save_tokenizer` makes one of a vocabulary.
"""

from trietok.files.texts import TextFiles
from trietok.training.bpe import train_bpe
from trietok.training.bpe_model import Bpe
from trietok.training.chinese import ChineseBpe, train_chinese_bpe
from trietok.training.chinese_files import save_chinese_bpe
from trietok.training.progress import Progress
from trietok.training.segmentation import Segmenter
from trietok.training.word_counts import WordCounts, count_words
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
