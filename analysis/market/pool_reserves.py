"""Pool reserves: the reads of a pool's state, by kind, and their decoding.

V2 and Solidly pools keep reserves; the others hold their tokens as plain balances, which includes
uncollected fees. Sources: the pool interfaces of Uniswap V2 and V3, Solidly, Slipstream, Algebra.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate, PoolState, spot_price
from analysis.reads.eth_reads import NoAnswer, call, decode_uint, read_reply
from core.primitives import Hash32, RawAmount
from core.rpc.messages import RpcAnswer, RpcRequest

RESERVE_KINDS = frozenset({"AmmV2", "Solid"})
"""Kinds whose pools answer getReserves()."""

_BALANCE_KINDS = frozenset({"AmmV3", "SolidV3"})
READABLE_KINDS = RESERVE_KINDS | _BALANCE_KINDS
"""Kinds that have a contract per pool, so that their holdings can be read."""

_RESERVES_BYTES = 64
_Q96 = 2**96


def requests(candidate: Candidate, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the reads of one pool's state."""
    if candidate.dex.kind in RESERVE_KINDS:
        return (call(candidate.pool, "getReserves()", block=block),)
    return (
        call(candidate.token, "balanceOf(address)", candidate.pool, block=block),
        call(candidate.quote, "balanceOf(address)", candidate.pool, block=block),
        call(candidate.pool, "liquidity()", block=block),
        call(candidate.pool, _price_getter(candidate), block=block),
    )


def read(candidate: Candidate, answers: Sequence[RpcAnswer]) -> PoolState | None:
    """Decode the state. None: the pool did not answer as its kind does. Raises UpstreamError."""
    if candidate.dex.kind in RESERVE_KINDS:
        return _read_reserves(candidate, answers[0])
    token, quote, liquidity, root = (decode_uint(read_reply(answer)) for answer in answers)
    if quote is None:
        return None
    return PoolState(
        token_reserve_raw=RawAmount(token or 0),
        quote_reserve_raw=RawAmount(quote),
        in_range_liquidity=liquidity,
        price=spot_price((root or 0) / _Q96, token_is_0=candidate.token_is_0),
    )


def _price_getter(candidate: Candidate) -> str:
    """Return the getter whose first word is the square root of the price, as 96-bit fixed point."""
    is_algebra = (candidate.dex.variant or "").startswith("algebra")
    return "globalState()" if is_algebra else "slot0()"


def _read_reserves(candidate: Candidate, answer: RpcAnswer) -> PoolState | None:
    reply = read_reply(answer)
    if isinstance(reply, NoAnswer) or len(reply) < _RESERVES_BYTES:
        return None
    reserves = int.from_bytes(reply[:32], "big"), int.from_bytes(reply[32:64], "big")
    token, quote = reserves if candidate.token_is_0 else reserves[::-1]
    return PoolState(
        token_reserve_raw=RawAmount(token),
        quote_reserve_raw=RawAmount(quote),
        in_range_liquidity=None,
        # The price of a stable pair depends on decimals that are not read here.
        price=quote / token if token and not candidate.stable else None,
    )
