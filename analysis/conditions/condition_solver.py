"""Solver of one condition: the inputs that flip it, and why it stays open. Pure.

The condition is evaluated on stored values and the inputs of an ordinary trade. Then one input at a
time is moved through its domain: exactly where its comparisons are linear, else by sampling. The
nearest flip on either side of the ordinary value is simulated.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Final, Literal

import msgspec

from analysis.conditions.called_contracts import CalledContracts
from analysis.conditions.condition_evaluator import Changed, Evaluator
from analysis.conditions.condition_inputs import Input, OrdinaryTrade, WhatIf
from analysis.conditions.flip_search import (
    all_flips,
    clock_grid,
    nearest_flips,
    points_of_interest,
    size_grid,
)
from analysis.conditions.linear_boundaries import StepValues, boundaries
from analysis.static.evm.expressions import MASK, lowest_bit
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.trade_conditions import (
    Source,
    StoredValues,
    TradeCondition,
)
from core.evm.abi import selector_of
from core.evm.primitives import ADDRESS_MASK, Address, Hash32, to_hash32

_MOST_MEANINGS: Final = 32
_DAY_S: Final = 86_400
_LATER_DAYS: Final = (45, 365, 3_650)
"""Days after which amounts are simulated that depend on the clock."""
_SEASON_DAYS: Final = (45, 60, 75, 90, 105, 180, 365)
"""Days after which sales are simulated if no time was found at which a condition turns."""
_YEAR_S: Final = 365 * 86_400
_MONTH_S: Final = 30 * 86_400
_MOST_BLOCKS: Final = 5_000_000
_USUAL_BLOCK_S: Final = 12
_CRUMB: Final = 1_000
"""Divisor of an ordinary holding: a smaller sale may fail for being too small."""

_PRICE_LEVELS: Final = (400, 3_000, 30)
"""Quote reserves after a large trade, in percent of today's."""

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

_SETTLED: Final = frozenset[Source]({"amount", "balance", "answer", "callee", "wallet"})
"""Sources that need no solution: trades of several sizes, trades of other accounts, prices moved
both ways and wallets with code have already taken both branches."""

_ODD: Final = frozenset({"AND", "OR", "XOR", "MOD", "BYTE", "EXP"})
_OUTCOMES: Final = frozenset({"LT", "GT", "SLT", "SGT", "EQ", "ISZERO", "AND", "OR"})

_COUNTED: Final = frozenset[Source]({"counter", "mark"})
_MOVED: Final = _COUNTED | {"own"}
_MOST_TRADES: Final = 2**32
_SOON: Final = 2_000
"""Trades that a token may well see within a month."""
_MOST_TURNOVERS: Final = 1_000
"""Supplies that may be traded over the life of a token."""
_QUARTER: Final = 2**254
"""Stored balances beyond it are more than a quarter of all there can be."""
_MANY_TRADES: Final = (100, 10_000)
_DUST_PCT: Final = (0, 100)

_BALANCE_OF: Final = selector_of("balanceOf(address)")
_CLOCKS: Final[tuple[Literal["time", "block"], ...]] = ("time", "block")
_STORED: Final[tuple[Input, ...]] = ("slot", "mark")


