"""Trades on the demo's chain: continuous swaps, and from time to time a new token with a pool."""

import random
import threading
import time

from eth_abi.exceptions import DecodingError

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError
from assay.demo.compile import load_artifacts
from assay.demo.layout import Sides, World, ZooToken, native_worth
from assay.demo.reads import balance_of
from assay.demo.seeding import UNLIMITED, seed
from assay.demo.swaps import Call, approve_call, buy_call, pays_native, sell_call, spender_of
from assay.demo.transaction_pipeline import Pipeline
from core.errors import UpstreamError
from core.evm.primitives import Address

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
            except (UpstreamError, DecodingError):
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
        """Create a new honest token and its Uniswap V2 pool. Raises UpstreamError."""
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
