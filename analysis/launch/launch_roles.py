"""Roles of the accounts around a token's launch, from stored trades and transfers. Pure.

A role is a fact with its transaction, and no accusation: an account that bought in the first block
alone is an early buyer and nothing else. docs/use/launch.md has the definitions in words,
`v_launch_wallets` in SQL.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from config.burn import BURN_ADDRESSES
from config.settings import LaunchSettings
from core.report.launch_facts import (
    MOST_OF_ACCOUNT,
    EarlyTradeRow,
    EarlyTransferRow,
    LaunchRecord,
)

LaunchRole = Literal["developer", "insider", "bundle", "sniper", "early_buyer"]
"""developer: created the token. insider: received tokens from the developer, over at most
MOST_LINKS transfers. bundle: bought together with others. sniper: bought early, and much.
early_buyer: bought early."""

ROLES: Final[tuple[LaunchRole, ...]] = ("developer", "insider", "bundle", "sniper", "early_buyer")
ACCUSED: Final[frozenset[LaunchRole]] = frozenset(ROLES) - {"early_buyer"}
"""Roles whose holdings count together."""

BundleKind = Literal["one_transaction", "one_block", "one_funder"]

MOST_LINKS: Final = 3
"""Transfers between the developer and an insider."""

MOST_FUNDED: Final = 50
"""Looked-up accounts of one funder above which it is an exchange or a faucet, and links nobody."""

_Key = TypeVar("_Key", bytes, int)
_NOBODY: Final = bytes(20)
_BURNT: Final = frozenset(bytes.fromhex(one[2:]) for one in BURN_ADDRESSES) | {_NOBODY}


class Purchase(msgspec.Struct, frozen=True, kw_only=True):
    """One purchase for one account."""

    wallet: bytes
    block_number: int
    log_index: int
    time_s: int
    tx_hash: bytes
    amount: int
    """Smallest units of the token."""


_Row = TypeVar("_Row", Purchase, EarlyTradeRow, EarlyTransferRow)


class RoleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Reason for a role, with its transaction."""

    role: LaunchRole
    tx_hash: bytes | None
    """None: there is none, as for a developer whose creation was not looked up."""
    block_number: int | None
    source: bytes | None = None
    """Sender of an insider's tokens, or the funder of a bundle."""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Early buyers that bought together."""

    kind: BundleKind
    wallets: tuple[bytes, ...]
    """In the order of their purchases."""
    block_number: int
    """Block of the first purchase."""
    tx_hash: bytes | None
    """Transaction of all purchases. None: there are several."""
    funder: bytes | None
    """Source of the first coins of all. None: they are not linked by it."""


class LaunchWallet(msgspec.Struct, frozen=True, kw_only=True):
    """One account with a role. Amounts in smallest units."""

    wallet: bytes
    entries: tuple[RoleEntry, ...]
    """One of each role, the gravest first."""
    bought: int
    received: int
    sold: int
    sales: int
    is_sold_whole: bool
    """False: further sales may be missing, so that `sold` is a lower bound."""
    last_sale_tx: bytes | None
    now: int | None
    """None: not known."""
    peak: int | None
    """Most that it is known to have held. None: not known."""

    @property
    def roles(self) -> tuple[LaunchRole, ...]:
        """Return the roles, the gravest first."""
        return tuple(entry.role for entry in self.entries)


class GroupSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over some accounts. Amounts in smallest units; None: one of them is not known."""

    wallets: int
    bought: int
    sold: int
    is_sold_whole: bool
    now: int | None
    peak: int | None
    """Most that they are known to have held together at one time."""


class LaunchFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Accounts around a launch."""

    first: Purchase | EarlyTradeRow | None
    """First trade. None: not known."""
    wallets: tuple[LaunchWallet, ...]
    """The gravest role first, then by the largest known holding."""
    bundles: tuple[Bundle, ...]
    groups: Mapping[LaunchRole, GroupSums | None]
    """None: not known, as the first trade, or the developer, is not."""
    together: GroupSums
    """All accounts with another role than early buyer."""
    unknown_traders: int
    """Early trades whose trader the logs do not name."""


def find_launch(
    record: LaunchRecord, settings: LaunchSettings, *, supply_raw: int
) -> LaunchFindings:
    """Return the roles. `supply_raw`: the token's supply in smallest units."""
    return _Launch(record, settings, supply_raw).findings()


