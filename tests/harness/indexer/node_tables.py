"""Rows that the tables must hold for a real node's chain, from its plain eth_getLogs answer.

Decoded log by log with eth-abi from the events' declarations: nothing of the indexer is used.
"""

import tomllib
from pathlib import Path
from typing import Any, Protocol

import msgspec
from eth_abi.abi import decode
from eth_utils.crypto import keccak

from config.facts.chain import Chain
from core.evm.primitives import ZERO_ADDRESS, Address
from sql.chain.early_tables import EARLY_SUBJECT
from tests.harness.indexer.expected_tables import Tables
from tests.harness.indexer.wire_logs import Event, parse_event
from tests.harness.store.store_contents import Cells

_TRANSFER = "0x" + keccak(text="Transfer(address,address,uint256)").hex()
_LP_TOKENS = ("Transfer(address,address,uint256)",)
_MINTED = ("Mint(address,address,int24,int24,uint128,uint256,uint256)",)
_OF_LIQUIDITY = {
    "AmmV2": _LP_TOKENS,
    "Solid": _LP_TOKENS,
    "AmmV3": _MINTED,
    "SolidV3": _MINTED,
    "AmmV4": (
        "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
        "Mint(bytes32,address,uint256[],bytes32,bytes32[],bytes32,bytes32)",
    ),
    "LiquidityBook": ("TransferBatch(address,address,address,uint256[],uint256[])",),
}
"""Events that name who may hold liquidity, by the kind of the pool."""
_EVENTS = {
    (row["kind"], row["topic0"]): parse_event(row["declared"])
    for row in tomllib.loads(Path(__file__).with_name("pool_events.toml").read_text())["event"]
}


class _Log(msgspec.Struct, rename="camel"):
    address: str
    topics: list[str]
    data: str
    block_number: str
    log_index: str
    transaction_hash: str

    @property
    def place(self) -> tuple[int, int]:
        return int(self.block_number, 16), int(self.log_index, 16)


class AskedNode(Protocol):
    def rpc(self, method: str, *params: object) -> Any: ...

    def head_number(self) -> int: ...


def expect_of_node(node: AskedNode, chain: Chain) -> Tables:
    """For a follower that is level with the node's head and began at block 0."""
    answer = node.rpc("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})
    logs = msgspec.convert(answer, list[_Log])
    kinds = {str(dex.factory): str(dex.kind) for dex in chain.dexes}
    launches = _launches(logs, chain)
    anchors = {anchor.address for anchor in chain.anchors} | {ZERO_ADDRESS}
    pools: list[Cells] = []
    keys: dict[str, str] = {}
    launched = {str(token): int(str(at)) for _, token, _, _, _, at, _ in launches}
    tracked = dict(launched)
    with_pool: set[str] = set()
    for log in logs:
        event = _EVENTS.get((kinds.get(log.address, ""), log.topics[0] if log.topics else ""))
        if event is None:
            continue
        values = _values(event, log)
        sides = [str(values.get(f"token{at}", values.get(f"currency{at}"))) for at in range(2)]
        pool = values.get("pair", values.get("pool", log.address))
        pools.append((kinds[log.address], pool, log.address, *sides, *log.place))
        pool_id = "0x" + bytes(values["id"]).hex() if "id" in values else None
        keys[pool_id or str(pool)] = kinds[log.address]
        for side in set(sides) - anchors:
            tracked.setdefault(side, log.place[0])
            with_pool.add(side)
    sent = [
        log
        for log in logs
        if log.topics[:1] == [_TRANSFER] and log.place[0] >= tracked.get(log.address, 2**63)
    ]
    plain = [log for log in sent if len(log.topics) == 3 and len(log.data) == 66]
    head = node.head_number()
    subjects = ["transfers", *(f"pools:{dex.factory}" for dex in chain.dexes)]
    subjects += [pad.subject for pad in chain.launchpads]
    return Tables(
        pools=pools,
        launches=launches,
        tokens=sorted(
            (own, "pool" if own in with_pool else "launch", first, first)
            for own, first in tracked.items()
        ),
        transfers=[
            (
                *log.place,
                log.address,
                *("0x" + topic[26:] for topic in log.topics[1:]),
                hex(int(log.data, 16)),
            )
            for log in plain
        ],
        undecoded=[(*log.place, log.address, len(log.topics)) for log in sent if log not in plain],
        checkpoint=head,
        coverage=sorted(
            (subject, 0, head) for subject in (*subjects, EARLY_SUBJECT, chain.liquidity_subject)
        ),
        liquidity=_liquidity(logs, keys),
    )


def _liquidity(logs: list[_Log], kinds: dict[str, str]) -> list[Cells]:
    """Decode events of all pools, as every one is young on this short chain. `kinds`: kinds by pool
    key."""
    found: list[Cells] = []
    for log in logs:
        for key in (log.address, *log.topics[1:2]):
            signatures = _OF_LIQUIDITY.get(kinds.get(key, ""), ())
            if log.topics and log.topics[0][2:] in {keccak(text=one).hex() for one in signatures}:
                topics = "0x" + "".join(topic[2:] for topic in log.topics)
                found.append((*log.place, key, topics, log.data))
    return found


def _launches(logs: list[_Log], chain: Chain) -> list[Cells]:
    """Decode launches of platforms whose events are declared without tuples, as the demo's are."""
    launches = {
        (contract, event.topic0): (pad.slug, event, creation)
        for pad in chain.launchpads
        for creation in pad.event
        for event in [parse_event(f"event {creation.declared}".replace(",", ", "))]
        for contract in pad.contracts
    }
    found: list[Cells] = []
    for log in logs:
        key = (Address(log.address), log.topics[0] if log.topics else "")
        if key not in launches:
            continue
        slug, event, creation = launches[key]
        values = _values(event, log)
        token, creator = values[creation.token or ""], values[creation.creator or ""]
        found.append((slug, token, log.address, creator, log.transaction_hash, *log.place))
    return found


def _values(event: Event, log: _Log) -> dict[str, Any]:
    indexed = [one for one in event.arguments if one.indexed]
    plain = [one for one in event.arguments if not one.indexed]
    values = {
        one.name: decode([one.abi_type], bytes.fromhex(topic[2:]))[0]
        for one, topic in zip(indexed, log.topics[1:], strict=True)
    }
    decoded = decode([one.abi_type for one in plain], bytes.fromhex(log.data[2:]))
    return values | dict(zip((one.name for one in plain), decoded, strict=True))
