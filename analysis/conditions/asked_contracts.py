"""Contracts that a condition asks: whether their answers are known. Pure."""

from collections.abc import Collection, Sequence

from analysis.conditions.condition_evaluator import address_of_word, constant
from analysis.conditions.condition_inputs import OrdinaryTrade
from analysis.static.token_model.cap_rules import ComputationStep
from core.evm.primitives import Address


class AskedContracts:
    """The contracts that the steps of one condition call."""

    def __init__(
        self,
        steps: Sequence[ComputationStep],
        setting: OrdinaryTrade,
        accounts: Collection[Address],
    ) -> None:
        """`accounts`: callees that have no code and cannot get any."""
        self._steps = steps
        self._setting = setting
        self._accounts = accounts

    def unknown(self) -> str | None:
        """Return why a called contract is not known, else None."""
        reasons = (
            self._is_unknown(step.arguments[0])
            for step in self._steps
            if step.operation in ("answer", "callee")
        )
        return next((reason for reason in reasons if reason is not None), None)

    def _is_unknown(self, at: int) -> str | None:
        """Return why the contract that a step names is not known, else None. A contract returned
        by a known one is known too: the wrapped coin of a router, the pair of a factory."""
        step = self._steps[at]
        target = constant(self._steps, at, self._setting.words)
        target = self._identity(at) if target is None else target
        if target is not None:
            address = address_of_word(target)
            if address in self._setting.known or address in self._accounts:
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
