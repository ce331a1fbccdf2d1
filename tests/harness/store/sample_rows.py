"""Made-up rows and strategies for them."""

from typing import TypeVar, get_args, get_type_hints

from hypothesis import strategies as st
from msgspec import structs

from assay.service.record_report import NextRefresh
from core.evm.primitives import Address, Hash32, HexBytes, RawAmount, Selector
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Bound, Power
from core.report.report import (
    ClockLimitRow,
    EvidenceRow,
    HolderRow,
    PoolResultRow,
    Report,
    ReportRow,
)
from core.report.rows import LaunchRow, PoolRow
from core.report.verdict import ReportVerdict
from sql.engine.table_rows import BlockRow


def address(number: int) -> Address:
    """The address that is this number."""
    return Address(f"0x{number:040x}")


def hash32(number: int) -> Hash32:
    """The hash that is this number."""
    return Hash32(f"0x{number:064x}")


LATER = NextRefresh(worth=0, due_s=2**40)
"""A refresh that no test lives to see."""


def block(number: int, *, branch: int = 0) -> BlockRow:
    """Block `number` of chain 1; another branch has other hashes."""
    return BlockRow(
        chain_id=1,
        number=number,
        hash=hash32(number + branch),
        parent_hash=hash32((number - 1 + branch) % 2**256),
        time_s=1_700_000_000 + number,
    )


def pool(at: int, token: Address, *, block_number: int, quote: Address | None = None) -> PoolRow:
    """A V2 pool of chain 1 at address `at`."""
    return PoolRow(
        chain_id=1,
        pool_key=HexBytes(address(at)),
        pool=address(at),
        pool_id=None,
        dex="uniswap_v2",
        kind="AmmV2",
        variant=None,
        factory=address(1),
        token0=token,
        token1=quote or address(2),
        fee=30,
        tick_spacing=None,
        stable=None,
        hooks=None,
        block_number=block_number,
        log_index=at % 1000,
    )


def launch(token: Address, *, block_number: int, slug: str = "a-pad") -> LaunchRow:
    """A launch on chain 1."""
    return LaunchRow(
        chain_id=1,
        token=token,
        slug=slug,
        emitter=address(7),
        creator=None,
        tx_hash=hash32(block_number),
        block_number=block_number,
        log_index=1,
    )


addresses = st.integers(0, 2**160 - 1).map(address)
hashes = st.integers(0, 2**256 - 1).map(hash32)
amounts = st.integers(0, 2**256 - 1).map(RawAmount)
selectors = st.integers(0, 2**32 - 1).map(lambda number: Selector(f"0x{number:08x}"))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
times = st.integers(0, 2**40)
truths = st.none() | st.booleans()
flags = truths | st.just("pending")
numbers = st.floats(0, 1e30)
outcomes = st.sampled_from([None, "passed", "refused", "pending"])

heads = st.builds(
    ReportRow,
    chain_id=st.sampled_from([1, 56]),
    address=addresses,
    block_number=times,
    block_hash=hashes,
    block_time_s=times,
    scanned_at_s=times,
    is_settled=st.booleans(),
    name=texts,
    symbol=texts,
    decimals=st.integers(0, 255),
    supply_raw=amounts,
    burned_raw=amounts,
    owner_address=st.none() | addresses,
    ownership_renounced=truths,
    is_open_source=truths,
    has_open_source_implementation=truths,
    implementation=st.none() | addresses,
    timebomb_status=st.none() | st.just("armed"),
    transfer_success=truths,
    send_tax=st.none() | numbers,
    receive_tax=st.none() | numbers,
    transfer_checked_at_s=st.none() | times,
    allowance_bypass=truths,
    privileged_spenders=st.lists(addresses, max_size=3).map(tuple),
    funds_can_be_drained=truths,
    owner_can_change_balance=truths,
    is_launchpad_token=truths,
    launchpad_name=st.none() | texts,
    creator_address=st.none() | addresses,
    creator_balance_raw=st.none() | amounts,
    others_raw=st.none() | amounts,
    owner_slots_vacant=truths,
    clock_block=st.none() | times,
    clock_time_s=st.none() | times,
)
_FLAGS = ("trading_cap_can_be_modified", "position_cap_can_be_modified", "timebomb")
findings = st.builds(
    StaticFindings,
    **dict.fromkeys((*_FLAGS, "pause_status_can_be_modified"), flags),
    mint_or_burn_function=truths,
    is_proxy=truths,
    tax_can_be_modified=truths,
    balance_update_function=st.none() | st.lists(selectors, max_size=3).map(tuple),
    allowance_update_function=st.none() | st.lists(selectors, max_size=3).map(tuple),
)


