"""The playground in Chromium: it shows what Python gives, whatever the text, and asks for nothing
elsewhere.
"""

from __future__ import annotations

import io
import json
import pathlib
import zipfile
from urllib.parse import quote

import pytest

from trietok import AddedToken, BertTokenizer, BertTokenizerFast

pytestmark = pytest.mark.browser

TEXTS = [
    "ALTernate naïve 東京 unaffable [MASK] e\u200d",
    "The quick brown fox; isn’t it? 3.14 €",
    "👩‍👩‍👧 a😀b 𝒳 ẞ İstanbul ﬁ",
    "a\x00b\ud800c \udfffd \ud83d \ue000",
    "Keras是ONEIROS（Open-ended）[SEP][CLS] ##a",
    "",
    " \n\t ",
    "<script>alert(1)</script><img src=x onerror=alert(1)> &amp; \"'`",
]
MODELS = ("trietok-en", "trietok-multi", "trietok-zh")


def tokenizer_of(model: str, profile: str):
    return (BertTokenizerFast if profile == "fast" else BertTokenizer).from_pretrained(model)


def choose(playground, **values: str) -> None:
    for name, value in values.items():
        playground.page.select_option(f"#{name}", value)


def compare(playground, *names: str) -> list[dict]:
    """Compare with these; return the answer's others."""
    for box in playground.page.locator("#against input:enabled").all():
        box.set_checked(box.get_attribute("value") in names)
    return playground.answer(against=[*names])["others"]


def add(playground, content: str, *flags: str) -> None:
    page = playground.page
    page.fill("#content", content)
    for flag in ("single_word", "lstrip", "rstrip", "normalized", "special"):
        page.set_checked(f"input[name={flag}]", flag in flags)
    page.press("#content", "Enter")


def token(content: str, *flags: str) -> dict:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **{flag: flag in flags for flag in names}}


@pytest.mark.parametrize("profile", ["slow", "fast"])
def test_ids_tokens_and_places_are_those_of_python(open_page, address, profile):
    playground = open_page(address)
    for model in MODELS:
        choose(playground, model=model, profile=profile)
        playground.answer(model=model, profile=profile)
        tokenizer = tokenizer_of(model, profile)
        for text in TEXTS:
            answer = playground.type(text)
            expected = tokenizer.explain(text)
            assert answer["ids"] == expected.input_ids == tokenizer(text)["input_ids"]
            assert [each["token"] for each in answer["tokens"]] == [
                each.token for each in expected.tokens
            ]
            places = [(each["start"], each["end"]) for each in answer["tokens"]]
            assert places == [(each.start, each.end) for each in expected.tokens]
            shown = playground.page.locator("#explanation .tt-t > i:last-of-type").count()
            assert shown == len(expected.tokens)


def test_offsets_count_as_javascript_slices(open_page, address):
    playground = open_page(address)
    page = playground.page
    page.click("#listing summary")
    text = "😀 naïve 👩‍👩‍👧 東京 𝒳x \U0001f600ab z"
    playground.type(text)
    expected = [
        each
        for each in BertTokenizer.from_pretrained("trietok-en").explain(text).tokens
        if each.text is not None
    ]
    rows = page.locator("#tokens tr")
    texts = [
        rows.nth(number).locator("td").nth(3).text_content()
        for number in range(1, rows.count() - 1)
    ]
    assert texts == [text[each.start : each.end] for each in expected]
    for number, each in enumerate(expected):
        page.locator("#tokens button").nth(number).click()
        selected = page.evaluate("() => getSelection().toString()")
        assert selected == text[each.start : each.end]


def test_hostile_texts_are_shown_as_text(open_page, address):
    playground = open_page(address)
    page = playground.page
    for text in TEXTS:
        playground.type(text)
        assert (
            page.locator("#explanation script, #explanation img, #explanation [onerror]").count()
            == 0
        )
    playground.type("<b id=x>bold</b>")
    assert page.locator("#x").count() == 0
    add(playground, "<img src=x onerror=alert(1)>")
    answer = playground.answer(added=[token("<img src=x onerror=alert(1)>")])
    assert answer["added"]["<img src=x onerror=alert(1)>"] == 8000
    assert page.locator("#added img").count() == 0
    assert page.locator("#added code").inner_text() == "<img src=x onerror=alert(1)>"


