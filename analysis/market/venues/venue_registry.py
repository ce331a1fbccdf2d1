"""List of the venues. Each is declared in its own module, in a constant called VENUE."""

from analysis.market.venues.families import (
    balancer_v2,
    balancer_v3,
    curve_crypto,
    curve_stable,
    dodo_v2,
    liquidity_book,
    slipstream,
    solidly,
    uniswap_v2,
    uniswap_v3,
    uniswap_v4,
)
from analysis.market.venues.trade_route import RouterForm
from analysis.market.venues.venue import Venue
from config.chains import Dex

VENUES: tuple[Venue, ...] = (
    balancer_v2.VENUE,
    balancer_v3.VENUE,
    curve_crypto.VENUE,
    curve_stable.VENUE,
    dodo_v2.VENUE,
    liquidity_book.VENUE,
    slipstream.VENUE,
    solidly.VENUE,
    uniswap_v2.VENUE,
    uniswap_v3.VENUE,
    uniswap_v4.VENUE,
)
"""In the order of their modules. tests/house holds it against them, and against the families."""

_BY_KIND = {venue.kind: venue for venue in VENUES}

ROUTER_FORMS: tuple[RouterForm, ...] = tuple(
    dict.fromkeys(form for venue in VENUES if venue.router for form in venue.router.every_form)
)
"""Every form that an exchange's router may have, each once."""


def venue_of(dex: Dex) -> Venue:
    """Return how pools of this exchange are found, read and traded."""
    return _BY_KIND[dex.kind]
