"""Draws `benchmarks.svg`, and `benchmarks-narrow.svg` for a phone, from `benchmarks.json`.

The figures are those of one run: MB of text a second, by tokenizer and text.

    python docs/pictures/draw_benchmarks.py

The scale is linear, the same for all texts. The outlined bar is the first pass over a text, the
full one a text that has been met. transformers is measured on English alone.
"""

from __future__ import annotations

import json
import pathlib
from html import escape
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
BAR, GAP, TOP = 22, 8, 58
HIGHEST = 300.0
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600; font-size: 15px } .small { font-size: 11px; fill: #666 }
.grid { stroke: #8884 }
.ours { fill: #0072b2; stroke: #0072b2 } .others { fill: #8a8a8a; stroke: #8a8a8a }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .small { fill: #aaa }
  .ours { fill: #56b4e9; stroke: #56b4e9 } .others { fill: #9a9a9a; stroke: #9a9a9a }
}
rect.first { fill: none; stroke-width: 1.5 }
"""


class Scale(NamedTuple):
    """How wide a picture is, and the names in it, in pixels; and which speeds have a line."""

    width: int
    names: int
    lines: tuple[int, ...]

    def place(self, speed: float) -> float:
        """Where a speed is, in pixels from the left edge."""
        return self.names + speed / HIGHEST * (self.width - self.names - 60)


PICTURES = {
    "benchmarks": Scale(760, 210, (0, 100, 200, 300)),
    "benchmarks-narrow": Scale(390, 178, (0, 150, 300)),
}


def bar(scale: Scale, name: str, cold: float, warm: float, y: int) -> list[str]:
    """A contender's two bars, one over the other, and its figures."""
    kind = "ours" if name.startswith("trietok") else "others"
    half, left = BAR // 2, scale.names
    return [
        f'<text x="{left - 10}" y="{y + half + 5}" text-anchor="end">{escape(name)}</text>',
        (
            f'<rect class="{kind} first" x="{left}" y="{y}" width="{scale.place(cold) - left:.1f}"'
            f' height="{half - 2}"/>'
        ),
        (
            f'<rect class="{kind}" x="{left}" y="{y + half}" width="{scale.place(warm) - left:.1f}"'
            f' height="{half}"/>'
        ),
        (
            f'<text class="small" x="{scale.place(max(cold, warm)) + 6:.1f}" y="{y + half + 4}">'
            f"{cold:.3g} / {warm:.3g}</text>"
        ),
    ]


def drawing(figures: dict[str, dict[str, dict[str, float]]], scale: Scale) -> str:
    """The picture of all texts, each a group of bars."""
    parts: list[str] = []
    y = TOP
    for text, contenders in figures.items():
        parts.append(f'<text class="title" x="12" y="{y}">{escape(text)}</text>')
        y += 12
        for name, speeds in contenders.items():
            parts += bar(scale, name, speeds["cold"], speeds["warm"], y)
            y += BAR + GAP
        y += 26
    height = y
    grid = []
    for speed in scale.lines:
        x = scale.place(speed)
        grid.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="34" y2="{height - 30}"/>')
        grid.append(
            f'<text class="small" x="{x:.1f}" y="28" text-anchor="middle">{speed} MB/s</text>'
        )
    note = (
        f'<text class="small" x="12" y="{height - 12}">outlined: the first pass; full: the text has'
        " been met</text>"
    )
    inner = "\n".join([*grid, *parts, note])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scale.width} {height}" role="img"'
        ' aria-label="MB of text a second by tokenizer and'
        f' text"><style>{STYLE}</style>\n{inner}\n</svg>\n'
    )


if __name__ == "__main__":
    figures = json.loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))
    for name, scale in PICTURES.items():
        (HERE / f"{name}.svg").write_text(
            drawing(figures["encode"], scale), encoding="utf-8", newline="\n"
        )
