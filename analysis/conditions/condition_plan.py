"""Plan of what-if simulations: inputs that flip the branch conditions of a trade. Pure.

Each condition is evaluated on stored values and the inputs of an ordinary trade. Then one input at
a time is moved through its domain: points of interest (constants of the condition, stored values,
their neighbours), and bisection between two points with different outcomes. The nearest flip on
either side of the ordinary value is simulated. A condition that cannot be evaluated, or depends on
an input that no simulation can set, stays open, with the reason.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from analysis.conditions.condition_evaluator import Evaluator, address_of_word, constant
from analysis.conditions.condition_inputs import Input, OrdinaryTrade, WhatIf
from analysis.conditions.flip_search import nearest_flips, points_of_interest
from analysis.static.evm.expressions import MASK, lowest_bit
from analysis.static.token_model.trade_conditions import (
    Source,
    StoredValues,
    TradeCondition,
    TradeConditions,
)
from core.primitives import ADDRESS_MASK, Address, Hash32

_MOST_WHAT_IFS: Final = 40
_MOST_MEANINGS: Final = 16
_YEAR_S: Final = 365 * 86_400
_MOST_BLOCKS: Final = 5_000_000
_PRICE_LEVELS: Final = (400, 3_000)
"""Quote reserves after a large buy, in percent of today's."""

_UNPLAYABLE: Final[dict[Source, str]] = {
    "block_hash": "a block's hash cannot be chosen",
    "code": "another account's code",
    "input": "calldata beyond the function's arguments",
    "hash": "a hash of what trades bring cannot be solved",
    "unknown": "a word that merged paths or a bound left unknown",
}

_INPUTS: Final[dict[Source, tuple[Input, ...]]] = {
    "time": ("time",),
    "block": ("block",),
    "fees": ("gas_price", "base_fee"),
    "proposer": ("proposer",),
    "randomness": ("randomness",),
    "gas": ("gas",),
    "coins": ("coins",),
    "amount": ("amount",),
    "counter": ("slot",),
    "unguarded": ("slot", "mark"),
    "mark": ("mark",),
    "own": ("mark",),
    "balance": ("balance",),
}

_SETTLED_BY_SIZES: Final = frozenset[Source]({"amount", "balance"})
"""Sources that need no solution: trades of several sizes, trades of other accounts and prices moved
both ways have already taken both branches."""


class ConditionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The what-ifs to simulate, and the conditions that each of them settles."""

    what_ifs: tuple[WhatIf, ...]
    wanted: tuple[tuple[int, tuple[WhatIf, ...]], ...]
    """By number of a condition: the what-ifs that must be simulated to settle it."""
    open: tuple[tuple[int, str], ...]
    """By number of a condition: why it cannot be settled."""


def slots_of(conditions: TradeConditions) -> tuple[Hash32, ...]:
    """Return the storage slots whose values a plan needs."""
    named = (
        step.word
        for condition in conditions.conditions
        for step in condition.steps
        if step.operation == "slot"
    )
    return tuple(dict.fromkeys(word for word in named if word is not None))


def callees_of(conditions: TradeConditions, words: Mapping[Hash32, int]) -> tuple[Address, ...]:
    """Return the contracts that conditions call, as far as code and storage name them."""
    found: dict[Address, None] = {}
    for condition in conditions.conditions:
        for step in condition.steps:
            if step.operation in ("answer", "callee"):
                target = constant(condition.steps, step.arguments[0], words)
                if target is not None:
                    found[address_of_word(target)] = None
    return tuple(found)


def make_plan(
    conditions: TradeConditions, setting: OrdinaryTrade, codeless: Collection[Address]
) -> ConditionPlan:
    """Plan the what-ifs of all conditions. `codeless`: callees without code, returning no data."""
    what_ifs: dict[WhatIf, None] = {}
    wanted, open_ = [], []
    for number, condition in enumerate(conditions.conditions):
        solver = _Solver(condition, setting, codeless)
        found, reason = solver.solve()
        fresh = [each for each in found if each not in what_ifs]
        if len(what_ifs) + len(fresh) > _MOST_WHAT_IFS:
            open_.append((number, "more inputs to play than fit"))
            continue
        what_ifs.update(dict.fromkeys(fresh))
        wanted.append((number, tuple(found)))
        if reason is not None and condition.effect != "marks":
            open_.append((number, reason))
    joint = _together(tuple(what_ifs))
    return ConditionPlan(what_ifs=(*what_ifs, *joint), wanted=tuple(wanted), open=tuple(open_))


def _together(what_ifs: Sequence[WhatIf]) -> Iterator[WhatIf]:
    """Yield what-ifs that set all stored inputs at once, and the clock where one is set, because a
    condition may be reached only where others have flipped. Two, as a variable may have two values.
    """
    stored = [each for each in what_ifs if each.is_stored]
    clocks = [each for each in what_ifs if each.input in ("time", "block")]
    for order in (stored, stored[::-1]):
        by_place = {(each.input, each.slot, each.account): each for each in order}
        parts = [*clocks[-1:], *by_place.values()]
        if len(by_place) > 0 and len(parts) > 1:
            head, *rest = parts
            yield msgspec.structs.replace(head, also=tuple(rest), is_standing=True)


class _Solver:
    def __init__(
        self, condition: TradeCondition, setting: OrdinaryTrade, codeless: Collection[Address]
    ) -> None:
        self._condition = condition
        self._steps = condition.steps
        self._setting = setting
        self._codeless = codeless
        self._values = Evaluator(condition, setting)

    def solve(self) -> tuple[list[WhatIf], str | None]:
        """Return what-ifs that flip the condition, and why they do not settle it, else None."""
        sources = set(self._condition.sources)
        reasons = [
            _UNPLAYABLE[source] for source in self._condition.sources if source in _UNPLAYABLE
        ]
        asked, reason = self._asked_contracts(sources)
        if reason is not None:
            reasons.append(reason)
        if self._condition.effect == "value":
            if "unguarded" in sources:
                reasons.append("an amount depends on a variable that anybody may write")
            found = [each for source in sorted(sources) for each in self._samples(source)]
            return [*asked, *found], reasons[0] if reasons else None
        found = list(asked)
        flips, is_evaluated = self._solved(sources)
        if is_evaluated:
            return [*found, *flips], reasons[0] if reasons else None
        unsolved = sources - _SETTLED_BY_SIZES - {"answer", "callee"}
        if not reasons and unsolved:
            reasons.append(f"cannot be evaluated: depends on {', '.join(sorted(unsolved))}")
        samples = [each for source in sorted(sources) for each in self._samples(source)]
        return [*found, *samples], reasons[0] if reasons else None

    def _solved(self, sources: Collection[Source]) -> tuple[list[WhatIf], bool]:
        """Return what-ifs that flip the condition, for each choice of phi operands; and True if it
        could be evaluated for every choice."""
        flips: dict[WhatIf, None] = {}
        is_evaluated = True
        for choice in self._choices():
            self._values.choice = choice
            marks = [mark for mark in self._marks() if self._values.truth({}, mark) is not None]
            is_evaluated &= bool(marks)
            for source in sorted(sources):
                for kind in _INPUTS.get(source, ()):
                    for mark in marks:
                        flips.update(dict.fromkeys(self._flips(kind, mark)))
        self._values.choice = {}
        return list(flips), is_evaluated

    def _choices(self) -> Iterator[Mapping[int, int]]:
        merged = {
            number: len(step.arguments)
            for number, step in enumerate(self._steps)
            if step.operation == "phi"
        }
        ways = product(*(range(count) for count in merged.values()))
        for way, _ in zip(ways, range(_MOST_MEANINGS), strict=False):
            yield dict(zip(merged, way, strict=True))

    # --- other contracts ------------------------------------------------------------------------

    def _asked_contracts(self, sources: set[Source]) -> tuple[list[WhatIf], str | None]:
        """Return price levels if contracts are called; and the reason, if one is not known."""
        if not sources & {"answer", "callee", "balance"}:
            return [], None
        prices = [WhatIf(input="price", value=percent) for percent in _PRICE_LEVELS]
        for step in self._steps:
            if step.operation not in ("answer", "callee"):
                continue
            reason = self._is_unknown(step.arguments[0])
            if reason is not None:
                return prices, reason
        return prices, None

    def _is_unknown(self, at: int) -> str | None:
        """Return why the contract that a step names is not known, else None. A contract returned
        by a known one is known too: the wrapped coin of a router, the pair of a factory."""
        step = self._steps[at]
        target = constant(self._steps, at, self._setting.words)
        target = self._identity(at) if target is None else target
        if target is not None:
            address = address_of_word(target)
            if address in self._setting.known or address in self._codeless:
                return None
            return f"asks {address}, whose code was not examined"
        if step.operation == "answer":
            return self._is_unknown(step.arguments[0])
        reasons = [self._is_unknown(each) for each in step.arguments if not self._is_number(each)]
        if step.operation == "unknown" or not reasons:
            return "asks a contract that is not known"
        return next((reason for reason in reasons if reason is not None), None)

    def _is_number(self, at: int) -> bool:
        return self._steps[at].operation == "number"

    def _identity(self, step: int) -> int | None:
        return {
            "this": int(self._setting.token, 16),
            "caller": int(self._setting.router, 16),
            "to": int(self._setting.pool, 16),
            "from": int(self._setting.trader, 16),
        }.get(self._steps[step].operation)

    # --- solving --------------------------------------------------------------------------------

    def _marks(self) -> tuple[int, ...]:
        """Return the values that a mapping entry may hold: zero, and those that trades store."""
        setting = self._setting
        found = dict.fromkeys((0,))
        named = {step.word for step in self._steps if step.operation == "mark"}
        for written in self._condition.written:
            if written.slot not in named:
                continue
            found.update(dict.fromkeys(int(word, 16) for word in written.constants))
            found.update(
                dict.fromkeys(
                    setting.time_s if clock == "time" else setting.block for clock in written.clocks
                )
            )
            if written.is_free:
                found.update(dict.fromkeys((1, setting.amount_raw)))
        return tuple(found)

    def _flips(self, kind: Input, mark: int) -> Iterator[WhatIf]:
        if kind == "coins":
            for account in self._values.purses():
                yield from self._purse(account, mark)
            return
        if kind not in ("slot", "mark"):
            yield from self._flipping(kind, mark, None)
            return
        for written in self._condition.written:
            for slot in self._slots(kind, mark, written):
                for found in self._stored(kind, mark, slot, written):
                    yield msgspec.structs.replace(found, is_standing=written.is_own)

    def _purse(self, account: Hash32, mark: int) -> Iterator[WhatIf]:
        """Yield flips of the trader's coins, or of the contract's own, which anybody may add to. As
        the contract's balance is not known, zero is simulated too."""
        flips = [each.value for each in self._flipping("coins", mark, account)]
        contract = self._setting.contract
        if int(account, 16) != int(contract, 16):
            yield from (WhatIf(input="coins", value=value) for value in flips)
        elif flips:
            for value in (*flips, 0):
                yield WhatIf(input="coins", value=value, account=contract)

    def _slots(self, kind: Input, mark: int, written: StoredValues) -> list[Hash32]:
        """Return the slot of the variable, or those of its entries that the condition reads."""
        if kind == "slot":
            named = {step.word for step in self._steps if step.operation == kind}
            return [written.slot] if written.slot in named else []
        setting = self._setting
        machines = {int(each, 16) for each in (setting.token, setting.pool, setting.router)}
        return [
            slot
            for slot, keys in self._values.entries(written.slot, mark).items()
            # Contracts start no transactions, so they do not write their own entries.
            if not (written.is_own and machines.intersection(keys))
        ]

    def _stored(
        self, kind: Input, mark: int, slot: Hash32, written: StoredValues
    ) -> Iterator[WhatIf]:
        """Yield reachable values of a variable that flip the condition: constants that are stored,
        and, if it may take any value, the nearest flips. A stored clock is simulated by letting
        time pass."""
        ordinary = self._values.ordinary(kind, mark, slot)
        if ordinary is None:
            return
        bits = int(written.bits, 16)
        before = self._values.truth({(kind, slot): ordinary}, mark)
        for stored in written.constants:
            value = ordinary & ~bits & MASK | int(stored, 16) & bits
            after = self._values.truth({(kind, slot): value}, mark)
            if after is not None and after is not before:
                yield WhatIf(
                    input=kind,
                    value=value,
                    slot=slot,
                    contract=self._setting.contract,
                )
        if written.is_free:
            flips = list(self._flipping(kind, mark, slot, bits=bits))
            yield from flips
            if flips and kind == "mark" and not ordinary:
                # Simulated trades may leave a value in the entry other than the ordinary one.
                yield msgspec.structs.replace(flips[0], value=ordinary)

    def _flipping(
        self, kind: Input, mark: int, slot: Hash32 | None, *, bits: int = MASK
    ) -> Iterator[WhatIf]:
        """Yield the nearest flips of one input. `bits`: those of the slot that are varied."""
        word = self._values.ordinary(kind, mark, slot)
        if word is None:
            return
        shift = lowest_bit(bits)
        ordinary = (word & bits) >> shift
        low, high = self._domain(kind, ordinary)
        low = min(low, ordinary)

        def placed(value: int) -> int:
            return word & ~bits & MASK | (value << shift) & bits

        def truth(value: int) -> bool | None:
            return self._values.truth({(kind, slot): placed(value)}, mark)

        is_lot = kind == "randomness"
        points = points_of_interest(
            self._named(), ordinary, low, min(high, bits >> shift), is_lot=is_lot
        )
        for found in nearest_flips(truth, points, ordinary):
            value = placed(found)
            contract = self._setting.contract if slot is not None else None
            yield WhatIf(input=kind, value=value, slot=slot, contract=contract)

    def _domain(self, kind: Input, ordinary: int) -> tuple[int, int]:
        setting = self._setting
        domains: dict[Input, tuple[int, int]] = {
            # Time does not run backwards.
            "time": (ordinary, ordinary + 10 * _YEAR_S),
            "block": (ordinary, ordinary + _MOST_BLOCKS),
            "gas_price": (setting.base_fee_wei, 100 * ordinary + 10**12),
            "base_fee": (0, 100 * ordinary + 10**12),
            "proposer": (0, ADDRESS_MASK),
            "gas": (60_000, 30_000_000),
            "coins": (10**15, 10**24),
            "amount": (1, max(1, setting.supply_raw // 100)),
            "balance": (0, setting.supply_raw),
        }
        return domains.get(kind, (0, MASK))

    def _named(self) -> set[int]:
        """Return the constants of the condition and the stored values of its variables."""
        words = self._setting.words
        return {
            int(step.word, 16) if step.operation == "number" else words[step.word]
            for step in self._steps
            if step.word is not None
            and (step.operation == "number" or (step.operation == "slot" and step.word in words))
        }

    def _samples(self, source: Source) -> Iterator[WhatIf]:
        """Yield values far from the ordinary one, for conditions that cannot be solved."""
        setting = self._setting
        samples: dict[Source, tuple[tuple[Input, int], ...]] = {
            "fees": (
                ("gas_price", 3 * setting.gas_price_wei),
                ("base_fee", setting.base_fee_wei // 3),
            ),
            "proposer": (("proposer", 0xA11CE << 80),),
            "randomness": (("randomness", 1), ("randomness", MASK // 7)),
            "gas": (("gas", 400_000), ("gas", 4_000_000)),
            "coins": (("coins", 10**16), ("coins", 10**20)),
            "time": (("time", setting.time_s + 45 * 86_400),),
        }
        for kind, value in samples.get(source, ()):
            yield WhatIf(input=kind, value=value)
