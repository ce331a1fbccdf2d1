"""One round of compaction: moves rows to the lake, adds back-fills to the balances, drops old rows,
merges and deletes files.

One process at a time compacts; it may end at any moment, and the next one continues. Back-fills are
added in small steps, each one transaction that records its progress: no change is lost or added
twice.
"""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

import msgspec

from config.settings import IndexerSettings
from sql.chain.balances import BalanceWriter
from sql.engine.store import Store
from sql.lake.bulk_append import list_bulks
from sql.lake.final_batches import FinalBatches
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_file import Lake
from sql.lake.lake_place import FilePlace, LakeLock, LakePlace
from sql.lake.lake_size import LakeSize, measure_lake
from sql.lake.lake_upkeep import apply_budget, clean, drop_old_trades, merge_small_files
from sql.lake.mover import close_batch, copy_facts, count_closed, move_closed
from sql.lake.open_store import write_open_script

DELTAS_AT_ONCE: Final = 5_000
"""Changes in one chunk."""

KEY_BYTES: Final = 24

_OWNER_BITS = 160


class BalanceDelta(msgspec.Struct, frozen=True, kw_only=True):
    """Change of one balance, which may be 0."""

    key: bytes
    """Key of `balance`: the token's number in four bytes, the owner in twenty."""
    amount_raw: int
    """Exact amount in smallest units; negative if more went out than in."""


def iterate_deltas(
    lake: Lake, batch: int, *, after: bytes | None = None
) -> Iterator[list[BalanceDelta]]:
    """Yield the changes of balances by the transfers of a range, by key, in chunks.

    `after` is the last key that has been added; None: none has. Order and amounts are the same each
    time, so an interrupted run continues after its last key. Raises StoreError.
    """
    token_id, owner = _split(after)
    rows = lake.stream(
        "list_deltas",
        at_once=DELTAS_AT_ONCE,
        batch=batch,
        token_id=token_id,
        high=owner >> 128,
        mid=(owner >> 64) & (2**64 - 1),
        low=owner & (2**64 - 1),
    )
    for chunk in rows:
        yield [_delta(*row) for row in chunk]


def _split(key: bytes | None) -> tuple[int, int]:
    """Return token number and owner of a key; below all keys if it is None."""
    if key is None:
        return -1, 0
    return int.from_bytes(key[:4]), int.from_bytes(key[4:KEY_BYTES])


def _delta(*words: int) -> BalanceDelta:
    token_id, high, mid, low, word0, word1, word2, word3 = words
    key = (token_id << _OWNER_BITS | high << 128 | mid << 64 | low).to_bytes(KEY_BYTES)
    return BalanceDelta(key=key, amount_raw=word0 + (word1 << 64) + (word2 << 128) + (word3 << 192))


STEP: Final = 500
"""Balances changed in one transaction: it holds the write lock for about 10 ms."""

_TOKEN_BYTES = 4


class _Folded(msgspec.Struct, frozen=True, kw_only=True):
    batch: int
    after_key: bytes | None
    """Last key of the range that is in the balances. None: all are."""


def fold_bulks(lake: Lake, store: Store, *, step: int = STEP) -> int:
    """Add the missing changes of the lake's ranges; return the number of changed balances.

    Raises StoreError.
    """
    folded = store.fetch_one("bulks/find_folded", _Folded) or _Folded(batch=0, after_key=None)
    changed = 0
    for note in list_bulks(lake, above=folded.batch - (folded.after_key is not None)):
        after = folded.after_key if note.batch == folded.batch else None
        for deltas in iterate_deltas(lake, note.batch, after=after):
            for at in range(0, len(deltas), step):
                _add(store, note.batch, deltas[at : at + step])
            changed += len(deltas)
        with store.transaction() as tx:
            tx.execute("bulks/put_folded", batch=note.batch, after_key=None)
    return changed


