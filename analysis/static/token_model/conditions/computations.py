"""Computation writer: an expression as steps over named leaves, with the inputs it depends on.

Whatever is not modelled becomes a step `unknown`. Beyond the bounds (about 300 steps, depth 60, 64
operands of a phi) the source `unknown` is added; a phi of 5 to 64 operands is a step `unknown` with
the sources of all operands.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import HASHES, is_own_address
from analysis.static.dataflow.predicates import (
    CALLER,
    FROM,
    ORIGIN,
    THIS,
    TO,
    Variable,
    parameters_of,
)
from analysis.static.dataflow.storage_layout import StorageLocation, names_unknown
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import FOLDED, Expr, Value, address_in
from analysis.static.evm.path_state import ALLOWANCE, APPROVE, BALANCE_OF, MOVERS, TOTAL_SUPPLY
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.callee_reads import may_fail, reads_of
from analysis.static.token_model.conditions.trade_conditions import Source
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import operand_index
from analysis.static.token_model.storage.constant_slots import may_be_entry
from core.evm.primitives import ADDRESS_MASK, to_hash32

_DECIMALS: Final = 0x313CE567
_GETTERS: Final[dict[int, int]] = {BALANCE_OF: 1, ALLOWANCE: 2, TOTAL_SUPPLY: 0, _DECIMALS: 0}
"""Number of arguments by selector."""


class OwnAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Possible results of the getters that a function calls."""

    returned: tuple[tuple[FunctionId, Value], ...]
    """Getter and word that it returns."""
    arguments: tuple[Value, ...]
    """All arguments they are called with."""


def own_answers(code: ContractModel, entry: FunctionId) -> OwnAnswers | None:
    """Return what this function's calls to its own contract may answer.

    None: one of them is not to a known getter, or its arguments are not known.
    """
    index = operand_index(code)
    own = [
        (pc, call)
        for (caller, pc), calls in index.calls.items()
        if caller == entry
        for call in calls
        if is_own_address(code.dependencies.single_value(call.target))
    ]
    selectors = {selector for pc, _ in own for selector in index.selectors[entry, pc]}
    if not selectors <= _GETTERS.keys():
        return None
    most = max((_GETTERS[selector] for selector in selectors if selector is not None), default=0)
    calls = [call for _, call in own]
    returned = tuple(
        (note.entry, word)
        for note in code.notes.returns.values()
        if note.entry in selectors
        for word in note.words[:1]
    )
    is_told = all(len(call.content) >= most for call in calls) or most == 0
    if not is_told or not selectors <= {getter for getter, _ in returned}:
        return None
    arguments = dict.fromkeys(word for call in calls for word in call.content[:most])
    return OwnAnswers(returned=returned, arguments=tuple(arguments))


ENVIRONMENT: Final[dict[str, tuple[str, Source]]] = {
    "TIMESTAMP": ("time", "time"),
    "NUMBER": ("block", "block"),
    "GASPRICE": ("gas_price", "fees"),
    "BASEFEE": ("base_fee", "fees"),
    "BLOBBASEFEE": ("blob_base_fee", "fees"),
    "GASLIMIT": ("gas_limit", "fees"),
    "COINBASE": ("proposer", "proposer"),
    "DIFFICULTY": ("randomness", "randomness"),
    "PREVRANDAO": ("randomness", "randomness"),
    "GAS": ("gas", "gas"),
    "CALLDATASIZE": ("input", "input"),
}

IDENTITY: Final = {"CALLER": "caller", "ORIGIN": "origin", "ADDRESS": "this"}
FIXED: Final = frozenset(
    {"selector", "selector_high", "CODESIZE", "CHAINID", "CALLVALUE", "PC", "MSIZE"}
)


ARITHMETIC: Final = frozenset(
    {"SDIV", "SMOD", "ADDMOD", "MULMOD", "SIGNEXTEND", "SAR", "CLZ", "EXP", "BYTE"}
)


def is_own_purse(word: Value) -> bool:
    """True if the value is the contract's own native balance."""
    if not isinstance(word, Expr):
        return False
    return word.operation == "SELFBALANCE" or (
        word.operation == "BALANCE" and is_own_address(word.arguments[0])
    )


def is_proceeds(word: Value) -> bool:
    """True if the value is a difference of the contract's own native balances: what its own swap
    brought."""
    return (
        isinstance(word, Expr)
        and word.operation == "SUB"
        and all(map(is_own_purse, word.arguments))
    )


