"""A trade before it is signed, and its call."""

from typing import Final, Literal

import msgspec

from analysis.market import routers
from analysis.market.venues.trade_route import Swap, TradeRoute
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.token_market import read_market
from analysis.scenarios.trade.called_trade import TradeCall
from config.facts.chain import Chain, Dex
from core.errors import CallerError
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, HexBytes, RawAmount

UnsignedSide = Literal["buy", "sell"]

MOST_DATA_BYTES: Final = 32_768
"""Longest calldata that is simulated."""


class TradeRefusedError(CallerError):
    """The trade cannot be turned into a call. `argument`: the faulty argument of the caller."""

    def __init__(self, *, argument: str, reason: str) -> None:
        super().__init__(reason)
        self.argument = argument
        self.reason = reason


class UnsignedTrade(msgspec.Struct, frozen=True, kw_only=True):
    """A trade that an account is about to sign."""

    token: Address
    side: UnsignedSide
    amount_raw: RawAmount
    """Paid amount: of the token for a sale, else of `pays_with`, else of the native coin in wei."""
    sender: Address
    router: str
    """Address of the contract that is called, or the name of a configured exchange."""
    data: HexBytes | None = None
    """Calldata. None: made here, for the deepest pool of the exchange whose router it is."""
    value_wei: int | None = None
    """Sent with `data`. None: the amount where a buy pays with the native coin, else 0."""
    pays_with: Address | None = None
    """Token that a buy with `data` pays with. None: the native coin."""


class UnsignedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The call with its origin."""

    call: TradeCall
    dex: str | None
    """Name of the exchange whose router it calls. None: not a configured router."""
    is_ours: bool
    """True if its calldata was made here."""


def given_call(trade: UnsignedTrade, chain: Chain) -> UnsignedCall:
    """Return the call that the caller gave. Raises TradeRefusedError."""
    to = _address(trade, chain)
    pays_with = trade.token if trade.side == "sell" else trade.pays_with
    value = trade.value_wei
    if value is None:
        value = trade.amount_raw if pays_with is None else 0
    permit2 = chain.permit2
    through = permit2.address if permit2 is not None and permit2.router == to else None
    dexes = [dex.name for dex in chain.dexes if dex.router == to]
    call = TradeCall(
        to=to,
        data=trade.data or "0x",
        value_wei=value,
        pays_with=pays_with,
        amount_raw=trade.amount_raw,
        spender=through or to,
        permit2=through,
    )
    return UnsignedCall(call=call, dex=next(iter(dexes), None), is_ours=False)


async def made_call(trade: UnsignedTrade, context: ChainContext, newest: BlockRef) -> UnsignedCall:
    """Return the call for the deepest pool of the exchange, without minimum amount or deadline.

    Raises TradeRefusedError, TokenRefusedError, UpstreamError.
    """
    chain = context.chain
    dexes = _exchanges(trade, chain)
    _, first_round, state = await read_market(context, trade.token, newest=newest)
    names = {dex.name for dex in dexes}
    pools = [pool for pool in state.pools if pool.candidate.dex.name in names]
    if not pools:
        raise TradeRefusedError(argument="router", reason="the token has no pool there")
    candidate = pools[0].candidate
    facts = context.memory.recall_routers().get(candidate.dex.router or ZERO_ADDRESS)
    wrapped = chain.wrapped_native.address
    route = routers.find_route(
        candidate, facts, free=first_round.disguise.account("router"), wrapped=wrapped
    )
    if isinstance(route, str) or route.code is not None:
        reason = "no call of this exchange's router is known here; give the calldata"
        raise TradeRefusedError(argument="router", reason=reason)
    swap = Swap(
        candidate=candidate,
        router=route.router,
        trader=trade.sender,
        token_in=trade.token if trade.side == "sell" else candidate.quote,
        token_out=candidate.quote if trade.side == "sell" else trade.token,
        amount_in=trade.amount_raw,
    )
    return UnsignedCall(call=_routed(route, swap), dex=candidate.dex.name, is_ours=True)


def _routed(route: TradeRoute, swap: Swap) -> TradeCall:
    coin_data = route.coin_sell_data if swap.is_sale else route.coin_buy_data
    pays_coins = coin_data is not None and not swap.is_sale
    return TradeCall(
        to=route.router,
        data=route.swap_data(swap) if coin_data is None else coin_data(swap),
        value_wei=swap.amount_in if pays_coins else 0,
        pays_with=None if pays_coins else swap.token_in,
        amount_raw=swap.amount_in,
        spender=route.router,
    )


def _exchanges(trade: UnsignedTrade, chain: Chain) -> list[Dex]:
    named = trade.router.strip().lower()
    found = [dex for dex in chain.dexes if dex.router and named in (dex.router, dex.name.lower())]
    if not found:
        names = ", ".join(sorted(dex.name for dex in chain.dexes if dex.router))
        reason = f"not the router of a configured exchange ({names}); give the calldata"
        raise TradeRefusedError(argument="router", reason=reason)
    return found


def _address(trade: UnsignedTrade, chain: Chain) -> Address:
    """Return the contract that the calldata is for. Raises TradeRefusedError."""
    named = trade.router.strip().lower()
    if named.startswith("0x"):
        return Address(named)
    found = _exchanges(trade, chain)
    assert found[0].router is not None  # noqa: S101 - chosen by having one
    return found[0].router
