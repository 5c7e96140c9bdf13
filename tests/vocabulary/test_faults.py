"""Planted faults: each is found, with what follows from it and a repair; `fix` mends it or says why
not.
"""

from __future__ import annotations

import re
import shutil

import pytest

import trietok
from tests.vocabulary.faults import FAULTS, NAMES, fault_of, plant
from trietok import BertTokenizer, check, fix


def faults_of(report: trietok.CheckReport) -> list[trietok.Finding]:
    return report.errors + report.warnings


def test_the_base_has_no_fault(tmp_path):
    assert len(NAMES) >= 60
    assert not faults_of(check(FAULTS / "base"))
    for kind, gone in (("slow", "tokenizer.json"), ("json", "vocab.txt")):
        folder = shutil.copytree(FAULTS / "base", tmp_path / kind)
        (folder / gone).unlink()
        assert not faults_of(check(folder))


@pytest.mark.parametrize("name", NAMES)
def test_each_fault_is_found_and_nothing_else_and_mended_or_not(name, tmp_path):
    fault = fault_of(name)
    folder = plant(name, tmp_path / "model")
    report = check(folder)
    findings = faults_of(report)
    for wanted in fault["findings"]:
        part = wanted.pop("message")
        alike = [
            f for f in findings if all(getattr(f, key) == value for key, value in wanted.items())
        ]
        first, *_ = [finding for finding in alike if part in finding.message]
        findings.remove(first)
        assert f"so: {first.consequence}" in str(report)
        for part in re.split(r"\b(?:DIR|OUT)\b|\((?:DIR|OUT)\)", f"do: {first.repair}"):
            assert part in str(report)
        # it names the directory, and one beside it
        assert not re.search(r"\b(?:DIR|OUT)\b", str(report))
    assert not findings
    if fault["fix"] == "refuses":
        with pytest.raises(trietok.FileFormatError):
            fix(folder, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    else:
        result = fix(folder, tmp_path / "out")
        left = {finding.code for finding in faults_of(result.after)}
        assert left <= (
            set() if fault["fix"] == "mends" else {finding.code for finding in faults_of(report)}
        )
        check_ids(folder, result)


def check_ids(folder, result):
    """Every token has the id it had, or the changes say that it has not."""
    new_ids, said = BertTokenizer.from_pretrained(result.out).get_vocab(), "\n".join(result.changes)
    for token, token_id in BertTokenizer.from_pretrained(folder).get_vocab().items():
        new_id = new_ids.get(token)
        moved = f"{token!r} has the id {new_id} instead of {token_id}"
        assert new_id == token_id or (f"{token!r} is " in said if new_id is None else moved in said)