class ConditionSolver:
    """Solver of one condition. `accounts`: callees that have no code and cannot get any."""

    def __init__(
        self, condition: TradeCondition, setting: OrdinaryTrade, accounts: Collection[Address]
    ) -> None:
        self._condition = condition
        self._steps = condition.steps
        self._setting = setting
        self._called = CalledContracts(condition, setting, accounts)
        self._values = Evaluator(condition, setting)
        self._flipped: set[Input] = set()
        self._sampled: set[Input] = set()
        """Inputs with a flip, and inputs for which that there is none is not proved."""
        self._is_held_open = False
        is_open = "unguarded" in condition.sources
        self._set_by_anybody = [each for each in condition.written if is_open and each.is_set]
        """Variables in which anybody may store any number."""

    def solve(self) -> tuple[list[WhatIf], str | None]:
        """Return what-ifs that flip the condition, and why they do not settle it, else None."""
        sources = set(self._condition.sources)
        reasons = [
            _UNPLAYABLE[source] for source in self._condition.sources if source in _UNPLAYABLE
        ]
        played, reason = self._played(sources)
        reasons += [] if reason is None else [reason]
        if self._condition.effect == "value":
            if "unguarded" in sources:
                reasons.append("an amount depends on a variable that anybody may write")
            if self._condition.selector == _BALANCE_OF and not sources.isdisjoint(_CLOCKS):
                reasons.append("the balances that are shown change with the clock")
            found = [each for source in sorted(sources) for each in self._samples(source)]
            found += self._counted(sources)
            return [*played, *found], reasons[0] if reasons else None
        flips, is_evaluated = self._solved(sources)
        if self._is_held_open:
            reasons.append("it turns with the balance of an account that is no party")
        if is_evaluated:
            missed = [*self._missed()]
            reasons += [f"no {clock} was found at which it turns" for clock in missed]
            if "time" in missed:
                flips += self._later(_SEASON_DAYS)
            return [*played, *flips], reasons[0] if reasons else None
        unsolved = sources - _SETTLED
        if self._condition.effect == "overruns" and self._is_wide():
            unsolved -= _COUNTED
            unsolved -= set() if self._set_by_anybody else {"unguarded"}
        if not reasons and unsolved:
            reasons.append(f"cannot be evaluated: depends on {', '.join(sorted(unsolved))}")
        samples = [each for source in sorted(sources) for each in self._samples(source)]
        samples += self._counted(sources)
        return [*played, *samples], reasons[0] if reasons else None

    def _missed(self) -> Iterator[str]:
        """Yield the inputs at which an evaluated condition may turn unseen."""
        if self._condition.effect == "overruns":
            return  # An overflow check turns once at most, so that sampling suffices.
        for clock in _CLOCKS:
            if clock in self._sampled - self._flipped:
                yield clock
        if self._set_by_anybody and self._sampled.intersection(_STORED) - self._flipped:
            yield "stored value"

    def _later(self, days: Iterable[int]) -> Iterator[WhatIf]:
        for each in days:
            yield WhatIf(input="time", value=self._setting.time_s + each * _DAY_S)

    def _played(self, sources: Collection[Source]) -> tuple[list[WhatIf], str | None]:
        """Return what-ifs that need no solution, and why they do not settle the condition."""
        found: list[WhatIf] = []
        reason: str | None = None
        if not {"answer", "callee", "balance"}.isdisjoint(sources):
            found += (WhatIf(input="price", value=percent) for percent in _PRICE_LEVELS)
            reason = self._called.unknown()
            if "callee" in sources and self._called.is_any():
                # A constant that it is given may be a deadline, or all that the token contract has.
                found += (*self._later(_LATER_DAYS[-1:]), WhatIf(input="balance", value=0))
            if reason is None and "outside" in sources and self._called.is_any():
                reason = "state of another contract that trades do not move"
            if self._called.reads_own_quote():
                found += (WhatIf(input="dust", value=percent) for percent in _DUST_PCT)
        if "wallet" in sources:
            found.append(WhatIf(input="wallet", value=1))
        if "balance" in sources and not self._are_holders_known():
            reason = reason or "asks for the balance of an account that is not known"
        return found, reason

    def _are_holders_known(self) -> bool:
        known = []
        for given in self._values.elements():
            self._values.given = given
            known.append(self._values.holders() is not None)
        self._values.given = {}
        return all(known)

    def _is_wide(self) -> bool:
        """True if no count or sum in the condition is narrow."""
        sums = _MOST_TURNOVERS * self._setting.supply_raw
        return all(
            1 << int(written.bits, 16).bit_count()
            > (_MOST_TRADES * written.step if written.step is not None else sums)
            for written in self._condition.written
        )

    def _counted(self, sources: Collection[Source]) -> Iterator[WhatIf]:
        """Yield counts and sums after many more trades, and what a party's own calls store."""
        own = self._setting.contract
        for written in self._condition.written if _MOVED & set(sources) else ():
            bits = int(written.bits, 16)
            places = [(kind, slot) for kind in _STORED for slot in self._slots(kind, 0, written)]
            for kind, slot in places if written.is_free or written.is_own else ():
                word = self._values.ordinary(kind, 0, slot) or 0
                usual = (word & bits) >> lowest_bit(bits)
                counts = [usual + trades * (written.step or 1) for trades in _MANY_TRADES]
                counts += [int(stored, 16) >> lowest_bit(bits) for stored in written.constants]
                for count in counts:
                    value = _placed(word, bits, count)
                    found = WhatIf(
                        input=kind, value=value, slot=slot, contract=own, is_standing=written.is_own
                    )
                    yield self._as_counted(found, word, written)

    def _solved(self, sources: Collection[Source]) -> tuple[list[WhatIf], bool]:
        """Return what-ifs that flip the condition, for each choice of phi operands; and True if it
        could be evaluated for every choice."""
        flips: dict[WhatIf, None] = {}
        is_evaluated = True
        for choice, given in product(self._choices(), self._values.elements()):
            self._values.choice, self._values.given = choice, given
            marks = [mark for mark in self._marks() if self._values.truth({}, mark) is not None]
            is_evaluated &= bool(marks)
            for source in sorted(sources):
                for kind in _INPUTS.get(source, ()):
                    for mark in marks:
                        flips.update(dict.fromkeys(self._flips(kind, mark)))
            for mark in marks:
                flips.update(dict.fromkeys(self._clock_flips(mark)))
                flips.update(dict.fromkeys(self._joint_flips(mark)))
        self._values.choice, self._values.given = {}, {}
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

    def turns_oddly(self, highest: int) -> bool:
        """True if it depends on single digits or bits of an amount up to `highest`.

        No sample of sizes shows where it turns.
        """
        moved: set[int] = set()
        for number, step in enumerate(self._steps):
            if step.operation in ("amount", "balance") or moved.intersection(step.arguments):
                moved.add(number)
                if step.operation in _ODD and not self._is_whole(step, highest):
                    return True
        return False

    def _is_whole(self, step: ComputationStep, highest: int) -> bool:
        """True if a bitwise operation keeps its amount whole, or joins outcomes of comparisons."""
        operands = [self._steps[argument] for argument in step.arguments]
        if all(each.operation in _OUTCOMES for each in operands):
            return True
        masks = [int(each.word or "0", 16) for each in operands if each.operation == "number"]
        return step.operation == "AND" and any(
            mask >= highest and not mask & (mask + 1) for mask in masks
        )

    def size_boundaries(self, span: tuple[int, int]) -> set[int]:
        """Return the sizes of trades within `span` at which the outcome changes: the first of each
        new outcome, for each choice of phi operands."""
        found: set[int] = set()
        for choice in self._choices():
            self._values.choice = choice
            for mark in self._marks():
                found.update(self._size_flips(span, mark))
        self._values.choice = {}
        return found

    def _size_flips(self, span: tuple[int, int], mark: int) -> Iterator[int]:
        def truth(size: int) -> bool | None:
            return self._values.truth({("size", None): size}, mark)

        def values(size: int) -> StepValues:
            return self._values.all({("size", None): size}, mark)

        exact = boundaries(self._steps, values, span, self._values.choice)
        sampled = () if exact.is_exact else size_grid(*span)
        yield from all_flips(truth, sorted({*span, *exact.points, *sampled}))

    # --- stored state ---------------------------------------------------------------------------

    def _marks(self) -> tuple[int, ...]:
        """Return the values that a mapping entry may hold: zero, and those that trades store."""
        setting = self._setting
        found = dict.fromkeys((0,))
        named = {step.word for step in self._steps if step.operation == "mark"}
        for written in self._condition.written:
            if written.slot not in named:
                continue
            found.update(dict.fromkeys(int(word, 16) for word in written.constants))
            found.update(dict.fromkeys(self._bought(clock) for clock in written.clocks))
            if written.is_free:
                found.update(dict.fromkeys((1, setting.amount_raw)))
        return tuple(found)

    def _bought(self, clock: Literal["time", "block"]) -> int:
        return self._setting.bought_s if clock == "time" else self._setting.bought_block

    def _flips(self, kind: Input, mark: int) -> Iterator[WhatIf]:
        if kind == "coins":
            for account in self._values.purses():
                yield from self._purse(account, mark)
            return
        if kind == "balance":
            for holder, slot in (self._values.holders() or {}).items():
                yield from self._held(holder, slot, mark)
        if kind not in ("slot", "mark"):
            domain = self._times(kind, mark) if kind in _CLOCKS else None
            yield from self._flipping(kind, mark, None, domain=domain)
            return
        for written in self._condition.written:
            for slot in self._slots(kind, mark, written):
                for found in self._stored(kind, mark, slot, written):
                    yield msgspec.structs.replace(found, is_standing=written.is_own)

    def _times(self, clock: Input, mark: int) -> tuple[int, int]:
        """Return the times of sales that are tried. Those before the ordinary one only where the
        first sale comes out alike: else the buyer has only to wait, as after many honest buys."""
        setting = self._setting
        if clock == "time":
            first, usual, longest = setting.first_sale_s, setting.time_s, 10 * _YEAR_S
        else:
            first, usual, longest = setting.first_sale_block, setting.block, _MOST_BLOCKS
        is_alike = self._values.truth({(clock, None): first}, mark) is self._values.truth({}, mark)
        return first if is_alike else usual, usual + longest

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

    def _held(self, holder: Address, slot: Hash32, mark: int) -> Iterator[WhatIf]:
        """Yield balances of an account that flip the condition, and none. Where others change with
        it, as in reflection tokens, none is set: then the condition stays open."""
        place, is_plain = to_hash32(int(holder, 16)), self._setting.is_plain
        domain = None if is_plain else (0, _QUARTER)
        values = [each.value for each in self._flipping("balance", mark, place, domain=domain)]
        self._is_held_open |= bool(values) and not is_plain
        for value in dict.fromkeys((*values, 0) if values and is_plain else ()):
            yield from self._holding(holder, slot, value)

    def _holding(self, holder: Address, slot: Hash32, value: int) -> Iterator[WhatIf]:
        """Yield a balance of an account: as much as a buyer has is sent to it, more is set."""
        if 0 < value <= self._setting.amount_raw:
            yield WhatIf(input="gift", value=value, account=holder)
        contract = self._setting.contract
        yield WhatIf(input="balance", value=value, slot=slot, contract=contract, account=holder)

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
        and, if it may take any value, the nearest flips."""
        ordinary = self._values.ordinary(kind, mark, slot)
        if ordinary is None:
            return
        bits = int(written.bits, 16)
        before = self._values.truth({(kind, slot): ordinary}, mark)
        for stored in written.constants:
            value = _placed(ordinary, bits, int(stored, 16) >> lowest_bit(bits))
            after = self._values.truth({(kind, slot): value}, mark)
            if after is not None and after is not before:
                own = self._setting.contract
                yield WhatIf(input=kind, value=value, slot=slot, contract=own)
        if written.is_free:
            is_set = written in self._set_by_anybody
            most = None if is_set else self._most_counted(written)
            flips = list(self._flipping(kind, mark, slot, bits=bits, steps=most))
            yield from (self._as_counted(each, ordinary, written) for each in flips)
            if is_set and "amount" in self._condition.sources:
                # A limit that the ordinary sale just exceeds may let the simulated one pass.
                least: Changed = {("size", None): 1}
                near = (0, 2 * ((ordinary & bits) >> lowest_bit(bits)))
                yield from self._flipping(kind, mark, slot, bits=bits, base=least, domain=near)
            if flips and self._condition.effect == "overruns":
                # At the limit itself no sale is small enough to fit under it.
                yield msgspec.structs.replace(flips[0], value=ordinary | bits)
            if flips and kind == "mark" and not ordinary:
                # Simulated trades may leave a value in the entry other than the ordinary one.
                yield msgspec.structs.replace(flips[0], value=ordinary)

    def _joint_flips(self, mark: int) -> Iterator[WhatIf]:
        """Yield flips in which all variables that anybody writes are at an end of their range."""
        places = {
            (kind, slot): int(written.bits, 16)
            for written in self._set_by_anybody
            if not written.is_own
            for kind in _STORED
            for slot in self._slots(kind, mark, written)
        }
        if len(places) <= 1:
            return  # one alone is flipped already
        before = self._values.truth({}, mark)
        for end in (MASK, 0):
            words: Changed = {
                place: _placed(self._values.ordinary(place[0], mark, place[1]) or 0, bits, end)
                for place, bits in places.items()
            }
            after = self._values.truth(words, mark)
            if after is None or after is before:
                continue
            own = self._setting.contract
            first, *others = (
                WhatIf(input=kind, value=word, slot=slot, contract=own)
                for (kind, slot), word in words.items()
            )
            yield msgspec.structs.replace(first, also=tuple(others))

    def _as_counted(self, found: WhatIf, word: int, written: StoredValues) -> WhatIf:
        """Return the flip, marked if trades alone count the variable up to it before long."""
        if self._condition.sources != ("counter",) or written.step is None:
            return found
        bits = int(written.bits, 16)
        ahead = abs((found.value & bits) - (word & bits)) >> lowest_bit(bits)
        is_counted = len(self._condition.written) == 1 and 0 < ahead <= _SOON * written.step
        return msgspec.structs.replace(found, is_counted=is_counted)

    def _most_counted(self, written: StoredValues) -> tuple[int, int]:
        """Return the most that a count or sum falls and grows by over the life of a token.

        A sum of amounts, such as a supply that is burnt, never falls below what is there.
        """
        if written.step is not None:
            return _MOST_TRADES * written.step, _MOST_TRADES * written.step
        return 0, max(_MOST_TRADES, _MOST_TURNOVERS * self._setting.supply_raw)

    def _clock_flips(self, mark: int) -> Iterator[WhatIf]:
        """Yield stored clocks at which the condition flips, with the time of that sale.

        Each is moved separately through the next month. Clocks that the condition compares with
        the current time are simulated by letting time pass.
        """
        read = {step.operation for step in self._steps}
        for written in self._condition.written:
            for clock in written.clocks:
                if clock in read:
                    continue
                for kind in ("slot", "mark"):
                    for slot in self._slots(kind, mark, written):
                        for base in self._stored_now():
                            yield from self._later_clock(clock, (kind, slot), written, mark, base)

    def _stored_now(self) -> Iterator[Changed]:
        """Yield values of the variables that hold a clock: as stored, and all as of the buy."""
        yield {}
        named = {step.word for step in self._steps if step.operation == "slot"}
        now: dict[tuple[Input, Hash32 | None], int] = {}
        for written in self._condition.written:
            word = self._setting.words.get(written.slot)
            if written.slot in named and word is not None:
                for clock in written.clocks:
                    value = _placed(word, int(written.bits, 16), self._bought(clock))
                    now["slot", written.slot] = value
        if now:
            yield now

    def _later_clock(
        self,
        clock: Literal["time", "block"],
        place: tuple[Literal["slot", "mark"], Hash32],
        written: StoredValues,
        mark: int,
        base: Changed,
    ) -> Iterator[WhatIf]:
        kind, slot = place
        now = self._setting.time_s if clock == "time" else self._setting.block
        span = now + (_MONTH_S if clock == "time" else _MONTH_S // _USUAL_BLOCK_S)
        found = self._flipping(
            kind, mark, slot, bits=int(written.bits, 16), base=base, domain=(now, span)
        )
        for each in found:
            bits = int(written.bits, 16)
            later = max(now, (each.value & bits) >> lowest_bit(bits))
            stored = msgspec.structs.replace(each, value=_placed(each.value, bits, later))
            yield WhatIf(input=clock, value=later, also=(stored,))

    # --- search ---------------------------------------------------------------------------------

    def _flipping(
        self,
        kind: Input,
        mark: int,
        slot: Hash32 | None,
        *,
        bits: int = MASK,
        base: Changed | None = None,
        domain: tuple[int, int] | None = None,
        steps: tuple[int, int] | None = None,
    ) -> Iterator[WhatIf]:
        """Yield the nearest flips of one input. `bits`: those of the slot that are varied; `base`:
        other inputs that are changed as well; `domain` None: that of the input; `steps`: the
        most that it is ever counted down and up."""
        place, around = (kind, slot), base or {}
        word = around.get(place, self._values.ordinary(kind, mark, slot))
        if word is None:
            return
        shift = lowest_bit(bits)
        ordinary = (word & bits) >> shift
        low, high = domain or self._domain(kind, ordinary)
        low, high = min(low, ordinary), min(high, bits >> shift)
        if self._condition.effect == "overruns" and steps is not None:
            low, high = max(low, ordinary - steps[0]), min(high, ordinary + steps[1])

        def changed(value: int) -> Changed:
            return {**around, place: _placed(word, bits, value)}

        def truth(value: int) -> bool | None:
            return self._values.truth(changed(value), mark)

        def values(value: int) -> StepValues:
            return self._values.all(changed(value), mark)

        exact = boundaries(self._steps, values, (low, high), self._values.choice)
        points = {ordinary, low, high, *exact.points}
        if not exact.is_exact:
            self._sampled.add(kind)
            named = self._named()
            is_lot = kind == "randomness"
            points.update(points_of_interest(named, ordinary, low, high, is_lot=is_lot))
            points.update(clock_grid(ordinary, high) if kind in _CLOCKS else ())
        nearest = sorted(points, key=lambda point: abs(point - ordinary))
        for found in nearest_flips(truth, nearest, ordinary):
            self._flipped.add(kind)
            value = _placed(word, bits, found)
            contract = self._setting.contract if slot is not None else None
            yield WhatIf(input=kind, value=value, slot=slot, contract=contract)

    def _domain(self, kind: Input, ordinary: int) -> tuple[int, int]:
        setting = self._setting
        domains: dict[Input, tuple[int, int]] = {
            "gas_price": (setting.base_fee_wei, 100 * ordinary + 10**12),
            "base_fee": (0, 100 * ordinary + 10**12),
            "proposer": (0, ADDRESS_MASK),
            "gas": (60_000, 30_000_000),
            "coins": (10**15, 10**24),
            "amount": (max(1, setting.amount_raw // _CRUMB), setting.amount_raw),
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
        }
        if source == "time":
            yield from self._later(_LATER_DAYS)
        for kind, value in samples.get(source, ()):
            yield WhatIf(input=kind, value=value)
        if source == "balance":
            for holder, slot in (self._values.holders() or {}).items():
                for value in (0, 1, setting.supply_raw) if setting.is_plain else ():
                    yield from self._holding(holder, slot, value)


def _placed(word: int, bits: int, value: int) -> int:
    """Return the word of a slot with the variable at `bits` set to a value."""
    return word & ~bits & MASK | (value << lowest_bit(bits)) & bits
