"""Transfers of tracked tokens come out as they were encoded; other shapes are kept, others' not."""

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import TRACKED_SCHEMA, TRANSFER_TOPIC, decode_transfers
from tests.indexer.wire_logs import encode_log, parse_event, wire_log

ERC20 = parse_event("event Transfer(address indexed from, address indexed to, uint256 value)")
ERC721 = parse_event(
    "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"
)
BARE = parse_event("event Transfer(address from, address to, uint256 value)")
TOKEN = "0x" + "70" * 20
OTHER = "0x" + "07" * 20

ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
AMOUNTS = st.integers(0, 2**256 - 1)


def tracked(**from_blocks: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"address": list(from_blocks), "from_block": list(from_blocks.values())},
        schema=TRACKED_SCHEMA,
    )


@given(sender=ADDRESSES, recipient=ADDRESSES, amount=AMOUNTS)
def test_what_was_encoded_is_decoded(sender: str, recipient: str, amount: int) -> None:
    log = encode_log(
        ERC20,
        {"from": sender, "to": recipient, "value": amount},
        address=TOKEN,
        block_number=9,
        log_index=2,
    )
    found = decode_transfers(decode_logs(msgspec.json.encode([log])), tracked(**{TOKEN: 9}))
    row = found.transfers.row(0, named=True)
    assert int(row.pop("amount_raw"), 16) == amount
    assert row == {
        "block_number": 9,
        "log_index": 2,
        "token": TOKEN,
        "sender": sender,
        "recipient": recipient,
    }
    assert found.undecoded.is_empty()


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
def test_other_shapes_of_tracked_tokens_are_kept(log: dict[str, object], topic_count: int) -> None:
    logs = decode_logs(msgspec.json.encode([log]))
    found = decode_transfers(logs, tracked(**{TOKEN: 0}))
    assert found.transfers.is_empty()
    assert found.undecoded["topic_count"].to_list() == [topic_count]
    untracked = decode_transfers(logs, tracked(**{OTHER: 0}))
    assert untracked.transfers.is_empty()
    assert untracked.undecoded.is_empty()


def test_transfers_before_the_token_was_tracked_are_left_out() -> None:
    logs = [
        encode_log(
            ERC20, {"from": OTHER, "to": OTHER, "value": 1}, address=TOKEN, block_number=number
        )
        for number in (4, 5, 6)
    ]
    found = decode_transfers(decode_logs(msgspec.json.encode(logs)), tracked(**{TOKEN: 5}))
    assert found.transfers["block_number"].to_list() == [5, 6]


def test_kept_data_is_bounded() -> None:
    log = wire_log(address=TOKEN, topics=[TRANSFER_TOPIC], data="0x" + "ee" * 5000)
    found = decode_transfers(decode_logs(msgspec.json.encode([log])), tracked(**{TOKEN: 0}))
    assert found.undecoded["data"].to_list() == ["0x" + "ee" * 1024]


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
    ],
)
def test_a_log_that_is_not_one_is_an_error(change: dict[str, object]) -> None:
    log = encode_log(ERC20, {"from": OTHER, "to": OTHER, "value": 1}, address=TOKEN) | change
    with pytest.raises(ValueError):
        decode_logs(msgspec.json.encode([log]))


def test_no_logs_are_an_empty_frame() -> None:
    logs = decode_logs(b"[]")
    assert decode_transfers(logs, tracked(**{TOKEN: 0})).transfers.is_empty()
