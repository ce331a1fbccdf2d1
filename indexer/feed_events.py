"""Lines of a followed span for the feed: tokens that are new, and liquidity that left pools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from config.facts.chain import Chain
from config.facts.pool_family import FAMILIES, WithdrawalEvent
from core.evm.event_signatures import EventForm
from core.evm.primitives import Address, Hash32, HexBytes, RawAmount
from core.report.feed_lines import FeedDetail, FeedLine, LiquidityWithdrawal, TokenLaunch
from core.report.liquidity_cliff import LiquidityCliff, is_cliff
from core.report.rows import LaunchRow, PoolRow
from indexer.decode.hex_columns import encode_hex
from indexer.decode.log_columns import NO_HASH, WORD_BYTES, LogGroup
from indexer.events import Reading, SpanWrite, untracked_tokens
from indexer.withdrawn_shares import WithdrawnShares
from sql.chain.cliff_tables import insert_cliffs
from sql.chain.feed_tables import write_lines
from sql.chain.launch_tables import list_launches
from sql.chain.pool_tables import PoolFacts, find_first_pool_block, find_pools
from sql.engine.database import Transaction

_SIGN_BIT: Final = 1 << 255


class _Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """Values of one log that may be a withdrawal."""

    pool_key: HexBytes
    kinds: tuple[str, ...]
    block_number: int
    log_index: int
    tx_hash: Hash32 | None
    amount0_raw: RawAmount | None
    amount1_raw: RawAmount | None


class _Form(msgspec.Struct, frozen=True, kw_only=True):
    event: EventForm
    kinds: tuple[str, ...]


def _forms() -> tuple[_Form, ...]:
    """Return every event once, with all kinds of pool that emit it."""
    events: dict[WithdrawalEvent, list[str]] = {}
    for family in FAMILIES:
        for event in family.withdrawal:
            events.setdefault(event, []).append(family.kind)
    return tuple(_Form(event=one.form, kinds=tuple(kinds)) for one, kinds in events.items())


_FORMS: Final = _forms()


class FeedEvents:
    """Launches and withdrawals of followed spans. Old blocks are no news."""

    name = "feed"
    topics: tuple[Hash32, ...] = tuple(dict.fromkeys(form.event.topic0 for form in _FORMS))
    reading: Reading = "followed"
    subjects: tuple[str, ...] = ()

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id
        self._untracked = frozenset(untracked_tokens(chain))

    def store(self, write: SpanWrite) -> int:
        """Append the lines of a followed span, in order of the chain."""
        if not write.is_followed:
            return 0
        withdrawals = [*self._withdrawals(write)]
        insert_cliffs(write.tx, _cliffs(withdrawals), chain_id=self._chain_id)
        lines = [*self._launches(write), *withdrawals]
        lines.sort(key=lambda line: (line.block_number or 0, line.log_index or 0))
        return write_lines(write.tx, lines, chain_id=self._chain_id)

    def _launches(self, write: SpanWrite) -> Iterator[FeedLine]:
        announced = _first_announcements(write.launches, write.pools)
        new = {
            token: row
            for token, row in announced.items()
            if token not in self._untracked
            and _first_block(write.tx, self._chain_id, token) >= write.span.first
        }
        if not new:
            return
        places = {(row.block_number, row.log_index) for row in new.values()}
        hashes = write.span.logs.hashes_at(places)
        times = write.span.times_of({row.block_number for row in new.values()})
        for token, row in new.items():
            place = (row.block_number, row.log_index)
            yield FeedLine(
                kind="launch",
                token=token,
                block_number=row.block_number,
                tx_hash=row.tx_hash
                if isinstance(row, LaunchRow)
                else _hash_of(hashes.get(place, NO_HASH)),
                log_index=row.log_index,
                seen_at_s=times.get(row.block_number, write.span.tip.time_s),
                detail=FeedDetail(launch=_launch_of(row)),
            )

    def _withdrawals(self, write: SpanWrite) -> Iterator[FeedLine]:
        found = [
            one
            for form in _FORMS
            for group in write.span.logs.with_topics([bytes.fromhex(form.event.topic0[2:])])
            for one in _decode(group, form)
        ]
        if not found:
            return
        pools = find_pools(
            write.tx, chain_id=self._chain_id, pool_keys={one.pool_key for one in found}
        )
        times = write.span.times_of({one.block_number for one in found})
        shares = WithdrawnShares(write, chain_id=self._chain_id)
        for one in found:
            pool = pools.get(one.pool_key)
            token = None if pool is None else self._token_of(pool)
            if pool is None or token is None or pool.kind not in one.kinds:
                continue
            amount_raw = one.amount0_raw if token == pool.token0 else one.amount1_raw
            left_pct = shares.find_pct(pool, token, amount_raw, block_number=one.block_number)
            yield FeedLine(
                kind="withdrawal",
                token=token,
                block_number=one.block_number,
                tx_hash=one.tx_hash,
                log_index=one.log_index,
                seen_at_s=times.get(one.block_number, write.span.tip.time_s),
                detail=FeedDetail(withdrawal=_withdrawal_of(one, pool, left_pct)),
            )

    def _token_of(self, pool: PoolFacts) -> Address | None:
        """Return the side that is tracked, the first of two. None: both are quote tokens."""
        sides = (pool.token0, pool.token1)
        return next((side for side in sides if side not in self._untracked), None)


def _first_announcements(
    launches: Sequence[LaunchRow], pools: Sequence[PoolRow]
) -> Mapping[Address, LaunchRow | PoolRow]:
    """Return the first launch or pool of each token in a span."""
    placed: list[tuple[int, int, Address, LaunchRow | PoolRow]] = [
        *((row.block_number, row.log_index, row.token, row) for row in launches),
        *(
            (row.block_number, row.log_index, token, row)
            for row in pools
            for token in (row.token0, row.token1)
        ),
    ]
    found: dict[Address, LaunchRow | PoolRow] = {}
    for _, _, token, row in sorted(placed, key=lambda one: one[:3]):
        found.setdefault(token, row)
    return found


def _first_block(tx: Transaction, chain_id: int, token: Address) -> int:
    """Return the first block that announced a token, which is stored."""
    pool = find_first_pool_block(tx, chain_id=chain_id, token=token)
    launched = list_launches(tx, chain_id=chain_id, token=token)
    return min([*(row.block_number for row in launched), *([] if pool is None else [pool])])


def _launch_of(row: LaunchRow | PoolRow) -> TokenLaunch:
    if isinstance(row, LaunchRow):
        return TokenLaunch(source=row.slug, pool=None, creator=row.creator)
    return TokenLaunch(source=row.dex, pool=row.pool_key, creator=None)


def _withdrawal_of(one: _Withdrawn, pool: PoolFacts, left_pct: float | None) -> LiquidityWithdrawal:
    return LiquidityWithdrawal(
        source=pool.dex,
        pool=pool.pool_key,
        token0=pool.token0,
        token1=pool.token1,
        amount0_raw=one.amount0_raw,
        amount1_raw=one.amount1_raw,
        left_pct=left_pct,
    )


def _cliffs(lines: Iterable[FeedLine]) -> Iterator[tuple[Address, LiquidityCliff]]:
    """Yield the withdrawals above CLIFF_PCT, each with its token."""
    for line in lines:
        withdrawal = line.detail.withdrawal
        if withdrawal is None or not is_cliff(withdrawal.left_pct):
            continue
        if line.token is None or line.block_number is None or line.log_index is None:
            continue
        cliff = LiquidityCliff(
            pool=withdrawal.pool,
            source=withdrawal.source,
            block_number=line.block_number,
            log_index=line.log_index,
            time_s=line.seen_at_s,
            tx_hash=line.tx_hash,
            left_pct=withdrawal.left_pct,
        )
        yield line.token, cliff


def _hash_of(tx_hash: bytes) -> Hash32 | None:
    """Return a transaction's hash as text. None: the node did not send it."""
    return None if tx_hash == NO_HASH else Hash32("0x" + tx_hash.hex())


