"""Protects which transactions are taken to concern a watched token, and why a trade failed."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.abi import call_data, encode_values, selector_of
from core.evm.primitives import Address, Hash32
from core.rpc.failures import MalformedAnswerError
from core.rpc.messages import RpcAnswer, RpcFault
from indexer.watched.failed_trades import explain, side_of, sold_raw
from indexer.watched.transactions import (
    BlockTransaction,
    Receipt,
    decode_receipt,
    decode_transactions,
    pick_candidates,
)
from indexer.watched.watched_set import WatchedSet
from sql.tokens.watched_tokens import WatchedPool, WatchedToken

TOKENS = [bytes([0xA0 + number]) * 20 for number in range(3)]
ROUTER, POOL, STRANGER, COIN = (bytes([number]) * 20 for number in (0x10, 0x11, 0x12, 0x13))
BLOCK = Hash32("0x" + "bb" * 32)
HASH = Hash32("0x" + "cc" * 32)


def text(address: bytes) -> Address:
    return Address("0x" + address.hex())


def watched() -> WatchedSet:
    tokens = {
        address: WatchedToken(
            token_id=number,
            address=text(address),
            report_block=1,
            scanned_at_s=1,
            is_settled=True,
            owner=None,
        )
        for number, address in enumerate(TOKENS)
    }
    pool = WatchedPool(
        token_id=0,
        pool=text(POOL),
        pool_id=None,
        kind="AmmV2",
        dex="a dex",
        quote=text(COIN),
        token0=None,
        hooks=None,
        buy=None,
        buy_tax=None,
        sell=None,
        sell_tax=None,
    )
    return WatchedSet(tokens=tokens, pools={POOL: (pool,)}, routers=frozenset({ROUTER}))


def transaction(to: bytes, data: bytes, *, gas: int = 100) -> BlockTransaction:
    return BlockTransaction(
        hash=HASH, sender=text(STRANGER), to=to, data=data, gas=gas, value_wei=0
    )


def picked(*transactions: BlockTransaction) -> list[tuple[bytes, int, str]]:
    found: Iterator[tuple[bytes, int, str]] = (
        (one.transaction.to, one.token.token_id, one.what)
        for one in pick_candidates(transactions, watched())
    )
    return sorted(found)


@given(
    before=st.lists(st.binary(max_size=50), min_size=1, max_size=4),
    named=st.sets(st.integers(0, 2)),
    noise=st.binary(max_size=40),
)
def test_a_token_is_found_anywhere_in_the_data_of_a_trade_and_nowhere_between_two(
    before: list[bytes], named: set[int], noise: bytes
) -> None:
    """Compared with a plain search of each transaction."""
    data = [*before, noise.join(TOKENS[number] for number in named), TOKENS[0][:10], TOKENS[0][10:]]
    trades = [transaction(ROUTER, each) for each in data]
    expected = sorted(
        (ROUTER, number, "trade")
        for each in data
        for number, token in enumerate(TOKENS)
        if token in each
    )
    assert picked(*trades) == expected


@pytest.mark.parametrize(
    ("to", "data", "expected"),
    [
        (TOKENS[1], call_data("setTax(uint256)", 5), [(TOKENS[1], 1, "call")]),
        (TOKENS[1], call_data("transfer(address,uint256)", text(COIN), 5), []),
        (TOKENS[1], call_data("approve(address,uint256)", text(COIN), 5), []),
        (TOKENS[1], "0x", []),
        (TOKENS[1], "0x12", [(TOKENS[1], 1, "call")]),
        (POOL, call_data("sync()"), [(POOL, 0, "trade")]),
        (STRANGER, call_data("sell(address)", text(TOKENS[1])), []),
        (b"", call_data("sell(address)", text(TOKENS[1])), []),
    ],
)
def test_calls_of_others_than_holders_are_picked(
    to: bytes, data: str, expected: list[tuple[bytes, int, str]]
) -> None:
    assert picked(transaction(to, bytes.fromhex(data[2:]))) == expected


def error_text(reason: str) -> str:
    return selector_of("Error(string)") + encode_values(["string"], [reason])


def fault(data: str | None, message: str = "execution reverted") -> RpcFault:
    return RpcFault(code=3, message=message, data=data)


OUTCOMES: list[tuple[RpcAnswer, int, str, str]] = [
    (fault(None), 100, "gas", "all gas"),
    (msgspec.Raw(b'"0x"'), 50, "unknown", "passes"),
    (fault(error_text("UniswapV2Router: EXPIRED")), 50, "deadline", "EXPIRED"),
    (fault(error_text("PancakeRouter: INSUFFICIENT_OUTPUT_AMOUNT")), 50, "slippage", "OUTPUT"),
    (fault(error_text("Too little received")), 50, "slippage", "little"),
    (fault(selector_of("V3TooLittleReceived()")), 50, "slippage", "error 0x"),
    (fault(selector_of("TransactionDeadlinePassed()")), 50, "deadline", "error 0x"),
    (fault(error_text("TransferHelper: TRANSFER_FROM_FAILED")), 50, "unknown", "TRANSFER_FROM"),
    (fault(error_text("UniswapV2: K")), 50, "unknown", "UniswapV2: K"),
    (fault(error_text("EXPIRED, says the token")), 50, "unknown", "says the token"),
    (fault("0x12345678"), 50, "unknown", "error 0x12345678"),
    (fault("0x08c379a0zz"), 50, "unknown", "execution reverted"),
    (fault(None, "Too little received"), 50, "slippage", "little"),
]


@pytest.mark.parametrize(("again", "gas_used", "cause", "reason"), OUTCOMES)
def test_only_a_failure_of_the_trades_own_limits_is_excused(
    again: RpcAnswer, gas_used: int, cause: str, reason: str
) -> None:
    receipt = Receipt(has_succeeded=False, gas_used=gas_used)
    failure = explain(transaction(ROUTER, b""), receipt, again)
    assert failure.cause == cause
    assert reason in failure.error


FOR_EXACTLY = "swapTokensForExactETH(uint256,uint256,address[],address,uint256)"
TWO = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"
SELL = (
    "swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
)
BUY = "swapExactETHForTokens(uint256,address[],address,uint256)"
ONE = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"


def path(*hops: bytes) -> list[Address]:
    return [text(hop) for hop in hops]


@pytest.mark.parametrize(
    ("data", "side"),
    [
        (call_data(SELL, 1, 0, path(TOKENS[0], COIN), text(STRANGER), 9), "sell"),
        (call_data(BUY, 0, path(COIN, TOKENS[0]), text(STRANGER), 9), "buy"),
        (call_data(BUY, 0, path(COIN, TOKENS[0], TOKENS[1]), text(STRANGER), 9), "unknown"),
        (call_data(BUY, 0, path(TOKENS[0], COIN, TOKENS[0]), text(STRANGER), 9), "unknown"),
        (call_data(ONE, (*path(COIN, TOKENS[0]), 500, text(STRANGER), 1, 0, 0)), "buy"),
        (call_data(ONE, (*path(TOKENS[0], COIN), 500, text(STRANGER), 1, 0, 0)), "sell"),
        (call_data("sell(address)", text(TOKENS[0])), "unknown"),
    ],
)
def test_the_side_is_told_where_the_path_tells_it(data: str, side: str) -> None:
    assert side_of(bytes.fromhex(data[2:]), TOKENS[0]) == side


@pytest.mark.parametrize(
    ("data", "amount_raw"),
    [
        (call_data(SELL, 77, 0, path(TOKENS[0], COIN), text(STRANGER), 9), 77),
        (call_data(SELL, 77, 0, path(COIN, TOKENS[0]), text(STRANGER), 9), None),
        (call_data(ONE, (*path(TOKENS[0], COIN), 500, text(STRANGER), 77, 5, 0)), 77),
        (call_data(TWO, (*path(TOKENS[0], COIN), 500, text(STRANGER), 9, 77, 5, 0)), 77),
        (call_data(FOR_EXACTLY, 77, 99, path(TOKENS[0], COIN), text(STRANGER), 9), None),
        (call_data("sell(address)", text(TOKENS[0])), None),
    ],
)
def test_what_is_to_be_sold_is_told_where_the_input_is_exact(
    data: str, amount_raw: int | None
) -> None:
    assert sold_raw(bytes.fromhex(data[2:]), TOKENS[0]) == amount_raw


@given(data=st.binary(max_size=400), selector=st.sampled_from([SELL, BUY, ONE]))
def test_any_bytes_have_a_side(data: bytes, selector: str) -> None:
    whole = bytes.fromhex(selector_of(selector)[2:]) + data
    assert sold_raw(whole, TOKENS[0]) is None or side_of(whole, TOKENS[0]) == "sell"
    assert side_of(whole, TOKENS[0]) in {"buy", "sell", "unknown"}


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


WIRE = {"hash": HASH, "from": "0x" + "12" * 20, "to": None, "input": "0x", "gas": "0x5"}


def test_a_block_with_its_transactions_is_decoded() -> None:
    answer = raw(
        {"hash": BLOCK.upper().replace("X", "x"), "transactions": [{**WIRE, "value": "0x7"}]}
    )
    (one,) = decode_transactions(answer, block=BLOCK)
    assert (one.to, one.gas, one.value_wei, one.sender) == (b"", 5, 7, "0x" + "12" * 20)


@pytest.mark.parametrize(
    "answer",
    [
        raw(None),
        raw({"hash": HASH, "transactions": []}),
        raw({"hash": BLOCK, "transactions": [HASH]}),
        raw({"hash": BLOCK, "transactions": [{**WIRE, "value": "0xzz"}]}),
        raw({"hash": BLOCK, "transactions": [{**WIRE, "value": "0x1", "input": "0x123"}]}),
        RpcFault(code=-32000, message="no"),
    ],
)
def test_another_block_or_nonsense_is_no_answer(answer: RpcAnswer) -> None:
    with pytest.raises(MalformedAnswerError):
        decode_transactions(answer, block=BLOCK)


@pytest.mark.parametrize(
    "change",
    [{"blockHash": HASH}, {"transactionHash": BLOCK}, {"gasUsed": "0xzz"}, {"status": "0xzz"}],
)
def test_a_receipt_of_something_else_is_no_answer(change: dict[str, str]) -> None:
    good = {"transactionHash": HASH, "blockHash": BLOCK, "gasUsed": "0x9", "status": "0x0"}
    decoded = decode_receipt(raw(good), transaction=HASH, block=BLOCK)
    assert decoded == Receipt(has_succeeded=False, gas_used=9)
    with pytest.raises(MalformedAnswerError):
        decode_receipt(raw({**good, **change}), transaction=HASH, block=BLOCK)
