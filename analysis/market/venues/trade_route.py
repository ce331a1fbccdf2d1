"""What a trade on any venue is made of."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.reads.abi_encoding import call_data, selector_of
from analysis.simulation.simulate_v1 import SimLog
from config.primitives import Address, RawAmount

_APPROVE = "approve(address,uint256)"
_UNLIMITED = 2**256 - 1
_MOST_PERMITTED = 2**160 - 1

FOREVER_S = 2**40
"""A deadline no simulated block reaches."""

LOWEST_SQRT_PRICE = 4_295_128_739 + 1
HIGHEST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342 - 1
"""Where a swap in a concentrated pool stops at the latest, one inside the outermost prices.
Source: v3-core TickMath."""


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """An exact-in swap through a router, in one pool."""

    candidate: Candidate
    router: Address
    trader: Address
    token_in: Address
    token_out: Address
    """The zero address is the native coin, on either side (AmmV4)."""
    amount_in: RawAmount
    receiver: Address | None = None
    """Who gets what comes out. None: the trader."""

    @property
    def to(self) -> Address:
        """Who gets what comes out."""
        return self.receiver or self.trader

    @property
    def upwards(self) -> bool:
        """Whether the pool's token0 is paid in."""
        return int(self.token_in, 16) < int(self.token_out, 16)

    @property
    def is_sale(self) -> bool:
        """Whether the token is paid in."""
        return self.token_in == self.candidate.token


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What the pool itself says it received and sent in its last swap: neither the token's word
    nor the router's."""

    received: RawAmount
    sent: RawAmount
    fee_share: float = 0.0
    """Part of what it received that the pool kept as its fee, 0 to 1, where its event tells."""


class ReadMoved(Protocol):
    """How a family's pools tell of a swap."""

    def __call__(
        self, candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
    ) -> Moved | None:
        """Amounts of the pool's last swap. None: the pool did not swap."""
        ...


class TradeRoute(msgspec.Struct, frozen=True, kw_only=True):
    """How one pool is traded."""

    router: Address
    """Who is called, and allowed to take what is sold."""
    swap_data: Callable[[Swap], str]
    """Calldata for the router: pays and receives tokens, or the coin in a pool of the coin."""
    coin_buy_data: Callable[[Swap], str] | None = None
    """Calldata that pays with the chain's coin, sent along as the call's value, in a pool of the
    wrapped coin. None: not a pool of the wrapped coin, or the router cannot."""
    coin_sell_data: Callable[[Swap], str] | None = None
    """Calldata that receives the chain's coin there. None: as for coin_buy_data."""
    read_coins: Callable[[Sequence[SimLog]], RawAmount | None] | None = None
    """By the events of a sale with coin_sell_data: wei that the seller received; see
    coin.read_unwrapped. None: there are no such sales."""
    permit2: Address | None = None
    """The contract (Permit2) that takes the trader's tokens, either side's, which is allowed to by
    them and told by them that the router may ask it to. None: the router takes them itself."""
    read_moved: ReadMoved
    quote_data: Callable[[Swap], str] | None = None
    """Calldata of a read whose last word is what the pool would pay. None: there is none."""
    must_quote: bool = False
    """That read fails exactly when the router does not know the pool: then nothing is learnt."""
    code: str | None = None
    """0x runtime to put at the router before the play: our own. None: the venue's real router."""
    takes_all: bool = False
    """The pool takes all that it is offered, where others may stop when their liquidity ends."""
    is_hooked: bool = False
    """Hooks may keep a part of either side, so what the pool tells is not what the trader paid and
    got. The router (our own) answers two words: what was paid, and native coins that were got."""

    def approvals(self, token: Address, amount: int) -> tuple[tuple[Address, str], ...]:
        """What a trader sends before the router may take so much of the token: whom, and calldata.

        Permit2 is allowed everything, as wallets do: some tokens allow it that from the beginning,
        and refuse to hear of less.
        """
        if self.permit2 is None:
            return ((token, call_data(_APPROVE, self.router, amount)),)
        asked = (token, self.router, min(amount, _MOST_PERMITTED), FOREVER_S)
        return (
            (token, call_data(_APPROVE, self.permit2, _UNLIMITED)),
            (self.permit2, call_data("approve(address,address,uint160,uint48)", *asked)),
        )


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How a pool is asked what it would take of an order and give for it, with nobody paying.

    Answers two words: taken and given, in smallest units, both 0 where the swap meets no liquidity
    up to its last price. Refused where a token or a hook refuses even that.
    """

    router: Address
    """Who is called: our own router, at an address that nobody knows."""
    code: str
    """0x runtime to put there."""
    data: Callable[[Swap], str]
    """Calldata."""
    has_hooks: bool = False
    """Hooks act in the swap, so no liquidity may be their word."""


class CoinForm(msgspec.Struct, frozen=True, kw_only=True):
    """One way by which routers trade for the chain's coin."""

    selectors: tuple[str, ...]
    """0x selectors of all functions that it needs."""
    buy_data: Callable[[Swap], str]
    sell_data: Callable[[Swap], str]

    @property
    def selector_bytes(self) -> tuple[bytes, ...]:
        """What the router's dispatcher compares with."""
        return tuple(bytes.fromhex(selector[2:]) for selector in self.selectors)


class RouterFunction(msgspec.Struct, frozen=True, kw_only=True):
    """One function of a router, and its arguments."""

    signature: str
    arguments: Callable[[Swap], tuple[object, ...]]

    @property
    def selector(self) -> bytes:
        """What the router's dispatcher compares with."""
        return bytes.fromhex(selector_of(self.signature)[2:])

    def data(self, swap: Swap) -> str:
        """Calldata."""
        return call_data(self.signature, *self.arguments(swap))


class RouterForm(RouterFunction, frozen=True, kw_only=True):
    """One function by which routers swap."""

    quote: RouterFunction | None = None
    """The read beside it; see Way.quote_data."""
    coins: tuple[CoinForm, ...] = ()
    """The functions beside it that trade for the coin; a router has one of them at most."""


def find_forms(code: bytes, forms: Sequence[RouterForm]) -> tuple[RouterForm, ...]:
    """The forms this router speaks, in the order given."""
    return tuple(form for form in forms if form.selector in code)


def signed(word: bytes) -> int:
    """A word as a signed integer."""
    return int.from_bytes(word, "big", signed=True)
