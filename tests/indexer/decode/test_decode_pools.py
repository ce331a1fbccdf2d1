"""Pool creation events of every kind and fork come out as they were encoded, or are kept apart."""

import tomllib

import msgspec
import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import ZERO_ADDRESS, Address
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import CREATION_TOPICS, PoolDecoder
from tests.harness.indexer.wire_logs import Argument, encode_log, parse_event, wire_log
from tests.house.sources import ROOT


class Case(msgspec.Struct, frozen=True):
    kind: DexKind
    declared: str
    topic0: str
    variant: str | None = None


class Cases(msgspec.Struct, frozen=True):
    event: tuple[Case, ...]


CASES = msgspec.convert(
    tomllib.loads((ROOT / "tests" / "harness" / "indexer" / "pool_events.toml").read_text()), Cases
).event
NAMES = [f"{case.kind}-{case.variant}-{case.topic0[:10]}" for case in CASES]
FACTORY = Address("0x" + "fa" * 20)

ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
TICKS = st.integers(-(2**23), 2**23 - 1)
PARAMETERS = st.binary(min_size=32, max_size=32)


def values_of(argument: Argument) -> st.SearchStrategy[object]:
    if argument.name == "binStep":  # a uint16 in a separate word, as it is indexed
        return st.integers(0, 2**16 - 1)
    match argument.abi_type:
        case "address":
            return ADDRESSES
        case "bool":
            return st.booleans()
        case "bytes32":
            return PARAMETERS
        case signed if signed.startswith("int"):
            bits = int(signed.removeprefix("int"))
            return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        case unsigned:
            return st.integers(0, 2 ** int(unsigned.removeprefix("uint")) - 1)


def expected_row(case: Case, values: dict[str, object]) -> dict[str, object]:
    """Return the row of a pool, by the argument names of the declarations."""
    pool_id = values.get("id")
    key = "0x" + pool_id.hex() if isinstance(pool_id, bytes) else None
    pool = values.get("pair", values.get("pool", values.get("LBPair", FACTORY)))
    tick_spacing = values.get("tickSpacing", values.get("binStep"))
    if isinstance(parameters := values.get("parameters"), bytes):
        tick_spacing = int.from_bytes(parameters[-5:-2], "big", signed=True)
    hooks = values.get("hooks")
    return {
        "chain_id": 5,
        "pool_key": key or pool,
        "pool": pool,
        "pool_id": key,
        "dex": "A DEX",
        "kind": case.kind,
        "variant": case.variant,
        "factory": FACTORY,
        "token0": values.get("token0", values.get("currency0", values.get("tokenX"))),
        "token1": values.get("token1", values.get("currency1", values.get("tokenY"))),
        "fee": values.get("fee", values.get("swapFee")),
        "tick_spacing": tick_spacing,
        "stable": values.get("stable"),
        "hooks": None if hooks == ZERO_ADDRESS else hooks,
        "block_number": 7,
        "log_index": 3,
    }


def decoder(kind: DexKind, variant: str | None = None) -> PoolDecoder:
    dex = Dex(name="A DEX", kind=kind, variant=variant, factory=FACTORY)
    return PoolDecoder([dex], chain_id=5)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_topic_is_the_researched_one_and_is_asked_for(case: Case) -> None:
    assert parse_event(case.declared).topic0 == case.topic0
    assert case.topic0 in CREATION_TOPICS


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@given(data=st.data())
def test_what_was_encoded_is_decoded(case: Case, data: st.DataObject) -> None:
    event = parse_event(case.declared)
    values = {one.name: data.draw(values_of(one), label=one.name) for one in event.arguments}
    log = encode_log(event, values, address=FACTORY, block_number=7, log_index=3)

    found = decoder(case.kind, case.variant).decode(decode_logs(msgspec.json.encode([log])))

    assert [msgspec.structs.asdict(row) for row in found.pools] == [expected_row(case, values)]
    assert not len(found.undecoded)


