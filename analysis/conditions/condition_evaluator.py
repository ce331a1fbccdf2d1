"""Concrete evaluation of a condition, from stored values and the inputs of an ordinary trade. Pure.

Input: the steps of one condition, an `OrdinaryTrade`, and the inputs changed in it. Output: the
outcome of the condition, or None where a deciding value is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from analysis.conditions.condition_inputs import Input, OrdinaryTrade
from analysis.static.evm.expressions import FOLDED, MASK
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.trade_conditions import TradeCondition
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, low_address, to_hash32

_TRANSFER: Final = "0xa9059cbb"
_APPROVE: Final = "0x095ea7b3"

_MOST_ELEMENTS: Final = 16
"""Elements of a list of accounts whose balances are examined."""

_PROCEEDS_WEI: Final = 10**18
"""Proceeds of a swap that the contract makes itself. Plays of the swap show other amounts."""

_MOVED: Final = frozenset({"mark", "unguarded"})
"""Sources of mapping entries that trades or anybody may write, so that one may not be zero."""

Changed = Mapping[tuple[Input, Hash32 | None], int]
"""Changed inputs: storage variables and mapping entries by slot, coins and balances by account,
else None."""

_KINDS: Final[dict[str, Input]] = {
    "time": "time",
    "block": "block",
    "gas_price": "gas_price",
    "base_fee": "base_fee",
    "proposer": "proposer",
    "randomness": "randomness",
    "gas": "gas",
    "amount": "amount",
}


class Evaluator:
    """Evaluator of one condition."""

    def __init__(self, condition: TradeCondition, setting: OrdinaryTrade) -> None:
        self._steps = condition.steps
        self._setting = setting
        self.choice: Mapping[int, int] = {}
        """Index of the operand chosen for each phi, by number of its step."""
        self.given: Mapping[int, int] = {}
        """Values of steps that are not computed, by number."""
        self._selector = condition.selector
        self._trader = to_hash32(int(setting.trader, 16))
        self._is_moved = not _MOVED.isdisjoint(condition.sources)

    def ordinary(self, kind: Input, mark: int, slot: Hash32 | None) -> int | None:
        """Return an input's value in an ordinary trade. None: not known, or input `price`."""
        setting = self._setting
        if kind == "slot":
            return None if slot is None else setting.words.get(slot)
        if kind == "mark" and slot is not None:
            return setting.words.get(slot, mark)
        values: dict[Input, int] = {
            "time": setting.time_s,
            "block": setting.block,
            "gas_price": setting.gas_price_wei,
            "base_fee": setting.base_fee_wei,
            "proposer": int(setting.proposer, 16),
            "randomness": MASK // 3,
            "gas": setting.gas,
            "coins": setting.coins_wei if slot == self._trader else 0,
            "amount": setting.amount_raw,
            "mark": mark,
            "balance": 0,
        }
        return values.get(kind)

    def truth(self, changed: Changed, mark: int) -> bool | None:
        """Return the outcome of the condition. None: a deciding value is not known.

        `mark`: the value of mapping entries.
        """
        values = self.all(changed, mark)
        return None if not values or values[-1] is None else bool(values[-1])

    def purses(self) -> tuple[Hash32, ...]:
        """Return the accounts whose coins are read, as 32 bytes: of the trader and the contract."""
        values = self.all({}, 0)
        accounts = {
            values[step.arguments[0]]
            for step in self._steps
            if step.operation == "coins" and step.arguments
        }
        return tuple(
            account
            for account in (self._trader, to_hash32(int(self._setting.contract, 16)))
            if int(account, 16) in accounts
        )

    def holders(self) -> dict[Address, Hash32] | None:
        """Return the accounts, other than parties and the token, whose token balances are read.

        With the slots of their balances. None: one of them is not known.
        """
        setting, values = self._setting, self.all({}, 0)
        usual = {*setting.known, setting.trader, setting.pool, setting.token}
        found: dict[Address, Hash32] = {}
        for step in self._steps:
            if step.operation == "balance":
                holder, *places = (values[argument] for argument in step.arguments)
                account = None if holder is None else address_of_word(holder)
                if account in usual:
                    continue
                if account is None or not places or places[0] is None:
                    return None
                found[account] = to_hash32(places[0])
        return found

    def elements(self) -> list[Mapping[int, int]]:
        """Return the values of steps that read a list somewhere, for each account on it.

        One without a value: no balance of an account on a list is read.
        """
        values = self.all({}, 0)
        listed = {
            number: places
            for number, step in enumerate(self._steps)
            if values[number] is None and (places := elements_of(self._steps, number)) is not None
        }
        accounts: dict[int, None] = {}
        for length_slot, slots in listed.values():
            length = self._setting.words.get(length_slot)
            words = [self._setting.words.get(slot) for slot in slots[:length]]
            if length is None or length > len(slots) or None in words:
                return [{}]
            accounts.update((word, None) for word in words if word is not None)
        return [dict.fromkeys(listed, account) for account in accounts] or [{}]

    def entries(self, variable: Hash32, mark: int) -> dict[Hash32, tuple[int | None, ...]]:
        """Return the slots of a mapping's entries that the condition reads, with their keys."""
        values = self.all({}, mark)
        found: dict[Hash32, tuple[int | None, ...]] = {}
        for step in self._steps:
            if step.operation == "mark" and step.word == variable:
                slot, *keys = (values[argument] for argument in step.arguments)
                if slot is not None:
                    found[to_hash32(slot)] = tuple(keys)
        return found

    def all(self, changed: Changed, mark: int) -> list[int | None]:
        """Return the value of every step. None: not known. `mark`: that of mapping entries."""
        values: list[int | None] = []
        for number, step in enumerate(self._steps):
            if number in self.given:
                values.append(self.given[number])
            elif step.operation == "phi":
                chosen = self.choice.get(number, 0)
                values.append(values[step.arguments[chosen]] if step.arguments else None)
            else:
                values.append(self._value(step, values, changed, mark))
        return values

    def _value(
        self,
        step: ComputationStep,
        values: Sequence[int | None],
        changed: Changed,
        mark: int,
    ) -> int | None:
        given = [values[argument] for argument in step.arguments]
        fold = FOLDED.get(step.operation)
        if fold is not None:
            return folded(step.operation, fold, given)
        if step.operation == "keccak":
            return _hash(given)
        if step.operation == "number" and step.word is not None:
            return int(step.word, 16)
        return self._leaf(step, given, changed, mark)

    def _leaf(
        self,
        step: ComputationStep,
        given: Sequence[int | None],
        changed: Changed,
        mark: int,
    ) -> int | None:
        setting, name = self._setting, step.operation
        value: int | None
        if name == "slot" and step.word is not None:
            value = changed.get(("slot", step.word), setting.words.get(step.word))
        elif name == "mark":
            slot = None if given[0] is None else to_hash32(given[0])
            read = None if slot is None else setting.words.get(slot, mark)
            value = read if slot is None else changed.get(("mark", slot), read)
        elif name == "entry":
            value = None if self._is_moved else 0
        elif name == "coins":
            value = self._coins(given, changed)
        elif name == "balance":
            value = self._balance(given, changed)
        else:
            value = self._plain(name, changed)
        return value

    def _plain(self, name: str, changed: Changed) -> int | None:
        """Return the value of a leaf without operands."""
        fixed = {**self._people(), "callee": 1, "proceeds": _PROCEEDS_WEI}.get(name)
        if fixed is not None:
            return fixed
        base_fee = changed.get(("base_fee", None))
        if name == "gas_price" and base_fee is not None:
            # Wallets pay their tip on top of whatever the base fee is.
            return base_fee + self._setting.gas_price_wei - self._setting.base_fee_wei
        kind = _KINDS.get(name)
        if kind == "amount" and ("size", None) in changed:
            return changed["size", None]
        return None if kind is None else changed.get((kind, None), self.ordinary(kind, 0, None))

    def _people(self) -> dict[str, int]:
        setting = self._setting
        trader, pool = int(setting.trader, 16), int(setting.pool, 16)
        people = {"origin": trader, "this": int(setting.token, 16)}
        if self._selector == _APPROVE:
            return people | {"caller": trader, "spender": int(setting.router, 16)}
        if self._selector == _TRANSFER:
            return people | {"from": pool, "to": trader, "caller": pool}
        return people | {"from": trader, "to": pool, "caller": int(setting.router, 16)}

    def _coins(self, given: Sequence[int | None], changed: Changed) -> int | None:
        """Return an account's coins in wei. None: not the trader's or the contract's."""
        if not given or given[0] not in (int(self._trader, 16), int(self._setting.contract, 16)):
            return None
        account = to_hash32(given[0])
        return changed.get(("coins", account), self.ordinary("coins", 0, account))

    def _balance(self, given: Sequence[int | None], changed: Changed) -> int | None:
        setting = self._setting
        # A trader that sells more than an ordinary buy brings holds as much.
        amount = max(setting.amount_raw, changed.get(("amount", None), 0))
        amount = changed.get(("size", None), amount)
        balances = {
            int(setting.trader, 16): amount,
            int(setting.pool, 16): setting.pool_balance_raw,
            int(setting.token, 16): changed.get(("balance", None), 0),
        }
        if not given or given[0] is None:
            return None
        other = changed.get(("balance", to_hash32(given[0])), 0)
        return balances.get(given[0], other)


