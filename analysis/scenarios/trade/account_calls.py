"""Transactions of several accounts in one simulation, labelled with the account's name."""

from analysis.scenarios.trade.token_calls import UNLIMITED
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.trade_steps import ApprovalSteps, write_approval
from analysis.simulation.simulation_builder import CallWriter
from core.evm.primitives import Address

ACT_GAS = 4_000_000
"""Gas of one trade or transfer where a simulation has many: above what the dearest honest token
needs, one that mints an item for each unit. Unused gas does not count."""


def account_calls(calls: CallWriter, name: str) -> CallWriter:
    """Return a writer for one account's calls, with ACT_GAS for every transaction."""
    return calls.named(f"{name}: ", gas=ACT_GAS)


def write_approvals(
    calls: CallWriter, setup: TradeSetup, seller: Address, amount: int
) -> ApprovalSteps:
    """Write the router's approval of `amount`, then an unlimited one, where the token permits it.
    Return the first."""
    approval = write_approval(calls, setup, seller, "at sale", amount)
    write_approval(calls, setup, seller, "everything at sale", UNLIMITED)
    return approval
