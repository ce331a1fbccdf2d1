"""Trade routes: calldata, approvals and event readers for trades in one pool of any venue."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import call_data, selector_of
from core.evm.primitives import ADDRESS_MASK, Address, RawAmount

_APPROVE = "approve(address,uint256)"
_UNLIMITED = 2**256 - 1

PLAIN_GAS = RawAmount(300_000)
"""Gas that wallets send for a plain swap, with their margin."""

FOREVER_S = 2**40
"""A deadline no simulated block reaches."""

LOWEST_SQRT_PRICE = 4_295_128_739 + 1
HIGHEST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342 - 1
"""Price limits of a swap in a concentrated pool, one inside the outermost prices. Source: v3-core
TickMath."""


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """An exact-in swap through a router, in one pool."""

    candidate: Candidate
    router: Address
    trader: Address
    token_in: Address
    token_out: Address
    """The zero address is the native coin, on either side."""
    amount_in: RawAmount
    receiver: Address | None = None
    """Recipient of the output. None: the trader."""

    @property
    def to(self) -> Address:
        """Return the recipient of the output."""
        return self.receiver or self.trader

    @property
    def upwards(self) -> bool:
        """True if the pool's token0 is paid in."""
        return int(self.token_in, 16) < int(self.token_out, 16)

    @property
    def is_sale(self) -> bool:
        """True if the token is paid in."""
        return self.token_in == self.candidate.token


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts received and sent in the pool's last swap.

    They come from the pool's event, not from the token or the router.
    """

    received: RawAmount
    sent: RawAmount
    fee_share: float = 0.0
    """Part of the received amount that the pool kept as its fee, 0 to 1, where its event contains
    it."""


class ReadMoved(Protocol):
    """Reader of the Swap events of a family of pools."""

    def __call__(
        self, candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
    ) -> Moved | None:
        """Return the amounts of the pool's last swap. None: the pool did not swap."""
        ...


class TradeRoute(msgspec.Struct, frozen=True, kw_only=True):
    """The calls by which one pool is traded."""

    router: Address
    """Contract that is called, and approved for the sold token."""
    swap_data: Callable[[Swap], str]
    """Calldata for the router that pays and receives tokens, or the native coin in a pool of it."""
    coin_buy_data: Callable[[Swap], str] | None = None
    """Calldata that pays with the native coin, sent as the call's value, in a pool of the wrapped
    coin. None: not a pool of the wrapped coin, or the router cannot."""
    coin_sell_data: Callable[[Swap], str] | None = None
    """Calldata that receives the native coin there. None: as for coin_buy_data."""
    read_coins: Callable[[Sequence[SimLog]], RawAmount | None] | None = None
    """Reader of the events of a sale with coin_sell_data: wei that the seller received; see
    `native_coin_forms.read_unwrapped`. None: there are no such sales."""
    permit2: Address | None = None
    """Permit2, which pulls the trader's tokens, of either side: the trader approves it, and grants
    the router an allowance in it. None: the router pulls them itself."""
    read_moved: ReadMoved
    quote_data: Callable[[Swap], str] | None = None
    """Calldata of a read whose last word is the amount the pool would pay. None: there is none."""
    must_quote: bool = False
    """The quote reverts exactly when the router does not know the pool: then a trade proves
    nothing."""
    code: str | None = None
    """0x runtime code of our router, placed at its address by a state override. None: the venue's
    real router."""
    takes_all: bool = False
    """The pool takes the whole input, where others may stop when their liquidity ends."""
    books_orders: bool = False
    """True if the pool pulls the payment and books the ordered amount, not the received one.

    Its event then shows no tax, but its balance of the token does.
    """
    gas: RawAmount = PLAIN_GAS
    """Gas that wallets send, which estimate the trade: more where one swap goes through many parts
    of the pool."""
    is_hooked: bool = False
    """Hooks may keep a part of either side, so the pool's event is not what the trader paid and
    got. The router (our own) returns two words: the amount paid, and the native coins received."""

    def approvals(self, token: Address, amount: int) -> tuple[tuple[Address, str], ...]:
        """Return the trader's approvals that let the router take `amount` of the token: contract
        and calldata each.

        Permit2 is approved without limit, as wallets do: some tokens approve it from the beginning,
        and revert on a lower amount.
        """
        if self.permit2 is None:
            return ((token, call_data(_APPROVE, self.router, amount)),)
        grant = (token, self.router, min(amount, ADDRESS_MASK), FOREVER_S)
        return (
            (token, call_data(_APPROVE, self.permit2, _UNLIMITED)),
            (self.permit2, call_data("approve(address,address,uint160,uint48)", *grant)),
        )


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Call that measures, without payment, what a pool would take of an order and give for it.

    Returns two words: taken and given, in smallest units, both 0 where the swap meets no liquidity
    up to its last price. Reverts where a token or a hook reverts even on that.
    """

    router: Address
    """Contract that is called: our own router, at an unused address."""
    code: str
    """0x runtime code put there by a state override."""
    data: Callable[[Swap], str]
    """Calldata of the measurement."""
    has_hooks: bool = False
    """Hooks act in the swap, so they may have caused a result of no liquidity."""


class CoinForm(msgspec.Struct, frozen=True, kw_only=True):
    """Functions by which routers trade for the native coin."""

    selectors: tuple[str, ...]
    """0x selectors of all functions that it uses."""
    buy_data: Callable[[Swap], str]
    sell_data: Callable[[Swap], str]

    @property
    def selector_bytes(self) -> tuple[bytes, ...]:
        """Return the bytes that the router's dispatcher compares with."""
        return tuple(bytes.fromhex(selector[2:]) for selector in self.selectors)


class RouterFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function of a router, and its arguments for a swap."""

    signature: str
    arguments: Callable[[Swap], tuple[object, ...]]

    @property
    def selector(self) -> bytes:
        """Return the bytes that the router's dispatcher compares with."""
        return bytes.fromhex(selector_of(self.signature)[2:])

    def data(self, swap: Swap) -> str:
        """Return the calldata of the call."""
        return call_data(self.signature, *self.arguments(swap))


class RouterForm(RouterFunction, frozen=True, kw_only=True):
    """A function by which routers swap."""

    quote: RouterFunction | None = None
    """The read that quotes it; see TradeRoute.quote_data."""
    coins: tuple[CoinForm, ...] = ()
    """The same router's functions that trade for the native coin; a router has at most one of
    them."""
    needs_factory: bool = True
    """The router must name its factory. False: with a pool of another factory the call fails
    visibly, before the trade."""


def find_forms(code: bytes, forms: Sequence[RouterForm]) -> tuple[RouterForm, ...]:
    """Return the forms whose function the router's code has, in the order given."""
    return tuple(form for form in forms if form.selector in code)


def signed(word: bytes) -> int:
    """Decode a 32-byte word as a signed integer."""
    return int.from_bytes(word, "big", signed=True)
