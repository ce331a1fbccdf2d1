"""Finds a contract's creator: the block in which its code appeared, and that transaction's sender.

Needs a node with old state, and a bounded number of reads (a search by sixteenths); for a token
with an announced launch, one read from any node. The result is final once the block is, so it is
looked up apart from analyses and stored.
"""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import read_code
from analysis.reads.node import Node
from core.errors import UpstreamError
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, parse_address
from core.rpc.messages import RpcFault, RpcRequest

_AT_ONCE = 15
"""Heights read in one trip: the range shrinks to a sixteenth each time."""

_MOST_CANDIDATES = 8

_ZERO_TOPIC = "0x" + "00" * 32


def _topic(signature: str) -> str:
    return "0x" + keccak(signature.encode()).hex()


_TRANSFER = _topic("Transfer(address,address,uint256)")
_APPROVAL = _topic("Approval(address,address,uint256)")
_USER_OPERATION = _topic("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")
"""Source: ERC-4337, EntryPoint. The sender of such a transaction is a bundler, not its user."""


class ContractCreation(msgspec.Struct, frozen=True, kw_only=True):
    """Block, transaction and creator of a contract."""

    block_number: int
    tx_hash: Hash32 | None
    """None: the block's logs do not prove which transaction created it."""
    creator: Address | None
    """The account that sent the transaction. None: not known, or a bundler sent it."""
    candidates: tuple[Hash32, ...] = ()
    """Transactions with most gas, which may have created it. Empty: one is proven."""


class _Log(msgspec.Struct, frozen=True):
    address: str
    topics: tuple[str, ...]
    data: str


class _Receipt(msgspec.Struct, frozen=True, rename="camel"):
    transaction_hash: Hash32
    block_number: str
    sender: str = msgspec.field(name="from")
    logs: tuple[_Log, ...]
    contract_address: str | None = None
    gas_used: str = "0x0"


async def find_creation(
    node: Node, token: Address, *, final: int, is_near: bool = False
) -> ContractCreation | None:
    """Find the block by a search over heights. None: no code yet in `final`, the newest final
    block.

    `is_near`: there is code in `final`, probably for a few blocks, so those are read first. Raises
    UpstreamError, also where the node has no state of old blocks.
    """
    number = await _find_block(node, token, final=final, is_near=is_near)
    if number is None:
        return None
    (answer,) = await node.batch([RpcRequest("eth_getBlockReceipts", (hex(number),))])
    if isinstance(answer, RpcFault):
        raise UpstreamError(service="node", reason=f"receipts of block {number}: {answer.message}")
    try:
        receipts = msgspec.json.decode(answer, type=tuple[_Receipt, ...])
    except msgspec.DecodeError as error:
        raise UpstreamError(service="node", reason=f"receipts of block {number}") from error
    made = _maker(receipts, token)
    if made is None:
        return ContractCreation(
            block_number=number, tx_hash=None, creator=None, candidates=_largest(receipts)
        )
    return _creation(made, number)


async def find_launch(node: Node, token: Address, tx_hash: Hash32) -> ContractCreation | None:
    """Find the creation by the transaction in which a platform announced the token.

    None: that did not create it, or the node does not have it. Raises UpstreamError.
    """
    (answer,) = await node.batch([RpcRequest("eth_getTransactionReceipt", (tx_hash,))])
    if isinstance(answer, RpcFault):
        return None
    try:
        receipt = msgspec.json.decode(answer, type=_Receipt | None)
        number = 0 if receipt is None else int(receipt.block_number, 16)
    except (msgspec.DecodeError, ValueError) as error:
        raise UpstreamError(service="node", reason=f"receipt of {tx_hash}") from error
    made = None if receipt is None else _maker((receipt,), token)
    return None if made is None else _creation(made, number)


async def _find_block(node: Node, token: Address, *, final: int, is_near: bool) -> int | None:
    """Return the first block with code. None: there is no code at `final`."""
    without, with_code = -1, final
    if is_near:
        without, with_code = await _look_near(node, token, final)
    elif not (await _have_code(node, token, [final]))[0]:
        return None
    while with_code - without > 1:
        between = with_code - without - 1
        count = min(_AT_ONCE, between)
        heights = [without + (between + 1) * at // (count + 1) for at in range(1, count + 1)]
        for height, has_code in zip(heights, await _have_code(node, token, heights), strict=True):
            if has_code:
                with_code = height
                break
            without = height
    return with_code


async def _look_near(node: Node, token: Address, final: int) -> tuple[int, int]:
    """Return a height without code, -1 if none is known, and one with code.

    Heights are ever larger steps back from `final`, as far as the node has the states.
    """
    heights = [final - 2**at for at in range(_AT_ONCE) if 2**at <= final]
    answers = await node.batch(
        [RpcRequest("eth_getCode", (token, hex(height))) for height in heights]
    )
    with_code = final
    for height, answer in zip(heights, answers, strict=True):
        if isinstance(answer, RpcFault):
            break
        if not read_code(answer):
            return height, with_code
        with_code = height
    return -1, with_code


async def _have_code(node: Node, token: Address, heights: Sequence[int]) -> list[bool]:
    answers = await node.batch(
        [RpcRequest("eth_getCode", (token, hex(height))) for height in heights]
    )
    return [bool(read_code(answer)) for answer in answers]


def _creation(made: _Receipt, number: int) -> ContractCreation:
    is_bundle = any(log.topics[:1] == (_USER_OPERATION,) for log in made.logs)
    return ContractCreation(
        block_number=number,
        tx_hash=made.transaction_hash,
        creator=None if is_bundle else parse_address(made.sender),
    )


def _maker(receipts: Sequence[_Receipt], token: Address) -> _Receipt | None:
    """Return the receipt of the transaction that created the token. None: none is proven.

    It is the one with this contract address; or the first whose logs mention the token: of a
    factory that announces it, or of the token, whose first log is a mint.
    """
    for receipt in receipts:
        if (receipt.contract_address or "").lower() == token:
            return receipt
    for receipt in receipts:
        spoken = [log for log in receipt.logs if log.address.lower() == token]
        if spoken or _is_named(receipt, token):
            return receipt if _is_birth(receipt, spoken, token) else None
    return None


def _largest(receipts: Sequence[_Receipt]) -> tuple[Hash32, ...]:
    """Return the transactions with most gas, of which storing a code takes 200 a byte."""
    ordered = sorted(receipts, key=lambda receipt: int(receipt.gas_used, 16), reverse=True)
    return tuple(receipt.transaction_hash for receipt in ordered[:_MOST_CANDIDATES])


def _is_birth(receipt: _Receipt, spoken: Sequence[_Log], token: Address) -> bool:
    if spoken and spoken[0].topics[:1] in ((_TRANSFER,), (_APPROVAL,)):
        # Earlier tokens emit these too: a node without old state may give a late block.
        return spoken[0].topics[:2] == (_TRANSFER, _ZERO_TOPIC)
    return _is_named(receipt, token)


def _is_named(receipt: _Receipt, token: Address) -> bool:
    """True if a log of another contract mentions the token."""
    return any(
        token[2:] in "".join((*log.topics, log.data)).lower()
        for log in receipt.logs
        if log.address.lower() != token
    )
