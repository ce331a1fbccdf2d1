"""Bonding curves of Pons V2 and its forks: one curve contract per token, known to the factory.

Once swept into the factory (phase 1) the token has no venue until its pool is live (phase 2).
Source: PonsV2LaunchFactory.getLaunchedToken and the curve's getters.
"""

from collections.abc import Sequence

from analysis.launchpads.registries import RegistryRecord
from analysis.market.curves.curve import Curve, CurveState, Standing, share_of, word_of
from analysis.reads.chain_reads import CallRead, call_of
from analysis.reads.eth_reads import Reply
from core.evm.primitives import RawAmount, address_of

_CURVE, _QUOTE, _TARGET, _PHASE = 1, 4, 5, 10
_SELLING = 0


def _calls(record: RegistryRecord) -> tuple[CallRead, ...]:
    curve = address_of(record.words[_CURVE])
    if record.words[_PHASE] != _SELLING or curve is None:
        return ()
    getters = ("getReserves()", "realQuoteReserve()", "graduated()")
    return tuple(call_of(curve, getter) for getter in getters)


def _decode(record: RegistryRecord, replies: Sequence[Reply]) -> Standing:
    if record.words[_PHASE] != _SELLING:
        return "closed"
    curve, quote = address_of(record.words[_CURVE]), address_of(record.words[_QUOTE])
    if curve is None or quote is None:
        return "unread"
    tokens, paid, graduated = word_of(replies[0], 1), word_of(replies[1], 0), word_of(replies[2], 0)
    if graduated:
        return "closed"
    if tokens is None or paid is None:
        return "unread"
    target = record.words[_TARGET]
    return CurveState(
        pool=curve,
        quote=quote,
        token_reserve_raw=RawAmount(tokens),
        quote_reserve_raw=RawAmount(paid),
        progress=share_of(paid, target),
        quote_target_raw=RawAmount(target) if target else None,
    )


CURVE = Curve(key="curve_c", words=15, calls=_calls, decode=_decode)