def is_proceeds_check(word: Expr) -> bool:
    """True if the comparison is a compiler's check that proceeds are not negative."""
    return any(map(is_proceeds, word.arguments)) and any(map(is_own_purse, word.arguments))


def is_derived(account: Value) -> bool:
    """True if the address is computed, or a hash: no party of a transfer, and no stored address."""
    bare = address_in(account)
    match bare:
        case Expr(operation="SHR", arguments=(int(), Expr(operation="SLOAD"))):
            return False  # a field of a packed slot
        case Expr(operation="DIV", arguments=(Expr(operation="SLOAD"), int())):
            return False
    return isinstance(bare, Expr) and (bare.operation in FOLDED or bare.operation in HASHES)


_MOST_STEPS: Final = 300
_MOST_MEANINGS: Final = 8
_MOST_PHIS: Final = 3000
_MOST_TOLD: Final = 64
_DEEPEST: Final = 60
_PRECOMPILES: Final = 0x200
_PARTIES: Final = frozenset({FROM, TO, CALLER, ORIGIN})
_HOLDING: Final = _PARTIES | {THIS}
_SPENDER: Final = 4
"""Calldata offset of the spender in `approve`."""
_HOLDER: Final = 4
"""Calldata offset of the account in `balanceOf`."""

_GIVEN: Final = frozenset[Source]({"amount", "input"})
"""Sources of calldata, for a getter its arguments."""


class ComputationInput(msgspec.Struct, frozen=True, kw_only=True):
    """One input that an expression depends on."""

    source: Source | None = None
    """None: a party's identity, or given by the writers of `variable`."""
    variable: Variable | None = None


class Computation(msgspec.Struct, frozen=True, kw_only=True):
    """An expression as steps, with its inputs."""

    steps: tuple[ComputationStep, ...]
    found: tuple[ComputationInput, ...]


