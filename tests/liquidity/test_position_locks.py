"""Positions in lockers: locked until the records' end, or for ever, as real withdrawals show."""

import msgspec
import pytest

from analysis.liquidity.locks import NEVER_S
from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import FOR_EVER, ZooToken, native_worth, positions_of
from config.facts.chain import LockRecords
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import (
    YEAR_S,
    chain,
    found,
    holder,
    newest_position,
    now_s,
    read_words,
    slot_of,
    with_locker,
    with_position_manager,
)
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position
from tests.harness.node.faults import LogLimitedNode
from tests.harness.quotes.quote_traps import place

__all__ = ["chain"]

_SOON_S = 90
_TRANSFER = "transferFrom(address,address,uint256)"


class LockedPosition(msgspec.Struct, frozen=True, kw_only=True):
    """A token of a V3 pool, all of whose liquidity is one position."""

    token: ZooToken
    manager: Address
    position: int
    locker: Address


def hold(chain: Chain, name: str = "PositionLocker") -> LockedPosition:
    """`name`: of the locker, which has not got the position yet."""
    token = place(chain, venue="v3")
    manager = positions_of(chain.world.venues.v3)
    return LockedPosition(
        token=token,
        manager=manager,
        position=newest_position(chain, manager, token.owner),
        locker=chain.deploy(name),
    )


def lock(chain: Chain, kept: LockedPosition, until_s: int) -> None:
    chain.approve(kept.manager, kept.token.owner, kept.locker, kept.position)
    sent = chain.send(
        kept.token.owner,
        kept.locker,
        "lock(address,uint256,address,uint256)",
        *(kept.manager, kept.position, kept.token.owner, until_s),
    )
    assert sent.success


def withdraw(chain: Chain, kept: LockedPosition, number: int = 0) -> bool:
    owner = kept.token.owner
    return chain.send(owner, kept.locker, "withdraw(uint256,address)", number, owner).success


async def test_a_position_is_locked_until_the_record_says(
    chain: Chain, context: ChainContext
) -> None:
    kept = hold(chain)
    until_s = now_s(chain) + _SOON_S
    lock(chain, kept, until_s)
    known = with_locker(context, kept.locker, "uncx_v3")
    pool = await found(known, kept.token)
    assert pool.ownership.locked_share == pytest.approx(1)
    assert holder(pool, kept.locker).kind == "locker"
    (one,) = pool.ownership.locks
    assert (one.until_s, one.owner, one.locker) == (until_s, kept.token.owner, kept.locker)
    assert not withdraw(chain, kept)
    # A later date is in the record alone, not in the event.
    moved_s = until_s + _SOON_S
    owner = kept.token.owner
    assert chain.send(owner, kept.locker, "relock(uint256,uint256)", 0, moved_s).success
    pool = await found(known, kept.token)
    assert [one.until_s for one in pool.ownership.locks] == [moved_s]
    chain.wait(3 * _SOON_S)
    pool = await found(known, kept.token)
    assert pool.ownership.locked_share == 0
    assert [one.account for one in pool.ownership.withdrawers] == [owner]
    assert withdraw(chain, kept)
    pool = await found(known, kept.token)
    assert holder(pool, owner).share == pytest.approx(1)


async def test_a_position_that_comes_back_has_its_last_lock(
    chain: Chain, context: ChainContext
) -> None:
    """The first lock, of ten years, has ended by withdrawal, and the second one counts."""
    kept = hold(chain)
    lock(chain, kept, now_s(chain))
    chain.wait(2)
    assert withdraw(chain, kept)
    until_s = now_s(chain) + _SOON_S
    lock(chain, kept, until_s)
    pool = await found(with_locker(context, kept.locker, "uncx_v3"), kept.token)
    assert [one.until_s for one in pool.ownership.locks] == [until_s]


