"""Head of every page of one token: name, verdict and sentence. Pure."""

from typing import Final

import msgspec

from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import RenderedReport, render_for_people
from api.formats.summary.summary import Verdict
from api.formats.token_snapshot import TokenSnapshot
from config.facts.chain import Chain
from core.evm.primitives import checksum

VERDICT_WORDS: Final[dict[Verdict, str]] = {
    "danger": "Danger",
    "warning": "Warning",
    "safe": "No problems found",
    "not_tested": "Not tested",
}
"""Verdict -> words on the page. Nothing is called safe: tests without findings are just that."""


class TokenHead(msgspec.Struct, frozen=True, kw_only=True):
    """Head of the pages of one token."""

    chain: Chain
    address: str
    """Checksummed."""
    name: str
    symbol: str
    verdict: Verdict
    verdict_words: str
    headline: str
    """Sentences without the last full stop."""
    has_hooks: bool
    """True if programs may be attached to its pools."""


def view_head(snapshot: TokenSnapshot) -> TokenHead:
    """Build the head from one snapshot."""
    return head_of(render_for_people(snapshot), snapshot.chain)


def head_of(rendered: RenderedReport, chain: Chain) -> TokenHead:
    """Build the head from a rendered report."""
    token = rendered.report.token
    verdict: Verdict = rendered.summary.verdict or "not_tested"
    return TokenHead(
        chain=chain,
        address=checksum(token.address),
        name=token.name,
        symbol=token.symbol,
        verdict=verdict,
        verdict_words=VERDICT_WORDS[verdict],
        headline=headline_of(rendered),
        has_hooks=any(pool.pool_id for pool in rendered.report.pools or ()),
    )
