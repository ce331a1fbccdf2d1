"""Planned calls of open functions with boundary values, by function. Sends no request.

Each argument gets values at which arithmetic goes wrong: none, one, all that the caller has and one
more, powers of two, and numbers so large that sums and products wrap. Addresses are the caller, its
friend, a victim, the pool or the token.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from analysis.static.custody.open_functions import OpenFunction
from analysis.static.evm.path_state import HOLDER_FUNCTIONS
from core.evm.abi import encode_values
from core.evm.abi_types import AbiType, AbiTypeError, parse_types
from core.evm.primitives import ZERO_ADDRESS, Address

REPEATS: Final = 3
"""Times that a call without amounts, or with a small one, is repeated."""

MOST_PROBES: Final = 26
"""Most probes of one function by one account."""

_PART: Final = 16
"""Divisor of the caller's balance, so that other probes have tokens left."""
_LONG: Final = 6
"""Elements of a long list: one that is debited once is credited six times."""
_MATERIAL: Final = 50
"""Divisor of the supply: an amount that matters, for a caller without tokens."""
_COIN: Final = 10**18
_RECOVERY_ID: Final = 27
_AMOUNT_BITS: Final = 64
"""Smaller integers are no amounts."""
_SIZED: Final = re.compile(r"(u?int)(\d+)")
_GUESSES: Final = ("uint256", "address,uint256")
"""Types of functions whose types are not known."""


class ProbeInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts and amounts of one caller's probes."""

    caller: Address
    friend: Address
    victim: Address
    pool: Address
    token: Address
    balance_raw: int
    """Tokens of the caller."""
    supply_raw: int
    price_wei: int
    """Coins that an ordinary buyer pays, for functions that take coins."""

    @property
    def part_raw(self) -> int:
        """Return a share of the balance; without one, a share of the supply that matters."""
        return max(1, self.balance_raw // _PART or self.supply_raw // _MATERIAL)


class ProbeCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call to the token."""

    data: str
    value_wei: int = 0
    times: int = 1
    is_friends: bool = False
    """True if the friend sends it, by the caller's allowance."""


class _Values(msgspec.Struct, frozen=True, kw_only=True):
    """Values of one probe: addresses by their order, numbers, and whether number arrays are of
    addresses."""

    accounts: tuple[Address, ...]
    """The last one stands for all further addresses."""
    numbers: tuple[int, ...]
    """As `accounts`."""
    are_lists_of_accounts: bool = False
    is_friends: bool = False
    flag: bool = True
    """Value of every boolean."""
    length: int = 2
    """Elements of an array without a fixed length."""


_Choice = tuple[_Values, int, int]
"""Values, coins and repetitions of a probe."""

_Choices = Callable[[OpenFunction, Sequence[AbiType], ProbeInputs], Iterable[_Choice]]


def plan_calls(
    function: OpenFunction, inputs: ProbeInputs, *, is_short: bool = False
) -> list[ProbeCall]:
    """Return the probes of one function, the likeliest first and those that spend all last.
    `is_short`: only the few likeliest."""
    if function.selector is None:
        return list(islice(_bare_calls(function, inputs), 2 if is_short else MOST_PROBES))
    return _plan(function, inputs, _choices)[: 3 if is_short else MOST_PROBES]


def plan_calls_on_victim(
    function: OpenFunction, inputs: ProbeInputs, *, turn: int
) -> list[ProbeCall]:
    """Return at most three calls that may change how the victim trades; the last one decides what
    setters leave. `turn`: 0 with one and true, 1 with a huge number and false, then with each of
    the function's targets."""
    if turn >= len(_TURNS):
        at = turn - len(_TURNS)
        numbers = [int(each, 16) for each in function.targets[at : at + 1]]
        on_victim = [_Values(accounts=(inputs.victim,), numbers=(each,)) for each in numbers]
        return _plan(function, inputs, lambda *_: ((each, 0, 1) for each in on_victim))
    if function.selector is None:
        return list(islice(_bare_calls(function, inputs), 1))
    return _plan(function, inputs, _TURNS[turn])


def count_turns(functions: Iterable[OpenFunction]) -> int:
    """Return the number of turns in which any of the functions is called."""
    return len(_TURNS) + max((len(each.targets) for each in functions), default=0)


def _plan(function: OpenFunction, inputs: ProbeInputs, choices: _Choices) -> list[ProbeCall]:
    guesses = _GUESSES if function.arguments is None else (function.arguments,)
    found: dict[ProbeCall, None] = {}
    for types in guesses:
        found.update(dict.fromkeys(_calls(function, types, inputs, choices)))
    return list(found)


def _bare_calls(function: OpenFunction, inputs: ProbeInputs) -> Iterator[ProbeCall]:
    """Yield calls without a selector: a payment."""
    for value in (*_payments(function, inputs), 0):
        yield ProbeCall(data="0x", value_wei=value)


def _payments(function: OpenFunction, inputs: ProbeInputs) -> Iterator[int]:
    """Yield amounts of coins: one wei, an ordinary price, and the prices in the code."""
    yield from (1, inputs.price_wei)
    yield from (int(price, 16) for price in function.payments)


def _calls(
    function: OpenFunction, types: str, inputs: ProbeInputs, choices: _Choices
) -> Iterator[ProbeCall]:
    try:
        # code that masks an argument may use all of it elsewhere
        whole = _SIZED.sub(_widened, types)
        kinds = parse_types(whole)
    except AbiTypeError:
        return
    for values, value_wei, times in choices(function, kinds, inputs):
        data = _encoded(function.selector or 0, kinds, values)
        if data is not None:
            yield ProbeCall(
                data=data, value_wei=value_wei, times=times, is_friends=values.is_friends
            )


def _widened(sized: re.Match[str]) -> str:
    """Return the type of 256 bits for one of an amount."""
    return f"{sized[1]}256" if int(sized[2]) >= _AMOUNT_BITS else sized[0]


def _choices(
    function: OpenFunction, kinds: Sequence[AbiType], inputs: ProbeInputs
) -> Iterator[_Choice]:
    """Yield the choices of arguments of one function."""
    people = sum(map(_people, kinds))
    own, friend, part = inputs.caller, inputs.friend, inputs.part_raw
    is_standard = function.selector in HOLDER_FUNCTIONS
    times = 1 if is_standard else REPEATS
    numbers = [int(number, 16) for number in function.numbers]
    for accounts in ((own, friend), (own,)) if people > 1 else ((own,), (friend,)):
        yield _Values(accounts=accounts, numbers=(part,)), 0, times
    for number in numbers:
        yield _Values(accounts=(own,), numbers=(number,)), 0, 1
    if any(kind.arrays for kind in kinds):
        yield from _lists(inputs)
    if not is_standard:
        yield from _paid(function, inputs)
    if people > 1:
        yield from _between(inputs)
    is_counted = any(map(_has_numbers, kinds))
    for number in _numbers(inputs) if is_counted else ():
        yield _Values(accounts=(own, friend) if people > 1 else (friend,), numbers=(number,)), 0, 1
    for place in (inputs.token, inputs.pool, ZERO_ADDRESS) if people else ():
        accounts = (own, place) if people > 1 else (place,)
        yield _Values(accounts=accounts, numbers=(part,)), 0, 1
    if is_counted:
        most = max(1, inputs.balance_raw * 3 // 4)
        yield _Values(accounts=(own,), numbers=(most,)), 0, 1


def _choices_of_one(
    function: OpenFunction, _: Sequence[AbiType], inputs: ProbeInputs
) -> Iterator[_Choice]:
    """Yield choices that name the victim, the last with a small number; first one with coins."""
    if function.selector not in HOLDER_FUNCTIONS:
        yield (
            _Values(accounts=(inputs.victim,), numbers=(inputs.part_raw,)),
            inputs.price_wei,
            1,
        )
    yield _Values(accounts=(inputs.caller, inputs.victim), numbers=(inputs.part_raw,)), 0, 1
    yield _Values(accounts=(inputs.victim,), numbers=(1,)), 0, 1


def _choices_of_huge(
    _: OpenFunction, __: Sequence[AbiType], inputs: ProbeInputs
) -> Iterator[_Choice]:
    """Yield choices that name the victim, the last with a huge number."""
    yield _Values(accounts=(inputs.victim,), numbers=(inputs.part_raw,)), 0, 1
    yield _Values(accounts=(inputs.victim,), numbers=(2**255,), flag=False), 0, 1


_TURNS: Final = (_choices_of_one, _choices_of_huge)


def _paid(function: OpenFunction, inputs: ProbeInputs) -> Iterator[_Choice]:
    """Yield choices with coins: for one unit, and for an amount that matters."""
    for value in _payments(function, inputs):
        for number in (1,) if value == 1 else (inputs.part_raw, 1):
            yield _Values(accounts=(inputs.caller,), numbers=(number,)), value, 1


def _between(inputs: ProbeInputs) -> Iterator[_Choice]:
    """Yield choices of two accounts: of others' tokens, and by the friend."""
    own, friend, part = inputs.caller, inputs.friend, inputs.part_raw
    for payer in (inputs.victim, friend):
        yield _Values(accounts=(payer, own), numbers=(part,)), 0, 1
    for number in (part, 2**255, 2**128 + part):
        yield _Values(accounts=(own, friend), numbers=(number,), is_friends=True), 0, 1
    yield _Values(accounts=(own,), numbers=(part,), is_friends=True), 0, 1


def _lists(inputs: ProbeInputs) -> Iterator[_Choice]:
    """Yield lists of two whose sum or product wraps, of one account twice, and of many."""
    own, friend, part = inputs.caller, inputs.friend, inputs.part_raw
    for number in (2**255, 2**256 - part):
        numbers = (number, 2**256 - number)
        yield _Values(accounts=(own, friend), numbers=numbers), 0, 1
        yield _Values(accounts=(own, friend), numbers=numbers, are_lists_of_accounts=True), 0, 1
    for is_plain in (True, False):
        twice = _Values(accounts=(friend,), numbers=(part,), are_lists_of_accounts=not is_plain)
        yield twice, 0, 1
        yield msgspec.structs.replace(twice, length=_LONG), 0, 1


def _numbers(inputs: ProbeInputs) -> Iterable[int]:
    """Return the boundary values, each once."""
    balance = inputs.balance_raw
    return dict.fromkeys(
        (
            *(2**255, 2**128, 2**128 + inputs.part_raw, 2**256 - inputs.supply_raw, 2**256 - 1),
            *(1, 2**64, balance + 1, 0, 2**253),
        )
    )


def _encoded(selector: int, kinds: Sequence[AbiType], values: _Values) -> str | None:
    """Return the calldata. None: the types cannot be encoded."""
    filler = _Filler(values)
    try:
        words = encode_values([kind.name for kind in kinds], [filler.value(kind) for kind in kinds])
    except ValueError:
        return None
    return f"0x{selector:08x}{words}"


class _Filler:
    """Supplies argument values in order."""

    def __init__(self, values: _Values) -> None:
        self._values = values
        self._accounts = 0
        self._numbers = 0

    def value(self, kind: AbiType) -> object:
        if kind.arrays:
            return self._list(kind)
        if kind.parts:
            return tuple(self.value(part) for part in kind.parts)
        return self._basic(kind.base, kind.size)

    def _list(self, kind: AbiType) -> object:
        count = kind.arrays[-1] or self._values.length
        item = kind.item
        if self._values.are_lists_of_accounts and item.name in ("uint256", "bytes32"):
            numbers = [int(self._account(), 16) for _ in range(count)]
            is_number = item.name == "uint256"
            return numbers if is_number else [number.to_bytes(32) for number in numbers]
        return [self.value(item) for _ in range(count)]

    def _account(self) -> Address:
        accounts = self._values.accounts
        self._accounts += 1
        return accounts[min(self._accounts, len(accounts)) - 1]

    def _number(self, bits: int) -> int:
        numbers = self._values.numbers
        self._numbers += 1
        return min(numbers[min(self._numbers, len(numbers)) - 1], (1 << bits) - 1)

    def _basic(self, base: str, sub: object) -> object:
        if base == "address":
            return self._account()
        if base == "uint":
            return _RECOVERY_ID if sub == 8 else self._number(int(str(sub)))  # noqa: PLR2004 - a recovery id
        if base == "int":
            bits = int(str(sub))
            number = self._number(bits)
            return number - (1 << bits) if number >= 1 << (bits - 1) else number
        if base == "bool":
            return self._values.flag
        return "" if base == "string" else bytes(int(str(sub))) if sub else b""


def _people(kind: AbiType) -> int:
    """Return the number of addresses; an array of them counts as two."""
    if kind.arrays:
        return 2 * _people(kind.item)
    if kind.parts:
        return sum(map(_people, kind.parts))
    return int(kind.base == "address")


def _has_numbers(kind: AbiType) -> bool:
    if kind.parts:
        return any(map(_has_numbers, kind.parts))
    return kind.base in ("uint", "int")
