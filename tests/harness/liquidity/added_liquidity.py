"""Liquidity that one account adds to a pool of the demo."""

from assay.demo.layout import FOR_EVER, ZooToken, positions_of
from tests.harness.chain.transactions import Chain


def add_most(chain: Chain, token: ZooToken) -> None:
    """Have the owner bring nine times the pool's balance."""
    manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
    quote, pool = chain.world.venues.wrapped_native.address, token.pool.address
    amounts = {one: 9 * chain.balance(one, pool) for one in (token.address, quote)}
    chain.node.rpc("anvil_setBalance", token.owner, hex(10**30))
    chain.node.rpc("anvil_dealERC20", token.owner, token.address, hex(amounts[token.address]))
    assert chain.send(token.owner, quote, "deposit()", value_wei=amounts[quote]).success
    for one in amounts:
        assert chain.approve(one, token.owner, manager).success
    first, second = sorted(amounts)
    sent = chain.send(
        token.owner,
        manager,
        "mint((address,address,uint24,int24,int24,"
        "uint256,uint256,uint256,uint256,address,uint256))",
        (
            *(first, second, token.pool.fee, -60_000, 60_000),
            *(amounts[first], amounts[second], 0, 0, token.owner, FOR_EVER),
        ),
    )
    assert sent.success
