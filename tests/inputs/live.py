"""An `InputBuilder` and an encoder made of what a tokenizer shows: to compare the two, and what calls show of both."""

from __future__ import annotations

import logging

from trietok.inputs.builder import InputBuilder, InputSettings
from trietok.inputs.pieces import Piece
from trietok.inputs.profiles import RUST, SLOW
from trietok.text.alignment import Located


class LiveEncoder:
    """A tokenizer's texts to ids, spans and tokens, by its calls."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def _encoding(self, text):
        return self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)

    def ids(self, text):
        return self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def spans(self, text, count=-1):
        return self._encoding(text)["offset_mapping"]

    def locate(self, text):
        encoding = self._encoding(text)
        return Located(encoding.input_ids, encoding.tokens(), encoding.offset_mapping, encoding.word_ids())

    def ids_of_tokens(self, tokens):
        return self.tokenizer.convert_tokens_to_ids(tokens)


def pieces_of(tokenizer, pair):
    """What the methods of a tokenizer put around one text, or two."""
    texts = ([-1], [-2]) if pair else ([-1],)
    ids = tokenizer.build_inputs_with_special_tokens(*texts)
    types = tokenizer.create_token_type_ids_from_sequences(*texts)
    mask = tokenizer.get_special_tokens_mask(*texts)
    unset = len(types) < len(ids)  # BERT's type ids leave out a special token that is not set
    types = iter(types)
    question = getattr(tokenizer, "question_token", None)
    left_out = () if len(mask) == len(ids) else tokenizer.convert_tokens_to_ids([str(question), "."])
    pieces = []
    for token_id in ids:
        has_type = not (unset and token_id is None)
        type_id = next(types) if has_type else 0
        if token_id is not None and token_id < 0:
            pieces.append(Piece(type_id, sequence=-1 - token_id))
        else:
            token = None if token_id is None else tokenizer.convert_ids_to_tokens(token_id)
            pieces.append(Piece(type_id, None, token, token_id, has_type, token_id not in left_out))
    return tuple(pieces)


def settings_of(tokenizer, windows):
    return InputSettings(
        tuple(tokenizer.model_input_names),
        tokenizer.padding_side,
        tokenizer.truncation_side,
        tokenizer.model_max_length,
        tokenizer.pad_token_id,
        tokenizer.pad_token,
        tokenizer.pad_token_type_id,
        windows,
    )


def builder_of(tokenizer):
    """For calls with texts."""
    if not tokenizer.is_fast:
        return builder_of_ids(tokenizer)
    templates = (tokenizer.post_processor.pieces(pair) for pair in (False, True))
    return InputBuilder(settings_of(tokenizer, RUST), *templates, warn_once=Warnings().once)


def builder_of_ids(tokenizer):
    """For `prepare_for_model`."""
    templates = (pieces_of(tokenizer, pair) for pair in (False, True))
    counts = (tokenizer.num_special_tokens_to_add(False), tokenizer.num_special_tokens_to_add(True))
    settings = settings_of(tokenizer, SLOW)
    return InputBuilder(settings, *templates, warn_once=Warnings().once, special_counts=counts)


class Warnings:
    """Logs each message the first time."""

    def __init__(self):
        self.given = set()

    def once(self, key, message):
        if key not in self.given:
            self.given.add(key)
            logging.getLogger("trietok").warning(message)


def outcome(call, questions=True):
    """What a call shows: its values in their order, what the result can be asked, or an error; and what it logs."""
    records = []

    class Kept(logging.Handler):
        def emit(self, record):
            records.append((record.levelname, record.getMessage()))

    handler = Kept()
    logger = logging.getLogger("trietok")
    logger.addHandler(handler)
    try:
        result = call()
    except Exception as error:
        return type(error), str(error), records
    finally:
        logger.removeHandler(handler)
    return shown(result), details(result) if questions else None, records


def details(encoding):
    """All that the result of a call can be asked about its rows."""
    ids = encoding["input_ids"]
    rows = len(ids) if len(ids) and not isinstance(ids[0], (int, type(None))) else 1
    asked = [encoding.is_fast, encoding.n_sequences]
    for row in range(rows):
        for name in ("tokens", "word_ids", "sequence_ids"):
            try:
                asked.append(getattr(encoding, name)(row))
            except Exception as error:
                asked.append((type(error), str(error)))
    return asked, [each.__dict__ for each in encoding.encodings or ()]


def shown(value):
    """Values, their kinds and their order."""
    if isinstance(value, list):
        return list(map(shown, value))
    if hasattr(value, "items"):
        return [(key, shown(item)) for key, item in value.items()]
    if hasattr(value, "tolist"):
        return type(value).__name__, str(value.dtype), tuple(value.shape), shown(value.tolist())
    return value