@pytest.mark.parametrize("records", ["uncx_v3", "uncx_v2", None])
async def test_a_position_without_a_record_is_not_locked(
    chain: Chain, context: ChainContext, records: LockRecords | None
) -> None:
    """It was sent to the locker alone, next to another's lock that has a record."""
    other, kept = hold(chain), hold(chain)
    kept = msgspec.structs.replace(kept, locker=other.locker)
    lock(chain, other, now_s(chain) + YEAR_S)
    owner = kept.token.owner
    sent = chain.send(owner, kept.manager, _TRANSFER, owner, kept.locker, kept.position)
    assert sent.success
    pool = await found(with_locker(context, kept.locker, records), kept.token)
    assert pool.ownership.locked_share == 0
    assert pool.ownership.unknown_share == pytest.approx(1)
    assert holder(pool, kept.locker).withdrawable_share is None


async def test_a_node_that_gives_no_events_does_not_show_the_lock(
    chain: Chain, context: ChainContext
) -> None:
    kept = hold(chain)
    lock(chain, kept, now_s(chain) + YEAR_S)
    known = with_locker(context, kept.locker, "uncx_v3")
    silent = msgspec.structs.replace(known, node=LogLimitedNode(context.node))
    pool = await found(silent, kept.token)
    assert pool.ownership.locked_share == 0
    assert holder(pool, kept.locker).kind == "locker"
    assert pool.ownership.unknown_share == pytest.approx(1)


async def test_what_a_locker_cannot_give_back_is_nobodys(
    chain: Chain, context: ChainContext
) -> None:
    kept = hold(chain, "KeepingLocker")
    owner = kept.token.owner
    sent = chain.send(owner, kept.manager, _TRANSFER, owner, kept.locker, kept.position)
    assert sent.success
    pool = await found(with_locker(context, kept.locker, "never_released"), kept.token)
    assert pool.ownership.locked_share == pytest.approx(1)
    assert pool.ownership.withdrawers == ()
    assert [(one.until_s, one.owner) for one in pool.ownership.locks] == [(NEVER_S, None)]
    # A contract that nobody vouches for is one, whatever its code is.
    pool = await found(context, kept.token)
    assert pool.ownership.unknown_share == pytest.approx(1)
    for signature, values in (
        (_TRANSFER, (kept.locker, owner, kept.position)),
        (
            "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
            ((kept.position, 1, 0, 0, FOR_EVER),),
        ),
    ):
        assert not chain.send(owner, kept.manager, signature, *values).success


async def test_it_keeps_positions_of_v4_too(chain: Chain, context: ChainContext) -> None:
    """A third of the pool again, so a quarter of it then; the rest is another contract's."""
    token, locker = place(chain, venue="v4"), chain.deploy("KeepingLocker")
    manager, owner = deploy_position_manager(chain), token.owner
    pooled = read_words(chain, token.pool.address, "extsload(bytes32)", slot_of(token, context))
    worth = native_worth(100_000)
    minted = mint_position(
        chain, manager, owner, (token.address, token.pool), pooled[0] // 3, coins_wei=worth
    )
    assert minted.success
    assert chain.send(owner, manager, _TRANSFER, owner, locker, 1).success
    known = with_position_manager(context, token.pool, manager)
    pool = await found(with_locker(known, locker, "never_released"), token)
    assert pool.ownership.locked_share == pytest.approx(0.25, rel=1e-6)
    assert pool.ownership.withdrawable_share == 0


async def test_lp_tokens_in_it_are_not_locked(chain: Chain, context: ChainContext) -> None:
    """Such lockers can send on what other tokens they have."""
    token, locker = place(chain), chain.deploy("KeepingLocker")
    everything = chain.balance(token.pool.address, token.owner)
    sent = chain.send(
        token.owner, token.pool.address, "transfer(address,uint256)", locker, everything
    )
    assert sent.success
    pool = await found(with_locker(context, locker, "never_released"), token)
    assert pool.ownership.locked_share == 0
    assert pool.ownership.unknown_share == pytest.approx(1)
