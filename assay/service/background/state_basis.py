"""Baseline of one watched token, from its report, with which later blocks are compared. Pure.

Storage words that the report depends on, reserves of its pools, and deadlines in its code.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.bulk_words import MOST_SLOTS, BalanceRead, BulkRead, WordsRead
from config.facts.chain import Chain
from core.evm.coin_pairs import is_pair_id
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, to_hash32
from core.report.notifications import ObservationKind
from core.report.report import ClockLimitRow, Report, StateWord
from sql.tokens.observations import Observation
from sql.tokens.watched_tokens import MOST_POOLS, Reserve

LEAST_MOVE: Final = 0.1
"""Relative change of a pool's reserve that counts."""

_WORD: Final = 32
_FAR_S: Final = 10 * 365 * 86_400
"""Deadlines this many seconds ahead are ignored: `type(uint256).max` and the like mean never."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One read and the words it returned last."""

    read: BulkRead
    words: bytes
    pool: Address | None = None
    """Pool whose quote reserve or liquidity is read. None: a storage word."""
    pool_id: Hash32 | None = None


class ClockDeadline(msgspec.Struct, frozen=True, kw_only=True):
    """A value that the code compares with the contract's clock."""

    clock: str
    """block or timestamp."""
    value: int
    time_s: float
    """Time of the deadline, Unix seconds; for a block number by the nominal block time."""
    block_number: int | None
    """Block of this chain. None: the deadline is a time."""


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """Baseline with which blocks after one token's report are compared."""

    token_id: int
    report_block: int
    compared: tuple[Compared, ...]
    deadlines: tuple[ClockDeadline, ...]


def words_of(state: Sequence[StateWord]) -> tuple[Compared, ...]:
    """Return the reads of the report's storage words, grouped by contract."""
    by_contract: dict[Address, list[StateWord]] = {}
    for one in state:
        by_contract.setdefault(one.contract, []).append(one)
    return tuple(
        Compared(
            read=WordsRead(contract=contract, slots=_joined(one.slot for one in some)),
            words=_joined(one.word for one in some),
        )
        for contract, words in by_contract.items()
        for start in range(0, len(words), MOST_SLOTS)
        if (some := words[start : start + MOST_SLOTS])
    )


def pool_reads(report: Report, chain: Chain) -> tuple[tuple[Reserve, BulkRead], ...]:
    """Return the reads of the deepest pools' reserves; the words of the reserves are zero."""
    found: list[tuple[Reserve, BulkRead]] = []
    managers = {dex.factory: dex for dex in chain.dexes}
    for row in (report.pools or ())[:MOST_POOLS]:
        reserve = Reserve(pool=row.pool, pool_id=row.pool_id, quote=row.quote, word=to_hash32(0))
        if row.pool_id is not None and not is_pair_id(row.pool, row.pool_id):
            dex = managers.get(row.pool)
            if dex is not None and venue_of(dex).entries is not None:
                slot = liquidity_slot(row.pool_id, dex)
                found.append((reserve, WordsRead(contract=row.pool, slots=slot)))
        elif row.quote != ZERO_ADDRESS:
            found.append((reserve, BalanceRead(token=row.quote, account=row.pool)))
    return tuple(found)


def compared_pools(
    report: Report, chain: Chain, reserves: Sequence[Reserve]
) -> tuple[Compared, ...]:
    """Return the reads of pools with their known reserves at the report's block."""
    words = {(each.pool, each.pool_id, each.quote): each.word for each in reserves}
    return tuple(
        Compared(
            read=read,
            words=bytes.fromhex(word[2:]),
            pool=reserve.pool,
            pool_id=reserve.pool_id,
        )
        for reserve, read in pool_reads(report, chain)
        if (word := words.get((reserve.pool, reserve.pool_id, reserve.quote))) is not None
    )


