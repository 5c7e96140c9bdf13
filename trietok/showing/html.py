"""Fragments of HTML for notebooks and pages: escaped text, tables, coloured tokens, and the style sheet of all of them.

In: texts and values; the columns of a `BatchEncoding` with its texts. Out: HTML that needs no script and nothing from
elsewhere, and is readable in light and dark. The colours of tokens are those of Okabe and Ito, which people with any
kind of colour vision can tell apart, and no colour is the only sign of anything.
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok.errors import NotSupportedError
from trietok.showing.characters import described, is_hidden, short_name

if TYPE_CHECKING:
    from trietok.inputs.batch_encoding import Maker
    from trietok.inputs.rows import Encoding


# Every rule begins with the class of a fragment, so the page around it keeps its looks.
_STYLE = """
.tt{--bg:#fff;--fg:#1c2024;--soft:#5d6670;--line:#d7dce1;--card:#f5f7f9;--pop:#fff;--shadow:0 6px 24px #0003;
--c0:#cde8f8;--c1:#fbe3b3;--c2:#bfe8db;--c3:#ecd6e8;--b0:#2f86b8;--b1:#b27700;--b2:#007d5b;--b3:#a8578c;--bad:#ffe0d1;
--badline:#c04a00;--good:#00694c;box-sizing:border-box;background:var(--bg);color:var(--fg);
border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:6px 0;font:15px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif;text-align:left;position:relative;overflow-wrap:anywhere;
color-scheme:light;max-width:64em}
.tt *,.tt *::before{box-sizing:border-box}
.tt .tt-mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;font-size:.88em}
.tt-head{margin:0 0 10px;color:var(--soft);font-size:13px}.tt-head b{color:var(--fg);font-size:15px;font-weight:650}
.tt h4{margin:18px 0 6px;font-size:12px;font-weight:650;letter-spacing:.06em;text-transform:uppercase;
color:var(--soft)}
.tt-text{display:flex;flex-wrap:wrap;align-items:flex-start;row-gap:12px;font-size:20px;line-height:1.3;margin:4px 0}
.tt-gap{white-space:pre-wrap;padding:4px 0;min-width:.32em}
.tt-t,.tt-s,.tt-t>i{display:block;text-align:center}
.tt-t{margin:0 1.5px;padding:4px 5px 3px;border-radius:4px;border-bottom:3px solid var(--line);cursor:help;
outline-offset:1px;max-width:100%}
.tt-t>i{font:11px/1.35 ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;color:var(--soft)}
.tt-t>i.tt-p{color:inherit;opacity:.9}
.tt-c0{background:var(--c0);border-color:var(--b0)}.tt-c1{background:var(--c1);border-color:var(--b1)}
.tt-c2{background:var(--c2);border-color:var(--b2)}.tt-c3{background:var(--c3);border-color:var(--b3)}
.tt-special,.tt-padding{background:var(--card);border:1px dashed var(--soft);padding-bottom:5px}
.tt-special>.tt-s,.tt-padding>.tt-s{font-size:.78em;line-height:1.66;color:var(--soft)}
.tt-added{outline:1.5px solid var(--soft);outline-offset:-1.5px}
.tt-unknown{background:repeating-linear-gradient(-45deg,var(--bad) 0 6px,var(--bg) 6px 9px);
border-color:var(--badline)}
.tt-unknown>i.tt-p{color:var(--badline);font-weight:700;opacity:1}
.tt-cut{background:none;border:1px dotted var(--soft);padding-bottom:5px}
.tt-cut>.tt-s{text-decoration:line-through}.tt-cut>.tt-s,.tt-cut>i{opacity:.6}
.tt-x{display:inline-block;font:600 10px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;padding:0 4px;
margin:0 1px;border:1px dashed var(--badline);color:var(--badline);border-radius:3px;vertical-align:middle;
cursor:help;white-space:nowrap}
.tt-stage-area{position:relative}
.tt-hint{margin:10px 0 0;color:var(--soft);font-size:13px}
.tt-story{display:none;position:absolute;left:0;right:0;margin-top:10px;pointer-events:none;box-shadow:var(--shadow);
z-index:5;padding:10px 14px;background:var(--pop);color:var(--fg);border:1px solid var(--soft);
border-left:5px solid var(--b0);border-radius:8px;font-size:13.5px;line-height:1.5;text-align:left;cursor:auto;
white-space:normal;text-decoration:none}
.tt-story b{font:650 14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.tt-story em{font-style:normal;color:var(--soft);margin-left:10px}
.tt-story p{margin:2px 0}
.tt-t:hover>.tt-story{display:block;z-index:6}
.tt-t:focus>.tt-story,.tt-t:focus-within>.tt-story{display:block}
.tt-t:hover,.tt-t:focus{box-shadow:0 0 0 2px var(--fg);outline:none}
.tt ol{list-style:none;margin:0;padding:0}
.tt ol>li{margin:0;padding:5px 0 5px 34px;position:relative;border-top:1px solid var(--line)}
.tt ol>li:first-child{border-top:0}
.tt-no{position:absolute;left:2px;top:6px;width:22px;height:20px;border-radius:10px;background:var(--card);
border:1px solid var(--line);font:11px/18px ui-monospace,monospace;text-align:center;color:var(--soft)}
.tt-idle{color:var(--soft)}.tt-idle .tt-n{font-weight:400}
.tt-n{font-weight:600}.tt-gave{display:block;margin:1px 0;color:var(--fg);white-space:pre-wrap}
.tt-why{display:block;margin:2px 0 2px 0;font-size:13.5px;color:var(--soft)}
.tt-ch{display:inline-block;margin:1px 6px 1px 0;padding:0 6px;border:1px solid var(--line);border-radius:4px;
background:var(--card);color:var(--fg)}
.tt-ch small{color:var(--soft);margin-right:5px}
.tt-deleted{border-style:dashed;border-color:var(--badline)}.tt-deleted>span{text-decoration:line-through;
text-decoration-color:var(--badline)}
.tt-inserted{border-color:var(--b2)}
.tt-wrap{overflow-x:auto;margin:6px 0}
.tt table{border-collapse:collapse;margin:0;font-size:13.5px;line-height:1.45;background:none;color:inherit;
min-width:min(100%,24em)}
.tt th,.tt td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border:0;border-bottom:1px solid var(--line);
background:none;color:inherit;white-space:normal;max-width:36em}
.tt tbody tr,.tt tbody tr:nth-child(odd),.tt tbody tr:hover{background:none}
.tt th{font-weight:600;color:var(--soft);white-space:nowrap}.tt .tt-r{text-align:right;
font-variant-numeric:tabular-nums}
.tt td.tt-place{white-space:nowrap}.tt td.tt-place+td{min-width:6.5em}
.tt th{overflow-wrap:break-word}.tt th.tt-name{white-space:normal}
.tt-differs td:first-child{border-left:4px solid var(--badline);padding-left:8px}
.tt-note{margin:8px 0 0;color:var(--soft);font-size:13.5px;white-space:pre-wrap}
.tt-bad{color:var(--badline);font-weight:600}.tt-good{color:var(--good);font-weight:600}
@media(prefers-color-scheme:dark){.tt:not(.tt-light){DARK}}
[data-jp-theme-light=false] .tt,.vscode-dark .tt,[data-theme=dark] .tt,.tt.tt-dark{DARK}
@media(max-width:480px){.tt{padding:12px}.tt-text{font-size:18px}.tt ol>li{padding-left:30px}.tt td.tt-place+td{
min-width:3.6em}}
@media print{.tt-hint{display:none}}
"""
_DARK = (
    "--bg:#16191d;--fg:#e9edf1;--soft:#a3adb8;--line:#343b43;--card:#1f242a;--pop:#1b2026;--c0:#123c55;--c1:#4d3800;"
    "--c2:#0a4435;--c3:#4a2843;--b0:#56b4e9;--b1:#e69f00;--b2:#2fc79a;--b3:#d98bc0;--bad:#5a2408;--badline:#ff8a4c;"
    "--good:#4fd1a5;color-scheme:dark"
)
STYLE = f"<style>{_STYLE.replace('DARK', _DARK).replace(chr(10), '')}</style>"


def fragment(*parts: str, label: str) -> str:
    """A whole fragment: the style sheet and the parts, which are HTML already.

    Args:
        *parts: HTML.
        label: what a screen reader calls it.
    """
    return f'<div class="tt" role="group" aria-label="{html.escape(label)}">{STYLE}{"".join(parts)}</div>'


def escaped(text: str) -> str:
    """A text as HTML, in which nothing is hidden: hidden characters are small labels with the name as a hint.

    >>> escaped("<b>"), escaped("\\ud800")
    ('&lt;b&gt;', '<span class="tt-x" title="U+D800 &lt;surrogate-D800&gt;">U+D800</span>')
    """
    if text.isascii() and text.isprintable():
        return html.escape(text)
    return "".join([_label(char) if is_hidden(char) else html.escape(char) for char in text])


def attribute(text: str) -> str:
    """A text for an attribute in quotes; what UTF-8 cannot keep is escaped."""
    return html.escape(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _label(char: str) -> str:
    return f'<span class="tt-x" title="{html.escape(described(char))}">{short_name(char)}</span>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = (), mono: Iterable[int] = ()
) -> str:
    """A table of texts.

    Args:
        heads: the names of the columns.
        rows: the cells of each row, not escaped.
        right: the columns that are numbers.
        mono: the columns whose texts are tokens.
    """
    are_right, are_mono = frozenset(right), frozenset(mono)
    head = "".join(_cell("th", text, number in are_right) for number, text in enumerate(heads))
    body = "".join(
        "<tr>"
        + "".join(_cell("td", text, n in are_right, is_mono=n in are_mono) for n, text in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f'<div class="tt-wrap"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(kind: str, text: str, is_right: bool, *, is_mono: bool = False) -> str:
    names = " ".join(name for name, has in (("tt-r", is_right), ("tt-mono", is_mono)) if has)
    lines = "<br>".join(map(escaped, text.split("\n")))
    return f'<{kind} class="{names}">{lines}</{kind}>' if names else f"<{kind}>{lines}</{kind}>"


def heading(title: str, *, aside: str = "") -> str:
    """The line at the top of a fragment."""
    more = f" &nbsp;{escaped(aside)}" if aside else ""
    return f'<p class="tt-head"><b>{escaped(title)}</b>{more}</p>'


def title(text: str) -> str:
    """The title of a part."""
    return f"<h4>{escaped(text)}</h4>"


def note(text: str, kind: str = "") -> str:
    """A line of text below something; `kind` is `"good"` or `"bad"`."""
    return f'<p class="tt-note{f" tt-{kind}" if kind else ""}">{escaped(text)}</p>'


def coloured_token(source: str, piece: str, token_id: object, look: str, story: str, *, name: str) -> str:
    """One token over the text: what it stands for, the token where it is written otherwise, its id, and its story.

    Args:
        source: what it stands for in the text.
        piece: the token.
        token_id: its id.
        look: the class of its colour, or `"special"`, `"unknown"`, ...
        story: HTML that is shown where the token is pointed at or has the focus; nothing for none.
        name: what a screen reader calls it.
    """
    below = f'<i class="tt-p">{escaped(piece) if source and piece != source else "&nbsp;"}</i>'
    told = f'<span class="tt-story" role="note">{story}</span>' if story else ""
    return (
        f'<span class="tt-t {look}" tabindex="0" aria-label="{attribute(name)}">'
        f'<span class="tt-s">{escaped(source or piece)}</span>'
        f"{below}<i>{token_id}</i>{told}</span>"
    )


def padding_tokens(piece: str, count: int, token_id: object = "", story: str = "") -> str:
    """Padding as one token, with how often it stands there."""
    return coloured_token("", f"{piece} × {count}", token_id, "tt-padding", story, name=f"{piece}, {count} times")


def gap(text: str) -> str:
    """What is between two tokens."""
    return f'<span class="tt-gap">{escaped(text)}</span>'


# ---- a result in a notebook -----------------------------------------------------------------------------------------


_MOST_ROWS, _MOST_TOKENS, _MOST_CHARACTERS = 10, 2000, 100_000
COLOURS = 4  # tokens take turns with them


def html_of(columns: Mapping[str, Any], encodings: Sequence[Encoding] | None, maker: Maker | None, given: Any) -> str:
    """The tokens of the first rows over the texts that they are of; the details of other rows are not computed.

    Args:
        columns: the columns of the result.
        encodings: the details of its rows, where they have been computed.
        maker: computes those of some of the texts, for the rows that are shown.
        given: the encoder, the texts, and whether the call was for one item; None where they are not known.
    """
    shapes = ", ".join(f"{name} {_shape(value)}".strip() for name, value in columns.items())
    parts = [heading("BatchEncoding", aside=shapes)]
    samples, unknown = [], "[UNK]"
    if maker is not None and given is not None:
        encoder, texts, one = given
        samples = _first(texts)
        stages = getattr(encoder, "stages", None)
        unknown = unknown if stages is None else stages.wordpiece.unk_token
        if encodings is None and samples:
            with contextlib.suppress(NotSupportedError):  # nobody can tell where the tokens are from
                encodings = maker.encodings((encoder, samples, one), None)
    count = _rows_of(columns.get("input_ids"))
    shown = list(encodings or ())[:_MOST_ROWS]
    sample_of = columns.get("overflow_to_sample_mapping")
    widths = [len(row) for row in columns["input_ids"][: len(shown)]] if shown and count > 1 else []
    left = _MOST_TOKENS
    for number, row in enumerate(shown):
        place = number if sample_of is None else int(sample_of[number])
        sample = samples[place] if place < len(samples) else ()
        missing = widths[number] - len(row) if widths else 0
        texts_of_row = (sample,) if isinstance(sample, str) else sample
        tokens = list(_row(row, texts_of_row, unknown, left))
        if missing > 0:  # longer rows than those shown have made more padding
            is_left = "attention_mask" in columns and not columns["attention_mask"][number][0]
            tokens.insert(0 if is_left else len(tokens), padding_tokens("padding", missing))
        parts.append(f'<div class="tt-text">{"".join(tokens)}</div>')
        left -= len(row)
        if left <= 0:
            parts.append(note(f"The first {_MOST_TOKENS:,} tokens are shown."))
            break
    if count > len(shown) > 0:
        parts.append(note(f"The first {len(shown)} of {count:,} rows are shown."))
    elif given is not None and given[1] and not samples:
        parts.append(note("The text is too long to be shown token by token."))
    return fragment(*parts, label="BatchEncoding")


def _first(texts: Sequence[Any]) -> list[Any]:
    """The first texts, as many as can be looked at in a moment."""
    found: list[Any] = []
    left = _MOST_CHARACTERS
    for sample in texts[:_MOST_ROWS]:
        given = (sample,) if isinstance(sample, str) else sample
        left -= sum(len(text) if isinstance(text, str) else sum(map(len, text)) for text in given)
        if left < 0:
            break
        found.append(sample)
    return found


def _rows_of(ids: Any) -> int:
    """How many rows a column of ids has."""
    shape = getattr(ids, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) > 1 else 1
    return len(ids) if isinstance(ids, list) and ids and not isinstance(ids[0], int) else 1


def _row(row: Encoding, texts: Sequence[Any], unknown: str, most: int) -> Iterator[str]:
    sequence_ids = row.sequence_ids
    position = 0
    text_before: int | None = None
    padding = row.attention_mask.count(0)
    for number in range(min(len(row), most)):
        piece, token_id, which = row.tokens[number], row.ids[number], sequence_ids[number]
        if not row.attention_mask[number]:
            if padding:
                yield padding_tokens(piece, padding, token_id)
            padding = 0
            continue
        if which is None:
            yield coloured_token("", str(piece), token_id, "tt-special", "", name=f"{piece}, id {token_id}")
            continue
        text = texts[which] if which < len(texts) else None
        start, end = row.offsets[number]
        if which != text_before:
            position, text_before = start if number else 0, which
        source = ""
        if isinstance(text, str):
            if start > position:
                yield gap(text[position:start])
            source, position = text[max(start, position) : end], max(position, end)
        elif text is not None:
            word = row.word_ids[number]
            source = text[word][start:end] if word is not None else ""
        look = "tt-unknown" if piece == unknown and source != unknown else f"tt-c{number % COLOURS}"
        told = f"<b>{number}</b><em>id {token_id}</em><em>{start}-{end}</em><em>word {row.word_ids[number]}</em>"
        yield coloured_token(source, piece, token_id, look, told, name=f"{piece}, id {token_id}")


def _shape(value: Any) -> str:
    """The size of a column, as numpy writes shapes."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, list):
        shape = (len(value),)
        if value and isinstance(value[0], list):
            widths = {len(row) for row in value}
            shape = (len(value), widths.pop() if len(widths) == 1 else "…")
    return "" if shape is None else f"({', '.join(map(str, shape))})"
