"""Holders and shares of liquidity, and real withdrawals by them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.holdings import Part, gather
from analysis.liquidity.liquidity_shares import LiquidityShares, Parties, classify_shares
from analysis.liquidity.locks import Lock
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import PoolLiquidity
from analysis.simulation.simulate_v1 import Passed
from assay.demo.layout import BURN, FOR_EVER, VenueKey, ZooToken, native_worth, positions_of
from config.burn import BURN_ADDRESSES
from config.facts.chain import LockRecords
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.contexts import context_with
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import (
    YEAR_S,
    chain,
    few_first_blocks,
    found,
    give_lp,
    holder,
    lock,
    lp_balance,
    newest_position,
    now_s,
    pool_rows,
    read_words,
    slot_of,
    with_locker,
    with_position_manager,
)
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position, take_pair
from tests.harness.node.faults import LogLimitedNode
from tests.harness.quotes.quote_traps import place

__all__ = ["chain", "few_first_blocks"]

_SOON_S = 90

_TRANSFER = "transferFrom(address,address,uint256)"


def quote_left(chain: Chain, token: ZooToken) -> int:
    return chain.balance(chain.world.venues.wrapped_native.address, token.pool.address)


def really_withdraw(chain: Chain, token: ZooToken, pool: PoolLiquidity) -> tuple[int, int]:
    """Token and quote coins that the owner gets by transactions of the exchange's own contracts."""
    wrapped = chain.world.venues.wrapped_native.address
    before = chain.balance(token.address, token.owner), chain.balance(wrapped, token.owner)
    if token.pool.kind in ("AmmV2", "Solid"):
        give_lp(chain, token, token.pool.address, lp_balance(chain, token))
        assert chain.send(token.owner, token.pool.address, "burn(address)", token.owner).success
    else:
        manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
        owned = newest_position(chain, manager, token.owner)
        liquidity = read_words(chain, manager, "positions(uint256)", owned)[7]
        for signature, values in (
            (
                "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
                (owned, liquidity, 0, 0, FOR_EVER),
            ),
            (
                "collect((uint256,address,uint128,uint128))",
                (owned, token.owner, 2**128 - 1, 2**128 - 1),
            ),
        ):
            assert chain.send(token.owner, manager, signature, values).success
    after = chain.balance(token.address, token.owner), chain.balance(wrapped, token.owner)
    return after[0] - before[0], after[1] - before[1]


@pytest.mark.parametrize("venue", ["v2", "solid", "v3", "algebra"])
async def test_a_creator_who_holds_all_can_withdraw_what_they_then_do(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, venue=venue)
    pool = await found(context, token)
    ownership = pool.ownership
    assert ownership.withdrawable_share == pytest.approx(1, abs=1e-9)
    assert ownership.gap == ""
    assert [one.account for one in ownership.withdrawers] == [token.owner]
    predicted = pool.withdrawal
    assert predicted is not None, pool.reason
    assert isinstance(predicted.withdrawn.outcome, Passed)
    assert isinstance(predicted.sale_before.outcome, Passed)
    assert predicted.sale_before.proceeds_usd == pytest.approx(100, rel=0.02)
    # What is left cannot pay: next to nothing in a pair, no liquidity at all in others.
    assert (predicted.sale_after.proceeds_usd or 0) < 0.01
    real = really_withdraw(chain, token, pool)
    assert (predicted.withdrawn.token_raw, predicted.withdrawn.quote_raw) == real
    assert real[1] > 0


async def test_burnt_liquidity_is_nobodys(chain: Chain, context: ChainContext) -> None:
    token = place(chain)
    give_lp(chain, token, BURN, lp_balance(chain, token))
    pool = await found(context, token)
    assert pool.ownership.burnt_share == pytest.approx(1)
    assert pool.ownership.withdrawers == ()
    assert pool.withdrawal is None
    assert holder(pool, BURN).kind == "burn"


