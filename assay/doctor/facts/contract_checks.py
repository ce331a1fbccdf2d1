"""Checks of configured contracts: code at their addresses, and the factories that they name."""

from collections.abc import Iterator, Mapping, Sequence

from assay.doctor.check import Check, CheckFinding, ProbeAnswer, Steps, Subject, ask, hex_of, ok
from assay.doctor.contract_reads import ContractGetter, address_in, read_all
from assay.doctor.tracers import pinned
from config.facts.chain import Chain, Dex
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest


def _check_contract_code(subject: Subject) -> Steps:
    named = list(_configured_addresses(subject.chain))
    addresses = list(dict.fromkeys(address for _, _, address in named))
    answers = yield ask(
        *(RpcRequest("eth_getCode", (one, pinned(subject.head))) for one in addresses)
    )
    empty = {
        address
        for address, answer in zip(addresses, answers.all, strict=True)
        if not hex_of(answer, what=f"code of {address}")
    }
    missing: dict[str, list[str]] = {}
    for owner, role, address in named:
        if address in empty:
            missing.setdefault(owner, []).append(f"{role} {address}")
    return [
        _PERMIT2_ABSENT
        if owner == _PERMIT2
        else CheckFinding(status="failed", subject=owner, seen=f"no code at {', '.join(roles)}")
        for owner, roles in missing.items()
    ] or [ok(f"code at all {len(addresses)} addresses")]


def _configured_addresses(chain: Chain) -> Iterator[tuple[str, str, Address]]:
    for anchor in chain.anchors:
        yield anchor.symbol, "token", anchor.address
    yield "oracle", "feed", chain.oracle.native_usd
    if chain.permit2 is not None:
        yield _PERMIT2, "contract", chain.permit2.address
        if chain.permit2.router is not None:
            yield _PERMIT2, "router", chain.permit2.router
    for dex in chain.dexes:
        roles = {
            "factory": dex.factory,
            "router": dex.router,
            "quoter": dex.quoter,
            "position manager": dex.position_manager,
            "state view": dex.state_view,
            "vault": dex.vault,
            "pool deployer": dex.pool_deployer,
        }
        yield from ((dex.name, role, one) for role, one in roles.items() if one is not None)
    for pad in chain.launchpads:
        yield from ((pad.slug, "contract", one) for one in pad.contracts)
        for registry in pad.registry:
            yield from ((pad.slug, "registry", one) for one in registry.at)
        yield from ((pad.slug, "implementation", one) for one in pad.clones_of)
    for locker in chain.lockers:
        yield from ((locker.name, "locker", one) for one in locker.contracts)


_PERMIT2 = "Permit2"
_PERMIT2_ABSENT = CheckFinding(
    status="degraded",
    subject=_PERMIT2,
    seen="no code at Permit2, or at the router that uses it",
    costs="tokens that can be sold through Permit2 only count as unsaleable",
)

CONTRACT_CODE = Check(
    name="contracts",
    group="facts",
    question="is there code at every configured address",
    look=_check_contract_code,
    costs="pools or launches of that exchange or platform are not found; of a quote token or the "
    "oracle, liquidity and prices are unknown; what lies in that locker is not known to be locked",
    mend="correct the address in the overlay's chains/<slug>.toml, and report it",
)


_FACTORY_GETTERS = ("factory()", "factoryV2()", "defaultFactory()", "poolManager()", "manager()")
_WRAPPED_GETTERS = ("WETH()", "WETH9()", "weth()")


def _check_named_factories(subject: Subject) -> Steps:
    chain = subject.chain
    getters = [
        ContractGetter(contract, signature)
        for dex in chain.dexes
        for contract in _periphery(dex).values()
        for signature in (*_FACTORY_GETTERS, *_WRAPPED_GETTERS)
    ]
    answers = yield from read_all(subject.head, getters)
    findings = [
        _periphery_finding(dex, answers, chain.wrapped_native.address) for dex in chain.dexes
    ]
    return [one for one in findings if one is not None]


def _periphery(dex: Dex) -> dict[str, Address]:
    named = {
        "router": dex.router,
        "quoter": dex.quoter,
        "position manager": dex.position_manager,
        "state view": dex.state_view,
    }
    return {role: one for role, one in named.items() if one is not None and one != dex.factory}


def _periphery_finding(
    dex: Dex, answers: Mapping[ContractGetter, ProbeAnswer], wrapped: Address
) -> CheckFinding | None:
    """Return None for an exchange without periphery."""
    agreed, wrong = [], []
    for role, contract in _periphery(dex).items():
        factories = _read_addresses(answers, contract, _FACTORY_GETTERS)
        coins = _read_addresses(answers, contract, _WRAPPED_GETTERS)
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


def _read_addresses(
    answers: Mapping[ContractGetter, ProbeAnswer], contract: Address, signatures: Sequence[str]
) -> list[Address]:
    found = (address_in(answers[ContractGetter(contract, signature)]) for signature in signatures)
    return [one for one in found if one is not None]


NAMED_FACTORIES = Check(
    name="factories named",
    group="facts",
    question="do routers and quoters name the exchange's factory",
    look=_check_named_factories,
    costs="trades go through a router of our own instead: tokens that know their router behave "
    "otherwise there",
    mend="correct router or factory in the overlay's [[dex]], and report it",
)
