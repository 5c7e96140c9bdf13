"""For each code of a finding: what follows from it, and what repairs it.

In: a code. Out: two sentences. `{file}`, `{token}` and the other attributes of a `Finding` stand for its values. DIR is
the directory that was checked, OUT a new one.
"""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """What follows from a finding, and the edit or command that repairs it."""

    consequence: str
    repair: str


_FIX = "trietok check DIR --fix -o OUT"
_RENUMBER = f"{_FIX} --renumber, which writes old id -> new id to id_map.json"
_NEW_JSON = "remove tokenizer.json, then BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR) writes it anew"
_NOTHING_LOADS = "nothing loads"
_OTHER_IDS = "BertTokenizerFast and BertTokenizer give different ids for one text, and one of them is not the model's"
_NO_WORD = "an embedding row that no text uses, which costs memory and nothing else"
_CONFIG = "in tokenizer_config.json"
_RECORD = "a tokenizer that gives new tokens other ids than the one that was saved"

ADVICE = {
    # the vocabulary's lines
    "missing-vocabulary": Advice(_NOTHING_LOADS, "put the model's vocab.txt into the directory"),
    "other-kind": Advice("no WordPiece tokenizer loads it", "load it with the class that the message names"),
    "unreadable-file": Advice(
        "nothing loads, or what loads lacks what the file says",
        "check the path and its permissions; if a limit is named, use a smaller file",
    ),
    "empty-vocabulary": Advice(_NOTHING_LOADS, "put the model's vocab.txt into its place, one token a line"),
    "not-utf8": Advice(_NOTHING_LOADS, "convert the file, for example: iconv -f latin1 -t utf-8 {file}"),
    "byte-order-mark": Advice("the token of id 0 is in no text, and is missing where it is wanted", _FIX),
    "duplicate-line": Advice("the rows of the other lines are never used, and len(tokenizer) is smaller", _FIX),
    "blank-line": Advice("an id for an empty token, which no text gives", _FIX),
    "carriage-return": Advice("programs that end lines only at LF take CR for part of each token", _FIX),
    "lone-carriage-return": Advice("programs that end lines only at LF give all later tokens other ids", _FIX),
    "tab": Advice("the tab belongs to the token, so no word equals it", "take the tab and what follows off the line"),
    "edge-space": Advice("no word of a text equals it", _FIX),
    "line-break-character": Advice(
        "a program that breaks the line there gives all later tokens other ids",
        "read and write the file with open(..., newline='\\n'), not with str.splitlines; published models keep it",
    ),
    "control-character": Advice("no text gives it", "replace line {line_number} by the token that was meant"),
    "no-final-newline": Advice("a token that is appended becomes part of the last one", _FIX),
    # special tokens
    "unk-missing": Advice(_NOTHING_LOADS, f'{_CONFIG}: "unk_token": the vocabulary\'s token for unknown words'),
    "special-missing": Advice(
        "its id is behind the model's rows, or one whose row was never trained",
        f'{_CONFIG}: "{{role}}": the token that the model was trained with; --fix writes the id down as it is',
    ),
    "shared-role": Advice(
        "a model and a loss cannot tell the roles apart", f"{_CONFIG}: give each of {{role}} a token of its own"
    ),
    "role-contradiction": Advice(
        "transformers' versions and other readers take one or the other", f"{_FIX}, which writes what counts into both"
    ),
    "role-null": Advice(
        "what needs the role raises or puts a wrong id into its place",
        f'{_CONFIG}: "{{role}}": the token that the model was trained with, or take the key out for the default',
    ),
    "role-exchanged": Advice(
        "every row has the wrong id in the place of the {role}",
        '{file}: "{role}": the token of that name; the default is right if you take the key out',
    ),
    "role-ordinary": Advice(
        "decoding with skip_special_tokens drops the word, and a text with it forges the special token",
        '{file}: "{role}": the token that the model was trained with, or take the key out for the default',
    ),
    "special-unmarked": Advice(
        "readers that go by the file, as `tokenizers` does, keep the token when special tokens are skipped",
        '{file}: "special": true in the entry of {token!r}; --fix does it for tokenizer_config.json',
    ),
    "word-marked-special": Advice(
        "decoding with skip_special_tokens drops the word",
        '{file}: "special": false in the entry of {token!r}, or name it in additional_special_tokens',
    ),
    "role-unused": Advice(
        "the {role} has a row that no training has changed, so the model makes nothing of it",
        '{file}: "{role}": the token that the model was trained with, or take the key out for the default',
    ),
    # ids
    "id-clash": Advice("two tokens share one embedding row; nothing loads", _RENUMBER),
    "added-id-differs": Advice("one token has two ids; nothing loads", _RENUMBER),
    "added-id-twice": Advice("two tokens share one embedding row; nothing loads", _RENUMBER),
    "added-content-twice": Advice("one token has two ids; nothing loads", _RENUMBER),
    "added-tokens-contradiction": Advice(
        "which of the two counts depends on the program", f"correct {{file}}, or {_RENUMBER}"
    ),
    "added-cuts-words": Advice(
        "such words become fragments, and every text gets longer and worse",
        'tokenizer.remove_tokens([{token!r}]), or "single_word": true in its entry in {file}',
    ),
    "added-shadows": Advice(
        "the ids of texts are others than the model was trained with wherever the token stands in a word or alone",
        "tokenizer.remove_tokens([{token!r}]), unless it is meant so",
    ),
    "added-edge-space": Advice(
        "it is not found at the end of a text or beside punctuation, and takes the space out of others",
        '{file}: the token without the space; "lstrip" and "rstrip" are for spaces around it',
    ),
    "id-hole": Advice("transformers gives the next new token the id len(tokenizer), which is taken", _RENUMBER),
    "id-past-model": Advice(
        "the model raises an index error when the id comes",
        "model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
    ),
    "model-larger": Advice(
        "rows that no id uses; if they were not padded, the vocabulary or config.json is another model's",
        "nothing if the model was padded; else put the model's own vocabulary into the directory",
    ),
    # options
    "unknown-class": Advice(_NOTHING_LOADS, f'{_CONFIG}: "tokenizer_class": "BertTokenizer", or a relative of it'),
    "auto-map": Advice("nothing: the code is not run", "nothing"),
    "option-misspelt": Advice("the option has its default", f"{_CONFIG}: rename the key"),
    "cased-vocabulary": Advice(
        "no text gives an entry with a capital, and names are cut into pieces or unknown",
        f'{_CONFIG}: "do_lower_case": false',
    ),
    "uncased-vocabulary": Advice(
        "every word with a capital is cut into wrong pieces or unknown", f'{_CONFIG}: "do_lower_case": true'
    ),
    "accented-vocabulary": Advice(
        "words with such letters become other words, pieces or unknown", f'{_CONFIG}: "strip_accents": false'
    ),
    "unaccented-vocabulary": Advice(
        "words with accents are cut into pieces or unknown", f'{_CONFIG}: "strip_accents": null, or true'
    ),
    "chinese-vocabulary": Advice(
        "Chinese texts get other ids than the model was trained with",
        f'{_CONFIG}: "tokenize_chinese_chars" the other way round, and "handle_chinese_chars" in tokenizer.json',
    ),
    "left-side": Advice(
        "BERT's positions count from the left, and were trained with padding at the right",
        f'{_CONFIG}: "right", or take the key out',
    ),
    "chat-template": Advice("apply_chat_template raises", "correct the template at the line named"),
    "never-split-unknown": Advice(
        "the word is kept whole and becomes the unknown token",
        f"{_CONFIG}: take {{token!r}} out of never_split, or tokenizer.add_tokens([{{token!r}}])",
    ),
    "model-input-names": Advice(
        "tokenizer.pad and collators raise where the first name is another, and calls give only what is named",
        f'{_CONFIG}: "model_input_names": ["input_ids", "token_type_ids", "attention_mask"], or take the key out',
    ),
    # tokenizer.json
    "tokenizer-json-differs": Advice(
        _OTHER_IDS, f"put the model's own vocab.txt into its place if that is the wrong one; else {_NEW_JSON}"
    ),
    "tokenizer-json-ids": Advice("no fast tokenizer loads, or one with wrong ids", f"correct the id, or {_NEW_JSON}"),
    "tokenizer-json-part": Advice(
        "BertTokenizerFast does not load; the tokenizers package may",
        f"if a vocab.txt has the same tokens: {_NEW_JSON}; else load it with the tokenizers package",
    ),
    "tokenizer-json-added": Advice(
        "one profile finds the token in texts and the other does not, or skips it in decoding",
        f"correct the file that is wrong; if it is tokenizer.json, {_NEW_JSON}",
    ),
    "tokenizer-json-setting": Advice(
        "readers of tokenizer.json and of vocab.txt give different ids for one text",
        "decide which file is right: if tokenizer_config.json is wrong, correct it; if tokenizer.json is wrong, delete "
        "it and write it anew with BertTokenizerFast.from_pretrained(DIR).save_pretrained(DIR)",
    ),
    "tokenizer-json-template": Advice(
        "fast tokenizers put other special tokens, or token type ids, around texts than the model was trained with",
        _NEW_JSON,
    ),
    "tokenizer-json-length": Advice(
        "`tokenizers`, and servers that read the file with it, do so with every text; trietok and transformers do what "
        "each call asks for",
        'nothing if it is meant; else {file}: "truncation": null and "padding": null',
    ),
    "fast-does-not-load": Advice("AutoTokenizer, which takes the fast class, raises", "see the message"),
    # config.json and weights
    "model-token-id": Advice(
        "the model masks, pads or ends at another token than the tokenizer", '{file}: "{role}_id": {token_id}'
    ),
    "model-too-short": Advice(
        "truncation leaves texts longer than the model can take, which raise an index error",
        f'{_CONFIG}: "model_max_length": the number of max_position_embeddings',
    ),
    "short-length": Advice(
        "truncation cuts texts shorter than the model needs",
        "{file}: the length that the model was trained with, such as its max_position_embeddings",
    ),
    "model-types": Advice(
        "the model raises an index error for pairs",
        f'{_CONFIG}: "model_input_names": ["input_ids", "attention_mask"], if the model has no token types',
    ),
    "model-type": Advice(
        "the template or the inputs are not those of the model", "put the model's own config.json or tokenizer there"
    ),
    "weights-unreadable": Advice("the model does not load", "copy or download {file} again"),
    "weights-index": Advice(
        "a model that is loaded by the index does not load", "copy or download what {file} names, or the index again"
    ),
    "weights-shape": Advice(
        "the model does not load: the shapes differ", "put the model's own config.json or weights there"
    ),
    "sentence-module": Advice(
        "sentence-transformers does not load the model, or makes wrong vectors of it",
        "put the model's own {file} and folders there",
    ),
    "weights-too-few-rows": Advice(
        "the model raises an index error when an id from {token_id} to {other_id} comes",
        "model.resize_token_embeddings(tokenizer.embedding_rows()), then model.save_pretrained(DIR)",
    ),
    "weights-too-many-rows": Advice(
        "the vocabulary is a shorter one than the model was trained with",
        "put the model's own vocabulary and added_tokens.json into the directory",
    ),
    "weights-vocab-size": Advice(
        "the model does not load: the shapes differ", 'config.json: "vocab_size": the number of rows'
    ),
    # the JSON files, and what trietok keeps
    "not-json": Advice(_NOTHING_LOADS, "correct the file at the place named, or copy it again if it was cut off"),
    "wrong-shape": Advice(_NOTHING_LOADS, "write a value of the kind that the message names"),
    "duplicate-key": Advice("readers disagree about which of the two counts", "remove one of them"),
    "does-not-load": Advice(_NOTHING_LOADS, "see the message"),
    "save-unfinished": Advice(
        "trietok takes the files from before the save; other programs may read new ones",
        "load DIR and call save_pretrained(DIR), then make the changes again",
    ),
    "save-cut-short": Advice(
        "none for who reads the files by their names; whoever removes {file} loses them",
        "load DIR and call save_pretrained(DIR), which puts the files in their places and removes {file}",
    ),
    "save-mixed": Advice(
        "old and new files may be mixed",
        "remove .trietok-save.json if the files are as they should be; else tokenizer.save_pretrained(OUT)",
    ),
    "save-abandoned": Advice(
        "none: the files of the directory do not depend on it",
        "remove {file}, and save again if the changes are not there",
    ),
    "record-false": Advice(
        _RECORD, "BertTokenizer.from_pretrained(DIR).save_pretrained(DIR) writes the record anew; or take the key out"
    ),
    # entries that are damaged, or that no text can give
    "mixed-scripts": Advice(
        "no text with the word as it is written gives the entry: its words are cut into pieces",
        "write the word in one script; an entry of a model that was trained with it stays",
    ),
    "invisible-character": Advice(
        "no word of a text equals it", "replace the entry by the word without the character; its id stays"
    ),
    "damaged-entry": Advice("no word of a text equals it", "replace the entry by what was meant; its id stays"),
    "letter-missing": Advice(
        "such words become the unknown token, whatever their other letters are",
        "put the model's own vocab.txt there, or tokenizer.add_wordpieces([{token!r}]) and train the new row",
    ),
    "slot-replaced": Advice(
        "the row is a slot's, which published models never trained",
        "nothing if you chose the word and train the model with it; else put the model's own vocabulary there",
    ),
    "unreachable-space": Advice(
        "no text gives it: words are split at whitespace",
        "tokenizer.add_tokens([...]) finds phrases; an entry of a vocabulary has no space inside",
    ),
    **dict.fromkeys(
        (
            "unreachable-case",
            "unreachable-accent",
            "unreachable-form",
            "unreachable-punctuation",
            "unreachable-chinese",
            "unreachable-deleted",
            "unreachable-length",
            "unreachable-prefix",
        ),
        Advice(_NO_WORD, "nothing in a published vocabulary; write an entry of your own as the tokenizer writes words"),
    ),
}