async def test_a_burnt_position_is_nobodys(chain: Chain, context: ChainContext) -> None:
    token = place(chain, venue="v3")
    manager = positions_of(chain.world.venues.v3)
    owned = newest_position(chain, manager, token.owner)
    assert chain.send(token.owner, manager, _TRANSFER, token.owner, BURN, owned).success
    pool = await found(context, token)
    assert pool.ownership.burnt_share == pytest.approx(1)
    assert pool.withdrawal is None


@pytest.mark.parametrize(
    ("name", "records"),
    [("DatedLocker", "uncx_v2"), ("PinkLocker", "pinklock"), ("TeamLocker", "team_finance")],
)
async def test_a_lock_ends_when_the_locker_says(
    chain: Chain, context: ChainContext, name: str, records: LockRecords
) -> None:
    token = place(chain)
    until_s = now_s(chain) + _SOON_S
    half = lp_balance(chain, token) // 2
    locker = lock(chain, token, name, half, until_s)
    known = with_locker(context, locker, records)
    pool = await found(known, token)
    assert pool.ownership.locked_share == pytest.approx(0.5)
    assert pool.ownership.withdrawable_share == pytest.approx(0.5)
    assert [(one.until_s, one.owner) for one in pool.ownership.locks] == [(until_s, token.owner)]
    assert pool.withdrawal is not None
    assert isinstance(pool.withdrawal.sale_after.outcome, Passed)
    chain.wait(_SOON_S)
    later = await found(known, token)
    assert later.ownership.locked_share == 0
    assert later.ownership.withdrawable_share == pytest.approx(1)


async def test_what_was_withdrawn_is_in_no_lock(chain: Chain, context: ChainContext) -> None:
    """One of three locks has ended and is withdrawn, and one has given back a part."""
    token = place(chain)
    part, start_s = lp_balance(chain, token) // 10, now_s(chain)
    locker = lock(chain, token, "TeamLocker", part, start_s + _SOON_S)
    lock(chain, token, "TeamLocker", 2 * part, start_s + _SOON_S, locker=locker)
    lock(chain, token, "TeamLocker", 4 * part, start_s + YEAR_S, locker=locker)
    chain.wait(_SOON_S)
    for number in (1, 2):
        signature = "withdrawTokens(uint256,uint256)"
        assert chain.send(token.owner, locker, signature, number, part).success
    pool = await found(with_locker(context, locker, "team_finance"), token)
    assert [one.until_s for one in pool.ownership.locks] == [start_s + YEAR_S]
    assert pool.ownership.locked_share == pytest.approx(0.4)
    assert holder(pool, locker).share == pytest.approx(0.5)
    assert holder(pool, locker).withdrawable_share == pytest.approx(0.1)


async def test_a_contract_that_only_looks_like_a_locker_locks_nothing(
    chain: Chain, context: ChainContext
) -> None:
    token = place(chain)
    everything = lp_balance(chain, token)
    locker = lock(chain, token, "OpenLocker", everything, now_s(chain) + 10 * YEAR_S)
    pool = await found(context, token)
    assert pool.ownership.locked_share == 0
    assert pool.ownership.unknown_share == pytest.approx(1)
    assert holder(pool, locker).kind == "contract"
    assert holder(pool, locker).withdrawable_share is None
    # The owner takes it back at once: calling it locked would have been wrong.
    assert chain.send(
        token.owner, locker, "rescue(address,uint256)", token.pool.address, everything
    ).success


async def test_records_beyond_the_balance_lock_nothing(chain: Chain, context: ChainContext) -> None:
    token = place(chain)
    everything = lp_balance(chain, token)
    locker = lock(chain, token, "OpenLocker", everything, now_s(chain) + YEAR_S)
    assert chain.send(
        token.owner, locker, "rescue(address,uint256)", token.pool.address, everything // 2
    ).success
    pool = await found(with_locker(context, locker), token)
    assert pool.ownership.locked_share == pytest.approx(0.5)
    assert pool.ownership.withdrawable_share == pytest.approx(0.5)


