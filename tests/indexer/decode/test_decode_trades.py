"""Swaps of every kind come out with the amounts that were encoded, at the time of their block."""

from decimal import Decimal

import msgspec
import pytest
from eth_utils.crypto import keccak
from hypothesis import assume, given
from hypothesis import strategies as st

from config.facts.pool_family import FAMILIES, PoolSwap
from core.evm.primitives import BlockRef, Hash32
from indexer.decode.log_columns import LogColumns
from indexer.decode.logs import decode_logs
from indexer.decode.swap_events import SWAP_FORMS, SWAP_TOPICS, decode_trades
from indexer.event_rows import swap_rows
from tests.harness.indexer.wire_logs import Argument, Event, encode_log, wire_log

EMITTER = "0x" + "e1" * 20
SWAPS = [(family.kind, swap) for family in FAMILIES for swap in family.swap]
NAMES = [f"{kind}-{swap.form.topic0[:10]}" for kind, swap in SWAPS]


def event_of(swap: PoolSwap) -> Event:
    """The declaration as eth-abi's encoder takes it."""
    name, _, rest = swap.declared.partition("(")
    parts = [part.split() for part in rest.removesuffix(")").split(",")]
    return Event(name, tuple(Argument(words[0], words[-1], "indexed" in words) for words in parts))


