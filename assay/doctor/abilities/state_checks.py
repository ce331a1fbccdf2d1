"""Checks of reads of state: pinned, overridden, packed and old."""

import msgspec

from analysis.reads.chain_reads import CodeRead, ContractRead, call_of
from analysis.reads.multicall import PackStep, ReadStatus, pack_request, read_pack
from assay.doctor.check import (
    Asking,
    Check,
    CheckFinding,
    ProbeAnswer,
    Steps,
    Subject,
    ask,
    describe_answer,
    hex_of,
    is_result,
    ok,
    quantity_of,
    result_of,
    word_of,
)
from assay.doctor.contract_reads import ContractGetter
from assay.doctor.tracers import (
    RETURN_STORED,
    RETURN_TIME,
    call_with,
    drawn_address,
    drawn_word,
    pinned,
    returning,
    returning_balance,
)
from core.rpc.headers import decode_header, header_request
from core.rpc.messages import RpcFault, RpcRequest


def _check_pinned_state(subject: Subject) -> Steps:
    head, anchor = subject.head, subject.chain.wrapped_native.address
    nowhere = {"blockHash": drawn_word(head, "no block")}
    answers = yield ask(
        RpcRequest("eth_getCode", (anchor, pinned(head))),
        RpcRequest("eth_getStorageAt", (anchor, "0x" + "0" * 64, pinned(head))),
        call_with(None, pinned(head), to=None, data=RETURN_TIME),
        RpcRequest("eth_getCode", (anchor, nowhere)),
    )
    hex_of(answers[0], what="eth_getCode at a block hash")
    hex_of(answers[1], what="eth_getStorageAt at a block hash")
    seen_s = int.from_bytes(hex_of(answers[2], what="eth_call at a block hash"))
    if seen_s != head.ref.time_s:
        seen = f"a call at block {head.number} sees the time {seen_s}, not {head.ref.time_s}"
        return [CheckFinding(status="failed", seen=seen)]
    if not isinstance(answers[3], RpcFault):
        seen = "state at a hash of no block is answered: the hash is ignored"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok("code, storage and calls at a block hash")]


PINNED_STATE = Check(
    name="state by block hash",
    group="state",
    question="can state be read at a block's hash",
    look=_check_pinned_state,
    costs="no token can be analysed: all reads of an analysis are pinned to one block's hash",
    mend="use a node with EIP-1898 block arguments",
)


_FIRST_SLOT = "0x" + "0" * 64
_OVERRIDE_KINDS = ("code", "balance", "stateDiff")


def _check_call_overrides(subject: Subject) -> Steps:
    head = subject.head
    block, account, word = pinned(head), drawn_address(head, "actor"), drawn_word(head, "word")
    wei = int(word, 16) >> 160
    answers = yield ask(
        call_with({account: {"code": returning(word)}}, block, to=account, data="0x"),
        call_with(
            {account: {"balance": hex(wei)}}, block, to=None, data=returning_balance(account)
        ),
        call_with(
            {account: {"code": RETURN_STORED, "stateDiff": {_FIRST_SLOT: word}}},
            block,
            to=account,
            data="0x",
        ),
    )
    wanted = (int(word, 16), wei, int(word, 16))
    missing = [
        f"{kind}: {_describe_override(answers[at])}"
        for at, (kind, want) in enumerate(zip(_OVERRIDE_KINDS, wanted, strict=True))
        if word_of(answers[at]) != want
    ]
    if missing:
        return [CheckFinding(status="failed", seen="; ".join(missing))]
    return [ok(f"{', '.join(_OVERRIDE_KINDS)} of eth_call")]


def _describe_override(answer: ProbeAnswer) -> str:
    return "ignored" if is_result(answer) else describe_answer(answer)


CALL_OVERRIDES = Check(
    name="state overrides",
    group="state",
    question="does eth_call take overrides of code, balance and storage",
    look=_check_call_overrides,
    costs="reads go one by one instead of packed (many times the calls); without eth_simulateV1 "
    "no trade is simulated: taxes, honeypots and thefts stay unknown",
    mend="use a node whose eth_call has a third argument",
)


def _check_packed_reads(subject: Subject) -> Steps:
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
    expected = [hex_of(answers[at], what="a read by itself") for at in (1, 2, 3)]
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