def _decode(group: LogGroup, form: _Form) -> Iterator[_Withdrawn]:
    """Yield the logs of the event's shape that took something out."""
    event = form.event
    if group.shape.topics != event.topics or group.shape.data_size != event.words * WORD_BYTES:
        return
    emitters = encode_hex(group.address)
    for at, emitter in enumerate(emitters):
        values = {name: _value(group, event, name, at) for name in event.places}
        change = values.get("change")
        if change is not None and change < _SIGN_BIT:
            continue  # liquidity was added
        amounts = values.get("amount0"), values.get("amount1")
        if amounts == (0, 0):
            continue  # only fees were settled
        key = values.get("pool_id")
        yield _Withdrawn(
            pool_key=HexBytes(emitter if key is None else f"0x{key:064x}"),
            kinds=form.kinds,
            block_number=int(group.block_number[at]),
            log_index=int(group.log_index[at]),
            tx_hash=_hash_of(group.tx_hash[at].tobytes()),
            amount0_raw=None if amounts[0] is None else RawAmount(amounts[0]),
            amount1_raw=None if amounts[1] is None else RawAmount(amounts[1]),
        )


def _value(group: LogGroup, event: EventForm, name: str, at: int) -> int:
    place = event.places[name]
    if place.source == "topic":
        return int.from_bytes(group.topics[at, place.index - 1].tobytes())
    start = place.index * WORD_BYTES
    return int.from_bytes(group.data[at, start : start + WORD_BYTES].tobytes())