def _add(store: Store, batch: int, deltas: list[BalanceDelta]) -> None:
    by_token: defaultdict[int, dict[bytes, int]] = defaultdict(dict)
    for delta in deltas:
        token_id = int.from_bytes(delta.key[:_TOKEN_BYTES])
        by_token[token_id][delta.key[_TOKEN_BYTES:]] = delta.amount_raw
    with store.transaction() as tx:
        BalanceWriter(tx).add(by_token)
        tx.execute("bulks/put_folded", batch=batch, after_key=deltas[-1].key)


_GB = 10**9


class ChainBounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one chain in the lake."""

    chain_id: int
    max_bytes: int | None = None
    """Limit of its files; the oldest transfers are dropped first. None: no limit."""
    trades_kept_s: float | None = None
    """Seconds after which trades are dropped. None: never."""


def bounds_of(chain_id: int, settings: IndexerSettings) -> ChainBounds:
    """Return the limits of a chain from the settings."""
    return ChainBounds(
        chain_id=chain_id,
        max_bytes=int(settings.lake_gb * _GB) if settings.lake_gb else None,
        trades_kept_s=settings.trades_kept_s,
    )


class CompactionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of a round."""

    chains: tuple[ChainBounds, ...]
    is_forced: bool = False
    """True: open batches are closed whatever their size and age."""


class CompactionProgress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """Progress of a round. Each row counts twice: written to the lake, and deleted from the serving
    state."""

    done: int
    total: int


class CompactionResult(msgspec.Struct, frozen=True, kw_only=True, tag="result"):
    """Result of a round."""

    moved_rows: int
    merged_files: int
    dropped: dict[int, int]
    """Block up to which transfers were dropped, by chain id."""
    lake: LakeSize
    """Size after the round."""


def compact(
    owner: LakeOwner,
    request: CompactionRequest,
    *,
    now_s: float,
    progress: Callable[[CompactionProgress], None] = lambda _: None,
) -> CompactionResult:
    """Run one round. Raises StoreError, also while another process runs one."""
    place = place_of(owner)
    spill = place.files.compaction_spill
    with (
        _alone(place) as lock,
        closing(FinalBatches.open(place, lock)) as batches,
        closing(Lake.open(place, spill=spill, lock=lock)) as lake,
    ):
        if isinstance(place, FilePlace):
            write_open_script(place.files)
        for chain in request.chains:
            close_batch(batches, lake, chain.chain_id, now_s=now_s, is_forced=request.is_forced)
        total, done = 2 * count_closed(batches), 0

        def note(rows: int) -> None:
            nonlocal done
            done += rows
            progress(CompactionProgress(done=done, total=total))

        moved = move_closed(batches, lake, now_s=int(now_s), progress=note)
        with closing(place.open_store(lock)) as store:
            fold_bulks(lake, store)
        dropped = {}
        for chain in request.chains:
            copy_facts(batches, lake, chain.chain_id)
            to_block = _bound(lake, chain, now_s)
            if to_block is not None:
                dropped[chain.chain_id] = to_block
        merged = merge_small_files(lake)
        clean(lake, now_s=now_s)
    return CompactionResult(
        moved_rows=moved,
        merged_files=merged,
        dropped=dropped,
        lake=measure_lake(place, now_s=now_s),
    )


def _bound(lake: Lake, chain: ChainBounds, now_s: float) -> int | None:
    if chain.trades_kept_s is not None:
        drop_old_trades(lake, chain.chain_id, before_s=int(now_s - chain.trades_kept_s))
    if chain.max_bytes is None:
        return None
    return apply_budget(lake, chain.chain_id, max_bytes=chain.max_bytes)


@contextmanager
def _alone(place: LakePlace) -> Iterator[LakeLock]:
    """Hold the compaction lock of a store, until this process ends at the latest."""
    spill = place.files.compaction_spill
    with place.compacting() as lock:
        # Left by a killed round.
        shutil.rmtree(spill, ignore_errors=True)
        yield lock
        shutil.rmtree(spill, ignore_errors=True)
