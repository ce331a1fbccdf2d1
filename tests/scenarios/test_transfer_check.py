"""Protects the holder of the transfer check, and the repetition of a check without one."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.reads.indexed_facts import IndexedFacts
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import Address, BlockRef, RawAmount
from sql.engine.store import Store
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.clock import HandClock
from tests.harness.custody.custody_reports import KEEPER, with_wallets
from tests.harness.node.faults import NoOverrides
from tests.harness.quotes.quote_traps import place, with_traps

SLUG = "ethereum"
SIX_HOURS_S = 6 * 3600
A_DAY_S = 86_400.0


class HolderShelf(ReportStore):
    """Real tables, and an index of holders that a test fills."""

    holders: tuple[tuple[Address, RawAmount], ...] = ()

    async def known(
        self, chain: ChainFacts, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        known = await super().known(chain, token, quotes, pin)
        return msgspec.structs.replace(known, holders=self.holders)


@pytest.mark.parametrize("refresh_after_s", [60.0, A_DAY_S])
async def test_a_check_without_a_wallet_waits_six_hours_and_not_longer(
    chain: Chain, context: ChainContext, refresh_after_s: float
) -> None:
    token = chain.deploy("TransferTaxToken", "Check", "CHK")
    holder = chain.fresh_account()
    assert chain.transfer(token, chain.world.owner, holder, 10**20).success
    clock, store = HandClock(), Store.open(Path(":memory:"))
    report_store = HolderShelf(store, context.settings)
    settings = msgspec.structs.replace(context.settings, refresh_after_s=refresh_after_s)
    blind = ChainContext(
        chain=context.chain,
        node=NoOverrides(context.node),
        index=report_store,
        settings=settings,
        now_s=clock,
    )
    analyser = Analyser({SLUG: ChainScanner(blind)}, report_store, settings, clock)

    async def checked() -> tuple[bool | None, float | None, int | None]:
        row = (await analyser.report(SLUG, token)).token
        return row.transfer_success, row.receive_tax, row.transfer_checked_at_s

    first_s = int(clock.now_s)
    assert await checked() == (None, None, first_s)
    report_store.holders = ((holder, RawAmount(1)),)
    for later_s in (refresh_after_s + 1, SIX_HOURS_S):
        clock.now_s = min(first_s + later_s, first_s + SIX_HOURS_S)
        assert await checked() == (None, None, first_s)
    clock.now_s = first_s + SIX_HOURS_S + 1
    assert await checked() == (True, 3.0, first_s + SIX_HOURS_S + 1)
    clock.now_s += refresh_after_s + 1
    assert await checked() == (True, 3.0, int(clock.now_s))  # as any other finding
    await analyser.aclose()
    store.close()


@pytest.mark.parametrize(
    ("contract", "extras", "special"),
    [("SellBlockedToken", (KEEPER,), "owner"), ("StoredBypassToken", (KEEPER,), "keeper")],
)
async def test_who_the_code_knows_is_no_holder(
    chain: Chain, context: ChainContext, contract: str, extras: tuple[Address, ...], special: str
) -> None:
    """Though the largest, and though nobody else is at hand."""
    token = chain.deploy(contract, "Check", "CHK", *extras)
    owner = chain.world.owner
    assert chain.transfer(token, owner, KEEPER, 10**20).success
    who = {"owner": owner, "keeper": KEEPER}[special]
    alone = await judge(with_wallets(context, "holder", [who]), token)
    assert alone.token.transfer_success is None
    assert alone.token.transfer_checked_at_s is not None
    plain = chain.fresh_account()
    assert chain.transfer(token, owner, plain, 10**18).success
    beside = await judge(with_wallets(context, "holder", [who, plain]), token)
    assert beside.token.transfer_success is True
    (proof,) = [row.body for row in beside.evidence if row.key == "transfer"]
    assert plain in proof
    assert who not in proof


@pytest.mark.parametrize(("contract", "passes"), [("PiecesToken", True), ("StuckToken", False)])
async def test_what_only_its_size_makes_too_dear_is_no_refusal(
    chain: Chain, context: ChainContext, contract: str, *, passes: bool
) -> None:
    """With gas per unit, half of a large purchase does not fit into a block."""
    token = place(with_traps(chain), contract)
    report = await judge(context, token.address)
    assert report.token.transfer_success is passes
    assert report.pools is not None
    assert {(pool.buy, pool.sell) for pool in report.pools} == {("passed", "passed")}
    sender = chain.fresh_account()
    assert chain.buy(token, sender).success
    given = chain.balance(token.address, sender) // 100
    sent = chain.transfer(token.address, sender, chain.fresh_account(), given)
    assert sent.success is passes
