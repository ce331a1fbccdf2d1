"""Protects the answers on positions where the node gives no events.

A few reads of the position manager find them; what they do not find is never held. A pool is old by
its own oracle or its state of that time, and only if its liquidity was there.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import IndexedFacts
from assay.demo.layout import BURN, VenueKey, ZooToken, native_worth, positions_of
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.chain.contexts import Knowing, judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import (
    YEAR_S,
    bring,
    chain,
    few_newest,
    give_lp,
    hand_over,
    lp_balance,
    mint_range,
    newest_position,
    now_s,
    read_words,
    slot_of,
    verdict,
    with_locker,
    with_position_manager,
)
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position
from tests.harness.node.answers import raw
from tests.harness.node.faults import LogLimitedNode, RefusingNode
from tests.harness.quotes.quote_traps import place

__all__ = ["chain", "few_newest"]

DAY_S = 86_400


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    address: Address | None
    kind: str | None
    share_pct: float
    can_withdraw: bool | None
    unlocks_at_s: int | None
    locker: Address | None


class PoolAge(msgspec.Struct, frozen=True, kw_only=True):
    age: str
    age_by: str | None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    risk: str
    holders: tuple[Holder, ...]
    pools: tuple[PoolAge, ...]


class WithoutPast(RefusingNode):
    """Has neither events nor states of old blocks, as most nodes that are no archive."""

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        is_past = request.method == "eth_call" and isinstance(request.params[1], str)
        if request.method == "eth_getLogs" or is_past:
            return RpcFault(code=-32000, message="missing trie node", data=None)
        return None


class WithoutLogs(RefusingNode):
    """Has deleted old events, and returns none."""

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        return raw([]) if request.method == "eth_getLogs" else None


async def ask(context: ChainContext, token: Address) -> Evidence:
    report = await judge(context, token)
    (row,) = (row for row in report.evidence if row.key == "liquidity_risk")
    found = msgspec.json.decode(row.body, type=Evidence)
    assert found.risk == report.scan.liquidity_risk
    return found


def made_by(context: ChainContext, token: ZooToken) -> ChainContext:
    """Return a context whose index knows the token's creator, and no pool."""
    index = Knowing(IndexedFacts(creator=token.owner))
    return msgspec.structs.replace(context, index=index)


def silent(context: ChainContext, token: ZooToken, *, has_past: bool = True) -> ChainContext:
    """Return a context whose node gives no events."""
    node = LogLimitedNode(context.node) if has_past else WithoutPast(context.node)
    return msgspec.structs.replace(made_by(context, token), node=node)


@pytest.fixture
def v3(chain: Chain) -> ZooToken:
    """All liquidity is one position of its owner."""
    return place(chain, venue="v3")


@pytest.mark.usefixtures("few_newest")
@pytest.mark.parametrize("is_refused", [True, False])
async def test_a_position_of_the_owner_is_found(
    context: ChainContext, v3: ZooToken, *, is_refused: bool
) -> None:
    known = silent(context, v3)
    if not is_refused:
        known = msgspec.structs.replace(known, node=WithoutLogs(context.node))
    found = await ask(known, v3.address)
    assert found.risk == "withdrawable"
    (holder,) = found.holders
    assert (holder.address, holder.kind, holder.can_withdraw) == (v3.owner, "creator", True)
    assert holder.share_pct == pytest.approx(100)
    assert await ask(made_by(context, v3), v3.address) == found


