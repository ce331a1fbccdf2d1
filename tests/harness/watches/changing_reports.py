"""Reports that notify watchers: each with another owner than the one before."""

import time

import msgspec

from assay.service.record_report import record_report
from core.evm.primitives import Address
from core.process.secret import Secret
from core.report.notifications import ALL_KINDS
from core.report.verdict import ReportVerdict
from sql.engine.store import Store
from sql.watches.watches import NewWatch, add_tokens, create_watch
from tests.harness.bare_reports import bare_report
from tests.harness.store.sample_rows import LATER, address

TOKEN = address(7)


def watch(store: Store, url: str, secret: Secret, *tokens: Address) -> int:
    """A watch of all kinds with a webhook."""
    new = NewWatch(key_id=1, name="w", kinds=ALL_KINDS, url=url, secret=secret)
    with store.transaction() as tx:
        watch_id = create_watch(tx, new, now_s=time.time())
        add_tokens(tx, watch_id, chain_id=1, addresses=tokens or (TOKEN,), now_s=0)
    return watch_id


def tell(store: Store, number: int, *, token: Address = TOKEN) -> None:
    """A report at this block; from the second one on it is a change."""
    report = bare_report(token, scanned_at_s=int(time.time()))
    head = msgspec.structs.replace(
        report.token, block_number=number, owner_address=address(number + 1)
    )
    report_verdict = ReportVerdict(
        policy="p",
        verdict="safe",
        reasons=(),
        has_enough_liquidity=None,
        liquidity_usd=None,
        can_buy=None,
        can_sell=None,
        pools=0,
        buy_tax=None,
        sell_tax=None,
        checks=(),
    )
    record_report(store, msgspec.structs.replace(report, token=head), LATER, report_verdict)
