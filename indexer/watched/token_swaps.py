"""Swaps of one token in one transaction, from the token's side. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from config.chains import Chain
from config.pool_families import FAMILY_OF
from core.evm.primitives import Address, Hash32
from indexer.decode.swap_transactions import SwapTransaction, TokenMove
from sql.engine.columns import blob

_EQUAL_SHARE = 1e-9
"""Amounts of events are floats, of moves whole."""


class TradeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What trades of one chain are read by, beside their logs. Addresses are 20 bytes."""

    vaults: Mapping[bytes, bytes] = {}
    """Who holds the tokens of pools that are entries of a contract, by that contract, where it is
    another one."""
    ordering: frozenset[str] = frozenset()
    """Names of exchanges with pools that tell what was ordered, whatever arrived of it."""


def trade_facts(chain: Chain) -> TradeFacts:
    """Return the facts of a chain."""
    return TradeFacts(
        vaults={blob(dex.factory): blob(dex.vault) for dex in chain.dexes if dex.vault},
        ordering=frozenset(
            dex.name for dex in chain.dexes if _books_orders(dex.kind, variant=dex.variant)
        ),
    )


def _books_orders(kind: str, *, variant: str | None) -> bool:
    some = FAMILY_OF[kind].books_orders
    return some if isinstance(some, bool) else variant in some


class ReportedPool(Protocol):
    """A pool in a report, as far as its trades are read by it."""

    @property
    def pool(self) -> Address:
        """The pool's contract, or the one that all pools are entries of."""
        ...

    @property
    def pool_id(self) -> Hash32 | None:
        """None: the pool is a contract, and the first two of its coins."""
        ...

    @property
    def kind(self) -> str:
        """Its family."""
        ...

    @property
    def dex(self) -> str:
        """Name of the exchange."""
        ...

    @property
    def quote(self) -> Address:
        """The pool's other token."""
        ...

    @property
    def token0(self) -> Address | None:
        """None: the index does not have the pool."""
        ...

    @property
    def hooks(self) -> Address | None:
        """None: there are none, or the index does not have the pool."""
        ...


def pool_key(pool: ReportedPool) -> bytes:
    """Return the key by which swaps name a pool."""
    return blob(pool.pool_id or pool.pool)


class TokenSwap(msgspec.Struct, frozen=True, kw_only=True):
    """One trade of the token in a pool: a Swap event, or one for each bin that it went through."""

    log_index: int
    """Of the last of its events."""
    first_log: int
    """Log index of the first of them."""
    pool: bytes
    """Key of the pool."""
    holder: bytes
    """Who holds the pool's tokens."""
    is_shared: bool = False
    """True if the holder has the tokens of other pools, too."""
    recipient: bytes | None
    """To whom the pool was asked to send what it paid out. None: the event does not say."""
    payer: bytes | None = None
    """Who paid the other token. None: not known, or several did."""
    token_in: float
    """Tokens that the pool received, less those that it paid out: below 0 for a purchase."""
    may_be_hooked: bool = False
    """True if a hook may take part of the trade, in either token."""
    is_order: bool = False
    """True if what the pool says to have received may be what was ordered."""

    @property
    def has_no_place(self) -> bool:
        """True if tokens may move before the event or after it: a vault is settled with at the end,
        and some pools that book orders pull the payment last."""
        return self.is_shared or self.is_order


class TokenLogs(msgspec.Struct, frozen=True, kw_only=True):
    """What one transaction did with one token, in order of the logs."""

    token: bytes
    moves: Sequence[TokenMove]
    swaps: Sequence[TokenSwap]
    swapped: frozenset[bytes]
    """All contracts that emitted a Swap event in it, pools of other tokens included."""
    others: frozenset[bytes] = frozenset()
    """Of `swapped`, those that are not among the token's reported pools."""
    has_other_entries: bool = False
    """True if pools that are entries of one contract swapped in it, and are not among the token's
    reported ones: they may be of the token all the same."""


