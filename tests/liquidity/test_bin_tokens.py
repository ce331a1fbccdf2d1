"""Transfers of bin shares are read as eth_abi writes them, and nothing a node sends breaks the
reading."""

from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.bin_tokens import TRANSFER_BATCH, BinTransfer, decode_transfer
from analysis.reads.eth_reads import Log
from core.evm.primitives import Address

SENDER = Address("0x" + "11" * 20)
RECEIVER = Address("0x" + "22" * 20)
WORDS = st.integers(min_value=0, max_value=2**256 - 1)


def log_of(data: bytes) -> Log:
    parties = ("0x" + one[2:].rjust(64, "0") for one in (SENDER, SENDER, RECEIVER))
    return Log(address=SENDER, topics=(TRANSFER_BATCH, *parties), data="0x" + data.hex())


@given(st.lists(st.tuples(WORDS, WORDS), max_size=8))
def test_a_transfer_is_read_as_it_was_written(moved: list[tuple[int, int]]) -> None:
    ids, amounts = [one for one, _ in moved], [one for _, one in moved]
    data = encode(["uint256[]", "uint256[]"], [ids, amounts])
    assert decode_transfer(log_of(data)) == BinTransfer(
        sender=SENDER, receiver=RECEIVER, moved=tuple(moved)
    )


@given(st.lists(st.sampled_from([0, 1, 2, 32, 64, 96, 2**255]) | WORDS, max_size=8), st.binary())
def test_no_data_breaks_the_reading(words: list[int], rest: bytes) -> None:
    data = b"".join(word.to_bytes(32) for word in words) + rest
    transfer = decode_transfer(log_of(data))
    assert transfer is None or len(transfer.moved) * 32 <= len(data)
