"""Near misses: which spellings of a term count as its own, how often each occurs, and what rows
they start with.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from trietok import (
    AutoTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    InputTypeError,
    add_terms,
    plan_rows,
    train_chinese_bpe,
)
from trietok.training import save_chinese_bpe
from trietok.workbench.adapting.variants import (
    Spellings,
    add_spellings,
    near_misses,
    spelling_differences,
    with_same_rows,
)


def with_terms(terms: list[str], *, kind=BertTokenizerFast, cased: bool = False, way="auto"):
    name = {"do_lower_case": False} if cased else {}
    tokenizer = kind.from_pretrained("trietok-en", **name)
    add_terms(tokenizer, terms, way)
    return tokenizer


def spellings_of(term: str, text: str, **how) -> dict[str, tuple[int, list[str]]]:
    found = near_misses(with_terms([term], **how), [term], [text])
    assert all(each.term == term for each in found.variants)
    return {each.spelling: (each.frequency, each.differs) for each in found.variants}


@pytest.mark.parametrize(
    ("term", "spelling", "differs"),
    [
        ("zygote", "zygotes", ["plural"]),
        ("zygotes", "zygote", ["plural"]),
        ("abscess", "abscesses", ["plural"]),
        ("gene therapy", "gene therapies", ["plural"]),
        ("x-ray film", "x ray film", ["dash"]),
        ("x-ray film", "x\u2011ray film", ["dash"]),
        ("x ray film", "x\u2013ray film", ["dash"]),
        ("crohn's disease", "crohn\u2019s disease", ["quote"]),
        ("crohn\u2019s disease", "crohn's disease", ["quote"]),
        ("tnf-alpha", "tnf-α", ["Greek"]),
        ("tnf-α", "tnf alpha", ["Greek", "dash"]),
        ("β-blocker", "beta\u2010blockers", ["plural", "Greek", "dash"]),
    ],
)
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_spelling_that_is_not_matched(kind, term, spelling, differs):
    text = f"{spelling}, {term}; ({spelling}) x{spelling} {spelling}x"
    assert spellings_of(term, text, kind=kind, way="single-word") == {spelling: (2, differs)}


def test_white_space_is_a_spelling_only_where_the_tokenizer_does_not_make_a_space_of_it():
    text = "gene\u00a0therapy, gene\ntherapy"
    assert spellings_of("gene therapy", text) == {}
    assert spellings_of("gene therapy", text, kind=BertTokenizer) == {
        "gene\u00a0therapy": (1, ["space"]),
        "gene\ntherapy": (1, ["space"]),
    }


def test_capitals_are_a_spelling_of_their_own_where_the_tokenizer_is_cased():
    text = "Zygote zygote ZYGOTES Zygotes"
    for term in ("zygote", "Zygote"):
        assert spellings_of(term, text) == {"zygotes": (2, ["plural"])}
    assert spellings_of("zygote", text, cased=True) == {
        "Zygote": (1, ["capitals"]),
        "ZYGOTES": (1, ["plural", "capitals"]),
        "Zygotes": (1, ["plural", "capitals"]),
    }


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("zygote", "zygotess zygotely azygote zygote's"),
        ("note", "not noting"),
        ("a", "as"),
        ("cas", "case"),
        ("day zygote", "daies zygote, day, zygote; day - zygote"),
        ("c++", "c++s C ++"),
        ("##zygote", "##zygotes"),
    ],
)
def test_what_is_no_spelling_of_a_term(term, text):
    assert spellings_of(term, text, way="single-word") == {}


def test_the_longest_counts_and_a_term_is_no_spelling_of_another():
    terms = ["zygote", "zygotes", "zygote-blocker"]
    texts = ["zygote zygotes", "Zygote blocker, zygote-blockers"]
    found = near_misses(with_terms(terms, way="single-word"), terms, texts)
    assert [each[:3] for each in found.variants] == [
        ("zygote-blocker", "zygote blocker", 1),
        ("zygote-blocker", "zygote-blockers", 1),
    ]
    assert (found.texts, found.matched) == (2, 2)


def test_terms_that_are_no_token_are_passed_over():
    found = near_misses(BertTokenizer.from_pretrained("trietok-en"), ["zygote"], ["zygotes"])
    assert (found.matched, found.variants) == (0, [])
    assert str(found).startswith("0 other spellings of 0 terms in 1 text: 0 occurrences not")


def test_the_table():
    terms = ["gene therapy"]
    tokenizer = with_terms(terms, kind=BertTokenizer)
    found = near_misses(tokenizer, terms, ["gene\ntherapy, Gene-therapy", "gene-therapy"])
    assert str(found).split("\n") == [
        "2 other spellings of 1 term in 2 texts: 3 occurrences not matched, 0 matched",
        "term          spelling         frequency  differs in  now",
        "gene therapy  gene-therapy             2  dash        gen ##e - the ##ra ##p ##y",
        "gene therapy  gene⟨LF⟩therapy          1  space       gen ##e the ##ra ##p ##y",
    ]
    assert found.to_dict()["variants"][0]["differs"] == ["dash"]


@pytest.mark.parametrize("way", ["auto", "single-word", "added"])
def test_spellings_are_added_and_start_as_their_terms(way):
    terms = ["the", "zygote", "gene therapy"]
    before = BertTokenizerFast.from_pretrained("trietok-en")
    after = with_terms(terms, way=way)
    texts = ["zygotes", "gene-therapy gene\ntherapy", "thes"]  # no token has a line break
    missed = near_misses(after, terms, texts)
    done, same = add_spellings(after, missed, way)
    assert set(done.added) == {"zygotes", "gene-therapy", "thes"}
    assert done.refused == []
    assert all(after.tokenize(token) == [token] for token in done.added)
    vocab = after.get_vocab()
    assert same == {
        vocab["zygotes"]: vocab["zygote"],
        vocab["gene-therapy"]: vocab["gene therapy"],
        vocab["thes"]: vocab["the"],
    }
    plan = plan_rows(before, after)
    alike = with_same_rows(plan, same)
    assert (alike.kept, alike.made, alike.lost) == (plan.kept, plan.made, plan.lost)
    for row in range(plan.rows_after):
        assert alike.terms_of(row) == plan.terms_of(same.get(row, row))


def test_counts_are_those_of_a_naive_count():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    choose = random.Random(seed)
    nouns = choose.sample(["zygote", "kinase", "plasmid", "receptor", "antigen", "ligand"], 4)
    parts = [(greek, noun) for greek in ("alpha", "beta") for noun in nouns]
    terms = [f"{greek}-{noun}" for greek, noun in parts]
    letters, counts, texts = {"alpha": "α", "beta": "β"}, Counter(), []
    for _ in range(60):
        words = []
        for _ in range(choose.randrange(6)):
            greek, noun = choose.choice(parts)
            spelling = choose.choice([greek, letters[greek]]) + choose.choice("- \u2011\u2013")
            spelling += noun + choose.choice(["", "s"])
            counts[f"{greek}-{noun}", spelling] += 1
            words += [choose.choice([spelling, spelling.upper()]), choose.choice(["of", "so on"])]
        texts.append(" ".join(words))
    found = near_misses(with_terms(terms), terms, texts)
    expected = {key: number for key, number in counts.items() if key[0] != key[1]}
    printed = [line.split("  ") for line in str(found).split("\n")[2:]]
    printed = [[cell.strip() for cell in line if cell] for line in printed]
    assert {(line[0], line[1]): int(line[2]) for line in printed} == expected
    assert found.matched == sum(counts[term, term] for term in terms)


def test_texts_pass_as_they_come():
    spellings = Spellings(["zygote"])
    assert list(spellings.counted(["zygotes", ""])) == ["zygotes", ""]
    assert spellings.near_misses(with_terms(["zygote"])).texts == 2


def test_what_near_misses_does_not_take(tmp_path):
    save_chinese_bpe(train_chinese_bpe(["处处闻啼鸟", "处处风雨声"]), tmp_path)
    with pytest.raises(InputTypeError, match="near_misses takes a BertTokenizer"):
        near_misses(AutoTokenizer.from_pretrained(tmp_path), ["zoo"], ["zoos"])
    with pytest.raises(InputTypeError, match="a text is a str, not int"):
        near_misses(with_terms(["zoo"]), ["zoo"], [1])


def test_differences_of_what_is_the_same():
    assert spelling_differences("zygote", "zygote") == []


def test_spellings_with_several_spaces_are_told_and_not_added():
    terms = ["gene therapy", "zygote"]
    tokenizer = with_terms(terms)
    missed = near_misses(tokenizer, terms, ["gene  therapy", "zygotes zygotes", "Gene   Therapies"])
    done, _ = add_spellings(tokenizer, missed)
    assert list(done.added) == ["zygotes"]
    assert [(each.number, each.term) for each in done.refused] == [
        (number, each.spelling)
        for number, each in enumerate(missed.variants, start=1)
        if "  " in each.spelling
    ]
    assert len(done.refused) == 2
    for each in done.to_dict()["refused"]:
        assert "compiled kernel; make one space" in each["reason"]
    assert str(done).count("make one space of them in the texts") == 2


@pytest.mark.parametrize("terms", ["gene therapy", ["gene", None]])
def test_terms_that_are_none(terms):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    with pytest.raises(InputTypeError, match=r"terms are a list, not one|number 2 of the list"):
        near_misses(tokenizer, terms, ["a text"])


def test_texts_that_are_one():
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    with pytest.raises(InputTypeError, match=r"texts are a list, not one: pass \['a text'\]"):
        near_misses(tokenizer, ["gene"], "a text")
