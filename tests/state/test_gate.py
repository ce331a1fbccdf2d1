"""The gate admits tokens, and gives every other address the one right code."""

import msgspec
import pytest

from analysis.reads.read_batch import ReadBatch
from analysis.token.admission import AdmissionReads, Admitted, admit_address
from config.burn import BURN_ADDRESSES
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.node.answers import (
    BLOCK,
    LOST_BLOCK,
    REVERTED,
    answer_in_turn,
    sent,
    string,
    word,
)

CODE = sent(b"\x60\x80")
NAME, SYMBOL, DECIMALS, SUPPLY = string("Some Token"), string("SOME"), word(18), word(10**24)
OUT_OF_GAS = RpcFault(code=-32000, message="out of gas")


def read(*answers: RpcAnswer) -> Admitted:
    batch = ReadBatch(BLOCK)
    reads = AdmissionReads(batch, Address("0x" + "11" * 20))
    answer_in_turn(batch, answers)
    return reads.read()


def refusal(*answers: RpcAnswer) -> TokenRefusedError:
    with pytest.raises(TokenRefusedError) as caught:
        read(*answers)
    assert caught.value.reason
    return caught.value


def test_a_token_is_admitted_with_what_it_says() -> None:
    admitted = read(CODE, NAME, SYMBOL, DECIMALS, SUPPLY)
    assert admitted.code == b"\x60\x80"
    assert msgspec.structs.asdict(admitted.metadata) == {
        "name": "Some Token",
        "symbol": "SOME",
        "decimals": 18,
        "supply_raw": 10**24,
    }


def test_bytes32_names_are_text() -> None:
    old = sent(b"OLD".ljust(32, b"\0"))
    assert read(CODE, old, old, DECIMALS, SUPPLY).metadata.symbol == "OLD"


def test_a_precompiles_marker_is_code_enough() -> None:
    assert read(sent(b"\xef"), NAME, SYMBOL, DECIMALS, SUPPLY).code == b"\xef"


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ((sent(b""), sent(b""), sent(b""), sent(b""), sent(b"")), "not_a_contract"),
        ((sent(bytes.fromhex("ef0100" + "11" * 20)), *[sent(b"")] * 4), "not_a_contract"),
        ((CODE, *[sent(b"")] * 4), "not_a_token"),
        ((CODE, NAME, REVERTED, DECIMALS, SUPPLY), "not_a_token"),
        ((CODE, NAME, OUT_OF_GAS, DECIMALS, SUPPLY), "not_a_token"),
        ((CODE, NAME, SYMBOL, sent(bytes(31)), SUPPLY), "not_a_token"),
        ((CODE, NAME, SYMBOL, DECIMALS, REVERTED), "not_a_token"),
        ((CODE, NAME, SYMBOL, word(256), SUPPLY), "invalid_token_data"),
        ((CODE, NAME, sent(b"\xff" * 64), DECIMALS, SUPPLY), "invalid_token_data"),
    ],
)
def test_refusals(answers: tuple[RpcAnswer, ...], code: str) -> None:
    assert refusal(*answers).code == code


@pytest.mark.parametrize("broken", range(5))
def test_a_node_that_fails_is_not_a_refusal(broken: int) -> None:
    answers: list[RpcAnswer] = [CODE, NAME, SYMBOL, DECIMALS, SUPPLY]
    answers[broken] = LOST_BLOCK
    with pytest.raises(UpstreamError):
        read(*answers)


@pytest.mark.parametrize("burned", sorted(BURN_ADDRESSES))
@pytest.mark.parametrize("form", [str.lower, str.upper])
def test_burn_addresses_in_any_letter_case(burned: str, form: type[str]) -> None:
    with pytest.raises(TokenRefusedError) as caught:
        admit_address("0x" + form(burned[2:]))
    assert caught.value.code == "burn_address"


def test_a_near_burn_address_is_an_address() -> None:
    assert admit_address("0x" + "00" * 19 + "02") == "0x" + "00" * 19 + "02"


@pytest.mark.parametrize("text", ["", "0x", "0x" + "g" * 40, " 0x" + "1" * 40, "1" * 40])
def test_no_address(text: str) -> None:
    with pytest.raises(TokenRefusedError) as caught:
        admit_address(text)
    assert caught.value.code == "invalid_address"
