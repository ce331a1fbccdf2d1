"""Transfers come out as they were encoded; other shapes are kept apart, and bad logs refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.process.arrays import ByteArray
from indexer.decode.log_columns import NO_TIME
from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import TRANSFER_TOPIC, DecodedTransfers, decode_transfers
from tests.harness.indexer.wire_logs import encode_log, parse_event, wire_log

ERC20 = parse_event("event Transfer(address indexed from, address indexed to, uint256 value)")
ERC721 = parse_event(
    "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"
)
BARE = parse_event("event Transfer(address from, address to, uint256 value)")
TOKEN = "0x" + "70" * 20
OTHER = "0x" + "07" * 20

ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
AMOUNTS = st.integers(0, 2**256 - 1)


def decode(*logs: dict[str, object]) -> DecodedTransfers:
    return decode_transfers(decode_logs(msgspec.json.encode(logs)))


def texts(column: ByteArray) -> list[str]:
    return ["0x" + row.tobytes().hex() for row in column]


@given(sender=ADDRESSES, recipient=ADDRESSES, amount=AMOUNTS)
def test_what_was_encoded_is_decoded(sender: str, recipient: str, amount: int) -> None:
    log = encode_log(
        ERC20,
        {"from": sender, "to": recipient, "value": amount},
        address=TOKEN,
        block_number=9,
        log_index=2,
    )
    found = decode(log)
    sent = found.transfers
    assert (sent.block_number.tolist(), sent.log_index.tolist()) == ([9], [2])
    assert (texts(sent.token), texts(sent.sender)) == ([TOKEN], [sender])
    assert texts(sent.recipient) == [recipient]
    assert [int(text, 16) for text in texts(sent.amount)] == [amount]
    assert not len(found.undecoded)


@pytest.mark.parametrize(
    ("log", "topic_count"),
    [
        (
            encode_log(ERC721, {"from": OTHER, "to": OTHER, "tokenId": 5}, address=TOKEN),
            4,
        ),
        (encode_log(BARE, {"from": OTHER, "to": OTHER, "value": 5}, address=TOKEN), 1),
        (
            wire_log(
                address=TOKEN,
                topics=[TRANSFER_TOPIC, "0x" + "00" * 32, "0x" + "00" * 32],
                data="0x" + "00" * 64,
            ),
            3,
        ),
        (
            wire_log(
                address=TOKEN,
                topics=[TRANSFER_TOPIC, "0x" + "11" * 32, "0x" + "00" * 32],
                data="0x" + "00" * 32,
            ),
            3,
        ),
    ],
    ids=["erc721", "nothing indexed", "more data", "a sender of 32 bytes"],
)
def test_other_shapes_are_kept_apart(log: dict[str, object], topic_count: int) -> None:
    plain = encode_log(ERC20, {"from": OTHER, "to": OTHER, "value": 1}, address=TOKEN, log_index=1)
    found = decode(log, plain)
    assert found.transfers.log_index.tolist() == [1]
    (row,) = found.undecoded.rows(chain_id=7)
    assert (row.chain_id, row.address, row.topic_count) == (7, TOKEN, topic_count)
    assert (row.topic0, row.data) == (TRANSFER_TOPIC, log["data"])


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40))
def test_transfers_come_in_chain_order_whatever_stands_between(
    sent: list[tuple[int, bool]],
) -> None:
    """Answers that were joined may be in any order."""
    logs = [
        encode_log(
            ERC20 if is_plain else BARE,
            {"from": OTHER, "to": OTHER, "value": 1},
            address=TOKEN,
            block_number=number,
            log_index=at,
        )
        for at, (number, is_plain) in enumerate(sent)
    ]
    found = decode(*logs)
    places = [
        (int(str(log["blockNumber"]), 16), int(str(log["logIndex"]), 16), is_plain)
        for log, (_, is_plain) in zip(logs, sent, strict=True)
    ]
    columns = zip(
        found.transfers.block_number.tolist(), found.transfers.log_index.tolist(), strict=True
    )
    assert [*columns] == sorted((one, two) for one, two, is_plain in places if is_plain)
    strays = [(row.block_number, row.log_index) for row in found.undecoded.rows(chain_id=1)]
    assert strays == sorted((one, two) for one, two, is_plain in places if not is_plain)


def test_undecoded_logs_of_some_tokens_are_picked_by_their_columns() -> None:
    logs = [
        wire_log(address=address, topics=[TRANSFER_TOPIC], data=data, log_index=at)
        for at, (address, data) in enumerate(
            [(TOKEN, "0x"), (OTHER, "0x"), (OTHER, "0x01"), (TOKEN, "0x02")]
        )
    ]
    undecoded = decode(*logs).undecoded
    own = (undecoded.address == bytes.fromhex(TOKEN[2:])[0]).all(axis=1)
    rows = undecoded.take(own).rows(chain_id=1)
    assert [(row.address, row.log_index, row.data) for row in rows] == [
        (TOKEN, 0, "0x"),
        (TOKEN, 3, "0x02"),
    ]


def test_kept_data_is_bounded() -> None:
    log = wire_log(address=TOKEN, topics=[TRANSFER_TOPIC], data="0x" + "ee" * 5000)
    (row,) = decode(log).undecoded.rows(chain_id=1)
    assert row.data == "0x" + "ee" * 1024


@pytest.mark.parametrize(
    "change",
    [
        {"address": "0x12"},
        {"address": "0x" + "zz" * 20},
        {"topics": ["0x1234"]},
        {"data": "0x123"},
        {"data": "12"},
        {"blockHash": "0x00"},
        {"blockNumber": "seven"},
        {"blockNumber": None},
        {"logIndex": "0xzz"},
        {"removed": True},
        {"topics": None},
        {"topics": [TRANSFER_TOPIC] * 5},
        {"blockNumber": "0x"},
        {"blockNumber": "0x1_0"},
        {"blockNumber": "0x+1"},
        {"blockNumber": hex(2**63)},
        {"logIndex": hex(2**31)},
        {"data": "0xé0"},
    ],
)
def test_a_log_that_is_not_one_is_an_error(change: dict[str, object]) -> None:
    log = encode_log(ERC20, {"from": OTHER, "to": OTHER, "value": 1}, address=TOKEN) | change
    with pytest.raises(ValueError):
        decode_logs(msgspec.json.encode([log]))


@pytest.mark.parametrize(
    ("change", "tx_hash", "time_s"),
    [
        ({"transactionHash": "0x12"}, "00" * 32, NO_TIME),
        ({"transactionHash": "0x" + "EF" * 32}, "ef" * 32, NO_TIME),
        ({"blockTimestamp": "0x65", "x": {"y": [1]}}, "cd" * 32, 0x65),
        ({"blockTimestamp": "0x0"}, "cd" * 32, 0),
        ({"blockTimestamp": 17.5}, "cd" * 32, NO_TIME),
        ({"blockTimestamp": 17}, "cd" * 32, NO_TIME),
        ({"blockTimestamp": None}, "cd" * 32, NO_TIME),
        ({"blockTimestamp": "soon"}, "cd" * 32, NO_TIME),
        ({"blockTimestamp": hex(2**63)}, "cd" * 32, NO_TIME),
        ({"address": TOKEN.upper().replace("X", "x"), "logIndex": "0x000A"}, "cd" * 32, NO_TIME),
    ],
)
def test_what_nodes_may_leave_out_or_add_is_no_error(
    change: dict[str, object], tx_hash: str, time_s: int
) -> None:
    good = encode_log(ERC20, {"from": OTHER, "to": OTHER, "value": 1}, address=TOKEN)
    (group,) = decode_logs(msgspec.json.encode([good | change, good])).groups
    assert group.tx_hash[0].tobytes().hex() == tx_hash
    assert group.time_s.tolist() == [time_s, NO_TIME]
    assert texts(group.address) == [TOKEN, TOKEN]


def test_no_logs_are_no_columns() -> None:
    assert not len(decode().transfers)
    assert not len(decode_logs(b" [ ] "))
