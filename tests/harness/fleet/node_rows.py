"""Rows that a store must hold for a real node's chain, from its plain answers.

For a follower that began at block 0 and is level with the head, and exchanges like Uniswap's V2 and
V3. Nothing of the indexer is used.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.reads import balance_of
from config.facts.chain import Chain
from core.evm.abi import topic_of
from core.evm.primitives import ZERO_ADDRESS, Address
from core.rpc.messages import RpcRequest
from tests.harness.fault_simulation.stored_rows import Cells, StoredRows, sums_of

_TRANSFER: Final = topic_of("Transfer(address,address,uint256)")
_PAIR_MADE: Final = topic_of("PairCreated(address,address,address,uint256)")
_POOL_MADE: Final = topic_of("PoolCreated(address,address,uint24,int24,address)")
_SWAPS: Final = frozenset(
    {
        topic_of("Swap(address,uint256,uint256,uint256,uint256,address)"),
        topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)"),
    }
)
_KINDS: Final = frozenset({"AmmV2", "AmmV3"})
_ASKED: Final = "request"
"""Why a token is tracked that no pool makes one of."""
_SHOWN: Final = 3
_POOL_WORD: Final[dict[str, int]] = {_PAIR_MADE: 0, _POOL_MADE: 1}
"""Position of the pool in the event's data, in words."""


class _Log(msgspec.Struct, rename="camel"):
    address: str
    topics: list[str]
    data: str
    block_number: str
    log_index: str

    @property
    def place(self) -> tuple[int, int]:
        return int(self.block_number, 16), int(self.log_index, 16)


class _Header(msgspec.Struct, rename="camel"):
    number: str
    hash: str
    parent_hash: str


class _Pool(msgspec.Struct, frozen=True):
    address: str
    sides: tuple[str, str]
    place: tuple[int, int]