def deadlines_of(report: Report, chain: Chain) -> tuple[ClockDeadline, ...]:
    """Return the future values that the code compares the clock with, earliest first."""
    head = report.token
    time_s = head.clock_time_s or head.block_time_s
    number = head.clock_block or head.block_number
    found = (_deadline(limit, chain, time_s, number) for limit in report.clock_limits)
    known = {each for each in found if each is not None}
    return tuple(sorted(known, key=lambda each: each.time_s))


def _deadline(limit: ClockLimitRow, chain: Chain, time_s: int, number: int) -> ClockDeadline | None:
    value = limit.value
    if value is None or limit.source == "stamp":
        return None
    if limit.compared_with == "block":
        left_s = (value - number) * chain.clock_block_time_s
        own = value if chain.clock == "own" else None
        clock = "block"
    else:
        left_s, own, clock = float(value - time_s), None, "timestamp"
    if not 0 < left_s < _FAR_S:
        return None
    return ClockDeadline(clock=clock, value=value, time_s=time_s + left_s, block_number=own)


def has_come(deadline: ClockDeadline, block: BlockRef) -> bool:
    """True if a contract called in this block sees the deadline's value or a later one."""
    if deadline.block_number is not None:
        return block.number >= deadline.block_number
    return block.time_s >= deadline.time_s


def differences(
    before: Compared, words: bytes
) -> Iterator[tuple[ObservationKind, str, str | None]]:
    """Yield kind, name and detail of each difference between two answers to one read."""
    if before.words == words:
        return
    if before.pool is not None:
        was, now = int.from_bytes(before.words), int.from_bytes(words)
        if abs(now - was) >= LEAST_MOVE * was:
            yield "liquidity", before.pool_id or before.pool, f"{was} {now}"
        return
    read = before.read
    if not isinstance(read, WordsRead):
        return
    for start in range(0, len(words), _WORD):
        was_word, word = before.words[start : start + _WORD], words[start : start + _WORD]
        if was_word != word:
            slot = read.slots[start : start + _WORD]
            detail = f"0x{was_word.hex()} 0x{word.hex()}"
            yield "state", f"{read.contract} 0x{slot.hex()}", detail


def moved_to(before: Compared, words: bytes) -> Compared:
    """Return the baseline of later answers. A pool's reserve is kept until its change counts:
    many small changes make a large one."""
    if before.pool is not None and not any(differences(before, words)):
        return before
    return msgspec.structs.replace(before, words=words)


def after_observations(basis: Basis, observed: Sequence[Observation]) -> Basis:
    """Apply stored observations since the report, newest first, to the basis."""
    known: Mapping[tuple[str, str], str | None] = {
        (one.kind, one.what): one.detail for one in reversed(observed)
    }
    compared = tuple(_after(each, known) for each in basis.compared)
    deadlines = tuple(each for each in basis.deadlines if ("deadline", name_of(each)) not in known)
    return msgspec.structs.replace(basis, compared=compared, deadlines=deadlines)


def name_of(deadline: ClockDeadline) -> str:
    """Return the name of a deadline among the observations of a token."""
    return f"{deadline.clock} {deadline.value}"


def _after(each: Compared, known: Mapping[tuple[str, str], str | None]) -> Compared:
    if each.pool is not None:
        detail = known.get(("liquidity", each.pool_id or each.pool))
        return each if detail is None else _with(each, 0, int(detail.split()[1]).to_bytes(_WORD))
    read = each.read
    if isinstance(read, WordsRead):
        for start in range(0, len(read.slots), _WORD):
            slot = read.slots[start : start + _WORD]
            detail = known.get(("state", f"{read.contract} 0x{slot.hex()}"))
            if detail is not None:
                each = _with(each, start, bytes.fromhex(detail.split()[1][2:]))
    return each


def _with(each: Compared, start: int, word: bytes) -> Compared:
    words = each.words[:start] + word + each.words[start + _WORD :]
    return msgspec.structs.replace(each, words=words)


def _joined(texts: Iterator[Hash32]) -> bytes:
    return b"".join(bytes.fromhex(text[2:]) for text in texts)
