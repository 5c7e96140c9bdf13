"""`conform`: ports in other languages are found out, rule by rule, and a program that misbehaves is
an error.
"""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap
import time

import pytest

import trietok
from tests.cli.commands import run
from trietok.errors import InputError, InputTypeError
from trietok.workbench.locking.vectors import PLAIN, vectors

KINDS = {"slow": trietok.BertTokenizer, "fast": trietok.BertTokenizerFast}
ANSWERS = """
    import json, sys, unicodedata, trietok
    from trietok import BasicTokenizer, WordpieceTokenizer
    tokenizer = trietok.{kind}.from_pretrained("trietok-en")
    {change}
    for line in sys.stdin:
        asked = json.loads(line)
        options = asked["options"]
        cut = dict(truncation=True, max_length=options["max_length"]) if options["max_length"] else dict()
        said = dict(add_special_tokens=options["add_special_tokens"], return_offsets_mapping={spans}, **cut)
        found = tokenizer(asked["text"], asked["text_pair"], **said)
        answer = dict(ids=found["input_ids"], spans=found.get("offset_mapping"))
        {answer}
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def port(tmp_path):
    """Writes a program that answers as trietok does, with a change; its command."""

    def write(change="", answer="", kind="BertTokenizer"):
        file = tmp_path / "port.py"
        code = textwrap.dedent(ANSWERS).format(
            kind=kind, change=change, answer=answer, spans=not change
        )
        file.write_text(code, encoding="utf-8")
        return [sys.executable, "-W", "ignore", str(file)]

    return write


def program(code):
    return [sys.executable, "-c", textwrap.dedent(code)]


@pytest.fixture(params=KINDS)
def tokenizer(request):
    return KINDS[request.param].from_pretrained("trietok-en")


# ---- the texts -----------------------------------------------------------------------------------


def test_a_vector_is_what_a_call_gives(tokenizer):
    made = list(vectors(tokenizer, ["Naïve"], limit=200))
    assert (made[0].about, made[0].text, made[0].options) == ("your texts", "Naïve", PLAIN)
    assert sum(vector.text_pair is not None for vector in made) == 20
    for vector in made:
        length = vector.options["max_length"]
        cut = {"truncation": True, "max_length": length} if length else {}
        special = vector.options["add_special_tokens"]
        found = tokenizer(
            vector.text,
            vector.text_pair,
            add_special_tokens=special,
            **cut,
            return_offsets_mapping=True,
        )
        assert (vector.ids, vector.spans) == (found["input_ids"], found["offset_mapping"])
        assert (vector.tokens, vector.profile) == (
            tokenizer.convert_ids_to_tokens(vector.ids),
            tokenizer.profile,
        )


def test_a_seed_makes_the_same_texts(tokenizer):
    texts = [
        [vector.text for vector in vectors(tokenizer, limit=60, seed=seed)] for seed in (0, 0, 1)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_texts_are_made_for_any_vocabulary(vocab_file):
    tokenizer = trietok.BertTokenizer(str(vocab_file("a")))
    assert len(list(vectors(tokenizer, limit=100))) == 100


def test_no_text_holds_what_utf_8_cannot_write(tokenizer):
    for vector in vectors(tokenizer, limit=400, seed=time.time_ns() % 2**32):
        vector.text.encode("utf-8")


def test_a_byte_pair_encoding_has_no_vectors():
    with pytest.raises(InputTypeError, match="WordPiece"):
        list(vectors(object()))


# ---- ports ---------------------------------------------------------------------------------------


def test_the_same_ids(tokenizer, port):
    found = trietok.conform(tokenizer, port(kind=type(tokenizer).__name__), limit=150)
    assert (found.ok, found.differing, found.spans_differing, found.skipped, found.vectors) == (
        True,
        0,
        0,
        0,
        150,
    )
    assert "the same ids on 150 texts" in found.summary


@pytest.mark.parametrize(
    ("change", "rule", "why"),
    [
        (
            "tokenizer.basic_tokenizer.tokenize_chinese_chars = False",
            "chinese characters",
            "sets apart",
        ),
        (
            (
                "import string\nclass Basic(BasicTokenizer):\n    def _run_split_on_punc(self,"
                " text, never_split=None):\n        return ''.join(f' {c} ' if c in"
                " string.punctuation else c for c in text).split()\ntokenizer.basic_tokenizer ="
                " Basic()"
            ),
            "unicode signs",
            "only the signs of ASCII were punctuation",
        ),
        (
            (
                "right = tokenizer.wordpiece_tokenizer\n"
                "tokenizer.wordpiece_tokenizer = WordpieceTokenizer(right.vocab, '[UNK]', 10**6)"
            ),
            "long words",
            "too long",
        ),
    ],
)
def test_a_wrong_rule_is_named(port, change, rule, why):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.conform(tokenizer, port(change), limit=500)
    assert not found.ok
    assert found.rules[rule][0] > 0
    whys = [each.why for each in found.differences if each.vector.about == rule]
    assert any(why in each for each in whys), whys
    assert rule in str(found)


def test_what_a_program_skips_is_told(tokenizer, port):
    skips = "if asked['text_pair'] is not None: answer = dict(skip='no pairs')"
    found = trietok.conform(tokenizer, port(answer=skips, kind=type(tokenizer).__name__), limit=50)
    assert (found.ok, found.skipped) == (True, 5)
    assert found.summary.endswith("5 texts skipped")


def test_who_skips_all_conforms_to_nothing(tokenizer, port):
    assert not trietok.conform(tokenizer, port(answer="answer = dict(skip='')"), limit=5).ok


def test_spans_are_compared_where_there_are_any(port):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.conform(
        tokenizer, port(answer="answer['spans'] = [[0, 0]] * len(answer['ids'])"), limit=20
    )
    assert (found.ok, found.differing) == (False, 0)
    assert found.spans_differing >= 18
    assert found.differences[0].why.startswith(
        "the same ids, but token 2 has the span [0, 0] there, and [0, "
    )
    # a bare list will do
    without = trietok.conform(tokenizer, port(answer="answer = answer['ids']"), limit=20)
    assert without.ok


def test_an_error_is_a_difference(port):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.conform(tokenizer, port(answer="answer = dict(error='too hard')"), limit=3)
    assert (found.differing, found.differences[0].why) == (3, "the program said: too hard")


def test_a_program_may_read_all_before_it_answers(tokenizer):
    late = "import sys; lines = list(sys.stdin); print('\\n'.join(['[2, 3]'] * len(lines)))"
    assert trietok.conform(tokenizer, program(late), limit=30).vectors == 30


IGNORING = {
    "options['max_length'] = None": "the program does not cut to max_length, 8",
    "options['add_special_tokens'] = True": (
        "the program puts special tokens around where add_special_tokens is false"
    ),
    "options['add_special_tokens'] = False": "the program puts no special tokens around",
    "asked['text_pair'] = None": "the program leaves text_pair out",
}


@pytest.mark.parametrize("ignores", IGNORING)
def test_an_option_that_a_port_ignores_is_named(port, ignores):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    command = port()
    file = pathlib.Path(command[-1])
    code = file.read_text(encoding="utf-8").replace("    cut = ", f"    {ignores}\n    cut = ")
    file.write_text(code, encoding="utf-8")
    found = trietok.conform(tokenizer, command, limit=60)
    assert found.differing
    assert {each.why for each in found.differences} == {IGNORING[ignores]}


def test_special_tokens_that_a_port_cuts_off_are_named(port):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    cuts = (
        "answer['ids'] = tokenizer(asked['text'])['input_ids'][:8] if cut else answer['ids'];"
        " answer['spans'] = None"
    )
    found = trietok.conform(tokenizer, port(answer=cuts), limit=60)
    assert found.differing
    assert {each.why for each in found.differences} == {
        "the program cuts special tokens off, too: of 8 tokens they count as some"
    }


def test_an_id_that_no_token_has_is_named(port):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.conform(tokenizer, port(answer="answer['ids'][0] = 99999"), limit=9)
    why = "vocabulary: the program gives the id 99999, which no token has"
    assert {each.why for each in found.differences} == {why}
    assert "lock" not in str(list(found.lines()))


def test_too_few_spans_are_counted(port):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.conform(tokenizer, port(answer="answer['spans'] = [[0, 0]]"), ["a b"], limit=1)
    assert found.differences[0].why == "the same 4 ids, but 1 span: one a token"


# ---- programs that misbehave ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program-there"], "cannot start 'no-such-program-there': No such file"),
        (
            program("raise SystemExit('sorry')"),
            r"ended before text 1 \(.*\), with exit code 1: sorry",
        ),
        (program("print('[2, 3]')"), "ended before text 2 .* with exit code 0"),
        (
            program("print('hello', flush=True); input()"),
            "answered to text 1 .* with 'hello'; an answer is",
        ),
        (program("print('{}', flush=True)"), "answered to text 1 .* with '{}'"),
        (program("print('[true]', flush=True)"), "answered to text 1"),
        (program("print('7', flush=True)"), "answered to text 1"),
        (
            program("for line in __import__('sys').stdin: print('[2, 3]\\n[2, 3]', flush=True)"),
            (
                r"has answered to all texts, and goes on with '\[2, 3\]'; it has to write one line"
                r" for each"
            ),
        ),
        (
            program('print(\'{"number": 2, "ids": []}\', flush=True)'),
            "answered to text 1 .* with the answer to text 2; it has to answer in the order",
        ),
        (
            program("import time; time.sleep(600)"),
            "did not answer to text 1 .* within 1 second; it has to write a line",
        ),
    ],
)
def test_a_program_that_misbehaves(command, message):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    began, seconds = time.monotonic(), 1 if "within 1 second" in message else 300
    with pytest.raises(InputError, match=message):
        trietok.conform(tokenizer, command, limit=5, seconds=seconds)
    assert time.monotonic() - began < 500  # nothing waits for the program's end


def test_a_command_is_a_list(tokenizer):
    for command in ("node port.js", []):
        with pytest.raises(InputTypeError, match="a command is a list"):
            trietok.conform(tokenizer, command)


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_writes_vectors_as_lines_of_json(tmp_path):
    (tmp_path / "own.txt").write_text("one\ntwo\n")
    file = tmp_path / "vectors.jsonl"
    result = run(
        "conform", "-q", "--vectors", "20", "-f", str(tmp_path / "own.txt"), "-o", str(file)
    )
    assert (result.exit_code, result.stdout) == (0, "")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows[:2]] == ["one", "two"]
    assert len(rows) == 22
    assert run("conform", "-q", "--vectors", "20").stdout.count("\n") == 20
    assert "is there already" in run("conform", "-o", str(file)).stderr


def test_the_command_asks_a_program(port):
    result = run("conform", "-q", "--vectors", "40", "--", *port(kind="BertTokenizerFast"))
    assert result.exit_code == 0, result.stderr
    assert "the same ids on 40 texts (profile fast, seed 0)" in result.stdout
    wrong = port("tokenizer.basic_tokenizer.tokenize_chinese_chars = False")
    result = run("conform", "-q", "--profile", "slow", "--vectors", "60", "--json", "--", *wrong)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["ok"], found["rules"]["chinese characters"][0] > 0) == (False, True)
