"""First trades and transfers of tokens, from followed blocks and fetched histories."""

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from config.facts.chain import Chain
from core.evm.primitives import Hash32
from core.process.arrays import BoolArray
from core.report.launch_facts import MOST_EARLY, EarlyTradeRow, EarlyTransferRow
from indexer.chain_tokens import ChainTokens
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, NO_HASH, LogColumns
from indexer.decode.transfer_events import PLAIN_TRANSFER, TransferColumns
from indexer.event_rows import transfer_rows
from indexer.events import Reading, SpanWrite
from indexer.traders import TokenTrade
from sql.chain.early_tables import (
    EARLY_S,
    EARLY_SUBJECT,
    YOUNG_S,
    EarlyState,
    insert_early_trades,
    insert_early_transfers,
    read_early_states,
    read_pool_contracts,
    trim_early_transfers,
)
from sql.chain.pool_tables import find_coverage_start, find_newest_coverage
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.table_rows import TokenRow, TransferRow


class _Token(NamedTuple):
    token_id: int
    first_seen_block: int
    address: bytes


class EarlyEvents:
    """First trades and transfers of tokens, and later trades of the accounts in them.

    Takes what other kinds have decoded of the same span, so it is stored after them.
    """

    name = "early"
    topics: tuple[Hash32, ...] = ()
    reading: Reading = "followed"
    subjects: tuple[str, ...] = (EARLY_SUBJECT,)

    def __init__(self, chain: Chain, tokens: ChainTokens) -> None:
        self._chain = chain
        self._tokens = tokens
        self._young_blocks = chain.blocks_in(YOUNG_S)
        self._keepers = _pool_keepers(chain)

    def store(self, write: SpanWrite) -> int:
        """Store the events of a followed span; do nothing for old blocks."""
        if not write.is_followed:
            return 0
        since = find_coverage_start(
            write.tx, chain_id=self._chain.id, subject=EARLY_SUBJECT, first=write.span.first
        )
        return self._store_trades(write, since) + self._store_transfers(write, since)

    def _store_trades(self, write: SpanWrite, since: int) -> int:
        tokens = self._known([trade.token for trade in write.token_trades])
        rows = [
            (tokens[trade.token], _trade_row(trade, tokens[trade.token].token_id))
            for trade in write.token_trades
            if trade.token in tokens and tokens[trade.token].first_seen_block >= since
        ]
        young = [token for token, row in rows if self._is_young(token, row.block_number)]
        states = read_early_states(write.tx, list({token.token_id for token in young}))
        early: list[EarlyTradeRow] = []
        others: list[EarlyTradeRow] = []
        rooms = {token_id: _Room(state) for token_id, state in states.items()}
        for token, row in sorted(rows, key=lambda each: (each[1].block_number, each[1].log_index)):
            is_early = self._is_young(token, row.block_number) and rooms[token.token_id].take(row)
            (early if is_early else others).append(row)
        return insert_early_trades(write.tx, early, others, chain_id=self._chain.id)

    def _store_transfers(self, write: SpanWrite, since: int) -> int:
        if write.found is None:
            return 0
        transfers, token_ids = write.found.transfers, write.found.token_ids
        first = np.unique(token_ids, return_index=True)[1]
        tokens = self._known(keys_of(transfers.token[first]))
        young = {
            token.token_id: token
            for token in tokens.values()
            if token.first_seen_block >= since and self._is_young(token, write.span.first)
        }
        if not young:
            return 0
        states = read_early_states(write.tx, list(young))
        open_ids = [one for one, state in states.items() if state.transfers < MOST_EARLY]
        at = np.flatnonzero(np.isin(token_ids, open_ids) & _moves_some(transfers))
        if not at.size:
            return 0
        some = transfers.take(at)
        addresses = [young[token_id].address for token_id in open_ids]
        pools = read_pool_contracts(write.tx, chain_id=self._chain.id, tokens=addresses)
        rows = _early_rows(
            transfer_rows(some, token_ids[at]), write.span.logs, known_block=write.span.last
        )
        swapped = {trade.tx_hash for trade in write.token_trades}
        left = {token_id: MOST_EARLY - states[token_id].transfers for token_id in open_ids}
        kept = []
        for row, time_s in zip(rows, some.time_s.tolist(), strict=True):
            first_s = states[row.token_id].first_time_s
            is_late = first_s is not None and time_s > first_s + EARLY_S
            token = young[row.token_id].address
            holders = pools[token] | self._keepers
            is_sale = row.recipient in holders and row.tx_hash in swapped
            if is_late or is_sale or not left[row.token_id]:
                continue
            if _is_outside(row, token, holders):
                left[row.token_id] -= 1
                kept.append(row)
        return insert_early_transfers(write.tx, kept, chain_id=self._chain.id)

    def _is_young(self, token: _Token, block_number: int) -> bool:
        return block_number - token.first_seen_block <= self._young_blocks

    def _known(self, addresses: Sequence[bytes]) -> dict[bytes, _Token]:
        """Return the tracked tokens among these, by address."""
        wanted = list(dict.fromkeys(addresses))
        if not wanted:
            return {}
        column = np.frombuffer(b"".join(wanted), np.uint8).reshape(-1, ADDRESS_BYTES)
        found = self._tokens.find(column)
        pairs = zip(wanted, found.token_id.tolist(), found.first_seen_block.tolist(), strict=True)
        return {
            address: _Token(token_id, first_seen, address)
            for address, token_id, first_seen in pairs
            if token_id >= 0
        }


