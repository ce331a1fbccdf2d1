"""Swaps of one token in one transaction, from the token's side. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from config.facts.chain import Chain
from config.facts.pool_family import FAMILY_OF
from core.evm.primitives import Address, Hash32
from indexer.decode.swap_transactions import SwapTransaction, TokenMove
from sql.engine.columns import blob

_EQUAL_SHARE = 1e-9
"""Relative tolerance: amounts of events are floats, those of moves integers."""


class TradeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a chain for reading its trades. Addresses are 20 bytes."""

    vaults: Mapping[bytes, bytes] = {}
    """Holder of pool tokens by contract, for contracts with many pools whose tokens another one
    holds."""
    ordering: frozenset[str] = frozenset()
    """Names of exchanges whose pools report ordered instead of received amounts."""


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
    """A pool in a report, with the properties needed to read its trades."""

    @property
    def pool(self) -> Address:
        """Address of the pool, or of the contract that manages all pools."""
        ...

    @property
    def pool_id(self) -> Hash32 | None:
        """None: the pool is a contract, and trades its first two coins."""
        ...

    @property
    def kind(self) -> str:
        """Pool family."""
        ...

    @property
    def dex(self) -> str:
        """Name of the exchange."""
        ...

    @property
    def quote(self) -> Address:
        """Other token of the pool."""
        ...

    @property
    def token0(self) -> Address | None:
        """None: the pool is not indexed."""
        ...

    @property
    def hooks(self) -> Address | None:
        """Hook contract. None: there is none, or the pool is not indexed."""
        ...


def pool_key(pool: ReportedPool) -> bytes:
    """Return the key by which swaps refer to a pool."""
    return blob(pool.pool_id or pool.pool)


class TokenSwap(msgspec.Struct, frozen=True, kw_only=True):
    """One trade of the token in a pool: one Swap event, or several if it passed through bins."""

    log_index: int
    """Log index of its last event."""
    first_log: int
    """Log index of its first event."""
    pool: bytes
    """Key of the pool."""
    holder: bytes
    """Holder of the pool's tokens."""
    is_shared: bool = False
    """True if the holder also has the tokens of other pools."""
    recipient: bytes | None
    """Recipient of the output, as requested of the pool. None: not in the event."""
    payer: bytes | None = None
    """Payer of the other token. None: unknown, or several."""
    token_in: float
    """Net amount of tokens that the pool received; negative for a purchase."""
    may_be_hooked: bool = False
    """True if a hook may take part of the trade, in either token."""
    is_order: bool = False
    """True if the pool's reported input may be the ordered amount."""

    @property
    def has_no_place(self) -> bool:
        """True if tokens may move before or after the event.

        Vaults are settled at the end, and some pools that report orders pull the payment last.
        """
        return self.is_shared or self.is_order


class TokenLogs(msgspec.Struct, frozen=True, kw_only=True):
    """Swaps and moves of one token in one transaction, in order of the logs."""

    token: bytes
    moves: Sequence[TokenMove]
    swaps: Sequence[TokenSwap]
    swapped: frozenset[bytes]
    """Contracts that emitted a Swap event in the transaction, pools of other tokens included."""
    others: frozenset[bytes] = frozenset()
    """Contracts in `swapped` that are not among the token's reported pools."""
    has_other_entries: bool = False
    """True if a pool within a shared contract swapped that is not among the reported ones; it may
    still be of the token."""


def token_logs(
    transaction: SwapTransaction,
    token: bytes,
    pools: Mapping[bytes, ReportedPool],
    facts: TradeFacts,
) -> TokenLogs:
    """Return the swaps and moves of a token. `pools`: its reported ones, by key."""
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
    """True if the holder received, or paid out, exactly the amount of this swap."""
    received = sum(one.amount_raw for one in logs.moves if one.recipient == swap.holder)
    sent = sum(one.amount_raw for one in logs.moves if one.sender == swap.holder)
    return math.isclose(float(received - sent), swap.token_in, rel_tol=_EQUAL_SHARE)


def _swaps(
    transaction: SwapTransaction,
    token: bytes,
    pools: Mapping[bytes, ReportedPool],
    facts: TradeFacts,
) -> Iterator[TokenSwap]:
    """Yield the Swap events of the token's pools, by log index. Events with unknown sides are left
    out."""
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
    """Return the token's place in the pool. None: unknown."""
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
    """Merge consecutive events of a pool with the same direction and recipient: a trade through
    several bins."""
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
