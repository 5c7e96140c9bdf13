"""Rules about tokenizer_config.json: its class, its options, and what trietok keeps in it.

In: `Facts`. Out: findings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from trietok.disk import NEW
from trietok.files.formats import (
    ANY_KIND,
    GENERIC_FAST,
    JAPANESE,
    RECORD,
    TOKENIZER_CONFIG_FILE,
    WORDPIECE_FAMILY,
)
from trietok.tokenizer.wordpiece_vocabulary import is_unused_slot
from trietok.workbench.checking.facts import (
    CASED_VOCABULARY,
    NAMES_IN_JSON,
    Facts,
    as_written,
    rule,
)
from trietok.workbench.checking.files import DECODER
from trietok.workbench.checking.report import (
    NOTHING_LOADS,
    Finding,
    Severity,
    declare,
)

# Other names of options: those that tokenizer.json has for them, and one that is taken for one.
_OTHER_NAMES = {**NAMES_IN_JSON, "tokenize_chinese": "tokenize_chinese_chars"}
_KNOWN_INPUTS = {
    "input_ids",
    "token_type_ids",
    "attention_mask",
    "special_tokens_mask",
    "position_ids",
}


UNKNOWN_CLASS = declare(
    "unknown-class",
    so=NOTHING_LOADS,
    do='in tokenizer_config.json: "tokenizer_class": "BertTokenizer", or a relative of it',
)


@rule(UNKNOWN_CLASS)
def class_of_files(facts: Facts) -> Iterator[Finding]:
    """The class that the files name."""
    files = facts.files
    saved = files.config.get("tokenizer_class")
    known = (
        str(saved).removesuffix("Fast").removesuffix("Legacy").removesuffix("Tokenizer")
        in WORDPIECE_FAMILY
    )
    if saved is not None and not known and saved not in (*ANY_KIND, GENERIC_FAST, JAPANESE):
        message = f"tokenizer_class is {saved!r:.80}, which trietok does not have"
        yield Finding("error", UNKNOWN_CLASS, message, file=TOKENIZER_CONFIG_FILE)


OPTION_MISSPELT = declare(
    "option-misspelt",
    "options that change nothing",
    so="the option has its default",
    do="in tokenizer_config.json: rename the key",
)


@rule(OPTION_MISSPELT)
def misspelt_options(facts: Facts) -> Iterator[Finding]:
    """Keys that change nothing and look like ones that would."""
    left_out = {DECODER, RECORD, "tokenizer_class", *_OTHER_NAMES}
    # `pad_token_id` is an option of config.json, which some files repeat.
    keys = [key for key in facts.files.config if key not in left_out and not key.endswith("_id")]
    pairs = [(key, _OTHER_NAMES[key]) for key in facts.files.config if key in _OTHER_NAMES]
    for key, meant in (*pairs, *facts.kind.misspellings(keys)):
        message = f"the option {key!r} changes nothing; {meant!r} is probably meant"
        yield Finding("warning", OPTION_MISSPELT, message, file=TOKENIZER_CONFIG_FILE)


UNCASED_VOCABULARY = declare(
    "uncased-vocabulary",
    so="every word with a capital is cut into wrong pieces or unknown",
    do='in tokenizer_config.json: "do_lower_case": true',
)


@rule(CASED_VOCABULARY, UNCASED_VOCABULARY, needs="vocabulary basic")
def case_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Lower-casing with a cased vocabulary, and the reverse; the entries tell which it is."""
    (told, said), lowers = facts.case, bool(facts.setting("do_lower_case"))
    if told is (not lowers):
        code = CASED_VOCABULARY if lowers else UNCASED_VOCABULARY
        message = f"{said}, and do_lower_case is {as_written(lowers)}"
        message += "" if "do_lower_case" in facts.files.config else " where no file says otherwise"
        yield Finding("warning", code, message, TOKENIZER_CONFIG_FILE)


MODEL_INPUT_NAMES = declare(
    "model-input-names",
    so=(
        "tokenizer.pad and collators raise where the first name is another, and calls give only"
        " what is named"
    ),
    do=(
        'in tokenizer_config.json: "model_input_names": ["input_ids", "token_type_ids", '
        '"attention_mask"], or take the key out'
    ),
)


