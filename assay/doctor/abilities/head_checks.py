"""Checks of the chain id, the head and the blocks next to it."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    HeadsQuestion,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
    quantity_of,
    result_of,
)
from assay.doctor.tracers import drawn_word
from core.rpc.headers import LATEST, Header, block_request, decode_header, header_request
from core.rpc.messages import RpcFault, RpcRequest


def _check_chain_id(subject: Subject) -> Steps:
    answers = yield ask(RpcRequest("eth_chainId"))
    got, wanted = quantity_of(answers[0], what="eth_chainId"), subject.chain.id
    if got == wanted:
        return [ok(f"chain id {got}")]
    return [CheckFinding(status="failed", seen=f"chain id {got}, expected {wanted}")]


CHAIN_ID = Check(
    name="chain id",
    group="node",
    question="which chain does it serve",
    look=_check_chain_id,
    costs="the endpoint is of no use for this chain",
    mend="see that it answers at all; name one of another chain in ASSAY_RPC_<the id it serves>",
)


_LEAST_AGE_S = 60.0
_MOST_AGE_BLOCKS = 20
"""Age of an old head in block times, if that is more than a minute."""
_AHEAD_S = 15.0
"""Allowed time of a block in the future: proposers' clocks differ. Source: go-ethereum,
allowedFutureBlockTime."""
_MOST_HEAD_WAIT_S = 2.0


def _check_head_age(subject: Subject) -> Steps:
    head, block_s = subject.head, subject.chain.block_time_s
    age_s = subject.now_s() - head.ref.time_s
    shown = f"block {head.number} is {max(0.0, age_s):.0f} s old"
    if age_s < -_AHEAD_S:
        seen = f"block {head.number} is {-age_s:.0f} s in the future: the clocks differ"
        return [CheckFinding(status="failed", seen=seen)]
    if age_s <= max(_LEAST_AGE_S, _MOST_AGE_BLOCKS * block_s):
        return [ok(shown)]
    wait_s = min(2 * block_s, _MOST_HEAD_WAIT_S)
    question = ask(LATEST)
    answers = yield type(question)(requests=question.requests, after_s=wait_s)
    later = decode_header(result_of(answers[0], what="latest block"), request="latest block")
    return [_stale_head(shown, head, later, wait_s)]


def _stale_head(shown: str, head: Header, later: Header | None, wait_s: float) -> CheckFinding:
    if later is not None and later.number > head.number:
        seen = f"{shown}, yet new blocks arrive: it is catching up, or the clocks differ"
    else:
        seen = f"{shown}, and none followed within {wait_s:.0f} s: the head is stale"
    return CheckFinding(status="failed", seen=seen)


HEAD_AGE = Check(
    name="head age",
    group="node",
    question="is the head new, and do the clocks agree",
    look=_check_head_age,
    costs="reports describe an old block; deadlines in contracts are judged at a wrong time",
    mend="let the node catch up, or set the clock of the node or of this machine by NTP",
)


def _check_blocks_by_hash(subject: Subject) -> Steps:
    head = subject.head
    answers = yield ask(
        block_request(head.ref.hash),
        header_request(max(0, head.number - 1)),
        block_request(drawn_word(head, "no block")),
    )
    by_hash, before, unknown = (
        decode_header(result_of(answers[at], what=what), request=what)
        for at, what in enumerate(("block by hash", "block by number", "block of no such hash"))
    )
    if by_hash is None or by_hash.ref != head.ref:
        return [
            CheckFinding(status="failed", seen=f"block {head.ref.hash} by hash is another, or none")
        ]
    if unknown is not None:
        seen = f"a hash of no block is answered with block {unknown.number}"
        return [CheckFinding(status="failed", seen=seen)]
    if head.number and (before is None or before.ref.hash != head.ref.parent_hash):
        seen = f"block {head.number - 1} is not the parent of block {head.number}"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok(f"block {head.number} and its parent")]


BLOCKS_BY_HASH = Check(
    name="blocks by hash",
    group="node",
    question="are blocks by hash and by height the same",
    look=_check_blocks_by_hash,
    costs="the chain cannot be followed: blocks near the head are asked for by hash",
    mend="ask the endpoint's operator: several nodes behind one address may be out of step",
)


def _check_finality(subject: Subject) -> Steps:
    answers = yield ask(RpcRequest("eth_getBlockByNumber", ("finalized", False)))
    what = "finalized block"
    if isinstance(answers[0], RpcFault):
        seen = f"no finalized tag: {describe_answer(answers[0])}"
        return [CheckFinding(status="unknown", seen=seen)]
    final = decode_header(result_of(answers[0], what=what), request=what)
    head, depth = subject.head.number, subject.chain.finality_blocks
    if final is None:
        return [CheckFinding(status="unknown", seen="there is no finalized block")]
    if final.number > head:
        return [
            CheckFinding(status="failed", seen=f"block {final.number} is final, above the head")
        ]
    behind = head - final.number
    if behind > 2 * depth and depth < head:
        seen = f"the node's is {behind} blocks behind the head, finality_blocks is {depth}"
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok(f"{behind} blocks behind the head; finality_blocks is {depth}")]


FINALITY = Check(
    name="finality",
    group="node",
    question="is finality_blocks deep enough",
    look=_check_finality,
    costs="a reorganisation below that depth could not be unwound: following would stop",
    mend="raise finality_blocks in the overlay's [chain]",
)


_ANNOUNCED_BLOCKS = 3
_LEAST_ANNOUNCED_WAIT_S = 3.0
_MOST_ANNOUNCED_WAIT_S = 30.0


def _check_announced_heads(subject: Subject) -> Steps:
    if not subject.can_announce:
        seen = "no WebSocket: heads are polled every indexer.poll_s"
        return [CheckFinding(status="skipped", seen=seen)]
    wait_s = min(
        max(_ANNOUNCED_BLOCKS * subject.chain.block_time_s, _LEAST_ANNOUNCED_WAIT_S),
        _MOST_ANNOUNCED_WAIT_S,
    )
    answers = yield HeadsQuestion(wait_s=wait_s)
    announced = answers[0]
    if not is_result(announced):
        seen = f"no head within {wait_s:.0f} s: {describe_answer(announced)}"
        return [CheckFinding(status="degraded", seen=seen)]
    header = decode_header(announced, request="newHeads")
    if header is None or header.number < subject.head.number:
        return [CheckFinding(status="degraded", seen="an announced head is older than the newest")]
    return [ok(f"block {header.number} after {answers.elapsed_s[0]:.1f} s")]


ANNOUNCED_HEADS = Check(
    name="announced heads",
    group="node",
    question="are new heads announced",
    look=_check_announced_heads,
    severity="degraded",
    costs="new blocks are seen by polling, up to indexer.poll_s later",
    mend="use a wss:// address of the same provider, or leave it at polling",
)
