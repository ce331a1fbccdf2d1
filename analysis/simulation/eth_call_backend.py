"""eth_call backend: simulations on nodes that neither simulate nor trace, by one eth_call each.

Probe contracts stand in for transactions. The acting account is a contract under construction
(probes/Actor), which has no code and makes one call after another; the pool is observed by a proxy
(probes/Witness), as an eth_call returns no events. Differences from real transactions: all happens
in one transaction, in the pinned block, and tx.origin is another account. So only tokens that
cannot detect this are simulated: their code reads nothing of the kind, and calls no other code that
might. Of others nothing is determined.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from analysis import probes
from analysis.reads.answer_address import pushed_address
from analysis.reads.eth_reads import WORD, decode_uint, read_reply
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.balance_slot import candidate_slots
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    SimCall,
    SimLog,
    SimResult,
    Simulation,
    SimulationResult,
)
from analysis.static.analyse_code import analyse_code
from analysis.static.evm.disassembly import split, strip_metadata
from analysis.static.evm.opcodes import NUMBER, OPCODES
from analysis.token.proxy_resolution import STANDARD_SLOTS
from core.errors import UpstreamError
from core.evm.abi import address_word, selector_of, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_METHOD = "eth_call"
_GAS = 15_000_000
_HOME = int.from_bytes(keccak(b"assay.probe.witness"))
_RECORDED = selector_of("recorded()")
_RECORD_BYTES = 6 * WORD

_PAIR_SWAP = int(selector_of("swap(uint256,uint256,address,bytes)"), 16)
_PAIR_TOPIC = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
_RANGE_TOPIC = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)")

_TELLING = frozenset(
    NUMBER[name]
    for name in (
        # sender and block
        *("ORIGIN", "BLOCKHASH", "COINBASE", "TIMESTAMP", "NUMBER", "DIFFICULTY", "GASLIMIT"),
        *("BASEFEE", "BLOBHASH", "BLOBBASEFEE"),
        # effects that end with the transaction
        *("TLOAD", "TSTORE", "SELFDESTRUCT"),
        # other contracts, which may read any of these
        *("CALL", "CALLCODE", "DELEGATECALL", "STATICCALL", "CREATE", "CREATE2"),
    )
)
_DELEGATES = frozenset({NUMBER["DELEGATECALL"]})

_NONE_LEARNT = {
    "telling": "this node plays within one block, and the token's code may look beyond it",
    "odd": "this node cannot play it from an account of ours",
}


class SimulationJob(msgspec.Struct, frozen=True, kw_only=True):
    """A simulation, and the pool whose swaps decide its outcome."""

    simulation: Simulation
    pool: Address | None = None
    """None: no pool is traded in."""
    has_witness: bool = True
    """False: Witness does not support the pool's kind."""


def cannot_tell(codes: Sequence[bytes]) -> bool:
    """True if a token of these codes reads nothing that differs here from a real transaction.

    The code at its own address comes first. Where there are more, it may be a proxy to them, and
    then may delegate; else it must not call other contracts. A proxy that may delegate to a
    contract that was not analysed, or that reads a beacon, which may read the clock itself, is
    rejected.
    """
    own, *behind = codes
    allowed = _DELEGATES if behind and _is_seen_through(own) else frozenset[int]()
    return not (_opcodes(own) - allowed) & _TELLING and not any(
        _opcodes(code) & _TELLING for code in behind
    )


def _opcodes(code: bytes) -> frozenset[int]:
    return split(strip_metadata(code)).opcodes


def _is_seen_through(proxy: bytes) -> bool:
    """True if it delegates to one contract only, and that one was analysed."""
    found = analyse_code(proxy).delegation
    places = {*found.slots, *found.targets}
    if found.is_proxy is not True or found.beacon_slots or found.beacons or len(places) != 1:
        return False
    is_all_of_it = _count(proxy, NUMBER["DELEGATECALL"]) == len(found.pcs)
    return is_all_of_it and places <= {*STANDARD_SLOTS, pushed_address(proxy)}