class _Room:
    """Room for further early trades of one token."""

    def __init__(self, state: EarlyState) -> None:
        self._left = MOST_EARLY - state.trades
        self._first_s = state.first_time_s

    def take(self, row: EarlyTradeRow) -> bool:
        """True if a trade, the next one in chain order, is early."""
        if self._first_s is None:
            self._first_s = row.time_s
        if self._left <= 0 or row.time_s > self._first_s + EARLY_S:
            return False
        self._left -= 1
        return True


def store_old_transfers(
    tx: Transaction,
    rows: Iterable[TransferRow],
    logs: LogColumns,
    *,
    chain: Chain,
    token: TokenRow,
    known_block: int,
) -> None:
    """Store the first of a token's transfers that were fetched from before its first pool, if that
    pool was followed. `rows`: in chain order. Raises StoreError."""
    covered = find_newest_coverage(tx, chain_id=chain.id, subject=EARLY_SUBJECT)
    if covered is None or token.first_seen_block < covered.from_block:
        return
    address = blob(token.address)
    pools = read_pool_contracts(tx, chain_id=chain.id, tokens=[address])[address]
    holders = pools | _pool_keepers(chain)
    first = [row for row in rows if row.amount_raw and _is_outside(row, address, holders)]
    del first[MOST_EARLY:]
    early = _early_rows(first, logs, known_block=known_block)
    insert_early_transfers(tx, early, chain_id=chain.id)
    trim_early_transfers(tx, token_id=token.token_id)


def _is_outside(row: TransferRow | EarlyTransferRow, token: bytes, pools: Container[bytes]) -> bool:
    """False for what pools pay out, which trades show, and for fees that the token collects."""
    return row.sender not in pools and token not in (row.sender, row.recipient)


def _pool_keepers(chain: Chain) -> frozenset[bytes]:
    """Return the contracts that hold the tokens of many pools."""
    return frozenset(blob(dex.vault) for dex in chain.dexes if dex.vault)


def _early_rows(
    transfers: Sequence[TransferRow], logs: LogColumns, *, known_block: int
) -> list[EarlyTransferRow]:
    """Return transfers with their transactions, which the logs name."""
    places = [(row.block_number, row.log_index) for row in transfers]
    hashes = logs.hashes_at(places, shape=PLAIN_TRANSFER)
    return [
        EarlyTransferRow(
            block_number=row.block_number,
            log_index=row.log_index,
            token_id=row.token_id,
            sender=row.sender,
            recipient=row.recipient,
            amount_raw=row.amount_raw,
            tx_hash=hashes.get((row.block_number, row.log_index), NO_HASH),
            known_block=known_block,
        )
        for row in transfers
    ]


def _moves_some(transfers: TransferColumns) -> BoolArray:
    """False for transfers of nothing, which anybody can send in the name of others."""
    some: BoolArray = (transfers.amount != 0).any(axis=1)
    return some


def _trade_row(trade: TokenTrade, token_id: int) -> EarlyTradeRow:
    return EarlyTradeRow(
        block_number=trade.block_number,
        log_index=trade.log_index,
        time_s=trade.time_s,
        token_id=token_id,
        is_sale=trade.is_sale,
        trader=trade.trader,
        tx_hash=trade.tx_hash,
        amount=trade.amount,
    )
