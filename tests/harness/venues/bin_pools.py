"""Pools of bins whose shares are tokens: real additions, transfers and redemptions of them.

Shares are kept by the position manager of PancakeSwap Infinity, or by a pair of Liquidity Book.
"""

from typing import Final, cast

import msgspec
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from assay.demo.layout import FOR_EVER
from assay.demo.reads import read
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.transactions import Chain, Sent
from tests.harness.venues import further_venues, infinity_bin
from tests.harness.venues.further_venues import Market

_REMOVE, _TAKE_PAIR = 0x1A, 0x11
_REACH: Final = 100
"""Bins on each side of the price that may have shares here."""

SPREAD: Final = 3
"""Bins on each side of the price that an addition goes to."""


class BinPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool of Liquidity Book, whose pair keeps the shares."""

    market: Market
    tokens: Address
    """The contract that keeps shares."""

    @property
    def dex(self) -> Dex:
        """The exchange, with the position manager."""
        return self.market.dex

    def add(self, chain: Chain, holder: Address) -> None:
        """Buy tokens, and put all of them and as many coins into bins."""
        assert further_venues.buy(chain, self.market, holder).success
        self._put(chain, holder, chain.balance(self.market.token, holder))

    def _put(self, chain: Chain, holder: Address, tokens_raw: int) -> None:
        market = self.market
        assert chain.send(holder, market.quote, "deposit()", value_wei=_COINS).success
        for token in (market.token, market.quote):
            assert chain.approve(token, holder, market.holder).success
        (x,) = read(chain.node, self.tokens, "getTokenX()", returns="(address)")
        sides = (tokens_raw, _COINS) if x == market.token else (_COINS, tokens_raw)
        signature = "fill(uint24,uint256,uint256)"
        assert chain.send(holder, self.tokens, signature, SPREAD, *sides).success

    def shares(self, chain: Chain, holder: Address) -> dict[int, int]:
        """Return the shares of an account by bin."""
        active = self._active(chain)
        bins = range(active - _REACH, active + _REACH)
        ids = [self._token_id(at) for at in bins]
        signature = "balanceOfBatch(address[],uint256[])"
        arguments = [holder] * len(ids), ids
        (amounts,) = read(chain.node, self.tokens, signature, *arguments, returns="(uint256[])")
        return {
            at: one for at, one in zip(bins, cast("tuple[int, ...]", amounts), strict=True) if one
        }

    def hand_over(
        self, chain: Chain, holder: Address, receiver: Address, *, part: float = 1
    ) -> Sent:
        """Transfer a part of all shares to another account."""
        shares = self.shares(chain, holder)
        amounts = [one if part == 1 else int(one * part) for one in shares.values()]
        return chain.send(
            holder,
            self.tokens,
            "batchTransferFrom(address,address,uint256[],uint256[])",
            *(holder, receiver, [self._token_id(at) for at in shares], amounts),
        )

    def redeem(self, chain: Chain, holder: Address, receiver: Address) -> Sent:
        """Burn all shares of an account."""
        amounts = self.shares(chain, holder)
        signature = "burn(address,address,uint256[],uint256[])"
        arguments = holder, receiver, list(amounts), list(amounts.values())
        return chain.send(holder, self.tokens, signature, *arguments)

    def _active(self, chain: Chain) -> int:
        (active,) = read(chain.node, self.tokens, "getActiveId()")
        return cast("int", active)

    def _token_id(self, at: int) -> int:
        return at


_COINS: Final = 10**16


class InfinityBins(BinPool, frozen=True, kw_only=True):
    """A pool of PancakeSwap Infinity's."""

    pool_key: tuple[object, ...]

    @property
    def dex(self) -> Dex:
        """The exchange, with the position manager."""
        return msgspec.structs.replace(self.market.dex, position_manager=self.tokens)

    def _put(self, chain: Chain, holder: Address, tokens_raw: int) -> None:
        market = self.market
        is_coin = market.quote == ZERO_ADDRESS
        if not is_coin:
            assert chain.send(holder, market.quote, "deposit()", value_wei=_COINS).success
            assert chain.approve(market.quote, holder, self.tokens).success
        assert chain.approve(market.token, holder, self.tokens).success
        is_first = self.pool_key[0] == market.token
        x, y = (tokens_raw, _COINS) if is_first else (_COINS, tokens_raw)
        sent = chain.send(
            holder,
            self.tokens,
            f"mint({infinity_bin.KEY},uint24,uint24,bytes32,address)",
            *(self.pool_key, SPREAD, 1, (x | y << 128).to_bytes(32), holder),
            value_wei=_COINS if is_coin else 0,
        )
        assert sent.success

    def redeem(self, chain: Chain, holder: Address, receiver: Address) -> Sent:
        amounts = self.shares(chain, holder)
        types = f"({infinity_bin.KEY},uint128,uint128,uint256[],uint256[],address,bytes)"
        removed = (self.pool_key, 0, 0, list(amounts), list(amounts.values()), holder, b"")
        taken = encode(["address", "address", "address"], [*self.pool_key[:2], receiver])
        plan = bytes([_REMOVE, _TAKE_PAIR]), [encode([types], [removed]), taken]
        data = encode(["bytes", "bytes[]"], plan)
        return chain.send(holder, self.tokens, "modifyLiquidities(bytes,uint256)", data, FOR_EVER)

    def _active(self, chain: Chain) -> int:
        pool = bytes.fromhex(self.market.key[2:])
        returns = "(uint24,uint24,uint24)"
        factory = self.market.dex.factory
        found = read(chain.node, factory, "getSlot0(bytes32)", pool, returns=returns)
        return cast("int", found[0])

    def _token_id(self, at: int) -> int:
        return int.from_bytes(keccak(bytes.fromhex(self.market.key[2:]) + at.to_bytes(32)))


def open_infinity(chain: Chain, market: Market) -> InfinityBins:
    """Deploy the position manager of a market's exchange."""
    known = Chain(chain.node, chain.world, chain.artifacts | further_venues.artifacts())
    pool = bytes.fromhex(market.key[2:])
    key = read(
        chain.node,
        market.dex.factory,
        "poolIdToPoolKey(bytes32)",
        pool,
        returns=infinity_bin.KEY,
    )
    return InfinityBins(
        market=market,
        tokens=known.deploy("InfinityBinPositionManager", market.holder),
        pool_key=key,
    )


def open_book(market: Market) -> BinPool:
    """The pair of a market, which keeps the shares itself."""
    return BinPool(market=market, tokens=market.holder)
