"""Values of pools in USD, computed from the balances of the demo's contracts."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import cast

from eth_utils.crypto import keccak

from assay.demo.layout import NATIVE_USD, ZooToken
from assay.demo.reads import read
from core.evm.primitives import Address
from core.report.report import PoolResultRow, Report
from tests.harness.chain.transactions import Chain


def own_pool(report: Report, token: ZooToken) -> PoolResultRow:
    assert report.pools is not None
    key = token.pool.pool_id or token.pool.address
    (row,) = [row for row in report.pools if key in (row.pool_id, row.pool)]
    return row


def usd_of(chain: Chain, quote: Address, amount_raw: float | Decimal) -> float:
    stables = {stable.address for stable in chain.world.venues.stables}
    return float(amount_raw) / 1e6 if quote in stables else float(amount_raw) / 1e18 * NATIVE_USD


def sqrt_at(tick: int) -> Decimal:
    return (Decimal("1.0001") ** tick).sqrt()


def v4_words(chain: Chain, token: ZooToken) -> tuple[int, int]:
    """Return price and liquidity of a V4 pool, as StateLibrary reads them."""
    manager = token.pool.address
    encoded = bytes.fromhex(str(token.pool.pool_id)[2:]) + (6).to_bytes(32)
    slot = int.from_bytes(keccak(encoded))
    words = [
        cast(bytes, read(chain.node, manager, "extsload(bytes32)", at, returns="(bytes32)")[0])
        for at in (slot.to_bytes(32), (slot + 3).to_bytes(32))
    ]
    return int.from_bytes(words[0]) % 2**160, int.from_bytes(words[1])


def amounts_held(root: Decimal, nets: Mapping[int, int]) -> tuple[Decimal, Decimal]:
    """Return both amounts, from the liquidity that each tick adds. Source: V3 whitepaper, 6.29."""
    amount_0 = amount_1 = Decimal(0)
    liquidity = 0
    for lower, upper in pairwise(sorted(nets)):
        liquidity += nets[lower]
        low, high = sqrt_at(lower), sqrt_at(upper)
        at = min(max(root, low), high)
        amount_0 += liquidity * (1 / at - 1 / high)
        amount_1 += liquidity * (at - low)
    return amount_0, amount_1


def quote_by_ticks(chain: Chain, token: ZooToken, ticks: Sequence[int]) -> Decimal:
    """The quote side, from the price and the ticks that the contract keeps."""
    root = Decimal(price_of(chain, token)) / 2**96
    amounts = amounts_held(root, {tick: net_at(chain, token, tick) for tick in ticks})
    return amounts[0] if token.pool.quote < token.address else amounts[1]


def price_of(chain: Chain, token: ZooToken) -> int:
    if token.pool.venue == "v4":
        return v4_words(chain, token)[0]
    getter = "globalState()" if token.pool.venue == "algebra" else "slot0()"
    (price,) = read(chain.node, token.pool.address, getter, returns="(uint160)")
    return cast(int, price)


def net_at(chain: Chain, token: ZooToken, tick: int) -> int:
    """Return the liquidity gained where the price crosses this tick upwards."""
    if token.pool.venue == "v4":
        pools = bytes.fromhex(str(token.pool.pool_id)[2:]) + (6).to_bytes(32)
        ticks = int.from_bytes(keccak(pools)) + 4
        slot = keccak(tick.to_bytes(32, signed=True) + ticks.to_bytes(32))
        manager = token.pool.address
        (kept,) = read(chain.node, manager, "extsload(bytes32)", slot, returns="(bytes32)")
        return int.from_bytes(cast(bytes, kept)[:16], signed=True)
    _, net = read(chain.node, token.pool.address, "ticks(int24)", tick, returns="(uint256,int128)")
    return cast(int, net)
