"""List of the venues. Each module of `families` declares one in a constant VENUE."""

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
from config.facts.chain import Dex

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
"""Venues in the order of their modules. tests/house compares them with modules and families."""

_BY_KIND = {venue.kind: venue for venue in VENUES}

ROUTER_FORMS: tuple[RouterForm, ...] = tuple(
    dict.fromkeys(form for venue in VENUES if venue.router for form in venue.router.every_form)
)
"""All forms of routers, each once."""


def venue_of(dex: Dex) -> Venue:
    """Return the venue of an exchange."""
    return _BY_KIND[dex.kind]
