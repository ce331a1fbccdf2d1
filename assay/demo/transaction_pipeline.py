"""Many transactions in few round trips: queued with nonces, sent as a batch, mined."""

import msgspec
from eth_typing import HexAddress, HexStr
from web3.types import Nonce
from web3.utils.address import get_create2_address, get_create_address

from assay.demo.anvil import AnvilNode, NodeRefusedError, quantity
from assay.demo.compile import Artifacts
from core.errors import InternalError
from core.evm.abi import call_data, encode_values
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcRequest

_GAS = 14_000_000
"""Limit of each transaction: room for the longest search for a hook, and several in one block."""
_MOST_BLOCKS = 64


class TransactionFailedError(InternalError):
    """A transaction of the demo's set-up failed."""

    def __init__(self, *, label: str, reason: str) -> None:
        super().__init__(f"{label}: {reason}")
        self.label = label
        self.reason = reason


class _Queued(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    transaction: dict[str, str]


class Pipeline:
    """Deploys and calls from unlocked accounts; nothing is sent before `flush`.

    The addresses of new contracts are known in advance: they follow from sender and nonce.
    """

    def __init__(self, node: AnvilNode, artifacts: Artifacts) -> None:
        self._node = node
        self._artifacts = artifacts
        self._queue: list[_Queued] = []
        self._nonces: dict[Address, int] = {}

    def deploy(self, name: str, *values: object, sender: Address) -> Address:
        """Queue the creation of a contract; return its address."""
        data = "0x" + self.creation(name, *values).hex()
        nonce = self._add(f"deploy {name}", {"from": sender, "data": data})
        return created_address(sender, nonce)

    def creation(self, name: str, *values: object) -> bytes:
        """Return the creation code of a contract, constructor arguments included."""
        artifact = self._artifacts[name]
        return bytes.fromhex(artifact.creation + encode_values(artifact.constructor, values))

    def next_address(self, sender: Address) -> Address:
        """Return the address of a contract created by the sender's next transaction."""
        return created_address(sender, self.next_nonce(sender))

    def call(
        self, to: Address, signature: str, *values: object, sender: Address, value_wei: int = 0
    ) -> None:
        """Queue a call."""
        transaction = {
            "from": sender,
            "to": to,
            "data": call_data(signature, *values),
            "value": hex(value_wei),
        }
        self._add(signature, transaction)

    def flush(self) -> None:
        """Send everything queued and mine until all of it is in a block.

        Raises TransactionFailedError for the first that did not succeed.
        """
        queue = self._queue
        receipts = self._mine(self.submit())
        for one, receipt in zip(queue, receipts, strict=True):
            if receipt["status"] != "0x1":
                raise TransactionFailedError(label=one.label, reason=self._reason(one, receipt))

    def submit(self) -> list[Hash32]:
        """Send everything queued, without mining; return the hashes."""
        queue, self._queue = self._queue, []
        requests = [RpcRequest("eth_sendTransaction", (one.transaction,)) for one in queue]
        return [Hash32(str(one)) for one in self._node.rpc_batch(requests)]

    def _add(self, label: str, transaction: dict[str, str]) -> int:
        sender = Address(transaction["from"])
        nonce = self.next_nonce(sender)
        self._nonces[sender] = nonce + 1
        ready = transaction | {"nonce": hex(nonce), "gas": hex(_GAS)}
        self._queue.append(_Queued(label=f"{label} from {sender} #{nonce}", transaction=ready))
        return nonce

    def next_nonce(self, sender: Address) -> int:
        """Return the nonce of the sender's next transaction. It must not send in any other way."""
        known = self._nonces.get(sender)
        if known is None:
            known = quantity(self._node.rpc("eth_getTransactionCount", sender, "latest"))
            self._nonces[sender] = known
        return known

    def forget(self, sender: Address) -> None:
        """Read the sender's nonce again next time: it has sent in another way."""
        self._nonces.pop(sender, None)

    def _mine(self, hashes: list[Hash32]) -> list[dict[str, object]]:
        for _ in range(_MOST_BLOCKS):
            self._node.mine()
            answers = self._node.rpc_batch(
                [RpcRequest("eth_getTransactionReceipt", (one,)) for one in hashes]
            )
            receipts = [answer for answer in answers if isinstance(answer, dict)]
            if len(receipts) == len(hashes):
                return receipts
        raise TransactionFailedError(
            label="flush", reason=f"{len(hashes)} transactions not mined in {_MOST_BLOCKS} blocks"
        )

    def _reason(self, one: _Queued, receipt: dict[str, object]) -> str:
        """Return the error of the failed transaction, repeated as a call."""
        try:
            self._node.rpc("eth_call", one.transaction, receipt["blockNumber"])
        except NodeRefusedError as refused:
            return refused.reason
        return f"failed with {receipt['gasUsed']} gas used"


def created_address(sender: Address, nonce: int) -> Address:
    """Return the address of a contract created with CREATE."""
    return Address(get_create_address(HexAddress(HexStr(sender)), Nonce(nonce)).lower())


def created2_address(creator: Address, *, salt: bytes, creation: str) -> Address:
    """Return the address of a contract created with CREATE2 (EIP-1014)."""
    made = get_create2_address(
        HexAddress(HexStr(creator)), HexStr("0x" + salt.hex()), HexStr("0x" + creation)
    )
    return Address(made.lower())