class ComputationWriter:
    """Translator of one contract's expressions into computations."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code

    def leaves(self, word: Value, entry: FunctionId) -> Computation:
        """Return the computation of a value; its last step is the value."""
        writer = _Writer(self._code, entry, word, set())
        writer.write(word, _DEEPEST)
        return Computation(steps=tuple(writer.steps), found=tuple(writer.leaves))


class _Writer:
    def __init__(
        self,
        code: ContractModel,
        entry: FunctionId,
        word: Value,
        elsewhere: set[tuple[FunctionId, Value]],
        *,
        is_outermost: bool = True,
    ) -> None:
        """`elsewhere`: values of other functions whose sources are added already. `is_outermost`:
        the function is not called by the one whose condition it is."""
        self._is_outermost = is_outermost
        self._code = code
        self._elsewhere = elsewhere
        self._operands = operand_index(code)
        self._entry = entry
        self._voice = parameters_of(entry)
        self._bits = dict(code.dependencies.sources(word))
        self._known: dict[Value, int] = {}
        self._open: set[Value] = set()
        """Expressions in translation, to detect cycles."""
        self.steps: list[ComputationStep] = []
        self.leaves: dict[ComputationInput, None] = {}

    def write(self, word: Value, depth: int) -> int:
        """Return the index of the value's step."""
        if word in self._open:
            # A loop's phi that depends on itself: its other operands give its dependencies.
            return self._step("unknown")
        if word not in self._known:
            if depth == 0 or len(self.steps) > _MOST_STEPS:
                self._add(source="unknown")
                return self._step("unknown")
            self._open.add(word)
            self._known[word] = self._write(word, depth - 1)
            self._open.remove(word)
        return self._known[word]

    def _step(self, operation: str, *arguments: int, word: int | None = None) -> int:
        self.steps.append(
            ComputationStep(operation, arguments, None if word is None else to_hash32(word))
        )
        return len(self.steps) - 1

    def _add(self, *, source: Source | None = None, variable: Variable | None = None) -> None:
        if source is not None or variable is not None:
            self.leaves[ComputationInput(source=source, variable=variable)] = None

    def _write(self, word: Value, depth: int) -> int:
        if isinstance(word, int):
            return self._step("number", word=word)
        name = word.operation
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(self, word, depth)
        if is_proceeds(word):
            # They depend on trades as a balance does.
            self._add(source="balance")
            return self._step("proceeds")
        if name in ("GT", "LT") and is_proceeds_check(word):
            self._add(source="balance")
            return self._step("unknown")
        if name in FOLDED:
            inner = [self.write(each, depth) for each in word.arguments]
            return self._step(name, *inner)
        leaf = self._named(name)
        return self._other(word, depth) if leaf is None else leaf

    def _named(self, name: str) -> int | None:
        """Return the step of a leaf without operands. None: the operation is no such leaf."""
        if name in ENVIRONMENT:
            operation, source = ENVIRONMENT[name]
            self._add(source=source)
            return self._step(operation)
        operation = IDENTITY.get(name, "unknown" if name in FIXED else "")
        return self._step(operation) if operation else None

    def _other(self, word: Expr, depth: int) -> int:
        """Return a step `unknown`. Arithmetic that is not folded adds its operands' sources; any
        other operation adds the source `unknown`."""
        if word.operation in ARITHMETIC:
            for each in word.arguments:
                self.write(each, depth)
        else:
            self._add(source="unknown")
        return self._step("unknown")

    # --- leaves -------------------------------------------------------------------------------

    def _either(self, word: Expr, depth: int) -> int:
        # Nested phis have too many operands to evaluate, but each adds its dependencies.
        meanings = self._code.dependencies.phi_values(word, most=_MOST_PHIS)
        if len(meanings) > _MOST_TOLD:
            meanings = ()
        inner = [self.write(each, depth) for each in meanings if each is not word]
        if not inner or len(inner) > _MOST_MEANINGS:
            if not inner:
                self._add(source="unknown")
            return self._step("unknown")
        return self._step("phi", *inner)

    def _argument(self, word: Expr, _depth: int) -> int:
        offset = word.arguments[0]
        if offset == self._voice.amount:
            self._add(source="amount")
            return self._step("amount")
        if offset == self._voice.sender:
            return self._step(FROM)
        if offset == self._voice.recipient:
            return self._step(TO)
        if self._entry == APPROVE and offset == _SPENDER:
            return self._step("spender")
        if self._is_shown(word):
            return self._step("unknown")
        if self._entry in MOVERS:
            self._add(source="input")
        elif self._entry is not None:
            self._add(source="amount")
        return self._step("unknown")

    def _is_shown(self, word: Value) -> bool:
        """True for the account whose balance `balanceOf` returns."""
        return (
            self._entry == BALANCE_OF
            and self._is_outermost
            and isinstance(word, Expr)
            and word.operation == "CALLDATALOAD"
            and word.arguments[0] == _HOLDER
        )

    def _coins(self, word: Expr, depth: int) -> int:
        self._add(source="coins")
        whose = self._address(word.arguments[0], depth) if word.arguments else self._step("this")
        return self._step("coins", whose)

    def _code_of(self, word: Expr, depth: int) -> int:
        whose = address_in(self._code.dependencies.single_value(word.arguments[0]))
        self._add(source="wallet" if self._is_party(whose) else "code")
        return self._step("unknown", self._address(word.arguments[0], depth))

    def _is_party(self, whose: Value) -> bool:
        if not isinstance(whose, Expr):
            return False
        is_argument = whose.operation == "CALLDATALOAD" and whose.arguments[0] in (
            self._voice.sender,
            self._voice.recipient,
        )
        return is_argument or whose.operation in IDENTITY

    def _answer(self, word: Expr, depth: int) -> int:
        target = address_in(self._code.dependencies.single_value(word.arguments[0]))
        if isinstance(target, int) and target < _PRECOMPILES:
            self._add(source="hash")
            return self._step("unknown")
        self._add(source="answer")
        if is_own_address(target):
            self._own_answer(depth)
            return self._step("answer", self._address(target, depth))
        reads = reads_of(self._code, self._entry, target)
        if reads.is_open:
            self._add(source="outside")
        holders = [self._address(holder, depth) for holder in reads.holders]
        return self._step("answer", self._address(target, depth), *holders)

    def _own_answer(self, depth: int) -> None:
        """Add the results of the contract's own getters, for all arguments they are called with."""
        answers = own_answers(self._code, self._entry)
        if answers is None:
            self._add(source="unknown")
            return
        for argument in answers.arguments:
            self.write(argument, depth)
        before = dict(self.leaves)
        for getter, word in answers.returned:
            self._add_of(getter, word, depth)
        # A getter's arguments are added above; factors that scale every balance are amounts.
        for leaf in self.leaves.keys() - before.keys():
            if leaf.source in _GIVEN or leaf.variable in self._code.storage.roles.scale:
                del self.leaves[leaf]

    def _own_success(self, depth: int) -> None:
        """Add the source `unknown` if a call to the contract itself may fail.

        The getters that it is known to call do not, apart from the checks of a compiler.
        """
        answers = own_answers(self._code, self._entry)
        getters = {getter for getter, _ in answers.returned} if answers is not None else set()
        failing = [
            (getter, refusal.test.condition)
            for getter in getters
            for refusal in self._code.functions.cfg(getter).revert_branches()
            if not self._code.guards.is_check(refusal.test.pc, refusal.test.condition)
        ]
        before = dict(self.leaves)
        for getter, condition in failing:
            self._add_of(getter, condition, depth)
        given = {leaf for leaf in self.leaves.keys() - before.keys() if leaf.source in _GIVEN}
        for leaf in given:
            del self.leaves[leaf]
        if answers is None or self.leaves.keys() - before.keys():
            self._add(source="unknown")

    def _success(self, word: Expr, depth: int) -> int:
        pc, whom = word.arguments
        target = address_in(self._code.dependencies.single_value(whom))
        calls = self._operands.calls.get((self._entry, pc), []) if isinstance(pc, int) else []
        is_sure = self._depends_on((call.deciding() for call in calls), depth) and bool(calls)
        if isinstance(target, int) and target < _PRECOMPILES:
            return self._step("number", word=1) if is_sure else self._step("unknown")
        if is_own_address(target):
            self._own_success(depth)
        else:
            self._add(source="callee")
            if isinstance(pc, int) and may_fail(self._code, self._entry, pc):
                self._add(source="outside")
        step = self._step("callee", self._address(target, depth))
        return step if is_sure or not calls else self._step("unknown", step)

    def _depends_on(self, calls: Iterable[tuple[Value, ...] | None], depth: int) -> bool:
        """Add the sources of these operands; of unknown ones the source `unknown`. True if there
        are none at all."""
        is_sure = True
        for operands in calls:
            if operands is None:
                self._add(source="unknown")
            for operand in operands or ():
                self.write(operand, depth)
            is_sure &= operands == ()
        return is_sure

    def _returned_size(self, word: Expr, depth: int) -> int:
        """Add what decides how much data the last call returned: it may be any call to a
        precompile in the function, as merged paths keep one last call only."""
        calls = self._operands.precompiles.get(self._entry, [])
        self._depends_on((call.sizing() for call in calls), depth)
        target = address_in(self._code.dependencies.single_value(word.arguments[0]))
        if isinstance(target, int) and target < _PRECOMPILES:
            return self._step("unknown")
        self._add(source="callee")
        return self._step("answer", self._address(target, depth))

    def _transient(self, word: Expr, depth: int) -> int:
        """Add what the values depend on that transient stores may have left. None is evaluated:
        honest code keeps locks and amounts there, which need no solution."""
        for entry, value in self._operands.stores_to(word.arguments[0]):
            if entry == self._entry:
                self.write(value, depth)
            elif (entry, value) not in self._elsewhere:
                self._elsewhere.add((entry, value))
                self._add_of(entry, value, depth)
        return self._step("unknown")

    def _add_of(self, entry: FunctionId, value: Value, depth: int) -> None:
        """Add the sources of a value that another function computes."""
        other = _Writer(self._code, entry, value, self._elsewhere, is_outermost=False)
        other.write(value, depth)
        self.leaves.update(other.leaves)

    def _address(self, word: Value, depth: int) -> int:
        """Return the step of an address operand. The EVM uses its low 160 bits, so the rest of its
        slot does not matter."""
        target = address_in(self._code.dependencies.single_value(word))
        if isinstance(target, Expr):
            self._bits.setdefault(target, ADDRESS_MASK)
        return self.write(target, depth)

    def _hash(self, word: Expr, depth: int) -> int:
        """Return a step `unknown`; add the source `hash` unless only identities are hashed."""
        before = len(self.leaves)
        for each in word.arguments:
            self.write(each, depth)
        if len(self.leaves) > before:
            self._add(source="hash")
        return self._step("unknown")

    def _block_hash(self, _word: Expr, _depth: int) -> int:
        self._add(source="block_hash")
        return self._step("unknown")

    def _load(self, word: Expr, depth: int) -> int:
        places = self._code.layout.of(word.arguments[0])
        bits = self._bits.get(word, 0) or self._code.dependencies.sources(word).get(word, 0)
        is_shown = self._is_shown_balance(places)
        for place in () if is_shown else places:
            self._role(place, bits)
        if len(places) != 1 or is_shown:
            return self._step("unknown")
        place = places[0]
        roles = self._code.storage.roles
        if not place.keys and isinstance(place.root, int):
            return self._step("slot", word=place.root)
        if place.root in roles.balances and not is_derived(place.keys[0]):
            holder = self.write(place.keys[0], depth)
            if self._code.storage.predicates.party(place.keys[0], self._voice) in _HOLDING:
                return self._step("balance", holder)
            return self._step("balance", holder, self._slot(word.arguments[0], depth))
        keys = [self.write(key, depth) for key in place.keys]
        if place.slot is not None:
            slot = self._slot(word.arguments[0], depth)
            return self._step("mark", slot, *keys, word=place.slot)
        is_partys = any(
            self._code.storage.predicates.party(key, self._voice) in _PARTIES for key in place.keys
        )
        return self._step("entry" if is_partys else "unknown", *keys)

    def _is_shown_balance(self, places: Iterable[StorageLocation]) -> bool:
        roles = self._code.storage.roles
        return all(
            place.root in roles.balances
            and self._is_shown(address_in(self._code.dependencies.single_value(place.keys[0])))
            for place in places
        )

    def _role(self, place: StorageLocation, bits: int) -> None:
        roles = self._code.storage.roles
        if names_unknown(place.root) or may_be_entry(place.root):
            self._add(source="unknown")  # it may be any variable, or a constant account's balance
        if place.root in roles.balances and is_derived(place.keys[0]):
            # An account without an owner: any sender of tokens sets its balance.
            self._add(source="mark", variable=(place.root, bits))
        elif place.root in roles.balances:
            is_payer = self._code.storage.predicates.party(place.keys[0], self._voice) == FROM
            self._add(source="amount" if is_payer else "balance")
        elif place.root in roles.allowances:
            parties = [self._code.storage.predicates.party(key, self._voice) for key in place.keys]
            if self._entry == APPROVE and parties[:1] == [CALLER] and self._is_spender(place):
                return  # the allowance that this call sets
            if is_own_address(place.keys[0]):
                # The contract's allowance to its router: its own swaps consume and renew it.
                self._add(source="mark", variable=(place.root, bits))
            elif parties[:1] != [FROM] or parties[1:] not in ([CALLER], [FROM]):
                self._add(source="unguarded", variable=(place.root, bits))
        else:
            self._add(variable=(place.root, bits))

    def _is_spender(self, place: StorageLocation) -> bool:
        """True if it is the allowance that `approve` sets, not another one of the caller."""
        named = address_in(self._code.dependencies.single_value(place.keys[-1]))
        return (
            isinstance(named, Expr)
            and named.operation == "CALLDATALOAD"
            and named.arguments[0] == _SPENDER
        )

    def _slot(self, slot: Value, depth: int) -> int:
        """Return the step that computes the slot of a mapping entry."""
        slot = self._code.dependencies.single_value(slot)
        if isinstance(slot, Expr) and slot.operation in _PLACING and depth:
            parts = [self._slot(part, depth - 1) for part in slot.arguments]
            return self._step(slot.operation, *parts)
        return self.write(slot, depth)


_PLACING: Final = frozenset({"keccak", "ADD"})
"""Operations with which compilers compute the slots of entries, fields and elements."""


_HANDLERS: Final = {
    "phi": _Writer._either,
    "top": _Writer._either,
    "CALLDATALOAD": _Writer._argument,
    "BALANCE": _Writer._coins,
    "SELFBALANCE": _Writer._coins,
    "EXTCODESIZE": _Writer._code_of,
    "EXTCODEHASH": _Writer._code_of,
    "result": _Writer._answer,
    "success": _Writer._success,
    "RETURNDATASIZE": _Writer._returned_size,
    "TLOAD": _Writer._transient,
    "keccak": _Writer._hash,
    "packed": _Writer._hash,
    "BLOCKHASH": _Writer._block_hash,
    "SLOAD": _Writer._load,
}
