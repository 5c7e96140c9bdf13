"""How a page that is written for a repository, or a docstring, reads on the site.

In: its Markdown. Out: the same without what only doctest needs, and with links that lead to pages
of the site.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_DOCTEST_COMMENT = re.compile(r"[ \t]*#[ \t]*doctest:.*$", re.MULTILINE)
_PROMPT_AND_WHAT_FOLLOWS = r"^[ \t]*>>> .*\n?(?:^[ \t]*\S.*\n?)*"
_EXAMPLE = re.compile(
    rf"(?:{_PROMPT_AND_WHAT_FOLLOWS})(?:\n*{_PROMPT_AND_WHAT_FOLLOWS})*", re.MULTILINE
)


def shown(markdown: str) -> str:
    """A page's text without the comments and closing blank lines of doctests, which are marked as
    such for colours.

    >>> shown("```python\\n>>> 1 + 1  # doctest: +SKIP\\n2\\n\\n```")
    '```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    return _FENCE.sub(_shown_block, markdown)


def _shown_block(block: re.Match[str]) -> str:
    indent, language, code = block[1], block[2], block[3]
    if not code.lstrip().startswith(">>>"):
        return block[0]
    shown = "pycon" if language in ("python", "") else language
    return f"{indent}```{shown}\n{_for_readers(code)}\n{indent}```"


def _for_readers(code: str) -> str:
    return _DOCTEST_COMMENT.sub("", code).replace("<BLANKLINE>", "").rstrip()


def with_blocks(docstring: str) -> str:
    """A docstring whose examples stand between fences, without what only doctest needs.

    >>> with_blocks(
    ...     "A sum.\\n\\n>>> 1 + 1  # doctest: +SKIP\\n2\\n\\nRaises:\\n    InputError: never."
    ... )
    'A sum.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```\\n\\nRaises:\\n    InputError: never.'
    """
    return _EXAMPLE.sub(_example_block, docstring)


def _example_block(example: re.Match[str]) -> str:
    indent = example[0][: len(example[0]) - len(example[0].lstrip())]
    return f"{indent}```pycon\n{_for_readers(example[0])}\n{indent}```" + (
        "\n" if example[0].endswith("\n") else ""
    )


def with_links(markdown: str, depth: int = 0) -> str:
    """A page's text with links to the files at the root, and mentions of the page of commands, made
    links to pages.

    >>> (
    ...     with_links("[limits](../SECURITY.md#limits)"),
    ...     with_links("[ids](../../SECURITY.md)", depth=1),
    ... )
    ('[limits](security.md#limits)', '[ids](../security.md)')
    >>> with_links("*Commands and options* has all.")
    '[Commands and options](reference/commands.md) has all.'
    """
    up = "../" * depth
    markdown = markdown.replace(
        "*Commands and options*", f"[Commands and options]({up}reference/commands.md)"
    )
    return markdown.replace(f"](../{up}SECURITY.md", f"]({up}security.md")


def of_root(markdown: str) -> str:
    """The text of a page at the root, whose links and pictures lead into docs/, as a page of docs/.

    A link to a file that is no page of the site becomes its text.

    >>> of_root("[saving](docs/saving.md), [help](CONTRIBUTING.md), [ids](SECURITY.md)")
    '[saving](saving.md), help, [ids](security.md)'
    >>> of_root('<img src="docs/pictures/reason.png">')
    '<img src="pictures/reason.png">'
    """
    markdown = re.sub(r"\[([^\]]*)\]\(CONTRIBUTING.md\)", r"\1", markdown)
    return re.sub(r'(\]\(|(?:src|srcset)=")docs/', r"\1", markdown).replace(
        "](SECURITY.md", "](security.md"
    )