def _count(code: bytes, opcode: int) -> int:
    """Return how often it is an instruction of the code."""
    found, pc = 0, 0
    while pc < len(code):
        row = OPCODES[code[pc]]
        found += code[pc] == opcode
        pc += 1 if row is None else row.size
    return found


async def perform(
    node: Node, jobs: Sequence[SimulationJob], codes: Sequence[bytes]
) -> list[SimulationResult | NotSimulated]:
    """Return the result of each simulation. Raises UpstreamError."""
    if not jobs:
        return []
    if not codes or not cannot_tell(codes):
        return [_not_run("telling")] * len(jobs)
    batch = ReadBatch(jobs[0].simulation.pin.hash)
    pools = dict.fromkeys(job.pool for job in jobs if job.pool and job.has_witness)
    codes_of = {pool: batch.code(pool) for pool in pools}
    await batch.send(node)
    homes = {pool: batch[code] for pool, code in codes_of.items()}
    scripts = [_script(job, homes) for job in jobs]
    requests = [script.request() for script in scripts if script is not None]
    rest = iter(await node.batch(requests) if requests else [])
    return [_not_run("odd") if script is None else script.read(next(rest)) for script in scripts]


def _not_run(why: str) -> NotSimulated:
    return NotSimulated(missing="NODE", reason=_NONE_LEARNT[why])


class _Script:
    """One simulation as one eth_call."""

    def __init__(self, job: SimulationJob, acting: Address, home: bytes | None) -> None:
        self._simulation = job.simulation
        self._pool = job.pool
        self._home = home
        self._creator = job.simulation.disguise.account(f"creator of {acting}")
        self._actor = _created(self._creator)
        self._acting = acting

    def request(self) -> RpcRequest:
        simulation = self._simulation
        script = b"".join(self._steps())
        code = bytes.fromhex(probes.runtime("Actor")[2:]) + script + len(script).to_bytes(2)
        transaction = {
            "from": self._creator,
            "data": "0x" + code.hex(),
            "gas": hex(_GAS),
            "gasPrice": hex(simulation.disguise.gas_price_wei),
        }
        block = {"blockHash": simulation.pin.hash}
        return RpcRequest(_METHOD, (transaction, block, self._overrides()))

    def read(self, answer: RpcAnswer) -> SimulationResult | NotSimulated:
        """Return the results. Raises nothing: an error of the node gives NotSimulated."""
        if isinstance(answer, RpcFault):
            return NotSimulated(missing="NODE", reason=f"{_METHOD}: {answer.message}")
        try:
            reply = read_reply(answer)
            steps = list(_decode(reply if isinstance(reply, bytes) else b"", self._actor))
        except (UpstreamError, ValueError) as error:
            return NotSimulated(missing="NODE", reason=f"{_METHOD}: {error}")
        blocks: list[list[SimResult]] = [[] for _ in self._simulation.blocks]
        swaps, rest = 0, iter(steps)
        for handle, call in self._simulation.calls():
            result = next(rest, None)
            if result is None:
                return NotSimulated(missing="NODE", reason=f"{_METHOD}: ran out of gas")
            if self._home is not None and not call.is_read:
                record = next(rest, None)
                swaps, log = self._witnessed(record, swaps)
                result = msgspec.structs.replace(result, logs=log)
            blocks[handle.block].append(result)
        return SimulationResult(tuple(map(tuple, blocks)), _METHOD)

    def _steps(self) -> Iterator[bytes]:
        for _, call in self._simulation.calls():
            yield _step(call, self._named)
            if self._home is not None and not call.is_read:
                yield _step(
                    SimCall(label="", sender=call.sender, to=self._pool or call.to, data=_RECORDED),
                    self._named,
                )

    def _named(self, text: str) -> str:
        """Return the text with the acting account replaced by the Actor's address."""
        return text.replace(self._acting[2:], self._actor[2:])

    def _overrides(self) -> dict[str, dict[str, object]]:
        simulation = self._simulation
        state = simulation.state_overrides()
        state[self._actor] = {"balance": hex(simulation.purses.get(self._acting, 0))}
        state[self._creator] = {"balance": hex(simulation.disguise.purse(self._creator))}
        slots = _slots(self._acting, self._actor)
        for contract, words in simulation.storage.items():
            state[contract]["stateDiff"] = {slots[slot]: word for slot, word in words.items()}
        if self._home is not None and self._pool is not None:
            home = simulation.disguise.account(f"home of {self._pool}")
            state[home] = {"code": "0x" + self._home.hex()}
            pool = state.setdefault(self._pool, {})
            pool["code"] = probes.runtime("Witness")
            pool["stateDiff"] = {f"0x{_HOME:064x}": address_word(home)}
        return state

    def _witnessed(self, record: SimResult | None, before: int) -> tuple[int, tuple[SimLog, ...]]:
        """Return the number of swaps so far, and the event of the last one if it is new."""
        data = record.data if record is not None and record.ok else b""
        if len(data) != _RECORD_BYTES or self._pool is None:
            return before, ()
        count, selector = int.from_bytes(data[:WORD]), int.from_bytes(data[WORD : 2 * WORD])
        if count == before:
            return before, ()
        is_pair = selector == _PAIR_SWAP
        moved = data[2 * WORD :] if is_pair else data[2 * WORD : 4 * WORD]
        topic = _PAIR_TOPIC if is_pair else _RANGE_TOPIC
        return count, (SimLog(address=self._pool, topics=(topic,), data="0x" + moved.hex()),)


