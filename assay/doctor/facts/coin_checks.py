"""Checks of the wrapped coin, the stable coins and the price feed."""

from collections.abc import Mapping, Sequence

from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    read_simulation,
)
from assay.doctor.check import (
    Check,
    CheckFinding,
    CheckStatus,
    ProbeAnswer,
    Steps,
    Subject,
    ask,
    is_result,
    ok,
    word_of,
)
from assay.doctor.contract_reads import ContractGetter, bytes_in, read_all, text_in
from assay.doctor.facts.pool_checks import find_pools
from assay.doctor.tracers import drawn_address
from config.facts.chain import Anchor, Chain
from core.evm.abi import call_data
from core.evm.primitives import Address


def wrong_decimals(coin: Anchor, decimals: ProbeAnswer) -> CheckFinding | None:
    """Return a failure for other decimals. None: they are as configured."""
    found = word_of(decimals)
    if found == coin.decimals:
        return None
    seen = f"{found} decimals, configured {coin.decimals}"
    return CheckFinding(status="failed", subject=coin.symbol, seen=seen)


def wrong_symbol(coin: Anchor, symbol: ProbeAnswer) -> CheckFinding | None:
    """Return a finding for another symbol. None: it is as configured."""
    found = text_in(symbol)
    if found == coin.symbol:
        return None
    seen, costs = f"its symbol is {found!r}", "names shown differ"
    return CheckFinding(status="degraded", subject=coin.symbol, seen=seen, costs=costs)


_DEPOSITED_WEI = 123_456_789
_PURSE_WEI = 10**18


def _check_wrapped_coin(subject: Subject) -> Steps:
    anchor = subject.chain.wrapped_native
    symbol, decimals = (
        ContractGetter(anchor.address, "symbol()"),
        ContractGetter(anchor.address, "decimals()"),
    )
    read = yield from read_all(subject.head, (symbol, decimals))
    wrong = wrong_decimals(anchor, read[decimals])
    if wrong is not None:
        return [wrong]
    simulation = _build_deposit(subject)
    answers = yield ask(simulation.request)
    gained = _read_gain(simulation, answers[0])
    if gained is None:
        seen = "decimals as configured; no deposit could be simulated"
        return [CheckFinding(status="unknown", subject=anchor.symbol, seen=seen, costs="")]
    if gained != _DEPOSITED_WEI:
        seen = f"a deposit of {_DEPOSITED_WEI} wei gave {gained}"
        return [CheckFinding(status="failed", subject=anchor.symbol, seen=seen)]
    good = ok("symbol, decimals, and a deposit in a simulation", subject=anchor.symbol)
    return [wrong_symbol(anchor, read[symbol]) or good]


def _build_deposit(subject: Subject) -> Simulation:
    head, coin = subject.head, subject.chain.wrapped_native.address
    sender = drawn_address(head, "depositor")
    step_s = max(1, round(subject.chain.block_time_s))
    calls = (
        SimCall(
            label="deposit",
            sender=sender,
            to=coin,
            data=call_data("deposit()"),
            value=_DEPOSITED_WEI,
            is_trade=True,
        ),
        SimCall(
            label="balance", sender=sender, to=coin, data=call_data("balanceOf(address)", sender)
        ),
    )
    return Simulation(
        pin=head.ref,
        disguise=Disguise(
            secret=head.ref.hash, base_fee_wei=head.base_fee_wei, proposers=(head.proposer,)
        ),
        blocks=(SimBlock(number=head.number + 1, time_s=head.ref.time_s + step_s, calls=calls),),
        purses={sender: _PURSE_WEI},
        storage={},
    )


def _read_gain(simulation: Simulation, answer: ProbeAnswer) -> int | None:
    """Return the balance after the deposit; 0 if it failed. None: not simulated."""
    if not is_result(answer):
        return None
    result = read_simulation(simulation, answer)
    return None if isinstance(result, NotSimulated) else result.word(CallHandle(0, 1)) or 0