def chain_differences(stored: StoredRows, node: AnvilNode, chain: Chain) -> list[str]:
    """Differences between a store and the chain of an idle node, as text."""
    answer = node.rpc("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})
    compared = _Comparison(stored, chain, msgspec.convert(answer, list[_Log]))
    head = node.head_number()
    compared.blocks(_headers(node, range(_lowest(stored, head), head + 1)))
    compared.pools()
    compared.tokens()
    compared.transfers()
    compared.trades()
    compared.balances()
    return compared.found


def balance_differences(stored: StoredRows, node: AnvilNode, tokens: Iterable[str]) -> list[str]:
    """Differences between the sums of stored transfers and the balances of the contracts.

    For tokens with a whole history that emit an event for every change.
    """
    found = []
    balances = sums_of(stored.transfers)
    wanted = set(tokens)
    for (token, owner), amount in balances.items():
        if token not in wanted or owner == ZERO_ADDRESS:
            continue
        on_chain = balance_of(node, Address(token), Address(owner))
        if on_chain != amount:
            found.append(f"{owner} has {on_chain} of {token}, by the store {amount}")
    return found


class _Comparison:
    def __init__(self, stored: StoredRows, chain: Chain, logs: Sequence[_Log]) -> None:
        self.found: list[str] = []
        self._stored = stored
        self._chain = chain
        self._logs = logs
        self._anchors = {ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)}
        factories = {str(dex.factory) for dex in chain.dexes}
        self._pools = [
            _Pool(_word(log.data, _POOL_WORD[log.topics[0]]), _sides(log), log.place)
            for log in logs
            if log.address in factories and log.topics[0] in _POOL_WORD
        ]
        self._first: dict[str, int] = {}
        for pool in self._pools:
            for side in set(pool.sides) - self._anchors:
                self._first.setdefault(side, pool.place[0])

    def blocks(self, headers: Sequence[_Header]) -> None:
        """Compare the window to the final block, and checkpoint and coverage up to the head."""
        expected = [(int(one.number, 16), one.hash, one.parent_hash) for one in headers]
        self._same("blocks", self._stored.blocks, expected)
        head, head_hash, _ = expected[-1]
        if expected[0][0] > max(0, head - self._chain.finality_blocks):
            self.found.append(f"blocks are held from {expected[0][0]} only, the head is {head}")
        if self._stored.checkpoints.get("follow") != (head, head_hash):
            follow = self._stored.checkpoints.get("follow")
            self.found.append(f"followed to {follow}, the head is {head} {head_hash}")
        covered = [row[1:] for row in self._stored.coverage if row[0] == "transfers"]
        self._same("coverage", covered, [(0, head)])
        final = self._stored.checkpoints.get("final", (-1, None))[0]
        if final > head - self._chain.finality_blocks:
            self.found.append(f"final up to {final}, the head is {head}")

    def pools(self) -> None:
        stored = sorted(
            (row[1], (row[3], row[4]), row[5:7])
            for row in self._stored.pools.values()
            if row[0] in _KINDS
        )
        expected = sorted((pool.address, pool.sides, pool.place) for pool in self._pools)
        self._same("pools", stored, expected)

    def tokens(self) -> None:
        """Each that has a pool. One that was analysed stays when a reorganisation takes its pool
        away, and may come back later."""
        for token in sorted(self._first.keys() - self._stored.tokens.keys()):
            self.found.append(f"token {token} of block {self._first[token]} is missing")
        for token, row in self._stored.tokens.items():
            may_stay = row[0] == _ASKED or row[3]
            first = self._first.get(token)
            if first is None or row[1] != first:
                is_kept = may_stay and (first is None or row[1] < first)
                if not is_kept:
                    self.found.append(f"token {token} is of block {first}, not {row[1]}")
            if row[2] is None or row[2] > self._first.get(token, row[2]):
                self.found.append(f"transfers of {token} are complete from {row[2]} only")
        self._same("rows of tokens that are gone", self._stored.orphans, [])

    def transfers(self) -> None:
        may: set[Cells] = set()
        must: set[Cells] = set()
        for log in self._logs:
            row = self._stored.tokens.get(log.address)
            if row is None or log.topics[0] != _TRANSFER:
                continue
            sides = ("0x" + topic[26:] for topic in log.topics[1:])
            cells = (*log.place, log.address, *sides, int(log.data, 16))
            may.add(cells)
            if row[2] is not None and log.place[0] >= row[2]:
                must.add(cells)
        self._within("transfers", self._stored.transfers, may, must)

    def trades(self) -> None:
        """Those in pools of one token and one anchor: where the price of the other is known."""
        traded = {pool.address for pool in self._pools if len(set(pool.sides) & self._anchors) == 1}
        places: set[Cells] = {
            log.place for log in self._logs if log.address in traded and log.topics[0] in _SWAPS
        }
        self._within("trades", [row[:2] for row in self._stored.trades], places, places)

    def balances(self) -> None:
        if self._stored.balances != self._stored.final_sums:
            wrong = sorted(self._stored.balances.items() ^ self._stored.final_sums.items())
            self.found.append(f"balances are not the sums of final transfers: {wrong[:_SHOWN]}")

    def _within(
        self, what: str, stored: Sequence[Cells], may: set[Cells], must: set[Cells]
    ) -> None:
        """Each row once, none that may not be there, and all that must."""
        rows = set(stored)
        if len(rows) != len(stored):
            twice = sorted(row for row in rows if stored.count(row) > 1)
            self.found.append(f"{what} twice: {twice[:_SHOWN]}")
        if lost := sorted(must - rows):
            self.found.append(f"{what} are missing: {len(lost)}, {lost[:_SHOWN]}")
        if strange := sorted(rows - may):
            self.found.append(f"{what} that never were: {len(strange)}, {strange[:_SHOWN]}")

    def _same(self, what: str, stored: Sequence[object], expected: Sequence[object]) -> None:
        if list(stored) == list(expected):
            return
        lost = [one for one in expected if one not in stored][:_SHOWN]
        strange = [one for one in stored if one not in expected][:_SHOWN]
        self.found.append(f"{what}: missing {lost}; strange {strange}")


def _lowest(stored: StoredRows, head: int) -> int:
    return min(stored.blocks[0][0], head) if stored.blocks else head


def _headers(node: AnvilNode, numbers: range) -> list[_Header]:
    requests = [RpcRequest("eth_getBlockByNumber", (hex(number), False)) for number in numbers]
    return msgspec.convert(node.rpc_batch(requests), list[_Header])


def _sides(log: _Log) -> tuple[str, str]:
    return "0x" + log.topics[1][26:], "0x" + log.topics[2][26:]


def _word(data: str, at: int) -> str:
    """The address in a word of an event's data."""
    return "0x" + data[2 + 64 * at + 24 : 2 + 64 * (at + 1)]
