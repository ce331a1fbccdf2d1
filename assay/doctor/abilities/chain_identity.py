"""Whether the endpoint serves the chain that it is configured for."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok, quantity_of
from core.rpc.messages import RpcRequest


def _look(subject: Subject) -> Steps:
    answers = yield ask(RpcRequest("eth_chainId"))
    got, wanted = quantity_of(answers[0], asked="eth_chainId"), subject.chain.id
    if got == wanted:
        return [ok(f"chain id {got}")]
    return [CheckFinding(status="failed", seen=f"chain id {got}, expected {wanted}")]


CHECK = Check(
    name="chain id",
    group="node",
    question="which chain does it serve",
    look=_look,
    costs="the endpoint is of no use for this chain",
    mend="see that it answers at all; name one of another chain in ASSAY_RPC_<the id it serves>",
)
