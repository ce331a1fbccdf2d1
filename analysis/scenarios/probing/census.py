"""Census: the balances of several accounts and the supply of a token, read by one simulated call.

A contract of straight-line code, placed by state override, makes the reads. It reverts if one of
them fails. Unlike `Reader` it takes no input, as one simulation calls it up to eighty times. Sends
no request.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.simulation.simulate_v1 import READ_GAS, SimCall
from core.evm.abi import call_data
from core.evm.primitives import Address

_WORD: Final = 32
_OUT: Final = 0x60
"""Memory behind the calldata of a read, which has 36 bytes."""
_LITTLE_PARTS: Final = 100
"""Divisor of the pool's tokens: some tokens burn less than that of them now and then."""
_UNEQUAL: Final = 1_000_000
"""Divisor of a balance: less than that share is rounding."""


class TokenHoldings(msgspec.Struct, frozen=True, kw_only=True):
    """Holdings of the accounts of a simulation at one moment."""

    own: int
    """Tokens of the caller and its friend."""
    bystander: int
    """Tokens of an account that does nothing. 0: there is none."""
    others: tuple[int, ...]
    """Tokens of accounts that may pay: the bystander, the pool, then others."""
    supply: int


class Census(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts that are read."""

    at: Address
    token: Address
    own: tuple[Address, ...]
    others: tuple[Address, ...]
    """The bystander, the pool, then others."""

    @property
    def code(self) -> str:
        """Return the runtime code of the reading contract."""
        reads = [call_data("balanceOf(address)", one) for one in (*self.own, *self.others)]
        return "0x" + _code(self.token, [*reads, call_data("totalSupply()")]).hex()

    def call(self, reader: Address, label: str) -> SimCall:
        """Return the read."""
        return SimCall(label=label, sender=reader, to=self.at, data="0x", gas=READ_GAS)

    def read(self, data: bytes) -> TokenHoldings | None:
        """Return the holdings from the call's return data. None: a read failed."""
        count = len(self.own) + len(self.others) + 1
        if len(data) != count * _WORD:
            return None
        words = [int.from_bytes(data[at : at + _WORD]) for at in range(0, len(data), _WORD)]
        others = tuple(words[len(self.own) : -1])
        return TokenHoldings(
            own=sum(words[: len(self.own)]), bystander=others[0], others=others, supply=words[-1]
        )


class UnpaidTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that the caller and its friend gained, without a payer among the others."""

    uncounted_raw: int
    """Those that the supply does not count."""
    counted_raw: int
    """Those by which the supply grew."""
    taken_raw: int
    """Those that the bystander or the pool lost."""
    emptied_raw: int
    """Tokens that the pool lost to any account; a loss that the bystander shares is none."""

    @property
    def is_any(self) -> bool:
        """True if there is anything to explain."""
        return any((self.uncounted_raw, self.counted_raw, self.taken_raw, self.emptied_raw))


def gain_between(before: TokenHoldings, after: TokenHoldings) -> UnpaidTokens:
    """Return what was created, without what everybody gained in proportion."""
    parts, whole = before.bystander, before.bystander
    if before.bystander and after.bystander > before.bystander:
        parts = after.bystander

    def grown(amount: int) -> int:
        return amount * parts // whole if whole else amount

    losses = [
        max(0, grown(one) - other) for one, other in zip(before.others, after.others, strict=True)
    ]
    gained = max(0, after.own - grown(before.own) - sum(losses[2:]) - _rounding(before))
    minted = max(0, after.supply - grown(before.supply))
    counted = min(gained, minted)
    taken = min(gained - counted, sum(losses[:2]))
    return UnpaidTokens(
        uncounted_raw=gained - counted - taken,
        counted_raw=counted,
        taken_raw=taken,
        emptied_raw=_emptied(before, after),
    )


def _emptied(before: TokenHoldings, after: TokenHoldings) -> int:
    """Return what the pool lost. 0: little, or the bystander lost as large a share."""
    (whole, pool, *_), (rest, left, *_) = before.others, after.others
    is_clear = (pool - left) * _LITTLE_PARTS > pool and (pool - left) * whole > 2 * pool * (
        whole - rest
    )
    return pool - left if is_clear else 0


def _rounding(holdings: TokenHoldings) -> int:
    """Return what rounding may give: a share of the holdings, and a few units."""
    return holdings.own // _UNEQUAL + holdings.supply // _UNEQUAL**2 + 2


def _code(token: Address, reads: Sequence[str]) -> bytes:
    code = bytearray()
    for at, read in enumerate(reads):
        data = bytes.fromhex(read[2:])
        for place in range(0, len(data), _WORD):
            word = data[place : place + _WORD].ljust(_WORD, b"\0")
            code += b"\x7f" + word + b"\x60" + bytes([place]) + b"\x52"  # MSTORE
        out = (_OUT + _WORD * at).to_bytes(2)
        code += b"\x60\x20\x61" + out + b"\x60" + bytes([len(data)]) + b"\x60\0\x73"
        code += bytes.fromhex(token[2:]) + b"\x5a\xfa"  # STATICCALL
        code += b"\x60\x1f\x3d\x11\x16"  # and RETURNDATASIZE > 31
        after = (len(code) + 8).to_bytes(2)
        code += b"\x61" + after + b"\x57\x60\0\x80\xfd\x5b"  # else REVERT
    code += b"\x61" + (_WORD * len(reads)).to_bytes(2) + b"\x60" + bytes([_OUT]) + b"\xf3"
    return bytes(code)
