"""What mkdocs calls while it builds the site: generated pages, and pages read as `pages.py`
says.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
for folder in (HERE, ROOT):
    sys.path.insert(0, str(folder))

import commands  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402

# How much the pages of a folder count for who searches: what explains comes before what lists.
BOOSTS = {"guides": 3, "explaining.md": 3, "reference": 0.3}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the reference and those of files at the root."""
    texts = {f"reference/{name}.md": reference.page_text(name) for name in reference.PAGES}
    texts["reference/index.md"] = reference.index_text()
    texts["reference/commands.md"] = commands.commands_text()
    for name, source in {"index.md": "README.md", "security.md": "SECURITY.md"}.items():
        texts[name] = pages.of_root((ROOT / source).read_text(encoding="utf-8"))
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    for name in ("site.css", "site.js"):
        files.append(File.generated(config, name, abs_src_path=str(HERE / name)))
    return files


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """No sitemap: its addresses would need the address that the site is served at, which is not
    known.
    """
    return "" if template_name == "sitemap.xml" else output_content


def on_page_content(html: str, **_: Any) -> str:
    """A page in which an option is not broken at its hyphens, and a line of code is, so that its
    table is not wide.
    """
    html = re.sub(r"<code>(--[a-z-]+)</code>", r'<code class="option">\1</code>', html)
    return re.sub(r"<td><code>([^<]{40,})</code>", r'<td><code class="line">\1</code>', html)


def on_post_page(output: str, **_: Any) -> str:
    """The dialog of the search gets the name that the theme does not give it, for readers of the
    screen.
    """
    return output.replace(
        'data-md-component="search" role="dialog"',
        'data-md-component="search" role="dialog" aria-label="Search"',
    )


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as the site shows it."""
    name = page.file.src_uri
    page.meta["search"] = {"boost": BOOSTS.get(name.partition("/")[0], 1)}
    if name == "index.md":  # so that the picture is on the first screen
        page.meta["hide"] = ["navigation", "toc"]
    return pages.with_links(pages.shown(markdown), name.count("/"))