def test_long_texts_are_shown_in_part_and_longer_ones_refused(open_page, address):
    playground = open_page(address)
    page, tokenizer = playground.page, BertTokenizer.from_pretrained("trietok-en")
    text = "naïve 東京 unaffable 😀 <b> " * 4000
    assert len(text) >= 100_000
    assert playground.type(text)["ids"] == tokenizer(text, verbose=False)["input_ids"]
    assert "The first 2,000 of" in page.locator("#explanation").inner_text()
    page.evaluate("""() => {
            const field = document.getElementById("text");
            field.value = "a ".repeat(150001);
            field.dispatchEvent(new Event("input"));
        }""")
    page.locator("#error").wait_for()
    assert "texts of 300,000 characters" in page.locator("#error").inner_text()
    assert playground.type("short")["ids"] == tokenizer("short")["input_ids"]
    assert not page.locator("#error").is_visible()


def test_stale_answers_are_dropped(open_page, address):
    playground = open_page(address)
    before = playground.page.evaluate("() => answers.length")
    playground.page.evaluate("""async () => {
            const field = document.getElementById("text");
            for (let number = 0; number < 60; number++) {
                field.value = "word ".repeat(2000) + number;
                field.dispatchEvent(new Event("input"));
                await new Promise((resolve) => setTimeout(resolve, 20));
            }
        }""")
    playground.type("the last")
    shown = playground.page.evaluate(
        "(before) => answers.slice(before).map((each) => each.asked.text)", before
    )
    assert shown[-1] == "the last"
    assert len(shown) < 60


def test_added_tokens_change_the_ids_at_once(open_page, address):
    playground = open_page(address)
    choose(playground, profile="slow")
    playground.type("ALTernate alt bobcat cat cats <x> dog")
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    given = [("ALT", "normalized"), ("cat", "single_word"), ("<x>", "lstrip", "rstrip", "special")]
    asked = []
    for content, *flags in given:
        add(playground, content, *flags)
        asked.append(token(content, *flags))
        added = AddedToken(
            content, **{name: name in flags for name in asked[-1] if name != "content"}
        )
        tokenizer.add_tokens([added], special_tokens="special" in flags)
        answer = playground.answer(added=asked)
        assert answer["ids"] == tokenizer("ALTernate alt bobcat cat cats <x> dog")["input_ids"]
    assert "kept as alt · id 8000 · normalized" in playground.page.locator("#added").inner_text()
    playground.page.get_by_role("button", name="remove cat").press("Enter")
    assert playground.answer(added=[asked[0], asked[2]])["size"] == 8002


def test_the_playground_compares_profiles_and_vocabularies(open_page, address):
    playground = open_page(address)
    text = "a\u0378b naïve 東京"
    choose(playground, profile="slow")
    playground.type(text)
    page = playground.page
    slow, fast = (tokenizer_of("trietok-en", profile) for profile in ("slow", "fast"))
    (other,) = compare(playground, "/profile")
    assert other["ids"] == fast(text)["input_ids"]
    assert "slow deletes U+0378" in page.locator("#contrast").inner_text()
    others = [tokenizer_of(name, "slow") for name in ("trietok-multi", "trietok-zh")]
    found = compare(playground, "trietok-multi", "trietok-zh")
    assert [each["ids"] for each in found] == [each(text)["input_ids"] for each in others]
    contrasts = [slow.explain(text).against(each.explain(text)) for each in others]
    shown = page.locator("#contrast > div").all_inner_texts()
    assert all(contrast.summary in each for contrast, each in zip(contrasts, shown, strict=True))
    parts = [part for contrast in contrasts for part in contrast.parts if part.differs]
    # of both comparisons, in one row
    marked = page.locator("#explanation .tt-t.tt-differs").count()
    assert marked == len({each.position for part in parts for each in part.left}) > 0
    add(playground, "naïve")
    compare(playground, "/plain")
    assert playground.answer(added=[token("naïve")])["others"][0]["ids"] == slow(text)["input_ids"]


@pytest.fixture
def directory(tmp_path):
    """A tokenizer's, with files that are none of its own."""
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens([AddedToken("zyx", single_word=True)])
    folder = tmp_path / "my-model"
    tokenizer.save_pretrained(folder)
    (folder / "model.safetensors").write_bytes(b"\0" * 1000)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "vocab.txt").write_text("[UNK]\n", encoding="utf-8")
    return folder


def drop(playground, path: pathlib.Path) -> None:
    """Drop a path of the file system, as the browser itself does it."""
    session = playground.page.context.new_cdp_session(playground.page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 200, "data": data})


