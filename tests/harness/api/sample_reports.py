"""Hand-made reports and generated ones."""

from typing import Any, get_args, get_type_hints

from hypothesis import strategies as st

from analysis.token.contract_clock import ContractClock
from api.formats.summary.power_checks import POWER_FIELDS
from config.facts.pool_family import KINDS
from core.evm.primitives import Address, Hash32, RawAmount
from core.report.fields.field import fields_of, list_keys
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Bound, HolderKind, Power, PowerKind
from core.report.report import (
    ClockLimitRow,
    HolderRow,
    PoolResultRow,
    Report,
    ReportRow,
    TradeOutcome,
)
from core.report.track_record import DAY_S, RecordThresholds, TrackRecord, TradeCounts

TOKEN = Address("0x6b175474e89094c44da98b954eedeac495271d0f")
TOKEN_SHOWN = "0x6B175474E89094C44Da98b954EedeAC495271d0F"
OWNER = Address("0x00000000219ab540356cbb839cbe05303d7705fa")
OWNER_SHOWN = "0x00000000219ab540356cBB839Cbe05303d7705Fa"
DEAD = Address("0x000000000000000000000000000000000000dead")
PAIR = Address("0xa478c2975ab1ea89e8196811f51a7b7ade33eb11")
QUOTE = Address("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2")
BLOCK_HASH = Hash32("0x" + "ab" * 32)

LIQUID_USD = 100.0
"""Minimum of the specification."""

MINED_AT_S = 1_790_000_000
"""Time of the block of the sample reports."""

CLOCK = ContractClock(
    time_s=MINED_AT_S, block_number=20_000_000, block_time_s=MINED_AT_S, block_interval_s=12.0
)


def make_pool(**changes: Any) -> PoolResultRow:
    """Make a deep, honest V2 pool, with the named changes."""
    plain: dict[str, Any] = {
        "ordinal": 0,
        "pool": PAIR,
        "pool_id": None,
        "kind": "AmmV2",
        "dex": "uniswap_v2",
        "quote": QUOTE,
        "liquidity_usd": 50_000.0,
        "quote_side_usd": 25_000.0,
        "buy": "passed",
        "buy_tax": 0.0,
        "sell": "passed",
        "sell_tax": 0.0,
        "error_code": None,
        "error_message": None,
        "is_launchpad": None,
        "token_usd": None,
    }
    return PoolResultRow(**{**plain, **changes})


def make_token(**changes: Any) -> ReportRow:
    """Make a renounced token with 1,000,000 units of 18 decimals, with the named changes."""
    plain: dict[str, Any] = {
        "chain_id": 1,
        "address": TOKEN,
        "block_number": 20_000_000,
        "block_hash": BLOCK_HASH,
        "block_time_s": MINED_AT_S,
        "scanned_at_s": MINED_AT_S,
        "is_settled": True,
        "name": "Sample",
        "symbol": "SMP",
        "decimals": 18,
        "supply_raw": 10**24,
        "burned_raw": 0,
        "owner_address": None,
        "ownership_renounced": True,
        "is_open_source": True,
        "has_open_source_implementation": None,
        "implementation": None,
        "timebomb_status": None,
        "transfer_success": True,
        "send_tax": 0.0,
        "receive_tax": 0.0,
        "transfer_checked_at_s": MINED_AT_S,
        "allowance_bypass": False,
        "privileged_spenders": (),
        "funds_can_be_drained": False,
        "owner_can_change_balance": None,
        "is_launchpad_token": None,
        "launchpad_name": None,
        "creator_address": OWNER,
        "creator_balance_raw": 0,
        "others_raw": None,
        "owner_slots_vacant": True,
        "clock_block": 20_000_000,
        "clock_time_s": MINED_AT_S,
    }
    return ReportRow(**{**plain, **changes})


def make_static(*, everything: bool = False, **changes: Any) -> StaticFindings:
    """Make findings that are all false (or, with `everything`, true), with the named changes."""
    names = [
        name for name in StaticFindings.__struct_fields__ if name not in list_keys(StaticFindings)
    ]
    return StaticFindings(**{**dict.fromkeys(names, everything), **changes})


