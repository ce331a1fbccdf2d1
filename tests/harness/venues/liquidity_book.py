"""Pairs of Liquidity Book."""

from math import log

from assay.demo.reads import read
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market

STEP = 25
BINS = 20
"""Upwards and downwards: the service's largest buy goes through several."""


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    pair: Address | None = None,
    is_x: bool = True,
    token_raw: int = TOKEN_RAW,
) -> Market:
    """A token and its pair. `pair`: the address it takes for its pool; None: the pair. `is_x`:
    whether the creator named it first."""
    opening = further_venues.prepare(chain)
    pipeline = opening.pipeline
    factory = pipeline.deploy("BookFactory", sender=opening.maker)
    router = pipeline.deploy("BookRouter", sender=opening.maker)
    named = (opening.token, opening.quote) if is_x else (opening.quote, opening.token)
    price = QUOTE_RAW / TOKEN_RAW
    active = 2**23 + round(log(price if is_x else 1 / price) / log(1 + STEP / 10_000))
    pipeline.call(
        *(factory, "createLBPair(address,address,uint24,uint16)", *named, active, STEP),
        sender=opening.maker,
    )
    pipeline.flush()
    types = "(uint16,address,bool,bool)"
    getter = "getLBPairInformation(address,address,uint256)"
    _, found, *_ = read(chain.node, factory, getter, *named, STEP, returns=types)
    book = Address(str(found))
    opening.release(contract, pair or book, spender=book)
    amounts = (token_raw, QUOTE_RAW) if is_x else (QUOTE_RAW, token_raw)
    pipeline.call(book, "fill(uint24,uint256,uint256)", BINS, *amounts, sender=opening.owner)
    pipeline.flush()

    def swap_data(trader: Address, paid: Address, amount: int) -> tuple[Address, str]:
        signature = "swap(address,address,uint256,address)"
        return router, call_data(signature, book, paid, amount, trader)

    return Market(
        dex=Dex(name="Liquidity Book", kind="LiquidityBook", factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=book,
        key=book,
        emitter=book,
        spender=router,
        swap_data=swap_data,
    )
