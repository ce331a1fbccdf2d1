"""Bonding curves of Virtuals: the platform's own constant-product pair per token, quoted in
VIRTUAL.

The second reserve opens with VIRTUAL that no buyer paid in, so the pair's actual balance is read
instead. Source: Virtuals Bonding.tokenInfo (its list of cores is left out by the getter) and FPair.
"""

from collections.abc import Sequence

from analysis.launchpads.registries import RegistryRecord
from analysis.market.curves.curve import Curve, CurveState, Standing, word_of
from analysis.reads.chain_reads import CallRead, call_of
from analysis.reads.eth_reads import Reply, decode_address
from core.evm.primitives import RawAmount, address_of

_PAIR, _TRADING, _ON_UNISWAP = 2, 11, 12


def _calls(record: RegistryRecord) -> tuple[CallRead, ...]:
    pair = address_of(record.words[_PAIR])
    if pair is None or not _is_selling(record):
        return ()
    getters = ("getReserves()", "assetBalance()", "tokenB()")
    return tuple(call_of(pair, getter) for getter in getters)


def _decode(record: RegistryRecord, replies: Sequence[Reply]) -> Standing:
    if not _is_selling(record):
        return "closed"
    pair = address_of(record.words[_PAIR])
    if pair is None:
        return "unread"
    tokens, paid, quote = word_of(replies[0], 0), word_of(replies[1], 0), decode_address(replies[2])
    if tokens is None or paid is None or quote is None:
        return "unread"
    return CurveState(
        pool=pair,
        quote=quote,
        token_reserve_raw=RawAmount(tokens),
        quote_reserve_raw=RawAmount(paid),
    )


def _is_selling(record: RegistryRecord) -> bool:
    return bool(record.words[_TRADING]) and not record.words[_ON_UNISWAP]


CURVE = Curve(key="curve_d", words=13, calls=_calls, decode=_decode)