def make_scan(**changes: Any) -> ScanFindings:
    """Make checks that are all settled as false, with the named changes."""
    checks = [key for key, field in fields_of(ScanFindings).items() if field.check]
    proofs = ("unproved_custody", "creates_balances", "hidden_creation", "unexplained_creation")
    return ScanFindings(**{**dict.fromkeys((*checks, *proofs), False), **changes})


def make_holder(owner: Address, amount_raw: int, *, role: str = "top", at: int = 0) -> HolderRow:
    """One balance."""
    return HolderRow(role=role, ordinal=at, owner=owner, amount_raw=amount_raw)  # type: ignore[arg-type]  # the two roles


def make_limit(value: int | None, **changes: Any) -> ClockLimitRow:
    """Make a constant that is compared with some clock, with the named changes."""
    plain: dict[str, Any] = {"source": "constant", "slot": None, "compared_with": None}
    return ClockLimitRow(**{**plain, **changes}, value=value)


def make_power(**changes: Any) -> Power:
    """Make the power of the owner, one wallet, to stop trades, with the named changes."""
    plain: dict[str, Any] = {
        "check": "pause_status_can_be_modified",
        "what": "stop",
        "holder_kind": "wallet",
        "holder": OWNER,
        "functions": ("0x8456cb59",),
    }
    return Power(**{**plain, **changes})


def make_record(**changes: Any) -> TrackRecord:
    """Make the record of an established token, with the named changes."""
    plain: dict[str, Any] = {
        "first_seen_block": 18_000_000,
        "first_seen_s": MINED_AT_S - 400 * DAY_S,
        "age_s": 400 * DAY_S,
        "history_from_block": 18_000_100,
        "spread_sellers": 2_000,
        "whole": TradeCounts(
            sellers=2_500, buyers=2_500, sales=9_000, sales_failed=0, sales_taxed_otherwise=1
        ),
        "last_day": TradeCounts(
            sellers=40, buyers=30, sales=50, sales_failed=0, sales_taxed_otherwise=0
        ),
        "powers_used": None,
        "liquidity_usd": 250_000.0,
        "thresholds": RecordThresholds(
            age_s=180 * DAY_S, sellers=1_000, sellers_per_day=20, liquidity_usd=100_000.0
        ),
        "is_established": True,
    }
    return TrackRecord(**{**plain, **changes})


def make_report(
    *,
    static: StaticFindings | None = None,
    pools: tuple[PoolResultRow, ...] | None = (make_pool(),),
    holders: tuple[HolderRow, ...] = (),
    clock_limits: tuple[ClockLimitRow, ...] = (),
    powers: tuple[Power, ...] | None = None,
    track_record: TrackRecord | None = None,
    **changes: Any,
) -> Report:
    """Make a report of an honest, renounced token with one deep pool, with the named changes.

    `powers` None: not known, as in reports of earlier releases.
    """
    found = {name: changes.pop(name) for name in ScanFindings.__struct_fields__ if name in changes}
    return Report(
        token=make_token(**changes),
        static=static or make_static(),
        scan=make_scan(**found),
        pools=pools,
        holders=holders,
        clock_limits=clock_limits,
        evidence=(),
        powers=powers or (),
        are_powers_known=None if powers is None else True,
        track_record=track_record,
    )


# --- generated ---------------------------------------------------------------------------------

flags = st.none() | st.booleans()
percents = st.none() | st.floats(min_value=0, max_value=100)
addresses = st.binary(min_size=20, max_size=20).map(lambda raw: Address("0x" + raw.hex()))
amounts = st.integers(min_value=0, max_value=2**256 - 1).map(RawAmount)
usd = st.floats(min_value=0, max_value=1e12)
outcomes: st.SearchStrategy[TradeOutcome | None] = st.sampled_from(
    ["passed", "refused", "pending", None]
)
kinds = st.sampled_from([*KINDS, "curve_a"])


