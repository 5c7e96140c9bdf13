"""Makes the pictures of the pages: `python docs/pictures/make_pictures.py [NAME ...]`.

It needs Chromium as `chromium` (Debian's package), fonts for Chinese (`fonts-noto-cjk`), without
which it stops, since Chromium would draw boxes, Pillow, and trietok with the extra `cli`. Each
picture is what a browser shows of a page that trietok has written, or of what the command writes to
a terminal.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trietok import Explanation

HERE = Path(__file__).parent
TEXT = "ALTernate naïve 東京 unaffable [MASK] e\u200d"
SENTENCE = (
    "Keras是ONEIROS（Open-ended Neuro-Electronic Intelligent Robot Operating System，"
    "开放式神经电子智能机器人操作系统）项目研究工作的部分产物[3]，"
    "主要作者和维护者是Google工程师François Chollet。\r\n"
)
MOST_BYTES = 60_000
COLOURS, COLOURS_OF_TERMINAL = 128, 32
# A font in which a Chinese character is exactly as wide as two letters, as on a terminal.
TERMINAL = (
    '<body style="margin:0;background:{back};color:{front}"><pre style="margin:0;padding:14px'
    " 18px;line-height:1.32;font-size:14px;font-family:'Noto Sans Mono CJK"
    " JP',monospace\">{text}</pre></body>"
)


def pages(folder: Path) -> dict[str, tuple[str, int]]:
    """The pages to take pictures of, and how wide each window is."""
    import trietok

    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens(["ALT"])
    tokenizer.save_pretrained(folder / "model")
    explained = tokenizer.explain(TEXT)
    told = with_story(explained.to_html(), 11)
    reason = tokens_of(with_story(explained.to_html(), 10))
    slow = trietok.BertTokenizer.from_pretrained("trietok-multi")
    fast = trietok.BertTokenizerFast.from_pretrained("trietok-multi")
    sentence = slow.explain(SENTENCE).to_html()
    text = "a\u0378b \ud800 naïve"
    added, english = (trietok.BertTokenizer.from_pretrained("trietok-en") for _ in range(2))
    added.add_tokens(["able"])
    fast, chinese = (
        trietok.BertTokenizerFast.from_pretrained("trietok-en"),
        trietok.BertTokenizer.from_pretrained("trietok-zh"),
    )
    fast.add_tokens([trietok.AddedToken("<ent>", lstrip=True)])
    exercises = {
        "unknown": (english.explain("a snow☃man"), 3),
        "added": (added.explain("unbelievable tables"), 5),
        "accents": (english.explain("naïve café"), 0),
        "chinese": (chinese.explain("猫爱吃鱼"), 0),
        "lstrip": (fast.explain("the <ent> people"), 3),
    }
    return {
        **{f"exercise-{name}": (page(of_exercise(*each)), 760) for name, each in exercises.items()},
        "explained": (page(told), 820),
        "explained-dark": (page(told, "tt-dark"), 820),
        "explained-narrow": (page(explained.to_html()), 500),
        "reason": (page(reason), 900),
        "reason-dark": (page(reason, "tt-dark"), 900),
        "reason-narrow": (page(reason), 420),
        "reason-narrow-dark": (page(reason, "tt-dark"), 420),
        "sentence": (
            page(sentence.replace("<h4>", "<h4 hidden>").replace("<ol>", "<ol hidden>")),
            960,
        ),
        "against": (page(slow.explain(text).against(fast.explain(text)).to_html()), 760),
        "terminal": (terminal(["explain", TEXT, "-m", "model"], 80, folder), 720),
        "terminal-narrow": (terminal(["explain", "naïve ☃\u200d", "-m", "model"], 40, folder), 380),
    }


def of_exercise(explained: Explanation, pinned: int) -> str:
    """The tokens with the story of one of them, from 1; or with the stages, where that is 0."""
    html = explained.to_html()
    return tokens_of(with_story(html, pinned)) if pinned else html


def with_story(html: str, number: int) -> str:
    """An explanation with the story of a token, from 1."""
    before, *tokens = html.split("<details ")
    tokens[number - 1] = f"open {tokens[number - 1]}"
    return "<details ".join((before, *tokens))


def tokens_of(html: str) -> str:
    """An explanation without the stages and the hint."""
    for left_out in ("<h4>", "<ol>", '<p class="tt-hint">'):
        html = html.replace(left_out, f"{left_out[:-1]} hidden>")
    return html


def page(fragment: str, look: str = "tt-light") -> str:
    """A page with one fragment."""
    back = "#0d0f12" if look == "tt-dark" else "#fff"
    fragment = fragment.replace('class="tt"', f'class="tt {look}"', 1)
    return (
        '<!doctype html><meta charset="utf-8"><body'
        f' style="margin:8px;background:{back}">{fragment}</body>'
    )


def terminal(arguments: list[str], columns: int, folder: Path) -> str:
    """A page with what the command writes to a terminal, started in a folder."""
    from rich.console import Console
    from rich.terminal_theme import DIMMED_MONOKAI
    from rich.text import Text

    ours, theirs = os.openpty()
    env = {
        **os.environ,
        "COLUMNS": str(columns),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    env.update(LC_ALL="C.UTF-8", PYTHONPATH=str(HERE.parents[1]))
    env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "trietok", *arguments]
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=folder
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # how Linux tells that the other side has closed
        pass
    child.wait()
    nowhere = open(os.devnull, "w")  # noqa: SIM115
    console = Console(record=True, width=columns, file=nowhere, color_system="truecolor")
    console.print(
        Text.from_ansi(written.decode("utf-8").replace("\r\n", "\n").rstrip()),
        no_wrap=True,
        crop=False,
    )
    body = console.export_html(theme=DIMMED_MONOKAI, inline_styles=True, code_format="{code}")
    return '<!doctype html><meta charset="utf-8">' + TERMINAL.format(
        back="#16191d", front="#e9edf1", text=body
    )


def photograph(name: str, html: str, width: int, folder: Path) -> int:
    """Take the picture of a page; return its size in bytes."""
    from PIL import Image, ImageChops

    source, shot = folder / f"{name}.html", folder / f"{name}.png"
    source.write_text(html, encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--window-size={width},2600",
    ]
    subprocess.run(
        ["chromium", *options, f"--screenshot={shot}", source.as_uri()],
        check=True,
        capture_output=True,
    )
    picture = Image.open(shot).convert("RGB")
    empty = Image.new("RGB", picture.size, picture.getpixel((2, picture.height - 2)))
    box = ImageChops.difference(picture, empty).getbbox() or (0, 0, *picture.size)
    picture = picture.crop((0, 0, picture.width, min(box[3] + 8, picture.height)))
    target = HERE / f"{name}.png"
    colours = COLOURS_OF_TERMINAL if name.startswith("terminal") else COLOURS
    picture.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
    return target.stat().st_size


def main() -> int:
    if not subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=True).stdout:
        raise SystemExit("no font has Chinese characters: install fonts-noto-cjk")
    with tempfile.TemporaryDirectory() as folder:
        too_big = 0
        for name, (html, width) in pages(Path(folder)).items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if re.search(r"https?://", html):
                raise SystemExit(f"{name}: the page asks for something from elsewhere")
            size = photograph(name, html, width, Path(folder))
            print(f"{name}.png: {size:,} bytes")
            too_big += size > MOST_BYTES
    return int(too_big > 0)


if __name__ == "__main__":
    sys.exit(main())
