"""tokenizer_config.json: its class, its options, and whether they suit the vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

from trietok.workbench.checking.files import DECODER
from trietok.workbench.checking.report import Finding, Severity
from trietok.workbench.checking.rules.facts import Facts
from trietok.files.formats import CHAT_TEMPLATE_FILE, CONFIG_FILE, RECORD, TOKENIZER_CONFIG_FILE
from trietok.files.settings import ANY_KIND, GENERIC_FAST, JAPANESE, WORDPIECE_FAMILY
from trietok.text.characters import is_chinese_char
from trietok.tokenizer.chat_templates import syntax_error

# Other names of options, such as those that tokenizer.json has for them.
_OTHER_NAMES = {
    "lowercase": "do_lower_case",
    "handle_chinese_chars": "tokenize_chinese_chars",
    "tokenize_chinese": "tokenize_chinese_chars",
}

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
_CASED_SHARE = 0.25  # of all words: below it the vocabulary is mainly of a script without case, as Chinese
_FEWEST_CAPITALS = 20
_FEWEST_ACCENTED = 20  # entries: fewer may be slips, and are notes of their own
_FEWEST_ASCII = 5000  # entries without an accent: a vocabulary of so many has some, unless they were stripped
_FEWEST_CHINESE = 100
_KNOWN_INPUTS = {"input_ids", "token_type_ids", "attention_mask", "special_tokens_mask", "position_ids"}
_CAPITALS_SHARE = 0.05  # of the words with case: a cased vocabulary has far more, an uncased one none


def class_of_files(facts: Facts) -> Iterator[Finding]:
    """The class that the files name, and code that they name."""
    files = facts.files
    saved = files.config.get("tokenizer_class")
    known = str(saved).removesuffix("Fast").removesuffix("Legacy").removesuffix("Tokenizer") in WORDPIECE_FAMILY
    if saved is not None and not known and saved not in (*ANY_KIND, GENERIC_FAST, JAPANESE):
        message = f"tokenizer_class is {saved!r:.80}, which trietok does not have"
        yield Finding("error", "unknown-class", message, file=TOKENIZER_CONFIG_FILE)
    for name, values in ((TOKENIZER_CONFIG_FILE, files.config), (CONFIG_FILE, files.model_config)):
        if "auto_map" in values:
            yield Finding("note", "auto-map", "auto_map names code to run; it is never run", file=name)


def misspelt_options(facts: Facts) -> Iterator[Finding]:
    """Keys that change nothing and look like ones that would."""
    left_out = {DECODER, RECORD, "tokenizer_class", *_OTHER_NAMES}
    # `pad_token_id` is an option of config.json, which some files repeat.
    keys = [key for key in facts.files.config if key not in left_out and not key.endswith("_id")]
    pairs = [(key, _OTHER_NAMES[key]) for key in facts.files.config if key in _OTHER_NAMES]
    for key, meant in (*pairs, *facts.kind.misspellings(keys)):
        message = f"the option {key!r} changes nothing; {meant!r} is probably meant"
        yield Finding("warning", "option-misspelt", message, file=TOKENIZER_CONFIG_FILE)


class VocabularyCase(NamedTuple):
    """What a vocabulary says of lower-casing.

    Attributes:
        lowers: whether its tokenizer lower-cases; None where the entries do not tell.
        said: what tells it, for a message.
    """

    lowers: bool | None
    said: str


def case_told_by(facts: Facts) -> VocabularyCase:
    """Whether the entries are those of a vocabulary that was made of lower-cased texts."""
    lower = capital = 0
    for word in facts.words:
        if word.lower() != word:
            capital += 1
        elif word.upper() != word:
            lower += 1
    cased = lower + capital
    of_them = f"{capital} of its {cased} words with letters of two cases have capitals"
    if cased < _FEWEST_CASED:
        return VocabularyCase(None, of_them)
    if capital >= max(_FEWEST_CAPITALS, _CAPITALS_SHARE * cased):
        return VocabularyCase(False, f"the vocabulary is cased: {of_them}")
    if capital * 1000 < cased and cased >= _CASED_SHARE * len(facts.words):
        return VocabularyCase(True, f"the vocabulary is uncased: {of_them}")
    return VocabularyCase(None, of_them)


def case_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Lower-casing with a cased vocabulary, and the reverse; the entries tell which it is."""
    if facts.setting("do_basic_tokenize") is False:
        return
    told, lowers = case_told_by(facts), bool(facts.setting("do_lower_case"))
    if told.lowers is None or told.lowers == lowers:
        return
    message = f"{told.said}, and do_lower_case is {str(lowers).lower()}"
    if "do_lower_case" not in facts.files.config:
        message += " where no file says otherwise"
    code = "cased-vocabulary" if lowers else "uncased-vocabulary"
    yield Finding("warning", code, message, file=TOKENIZER_CONFIG_FILE)


