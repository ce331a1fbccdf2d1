"""Tokens without a pool trade after their real opening as the simulated one predicts."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.opening_inquiry import OpeningFindings, find_opening
from analysis.simulation.simulate_v1 import Passed, Refused
from assay.demo.anvil import ETHER
from assay.demo.layout import Sides, ZooToken
from assay.demo.seeding import fetch_addresses, seed
from assay.demo.transaction_pipeline import Pipeline
from core.evm.abi import selector_of
from core.evm.primitives import Address, Selector
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.quotes.quote_traps import place, with_traps

_SUPPLY = 1_000_000 * ETHER
_ENABLE, _OPEN = (Selector(selector_of(name)) for name in ("enableTrading()", "openTrading()"))


@pytest.fixture
def traps(chain: Chain) -> Chain:
    return with_traps(chain)


def launch(chain: Chain, contract: str, opener: Address | None = None) -> Address:
    """A token of the world's owner without a pool."""
    venues = chain.world.venues
    places = (venues.v2.factory, venues.wrapped_native.address, opener or chain.world.owner)
    return chain.deploy(contract, "Launch", "LNCH", *places, sender=chain.world.owner)


async def opening_of(context: ChainContext, token: Address) -> OpeningFindings:
    report = await judge(context, token)
    assert not report.pools
    return await find_opening(context, token, report)


def seeded(chain: Chain, token: Address) -> ZooToken:
    """Create the real pool of a token, and put half of its supply in."""
    venues, pipeline = chain.world.venues, Pipeline(chain.node, chain.artifacts)
    sides = Sides(
        token=token,
        token_raw=_SUPPLY // 2,
        quote=venues.wrapped_native.address,
        quote_raw=10 * ETHER,
        owner=chain.world.owner,
    )
    pool = seed(pipeline, venues, "v2", sides)
    pipeline.flush()
    (found,) = fetch_addresses(chain.node, venues, [(token, pool)])
    return ZooToken(
        key="launched",
        trait="",
        address=token,
        symbol="LNCH",
        decimals=18,
        pool=found,
        owner=chain.world.owner,
        holders=(),
    )


def taxed(chain: Chain, token: ZooToken) -> tuple[float | None, float | None]:
    """Percent that a real buy and a real sale lose. None: it fails."""
    account = chain.fresh_account()
    bought = chain.buy(token, account, ETHER // 10)
    if not bought.success:
        return None, None
    got = bought.token_after - bought.token_before
    sold = chain.sell(token, account, got // 4)
    if not sold.success:
        return 100 - 100 * got / bought.pool_out, None
    sent = sold.token_before - sold.token_after
    return 100 - 100 * got / bought.pool_out, 100 - 100 * sold.pool_in / sent


async def test_the_call_that_opens_and_the_tax_after_it_are_those_of_the_real_launch(
    traps: Chain, context: ChainContext
) -> None:
    opener = traps.fresh_account()
    token = launch(traps, "TaxedLaunchToken", opener)
    found = await opening_of(context, token)
    opening = found.opening
    assert found.needs_call is True
    assert opening is not None
    assert opening.call is not None
    assert (opening.call.selector, opening.call.sender) == (_ENABLE, opener)
    assert found.before is not None
    assert isinstance(found.before.buy, Refused)
    assert isinstance(opening.buy, Passed)
    assert isinstance(opening.sale, Passed)
    real = seeded(traps, token)
    assert taxed(traps, real) == (None, None)
    assert not traps.send(traps.world.owner, token, "enableTrading()").success
    assert traps.send(opening.call.sender, token, "enableTrading()").success
    assert (opening.buy.tax, opening.sale.tax) == pytest.approx(taxed(traps, real))
    assert opening.sale.tax == pytest.approx(3)


async def test_a_call_that_makes_the_pool_itself_is_found(
    traps: Chain, context: ChainContext
) -> None:
    token = launch(traps, "SelfLaunchToken")
    opening = (await opening_of(context, token)).opening
    assert opening is not None
    assert opening.call is not None
    assert (opening.call.selector, opening.call.makes_pool) == (_OPEN, True)
    assert isinstance(opening.sale, Passed)
    assert opening.sale.tax == pytest.approx(5)


async def test_a_token_that_is_open_needs_no_call(traps: Chain, context: ChainContext) -> None:
    token = traps.deploy("HonestToken", "Open", "OPEN", sender=traps.world.owner)
    found = await opening_of(context, token)
    assert found.needs_call is False
    assert found.opening is not None
    assert found.opening.call is None
    assert isinstance(found.opening.later_sale, Passed)


async def test_a_fresh_pair_alone_is_not_believed(traps: Chain, context: ChainContext) -> None:
    token = launch(traps, "FreshPairToken")
    report = await judge(context, token)
    found = await find_opening(context, token, report)
    assert found.opening is not None
    assert isinstance(found.opening.sale, Passed)
    assert isinstance(found.opening.later_sale, Refused)
    assert report.pools in (None, ())
    real = seeded(traps, token)
    assert traps.send(traps.world.owner, token, "enableTrading()").success
    assert taxed(traps, real) == (0, 0)
    traps.wait(3 * 3_600, blocks=2)
    assert taxed(traps, real)[1] is None


async def test_what_nothing_opens_has_no_opening(traps: Chain, context: ChainContext) -> None:
    found = await opening_of(context, launch(traps, "NeverOpenToken"))
    assert (found.needs_call, found.opening) == (True, None)
    assert found.tried > 0


async def test_a_token_with_a_pool_is_left_alone(traps: Chain, context: ChainContext) -> None:
    token = place(traps)
    found = await find_opening(context, token.address, await judge(context, token.address))
    assert found == msgspec.structs.replace(found, opening=None, before=None, tried=0)
    assert found.reason
