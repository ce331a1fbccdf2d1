"""Protects the native coin's price: a feed's word is taken while it is fresh and sane."""

import msgspec
import pytest

from analysis.market.native_price import OracleRead, anchor_prices
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Chain, Oracle
from config.facts.load_chains import load_chains
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.node.answers import BLOCK, answer_in_turn

CHAINS = load_chains(None)
HOUR_S = 3_600
NOW_S = 1_800_000_000


def round_data(answer: int, updated_at_s: int, *, words: int = 5) -> msgspec.Raw:
    """Encode the result of latestRoundData()."""
    words_returned = (1, answer % 2**256, updated_at_s, updated_at_s, 1)[:words]
    return msgspec.Raw(f'"0x{"".join(f"{word:064x}" for word in words_returned)}"'.encode())


def price_by(oracle: Oracle, answer: RpcAnswer) -> float | None:
    """Return the price by the feed's answer, now."""
    batch = ReadBatch(BLOCK)
    read = OracleRead(batch, oracle)
    answer_in_turn(batch, [answer])
    return read.read(time_s=NOW_S)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.slug)
def test_a_feed_may_be_an_hour_later_than_its_heartbeat_and_no_more(chain: Chain) -> None:
    oracle = chain.oracle
    latest = NOW_S - oracle.heartbeat_s - HOUR_S
    answer = 3_210 * 10**oracle.decimals + 5
    usd = pytest.approx(3_210 + 5 / 10**oracle.decimals, rel=1e-12)
    assert price_by(oracle, round_data(answer, latest)) == usd
    assert price_by(oracle, round_data(answer, latest - 1)) is None


@pytest.mark.parametrize(
    "answer",
    [
        round_data(0, NOW_S),
        round_data(-1, NOW_S),
        round_data(-(2**255), NOW_S),
        round_data(3_000 * 10**8, 0),
        round_data(3_000 * 10**8, NOW_S, words=4),
        msgspec.Raw(b'"0x"'),
        RpcFault(code=3, message="execution reverted"),
    ],
    ids=["zero", "negative", "lowest", "never updated", "cut", "no contract", "reverts"],
)
def test_what_is_no_sane_round_is_no_price(answer: msgspec.Raw | RpcFault) -> None:
    assert price_by(CHAINS[0].oracle, answer) is None


def test_a_fault_of_the_node_is_not_taken_for_a_feed_without_price() -> None:
    with pytest.raises(UpstreamError):
        price_by(CHAINS[0].oracle, RpcFault(code=-32000, message="timeout"))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.slug)
def test_without_a_price_the_native_coin_is_unpriced_and_stables_are_a_dollar(
    chain: Chain,
) -> None:
    stables = {stable.address for stable in chain.stables}
    unknown, known = anchor_prices(chain, None), anchor_prices(chain, 3_000.0)
    assert set(unknown) == stables
    assert set(known) == {*stables, chain.wrapped_native.address, ZERO_ADDRESS}
    assert {known[stable].usd for stable in stables} == {1.0}
    assert known[ZERO_ADDRESS] == known[chain.wrapped_native.address]
    assert [known[stable.address].decimals for stable in chain.stables] == [
        stable.decimals for stable in chain.stables
    ]
