"""Venues of Curve's pools: contracts that trade two to eight coins against each other.

The coins are numbered from 0 and held by the pool. Wallets call the pool itself, which pulls the
payment by their allowance. Older pools book the ordered amount, newer ones the received one.
Sources: curvefi/stableswap-ng, curve-factory, twocrypto-ng, tricrypto-ng; probes/CoinReader.sol.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from analysis import probes
from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.trade_route import Moved, Swap, TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress, call_of
from analysis.reads.eth_reads import WORD, Reply, words_of
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import SimLog
from config.facts.chain import Dex
from config.facts.pool_family import FAMILIES, DexKind
from core.evm.abi import call_data, selector_of, topic_of
from core.evm.primitives import Address, Hash32, RawAmount, low_address

IndexType = Literal["int128", "uint256"]
"""ABI type of a coin's number."""

_POOLS_OF_A_PAIR = 3
"""Pools of two coins that are read from the factory, the first ones. The index has all."""
_READER = low_address(int(topic_of("CoinReader"), 16))
"""Address of the probe contract. Constant, so that recorded analyses replay."""
_STATE_WORDS = 8
_SWAP_WORDS = 4
_WHOLE_FEE = 10**10


def coin_pool_venue(*, kind: DexKind, index: IndexType, gas: RawAmount) -> Venue:
    """Return a venue of Curve's pools. `gas`: as TradeRoute.gas."""
    pools = _Pools(
        index=index,
        gas=gas,
        swaps=frozenset(
            event.form.topic0 for family in FAMILIES if family.kind == kind for event in family.swap
        ),
    )
    return Venue(kind=kind, lookups=_lookups, request_pool=pools.request, route=pools.route)


class CoinReads:
    """The read of one pool's balances of two coins, which the factory must confirm."""

    def __init__(
        self,
        batch: ReadBatch,
        pair: Candidate | Lookup,
        pool: Address | AnswerAddress,
        *,
        quote_function: str,
    ) -> None:
        read = call_of(
            _READER,
            "read(address,address,address,address,bytes4)",
            *(pool, pair.dex.factory, pair.token, pair.quote),
            bytes.fromhex(selector_of(quote_function)[2:]),
        )
        read = msgspec.structs.replace(read, code=probes.runtime("CoinReader"))
        self._batch = batch
        self._words = batch.add(read, returns=_words)

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: the factory knows no such pool, the pool did not
        answer, or the node refused the call. Raises UpstreamError."""
        words = self._batch.get(self._words)
        if not words:
            return None
        is_pool, token_at, quote_at, token, quote, offered, given, fee = words
        if not is_pool:
            return None
        is_priced = offered > 0 and given > 0 and fee < _WHOLE_FEE
        return PoolState(
            token_reserve_raw=RawAmount(token),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=None,
            price=given / offered / (1 - fee / _WHOLE_FEE) if is_priced else None,
            coins=(token_at, quote_at),
        )


def _words(reply: Reply) -> Sequence[int]:
    """Return the words of a state. Empty: there are others, or none."""
    if not isinstance(reply, bytes) or len(reply) != _STATE_WORDS * WORD:
        return ()
    return words_of(reply)


def _lookups(dex: Dex, token: Address, quote: Address) -> Sequence[Lookup]:
    return [
        Lookup(
            dex=dex,
            token=token,
            quote=quote,
            getter="find_pool_for_coins(address,address,uint256)",
            key=(at,),
        )
        for at in range(_POOLS_OF_A_PAIR)
    ]


class _Pools(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a venue that depend on the family."""

    index: IndexType
    gas: RawAmount
    swaps: frozenset[Hash32]
    """Topic 0 of the events of exchanges."""

    def request(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> CoinReads:
        return CoinReads(batch, pair, pool, quote_function=self._function("get_dy", "uint256"))

    def route(
        self,
        candidate: Candidate,
        router: Address,
        *,
        wrapped: Address | None,
        permit2: Address | None,
    ) -> TradeRoute | str:
        if permit2 is not None:
            return f"pools of {candidate.dex.name} pull tokens themselves, without Permit2"
        if candidate.coins is None:
            return "the numbers of the pool's coins are not known"
        exchange = self._function("exchange", "uint256,uint256")
        quote = self._function("get_dy", "uint256")
        return TradeRoute(
            router=candidate.pool,
            swap_data=lambda swap: call_data(exchange, *_coins_of(swap), swap.amount_in, 0),
            quote_data=lambda swap: call_data(quote, *_coins_of(swap), swap.amount_in),
            read_moved=self.read_moved,
            takes_all=True,
            books_orders=True,
            gas=self.gas,
        )

    def read_moved(
        self, candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
    ) -> Moved | None:
        """Return the amounts of the pool's last exchange of the two coins in this direction. None:
        there was none."""
        is_sale = token_in_is_0 == candidate.token_is_0
        wanted = _directed(candidate, is_sale=is_sale)
        for log in reversed(logs):
            if log.address != candidate.pool or not log.topics or log.topics[0] not in self.swaps:
                continue
            data = bytes.fromhex(log.data[2:])
            if len(data) < _SWAP_WORDS * WORD:
                continue
            coin_in, received, coin_out, sent = (
                int.from_bytes(data[at : at + WORD]) for at in range(0, _SWAP_WORDS * WORD, WORD)
            )
            if (coin_in, coin_out) == wanted:
                return Moved(received=RawAmount(received), sent=RawAmount(sent))
        return None

    def _function(self, name: str, rest: str) -> str:
        return f"{name}({self.index},{self.index},{rest})"


def _coins_of(swap: Swap) -> tuple[int, int]:
    """Return the numbers of the coins paid in and out."""
    return _directed(swap.candidate, is_sale=swap.is_sale)


def _directed(candidate: Candidate, *, is_sale: bool) -> tuple[int, int]:
    token, quote = candidate.coins or (0, 1)
    return (token, quote) if is_sale else (quote, token)
