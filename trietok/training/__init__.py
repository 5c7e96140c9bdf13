"""Training vocabularies from text: WordPiece, byte-pair encoding, and a byte-pair encoding for Chinese.

In: texts. Out: vocabularies. Nothing here knows a tokenizer; `trietok.trained_tokenizer` makes one of a vocabulary.
"""

from trietok.training.bpe import train_bpe
from trietok.training.bpe_model import Bpe
from trietok.training.progress import Progress
from trietok.training.text_files import TextFiles
from trietok.training.word_counts import WordCounts, count_words
from trietok.training.wordpiece import train_wordpiece

__all__ = ["Bpe", "Progress", "TextFiles", "WordCounts", "count_words", "train_bpe", "train_wordpiece"]