class _Launch:
    """Computation of one launch."""

    def __init__(self, record: LaunchRecord, settings: LaunchSettings, supply_raw: int) -> None:
        self._record = record
        self._settings = settings
        self._supply_raw = supply_raw
        self._first = record.trades[0] if record.unknown is None and record.trades else None
        self._excluded = record.not_holders | _BURNT | {record.token}
        self._swaps = {row.tx_hash for row in record.trades}
        self._purchases = [one for one in _purchases(record) if one.wallet not in self._excluded]
        self._entries: defaultdict[bytes, dict[LaunchRole, RoleEntry]] = defaultdict(dict)
        self._bundles: list[Bundle] = []
        self._bought = _grouped((one.wallet, one) for one in self._purchases)
        self._trades = _grouped(
            (row.trader, row) for row in record.trades if row.trader is not None
        )
        self._receipts = _grouped((row.recipient, row) for row in record.transfers)

    def findings(self) -> LaunchFindings:
        """Return the roles of all accounts."""
        self._add_developer()
        self._add_insiders()
        early = self._early()
        for one in early:
            self._put(one.wallet, "early_buyer", one)
        self._add_bundles(early)
        self._add_snipers(early)
        moves = self._moves()
        peaks = _peaks(moves)
        wallets = sorted(
            (self._wallet(account, peaks.get(account, 0)) for account in self._entries),
            key=lambda one: (ROLES.index(one.roles[0]), -(one.peak or 0), one.wallet),
        )
        is_traded = self._first is not None
        is_linked = self._record.creator is not None
        return LaunchFindings(
            first=self._first,
            wallets=tuple(wallets),
            bundles=tuple(self._bundles),
            groups={
                role: self._sums([one for one in wallets if role in one.roles], moves)
                if (is_linked if role in ("developer", "insider") else is_traded)
                else None
                for role in ROLES
            },
            together=self._sums([one for one in wallets if ACCUSED & set(one.roles)], moves),
            unknown_traders=sum(row.trader is None for row in self._record.trades),
        )

    def _put(
        self,
        wallet: bytes,
        role: LaunchRole,
        at: Purchase | EarlyTransferRow,
        source: bytes | None = None,
    ) -> None:
        entry = RoleEntry(
            role=role, tx_hash=at.tx_hash, block_number=at.block_number, source=source
        )
        self._entries[wallet].setdefault(role, entry)

    # --- roles ---------------------------------------------------------------------------------

    def _add_developer(self) -> None:
        creator = self._record.creator
        if creator is None or creator in self._excluded:
            return
        entry = RoleEntry(
            role="developer",
            tx_hash=self._record.creation_tx,
            block_number=self._record.creation_block,
        )
        self._entries[creator]["developer"] = entry

    def _add_insiders(self) -> None:
        """Follow transfers from the developer, and of what was made with the token."""
        creator = self._record.creator
        if creator is None:
            return
        links = {creator: 0}
        net = self._net_of_transactions()
        for row in self._record.transfers:
            if row.tx_hash in self._swaps:
                continue
            is_made = row.sender == _NOBODY and self._is_creation(row)
            distance = 0 if is_made else links.get(row.sender)
            if distance is None or distance >= MOST_LINKS or row.recipient in self._excluded:
                continue
            links[row.recipient] = min(links.get(row.recipient, MOST_LINKS), distance + 1)
            if row.recipient != creator and net[row.tx_hash, row.recipient] > 0:
                self._put(row.recipient, "insider", row, source=row.sender)

    def _is_creation(self, row: EarlyTransferRow) -> bool:
        """True if tokens were made by the token's creation, or before its first trade."""
        if self._record.creation_tx is not None:
            return row.tx_hash == self._record.creation_tx
        return self._first is not None and row.block_number < self._first.block_number

    def _net_of_transactions(self) -> Mapping[tuple[bytes, bytes], int]:
        """Return what each account kept of each transaction."""
        net: defaultdict[tuple[bytes, bytes], int] = defaultdict(int)
        for row in self._record.transfers:
            net[row.tx_hash, row.recipient] += row.amount_raw
            net[row.tx_hash, row.sender] -= row.amount_raw
        return net

    def _early(self) -> list[Purchase]:
        """Return the purchases in the first blocks or seconds, in order."""
        first = self._first
        if first is None:
            return []
        return [
            one
            for one in self._purchases
            if one.block_number < first.block_number + self._settings.early_blocks
            or one.time_s <= first.time_s + self._settings.early_s
        ]

    def _add_bundles(self, early: Sequence[Purchase]) -> None:
        creator = self._record.creator
        others = [one for one in early if one.wallet != creator]
        by_tx = _grouped((one.tx_hash, one) for one in others)
        for tx_hash, own in by_tx.items():
            self._bundle("one_transaction", own, self._settings.linked_wallets, tx_hash=tx_hash)
        by_block = _grouped((one.block_number, one) for one in others)
        for own in by_block.values():
            self._bundle("one_block", own, self._settings.bundle_wallets)
        by_funder = _grouped(
            (bytes.fromhex(fact.funder[2:]), one)
            for one in others
            if (fact := self._record.funders.get(one.wallet)) is not None
            and fact.funder is not None
            and fact.accounts <= MOST_FUNDED
        )
        for funder, own in by_funder.items():
            self._bundle("one_funder", own, self._settings.linked_wallets, funder=funder)

    def _bundle(
        self,
        kind: BundleKind,
        purchases: Sequence[Purchase],
        least: int,
        *,
        tx_hash: bytes | None = None,
        funder: bytes | None = None,
    ) -> None:
        wallets = tuple(dict.fromkeys(one.wallet for one in purchases))
        if len(wallets) < least:
            return
        for one in purchases:
            self._put(one.wallet, "bundle", one, source=funder)
        self._bundles.append(
            Bundle(
                kind=kind,
                wallets=wallets,
                block_number=purchases[0].block_number,
                tx_hash=tx_hash,
                funder=funder,
            )
        )

    def _add_snipers(self, early: Sequence[Purchase]) -> None:
        amounts: defaultdict[bytes, int] = defaultdict(int)
        for one in early:
            amounts[one.wallet] += one.amount
        least = self._supply_raw * self._settings.sniper_supply_pct / 100
        for one in early:
            if self._supply_raw > 0 and amounts[one.wallet] >= least:
                self._put(one.wallet, "sniper", one)

    # --- holdings ------------------------------------------------------------------------------

    def _moves(self) -> list[tuple[bytes, int]]:
        """Return the changes of balances, in chain order: what came in is positive."""
        moves: list[tuple[tuple[int, int, int], bytes, int]] = []
        for row in self._record.transfers:
            # Trades show what the transfers of their transactions do.
            if row.tx_hash not in self._swaps:
                moves.append(((row.block_number, row.log_index, 0), row.sender, -row.amount_raw))
                moves.append(((row.block_number, row.log_index, 1), row.recipient, row.amount_raw))
        for one in self._purchases:
            moves.append(((one.block_number, one.log_index, 1), one.wallet, one.amount))
        for trade in self._record.trades:
            if trade.is_sale and trade.trader is not None:
                place = (trade.block_number, trade.log_index, 0)
                moves.append((place, trade.trader, -int(trade.amount)))
        moves.sort(key=lambda each: each[0])
        return [(wallet, change) for _, wallet, change in moves]

    def _wallet(self, account: bytes, peak: int) -> LaunchWallet:
        entries, now = self._entries[account], self._now(account)
        sales = [row for row in self._trades.get(account, ()) if row.is_sale]
        return LaunchWallet(
            wallet=account,
            entries=tuple(entries[role] for role in ROLES if role in entries),
            bought=sum(one.amount for one in self._bought.get(account, ())),
            received=sum(
                row.amount_raw
                for row in self._receipts.get(account, ())
                if row.tx_hash not in self._swaps
            ),
            sold=sum(int(row.amount) for row in sales),
            sales=len(sales),
            is_sold_whole=self._is_sold_whole(account),
            last_sale_tx=sales[-1].tx_hash if sales else None,
            now=now,
            peak=max(peak, now or 0) if self._knows_all_of(account) else None,
        )

    def _now(self, account: bytes) -> int | None:
        """Return the balance. None: transfers are missing that may have changed it."""
        balances = self._record.balances
        if balances is None or not self._knows_all_of(account):
            return None
        now = balances.get(account)
        return None if now is None or now < 0 else now

    def _knows_all_of(self, account: bytes) -> bool:
        """True if no transfer of the account is missing: buyers have none before the first pool."""
        linked = {"developer", "insider"} & self._entries[account].keys()
        return self._record.is_history_whole or not linked

    def _is_sold_whole(self, account: bytes) -> bool:
        if self._first is None or len(self._trades.get(account, ())) >= MOST_OF_ACCOUNT:
            return False
        if account in self._bought:
            return True
        known = [row.known_block for row in self._receipts.get(account, ())]
        return bool(known) and min(known) <= self._record.complete_to

    def _sums(
        self, wallets: Sequence[LaunchWallet], moves: Sequence[tuple[bytes, int]]
    ) -> GroupSums:
        now = _sum_known(one.now for one in wallets)
        accounts = {one.wallet for one in wallets}
        is_known = all(one.peak is not None for one in wallets)
        together = ((b"", change) for wallet, change in moves if wallet in accounts)
        return GroupSums(
            wallets=len(wallets),
            bought=sum(one.bought for one in wallets),
            sold=sum(one.sold for one in wallets),
            is_sold_whole=all(one.is_sold_whole for one in wallets),
            now=now,
            peak=max(_peaks(together).get(b"", 0), now or 0) if is_known else None,
        )