async def test_the_newest_positions_are_found_whoever_holds_them(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    """The trap: twenty wallets of one author, none of which has a tenth."""
    for _ in range(20):
        hand_over(chain, v3, bring(chain, v3, 0.1), chain.fresh_account())
    manager = positions_of(chain.world.venues.v3)
    hand_over(chain, v3, newest_position(chain, manager, v3.owner), BURN)
    found = await ask(silent(context, v3), v3.address)
    assert found.risk == "withdrawable"
    assert {holder.kind for holder in found.holders} == {"account"}
    assert all(holder.share_pct < 20 for holder in found.holders)


@pytest.mark.usefixtures("few_newest")
async def test_what_is_not_found_is_not_held(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    manager = positions_of(chain.world.venues.v3)
    hand_over(chain, v3, newest_position(chain, manager, v3.owner), chain.fresh_account())
    assert (await ask(silent(context, v3), v3.address)).risk == "unknown"
    given = await verdict(silent(context, v3), v3.address)
    assert given.verdict == "warning"
    # A tenth that is seen to be burnt proves nothing of the rest.
    hand_over(chain, v3, bring(chain, v3, 0.1), BURN)
    assert (await ask(silent(context, v3), v3.address)).risk == "unknown"


@pytest.mark.usefixtures("few_newest")
async def test_burnt_and_locked_positions_are_found(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    locker, manager = chain.deploy("KeepingLocker"), positions_of(chain.world.venues.v3)
    first = newest_position(chain, manager, v3.owner)
    hand_over(chain, v3, bring(chain, v3, 1), BURN)
    hand_over(chain, v3, first, locker)
    known = with_locker(silent(context, v3), locker, "never_released")
    found = await ask(known, v3.address)
    assert (found.risk, found.holders) == ("held", ())
    # Nobody vouches for it, so it is a contract that may give the position back.
    found = await ask(silent(context, v3), v3.address)
    assert found.risk == "unknown"


async def test_a_lock_names_its_owner_and_its_end(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    locker, manager = chain.deploy("PositionLocker"), positions_of(chain.world.venues.v3)
    position, until_s = newest_position(chain, manager, v3.owner), now_s(chain) + YEAR_S
    chain.approve(manager, v3.owner, locker, position)
    terms = (manager, position, v3.owner, until_s)
    assert chain.send(v3.owner, locker, "lock(address,uint256,address,uint256)", *terms).success
    found = await ask(with_locker(made_by(context, v3), locker, "uncx_v3"), v3.address)
    assert found.risk == "held"
    (holder,) = found.holders
    assert (holder.address, holder.kind) == (v3.owner, "creator")
    assert (holder.can_withdraw, holder.unlocks_at_s, holder.locker) == (False, until_s, locker)
    # Its records are found by events.
    silent_one = with_locker(silent(context, v3), locker, "uncx_v3")
    assert (await ask(silent_one, v3.address)).risk == "unknown"


@pytest.mark.parametrize("is_silent", [True, False])
async def test_tokens_beyond_the_price_hold_nothing(
    chain: Chain, context: ChainContext, v3: ZooToken, *, is_silent: bool
) -> None:
    """The trap: many tokens where no trade is, burnt. By value they are most of the pool."""
    quote = chain.world.venues.wrapped_native.address
    amounts = {v3.address: 40 * chain.balance(v3.address, v3.pool.address), quote: 0}
    is_0 = v3.address < quote
    (spot,) = read_words(chain, v3.pool.address, "slot0()")[1:2]
    tick = spot - 2**256 if spot >> 255 else spot
    near = tick // 60 * 60 + (120 if is_0 else -120)
    ticks = (near, near + 6_000) if is_0 else (near - 6_000, near)
    hand_over(chain, v3, mint_range(chain, v3, amounts, ticks), BURN)
    found = await ask(silent(context, v3) if is_silent else context, v3.address)
    assert found.risk == "withdrawable"
    assert found.holders[0].address == v3.owner
    assert found.holders[0].share_pct > 90


@pytest.mark.usefixtures("few_newest")
async def test_an_unseen_position_out_of_range_is_not_held(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    """The trap: all that is in range is burnt, and most of the quote tokens wait below the
    price."""
    quote, pool = chain.world.venues.wrapped_native.address, v3.pool.address
    manager = positions_of(chain.world.venues.v3)
    hand_over(chain, v3, newest_position(chain, manager, v3.owner), BURN)
    is_0 = v3.address < quote
    (spot,) = read_words(chain, pool, "slot0()")[1:2]
    tick = spot - 2**256 if spot >> 255 else spot
    near = tick // 60 * 60 + (-120 if is_0 else 120)
    ticks = (near - 6_000, near) if is_0 else (near, near + 6_000)
    amounts = {v3.address: 0, quote: 3 * chain.balance(quote, pool)}
    hand_over(chain, v3, mint_range(chain, v3, amounts, ticks), chain.fresh_account())
    assert (await ask(silent(context, v3), v3.address)).risk == "unknown"
    assert (await ask(context, v3.address)).risk == "withdrawable"


@pytest.mark.parametrize("is_burnt", [True, False])
async def test_positions_of_v4_are_found_among_the_newest(
    chain: Chain, context: ChainContext, *, is_burnt: bool
) -> None:
    token, manager = place(chain, venue="v4", pool_pct=4), deploy_position_manager(chain)
    holder = chain.fresh_account(native_wei=10**24)
    given = chain.balance(token.address, token.owner) // 2
    sent = chain.send(token.owner, token.address, "transfer(address,uint256)", holder, given)
    assert sent.success
    (pooled,) = read_words(chain, token.pool.address, "extsload(bytes32)", slot_of(token, context))
    minted = mint_position(
        chain,
        manager,
        holder,
        (token.address, token.pool),
        2 * pooled,
        coins_wei=native_worth(1_000_000),
    )
    assert minted.success
    if is_burnt:
        give = "transferFrom(address,address,uint256)"
        assert chain.send(holder, manager, give, holder, BURN, 1).success
    known = silent(with_position_manager(context, token.pool, manager), token)
    found = await ask(known, token.address)
    assert found.risk == ("held" if is_burnt else "withdrawable")
    if not is_burnt:
        assert found.holders[0].address == holder
        assert found.holders[0].share_pct == pytest.approx(200 / 3, rel=1e-3)


def hide(chain: Chain, token: ZooToken, venue: VenueKey) -> None:
    """Have a stranger hold the liquidity, without an event that the node gives."""
    stranger = chain.fresh_account()
    if venue == "v2":
        give_lp(chain, token, stranger, lp_balance(chain, token))
    elif venue == "v3":
        manager = positions_of(chain.world.venues.v3)
        hand_over(chain, token, newest_position(chain, manager, token.owner), stranger)


def with_slow_blocks(context: ChainContext) -> ChainContext:
    """Return a context with blocks of a day."""
    facts = msgspec.structs.replace(context.chain, block_time_s=float(DAY_S))
    return msgspec.structs.replace(context, chain=facts)


@pytest.mark.usefixtures("few_newest")
@pytest.mark.parametrize("venue", ["v2", "v3", "v4"])
async def test_a_pool_is_old_if_its_liquidity_was_there_thirty_days_ago(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, venue=venue)
    hide(chain, token, venue)
    slow = with_slow_blocks(silent(context, token))
    chain.mine(25)
    assert (await ask(slow, token.address)).risk == "unknown"
    chain.mine(10)
    found = await ask(slow, token.address)
    assert found.risk == "unknown_old"
    assert [(pool.age, pool.age_by) for pool in found.pools] == [("old", "state")]
    without = with_slow_blocks(silent(context, token, has_past=False))
    assert (await ask(without, token.address)).risk == "unknown"


@pytest.mark.usefixtures("few_newest")
async def test_a_pool_that_was_kept_nearly_empty_is_not_old(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    """The trap: create the pool in time, and bring the liquidity a month later."""
    hide(chain, v3, "v3")
    observe(chain, v3)
    chain.wait(31 * DAY_S, blocks=31)
    slow = with_slow_blocks(silent(context, v3))
    assert (await ask(slow, v3.address)).risk == "unknown_old"
    hand_over(chain, v3, bring(chain, v3, 15), chain.fresh_account())
    assert (await ask(slow, v3.address)).risk == "unknown"


def observe(chain: Chain, token: ZooToken) -> None:
    """Have the pool keep more than one observation."""
    pool = token.pool.address
    grown = chain.send(token.owner, pool, "increaseObservationCardinalityNext(uint16)", 4)
    assert grown.success


@pytest.mark.usefixtures("few_newest")
async def test_a_pool_is_old_by_its_own_oracle(
    chain: Chain, context: ChainContext, v3: ZooToken
) -> None:
    hide(chain, v3, "v3")
    observe(chain, v3)
    known = silent(context, v3, has_past=False)
    chain.wait(29 * DAY_S, blocks=1)
    hand_over(chain, v3, bring(chain, v3, 0.1), chain.fresh_account())
    chain.mine(400)  # so that there is a block of thirty nominal days ago
    short = msgspec.structs.replace(known.chain, block_time_s=float(DAY_S))
    known = msgspec.structs.replace(known, chain=short)
    assert (await ask(known, v3.address)).risk == "unknown"
    chain.wait(2 * DAY_S, blocks=1)
    found = await ask(known, v3.address)
    assert found.risk == "unknown_old"
    assert [(pool.age, pool.age_by) for pool in found.pools] == [("old", "observations")]
