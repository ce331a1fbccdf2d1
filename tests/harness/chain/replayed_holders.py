"""Holders of a token by a plain replay of its transfers."""

from collections import Counter

import msgspec

from core.evm.abi import topic_of
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import Report
from tests.harness.chain.transactions import Chain, Log

TRANSFER = topic_of("Transfer(address,address,uint256)")


def replay(chain: Chain, token: Address) -> dict[Address, int]:
    """Replay all transfers since the first block, from the node's own logs."""
    where = {"address": token, "topics": [TRANSFER], "fromBlock": "0x0", "toBlock": "latest"}
    balances: Counter[Address] = Counter()
    for log in msgspec.convert(chain.node.rpc("eth_getLogs", where), list[Log]):
        sender, recipient = (Address("0x" + word[-40:]) for word in log.topics[1:])
        balances[sender] -= int(log.data, 16)
        balances[recipient] += int(log.data, 16)
    return {owner: amount for owner, amount in balances.items() if amount and owner != ZERO_ADDRESS}


def top_of(report: Report) -> list[tuple[Address, int]]:
    return [(row.owner, row.amount_raw) for row in report.holders if row.role == "top"]


def ranked(balances: dict[Address, int]) -> list[tuple[Address, int]]:
    return sorted(balances.items(), key=lambda one: (-one[1], one[0]))[:10]