def values_of(argument: Argument) -> st.SearchStrategy[object]:
    kind = argument.abi_type
    if argument.name in ("coin_in", "coin_out"):
        return st.integers(0, 7)
    if argument.name in ("token_in", "token_out"):
        return st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
    if kind == "address":
        return st.just("0x" + "aa" * 20)
    if kind.startswith("bytes"):
        return st.binary(min_size=int(kind[5:]), max_size=int(kind[5:]))
    bits = int(kind.removeprefix("u").removeprefix("int") or 256)
    if kind.startswith("u"):
        return st.integers(0, 2**bits - 1)
    # Near zero as often as anywhere: there a sign costs all digits if it is taken wrongly.
    return st.one_of(st.integers(-100, 100), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


def moved(swap: PoolSwap, values: dict[str, object], side: int) -> int:
    """Return the pool's received amount of a token, negative if paid out."""
    if swap.is_by_side:
        return int(str(values[f"amount{side}_in"])) - int(str(values[f"amount{side}_out"]))
    if swap.is_packed:
        halves = {name: half(values[f"amounts_{name}"], side) for name in ("in", "kept", "out")}
        return halves["in"] + halves["kept"] - halves["out"]
    if swap.is_by_coin or swap.is_by_token:
        coins = sides_of(values)
        is_in = coins[0] == sorted(coins)[side]
        return int(str(values["amount_in"])) if is_in else -int(str(values["amount_out"]))
    amount = int(str(values[f"amount{side}"]))
    return -amount if swap.positive_is == "paid_out" else amount


def sides_of(values: dict[str, object]) -> tuple[int, int]:
    """The number of the coin paid in, or its address as one, and of the other."""
    if "coin_in" in values:
        return int(str(values["coin_in"])), int(str(values["coin_out"]))
    return int(str(values["token_in"]), 16), int(str(values["token_out"]), 16)


def id_of(values: dict[str, object]) -> object:
    """The id of the pool in its emitter; zero where it is the emitter."""
    if "token_in" in values:
        if not {"pool_id", "vault_pool"} & values.keys():
            return bytes(32)
        named = values["pool_id"] if "pool_id" in values else values["vault_pool"]
        vault_id = named if isinstance(named, bytes) else bytes.fromhex(str(named)[2:])
        sides = b"".join(side.to_bytes(20) for side in sorted(sides_of(values)))
        return vault_id[:20] + keccak(vault_id + sides)[:12]
    if "coin_in" not in values:
        return values.get("pool_id", bytes(32))
    lower, upper = sorted(sides_of(values))
    if (lower, upper) == (0, 1):
        return bytes(32)
    return bytes.fromhex(EMITTER[2:]) + lower.to_bytes(6) + upper.to_bytes(6)


def half(word: object, side: int) -> int:
    """The amount of token0 in the lower half of a word, or of token1 in the upper one."""
    assert isinstance(word, bytes)
    return int.from_bytes(word[16:] if side == 0 else word[:16])


def columns(*logs: dict[str, object]) -> LogColumns:
    return decode_logs(msgspec.json.encode(logs))


def block(number: int, time_s: int) -> BlockRef:
    blank = Hash32("0x" + "00" * 32)
    return BlockRef(number=number, hash=blank, parent_hash=blank, time_s=time_s)


@pytest.mark.parametrize(("kind", "swap"), SWAPS, ids=NAMES)
@given(data=st.data())
def test_what_was_encoded_is_decoded(kind: str, swap: PoolSwap, data: st.DataObject) -> None:
    event = event_of(swap)
    values = {one.name: data.draw(values_of(one), label=one.name) for one in event.arguments}
    assume(not (swap.is_by_coin or swap.is_by_token) or len({*sides_of(values)}) > 1)
    log = encode_log(event, values, address=EMITTER, block_number=7, log_index=3)
    trades = decode_trades(columns(log), [block(7, 1234)])
    rows = [at for at, form in enumerate(trades.form.tolist()) if kind in SWAP_FORMS[form].kinds]
    (at,) = rows
    place = (trades.block_number[at], trades.log_index[at], trades.time_s[at])
    assert place == (7, 3, 1234)
    assert trades.emitter[at].tobytes().hex() == EMITTER[2:]
    assert trades.pool_id[at].tobytes() == id_of(values)
    for side, amount in ((0, trades.amount0[at]), (1, trades.amount1[at])):
        exact = moved(swap, values, side)
        # Both amounts of a side are rounded before one is taken from the other.
        numbers = [abs(value) for value in values.values() if isinstance(value, int)]
        largest = max((*numbers, 2**129 if swap.is_packed else 0))
        assert abs(Decimal(float(amount)) - exact) <= Decimal(largest) * Decimal(2) ** -51
        if {"amount0", "amount1"} <= values.keys():
            assert amount == pytest.approx(exact, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("coin_in", "coin_out"), [(2, 2), (0, 256), (1 << 200, 1), (1, (1 << 255) + 2)]
)
def test_what_are_no_two_coins_is_a_trade_of_no_pool(coin_in: int, coin_out: int) -> None:
    (swap,) = [swap for kind, swap in SWAPS if kind == "CurveCrypto" and swap.form.words == 4]
    values = {"payer": EMITTER, "coin_in": coin_in, "amount_in": 1}
    values |= {"coin_out": coin_out, "amount_out": 1}
    log = encode_log(event_of(swap), values, address=EMITTER)
    (row,) = swap_rows(decode_trades(columns(log), [block(1, 1)]))
    assert row.pool_key == "0x" + "ff" * 32


@pytest.mark.parametrize(
    ("own", "known", "expected"),
    [
        ("0x64", [], [100]),
        (None, [], []),
        (None, [block(6, 1), block(7, 200), block(9, 3)], [200]),
        ("0x64", [block(7, 200)], [200]),
        ("0x64", [block(6, 200), block(8, 300)], [100]),
        (None, [block(6, 200), block(8, 300)], []),
    ],
)
def test_a_trade_needs_the_time_of_its_block(
    own: str | None, known: list[BlockRef], expected: list[int]
) -> None:
    event = event_of(SWAPS[0][1])
    values = {one.name: EMITTER if one.abi_type == "address" else 1 for one in event.arguments}
    log = encode_log(event, values, address=EMITTER, block_number=7)
    if own is not None:
        log["blockTimestamp"] = own
    assert decode_trades(columns(log), known).time_s.tolist() == expected


def test_other_shapes_are_left_out_and_the_rest_is_in_chain_order() -> None:
    event = event_of(SWAPS[0][1])
    values = {one.name: EMITTER if one.abi_type == "address" else 1 for one in event.arguments}
    logs = [
        encode_log(event, values, address=EMITTER, block_number=number, log_index=at)
        for at, number in enumerate([5, 4, 5, 3])
    ]
    odd = wire_log(address=EMITTER, topics=[SWAP_TOPICS[0]], data="0x" + "00" * 32, log_index=9)
    found = decode_trades(columns(*logs, odd), [block(number, 1) for number in range(9)])
    places = [*zip(found.block_number.tolist(), found.log_index.tolist(), strict=True)]
    assert places == [(3, 3), (4, 1), (5, 0), (5, 2)]
