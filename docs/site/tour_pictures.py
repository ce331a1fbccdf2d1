"""Take the pictures of the tour from a demo: `make pictures`.

They are cropped to their subject and reduced to few colours, small enough to commit.
"""

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
from PIL import Image

from docs.site.demo_run import ROOT, running_demo
from tests.harness.browser.chromium import Chromium, Visit, find_chromium

PICTURES: Final = ROOT / "docs" / "pictures"

_SETTLED: Final = '#token[data-pending=""]'
_WIDTH: Final = 960
_COLOURS: Final = 64


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One picture of a page of the demo."""

    name: str
    symbol: str = ""
    """Symbol of the token on the page. Empty: the front page."""
    part: str = ""
    """Selector of the part to show. Empty: the top of the page."""
    clicks: tuple[str, ...] = ()
    height: int = 620
    """Pixels from the top of the page or part, at most."""


TOUR: Final = (
    Picture(name="front"),
    Picture(name="trap", symbol="TRAP"),
    Picture(
        name="proof",
        symbol="TRAP",
        part=".finding.danger",
        clicks=(".finding.danger summary",),
    ),
    Picture(name="pools", symbol="DUMP", part='section[aria-labelledby="pools"]'),
    Picture(name="holders", symbol="BURN", part='section[aria-labelledby="holders"]'),
    Picture(name="dates", symbol="FUSE", part='section[aria-labelledby="dates"]'),
)


def _take(chromium: Chromium, picture: Picture, url: str, folder: Path) -> None:
    taken = folder / f"{picture.name}.png"
    visit = Visit(
        url=url,
        width=_WIDTH,
        until=_SETTLED if picture.symbol else "",
        clicks=picture.clicks,
        screenshot=str(taken),
        framed=picture.part,
    )
    chromium.visit(visit)
    with Image.open(taken) as image:
        top = image.crop((0, 0, image.width, min(image.height, picture.height)))
        few = top.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        few.save(PICTURES / taken.name, optimize=True)


def main() -> None:
    """Take every picture. Raises RuntimeError without a demo or a browser."""
    executable = find_chromium()
    if executable is None:
        message = "no Chromium on this machine (apt-get install chromium)"
        raise RuntimeError(message)
    PICTURES.mkdir(exist_ok=True)
    with (
        running_demo() as demo,
        tempfile.TemporaryDirectory() as folder,
        closing(Chromium(executable)) as chromium,
    ):
        for symbol in demo.tokens:  # the front page lists visited tokens
            chromium.visit(Visit(url=demo.page(symbol)))
        for picture in TOUR:
            url = demo.page(picture.symbol) if picture.symbol else f"{demo.url}/"
            _take(chromium, picture, url, Path(folder))


if __name__ == "__main__":
    main()
