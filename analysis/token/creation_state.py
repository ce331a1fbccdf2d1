"""Reads the storage that the creation of a token left behind, and the events of that transaction.

The creating transaction is that of the first mint event, or an indexed one. Its writes come from
the first of these that the node answers: a trace of the transaction; the same creation traced as a
call on the analysed block; the transaction's access list on the block before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal, TypeVar

import msgspec

from analysis.reads.indexed_facts import MinedTransaction
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.rpc_reads import STATE_CHANGES
from analysis.token.creation import ContractCreation, find_creation
from core.errors import UpstreamError
from core.evm.abi import selector_of, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, low_address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

TRANSFER: Final = topic_of("Transfer(address,address,uint256)")
_UPGRADED: Final = topic_of("Upgraded(address)")
_ZERO_TOPIC: Final = "0x" + "00" * 32

MOST_WORDS: Final = 512
"""Words of a creation that are examined; one with more is not explained."""

_CALLS: Final[dict[str, object]] = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
_HASHES: Final[dict[str, object]] = {
    "tracer": """{d: {}, n: 0, step: function(l) {
if (l.op.toNumber() != 32 || this.n > 4000) return;
var at = l.stack.peek(0).valueOf(), size = l.stack.peek(1).valueOf();
if (size < 20 || size > 128 || at + size > l.memory.length()) return;
this.d[toHex(l.memory.slice(at, at + size))] = 1; this.n++;
}, fault: function() {}, result: function() { return Object.keys(this.d); }}"""
}
"""Tracer that returns the hashed inputs of 20 to 128 bytes, at most 4,000 of them."""

_APPROVING: Final = (
    selector_of("approve(address,uint256)"),
    selector_of("increaseAllowance(address,uint256)"),
)
_ELSEWHERE: Final[Literal["elsewhere"]] = "elsewhere"
_NO_METHOD: Final = -32601
_COINS_WEI: Final = 2**120
"""Coins that the sender of a repeated creation has."""

_RLP_SHORT, _RLP_LIST = 0x80, 0xC0
"""Prefixes of short bytes and of short lists in RLP."""

T = TypeVar("T")


class EventLog(msgspec.Struct, frozen=True, rename="camel"):
    """One event of the creation."""

    address: str
    topics: tuple[str, ...]
    data: str


class _Transaction(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    hash: Hash32
    input: str
    gas: str
    nonce: str
    value: str = "0x0"
    gas_price: str | None = None
    to: str | None = None
    block_number: str | None = None
    sender: str = msgspec.field(name="from")


class _Receipt(msgspec.Struct, frozen=True, rename="camel"):
    logs: tuple[EventLog, ...]
    block_number: str
    contract_address: str | None = None


class _Account(msgspec.Struct, frozen=True):
    code: str | None = None
    storage: dict[str, str] = {}


class _Changes(msgspec.Struct, frozen=True):
    pre: dict[str, _Account]
    post: dict[str, _Account]


class _Frame(msgspec.Struct, frozen=True, kw_only=True):
    sender: str = msgspec.field(name="from", default="")
    to: str = ""
    input: str = ""
    error: str = ""
    logs: tuple[EventLog, ...] = ()
    calls: tuple["_Frame", ...] = ()


class _Touched(msgspec.Struct, frozen=True, rename="camel"):
    address: str
    storage_keys: tuple[str, ...]


class _AccessList(msgspec.Struct, frozen=True, rename="camel"):
    access_list: tuple[_Touched, ...]
    error: str | None = None


class _MintLog(msgspec.Struct, frozen=True, rename="camel"):
    transaction_hash: Hash32
    block_number: str


class _Header(msgspec.Struct, frozen=True):
    timestamp: str


class CreationTrace(msgspec.Struct, frozen=True):
    """A request that repeats the creation under a tracer."""

    method: str
    params: tuple[object, ...]
    """All but the last one."""
    options: Mapping[str, object] = {}
    """The last one, without the tracer."""

    def under(self, tracer: Mapping[str, object]) -> RpcRequest:
        """Return the request with a tracer."""
        return RpcRequest(self.method, (*self.params, {**self.options, **tracer}))


class CreationState(msgspec.Struct, frozen=True, kw_only=True):
    """Storage and events of a token right after the transaction that created it."""

    block_number: int
    tx_hash: Hash32
    sender: Address
    """Account that sent the transaction."""
    target: Address | None
    """Contract that it called. None: it creates the token itself."""
    nearby: tuple[Address, ...]
    """Contracts that the sender or the token makes next, and the last ones of the sender."""
    input: bytes
    """Creation code with its arguments, or the call of a factory."""
    words: Mapping[Hash32, int]
    """Every storage word of the token that is not zero, by slot."""
    is_cut: bool
    """True if there are more than MOST_WORDS, of which some are left out."""
    logs: tuple[EventLog, ...]
    """Events of the token in the transaction, in order."""
    touched: tuple[Address, ...]
    """Other accounts that the transaction touched."""
    codes: tuple[bytes, ...]
    """Codes of contracts that it changed, such as a factory's."""
    trace: CreationTrace | None
    """None: the node does not trace."""


class CreatingTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that may have created the token."""

    token: Address
    tx: _Transaction
    receipt: _Receipt
    time: str
    """Unix seconds of its block, in hex."""

    @property
    def is_direct(self) -> bool:
        """True if the transaction itself creates the token, without a factory."""
        return (self.receipt.contract_address or "").lower() == self.token

    @property
    def block_number(self) -> int:
        """Return the height of its block."""
        return int(self.receipt.block_number, 16)

    @property
    def logs(self) -> tuple[EventLog, ...]:
        """Return the events of the token."""
        return tuple(log for log in self.receipt.logs if log.address.lower() == self.token)


async def find_mint(node: Node, token: Address, *, to_block: int | None) -> MinedTransaction | None:
    """Return the transaction of the first mint event.

    `to_block` None: the newest block. None: there is none, or the node refused. Never raises.
    """
    query = {
        "address": token,
        "topics": [TRANSFER, _ZERO_TOPIC],
        "fromBlock": "0x0",
        "toBlock": "latest" if to_block is None else hex(to_block),
    }
    try:
        (answer,) = await node.batch([RpcRequest("eth_getLogs", (query,))])
        logs = () if isinstance(answer, RpcFault) else _decode(answer, tuple[_MintLog, ...])
        if not logs:
            return None
        return MinedTransaction(
            tx_hash=logs[0].transaction_hash, block_number=int(logs[0].block_number, 16)
        )
    except (UpstreamError, msgspec.DecodeError, ValueError):
        return None


async def read_creating(
    node: Node, token: Address, place: MinedTransaction
) -> CreatingTransaction | None:
    """Read a transaction that may have created the token. None: the node does not have it. Never
    raises."""
    try:
        return await _read_transaction(node, token, place)
    except (UpstreamError, msgspec.DecodeError, ValueError):
        return None


async def read_creation_state(
    node: Node,
    capabilities: NodeCapabilities,
    token: Address,
    made: CreatingTransaction | None,
    *,
    block: BlockRef,
) -> CreationState | None:
    """Read what the creation of a token wrote.

    `made`: the probable creation; None: it is searched up to `block`, as it is where the
    transaction proves to be a later one. None: not found, or the node cannot repeat it. Never
    raises.
    """
    try:
        state: CreationState | Literal["elsewhere"] | None = _ELSEWHERE
        if made is not None:
            state = await _read_state(node, capabilities, made, block=block)
        if isinstance(state, CreationState | None):
            return state
        last = block.number if made is None else made.block_number
        if not capabilities.old_states.is_worth_trying:
            return None
        earlier = await _search(node, capabilities, token, last)
        for place in () if earlier is None else _places(earlier):
            made = await _read_transaction(node, token, place)
            state = await _read_state(node, capabilities, made, block=block) if made else None
            if isinstance(state, CreationState):
                return state
    except (UpstreamError, msgspec.DecodeError, ValueError):
        pass
    return None


def _places(found: ContractCreation) -> Iterator[MinedTransaction]:
    """Yield the transactions that may have created the contract."""
    for tx_hash in found.candidates if found.tx_hash is None else (found.tx_hash,):
        yield MinedTransaction(tx_hash=tx_hash, block_number=found.block_number)


async def _search(
    node: Node, capabilities: NodeCapabilities, token: Address, last: int
) -> ContractCreation | None:
    """Search the creation over heights up to one with code. Raises UpstreamError."""
    try:
        return await find_creation(node, token, final=last, is_near=True)
    except UpstreamError:
        capabilities.old_states.note_refusal()
        raise


async def read_preimages(node: Node, state: CreationState) -> tuple[bytes, ...]:
    """Return the bytes that the creation hashed, of 20 to 128 bytes each. Empty: the node has no
    such tracer. Never raises."""
    if state.trace is None:
        return ()
    try:
        (answer,) = await node.batch([state.trace.under(_HASHES)])
        found = () if isinstance(answer, RpcFault) else _decode(answer, tuple[str, ...])
        return tuple(bytes.fromhex(one.removeprefix("0x")) for one in found)
    except (UpstreamError, msgspec.DecodeError, ValueError):
        return ()


async def read_approvers(node: Node, token: Address, state: CreationState) -> set[Address] | None:
    """Return the callers of the token's `approve` in its creation. None: the node does not trace
    calls. Raises UpstreamError, DecodeError."""
    if state.trace is None:
        return None
    (answer,) = await node.batch([state.trace.under(_CALLS)])
    return None if isinstance(answer, RpcFault) else _approving(_decode(answer, _Frame), token)


def _approving(frame: _Frame, token: Address) -> set[Address]:
    if frame.error:
        return set()
    found = {Address(caller) for call in frame.calls for caller in _approving(call, token)}
    if frame.to.lower() == token and frame.input.startswith(_APPROVING):
        found.add(Address(frame.sender.lower()))
    return found


async def read_upgrades(
    node: Node, proxy: Address, *, since: int, to_block: int
) -> set[Address] | None:
    """Return the implementations that a proxy's events name. None: the node refused. Never
    raises."""
    query = {
        "address": proxy,
        "topics": [_UPGRADED],
        "fromBlock": hex(since),
        "toBlock": hex(to_block),
    }
    try:
        (answer,) = await node.batch([RpcRequest("eth_getLogs", (query,))])
        if isinstance(answer, RpcFault):
            return None
        logs = _decode(answer, tuple[EventLog, ...])
        return {low_address(int((*log.topics[1:], log.data)[0], 16)) for log in logs}
    except (UpstreamError, msgspec.DecodeError, ValueError):
        return None


async def read_with_words(
    node: Node,
    token: Address,
    calls: Sequence[tuple[Mapping[Hash32, int], str]],
    *,
    block: BlockRef,
) -> list[int | None]:
    """Return the first word that each call returns, on the token with its storage words alone.

    `calls`: storage words by slot, and calldata. None: it reverts. Raises UpstreamError.
    """
    requests = []
    for words, data in calls:
        state = {slot: f"0x{word:064x}" for slot, word in words.items()}
        overrides = msgspec.Raw(msgspec.json.encode({token: {"state": state}}))
        call = {"to": token, "data": data}
        requests.append(RpcRequest("eth_call", (call, {"blockHash": block.hash}, overrides)))
    return [_first_word(answer) for answer in await node.batch(requests)]


def _first_word(answer: RpcAnswer) -> int | None:
    if isinstance(answer, RpcFault):
        return None
    text = _decode(answer, str)
    return int(text[:66], 16) if len(text) >= 66 else None  # noqa: PLR2004 - 0x and one word


# --- the transaction ---------------------------------------------------------------------------


async def _read_transaction(
    node: Node, token: Address, place: MinedTransaction
) -> CreatingTransaction | None:
    """Raises UpstreamError, DecodeError."""
    answers = await node.batch(
        [
            RpcRequest("eth_getTransactionByHash", (place.tx_hash,)),
            RpcRequest("eth_getTransactionReceipt", (place.tx_hash,)),
            RpcRequest("eth_getBlockByNumber", (hex(place.block_number), False)),
        ]
    )
    tx, receipt, header = answers
    if isinstance(tx, RpcFault) or isinstance(receipt, RpcFault) or isinstance(header, RpcFault):
        return None
    sent, done = _decode_found(tx, _Transaction), _decode_found(receipt, _Receipt)
    mined = _decode_found(header, _Header)
    if sent is None or done is None or mined is None:
        return None
    return CreatingTransaction(token=token, tx=sent, receipt=done, time=mined.timestamp)


# --- its writes --------------------------------------------------------------------------------


async def _read_state(
    node: Node, capabilities: NodeCapabilities, made: CreatingTransaction, *, block: BlockRef
) -> CreationState | Literal["elsewhere"] | None:
    """Return the state after the transaction. "elsewhere": it did not create the token. None: the
    node cannot repeat it.

    Until a trace has worked on the node, another way goes in the same round trip. Raises
    UpstreamError, DecodeError.
    """
    power, trace = capabilities.creation_traces, _trace(made)
    repeated = _repetition(made, block) if made.is_direct else None
    requests = [trace.under(STATE_CHANGES)] if power.is_worth_trying else []
    if repeated is not None and not power.is_proven:
        requests += [repeated.under(STATE_CHANGES), repeated.under(_CALLS)]
    answers = await node.batch(requests) if requests else []
    if power.is_worth_trying:
        answer, *answers = answers
        if not isinstance(answer, RpcFault):
            power.is_proven = True
            return _traced(made, _decode(answer, _Changes), trace)
        power.is_proven = False
        if answer.code == _NO_METHOD:
            power.note_refusal()
    if repeated is not None and not answers:
        answers = await node.batch([repeated.under(STATE_CHANGES), repeated.under(_CALLS)])
    state = _repeated(made, answers, repeated) if repeated is not None else None
    return state or await _listed(node, made)


def _trace(made: CreatingTransaction) -> CreationTrace:
    return CreationTrace("debug_traceTransaction", (made.tx.hash,))


def _traced(
    made: CreatingTransaction, changes: _Changes, trace: CreationTrace
) -> CreationState | Literal["elsewhere"] | None:
    after = changes.post.get(made.token, _Account())
    if not _has_code(after) or _has_code(changes.pre.get(made.token, _Account())):
        return _ELSEWHERE
    return _state(
        made,
        {Hash32(slot.lower()): int(word, 16) for slot, word in after.storage.items()},
        touched=(*changes.pre, *changes.post),
        codes=[account.code or "0x" for account in changes.pre.values()],
        trace=trace,
    )


async def _listed(
    node: Node, made: CreatingTransaction
) -> CreationState | Literal["elsewhere"] | None:
    """Return the words that the transaction's access list names, as of the end of its block.

    "elsewhere": the token had code before. None: the node has no such state, or another
    transaction of the block emitted events.
    """
    before, born = hex(made.block_number - 1), hex(made.block_number)
    call = {"from": made.tx.sender, "data": made.tx.input, "value": made.tx.value}
    call |= {"gas": made.tx.gas} | ({} if made.tx.to is None else {"to": made.tx.to})
    query = {"address": made.token, "fromBlock": born, "toBlock": born}
    code, listed, logs = await node.batch(
        [
            RpcRequest("eth_getCode", (made.token, before)),
            RpcRequest("eth_createAccessList", (call, before)),
            RpcRequest("eth_getLogs", (query,)),
        ]
    )
    if isinstance(code, RpcFault) or isinstance(listed, RpcFault) or isinstance(logs, RpcFault):
        return None
    found = _decode(listed, _AccessList)
    own = [one for one in found.access_list if one.address.lower() == made.token]
    slots = sorted({Hash32(slot.lower()) for one in own for slot in one.storage_keys})
    is_alone = len(_decode(logs, tuple[EventLog, ...])) == len(made.logs)
    if _decode(code, str) != "0x":
        return _ELSEWHERE
    if not slots or not is_alone:
        return None
    if len(slots) > MOST_WORDS:
        return _state(made, dict.fromkeys(slots, 1), touched=())
    answers = await node.batch(
        [RpcRequest("eth_getStorageAt", (made.token, slot, born)) for slot in slots]
    )
    words: dict[Hash32, int] = {}
    for slot, answer in zip(slots, answers, strict=True):
        if isinstance(answer, RpcFault):
            return None
        words[slot] = int(_decode(answer, str), 16)
    return _state(made, words, touched=[one.address for one in found.access_list])


def _repetition(made: CreatingTransaction, block: BlockRef) -> CreationTrace:
    """Return the creation as a call on the analysed block, at its own height and time."""
    sender = Address(made.tx.sender.lower())
    call = {"from": sender, "data": made.tx.input, "value": made.tx.value, "gas": made.tx.gas}
    empty: dict[str, object] = {"code": "0x", "nonce": "0x0", "balance": "0x0", "state": {}}
    overrides = dict.fromkeys((made.token, *_made_by(made.token)), empty)
    overrides[sender] = {"nonce": made.tx.nonce, "balance": hex(_COINS_WEI)}
    options: dict[str, object] = {
        "stateOverrides": overrides,
        "blockOverrides": {"number": hex(made.block_number), "time": made.time},
    }
    return CreationTrace("debug_traceCall", (call, {"blockHash": block.hash}), options)


def _repeated(
    made: CreatingTransaction, answers: Sequence[RpcAnswer], trace: CreationTrace
) -> CreationState | None:
    """Return what the repeated creation wrote. None: the node does not trace calls, or the events
    are not the same."""
    changes, calls = answers
    if isinstance(changes, RpcFault) or isinstance(calls, RpcFault):
        return None
    frame = _decode(calls, _Frame)
    emitted = sorted(_words(log) for log in _emitted(frame) if log.address.lower() == made.token)
    if frame.error or emitted != sorted(map(_words, made.logs)):
        return None
    state = _traced(made, _decode(changes, _Changes), trace)
    return state if isinstance(state, CreationState) else None


def _emitted(frame: _Frame) -> list[EventLog]:
    if frame.error:
        return []
    return [*frame.logs, *(log for call in frame.calls for log in _emitted(call))]


def _words(log: EventLog) -> tuple[str, ...]:
    return (*log.topics, log.data)


def _state(
    made: CreatingTransaction,
    words: Mapping[Hash32, int],
    *,
    touched: Sequence[str],
    codes: Sequence[str] = (),
    trace: CreationTrace | None = None,
) -> CreationState:
    named = (Address(each.lower()) for each in touched)
    found = {slot: word for slot, word in words.items() if word}
    sender, nonce = Address(made.tx.sender.lower()), int(made.tx.nonce, 16)
    return CreationState(
        block_number=made.block_number,
        tx_hash=made.tx.hash,
        sender=sender,
        target=None if made.tx.to is None else Address(made.tx.to.lower()),
        nearby=(
            *(_created(sender, nonce + at) for at in range(-2, 4) if nonce + at >= 0),
            *_made_by(made.token),
        ),
        input=bytes.fromhex(made.tx.input.removeprefix("0x")),
        words=dict(islice(found.items(), MOST_WORDS)),
        is_cut=len(found) > MOST_WORDS,
        logs=made.logs,
        touched=tuple(dict.fromkeys(each for each in named if each != ZERO_ADDRESS)),
        codes=tuple(bytes.fromhex(code.removeprefix("0x")) for code in codes if code != "0x"),
        trace=trace,
    )


def _made_by(token: Address) -> list[Address]:
    """Return the first contracts that a token may create; a contract's nonces begin with 1."""
    return [_created(token, nonce) for nonce in range(1, 4)]


def _created(maker: Address, nonce: int) -> Address:
    """Return the address of the contract that an account makes with this nonce (CREATE)."""
    number = nonce.to_bytes((nonce.bit_length() + 7) // 8)
    if len(number) != 1 or nonce >= _RLP_SHORT:
        number = bytes([_RLP_SHORT + len(number)]) + number
    body = bytes([_RLP_SHORT + 20]) + bytes.fromhex(maker[2:]) + number
    return Address("0x" + keccak(bytes([_RLP_LIST + len(body)]) + body)[12:].hex())


def _has_code(account: _Account) -> bool:
    return account.code not in (None, "0x")


def _decode(answer: msgspec.Raw, kind: type[T]) -> T:
    return msgspec.json.decode(answer, type=kind)


def _decode_found(answer: msgspec.Raw, kind: type[T]) -> T | None:
    """Return the decoded answer. None: the node does not have it."""
    return None if bytes(answer) == b"null" else _decode(answer, kind)
