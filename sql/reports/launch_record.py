"""Stored facts of a token's launch: first trades and transfers, balances and funders.

Reads a bounded number of rows, however many transfers and holders the token has.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Address
from core.report.launch_facts import (
    MOST_EARLY,
    BuyerFunder,
    EarlyTradeRow,
    LaunchGap,
    LaunchRecord,
)
from sql.chain.balances import read_balances
from sql.chain.blocks import FOLLOW, read_checkpoint
from sql.chain.early_tables import (
    EARLY_S,
    EARLY_SUBJECT,
    YOUNG_S,
    read_early_trades,
    read_early_transfers,
    read_pool_contracts,
)
from sql.chain.history_tables import read_history
from sql.chain.launch_tables import list_launches
from sql.chain.pool_tables import find_first_pool_block, find_newest_coverage
from sql.engine.columns import blob
from sql.engine.database import Reader
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.tokens.creator_tables import read_creator
from sql.tokens.funder_tables import count_funded, read_funder
from sql.tokens.task_queue import add_task
from sql.tokens.tokens import read_token

MOST_FUNDERS: Final = 20
"""First buyers whose funders are read."""

_SURE_SHARE: Final = 0.5


def read_launch(
    store: Store, chain: Chain, token: Address, *, kept_s: float, creator: Address | None
) -> LaunchRecord:
    """Return the facts of a launch, all of one moment.

    `kept_s`: seconds for which early events are kept. `creator`: as in the token's report. Raises
    StoreError.
    """
    with store.snapshot() as reader:
        tracked = read_token(reader, chain_id=chain.id, address=token)
        if tracked is None:
            return _not_tracked(token)
        return _Reading(reader, chain, tracked).record(kept_s=kept_s, creator=creator)


def _not_tracked(token: Address) -> LaunchRecord:
    return LaunchRecord(
        token=blob(token),
        up_to_block=0,
        unknown="not_tracked",
        creator=None,
        creation_tx=None,
        creation_block=None,
        trades=(),
        transfers=(),
        has_more_trades=False,
        has_more_transfers=False,
        complete_to=0,
        is_history_whole=False,
        not_holders=frozenset(),
        balances=None,
        funders={},
    )


class _Reading:
    """Reads of one tracked token."""

    def __init__(self, reader: Reader, chain: Chain, token: TokenRow) -> None:
        self._reader = reader
        self._chain = chain
        self._token = token
        self._launches = list_launches(reader, chain_id=chain.id, token=token.address)

    def record(self, *, kept_s: float, creator: Address | None) -> LaunchRecord:
        """Return the facts."""
        reader, token = self._reader, self._token
        newest = read_checkpoint(reader, chain_id=self._chain.id, stream=FOLLOW)
        up_to = 0 if newest is None else newest.number
        trades = read_early_trades(reader, token_id=token.token_id)
        transfers = read_early_transfers(reader, token_id=token.token_id)
        unknown = self._unknown(trades, up_to=up_to, kept_s=kept_s)
        early = _early_of(trades) if unknown is None else []
        made = read_creator(reader, chain_id=self._chain.id, token=token.address)
        creator = creator or self._launcher() or (None if made is None else made.creator)
        accounts = {row.recipient for row in transfers} | {row.sender for row in transfers}
        accounts |= {row.trader for row in trades if row.trader is not None}
        if creator is not None:
            accounts.add(blob(creator))
        tx_hash = None if made is None else made.tx_hash
        return LaunchRecord(
            token=blob(token.address),
            up_to_block=up_to,
            unknown=unknown,
            creator=None if creator is None else blob(creator),
            creation_tx=None if tx_hash is None else blob(tx_hash),
            creation_block=None if made is None or tx_hash is None else made.block_number,
            trades=trades,
            transfers=transfers,
            has_more_trades=len(early) >= MOST_EARLY,
            has_more_transfers=len(transfers) >= MOST_EARLY,
            complete_to=self._complete_to(early),
            is_history_whole=self._is_whole(),
            not_holders=self._not_holders(),
            balances=read_balances(reader, token_id=token.token_id, owners=accounts),
            funders=self._funders(early),
        )

    def _launcher(self) -> Address | None:
        return next((one.creator for one in self._launches if one.creator is not None), None)

    def _unknown(
        self, trades: Sequence[EarlyTradeRow], *, up_to: int, kept_s: float
    ) -> LaunchGap | None:
        chain = self._chain
        covered = find_newest_coverage(self._reader, chain_id=chain.id, subject=EARLY_SUBJECT)
        curves = {pad.slug for pad in chain.launchpads if pad.kind == "curve"}
        first_pool = find_first_pool_block(
            self._reader, chain_id=chain.id, token=self._token.address
        )
        seen = self._token.first_seen_block
        begin = seen if first_pool is None else min(seen, first_pool)
        if covered is None or begin < covered.from_block:
            return "before_index"
        if begin < up_to - chain.blocks_in(kept_s):
            return "forgotten"
        if any(launch.slug in curves for launch in self._launches):
            return "on_curve"
        if not trades or trades[0].block_number - seen > chain.blocks_in(YOUNG_S):
            return "not_traded"
        return None

    def _complete_to(self, early: Sequence[EarlyTradeRow]) -> int:
        if not early:
            return 0
        if len(early) >= MOST_EARLY:
            return early[-1].block_number
        # Blocks may be slower than the chain's usual ones.
        by_time = early[0].block_number + self._chain.blocks_in(EARLY_S * _SURE_SHARE)
        return max(early[-1].block_number, by_time)

    def _is_whole(self) -> bool:
        if self._token.transfers_from_block == 0:
            return True
        history = read_history(self._reader, token_id=self._token.token_id)
        return history is not None and history.is_whole

    def _not_holders(self) -> frozenset[bytes]:
        token = blob(self._token.address)
        pools = read_pool_contracts(self._reader, chain_id=self._chain.id, tokens=[token])[token]
        shared = {blob(one) for one in self._chain.custodians}
        pads = {blob(one) for pad in self._chain.launchpads for one in pad.contracts}
        return pools | shared | pads | {blob(one.emitter) for one in self._launches}

    def _funders(self, early: Sequence[EarlyTradeRow]) -> dict[bytes, BuyerFunder]:
        found: dict[bytes, BuyerFunder] = {}
        for account in _early_buyers(early):
            row = read_funder(
                self._reader, chain_id=self._chain.id, account=Address("0x" + account.hex())
            )
            if row is not None:
                accounts = (
                    0
                    if row.funder is None
                    else count_funded(self._reader, chain_id=self._chain.id, funder=row.funder)
                )
                found[account] = BuyerFunder(funder=row.funder, accounts=accounts)
        return found


class UnknownFunder(msgspec.Struct, frozen=True, kw_only=True):
    """An early buyer whose funder is not looked up yet."""

    account: Address
    bought_at: int
    """Block of its first stored purchase."""


def find_unknown_funder(store: Store, token: TokenRow) -> UnknownFunder | None:
    """Return the first early buyer whose funder is not looked up. None: there is none."""
    with store.snapshot() as reader:
        trades = read_early_trades(reader, token_id=token.token_id, at_most=MOST_EARLY)
        early = _early_of(trades)
        for account in _early_buyers(early):
            address = Address("0x" + account.hex())
            if read_funder(reader, chain_id=token.chain_id, account=address) is None:
                bought = (row.block_number for row in early if row.trader == account)
                return UnknownFunder(account=address, bought_at=next(bought))
    return None


def plan_buyer_funders(store: Store, *, chain_id: int, token: Address, now_s: int) -> None:
    """Plan the look-up of the funders of a token's first buyers. Raises StoreError."""
    with store.transaction(chain_id=chain_id) as tx:
        tracked = read_token(tx, chain_id=chain_id, address=token)
        if tracked is not None:
            add_task(tx, "buyers", token=tracked, worth=now_s, due_s=now_s)


def count_unlooked(record: LaunchRecord) -> int:
    """Return the number of early buyers whose funder is not looked up yet."""
    if record.unknown is not None:
        return 0
    return len(set(_early_buyers(_early_of(record.trades))) - record.funders.keys())


def _early_buyers(trades: Collection[EarlyTradeRow]) -> list[bytes]:
    """Return the first buyers whose funders are looked up, in order."""
    buyers = dict.fromkeys(
        row.trader for row in trades if not row.is_sale and row.trader is not None
    )
    return list(buyers)[:MOST_FUNDERS]


def _early_of(trades: Sequence[EarlyTradeRow]) -> list[EarlyTradeRow]:
    """Return the trades of the first minutes."""
    if not trades:
        return []
    return [row for row in trades if row.time_s <= trades[0].time_s + EARLY_S][:MOST_EARLY]
