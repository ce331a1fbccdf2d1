"""Trade routes through our own router, where no router of a venue can be used.

A state override places it in the simulation.

Source: analysis/probes/StageRouter.sol.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import msgspec

from analysis import probes
from analysis.market.venues.swaps import (
    book_swap,
    concentrated_swap,
    maker_swap,
    native_coin_forms,
    pair_swap,
    uniswap_v4_swap,
    vault_swap,
)
from analysis.market.venues.trade_route import Reach, ReadMoved, Swap, TradeRoute
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

_COMMON_FEES_BP = (30, 50, 100, 300, 1_000)
"""Fees tried in turn on pairs whose fee is not known: one that is too high costs the trader a
little, which is slippage and not tax; one that is too low reverts."""

_BINS_GAS = RawAmount(2_000_000)
"""A swap through some thirty bins, each of which costs two writes and an event."""

_MEANS_TYPE = "(address,address)"
_SWAP_HOOK_BITS = 0b1100_1100
"""Permission bits of a V4 hook's address: before and after swaps, and with returned deltas.
Source: v4-core Hooks."""


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """Means of payment of a trader, as `StageRouter.sol` takes them."""

    wrapped: Address | None = None
    permit2: Address | None = None

    @property
    def words(self) -> tuple[Address, Address]:
        """Return both addresses as the contract takes them, zero for None."""
        return self.wrapped or ZERO_ADDRESS, self.permit2 or ZERO_ADDRESS


class _Data(Protocol):
    def __call__(self, means: Means, swap: Swap) -> str: ...


def pair_way(
    router: Address,
    *,
    fee_bp: int | None,
    wrapped: Address | None = None,
    permit2: Address | None = None,
) -> TradeRoute:
    """Return a route for pairs. `fee_bp` None: not known.

    `wrapped`: the pair's other token, if that is the wrapped coin.
    """
    known = () if fee_bp is None else (fee_bp,)
    fees = (*known, *(fee for fee in _COMMON_FEES_BP if fee > (fee_bp or 0)))
    return _route(
        router,
        partial(_pair_data, fees),
        pair_swap.read_moved,
        wrapped=wrapped,
        permit2=permit2,
        quote_data=partial(_pair_quote, fees),
        takes_all=True,
    )


def pool_way(
    router: Address,
    *,
    pool_call: Callable[[Swap], str],
    wrapped: Address | None = None,
    permit2: Address | None = None,
) -> TradeRoute:
    """Return a route for concentrated pools. `pool_call`: calldata for the pool itself. `wrapped`:
    the other token, if that is the wrapped coin."""
    return _route(
        router,
        partial(_pool_data, pool_call),
        concentrated_swap.read_moved,
        wrapped=wrapped,
        permit2=permit2,
    )


def managed_way(
    router: Address, key: tuple[object, ...], *, permit2: Address | None = None
) -> TradeRoute:
    """Return a route for pools of Uniswap V4's manager, which trade the native coin itself."""
    read: ReadMoved = partial(uniswap_v4_swap.read_moved, router=router)
    return _route(router, partial(_managed_data, key), read, permit2=permit2, is_hooked=True)


def vaulted_way(router: Address, *, has_bins: bool, permit2: Address | None = None) -> TradeRoute:
    """Return a route for pools of PancakeSwap Infinity, whose key the manager returns by id."""
    read: ReadMoved = partial(uniswap_v4_swap.read_moved, router=router)
    data = partial(_vaulted_data, has_bins)
    route = _route(router, data, read, permit2=permit2, is_hooked=True)
    return msgspec.structs.replace(route, gas=_BINS_GAS) if has_bins else route


def unlocked_way(
    router: Address, *, wrapped: Address | None = None, permit2: Address | None = None
) -> TradeRoute:
    """Return a route for pools in Balancer V3's vault. `wrapped`: the pair's other token, if that
    is the wrapped coin."""
    route = _route(
        router,
        _unlocked_data,
        vault_swap.read_moved,
        wrapped=wrapped,
        permit2=permit2,
        takes_all=True,
        is_hooked=True,
    )
    return msgspec.structs.replace(route, gas=vault_swap.GAS)


