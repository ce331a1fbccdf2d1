"""How far back states of blocks can be read, and whether they are the states of those blocks."""

import msgspec

from assay.doctor.check import (
    Asking,
    Check,
    CheckFinding,
    ProbeAnswer,
    Steps,
    Subject,
    ask,
    ok,
    quantity_of,
    result_of,
    word_of,
)
from assay.doctor.tracers import RETURN_TIME, call_with
from core.rpc.headers import decode_header, header_request
from core.rpc.messages import RpcRequest

_FIRST_DEPTH = 8
_GROWTH = 4
_MOST_SEARCH = 12
"""Halvings between a depth that was answered and one that was not."""
_LEAST_DEPTH = 2
"""Blocks behind the head that analyses need: the head moves on while one runs."""
_SENDER_BLOCKS = 8


class _Sent(msgspec.Struct, rename="camel"):
    sender: str = msgspec.field(name="from")
    nonce: str


class _Block(msgspec.Struct):
    transactions: list[_Sent]


def _look(subject: Subject) -> Steps:
    head = subject.head.number
    reached, refused, depth = 0, None, min(_FIRST_DEPTH, head)
    while depth:
        verdict = yield from _read_at(head - depth)
        if verdict is False:
            return [CheckFinding(status="failed", seen=_wrong_block(head - depth), costs=_WRONG)]
        if verdict is None:
            refused = depth
            break
        reached = depth
        if depth == head:
            break
        depth = min(depth * _GROWTH, head)
    for _ in range(_MOST_SEARCH):
        if refused is None or refused - reached <= max(1, reached // 8):
            break
        middle = (reached + refused) // 2
        verdict = yield from _read_at(head - middle)
        if verdict is False:
            return [CheckFinding(status="failed", seen=_wrong_block(head - middle), costs=_WRONG)]
        reached, refused = (middle, refused) if verdict else (reached, middle)
    if not (yield from _states_differ(subject)):
        seen = "the state before a transaction is the same as after it: old states are not old"
        return [CheckFinding(status="failed", seen=seen, costs=_WRONG)]
    return [_judge(reached, head)]


def _wrong_block(height: int) -> str:
    return f"a call at block {height} was run on another block: old states are not old"


def _read_at(height: int) -> Asking[bool | None]:
    """Return True if a call at this height sees that block, None if it is refused, False if it sees
    another block."""
    answers = yield ask(
        header_request(height), call_with(None, hex(height), to=None, data=RETURN_TIME)
    )
    seen_s = word_of(answers[1])
    if seen_s is None:
        return None
    header = decode_header(result_of(answers[0], asked=f"block {height}"), asked=f"block {height}")
    return header is not None and header.ref.time_s == seen_s


def _states_differ(subject: Subject) -> Asking[bool]:
    """Return False if a sender's nonce before one of its transactions is that after it."""
    head = subject.head.number
    blocks = [height for height in range(head, max(0, head - _SENDER_BLOCKS), -1) if height > 1]
    answers = yield ask(
        *(RpcRequest("eth_getBlockByNumber", (hex(height), True)) for height in blocks)
    )
    for height, answer in zip(blocks, answers.all, strict=True):
        sent = _first_sent(answer)
        if sent is None:
            continue
        counts = yield ask(
            *(
                RpcRequest("eth_getTransactionCount", (sent.sender, hex(at)))
                for at in (height - 1, height)
            )
        )
        before, after = (quantity_of(one, asked="eth_getTransactionCount") for one in counts.all)
        return before <= int(sent.nonce, 16) < after
    return True  # nothing was sent lately: nothing to compare


def _first_sent(answer: ProbeAnswer) -> _Sent | None:
    try:
        block = msgspec.json.decode(result_of(answer, asked="a whole block"), type=_Block | None)
    except msgspec.ValidationError:
        return None  # a kind of transaction without these fields
    return block.transactions[0] if block is not None and block.transactions else None


def _judge(reached: int, head: int) -> CheckFinding:
    if reached == head:
        return ok(f"states of all {head} blocks")
    if reached >= _LEAST_DEPTH:
        return CheckFinding(status="degraded", seen=f"states of the last {reached} blocks")
    seen = f"states of the last {reached} blocks"
    return CheckFinding(
        status="failed", seen=seen, costs="analyses fail as soon as the head moves on"
    )


_WRONG = "creators of tokens and their blocks would be wrong"

CHECK = Check(
    name="old states",
    group="state",
    question="how far back can states be read",
    look=_look,
    costs="the creator of an older token stays unknown, unless its platform announced it; so does "
    "who funded a creator",
    mend="use an archive node as one of the endpoints",
)
