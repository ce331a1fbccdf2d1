"""Pools in a Balancer V2 vault, of two tokens or three."""

from functools import cache
from typing import Literal

import msgspec
from eth_abi.abi import encode

from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import Artifact, load_shipped
from assay.demo.reads import read
from assay.demo.seeding import UNLIMITED
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.coin_pairs import token_pair_id
from core.evm.primitives import Address, Hash32
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market, Opening

SWAP = (
    "swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),"
    "uint256,uint256)"
)


JOIN = "joinPool(bytes32,address,address,(address[],uint256[],bytes,bool))"
FOREVER_S = 2**40
_VAULT = "@balancer-labs/v2-deployments/dist/tasks/20210418-vault/artifact/Vault.json"


@cache
def own_vault() -> Artifact:
    """The vault as Balancer compiled it. Raises ConfigError where it is not installed."""
    return load_shipped("BalancerOwnVault", _VAULT)


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    size: Literal[2, 3] = 2,
    blocks: Literal["vault", "pool"] = "vault",
    pretends: bool = False,
    is_own: bool = False,
) -> Market:
    """Place a token and its pool.

    `blocks`: address that the token takes for its pool. `pretends`: the contract names the id of a
    foreign pool. `is_own`: in the vault that Balancer ships.
    """
    own = {"BalancerOwnVault": own_vault()} if is_own else {}
    opening = further_venues.prepare(chain)
    pipeline = Pipeline(chain.node, chain.artifacts | further_venues.artifacts() | own)
    opening = msgspec.structs.replace(opening, pipeline=pipeline)
    maker = opening.maker
    third = pipeline.deploy("HonestToken", "Third", "THR", sender=maker)
    tokens = sorted([opening.token, opening.quote, *([third] if size == 3 else [])])
    if is_own:
        weth = chain.world.venues.wrapped_native.address
        vault = pipeline.deploy("BalancerOwnVault", maker, weth, 0, 0, sender=maker)
    else:
        vault = pipeline.deploy("BalancerVault", sender=maker)
    kind = "BalancerMember" if is_own else "BalancerPool"
    pool = pipeline.deploy(kind, vault, tokens, sender=maker)
    other = pipeline.deploy(kind, vault, tokens, sender=maker)
    pipeline.flush()
    (vault_id,) = read(chain.node, pool, "getPoolId()", returns="(bytes32)")
    (other_id,) = read(chain.node, other, "getPoolId()", returns="(bytes32)")
    assert isinstance(vault_id, bytes)
    if pretends:
        pipeline.call(pool, "pretend(bytes32)", other_id, sender=maker)
    opening.release(contract, {"vault": vault, "pool": pool}[blocks], spender=vault)
    amounts = {opening.token: TOKEN_RAW, opening.quote: QUOTE_RAW, third: QUOTE_RAW}
    _fill(opening, (vault, vault_id), [(token, amounts[token]) for token in tokens], is_own=is_own)
    return _market(opening, vault, vault_id)


def _fill(
    opening: Opening,
    pool: tuple[Address, bytes],
    amounts: list[tuple[Address, int]],
    *,
    is_own: bool,
) -> None:
    """Bring the liquidity, that of the third token from its maker."""
    pipeline, owner, (vault, vault_id) = opening.pipeline, opening.owner, pool
    for token, amount in amounts:
        if token not in (opening.token, opening.quote):
            given = (token, "transfer(address,uint256)", owner, amount)
            pipeline.call(*given, sender=opening.maker)
            pipeline.call(token, "approve(address,uint256)", vault, UNLIMITED, sender=owner)
        if not is_own:
            fill = (vault, "fill(bytes32,address,uint256)", vault_id, token, amount)
            pipeline.call(*fill, sender=owner)
    pipeline.flush()
    if is_own:
        tokens, wanted = zip(*amounts, strict=True)
        request = (tokens, wanted, encode(["uint256[]"], [wanted]), False)
        pipeline.call(vault, JOIN, vault_id, owner, owner, request, sender=owner)
        pipeline.flush()


def _market(opening: Opening, vault: Address, vault_id: bytes) -> Market:
    def swap_data(trader: Address, paid: Address, amount: int) -> tuple[Address, str]:
        bought = opening.quote if paid == opening.token else opening.token
        order = (vault_id, 0, paid, bought, amount, b"")
        funds = (trader, False, trader, False)
        return vault, call_data(SWAP, order, funds, 0, FOREVER_S)

    sides = (bytes.fromhex(side[2:]) for side in (opening.token, opening.quote))
    return Market(
        dex=Dex(name="Balancer", kind="BalancerV2", factory=vault, vault=vault, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + token_pair_id(vault_id, *sides).hex()),
        emitter=vault,
        spender=vault,
        swap_data=swap_data,
    )


def indexed(chain: Chain, context: ChainContext, market: Market) -> ChainContext:
    """Return the context with the follower's rows of the pool's event."""
    row, _ = further_venues.follow(chain, market)
    return context_with(with_dexes(context, (market.dex,)), rows=[row])
