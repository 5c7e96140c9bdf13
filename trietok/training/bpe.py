"""Training a byte-pair encoding.

In: texts or word counts, and the parameters of tokenizers' `BpeTrainer`. Out: a `Bpe`, vocabulary and merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trietok.training.bpe_model import Bpe
from trietok.training.merging import merge_pairs
from trietok.training.progress import OnProgress
from trietok.training.spelling import Options, spell
from trietok.training.word_counts import MAX_WORDS, ToWords, as_word_counts


def train_bpe(
    texts: Iterable[str] | Mapping[str, int],
    *,
    vocab_size: int = 30000,
    min_frequency: int = 0,
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    special_tokens: Iterable[object] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
    unk_token: str | None = None,
    words: ToWords | None = None,
    do_lower_case: bool = False,
    processes: int = 1,
    max_words: int = MAX_WORDS,
    on_progress: OnProgress | None = None,
) -> Bpe:
    """Train a byte-pair encoding from texts.

    The names and defaults are those of `BpeTrainer` in HuggingFace's tokenizers; `unk_token` is that of its `BPE`. The
    same texts give the same vocabulary and merges, whatever their order and the number of processes; they are those
    that tokenizers gives: `docs/training.md` says more.

    Args:
        texts: strings, `TextFiles`, or words counted before (`count_words`, or any mapping from word to count).
        vocab_size: the most tokens, special ones included.
        min_frequency: the least count of a pair to be merged.
        limit_alphabet: the most characters to start from; others are unknown.
        initial_alphabet: characters to have in any case.
        special_tokens: strings or `AddedToken`; they come first, in this order.
        continuing_subword_prefix: marks a token that continues a word.
        end_of_word_suffix: marks a token at the end of a word.
        max_token_length: merge only to tokens of fewer characters than this; two are always allowed.
        unk_token: stands for characters outside the alphabet; put before `special_tokens` if it is not among them.
            None: such characters are left out.
        words, do_lower_case, processes, max_words: see `count_words`.
        on_progress: called with a `Progress` every now and then.

    >>> bpe = train_bpe(["low lower lowest"], vocab_size=9, unk_token="<unk>")
    >>> print(*bpe.vocab)
    <unk> e l o r s t w lo
    >>> bpe.merges, bpe.tokenize("slow?")
    ((('l', 'o'),), ['s', 'lo', 'w', '<unk>'])

    Raises:
        InputError: there is no text or no word, or an option is out of range.
        VocabularyError: `vocab_size` is smaller than the special tokens and the alphabet.
        FileError, FileFormatError: from `TextFiles`.
    """
    special = [special_tokens] if isinstance(special_tokens, str) else [str(token) for token in special_tokens]
    if unk_token is not None and unk_token not in special:
        special.insert(0, unk_token)
    options = Options(
        vocab_size,
        min_frequency,
        limit_alphabet,
        initial_alphabet,
        special_tokens if isinstance(special_tokens, str) else special,
        continuing_subword_prefix,
        end_of_word_suffix,
        max_token_length,
    )
    options.check()
    word_counts = as_word_counts(
        texts,
        words=words,
        do_lower_case=do_lower_case,
        processes=processes,
        max_words=max_words,
        on_progress=on_progress,
    )
    spelling = spell(word_counts, options)
    merges = merge_pairs(spelling, options, on_progress)
    tokens = spelling.tokens
    return Bpe(
        spelling.token_to_id,
        [(tokens[left], tokens[right]) for left, right, _ in merges],
        unk_token=unk_token,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        special_tokens=dict.fromkeys(special),
    )
