"""Removal of a lake's files."""

from sql.lake.lake_file import Lake
from tests.harness.lake.serving_files import Serving


def forget(serving: Serving, lake: Lake) -> None:
    """Empty the store for the next example; batches keep counting."""
    serving.executescript(
        "delete from transfer; delete from final_transfer; delete from final_trade;"
        "delete from final_undecoded; delete from batch"
    )
    with lake.transaction() as tx:
        tx._connection.execute(
            "delete from lake.transfer; delete from lake.trade; delete from lake.undecoded"
        )