def accents_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Stripping accents from the words of a vocabulary that has them, and keeping them where it has none."""
    if facts.slow is None or facts.setting("do_basic_tokenize") is False or hasattr(facts.slow, "stage_settings"):
        return
    lowers, strips = bool(facts.setting("do_lower_case")), facts.setting("strip_accents")
    if strips is None and case_told_by(facts).lowers is not None and case_told_by(facts).lowers != lowers:
        return  # it follows from lower-casing, which has a finding
    value = {None: "null", True: "true", False: "false"}[strips]
    accented = [word for word in facts.words if not word.isascii() and unicodedata.normalize("NFD", word) != word]
    known: dict[str, Any] = {"file": TOKENIZER_CONFIG_FILE}
    if (lowers if strips is None else strips) and len(accented) >= _FEWEST_ACCENTED:
        message = (
            f"strip_accents is {value}, which takes letters apart and accents off, and {len(accented):,} entries have "
        )
        message += f"such letters, as {', '.join(map(repr, accented[:3]))}: no text gives them"
        yield Finding("warning", "accented-vocabulary", message, token=accented[0], **known)
    elif strips is False and not accented and sum(word.isascii() for word in facts.words) >= _FEWEST_ASCII:
        message = "strip_accents is false, so accents stay in texts, and no entry has one"
        yield Finding("warning", "unaccented-vocabulary", message, **known)


def chinese_of_vocabulary(facts: Facts) -> Iterator[Finding]:
    """Chinese characters as words of their own where the vocabulary has words of several, and the reverse."""
    alone = several = 0
    for word in facts.words:
        if not word.isascii() and any(is_chinese_char(ord(char)) for char in word):
            alone, several = alone + (len(word) == 1), several + (len(word) > 1)
    splits = bool(facts.setting("tokenize_chinese_chars"))
    if facts.setting("do_basic_tokenize") is False or alone + several < _FEWEST_CHINESE:
        return
    if facts.slow is None or hasattr(facts.slow, "stage_settings") or (several * 100 > alone) != splits:
        return
    if splits:
        message = f"tokenize_chinese_chars is true, so no text gives the {several:,} entries of several characters"
    else:
        message = (
            f"tokenize_chinese_chars is false, and the vocabulary has {alone:,} entries of one Chinese character and "
        )
        message += f"{several:,} of several: it was made with each character as a word"
    yield Finding("warning", "chinese-vocabulary", message, file=TOKENIZER_CONFIG_FILE)


def words_never_split(facts: Facts) -> Iterator[Finding]:
    """Words in never_split that are no entries."""
    words = facts.files.config.get("never_split")
    if not isinstance(words, list) or facts.setting("do_basic_tokenize") is False:
        return
    for word in words:
        if isinstance(word, str) and not facts.has(word):
            message = f"never_split holds {word!r}, which is no entry of the vocabulary and no added token"
            yield Finding("warning", "never-split-unknown", message, file=TOKENIZER_CONFIG_FILE, token=word)


def model_inputs(facts: Facts) -> Iterator[Finding]:
    """model_input_names has to begin with input_ids, and to name what there is."""
    names = facts.files.config.get("model_input_names")
    if not isinstance(names, list) or not names:
        return

    def finding(severity: Severity, message: str) -> Finding:
        return Finding(severity, "model-input-names", f"model_input_names {message}", file=TOKENIZER_CONFIG_FILE)

    if names[0] != "input_ids":
        problem = "does not begin with" if "input_ids" in names else "does not have"
        yield finding("warning", f"{problem} 'input_ids'; it begins with {names[0]!r:.60}")
    for name in names:
        if isinstance(name, str) and name not in _KNOWN_INPUTS and name != names[0]:
            yield finding("warning", f"has {name!r:.60}, which no tokenizer of the family gives")
    lacking = [name for name in facts.kind.model_input_names if name not in names and name != "input_ids"]
    if lacking:
        yield finding("note", f"does not have {' and '.join(map(repr, lacking))}, which {facts.kind.__name__} gives")


def sides(facts: Facts) -> Iterator[Finding]:
    """Padding or truncation at the left, of models that count positions from there."""
    cases: tuple[tuple[str, Severity, str], ...] = (
        ("padding_side", "warning", "the first word of a padded text has another position than in training"),
        ("truncation_side", "note", "long texts lose their beginning"),
    )
    for key, severity, why in cases:
        if facts.files.config.get(key) == "left":
            yield Finding(severity, "left-side", f"{key} is 'left': {why}", file=TOKENIZER_CONFIG_FILE)


def chat_templates(facts: Facts) -> Iterator[Finding]:
    """Chat templates that do not parse."""
    templates = None if facts.slow is None else facts.slow.chat_template
    for name, template in templates.items() if isinstance(templates, dict) else (("", templates),):
        wrong = syntax_error(template) if isinstance(template, str) else None
        if wrong is not None:
            file = TOKENIZER_CONFIG_FILE if "chat_template" in facts.files.config else CHAT_TEMPLATE_FILE
            message = (
                f"the chat template {name!r}".removesuffix(" ''") + f" does not parse: line {wrong[0]}: {wrong[1]}"
            )
            yield Finding("warning", "chat-template", message, file=file)
