"""A traded and reorganised chain on a real node, with tokens of known behaviour."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError
from assay.demo.compile import load_artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World, ZooToken
from assay.demo.trader import Trader
from assay.demo.transaction_pipeline import Pipeline
from assay.demo.world import Zoo, build_market
from assay.demo.zoo import ZOO
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from core.errors import UpstreamError
from core.evm.abi import AbiError, call_data
from core.evm.primitives import Address, Hash32

_SETTINGS: Final = """
[indexer]
poll_s = 0.5

[analysis]
concurrency = 2
refresh_after_s = 60.0
"""
_PAUSE_S: Final = (0.4, 0.9)
_REORGS: Final = 0.12
_LAUNCHES: Final = 0.02
_DEEPEST: Final = 5
"""Blocks of a reorganisation; below the finality of the overlay."""
_STOP_S: Final = 10.0


class KnownToken(msgspec.Struct, frozen=True, kw_only=True):
    """Behaviour of a token that every trader meets."""

    address: Address
    can_sell: bool
    buy_tax: float
    """In percent."""
    sell_tax: float | None
    """In percent. None: it cannot be sold."""


_CLAIMS: Final[dict[str, tuple[bool, float, float | None]]] = {
    "honest": (True, 0, 0),
    "buy_tax": (True, 7, 0),
    "sell_tax": (True, 0, 12),
    "sell_blocked": (False, 0, None),
    "mintable": (True, 0, 0),
    "v3_honest": (True, 0, 0),
}
"""Sellability and taxes of demo tokens, as tests/demo/test_zoo.py finds by trading them.

Few, as each block costs the node as much as its whole state.
"""


class TradedChain:
    """The chain while a thread trades, mines and reorganises."""

    def __init__(self, node: AnvilNode, world: World, overlay: Path, dice: random.Random) -> None:
        self.node: Final = node
        self.overlay: Final = overlay
        self.facts: Final[Chain] = next(
            chain for chain in load_chains(overlay) if chain.slug == "ethereum"
        )
        self.tokens: Final = tuple(map(_known, world.tokens))
        self.reorgs = 0
        self._world = world
        self._dice = dice
        self._trader = Trader(node, world, seed=dice.getrandbits(32))
        self._first = node.head_number()
        self._moving = threading.RLock()
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="traded-chain", daemon=True)

    def start(self) -> None:
        """Begin to trade."""
        self._thread.start()

    def stop(self) -> None:
        """End it, if it has begun."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the chain during a block. Raises the error that ended trading."""
        with self._moving:
            if self._error is not None:
                raise self._error
            yield

    def hash_at(self, number: int) -> Hash32 | None:
        """Hash of the block at a height. None: there is none now."""
        block = self.node.rpc("eth_getBlockByNumber", hex(number), False)
        return Hash32(str(block["hash"])) if isinstance(block, dict) else None

    def _run(self) -> None:
        while not self._ended.wait(self._dice.uniform(*_PAUSE_S)):
            try:
                with self._moving:
                    self._live()
            except UpstreamError as error:
                self._error = error
                return

    def _live(self) -> None:
        """Trade, launch or reorganise, and mine."""
        drawn = self._dice.random()
        with suppress(NodeRefusedError, AbiError):  # a reorganisation takes back approvals
            if drawn < _REORGS and self.node.head_number() > self._first + _DEEPEST:
                self._reorganise()
            elif drawn < _REORGS + _LAUNCHES:
                self._trader.launch()
            for _ in range(self._dice.randint(0, 2)):
                self._trader.trade()
            self._transfer()
        self.node.set_time(max(self.node.head_time() + 1, int(time.time())))

    def _reorganise(self) -> None:
        """Replace the newest blocks by others, one of them with another transfer."""
        depth = self._dice.randint(1, _DEEPEST)
        self.node.reorg(depth, [(self._any_transfer(), self._dice.randrange(depth))])
        self.reorgs += 1
        self._trader = Trader(self.node, self._world, seed=self._dice.getrandbits(32))

    def _transfer(self) -> None:
        self.node.send(self._any_transfer())

    def _any_transfer(self) -> dict[str, str]:
        """Write a gift among the holders of a token, which always passes."""
        token = self._world.tokens[0]
        sender, recipient = self._dice.sample(token.holders, 2)
        data = call_data("transfer(address,uint256)", recipient, self._dice.randrange(1, 10**9))
        return {"from": sender, "to": token.address, "data": data, "gas": hex(200_000)}


def _known(token: ZooToken) -> KnownToken:
    can_sell, buy_tax, sell_tax = _CLAIMS[token.key]
    return KnownToken(address=token.address, can_sell=can_sell, buy_tax=buy_tax, sell_tax=sell_tax)


@contextmanager
def traded_chain(seed: int, folder: Path) -> Iterator[TradedChain]:
    """Yield a chain with a few tokens that does not move yet. `folder`: for the overlay under which
    a fleet serves it."""
    with AnvilNode() as node:
        market = build_market(node)
        zoo = Zoo(Pipeline(node, load_artifacts()), market.venues, market.owner)
        animals = [animal for animal in ZOO if animal.key in _CLAIMS]
        tokens = tuple(zoo.place(node, animal, opener=market.launcher) for animal in animals)
        for holder in tokens[0].holders:
            node.set_balance(holder, 100 * ETHER)
        world = msgspec.structs.replace(market, tokens=tokens)
        overlay = write_overlay(world, folder, more=_SETTINGS)
        dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
        chain = TradedChain(node, world, overlay, dice)
        try:
            yield chain
        finally:
            chain.stop()
