"""What functions report: every report has the same few methods, and they agree with one another."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.explaining.test_notebooks import sound

HOSTILE = "<script>☃\u2028"


def every_report(folder: Path) -> list[tuple[Any, bool]]:
    """A report of each class, or of each of its answers, and whether it is to be `ok`."""
    old = trietok.BertTokenizer.from_pretrained("trietok-en")
    new, more = (trietok.BertTokenizer.from_pretrained("trietok-en") for _ in range(2))
    new.add_tokens(["<b>bold"])
    texts = [HOSTILE, "The people", "covid covid covid"]
    added = trietok.add_terms(more, ["covid", "people"], "wordpiece")
    refused = trietok.add_terms(more, [HOSTILE], "wordpiece")
    plan = trietok.plan_rows(old, new)
    comparison = trietok.compare(old, new, texts)
    applied = trietok.AppliedRows(plan, 8000, 8001, [], {})
    suggestions = trietok.suggest_tokens(old, texts)
    lock = trietok.lock(old, texts)
    bad, good = folder / "bad", folder / "good"
    bad.mkdir()
    trietok.save_tokenizer(
        trietok.Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "un"]), good
    )
    slow, fast = (
        kind.from_pretrained("trietok-en")
        for kind in (trietok.BertTokenizer, trietok.BertTokenizerFast)
    )
    return [
        (suggestions, True),
        (added, True),
        (refused, False),
        (plan, True),
        (applied, True),
        (trietok.trim(old, ["The people"]), True),
        (trietok.trim(old, ["The people"]).certificate, True),
        (comparison, False),
        (trietok.compare(old, old, texts), True),
        (trietok.check(bad), False),
        (trietok.check("trietok-en"), True),
        (trietok.fix(good, folder / "fixed"), True),
        (lock, True),
        (trietok.verify(old, lock), True),
        (trietok.verify(new, lock), False),
        (slow.explain(HOSTILE), True),
        (slow.explain("a\u0378b").against(fast.explain("a\u0378b")), False),
    ]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return every_report(tmp_path_factory.mktemp("reports"))


def test_the_json_of_a_report_is_its_dict_in_one_line(reports):
    for report, _ in reports:
        values = report.to_dict()
        assert json.loads(report.to_json()) == values == json.loads(report.to_json(indent=1)), type(
            report
        )
        assert len(report.to_json().splitlines()) == 1
        report.to_json().encode("utf-8")


def test_text_and_html_of_a_report_escape_what_texts_hold(reports):
    for report, ok in reports:
        shown = report._repr_html_()
        assert str(report), type(report)
        assert not str(report).startswith(f"{type(report).__name__}(")
        assert sound(shown)
        assert shown == report.to_html()
        judged = 'class="tt-note tt-good"' in shown, 'class="tt-note tt-bad"' in shown
        assert judged in ((ok, not ok), (False, False)), type(report)


def test_a_report_is_ok_where_its_command_ends_with_0(reports):
    for report, ok in reports:
        assert report.ok is ok, report


def test_a_report_cannot_be_changed(reports):
    for report, _ in reports:
        if dataclasses.is_dataclass(report):
            name = dataclasses.fields(report)[0].name
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(report, name, None)
