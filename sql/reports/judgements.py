"""Verdicts and checks of stored reports for SQL, written with each report."""

from collections import Counter

import msgspec

from core.report.verdict import FindVerdict, ReportVerdict
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.reports.report_bodies import decode_body

_VERDICTS_AT_ONCE = 25
"""Reports that get a verdict in one transaction: it holds the write lock for some 35 ms."""

_STEP = "judge"
_OUTCOMES = {True: "t", False: "f", None: "u"}


class JudgementRow(msgspec.Struct, frozen=True, kw_only=True):
    """Row of the table `judgement`, whose schema describes the columns."""

    token_id: int
    catalogue_id: int
    verdict: str
    reasons: tuple[str, ...]
    danger_checks: int
    warning_checks: int
    info_checks: int
    notice_checks: int
    safe_checks: int
    unknown_checks: int
    has_enough_liquidity: bool | None
    liquidity_usd: float | None
    can_buy: bool | None
    can_sell: bool | None
    pools: int
    buy_tax: float | None
    sell_tax: float | None
    statuses: str
    outcomes: str


class _Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    catalogue_id: int


class _WithoutVerdict(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    body: bytes
    policy: str | None


class _Done(msgspec.Struct, frozen=True, kw_only=True):
    done: int


def put_verdict(tx: Transaction, token_id: int, report_verdict: ReportVerdict) -> None:
    """Store or replace verdict and checks of a token's report."""
    checks = report_verdict.checks
    counts = Counter(check.status for check in checks)
    row = JudgementRow(
        token_id=token_id,
        catalogue_id=_catalogue_of(tx, report_verdict),
        verdict=report_verdict.verdict,
        reasons=report_verdict.reasons,
        danger_checks=counts["danger"],
        warning_checks=counts["warning"],
        info_checks=counts["info"],
        notice_checks=counts["notice"],
        safe_checks=counts["safe"],
        unknown_checks=counts["unknown"],
        has_enough_liquidity=report_verdict.has_enough_liquidity,
        liquidity_usd=report_verdict.liquidity_usd,
        can_buy=report_verdict.can_buy,
        can_sell=report_verdict.can_sell,
        pools=report_verdict.pools,
        buy_tax=report_verdict.buy_tax,
        sell_tax=report_verdict.sell_tax,
        statuses="".join(check.status[0] for check in checks),
        outcomes="".join(_OUTCOMES[check.value] for check in checks),
    )
    tx.insert("judgement", [row], on_conflict="replace")


def put_missing_verdicts(store: Store, find_verdict: FindVerdict, policy: str) -> bool:
    """Add verdicts to the next stored reports without one of this policy; True if more are left.

    Each step is one transaction that records its progress, so an interrupted run continues. Raises
    StoreError.
    """
    step = f"{_STEP} {policy}"
    found = store.fetch_one("imports/find_progress", _Done, step=step)
    done = 0 if found is None else found.done
    if done < 0:
        return False
    with store.transaction() as tx:
        rows = tx.fetch(
            "judgements/list_without_verdict",
            _WithoutVerdict,
            done=done,
            at_most=_VERDICTS_AT_ONCE,
        )
        for row in rows:
            report = decode_body(row.body) if row.policy != policy else None
            report_verdict = None if report is None else find_verdict(report)
            if report_verdict is not None:
                put_verdict(tx, row.token_id, report_verdict)
        # Later reports get their verdict when they are written.
        is_last = len(rows) < _VERDICTS_AT_ONCE
        tx.execute("imports/put_progress", step=step, done=-1 if is_last else rows[-1].token_id)
    return not is_last


def _catalogue_of(tx: Transaction, report_verdict: ReportVerdict) -> int:
    """Return the number of a verdict's set of checks, storing a new one."""
    where = {
        "policy": report_verdict.policy,
        "keys": " ".join(check.key for check in report_verdict.checks),
    }
    found = tx.fetch("judgements/find_catalogue", _Catalogue, **where)
    if not found:
        tx.execute(
            "judgements/insert_catalogue",
            severities=" ".join(check.severity for check in report_verdict.checks),
            labels="\n".join(check.label for check in report_verdict.checks),
            **where,
        )
        found = tx.fetch("judgements/find_catalogue", _Catalogue, **where)
    return found[0].catalogue_id
