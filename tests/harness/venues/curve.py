"""Pools of Curve, stable and crypto, of two coins or three."""

from typing import Literal

from assay.demo.reads import read_address
from assay.demo.seeding import UNLIMITED
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.coin_pairs import pair_id
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market, Opening

Kind = Literal["CurveCrypto", "CurveStable"]


Side = Literal["token", "quote", "third"]


A, FEE, OFFPEG = 200, 4_000_000, 20_000_000_000


TOKEN_FIRST: tuple[Side, ...] = ("token", "quote")
QUOTE_FIRST: tuple[Side, ...] = ("quote", "token")
THIRD_FIRST: tuple[Side, ...] = ("third", "quote", "token")


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    kind: Kind = "CurveStable",
    order: tuple[Side, ...] = TOKEN_FIRST,
    measures: bool = True,
    pair: Address | None = None,
) -> Market:
    """Place a token and its pool.

    `order`: the coins. `measures`: the pool books received amounts. `pair`: the address the token
    takes for its pool; None: the pool.
    """
    opening = further_venues.prepare(chain)
    pipeline, maker = opening.pipeline, opening.maker
    third = pipeline.deploy("HonestToken", "Third", "THR", sender=maker)
    factory = pipeline.deploy(f"{kind}Factory", sender=maker)
    sides: dict[Side, Address] = {"token": opening.token, "quote": opening.quote, "third": third}
    amounts = _amounts(kind)
    coins = [sides[side] for side in order]
    if kind == "CurveStable":
        terms: tuple[object, ...] = (coins, A, FEE, OFFPEG, measures)
        pipeline.call(factory, "open(address[],uint256,uint256,uint256,bool)", *terms, sender=maker)
    else:
        scale = amounts[order[0]] * 10**18 // amounts[order[1]]
        pipeline.call(factory, "open(address[],uint256,bool)", coins, scale, measures, sender=maker)
    pipeline.flush()
    getter = "find_pool_for_coins(address,address,uint256)"
    pool = read_address(chain.node, factory, getter, opening.token, opening.quote, 0)
    opening.release(contract, pair or pool, spender=pool)
    pipeline.call(third, "approve(address,uint256)", pool, UNLIMITED, sender=maker)
    _fill(opening, pool, order, amounts)
    index = "int128" if kind == "CurveStable" else "uint256"

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        bought = opening.quote if paid == opening.token else opening.token
        signature = f"exchange({index},{index},uint256,uint256)"
        return pool, call_data(signature, coins.index(paid), coins.index(bought), amount, 0)

    key = pair_id(pool, order.index("token"), order.index("quote"))
    return Market(
        dex=Dex(name="Curve", kind=kind, factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=key or pool,
        emitter=pool,
        spender=pool,
        swap_data=swap_data,
    )


def _amounts(kind: Kind) -> dict[Side, int]:
    token_raw = QUOTE_RAW if kind == "CurveStable" else TOKEN_RAW
    return {"token": token_raw, "quote": QUOTE_RAW, "third": QUOTE_RAW}


def _fill(
    opening: Opening, pool: Address, order: tuple[Side, ...], amounts: dict[Side, int]
) -> None:
    for number, side in enumerate(order):
        sender = opening.maker if side == "third" else opening.owner
        opening.pipeline.call(pool, "fill(uint256,uint256)", number, amounts[side], sender=sender)
    opening.pipeline.flush()
