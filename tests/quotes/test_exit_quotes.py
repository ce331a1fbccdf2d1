"""Quoted proceeds equal those of real sales of the same amounts."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.proceeds_curve import ProceedsCurve, best_split
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.exit_quote import ExitQuote, RequestedSize, quote_exit
from analysis.quotes.exit_reading import ExitLine
from assay.demo.layout import Pool, Sides, VenueKey, ZooToken, native_worth
from assay.demo.seeding import fetch_addresses, seed
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import RawAmount
from core.report.report import Report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.quotes.quote_traps import place, with_traps


@pytest.fixture
def traps(chain: Chain) -> Chain:
    return with_traps(chain)


async def quoted(
    context: ChainContext, token: ZooToken, ask: RequestedSize | None = None
) -> tuple[ExitQuote, Report]:
    report = await judge(context, token.address)
    return await quote_exit(context, token.address, report, ask or RequestedSize()), report


def really(chain: Chain, token: ZooToken, line: ExitLine, pools: dict[str, Pool]) -> list[int]:
    """Quote coins that each part brings an account that was given the amount."""
    seller = chain.fresh_account()
    given = chain.send(
        token.owner, token.address, "transfer(address,uint256)", seller, line.amount_raw
    )
    assert given.success
    got = []
    for part in line.parts:
        at = msgspec.structs.replace(token, pool=pools[part.pool])
        sold = chain.sell(at, seller, part.amount_raw)
        assert sold.success
        got.append(sold.other_after - sold.other_before)
    return got


@pytest.mark.parametrize("venue", ["v2", "v3", "v4", "solid"])
async def test_a_quote_is_what_a_real_sale_brings(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, venue=venue)
    quote, _ = await quoted(context, token, RequestedSize(amount_raw=RawAmount(7 * 10**20)))
    assert quote.left_out == ()
    assert quote.spot_usd == pytest.approx(1.0)
    for line in quote.lines:
        snapshot = chain.node.snapshot()
        (real,) = really(chain, token, line, {quote.pools[0]: token.pool})
        chain.node.revert(snapshot)
        (part,) = line.parts
        assert part.proceeds_raw == real
        assert (line.tax_pct, line.left_raw) == (0.0, 0)
        assert line.proceeds_usd is not None
        assert line.proceeds_usd == pytest.approx(3_000 * real / 10**18)
        lost = 100 * (1 - line.proceeds_usd / (line.value_usd or 0))
        assert line.price_impact_pct == pytest.approx(lost, abs=0.001)
        assert 0 < (line.net_usd or 0) < line.proceeds_usd
    assert [round(line.value_usd or 0) for line in quote.lines] == [100, 1000, 10000, 100000, 700]
    assert quote.half_depth is not None
    assert quote.half_depth.depth_share == pytest.approx(0.5, abs=0.01)


async def test_tax_that_rises_with_the_size_is_that_of_each_size(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "RisingTaxToken")
    quote, _ = await quoted(context, token)
    assert [line.tax_pct for line in quote.lines] == [2.0, 60.0, 60.0, 60.0]
    for line in quote.lines[:2]:
        (real,) = really(traps, token, line, {quote.pools[0]: token.pool})
        assert line.parts[0].proceeds_raw == pytest.approx(real, rel=0.002)


async def test_what_cannot_be_sold_at_a_size_has_a_reason_and_no_number(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "SmallSalesToken")
    quote, report = await quoted(context, token)
    assert [pool.sell for pool in report.pools or ()] == ["passed"]
    assert [line.proceeds_usd is not None for line in quote.lines] == [True, True, False, False]
    assert [line.reason for line in quote.lines[2:]] == ["TransferHelper: TRANSFER_FROM_FAILED"] * 2
    assert [line.is_refused for line in quote.lines] == [False, False, True, True]
    too_much = quote.lines[2].amount_raw
    seller = traps.fresh_account()
    traps.send(token.owner, token.address, "transfer(address,uint256)", seller, too_much)
    assert not traps.sell(token, seller).success


async def test_who_was_given_tokens_says_nothing_of_who_bought(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "BuyersBlockedToken")
    quote, _ = await quoted(context, token)
    assert quote.pools == ()
    assert {line.proceeds_usd for line in quote.lines} == {None}
    assert all("buyers cannot sell" in line.reason for line in quote.lines)
    assert all(line.is_refused for line in quote.lines)
    assert [pool.pool for pool in quote.left_out] == [token.pool.address]


async def test_without_a_report_of_trades_nothing_is_quoted(
    chain: Chain, context: ChainContext
) -> None:
    token = place(chain)
    report = await judge(context, token.address)
    bare = msgspec.structs.replace(report, pools=None)
    quote = await quote_exit(context, token.address, bare, RequestedSize())
    assert (quote.pools, quote.spot_usd, quote.half_depth) == ((), None, None)
    assert not any(line.is_refused for line in quote.lines)
    assert {line.proceeds_usd for line in quote.lines} == {None}


def second_pool(chain: Chain, token: ZooToken, *, usd: int) -> Pool:
    """Another pool of the token at the same price, on another exchange."""
    venues, pipeline = chain.world.venues, Pipeline(chain.node, chain.artifacts)
    sides = Sides(
        token=token.address,
        token_raw=usd * 10**18,
        quote=venues.wrapped_native.address,
        quote_raw=native_worth(usd),
        owner=token.owner,
    )
    pool = seed(pipeline, venues, "v3", sides)
    pipeline.flush()
    (found,) = fetch_addresses(chain.node, venues, [(token.address, pool)])
    return found


async def test_a_split_brings_more_than_one_pool_and_what_was_said(
    chain: Chain, context: ChainContext
) -> None:
    token = place(chain)
    other = second_pool(chain, token, usd=150_000)
    quote, _ = await quoted(context, token, RequestedSize(usd=50_000.0))
    pools: dict[str, Pool] = {pool.address: pool for pool in (token.pool, other)}
    assert set(quote.pools) == set(pools)
    line = quote.lines[-1]
    assert {part.pool for part in line.parts} == set(pools)
    assert sum(part.amount_raw for part in line.parts) == line.amount_raw
    snapshot = chain.node.snapshot()
    assert really(chain, token, line, pools) == [part.proceeds_raw for part in line.parts]
    for alone in pools:
        chain.node.revert(snapshot)
        snapshot = chain.node.snapshot()
        part = msgspec.structs.replace(line.parts[0], pool=alone, amount_raw=line.amount_raw)
        whole = msgspec.structs.replace(line, parts=(part,))
        (less,) = really(chain, token, whole, pools)
        assert less < sum(part.proceeds_raw for part in line.parts)


async def test_a_token_that_permits_one_sale_is_sold_in_one_pool(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "OneSaleToken")
    second_pool(traps, token, usd=150_000)
    quote, _ = await quoted(context, token, RequestedSize(usd=50_000.0))
    assert len(quote.pools) == 2
    assert {len(line.parts) for line in quote.lines} == {1}
    (real,) = really(traps, token, quote.lines[-1], {quote.pools[0]: token.pool})
    assert quote.lines[-1].parts[0].proceeds_raw == real


async def test_a_pool_that_cannot_be_sold_in_is_left_out(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "OnePoolToken")
    trap = second_pool(traps, token, usd=300_000)
    traps.send(token.owner, token.address, "close(address)", trap.address)
    quote, _ = await quoted(context, token)
    assert quote.pools == (token.pool.address,)
    assert [(pool.pool, "buyers cannot sell" in pool.reason) for pool in quote.left_out] == [
        (trap.address, True)
    ]
    (real,) = really(traps, token, quote.lines[-1], {token.pool.address: token.pool})
    assert quote.lines[-1].parts[0].proceeds_raw == real


@given(
    pools=st.lists(
        st.tuples(st.integers(10**3, 10**9), st.integers(10**3, 10**9), st.floats(0.5, 1)),
        min_size=1,
        max_size=4,
    ),
    share=st.floats(0.01, 0.99),
)
def test_curve_and_split_of_constant_products_are_those_of_the_formula(
    pools: list[tuple[int, int, float]], share: float
) -> None:
    """Between measured points the curve is exact, and no other split of two halves is better."""

    def paid(pool: tuple[int, int, float], amount: float) -> float:
        mine, other, kept = pool
        return other * amount * kept / (mine + amount * kept)

    curves = [
        ProceedsCurve.of(
            [
                (mine // part or 1, paid((mine, other, kept), mine // part or 1))
                for part in (100, 9, 1)
            ]
        )
        for mine, other, kept in pools
    ]
    for pool, curve in zip(pools, curves, strict=True):
        amount = max(1, int(curve.largest * share))
        assert curve.paid_for(amount) == pytest.approx(paid(pool, amount), rel=1e-6)
        back = curve.amount_for(curve.paid_for(amount))
        assert back == pytest.approx(amount, abs=1, rel=1e-6)
    total = max(1, int(sum(curve.largest for curve in curves) * share))
    split = best_split(curves, total)
    assert split is not None
    assert sum(split) == total
    best = sum(curve.paid_for(each) for curve, each in zip(curves, split, strict=True))
    for at, curve in enumerate(curves):
        if total <= curve.largest:
            assert best >= curve.paid_for(total) * 0.999, at
    assert best_split(curves, sum(curve.largest for curve in curves) + 1) is None
