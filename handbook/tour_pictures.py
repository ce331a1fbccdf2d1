"""Takes the pictures of the tour from a demo that it starts and ends: `make pictures`.

They are cut to what the text speaks of, in few colours, so that they are small enough to commit.
"""

import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec
from PIL import Image

from harness.browser.chromium import Chromium, Visit, find_chromium

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "docs" / "pictures"

_SETTLED: Final = '#token[data-pending=""]'
_WIDTH: Final = 960
_COLOURS: Final = 64
_STOP_S: Final = 30
_READY: Final = "Ctrl-C ends all of it."


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One picture of a page of the demo."""

    name: str
    symbol: str = ""
    """Of the token whose page it shows. Empty: the front page."""
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


@contextmanager
def _demo() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address of a demo and of its tokens' pages by symbol. Raises RuntimeError where it
    does not start."""
    port = _free_port()
    command = [sys.executable, "-m", "assay", "demo", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            said = ""
            for line in process.stdout:
                said += line
                if _READY in line:
                    break
            else:
                message = "the demo did not start"
                raise RuntimeError(message)
            tokens = re.findall(r"│ (\w+) +│.*│ (0x\w{40}) │", said)
            url = f"http://127.0.0.1:{port}"
            yield url, {symbol: f"{url}/t/ethereum/{address}" for symbol, address in tokens}
        finally:
            process.terminate()
            process.wait(_STOP_S)


def _free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


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
        _demo() as (url, tokens),
        tempfile.TemporaryDirectory() as folder,
        closing(Chromium(executable)) as chromium,
    ):
        for token in tokens.values():  # the front page lists what has been looked at
            chromium.visit(Visit(url=token))
        for picture in TOUR:
            _take(chromium, picture, tokens.get(picture.symbol, f"{url}/"), Path(folder))


if __name__ == "__main__":
    main()
