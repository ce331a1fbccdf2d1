"""Whether logs can be asked for without naming contracts."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    Steps,
    Subject,
    ask,
    describe_answer,
    ok,
    result_of,
)
from assay.doctor.log_sets import query, query_block
from core.rpc.messages import RpcFault
from core.rpc.ranges import is_address_refusal
from indexer.reads import TOPICS


def _look(subject: Subject) -> Steps:
    head = subject.head
    answers = yield ask(query(head.number, head.number, TOPICS), query_block(head, TOPICS))
    for answer in answers.all:
        if isinstance(answer, RpcFault) and is_address_refusal(answer):
            return [CheckFinding(status="degraded", seen=describe_answer(answer))]
        result_of(answer, asked="logs of one block of all contracts")
    return [ok("by range and by block hash")]


CHECK = Check(
    name="logs of all contracts",
    group="logs",
    question="can logs be asked for without addresses",
    look=_look,
    costs="receipts of whole blocks are read instead: far more bytes, and back-fills of 64 "
    "blocks at a time",
    mend="add an endpoint that answers eth_getLogs without addresses",
)