def maker_way(
    router: Address, *, wrapped: Address | None = None, permit2: Address | None = None
) -> TradeRoute:
    """Return a route for DODO's pools. `wrapped`: the pool's other token, if that is the wrapped
    coin."""
    return _route(
        router,
        _maker_data,
        maker_swap.read_moved,
        wrapped=wrapped,
        permit2=permit2,
        quote_data=_maker_quote,
        takes_all=True,
    )


def book_way(
    router: Address, *, wrapped: Address | None = None, permit2: Address | None = None
) -> TradeRoute:
    """Return a route for pairs of Liquidity Book. `wrapped`: the pair's other token, if that is
    the wrapped coin."""
    route = _route(
        router,
        _book_data,
        partial(book_swap.read_moved, router=router),
        wrapped=wrapped,
        permit2=permit2,
        quote_data=_book_quote,
        takes_all=True,
    )
    return msgspec.structs.replace(route, gas=_BINS_GAS)


def book_reach(router: Address) -> Reach:
    """Return the measurement for pairs of Liquidity Book, which have a getter for it."""
    return Reach(router=router, code=probes.runtime("StageRouter"), data=_book_quote)


def pool_reach(router: Address, *, mark: Address) -> Reach:
    """Return the measurement for concentrated pools. `mark`: a secret that authenticates the
    answer."""
    return Reach(
        router=router,
        code=probes.runtime("StageRouter"),
        data=lambda swap: call_data(
            "reachPool(address,bytes,bytes32)",
            *(
                swap.candidate.pool,
                bytes.fromhex(concentrated_swap.reach_call(swap)[2:]),
                _word(mark),
            ),
        ),
    )


def managed_reach(
    router: Address, key: tuple[object, ...], *, mark: Address, hooks: Address | None
) -> Reach:
    """Return the measurement for pools of V4's manager. `mark`: a secret that authenticates the
    answer."""
    return Reach(
        router=router,
        code=probes.runtime("StageRouter"),
        data=lambda swap: call_data(
            f"reachManaged(address,{uniswap_v4_swap.KEY_TYPE},bool,uint256,bytes32)",
            *(swap.candidate.dex.factory, key, swap.upwards, swap.amount_in, _word(mark)),
        ),
        has_hooks=bool(int(hooks or ZERO_ADDRESS, 16) & _SWAP_HOOK_BITS),
    )


def vaulted_reach(
    router: Address, *, has_bins: bool, mark: Address, hooks: Address | None
) -> Reach:
    """Return the measurement for pools of PancakeSwap Infinity. `mark`: a secret that authenticates
    the answer."""
    return Reach(
        router=router,
        code=probes.runtime("StageRouter"),
        data=lambda swap: call_data(
            "reachVaulted(address,bytes32,bool,bool,uint256,bytes32)",
            *_entry(swap),
            *(has_bins, swap.upwards, swap.amount_in, _word(mark)),
        ),
        has_hooks=hooks is not None,
    )


def read_reach(data: bytes) -> tuple[RawAmount, RawAmount]:
    """Decode the amounts that the pool would take, and give for it, in smallest units."""
    return (
        RawAmount(int.from_bytes(data[:WORD], "big")),
        RawAmount(int.from_bytes(data[WORD : 2 * WORD], "big")),
    )


def _word(mark: Address) -> bytes:
    return bytes.fromhex(mark[2:]).rjust(WORD, b"\0")


