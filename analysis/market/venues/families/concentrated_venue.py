"""Venues of concentrated pools: one contract per two tokens and key, with plain balances.

The key is a fee, a tick spacing, or nothing more. Balances include uncollected fees.

Sources: the pool interfaces of Uniswap V3, Slipstream, Algebra.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import msgspec

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState, spot_price
from analysis.market.venues.swaps import concentrated_swap, probe_router
from analysis.market.venues.swaps.native_coin_forms import pool_forms
from analysis.market.venues.trade_route import (
    FOREVER_S,
    Reach,
    RouterForm,
    RouterFunction,
    Swap,
    TradeRoute,
)
from analysis.market.venues.venue import RouterTrades, TierKey, Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

_SINGLE = "exactInputSingle"
_SINGLE_TAXED = "exactInputSingleSupportingFeeOnTransferTokens"


def _form(name: str, key_types: str, *, has_deadline: bool = True) -> RouterForm:
    """Return a form of the function `name`. `key_types`: the types between the tokens and the
    recipient, with their commas."""
    deadline = "uint256," if has_deadline else ""

    def arguments(swap: Swap) -> tuple[object, ...]:
        return (
            (
                *(swap.token_in, swap.token_out, *_KEYS[key_types](swap), swap.to),
                *((FOREVER_S,) if has_deadline else ()),
                *(swap.amount_in, 0, 0),
            ),
        )

    signature = f"{name}((address,address,{key_types}address,{deadline}uint256,uint256,uint160))"
    coins = pool_forms(RouterFunction(signature=signature, arguments=arguments))
    return RouterForm(signature=signature, arguments=arguments, coins=coins)


_KEYS: dict[str, Callable[[Swap], tuple[object, ...]]] = {
    "uint24,": lambda swap: (swap.candidate.fee,),
    "int24,": lambda swap: (swap.candidate.tick_spacing,),
    "address,": lambda _: (ZERO_ADDRESS,),
    "": lambda _: (),
}

FORMS_BY_FEE = (_form(_SINGLE, "uint24,"), _form(_SINGLE, "uint24,", has_deadline=False))
FORMS_BY_SPACING = (_form(_SINGLE, "int24,"), _form(_SINGLE, "int24,", has_deadline=False))
FORMS_BY_PAIR = (
    # First those that trade what arrives, as on V2. The address is the pool's deployer, zero for
    # all that the factory made.
    _form(_SINGLE_TAXED, "address,"),
    _form(_SINGLE_TAXED, ""),
    _form(_SINGLE, "address,"),
    _form(_SINGLE, ""),
)


_Q96 = 2**96

PoolKey = TierKey | Literal["pair"]

STANDARD_TIERS: dict[TierKey, tuple[int, ...]] = {
    "fee": (100, 500, 3000, 10000),
    "tick_spacing": (1, 10, 50, 60, 100, 200, 2000),
}
"""Fees in hundredths of a basis point, of the Uniswap V3 factory and its governance; spacings that
Slipstream, Ramses V3 and Solidly V3 factories enable."""

_FORMS: dict[PoolKey, tuple[RouterForm, ...]] = {
    "fee": FORMS_BY_FEE,
    "tick_spacing": FORMS_BY_SPACING,
    "pair": FORMS_BY_PAIR,
}


class PoolVariant(msgspec.Struct, frozen=True, kw_only=True):
    """Differences between the pools of forks."""

    key: PoolKey
    """Key of the factory's pools, in addition to the two tokens."""
    router_key: PoolKey
    """Key by which the router's functions name a pool."""
    price_getter: str = "slot0()"
    """The pool's getter whose first word is the square root of the price, as 96-bit fixed point."""
    is_called_directly: bool = False
    """True if wallets call the pool itself; see `TradeRoute.books_orders`."""
    sale_function: str | None = None
    """As in `concentrated_swap.pool_call`."""