def test_a_dropped_directory_is_opened(open_page, address, directory):
    playground = open_page(address)
    choose(playground, profile="slow")
    playground.type("it was zyx here")
    drop(playground, directory)
    expected = BertTokenizer.from_pretrained(directory)("it was zyx here")["input_ids"]
    answer = playground.answer(model="my-model")
    assert answer["ids"] == expected
    assert 8000 in expected


def test_single_files_of_a_tokenizer_are_opened(open_page, address, directory, tmp_path):
    playground = open_page(address)
    playground.type("it was zyx here")
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nit\nwas", encoding="utf-8")
    playground.page.set_input_files("#files", vocabulary)
    assert playground.answer(model="words.txt")["ids"] == [2, 5, 6, 1, 1, 3]
    fast = BertTokenizerFast.from_pretrained(directory)
    fast.save_pretrained(tmp_path / "fast")
    playground.page.set_input_files("#files", tmp_path / "fast" / "tokenizer.json")
    expected = fast("it was zyx here")["input_ids"]
    assert playground.answer(model="tokenizer.json")["ids"] == expected
    broken = tmp_path / "tokenizer.json"
    broken.write_text("{", encoding="utf-8")
    playground.page.set_input_files("#files", broken)
    playground.page.locator("#error").wait_for()
    assert "tokenizer.json" in playground.page.locator("#error").inner_text()


def test_the_extended_vocabulary_is_downloaded(open_page, address, tmp_path):
    playground = open_page(address)
    choose(playground, profile="slow")
    add(playground, "Chollet", "single_word")
    playground.answer(added=[token("Chollet", "single_word")])
    with playground.page.expect_download() as download:
        playground.page.click("#download")
    assert download.value.suggested_filename == "trietok-en-extended.zip"
    with zipfile.ZipFile(io.BytesIO(pathlib.Path(download.value.path()).read_bytes())) as archive:
        archive.extractall(tmp_path / "made")
    tokenizer = BertTokenizer.from_pretrained(tmp_path / "made")
    expected = BertTokenizer.from_pretrained("trietok-en")
    expected.add_tokens([AddedToken("Chollet", single_word=True, normalized=False)])
    assert tokenizer("François Chollet")["input_ids"] == expected("François Chollet")["input_ids"]
    assert len(tokenizer) == 8001


def test_the_address_holds_text_and_settings(open_page, address):
    added = [token("naïve", "single_word")]
    link = f"#text={quote('naïve 😀 & #1')}&model=trietok-zh&profile=fast&added={quote(json.dumps(added))}&max_length=4"
    playground = open_page(address + link)
    answer = playground.answer(
        text="naïve 😀 & #1", model="trietok-zh", profile="fast", max_length=4, added=added
    )
    assert len(answer["ids"]) == 4
    text = "half \ud83d of 😀, and 50% + 1"
    playground.type(text)
    playground.until("() => location.hash.includes('text-json')")
    again = open_page(playground.page.url)
    assert again.answer(text=text, model="trietok-zh")["ids"] == playground.answer(text=text)["ids"]
    strange = open_page(f"{address}#model=none&added=%5B1%2Cnull%5D&max_length=x&profile=&text=a")
    assert (
        strange.answer(model="trietok-en", profile="slow", max_length=None, added=[])["tokens"][1][
            "token"
        ]
        == "a"
    )


def test_pairs_are_encoded_and_a_short_length_is_refused(open_page, address):
    playground = open_page(address)
    playground.type("Is it?")
    playground.page.click("#options summary")
    playground.page.fill("#pair", "It is.")
    pair = BertTokenizer.from_pretrained("trietok-en")("Is it?", "It is.")["input_ids"]
    assert playground.answer(text="Is it?", pair="It is.")["ids"] == pair
    playground.page.fill("#length", "2")
    playground.page.locator("#error").wait_for()
    assert "the special tokens alone are 3" in playground.page.locator("#error").inner_text()
    playground.page.fill("#length", "")
    playground.page.locator("#error").wait_for(state="hidden")
    assert playground.answer(text="Is it?", pair="It is.", max_length=None)["ids"] == pair


