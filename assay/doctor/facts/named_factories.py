"""Whether routers, quoters and position managers name the exchange's factory and the wrapped coin.

A router of another factory trades other pools: every trade through it fails, as of a honeypot.
"""

from collections.abc import Mapping, Sequence

from assay.doctor.check import Check, CheckFinding, ProbeAnswer, Steps, Subject, ok
from assay.doctor.contract_reads import ContractGetter, address_in, read_all
from config.chains import Dex
from core.evm.primitives import Address

_FACTORY = ("factory()", "factoryV2()", "defaultFactory()", "poolManager()", "manager()")
_WRAPPED = ("WETH()", "WETH9()", "weth()")


def _look(subject: Subject) -> Steps:
    chain = subject.chain
    getters = [
        ContractGetter(contract, signature)
        for dex in chain.dexes
        for contract in _periphery(dex).values()
        for signature in (*_FACTORY, *_WRAPPED)
    ]
    answers = yield from read_all(subject.head, getters)
    findings = [_judge(dex, answers, chain.wrapped_native.address) for dex in chain.dexes]
    return [one for one in findings if one is not None]


def _periphery(dex: Dex) -> dict[str, Address]:
    named = {
        "router": dex.router,
        "quoter": dex.quoter,
        "position manager": dex.position_manager,
        "state view": dex.state_view,
    }
    return {role: one for role, one in named.items() if one is not None and one != dex.factory}


def _judge(
    dex: Dex, answers: Mapping[ContractGetter, ProbeAnswer], wrapped: Address
) -> CheckFinding | None:
    """Return None for an exchange without periphery."""
    agreed, wrong = [], []
    for role, contract in _periphery(dex).items():
        factories = _told(answers, contract, _FACTORY)
        coins = _told(answers, contract, _WRAPPED)
        if factories and dex.factory not in factories:
            wrong.append(f"{role} {contract} names the factory {factories[0]}")
        elif coins and wrapped not in coins:
            wrong.append(f"{role} {contract} wraps coins in {coins[0]}")
        elif factories:
            agreed.append(role)
    if wrong:
        return CheckFinding(status="failed", subject=dex.name, seen="; ".join(wrong))
    if agreed:
        return ok(f"named by {', '.join(agreed)}", subject=dex.name)
    if _periphery(dex):
        return CheckFinding(status="unknown", subject=dex.name, seen="no contract names a factory")
    return None


def _told(
    answers: Mapping[ContractGetter, ProbeAnswer], contract: Address, signatures: Sequence[str]
) -> list[Address]:
    told = (address_in(answers[ContractGetter(contract, signature)]) for signature in signatures)
    return [one for one in told if one is not None]


CHECK = Check(
    name="factories named",
    group="facts",
    question="do routers and quoters name the exchange's factory",
    look=_look,
    costs="trades go through a router of our own instead: tokens that know their router behave "
    "otherwise there",
    mend="correct router or factory in the overlay's [[dex]], and report it",
)
