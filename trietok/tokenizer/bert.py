"""`BertTokenizer`: basic tokenization and WordPiece behind transformers' interface.

In: a vocab.txt and transformers' parameters. Out: exactly the ids of transformers 4.57.6, but for the departures in
`docs/hf_compatibility.md`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trietok.errors import NotSupportedError
from trietok.files.formats import RECORD
from trietok.text.alignment import Located
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.untrusted import special_policy
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.tokenizer.remembering import RememberingTokenizer
from trietok.tokenizer.special_tokens import Token

if TYPE_CHECKING:
    from trietok.inputs.template import Template
    from trietok.suggesting.unknown_report import UnknownWords


class BertTokenizer(RememberingTokenizer):
    """BERT's tokenizer, with the parameters of transformers' `BertTokenizer`.

    Args:
        vocab_file: the vocab.txt, one token a line.
        do_lower_case: lower-case the text.
        do_basic_tokenize: split into words before WordPiece; else only at whitespace.
        never_split: words that are left as they are.
        unk_token, sep_token, pad_token, cls_token, mask_token: the tokens of the roles.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        **kwargs: see `PreTrainedTokenizerBase`.

    Raises:
        FileError: the vocabulary file is missing or cannot be read.
        FileFormatError: it is not UTF-8.
        VocabularyError: it is empty, or lacks the unknown token.

    >>> tokenizer = BertTokenizer.from_pretrained("trietok-en")
    >>> tokenizer("The people").input_ids == tokenizer.convert_tokens_to_ids(["[CLS]", "the", "people", "[SEP]"])
    True
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        self._vocabulary = self.read_vocabulary(vocab_file, kwargs.get(RECORD), kwargs.get("added_tokens_decoder"))
        self._ordinary: tuple[object, WordpieceTokenizer] | None = None
        never_split = None if never_split is None else list(never_split)
        self.do_basic_tokenize = do_basic_tokenize
        if do_basic_tokenize:
            self.basic_tokenizer = self._new_basic_tokenizer(
                do_lower_case=do_lower_case,
                never_split=never_split,
                tokenize_chinese_chars=tokenize_chinese_chars,
                strip_accents=strip_accents,
            )
        self.wordpiece_tokenizer = self._new_wordpiece_tokenizer(str(unk_token))
        super().__init__(
            vocab_file,
            do_lower_case=do_lower_case,
            do_basic_tokenize=do_basic_tokenize,
            never_split=never_split,
            unk_token=unk_token,
            sep_token=sep_token,
            pad_token=pad_token,
            cls_token=cls_token,
            mask_token=mask_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

    def _new_basic_tokenizer(self, **options: Any) -> BasicTokenizer:
        return BasicTokenizer(**options)

    def _new_wordpiece_tokenizer(self, unk_token: str) -> WordpieceTokenizer:
        return WordpieceTokenizer(self.vocabulary.token_to_id, unk_token=unk_token)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_ordinary": None}  # derived

    def _set_vocabulary(self, tokens: Iterable[str | None]) -> None:
        super()._set_vocabulary(tokens)
        self.wordpiece_tokenizer.vocab = self.vocab

    def _never_matched(self, piece: str) -> str | None:
        prefix = self.wordpiece_tokenizer.continuing_subword_prefix
        word = piece.removeprefix(prefix)
        if not word or word.split() != [word]:
            return super()._never_matched(word)
        if len(word) > self.wordpiece_tokenizer.max_input_chars_per_word:
            return f"a word has at most {self.wordpiece_tokenizer.max_input_chars_per_word} characters"
        words = self.basic_tokenizer.tokenize(word) if self.do_basic_tokenize else [word]
        return None if words == [word] else f"the tokenizer makes {' '.join(words)!r} of it"

    def find_unknown(self, texts: Iterable[str], *, positions: int = 3) -> UnknownWords:
        """What words of `texts` become the unknown token, how often, where, and why; see `trietok.find_unknown`.

        >>> found = BertTokenizer.from_pretrained("trietok-en").find_unknown(["Say ☃", "☃ again"])
        >>> found.words[0].word, found.words[0].count, found.words[0].positions
        ('☃', 2, ((0, 4, 5), (1, 0, 1)))
        """
        from trietok.suggesting.unknown_words import find_unknown  # not needed to encode

        return find_unknown(self, texts, positions=positions)

    # ---- text to tokens to text -------------------------------------------------------------------------------------

    @property
    def do_lower_case(self) -> bool:
        """Whether texts are lower-cased; without basic tokenization there is no such attribute, as in transformers."""
        return self.basic_tokenizer.do_lower_case

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        if not self.do_basic_tokenize:
            return self.wordpiece_tokenizer.tokenize(text)
        words = self.basic_tokenizer.tokenize(text, None if split_special_tokens else self._special_set())
        never_split = self.basic_tokenizer.never_split
        return [
            piece
            for word in words
            for piece in ([word] if word in never_split else self.wordpiece_tokenizer.tokenize(word))
        ]

    def _tokenize_plain(self, text: str, special: frozenset[str]) -> list[str]:
        words = self.basic_tokenizer.tokenize(text) if self.do_basic_tokenize else text.split()
        tokens: list[str] = []
        for word in words:
            pieces = self.wordpiece_tokenizer.tokenize(word)
            if not special.isdisjoint(pieces):  # an entry that is a special token: cover the word without it
                pieces = self._ordinary_wordpiece(special).tokenize(word)
            tokens += pieces
        return tokens

    def _ordinary_wordpiece(self, special: frozenset[str]) -> WordpieceTokenizer:
        """WordPiece over the vocabulary without the special tokens; made when first a word needs it."""
        state = (self.wordpiece_tokenizer.version, special)
        if self._ordinary is None or self._ordinary[0] != state:
            full = self.wordpiece_tokenizer
            entries = {token: token_id for token, token_id in self.vocab.items() if token not in special}
            self._ordinary = (
                state,
                WordpieceTokenizer(
                    entries,
                    full.unk_token,
                    full.max_input_chars_per_word,
                    continuing_subword_prefix=full.continuing_subword_prefix,
                ),
            )
        return self._ordinary[1]

    def _locate(self, text: str, options: Mapping[str, Any]) -> Located:
        from trietok.text.slow_spans import SlowStages, locate  # not needed to encode

        tokens = self._split_text(text, **options)
        kept = dict(options)
        as_text = kept.pop("split_special_tokens", self.split_special_tokens)
        policy = special_policy(self._special_contents(), kept)
        basic = self.basic_tokenizer if self.do_basic_tokenize else None
        special, roles, added = self._special_contents(), self._special_tokens(), self._added
        if policy is not None:
            roles = tuple(token for token in roles if token in policy.allowed)
            added = added.without(special - policy.allowed)
        stages = SlowStages(
            basic=basic,
            pieces_of=self.wordpiece_tokenizer.pieces_of
            if policy is None
            else lambda w: self._plain_pieces(w, special),
            prefix=self.wordpiece_tokenizer.continuing_subword_prefix,
            lowered=lambda text: self._lowered(text, added, roles),
            added=None if as_text and policy is None else added,
            never_split=() if policy is not None else self._special_set(),
            whole=() if basic is None else basic.never_split,
            to_id=self._id_of_piece,
        )
        located = locate(text, stages)
        if located.tokens != tokens:
            raise NotSupportedError(
                f"{type(self).__name__} has stages of its own, so where its tokens came from cannot be told",
                name="return_offsets_mapping",
            )
        return located

    def _plain_pieces(self, word: str, special: frozenset[str]) -> list[str]:
        pieces = self.wordpiece_tokenizer.pieces_of(word)
        return pieces if special.isdisjoint(pieces) else self._ordinary_wordpiece(special).pieces_of(word)

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text: pieces that continue a word without a space.

        >>> BertTokenizer.from_pretrained("trietok-en").convert_tokens_to_string(["un", "##afford", "##able", "!"])
        'unaffordable !'
        """
        return " ".join(tokens).replace(" ##", "").strip()

    def _write_slow_tokenizer_json(self, path: str | os.PathLike[str]) -> None:
        from trietok.files.tokenizer_json.of_slow import write  # not needed to encode

        write(path, self)

    # ---- the template -----------------------------------------------------------------------------------------------

    @property
    def template(self) -> Template:
        """Which special tokens go around one sequence and around two; what follows says the same, but faster."""
        from trietok.inputs.template import BERT

        return BERT

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """[CLS] A [SEP], or [CLS] A [SEP] B [SEP] for a pair."""
        cls, sep = self.cls_token_id, self.sep_token_id
        if token_ids_1 is None:
            return [cls, *token_ids_0, sep]
        return [cls, *token_ids_0, sep, *token_ids_1, sep]

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 where the template puts [CLS] and [SEP], 0 for the ids between; see `PreTrainedTokenizerBase`."""
        if already_has_special_tokens:
            return super().get_special_tokens_mask(token_ids_0, token_ids_1, already_has_special_tokens=True)
        mask = [1, *[0] * len(token_ids_0), 1]
        return mask if token_ids_1 is None else [*mask, *[0] * len(token_ids_1), 1]


BertTokenizer.remember_own_stages()