def _route(
    router: Address,
    data: _Data,
    read_moved: ReadMoved,
    *,
    wrapped: Address | None = None,
    permit2: Address | None = None,
    quote_data: Callable[[Swap], str] | None = None,
    takes_all: bool = False,
    is_hooked: bool = False,
) -> TradeRoute:
    in_coins = partial(data, Means(wrapped=wrapped, permit2=permit2)) if wrapped else None
    return TradeRoute(
        router=router,
        code=probes.runtime("StageRouter"),
        swap_data=partial(data, Means(permit2=permit2)),
        coin_buy_data=in_coins,
        coin_sell_data=in_coins,
        read_coins=_read_coins(router, wrapped),
        permit2=permit2,
        quote_data=quote_data,
        read_moved=read_moved,
        takes_all=takes_all,
        is_hooked=is_hooked,
    )


def _read_coins(
    router: Address, wrapped: Address | None
) -> Callable[[Sequence[SimLog]], RawAmount | None] | None:
    if wrapped is None:
        return None
    return partial(native_coin_forms.read_unwrapped, wrapped=wrapped, router=router)


def _pair_data(fees_bp: tuple[int, ...], means: Means, swap: Swap) -> str:
    return call_data(
        f"swapPair(address,address,uint256,uint256[],{_MEANS_TYPE})",
        *(swap.candidate.pool, swap.token_in, swap.amount_in, fees_bp, means.words),
    )


def _pair_quote(fees_bp: tuple[int, ...], swap: Swap) -> str:
    signature = "quotePair(address,address,uint256,uint256[])"
    return call_data(signature, swap.candidate.pool, swap.token_in, swap.amount_in, fees_bp)


def _pool_data(pool_call: Callable[[Swap], str], means: Means, swap: Swap) -> str:
    if means.wrapped is not None and swap.is_sale:
        swap = msgspec.structs.replace(swap, receiver=swap.router)
    return call_data(
        f"swapPool(address,address,bytes,{_MEANS_TYPE})",
        *(swap.candidate.pool, swap.token_in, bytes.fromhex(pool_call(swap)[2:])),
        means.words,
    )


def _managed_data(key: tuple[object, ...], means: Means, swap: Swap) -> str:
    return call_data(
        f"swapManaged(address,{uniswap_v4_swap.KEY_TYPE},bool,uint256,{_MEANS_TYPE})",
        *(swap.candidate.dex.factory, key, swap.upwards, swap.amount_in, means.words),
    )


def _vaulted_data(has_bins: bool, means: Means, swap: Swap) -> str:
    return call_data(
        f"swapVaulted(address,bytes32,bool,bool,uint256,{_MEANS_TYPE})",
        *_entry(swap),
        *(has_bins, swap.upwards, swap.amount_in, means.words),
    )


def _entry(swap: Swap) -> tuple[Address, bytes]:
    """Return manager and id of a pool that is an entry."""
    return swap.candidate.dex.factory, bytes.fromhex(swap.candidate.key[2:])


def _maker_data(means: Means, swap: Swap) -> str:
    return call_data(
        f"swapMaker(address,address,uint256,{_MEANS_TYPE})",
        *(swap.candidate.pool, swap.token_in, swap.amount_in, means.words),
    )


def _maker_quote(swap: Swap) -> str:
    signature = "quoteMaker(address,address,uint256)"
    return call_data(signature, swap.candidate.pool, swap.token_in, swap.amount_in)


def _unlocked_data(means: Means, swap: Swap) -> str:
    return call_data(
        f"swapUnlocked(address,{vault_swap.ORDER_TYPE},{_MEANS_TYPE})",
        *(swap.candidate.pool, vault_swap.order_of(swap), means.words),
    )


def _book_data(means: Means, swap: Swap) -> str:
    return call_data(
        f"swapBook(address,address,uint256,{_MEANS_TYPE})",
        *(swap.candidate.pool, swap.token_in, swap.amount_in, means.words),
    )


def _book_quote(swap: Swap) -> str:
    signature = "reachBook(address,address,uint256)"
    return call_data(signature, swap.candidate.pool, swap.token_in, swap.amount_in)
