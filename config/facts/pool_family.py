"""Pool families as data: their names, and the events that their contracts emit.

One file each, `config/pool_families/*.toml`. How a family's pools are found, read and traded is its
module in `analysis/market/venues`.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from config.toml import decode, load_toml
from core.evm.event_signatures import EventForm, parse_event
from core.evm.primitives import Hash32

BUILT_IN = Path(__file__).parent.parent / "pool_families"

CREATION_COLUMNS = frozenset(
    {"token0", "token1", "pool", "pool_id", "fee", "tick_spacing", "stable", "hooks", "tokens"}
    | {"vault_pool"}
)
SWAP_COLUMNS = frozenset(
    {"pool_id", "amount0", "amount1", "amount0_in", "amount1_in", "amount0_out", "amount1_out"}
    | {"amounts_in", "amounts_out", "amounts_kept"}
    | {"coin_in", "amount_in", "coin_out", "amount_out", "token_in", "token_out"}
    | {"recipient", "payer", "vault_pool"}
)


class PoolCreation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A creation event of a family's factories, or of some forks of them."""

    declared: str
    """`Name(type [indexed] name,...)`. Arguments are named after the columns of a pool; the names
    of others begin with an underscore. Without `pool` the emitter holds all pools. `tokens`, a
    list of addresses, or of tuples that begin with one, in place of token0 and token1, makes a row
    of each two of them. `vault_pool` is the address of a pool whose tokens the emitter holds."""
    tick_spacing_bit: Annotated[int, msgspec.Meta(ge=0, le=232)] | None = None
    """First bit of the tick spacing in its word. None: it has the word for itself."""
    is_unsorted: bool = False
    """True if the event has the tokens in another order than by address.

    The Swap events of its pools have the same order; pools are stored in order of address.
    """
    pool_is_minter: bool = False
    """The event does not name the pool: it is the contract that was made before it in the same
    transaction, and announced itself as an ERC-20 by a Transfer of 0 from the zero address."""

    def __post_init__(self) -> None:
        _check_names(self.declared, CREATION_COLUMNS)
        named = self.form.places.keys()
        has_tokens = {"token0", "token1"} <= named or self.lists_tokens
        if not has_tokens or not (_NAMES_OF_POOLS & named or self.pool_is_minter):
            message = f"{self.declared} must name token0, token1, and pool or pool_id"
            raise ValueError(message)

    @property
    def lists_tokens(self) -> bool:
        """True if the event has a list of the pool's tokens."""
        return "tokens" in self.form.lists

    @property
    def form(self) -> EventForm:
        """Return the layout of the event's logs."""
        return parse_event(self.declared)


class PoolSwap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Swap event of a family's pools, or of some forks of them."""

    declared: str
    """Places of a swap's values, as in PoolCreation.

    The amounts are `amount0_in` to `amount1_out`, or `amount0` and `amount1` with a sign, or words
    with that of token0 in the lower half and that of token1 in the upper one: `amounts_in`,
    `amounts_out` and `amounts_kept`, which was paid in too; or `amount_in` of the coin with the
    number `coin_in`, and `amount_out` of `coin_out`, in a pool of any number of coins; or of the
    tokens `token_in` and `token_out`, also in a vault's pool, `pool_id` or `vault_pool`. Without
    either the emitter is the pool. `recipient` is the account that the pool was to pay, `payer` the
    caller that paid.
    """
    positive_is: Literal["paid_in", "paid_out"] = "paid_in"
    """Meaning of a signed amount above 0, from the pool's side."""

    def __post_init__(self) -> None:
        _check_names(self.declared, SWAP_COLUMNS)
        named = self.form.places.keys() - {"pool_id", "vault_pool", "recipient", "payer"}
        amounts = {name for name in named if not name.startswith("_")}
        if amounts not in (_SIGNED, _BY_SIDE, _PACKED, _BY_COIN, _BY_TOKEN):
            message = (
                f"{self.declared} must name {' '.join(sorted(_SIGNED))}, or all four amounts, "
                f"or {' '.join(sorted(_PACKED))}, or {' '.join(sorted(_BY_COIN))}"
            )
            raise ValueError(message)

    @property
    def form(self) -> EventForm:
        """Return the layout of the event's logs."""
        return parse_event(self.declared)

    @property
    def is_by_side(self) -> bool:
        """True if the amounts paid in and out are separate arguments, without a sign."""
        return "amount0_in" in self.form.places

    @property
    def is_packed(self) -> bool:
        """True if the amounts of both tokens share words."""
        return "amounts_in" in self.form.places

    @property
    def is_by_token(self) -> bool:
        """True if tokens are named by their addresses."""
        return "token_in" in self.form.places

    @property
    def is_by_coin(self) -> bool:
        """True if coins are named by their numbers."""
        return "coin_in" in self.form.places


class LiquidityEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event of a family's pools that names who may hold liquidity: of LP tokens or shares that
    change hands, or of a position that is made or changed."""

    declared: str
    """As in PoolCreation. Without `pool_id` the emitter is the pool."""

    def __post_init__(self) -> None:
        _check_names(self.declared, frozenset({"pool_id"}))

    @property
    def form(self) -> EventForm:
        """Return the layout of the event's logs."""
        return parse_event(self.declared)


class WithdrawalEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event of a family's pools that is emitted when liquidity leaves."""

    declared: str
    """As in PoolCreation: `amount0` and `amount1` that leave, where the event has them, and
    `change` of the liquidity, which is negative. Without `pool_id` the emitter is the pool."""

    def __post_init__(self) -> None:
        _check_names(self.declared, frozenset({"pool_id", "amount0", "amount1", "change"}))

    @property
    def form(self) -> EventForm:
        """Return the layout of the event's logs."""
        return parse_event(self.declared)


_NAMES_OF_POOLS = {"pool", "pool_id", "vault_pool"}
_SIGNED = {"amount0", "amount1"}
_PACKED = {"amounts_in", "amounts_out", "amounts_kept"}
_BY_COIN = {"coin_in", "amount_in", "coin_out", "amount_out"}
_BY_TOKEN = {"token_in", "amount_in", "token_out", "amount_out"}
_BY_SIDE = {"amount0_in", "amount1_in", "amount0_out", "amount1_out"}


class PoolFamily(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Exchanges whose pools are created, read and traded in the same way."""

    kind: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]\w*$")]
    """Name of the family in chain files; also the value of `liquidity_type`."""
    goplus_type: str | None = None
    """Value of `liquidity_type` in the GoPlus format. None: `kind`."""
    sorts_tokens: bool = True
    """False: token0 of a pool need not be the lower address."""
    books_orders: bool | tuple[str, ...] = False
    """True: some pools emit the ordered amount in their Swap event, not the one that arrived. A
    list: those of these variants."""
    may_have_hooks: bool = False
    """True: pools may have hooks, although their creation event does not name them by `hooks`."""
    creation: Annotated[tuple[PoolCreation, ...], msgspec.Meta(min_length=1)]
    swap: Annotated[tuple[PoolSwap, ...], msgspec.Meta(min_length=1)]
    liquidity: tuple[LiquidityEvent, ...] = ()
    """Empty: holders of liquidity are not followed."""
    withdrawal: tuple[WithdrawalEvent, ...] = ()
    """Empty: the feed has no withdrawals of these pools."""

    @property
    def has_hooks(self) -> bool:
        """True if pools can have hooks, which may take part of a trade in either token."""
        named = any("hooks" in event.form.places for event in self.creation)
        return named or self.may_have_hooks


def load_families(folder: Path) -> tuple[PoolFamily, ...]:
    """Return the families of a folder, by file name. Raises ConfigError with the file and the
    key."""
    return tuple(_load_family(path) for path in sorted(folder.glob("*.toml")))


def _load_family(path: Path) -> PoolFamily:
    return decode(load_toml(path), PoolFamily, source_of=lambda _: str(path))


def _check_names(declared: str, known: frozenset[str]) -> None:
    """Raise ValueError for an argument that is neither a column nor declared to be none."""
    form = parse_event(declared)
    for name in (*form.places, *form.lists):
        if name not in known and not name.startswith("_"):
            message = (
                f"{name} is none of {', '.join(sorted(known))}; if it is unused, write _{name}"
            )
            raise ValueError(message)


FAMILIES: tuple[PoolFamily, ...] = load_families(BUILT_IN)
"""Every supported pool family."""

KINDS: tuple[str, ...] = tuple(family.kind for family in FAMILIES)

FAMILY_OF: dict[str, PoolFamily] = {family.kind: family for family in FAMILIES}
"""Families by kind."""

DexKind = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(map(re.escape, KINDS))})$")]
"""A pool family; also the value of `liquidity_type`."""


def swap_topics(*, is_by_side: bool) -> frozenset[Hash32]:
    """Return topic 0 of the Swap events that single pools emit, with or without signed amounts."""
    return frozenset(
        event.form.topic0
        for family in FAMILIES
        for event in family.swap
        if event.is_by_side == is_by_side
        and not event.is_packed
        and not event.is_by_coin
        and not event.is_by_token
        and "pool_id" not in event.form.places
    )
