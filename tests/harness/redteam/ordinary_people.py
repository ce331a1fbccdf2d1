"""Ordinary people on the chain: purses, pasts, fees and gas as wallets have them."""

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError, quantity
from assay.demo.layout import named_account
from assay.demo.trader import Call
from core.errors import InternalError
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest

GWEI = 10**9
_BASE_FEES = (4 * GWEI, 12 * GWEI)
_TIPS = (1_500_000_000, 2_000_000_000, 1_200_000_000, 100_000_000)
_PURSES = (0.05, 0.3, 0.8, 1.4, 2.9)
"""Coins in addition to those spent on tokens."""
_GAS_WHEN_REFUSED = 500_000
_BLOCK_S = 12
_MOST_BLOCKS = 40


class NotMinedError(InternalError):
    """A transaction stayed out of several blocks."""

    def __init__(self, transaction: str) -> None:
        super().__init__(f"{transaction} was not mined")


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a mined transaction."""

    success: bool
    fee_wei: int
    logs: tuple[dict[str, object], ...]


class People:
    """Senders of all transactions, and the blocks they are in."""

    def __init__(self, node: AnvilNode, *, seed: int = 7) -> None:
        self.node = node
        self._dice = random.Random(seed)  # noqa: S311 - a seed makes a run repeatable
        self._count = 0

    def person(self, *, extra_wei: int = 0) -> Address:
        """Create a person with a purse and a past, and `extra_wei` more to spend."""
        self._count += 1
        account = named_account(f"somebody {self._count}")
        wei = int(self._dice.choice(_PURSES) * ETHER) + extra_wei + self._count * 10**12
        self.node.rpc_batch(
            [
                RpcRequest("anvil_setBalance", (account, hex(wei))),
                RpcRequest("anvil_setNonce", (account, hex(3 + self._count % 40))),
            ]
        )
        return account

    def block(self) -> None:
        """One block as a busy chain has them."""
        self._dress()
        self.node.mine()

    def wait(self, seconds: int, *, blocks: int) -> None:
        """Time goes by, with some of the blocks that belong to it."""
        until_s = self.node.head_time() + seconds
        spare_s = min(_BLOCK_S, seconds // (blocks + 1))
        if blocks > 1:
            self.node.rpc("anvil_mine", hex(blocks - 1), hex(max(1, spare_s)))
        self.node.rpc("evm_setNextBlockTimestamp", max(until_s, self.node.head_time() + 1))
        self.block()

    def send(self, call: Call, sender: Address, *, gas: int | None = None) -> Receipt:
        """Mine a transaction in a separate block. `gas` None: the node's estimate and 30 percent,
        as in wallets."""
        transaction = {
            "from": sender,
            "to": call.to,
            "data": call.data,
            "value": hex(call.value_wei),
        }
        gas = gas or self._gas_for(transaction)
        base_wei = self._dress()
        tip_wei = self._dice.choice(_TIPS)
        fees = {
            "gas": hex(gas),
            "maxPriorityFeePerGas": hex(tip_wei),
            "maxFeePerGas": hex(2 * base_wei + tip_wei),
        }
        try:
            sent = self.node.send(transaction | fees)
        except NodeRefusedError as refused:
            if "nsufficient funds" not in refused.reason:
                raise
            # The gas limit is beyond the purse of the wallet.
            return Receipt(success=False, fee_wei=0, logs=())
        for _ in range(5):
            self.node.mine()
            receipt = self.node.rpc("eth_getTransactionReceipt", sent)
            if isinstance(receipt, dict):
                return _receipt(receipt)
        raise NotMinedError(sent)

    def send_all(
        self, calls: Sequence[tuple[Call, Address]], *, gas: int | None = None
    ) -> list[Receipt]:
        """Send many transactions, mined as soon as there is room; return receipts in order.

        `gas` as in `send`. A sender that cannot pay has a receipt of a failure.
        """
        node = self.node
        base_wei = self._dress()
        ready = [call.sent_by(sender, gas=gas or 0) for call, sender in calls]
        if gas is None:
            requests = [_without_gas(one) for one in ready]
            for one, needed in zip(ready, node.try_batch(requests), strict=True):
                refused = isinstance(needed, NodeRefusedError)
                one["gas"] = hex(_GAS_WHEN_REFUSED if refused else quantity(needed) * 13 // 10)
        nonces = self._nonces(sender for _, sender in calls)
        # The node drops transactions of one sender whose tips rise with their nonces.
        tips = {sender: self._dice.choice(_TIPS) for sender in nonces}
        for one in ready:
            tip_wei = tips[one["from"]]
            one["nonce"] = hex(next(nonces[one["from"]]))  # a batch is not taken in its order
            one["maxPriorityFeePerGas"] = hex(tip_wei)
            one["maxFeePerGas"] = hex(2 * base_wei + tip_wei)
        sent = node.try_batch([RpcRequest("eth_sendTransaction", (one,)) for one in ready])
        hashes = [str(one) for one in sent if not isinstance(one, NodeRefusedError)]
        found = self._mine(hashes)
        return [found.get(str(one), Receipt(success=False, fee_wei=0, logs=())) for one in sent]

    def _nonces(self, senders: Iterable[Address]) -> dict[str, Iterator[int]]:
        requests = {
            sender: RpcRequest("eth_getTransactionCount", (sender, "latest")) for sender in senders
        }
        answers = self.node.rpc_batch([*requests.values()])
        return {
            sender: itertools.count(quantity(answer))
            for sender, answer in zip(requests, answers, strict=True)
        }

    def _mine(self, hashes: Sequence[str]) -> dict[str, Receipt]:
        for at in range(_MOST_BLOCKS):
            if at:
                self._dress()
            self.node.mine()
            requests = [RpcRequest("eth_getTransactionReceipt", (one,)) for one in hashes]
            answers = self.node.rpc_batch(requests)
            mined = [_receipt(one) for one in answers if isinstance(one, dict)]
            if len(mined) == len(hashes):
                return dict(zip(hashes, mined, strict=True))
        raise NotMinedError(hashes[0])

    def coins(self, account: Address) -> int:
        """Wei."""
        return quantity(self.node.rpc("eth_getBalance", account, "latest"))

    def bustle(self, blocks: int = 6) -> None:
        """Blocks with transfers of coins at the usual fees."""
        for _ in range(blocks):
            giver = self.person(extra_wei=ETHER)
            self.send(Call(to=self.person(), data="0x", value_wei=10**15), giver)

    def _dress(self) -> int:
        """Base fee and proposer of the next block; the base fee in wei."""
        base_wei = self._dice.randrange(*_BASE_FEES)
        self.node.rpc_batch(
            [
                RpcRequest("anvil_setNextBlockBaseFeePerGas", (hex(base_wei),)),
                RpcRequest("anvil_setCoinbase", ("0x" + self._dice.randbytes(20).hex(),)),
            ]
        )
        return base_wei

    def _gas_for(self, transaction: dict[str, str]) -> int:
        try:
            return quantity(self.node.rpc("eth_estimateGas", transaction)) * 13 // 10
        except NodeRefusedError:
            return _GAS_WHEN_REFUSED


def _without_gas(transaction: dict[str, str]) -> RpcRequest:
    kept = {key: value for key, value in transaction.items() if key != "gas"}
    return RpcRequest("eth_estimateGas", (kept,))


def _receipt(answer: dict[str, object]) -> Receipt:
    used = quantity(answer["gasUsed"]) * quantity(answer["effectiveGasPrice"])
    logs = answer["logs"]
    assert isinstance(logs, list)
    return Receipt(success=answer["status"] == "0x1", fee_wei=used, logs=tuple(logs))
