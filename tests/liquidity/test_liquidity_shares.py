"""Shares of liquidity add up, whatever their holders, and nothing is locked without a record."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.holdings import Part, gather
from analysis.liquidity.liquidity_shares import LiquidityShares, Parties, classify_shares
from analysis.liquidity.locks import Lock
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address

NOW_S = 1_800_000_000
BURN = min(BURN_ADDRESSES)
POOL, LOCKER, CREATOR, COPY, PERSON = (Address("0x" + f"{at:02x}" * 20) for at in range(0xB1, 0xB6))
EVERYBODY = (BURN, POOL, LOCKER, CREATOR, COPY, PERSON)

amounts = st.integers(0, 10**30)
locks = st.builds(
    Lock,
    owner=st.sampled_from((CREATOR, PERSON)),
    weight=st.builds(float, amounts),
    until_s=st.integers(NOW_S - 100, NOW_S + 100),
)


def judged(balances: dict[Address, int], records: list[Lock], missing: int) -> LiquidityShares:
    found = gather(
        [(holder, float(amount), Part(amount=amount)) for holder, amount in balances.items()],
        total=float(sum(balances.values()) + missing),
        gap="some" if missing else "",
    )
    parties = Parties(
        pool=POOL,
        creator=CREATOR,
        owner=None,
        lockers={LOCKER: "Known"},
        locks={LOCKER: sorted(records, key=lambda lock: lock.until_s)},
        contracts={LOCKER, COPY},
    )
    return classify_shares(found, parties, now_s=NOW_S)


@given(st.dictionaries(st.sampled_from(EVERYBODY), amounts), st.lists(locks, max_size=4), amounts)
def test_shares_add_up_and_only_records_lock(
    balances: dict[Address, int], records: list[Lock], missing: int
) -> None:
    shares = judged(balances, records, missing)
    total = sum(balances.values()) + missing
    if total == 0:
        assert shares == LiquidityShares(gap=shares.gap)
        return
    parts = (
        shares.burnt_share,
        shares.locked_share,
        shares.withdrawable_share,
        shares.unknown_share,
        shares.unaccounted_share,
    )
    assert all(0 <= part <= 1 + 1e-9 for part in parts)
    assert abs(sum(parts) - 1) < 1e-6
    assert abs(shares.burnt_share - balances.get(BURN, 0) / total) < 1e-9
    recorded = sum(lock.weight for lock in records if lock.until_s > NOW_S)
    assert shares.locked_share <= min(recorded, balances.get(LOCKER, 0)) / total + 1e-9
    assert abs(sum(lock.share for lock in shares.locks) - shares.locked_share) < 1e-9
    # Liquidity of a contract without records is never reported as withdrawable, nor locked.
    assert shares.unknown_share >= balances.get(COPY, 0) / total - 1e-6
    direct = (balances.get(CREATOR, 0) + balances.get(PERSON, 0) + balances.get(POOL, 0)) / total
    assert shares.withdrawable_share >= direct - 1e-9


def test_a_lock_that_has_ended_is_its_owners() -> None:
    ended = Lock(owner=PERSON, weight=60.0, until_s=NOW_S)
    shares = judged({LOCKER: 60, CREATOR: 40}, [ended], 0)
    assert (shares.locked_share, shares.withdrawable_share) == (0.0, 1.0)
    assert [(one.account, one.share) for one in shares.withdrawers] == [
        (PERSON, 0.6),
        (CREATOR, 0.4),
    ]
