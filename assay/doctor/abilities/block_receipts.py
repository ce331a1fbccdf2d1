"""Whether receipts can be read by block and by transaction."""

import msgspec

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok, result_of
from core.rpc.headers import header_request
from core.rpc.messages import RpcRequest

_LOOKED_AT = 64


class _Block(msgspec.Struct):
    transactions: list[str]
    hash: str


class _Receipt(msgspec.Struct, rename="camel"):
    transaction_hash: str
    block_hash: str


def _look(subject: Subject) -> Steps:
    head = subject.head.number
    heights = [at for at in range(head, head - _LOOKED_AT, -1) if at >= 0]
    answers = yield ask(*(header_request(at) for at in heights))
    blocks = [
        msgspec.json.decode(result_of(one, asked="a block"), type=_Block | None)
        for one in answers.all
    ]
    at = next((at for at, one in enumerate(blocks) if one is not None and one.transactions), 0)
    block = blocks[at]
    if block is None:
        return [CheckFinding(status="failed", seen=f"there is no block {heights[at]}")]
    sent = block.transactions[:1]
    answers = yield ask(
        RpcRequest("eth_getBlockReceipts", (block.hash,)),
        RpcRequest("eth_getBlockReceipts", (hex(heights[at]),)),
        *(RpcRequest("eth_getTransactionReceipt", (one,)) for one in sent),
    )
    found = [
        msgspec.json.decode(result_of(one, asked=asked), type=list[_Receipt])
        for one, asked in zip(answers.all, ("receipts by hash", "receipts by number"), strict=False)
    ]
    wanted = [*block.transactions]
    if any([one.transaction_hash for one in receipts] != wanted for receipts in found):
        seen = f"receipts of block {heights[at]} are not those of its {len(wanted)} transactions"
        return [CheckFinding(status="failed", seen=seen)]
    for one in answers.all[2:]:
        receipt = msgspec.json.decode(
            result_of(one, asked="eth_getTransactionReceipt"), type=_Receipt
        )
        if receipt.block_hash != block.hash:
            return [CheckFinding(status="failed", seen="a receipt names another block")]
    if not wanted:
        seen = f"no transaction in {len(heights)} blocks: the lists of receipts are empty"
        return [CheckFinding(status="unknown", seen=seen, costs="")]
    return [ok(f"{len(wanted)} receipts of block {heights[at]}")]


CHECK = Check(
    name="receipts",
    group="logs",
    question="are receipts answered by block",
    look=_look,
    severity="degraded",
    costs="creators of tokens stay unknown; where logs of all contracts are refused too, the chain "
    "cannot be followed",
    mend="use a client with eth_getBlockReceipts",
)
