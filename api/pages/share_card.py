"""The picture in link previews of a token: 1200 by 630 pixels, PNG.

Names of tokens are untrusted: a text with a character that the font lacks is not drawn.
"""

import io
from collections.abc import Sequence
from functools import cache
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from api.formats.prose.prose import short
from api.pages.views.token_view import TokenView
from core.evm.primitives import parse_address
from core.text.visible_text import has_hidden

_SIZE: Final = (1200, 630)
_MARGIN: Final = 80
_PAGE: Final = "#fbfbfa"
_INK: Final = "#1b1d21"
_FAINT: Final = "#5c626b"
_TONES: Final = {
    "danger": ("#b3261e", "#fdeceb"),
    "warning": ("#8a5200", "#fff4e0"),
    "safe": ("#1e6b3a", "#e8f5ec"),
    "not_tested": ("#565b66", "#eff0f3"),
}
_COUNTS: Final = {"danger": "#b3261e", "warning": "#8a5200", "unknown": _INK, "fine": "#1e6b3a"}

_MOST_LINES: Final = 4
_LONGEST_SYMBOL: Final = 18
_NO_GLYPH: Final = "\U0010ffff"

_Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def draw_card(token: TokenView) -> bytes:
    """Return the picture of one token's verdict and headline."""
    image = Image.new("RGB", _SIZE, _PAGE)
    draw = ImageDraw.Draw(image)
    strong, soft = _TONES[token.head.verdict]
    draw.rectangle((0, 0, _SIZE[0], 24), fill=strong)
    draw.text((_MARGIN, 72), _name(token), font=_font(52), fill=_INK)
    subtitle = f"{token.head.chain.display_name}, {short(parse_address(token.head.address))}"
    draw.text((_MARGIN, 144), _drawable(subtitle, ""), font=_font(28), fill=_FAINT)
    draw.rounded_rectangle((_MARGIN, 204, _SIZE[0] - _MARGIN, 484), radius=18, fill=soft)
    draw.text((_MARGIN + 36, 226), token.head.verdict_words, font=_font(32), fill=strong)
    headline = _drawable(f"{token.head.headline}.", f"{token.head.verdict_words}.")
    draw.multiline_text(
        (_MARGIN + 36, 274), _fitted(headline), font=_font(40), fill=_INK, spacing=8
    )
    _draw_counts(draw, token)
    foot = f"Assay, block {token.block_number}, {token.scanned_at}"
    draw.text((_MARGIN, 574), foot, font=_font(24), fill=_FAINT)
    packed = io.BytesIO()
    image.quantize(64).save(packed, "PNG", optimize=True)
    return packed.getvalue()


def _draw_counts(draw: ImageDraw.ImageDraw, token: TokenView) -> None:
    at = float(_MARGIN)
    for count in token.counts:
        text = f"{count.number} {count.words}"
        draw.text((at, 516), text, font=_font(30), fill=_COUNTS[count.tone])
        at += draw.textlength(text, font=_font(30)) + 44


def _name(token: TokenView) -> str:
    """Return the symbol where it can be drawn as it is; else the address."""
    cut = token.head.symbol[:_LONGEST_SYMBOL]
    dots = "…" if len(token.head.symbol) > _LONGEST_SYMBOL else ""
    address = short(parse_address(token.head.address))
    return address if has_hidden(cut) or not cut.strip() else _drawable(f"{cut}{dots}", address)


def _drawable(text: str, otherwise: str) -> str:
    """Return the text, or `otherwise` if the font lacks one of its characters."""
    return text if all(_has_glyph(char) for char in set(text)) else otherwise


@cache
def _font(size: int) -> _Font:
    return ImageFont.load_default(size)


def _has_glyph(char: str) -> bool:
    if char == " ":
        return True
    font = _font(40)
    return bytes(font.getmask(char)) != bytes(font.getmask(_NO_GLYPH))


def _fitted(text: str) -> str:
    """Return the text in lines that fit the box; what is too long ends with an ellipsis."""
    width = _SIZE[0] - 2 * _MARGIN - 72
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _font(40).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(_cut(lines))


def _cut(lines: Sequence[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return list(lines)
    kept = list(lines[:_MOST_LINES])
    kept[-1] = f"{kept[-1].rstrip('.;,')}…"
    return kept
