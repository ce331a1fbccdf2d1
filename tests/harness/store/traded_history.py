"""A store with a token's past trades, for analyses that need a track record.

`write_history` in a store at the path of ASSAY_STORE is what `assay scan` reads.
"""

from core.evm.primitives import Address
from core.report.track_record import DAY_S
from sql.chain.finalization import finalize_rows
from sql.chain.trade_records import insert_real_trades
from sql.engine.columns import blob
from sql.engine.store import Store
from sql.engine.table_rows import RealTradeRow
from sql.tokens.tokens import track_tokens
from tests.harness.store.sample_rows import address

LONG_S = 200 * DAY_S


def seller(number: int) -> bytes:
    return blob(address(0x5E11E500 + number))


def write_history(
    store: Store,
    *,
    chain_id: int,
    token: Address,
    until_s: int,
    sellers: int = 1_000,
    per_day: int = 20,
    age_s: int = LONG_S,
    at_block: int = 1,
) -> None:
    """Store final sales by `sellers` accounts, `per_day` new ones a day, all in one final block.

    The first is `age_s` seconds before `until_s`, in Unix seconds.
    """
    rows_at = [(at, until_s - age_s + (at // per_day) * DAY_S) for at in range(sellers)]
    with store.transaction(chain_id=chain_id) as tx:
        (tracked,) = track_tokens(tx, chain_id=chain_id, seen={token: 0}, because="request")
        insert_real_trades(
            tx,
            [
                RealTradeRow(
                    block_number=at_block,
                    log_index=at,
                    token_id=tracked.token_id,
                    is_sale=True,
                    trader=seller(at),
                    time_s=time_s,
                )
                for at, time_s in rows_at
            ],
            chain_id=chain_id,
        )
    while finalize_rows(store, chain_id=chain_id, final=at_block):
        pass
