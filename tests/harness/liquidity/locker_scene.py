"""Liquidity that owners, lockers and others hold on the demo's chain."""

from pathlib import Path
from typing import Literal

import msgspec
import pytest

from analysis.liquidity import pool_history, position_search
from analysis.liquidity.liquidity_shares import HolderShare
from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import PoolLiquidity, find_liquidity
from api.formats.native.native import render_native
from api.formats.summary.summary import Summary, render_summary
from assay.demo.compile import compile_sources
from assay.demo.layout import FOR_EVER, Pool, ZooToken, positions_of
from config.facts.chain import Locker, LockRecords
from core.evm.abi import call_data
from core.evm.primitives import Address
from core.report.rows import PoolRow
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import PoolDecoder
from tests.harness.api.sample_reports import CLOCK, LIQUID_USD
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.v4_positions import OUTERMOST


def bring(chain: Chain, token: ZooToken, times: float) -> int:
    """Have the owner add a multiple of the pool's balance; return the position."""
    pool, quote = token.pool.address, chain.world.venues.wrapped_native.address
    amounts = {one: int(times * chain.balance(one, pool)) for one in (token.address, quote)}
    return mint_range(chain, token, amounts, (-OUTERMOST, OUTERMOST))


def mint_range(
    chain: Chain, token: ZooToken, amounts: dict[Address, int], ticks: tuple[int, int]
) -> int:
    """Have the owner mint a V3 position of these amounts, by address; return its token."""
    manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
    quote = chain.world.venues.wrapped_native.address
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
            *(first, second, token.pool.fee, *ticks),
            *(amounts[first], amounts[second], 0, 0, token.owner, FOR_EVER),
        ),
    )
    assert sent.success
    return newest_position(chain, manager, token.owner)


def hand_over(chain: Chain, token: ZooToken, position: int, to: Address) -> None:
    """Send the owner's position of a V3 pool."""
    manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
    signature = "transferFrom(address,address,uint256)"
    assert chain.send(token.owner, manager, signature, token.owner, to, position).success


YEAR_S = 365 * 86_400
_SOURCES = Path(__file__).parent / "lockers"


@pytest.fixture
def chain(chain: Chain) -> Chain:
    """With lockers that can be deployed."""
    made = compile_sources({one.name: one.read_text() for one in sorted(_SOURCES.glob("*.sol"))})
    return Chain(chain.node, chain.world, chain.artifacts | made)


@pytest.fixture
def few_first_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that not hundreds of blocks have to be made."""
    monkeypatch.setattr(pool_history, "FIRST_BLOCKS", (20,))


@pytest.fixture
def few_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the newest positions from being searched, as if many others had been made."""
    monkeypatch.setattr(position_search, "MOST_NEWEST", 0)


Asked = Literal["never", "young", "always"]


def asking_for(context: ChainContext, holder_setting: Asked) -> ChainContext:
    settings = msgspec.structs.replace(context.settings, liquidity_holders=holder_setting)
    return msgspec.structs.replace(context, settings=settings)


async def verdict(context: ChainContext, token: Address) -> Summary:
    report = await judge(context, token)
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    return render_summary(
        report,
        native,
        chain="ethereum",
        address=token,
        liquid_above_usd=LIQUID_USD,
        has_liquidity_check=context.settings.finds_liquidity_holders,
    )


def with_locker(
    context: ChainContext, locker: Address, records: LockRecords | None = "uncx_v2"
) -> ChainContext:
    known = Locker(name="Dated", contracts=(locker,), records=records)
    facts = msgspec.structs.replace(context.chain, lockers=(known,))
    return msgspec.structs.replace(context, chain=facts)


def with_position_manager(context: ChainContext, pool: Pool, manager: Address) -> ChainContext:
    """As the manager of the pool's exchange."""
    dexes = tuple(
        msgspec.structs.replace(dex, position_manager=manager) if dex.kind == pool.kind else dex
        for dex in context.chain.dexes
    )
    facts = msgspec.structs.replace(context.chain, dexes=dexes)
    return msgspec.structs.replace(context, chain=facts)


