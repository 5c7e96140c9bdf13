"""Draw `benchmarks.svg`, and `benchmarks-narrow.svg` for a phone, from `benchmarks.json`.

    python docs/pictures/draw_benchmarks.py

The chart shows the time of a few tasks: trietok, the best other tokenizer and transformers. A
shorter bar is faster. The longest bar of each task has the full width. The chart has a background
of its own, so it is readable on any page.
"""

from __future__ import annotations

import json
import pathlib
import textwrap
from html import escape
from typing import Any

HERE = pathlib.Path(__file__).parent
WIDTHS = {"benchmarks": 760, "benchmarks-narrow": 380}
MARGIN, NAMES, FIGURES = 18, 134, 62  # pixels: around the chart, left of the bars, right of them
BAR, LINE, TITLE, GAP = 14, 21, 25, 16  # pixels: heights of a bar, its line, a title; below a task
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.small { font-size: 12px; fill: #59636e }
.card { fill: #ffffff; stroke: #d1d9e0 }
.trietok { fill: #0072b2 }
.other { fill: #8a8a8a }
text.trietok { font-weight: 600; fill: #1f2328 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .card { fill: #0d1117; stroke: #3d444d }
  .trietok { fill: #56b4e9 }
  text.trietok { fill: #f0f6fc }
}
"""


def time(figure: float, unit: str) -> tuple[float, str]:
    """Return a figure as a time in the unit that the chart shows: ms or µs.

    >>> time(158, "MB/s")  # the time of one MB
    (6.329113924050633, 'ms')
    >>> time(0.5, "s")
    (500.0, 'ms')
    """
    if unit == "MB/s":
        return 1000 / figure, "ms"
    return (figure * 1000, "ms") if unit == "s" else (figure, unit)


def label(amount: float, unit: str) -> str:
    """
    >>> label(6.329, "ms"), label(546.4, "ms")
    ('6.3 ms', '546 ms')
    """
    return f"{amount:.2g} {unit}" if amount < 100 else f"{amount:.0f} {unit}"


def lines(title: str, width: int) -> list[str]:
    """Return a title in lines that fit into the width.

    >>> lines("1 MB of text to padded tensors, in batches", 260)
    ['1 MB of text to padded tensors,', 'in batches']
    """
    start, comma, end = title.rpartition(", ")
    too_long = len(title) * 7 > width - 2 * MARGIN
    return [start + comma.rstrip(), end] if comma and too_long else [title]


def task(measure: dict[str, Any], width: int, y: int) -> tuple[list[str], int]:
    """Return the elements of one task, and the y below them."""
    elements = []
    for line in lines(measure["title"], width):
        elements.append(f'<text class="title" x="{MARGIN}" y="{y + 14}">{escape(line)}</text>')
        y += LINE
    y += TITLE - LINE
    times = {name: time(figure, measure["unit"]) for name, figure in measure["figures"].items()}
    longest = max(amount for amount, _ in times.values())
    left, most = MARGIN + NAMES, width - 2 * MARGIN - NAMES - FIGURES
    for name, (amount, unit) in times.items():
        is_ours = name == "trietok"
        length = max(2.0, amount / longest * most)
        bar = "trietok" if is_ours else "other"
        text = f'text class="{"trietok" if is_ours else "plain"}" y="{y + BAR - 3}"'
        elements += [
            f'<{text} x="{left - 8}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{bar}" x="{left}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
            f'<{text} x="{left + length + 7:.1f}">{label(amount, unit)}</text>',
        ]
        y += LINE
    return elements, y + GAP


def drawing(chart: dict[str, Any], width: int) -> str:
    """Return the chart as SVG."""
    title = "Time: shorter is faster"
    elements = [f'<text class="small" x="{MARGIN}" y="{MARGIN + 10}">{title}</text>']
    y = MARGIN + 28
    for measure in chart["measures"]:
        more, y = task(measure, width, y)
        elements += more
    for note in chart["notes"]:
        for line in textwrap.wrap(note, (width - 2 * MARGIN) // 6):
            elements.append(f'<text class="small" x="{MARGIN}" y="{y + 8}">{escape(line)}</text>')
            y += 17
    height = y + 8
    card = f'<rect class="card" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"/>'
    inner = "\n".join([card, *elements])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{title}"><style>{STYLE}</style>\n{inner}\n</svg>\n'
    )


if __name__ == "__main__":
    chart = json.loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))
    for name, width in WIDTHS.items():
        (HERE / f"{name}.svg").write_text(drawing(chart, width), encoding="utf-8", newline="\n")
