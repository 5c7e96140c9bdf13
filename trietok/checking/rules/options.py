"""tokenizer_config.json: its class, its options, and whether they suit the vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trietok.checking.files import DECODER
from trietok.checking.report import Finding
from trietok.checking.rules.facts import Facts
from trietok.files.formats import CONFIG_FILE, RECORD, TOKENIZER_CONFIG_FILE
from trietok.files.settings import ANY_KIND, GENERIC_FAST, JAPANESE, WORDPIECE_FAMILY

# Other names of options, such as those that tokenizer.json has for them.
_OTHER_NAMES = {
    "lowercase": "do_lower_case",
    "handle_chinese_chars": "tokenize_chinese_chars",
    "tokenize_chinese": "tokenize_chinese_chars",
}

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
_CASED_SHARE = 0.25  # of all words: below it the vocabulary is mainly of a script without case, as Chinese
_FEWEST_CAPITALS = 20
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
    """model_input_names has to begin with input_ids."""
    names = facts.files.config.get("model_input_names")
    if not isinstance(names, list) or not names or names[0] == "input_ids":
        return
    problem = "does not begin with" if "input_ids" in names else "does not have"
    message = f"model_input_names {problem} 'input_ids'; it begins with {names[0]!r:.60}"
    yield Finding("warning", "model-input-names", message, file=TOKENIZER_CONFIG_FILE)
