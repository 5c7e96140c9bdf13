"""BERT's relatives: the tokenizers of other models on the same WordPiece vocabulary format.

In: what a `BertTokenizer` takes. Out: the ids, token type ids and masks that transformers 4.57.6
gives for each model. A class says only what sets it apart: other special tokens, another template,
other inputs of the model. DPR's reader takes a question with many passages, and finds in the
model's scores for them the best answers.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence

from trietok.errors import InputError, OptionError, SpecialTokenError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding, Truncation
from trietok.inputs.template import Template
from trietok.inputs.tensors import Tensors, to_python
from trietok.later import Any
from trietok.text.added_tokens import AddedToken
from trietok.text.alignment import Ids
from trietok.tokenizer.bert import BertTokenizer, given
from trietok.tokenizer.hooks import DECODE_HOOKS
from trietok.tokenizer.moment import frozen
from trietok.tokenizer.token_table import Token

# The output of the model for the rows: scores of shape (passages, sequence), twice, and
# (passages,).
DPRReaderOutput = namedtuple("DPRReaderOutput", "start_logits end_logits relevance_logits")
# An answer: `start_index` and `end_index` count tokens in the row of passage `doc_id`, both
# inclusive.
DPRSpanPrediction = namedtuple(
    "DPRSpanPrediction", "span_score relevance_score doc_id start_index end_index text"
)

AnswerSpan = tuple[int, int]


WITHOUT_TYPES = ["input_ids", "attention_mask"]


class DistilBertTokenizer(BertTokenizer):
    """DistilBERT: BERT without token type ids among the model's inputs."""

    model_input_names = WITHOUT_TYPES


class ElectraTokenizer(BertTokenizer):
    """ELECTRA: as BERT."""


class MobileBertTokenizer(BertTokenizer):
    """MobileBERT: as BERT."""


class ConvBertTokenizer(BertTokenizer):
    """ConvBERT: as BERT."""


class SqueezeBertTokenizer(BertTokenizer):
    """SqueezeBERT: as BERT."""


class LayoutLMTokenizer(BertTokenizer):
    """LayoutLM: as BERT; the boxes are the caller's."""


class LxmertTokenizer(BertTokenizer):
    """LXMERT: as BERT."""


class DPRContextEncoderTokenizer(BertTokenizer):
    """DPR's encoder of passages: as BERT."""


class DPRQuestionEncoderTokenizer(BertTokenizer):
    """DPR's encoder of questions: as BERT."""


