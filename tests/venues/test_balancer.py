"""Protects pools in Balancer's vault, of two tokens or more: the index finds them, they are worth
what the vault holds for them, and what the service says of trades is what then happens. The vault
is Balancer's own, as its npm package ships it, or one of ours for what that does not allow."""

from functools import cache
from typing import Literal

import msgspec
import pytest
from eth_abi.abi import encode

from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import Artifact, load_shipped
from assay.demo.layout import NATIVE_USD
from assay.demo.reads import read
from assay.demo.seeding import UNLIMITED
from assay.demo.transaction_pipeline import Pipeline
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.coin_pairs import token_pair_id
from core.evm.primitives import Address, Hash32
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market, Opening
from tests.liquidity.test_pools import context_with
from tests.venues.test_matrix import with_dexes

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
    """A token and its pool. `blocks`: what the token takes for its pool. `pretends`: the contract
    names the id of a pool that is not its own. `is_own`: in the vault that Balancer ships."""
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
    """The context with what the follower made of the pool's event."""
    row, _ = further_venues.follow(chain, market)
    return context_with(with_dexes(context, (market.dex,)), rows=[row])


@pytest.mark.parametrize(
    ("contract", "size", "blocks"),
    [
        ("HonestToken", 2, "vault"),
        ("TransferTaxToken", 3, "vault"),
        ("BuyTaxToken", 2, "vault"),
        ("SellTaxToken", 3, "vault"),
        ("SellBlockedToken", 2, "vault"),
        # The honest double: nothing is ever sent to the pool's own contract.
        ("SellBlockedToken", 3, "pool"),
    ],
)
@pytest.mark.parametrize("is_own", [False, True], ids=["our vault", "Balancer's"])
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    size: Literal[2, 3],
    blocks: Literal["vault", "pool"],
    *,
    is_own: bool,
) -> None:
    market = place(chain, contract, size=size, blocks=blocks, is_own=is_own)
    row = await further_venues.assert_foretold(chain, indexed(chain, context, market), market)
    assert (row.sell == "refused") == (contract == "SellBlockedToken" and blocks == "vault")


@pytest.mark.parametrize(("size", "is_own"), [(2, False), (3, False), (2, True), (3, True)])
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, size: Literal[2, 3], *, is_own: bool
) -> None:
    market = place(chain, size=size, is_own=is_own)
    row = further_venues.assert_followed(chain, market)
    assert (row.pool, row.pool_id) == (market.dex.factory, market.key)
    stranger = msgspec.structs.replace(row, pool_id=Hash32(market.key[:42] + "5e" * 12))
    market_context = context_with(with_dexes(context, (market.dex,)), rows=[stranger])
    assert not (await judge(market_context, market.token)).pools


async def test_a_pool_that_names_anothers_id_is_not_believed(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, pretends=True)
    report = await judge(indexed(chain, context, market), market.token)
    assert not report.pools


@pytest.mark.parametrize(("size", "is_own"), [(2, False), (3, False), (3, True)])
async def test_the_pool_is_worth_what_the_vault_holds_for_it(
    chain: Chain, context: ChainContext, size: Literal[2, 3], *, is_own: bool
) -> None:
    market = place(chain, size=size, is_own=is_own)
    report = await judge(indexed(chain, context, market), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    assert row.token_usd == pytest.approx(QUOTE_RAW / TOKEN_RAW * NATIVE_USD, rel=0.002)
