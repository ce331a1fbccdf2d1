"""Called contracts of one condition: those that simulations execute, and unknown ones. Pure."""

from collections.abc import Collection, Iterator

from analysis.conditions.condition_evaluator import address_of_word
from analysis.conditions.condition_inputs import OrdinaryTrade
from analysis.static.token_model.caps.cap_rules import constant
from analysis.static.token_model.conditions.trade_conditions import TradeCondition
from core.evm.primitives import Address


class CalledContracts:
    """Contracts that one condition calls."""

    def __init__(
        self, condition: TradeCondition, setting: OrdinaryTrade, accounts: Collection[Address]
    ) -> None:
        """`accounts`: callees that have no code and cannot get any."""
        self._steps = condition.steps
        self._is_open = "unguarded" in condition.sources
        self._setting = setting
        self._accounts = accounts

    def unknown(self) -> str | None:
        """Return why a called contract is not known, else None."""
        reasons = [
            self._is_unknown(step.arguments[0])
            for step in self._steps
            if step.operation in ("answer", "callee")
        ]
        reasons += [self._is_unasked(target, holder) for target, holder in self._holders()]
        return next((reason for reason in reasons if reason is not None), None)

    def is_any(self) -> bool:
        """True if a contract is called: not only accounts without code, whose calls pass."""
        called = [
            self._account(step.arguments[0])
            for step in self._steps
            if step.operation in ("answer", "callee")
        ]
        return any(
            target is None or (target and address_of_word(target) not in self._accounts)
            for target in called
        )

    def reads_own_quote(self) -> bool:
        """True if it reads the balance of the token contract in the quote."""
        token, has_quote = int(self._setting.token, 16), int(self._setting.quote, 16) != 0
        return has_quote and any(self._account(holder) == token for _, holder in self._holders())

    def _holders(self) -> Iterator[tuple[int, int]]:
        """Yield the steps of a contract and of an account whose balance is read from it."""
        for step in self._steps:
            if step.operation == "answer":
                target, *holders = step.arguments
                yield from ((target, holder) for holder in holders)

    def _is_unasked(self, target: int, holder: int) -> str | None:
        """Return why a balance of another token is not known, else None: the quote's of pools moves
        with prices, and that of the token contract is moved by dust."""
        quote, account = self._account(target), self._account(holder)
        is_quote = quote is None or quote == int(self._setting.quote, 16)
        if account is not None and is_quote:
            address = address_of_word(account)
            if address in self._setting.known or account == int(self._setting.token, 16):
                return None
        return "asks another contract for the balance of an account that trades do not move"

    def _account(self, at: int) -> int | None:
        found = constant(self._steps, at, self._setting.words)
        return self._identity(at) if found is None else found

    def _is_unknown(self, at: int) -> str | None:
        """Return why the contract that a step names is not known, else None. A contract returned
        by a known one is known too: the wrapped coin of a router, the pair of a factory."""
        step = self._steps[at]
        target = self._account(at)
        if target is not None:
            address = address_of_word(target)
            if address in self._setting.known:
                return None
            if address in self._accounts or not target:
                # Calls pass and return nothing: no code can ever be there, nor at address zero.
                return "anybody may set the address that it calls" if self._is_open else None
            return f"asks {address}, whose code was not examined"
        if step.operation == "answer":
            return self._is_unknown(step.arguments[0])
        parts = [each for each in step.arguments if self._steps[each].operation != "number"]
        reasons = [self._is_unknown(each) for each in parts]
        if step.operation == "unknown" or not reasons:
            return "asks a contract that is not known"
        return next((reason for reason in reasons if reason is not None), None)

    def _identity(self, step: int) -> int | None:
        return {
            "this": int(self._setting.token, 16),
            "caller": int(self._setting.router, 16),
            "to": int(self._setting.pool, 16),
            "from": int(self._setting.trader, 16),
        }.get(self._steps[step].operation)