def _peaks(moves: Iterable[tuple[bytes, int]]) -> dict[bytes, int]:
    """Return the largest sum of changes that each account reaches."""
    balances: defaultdict[bytes, int] = defaultdict(int)
    most: dict[bytes, int] = {}
    for wallet, change in moves:
        balances[wallet] += change
        most[wallet] = max(most.get(wallet, 0), balances[wallet])
    return most


def _purchases(record: LaunchRecord) -> list[Purchase]:
    """Return the purchases in chain order. Where the logs name no single buyer, as of a contract
    that buys for several, the recipients that keep tokens of the transaction are."""
    kept: defaultdict[bytes, dict[bytes, int]] = defaultdict(dict)
    senders = {(row.tx_hash, row.sender) for row in record.transfers}
    for row in record.transfers:
        if (row.tx_hash, row.recipient) not in senders:
            own = kept[row.tx_hash]
            own[row.recipient] = own.get(row.recipient, 0) + row.amount_raw
    found: list[Purchase] = []
    for trade in record.trades:
        if trade.is_sale:
            continue
        if trade.trader is not None:
            found.append(_purchase(trade, trade.trader, int(trade.amount)))
        else:
            recipients = kept.pop(trade.tx_hash, {})
            found += [_purchase(trade, one, amount) for one, amount in recipients.items()]
    return found


def _purchase(trade: EarlyTradeRow, wallet: bytes, amount: int) -> Purchase:
    return Purchase(
        wallet=wallet,
        block_number=trade.block_number,
        log_index=trade.log_index,
        time_s=trade.time_s,
        tx_hash=trade.tx_hash,
        amount=amount,
    )


def _grouped(pairs: Iterable[tuple[_Key, _Row]]) -> dict[_Key, list[_Row]]:
    groups: dict[_Key, list[_Row]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return groups


def _sum_known(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
