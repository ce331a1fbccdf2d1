"""Protects the equality of answers: clients' wording may differ, nothing else."""

import json

import msgspec
import pytest

from analysis.replay.answer_parts import FAILED, answer_parts
from core.rpc.messages import RpcAnswer, RpcFault

LONG = "0x" + "ab" * 500
OTHER = LONG[:-1] + "c"


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def simulated(**call: object) -> msgspec.Raw:
    return raw([{"calls": [{"status": "0x1", "returnData": "0x01", "gasUsed": "0x5208"} | call]}])


LOG = {"address": "0xaa", "topics": ["0x01"], "data": "0x02"}
FAULT = RpcFault(code=3, message="execution reverted: no", data="0x08c379a0")
SAME: list[tuple[str, RpcAnswer, RpcAnswer]] = [
    ("eth_call", raw("0xAB"), raw("0xab")),
    ("eth_getStorageAt", raw("0x1"), raw("0x" + "1".rjust(64, "0"))),
    ("eth_call", FAULT, RpcFault(code=-32000, message="VM Exception", data="0x08C379A0")),
    ("eth_call", RpcFault(code=-1, message="Reverted"), RpcFault(code=3, message="x")),
    ("eth_simulateV1", simulated(), simulated(gasUsed="0x1")),
    ("eth_simulateV1", simulated(logs=[LOG]), simulated(logs=[LOG | {"logIndex": "0x1"}])),
    (
        "eth_simulateV1",
        simulated(status="0x0", returnData="0x", error={"message": "a", "data": "0x08"}),
        simulated(status="0x0", returnData="0x08", error={"message": "b"}),
    ),
]
DIFFERENT: list[tuple[str, RpcAnswer, RpcAnswer]] = [
    ("eth_call", raw(LONG), raw(OTHER)),
    ("eth_getCode", raw(LONG), raw(LONG + "ab")),
    ("eth_call", raw("0x"), FAULT),
    ("eth_call", FAULT, RpcFault(code=3, message="execution reverted")),
    ("eth_simulateV1", simulated(), simulated(status="0x0")),
    ("eth_simulateV1", simulated(), simulated(logs=[LOG])),
    ("eth_simulateV1", simulated(returnData=LONG), simulated(returnData=OTHER)),
    ("eth_getLogs", raw([LOG] * 70), raw([LOG] * 69 + [LOG | {"data": "0x03"}])),
]


@pytest.mark.parametrize(("method", "one", "other"), SAME)
def test_clients_that_say_the_same_agree(method: str, one: RpcAnswer, other: RpcAnswer) -> None:
    assert answer_parts(method, one) == answer_parts(method, other) != (FAILED,)


@pytest.mark.parametrize(("method", "one", "other"), DIFFERENT)
def test_another_answer_is_told_apart(method: str, one: RpcAnswer, other: RpcAnswer) -> None:
    assert answer_parts(method, one) != answer_parts(method, other)


@pytest.mark.parametrize(
    "answer",
    [
        RpcFault(code=-32601, message="the method does not exist"),
        RpcFault(code=-32000, message="header not found"),
        raw(None),
        raw("ab"),
        raw([{"calls": [{}]}]),
        msgspec.Raw(b"{"),
    ],
)
def test_what_was_not_carried_out_is_never_an_answer(answer: RpcAnswer) -> None:
    methods = ("eth_call", "eth_simulateV1") if answer != raw("ab") else ("eth_call",)
    assert {answer_parts(method, answer) for method in methods} == {(FAILED,)}


def test_a_part_is_short() -> None:
    assert all(len(part) <= 400 for part in answer_parts("eth_getCode", raw(LONG * 9)))