class DPRReaderTokenizer(BertTokenizer):
    """DPR's reader: takes a question, titles and texts, and finds the best answers; see
    `docs/profiles.md`.
    """

    model_input_names = WITHOUT_TYPES

    def __call__(  # type: ignore[override]  # the call takes other arguments
        self,
        questions: Any,
        titles: Any = None,
        texts: Any = None,
        padding: Padding = False,
        truncation: Truncation = False,
        max_length: int | None = None,
        return_tensors: Tensors = None,
        return_attention_mask: bool | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode questions with the titles and texts of passages: [CLS] question [SEP] title [SEP]
        text.

        Args:
            questions: one question for all passages, or a question for each.
            titles, texts: of the passages, as a str or a list of str. Without one of them, or both,
                the call is that of any tokenizer, and the one that is given is the second text.
            truncation: cut each row off at `max_length`, at its end.
            padding, max_length, return_tensors, return_attention_mask: those of any call.
            **kwargs: for a call without titles or texts only.

        Returns:
            A `BatchEncoding` with `input_ids` and `attention_mask`, a row for each passage.

        Raises:
            InputError: there are not as many titles as texts.
            OptionError: another keyword together with titles and texts.

        >>> import trietok
        >>> from trietok.files.model_files import built_in_directory
        >>> tokenizer = trietok.DPRReaderTokenizer(built_in_directory("trietok-en") / "vocab.txt")
        >>> rows = tokenizer(
        ...     "What is it?", titles=["A thing", "A word"], texts=["It is old.", "It is new."]
        ... )
        >>> tokenizer.decode(rows.input_ids[1])
        '[CLS] what is it? [SEP] a word [SEP] it is new.'
        """
        pinned: Any = self._pinned()
        plain: Callable[..., BatchEncoding] = super(DPRReaderTokenizer, pinned).__call__
        if titles is None or texts is None:
            kwargs |= {"truncation": truncation, "return_attention_mask": return_attention_mask}
            kwargs |= {
                "padding": padding,
                "max_length": max_length,
                "return_tensors": return_tensors,
            }
            return plain(questions, texts if titles is None else titles, **kwargs)
        for name in kwargs:
            raise OptionError(
                f"a call with titles and texts takes no {name!r}; see DPRReaderTokenizer", name=name
            )
        titles = [titles] if isinstance(titles, str) else titles
        texts = [texts] if isinstance(texts, str) else texts
        questions = [questions] * len(titles) if isinstance(questions, str) else questions
        if len(titles) != len(texts):
            raise InputError(
                f"there are {len(titles)} titles and {len(texts)} texts; give one of each for a"
                " passage"
            )
        fronts: Any = plain(questions, titles, padding=False, truncation=False)["input_ids"]
        ends: Any = plain(texts, add_special_tokens=False, padding=False, truncation=False)[
            "input_ids"
        ]
        stop = max_length if truncation else None
        rows: dict[str, list[Ids]] = {
            "input_ids": [(a + b)[:stop] for a, b in zip(fronts, ends, strict=True)]
        }
        if return_attention_mask is not False:
            pad = pinned.pad_token_id
            rows["attention_mask"] = [
                [int(token_id != pad) for token_id in row] for row in rows["input_ids"]
            ]
        return pinned.pad(  # type: ignore[no-any-return]
            rows, padding=padding, max_length=max_length, return_tensors=return_tensors
        )

    def decode_best_spans(
        self,
        reader_input: Mapping[str, Any],
        reader_output: Any,
        num_spans: int = 16,
        max_answer_length: int = 64,
        num_spans_per_passage: int = 4,
    ) -> list[DPRSpanPrediction]:
        """The best answers, from the most relevant passage on, in each the highest score first.

        An answer lies in the title or the text, or across both.

        Args:
            reader_input: what the call returned.
            reader_output: the output of the model: start scores and end scores, each of shape
                (passages, sequence), and the relevance of the passages, of shape (passages,);
                lists, arrays or tensors.
            num_spans: the most answers to return.
            max_answer_length: the longest answer, in tokens.
            num_spans_per_passage: the most answers from one passage.

        Returns:
            `DPRSpanPrediction` tuples: `span_score` is the start score plus the end score.

        Raises:
            InputError: a row is cut off within its question.

        >>> import trietok
        >>> from trietok.files.model_files import built_in_directory
        >>> tokenizer = trietok.DPRReaderTokenizer(built_in_directory("trietok-en") / "vocab.txt")
        >>> rows = tokenizer("Who?", titles="People", texts="the old people")
        >>> scores = trietok.DPRReaderOutput(
        ...     [[0, 0, 0, 0, 0, 0, 1, 3, 0]], [[0, 0, 0, 0, 0, 0, 0, 1, 3]], [2]
        ... )
        >>> tokenizer.decode_best_spans(rows, scores, num_spans=1)[0].text
        'old people'
        """
        state = frozen(self, DECODE_HOOKS)
        start_logits, end_logits, relevance = reader_output[:3]
        predictions: list[DPRSpanPrediction] = []
        for doc_id in sorted(range(len(relevance)), key=relevance.__getitem__, reverse=True):
            row = list(to_python(reader_input["input_ids"][doc_id]))
            first, end = state._passage(row, doc_id)
            starts, ends = start_logits[doc_id], end_logits[doc_id]
            for start, last in _best_spans(
                starts[first:end], ends[first:end], max_answer_length, num_spans_per_passage
            ):
                start, last = start + first, last + first
                text = state.decode(row[start : last + 1])
                score = starts[start] + ends[last]
                predictions.append(
                    DPRSpanPrediction(score, relevance[doc_id], doc_id, start, last, text)
                )
            if len(predictions) >= num_spans:
                break
        return predictions[:num_spans]

    def _passage(self, row: Ids, doc_id: int) -> AnswerSpan:
        """Where answers may lie in a row: behind the question's [SEP], up to the padding.

        So an answer may lie in the title too, as in transformers, although its comment speaks of
        the second [SEP].
        """
        try:
            first = row.index(self.sep_token_id, 2) + 1  # type: ignore[arg-type]  # None is nowhere
        except ValueError:
            raise InputError(
                f"passage {doc_id} is cut off within the question: there is no {self.sep_token}"
                " behind it; encode it with a max_length that leaves room"
            ) from None
        pad = self.pad_token_id
        return first, row.index(pad) if row[-1] == pad else len(row)


def _best_spans(
    starts: Sequence[Any], ends: Sequence[Any], longest: int, most: int
) -> list[AnswerSpan]:
    """The spans with the highest start score plus end score, none within another; the first of
    equals first.
    """
    scored = [
        (start_score + end_score, (start, start + more))
        for start, start_score in enumerate(starts)
        for more, end_score in enumerate(ends[start : start + longest])
    ]
    scored.sort(key=lambda pair: pair[0], reverse=True)
    chosen: list[AnswerSpan] = []
    for _, (start, last) in scored:
        if any((start <= a and b <= last) or (a <= start and last <= b) for a, b in chosen):
            continue
        chosen.append((start, last))
        if len(chosen) == most:
            break
    return chosen


class RetriBertTokenizer(BertTokenizer):
    """RetriBERT: BERT without token type ids among the model's inputs, and decoding leaves spaces
    as they are.
    """

    model_input_names = WITHOUT_TYPES

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**given({"clean_up_tokenization_spaces": False, **locals()}))


class FunnelTokenizer(BertTokenizer):
    """Funnel Transformer: other names for the special tokens, and a token type id of its own for
    the first.

    Attributes:
        cls_token_type_id: the token type id of `<cls>`.
    """

    cls_token_type_id: int = 2

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "<unk>",
        sep_token: Token = "<sep>",
        pad_token: Token = "<pad>",
        cls_token: Token = "<cls>",
        mask_token: Token = "<mask>",
        bos_token: Token = "<s>",
        eos_token: Token = "</s>",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()))

    @property
    def template(self) -> Template:
        cls = f"cls:{self.cls_token_type_id}"
        return Template.of(f"{cls} $A sep", f"{cls} $A sep $B:1 sep:1")


_MPNET_ROLES = {
    **dict.fromkeys(("bos_token", "cls_token"), "<s>"),
    **dict.fromkeys(("eos_token", "sep_token"), "</s>"),
    **{"unk_token": "[UNK]", "pad_token": "<pad>", "mask_token": "<mask>"},
}


def mpnet_roles(arguments: Mapping[str, Any], *, special: bool) -> dict[str, Any]:
    """MPNet's roles as `AddedToken`; the mask token is the one that takes the spaces before it."""
    roles = {role: arguments.get(role, token) for role, token in _MPNET_ROLES.items()}
    return {
        role: (
            AddedToken(token, lstrip=role == "mask_token", special=special)
            if isinstance(token, str)
            else token
        )
        for role, token in roles.items()
    }


class MPNetTokenizer(BertTokenizer):
    """MPNet: `<s>` and `</s>` around texts, two `</s>` between a pair, and a mask token with
    `lstrip`.

    The model has no token type ids; where they are asked for, all are 0.
    """

    model_input_names = WITHOUT_TYPES

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        bos_token: Token = "<s>",
        eos_token: Token = "</s>",
        sep_token: Token = "</s>",
        cls_token: Token = "<s>",
        unk_token: Token = "[UNK]",
        pad_token: Token = "<pad>",
        mask_token: Token = "<mask>",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**given(locals()), **mpnet_roles(locals(), special=True)})

    @property
    def template(self) -> Template:
        return Template.of("cls $A sep", "cls $A sep sep $B sep")

    def get_vocab(self) -> dict[str, int]:
        table = self._table
        return {**table.added.ids_by_content, **table.entries}


