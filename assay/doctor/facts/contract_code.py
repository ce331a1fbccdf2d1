"""Whether there is code at every configured address."""

from collections.abc import Iterator

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, hex_of, ok
from assay.doctor.tracers import pinned
from config.chains import Chain
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest


def _look(subject: Subject) -> Steps:
    named = list(_named(subject.chain))
    addresses = list(dict.fromkeys(address for _, _, address in named))
    answers = yield ask(
        *(RpcRequest("eth_getCode", (one, pinned(subject.head))) for one in addresses)
    )
    empty = {
        address
        for address, answer in zip(addresses, answers.all, strict=True)
        if not hex_of(answer, asked=f"code of {address}")
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


def _named(chain: Chain) -> Iterator[tuple[str, str, Address]]:
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

CHECK = Check(
    name="contracts",
    group="facts",
    question="is there code at every configured address",
    look=_look,
    costs="pools or launches of that exchange or platform are not found; of a quote token or the "
    "oracle, liquidity and prices are unknown; what lies in that locker is not known to be locked",
    mend="correct the address in the overlay's chains/<slug>.toml, and report it",
)
