"""Whether the oracle is the feed it is said to be, fresh, and near the price in the pools."""

from collections.abc import Mapping, Sequence

from assay.doctor.check import (
    Check,
    CheckFinding,
    CheckStatus,
    ProbeAnswer,
    Steps,
    Subject,
    ok,
    word_of,
)
from assay.doctor.contract_reads import ContractGetter, bytes_in, read_all, text_in
from assay.doctor.known_pools import find_pools
from config.chains import Chain
from core.evm.primitives import Address

_GRACE_S = 3_600
_ROUND_BYTES = 160
_MOST_APART = 0.05
_MUCH_APART = 0.5
_LEAST_DEPTH_USD = 1_000


def _look(subject: Subject) -> Steps:
    oracle, head = subject.chain.oracle, subject.head
    feed = oracle.native_usd
    decimals, about, latest = (
        ContractGetter(feed, name) for name in ("decimals()", "description()", "latestRoundData()")
    )
    read = yield from read_all(head, (decimals, about, latest))
    told = word_of(read[decimals])
    round_data = bytes_in(read[latest])
    if told != oracle.decimals or len(round_data) < _ROUND_BYTES:
        seen = f"{told} decimals, configured {oracle.decimals}; {len(round_data)} bytes of a round"
        return [_failed(seen)]
    age_s = head.ref.time_s - int.from_bytes(round_data[96:128])
    usd = int.from_bytes(round_data[32:64], signed=True) / 10**oracle.decimals
    if usd <= 0 or age_s > oracle.heartbeat_s + _GRACE_S:
        return [_failed(f"{usd:g} USD, {age_s} s old; its heartbeat is {oracle.heartbeat_s} s")]
    pools = yield from find_pools(subject)
    reserves = yield from read_all(
        head, [ContractGetter(pool.address, "getReserves()") for pool in pools]
    )
    asked = [(pool.address, pool.tokens[0], pool.lookup.quote) for pool in pools]
    market = _market_usd(subject.chain, asked, reserves)
    name = text_in(read[about]) or "without a name"
    shown = f"{name}: {usd:g} USD, {age_s} s old"
    if market is None:
        return [CheckFinding(status="ok", seen=f"{shown}; no pair to compare it with")]
    apart = abs(market - usd) / usd
    if apart > _MOST_APART:
        status: CheckStatus = "failed" if apart > _MUCH_APART else "degraded"
        return [CheckFinding(status=status, seen=f"{shown}; the deepest pair says {market:g} USD")]
    return [ok(f"{shown}; the deepest pair says {market:g} USD")]


def _failed(seen: str) -> CheckFinding:
    return CheckFinding(status="failed", seen=seen)


def _market_usd(
    chain: Chain,
    pools: Sequence[tuple[Address, Address, Address]],
    reserves: Mapping[ContractGetter, ProbeAnswer],
) -> float | None:
    """Return USD of one coin in the pair with most stable coins. None: there is no deep one.

    `pools`: address, first token and stable coin of each.
    """
    units = {anchor.address: 10**anchor.decimals for anchor in chain.anchors}
    coin = chain.wrapped_native.address
    best: tuple[float, float] = (_LEAST_DEPTH_USD, 0.0)
    for pool, first, stable in pools:
        data = bytes_in(reserves[ContractGetter(pool, "getReserves()")])
        if len(data) < 64:  # noqa: PLR2004 - two words; not a pair
            continue
        sides = int.from_bytes(data[:32]), int.from_bytes(data[32:64])
        coins, stables = sides if first == coin else sides[::-1]
        depth_usd = stables / units[stable]
        if coins and depth_usd > best[0]:
            best = depth_usd, depth_usd / (coins / units[coin])
    return best[1] or None


CHECK = Check(
    name="oracle",
    group="facts",
    question="is the oracle fresh and plausible",
    look=_look,
    costs="the native coin is priced by its deepest pool instead, which one trade can move; a "
    "wrong feed makes all liquidity wrong",
    mend="correct [oracle] in the overlay: address, decimals, heartbeat_s",
)
