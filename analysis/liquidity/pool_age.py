"""Evidence that a pool existed some time ago.

Without the index, one of the pool's events can show it, as nodes keep events longer than states.
Where the events are refused, the pool's own oracle can, or its state of that time. Both also show
how much liquidity there was, so that a pool that was kept empty until yesterday is not old.
Source: v3-core Oracle.observe.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, Literal

import msgspec

from analysis.liquidity.holdings import log_query
from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.chain_reads import Handle, RequestHandle
from analysis.reads.eth_reads import NoAnswer, Reply, decode_logs, decode_uint, read_reply
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from core.errors import UpstreamError
from core.evm.abi import call_data, decode_values
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest

AgeEvidence = Literal["creation", "event", "observations", "state"]
"""Evidence of a pool's age: its indexed creation, an event, its oracle's mean liquidity over that
time, or its liquidity at that time."""

_SEARCHED: Final = 2_000
"""Blocks before that time that are searched. Most nodes allow this number in one query."""

_LEAST_PART: Final = 0.1
"""Part of the present liquidity that a pool must have had."""

_SHIFT: Final = 128
_ACCUMULATOR_BITS: Final = 160


async def find_older(
    pools: Sequence[Candidate], age_s: float, *, block: BlockRef, block_time_s: float, node: Node
) -> frozenset[str]:
    """Return the keys of pools with an event more than `age_s` seconds before a block.

    Uses the chain's nominal block time. Raises UpstreamError.
    """
    last = _block_before(block, age_s, block_time_s)
    if last < 0 or not pools:
        return frozenset()
    batch = ReadBatch(block.hash)
    queries = [
        (
            pool.key,
            batch.request(
                log_query(
                    pool.pool,
                    [] if pool.pool_id is None else [None, pool.pool_id],
                    from_block=max(0, last - _SEARCHED),
                    to_block=last,
                ),
                returns=decode_logs,
            ),
        )
        for pool in pools
    ]
    await batch.send(node)
    return frozenset(key for key, handle in queries if batch[handle])


class _StateReads(msgspec.Struct, frozen=True, kw_only=True):
    """Reads of one pool's liquidity, in one batch."""

    batch: ReadBatch
    age_s: int
    now: Handle[int | None]
    then: RequestHandle[int | None]
    observed: Handle[Reply]

    def read(self) -> AgeEvidence | None:
        """Return the evidence that a tenth of the liquidity was there. Raises UpstreamError."""
        present = self.batch[self.now]
        if not present:
            return None
        least = present * _LEAST_PART
        if (_mean_liquidity(self.batch[self.observed], self.age_s) or 0) >= least:
            return "observations"
        return "state" if (self.batch[self.then] or 0) >= least else None


async def find_liquid_before(
    pools: Sequence[Candidate],
    age_s: int,
    *,
    block: BlockRef,
    block_time_s: float,
    node: Node,
    capabilities: NodeCapabilities,
) -> Mapping[str, AgeEvidence]:
    """Return the evidence, by Candidate.key, for pools that had liquidity `age_s` seconds ago.

    Takes one round trip. Raises UpstreamError; a node without that state gives no evidence.
    """
    last = _block_before(block, age_s, block_time_s)
    batch = ReadBatch(block.hash)
    reads = {
        pool.key: _request_state(batch, pool, age_s, last)
        for pool in pools
        if last >= 0 and _liquidity_call(pool) is not None
    }
    if not reads:
        return {}
    await batch.send(node, capabilities)
    found = {key: one.read() for key, one in reads.items()}
    return {key: evidence for key, evidence in found.items() if evidence is not None}


def _request_state(batch: ReadBatch, pool: Candidate, age_s: int, last: int) -> _StateReads:
    to, signature, *arguments = _liquidity_call(pool) or (pool.pool, "liquidity()")
    call = {"to": to, "data": call_data(str(signature), *arguments)}
    return _StateReads(
        batch=batch,
        age_s=age_s,
        now=batch.call(pool.pool, str(signature), *arguments, returns=decode_uint),
        then=batch.request(RpcRequest("eth_call", (call, hex(last))), returns=_past_uint),
        observed=batch.call(pool.pool, "observe(uint32[])", [age_s, 0]),
    )


def _liquidity_call(pool: Candidate) -> tuple[object, ...] | None:
    """Return contract, signature and arguments of the getter of a pool's liquidity. None: its
    family has none."""
    match venue_of(pool.dex).liquidity_form(pool.dex):
        case "lp_tokens":
            return pool.pool, "totalSupply()"
        case "minted_positions":
            return pool.pool, "liquidity()"
        case "entry_positions":
            return pool.pool, "extsload(bytes32)", liquidity_slot(pool.key, pool.dex)
        case _:
            return None


def _past_uint(answer: RpcAnswer) -> int | None:
    """Decode a number of an old block. None: the node no longer has it."""
    try:
        return decode_uint(read_reply(answer))
    except UpstreamError:
        return None


def _mean_liquidity(reply: Reply, age_s: int) -> float | None:
    """Return the harmonic mean of the liquidity in range over that time. None: not observed.

    Seconds without liquidity count as liquidity 1, so any pause makes it tiny.
    """
    if isinstance(reply, NoAnswer):
        return None
    try:
        _, sums = decode_values("(int56[],uint160[])", "0x" + reply.hex())
    except ValueError:
        return None
    match sums:
        case (int(before), int(now)):
            passed = (now - before) % 2**_ACCUMULATOR_BITS
        case _:
            return None
    return (age_s << _SHIFT) / passed if passed else None


def _block_before(block: BlockRef, age_s: float, block_time_s: float) -> int:
    return block.number - ceil(age_s / block_time_s)
