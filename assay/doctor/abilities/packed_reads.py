"""Whether many reads can be made as one eth_call, as analyses make them, with the same answers."""

from analysis.reads.chain_reads import CodeRead, ContractRead, call_of
from analysis.reads.multicall import PackStep, ReadStatus, pack_request, read_pack
from assay.doctor.check import (
    Check,
    CheckFinding,
    Steps,
    Subject,
    ask,
    describe_answer,
    hex_of,
    is_result,
    ok,
)
from assay.doctor.contract_reads import ContractGetter
from assay.doctor.tracers import drawn_address, pinned
from core.rpc.messages import RpcRequest


def _look(subject: Subject) -> Steps:
    head, anchor = subject.head, subject.chain.wrapped_native.address
    reads: list[ContractRead] = [
        CodeRead(address=anchor),
        call_of(anchor, "decimals()"),
        call_of(anchor, "totalSupply()"),
    ]
    steps = [PackStep(read=read) for read in reads]
    pack = pack_request(steps, at=drawn_address(head, "pack"), block=pinned(head), overrides={})
    answers = yield ask(
        pack,
        RpcRequest("eth_getCode", (anchor, pinned(head))),
        ContractGetter(anchor, "decimals()").request(head),
        ContractGetter(anchor, "totalSupply()").request(head),
    )
    expected = [hex_of(answers[at], asked="a read by itself") for at in (1, 2, 3)]
    pack_answer = answers[0]
    found = read_pack(pack_answer, count=len(steps)) if is_result(pack_answer) else None
    if found is None:
        seen = f"a pack of {len(steps)} reads: {describe_answer(answers[0])} that cannot be used"
        return [CheckFinding(status="degraded", seen=seen)]
    identity, results = found
    if identity.time_s != head.ref.time_s or identity.parent_hash != head.ref.parent_hash:
        seen = f"the pack was run on another block than {head.number}"
        return [CheckFinding(status="failed", seen=seen)]
    if any(
        result.status is not ReadStatus.OK or result.data != value
        for result, value in zip(results, expected, strict=True)
    ):
        return [CheckFinding(status="failed", seen="packed reads differ from the same reads alone")]
    return [ok(f"{len(steps)} reads in one call, the same as alone")]


CHECK = Check(
    name="packed reads",
    group="state",
    question="can many reads go as one call",
    look=_look,
    severity="degraded",
    costs="an analysis takes a call for each read, several times as many",
    mend="see state overrides; a limit on the gas of eth_call must be at least 15 million",
)
