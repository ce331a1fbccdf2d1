"""Census of sales by real holders, as an answer."""

from collections import Counter
from typing import Literal

from analysis.quotes.census.deciding_entries import ListVariable
from analysis.quotes.census.entry_writers import EntryWrite
from analysis.quotes.sale_census import CensusSeller, DecidedBy, SaleCensus
from api.formats.amounts import decimal_text
from api.formats.shape_building import Shape
from config.facts.chain import Chain
from core.evm.primitives import checksum, to_hash32
from core.report.report import ReportRow


class CensusWrite(Shape, frozen=True, kw_only=True):
    """The transaction that gave an entry its value."""

    block_number: int
    """Block in which the entry got it; of several such blocks, one of the latest."""
    tx_hash: str | None
    """None: it could not be distinguished from the others of that block."""
    sender: str | None
    """Account that sent it. None: not known."""
    function: str | None
    """Selector of the called function. None: not known, or it created a contract."""
    is_traced: bool
    """true: a trace of the transaction changes the entry. false: it is the block's only call of
    that contract."""


class CensusEntry(Shape, frozen=True, kw_only=True):
    """An account's entry of a list, which decides on its sale."""

    contract: str
    """Contract that keeps the list: the token, or another one that it calls."""
    list_slot: str
    """Declared slot of the mapping."""
    slot: str
    """Slot of the account's entry."""
    word: str
    """Its value on the block, as a 32-byte word."""
    passing_word: str
    """Its value in the simulation in which the sale passes."""
    written_by: CensusWrite | None
    """None: not found; nodes without old states give no writer."""


class HolderSale(Shape, frozen=True, kw_only=True):
    """One holder and its simulated sale."""

    address: str
    """Address of the holder, with the checksum of EIP-55."""
    balance: str
    """Whole tokens that it holds, as an exact decimal number."""
    amount: str
    """Whole tokens of the sale: no more than an ordinary one."""
    bought_in: str | None
    """Transaction of its last purchase. None: not known; it may have been sent its tokens."""
    outcome: Literal["sold", "failed", "other_tax", "unknown"]
    """other_tax: it pays more than others do. unknown: it was not simulated."""
    tax_pct: float | None
    """Percent. None: not sold, or not computable from the amounts."""
    reason: str
    """Reason of a sale that did not pass. Empty: it did."""
    decided_by: tuple[CensusEntry, ...]
    """Entries without which the sale passes at the usual tax, proved by a simulation of it; several
    if it takes all of them. Empty: it passes, or no list was found that decides."""


class CensusList(Shape, frozen=True, kw_only=True):
    """A list that decides on sales of the census."""

    contract: str
    """Contract that keeps the list."""
    list_slot: str
    """Declared slot of the mapping."""
    holders: int
    """Number of sellers that it holds back."""


class RealFailedSale(Shape, frozen=True, kw_only=True):
    """A real sale that failed, for a reason that is not its own limits."""

    tx_hash: str
    """Hash of the transaction."""
    block_number: int
    """Its block."""
    trader: str | None
    """Account that sent it. None: not known."""
    in_census: Literal["sold", "failed", "other_tax", "unknown"] | None
    """Outcome of the same account in this census. None: it is not in it."""
    reason: str
    """Error of the same call on the state before its block; empty where there was none."""


class CensusAnswer(Shape, frozen=True, kw_only=True):
    """Sales of real holders, all simulated at the state of one block. No verdict depends on it."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block whose state everything was read and simulated on."""
    block_hash: str
    """Hash of that block."""
    pool: str | None
    """Pool in which they sell. None: no sale was simulated."""
    dex: str
    """Name of its exchange. Empty: no sale was simulated."""
    usual_tax_pct: float | None
    """Percent that other accounts pay on a sale there. None: not known."""
    holders: int
    """Holders whose sales were simulated, at most fifty."""
    holders_found: int
    """Accounts among which they were chosen, contracts included."""
    sold: int
    """Holders that sell at the usual tax."""
    failed: int
    """Holders whose sale fails."""
    other_tax: int
    """Holders that pay at least a percentage point more than others."""
    unknown: int
    """Holders whose sale was not simulated."""
    reason: str
    """Reason why there is no holder. Empty: there is one."""
    lists: tuple[CensusList, ...]
    """Lists that decide on their sales, the one with most holders first."""
    sellers: tuple[HolderSale, ...]
    """Holders, latest buyers first."""
    is_watched: bool
    """false: nothing was observed of the token here, so that no real failed sale can be known."""
    failed_sales: tuple[RealFailedSale, ...]
    """Real failed sales that were observed, newest first, at most twenty."""


def census_answer(census: SaleCensus, chain: Chain, token: ReportRow) -> CensusAnswer:
    """Return the answer for one token."""
    counts = Counter(seller.outcome for seller in census.sellers)
    outcomes = {seller.holder: seller.outcome for seller in census.sellers}
    return CensusAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=census.block.number,
        block_hash=census.block.hash,
        pool=census.pool,
        dex=census.dex,
        usual_tax_pct=census.usual_tax,
        holders=len(census.sellers),
        holders_found=census.possible,
        sold=counts["sold"],
        failed=counts["failed"],
        other_tax=counts["other_tax"],
        unknown=counts["unknown"],
        reason=census.reason,
        lists=_lists(census.sellers),
        sellers=tuple(_sale(seller, token.decimals) for seller in census.sellers),
        is_watched=census.sales.is_watched,
        failed_sales=tuple(
            RealFailedSale(
                tx_hash=one.tx_hash,
                block_number=one.block_number,
                trader=None if one.trader is None else checksum(one.trader),
                in_census=None if one.trader is None else outcomes.get(one.trader),
                reason=one.reason,
            )
            for one in census.sales.failed
        ),
    )


def _lists(sellers: tuple[CensusSeller, ...]) -> tuple[CensusList, ...]:
    counts: Counter[ListVariable] = Counter(
        decided.entry.variable for seller in sellers for decided in seller.decided_by
    )
    return tuple(
        CensusList(contract=checksum(variable.contract), list_slot=variable.slot, holders=holders)
        for variable, holders in counts.most_common()
    )


def _sale(one: CensusSeller, decimals: int) -> HolderSale:
    return HolderSale(
        address=checksum(one.holder),
        balance=decimal_text(one.balance_raw, decimals=decimals),
        amount=decimal_text(one.amount_raw, decimals=decimals),
        bought_in=None if one.bought is None else one.bought.tx_hash,
        outcome=one.outcome,
        tax_pct=one.tax,
        reason=one.reason,
        decided_by=tuple(_entry(one, decided) for decided in one.decided_by),
    )


def _entry(seller: CensusSeller, decided: DecidedBy) -> CensusEntry:
    entry = decided.entry
    return CensusEntry(
        contract=checksum(entry.variable.contract),
        list_slot=entry.variable.slot,
        slot=entry.variable.entry(seller.holder),
        word=to_hash32(entry.word),
        passing_word=to_hash32(entry.passing_word),
        written_by=None if decided.write is None else _write(decided.write),
    )


def _write(write: EntryWrite) -> CensusWrite:
    return CensusWrite(
        block_number=write.block_number,
        tx_hash=write.tx_hash,
        sender=None if write.sender is None else checksum(write.sender),
        function=write.function,
        is_traced=write.is_traced,
    )
