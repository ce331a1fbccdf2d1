"""Bonding curves of Printr: one contract sells all tokens against a virtual reserve, one curve a
chain.

Source: Printr getCurve. A known token whose threshold is 0 has graduated.
"""

from collections.abc import Sequence

from analysis.launchpads.registries import RegistryRecord
from analysis.market.curves.curve import Curve, CurveState, Standing, no_calls
from analysis.reads.eth_reads import Reply
from core.evm.primitives import RawAmount, address_of


def _decode(record: RegistryRecord, _replies: Sequence[Reply]) -> Standing:
    quote, curves, supply, virtual, paid, threshold = record.words[:6]
    if threshold == 0:
        return "closed"
    base = address_of(quote)
    if base is None or curves == 0 or virtual + paid == 0:
        return "unread"
    return CurveState(
        pool=record.question.at,
        quote=base,
        token_reserve_raw=RawAmount(virtual * (supply // curves) // (virtual + paid)),
        quote_reserve_raw=RawAmount(paid),
    )


CURVE = Curve(key="curve_e", words=6, calls=no_calls, decode=_decode)