def elements_of(
    steps: Sequence[ComputationStep], at: int
) -> tuple[Hash32, tuple[Hash32, ...]] | None:
    """Return the slot of a list's length and those of its first elements, which a step reads.

    None: it reads no element of a list whose first slot is known.
    """
    step = steps[at]
    if step.operation != "mark" or step.word is None:
        return None
    place = steps[step.arguments[0]]
    first = int.from_bytes(keccak(bytes.fromhex(step.word[2:])))
    summands = [steps[argument] for argument in place.arguments if place.operation == "ADD"]
    if not any(each.word == to_hash32(first) for each in summands if each.operation == "number"):
        return None
    return step.word, tuple(to_hash32(first + index) for index in range(_MOST_ELEMENTS))


def _hash(words: Sequence[int | None]) -> int | None:
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        return None
    return int.from_bytes(keccak(b"".join(word.to_bytes(32) for word in known)))


def folded(name: str, fold: Callable[..., int], given: Sequence[int | None]) -> int | None:
    """Apply an operation; unknown operands are tolerated where they cannot matter."""
    known = [value for value in given if value is not None]
    if len(known) == len(given):
        return fold(*known) & MASK
    if name in ("AND", "MUL") and 0 in known:
        return 0
    if name == "OR" and 1 in known:
        return 1
    return None


def address_of_word(word: int) -> Address:
    return low_address(word)
