"""Bonding curves of flap: one portal sells all tokens along (1e9 + h - sold) * (reserve + r) = k.

`reserve` is the quote paid in; r, h and k only set the price. Source: flap portal interface,
getTokenV8Safe.
"""

from collections.abc import Sequence

from analysis.launchpads.registries import RegistryRecord
from analysis.market.curves.curve import Curve, CurveState, Standing, no_calls, share_of
from analysis.reads.eth_reads import Reply
from core.evm.primitives import RawAmount, address_of

_TRADABLE = 1
"""The one of the states 0 to 5 in which the portal itself trades."""

_SUPPLY_RAW = 10**9 * 10**18
"""Supply of every token, in smallest units."""


def _decode(record: RegistryRecord, _replies: Sequence[Reply]) -> Standing:
    status, reserve, sold, *_ = record.words
    for_pool, quote = record.words[8], address_of(record.words[9])
    if status != _TRADABLE or sold >= for_pool:
        return "closed"
    if quote is None or sold > _SUPPLY_RAW:
        return "unread"
    return CurveState(
        pool=record.question.at,
        quote=quote,
        token_reserve_raw=RawAmount(_SUPPLY_RAW - sold),
        quote_reserve_raw=RawAmount(reserve),
        progress=share_of(sold, for_pool),
    )


CURVE = Curve(key="curve_b", words=18, calls=no_calls, decode=_decode)
