"""Positions in Infinity pools with hooks."""

import msgspec

from assay.demo.layout import FOR_EVER
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.v4_positions import take_pair
from tests.harness.venues import further_venues, infinity

_HELD = 10**19
_MODIFY = "modifyLiquidities(bytes,uint256)"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A token in a hooked pool, part of whose liquidity is position 1."""

    token: Address
    manager: Address
    holder: Address

    def hand_over(self, chain: Chain, receiver: Address) -> None:
        """Transfer the position to another account."""
        signature = "transferFrom(address,address,uint256)"
        assert chain.send(self.holder, self.manager, signature, self.holder, receiver, 1).success

    def leave(self, chain: Chain, actor: Address, receiver: Address) -> bool:
        """Withdraw the position; return the success."""
        data = take_pair((1, _HELD), (ZERO_ADDRESS, self.token), receiver)
        sent = chain.send(actor, self.manager, _MODIFY, data, FOR_EVER)
        return sent.success


def hold_on_infinity(chain: Chain, hook: infinity.Hook) -> tuple[Held, Dex]:
    """Add a position of an unrelated account to a hooked pool of Infinity."""
    market = infinity.place(chain, hook=hook, is_coin=True)
    known = Chain(chain.node, chain.world, chain.artifacts | further_venues.artifacts())
    manager = known.deploy("InfinityPositionManager", market.holder)
    someone = chain.fresh_account(native_wei=100 * 10**18)
    assert further_venues.buy(chain, market, someone, spend_raw=10**18).success
    chain.approve(market.token, someone, manager)
    minted = chain.send(
        someone,
        manager,
        "mint(address,bytes32,int24,int256)",
        *(market.dex.factory, bytes.fromhex(market.key[2:]), infinity.OUTERMOST, _HELD),
        value_wei=10**18,
    )
    assert minted.success
    return Held(token=market.token, manager=manager, holder=someone), market.dex