async def test_lp_tokens_in_the_pair_are_anybodys(chain: Chain, context: ChainContext) -> None:
    token = place(chain)
    give_lp(chain, token, token.pool.address, lp_balance(chain, token))
    pool = await found(context, token)
    assert [one.account for one in pool.ownership.withdrawers] == [None]
    assert pool.withdrawal is not None
    taker = chain.fresh_account()
    chain.send(taker, token.pool.address, "burn(address)", taker)
    assert pool.withdrawal.withdrawn.token_raw == chain.balance(token.address, taker)


async def test_holders_that_no_event_names_are_unaccounted(
    chain: Chain, context: ChainContext
) -> None:
    """A node without events: holdings of the burn addresses and the creator are still known."""
    token = place(chain)
    stranger = chain.fresh_account()
    give_lp(chain, token, stranger, lp_balance(chain, token) // 4)
    pool = await found(context, token)
    assert holder(pool, stranger).share == pytest.approx(0.25)
    silent = msgspec.structs.replace(context, node=LogLimitedNode(context.node))
    pool = await found(silent, token, creator=token.owner)
    assert pool.ownership.unaccounted_share == pytest.approx(0.25)
    assert pool.ownership.gap


async def test_positions_of_one_manager_are_their_owners(
    chain: Chain, context: ChainContext
) -> None:
    """Against the native coin: a quarter is the owner's token, the rest another contract's."""
    token = place(chain, venue="v4")
    pool = token.pool
    venues = chain.world.venues
    manager = deploy_position_manager(chain)
    (shared,) = read_words(chain, pool.address, "extsload(bytes32)", slot_of(token, context))
    part = shared // 3
    minted = mint_position(
        chain, manager, token.owner, (token.address, pool), part, coins_wei=native_worth(100_000)
    )
    assert minted.success
    found_pool = await found(with_position_manager(context, pool, manager), token)
    assert found_pool.ownership.gap == ""
    assert found_pool.ownership.withdrawable_share == pytest.approx(0.25, rel=1e-6)
    assert found_pool.ownership.unknown_share == pytest.approx(0.75, rel=1e-6)
    assert holder(found_pool, venues.liquidity_v4).kind == "contract"
    predicted = found_pool.withdrawal
    assert predicted is not None, found_pool.reason
    assert isinstance(predicted.withdrawn.outcome, Passed)
    assert isinstance(predicted.sale_after.outcome, Passed)
    assert predicted.withdrawn.quote_raw
    receiver = chain.fresh_account(native_wei=0)
    data = take_pair((1, part), (ZERO_ADDRESS, token.address), receiver)
    assert chain.send(
        token.owner, manager, "modifyLiquidities(bytes,uint256)", data, FOR_EVER
    ).success
    coins = int(str(chain.node.rpc("eth_getBalance", receiver, "latest")), 16)
    assert predicted.withdrawn.quote_raw == coins
    assert predicted.withdrawn.token_raw == chain.balance(token.address, receiver)


@pytest.mark.usefixtures("few_first_blocks")
async def test_positions_of_the_first_blocks_are_told_as_they_are_now(
    chain: Chain, context: ChainContext
) -> None:
    """The trap: take out the most when the node no longer looks, and burn the rest."""
    token, manager = place(chain, venue="v4"), deploy_position_manager(chain)
    owner, pair = token.owner, (token.address, token.pool)
    (pooled,) = read_words(chain, token.pool.address, "extsload(bytes32)", slot_of(token, context))
    worth = native_worth(100_000)
    assert mint_position(chain, manager, owner, pair, pooled // 3, coins_wei=worth).success
    rows = pool_rows(chain, token)
    chain.mine(60)
    data = take_pair((1, pooled // 4), (ZERO_ADDRESS, token.address), owner)
    assert chain.send(owner, manager, "modifyLiquidities(bytes,uint256)", data, FOR_EVER).success
    assert chain.send(owner, manager, _TRANSFER, owner, BURN, 1).success
    known = with_position_manager(context, token.pool, manager)
    whole = await found(context_with(known, rows=rows), token)
    assert whole.ownership.gap == ""
    node = LogLimitedNode(context.node, most_blocks=40)
    part = await found(context_with(known, rows=rows, node=node), token)
    assert part.ownership.burnt_share == pytest.approx(whole.ownership.burnt_share, rel=1e-3)
    assert 0.07 < part.ownership.burnt_share < 0.08
    # The other contract's position came through another manager's events alone.
    assert part.ownership.unaccounted_share == pytest.approx(1 - part.ownership.burnt_share)
    assert part.ownership.gap


# --- liquidity shares ---------------------------------------------------------------------------

NOW_S = 1_800_000_000

BURN_ACCOUNT = min(BURN_ADDRESSES)

POOL, LOCKER, CREATOR, COPY, PERSON = (Address("0x" + f"{at:02x}" * 20) for at in range(0xB1, 0xB6))

EVERYBODY = (BURN_ACCOUNT, POOL, LOCKER, CREATOR, COPY, PERSON)

amounts = st.integers(0, 10**30)

locks = st.builds(
    Lock,
    owner=st.sampled_from((CREATOR, PERSON)),
    weight=st.builds(float, amounts),
    until_s=st.integers(NOW_S - 100, NOW_S + 100),
)


def judged(balances: dict[Address, int], records: list[Lock], missing: int) -> LiquidityShares:
    found = gather(
        [(holder, float(amount), Part(amount=amount)) for holder, amount in balances.items()],
        total=float(sum(balances.values()) + missing),
        gap="some" if missing else "",
    )
    parties = Parties(
        pool=POOL,
        creator=CREATOR,
        owner=None,
        lockers={LOCKER: "Known"},
        locks={LOCKER: sorted(records, key=lambda lock: lock.until_s)},
        contracts={LOCKER, COPY},
    )
    return classify_shares(found, parties, now_s=NOW_S)


@given(st.dictionaries(st.sampled_from(EVERYBODY), amounts), st.lists(locks, max_size=4), amounts)
def test_shares_add_up_and_only_records_lock(
    balances: dict[Address, int], records: list[Lock], missing: int
) -> None:
    shares = judged(balances, records, missing)
    total = sum(balances.values()) + missing
    if total == 0:
        assert shares == LiquidityShares(gap=shares.gap)
        return
    parts = (
        shares.burnt_share,
        shares.locked_share,
        shares.withdrawable_share,
        shares.unknown_share,
        shares.unaccounted_share,
    )
    assert all(0 <= part <= 1 + 1e-9 for part in parts)
    assert abs(sum(parts) - 1) < 1e-6
    assert abs(shares.burnt_share - balances.get(BURN_ACCOUNT, 0) / total) < 1e-9
    recorded = sum(lock.weight for lock in records if lock.until_s > NOW_S)
    assert shares.locked_share <= min(recorded, balances.get(LOCKER, 0)) / total + 1e-9
    assert abs(sum(lock.share for lock in shares.locks) - shares.locked_share) < 1e-9
    # Liquidity of a contract without records is never reported as withdrawable, nor locked.
    assert shares.unknown_share >= balances.get(COPY, 0) / total - 1e-6
    direct = (balances.get(CREATOR, 0) + balances.get(PERSON, 0) + balances.get(POOL, 0)) / total
    assert shares.withdrawable_share >= direct - 1e-9


def test_a_lock_that_has_ended_is_its_owners() -> None:
    ended = Lock(owner=PERSON, weight=60.0, until_s=NOW_S)
    shares = judged({LOCKER: 60, CREATOR: 40}, [ended], 0)
    assert (shares.locked_share, shares.withdrawable_share) == (0.0, 1.0)
    assert [(one.account, one.share) for one in shares.withdrawers] == [
        (PERSON, 0.6),
        (CREATOR, 0.4),
    ]