scans = st.builds(
    ScanFindings,
    **{
        key: st.none() | numbers if kind == float | None else st.from_type(kind)
        for key, kind in get_type_hints(ScanFindings).items()
    },
)


def pool_result(*, ordinal: int) -> PoolResultRow:
    """One of very many: nothing was tried in it."""
    return PoolResultRow(
        ordinal=ordinal,
        pool=address(1),
        pool_id=hash32(ordinal),
        kind="AmmV4",
        dex="Uniswap V4",
        quote=address(2),
        liquidity_usd=1.0 / (ordinal + 1),
        quote_side_usd=0.5 / (ordinal + 1),
        buy=None,
        buy_tax=None,
        sell=None,
        sell_tax=None,
        error_code="liquidity_too_low",
        error_message=None,
        is_launchpad=None,
        token_usd=None,
    )


pool_results = st.builds(
    PoolResultRow,
    ordinal=st.just(0),
    pool=addresses,
    pool_id=st.none() | hashes,
    kind=st.just("AmmV4"),
    dex=texts,
    quote=addresses,
    liquidity_usd=numbers,
    quote_side_usd=numbers,
    buy=outcomes,
    buy_tax=st.none() | numbers,
    sell=outcomes,
    sell_tax=st.none() | numbers,
    error_code=st.none() | texts,
    error_message=st.none() | texts,
    is_launchpad=truths,
    token_usd=st.none() | numbers,
)
holders = st.builds(
    HolderRow, role=st.just("top"), ordinal=st.just(0), owner=addresses, amount_raw=amounts
)
clock_limits = st.builds(
    ClockLimitRow,
    source=st.sampled_from(["constant", "storage"]),
    slot=st.none() | hashes,
    value=st.none() | st.integers(-(2**256), 2**256),
    compared_with=st.sampled_from([None, "block", "timestamp"]),
)
powers = st.builds(
    Power,
    check=texts,
    bound=st.sampled_from(get_args(Bound)),
    holder=st.none() | addresses,
    functions=st.lists(selectors, max_size=3).map(tuple),
    detail=st.none() | texts,
)
evidence = st.builds(EvidenceRow, key=texts, body=texts)


Ranked = TypeVar("Ranked", HolderRow, PoolResultRow)


def _numbered(rows: list[Ranked]) -> tuple[Ranked, ...]:
    return tuple(structs.replace(row, ordinal=at) for at, row in enumerate(rows))


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Whole reports; pools and holders numbered as they stand."""
    pools = draw(st.none() | st.lists(pool_results, max_size=3))
    return Report(
        token=draw(heads),
        static=draw(findings),
        scan=draw(scans),
        pools=None if pools is None else _numbered(pools),
        holders=_numbered(draw(st.lists(holders, max_size=3))),
        clock_limits=tuple(draw(st.lists(clock_limits, max_size=3))),
        evidence=tuple(draw(st.lists(evidence, max_size=3))),
        powers=tuple(draw(st.lists(powers, max_size=3))),
        are_powers_known=draw(truths),
    )


def evidence_of(count: int) -> tuple[EvidenceRow, ...]:
    """Make pieces of evidence."""
    return tuple(EvidenceRow(key=f"key {at}", body="{}") for at in range(count))


def bare_verdict(verdict: str) -> ReportVerdict:
    """A verdict of which nothing else is known."""
    return ReportVerdict(
        policy="p",
        verdict=verdict,
        reasons=(),
        has_enough_liquidity=None,
        liquidity_usd=None,
        can_buy=None,
        can_sell=None,
        pools=0,
        buy_tax=None,
        sell_tax=None,
        checks=(),
    )