PACKED_READS = Check(
    name="packed reads",
    group="state",
    question="can many reads go as one call",
    look=_check_packed_reads,
    severity="degraded",
    costs="an analysis takes a call for each read, several times as many",
    mend="see state overrides; a limit on the gas of eth_call must be at least 15 million",
)


_FIRST_DEPTH = 8
_GROWTH = 4
_MOST_SEARCH = 12
"""Most halvings between an answered depth and a refused one."""
_LEAST_DEPTH = 2
"""Blocks behind the head that analyses need: the head advances while one runs."""
_SENDER_BLOCKS = 8


class _SentTransaction(msgspec.Struct, rename="camel"):
    sender: str = msgspec.field(name="from")
    nonce: str


class _FullBlock(msgspec.Struct):
    transactions: list[_SentTransaction]


def _check_old_states(subject: Subject) -> Steps:
    head = subject.head.number
    reached, refused, depth = 0, None, min(_FIRST_DEPTH, head)
    while depth:
        verdict = yield from _is_state_of(head - depth)
        if verdict is False:
            return [
                CheckFinding(
                    status="failed", seen=_wrong_block(head - depth), costs=_WRONG_STATE_COSTS
                )
            ]
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
        verdict = yield from _is_state_of(head - middle)
        if verdict is False:
            return [
                CheckFinding(
                    status="failed", seen=_wrong_block(head - middle), costs=_WRONG_STATE_COSTS
                )
            ]
        reached, refused = (middle, refused) if verdict else (reached, middle)
    if not (yield from _states_differ(subject)):
        seen = "the state before a transaction is the same as after it: old states are not old"
        return [CheckFinding(status="failed", seen=seen, costs=_WRONG_STATE_COSTS)]
    return [_depth_finding(reached, head)]


def _wrong_block(height: int) -> str:
    return f"a call at block {height} was run on another block: old states are not old"


def _is_state_of(height: int) -> Asking[bool | None]:
    """Return True if a call at this height sees that block, False if another. None: refused."""
    answers = yield ask(
        header_request(height), call_with(None, hex(height), to=None, data=RETURN_TIME)
    )
    seen_s = word_of(answers[1])
    if seen_s is None:
        return None
    header = decode_header(result_of(answers[0], what=f"block {height}"), request=f"block {height}")
    return header is not None and header.ref.time_s == seen_s


def _states_differ(subject: Subject) -> Asking[bool]:
    """Return False if a sender's nonce is the same before and after its transaction."""
    head = subject.head.number
    blocks = [height for height in range(head, max(0, head - _SENDER_BLOCKS), -1) if height > 1]
    answers = yield ask(
        *(RpcRequest("eth_getBlockByNumber", (hex(height), True)) for height in blocks)
    )
    for height, answer in zip(blocks, answers.all, strict=True):
        sent = _find_first_sent(answer)
        if sent is None:
            continue
        counts = yield ask(
            *(
                RpcRequest("eth_getTransactionCount", (sent.sender, hex(at)))
                for at in (height - 1, height)
            )
        )
        before, after = (quantity_of(one, what="eth_getTransactionCount") for one in counts.all)
        return before <= int(sent.nonce, 16) < after
    return True  # no recent transaction to compare


def _find_first_sent(answer: ProbeAnswer) -> _SentTransaction | None:
    try:
        block = msgspec.json.decode(result_of(answer, what="a whole block"), type=_FullBlock | None)
    except msgspec.ValidationError:
        return None  # a kind of transaction without these fields
    return block.transactions[0] if block is not None and block.transactions else None


def _depth_finding(reached: int, head: int) -> CheckFinding:
    if reached == head:
        return ok(f"states of all {head} blocks")
    if reached >= _LEAST_DEPTH:
        return CheckFinding(status="degraded", seen=f"states of the last {reached} blocks")
    seen = f"states of the last {reached} blocks"
    return CheckFinding(
        status="failed", seen=seen, costs="analyses fail as soon as the head moves on"
    )


_WRONG_STATE_COSTS = "creators of tokens and their blocks would be wrong"

OLD_STATES = Check(
    name="old states",
    group="state",
    question="how far back can states be read",
    look=_check_old_states,
    costs="the creator of an older token stays unknown, unless its platform announced it; so does "
    "who funded a creator",
    mend="use an archive node as one of the endpoints",
)
