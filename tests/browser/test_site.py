"""The documentation site, built from this checkout: nothing is asked for elsewhere, links are good,
search finds.

It needs Chromium, Playwright and the extra `docs`. `TRIETOK_SITE` names a folder that is built
already.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from tests.browser.conftest import ROOT, SLOW, served_as_files
from tests.conftest import needs

pytestmark = pytest.mark.browser

WIDE, NARROW = 1280, 390  # pixels: a laptop, a phone


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The built site."""
    built = os.environ.get("TRIETOK_SITE")
    if built:
        return pathlib.Path(built)
    for name in ("mkdocs", "material", "mkdocstrings"):
        needs(name)
    folder = tmp_path_factory.mktemp("site") / "built"
    command = [
        sys.executable,
        *"-m mkdocs build --strict -f .mkdocs.yml -d".split(),
        str(folder),
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def served(folder):
    """The address of the site, served as files."""
    with served_as_files(folder) as address:
        yield address


class Links(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places = {""}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "manifest"):
            self.loaded.append(values["href"])
        elif tag in ("script", "img", "source", "iframe"):
            self.loaded += [values[name] for name in ("src", "srcset") if name in values]


@pytest.fixture(scope="module")
def parsed(folder):
    pages = {}
    for path in folder.rglob("*.html"):
        links = Links()
        links.feed(path.read_text(encoding="utf-8"))
        pages[path.relative_to(folder).as_posix()] = links
    assert len(pages) > 35
    return pages


def test_every_link_within_the_site_leads_to_a_place_that_is_there(folder, parsed):
    bad = []
    for name, page in parsed.items():
        for link in [*page.links, *page.loaded]:
            target, place = urldefrag(urljoin(f"http://site/{name}", link))
            if not target.startswith("http://site/"):
                continue
            found = unquote(urlsplit(target).path).lstrip("/") or "index.html"
            places = parsed[found].places if found in parsed else {""}
            missing = not (folder / found).is_file() or unquote(place) not in places
            if name != "404.html" and missing:
                bad.append((name, link))
    assert bad == []


def test_nothing_is_loaded_from_elsewhere(parsed):
    assert [
        (name, each) for name, page in parsed.items() for each in page.loaded if "//" in each
    ] == []


@pytest.fixture
def open_site(browser, served):
    """Opens a page at a width; at the end nothing was asked for elsewhere, and nothing went
    wrong.
    """
    contexts, elsewhere, wrong = [], [], []

    def see(route) -> None:
        if route.request.url.startswith((served, "blob:", "data:")):
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    def start(width: int):
        context = browser.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(SLOW)
        context.route("**/*", see)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        return page

    yield start
    for context in contexts:
        context.close()
    assert elsewhere == []
    assert wrong == []


def test_pages_ask_for_nothing_elsewhere_and_are_as_wide_as_the_screen(open_site, served, parsed):
    page = open_site(WIDE)
    too_wide = []
    for name in sorted(parsed):
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            if width == WIDE:  # what scripts ask for late is the same on every page
                page.goto(
                    served + name, wait_until="networkidle" if name == "index.html" else "load"
                )
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((name, width))
    assert too_wide == []


# A front page, a guide with answers to open, tables that scroll, a reference. Colours depend on the
# scheme, and what scrolls on the width.
@pytest.mark.parametrize("page", ["index", "guides/exercises", "clients", "reference/errors"])
@pytest.mark.parametrize(("scheme", "width"), [("light", WIDE), ("dark", NARROW)])
def test_axe_finds_no_serious_violation(browser, served, axe, scheme, width, page):
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    opened = context.new_page()
    opened.goto(f"{served}{page}.html")
    serious = axe(opened)
    context.close()
    assert serious == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lstrip", {"guides/add_tokens.html"}),
        ("[UNK]", {"explaining.html"}),
        ("install", {"get_started.html"}),
        ("license", {"index.html"}),
        ("remove tokens", {"guides/add_tokens.html", "reference/tokenizers.html"}),
    ],
)
def test_search_finds_the_page_of_a_word(open_site, served, words, expected):
    page = open_site(WIDE)
    page.goto(served + "index.html")
    page.click("input.md-search__input")
    page.type("input.md-search__input", words)
    page.wait_for_selector(".md-search-result__item a")
    found = page.eval_on_selector_all(
        ".md-search-result__item > a:first-of-type",
        "links => links.map((link) => new URL(link.href).pathname.slice(1))",
    )
    assert expected <= set(found[:3]), found


# Prompts, what is printed, several lines of one statement, an error; commands with what they print,
# and without.
@pytest.mark.parametrize(
    ("name", "language", "copied"),
    [
        (
            "get_started",
            "pycon",
            (
                "from trietok import BertTokenizer\ntokenizer ="
                ' BertTokenizer.from_pretrained("trietok-en")'
            ),
        ),
        (
            "errors",
            "pycon",
            "try:\n    tokenizer.decode([2, 134, 8001])\nexcept TrietokError as error:",
        ),
        ("errors", "pycon", 'BertTokenizer.from_pretrained("./no-such-model")'),
        ("get_started", "console", 'trietok encode "The people, united!" | cat\ntrietok tokenize'),
        ("get_started", "sh", 'pip install ".[cli]"'),
    ],
)
def test_a_block_is_copied_without_prompts_and_what_is_printed(
    browser, served, name, language, copied
):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{served}{name}.html")
    texts = []
    for block in page.query_selector_all(f".language-{language}"):
        block.query_selector("button[data-clipboard-target], .md-clipboard").dispatch_event("click")
        texts.append(page.evaluate("navigator.clipboard.readText()"))
    context.close()
    assert [text for text in texts if copied in text] != []
    assert [
        text for text in texts if ">>>" in text or "$ trietok" in text or "Traceback" in text
    ] == []
