"""Creation events with a list of tokens come out as a row for each two, or are kept apart."""

from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import CREATION_TOPICS, DecodedPools, PoolDecoder
from tests.harness.indexer.wire_logs import encode_log, parse_event, wire_log

FACTORY, POOL, OTHER = (Address("0x" + letter * 40) for letter in "abc")
TRANSFER = parse_event("event Transfer(address indexed from, address indexed to, uint256 value)")
STABLE_NG = "event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer)"
STABLE = STABLE_NG.replace("address[]", "address[4]")
TWO = (
    "event TwocryptoPoolDeployed(address pool, string name, string symbol, address[2] coins, "
    "address math, bytes32 salt, uint256[2] precisions, uint256 packed_A_gamma, "
    "uint256 packed_fee_params, uint256 packed_rebalancing_params, uint256 packed_prices, "
    "address deployer)"
)
THREE = (
    "event TricryptoPoolDeployed(address pool, string name, string symbol, address weth, "
    "address[3] coins, address math, bytes32 salt, uint256 packed_precisions, "
    "uint256 packed_A_gamma, uint256 packed_fee_params, uint256 packed_rebalancing_params, "
    "uint256 packed_prices, address deployer)"
)
TOPICS = {
    STABLE_NG: "0xd1d60d4611e4091bb2e5f699eeb79136c21ac2305ad609f3de569afc3471eecc",
    STABLE: "0x5b4a28c940282b5bf183df6a046b8119cf6edeb62859f75e835eb7ba834cce8d",
    TWO: "0x8152a3037e3dc54154ad0d2cadb1cf7e1d1b9e2b625faa3dfb4fe03d609102ca",
    THREE: "0xa307f5d0802489baddec443058a63ce115756de9020e2b07d3e2cd2f21269e2a",
}
SIZES = {STABLE_NG: (2, 8), STABLE: (2, 4), TWO: (2, 2), THREE: (3, 3)}
KINDS = {STABLE_NG: "CurveStable", STABLE: "CurveStable", TWO: "CurveCrypto", THREE: "CurveCrypto"}

TOKENS = st.binary(min_size=20, max_size=20).filter(any).map(lambda raw: "0x" + raw.hex())


def announced(
    declared: str, tokens: list[str], *, name: str = "", log_index: int = 3
) -> dict[str, object]:
    """The factory's log. Unused places are zero."""
    event = parse_event(declared)
    blank: dict[str, object] = {"string": name, "bytes32": bytes(32), "uint256[2]": [1, 1]}
    values = {
        one.name: blank.get(one.abi_type, ZERO_ADDRESS if one.abi_type == "address" else 1)
        for one in event.arguments
    }
    if declared == STABLE:
        tokens = [*tokens, *[ZERO_ADDRESS] * (4 - len(tokens))]
    values |= {"coins": tokens, "pool": POOL}
    return encode_log(event, values, address=FACTORY, block_number=7, log_index=log_index)


def minted(
    emitter: Address, *, log_index: int, amount: int = 0, sender: str = ZERO_ADDRESS
) -> dict[str, object]:
    """Write a pool's event of its creation."""
    values = {"from": sender, "to": FACTORY, "value": amount}
    return encode_log(TRANSFER, values, address=emitter, block_number=7, log_index=log_index)


def decode(declared: str, *logs: dict[str, object]) -> DecodedPools:
    dex = Dex(name="Curve", kind=KINDS[declared], factory=FACTORY)
    return PoolDecoder([dex], chain_id=5).decode(decode_logs(msgspec.json.encode(logs)))


@pytest.mark.parametrize("declared", TOPICS)
def test_the_topic_is_the_researched_one_and_is_asked_for(declared: str) -> None:
    assert parse_event(declared).topic0 == TOPICS[declared]
    assert TOPICS[declared] in CREATION_TOPICS


@pytest.mark.parametrize("declared", TOPICS)
@given(data=st.data(), name=st.text(max_size=70))
def test_every_two_tokens_are_a_pool(declared: str, data: st.DataObject, name: str) -> None:
    least, most = SIZES[declared]
    tokens = data.draw(st.lists(TOKENS, min_size=least, max_size=most, unique=True))
    log = announced(declared, tokens, name=name)
    found = decode(declared, minted(POOL, log_index=2), log)
    pairs = [*combinations(range(len(tokens)), 2)]
    assert [(row.token0, row.token1) for row in found.pools] == [
        (tokens[one], tokens[other]) for one, other in pairs
    ]
    assert {row.pool for row in found.pools} == {POOL}
    ids = [POOL + one.to_bytes(6).hex() + other.to_bytes(6).hex() for one, other in pairs]
    assert [row.pool_id for row in found.pools] == [None, *ids[1:]]
    assert [row.pool_key for row in found.pools] == [POOL, *ids[1:]]
    assert not len(found.undecoded)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [minted(POOL, log_index=4)],
        [minted(POOL, log_index=2, amount=1)],
        [minted(POOL, log_index=2, sender=OTHER)],
        [minted(POOL, log_index=2) | {"transactionHash": "0x" + "ee" * 32}],
    ],
    ids=["nobody", "after it", "an amount", "a sender", "another transaction"],
)
def test_without_its_announcement_a_pool_is_kept_undecoded(others: list[dict[str, object]]) -> None:
    found = decode(STABLE_NG, *others, announced(STABLE_NG, ["0x" + "11" * 20, "0x" + "22" * 20]))
    assert not found.pools
    assert len(found.undecoded) == 1


def test_of_several_pools_in_a_transaction_each_is_named_by_the_last_before_it() -> None:
    tokens = ["0x" + "11" * 20, "0x" + "22" * 20]
    found = decode(
        STABLE_NG,
        minted(OTHER, log_index=1),
        announced(STABLE_NG, tokens, log_index=2),
        minted(POOL, log_index=3),
        announced(STABLE_NG, tokens, log_index=4),
    )
    assert [row.pool for row in found.pools] == [OTHER, POOL]


@pytest.mark.parametrize("declared", TOPICS)
@pytest.mark.parametrize(
    "damage", ["no data", "half a word", "cut", "far", "long", "twice", "dirty", "one"]
)
def test_what_is_no_list_is_kept_undecoded(declared: str, damage: str) -> None:
    tokens = ["0x" + f"{at}{at}" * 20 for at in range(1, SIZES[declared][1] + 1)]
    if damage == "twice":
        tokens[1] = tokens[0]
    if damage == "one":
        tokens = [tokens[0], *[ZERO_ADDRESS] * (len(tokens) - 1)]
    good = announced(declared, tokens)
    data = bytes.fromhex(str(good["data"])[2:])
    first = data.index(bytes.fromhex(tokens[0][2:])) - 12
    match damage:
        case "no data":
            data = b""
        case "half a word":
            data += bytes(16)
        case "cut":
            data = data[: first + 32]
        case "far" if declared == STABLE_NG:
            data = b"\xff" * 32 + data[32:]
        case "long" if declared == STABLE_NG:
            data = data[:128] + (1 << 60).to_bytes(32) + data[160:]
        case "far" | "long":
            data = data[:first] + b"\x01" + data[first + 1 :]
        case "dirty":
            data = data[: first + 32] + b"\x01" + data[first + 33 :]
        case _:
            pass
    topics = msgspec.convert(good["topics"], list[str])
    log = wire_log(
        address=FACTORY, topics=topics, data="0x" + data.hex(), block_number=7, log_index=3
    )
    found = decode(declared, minted(POOL, log_index=2), log)
    assert not found.pools
    assert len(found.undecoded) == 1
