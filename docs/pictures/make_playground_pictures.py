"""Makes the pictures of the playground in docs/explaining.md:
`python docs/pictures/make_playground_pictures.py`.

It needs Chromium as `chromium` (Debian's package), fonts for
Chinese (`fonts-noto-cjk`), Pillow, Playwright, and trietok with the extra `cli`.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

HERE = Path(__file__).parent
ADDED = [{"content": "ALT", "normalized": True}, {"content": "unaffable", "single_word": True}]
COLOURS = 96
SHOTS = {  # name → width, height, scheme, what the address says
    "playground": (1180, 900, "light", {}),
    "playground-dark": (
        1180,
        760,
        "dark",
        {"against": ["profile", "trietok-multi"], "text": "a\u0378b naïve 東京 e\u200d"},
    ),
    "playground-narrow": (390, 1500, "light", {"against": ["trietok-multi"], "profile": "fast"}),
}


def main() -> None:
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "trietok", "play", "--port", "0", "--no-browser"]
    server = subprocess.Popen(command, cwd=HERE.parents[1], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split(";")[0].split(" at ")[1]
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            for name, (width, height, scheme, settings) in SHOTS.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto(
                    f"{address}#{urlencode({'added': json.dumps(ADDED), **settings}, doseq=True)}"
                )
                page.locator("#explanation .tt").wait_for()
                if not settings:
                    page.locator("#explanation .tt-t").nth(3).click()
                    page.mouse.move(1, 1)
                save(name, page.screenshot())
            browser.close()
    finally:
        server.terminate()
        server.wait()


def save(name: str, png: bytes) -> None:
    """Keep a picture small."""
    from PIL import Image

    target = HERE / f"{name}.png"
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
