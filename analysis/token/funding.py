"""Finds who first gave an account coins: the sender of the transaction that did.

Of an account without code, `its balance or its nonce is not zero` stays true once it is, so a
search over heights finds the first block, with a node that has old states. Transactions of that
block name the sender. Coins that come from within a contract call, a block reward or the genesis
name nobody.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.reads.eth_reads import read_word
from analysis.reads.node import Node
from core.errors import InvalidAddressError, UpstreamError
from core.evm.primitives import Address, Hash32, parse_address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_AT_ONCE: Final = 15
"""Heights read in one trip: the range shrinks to a sixteenth each time."""

_STEP: Final = 16
"""Factor between the distances of the heights that are read first: throwaway accounts are funded
shortly before they are used."""


class Funding(msgspec.Struct, frozen=True, kw_only=True):
    """First funding of an account."""

    block_number: int
    funder: Address | None
    """Sender of the transaction. None: the block does not show it."""
    tx_hash: Hash32 | None
    """None: the block does not show it."""


class _Transaction(msgspec.Struct, frozen=True):
    hash: Hash32
    sender: str = msgspec.field(name="from")
    value: str
    to: str | None = None


class _Block(msgspec.Struct, frozen=True):
    number: str
    transactions: tuple[_Transaction, ...]


async def find_funding(node: Node, account: Address, *, used_by: int) -> Funding | None:
    """Find the first coins of an account. `used_by`: a final block, in which it had some.

    None: it had none then. Raises UpstreamError, also where the node has no state of old blocks.
    """
    number = await _find_block(node, account, last=used_by)
    if number is None:
        return None
    height = hex(number)
    found, balance, nonce = await node.batch(
        [
            RpcRequest("eth_getBlockByNumber", (height, True)),
            RpcRequest("eth_getBalance", (account, height)),
            RpcRequest("eth_getTransactionCount", (account, height)),
        ]
    )
    paid = _paid_to(account, _block(found, number))
    # An account that has sent nothing has no code, so that no transfer to it can fail. If these
    # transfers are all that it has, nothing came in another way before them.
    brought = sum(int(one.value, 16) for one in paid)
    if not paid or read_word(nonce) or brought != read_word(balance):
        return Funding(block_number=number, funder=None, tx_hash=None)
    return Funding(block_number=number, funder=parse_address(paid[0].sender), tx_hash=paid[0].hash)


async def _find_block(node: Node, account: Address, *, last: int) -> int | None:
    """Return the first block in which the account is not empty. None: it is empty in `last`."""
    heights, step = [last], 1
    while last - step >= 0:
        heights.append(last - step)
        step *= _STEP
    heights.reverse()
    empty, used = -1, last + 1
    while heights:
        for height, is_used in zip(heights, await _are_used(node, account, heights), strict=True):
            if is_used:
                used = height
                break
            empty = height
        between = used - empty - 1
        count = min(_AT_ONCE, between)
        heights = [empty + (between + 1) * at // (count + 1) for at in range(1, count + 1)]
    return used if used <= last else None


async def _are_used(node: Node, account: Address, heights: Sequence[int]) -> list[bool]:
    answers = await node.batch(
        [
            RpcRequest(method, (account, hex(height)))
            for height in heights
            for method in ("eth_getBalance", "eth_getTransactionCount")
        ]
    )
    is_some = [bool(read_word(answer)) for answer in answers]
    return [has or sent for has, sent in zip(is_some[::2], is_some[1::2], strict=True)]


def _block(answer: RpcAnswer, number: int) -> _Block:
    if isinstance(answer, RpcFault):
        raise UpstreamError(service="node", reason=f"block {number}: {answer.message}")
    try:
        block = msgspec.json.decode(answer, type=_Block)
        is_asked = int(block.number, 16) == number
        for one in block.transactions:
            int(one.value, 16)
            parse_address(one.sender)
    except (msgspec.DecodeError, ValueError, InvalidAddressError) as error:
        raise UpstreamError(service="node", reason=f"block {number} cannot be read") from error
    if not is_asked:
        raise UpstreamError(service="node", reason=f"another block than {number}")
    return block


def _paid_to(account: Address, block: _Block) -> list[_Transaction]:
    """Return the transactions that bring the account coins of another one, in order."""
    return [
        one
        for one in block.transactions
        if (one.to or "").lower() == account
        and one.sender.lower() != account
        and int(one.value, 16) > 0
    ]
