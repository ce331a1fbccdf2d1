"""Work of `assay backtest`: verdicts as of a past block, scored by the outcomes of buyers."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from typing import Literal

import click
import msgspec
from rich.table import Table

from analysis.backtest.buyer_outcomes import (
    SPANS_S,
    LaunchedToken,
    ReadSale,
    ScoredToken,
    confusion_of,
    false_safe,
    outcomes_of,
)
from analysis.backtest.past_verdicts import analyse_as_of
from analysis.backtest.pool_trades import attribute_trades
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from api.formats.stored_verdict import make_find_verdict
from assay.commands.runs.nodes import asking_nodes_of, connect, find_chain
from assay.commands.runs.progress import progress_steps
from assay.commands.runs.static_results import open_static_results
from assay.commands.runs.stores import open_store
from assay.commands.runs.tables import OUT, cell_text
from config.facts.chain import Chain
from config.load_settings import load_settings
from config.settings import Settings
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.finding_outcomes import findings_key
from core.report.verdict import FindVerdict
from core.rpc.client import RpcClient
from indexer.block_spans import fetch_header
from indexer.history.sale_attempts import BlockWindow, fetch_sale_attempts
from sql.analyst.launch_trades import find_first_trades, find_indexed_until, read_launch_events
from sql.lake.open_store import open_to_read
from sql.reports.outcome_counts import FirstDayOutcome, put_outcomes

BacktestOutput = Literal["table", "json"]
ReadSpan = Literal["none", "hour", "day", "week"]

_EXIT_FALSE_SAFE = 1
_RECORDED_SPAN = "day"
_RECORDED_AT_ONCE = 100
_TRAPPED: Mapping[str, bool] = {"trapped": True, "sold": False}


class _PastVerdict(msgspec.Struct, frozen=True):
    verdict: str
    reason: str = ""
    findings: str | None = None


def run_backtest(
    name: str,
    *,
    first: int,
    last: int,
    receipts: ReadSpan,
    output: BacktestOutput,
    is_recorded: bool,
) -> None:
    """Score the tokens that first traded in these blocks, and print the result. `receipts`: time
    after its first trade in which a token's sales are read from the node. `is_recorded`: store the
    outcomes of their first day.

    Exits with 1 if a token with the verdict safe trapped its buyers within an hour. Raises
    BadParameter, ConfigError, StoreError, UpstreamError.
    """
    if first > last:
        message = f"{first} is above --to {last}"
        raise click.BadParameter(message, param_hint="--from")
    if is_recorded and SPANS_S.get(receipts, 0) < SPANS_S[_RECORDED_SPAN]:
        message = "--record needs the sales of a whole day: --receipts day or week"
        raise click.BadParameter(message, param_hint="--record")
    settings = load_settings(os.environ)
    chain = find_chain(settings, name)
    launches, until_s = _read(chain, settings, first, last)
    read_s = SPANS_S.get(receipts, 0)
    with asking_nodes_of(chain):
        scored = asyncio.run(_score_all(settings, chain, launches, until_s=until_s, read_s=read_s))
    if is_recorded:
        _record(settings, chain, scored)
    if output == "json":
        for one in (*scored, *confusion_of(scored)):
            click.echo(msgspec.json.encode(one).decode())
    else:
        _print_table(scored)
    if false_safe(scored):
        sys.exit(_EXIT_FALSE_SAFE)


def _record(settings: Settings, chain: Chain, scored: Sequence[ScoredToken]) -> None:
    outcomes = [
        FirstDayOutcome(
            address=one.token,
            findings=one.findings,
            is_trapped=_TRAPPED.get(one.buyers[_RECORDED_SPAN].outcome),
            block_number=one.block_number,
        )
        for one in scored
        if one.findings is not None
    ]
    with closing(open_store(settings.store)) as store:
        for at in range(0, len(outcomes), _RECORDED_AT_ONCE):
            with store.transaction(chain_id=chain.id) as tx:
                part = outcomes[at : at + _RECORDED_AT_ONCE]
                put_outcomes(tx, part, chain_id=chain.id)


def _read(
    chain: Chain, settings: Settings, first: int, last: int
) -> tuple[list[LaunchedToken], int]:
    anchors = {ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)}
    with closing(open_to_read(settings.store, memory_mb=settings.sql.memory_mb)) as store:
        found = find_first_trades(
            store,
            chain_id=chain.id,
            first=first,
            last=last,
            anchors=anchors,
            holders=_holders(chain),
        )
        events = read_launch_events(store, found, chain_id=chain.id, most_s=max(SPANS_S.values()))
        launches = [
            LaunchedToken(
                token=one.token,
                pool=one.pool,
                first_block=one.first_block,
                first_s=one.first_s,
                trades=attribute_trades(one, events[one.token]),
            )
            for one in found
        ]
        return launches, find_indexed_until(store, chain_id=chain.id)


def _holders(chain: Chain) -> dict[str, Address]:
    """Return the contracts that hold the tokens of all pools of an exchange, by its name."""
    return {
        dex.name: dex.vault or dex.factory
        for dex in chain.dexes
        if dex.vault or dex.kind == "AmmV4"
    }


async def _score_all(
    settings: Settings,
    chain: Chain,
    launches: Sequence[LaunchedToken],
    *,
    until_s: int,
    read_s: int,
) -> list[ScoredToken]:
    with progress_steps(is_kept=False) as show:
        scored = []
        async for one in _score(settings, chain, launches, until_s=until_s, read_s=read_s):
            scored.append(one)
            show("analysing tokens as of before their first trade", len(scored), len(launches))
        return scored


async def _score(
    settings: Settings,
    chain: Chain,
    launches: Sequence[LaunchedToken],
    *,
    until_s: int,
    read_s: int,
) -> AsyncIterator[ScoredToken]:
    find_verdict = make_find_verdict([chain], settings.analysis)
    async with AsyncExitStack() as stack:
        static_results = await open_static_results(stack)
        client = await connect(stack, chain, settings)
        launches = await _with_read(client, launches, read_s=read_s)
        context = ChainContext(
            chain=chain,
            node=client,
            index=NoFactsIndex(),
            settings=settings.analysis,
            now_s=time.time,
            static_results=static_results,
        )
        for launch in launches:
            verdict = await _verdict(context, client, find_verdict, launch)
            yield ScoredToken(
                token=launch.token,
                block_number=launch.first_block - 1,
                verdict=verdict.verdict,
                reason=verdict.reason,
                findings=verdict.findings,
                buyers=outcomes_of(launch, until_s=until_s),
            )


async def _with_read(
    client: RpcClient, launches: Sequence[LaunchedToken], *, read_s: int
) -> list[LaunchedToken]:
    """Return the launches with the sales that were tried in their first `read_s` seconds."""
    bought: dict[Address, set[Address]] = {}
    for one in launches:
        for trade in one.trades:
            if trade.is_buy:
                bought.setdefault(trade.trader, set()).add(one.token)
    windows = [
        BlockWindow(first=one.first_block, until_s=one.first_s + read_s)
        for one in launches
        if read_s and any(trade.is_buy for trade in one.trades)
    ]
    buyers = {trader: sorted(tokens) for trader, tokens in bought.items()}
    read: dict[Address, list[ReadSale]] = {}
    for attempt in await fetch_sale_attempts(client, windows, buyers):
        sale = ReadSale(
            block_number=attempt.block_number,
            time_s=attempt.time_s,
            trader=attempt.trader,
            asked_raw=attempt.asked_raw,
            has_failed=attempt.has_failed,
        )
        read.setdefault(attempt.token, []).append(sale)
    return [msgspec.structs.replace(one, read=tuple(read.get(one.token, ()))) for one in launches]


async def _verdict(
    context: ChainContext, client: RpcClient, find_verdict: FindVerdict, launch: LaunchedToken
) -> _PastVerdict:
    """Return the verdict of before the first trade, or why there is none."""
    try:
        header = await fetch_header(client, launch.first_block - 1)
        if header is None:
            return _PastVerdict("not_judged", "the node lacks the block")
        report = await analyse_as_of(context, launch.token, header.ref)
    except TokenRefusedError as error:
        return _PastVerdict("refused", error.reason)
    except UpstreamError as error:
        return _PastVerdict("not_judged", str(error))
    report_verdict = find_verdict(report)
    if report_verdict is None:
        return _PastVerdict("not_judged", "the chain is not configured")
    statuses = ((check.key, check.status) for check in report_verdict.checks)
    findings = findings_key(statuses, report_verdict.reasons)
    return _PastVerdict(report_verdict.verdict, findings=findings)


def _print_table(scored: Sequence[ScoredToken]) -> None:
    columns = ("verdict", "within", "trapped", "sold", "untried", "not over")
    table = Table(*columns, title=f"{len(scored)} tokens")
    for row in confusion_of(scored):
        table.add_row(*map(cell_text, msgspec.structs.astuple(row)))
    OUT.print(table)
    for one in false_safe(scored):
        OUT.print(cell_text(f"called safe, and trapped its buyers: {one.token}"))
    reasons = sorted({one.reason for one in scored if one.verdict == "not_judged"})
    for reason in reasons:
        OUT.print(cell_text(f"not judged: {reason}"))
