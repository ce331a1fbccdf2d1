"""Pool reserves: the reads of a pool's state, by kind, and their decoding.

V2 and Solidly pools keep reserves; the others hold their tokens as plain balances, which includes
uncollected fees. Sources: the pool interfaces of Uniswap V2 and V3, Solidly, Slipstream, Algebra.
"""

from analysis.market.pool_discovery import Lookup
from analysis.market.venues.pool import Candidate, PoolState, spot_price
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import NoAnswer, Reply, decode_uint
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from core.primitives import Address, RawAmount

RESERVE_KINDS = frozenset({"AmmV2", "Solid"})
"""Kinds whose pools answer getReserves()."""

_BALANCE_KINDS = frozenset({"AmmV3", "SolidV3"})
READABLE_KINDS = RESERVE_KINDS | _BALANCE_KINDS
"""Kinds that have a contract per pool, so that their holdings can be read."""

_RESERVES_BYTES = 64
_Q96 = 2**96


class ReserveReads:
    """Reads of one pool's state."""

    def __init__(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> None:
        """`pair`: the exchange and the tokens of the pool, which may still be looked up."""
        self._batch = batch
        if pair.dex.kind in RESERVE_KINDS:
            self._replies = [batch.call(pool, "getReserves()")]
        else:
            self._replies = [
                batch.call(pair.token, "balanceOf(address)", pool),
                batch.call(pair.quote, "balanceOf(address)", pool),
                batch.call(pool, "liquidity()"),
                batch.call(pool, _price_getter(pair.dex)),
            ]

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: it did not answer as its kind does. Raises
        UpstreamError."""
        replies = [self._batch[reply] for reply in self._replies]
        if candidate.dex.kind in RESERVE_KINDS:
            return _decode_reserves(candidate, replies[0])
        token, quote, liquidity, root = map(decode_uint, replies)
        if quote is None:
            return None
        return PoolState(
            token_reserve_raw=RawAmount(token or 0),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=liquidity,
            price=spot_price((root or 0) / _Q96, token_is_0=candidate.token_is_0),
        )


def _price_getter(dex: Dex) -> str:
    """Return the getter whose first word is the square root of the price, as 96-bit fixed point."""
    is_algebra = (dex.variant or "").startswith("algebra")
    return "globalState()" if is_algebra else "slot0()"


def _decode_reserves(candidate: Candidate, reply: Reply) -> PoolState | None:
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