def _script(job: SimulationJob, homes: Mapping[Address, bytes]) -> _Script | None:
    """Return the script. None: more than one account acts, or one that cannot be funded by
    override."""
    storage = job.simulation.storage
    acting = {call.sender for _, call in job.simulation.calls() if not call.is_read}
    if len(acting) != 1 or not job.has_witness:
        return None
    [account] = acting
    ours = _slots(account, account)
    is_funded = all(slot in ours for words in storage.values() for slot in words)
    if not is_funded or not (storage or job.pool):
        return None
    return _Script(job, account, homes.get(job.pool) if job.pool else None)


def _slots(account: Address, other: Address) -> dict[Hash32, Hash32]:
    """Return the other account's balance slots by the slots of the account."""
    return dict(zip(candidate_slots(account), candidate_slots(other), strict=True))


def _created(creator: Address) -> Address:
    """Return the address of an account's first creation. Source: the Yellow Paper, section 7
    (RLP)."""
    return Address("0x" + keccak(b"\xd6\x94" + bytes.fromhex(creator[2:]) + b"\x80")[-20:].hex())


def _step(call: SimCall, named: Callable[[str], str]) -> bytes:
    data = bytes.fromhex(named(call.data)[2:])
    return b"".join(
        (
            call.gas.to_bytes(4),
            call.value.to_bytes(16),
            bytes.fromhex(named(call.to)[2:]),
            len(data).to_bytes(2),
            data,
        )
    )


def _decode(reply: bytes, actor: Address) -> Iterator[SimResult]:
    """Yield the results of all executed steps. Raises ValueError for a reply that Actor cannot
    return."""
    if decode_uint(reply) != int(actor, 16):
        raise ValueError("overrides or creations are not run as elsewhere")  # noqa: TRY003 - read by nobody but this module
    at = WORD
    while at < len(reply):
        status, length = reply[at], int.from_bytes(reply[at + 1 : at + 4])
        at += 4 + length
        if status > 1:
            return
        yield SimResult(
            ok=status == 1,
            data=reply[at - length : at],
            logs=(),
            message="" if status else "execution reverted",
        )
