"""Trades on the demo's chain: swaps through each venue's router, and now and then a new token."""

import random
import threading
import time

import msgspec

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError
from assay.demo.compile import load_artifacts
from assay.demo.concentrated import POOL_KEY, pool_key
from assay.demo.layout import (
    BURN,
    FOR_EVER,
    Pool,
    Sides,
    Venues,
    World,
    ZooToken,
    native_worth,
    router_of,
)
from assay.demo.reads import balance_of
from assay.demo.seeding import UNLIMITED, seed
from assay.demo.transaction_pipeline import Pipeline
from core.errors import UpstreamError
from core.evm.abi import AbiError, call_data
from core.evm.primitives import ZERO_ADDRESS, Address

# The prices at which a V4 swap stops, one inside the outermost allowed (TickMath).
_LOWEST_SQRT_PRICE = 4_295_128_739 + 1
_HIGHEST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342 - 1


# Routers that take and pay the wrapped coin, as any other token.
_WRAPPED_ONLY = ("pancake", "slipstream")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction without its sender."""

    to: Address
    data: str
    value_wei: int = 0

    def sent_by(self, sender: Address, *, gas: int) -> dict[str, str]:
        """Return the argument of `eth_sendTransaction`."""
        return {
            "from": sender,
            "to": self.to,
            "data": self.data,
            "value": hex(self.value_wei),
            "gas": hex(gas),
        }


def spender_of(venues: Venues, pool: Pool) -> Address:
    """Return the contract that takes the seller's tokens, and so needs an allowance."""
    if pool.kind == "AmmV4":
        return venues.swap_v4
    return router_of(venues.dex_of(pool.venue))


def pays_native(venues: Venues, pool: Pool) -> bool:
    """True if a buyer pays with native coins, rather than with a stable and an allowance."""
    if pool.venue in _WRAPPED_ONLY:
        return False
    return pool.quote in (ZERO_ADDRESS, venues.wrapped_native.address)


def approve_call(token: Address, spender: Address, amount_raw: int) -> Call:
    """Build an approval."""
    return Call(to=token, data=call_data("approve(address,uint256)", spender, amount_raw))


def buy_call(venues: Venues, token: ZooToken, *, trader: Address, quote_raw: int) -> Call:
    """Spend exactly this much of the quote side; any amount out is accepted."""
    pool = token.pool
    native = pays_native(venues, pool)
    to = spender_of(venues, pool)
    value_wei = quote_raw if native else 0
    if pool.kind == "AmmV4":
        way = (pool.quote, token.address)
        return Call(to=to, data=_swap_v4(token, way, quote_raw), value_wei=value_wei)
    if pool.kind in ("AmmV3", "SolidV3"):
        data = _swap_v3(pool, (pool.quote, token.address), trader, quote_raw)
        return Call(to=to, data=data, value_wei=value_wei)
    path, path_type = _path(pool, pool.quote, token.address)
    if native:
        data = call_data(
            "swapExactETHForTokensSupportingFeeOnTransferTokens"
            f"(uint256,{path_type},address,uint256)",
            *(0, path, trader, FOR_EVER),
        )
    else:
        data = _tokens_for_tokens(path, path_type, trader, quote_raw)
    return Call(to=to, data=data, value_wei=value_wei)


def sell_call(venues: Venues, token: ZooToken, *, trader: Address, token_raw: int) -> Call:
    """Sell exactly this much of the token; any amount out is accepted.

    V3 pays out the wrapped native coin, V2, V4 and Solidly the native coin itself.
    """
    pool = token.pool
    to = spender_of(venues, pool)
    if pool.kind == "AmmV4":
        return Call(to=to, data=_swap_v4(token, (token.address, pool.quote), token_raw))
    if pool.kind in ("AmmV3", "SolidV3"):
        return Call(to=to, data=_swap_v3(pool, (token.address, pool.quote), trader, token_raw))
    path, path_type = _path(pool, token.address, pool.quote)
    if pays_native(venues, pool):
        data = call_data(
            "swapExactTokensForETHSupportingFeeOnTransferTokens"
            f"(uint256,uint256,{path_type},address,uint256)",
            *(token_raw, 0, path, trader, FOR_EVER),
        )
    else:
        data = _tokens_for_tokens(path, path_type, trader, token_raw)
    return Call(to=to, data=data)


def _path(pool: Pool, start: Address, end: Address) -> tuple[list[object], str]:
    if pool.kind == "Solid":
        return [(start, end, pool.stable)], "(address,address,bool)[]"
    return [start, end], "address[]"


def _tokens_for_tokens(path: list[object], path_type: str, trader: Address, amount_raw: int) -> str:
    return call_data(
        "swapExactTokensForTokensSupportingFeeOnTransferTokens"
        f"(uint256,uint256,{path_type},address,uint256)",
        *(amount_raw, 0, path, trader, FOR_EVER),
    )