class SplinterTokenizer(BertTokenizer):
    """Splinter: `[QUESTION] .` after the question of a pair; no composing to NFC.

    The question is the first of a pair, and the second where `padding_side` is `"left"`.

    Args:
        question_token: the placeholder for the answer. It has no role, and a text cannot give it.
        **kwargs: the other arguments are those of `BertTokenizer`.

    Raises:
        SpecialTokenError: `question_token` is no token. All else is as in `BertTokenizer`.
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
        question_token: Token = "[QUESTION]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(question_token, (str, AddedToken)):
            raise SpecialTokenError(
                f"question_token is a string or an AddedToken, not {question_token!r:.60}",
                role="question_token",
            )
        self.question_token = question_token
        super().__init__(**given({"clean_up_tokenization_spaces": False, **locals()}))
        if do_basic_tokenize:
            self.basic_tokenizer.composes = False

    @property
    def question_token_id(self) -> int:
        """The id of the question token."""
        token_id: int = self.convert_tokens_to_ids(str(self.question_token))
        return token_id

    @property
    def template(self) -> Template:
        if self.padding_side == "right":
            return Template.of("cls $A sep", "cls $A ~question ~'.' sep $B:1 sep:1")
        return Template.of("cls $A sep", "cls $A sep $B:1 ~question:1 ~'.':1 sep:1")


CLASSES: tuple[type[BertTokenizer], ...] = tuple(
    kind
    for kind in tuple(globals().values())
    if isinstance(kind, type) and issubclass(kind, BertTokenizer)
)