@st.composite
def pool_rows(draw: st.DrawFn) -> PoolResultRow:
    """Any pool whose taxes go with its outcomes."""
    buy, sell = draw(outcomes), draw(outcomes)
    return make_pool(
        ordinal=draw(st.integers(0, 20)),
        pool=draw(addresses),
        kind=draw(kinds),
        liquidity_usd=draw(usd),
        quote_side_usd=draw(usd),
        buy=buy,
        buy_tax=draw(percents) if buy == "passed" else None,
        sell=sell,
        sell_tax=draw(percents) if sell == "passed" else None,
        is_launchpad=draw(flags),
        token_usd=draw(st.none() | st.floats(1e-9, 1e9)),
    )


counts = st.none() | st.integers(0, 10**6)
trades = st.builds(TradeCounts, **dict.fromkeys(TradeCounts.__struct_fields__, counts))
records = st.builds(
    make_record,
    first_seen_block=counts,
    first_seen_s=counts,
    age_s=counts,
    history_from_block=counts,
    spread_sellers=counts,
    whole=trades,
    last_day=trades,
    powers_used=counts,
    liquidity_usd=st.none() | usd,
    is_established=st.booleans(),
)
powers = st.builds(
    Power,
    check=st.sampled_from(sorted({field for each in POWER_FIELDS.values() for field in each})),
    what=st.sampled_from(get_args(PowerKind)),
    holder_kind=st.sampled_from(get_args(HolderKind)),
    holder=st.none() | addresses,
    bound=st.sampled_from(get_args(Bound)),
    detail=st.none() | st.just("3 of 5"),
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Any report that the rows allow."""
    gated = flags | st.just("pending")
    static: dict[str, Any] = {
        name: draw(gated if name.endswith("_be_modified") or name == "timebomb" else flags)
        for name in StaticFindings.__struct_fields__
        if not name.endswith("_update_function") and name != "tax_can_be_modified"
    }
    holders = [
        make_holder(draw(addresses), draw(amounts), role=role, at=at)
        for role in ("burn", "top")
        for at in range(draw(st.integers(0, 12)))
    ]
    return make_report(
        static=StaticFindings(**static),
        pools=draw(st.none() | st.lists(pool_rows(), max_size=4).map(tuple)),
        holders=tuple(holders),
        clock_limits=tuple(draw(st.lists(clock_limits(), max_size=3))),
        powers=draw(st.none() | st.lists(powers, max_size=4).map(tuple)),
        track_record=draw(st.none() | records),
        decimals=draw(st.integers(0, 255)),
        supply_raw=draw(amounts),
        burned_raw=draw(amounts),
        ownership_renounced=draw(flags),
        owner_address=draw(st.none() | addresses),
        owner_slots_vacant=draw(flags),
        transfer_success=draw(flags),
        send_tax=draw(percents),
        receive_tax=draw(percents),
        allowance_bypass=draw(flags),
        privileged_spenders=tuple(draw(st.lists(addresses, max_size=2))),
        owner_can_change_balance=draw(flags),
        is_launchpad_token=draw(flags),
        launchpad_name=draw(st.none() | st.just("some_pad")),
        creator_address=draw(st.none() | addresses),
        creator_balance_raw=draw(st.none() | amounts),
        others_raw=draw(st.none() | amounts),
        **{key: draw(st.from_type(kind)) for key, kind in get_type_hints(ScanFindings).items()},
    )


@st.composite
def clock_limits(draw: st.DrawFn) -> ClockLimitRow:
    """A limit near the sample clock, on either side, or one that was not read."""
    near = st.sampled_from([20_000_000, MINED_AT_S])
    values = st.builds(int.__add__, near, st.integers(-1_000_000, 1_000_000))
    source = draw(st.sampled_from(["constant", "storage"]))
    return make_limit(
        draw(st.none() | values | st.integers(0, 2**256 - 1)),
        source=source,
        slot=f"0x{draw(st.integers(0, 9)):064x}" if source == "storage" else None,
        compared_with=draw(st.sampled_from([None, "block", "timestamp"])),
    )
