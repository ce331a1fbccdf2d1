"""Argument filling: builds calldata for functions of unknown purpose.

One address argument gets the victim's wallet, the others the attacker; every numeric argument gets
an amount. Inputs are a function's selector and argument types, guessed where unknown. Sends no
request.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final, Literal

import msgspec

from analysis.scenarios.trade.transfer import Wallet
from analysis.static.custody.simulation_hints import DebitingFunction, KeyArgument
from analysis.static.evm.path_state import TRANSFER
from core.evm.abi import call_data, encode_values
from core.evm.abi_types import AbiType, AbiTypeError, parse_type, parse_types
from core.evm.primitives import Address

Amount = Literal["part", "all", "one", "none", "more"]
"""Amount relative to the wallet's balance; `more` is twice the balance."""

_TAKING: Final[tuple[Amount, ...]] = ("part", "all", "one", "none")
_CHANGING: Final[tuple[Amount, ...]] = ("more", "part", "none")

_SENDING: Final[tuple[Amount, ...]] = ("part", "none")
"""Amounts for `transfer`, which mostly follows the standard."""

_HEAD: Final = 4
_WORD: Final = 32
_MOST_PLACES: Final = 5
_RECOVERY_ID: Final = 27
"""Value for `uint8`, the recovery id of a signature; its other parts are zero, which only a faulty
check accepts."""

_GUESSES: Final = ("address,uint256", "address,address,uint256", "address")
"""Argument types tried for functions whose types are unknown."""

_NUMBERS: Final = frozenset({"uint256", "uint160", "int256", "bytes32"})
"""Types that an address argument may appear as where code does not mask it to 160 bits."""


class CallTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """One choice of a function's arguments."""

    mover: DebitingFunction
    types: str
    place: int
    """Index of the address argument that gets the wallet; the others get the attacker."""
    amount: Amount

    @property
    def what(self) -> str:
        """Return a description for the evidence."""
        selector = "fallback" if self.mover.selector is None else f"0x{self.mover.selector:08x}"
        return f"{selector}({self.types}), address {self.place}, {self.amount}"


def call_templates(
    mover: DebitingFunction, *, is_taking: bool
) -> Iterator[tuple[int, CallTemplate]]:
    """Yield templates with a rank each, 0 being the likeliest. Empty: no address argument.

    `is_taking`: amounts are to be taken from the wallet, not set.
    """
    known = mover.arguments
    guesses = _GUESSES if known is None else (known,)
    for guess, types in enumerate(guesses):
        places = range(min(_count(mover, types), _MOST_PLACES))
        amounts = _TAKING if is_taking else _CHANGING
        if mover.selector == TRANSFER:
            amounts = _SENDING
        has_numbers = mover.selector is None or "int" in types
        for rank, (amount, place) in enumerate(
            product(amounts if has_numbers else amounts[:1], places)
        ):
            recipe = CallTemplate(mover=mover, types=types, place=place, amount=amount)
            yield rank + guess, recipe


def fill(recipe: CallTemplate, wallet: Wallet, attacker: Address) -> str | None:
    """Return the calldata as 0x hex. None: the types cannot be encoded."""
    balance = wallet.balance_raw
    amount = {"part": wallet.amount_raw, "all": balance, "one": 1, "none": 0, "more": 2 * balance}[
        recipe.amount
    ]
    filler = _Filler(recipe, wallet, attacker, amount)
    mover = recipe.mover
    if mover.selector is None:
        return _raw(mover.keys, filler) if mover.keys else "0x" + filler.encoded()
    try:
        return f"0x{mover.selector:08x}" + filler.encoded()
    except ValueError:
        return None


class _Filler:
    """Supplies argument values in order, with the wallet at its index."""

    def __init__(
        self, recipe: CallTemplate, wallet: Wallet, attacker: Address, amount: int
    ) -> None:
        self._recipe = recipe
        self._wallet = wallet
        self._thief = attacker
        self._next = 0
        self.amount = amount

    def person(self) -> Address:
        here = self._next == self._recipe.place
        self._next += 1
        return self._wallet.address if here else self._thief

    def encoded(self) -> str:
        """Return the values as hex without 0x. Raises AbiError."""
        kinds = _kinds(self._recipe.mover, self._recipe.types)
        values = [self._value(kind) for kind in kinds]
        return encode_values([kind.name for kind in kinds], values)

    def _value(self, kind: AbiType) -> object:
        if kind.arrays:
            return [self._value(kind.item) for _ in range(kind.arrays[-1] or 1)]
        if kind.parts:
            return tuple(self._value(part) for part in kind.parts)
        return self._basic(kind.base, kind.size)

    def _basic(self, base: str, sub: object) -> object:
        if base == "address":
            return self.person()
        if base in ("uint", "int"):
            bits = int(str(sub)) - (base == "int")
            return _RECOVERY_ID if sub == 8 else min(self.amount, 2**bits - 1)  # noqa: PLR2004
        if base == "bool":
            return True
        if base == "string":
            return ""
        return bytes(int(str(sub))) if sub else self._inner_call()

    def _inner_call(self) -> bytes:
        """Return calldata for a function that executes calldata of its callers: a `transferFrom` of
        the wallet."""
        wallet, attacker = self._wallet, self._thief
        data = call_data(
            "transferFrom(address,address,uint256)", wallet.address, attacker, wallet.amount_raw
        )
        return bytes.fromhex(data[2:])


def _raw(keys: tuple[KeyArgument, ...], filler: _Filler) -> str:
    """Return calldata without a selector: addresses at the offsets where the code reads them, the
    amount everywhere else."""
    length = max(key.offset for key in keys) + 4 * _WORD
    word = filler.amount.to_bytes(_WORD)
    data = bytearray(word * (length // _WORD + 1))[:length]
    for key in sorted(keys, key=lambda each: each.offset):
        person = bytes.fromhex(filler.person()[2:])
        placed = person.ljust(_WORD, b"\0") if key.is_left else person.rjust(_WORD, b"\0")
        data[key.offset : key.offset + _WORD] = placed
    after = max(key.offset for key in keys) + (20 if any(key.is_left for key in keys) else _WORD)
    data[after : after + _WORD] = word
    return "0x" + data.hex()


def _count(mover: DebitingFunction, types: str) -> int:
    """Return the number of address arguments. One if there is none but `bytes` may carry a nested
    call; 0 if the types do not parse."""
    if mover.selector is None and mover.keys:
        return len(mover.keys)
    try:
        count = sum(_people(kind) for kind in _kinds(mover, types))
    except AbiTypeError:
        return 0
    return count or int("bytes," in f"{types}," or "bytes[]" in types)


def _people(kind: AbiType) -> int:
    return sum(map(_people, kind.parts)) + (kind.base == "address")


def _kinds(mover: DebitingFunction, types: str) -> tuple[AbiType, ...]:
    """Return the types, with numbers that the code uses as an address replaced by `address`. Raises
    AbiTypeError."""
    kinds = parse_types(types)
    named = {(key.offset - _HEAD) // _WORD for key in mover.keys if key.offset >= _HEAD}
    return tuple(
        parse_type("address") if at in named and kind.name in _NUMBERS else kind
        for at, kind in enumerate(kinds)
    )
