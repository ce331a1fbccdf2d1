"""Read batch: reads of many steps in one round trip, including reads that depend on other answers.

Adding a read returns a handle, by which its decoded answer is looked up after `send`. The block is
the batch's, so that no read has to name one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, overload

from analysis.reads.chain_reads import (
    AnswerAddress,
    CallRead,
    CodeRead,
    ContractRead,
    Handle,
    RequestHandle,
    SlotRead,
    call_of,
)
from analysis.reads.eth_reads import Reply
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_exchange import ReadExchange
from analysis.reads.rpc_reads import NodeFault, ReadAnswer
from core.evm.primitives import Address, Hash32
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcRequest

T = TypeVar("T")


def _same(reply: Reply) -> Reply:
    return reply


def _bytes_of(reply: Reply) -> bytes:
    return reply if isinstance(reply, bytes) else b""


def _word_of(reply: Reply) -> int:
    return int.from_bytes(_bytes_of(reply))


class ReadBatch:
    """Collects reads of one block, sends them together, and decodes their answers."""

    def __init__(
        self,
        block: Hash32 | None,
        *,
        needs_header: bool = False,
        memory: Mapping[ContractRead, ReadAnswer] | None = None,
    ) -> None:
        """`block` None: the newest, whose header has to be requested. `needs_header`: request the
        block's header. `memory`: answers that are known already; their reads are not sent."""
        self._exchange = ReadExchange(block, needs_header=needs_header, memory=memory)

    # --- adding -------------------------------------------------------------------------------

    @overload
    def call(
        self, to: Address | AnswerAddress, signature: str, *arguments: object
    ) -> Handle[Reply]: ...
    @overload
    def call(
        self,
        to: Address | AnswerAddress,
        signature: str,
        *arguments: object,
        returns: Callable[[Reply], T],
    ) -> Handle[T]: ...
    def call(
        self,
        to: Address | AnswerAddress,
        signature: str,
        *arguments: object,
        returns: Callable[[Reply], object] = _same,
    ) -> Handle[object]:
        """Add a call of `name(type,...)`, decoded by `returns`. One argument may be an
        AnswerAddress, as in `call_of`."""
        return self.add(call_of(to, signature, *arguments), returns=returns)

    @overload
    def add(self, read: CallRead) -> Handle[Reply]: ...
    @overload
    def add(self, read: CallRead, *, returns: Callable[[Reply], T]) -> Handle[T]: ...
    def add(self, read: CallRead, *, returns: Callable[[Reply], object] = _same) -> Handle[object]:
        """Add a call, decoded by `returns`."""
        return Handle(self._exchange.add(read, first_bytes=None), returns)

    def code(
        self, address: Address | AnswerAddress, *, first_bytes: int | None = None
    ) -> Handle[bytes]:
        """Add a read of runtime code; empty for an account. `first_bytes`: length to which the code
        may be cut."""
        read = CodeRead(address=address)
        return Handle(self._exchange.add(read, first_bytes=first_bytes), _bytes_of)

    def slot(self, contract: Address, slot: Hash32) -> Handle[int]:
        """Add a read of a storage slot."""
        read = SlotRead(contract=contract, slot=slot)
        return Handle(self._exchange.add(read, first_bytes=None), _word_of)

    def request(
        self, request: RpcRequest, *, returns: Callable[[RpcAnswer], T]
    ) -> RequestHandle[T]:
        """Add a request that is no read of a contract, and names no block hash."""
        return RequestHandle(self._exchange.add_request(request), returns)

    # --- sending ------------------------------------------------------------------------------

    async def send(self, node: Node, capabilities: NodeCapabilities | None = None) -> None:
        """Send all reads. `capabilities` None: nothing is packed, but the newest block needs packs.

        Raises UpstreamError when no endpoint answers, or the newest block has no header.
        """
        await self._exchange.send(node, capabilities)

    # --- reading ------------------------------------------------------------------------------

    def __contains__(self, handle: Handle[object]) -> bool:
        """True if the answer is there; some may be when `send` was cancelled."""
        return handle.index in self._exchange.answers

    def __getitem__(self, handle: Handle[T] | RequestHandle[T]) -> T:
        """Return the decoded answer. Raises UpstreamError for a fault of the node."""
        if isinstance(handle, RequestHandle):
            return handle.returns(self._exchange.results[handle.index])
        answer = self._exchange.answers[handle.index]
        if isinstance(answer, NodeFault):
            raise answer.error
        return handle.returns(answer)

    def get(self, handle: Handle[T]) -> T | None:
        """Return the decoded answer. None: the node refused the read. Raises UpstreamError for an
        answer that cannot be decoded."""
        answer = self._exchange.answers[handle.index]
        if isinstance(answer, NodeFault) and answer.is_refusal:
            return None
        return self[handle]

    def resolve(self, address: Address | AnswerAddress) -> Address | None:
        """Return the address, or the one in the earlier answer. None: there is none in it."""
        return self._exchange.resolve(address) if isinstance(address, AnswerAddress) else address

    @property
    def header(self) -> Header:
        """Return the header of the block, if it was requested. Raises UpstreamError."""
        return self._exchange.header

    def answers(self, handles: Iterable[Handle[object]]) -> dict[ContractRead, ReadAnswer]:
        """Return the answers to those of these reads that were sent, as another batch's memory."""
        exchange = self._exchange
        return {
            read: exchange.answers[handle.index]
            for handle in handles
            if (read := exchange.concrete(handle.index)) is not None
        }