def test_no_hooks_are_not_an_address() -> None:
    case = next(case for case in CASES if case.kind == "AmmV4" and case.variant is None)
    event = parse_event(case.declared)
    blank = {"address": ZERO_ADDRESS, "bytes32": bytes(32)}
    values = {one.name: blank.get(one.abi_type, 0) for one in event.arguments}
    log = encode_log(event, values, address=FACTORY)
    (row,) = decoder("AmmV4").decode(decode_logs(msgspec.json.encode([log]))).pools
    assert (row.hooks, row.token0, row.pool) == (None, ZERO_ADDRESS, FACTORY)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize(
    "damage", ["a topic less", "a word more", "a word less", "half a word", "no data", "dirty word"]
)
def test_other_shapes_are_kept_undecoded(case: Case, damage: str) -> None:
    event = parse_event(case.declared)
    good = encode_log(
        event,
        {one.name: _plain_value(one) for one in event.arguments},
        address=FACTORY,
        block_number=7,
        log_index=3,
    )
    topics, data = msgspec.convert(good["topics"], list[str]), str(good["data"])
    match damage:
        case "a topic less":
            topics = topics[:-1]
        case "a word more":
            data += "00" * 32
        case "a word less":
            data = data[:-64]
        case "half a word":
            data = data[:-32]
        case "no data":
            data = "0x"
        case _:
            topics[2] = "0x01" + topics[2][4:]  # more than an address fits in
    log = wire_log(address=FACTORY, topics=topics, data=data, block_number=7, log_index=3)

    found = decoder(case.kind, case.variant).decode(decode_logs(msgspec.json.encode([log])))

    assert not found.pools
    assert [msgspec.structs.asdict(row) for row in found.undecoded.rows(chain_id=5)] == [
        {
            "chain_id": 5,
            "block_number": 7,
            "log_index": 3,
            "address": FACTORY,
            "topic0": case.topic0,
            "topic_count": len(topics),
            "data": data,
        }
    ]


def test_the_factory_decides_the_kind_not_the_topic() -> None:
    case = CASES[0]
    event = parse_event(case.declared)
    log = encode_log(
        event, {one.name: _plain_value(one) for one in event.arguments}, address=FACTORY
    )
    logs = decode_logs(msgspec.json.encode([log]))
    assert [row.kind for row in decoder("AmmV2").decode(logs).pools] == ["AmmV2"]
    assert [row.kind for row in decoder("Solid").decode(logs).pools] == ["Solid"]
    misplaced = decoder("SolidV3").decode(logs)
    assert not misplaced.pools
    assert len(misplaced.undecoded) == 1


def test_other_contracts_are_not_factories() -> None:
    case = CASES[0]
    event = parse_event(case.declared)
    log = encode_log(
        event,
        {one.name: _plain_value(one) for one in event.arguments},
        address="0x" + "0e" * 20,
    )
    found = decoder("AmmV2").decode(decode_logs(msgspec.json.encode([log])))
    assert not found.pools
    assert not len(found.undecoded)


def test_letter_case_does_not_matter() -> None:
    case = CASES[0]
    event = parse_event(case.declared)
    log = encode_log(
        event,
        {one.name: _plain_value(one) for one in event.arguments},
        address=to_checksum_address(FACTORY),
    )
    log["data"] = "0x" + str(log["data"])[2:].upper()
    found = decoder("AmmV2").decode(decode_logs(msgspec.json.encode([log])))
    assert [row.pool for row in found.pools] == ["0x" + "aa" * 20]


def test_mixed_logs_come_out_in_chain_order() -> None:
    cases = [case for case in CASES if case.kind in {"AmmV3", "AmmV2"}]
    factories = {"AmmV2": "0x" + "f2" * 20, "AmmV3": "0x" + "f3" * 20}
    dexes = [
        Dex(name="two", kind="AmmV2", factory=Address(factories["AmmV2"])),
        Dex(name="three", kind="AmmV3", factory=Address(factories["AmmV3"])),
    ]
    logs = []
    for at, case in enumerate(cases):
        event = parse_event(case.declared)
        values = {one.name: _plain_value(one) for one in event.arguments}
        logs.append(
            encode_log(
                event, values, address=factories[case.kind], block_number=1 + at // 3, log_index=at
            )
        )
    found = PoolDecoder(dexes, chain_id=5).decode(decode_logs(msgspec.json.encode(logs)))
    assert [row.log_index for row in found.pools] == list(range(len(cases)))
    assert [row.kind for row in found.pools] == [case.kind for case in cases]


def _plain_value(argument: Argument) -> object:
    return {"address": "0x" + "aa" * 20, "bool": True, "bytes32": b"\x11" * 32}.get(
        argument.abi_type, 42
    )