class BalanceReads:
    """Reads of one pool's state."""

    def __init__(
        self,
        batch: ReadBatch,
        pair: Candidate | Lookup,
        pool: Address | AnswerAddress,
        *,
        price_getter: str,
    ) -> None:
        self._batch = batch
        self._replies = [
            batch.call(pair.token, "balanceOf(address)", pool),
            batch.call(pair.quote, "balanceOf(address)", pool),
            batch.call(pool, "liquidity()"),
            batch.call(pool, price_getter),
        ]

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: it did not answer as its kind does. Raises
        UpstreamError."""
        replies = [self._batch[reply] for reply in self._replies]
        token, quote, liquidity, root = map(decode_uint, replies)
        if quote is None:
            return None
        return PoolState(
            token_reserve_raw=RawAmount(token or 0),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=liquidity,
            price=spot_price((root or 0) / _Q96, token_is_0=candidate.token_is_0),
        )


def concentrated_venue(
    *,
    kind: DexKind,
    usual: PoolVariant,
    variants: Mapping[str, PoolVariant] | None = None,
    tier_list: str | None = None,
) -> Venue:
    """Return a venue of concentrated pools. `variants`: the forks that differ from the `usual`, by
    the name that chain files give them. `tier_list`: as Venue.tier_list."""
    pools = _Pools(usual=usual, variants=variants or {})
    keys = dict.fromkeys(one.router_key for one in (usual, *pools.variants.values()))
    return Venue(
        kind=kind,
        lookups=pools.lookups,
        request_pool=pools.request,
        liquidity_form=lambda _: "minted_positions",
        tier_key=pools.tier_key,
        tier_list=tier_list,
        router=RouterTrades(
            every_form=tuple(form for key in keys for form in _FORMS[key]),
            forms_of=pools.forms_of,
            read_moved=concentrated_swap.read_moved,
        ),
        route=pools.route,
        reach=pools.reach,
    )


def tiers_of(dex: Dex, key: TierKey) -> tuple[int, ...]:
    """Return the fees, or tick spacings, by which pools of an exchange are looked up."""
    return dex.fee_tiers or STANDARD_TIERS[key]


class _Pools(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a venue that depend on the fork."""

    usual: PoolVariant
    variants: Mapping[str, PoolVariant]

    def of(self, dex: Dex) -> PoolVariant:
        return self.variants.get(dex.variant or "", self.usual)

    def tier_key(self, dex: Dex) -> TierKey | None:
        key = self.of(dex).key
        return None if key == "pair" else key

    def lookups(self, dex: Dex, token: Address, quote: Address) -> list[Lookup]:
        key = self.tier_key(dex)
        if key is None:
            return [Lookup(dex=dex, token=token, quote=quote, getter="poolByPair(address,address)")]
        if key == "fee":
            getter = "getPool(address,address,uint24)"
            return [
                Lookup(dex=dex, token=token, quote=quote, getter=getter, key=(fee,), fee=fee)
                for fee in tiers_of(dex, key)
            ]
        getter = "getPool(address,address,int24)"
        return [
            Lookup(
                dex=dex,
                token=token,
                quote=quote,
                getter=getter,
                key=(spacing,),
                tick_spacing=spacing,
            )
            for spacing in tiers_of(dex, key)
        ]

    def request(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> BalanceReads:
        return BalanceReads(batch, pair, pool, price_getter=self.of(pair.dex).price_getter)

    def forms_of(self, candidate: Candidate) -> tuple[RouterForm, ...]:
        key = self.of(candidate.dex).router_key
        is_known = key == "pair" or getattr(candidate, key) is not None
        return _FORMS[key] if is_known else ()

    def route(
        self,
        candidate: Candidate,
        router: Address,
        *,
        wrapped: Address | None,
        permit2: Address | None,
    ) -> TradeRoute | str:
        variant = self.of(candidate.dex)
        if variant.is_called_directly:
            if permit2 is not None:
                return f"pools of {candidate.dex.name} pull tokens themselves, without Permit2"
            return concentrated_swap.direct_way(candidate)
        call = partial(concentrated_swap.pool_call, sale_function=variant.sale_function)
        return probe_router.pool_way(router, pool_call=call, wrapped=wrapped, permit2=permit2)

    def reach(self, candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
        return probe_router.pool_reach(free, mark=mark)