WRAPPED_COIN = Check(
    name="wrapped coin",
    group="facts",
    question="does the wrapped coin wrap coins",
    look=_check_wrapped_coin,
    costs="no pool against the native coin is valued or traded",
    mend="correct [wrapped_native] in the overlay, and report it",
)


def _check_stable_coins(subject: Subject) -> Steps:
    stables = subject.chain.stables
    reads = ("decimals()", "symbol()", "totalSupply()")
    answers = yield from read_all(
        subject.head, [ContractGetter(one.address, read) for one in stables for read in reads]
    )
    findings = []
    for stable in stables:
        decimals, symbol, supply = (answers[ContractGetter(stable.address, read)] for read in reads)
        empty = CheckFinding(status="failed", subject=stable.symbol, seen="it has no supply")
        findings.append(
            wrong_decimals(stable, decimals)
            or (None if word_of(supply) else empty)
            or wrong_symbol(stable, symbol)
            or ok(f"{stable.decimals} decimals", subject=stable.symbol)
        )
    return findings


STABLE_COINS = Check(
    name="stable coins",
    group="facts",
    question="have the stable coins the configured decimals",
    look=_check_stable_coins,
    costs="liquidity and prices are wrong by powers of ten",
    mend="correct [[stable]] in the overlay, and report it",
)


_GRACE_S = 3_600
_ROUND_BYTES = 160
_MOST_APART = 0.05
_MUCH_APART = 0.5
_LEAST_DEPTH_USD = 1_000


def _check_price_feed(subject: Subject) -> Steps:
    oracle, head = subject.chain.oracle, subject.head
    feed = oracle.native_usd
    decimals, about, latest = (
        ContractGetter(feed, name) for name in ("decimals()", "description()", "latestRoundData()")
    )
    read = yield from read_all(head, (decimals, about, latest))
    found = word_of(read[decimals])
    round_data = bytes_in(read[latest])
    if found != oracle.decimals or len(round_data) < _ROUND_BYTES:
        seen = f"{found} decimals, configured {oracle.decimals}; {len(round_data)} bytes of a round"
        return [_feed_failure(seen)]
    age_s = head.ref.time_s - int.from_bytes(round_data[96:128])
    usd = int.from_bytes(round_data[32:64], signed=True) / 10**oracle.decimals
    if usd <= 0 or age_s > oracle.heartbeat_s + _GRACE_S:
        return [
            _feed_failure(f"{usd:g} USD, {age_s} s old; its heartbeat is {oracle.heartbeat_s} s")
        ]
    pools = yield from find_pools(subject)
    reserves = yield from read_all(
        head, [ContractGetter(pool.address, "getReserves()") for pool in pools]
    )
    compared = [(pool.address, pool.tokens[0], pool.lookup.quote) for pool in pools]
    market = _find_market_usd(subject.chain, compared, reserves)
    name = text_in(read[about]) or "without a name"
    shown = f"{name}: {usd:g} USD, {age_s} s old"
    if market is None:
        return [CheckFinding(status="ok", seen=f"{shown}; no pair to compare it with")]
    apart = abs(market - usd) / usd
    if apart > _MOST_APART:
        status: CheckStatus = "failed" if apart > _MUCH_APART else "degraded"
        return [CheckFinding(status=status, seen=f"{shown}; the deepest pair says {market:g} USD")]
    return [ok(f"{shown}; the deepest pair says {market:g} USD")]


def _feed_failure(seen: str) -> CheckFinding:
    return CheckFinding(status="failed", seen=seen)


def _find_market_usd(
    chain: Chain,
    pools: Sequence[tuple[Address, Address, Address]],
    reserves: Mapping[ContractGetter, ProbeAnswer],
) -> float | None:
    """Return the USD price of the coin in the pair with most stable coins. None: no deep pair.

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


PRICE_FEED = Check(
    name="oracle",
    group="facts",
    question="is the oracle fresh and plausible",
    look=_check_price_feed,
    costs="the native coin is priced by its deepest pool instead, which one trade can move; a "
    "wrong feed makes all liquidity wrong",
    mend="correct [oracle] in the overlay: address, decimals, heartbeat_s",
)