def _swap_v3(pool: Pool, way: tuple[Address, Address], trader: Address, amount_raw: int) -> str:
    """The single-pool order of the venue's router, in the form with a deadline.

    Algebra's is the one that trades what arrives, as V2's and Solidly's are here.
    """
    name, key_type, key = {
        "v3": ("exactInputSingle", "uint24", (pool.fee,)),
        "pancake": ("exactInputSingle", "uint24", (pool.fee,)),
        "slipstream": ("exactInputSingle", "int24", (pool.tick_spacing,)),
        "algebra": (
            "exactInputSingleSupportingFeeOnTransferTokens", "address", (ZERO_ADDRESS,),
        ),
    }[pool.venue]  # fmt: skip
    return call_data(
        f"{name}((address,address,{key_type},address,uint256,uint256,uint256,uint160))",
        (*way, *key, trader, FOR_EVER, amount_raw, 0, 0),
    )


def _swap_v4(token: ZooToken, way: tuple[Address, Address], amount_raw: int) -> str:
    """Through v4-core's PoolSwapTest; a negative amount is exact input."""
    upwards = way[0] < way[1]
    limit = _LOWEST_SQRT_PRICE if upwards else _HIGHEST_SQRT_PRICE
    return call_data(
        f"swap({POOL_KEY},(bool,int256,uint160),(bool,bool),bytes)",
        pool_key(token.pool, token.address),
        (upwards, -amount_raw, limit),
        (False, False),
        b"",
    )


_GAS = 1_500_000
_PAUSE_S = (0.5, 1.0)
_PAUSE_WHEN_DEAD_S = 2.0
_LAUNCH_EVERY_S = 30.0
_BUY_USD = (5, 60)
_SELL_SHARE = (0.3, 1.0)
_SELLS = 0.45
"""Share of sells among trades, if the trader has tokens."""
_SUPPLY_RAW = 1_000_000 * ETHER
_NOT_TRADED = "thin"
"""Token that is not traded: buys would lift its pool over its trait of 100 USD."""


class Trader:
    """A few unlocked accounts that buy and sell at random, reproducibly by seed."""

    def __init__(self, node: AnvilNode, world: World, *, seed: int = 1) -> None:
        self._node = node
        self._world = world
        self._dice = random.Random(seed)
        self._tokens = [token for token in world.tokens if token.key != _NOT_TRADED]
        self._approved: set[tuple[Address, Address]] = set()
        self._launched = 0

    def run(self, stop: threading.Event) -> None:
        """Trade until the stop. Reverts are expected; a dead node is retried."""
        next_launch_s = time.monotonic() + _LAUNCH_EVERY_S
        while not stop.is_set():
            try:
                self.trade()
                if time.monotonic() >= next_launch_s:
                    next_launch_s += _LAUNCH_EVERY_S
                    self.launch()
            except NodeRefusedError:
                # The node refuses this transaction: another one may pass.
                pause_s = _PAUSE_S[1]
            except (UpstreamError, AbiError):
                # The node may come back with a new, empty chain, without contracts and approvals.
                self._approved.clear()
                pause_s = _PAUSE_WHEN_DEAD_S
            else:
                pause_s = self._dice.uniform(*_PAUSE_S)
            stop.wait(pause_s)

    def trade(self) -> None:
        """Send one swap. Raises UpstreamError."""
        token = self._dice.choice(self._tokens)
        trader = self._dice.choice(self._world.traders)
        venues = self._world.venues
        held_raw = balance_of(self._node, token.address, trader)
        if held_raw > 0 and self._dice.random() < _SELLS:
            self._approve(token.address, token, trader)
            share_bp = int(self._dice.uniform(*_SELL_SHARE) * 10_000)
            amount_raw = held_raw * share_bp // 10_000
            self._send(sell_call(venues, token, trader=trader, token_raw=amount_raw), trader)
            return
        usd = self._dice.randint(*_BUY_USD)
        if not pays_native(venues, token.pool):
            self._approve(token.pool.quote, token, trader)
        self._send(
            buy_call(venues, token, trader=trader, quote_raw=self._quote_raw(token, usd)), trader
        )

    def launch(self) -> None:
        """Create a new honest token and its Uniswap V2 pool, whose liquidity is burnt. Raises
        UpstreamError."""
        world, launcher = self._world, self._world.launcher
        self._launched += 1
        pipeline = Pipeline(self._node, load_artifacts())
        symbol = f"NEW{self._launched}"
        token = pipeline.deploy("HonestToken", f"Launch {self._launched}", symbol, sender=launcher)
        sides = Sides(
            token=token,
            token_raw=_SUPPLY_RAW,
            quote=world.venues.wrapped_native.address,
            quote_raw=native_worth(self._dice.randint(1_000, 30_000)),
            owner=launcher,
            liquidity_to=BURN,
        )
        seed(pipeline, world.venues, "v2", sides)
        self._node.set_balance(launcher, 100 * ETHER)
        pipeline.submit()

    def _quote_raw(self, token: ZooToken, usd: int) -> int:
        for stable in self._world.venues.stables:
            if stable.address == token.pool.quote:
                return usd * int(10**stable.decimals)
        return native_worth(usd)

    def _approve(self, asset: Address, token: ZooToken, trader: Address) -> None:
        if (asset, trader) in self._approved:
            return
        spender = spender_of(self._world.venues, token.pool)
        self._send(approve_call(asset, spender, UNLIMITED), trader)
        self._approved.add((asset, trader))

    def _send(self, call: Call, sender: Address) -> None:
        # With a gas limit the node does not estimate first: a failing trade is mined too.
        self._node.send(call.sent_by(sender, gas=_GAS))