@rule(MODEL_INPUT_NAMES)
def model_inputs(facts: Facts) -> Iterator[Finding]:
    """model_input_names has to begin with input_ids, and to name what there is."""
    names = facts.files.config.get("model_input_names")
    if not isinstance(names, list) or not names:
        return

    def finding(severity: Severity, message: str) -> Finding:
        return Finding(
            severity, MODEL_INPUT_NAMES, f"model_input_names {message}", file=TOKENIZER_CONFIG_FILE
        )

    if names[0] != "input_ids":
        problem = "does not begin with" if "input_ids" in names else "does not have"
        yield finding("warning", f"{problem} 'input_ids'; it begins with {names[0]!r:.60}")
    for name in names:
        if isinstance(name, str) and name not in _KNOWN_INPUTS and name != names[0]:
            yield finding("warning", f"has {name!r:.60}, which no tokenizer of the family gives")
    lacking = [
        name for name in facts.kind.model_input_names if name not in names and name != "input_ids"
    ]
    if lacking:
        yield finding(
            "note",
            f"does not have {' and '.join(map(repr, lacking))}, which {facts.kind.__name__} gives",
        )


# What trietok itself has written: its record in tokenizer_config.json, and what a save has left
# behind.

_REMOVED = 1000


RECORD_FALSE = declare(
    "record-false",
    "trietok's record in tokenizer_config.json contradicts the files",
    so="a tokenizer that gives new tokens other ids than the one that was saved",
    do=(
        "BertTokenizer.from_pretrained(DIR).save_pretrained(DIR) writes the record anew; or take"
        " the key out"
    ),
)


@rule(RECORD_FALSE, needs="vocabulary")
def false_records(facts: Facts) -> Iterator[Finding]:
    """Keys of the record that say something else than the files."""
    for message in (*_false_holes(facts), *_false_ids(facts), *_false_slots(facts)):
        yield Finding("warning", RECORD_FALSE, f"{RECORD}.{message}", file=TOKENIZER_CONFIG_FILE)


def _false_holes(facts: Facts) -> Iterator[str]:
    last = max(facts.by_line, default=-1)
    size = max(last + 1, len(facts.files.tokens or ()))
    for hole in sorted(facts.holes):
        token = facts.by_line.get(hole)
        if hole >= size:
            yield f"vocab_holes has the id {hole}, and the vocabulary ends at {size - 1}"
        elif token is not None and not facts.is_filled(hole) and facts.added_ids.get(token) != hole:
            yield f"vocab_holes has the id {hole}, which is that of {token!r}"


def _false_ids(facts: Facts) -> Iterator[str]:
    record, highest = facts.files.record, facts.highest_id
    max_id = record.get("max_id")
    if type(max_id) is int:
        last_added = max(facts.added_ids.values(), default=-1)
        if max_id < last_added:
            yield f"max_id is {max_id}, and an added token has the id {last_added}"
        # ids of removed tokens stay reserved, but hardly so many
        elif max_id > 2 * highest + _REMOVED:
            yield (
                f"max_id is {max_id}, and the highest id is {highest}: a new token gets the id"
                f" {max_id + 1}"
            )
    order = record.get("added_order")
    known = set(facts.added_ids.values())
    for token_id in order if isinstance(order, list) else ():
        if token_id not in known:
            yield f"added_order has the id {token_id!r}, which no added token has"


def _false_slots(facts: Facts) -> Iterator[str]:
    slots = facts.files.record.get("assigned_unused")
    for slot, token in slots.items() if isinstance(slots, dict) else ():
        if slot in facts.line_ids:
            yield (
                f"assigned_unused says that {slot!r} became {token!r}, and {slot!r} is an entry"
                " still"
            )
        elif not is_unused_slot(slot):
            yield f"assigned_unused has {slot!r}, which is no unused slot"
        elif token in facts.line_ids and token not in facts.added_ids:
            yield f"assigned_unused says that {slot!r} became {token!r}, which is no added token"


SAVE_ABANDONED = declare(
    "save-abandoned",
    "a save was interrupted before it replaced a file",
    so="none: {file} is not read",
    do="nothing; the next save removes it, and so does `trietok check -m DIR --fix`",
)


@rule(SAVE_ABANDONED)
def leftovers(facts: Facts) -> Iterator[Finding]:
    """The plan of a save that had replaced no file."""
    if facts.files.is_interrupted or not os.path.isdir(facts.files.path):
        return
    for path in sorted(facts.files.path.glob(f"*{TOKENIZER_CONFIG_FILE}{NEW}")):
        message = "it is left of a save that was interrupted before it replaced a file"
        yield Finding("note", SAVE_ABANDONED, message, path.name)
