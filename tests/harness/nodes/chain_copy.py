"""Chain of one node replayed on another: the same transactions, blocks and times.

So reports on the one have to hold on the other.
"""

import msgspec
from eth_account import Account
from eth_account.signers.local import LocalAccount

from assay.demo.anvil import AnvilNode
from tests.harness.nodes.programs import MNEMONIC, NodeProgram

_ACCOUNTS = 10


class _Transaction(msgspec.Struct, rename="camel"):
    sender: str = msgspec.field(name="from")
    to: str | None
    input: str
    value: str
    gas: str
    nonce: str
    hash: str
    max_fee_per_gas: str
    max_priority_fee_per_gas: str


class _Block(msgspec.Struct):
    number: str
    timestamp: str
    transactions: list[_Transaction]


class CopiedBlock(msgspec.Struct, frozen=True):
    """A block as it is sent on."""

    number: int
    time_s: int
    transactions: tuple[_Transaction, ...]
    succeeded: tuple[bool, ...]


class ChainCopy(msgspec.Struct, frozen=True):
    """All of a chain from block 1 on, and the balances that no transaction made."""

    genesis_s: int
    blocks: tuple[CopiedBlock, ...]
    given_wei: dict[str, int]


def copy_chain(node: AnvilNode, *, given_to: tuple[str, ...] = ()) -> ChainCopy:
    """Read a chain whole. `given_to`: accounts whose coins were set, not sent."""
    read = [_read_block(node, number) for number in range(node.head_number() + 1)]
    balances = {one: int(str(node.rpc("eth_getBalance", one, "latest")), 16) for one in given_to}
    return ChainCopy(read[0].time_s, tuple(read[1:]), balances)


def send_copy(copy: ChainCopy, node: NodeProgram) -> list[str]:
    """Send all of it; return the differences there, a line each.

    Accounts other than those of the usual mnemonic cannot send anything.
    """
    signers = _signers()
    for account, wei in copy.given_wei.items():
        node.rpc(node.program.set_balance, account, hex(wei))
    different: list[str] = []
    for block in copy.blocks:
        hashes = [_send(node, signers[one.sender.lower()], one) for one in block.transactions]
        node.program.mine(node, block.time_s)
        for sent, hoped in zip(hashes, block.succeeded, strict=True):
            receipt = node.rpc("eth_getTransactionReceipt", sent)
            if receipt is None:
                different.append(f"block {block.number}: {sent} was not mined")
            elif (receipt["status"] == "0x1") != hoped:
                different.append(f"block {block.number}: {sent} has status {receipt['status']}")
    return different


def _read_block(node: AnvilNode, number: int) -> CopiedBlock:
    answer = node.rpc("eth_getBlockByNumber", hex(number), True)
    block = msgspec.convert(answer, _Block)
    statuses = [
        msgspec.convert(node.rpc("eth_getTransactionReceipt", one.hash), dict[str, object])
        for one in block.transactions
    ]
    return CopiedBlock(
        number,
        int(block.timestamp, 16),
        tuple(block.transactions),
        tuple(receipt["status"] == "0x1" for receipt in statuses),
    )


def _signers() -> dict[str, LocalAccount]:
    Account.enable_unaudited_hdwallet_features()
    accounts = [
        Account.from_mnemonic(MNEMONIC, account_path=f"m/44'/60'/0'/0/{at}")
        for at in range(_ACCOUNTS)
    ]
    return {str(account.address).lower(): account for account in accounts}


def _send(node: NodeProgram, signer: LocalAccount, one: _Transaction) -> str:
    """Sign the transaction, which anvil took without a signature; its hash changes."""
    to = {} if one.to is None else {"to": bytes.fromhex(one.to[2:])}
    signed = signer.sign_transaction(
        {
            **to,
            "type": 2,
            "chainId": int(node.rpc("eth_chainId"), 16),
            "nonce": int(one.nonce, 16),
            "gas": int(one.gas, 16),
            "maxFeePerGas": int(one.max_fee_per_gas, 16),
            "maxPriorityFeePerGas": int(one.max_priority_fee_per_gas, 16),
            "value": int(one.value, 16),
            "data": bytes.fromhex(one.input[2:]),
        }
    )
    return str(node.rpc("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex()))
