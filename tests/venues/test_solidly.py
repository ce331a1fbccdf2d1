"""Protects our Solidly-style exchange: quotes equal the output of swaps; no swap lowers k."""

import pytest

from assay.demo.reads import read, read_address
from assay.demo.zoo_token import Animal
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain, revert_reason

ROUTES = "(address,address,bool)[]"
FOR_TOKENS = f"swapExactTokensForTokens(uint256,uint256,{ROUTES},address,uint256)"
METADATA = "(uint256,uint256,uint256,uint256,bool,address,address)"
EXTRA_USDT_RAW = 250_000 * 10**6


def number(chain: Chain, to: Address, signature: str, *values: object) -> int:
    return int(str(read(chain.node, to, signature, *values)[0]))


def stable_pair(chain: Chain) -> Address:
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    factory = chain.world.venues.solid.factory
    return read_address(chain.node, factory, "getPair(address,address,bool)", dollar, tether, True)


def reserves(chain: Chain, pair: Address) -> tuple[int, int]:
    values = read(chain.node, pair, "getReserves()", returns="(uint256,uint256,uint256)")
    return int(str(values[0])), int(str(values[1]))


def stable_k(first: int, second: int) -> int:
    """x^3*y + y^3*x in exact integers; both stables have six decimals."""
    return first**3 * second + second**3 * first


def trade_stables(chain: Chain, trader: Address, amount_raw: int) -> tuple[int, int]:
    """Sell USDC for USDT; (quoted, paid)."""
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    router = chain.world.venues.solid.router
    assert router is not None
    quoted = number(chain, stable_pair(chain), "getAmountOut(uint256,address)", amount_raw, dollar)
    before = chain.balance(tether, trader)
    route = [(dollar, tether, True)]
    sent = chain.send(trader, router, FOR_TOKENS, amount_raw, quoted, route, trader, 2**255)
    assert sent.success, revert_reason(sent)
    return quoted, chain.balance(tether, trader) - before


@pytest.mark.parametrize("usd", [1, 999, 100_000, 400_000])
def test_a_stable_swap_pays_its_quote_and_keeps_the_curve(chain: Chain, usd: int) -> None:
    trader = chain.world.traders[0]
    dollar = chain.world.venues.stables[0].address
    router = chain.world.venues.solid.router
    assert router is not None
    chain.approve(dollar, trader, router)
    pair = stable_pair(chain)
    before = stable_k(*reserves(chain, pair))
    quoted, paid = trade_stables(chain, trader, usd * 10**6)
    assert paid == quoted
    assert stable_k(*reserves(chain, pair)) >= before
    if usd < 100_000:
        assert paid == pytest.approx(usd * 10**6, rel=1e-3)  # near balance, one for one


def test_a_volatile_swap_pays_its_quote_and_never_lowers_the_product(chain: Chain) -> None:
    token = chain.world.token("solid_honest")
    pair = token.pool.address
    weth = chain.world.venues.wrapped_native.address
    before = reserves(chain, pair)
    quoted = number(chain, pair, "getAmountOut(uint256,address)", 10**16, weth)
    trader = chain.fresh_account()
    bought = chain.buy(token, trader, 10**16)
    assert bought.token_after == quoted == bought.pool_out
    assert chain.sell(token, trader).success
    after = reserves(chain, pair)
    assert after[0] * after[1] > before[0] * before[1]


def test_a_pair_refuses_to_pay_more_than_it_got(chain: Chain) -> None:
    token = chain.world.token("solid_honest")
    pair, attacker = token.pool.address, chain.fresh_account()
    for amounts in ((1, 0), (0, 1)):
        sent = chain.send(
            attacker, pair, "swap(uint256,uint256,address,bytes)", *amounts, attacker, b""
        )
        assert revert_reason(sent) == "IIA"
    chain.send(token.owner, token.address, "transfer(address,uint256)", pair, 10**6)
    first = int(read_address(chain.node, pair, "token0()") == token.address)
    out = (0, 10**12) if first else (10**12, 0)
    sent = chain.send(attacker, pair, "swap(uint256,uint256,address,bytes)", *out, attacker, b"")
    assert revert_reason(sent) == "K"


def test_the_pair_tells_what_the_family_tells(chain: Chain) -> None:
    pair = stable_pair(chain)
    unit0, unit1, reserve0, reserve1, stable, token0, token1 = read(
        chain.node, pair, "metadata()", returns=METADATA
    )
    assert (unit0, unit1, stable) == (10**6, 10**6, True)
    assert (reserve0, reserve1) == reserves(chain, pair)
    assert {token0, token1} == {one.address for one in chain.world.venues.stables}
    assert read(chain.node, pair, "stable()", returns="(bool)") == (True,)


def test_liquidity_can_be_taken_out_again(chain: Chain) -> None:
    token = chain.place(Animal(key="own", trait="honest", symbol="OWN", venue="solid"))
    pair = token.pool.address
    shares = chain.balance(pair, token.owner)
    before = chain.balance(token.address, token.owner)
    assert chain.transfer(pair, token.owner, pair, shares).success
    assert chain.send(token.owner, pair, "burn(address)", token.owner).success
    taken = chain.balance(token.address, token.owner) - before
    assert taken == pytest.approx(930_000 * 10**18, rel=1e-9)


def test_an_unequal_second_deposit_is_credited_by_its_smaller_side(chain: Chain) -> None:
    trader = chain.world.traders[0]
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    pair = stable_pair(chain)
    supply = number(chain, pair, "totalSupply()")
    for asset, amount_raw in ((dollar, EXTRA_USDT_RAW), (tether, 2 * EXTRA_USDT_RAW)):
        assert chain.transfer(asset, trader, pair, amount_raw).success
    assert chain.send(trader, pair, "mint(address)", trader).success
    assert chain.balance(pair, trader) == supply // 2