def token_logs(
    transaction: SwapTransaction,
    token: bytes,
    pools: Mapping[bytes, ReportedPool],
    facts: TradeFacts,
) -> TokenLogs:
    """Return what a transaction did with a token. `pools`: its reported ones, by key."""
    own = {blob(pool.pool) for pool in pools.values()}
    return TokenLogs(
        token=token,
        moves=sorted(transaction.moves.get(token, ()), key=lambda move: move.log_index),
        swaps=_whole_trades(_swaps(transaction, token, pools, facts)),
        swapped=frozenset(transaction.swapped),
        others=frozenset(transaction.swapped - own),
        has_other_entries=bool(transaction.entries - pools.keys()),
    )


def is_all_of_holder(logs: TokenLogs, swap: TokenSwap) -> bool:
    """True if the holder received, or paid out, just what this swap says."""
    received = sum(one.amount_raw for one in logs.moves if one.recipient == swap.holder)
    sent = sum(one.amount_raw for one in logs.moves if one.sender == swap.holder)
    return math.isclose(float(received - sent), swap.token_in, rel_tol=_EQUAL_SHARE)


def _swaps(
    transaction: SwapTransaction,
    token: bytes,
    pools: Mapping[bytes, ReportedPool],
    facts: TradeFacts,
) -> Iterator[TokenSwap]:
    """Yield the Swap events of the token's pools, by log index; those whose sides are not known are
    left out."""
    for log_index, event in sorted(transaction.swaps.items()):
        pool = pools.get(event.pool)
        side = None if pool is None else _side(token, pool)
        if pool is None or side is None:
            continue
        keeper = blob(pool.pool)
        holder = facts.vaults.get(keeper, keeper)
        is_shared = not event.pool.startswith(keeper)
        yield TokenSwap(
            log_index=log_index,
            first_log=log_index,
            pool=event.pool,
            holder=holder,
            is_shared=is_shared,
            recipient=event.recipient,
            payer=event.payer or _payer(transaction, blob(pool.quote), holder),
            token_in=event.amounts[side],
            may_be_hooked=_may_be_hooked(pool),
            is_order=pool.dex in facts.ordering,
        )


def _side(token: bytes, pool: ReportedPool) -> int | None:
    """Return the token's place in the pool. None: not known."""
    if FAMILY_OF[pool.kind].sorts_tokens:
        return 0 if token < blob(pool.quote) else 1
    if pool.token0 is None:
        return None
    return 0 if token == blob(pool.token0) else 1


def _may_be_hooked(pool: ReportedPool) -> bool:
    family = FAMILY_OF[pool.kind]
    is_told = pool.token0 is not None and not family.may_have_hooks
    return family.has_hooks and (not is_told or pool.hooks is not None)


def _payer(transaction: SwapTransaction, quote: bytes, holder: bytes) -> bytes | None:
    moves = transaction.moves.get(quote, ())
    senders = {move.sender for move in moves if move.recipient == holder}
    return senders.pop() if len(senders) == 1 else None


def _whole_trades(swaps: Iterator[TokenSwap]) -> list[TokenSwap]:
    """Return events of a pool without another log between them, in the same direction and for the
    same recipient, as one: a trade through several bins."""
    found: list[TokenSwap] = []
    for swap in swaps:
        last = found[-1] if found else None
        if last is not None and _goes_on(last, swap):
            found[-1] = msgspec.structs.replace(
                swap, first_log=last.first_log, token_in=last.token_in + swap.token_in
            )
        else:
            found.append(swap)
    return found


def _goes_on(last: TokenSwap, swap: TokenSwap) -> bool:
    return (
        (swap.pool, swap.recipient, swap.log_index)
        == (last.pool, last.recipient, last.log_index + 1)
    ) and (swap.token_in > 0) == (last.token_in > 0)