def test_ids_are_copied(open_page, address):
    playground = open_page(address, permissions=["clipboard-read", "clipboard-write"])
    answer = playground.type("naïve")
    # It says so for a second, which a busy machine may not leave to whoever looks later.
    playground.page.evaluate("""() => {
            const button = document.getElementById("copy");
            window.said = [];
            new MutationObserver(() => said.push(button.textContent)).observe(button, { childList: true });
        }""")
    playground.page.click("#copy")
    playground.until("() => said.includes('Copied')")
    assert (
        json.loads(playground.page.evaluate("() => navigator.clipboard.readText()"))
        == answer["ids"]
    )


def test_the_keyboard_is_enough_and_everything_has_a_name(open_page, address):
    playground = open_page(address, viewport={"width": 390, "height": 844})
    page = playground.page
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input:not([hidden]), select, textarea, button")]
            .filter((each) => !each.labels?.length && !each.ariaLabel && !each.textContent.trim())
            .map((each) => each.outerHTML)"""
    )
    assert nameless == []
    compare(playground, "trietok-multi")
    # nothing to scroll sideways
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    page.click("#adding > summary")
    page.focus("#text")
    reached = []
    for _ in range(100):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("() => document.activeElement.id || document.activeElement.className")
        )
    assert {"copy", "link", "next", "choose-files", "choose-folder", "download"} <= set(reached)
    assert any("tt-t" in name for name in reached)


def test_the_search_for_a_word_is_shown_step_by_step(open_page, address):
    playground = open_page(address)
    page = playground.page
    playground.type("people unaffable 東")
    assert page.input_value("#word") == "unaffable"  # the first in pieces
    steps = page.locator("#steps li")
    assert steps.all_inner_texts() == ["unaffable is no entry"]
    page.click("#all")
    assert steps.locator("mark").all_inner_texts() == [
        *("unaffable"[:end] for end in range(9, 1, -1)),
        *("##affable"[:end] for end in range(9, 4, -1)),
        "##able",
    ]
    assert steps.last.inner_text() == "##able is an entry: the whole word has its tokens"
    page.locator("#explanation summary", has_text="東").click()
    assert steps.all_inner_texts() == ["東 is no entry: the whole word is unknown"]


def test_counts_and_all_reasons_are_printed_on_paper(open_page, address):
    playground = open_page(address, color_scheme="dark")
    page = playground.page
    answer = playground.type("unaffable snow☃man")
    assert answer["counts"] == {"characters": 18, "words": 2, "tokens": 6, "unknown": 1}
    status = page.locator("#status").inner_text()
    assert status.startswith("18 characters · 2 words · 6 tokens · 1 unknown · ")
    page.click("#reasons")
    playground.answer(reasons=True)
    expected = BertTokenizerFast.from_pretrained("trietok-en").explain("unaffable snow☃man")
    cells = page.locator("#stages tbody tr td:last-child").all_inner_texts()
    assert cells == [" ".join(each.story) for each in expected.tokens]
    page.emulate_media(media="print")
    assert page.locator(".controls:visible").count() == 0
    assert page.locator("#status").is_visible()
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_serious_violation(browser, serve, axe, scheme, width):
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 844}
    )
    page = context.new_page()
    added = quote(json.dumps([token("ALT", "normalized")]))
    page.goto(
        f"{serve()}#text=ALTernate+snow☃man+e%E2%80%8D&profile=fast&against=trietok-multi&added={added}"
    )
    page.locator("#contrast .tt").wait_for()
    page.locator("#explanation summary").nth(2).click()
    page.click("#listing summary")
    page.click("#options summary")
    serious = axe(page)
    context.close()
    assert serious == []


def test_nothing_is_asked_for_elsewhere(open_page, address):
    playground = open_page(address)
    playground.page.evaluate("() => fetch('http://example.org/').catch(() => 0)")
    assert playground.elsewhere == []  # the policy of the page forbids it before anything is sent
    assert "Content Security Policy" in " ".join(playground.wrong)
    playground.wrong.clear()


@pytest.mark.parametrize("number", range(3))
def test_examples_show_what_they_are_called(open_page, address, number):
    playground = open_page(address, viewport={"width": 1280, "height": 900})
    link = playground.page.locator(".examples a").nth(number)
    text = ["Mind the snow☃man", "A naïve café in 東京", "a\u0378b naïve"][number]
    link.click()
    answer = playground.answer(text=text)
    assert answer["counts"]["unknown"] == (1, 2, 0)[number]
    assert len(answer["others"]) == (0, 1, 1)[number]
    assert all(other["ids"] != answer["ids"] for other in answer["others"])
