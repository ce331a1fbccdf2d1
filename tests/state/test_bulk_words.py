"""Protects that words read of very many contracts together are those that are stored."""

import pytest

from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.bulk_words import BalanceRead, BulkRead, WordsRead, fetch_bulk
from assay.demo.layout import World, named_account
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import ZERO_ADDRESS, Address, to_hash32
from core.rpc.messages import RpcFault
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.node.faults import NO_CODE, UNKNOWN_PARAMETER, WithoutCodeOverrides

SLOTS = 12


def slots_of(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32) for number in numbers)


def stored(chain: Chain, contract: Address, slots: bytes) -> bytes:
    """Read slots by the node's own method, one by one."""
    words = [
        chain.node.rpc("eth_getStorageAt", contract, "0x" + slots[at : at + 32].hex(), "latest")
        for at in range(0, len(slots), 32)
    ]
    return b"".join(bytes.fromhex(str(word)[2:]).rjust(32, b"\0") for word in words)


def reads_of(world: World, facts: ChainFacts) -> list[BulkRead]:
    """Return reads of words of every token of the zoo, of an account without code, and of pools."""
    reads: list[BulkRead] = [
        WordsRead(contract=token.address, slots=slots_of(*range(SLOTS))) for token in world.tokens
    ]
    reads.append(WordsRead(contract=named_account("nobody"), slots=slots_of(0, 2**256 - 1)))
    for token in world.tokens:
        pool = token.pool
        if pool.pool_id is not None:
            (dex,) = (dex for dex in facts.dexes if dex.name == pool.dex)
            slot = liquidity_slot(pool.pool_id, dex)
            reads.append(WordsRead(contract=dex.factory, slots=slot))
        elif pool.quote != ZERO_ADDRESS:
            reads.append(BalanceRead(token=pool.quote, account=pool.address))
    return reads


def expected(chain: Chain, read: BulkRead) -> bytes:
    if isinstance(read, WordsRead):
        return stored(chain, read.contract, read.slots)
    return chain.balance(read.token, read.account).to_bytes(32)


async def test_words_and_balances_are_those_that_are_stored(
    chain: Chain, context: ChainContext, facts: ChainFacts, demo_world: World
) -> None:
    reads = reads_of(demo_world, facts)
    assert any(isinstance(read, BalanceRead) for read in reads)
    node = CountingNode(context.node)
    head = await context.node.fetch_head()
    found = await fetch_bulk(node, reads, block=head.hash)
    assert found == [expected(chain, read) for read in reads]
    assert node.calls == 2
    pools = zip(
        reads[len(demo_world.tokens) + 1 :], found[len(demo_world.tokens) + 1 :], strict=True
    )
    assert all(word and int.from_bytes(word) > 0 for _, word in pools)


@pytest.mark.parametrize("answer", [UNKNOWN_PARAMETER, NO_CODE])
async def test_a_node_that_replaces_no_code_is_asked_one_by_one(
    chain: Chain, context: ChainContext, facts: ChainFacts, demo_world: World, answer: RpcFault
) -> None:
    """As far as that is affordable; the rest is unknown."""
    reads = reads_of(demo_world, facts)
    head = await context.node.fetch_head()
    node = WithoutCodeOverrides(context.node, answer)
    found = await fetch_bulk(node, reads, block=head.hash)
    assert found[:20] == [expected(chain, read) for read in reads[:20]]
    assert found[-1] is None


async def test_a_block_that_the_node_does_not_have_is_unknown(context: ChainContext) -> None:
    reads = [BalanceRead(token=named_account("a"), account=named_account("b"))]
    assert await fetch_bulk(context.node, reads, block=to_hash32(1)) == [None]
