"""Pools of a token at the newest block, read as an analysis reads them."""

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound, run_first_round
from analysis.pipeline.second_round import MarketState, run_second_round
from analysis.reads.indexed_facts import IndexedFacts
from core.evm.primitives import Address, BlockRef


async def read_market(
    context: ChainContext, token: Address, *, newest: BlockRef | None = None
) -> tuple[IndexedFacts, FirstRound, MarketState]:
    """Return the token's indexed facts and both read rounds.

    `newest` None: the newest known block is used, or the head is fetched. Raises
    TokenRefusedError, UpstreamError.
    """
    quotes = [anchor.address for anchor in context.chain.anchors if anchor.address != token]
    newest = newest or context.newest() or await context.node.fetch_head()
    known = await context.index.known(context.chain, token, quotes, newest)
    first_round = await run_first_round(context, token, newest, known)
    return known, first_round, await run_second_round(context, first_round, token)
