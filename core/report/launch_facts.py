"""Stored facts of a token's launch: first trades and transfers, balances and funders."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from core.evm.primitives import Address, RawAmount
from core.report.rows import Row

MOST_EARLY: Final = 200
"""First trades, and first transfers, of one token that are stored."""

MOST_OF_ACCOUNT: Final = 40
"""Later trades of one account and token that are stored."""

LaunchGap = Literal["not_tracked", "before_index", "forgotten", "on_curve", "not_traded"]
"""Why the start of trading is not known. not_tracked: the token is not indexed. before_index: its
first pool is older than the index of early events. forgotten: older than they are kept. on_curve:
it was sold on the curve of a launch platform first. not_traded: no trade in a pool with a quote
token within a week of the first pool."""


class EarlyTradeRow(Row, frozen=True, kw_only=True, gc=False):
    """One trade of a token near its first one, or a later one of an early account."""

    block_number: int
    log_index: int
    time_s: int
    """Time of the block, Unix seconds."""
    token_id: int
    is_sale: bool
    trader: bytes | None
    """20 bytes. None: the logs name none, or several."""
    tx_hash: bytes
    """32 bytes."""
    amount: float
    """Smallest units of the token that the pool received or paid out."""


class EarlyTransferRow(Row, frozen=True, kw_only=True, gc=False):
    """One of the first transfers of a token that its pools do not send."""

    block_number: int
    log_index: int
    token_id: int
    sender: bytes
    """20 bytes; zero where tokens were made."""
    recipient: bytes
    amount_raw: RawAmount
    tx_hash: bytes
    """32 bytes."""
    known_block: int
    """Newest block when it was stored. Trades of the recipient count from here on."""


class BuyerFunder(msgspec.Struct, frozen=True, kw_only=True):
    """Source of the first coins of an early buyer."""

    funder: Address | None
    """None: the block does not show it."""
    accounts: int
    """Looked-up accounts that it funded, up to one above 200."""


class LaunchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Stored facts of one launch. Addresses are 20 bytes."""

    token: bytes
    up_to_block: int
    """Newest stored block."""
    unknown: LaunchGap | None
    """None: the first trade is known."""
    creator: bytes | None
    """None: not known yet."""
    creation_tx: bytes | None
    """None: not looked up yet."""
    creation_block: int | None
    trades: Sequence[EarlyTradeRow]
    transfers: Sequence[EarlyTransferRow]
    has_more_trades: bool
    """True if trades of the first minutes are missing, as there were too many."""
    has_more_transfers: bool
    complete_to: int
    """Last block up to which the trades of all accounts are stored."""
    is_history_whole: bool
    """True if all transfers of the token ever are stored."""
    not_holders: frozenset[bytes]
    """Pools, platforms and lockers."""
    balances: Mapping[bytes, int] | None
    """Balances of all accounts in trades and transfers, smallest units. None: too many of the
    token's transfers are not final yet."""
    funders: Mapping[bytes, BuyerFunder]
    """Funders of early buyers, by account. One without an entry was not looked up."""