async def found(
    context: ChainContext, token: ZooToken, *, creator: Address | None = None
) -> PoolLiquidity:
    """`creator`: as the index would name it."""
    report = await judge(context, token.address)
    if creator is not None:
        made = msgspec.structs.replace(report.token, creator_address=creator)
        report = msgspec.structs.replace(report, token=made)
    (pool,) = (await find_liquidity(context, token.address, report)).pools
    parts = pool.ownership
    shares = (
        parts.burnt_share,
        parts.locked_share,
        parts.withdrawable_share,
        parts.unknown_share,
        parts.unaccounted_share,
    )
    assert sum(shares) == pytest.approx(1)
    return pool


def holder(pool: PoolLiquidity, address: Address) -> HolderShare:
    (one,) = (each for each in pool.ownership.holders if each.holder == address)
    return one


def read_words(chain: Chain, to: Address, signature: str, *values: object) -> list[int]:
    data = call_data(signature, *values)
    answer = str(chain.node.rpc("eth_call", {"to": to, "data": data}, "latest"))
    return [int(answer[at : at + 64], 16) for at in range(2, len(answer), 64)]


def newest_position(chain: Chain, manager: Address, owner: Address) -> int:
    """The world's owner has positions of other tokens too."""
    (count,) = read_words(chain, manager, "balanceOf(address)", owner)
    signature = "tokenOfOwnerByIndex(address,uint256)"
    (newest,) = read_words(chain, manager, signature, owner, count - 1)
    return newest


def now_s(chain: Chain) -> int:
    block = chain.node.rpc("eth_getBlockByNumber", "latest", False)
    assert isinstance(block, dict)
    return int(str(block["timestamp"]), 16)


def lp_balance(chain: Chain, token: ZooToken) -> int:
    return chain.balance(token.pool.address, token.owner)


def give_lp(chain: Chain, token: ZooToken, to: Address, amount: int) -> None:
    sent = chain.send(token.owner, token.pool.address, "transfer(address,uint256)", to, amount)
    assert sent.success


def lock(
    chain: Chain,
    token: ZooToken,
    name: str,
    amount: int,
    until_s: int,
    *,
    locker: Address | None = None,
) -> Address:
    """Lock LP tokens of the owner. `locker` None: in one that is deployed by this name."""
    locker = locker or chain.deploy(name)
    owner, lp = token.owner, token.pool.address
    chain.approve(lp, owner, locker, amount)
    calls: dict[str, tuple[str, tuple[object, ...]]] = {
        "PinkLocker": (
            "lock(address,address,uint256,uint256,string)",
            (owner, lp, amount, until_s, "LP"),
        ),
        "TeamLocker": (
            "lockToken(address,address,uint256,uint256)",
            (lp, owner, amount, until_s),
        ),
    }
    usual = "lockLPToken(address,uint256,uint256,address)", (lp, amount, until_s, owner)
    signature, values = calls.get(name, usual)
    assert chain.send(owner, locker, signature, *values).success
    return locker


def slot_of(token: ZooToken, context: ChainContext) -> bytes:
    """Return the slot of the liquidity in range of a V4 pool."""
    dex = next(dex for dex in context.chain.dexes if dex.kind == token.pool.kind)
    return liquidity_slot(str(token.pool.pool_id), dex)


def pool_rows(chain: Chain, token: ZooToken) -> tuple[PoolRow, ...]:
    """As the follower has them."""
    dex = chain.world.venues.dex_of(token.pool.venue)
    log_filter = {"fromBlock": "0x0", "toBlock": "latest", "address": dex.factory}
    logs = decode_logs(msgspec.json.encode(chain.node.rpc("eth_getLogs", log_filter)))
    found = PoolDecoder([dex], chain_id=1).decode(logs).pools
    return tuple(row for row in found if token.address in (row.token0, row.token1))
